//! The view that access rules give a requester of an entry.
//!
//! [`facts`] answers the questions of the rules. [`visible_entry`] and [`projection`] apply the
//! decisions to filters and answers.

pub(crate) mod assertion;
pub(crate) mod computed;
pub(crate) mod disclosure;
pub(crate) mod expansion;
pub(crate) mod explain;
pub(crate) mod facts;
pub(crate) mod group_cache;
mod group_walk;
pub(crate) mod list_entry;
pub(crate) mod list_scan;
pub(crate) mod projection;
pub(crate) mod read_entry;
pub(crate) mod repeated_search;
pub(crate) mod requester_rights;
pub(crate) mod selection;
pub(crate) mod snapshots;
pub(crate) mod value_filter;
pub(crate) mod visible_entry;
pub(crate) mod watched_facts;
mod with_groups;
