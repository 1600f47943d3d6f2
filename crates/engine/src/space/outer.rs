//! The pages that surround a level of nested transactions.

use crate::hash::FxHashSet;
use alloc::vec::Vec;
use fulgurite_format::Pgno;

/// The pages of the surroundings when a level began.
#[derive(Debug)]
pub(super) struct OuterLevel {
    pub(super) base_last: Pgno,
    pub(super) reclaimed: FxHashSet<Pgno>,
    pub(super) freed: Vec<Pgno>,
}
