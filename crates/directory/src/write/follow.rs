//! The point `follow`: values that name a renamed or deleted entry change in its transaction.

use fulgurite_ldap::{LdapResult, ModifyOperation, ResultCode};
use fulgurite_schema::{Attribute, CheckedEntry, Dn};
use fulgurite_store::{EntryId, Scope, StoreError, ValueChange, View};

use crate::core::result::OpResult;
use crate::features::name_change::NameChange;
use crate::features::refint::Refint;
use crate::request::change::Change;
use crate::write::changes;
use crate::write::context::{Context, WorkBudget};

/// The number of candidates that a short update examines at most. Other clients of the worker
/// thread wait.
const SHORT_CANDIDATES_MAX: usize = 64;

/// The number of values up to which an attribute with many values is changed value by value. Beyond
/// it, the attribute is written as a whole.
const BY_VALUE_MAX: usize = 1024;

impl Context<'_, '_> {
    /// Lets references follow an entry that has a new name.
    ///
    /// # Errors
    /// A failure of the store, which ends the transaction. A short update may have too much work.
    pub(crate) fn follow_rename(&mut self, id: EntryId, old: &Dn, new: &Dn) -> OpResult {
        if !self.features.follows() {
            return Ok(());
        }
        let subtree = self.writer.has_children(id);
        let subtree = subtree.map_err(|error| self.lost(&error))?;
        self.follow(&NameChange {
            old,
            new: Some(new),
            subtree,
        })
    }

    /// Removes references to an entry that is deleted.
    ///
    /// # Errors
    /// As above.
    pub(crate) fn follow_delete(&mut self, old: &Dn) -> OpResult {
        self.follow(&NameChange {
            old,
            new: None,
            subtree: false,
        })
    }

    fn follow(&mut self, change: &NameChange<'_>) -> OpResult {
        let features = self.features;
        // The feature that is configured first acts last. In slapd the order varies.
        for refint in features.refint.iter().rev() {
            let candidates = self.candidates(refint, change)?;
            // slapd changes the entry found last first.
            for &id in candidates.iter().rev() {
                self.follow_in(id, refint, change)?;
            }
        }
        Ok(())
    }

    /// Returns the entries that may have references, ascending.
    fn candidates(&mut self, refint: &Refint, change: &NameChange<'_>) -> OpResult<Vec<EntryId>> {
        let filter = refint.filter(&self.core.schema, change);
        let mut found = Vec::new();
        let database = self.database;
        for suffix in database.suffixes() {
            let base = self.writer.find_base(suffix.normal());
            let Some(base) = base.map_err(|error| self.lost(&error))? else {
                continue;
            };
            let planned = self.writer.plan(base, Scope::Subtree, &filter);
            let mut planned = planned.map_err(|error| self.lost(&error))?;
            loop {
                let view: &View<'_, _> = self.writer;
                let next = planned.next(view);
                let Some(id) = next.map_err(|error| self.lost(&error))? else {
                    break;
                };
                found.push(id);
                if self.budget == WorkBudget::Short && found.len() > SHORT_CANDIDATES_MAX {
                    return Err(self.defer());
                }
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Changes the references of one entry.
    ///
    /// As in slapd, an entry that would break the schema, or have a value twice, stays unchanged.
    fn follow_in(&mut self, id: EntryId, refint: &Refint, change: &NameChange<'_>) -> OpResult {
        let view: &View<'_, _> = self.writer;
        let changes = view.entry(id).and_then(|entry| match entry {
            Some(entry) => refint.changes(view, &entry, change),
            None => Ok(Vec::new()),
        });
        let mut changes = changes.map_err(|error| self.lost(&error))?;
        if changes.is_empty() {
            return Ok(());
        }
        self.require_small(id)?;
        let author = refint.modifiers_name.clone();
        let author = author.unwrap_or_else(|| self.root_name().as_bytes().to_vec());
        if self.database.last_mod {
            changes.push(Change {
                operation: ModifyOperation::Replace,
                attribute: Attribute {
                    description: self.core.types.modifiers_name.clone(),
                    values: vec![author.clone()],
                },
            });
        }
        let Some((checked, values)) = self.changed(id, &changes)? else {
            return Ok(());
        };
        let modified = if values.is_empty() {
            self.writer.modify(id, &checked)
        } else {
            self.writer.modify_values(id, &checked, &values)
        };
        match modified {
            Ok(()) => {
                let dn = self.writer.resolved_dn(id);
                let dn = dn.map_err(|error| self.lost(&error))?;
                self.record_following(&dn, &changes, &author);
                Ok(())
            }
            // The entry would be too large.
            Err(StoreError::EntryTooLarge | StoreError::EntryTooBig { .. }) => Ok(()),
            Err(error) => Err(self.lost(&error)),
        }
    }

    /// Returns an entry after changes; `None` if it may not be so.
    fn changed(
        &mut self,
        id: EntryId,
        changes: &[Change],
    ) -> OpResult<Option<(CheckedEntry, Vec<ValueChange>)>> {
        let dn = self.writer.resolved_dn(id);
        let dn = dn.map_err(|error| self.lost(&error))?;
        let values = changes.iter().map(|change| change.attribute.values.len());
        let whole = values.sum::<usize>() > BY_VALUE_MAX;
        match self.try_changed(id, &dn, changes, whole) {
            Ok(changed) => Ok(Some(changed)),
            Err(refused) if is_refusal(refused.code) => Ok(None),
            Err(failed) => {
                self.broken = true;
                Err(failed)
            }
        }
    }

    fn try_changed(
        &self,
        id: EntryId,
        dn: &Dn,
        changes: &[Change],
        whole: bool,
    ) -> OpResult<(CheckedEntry, Vec<ValueChange>)> {
        let schema = &self.core.schema;
        let (mut entry, mut large) = self.copy_for(id, dn, &[changes], whole)?;
        let options = self.check_options(&entry);
        changes::apply(schema, &mut entry, &mut large, changes, false)?;
        let values = large.finish(&mut entry);
        Ok((self.check(entry, &options)?, values))
    }

    /// Ends the transaction after a failure of the store: the entry must not change its name
    /// without its references.
    fn lost(&mut self, error: &StoreError) -> LdapResult {
        let result = self.failed(error);
        self.broken = true;
        result
    }
}

/// Returns true for the codes with which changes of an entry are refused.
fn is_refusal(code: ResultCode) -> bool {
    matches!(
        code,
        ResultCode::AttributeOrValueExists
            | ResultCode::NoSuchAttribute
            | ResultCode::InappropriateMatching
            | ResultCode::ObjectClassViolation
            | ResultCode::ConstraintViolation
            | ResultCode::NamingViolation
            | ResultCode::ObjectClassModsProhibited
            | ResultCode::InvalidAttributeSyntax
    )
}
