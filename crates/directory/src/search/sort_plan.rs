//! The plan of a sorted search: its keys, its list view, and its slot.

use fulgurite_ldap::control::SortResponse;
use fulgurite_ldap::{LdapResult, ResultCode, oid};

use super::output::SearchEnd;
use super::page::SearchHash;
use super::query::SearchQuery;
use super::sort::{OrderingKey, SortRefusal};
use super::vlv;
use crate::core::result::refuse;
use crate::core::session::Session;
use crate::directory::Directory;
use crate::features::sssvlv::{SortSlot, Sssvlv};

/// The sorting that a request asks for.
pub(crate) struct SortPlan {
    pub(crate) keys: Vec<OrderingKey>,
    pub(crate) state: SortState,
    pub(crate) view: Option<vlv::ListView>,
}

impl SortPlan {
    /// Returns the plan of a search without an order.
    pub(crate) fn none() -> SortPlan {
        SortPlan {
            keys: Vec::new(),
            state: SortState::None,
            view: None,
        }
    }
}

/// The state of the sort control.
pub(crate) enum SortState {
    None,
    Requested {
        /// Freed at the end of the search.
        _slot: SortSlot,
    },
    /// The control is not critical, and sorting is not possible.
    Refused(SortRefusal),
}

/// Plans the sorting of a search.
///
/// # Errors
/// The end of a search that demands a sorting which is not possible.
pub(super) fn sort_plan(
    directory: &Directory,
    session: &Session,
    query: &SearchQuery<'_, '_>,
    hash: SearchHash,
) -> Result<SortPlan, Box<SearchEnd>> {
    let controls = &query.controls;
    let Some(control) = &controls.sort else {
        if controls.vlv.is_some() {
            return Err(Box::new(view_without_order()));
        }
        return Ok(SortPlan::none());
    };
    let sssvlv = &directory.search_settings().sssvlv;
    let demanded = controls.sort_critical || controls.vlv.is_some();
    let keys_max = if sssvlv.limits.keys_max == 0 {
        usize::MAX
    } else {
        sssvlv.limits.keys_max
    };
    let keys = match OrderingKey::resolve_all(directory.schema(), &control.keys, keys_max) {
        Ok(keys) => keys,
        Err(refusal) if demanded => return Err(Box::new(unsortable(&refusal))),
        Err(refusal) => {
            return Ok(SortPlan {
                keys: Vec::new(),
                state: SortState::Refused(refusal),
                view: None,
            });
        }
    };
    let view = match &controls.vlv {
        None => None,
        Some(request) => {
            let view = vlv::ListView::resolve(directory.schema(), request, &keys, hash);
            Some(view.ok_or_else(|| Box::new(SearchEnd::plain(no_such_value())))?)
        }
    };
    let slot = sort_slot(sssvlv, session);
    Ok(SortPlan {
        keys,
        state: SortState::Requested {
            _slot: slot.map_err(|refusal| unsortable(&refusal))?,
        },
        view,
    })
}

fn sort_slot(sssvlv: &Sssvlv, session: &Session) -> Result<SortSlot, SortRefusal> {
    let slot = sssvlv.begin(session.connection().id);
    slot.ok_or_else(|| SortRefusal {
        result: refuse(ResultCode::Busy, "Other sort requests already in progress"),
        attribute: None,
    })
}

/// Returns the sort response for a request that cannot be sorted.
pub(crate) fn sort_response(refusal: &SortRefusal) -> SortResponse<'_> {
    SortResponse {
        code: refusal.result.code.number(),
        attribute: refusal.attribute.as_deref(),
    }
}

/// Returns the end of a search that demands a sorting which is not possible.
pub(crate) fn unsortable(refusal: &SortRefusal) -> SearchEnd {
    let mut end = SearchEnd::plain(refusal.result.clone());
    let response = sort_response(refusal);
    end.controls.push((oid::SORT_RESPONSE, response.encode()));
    end
}

/// Returns the end of a search with a list view and without sort keys.
pub(crate) fn view_without_order() -> SearchEnd {
    let text = "Sort control is required with VLV";
    let mut end = SearchEnd::plain(LdapResult::with_diagnostic(vlv::VLV_ERROR, text));
    let code = vlv::SORT_CONTROL_MISSING;
    end.controls.push(vlv::response(0, 0, code, &[]));
    end
}
fn no_such_value() -> LdapResult {
    refuse(
        ResultCode::InvalidAttributeSyntax,
        "VLV: the value asserted is none of the first sort key's",
    )
}
