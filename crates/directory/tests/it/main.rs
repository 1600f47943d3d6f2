//! Every operation, on a real store.

mod access;
mod batch;
mod bind;
mod operational;
mod paging;
mod referral;
mod restrictions;
mod sasl;
mod search;
mod situations;
mod special;
mod support;
mod update;
