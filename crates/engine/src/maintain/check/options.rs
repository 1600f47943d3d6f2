//! The options of a check.

/// The snapshot to check, and the rules to leave out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckOptions {
    pub(super) snapshot: Option<u64>,
    pub(super) previous: bool,
    pub(super) any_order: Vec<String>,
    pub(super) any_order_everywhere: bool,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self {
            snapshot: None,
            previous: true,
            any_order: Vec::new(),
            any_order_everywhere: false,
        }
    }
}

impl CheckOptions {
    /// Checks the snapshot of transaction `txnid`, which the file must still describe. The default
    /// is the newest.
    #[must_use]
    pub fn snapshot(mut self, txnid: u64) -> Self {
        self.snapshot = Some(txnid);
        self
    }

    /// Checks also the pages of the previous snapshot that the newest does not share; on by
    /// default.
    ///
    /// It costs little, because two consecutive snapshots share nearly all pages.
    #[must_use]
    pub fn previous(mut self, yes: bool) -> Self {
        self.previous = yes;
        self
    }

    /// Ignores the order of keys and values in the database of this name, `main` for the main one.
    ///
    /// This is for programs that set their own order, which the file does not record. Two equal
    /// keys in a row are still found.
    #[must_use]
    pub fn any_order(mut self, database: impl Into<String>) -> Self {
        self.any_order.push(database.into());
        self
    }

    /// Ignores the order of all databases except the free list.
    #[must_use]
    pub fn any_order_everywhere(mut self, yes: bool) -> Self {
        self.any_order_everywhere = yes;
        self
    }

    pub(crate) fn checks_order_of(&self, database: &str) -> bool {
        !self.any_order_everywhere && !self.any_order.iter().any(|name| name == database)
    }
}
