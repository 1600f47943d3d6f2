//! The rights that computed attributes and dynamic lists depend on.

use fulgurite_access::Decisions;

use crate::core::database::Database;
use crate::core::foundation::Core;
use crate::rights::group_cache::GroupCache;

/// The rights that a computed attribute depends on: it follows from neighbours that the requester
/// may know of.
#[derive(Clone, Copy)]
pub(crate) struct RequesterRights<'a> {
    pub(crate) core: &'a Core,
    pub(crate) database: &'a Database,
    pub(crate) decisions: &'a Decisions<'a>,
    /// True if dynamic lists show what is stored.
    pub(crate) stored_only: bool,
    /// The groups that the operation knows of.
    pub(crate) cache: Option<&'a GroupCache>,
}

impl<'a> RequesterRights<'a> {
    /// Makes the rights for one operation without memory.
    pub(crate) fn new(
        core: &'a Core,
        database: &'a Database,
        decisions: &'a Decisions<'a>,
    ) -> RequesterRights<'a> {
        RequesterRights {
            core,
            database,
            decisions,
            stored_only: false,
            cache: None,
        }
    }
}
