//! The test of a candidate: the filter, the rights, and the kinds of entries that a search skips.

use fulgurite_access::Rights;
use fulgurite_store::{EntryView, StoreError, View};

use super::{DatabaseSearch, MatchOutcome};
use crate::core::well_known_types::is_glue;
use crate::request::referral;
use crate::rights::facts::{EntryFacts, EntrySource};
use crate::rights::requester_rights::RequesterRights;
use crate::search::filter::{KnownGroupNames, VisibleStoredEntry};

impl<'d> DatabaseSearch<'d> {
    /// Returns true if an earlier region covers the entry.
    pub(super) fn is_covered(
        &self,
        view: &View<'d>,
        entry: &EntryView<'_>,
    ) -> Result<bool, StoreError> {
        self.regions.covers_before(view, entry, self.scan.region())
    }

    /// Tests an entry. With `exact` the plan guarantees that the filter is true of it.
    pub(super) fn test_entry(
        &mut self,
        view: &View<'d>,
        entry: &EntryView<'_>,
        exact: bool,
    ) -> Result<MatchOutcome, StoreError> {
        let types = &self.core.types;
        let uniform = self.decisions.uniform();
        let exact = exact && !self.spec.references && self.planned_here && self.tested.plain;
        if exact && self.returns_all {
            return Ok(MatchOutcome::Entry);
        }
        if !exact {
            let requester = RequesterRights {
                core: self.core,
                database: self.database,
                decisions: &self.decisions,
                stored_only: self.spec.stored_only,
                cache: self.lists.as_deref().map(|lists| &lists.cache),
            };
            self.tested.prepare(&self.spec.filter, view, requester);
        }
        if !uniform {
            self.normals.write(view, entry, &mut self.normal)?;
        }
        let facts = EntryFacts::new(self.core, view, EntrySource::Stored(*entry));
        let rights = facts.rights(&self.decisions, &self.normal);
        if !rights.entry().allows(Rights::READ) {
            return Ok(MatchOutcome::NoMatch);
        }
        if self.subentries && !self.spec.visible.admits(types.is_subentry(entry)) {
            return Ok(MatchOutcome::NoMatch);
        }
        if self.spec.hides_glue && is_glue(types, entry) {
            return Ok(MatchOutcome::NoMatch);
        }
        if self.spec.deref && entry.id() != self.base.base && types.is_alias(entry) {
            return Ok(MatchOutcome::NoMatch);
        }
        let referrals = self.spec.references || self.spec.hides_referrals;
        if referrals && types.is_referral(entry) {
            if self.spec.hides_referrals {
                return Ok(MatchOutcome::NoMatch);
            }
            if !rights.attribute(&types.reference).allows(Rights::READ) {
                return Ok(MatchOutcome::NoMatch);
            }
            let object = view.resolved_dn(entry.id())?;
            let urls = referral::reference(entry, types, &object, self.base.scope);
            return Ok(MatchOutcome::Reference(urls));
        }
        let visible = VisibleStoredEntry {
            entry: *entry,
            view,
            rights,
            requester: self.requester(),
            check: !uniform,
            by_value: self.decisions.by_value(),
            groups: KnownGroupNames::default(),
        };
        Ok(if exact || self.tested.admits(view.schema(), &visible) {
            MatchOutcome::Entry
        } else {
            MatchOutcome::NoMatch
        })
    }
}
