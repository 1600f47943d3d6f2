//! Deletions that no provider has told with their numbers.
//!
//! An entry may come and go between two refreshes from slapd. The second one names what is there,
//! or tells the deletion without its number. So nothing here says that the entry is gone, and the
//! copy of another server may have it. This row has the numbers up to which such deletions may be.
//! A consumer from before them has to hear the names of all entries.

use fulgurite_store::{CsnVector, PackedCsn, Snapshot, StoreError, View, Writer};

/// The key of the row.
const KEY: &[u8] = b"untold";

/// Returns the numbers up to which deletions may be missing.
pub(crate) fn untold<T: Snapshot>(view: &View<'_, T>) -> Result<CsnVector, StoreError> {
    let row = view.sync_row(KEY)?.unwrap_or_default();
    let numbers = row.chunks(PackedCsn::LEN);
    Ok(numbers.filter_map(PackedCsn::from_bytes).collect())
}

/// Notes that deletions may be missing among the changes that a state is ahead of another.
pub(super) fn note_untold(
    writer: &mut Writer<'_>,
    state: &CsnVector,
    before: &CsnVector,
) -> Result<(), StoreError> {
    let mut all = untold(writer)?;
    let mut has_more = false;
    for csn in state.iter().filter(|csn| !before.covers(*csn)) {
        has_more |= all.raise(csn);
    }
    if !has_more {
        return Ok(());
    }
    let row: Vec<u8> = all.iter().flat_map(|csn| *csn.as_bytes()).collect();
    writer.put_sync_row(KEY, &row)
}
