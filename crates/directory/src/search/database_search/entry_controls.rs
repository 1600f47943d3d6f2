//! Entries that carry controls: dereferenced values, usability, states of a refresh.

use fulgurite_ldap::{Control, ResultCode, oid};
use fulgurite_store::StoreError;

use crate::core::result::refuse;
use crate::rights::projection::{EntryCaches, StoredEntry};
use crate::search::dereference::EntryDereference;
use crate::search::output::{Output, SearchEnd};
use crate::search::sync::entries::RefreshEntry;

/// Writes an entry with the answers to the controls that are about each entry.
///
/// Returns the search's end if the entry has too many values. This is a separate function, because
/// the path of other entries runs for each entry of a scan.
#[cold]
pub(super) fn write_with_controls(
    stored: StoredEntry<'_, '_>,
    caches: &mut EntryCaches<'_>,
    output: &Output,
    out: &mut Vec<u8>,
) -> Result<Option<SearchEnd>, StoreError> {
    let dereferenced = match &output.dereference {
        None => EntryDereference::Nothing,
        Some(dereference) => {
            dereference.of_entry(stored.view, stored.entry, stored.requester, stored.rights)?
        }
    };
    let mut controls = Vec::new();
    match &dereferenced {
        EntryDereference::Nothing => {}
        EntryDereference::Value(value) => {
            controls.push(Control::with_value(oid::DEREFERENCE, false, value));
        }
        EntryDereference::TooMany => {
            let text = "an entry has too many values to dereference";
            let mut end = output.end(ResultCode::AdminLimitExceeded);
            end.result = refuse(ResultCode::AdminLimitExceeded, text);
            return Ok(Some(end));
        }
    }
    let usability = match &output.usability {
        None => None,
        Some(policies) => policies.usability_of(&stored),
    };
    if let Some(value) = &usability {
        controls.push(Control::with_value(oid::ACCOUNT_USABILITY, false, value));
    }
    let controls = &*controls;
    let stored = StoredEntry { controls, ..stored };
    output
        .projection
        .write_stored(out, output.id, &stored, caches)?;
    Ok(None)
}

/// Writes an entry of a full refresh with its state, or names it. Returns true if it is written.
#[cold]
pub(super) fn write_synchronised(
    stored: StoredEntry<'_, '_>,
    caches: &mut EntryCaches<'_>,
    output: &mut Output,
    out: &mut Vec<u8>,
) -> Result<bool, StoreError> {
    let Some(entries) = &mut output.sync else {
        return Ok(false);
    };
    let types = &stored.requester.core.types;
    let RefreshEntry::Whole(value) =
        entries.of(types, (stored.view, stored.entry), (out, output.id))?
    else {
        return Ok(false);
    };
    let controls = &[Control::with_value(oid::SYNC_STATE, false, &value)];
    // Each server has its own binds.
    let entry = &stored.entry.without_bind_state();
    let stored = StoredEntry {
        controls,
        entry,
        ..stored
    };
    output
        .projection
        .write_stored(out, output.id, &stored, caches)?;
    Ok(true)
}
