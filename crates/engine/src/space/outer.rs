//! The pages that surround a level of nested transactions.

use fulgurite_format::Pgno;
use rustc_hash::FxHashSet;

/// What the surroundings of a level had for their own when it began.
#[derive(Debug)]
pub(super) struct OuterLevel {
    pub(super) base_last: Pgno,
    pub(super) reclaimed: FxHashSet<Pgno>,
    pub(super) freed: Vec<Pgno>,
}
