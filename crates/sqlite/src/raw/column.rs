//! The columns of a row of key and value.

use std::ffi::c_int;

/// The columns, in the order of the declarations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Key,
    Value,
    Directory,
    Database,
    KeyForm,
    ValueForm,
}

impl Column {
    pub(super) fn numbered(number: c_int) -> Column {
        match number {
            0 => Column::Key,
            1 => Column::Value,
            2 => Column::Directory,
            3 => Column::Database,
            4 => Column::KeyForm,
            _ => Column::ValueForm,
        }
    }
}
