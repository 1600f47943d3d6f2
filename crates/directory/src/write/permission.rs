//! What updates demand of access rules.

use fulgurite_access::{EntryRights, Rights};
use fulgurite_schema::{Dn, Entry};
use fulgurite_store::View;

use crate::core::result::{self, OpResult, require};
use crate::rights::facts::{EntryFacts, EntrySource};
use crate::write::context::Context;

impl Context<'_, '_> {
    /// Asks what may be done with an entry of that name, which need not exist.
    pub(crate) fn rights<R>(&self, dn: &Dn, ask: impl FnOnce(EntryRights<'_>) -> R) -> OpResult<R> {
        self.rights_under(dn, dn, ask)
    }

    /// Asks what may be done with an entry once it has another name.
    pub(crate) fn rights_under<R>(
        &self,
        dn: &Dn,
        new_dn: &Dn,
        ask: impl FnOnce(EntryRights<'_>) -> R,
    ) -> OpResult<R> {
        let view: &View<'_, _> = self.writer;
        let facts = if self.decisions.is_root() {
            // Whoever passes all rules passes them whatever the entry is.
            Ok(EntryFacts::new(self.core, view, EntrySource::Missing))
        } else {
            EntryFacts::named(self.core, view, dn)
        };
        let facts = facts.map_err(|error| result::store(&error))?;
        Ok(ask(facts.rights(&self.decisions, new_dn.normal())))
    }

    /// Asks what may be done with an entry that is not in the store as it is given here.
    pub(crate) fn rights_of<R>(&self, entry: &Entry, ask: impl FnOnce(EntryRights<'_>) -> R) -> R {
        let view: &View<'_, _> = self.writer;
        let facts = EntryFacts::new(self.core, view, EntrySource::Owned(entry));
        ask(facts.rights(&self.decisions, entry.dn.normal()))
    }

    /// Entries come and go only with a right to their superior's list of children.
    pub(crate) fn require_children(&self, superior: &Dn, wanted: Rights, text: &str) -> OpResult {
        let allowed = self.rights(superior, |rights| rights.children().allows(wanted))?;
        require(allowed, text)
    }

    /// A right to the entry as such.
    pub(crate) fn require_entry(&self, dn: &Dn, wanted: Rights) -> OpResult {
        let wanted = self.on_entry(wanted);
        let allowed = self.rights(dn, |rights| rights.entry().allows(wanted))?;
        require(allowed, "no write access to entry")
    }

    /// What it takes to change an entry as such: whoever relaxes the rules has to manage it, as in slapd.
    pub(crate) fn on_entry(&self, wanted: Rights) -> Rights {
        if self.modifiers.relaxed {
            wanted | Rights::MANAGE
        } else {
            wanted
        }
    }

    /// The rights to delete an entry.
    pub(crate) fn require_removal(&self, dn: &Dn) -> OpResult {
        self.require_taking_away(dn)?;
        self.require_entry(dn, Rights::DELETE)
    }

    /// The half of them that concerns the superior.
    pub(crate) fn require_taking_away(&self, dn: &Dn) -> OpResult {
        let superior = dn.parent().unwrap_or_else(Dn::root);
        self.require_children(&superior, Rights::DELETE, "no write access to parent")
    }
}
