//! Writing a record.

use super::{APART, COUNT_AT, HEADER_LEN, ORDER_AT, PARENT_AT, Record, TABLE_ROW_LEN, VERSION};
use crate::bytes::u16_at;
use crate::error::StoreError;
use crate::ids::{AttributeId, EntryId};

/// What goes into a record.
pub(crate) struct RecordSource<'a> {
    pub(crate) parent: EntryId,
    pub(crate) rdn_normal: &'a [u8],
    pub(crate) rdn: &'a [u8],
    /// Each id at most once, in the order in which readers are to meet them.
    pub(crate) attributes: Vec<(AttributeId, &'a [Vec<u8>])>,
}

/// Appends the record of `source` to `out`, which is cleared first.
///
/// # Errors
/// [`StoreError::EntryTooLarge`] beyond 4 GiB or 65,535 attribute descriptions.
pub(crate) fn encode(source: RecordSource<'_>, out: &mut Vec<u8>) -> Result<(), StoreError> {
    let count = u16::try_from(source.attributes.len()).map_err(|_| StoreError::EntryTooLarge)?;
    let mut rows: Vec<(u16, AttributeId, &[Vec<u8>])> = (0..count)
        .zip(&source.attributes)
        .map(|(place, (id, values))| (place, *id, *values))
        .collect();
    rows.sort_unstable_by_key(|(_, id, _)| *id);
    out.clear();
    out.extend_from_slice(&[VERSION, 0]);
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&source.parent.0.to_le_bytes());
    out.extend_from_slice(&length(source.rdn_normal.len())?.to_le_bytes());
    out.extend_from_slice(&length(source.rdn.len())?.to_le_bytes());
    out.resize(HEADER_LEN + TABLE_ROW_LEN * usize::from(count), 0);
    out.extend_from_slice(source.rdn_normal);
    out.extend_from_slice(source.rdn);
    for (row, (place, id, values)) in (0_u16..).zip(rows) {
        let offset = length(out.len())?;
        put(
            out,
            HEADER_LEN + TABLE_ROW_LEN * usize::from(row),
            &id.0.to_le_bytes(),
        );
        put(
            out,
            HEADER_LEN + TABLE_ROW_LEN * usize::from(row) + COUNT_AT,
            &counted(length(values.len())?, offset),
        );
        put(
            out,
            HEADER_LEN + TABLE_ROW_LEN * usize::from(place) + ORDER_AT,
            &row.to_le_bytes(),
        );
        put_values(out, values)?;
    }
    let total = length(out.len())?;
    put(out, 4, &total.to_le_bytes());
    Ok(())
}

/// Enters the parent of a record that was encoded before it was known.
pub(crate) fn set_parent(record: &mut [u8], parent: EntryId) {
    put(record, PARENT_AT, &parent.0.to_le_bytes());
}

/// Notes of an attribute that was encoded without values that it has so many, and that they lie apart.
pub(crate) fn set_apart(record: &mut [u8], attribute: AttributeId, values: u32) {
    let count = u16_at(record, 2).unwrap_or(0);
    let mut rows = (0..usize::from(count)).map(|row| HEADER_LEN + TABLE_ROW_LEN * row);
    if let Some(at) = rows.find(|at| u16_at(record, *at) == Some(attribute.0)) {
        put(record, at + COUNT_AT, &counted(values | APART, 0));
    }
}

/// The same record without the values of some attributes, which lie apart from now on. `None` if it is damaged.
pub(crate) fn without_values(whole: &Record<'_>, apart: &[AttributeId]) -> Option<Vec<u8>> {
    let mut out = whole.head()?.to_vec();
    let mut large: Vec<(AttributeId, u32)> = Vec::new();
    for (row, (id, values)) in whole.rows().enumerate() {
        if apart.contains(&id) {
            large.push((id, u32::try_from(values.len()).ok()?));
            continue;
        }
        let offset = u32::try_from(out.len()).ok()?;
        let at = HEADER_LEN + TABLE_ROW_LEN * row + COUNT_AT;
        let count = u32::try_from(values.len()).ok()?;
        put(&mut out, at, &counted(count, offset));
        values.copy_to(&mut out);
    }
    for (id, count) in large {
        set_apart(&mut out, id, count);
    }
    let total = u32::try_from(out.len()).ok()?;
    put(&mut out, 4, &total.to_le_bytes());
    Some(out)
}

fn put_values(out: &mut Vec<u8>, values: &[Vec<u8>]) -> Result<(), StoreError> {
    let mut end = 0_usize;
    for value in values {
        end += value.len();
        out.extend_from_slice(&length(end)?.to_le_bytes());
    }
    for value in values {
        out.extend_from_slice(value);
    }
    Ok(())
}

/// The end of a row: number and place of the values.
fn counted(values: u32, offset: u32) -> [u8; 8] {
    let mut row = [0; 8];
    put(&mut row, 0, &values.to_le_bytes());
    put(&mut row, 4, &offset.to_le_bytes());
    row
}

fn put(out: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = out.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

fn length(len: usize) -> Result<u32, StoreError> {
    u32::try_from(len).map_err(|_| StoreError::EntryTooLarge)
}
