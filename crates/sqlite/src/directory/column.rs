//! The columns of a row.

use std::ffi::{CStr, c_int};

/// The columns as SQLite learns them. Descriptions and names compare as a directory's do, as far as
/// SQLite can.
pub(super) const DECLARATION: &CStr = c"CREATE TABLE x(dn TEXT COLLATE NOCASE, \
    attribute TEXT COLLATE NOCASE, value TEXT, entry INTEGER, parent INTEGER, \
    directory HIDDEN, filter HIDDEN, base HIDDEN, schema HIDDEN)";

/// The columns, in the order of the declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Dn,
    Attribute,
    Value,
    Entry,
    Parent,
    Directory,
    Filter,
    Base,
    Schema,
}

impl Column {
    pub(super) fn numbered(number: c_int) -> Option<Column> {
        Some(match number {
            0 => Column::Dn,
            1 => Column::Attribute,
            2 => Column::Value,
            3 => Column::Entry,
            4 => Column::Parent,
            5 => Column::Directory,
            6 => Column::Filter,
            7 => Column::Base,
            8 => Column::Schema,
            _ => return None,
        })
    }

    /// Returns the letter by which a plan names a comparison with the column.
    pub(super) fn letter(self) -> char {
        match self {
            Column::Dn => 'n',
            Column::Attribute => 'a',
            Column::Value => 'v',
            Column::Entry => 'e',
            Column::Parent => 'p',
            Column::Directory => 'd',
            Column::Filter => 'f',
            Column::Base => 'b',
            Column::Schema => 's',
        }
    }

    /// Returns true for the arguments of the function.
    pub(super) fn is_argument(self) -> bool {
        matches!(
            self,
            Column::Directory | Column::Filter | Column::Base | Column::Schema
        )
    }
}
