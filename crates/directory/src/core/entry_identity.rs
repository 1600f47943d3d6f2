//! The identity by which other servers know an entry.

use fulgurite_schema::AttributeDescription;
use fulgurite_store::{EntryId, EntryView, PackedCsn, Snapshot, View};

use crate::core::result::{self, OpResult};
use crate::core::well_known_types::WellKnownTypes;

/// The UUID of an entry, and the number of its last change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryIdentity {
    pub(crate) uuid: [u8; 16],
    pub(crate) csn: Option<PackedCsn>,
}

impl EntryIdentity {
    /// Reads the identity of a stored entry; `None` without a UUID.
    pub(crate) fn of(types: &WellKnownTypes, entry: &EntryView<'_>) -> Option<EntryIdentity> {
        let first = |description: &AttributeDescription| entry.values(description)?.first();
        Some(EntryIdentity {
            uuid: parse_uuid(first(&types.entry_uuid)?)?,
            csn: first(&types.entry_csn).and_then(PackedCsn::parse),
        })
    }

    /// Does the same for an entry of a view.
    pub(crate) fn find<T: Snapshot>(
        types: &WellKnownTypes,
        view: &View<'_, T>,
        id: EntryId,
    ) -> OpResult<Option<EntryIdentity>> {
        let entry = view.entry(id).map_err(|error| result::store(&error))?;
        Ok(entry.and_then(|entry| EntryIdentity::of(types, &entry)))
    }
}

/// Reads the text of a UUID.
pub(crate) fn parse_uuid(text: &[u8]) -> Option<[u8; 16]> {
    let uuid = uuid::Uuid::try_parse_ascii(text).ok()?;
    Some(uuid.into_bytes())
}
