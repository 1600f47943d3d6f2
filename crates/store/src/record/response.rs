//! A record's attributes, encoded for a response.

use super::reader::Record;
use super::row::AttributeRow;
use fulgurite_ber::{Tag, Writer, element_len};

/// Bytes of a header at most: the header of a description of 32 bytes.
const HEADER_MAX: usize = 40;
/// Bytes before the values of an attribute at most, for attributes with a header.
const BEFORE_MAX: usize = HEADER_MAX + 16;
/// Bytes: shorter values are copied as if they had this length.
const SHORT: usize = 48;
/// Lengths that mark a header without bytes: of a hidden attribute, or of a description that is too
/// long.
const HIDDEN: usize = 0;
const TOO_LONG: usize = 1;
/// Of records with more bytes, the shown values are counted before memory is reserved.
const FEW: usize = 4096;

/// The beginning of an attribute in a search result entry (RFC 4511, section 4.5.2), up to its
/// first value. Only the lengths are missing.
///
/// ```text
/// 30 00  04 length description  31 00  04 00
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodedHeader {
    bytes: [u8; HEADER_MAX],
    len: usize,
}

impl EncodedHeader {
    /// The header of an attribute that is not shown.
    pub const HIDDEN: EncodedHeader = EncodedHeader {
        bytes: [0; HEADER_MAX],
        len: HIDDEN,
    };

    /// Makes the header of a description.
    #[must_use]
    pub fn new(description: &str) -> EncodedHeader {
        let mut bytes = [0; HEADER_MAX];
        let mut text = Vec::with_capacity(HEADER_MAX);
        text.extend_from_slice(&[Tag::SEQUENCE.0, 0]);
        Writer::new(&mut text).octet_string(description.as_bytes());
        text.extend_from_slice(&[Tag::SET.0, 0, Tag::OCTET_STRING.0, 0]);
        let len = match text.len() {
            len @ ..=HEADER_MAX => len,
            _ => TOO_LONG,
        };
        bytes.iter_mut().zip(text).for_each(|(to, from)| *to = from);
        EncodedHeader { bytes, len }
    }

    /// Returns true if the attribute is not shown.
    #[must_use]
    pub fn is_hidden(&self) -> bool {
        self.len == HIDDEN
    }

    /// Returns the description as an element.
    fn description(&self) -> Option<&[u8]> {
        self.bytes.get(2..self.len.checked_sub(4)?)
    }
}

/// Memory of a response that is being written.
struct ResponseBuffer<'o> {
    bytes: &'o mut [u8],
    at: usize,
}

impl ResponseBuffer<'_> {
    /// Writes an attribute of one short value, if the record has enough bytes behind the value.
    /// Otherwise it writes nothing.
    #[inline]
    fn put_short(&mut self, header: &EncodedHeader, values: &[u8], len: usize) -> Option<()> {
        let value: &[u8; SHORT] = values.first_chunk()?;
        let slot = self.bytes.get_mut(self.at..)?;
        let slot: &mut [u8; HEADER_MAX + SHORT] = slot.first_chunk_mut()?;
        let before: &mut [u8; HEADER_MAX] = slot.first_chunk_mut()?;
        let list = header.len + len;
        if len > SHORT || list >= 0x80 {
            return None;
        }
        *before = header.bytes;
        // The list does not include the first two bytes of the header.
        before[1] = list.to_le_bytes()[0].wrapping_sub(2);
        *before.get_mut(header.len.wrapping_sub(3))? = len.to_le_bytes()[0] + 2;
        *before.get_mut(header.len - 1)? = len.to_le_bytes()[0];
        let slot: &mut [u8; SHORT] = slot.get_mut(header.len..)?.first_chunk_mut()?;
        *slot = *value;
        self.at += header.len + len;
        Some(())
    }

    /// Writes the bytes before one value, or before the elements of several, of `len` bytes. `None`
    /// if they do not fit.
    fn put_header(&mut self, header: &EncodedHeader, len: usize, is_one: bool) -> Option<()> {
        let list = header.len.checked_sub(4)? + if is_one { 2 } else { 0 } + len;
        let used = header.len - if is_one { 0 } else { 2 };
        if list >= 0x80 {
            return self.put_long_header(header, len, is_one);
        }
        let slot: &mut [u8; HEADER_MAX] = self.bytes.get_mut(self.at..)?.first_chunk_mut()?;
        *slot = header.bytes;
        slot[1] = list.to_le_bytes()[0];
        let set = if is_one { len + 2 } else { len };
        *slot.get_mut(header.len - 3)? = set.to_le_bytes()[0];
        *slot.get_mut(header.len - 1)? = len.to_le_bytes()[0];
        self.at += used;
        Some(())
    }

    fn put_long_header(&mut self, header: &EncodedHeader, len: usize, is_one: bool) -> Option<()> {
        let description = header.description()?;
        let set = if is_one { element_len(len) } else { len };
        let list = description.len() + element_len(set);
        let mut bytes = Vec::with_capacity(BEFORE_MAX);
        let mut writer = Writer::new(&mut bytes);
        writer.header(Tag::SEQUENCE, list);
        writer.buffer().extend_from_slice(description);
        writer.header(Tag::SET, set);
        if is_one {
            writer.header(Tag::OCTET_STRING, len);
        }
        self.put(&bytes)
    }

    fn put(&mut self, bytes: &[u8]) -> Option<()> {
        let end = self.at.checked_add(bytes.len())?;
        self.bytes.get_mut(self.at..end)?.copy_from_slice(bytes);
        self.at = end;
        Some(())
    }
}

/// Appends attributes with their headers, one header for each position. Returns false, with `out`
/// unchanged, if the record does not store an attribute in a form that can be copied.
#[inline]
pub(crate) fn append(record: &Record<'_>, headers: &[EncodedHeader], out: &mut Vec<u8>) -> bool {
    if headers.is_empty() || record.is_wide() {
        return headers.is_empty();
    }
    let values = match record.value_bytes().len() {
        len @ ..=FEW => Some(len),
        _ => shown_len(record, headers),
    };
    let Some(values) = values else { return false };
    let start = out.len();
    out.resize(start + values + headers.len() * BEFORE_MAX + SHORT, 0);
    let bytes = out.get_mut(start..).unwrap_or_default();
    let mut room = ResponseBuffer { bytes, at: 0 };
    let written = fill(record, headers, &mut room);
    let len = room.at;
    out.truncate(start + written.map_or(0, |()| len));
    written.is_some()
}

/// Returns the length in bytes of the shown values, with the element headers of several values.
#[cold]
fn shown_len(record: &Record<'_>, headers: &[EncodedHeader]) -> Option<usize> {
    let mut rows = record.rows();
    let mut sum = 0_usize;
    for header in headers {
        let row = AttributeRow::take(&mut rows)?;
        if !header.is_hidden() {
            sum = sum.checked_add(match row {
                AttributeRow::Same(place, nth) => record.same(place, nth)?.len(),
                row => row.len(),
            })?;
        }
    }
    Some(sum)
}

#[inline]
fn fill(
    record: &Record<'_>,
    headers: &[EncodedHeader],
    room: &mut ResponseBuffer<'_>,
) -> Option<()> {
    let (mut rows, mut values) = (record.rows(), record.value_bytes());
    for header in headers {
        let row = AttributeRow::take(&mut rows)?;
        let len = row.len();
        if header.len != HIDDEN {
            match row {
                AttributeRow::One(len) if room.put_short(header, values, len).is_some() => {}
                AttributeRow::One(len) => {
                    room.put_header(header, len, true)?;
                    room.put(values.get(..len)?)?;
                }
                AttributeRow::Elements(_, len) => {
                    room.put_header(header, len, false)?;
                    room.put(values.get(..len)?)?;
                }
                AttributeRow::Same(place, nth) => {
                    let value = record.same(place, nth)?;
                    room.put_header(header, value.len(), true)?;
                    room.put(value)?;
                }
                AttributeRow::Overflow(_) => return None,
            }
        }
        values = values.get(len..)?;
    }
    Some(())
}
