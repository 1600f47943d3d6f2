//! `fulgurite_directory`: the entries of a directory's store, a row for each attribute value.
//!
//! ```text
//!   table     the function: its columns, its plans
//!     cursor  one scan: arguments and comparisons become a `Query`
//!     rows    the values of the entries that a query finds, one entry at a time
//!     query   the entries to read: one, or the candidates of the store's own plan
//!     opened  the stores of a connection, each with one snapshot for all running statements
//!     schema  the definitions with which a store is read
//! ```

mod column;
mod cursor;
mod failures;
mod opened;
mod query;
mod rows;
mod schema;
mod table;

pub(crate) use opened::SharedDirectories;
pub(crate) use table::DirectoryTable;
