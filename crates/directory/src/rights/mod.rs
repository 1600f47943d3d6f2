//! What access rules show of an entry to a requester.

pub(crate) mod assertion;
pub(crate) mod computed;
pub(crate) mod disclosure;
pub(crate) mod explain;
pub(crate) mod facts;
pub(crate) mod projection;
pub(crate) mod read_entry;
pub(crate) mod selection;
pub(crate) mod snapshots;
pub(crate) mod value_filter;
pub(crate) mod visible_entry;
