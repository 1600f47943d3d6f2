//! Writing a record.

use super::{
    APART, ATTRIBUTES_MAX, HEADER_LEN, PARENT_AT, PARTED, ROW_LEN, Record, VERSION, WIDE,
    WIDE_ROW_LEN,
};
use crate::error::{Damage, StoreError};
use crate::ids::{AttributeId, EntryId};
use fulgurite_ber::{Tag, Writer, element_len};

/// What goes into a record.
pub(crate) struct RecordSource<'a, V = Vec<u8>> {
    pub(crate) parent: EntryId,
    pub(crate) rdn_normal: &'a [u8],
    pub(crate) rdn: &'a [u8],
    /// Each id at most once, in the order in which readers are to meet them.
    pub(crate) attributes: Vec<(AttributeId, &'a [V])>,
    /// How many values lie apart of those attributes of which they do; what `attributes` has of them is not looked at.
    pub(crate) apart: &'a [(AttributeId, u32)],
}

/// Appends the record of `source` to `out`, which is cleared first. `text` spells the description of a number; what has
/// no text lies there bare.
///
/// # Errors
/// [`StoreError::EntryTooLarge`] beyond 4 GiB or 65,535 attribute descriptions.
pub(crate) fn encode<'t, V: AsRef<[u8]>>(
    source: &RecordSource<'_, V>,
    text: impl Fn(AttributeId) -> &'t str,
    out: &mut Vec<u8>,
) -> Result<(), StoreError> {
    let part = |(id, values): &(AttributeId, &[V])| {
        let apart = source.apart.iter().find(|(apart, _)| apart == id);
        match apart {
            Some((_, count)) => Part::apart(*id, *count),
            None => Part::of(*id, text(*id).len(), values),
        }
    };
    let parts: Vec<Part> = source.attributes.iter().map(part).collect();
    begin(out, source.parent, (source.rdn_normal, source.rdn), &parts)?;
    for (part, (id, values)) in parts.iter().zip(&source.attributes) {
        if part.count & APART == 0 {
            put_attribute(out, part, text(*id), values);
        }
    }
    Ok(())
}

/// As [`encode`], in the place of another record: of attributes without values, what lies there of them is copied. None of
/// them lies apart.
///
/// # Errors
/// As there; [`Damage::Record`] if the other record does not have such an attribute.
pub(crate) fn encode_over<'t, V: AsRef<[u8]>>(
    before: &Record<'_>,
    source: &RecordSource<'_, V>,
    text: impl Fn(AttributeId) -> &'t str,
    out: &mut Vec<u8>,
) -> Result<(), StoreError> {
    let mut parts = Vec::with_capacity(source.attributes.len());
    let mut copied = Vec::with_capacity(source.attributes.len());
    for (id, values) in &source.attributes {
        let (part, octets) = if values.is_empty() {
            let (octets, part) = kept(before, *id).ok_or(Damage::Record)?;
            (part, Some(octets))
        } else {
            (Part::of(*id, text(*id).len(), values), None)
        };
        parts.push(part);
        copied.push(octets);
    }
    begin(out, source.parent, (source.rdn_normal, source.rdn), &parts)?;
    for ((part, octets), (id, values)) in parts.iter().zip(copied).zip(&source.attributes) {
        match octets {
            Some(octets) => out.extend_from_slice(octets),
            None => put_attribute(out, part, text(*id), values),
        }
    }
    Ok(())
}

/// What lies in a record of an attribute whose values do not lie apart.
fn kept<'r>(record: &Record<'r>, id: AttributeId) -> Option<(&'r [u8], Part)> {
    let place = record.place(id)?;
    let (_, values) = record.row(place)?;
    let (octets, head) = record.octets(place)?;
    let part = Part {
        id,
        count: u32::try_from(values.len()).ok()?,
        head,
        len: octets.len(),
    };
    (!values.are_apart()).then_some((octets, part))
}

/// Enters the parent of a record that was encoded before it was known.
pub(crate) fn set_parent(record: &mut [u8], parent: EntryId) {
    if let Some(place) = record.get_mut(PARENT_AT..PARENT_AT + 8) {
        place.copy_from_slice(&parent.0.to_le_bytes());
    }
}

/// The same record without the values of some attributes, which lie apart from now on. `None` if it is damaged.
pub(crate) fn without_values(whole: &Record<'_>, apart: &[AttributeId]) -> Option<Vec<u8>> {
    let mut parts = Vec::new();
    for row in 0..whole.len() {
        let (id, values) = whole.row(row)?;
        let count = u32::try_from(values.len()).ok()?;
        parts.push(if apart.contains(&id) {
            Part::apart(id, count)
        } else {
            let (octets, head) = whole.octets(row)?;
            Part {
                id,
                count,
                head,
                len: octets.len(),
            }
        });
    }
    let mut out = Vec::new();
    let names = (whole.rdn_normal(), whole.rdn());
    begin(&mut out, whole.parent(), names, &parts).ok()?;
    for (row, part) in parts.iter().enumerate() {
        if part.count & APART == 0 {
            out.extend_from_slice(whole.octets(row)?.0);
        }
    }
    Some(out)
}

/// What a row says of an attribute, its place aside.
struct Part {
    id: AttributeId,
    /// Number of values, with [`APART`].
    count: u32,
    /// Octets before the values, none of a bare one, and in all.
    head: usize,
    len: usize,
}

impl Part {
    fn apart(id: AttributeId, count: u32) -> Part {
        Part {
            id,
            count: count | APART,
            head: 0,
            len: 0,
        }
    }

    fn of<V: AsRef<[u8]>>(id: AttributeId, text_len: usize, values: &[V]) -> Part {
        let lens = values.iter().map(|value| element_len(value.as_ref().len()));
        let set: usize = lens.sum();
        let len = match text_len {
            0 => set,
            _ => element_len(element_len(text_len) + element_len(set)),
        };
        Part {
            id,
            // Beyond this the length is refused.
            count: u32::try_from(values.len()).unwrap_or(0) & !APART,
            head: len - set,
            len,
        }
    }

    fn is_small(&self) -> bool {
        self.count <= u32::from(u8::MAX) && self.head <= usize::from(u8::MAX)
    }
}

/// Writes everything but the attributes.
fn begin(
    out: &mut Vec<u8>,
    parent: EntryId,
    (rdn_normal, rdn): (&[u8], &[u8]),
    parts: &[Part],
) -> Result<(), StoreError> {
    let count = u16::try_from(parts.len()).map_err(|_| StoreError::EntryTooLarge)?;
    let octets: usize = parts.iter().map(|part| part.len).sum();
    let names = rdn_normal.len() + rdn.len();
    let small = HEADER_LEN + parts.len() * (2 + ROW_LEN) + names;
    let wide = small + octets > usize::from(u16::MAX)
        || parts.len() > ATTRIBUTES_MAX
        || !parts.iter().all(Part::is_small);
    let mut offset = if wide {
        HEADER_LEN + parts.len() * (4 + WIDE_ROW_LEN) + names
    } else {
        small
    };
    let parted = parts.iter().any(|part| part.count & APART != 0);
    let flags = (u8::from(wide) * WIDE) | (u8::from(parted) * PARTED);
    out.clear();
    out.reserve(offset + octets);
    out.extend_from_slice(&[VERSION, flags]);
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(&length(offset + octets)?.to_le_bytes());
    out.extend_from_slice(&parent.0.to_le_bytes());
    out.extend_from_slice(&length(rdn_normal.len())?.to_le_bytes());
    out.extend_from_slice(&length(rdn.len())?.to_le_bytes());
    for part in parts {
        out.extend_from_slice(&part.id.0.to_le_bytes());
    }
    if wide {
        let mut ascending: Vec<(AttributeId, u16)> =
            parts.iter().map(|part| part.id).zip(0..).collect();
        ascending.sort_unstable();
        let places = ascending.iter().flat_map(|(_, place)| place.to_le_bytes());
        out.extend(places);
    }
    for part in parts {
        let (head, place) = (length(part.head)?, length(offset)?);
        if wide {
            out.extend_from_slice(&place.to_le_bytes());
            out.extend_from_slice(&head.to_le_bytes());
            out.extend_from_slice(&part.count.to_le_bytes());
        } else {
            let ([low, high, ..], [head, ..]) = (place.to_le_bytes(), head.to_le_bytes());
            let [count, ..] = part.count.to_le_bytes();
            out.extend_from_slice(&[low, high, head, count]);
        }
        offset += part.len;
    }
    out.extend_from_slice(rdn_normal);
    out.extend_from_slice(rdn);
    Ok(())
}

/// Writes one attribute as it stands in an answer, or its values alone.
fn put_attribute<V: AsRef<[u8]>>(out: &mut Vec<u8>, part: &Part, text: &str, values: &[V]) {
    let set = part.len - part.head;
    let mut writer = Writer::new(out);
    if part.head != 0 {
        let list = element_len(text.len()) + element_len(set);
        writer.header(Tag::SEQUENCE, list);
        writer.octet_string(text.as_bytes());
        writer.header(Tag::SET, set);
    }
    for value in values {
        writer.octet_string(value.as_ref());
    }
}

fn length(len: usize) -> Result<u32, StoreError> {
    u32::try_from(len).map_err(|_| StoreError::EntryTooLarge)
}
