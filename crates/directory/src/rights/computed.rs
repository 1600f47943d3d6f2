//! Computed attributes, which no record holds (RFC 4512 section 4.2, RFC 5020). They follow from
//! the entry's place, or from the groups that name it.
//!
//! [`Computed`] is the one table of them. Selection, filter, compare, sort, assertion, pre-read and
//! post-read ask it.

use fulgurite_schema::{AttributeDescription, AttributeIndex, Entry};
use fulgurite_store::{EntryId, Snapshot, StoreError, View};

use crate::core::well_known_types::{SUBSCHEMA, WellKnownTypes};
use crate::rights::disclosure;
use crate::rights::group_walk;
use crate::rights::requester_rights::RequesterRights;

/// The number of hidden children that are examined before an entry counts as having none.
const CHILDREN_MAX: usize = 10_000;

/// An attribute computed on reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Computed {
    EntryDn,
    SubschemaSubentry,
    HasSubordinates,
    NumSubordinates,
    /// The newest change of each server, at the top of a database.
    ContextCsn,
    /// The name of the log of changes, at the top of a database that has one.
    AuditContext,
    /// The names of groups: an attribute of the database's memberships.
    Groups(AttributeIndex),
}

/// The values of a computed attribute.
pub(crate) enum ComputedValues {
    One(Vec<u8>),
    Several(Vec<Vec<u8>>),
}

impl ComputedValues {
    pub(crate) fn as_slice(&self) -> &[Vec<u8>] {
        match self {
            ComputedValues::One(value) => std::slice::from_ref(value),
            ComputedValues::Several(values) => values,
        }
    }
}

impl Computed {
    /// The attributes that `+` selects, in slapd's order. numSubordinates must be selected by name,
    /// because other servers lack it.
    pub(crate) const OPERATIONAL: [Computed; 4] = [
        Computed::EntryDn,
        Computed::SubschemaSubentry,
        Computed::AuditContext,
        Computed::HasSubordinates,
    ];

    /// Those of them that every entry has.
    fn of_every_entry() -> impl Iterator<Item = Computed> {
        let is_of_suffix = |computed: &Computed| *computed == Computed::AuditContext;
        Computed::OPERATIONAL
            .into_iter()
            .filter(move |computed| !is_of_suffix(computed))
    }

    /// Returns the computed attribute of a type, except groups.
    pub(crate) fn of(types: &WellKnownTypes, attribute: AttributeIndex) -> Option<Computed> {
        let all = [
            (Some(&types.entry_dn), Computed::EntryDn),
            (Some(&types.subschema_subentry), Computed::SubschemaSubentry),
            (Some(&types.has_subordinates), Computed::HasSubordinates),
            (types.num_subordinates.as_ref(), Computed::NumSubordinates),
            (types.context_csn.as_ref(), Computed::ContextCsn),
            (types.audit_context.as_ref(), Computed::AuditContext),
        ];
        all.into_iter()
            .find(|(description, _)| description.is_some_and(|d| d.attribute == attribute))
            .map(|(_, computed)| computed)
    }

    /// Returns its type; `None` if the schema lacks it.
    pub(crate) fn attribute(self, types: &WellKnownTypes) -> Option<AttributeIndex> {
        let description = match self {
            Computed::EntryDn => &types.entry_dn,
            Computed::SubschemaSubentry => &types.subschema_subentry,
            Computed::HasSubordinates => &types.has_subordinates,
            Computed::NumSubordinates => types.num_subordinates.as_ref()?,
            Computed::ContextCsn => types.context_csn.as_ref()?,
            Computed::AuditContext => types.audit_context.as_ref()?,
            Computed::Groups(attribute) => return Some(attribute),
        };
        Some(description.attribute)
    }

    /// Returns true if the attribute may be shown to the requester.
    ///
    /// A count of children reveals hidden ones, so it needs rules that treat all entries alike. A
    /// database without the feature has no groups to list.
    pub(crate) fn is_visible(self, requester: RequesterRights<'_>) -> bool {
        match self {
            Computed::NumSubordinates => requester.decisions.uniform(),
            Computed::Groups(attribute) => requester.database.memberships.compute(attribute),
            Computed::AuditContext => requester.database.audit_context.is_some(),
            _ => true,
        }
    }

    /// Returns its values for an entry. This costs a descent, a climb for the name, or a look at
    /// the children or groups.
    pub(crate) fn values(
        self,
        requester: RequesterRights<'_>,
        view: &View<'_>,
        id: EntryId,
    ) -> Result<ComputedValues, StoreError> {
        let value = match self {
            Computed::Groups(attribute) => {
                let names = requester.groups(view, attribute, id)?;
                return Ok(ComputedValues::Several(names));
            }
            Computed::ContextCsn => return Ok(ComputedValues::Several(context_csn(view, id)?)),
            Computed::AuditContext => {
                let log = requester.database.audit_context.as_ref();
                let log = log.map(|log| log.pretty().as_bytes().to_vec());
                let is_top = log.is_some() && view.parent(id)?.is_none();
                let values = log.filter(|_| is_top).into_iter().collect();
                return Ok(ComputedValues::Several(values));
            }
            Computed::NumSubordinates => view.child_count(id)?.to_string().into_bytes(),
            other => other.value_within(requester, view, id)?,
        };
        Ok(ComputedValues::One(value))
    }

    /// Returns the value of an attribute other than groups, in any state of a store. Counting
    /// children visits each of them there.
    fn value_within<T: Snapshot>(
        self,
        requester: RequesterRights<'_>,
        view: &View<'_, T>,
        id: EntryId,
    ) -> Result<Vec<u8>, StoreError> {
        Ok(match self {
            Computed::EntryDn => view.dn(id)?.into_bytes(),
            Computed::SubschemaSubentry => SUBSCHEMA.into(),
            Computed::HasSubordinates => {
                let has_children: &[u8] = if requester.sees_child(view, id)? {
                    b"TRUE"
                } else {
                    b"FALSE"
                };
                has_children.to_vec()
            }
            Computed::NumSubordinates => view.children(id)?.len().to_string().into_bytes(),
            Computed::Groups(_) | Computed::ContextCsn | Computed::AuditContext => Vec::new(),
        })
    }
}

impl RequesterRights<'_> {
    /// Returns the names of the groups that an attribute lists. Stored values of an attribute that
    /// clients may write count too.
    fn groups(
        self,
        view: &View<'_>,
        attribute: AttributeIndex,
        id: EntryId,
    ) -> Result<Vec<Vec<u8>>, StoreError> {
        if self.database.lists.is_none() {
            let name = view.resolved_dn(id)?;
            return self.database.memberships.names(view, attribute, &name);
        }
        let mut names = group_walk::names(self, view, attribute, id)?;
        let schema = view.schema();
        if schema.attribute_at(attribute).no_user_modification {
            return Ok(names);
        }
        let entry = view.entry(id)?;
        let stored = entry.and_then(|entry| entry.plain_values(attribute));
        let stored: Vec<Vec<u8>> = stored.into_iter().flatten().map(<[u8]>::to_vec).collect();
        names.retain(|name| {
            let normal = schema.normal_value(attribute, name);
            let mut stored = stored.iter();
            !stored.any(|stored| schema.normal_value(attribute, stored) == normal)
        });
        Ok([stored, names].concat())
    }

    /// Returns the computed attribute of a description.
    pub(crate) fn computed(self, description: &AttributeDescription) -> Option<Computed> {
        let attribute = description.attribute;
        Computed::of(&self.core.types, attribute).or_else(|| {
            let has_groups =
                description.options().is_none() && self.database.memberships.compute(attribute);
            has_groups.then_some(Computed::Groups(attribute))
        })
    }

    /// Returns true if the entry has a child that the requester may know of.
    fn sees_child<T: Snapshot>(self, view: &View<'_, T>, id: EntryId) -> Result<bool, StoreError> {
        if self.decisions.uniform() {
            return view.has_children(id);
        }
        let (mut looked_at, mut seen) = (0, Ok(false));
        view.for_each_child(id, &mut |child| {
            looked_at += 1;
            let name = disclosure::shown_name(self.core, view, self.decisions, child);
            seen = name.map(|name| name.is_some());
            matches!(seen, Ok(false)) && looked_at < CHILDREN_MAX
        })?;
        seen
    }
}

/// Returns the values of contextCSN. Only a top entry has them, and only of a database that is
/// a copy or that other servers copy.
fn context_csn(view: &View<'_>, id: EntryId) -> Result<Vec<Vec<u8>>, StoreError> {
    let is_top = view.parent(id)?.is_none();
    let changes = view.changes()?;
    if !is_top || !changes.is_shown {
        return Ok(Vec::new());
    }
    let numbers = changes.vector.iter();
    Ok(numbers.map(|csn| csn.text().into_bytes()).collect())
}

/// Copies an entry with its computed attributes, except the number of children.
pub(crate) fn whole_entry(
    view: &View<'_>,
    requester: RequesterRights<'_>,
    id: EntryId,
) -> Result<Entry, StoreError> {
    let mut entry = entry_without_groups(view, requester, id)?;
    let memberships = &requester.database.memberships;
    memberships.complete(&mut entry, |attribute, _| {
        requester.groups(view, attribute, id)
    })?;
    Ok(entry)
}

/// Copies an entry of any state of a store with its computed attributes, except the number of
/// children and groups.
pub(crate) fn entry_without_groups<T: Snapshot>(
    view: &View<'_, T>,
    requester: RequesterRights<'_>,
    id: EntryId,
) -> Result<Entry, StoreError> {
    let entry = view.entry(id)?.ok_or(StoreError::NoSuchEntry(id))?;
    let mut entry = entry.to_entry()?;
    for computed in Computed::of_every_entry() {
        if let Some(attribute) = computed.attribute(&requester.core.types) {
            let description = AttributeDescription::plain(attribute);
            entry.set(
                &description,
                vec![computed.value_within(requester, view, id)?],
            );
        }
    }
    Ok(entry)
}
