//! What access rules get to know of entries: the snapshot at hand, and beyond it the other databases.
//!
//! ```text
//!   decisions.at(name, &facts)          facts.target    the entry decided about: of the store, of a request, or none
//!                                       facts.view      others of the same database, as the operation sees them
//!                                       the directory   groups kept in other databases
//! ```

use fulgurite_access::{
    Decisions, EntryRights, Facts, Reach, Requester, Rules, Strengths, Whose, Wire,
};
use fulgurite_schema::{
    AttributeDescription, AttributeSelector, Dn, Entry, EntrySubject, Filter, Schema,
};
use fulgurite_store::{EntryId, EntryView, Scope, Snapshot, Store, StoreError, View};

use crate::core::session::{Identity, Name, Session};
use crate::directory::Directory;

/// Facts about one entry and its neighbours.
pub(crate) struct EntryFacts<'v, 's, T> {
    directory: &'v Directory,
    view: &'v View<'s, T>,
    target: Target<'v>,
}

/// The entry decided about.
#[derive(Clone, Copy)]
pub(crate) enum Target<'v> {
    Stored(EntryView<'v>),
    /// One that is on its way into a store, or that the server has made up.
    Owned(&'v Entry),
    Missing,
}

/// Facts about an entry that is in no store.
pub(crate) struct OwnFacts<'v> {
    pub(crate) directory: &'v Directory,
    pub(crate) entry: Option<&'v Entry>,
}

impl<'v, 's, T: Snapshot> EntryFacts<'v, 's, T> {
    pub(crate) fn new(
        directory: &'v Directory,
        view: &'v View<'s, T>,
        target: Target<'v>,
    ) -> EntryFacts<'v, 's, T> {
        EntryFacts {
            directory,
            view,
            target,
        }
    }

    /// About an entry of the view by its number.
    pub(crate) fn of(
        directory: &'v Directory,
        view: &'v View<'s, T>,
        id: EntryId,
    ) -> Result<EntryFacts<'v, 's, T>, StoreError> {
        let target = view.entry(id)?.map_or(Target::Missing, Target::Stored);
        Ok(EntryFacts::new(directory, view, target))
    }

    /// About an entry of the view by its name, which need not exist.
    pub(crate) fn named(
        directory: &'v Directory,
        view: &'v View<'s, T>,
        dn: &Dn,
    ) -> Result<EntryFacts<'v, 's, T>, StoreError> {
        match view.find(dn)?.entry() {
            Some(id) => EntryFacts::of(directory, view, id),
            None => Ok(EntryFacts::new(directory, view, Target::Missing)),
        }
    }

    /// What may be done with that entry, whose name is given in normal form.
    pub(crate) fn rights<'d>(
        &'d self,
        decisions: &'d Decisions<'_>,
        normal: &'d str,
    ) -> EntryRights<'d> {
        decisions.at(normal, self)
    }

    /// Looks at an entry: one of this store as the operation sees it, one of another as it is committed there.
    fn read<R>(&self, normal: &str, look: impl FnOnce(EntryView<'_>) -> R) -> Option<R> {
        let here: *const Store = self.view.store();
        if store_of(self.directory, normal).is_none_or(|store| std::ptr::eq(store, here)) {
            in_view(self.view, normal, look)
        } else {
            elsewhere(self.directory, normal, look)
        }
    }
}

impl<T: Snapshot> Facts for EntryFacts<'_, '_, T> {
    fn values(
        &self,
        of: Whose<'_>,
        attribute: &AttributeDescription,
        visit: &mut dyn FnMut(&[u8]),
    ) {
        match of {
            Whose::Target => target_values(self.target, attribute, visit),
            Whose::Entry(name) => {
                self.read(name, |entry| stored_values(&entry, attribute, visit));
            }
        }
    }

    fn matches(&self, of: Whose<'_>, filter: &Filter<AttributeSelector>) -> bool {
        let schema = self.view.schema();
        match of {
            Whose::Target => target_matches(schema, self.target, filter),
            Whose::Entry(name) => self
                .read(name, |entry| filter.test(schema, &entry).is_true())
                .unwrap_or(false),
        }
    }

    fn lists(&self, of: Whose<'_>, attribute: &AttributeDescription, name: &str) -> bool {
        let schema = self.view.schema();
        match of {
            Whose::Target => target_lists(schema, self.target, attribute, name),
            Whose::Entry(of) => self
                .read(of, |entry| stored_lists(schema, &entry, attribute, name))
                .unwrap_or(false),
        }
    }

    fn select(
        &self,
        base: &str,
        reach: Reach,
        filter: &Filter<AttributeSelector>,
        attributes: &[AttributeDescription],
        visit: &mut dyn FnMut(&[u8]),
    ) {
        // Searches plan on committed indexes: what the batch of a writer has changed so far does not show in them.
        select_elsewhere(self.directory, base, reach, filter, attributes, visit);
    }
}

impl Facts for OwnFacts<'_> {
    fn values(
        &self,
        of: Whose<'_>,
        attribute: &AttributeDescription,
        visit: &mut dyn FnMut(&[u8]),
    ) {
        match of {
            Whose::Target => target_values(self.target(), attribute, visit),
            Whose::Entry(name) => {
                elsewhere(self.directory, name, |entry| {
                    stored_values(&entry, attribute, visit)
                });
            }
        }
    }

    fn matches(&self, of: Whose<'_>, filter: &Filter<AttributeSelector>) -> bool {
        let schema = &self.directory.schema;
        match of {
            Whose::Target => target_matches(schema, self.target(), filter),
            Whose::Entry(name) => elsewhere(self.directory, name, |entry| {
                filter.test(schema, &entry).is_true()
            })
            .unwrap_or(false),
        }
    }

    fn lists(&self, of: Whose<'_>, attribute: &AttributeDescription, name: &str) -> bool {
        let schema = &self.directory.schema;
        match of {
            Whose::Target => target_lists(schema, self.target(), attribute, name),
            Whose::Entry(of) => {
                let lists = |entry: EntryView<'_>| stored_lists(schema, &entry, attribute, name);
                elsewhere(self.directory, of, lists).unwrap_or(false)
            }
        }
    }

    fn select(
        &self,
        base: &str,
        reach: Reach,
        filter: &Filter<AttributeSelector>,
        attributes: &[AttributeDescription],
        visit: &mut dyn FnMut(&[u8]),
    ) {
        select_elsewhere(self.directory, base, reach, filter, attributes, visit);
    }
}

impl<'v> OwnFacts<'v> {
    fn target(&self) -> Target<'v> {
        self.entry.map_or(Target::Missing, Target::Owned)
    }
}

/// Fixes the requester of an operation.
pub(crate) fn decide<'r>(rules: &'r Rules, session: &Session, is_root: bool) -> Decisions<'r> {
    let connection = session.connection();
    let (mut peer, mut socket) = (String::new(), String::new());
    let (mut url, mut domain) = ("", "");
    // What no rule looks at need not be written down for each operation.
    if rules.looks_at_wire() {
        peer = connection.peer.to_string();
        socket = connection.socket.to_string();
        url = &connection.listener_url;
        domain = connection.domain.as_deref().unwrap_or_default();
    }
    let strength = &connection.strength;
    let requester = Requester {
        name: name_of(session.identity()),
        real_name: name_of(session.real_identity()),
        root: is_root,
        wire: Wire {
            peer: &peer,
            socket: &socket,
            url,
            domain,
            strength: Strengths {
                overall: strength.overall(),
                transport: strength.transport,
                tls: strength.tls,
                sasl: strength.sasl,
            },
        },
    };
    rules.decide(&requester)
}

fn name_of(identity: &Identity) -> &str {
    identity.name().map_or("", Name::normal)
}

fn target_values(
    target: Target<'_>,
    attribute: &AttributeDescription,
    visit: &mut dyn FnMut(&[u8]),
) {
    match target {
        Target::Stored(entry) => stored_values(&entry, attribute, visit),
        Target::Owned(entry) => {
            let held = entry.attributes.iter();
            held.filter(|held| *attribute == held.description)
                .flat_map(|held| &held.values)
                .for_each(|value| visit(value));
        }
        Target::Missing => {}
    }
}

fn target_matches(schema: &Schema, target: Target<'_>, filter: &Filter<AttributeSelector>) -> bool {
    match target {
        Target::Stored(entry) => filter.test(schema, &entry).is_true(),
        Target::Owned(entry) => filter
            .test(schema, &EntrySubject { schema, entry })
            .is_true(),
        Target::Missing => false,
    }
}

fn target_lists(
    schema: &Schema,
    target: Target<'_>,
    attribute: &AttributeDescription,
    name: &str,
) -> bool {
    match target {
        Target::Stored(entry) => stored_lists(schema, &entry, attribute, name),
        Target::Owned(_) => {
            let mut found = false;
            target_values(target, attribute, &mut |value| {
                found = found || is_name(schema, attribute, value, name);
            });
            found
        }
        Target::Missing => false,
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

/// Whether a value is that name, given in normal form.
fn is_name(schema: &Schema, attribute: &AttributeDescription, value: &[u8], name: &str) -> bool {
    let rule = schema.attribute_at(attribute.attribute).equality;
    rule.is_some_and(|rule| rule.matches(schema, name.as_bytes(), value).is_true())
}

/// The store that a name belongs to.
fn store_of<'d>(directory: &'d Directory, normal: &str) -> Option<&'d Store> {
    let dn = Dn::parse(&directory.schema, normal).ok()?;
    directory.database_of(&dn).map(|database| database.store())
}

fn in_view<R, T: Snapshot>(
    view: &View<'_, T>,
    normal: &str,
    look: impl FnOnce(EntryView<'_>) -> R,
) -> Option<R> {
    let id = view.find_normal(normal).ok()?.entry()?;
    view.entry(id).ok()?.map(look)
}

fn elsewhere<R>(
    directory: &Directory,
    normal: &str,
    look: impl FnOnce(EntryView<'_>) -> R,
) -> Option<R> {
    let view = store_of(directory, normal)?.snapshot().ok()?;
    in_view(&view, normal, look)
}

fn select_elsewhere(
    directory: &Directory,
    base: &str,
    reach: Reach,
    filter: &Filter<AttributeSelector>,
    attributes: &[AttributeDescription],
    visit: &mut dyn FnMut(&[u8]),
) {
    if let Some(Ok(view)) = store_of(directory, base).map(Store::snapshot) {
        // What a failing store does not show grants nothing.
        let _ = select(&view, base, reach, filter, attributes, visit);
    }
}

fn select(
    view: &View<'_>,
    base: &str,
    reach: Reach,
    filter: &Filter<AttributeSelector>,
    attributes: &[AttributeDescription],
    visit: &mut dyn FnMut(&[u8]),
) -> Result<(), StoreError> {
    let Some(base) = view.find_normal(base)?.entry() else {
        return Ok(());
    };
    let scope = match reach {
        Reach::Base => Scope::Base,
        Reach::OneLevel => Scope::OneLevel,
        Reach::Subtree => Scope::Subtree,
        Reach::Subordinates => Scope::Subordinates,
    };
    let mut candidates = view.plan(base, scope, filter)?;
    while let Some(entry) = candidates.next_entry(view)? {
        if !filter.test(view.schema(), &entry).is_true() {
            continue;
        }
        if attributes.is_empty() {
            visit(view.resolved_dn(entry.id())?.normal().as_bytes());
        }
        for attribute in attributes {
            stored_values(&entry, attribute, visit);
        }
    }
    Ok(())
}
