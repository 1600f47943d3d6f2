//! A record's attributes as they stand in an answer.

use super::reader::Record;
use super::row::Row;
use fulgurite_ber::{Tag, Writer, element_len};

/// Octets of a head that has its room: that of a description of 32 octets.
const HEAD_MAX: usize = 40;
/// Octets before the values of an attribute at most, of those that have a head.
const BEFORE_MAX: usize = HEAD_MAX + 16;
/// Shorter values are copied as if they had this length.
const SHORT: usize = 48;
/// What is in the place of the length of a head that is not there: because nothing is shown, or because it is too long.
const HIDDEN: usize = 0;
const TOO_LONG: usize = 1;
/// Of records with more octets, those of the values that are shown are counted before room is made for them.
const FEW: usize = 4096;

/// What an attribute of a search result entry (RFC 4511, section 4.5.2) begins with, up to its first value, ready but for the
/// lengths.
///
/// ```text
/// 30 00  04 length description  31 00  04 00
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodedHeader {
    octets: [u8; HEAD_MAX],
    len: usize,
}

impl EncodedHeader {
    /// Of an attribute that is passed over.
    pub const HIDDEN: EncodedHeader = EncodedHeader {
        octets: [0; HEAD_MAX],
        len: HIDDEN,
    };

    /// That of a description.
    #[must_use]
    pub fn new(description: &str) -> EncodedHeader {
        let mut octets = [0; HEAD_MAX];
        let mut text = Vec::with_capacity(HEAD_MAX);
        text.extend_from_slice(&[Tag::SEQUENCE.0, 0]);
        Writer::new(&mut text).octet_string(description.as_bytes());
        text.extend_from_slice(&[Tag::SET.0, 0, Tag::OCTET_STRING.0, 0]);
        let len = match text.len() {
            len @ ..=HEAD_MAX => len,
            _ => TOO_LONG,
        };
        octets
            .iter_mut()
            .zip(text)
            .for_each(|(to, from)| *to = from);
        EncodedHeader { octets, len }
    }

    /// Whether the attribute is passed over.
    #[must_use]
    pub fn is_hidden(&self) -> bool {
        self.len == HIDDEN
    }

    /// The description as an element.
    fn description(&self) -> Option<&[u8]> {
        self.octets.get(2..self.len.checked_sub(4)?)
    }
}

/// Room that is being written to.
struct Room<'o> {
    octets: &'o mut [u8],
    at: usize,
}

impl Room<'_> {
    /// Writes an attribute of one value, if it is short, and there is as much behind it as is copied; nothing otherwise.
    #[inline]
    fn put_short(&mut self, head: &EncodedHeader, values: &[u8], len: usize) -> Option<()> {
        let value: &[u8; SHORT] = values.first_chunk()?;
        let place = self.octets.get_mut(self.at..)?;
        let place: &mut [u8; HEAD_MAX + SHORT] = place.first_chunk_mut()?;
        let before: &mut [u8; HEAD_MAX] = place.first_chunk_mut()?;
        let list = head.len + len;
        if len > SHORT || list >= 0x80 {
            return None;
        }
        *before = head.octets;
        // The head's first two octets are not of the list.
        before[1] = list.to_le_bytes()[0].wrapping_sub(2);
        *before.get_mut(head.len.wrapping_sub(3))? = len.to_le_bytes()[0] + 2;
        *before.get_mut(head.len - 1)? = len.to_le_bytes()[0];
        let place: &mut [u8; SHORT] = place.get_mut(head.len..)?.first_chunk_mut()?;
        *place = *value;
        self.at += head.len + len;
        Some(())
    }

    /// Writes what is before one value, or before the elements of several, of so many octets; `None` if it does not fit.
    fn put_head(&mut self, head: &EncodedHeader, len: usize, is_one: bool) -> Option<()> {
        let list = head.len.checked_sub(4)? + if is_one { 2 } else { 0 } + len;
        let used = head.len - if is_one { 0 } else { 2 };
        if list >= 0x80 {
            return self.put_long_head(head, len, is_one);
        }
        let place: &mut [u8; HEAD_MAX] = self.octets.get_mut(self.at..)?.first_chunk_mut()?;
        *place = head.octets;
        place[1] = list.to_le_bytes()[0];
        let set = if is_one { len + 2 } else { len };
        *place.get_mut(head.len - 3)? = set.to_le_bytes()[0];
        *place.get_mut(head.len - 1)? = len.to_le_bytes()[0];
        self.at += used;
        Some(())
    }

    fn put_long_head(&mut self, head: &EncodedHeader, len: usize, is_one: bool) -> Option<()> {
        let description = head.description()?;
        let set = if is_one { element_len(len) } else { len };
        let list = description.len() + element_len(set);
        let mut octets = Vec::with_capacity(BEFORE_MAX);
        let mut writer = Writer::new(&mut octets);
        writer.header(Tag::SEQUENCE, list);
        writer.buffer().extend_from_slice(description);
        writer.header(Tag::SET, set);
        if is_one {
            writer.header(Tag::OCTET_STRING, len);
        }
        self.put(&octets)
    }

    fn put(&mut self, octets: &[u8]) -> Option<()> {
        let end = self.at.checked_add(octets.len())?;
        self.octets.get_mut(self.at..end)?.copy_from_slice(octets);
        self.at = end;
        Some(())
    }
}

/// Appends attributes with their heads, one for each place. False, and `out` as it was, where the record has one of them
/// otherwise than is copied.
#[inline]
pub(crate) fn append(record: &Record<'_>, heads: &[EncodedHeader], out: &mut Vec<u8>) -> bool {
    if heads.is_empty() || record.is_wide() {
        return heads.is_empty();
    }
    let values = match record.octets().len() {
        len @ ..=FEW => Some(len),
        _ => shown_len(record, heads),
    };
    let Some(values) = values else { return false };
    let start = out.len();
    out.resize(start + values + heads.len() * BEFORE_MAX + SHORT, 0);
    let octets = out.get_mut(start..).unwrap_or_default();
    let mut room = Room { octets, at: 0 };
    let written = fill(record, heads, &mut room);
    let len = room.at;
    out.truncate(start + written.map_or(0, |()| len));
    written.is_some()
}

/// Octets of the values that are shown, with the headers of those of several.
#[cold]
fn shown_len(record: &Record<'_>, heads: &[EncodedHeader]) -> Option<usize> {
    let mut rows = record.rows();
    let mut sum = 0_usize;
    for head in heads {
        let row = Row::take(&mut rows)?;
        if !head.is_hidden() {
            sum = sum.checked_add(match row {
                Row::Same(place, nth) => record.same(place, nth)?.len(),
                row => row.len(),
            })?;
        }
    }
    Some(sum)
}

#[inline]
fn fill(record: &Record<'_>, heads: &[EncodedHeader], room: &mut Room<'_>) -> Option<()> {
    let (mut rows, mut values) = (record.rows(), record.octets());
    for head in heads {
        let row = Row::take(&mut rows)?;
        let len = row.len();
        if head.len != HIDDEN {
            match row {
                Row::One(len) if room.put_short(head, values, len).is_some() => {}
                Row::One(len) => {
                    room.put_head(head, len, true)?;
                    room.put(values.get(..len)?)?;
                }
                Row::Elements(_, len) => {
                    room.put_head(head, len, false)?;
                    room.put(values.get(..len)?)?;
                }
                Row::Same(place, nth) => {
                    let value = record.same(place, nth)?;
                    room.put_head(head, value.len(), true)?;
                    room.put(value)?;
                }
                Row::Apart(_) => return None,
            }
        }
        values = values.get(len..)?;
    }
    Some(())
}
