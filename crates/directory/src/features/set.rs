//! The features of a database, compiled once for each configuration.

use super::guards::Guard;
use super::refint::Refint;
use crate::request::change::Change;

/// The features of a database. Each feature that is no guard has a field.
#[derive(Debug, Default)]
pub(crate) struct Features {
    /// The guards in the order in which they are asked: the one configured last comes first.
    pub(crate) guards: Vec<Guard>,
    /// References that follow renamed and deleted entries.
    pub(crate) refint: Vec<Refint>,
}

/// The features of a database without overlays.
pub(crate) static NO_FEATURES: Features = Features {
    guards: Vec::new(),
    refint: Vec::new(),
};

impl Features {
    /// Adds a guard. It is asked before all others so far.
    pub(super) fn add_guard(&mut self, guard: Guard) {
        self.guards.insert(0, guard);
    }

    /// Returns true if something follows a change of a name.
    pub(crate) fn follows(&self) -> bool {
        !self.refint.is_empty()
    }

    /// Returns true if a guard examines more of a changed entry than the changed values.
    pub(crate) fn needs_whole_entry(&self, changes: &[&[Change]]) -> bool {
        let mut guards = self.guards.iter();
        guards.any(|guard| {
            changes
                .iter()
                .any(|changes| guard.needs_whole_entry(changes))
        })
    }
}
