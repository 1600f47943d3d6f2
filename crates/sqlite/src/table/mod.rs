//! `fulgurite`: tables with columns and indexes, whose rows are records of an environment.
//!
//! ```text
//!   rows      the table for SQLite: connect, plan, change
//!     plan        which index, which bounds, which order
//!     cursor      the rows of a plan
//!     change      rows and their index entries, added and removed together
//!   opened        a table's environment and definition, and the rules for its values
//!   definition    columns and indexes, as SQLite's own parser reads them
//!   affinity      values as a column of some type stores them
//!   row, key      a row's values as bytes; values as bytes in SQLite's order
//! ```
//!
//! A table `t` has the databases `sqlite/t` (rowid to row) and `sqlite/t/INDEX` (values and rowid,
//! without a value). The database `sqlite` has the definition of each table.

mod affinity;
mod change;
mod cursor;
mod definition;
mod key;
mod opened;
mod plan;
mod row;
mod rows;

pub(crate) use rows::Table;
