//! Bytes as SQL values: text where people can read them.

use rusqlite::types::{ToSqlOutput, ValueRef};

/// Returns readable UTF-8 as text, and other bytes as a blob.
pub(crate) fn shown(bytes: &[u8]) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(match is_readable(bytes) {
        true => ValueRef::Text(bytes),
        false => ValueRef::Blob(bytes),
    })
}

/// Returns true for UTF-8 without control characters, but for line ends and tabs.
fn is_readable(bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes);
    text.is_ok_and(|text| {
        text.chars()
            .all(|c| !c.is_control() || c == '\n' || c == '\t')
    })
}
