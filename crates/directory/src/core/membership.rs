//! Membership: attributes such as `memberOf`, which list the groups that name an entry.
//!
//! ```text
//!   groups of an entry    its name  -> equality index of `member` -> ids of groups -> their names
//!   members of a group    its values of `member` -> tree of names -> ids of entries
//! ```
//!
//! No record holds such an attribute. The equality index of the groups' attribute is the membership
//! index. It is right after every change, load and rename, and a member costs one key in it.

use fulgurite_schema::{
    Assertion, Attribute, AttributeDescription, AttributeIndex, AttributeSelector, Dn, Entry,
    Filter, Schema,
};
use fulgurite_store::{
    Candidates, DnCache, EntryId, EntryView, Scope, Snapshot, StoreError, View, Writer,
};

/// An attribute of members, and the groups that it lists.
#[derive(Clone, Debug)]
pub(crate) struct Membership {
    /// The attribute that lists groups.
    pub(crate) attribute: AttributeDescription,
    /// The attribute of a group whose values name its members.
    pub(crate) member: AttributeDescription,
    /// Matches groups.
    pub(crate) group: Filter<AttributeSelector>,
    /// Present for the groups of `dynlist`. The requester must know them.
    pub(crate) listed: Option<ListedGroups>,
}

/// The members of the groups of `dynlist`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListedGroups {
    /// The number of the set whose URLs find the members; `None` if values name them.
    pub(crate) set: Option<usize>,
    /// True if members of groups within groups count.
    pub(crate) nested: bool,
}

/// The memberships of a database. Several may have one attribute, which then lists all their
/// groups.
#[derive(Debug, Default)]
pub(crate) struct Memberships(Vec<Membership>);

impl Membership {
    /// Returns true if an entry is a group.
    pub(crate) fn is_group(&self, schema: &Schema, entry: &EntryView<'_>) -> bool {
        self.group.test(schema, entry).is_true()
    }

    /// Returns a filter that every group with this member matches. `None` if no value can name it.
    fn filter(&self, schema: &Schema, member: &Dn) -> Option<Filter<AttributeSelector>> {
        let definition = schema.attribute_at(self.member.attribute);
        let rule = definition.equality?;
        let normal = rule.normalise(schema, member.pretty().as_bytes()).ok()?;
        let names = Filter::Equality(Assertion {
            attribute: self.member.clone(),
            rule,
            normal: normal.into(),
        });
        Some(Filter::And(vec![names, self.group.clone()]))
    }

    /// Adds the groups that name a member.
    pub(crate) fn add_groups(
        &self,
        view: &View<'_>,
        member: &Dn,
        groups: &mut Vec<EntryId>,
    ) -> Result<(), StoreError> {
        let Some(filter) = self.filter(view.schema(), member) else {
            return Ok(());
        };
        let candidates = view.plan(EntryId::ROOT, Scope::Subtree, &filter)?;
        self.collect(view, candidates, member, groups)
    }

    /// Adds the groups among candidates that name a member.
    fn collect<T: Snapshot>(
        &self,
        view: &View<'_, T>,
        mut candidates: Candidates,
        member: &Dn,
        groups: &mut Vec<EntryId>,
    ) -> Result<(), StoreError> {
        let schema = view.schema();
        let exact = candidates.is_exact() && view.attributes().covers_itself(&self.member);
        while let Some(entry) = candidates.next_entry(view)? {
            if exact || self.is_group(schema, &entry) && self.lists(view, &entry, member)? {
                groups.push(entry.id());
            }
        }
        Ok(())
    }

    /// Returns true if a group names a member.
    fn lists<T: Snapshot>(
        &self,
        view: &View<'_, T>,
        group: &EntryView<'_>,
        member: &Dn,
    ) -> Result<bool, StoreError> {
        let name = member.pretty().as_bytes();
        let Some(values) = group.values(&self.member) else {
            return Ok(false);
        };
        if values.are_overflow() {
            return view.holds_value(group.id(), &self.member, name);
        }
        let normal = |value| view.schema().normal_value(self.member.attribute, value);
        // Most values are written as the name is.
        Ok(values.iter().any(|value| value == name) || {
            let name = normal(name);
            values.iter().any(|value| normal(value) == name)
        })
    }
}

impl Memberships {
    pub(crate) fn new(list: Vec<Membership>) -> Memberships {
        Memberships(list)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if the attribute is computed.
    pub(crate) fn compute(&self, attribute: AttributeIndex) -> bool {
        self.of(attribute).next().is_some()
    }

    /// Returns true if the attribute lists groups that all requesters know.
    pub(crate) fn compute_for_all(&self, attribute: AttributeIndex) -> bool {
        self.known_to_all(attribute).next().is_some()
    }

    /// Returns the memberships of an attribute that all requesters know.
    fn known_to_all(&self, attribute: AttributeIndex) -> impl Iterator<Item = &Membership> {
        self.of(attribute)
            .filter(|membership| membership.listed.is_none())
    }

    /// Returns the memberships of an attribute.
    pub(crate) fn of(&self, attribute: AttributeIndex) -> impl Iterator<Item = &Membership> {
        let list = self.0.iter();
        list.filter(move |membership| membership.attribute.attribute == attribute)
    }

    /// Returns the computed attributes, each once.
    pub(crate) fn attributes(&self) -> Vec<&AttributeDescription> {
        let mut attributes: Vec<&AttributeDescription> = Vec::new();
        for membership in &self.0 {
            if !attributes.contains(&&membership.attribute) {
                attributes.push(&membership.attribute);
            }
        }
        attributes
    }

    /// Returns the names of the groups that an attribute of `member` lists for all requesters. They
    /// are in the order of their ids.
    ///
    /// Cost: a look-up in the index, and a climb for the name of each group. Without the index, it
    /// tests all groups.
    pub(crate) fn names(
        &self,
        view: &View<'_>,
        attribute: AttributeIndex,
        member: &Dn,
    ) -> Result<Vec<Vec<u8>>, StoreError> {
        let mut groups = Vec::new();
        for membership in self.known_to_all(attribute) {
            membership.add_groups(view, member, &mut groups)?;
        }
        names_of(view, groups)
    }

    /// Does the same in the state with a writer's changes.
    pub(crate) fn names_in_writer(
        &self,
        writer: &mut Writer<'_>,
        attribute: AttributeIndex,
        member: &Dn,
    ) -> Result<Vec<Vec<u8>>, StoreError> {
        let mut groups = Vec::new();
        for membership in self.known_to_all(attribute) {
            let Some(filter) = membership.filter(writer.schema(), member) else {
                continue;
            };
            let candidates = writer.plan(EntryId::ROOT, Scope::Subtree, &filter)?;
            membership.collect(&**writer, candidates, member, &mut groups)?;
        }
        names_of(&**writer, groups)
    }

    /// Sets the computed attributes of a copy of an entry; `names` returns the values of one.
    pub(crate) fn complete(
        &self,
        entry: &mut Entry,
        mut names: impl FnMut(AttributeIndex, &Dn) -> Result<Vec<Vec<u8>>, StoreError>,
    ) -> Result<(), StoreError> {
        for description in self.attributes() {
            let values = names(description.attribute, &entry.dn)?;
            if values.is_empty() {
                let is_other = |held: &Attribute| held.description != *description;
                entry.attributes.retain(is_other);
            } else {
                entry.set(description, values);
            }
        }
        Ok(())
    }
}

/// Returns the names of groups, in the order of their ids.
pub(crate) fn names_of<T: Snapshot>(
    view: &View<'_, T>,
    mut groups: Vec<EntryId>,
) -> Result<Vec<Vec<u8>>, StoreError> {
    groups.sort_unstable();
    groups.dedup();
    let mut cache = DnCache::new();
    let mut names = Vec::with_capacity(groups.len());
    for group in groups {
        let mut name = String::new();
        view.write_dn(group, &mut cache, &mut name)?;
        names.push(name.into_bytes());
    }
    Ok(names)
}
