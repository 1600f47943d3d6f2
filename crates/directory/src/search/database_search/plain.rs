//! Parts of searches that may be repeated: see `rights/repeated_search`.

use fulgurite_access::Decisions;
use fulgurite_ldap::Scope;

use super::DatabaseSearch;
use crate::core::database::Database;
use crate::search::member_items;

/// The parts of a search that returned each candidate of its plan as it is.
pub(crate) struct PlainSearch<'d> {
    pub(crate) database: &'d Database,
    pub(crate) decisions: Decisions<'d>,
    pub(crate) scope: Scope,
}

impl DatabaseSearch<'_> {
    /// Returns true if nothing but plan and rights decides about the answer. The rights must be
    /// those of the next search, too.
    pub(super) fn is_plain(&self) -> bool {
        let is_kept = self.decisions.rights_class().is_some();
        let looks_at_wire = self.database.rules.looks_at_wire();
        let has_limits = !self.database.limits.limits.rules.is_empty();
        let memberships = member_items::count(&self.database.memberships, &self.spec.filter);
        self.returns_all
            && self.tested.plain
            && is_kept
            && !looks_at_wire
            && (!has_limits || self.decisions.is_root())
            && memberships == 0
            && self.lists.is_none()
    }
}
