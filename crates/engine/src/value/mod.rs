//! Values: in the leaf's node, in a run of overflow pages, or several of them under one key.

mod add;
mod duplicates;
mod overflow;
mod put;

pub(crate) use add::add_if_absent;
pub(crate) use duplicates::{
    NO_VALUE, Removal, ValueAt, Values, add_value, check_size, clear, count_of, first_value,
    inner_leaf_like, inner_tree, insert_first_value, key_at, last_value, remove_value,
    remove_values, seek_value, store_inner, value_at, values_of,
};
pub(crate) use overflow::{release_value, run_of, value_of};
pub(crate) use put::{leaf_data, place_record, place_value, store_in_leaf, store_value};
