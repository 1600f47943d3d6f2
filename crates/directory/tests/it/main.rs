//! Every operation, on a real store.

mod access;
mod acting;
mod aliases;
mod batch;
mod bind;
mod chain;
mod controls;
mod databases;
mod extended;
mod hidden;
mod interrupted;
mod large;
mod mapping;
mod operational;
mod ordered;
mod paging;
mod referral;
mod restrictions;
mod sasl;
mod search;
mod situations;
mod snapshots;
mod special;
mod support;
mod trees;
mod update;
