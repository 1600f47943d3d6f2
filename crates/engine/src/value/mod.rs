//! Values: in the leaf's node, or in a run of overflow pages. Duplicates will live beside these.

mod overflow;
mod put;

use overflow::write_run;
pub(crate) use overflow::{release_value, run_of, value_of};
pub(crate) use put::{leaf_data, place_record, place_value, store_value};
