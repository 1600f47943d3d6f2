//! The guards: all features that refuse updates.
//!
//! A new guard is a variant of [`Guard`] and an arm of each match below.

use super::constraint::Constraint;
use super::guard_question::{GuardContext, GuardRefusal, GuardedUpdate};
use super::memberof::ExistingMembers;
use super::unique::Unique;
use crate::request::change::Change;

/// A feature that refuses updates.
#[derive(Debug)]
pub(crate) enum Guard {
    Unique(Unique),
    Constraint(Constraint),
    ExistingMembers(ExistingMembers),
}

impl Guard {
    /// Passes an update, or refuses it.
    pub(crate) fn check(
        &self,
        context: &mut GuardContext<'_, '_>,
        update: &GuardedUpdate<'_>,
    ) -> Result<(), GuardRefusal> {
        match self {
            Guard::Unique(unique) => unique.check(context, update),
            Guard::Constraint(constraint) => constraint.check(context, update),
            Guard::ExistingMembers(members) => members.check(context, update),
        }
    }

    /// Returns true for a guard whose rules are about stored values too.
    pub(crate) fn judges_values(&self) -> bool {
        match self {
            Guard::Unique(_) | Guard::Constraint(_) => true,
            Guard::ExistingMembers(_) => false,
        }
    }

    /// Returns true if the check of these changes needs all values of the entry after them.
    pub(crate) fn needs_whole_entry(&self, changes: &[Change]) -> bool {
        match self {
            Guard::Unique(_) | Guard::ExistingMembers(_) => false,
            Guard::Constraint(constraint) => constraint.needs_whole_entry(changes),
        }
    }
}
