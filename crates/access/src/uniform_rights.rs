//! Rights that are the same for every entry, computed once for all requesters that the same clauses
//! match.
//!
//! ```text
//!   requester --> matching clauses --> a known combination?  -- yes --> a table: attribute type -> rights
//!                                            `-- no, and there is room --> computed now, stored with the rules
//! ```
//! Most searches come from requesters of two or three combinations (anonymous, authenticated). A
//! decision about an attribute is then a table look-up. Combinations are never removed: a look-up
//! takes no lock and writes nothing.

use std::sync::OnceLock;

use crate::rights::Rights;
use crate::subject::MatchResult;

/// Number of combinations stored. Rights of other combinations are computed for each operation.
const COMBINATIONS_MAX: usize = 16;

/// The rights of all requesters that the same clauses match.
#[derive(Clone, Debug)]
pub(crate) struct UniformRights {
    pub(crate) matches: Box<[MatchResult]>,
    pub(crate) entry: Rights,
    pub(crate) children: Rights,
    /// By number of the attribute type.
    pub(crate) attributes: Box<[Rights]>,
}

/// The rights of each combination met so far, filled from the front.
#[derive(Clone, Debug, Default)]
pub(crate) struct UniformCache([OnceLock<Box<UniformRights>>; COMBINATIONS_MAX]);

impl UniformCache {
    /// Returns the rights of a combination, and computes them if they are new. Returns `None` if
    /// there is no room.
    pub(crate) fn get_or_compute(
        &self,
        matches: &[MatchResult],
        compute: impl Fn() -> UniformRights,
    ) -> Option<&UniformRights> {
        self.0
            .iter()
            .map(|slot| slot.get_or_init(|| Box::new(compute())))
            .find(|rights| *rights.matches == *matches)
            .map(|rights| &**rights)
    }
}
