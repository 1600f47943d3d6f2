//! The facts that only servers like this one get. Entries have a place and the numbers of their
//! parts. Deletions have the greatest number that they end.

use fulgurite_ldap::EntryPlace;
use fulgurite_ldap::control::SyncCookie;
use fulgurite_store::{EntryView, StoreError, View};

use crate::core::entry_identity::EntryIdentity;
use crate::core::well_known_types::{WellKnownTypes, is_glue};
use crate::write::replicated::{EntryStamps, place_of, stamps_of};

/// The facts about an entry that peers get.
pub(super) struct PeerFacts {
    pub(super) place: Option<EntryPlace>,
    pub(super) stamps: EntryStamps,
}

impl PeerFacts {
    /// Reads the facts; `None` for an entry without a UUID.
    pub(super) fn of(
        types: &WellKnownTypes,
        view: &View<'_>,
        entry: &EntryView<'_>,
    ) -> Result<Option<PeerFacts>, StoreError> {
        let Some(identity) = EntryIdentity::of(types, entry) else {
            return Ok(None);
        };
        Ok(Some(PeerFacts {
            place: place(types, view, entry)?,
            stamps: stamps_of(view, &identity.uuid, identity.csn)?,
        }))
    }

    /// Returns the part of a cookie that tells them.
    pub(super) fn cookie_part(&self) -> String {
        let mut part = format!("{}{}", SyncCookie::STAMPS, self.stamps.text());
        if let Some(place) = &self.place {
            part.push(',');
            part.push_str(&place.cookie_part());
        }
        part
    }
}

/// Returns the place of an entry; `None` at the top of the tree.
fn place(
    types: &WellKnownTypes,
    view: &View<'_>,
    entry: &EntryView<'_>,
) -> Result<Option<EntryPlace>, StoreError> {
    let Some(identity) = EntryIdentity::of(types, entry) else {
        return Ok(None);
    };
    let mut levels = 1;
    let mut next = entry.parent();
    while let Some(id) = next {
        let Some(above) = view.entry(id)? else {
            return Ok(None);
        };
        if !is_glue(types, &above) {
            let above = EntryIdentity::of(types, &above);
            let csn = place_of(view, &identity.uuid)?;
            return Ok(above.map(|above| EntryPlace {
                above: above.uuid,
                levels,
                csn: csn.map(|csn| csn.text()),
            }));
        }
        levels += 1;
        next = above.parent();
    }
    Ok(None)
}

/// Returns the part of a cookie that tells which states a deletion ends.
pub(super) fn ended_part(view: &View<'_>, uuid: [u8; 16]) -> Result<Option<String>, StoreError> {
    let tombstone = view.tombstone(uuid)?;
    Ok(tombstone.map(|tombstone| {
        let mut part = format!("delcsn={}", tombstone.csn.text());
        if tombstone.ends != tombstone.csn {
            part.push_str(",fgd=");
            part.push_str(&tombstone.ends.text());
        }
        part
    }))
}
