//! The state of a database, which exports show as contextCSN of its top entry.

use fulgurite_store::{EntryView, StoreError, View};

/// The attribute.
pub(crate) const CONTEXT_CSN: &str = "contextCSN";

/// The state of one view.
pub(crate) struct Context(Vec<String>);

impl Context {
    /// Reads the state; it has no values unless other servers copy the database.
    pub(crate) fn of(view: &View<'_>) -> Result<Context, StoreError> {
        let changes = view.changes()?;
        if !changes.is_shown {
            return Ok(Context(Vec::new()));
        }
        let numbers = changes.vector.iter();
        Ok(Context(numbers.map(|csn| csn.text()).collect()))
    }

    /// Returns the values that an entry has besides those of its record.
    pub(crate) fn values(&self, entry: &EntryView<'_>) -> &[String] {
        if self.0.is_empty() || entry.parent().is_some() {
            return &[];
        }
        // After a load the record itself has values, until a server opens the store.
        let mut attributes = entry.attributes();
        match attributes.any(|held| &*held.info.text == CONTEXT_CSN) {
            true => &[],
            false => &self.0,
        }
    }
}
