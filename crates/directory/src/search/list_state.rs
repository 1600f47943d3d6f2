//! The part of a search that dynamic lists need. Other searches have none.

use fulgurite_schema::{AttributeDescription, AttributeSelector, Filter, Schema};
use fulgurite_store::{EntryId, EntryView, StoreError, View};

use super::list_items::ListItems;
use super::sort::SortItem;
use crate::core::database::Database;
use crate::rights::expansion::Expansion;
use crate::rights::group_cache::GroupCache;
use crate::rights::projection::Projection;
use crate::rights::requester_rights::RequesterRights;

/// The state of lists in a search.
#[derive(Debug, Default)]
pub(crate) struct ListState {
    /// The groups that the search has met.
    pub(crate) cache: GroupCache,
    /// The items of the filter about lists; `None` once they are resolved.
    pub(crate) items: Option<ListItems>,
    /// The entry that is being expanded.
    pub(crate) pending: Option<PendingEntry>,
}

/// An entry that matches, before it is written.
#[derive(Debug)]
pub(crate) struct PendingEntry {
    pub(crate) item: SortItem,
    pub(crate) expansion: Expansion,
}

impl ListState {
    /// Returns the state for a search of a database; `None` without lists. With `only` the search
    /// can return just that entry.
    pub(crate) fn of(
        database: &Database,
        schema: &Schema,
        (filter, only): (&Filter<AttributeSelector>, Option<EntryId>),
        stored_only: bool,
    ) -> Option<Box<ListState>> {
        let lists = database.lists.as_ref()?;
        let items = match stored_only {
            true => None,
            false => ListItems::of(lists, schema, filter, only),
        };
        Some(Box::new(ListState {
            items,
            ..ListState::default()
        }))
    }
}

/// Begins to expand an entry; `None` if it shows what is stored.
pub(crate) fn expansion(
    requester: RequesterRights<'_>,
    view: &View<'_>,
    entry: &EntryView<'_>,
    projection: &Projection,
) -> Result<Option<Expansion>, StoreError> {
    let selection = &projection.selection;
    if selection.is_empty() {
        return Ok(None);
    }
    let schema = view.schema();
    let wants = |description: &AttributeDescription| selection.selects(schema, description);
    Expansion::begin(requester, view, entry, &wants)
}
