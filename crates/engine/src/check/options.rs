//! What to check, and what not to judge.

/// What a check is to look at, and what it is to leave unjudged.
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
    /// The snapshot of transaction `txnid`, which must be one of the two that the file describes; by default the newest.
    #[must_use]
    pub fn snapshot(mut self, txnid: u64) -> Self {
        self.snapshot = Some(txnid);
        self
    }

    /// Whether to look also at those pages of the previous snapshot that the newest does not share; on by default. It
    /// costs little, for two snapshots in succession share nearly all pages.
    #[must_use]
    pub fn previous(mut self, yes: bool) -> Self {
        self.previous = yes;
        self
    }

    /// Does not judge the order of keys and of values in the database of this name, `main` for the main one: for
    /// programs that set an order of their own, which the file does not record. Keys twice in a row are still found.
    #[must_use]
    pub fn any_order(mut self, database: impl Into<String>) -> Self {
        self.any_order.push(database.into());
        self
    }

    /// Does not judge the order of any database but the free list.
    #[must_use]
    pub fn any_order_everywhere(mut self, yes: bool) -> Self {
        self.any_order_everywhere = yes;
        self
    }

    pub(crate) fn judges_order_of(&self, database: &str) -> bool {
        !self.any_order_everywhere && !self.any_order.iter().any(|name| name == database)
    }
}
