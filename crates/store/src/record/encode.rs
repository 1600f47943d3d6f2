//! Encoding records.

use super::in_order::InOrder;
use super::layout::{
    ATTRIBUTES_MAX, HAS_OVERFLOW, HEADER_LEN, LONG_NAMES, PARENT_AT, PARENT_LEN, SAME_NAME,
    VERSION, WIDE_NUMBERS, WIDE_ROWS,
};
use super::reader::Record;
use super::row::AttributeRow;
use super::values::Values;
use crate::error::{Damage, StoreError};
use crate::ids::{AttributeId, EntryId};
use fulgurite_ber::{Writer, element_len};

/// Length in bytes: shorter values are not searched among earlier values.
const SAME_MIN: usize = 8;
/// Attributes with more values than this are not searched for an equal value.
const SOUGHT_MAX: usize = 16;

/// Length of a usual record in bytes, for which room is made at once.
const USUAL_LEN: usize = 900;

/// The content of a record.
pub(crate) struct RecordSource<'a, V = Vec<u8>> {
    pub(crate) parent: EntryId,
    pub(crate) rdn_normal: &'a [u8],
    pub(crate) rdn: &'a [u8],
    /// Each id at most once, in the order in which readers get them.
    pub(crate) attributes: Vec<(AttributeId, &'a [V])>,
    /// The numbers of values of overflow attributes. The encoder ignores the values that
    /// `attributes` has of them.
    pub(crate) overflow: &'a [(AttributeId, u32)],
}

/// Replaces `out` by the record of `source`.
///
/// # Errors
/// [`StoreError::EntryTooLarge`] beyond 4 GiB or 65,535 attribute descriptions;
/// [`StoreError::NoSuchEntry`] for a parent id beyond all ids.
pub(crate) fn encode<V: AsRef<[u8]>>(
    source: &RecordSource<'_, V>,
    out: &mut Vec<u8>,
) -> Result<(), StoreError> {
    let mut parts = Vec::with_capacity(source.attributes.len());
    for &(id, values) in &source.attributes {
        let apart = source.overflow.iter().find(|(apart, _)| *apart == id);
        parts.push((
            id,
            match apart {
                Some((_, count)) => AttributeContent::Overflow(*count as usize),
                None => AttributeContent::New(values),
            },
        ));
    }
    write(source.parent, (source.rdn_normal, source.rdn), &parts, out)
}

/// As [`encode`], for a record that replaces another one. Of attributes without values, the values
/// of the old record are copied. None of them may have overflow values.
///
/// # Errors
/// As there; [`Damage::Record`] if the old record does not have such an attribute.
pub(crate) fn encode_over<V: AsRef<[u8]>>(
    before: &Record<'_>,
    source: &RecordSource<'_, V>,
    out: &mut Vec<u8>,
) -> Result<(), StoreError> {
    out.clear();
    out.reserve(USUAL_LEN);
    let mut parts = Vec::with_capacity(source.attributes.len());
    let mut stored = InOrder::of(before);
    for &(id, values) in &source.attributes {
        let mut kept = || stored.values(id).filter(|values| !values.are_overflow());
        parts.push((
            id,
            match values.is_empty() {
                true => AttributeContent::Stored(kept().ok_or(Damage::Record)?),
                false => AttributeContent::New(values),
            },
        ));
    }
    write(source.parent, (source.rdn_normal, source.rdn), &parts, out)
}

/// Writes the parent into a record that was encoded before its parent was known.
pub(crate) fn set_parent(record: &mut [u8], parent: EntryId) {
    if let Some(place) = record.get_mut(PARENT_AT..PARENT_AT + PARENT_LEN) {
        let bytes = parent.0.to_le_bytes();
        place
            .iter_mut()
            .zip(bytes)
            .for_each(|(to, from)| *to = from);
    }
}

/// Returns the record without the values of some attributes, which become overflow values. `None`
/// if the record is damaged.
pub(crate) fn without_values(whole: &Record<'_>, apart: &[AttributeId]) -> Option<Vec<u8>> {
    let mut parts: Vec<(AttributeId, AttributeContent<'_, Vec<u8>>)> =
        Vec::with_capacity(whole.len());
    for (id, values) in whole.attributes() {
        parts.push((
            id,
            match apart.contains(&id) {
                true => AttributeContent::Overflow(values.len()),
                false => AttributeContent::Stored(values),
            },
        ));
    }
    let mut out = Vec::new();
    let names = (whole.rdn_normal(), whole.rdn());
    write(whole.parent(), names, &parts, &mut out).ok()?;
    (parts.len() == whole.len()).then_some(out)
}

/// Where the values of an attribute of a new record come from.
enum AttributeContent<'a, V> {
    /// The caller's values.
    New(&'a [V]),
    /// The values of another record.
    Stored(Values<'a>),
    /// A number of values stored outside the record.
    Overflow(usize),
}

impl<'a, V: AsRef<[u8]>> AttributeContent<'a, V> {
    /// Returns the value of an attribute with one value.
    fn single(&self) -> Option<&'a [u8]> {
        match self {
            AttributeContent::New([value]) => Some(value.as_ref()),
            AttributeContent::Stored(values) if values.len() == 1 => values.first(),
            _ => None,
        }
    }

    /// Returns the position of a value among the values.
    fn position(&self, value: &[u8]) -> Option<usize> {
        match self {
            AttributeContent::New(values) => values.iter().position(|one| one.as_ref() == value),
            AttributeContent::Stored(values) => values.iter().position(|one| one == value),
            AttributeContent::Overflow(_) => None,
        }
    }

    /// Returns the row of the attribute if its values are stored as elements.
    fn elements(&self) -> AttributeRow {
        let len_of = |value: &[u8]| element_len(value.len());
        match self {
            AttributeContent::New(values) => {
                let len = values.iter().map(|value| len_of(value.as_ref()));
                AttributeRow::Elements(values.len(), len.sum())
            }
            AttributeContent::Stored(values) if values.are_overflow() => {
                AttributeRow::Overflow(values.len())
            }
            AttributeContent::Stored(values) => {
                let len = match values.encoded() {
                    Some(elements) => elements.len(),
                    None => values.iter().map(len_of).sum(),
                };
                AttributeRow::Elements(values.len(), len)
            }
            AttributeContent::Overflow(count) => AttributeRow::Overflow(*count),
        }
    }

    fn row(&self) -> AttributeRow {
        match self.single() {
            Some(value) => AttributeRow::One(value.len()),
            None => self.elements(),
        }
    }

    fn put_elements(&self, out: &mut Vec<u8>) {
        match self {
            AttributeContent::New(values) => {
                let mut writer = Writer::new(out);
                let values = values.iter();
                values.for_each(|value| writer.octet_string(value.as_ref()));
            }
            AttributeContent::Stored(values) => match values.encoded() {
                Some(elements) => out.extend_from_slice(elements),
                None if values.are_overflow() => {}
                None => {
                    let mut writer = Writer::new(out);
                    values.iter().for_each(|value| writer.octet_string(value));
                }
            },
            AttributeContent::Overflow(_) => {}
        }
    }
}

fn write<V: AsRef<[u8]>>(
    parent: EntryId,
    names: (&[u8], &[u8]),
    parts: &[(AttributeId, AttributeContent<'_, V>)],
    out: &mut Vec<u8>,
) -> Result<(), StoreError> {
    let is_wide = parts.len() > ATTRIBUTES_MAX;
    out.clear();
    begin(out, parent, names, parts, is_wide)?;
    let written = match is_wide {
        true => write_wide(parts, out),
        false => write_rows(parts, out),
    };
    let whole = written.filter(|()| u32::try_from(out.len()).is_ok());
    whole.ok_or(StoreError::EntryTooLarge)
}

/// Writes the parts before the rows.
fn begin<V: AsRef<[u8]>>(
    out: &mut Vec<u8>,
    parent: EntryId,
    (rdn_normal, rdn): (&[u8], &[u8]),
    parts: &[(AttributeId, AttributeContent<'_, V>)],
    is_wide: bool,
) -> Result<(), StoreError> {
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    let is_long = rdn.len().max(rdn_normal.len()) > usize::from(u8::MAX);
    let is_large = parts.iter().any(|(id, _)| id.0 > u16::from(u8::MAX));
    let is_alike = rdn == rdn_normal;
    let has_overflow = parts.iter().any(|(_, held)| match held {
        AttributeContent::Overflow(_) => true,
        AttributeContent::Stored(values) => values.are_overflow(),
        AttributeContent::New(_) => false,
    });
    let flags = flag(is_wide, WIDE_ROWS)
        | flag(has_overflow, HAS_OVERFLOW)
        | flag(is_large && !is_wide, WIDE_NUMBERS)
        | flag(is_long, LONG_NAMES)
        | flag(is_alike, SAME_NAME);
    out.extend_from_slice(&[VERSION, flags]);
    let [parent @ .., 0, 0] = parent.0.to_le_bytes() else {
        // Ids are below 2^45, but a caller may name a larger parent.
        return Err(StoreError::NoSuchEntry(parent));
    };
    out.extend_from_slice(&parent);
    debug_assert_eq!(out.len(), HEADER_LEN);
    let names = [rdn, rdn_normal];
    let names = names.iter().take(if is_alike { 1 } else { 2 });
    for name in names.clone() {
        match u8::try_from(name.len()) {
            Ok(len) if !is_long => out.push(len),
            _ => out.extend_from_slice(&length(name.len())?.to_le_bytes()),
        }
    }
    names.for_each(|name| out.extend_from_slice(name));
    let count = u16::try_from(parts.len()).map_err(|_| StoreError::EntryTooLarge)?;
    let [low, high] = count.to_le_bytes();
    out.push(low);
    if is_wide {
        out.push(high);
    }
    for (id, _) in parts {
        let [low, high] = id.0.to_le_bytes();
        out.push(low);
        if is_wide || is_large {
            out.push(high);
        }
    }
    Ok(())
}

/// Writes rows and values; `None` if something is too large.
fn write_rows<V: AsRef<[u8]>>(
    parts: &[(AttributeId, AttributeContent<'_, V>)],
    out: &mut Vec<u8>,
) -> Option<()> {
    let rows: Vec<AttributeRow> = parts.iter().map(|(_, held)| held.row()).collect();
    let has_elements = rows
        .iter()
        .any(|row| matches!(row, AttributeRow::Elements(..)));
    let mut lengths = LengthSet::default();
    let mut row_of = |place: usize| {
        let row = *rows.get(place)?;
        if !matches!(row, AttributeRow::One(SAME_MIN..)) {
            return Some(row);
        }
        let value = parts.get(place)?.1.single()?;
        if !lengths.insert(value.len()) && !has_elements {
            return Some(row);
        }
        let mut before = rows.iter().zip(parts).take(place).enumerate();
        let same = before.find_map(|(at, (there, (_, held)))| match there {
            AttributeRow::One(len) => {
                let is_same = *len == value.len() && held.single() == Some(value);
                is_same.then_some(AttributeRow::Same(at, 0))
            }
            AttributeRow::Elements(1..=SOUGHT_MAX, _) => {
                held.position(value).map(|n| AttributeRow::Same(at, n))
            }
            _ => None,
        });
        Some(same.unwrap_or(row))
    };
    let mut put = Vec::with_capacity(rows.len());
    for place in 0..rows.len() {
        let row = row_of(place)?;
        row.put(out)?;
        put.push(row);
    }
    out.reserve(put.iter().map(|row| row.len()).sum());
    for (row, (_, held)) in put.iter().zip(parts) {
        match row {
            AttributeRow::One(_) => out.extend_from_slice(held.single()?),
            AttributeRow::Elements(..) => held.put_elements(out),
            AttributeRow::Overflow(_) | AttributeRow::Same(..) => {}
        }
    }
    Some(())
}

/// Lengths of values, less a multiple of 64.
#[derive(Default)]
struct LengthSet(u64);

impl LengthSet {
    /// Adds a length. Returns false if no equal one was there.
    fn insert(&mut self, len: usize) -> bool {
        let bit = 1 << (len % 64);
        let may_be_there = self.0 & bit != 0;
        self.0 |= bit;
        may_be_there
    }
}

/// As [`write_rows`], for a record with wide rows.
fn write_wide<V: AsRef<[u8]>>(
    parts: &[(AttributeId, AttributeContent<'_, V>)],
    out: &mut Vec<u8>,
) -> Option<()> {
    let mut ascending: Vec<(AttributeId, u16)> = parts.iter().map(|(id, _)| *id).zip(0..).collect();
    ascending.sort_unstable();
    out.extend(ascending.iter().flat_map(|(_, place)| place.to_le_bytes()));
    let mut offset = 0;
    for (_, held) in parts {
        let row = held.elements();
        row.put_wide(offset, out)?;
        offset += row.len();
    }
    out.reserve(offset);
    parts.iter().for_each(|(_, held)| held.put_elements(out));
    Some(())
}

fn length(len: usize) -> Result<u32, StoreError> {
    u32::try_from(len).map_err(|_| StoreError::EntryTooLarge)
}
