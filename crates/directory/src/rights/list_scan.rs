//! The search of a list's URL, with a bounded amount of work for each step.

use std::sync::Arc;

use fulgurite_access::Decisions;
use fulgurite_schema::{AttributeSelector, Filter};
use fulgurite_store::{
    Candidates, EntryId, EntryView, EntryWalk, Planning, Scope, StoreError, View,
};

use crate::core::database::Database;
use crate::core::dynamic_lists::ListUrl;
use crate::rights::list_entry::is_found;
use crate::rights::requester_rights::RequesterRights;

/// The position of the search.
#[derive(Debug)]
pub(crate) struct ListScan {
    filter: Arc<Filter<AttributeSelector>>,
    /// The state of the store that the candidates belong to.
    state: u64,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Planning(Box<Planning>),
    Candidates(Box<Candidates>),
}

/// The result of a step.
pub(crate) enum ListStep<'v> {
    Entry(EntryView<'v>),
    /// The permitted work is used up.
    Pause,
    Done,
}

/// Returns the region in which a URL finds members. It is the whole database if its base is above
/// it. `None` if there is no such entry.
///
/// # Errors
/// [`StoreError`].
pub(crate) fn members_region(
    database: &Database,
    view: &View<'_>,
    url: &ListUrl,
) -> Result<Option<(EntryId, Scope)>, StoreError> {
    if let Some(base) = view.find_base(url.base.normal())? {
        return Ok(Some((base, url.scope)));
    }
    let Some(suffix) = database.suffixes().iter().find(|top| url.contains(top)) else {
        return Ok(None);
    };
    let scope = match url.scope {
        Scope::OneLevel => Scope::Base,
        _ => Scope::Subtree,
    };
    let top = view.find_base(suffix.normal())?;
    Ok(top.map(|top| (top, scope)))
}

impl ListScan {
    /// Begins the search; `filter` replaces that of the URL. `None` if its base is no entry of the
    /// database.
    pub(crate) fn begin(
        view: &View<'_>,
        url: &ListUrl,
        filter: Filter<AttributeSelector>,
    ) -> Result<Option<ListScan>, StoreError> {
        let base = view.find_base(url.base.normal())?;
        Ok(base.map(|base| ListScan::begin_in(view, (base, url.scope), filter)))
    }

    /// Begins the search in a region.
    pub(crate) fn begin_in(
        view: &View<'_>,
        (base, scope): (EntryId, Scope),
        filter: Filter<AttributeSelector>,
    ) -> ListScan {
        let filter = Arc::new(filter);
        ListScan {
            state: view.state(),
            stage: Stage::Planning(Box::new(view.begin_plan(base, scope, &filter))),
            filter,
        }
    }

    /// Returns the next entry that the search finds with these rights.
    pub(crate) fn next<'v>(
        &mut self,
        requester: RequesterRights<'_>,
        view: &'v View<'_>,
        decisions: &Decisions<'_>,
        left: &mut usize,
    ) -> Result<ListStep<'v>, StoreError> {
        let mut walk = EntryWalk::new();
        while *left > 0 {
            match &mut self.stage {
                Stage::Planning(planning) => {
                    if let Some(candidates) = planning.step(view, left)? {
                        self.state = view.state();
                        self.stage = Stage::Candidates(Box::new(candidates));
                    }
                }
                Stage::Candidates(candidates) => {
                    if self.state != view.state() {
                        candidates.mark_inexact();
                        self.state = view.state();
                    }
                    let entry = candidates.next_entry_within(view, &mut walk, left)?;
                    match entry {
                        Some(entry)
                            if is_found(requester, view, decisions, &entry, &self.filter)? =>
                        {
                            return Ok(ListStep::Entry(entry));
                        }
                        Some(_) => {}
                        None if *left > 0 => return Ok(ListStep::Done),
                        None => {}
                    }
                }
            }
        }
        Ok(ListStep::Pause)
    }
}
