//! The point `bind`: a successful bind is recorded in the bind state of its name.
//!
//! A bind with a password is recorded before its answer, with the judgement of a password policy
//! (`bind_policy`). Other binds are answered first. Their record is a separate update, which no
//! client waits for.

use std::sync::Arc;

use fulgurite_ldap::{LdapResult, ResultCode};
use fulgurite_schema::Dn;
use fulgurite_store::{EntryId, EntryView, NameLookup, StoreError};

use crate::auth::BindOutcome;
use crate::core::clock::Timestamp;
use crate::core::database::Database;
use crate::core::forwarded_bind::ForwardedChange;
use crate::core::result::{self, OpResult};
use crate::core::session::Session;
use crate::directory::Directory;
use crate::features::last_bind::BindTime;
use crate::features::set::Features;
use crate::write::bind_change::BindStateChange;
use crate::write::context::Context;
use crate::write::forwarded::ForwardedUpdate;
use crate::write::request::WriteRequest;

impl Directory {
    /// Returns the update that another server has to make because of a bind, before its answer.
    #[must_use]
    pub fn forwarded_bind(&self, outcome: &BindOutcome) -> Option<WriteRequest> {
        let (bind, _) = outcome.forwarded.as_ref()?;
        let dn = Dn::parse(self.schema(), &bind.dn).ok()?;
        let database = self.core().databases.database_of(&dn)?;
        let store = database.store().path().to_owned();
        let update = ForwardedUpdate::of_bind(Arc::clone(bind), store, database.forwarder);
        Some(WriteRequest::forward(&Session::default(), Arc::new(update)))
    }

    /// Returns the update that records the bind which the session has just ended. `None` if its
    /// database records no binds, or the bind is recorded already. There is one for each bind.
    pub fn bind_update(&self, session: &mut Session) -> Option<WriteRequest> {
        let name = session.take_unrecorded_bind()?;
        let database = self.core().databases.database_of(&name)?;
        let features = self.features_of(database);
        if features.bind_times.is_empty() || self.is_read_only(database) {
            return None;
        }
        Some(WriteRequest::bind(session, Dn::clone(&name)))
    }

    pub(super) fn is_read_only(&self, database: &Database) -> bool {
        self.policy().restrictions.read_only || database.restrictions.read_only
    }
}

/// Records the time in the bind state.
///
/// # Errors
/// noOperation if there is nothing to record. No client gets the result.
pub(crate) fn run(context: &mut Context<'_, '_>, dn: &Dn) -> OpResult {
    let NameLookup::Entry(id) = context.find(dn)? else {
        return Err(LdapResult::new(ResultCode::NoOperation));
    };
    let changes = due(context, id)?;
    context.change_by_bind(id, changes)
}

/// Returns changes of the bind state for another server.
pub(super) fn forwarded<'c>(
    context: &Context<'_, '_>,
    id: EntryId,
    changes: impl Iterator<Item = &'c BindStateChange>,
) -> OpResult<Vec<ForwardedChange>> {
    let failed = |error: StoreError| result::store(&error);
    let Some(entry) = context.writer.entry(id).map_err(failed)? else {
        return Ok(Vec::new());
    };
    let schema = &context.core.schema;
    let change = |(description, values): &BindStateChange| {
        let before = entry.values(description).into_iter().flatten();
        let before: Vec<Vec<u8>> = before.map(<[u8]>::to_vec).collect();
        let definition = schema.attribute_at(description.attribute);
        let attribute = (
            description.text(schema).into_owned(),
            definition.single_value,
        );
        ForwardedChange::new(attribute, &before, values.clone())
    };
    Ok(changes.map(change).collect())
}

/// Returns the changes of the times that a bind at this moment records.
pub(super) fn due(context: &Context<'_, '_>, id: EntryId) -> OpResult<Vec<BindStateChange>> {
    let failed = |error: StoreError| result::store(&error);
    let Some(entry) = context.writer.entry(id).map_err(failed)? else {
        return Ok(Vec::new());
    };
    let times = due_times(context.features, &entry, context.now);
    let value = context.now.generalized().into_bytes();
    let change = |time: &BindTime| (time.attribute.clone(), vec![value.clone()]);
    Ok(times.map(change).collect())
}

/// Returns the times that a bind at `now` changes.
pub(super) fn due_times<'f>(
    features: &'f Features,
    entry: &EntryView<'_>,
    now: Timestamp,
) -> impl Iterator<Item = &'f BindTime> {
    features.bind_times.iter().filter(move |time| {
        let stored = entry.values(&time.attribute);
        time.is_due(stored.and_then(|values| values.first()), now)
    })
}
