//! Ranges of keys: iterators from both ends, counts and estimates, many keys at once.
//!
//! ```text
//!   KeyRange, a prefix  ->  gaps between entries  ->  Entries: the entries between two gaps
//!                                                     Records, Keys, FirstValues, Values: iterators
//! ```

mod bounds;
mod count;
mod entries;
mod estimate;
mod iter;
mod leaf_count;
mod many;
mod prefetch;
mod values;

pub use bounds::KeyRange;
pub(crate) use bounds::{Gap, PrefixEnd};
pub(crate) use count::count;
pub(crate) use estimate::estimate;
pub use iter::{FirstValues, Keys, Records};
pub(crate) use many::get_many;
pub use values::Values;
