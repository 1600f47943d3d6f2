//! The pages that surround a level of nested transactions.

use crate::hash::PgnoTable;
use alloc::vec::Vec;
use fulgurite_format::Pgno;

/// The pages of the surroundings when a level began.
#[derive(Debug)]
pub(super) struct OuterLevel {
    pub(super) base_last: Pgno,
    pub(super) reclaimed: PgnoTable,
    pub(super) freed: Vec<Pgno>,
}
