//! The changes that a bind causes: of the bind state, or of the entry itself.
//!
//! ```text
//!   ppolicy.replicate_state   none             lock                     all
//!   bind state                all changes      all but a new lock       -
//!   entry, with new stamps    -                a new lock               all changes
//! ```
//!
//! Other servers learn of changes of the entry. A copy makes none, and changes its bind state only.

use fulgurite_ldap::{LdapResult, ModifyOperation, ResultCode};
use fulgurite_policy::ReplicatedState;
use fulgurite_schema::{Attribute, AttributeDescription};
use fulgurite_store::EntryId;

use crate::core::result::{self, OpResult};
use crate::request::change::Change;
use crate::write::changes;
use crate::write::context::Context;

/// An attribute of a bind state with its new values.
pub(crate) type BindStateChange = (AttributeDescription, Vec<Vec<u8>>);

impl Context<'_, '_> {
    /// Makes the changes of a bind.
    ///
    /// # Errors
    /// noOperation if nothing changes.
    pub(crate) fn change_by_bind(
        &mut self,
        id: EntryId,
        changes: Vec<BindStateChange>,
    ) -> OpResult {
        if changes.is_empty() {
            return Err(LdapResult::new(ResultCode::NoOperation));
        }
        let (told, mut kept): (Vec<_>, Vec<_>) = changes
            .into_iter()
            .partition(|change| self.is_told_to_others(change));
        // A state that the entry cannot have still counts here.
        if !told.is_empty() && !self.change_entry(id, &told)? {
            kept.extend(told);
        }
        if kept.is_empty() {
            return Ok(());
        }
        let changed = self.writer.change_bind_state(id, &kept);
        changed.map_err(|error| self.failed(&error))
    }

    /// Returns true for a change that other servers learn of.
    fn is_told_to_others(&self, (attribute, values): &BindStateChange) -> bool {
        let overlay = self.features.password_policy.as_ref();
        let database = self.database;
        let Some(overlay) =
            overlay.filter(|_| database.last_mod && !database.replication.is_shadow())
        else {
            return false;
        };
        match self.auth.replicated_state {
            ReplicatedState::None => false,
            // The time of a lock says when it ends, so nobody needs to learn of the end.
            ReplicatedState::Lock => *attribute == overlay.types.locked && !values.is_empty(),
            ReplicatedState::All => true,
        }
    }

    /// Changes the entry. Returns false if the entry may not have these values.
    fn change_entry(&mut self, id: EntryId, changes: &[BindStateChange]) -> OpResult<bool> {
        let change = |(description, values): &BindStateChange| Change {
            operation: ModifyOperation::Replace,
            attribute: Attribute {
                description: description.clone(),
                values: values.clone(),
            },
        };
        let changes: Vec<Change> = changes.iter().map(change).collect();
        self.require_small(id)?;
        let dn = self.writer.resolved_dn(id);
        let dn = dn.map_err(|error| result::store(&error))?;
        let schema = &self.core.schema;
        let (mut entry, mut large) = self.copy_for(id, &dn, &[&changes], false)?;
        let options = self.check_options(&entry);
        let applied = changes::apply(schema, &mut entry, &mut large, &changes, true);
        if applied.is_err() {
            return Ok(false);
        }
        let values = large.finish(&mut entry);
        self.note_copied_identity(id)?;
        self.stamp_change(&mut entry, changes.iter().map(|change| &change.attribute));
        let Ok(checked) = self.check(entry, &options) else {
            return Ok(false);
        };
        self.note_old(id)?;
        let modified = if values.is_empty() {
            self.writer.modify(id, &checked)
        } else {
            self.writer.modify_values(id, &checked, &values)
        };
        if let Err(error) = modified {
            let refused = self.failed(&error);
            return if self.broken { Err(refused) } else { Ok(false) };
        }
        self.log_modify(id, &dn, &[&changes], checked.entry())?;
        self.returned.bind_changed_entry = true;
        Ok(true)
    }
}
