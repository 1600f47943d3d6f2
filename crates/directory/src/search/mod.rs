//! Search.

pub(crate) mod begin;
pub(crate) mod candidates;
pub(crate) mod chain;
pub(crate) mod database_search;
pub(crate) mod filter;
pub(crate) mod generated;
pub(crate) mod normal_names;
pub(crate) mod output;
pub(crate) mod page;
pub(crate) mod regions;
pub(crate) mod run;
pub(crate) mod sort;
pub(crate) mod sorted_entries;
pub(crate) mod task;
pub(crate) mod vlv;
