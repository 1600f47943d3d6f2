//! The state of a copy as texts, which is how consumers and cookies have it.

use fulgurite_store::{CsnVector, PackedCsn, Snapshot, StoreError, View};

/// Returns the vector of some numbers. A text that is none is left out.
pub(super) fn vector_of(csns: &[String]) -> CsnVector {
    let numbers = csns.iter().map(String::as_bytes);
    numbers.filter_map(PackedCsn::parse).collect()
}

/// Returns the numbers of a vector as texts.
pub(super) fn texts_of(vector: &CsnVector) -> Vec<String> {
    vector.iter().map(|csn| csn.text()).collect()
}

/// Returns the state of a database.
pub(crate) fn state_of<T: Snapshot>(view: &View<'_, T>) -> Result<Vec<String>, StoreError> {
    Ok(texts_of(&view.changes()?.vector))
}
