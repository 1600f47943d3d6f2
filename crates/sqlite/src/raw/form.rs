//! The forms of keys and values as SQL values.

use fulgurite::DatabaseFlags;
use rusqlite::ffi;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};

use crate::error::{Result, failure, misuse};
use crate::readable::shown;

/// How bytes are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Readable UTF-8 as text, other bytes as a blob.
    Auto,
    Blob,
    Text,
    /// Text that a zero byte ends in the file.
    CString,
    /// Four or eight bytes in the machine's order, as LMDB's integer keys.
    Integer,
}

impl Form {
    /// Finds a form by name.
    pub(crate) fn named(name: &str) -> Result<Form> {
        match name.to_ascii_lowercase().as_str() {
            "auto" => Ok(Form::Auto),
            "blob" => Ok(Form::Blob),
            "text" => Ok(Form::Text),
            "cstring" => Ok(Form::CString),
            "integer" => Ok(Form::Integer),
            _ => Err(misuse(format!(
                "no form '{name}': there are auto, blob, text, cstring and integer"
            ))),
        }
    }

    /// Replaces [`Form::Auto`] by [`Form::Integer`] where the file says so.
    pub(crate) fn of_keys(self, flags: DatabaseFlags) -> Form {
        match self {
            Form::Auto if flags.0 & DatabaseFlags::INTEGER_KEY != 0 => Form::Integer,
            form => form,
        }
    }

    /// Replaces [`Form::Auto`] by [`Form::Integer`] where the file says so.
    pub(crate) fn of_values(self, flags: DatabaseFlags) -> Form {
        match self {
            Form::Auto if flags.0 & DatabaseFlags::INTEGER_DUP != 0 => Form::Integer,
            form => form,
        }
    }

    /// Returns the type of a column, as in `CREATE TABLE`.
    pub(crate) fn declared(self) -> &'static str {
        match self {
            Form::Auto => "",
            Form::Blob => "BLOB",
            Form::Text | Form::CString => "TEXT",
            Form::Integer => "INTEGER",
        }
    }

    /// Shows bytes as an SQL value.
    pub(crate) fn show(self, bytes: &[u8]) -> ToSqlOutput<'_> {
        let shown = match self {
            Form::Auto => return shown(bytes),
            Form::Blob => ValueRef::Blob(bytes),
            Form::Text => ValueRef::Text(bytes),
            Form::CString => ValueRef::Text(bytes.strip_suffix(&[0]).unwrap_or(bytes)),
            Form::Integer => match integer(bytes) {
                Some(number) => return ToSqlOutput::Owned(Value::Integer(number)),
                None => ValueRef::Blob(bytes),
            },
        };
        ToSqlOutput::Borrowed(shown)
    }

    /// Returns the bytes that are shown as this value. `None` if no bytes are.
    pub(crate) fn bytes(self, value: ValueRef<'_>, width: usize) -> Option<Vec<u8>> {
        match (self, value) {
            (Form::Auto | Form::Text, ValueRef::Text(text)) => Some(text.to_vec()),
            (Form::CString, ValueRef::Text(text)) => Some([text, &[0]].concat()),
            (Form::Auto | Form::Blob, ValueRef::Blob(bytes)) => Some(bytes.to_vec()),
            (Form::Integer, ValueRef::Integer(number)) => match width {
                4 => u32::try_from(number).ok().map(|n| n.to_ne_bytes().to_vec()),
                _ => u64::try_from(number).ok().map(|n| n.to_ne_bytes().to_vec()),
            },
            _ => None,
        }
    }

    /// Returns the bytes to store for a value.
    pub(crate) fn store(self, value: ValueRef<'_>, width: usize, role: &str) -> Result<Vec<u8>> {
        let text;
        let value = match (self, value) {
            (Form::Text | Form::CString | Form::Auto, ValueRef::Integer(number)) => {
                text = number.to_string();
                ValueRef::Text(text.as_bytes())
            }
            (_, value) => value,
        };
        if self == Form::CString && matches!(value, ValueRef::Text(text) if text.contains(&0)) {
            let text = format!("a {role} of the form cstring has no zero bytes");
            return Err(failure(ffi::SQLITE_MISMATCH, text));
        }
        self.bytes(value, width).ok_or_else(|| {
            let form = format!("{self:?}").to_ascii_lowercase();
            let found = value.data_type().to_string().to_uppercase();
            let text = format!("a {role} of the form {form} cannot be {found}");
            failure(ffi::SQLITE_MISMATCH, text)
        })
    }

    /// Returns true if the order of the bytes is that of the values, and each value has this type.
    pub(crate) fn keeps_order(self, flags: DatabaseFlags) -> bool {
        let other_order = DatabaseFlags::REVERSE_KEY | DatabaseFlags::INTEGER_KEY;
        matches!(self, Form::Blob | Form::Text) && flags.0 & other_order == 0
    }
}

fn integer(bytes: &[u8]) -> Option<i64> {
    match bytes.len() {
        4 => Some(i64::from(u32::from_ne_bytes(bytes.try_into().ok()?))),
        // SQLite has no larger numbers; such bytes stay a blob.
        8 => i64::try_from(u64::from_ne_bytes(bytes.try_into().ok()?)).ok(),
        _ => None,
    }
}
