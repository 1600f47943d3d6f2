//! The kinds of index: one file each, and a table of them.
//!
//! ```text
//! definition   what a kind consists of: word, code, keys of a value, lookup of a filter item
//! presence     (a=*)                   equality     (a=v) (a>=v) (a<=v) (a=v*)
//! substring    (a=*v*)                 approximate  (a~=v)
//! class_keys   equality keys of object classes, superior classes included
//! table        all kinds; the writer, the planner, the load and the settings read it
//! ```
//!
//! A new kind is a word in the crate `policy`, a new file and the last row of the table.

mod approximate;
mod class_keys;
mod definition;
pub(crate) mod equality;
mod presence;
mod substring;
mod table;

pub(crate) use class_keys::ClassKeys;
pub(crate) use definition::{IndexedValue, KeySink, KindContext, Lookup, Support};
pub(crate) use table::{KINDS, KINDS_LEN, definition_of};
