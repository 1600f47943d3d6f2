//! The facts that only servers like this one get: the place of an entry, and what a deletion ends.

use fulgurite_ldap::EntryPlace;
use fulgurite_store::{EntryView, StoreError, View};

use crate::core::entry_identity::EntryIdentity;
use crate::core::well_known_types::{WellKnownTypes, is_glue};
use crate::write::replicated::place_of;

/// Returns the place of an entry; `None` at the top of the tree.
pub(super) fn place(
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
                csn: csn
                    .filter(|csn| identity.csn < Some(*csn))
                    .map(|csn| csn.text()),
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
