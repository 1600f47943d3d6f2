//! The facts about entries that access rules ask for.
//!
//! ```text
//!   decisions.at(name, &facts)     facts.target      the entry of the decision: stored, in a request, or missing
//!                                  facts.neighbours  other entries of the same database, in the operation's snapshot
//!                                  facts.core        groups in other databases
//! ```

use std::cell::RefCell;
use std::rc::Rc;

use fulgurite_access::{Decisions, EntryRef, EntryRights, Facts, RuleSearch};
use fulgurite_ldap::Scope as LdapScope;
use fulgurite_schema::{
    AttributeDescription, AttributeIndex, AttributeSelector, Dn, Entry, EntrySubject, Filter,
    FilterSubject, Schema,
};
use fulgurite_store::{DnCache, EntryId, EntryView, Scope, Snapshot, Store, StoreError, View};

use crate::core::foundation::Core;
use crate::rights::with_groups::{KnownGroups, WithGroups};

/// Facts about one entry and its neighbours.
pub(crate) struct EntryFacts<'v, N> {
    core: &'v Core,
    neighbours: N,
    target: EntrySource<'v>,
    /// The groups of the target that rules asked for.
    groups: RefCell<Vec<(AttributeIndex, KnownGroups)>>,
}

/// A reader of other entries, by their names in normal form.
pub(crate) trait NeighbourReader {
    /// Returns the schema of the entries.
    fn schema<'a>(&'a self, core: &'a Core) -> &'a Schema;

    /// Reads an entry: in the store of the operation from its view, in another from a new snapshot.
    fn read<R>(
        &self,
        core: &Core,
        normal: &str,
        look: impl FnOnce(EntryView<'_>) -> R,
    ) -> Option<R>;
}

/// The entry that a decision is about.
#[derive(Clone, Copy)]
pub(crate) enum EntrySource<'v> {
    Stored(EntryView<'v>),
    /// An entry on its way into a store, or a generated one.
    Owned(&'v Entry),
    Missing,
}

/// The neighbours of an entry that no store holds: all are in stores, each with a new snapshot.
pub(crate) struct StoredElsewhere;

/// Facts about an entry that no store holds.
pub(crate) type UnstoredFacts<'v> = EntryFacts<'v, StoredElsewhere>;

impl<'v> UnstoredFacts<'v> {
    /// Makes facts about an entry that no store holds, or about a missing one.
    pub(crate) fn unstored(core: &'v Core, entry: Option<&'v Entry>) -> UnstoredFacts<'v> {
        EntryFacts {
            core,
            neighbours: StoredElsewhere,
            target: entry.map_or(EntrySource::Missing, EntrySource::Owned),
            groups: RefCell::default(),
        }
    }
}

impl<'v, 's, T: Snapshot> EntryFacts<'v, &'v View<'s, T>> {
    pub(crate) fn new(
        core: &'v Core,
        view: &'v View<'s, T>,
        target: EntrySource<'v>,
    ) -> EntryFacts<'v, &'v View<'s, T>> {
        EntryFacts {
            core,
            neighbours: view,
            target,
            groups: RefCell::default(),
        }
    }

    /// Makes facts about an entry of the view, by its id.
    pub(crate) fn of(
        core: &'v Core,
        view: &'v View<'s, T>,
        id: EntryId,
    ) -> Result<EntryFacts<'v, &'v View<'s, T>>, StoreError> {
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
    ) -> Result<EntryFacts<'v, &'v View<'s, T>>, StoreError> {
        match view.find(dn)?.entry() {
            Some(id) => EntryFacts::of(core, view, id),
            None => Ok(EntryFacts::new(core, view, EntrySource::Missing)),
        }
    }
}

impl<'v, N: NeighbourReader> EntryFacts<'v, N> {
    /// Returns the rights to the entry; `normal` is its name in normal form.
    pub(crate) fn rights<'d>(
        &'d self,
        decisions: &'d Decisions<'_>,
        normal: &'d str,
    ) -> EntryRights<'d> {
        decisions.at(normal, self)
    }

    /// Returns the groups that an attribute of an entry lists, in the newest state of its store.
    /// `None` for an attribute that the entry's database does not compute.
    fn groups(&self, of: EntryRef<'_>, attribute: &AttributeDescription) -> Option<KnownGroups> {
        let types = &self.core.membership_types;
        if !types.contains(&attribute.attribute) || attribute.options().is_some() {
            return None;
        }
        let EntryRef::Target = of else {
            return self.read_groups(of, attribute);
        };
        // Each rule of a list may ask for the same groups.
        let is_same = |(known, _): &&(AttributeIndex, KnownGroups)| *known == attribute.attribute;
        if let Some((_, groups)) = self.groups.borrow().iter().find(is_same) {
            return Some(groups.clone());
        }
        let groups = self.read_groups(of, attribute)?;
        let mut known = self.groups.borrow_mut();
        known.push((attribute.attribute, groups.clone()));
        Some(groups)
    }

    fn read_groups(
        &self,
        of: EntryRef<'_>,
        attribute: &AttributeDescription,
    ) -> Option<KnownGroups> {
        let core = self.core;
        let name = match (of, self.target) {
            (EntryRef::Entry(name), _) => name.to_owned(),
            (EntryRef::Target, EntrySource::Owned(entry)) => entry.dn.pretty().to_owned(),
            (EntryRef::Target, EntrySource::Missing) => return Some(Some(Rc::default())),
            (EntryRef::Target, EntrySource::Stored(entry)) => {
                let mut name = String::new();
                entry.write_dn(&mut DnCache::new(), &mut name).ok()?;
                name
            }
        };
        let dn = Dn::parse(&core.schema, &name).ok()?;
        let database = core.databases.database_of(&dn)?;
        if !database.memberships.compute_for_all(attribute.attribute) {
            return None;
        }
        let view = database.store.snapshot().ok();
        Some(view.and_then(|view| {
            view.find(&dn).ok()?.entry()?;
            let memberships = &database.memberships;
            let names = memberships.names(&view, attribute.attribute, &dn).ok()?;
            Some(names.into())
        }))
    }

    /// Returns true if a filter matches an entry with its groups.
    fn test<S: FilterSubject<AttributeSelector>>(
        &self,
        of: EntryRef<'_>,
        filter: &Filter<AttributeSelector>,
        subject: &S,
    ) -> bool {
        let schema = self.neighbours.schema(self.core);
        if self.core.membership_types.is_empty() {
            return filter.test(schema, subject).is_true();
        }
        let groups = |attribute: &AttributeSelector| self.groups(of, attribute);
        let groups = &groups;
        filter
            .test(schema, &WithGroups { subject, groups })
            .is_true()
    }

    /// Reads a neighbour.
    fn read<R>(&self, normal: &str, look: impl FnOnce(EntryView<'_>) -> R) -> Option<R> {
        self.neighbours.read(self.core, normal, look)
    }
}

impl<T: Snapshot> NeighbourReader for &View<'_, T> {
    fn schema<'a>(&'a self, _: &'a Core) -> &'a Schema {
        View::schema(self)
    }

    fn read<R>(
        &self,
        core: &Core,
        normal: &str,
        look: impl FnOnce(EntryView<'_>) -> R,
    ) -> Option<R> {
        let here: *const Store = self.store();
        if store_of(core, normal).is_none_or(|store| std::ptr::eq(store, here)) {
            in_view(self, normal, look)
        } else {
            elsewhere(core, normal, look)
        }
    }
}

impl NeighbourReader for StoredElsewhere {
    fn schema<'a>(&'a self, core: &'a Core) -> &'a Schema {
        &core.schema
    }

    fn read<R>(
        &self,
        core: &Core,
        normal: &str,
        look: impl FnOnce(EntryView<'_>) -> R,
    ) -> Option<R> {
        elsewhere(core, normal, look)
    }
}

impl<N: NeighbourReader> Facts for EntryFacts<'_, N> {
    fn values(
        &self,
        of: EntryRef<'_>,
        attribute: &AttributeDescription,
        visit: &mut dyn FnMut(&[u8]),
    ) {
        if let Some(groups) = self.groups(of, attribute) {
            let groups = groups.iter().flat_map(|groups| groups.iter());
            return groups.for_each(|group| visit(group));
        }
        match of {
            EntryRef::Target => target_values(self.target, attribute, visit),
            EntryRef::Entry(name) => {
                self.read(name, |entry| stored_values(&entry, attribute, visit));
            }
        }
    }

    fn matches(&self, of: EntryRef<'_>, filter: &Filter<AttributeSelector>) -> bool {
        let schema = self.neighbours.schema(self.core);
        match (of, self.target) {
            (EntryRef::Target, EntrySource::Stored(entry)) => self.test(of, filter, &entry),
            (EntryRef::Target, EntrySource::Owned(entry)) => {
                self.test(of, filter, &EntrySubject { schema, entry })
            }
            (EntryRef::Target, EntrySource::Missing) => false,
            (EntryRef::Entry(name), _) => self
                .read(name, |entry| self.test(of, filter, &entry))
                .unwrap_or(false),
        }
    }

    fn lists(&self, of: EntryRef<'_>, attribute: &AttributeDescription, name: &str) -> bool {
        let schema = self.neighbours.schema(self.core);
        if let Some(groups) = self.groups(of, attribute).map(Option::unwrap_or_default) {
            let mut groups = groups.iter();
            return groups.any(|group| is_name(schema, attribute, group, name));
        }
        match of {
            EntryRef::Target => target_lists(schema, self.target, attribute, name),
            EntryRef::Entry(of) => self
                .read(of, |entry| stored_lists(schema, &entry, attribute, name))
                .unwrap_or(false),
        }
    }

    fn search(&self, search: &RuleSearch<'_>, visit: &mut dyn FnMut(&[u8])) {
        // A plan reads committed indexes, so the changes of the current batch are not visible here.
        if let Some(Ok(view)) = store_of(self.core, search.base).map(Store::snapshot) {
            // An error of the store grants nothing.
            let _ = search_in(&view, search, visit);
        }
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

fn search_in(
    view: &View<'_>,
    search: &RuleSearch<'_>,
    visit: &mut dyn FnMut(&[u8]),
) -> Result<(), StoreError> {
    let Some(base) = view.find_base(search.base)? else {
        return Ok(());
    };
    let scope = match search.scope {
        LdapScope::Base => Scope::Base,
        LdapScope::One => Scope::OneLevel,
        LdapScope::Subtree => Scope::Subtree,
        LdapScope::Children => Scope::Subordinates,
    };
    let mut candidates = view.plan(base, scope, search.filter)?;
    while let Some(entry) = candidates.next_entry(view)? {
        if !search.filter.test(view.schema(), &entry).is_true() {
            continue;
        }
        if search.attributes.is_empty() {
            visit(view.resolved_dn(entry.id())?.normal().as_bytes());
        }
        for attribute in search.attributes {
            stored_values(&entry, attribute, visit);
        }
    }
    Ok(())
}
