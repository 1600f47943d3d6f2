//! The point `bind`: a successful bind is recorded in the entry of its name.
//!
//! The bind is answered first. The record is a separate update, which no client waits for.

use fulgurite_ldap::{LdapResult, ModifyOperation, ResultCode};
use fulgurite_schema::{Attribute, Dn};
use fulgurite_store::{EntryId, NameLookup, StoreError};

use crate::core::result::{self, OpResult};
use crate::core::session::Session;
use crate::directory::Directory;
use crate::features::last_bind::BindTime;
use crate::request::change::Change;
use crate::write::changes;
use crate::write::context::Context;
use crate::write::request::WriteRequest;

impl Directory {
    /// Returns the update that records the bind that the session has just ended, if its database
    /// records binds. There is one for each bind.
    pub fn bind_update(&self, session: &mut Session) -> Option<WriteRequest> {
        let name = session.take_unrecorded_bind()?;
        let database = self.core().databases.database_of(&name)?;
        let is_read_only = self.policy().restrictions.read_only || database.restrictions.read_only;
        let features = self.features_of(database);
        if features.bind_times.is_empty() || is_read_only {
            return None;
        }
        Some(WriteRequest::bind(session, Dn::clone(&name)))
    }
}

/// Records the time in the entry.
///
/// # Errors
/// noOperation if there is nothing to record. No client gets the result.
pub(crate) fn run(context: &mut Context<'_, '_>, dn: &Dn) -> OpResult {
    let NameLookup::Entry(id) = context.find(dn)? else {
        return Err(LdapResult::new(ResultCode::NoOperation));
    };
    let mut has_changed = false;
    let features = context.features;
    for time in &features.bind_times {
        has_changed |= record(context, id, time)?;
    }
    if has_changed {
        return Ok(());
    }
    Err(LdapResult::new(ResultCode::NoOperation))
}

/// Records the time in one attribute. Returns true if it has changed.
fn record(context: &mut Context<'_, '_>, id: EntryId, time: &BindTime) -> OpResult<bool> {
    let failed = |error: StoreError| result::store(&error);
    let entry = context.writer.entry(id).map_err(failed)?;
    let stored = entry.and_then(|entry| entry.values(&time.attribute));
    let stored = stored.and_then(|values| values.first());
    if !time.is_due(stored, context.now) {
        return Ok(false);
    }
    context.require_small(id)?;
    let change = Change {
        operation: ModifyOperation::Replace,
        attribute: Attribute {
            description: time.attribute.clone(),
            values: vec![context.now.generalized().into_bytes()],
        },
    };
    change_as_root(context, id, &[change])?;
    Ok(true)
}

/// Applies changes of operational attributes to an entry, with the root as the author.
pub(super) fn change_as_root(
    context: &mut Context<'_, '_>,
    id: EntryId,
    changes: &[Change],
) -> OpResult {
    let failed = |error: StoreError| result::store(&error);
    let dn = context.writer.resolved_dn(id).map_err(failed)?;
    let (mut entry, mut large) = context.copy_for(id, &dn, &[changes], false)?;
    let options = context.check_options(&entry);
    let schema = &context.core.schema;
    changes::apply(schema, &mut entry, &mut large, changes, false)?;
    let values = large.finish(&mut entry);
    context.note_identity(id)?;
    context.stamp_as_root(&mut entry);
    let checked = context.check(entry, &options)?;
    let modified = if values.is_empty() {
        context.writer.modify(id, &checked)
    } else {
        context.writer.modify_values(id, &checked, &values)
    };
    modified.map_err(|error| context.failed(&error))?;
    context.record_modify(&dn, &[changes], checked.entry());
    context.log_modify(id, &dn, &[changes], checked.entry())
}
