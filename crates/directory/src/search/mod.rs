//! Search (RFC 4511, section 4.5): a task that works in steps.
//!
//! ```text
//!   begin: base, rights, plan                 advance, again and again                    the last one
//!   request -------------------------> task -----------------------------> entries ... -----------------> result
//!                                            candidates -> record in the map -> filter
//!                                            -> rights -> bytes of the response
//! ```
//!
//! [`task`] is the entrance. `begin` resolves a request. `stored` begins in a database, `provided`
//! for a consumer. `run` holds the parts of a search, one `database_search` each. Between steps a
//! task is plain data and a snapshot. Parking a task gives up the snapshot, and dropping it
//! abandons the search.

mod base;
mod begin;
mod candidates;
mod chain;
mod database_search;
mod dereference;
pub(crate) mod filter;
mod filter_shape;
mod generated;
mod list_items;
mod list_state;
mod log_bounds;
mod log_records;
mod log_walk;
mod member_items;
pub(crate) mod normal_names;
pub(crate) mod output;
mod page;
mod provided;
pub(crate) mod query;
mod regions;
mod repeated;
pub(crate) mod run;
mod sort;
mod sort_plan;
mod sorted_entries;
mod state;
mod stored;
pub(crate) mod sync;
pub(crate) mod task;
mod usability;
mod vlv;
