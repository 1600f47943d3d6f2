//! The facts about entries that access rules ask for.
//!
//! ```text
//!   decisions.at(name, &facts)     facts.target   the entry of the decision: stored, in a request, or missing
//!                                  facts.view     other entries of the same database, in the operation's snapshot
//!                                  facts.core     groups in other databases
//! ```

use fulgurite_access::{Decisions, EntryRef, EntryRights, Facts};
use fulgurite_ldap::Scope as LdapScope;
use fulgurite_schema::{
    AttributeDescription, AttributeSelector, Dn, Entry, EntrySubject, Filter, Schema,
};
use fulgurite_store::{EntryId, EntryView, Scope, Snapshot, Store, StoreError, View};

use crate::core::foundation::Core;

/// Facts about one entry and its neighbours.
pub(crate) struct EntryFacts<'v, 's, T> {
    core: &'v Core,
    view: &'v View<'s, T>,
    target: EntrySource<'v>,
}

/// The entry that a decision is about.
#[derive(Clone, Copy)]
pub(crate) enum EntrySource<'v> {
    Stored(EntryView<'v>),
    /// An entry on its way into a store, or a generated one.
    Owned(&'v Entry),
    Missing,
}

/// Facts about an entry that no store holds.
pub(crate) struct UnstoredFacts<'v> {
    pub(crate) core: &'v Core,
    pub(crate) entry: Option<&'v Entry>,
}

impl<'v, 's, T: Snapshot> EntryFacts<'v, 's, T> {
    pub(crate) fn new(
        core: &'v Core,
        view: &'v View<'s, T>,
        target: EntrySource<'v>,
    ) -> EntryFacts<'v, 's, T> {
        EntryFacts { core, view, target }
    }

    /// Makes facts about an entry of the view, by its id.
    pub(crate) fn of(
        core: &'v Core,
        view: &'v View<'s, T>,
        id: EntryId,
    ) -> Result<EntryFacts<'v, 's, T>, StoreError> {
        let target = view
            .entry(id)?
            .map_or(EntrySource::Missing, EntrySource::Stored);
        Ok(EntryFacts::new(core, view, target))
    }

    /// Makes facts about an entry of the view, by its name. The entry need not exist.
    pub(crate) fn named(
        core: &'v Core,
        view: &'v View<'s, T>,
        dn: &Dn,
    ) -> Result<EntryFacts<'v, 's, T>, StoreError> {
        match view.find(dn)?.entry() {
            Some(id) => EntryFacts::of(core, view, id),
            None => Ok(EntryFacts::new(core, view, EntrySource::Missing)),
        }
    }

    /// Returns the rights to the entry; `normal` is its name in normal form.
    pub(crate) fn rights<'d>(
        &'d self,
        decisions: &'d Decisions<'_>,
        normal: &'d str,
    ) -> EntryRights<'d> {
        decisions.at(normal, self)
    }

    /// Reads an entry: in this store from the operation's view, in another store from a new
    /// snapshot.
    fn read<R>(&self, normal: &str, look: impl FnOnce(EntryView<'_>) -> R) -> Option<R> {
        let here: *const Store = self.view.store();
        if store_of(self.core, normal).is_none_or(|store| std::ptr::eq(store, here)) {
            in_view(self.view, normal, look)
        } else {
            elsewhere(self.core, normal, look)
        }
    }
}

impl<T: Snapshot> Facts for EntryFacts<'_, '_, T> {
    fn values(
        &self,
        of: EntryRef<'_>,
        attribute: &AttributeDescription,
        visit: &mut dyn FnMut(&[u8]),
    ) {
        match of {
            EntryRef::Target => target_values(self.target, attribute, visit),
            EntryRef::Entry(name) => {
                self.read(name, |entry| stored_values(&entry, attribute, visit));
            }
        }
    }

    fn matches(&self, of: EntryRef<'_>, filter: &Filter<AttributeSelector>) -> bool {
        let schema = self.view.schema();
        match of {
            EntryRef::Target => target_matches(schema, self.target, filter),
            EntryRef::Entry(name) => self
                .read(name, |entry| filter.test(schema, &entry).is_true())
                .unwrap_or(false),
        }
    }

    fn lists(&self, of: EntryRef<'_>, attribute: &AttributeDescription, name: &str) -> bool {
        let schema = self.view.schema();
        match of {
            EntryRef::Target => target_lists(schema, self.target, attribute, name),
            EntryRef::Entry(of) => self
                .read(of, |entry| stored_lists(schema, &entry, attribute, name))
                .unwrap_or(false),
        }
    }

    fn select(
        &self,
        base: &str,
        reach: LdapScope,
        filter: &Filter<AttributeSelector>,
        attributes: &[AttributeDescription],
        visit: &mut dyn FnMut(&[u8]),
    ) {
        // A plan reads committed indexes, so the changes of the current batch are not visible here.
        let selected = RuleSelection {
            base,
            reach,
            filter,
            attributes,
        };
        select_elsewhere(self.core, &selected, visit);
    }
}

impl Facts for UnstoredFacts<'_> {
    fn values(
        &self,
        of: EntryRef<'_>,
        attribute: &AttributeDescription,
        visit: &mut dyn FnMut(&[u8]),
    ) {
        match of {
            EntryRef::Target => target_values(self.target(), attribute, visit),
            EntryRef::Entry(name) => {
                elsewhere(self.core, name, |entry| {
                    stored_values(&entry, attribute, visit)
                });
            }
        }
    }

    fn matches(&self, of: EntryRef<'_>, filter: &Filter<AttributeSelector>) -> bool {
        let schema = &self.core.schema;
        match of {
            EntryRef::Target => target_matches(schema, self.target(), filter),
            EntryRef::Entry(name) => elsewhere(self.core, name, |entry| {
                filter.test(schema, &entry).is_true()
            })
            .unwrap_or(false),
        }
    }

    fn lists(&self, of: EntryRef<'_>, attribute: &AttributeDescription, name: &str) -> bool {
        let schema = &self.core.schema;
        match of {
            EntryRef::Target => target_lists(schema, self.target(), attribute, name),
            EntryRef::Entry(of) => {
                let lists = |entry: EntryView<'_>| stored_lists(schema, &entry, attribute, name);
                elsewhere(self.core, of, lists).unwrap_or(false)
            }
        }
    }

    fn select(
        &self,
        base: &str,
        reach: LdapScope,
        filter: &Filter<AttributeSelector>,
        attributes: &[AttributeDescription],
        visit: &mut dyn FnMut(&[u8]),
    ) {
        let selected = RuleSelection {
            base,
            reach,
            filter,
            attributes,
        };
        select_elsewhere(self.core, &selected, visit);
    }
}

impl<'v> UnstoredFacts<'v> {
    fn target(&self) -> EntrySource<'v> {
        self.entry.map_or(EntrySource::Missing, EntrySource::Owned)
    }
}

fn target_values(
    target: EntrySource<'_>,
    attribute: &AttributeDescription,
    visit: &mut dyn FnMut(&[u8]),
) {
    match target {
        EntrySource::Stored(entry) => stored_values(&entry, attribute, visit),
        EntrySource::Owned(entry) => {
            let held = entry.attributes.iter();
            held.filter(|held| *attribute == held.description)
                .flat_map(|held| &held.values)
                .for_each(|value| visit(value));
        }
        EntrySource::Missing => {}
    }
}

fn target_matches(
    schema: &Schema,
    target: EntrySource<'_>,
    filter: &Filter<AttributeSelector>,
) -> bool {
    match target {
        EntrySource::Stored(entry) => filter.test(schema, &entry).is_true(),
        EntrySource::Owned(entry) => filter
            .test(schema, &EntrySubject { schema, entry })
            .is_true(),
        EntrySource::Missing => false,
    }
}

fn target_lists(
    schema: &Schema,
    target: EntrySource<'_>,
    attribute: &AttributeDescription,
    name: &str,
) -> bool {
    match target {
        EntrySource::Stored(entry) => stored_lists(schema, &entry, attribute, name),
        EntrySource::Owned(_) => {
            let mut found = false;
            target_values(target, attribute, &mut |value| {
                found = found || is_name(schema, attribute, value, name);
            });
            found
        }
        EntrySource::Missing => false,
    }
}

fn stored_values(
    entry: &EntryView<'_>,
    attribute: &AttributeDescription,
    visit: &mut dyn FnMut(&[u8]),
) {
    entry
        .values(attribute)
        .into_iter()
        .flatten()
        .for_each(visit);
}

fn stored_lists(
    schema: &Schema,
    entry: &EntryView<'_>,
    attribute: &AttributeDescription,
    name: &str,
) -> bool {
    let mut each = |value: &[u8]| is_name(schema, attribute, value, name).into();
    fulgurite_schema::FilterSubject::<AttributeSelector>::values(entry, attribute, &mut each)
        .is_true()
}

/// Returns true if a value is the name in normal form.
fn is_name(schema: &Schema, attribute: &AttributeDescription, value: &[u8], name: &str) -> bool {
    let rule = schema.attribute_at(attribute.attribute).equality;
    rule.is_some_and(|rule| rule.matches(schema, name.as_bytes(), value).is_true())
}

/// Returns the store of the database that a name belongs to.
fn store_of<'d>(core: &'d Core, normal: &str) -> Option<&'d Store> {
    let dn = Dn::parse(&core.schema, normal).ok()?;
    core.databases
        .database_of(&dn)
        .map(|database| database.store())
}

fn in_view<R, T: Snapshot>(
    view: &View<'_, T>,
    normal: &str,
    look: impl FnOnce(EntryView<'_>) -> R,
) -> Option<R> {
    let id = view.find_normal(normal).ok()?.entry()?;
    view.entry(id).ok()?.map(look)
}

fn elsewhere<R>(core: &Core, normal: &str, look: impl FnOnce(EntryView<'_>) -> R) -> Option<R> {
    let view = store_of(core, normal)?.snapshot().ok()?;
    in_view(&view, normal, look)
}

/// The entries and attributes that a rule selects.
struct RuleSelection<'q> {
    base: &'q str,
    reach: LdapScope,
    filter: &'q Filter<AttributeSelector>,
    /// Empty for the names of the entries.
    attributes: &'q [AttributeDescription],
}

fn select_elsewhere(core: &Core, selected: &RuleSelection<'_>, visit: &mut dyn FnMut(&[u8])) {
    if let Some(Ok(view)) = store_of(core, selected.base).map(Store::snapshot) {
        // An error of the store grants nothing.
        let _ = select(&view, selected, visit);
    }
}

fn select(
    view: &View<'_>,
    selected: &RuleSelection<'_>,
    visit: &mut dyn FnMut(&[u8]),
) -> Result<(), StoreError> {
    let Some(base) = view.find_normal(selected.base)?.entry() else {
        return Ok(());
    };
    let scope = match selected.reach {
        LdapScope::Base => Scope::Base,
        LdapScope::One => Scope::OneLevel,
        LdapScope::Subtree => Scope::Subtree,
        LdapScope::Children => Scope::Subordinates,
    };
    let mut candidates = view.plan(base, scope, selected.filter)?;
    while let Some(entry) = candidates.next_entry(view)? {
        if !selected.filter.test(view.schema(), &entry).is_true() {
            continue;
        }
        if selected.attributes.is_empty() {
            visit(view.resolved_dn(entry.id())?.normal().as_bytes());
        }
        for attribute in selected.attributes {
            stored_values(&entry, attribute, visit);
        }
    }
    Ok(())
}
