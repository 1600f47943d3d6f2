//! The pages that surround a level of nested transactions.

use fulgurite_format::Pgno;
use rustc_hash::FxHashSet;

/// The pages of the surroundings when a level began.
#[derive(Debug)]
pub(super) struct OuterLevel {
    pub(super) base_last: Pgno,
    pub(super) reclaimed: FxHashSet<Pgno>,
    pub(super) freed: Vec<Pgno>,
}
