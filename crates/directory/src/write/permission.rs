//! The rights that updates need.

use fulgurite_access::{EntryRights, Rights};
use fulgurite_schema::{Dn, Entry};
use fulgurite_store::View;

use crate::core::result::{self, OpResult, require};
use crate::rights::facts::{EntryFacts, EntrySource};
use crate::write::context::Context;

impl Context<'_, '_> {
    /// Asks for the rights to an entry of that name, which need not exist.
    pub(crate) fn rights<R>(&self, dn: &Dn, ask: impl FnOnce(EntryRights<'_>) -> R) -> OpResult<R> {
        self.rights_under(dn, dn, ask)
    }

    /// Asks for the rights to an entry under another name.
    pub(crate) fn rights_under<R>(
        &self,
        dn: &Dn,
        new_dn: &Dn,
        ask: impl FnOnce(EntryRights<'_>) -> R,
    ) -> OpResult<R> {
        let view: &View<'_, _> = self.writer;
        let facts = if self.decisions.is_root() {
            // The root passes all rules, for whatever entry.
            Ok(EntryFacts::new(self.core, view, EntrySource::Missing))
        } else {
            EntryFacts::named(self.core, view, dn)
        };
        let facts = facts.map_err(|error| result::store(&error))?;
        Ok(ask(facts.rights(&self.decisions, new_dn.normal())))
    }

    /// Asks for the rights to an entry that is not stored like this.
    pub(crate) fn rights_of<R>(&self, entry: &Entry, ask: impl FnOnce(EntryRights<'_>) -> R) -> R {
        let view: &View<'_, _> = self.writer;
        let facts = EntryFacts::new(self.core, view, EntrySource::Owned(entry));
        ask(facts.rights(&self.decisions, entry.dn.normal()))
    }

    /// Requires a right to the list of children of the superior.
    pub(crate) fn require_children(&self, superior: &Dn, wanted: Rights, text: &str) -> OpResult {
        debug_assert_ne!(wanted, Rights::NONE, "a check asks for a right");
        let allowed = self.rights(superior, |rights| rights.children().allows(wanted))?;
        require(allowed, text)
    }

    /// Requires a right to the entry itself.
    pub(crate) fn require_entry(&self, dn: &Dn, wanted: Rights) -> OpResult {
        debug_assert_ne!(wanted, Rights::NONE, "a check asks for a right");
        let wanted = self.on_entry(wanted);
        let allowed = self.rights(dn, |rights| rights.entry().allows(wanted))?;
        require(allowed, "no write access to entry")
    }

    /// Adds the right `manage` with the relax control, like slapd.
    pub(crate) fn on_entry(&self, wanted: Rights) -> Rights {
        if self.modifiers.relaxed {
            wanted | Rights::MANAGE
        } else {
            wanted
        }
    }

    /// Requires the rights to delete an entry.
    pub(crate) fn require_removal(&self, dn: &Dn) -> OpResult {
        self.require_taking_away(dn)?;
        self.require_entry(dn, Rights::DELETE)
    }

    /// Requires the right to delete from the superior's list of children.
    pub(crate) fn require_taking_away(&self, dn: &Dn) -> OpResult {
        let superior = dn.parent().unwrap_or_else(Dn::root);
        self.require_children(&superior, Rights::DELETE, "no write access to parent")
    }
}
