//! Computed attributes, which no record holds (RFC 4512 section 4.2, RFC 5020). They follow from
//! the entry's place.
//!
//! [`Computed`] is the one table of them. Selection, filter, compare, sort, assertion, pre-read and
//! post-read ask it.

use fulgurite_access::Decisions;
use fulgurite_schema::{AttributeDescription, AttributeIndex, Entry};
use fulgurite_store::{EntryId, Snapshot, StoreError, View};

use crate::core::foundation::Core;
use crate::core::well_known_types::{SUBSCHEMA, WellKnownTypes};
use crate::rights::disclosure;

/// The number of hidden children that are examined before an entry counts as having none.
const CHILDREN_MAX: usize = 10_000;

/// The rights that a computed attribute depends on: it follows from neighbours that the requester
/// may know of.
#[derive(Clone, Copy)]
pub(crate) struct RequesterRights<'a> {
    pub(crate) core: &'a Core,
    pub(crate) decisions: &'a Decisions<'a>,
}

/// An attribute computed on reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Computed {
    EntryDn,
    SubschemaSubentry,
    HasSubordinates,
    NumSubordinates,
}

impl Computed {
    /// The attributes that `+` selects. numSubordinates must be selected by name, because other
    /// servers lack it.
    pub(crate) const OPERATIONAL: [Computed; 3] = [
        Computed::EntryDn,
        Computed::SubschemaSubentry,
        Computed::HasSubordinates,
    ];

    /// Returns the computed attribute of a type.
    pub(crate) fn of(types: &WellKnownTypes, attribute: AttributeIndex) -> Option<Computed> {
        let all = [
            (Some(&types.entry_dn), Computed::EntryDn),
            (Some(&types.subschema_subentry), Computed::SubschemaSubentry),
            (Some(&types.has_subordinates), Computed::HasSubordinates),
            (types.num_subordinates.as_ref(), Computed::NumSubordinates),
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
        };
        Some(description.attribute)
    }

    /// Returns true if the attribute may be shown to the requester.
    ///
    /// A count of children reveals hidden ones, so it needs rules that treat all entries alike.
    pub(crate) fn is_visible(self, decisions: &Decisions<'_>) -> bool {
        self != Computed::NumSubordinates || decisions.uniform()
    }

    /// Returns its value for an entry. This costs a descent, a climb for the name, or a look at the
    /// children.
    pub(crate) fn value(
        self,
        requester: RequesterRights<'_>,
        view: &View<'_>,
        id: EntryId,
    ) -> Result<Vec<u8>, StoreError> {
        match self {
            Computed::NumSubordinates => Ok(view.child_count(id)?.to_string().into_bytes()),
            other => other.value_within(requester, view, id),
        }
    }

    /// Returns its value in any state of a store. Counting children visits each of them there.
    pub(crate) fn value_within<T: Snapshot>(
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
        })
    }
}

impl RequesterRights<'_> {
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

/// Copies an entry with its computed attributes, except the number of children.
pub(crate) fn whole_entry<T: Snapshot>(
    view: &View<'_, T>,
    requester: RequesterRights<'_>,
    id: EntryId,
) -> Result<Entry, StoreError> {
    let entry = view.entry(id)?.ok_or(StoreError::NoSuchEntry(id))?;
    let mut entry = entry.to_entry()?;
    for computed in Computed::OPERATIONAL {
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
