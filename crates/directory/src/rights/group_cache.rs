//! The memory of an operation about groups and dynamic lists. It holds for one state of the store.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use fulgurite_schema::AttributeIndex;
use fulgurite_store::EntryId;
use rustc_hash::FxHashMap;

use crate::core::dynamic_lists::ListUrl;
use crate::core::session::Session;

/// The groups that one operation knows of, in one state of the store.
#[derive(Debug, Default)]
pub(crate) struct GroupCache {
    pub(super) known: RefCell<KnownGroups>,
    /// True if an entry has more groups than it may list.
    pub(crate) exceeded: Cell<bool>,
}

#[derive(Debug, Default)]
pub(super) struct KnownGroups {
    pub(super) state: Option<u64>,
    /// The groups with URLs, for each attribute that lists them.
    pub(super) with_urls: Vec<(AttributeIndex, Arc<[UrlGroup]>)>,
    /// The groups that name a group.
    pub(super) above: FxHashMap<(AttributeIndex, EntryId), Arc<[EntryId]>>,
}

/// A group whose members are found by URLs.
#[derive(Debug)]
pub(super) struct UrlGroup {
    pub(super) nested: bool,
    pub(super) list: ListEntry,
}

/// A dynamic list as a requester uses it.
#[derive(Debug)]
pub(crate) struct ListEntry {
    pub(crate) id: EntryId,
    pub(crate) urls: Vec<ListUrl>,
    /// The identity whose rights count; `None` for the requester.
    pub(super) identity: Option<Box<Session>>,
}

impl GroupCache {
    /// Forgets what belongs to another state.
    pub(super) fn enter(&self, state: u64) {
        let mut known = self.known.borrow_mut();
        if known.state != Some(state) {
            *known = KnownGroups {
                state: Some(state),
                ..KnownGroups::default()
            };
        }
    }
}
