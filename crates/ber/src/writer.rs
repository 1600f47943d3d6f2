//! Appending elements to a buffer, with lengths patched when a container ends.

use crate::Tag;

/// Length bytes of a container that is probably long: the form, and two bytes of the length.
const LONG_RESERVED: usize = 3;

/// Where an open container began; give it back to [`Writer::end`].
#[derive(Debug)]
#[must_use = "a container that is not ended has a wrong length"]
pub struct Mark {
    /// Position of the first length byte.
    length_at: usize,
    /// How many length bytes were reserved.
    reserved: usize,
}

/// Appends elements to the end of a buffer.
///
/// A container's length is not known when it begins. [`Writer::begin`] reserves one length byte and
/// moves the contents if they need more. This costs a copy of containers beyond 127 bytes.
/// [`Writer::begin_long`] reserves three and pays with two bytes for short contents. Each byte is
/// moved at most once per open container.
#[derive(Debug)]
pub struct Writer<'o> {
    out: &'o mut Vec<u8>,
}

impl<'o> Writer<'o> {
    /// Appends to `out`.
    pub const fn new(out: &'o mut Vec<u8>) -> Self {
        Writer { out }
    }

    /// Returns the buffer, for contents that write themselves.
    pub const fn buffer(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// Returns the present length of the buffer in bytes.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.out.len()
    }

    /// Forgets everything behind `position`; marks taken behind it are void.
    pub fn truncate(&mut self, position: usize) {
        self.out.truncate(position);
    }

    /// Writes a primitive element.
    ///
    /// # Panics
    /// If `content` has 4 GiB or more.
    #[inline]
    pub fn primitive(&mut self, tag: Tag, content: &[u8]) {
        let len = content.len();
        self.out.reserve(len + 6);
        self.header(tag, len);
        self.out.extend_from_slice(content);
    }

    /// Writes the head of an element whose `len` bytes of contents are written next. It serves
    /// containers of a known length.
    ///
    /// # Panics
    /// If `len` is 4 GiB or more.
    #[inline]
    pub fn header(&mut self, tag: Tag, len: usize) {
        if len < 0x80 {
            self.out.extend_from_slice(&[tag.0, len.to_le_bytes()[0]]);
        } else {
            let bytes = length_bytes(len);
            self.out
                .extend_from_slice(&[tag.0, 0x80 | bytes.to_le_bytes()[0]]);
            let be = len_be(len);
            self.out
                .extend_from_slice(be.get(4 - bytes..).unwrap_or(&be));
        }
    }

    /// Writes an OCTET STRING.
    #[inline]
    pub fn octet_string(&mut self, content: &[u8]) {
        self.primitive(Tag::OCTET_STRING, content);
    }

    /// Writes an INTEGER.
    pub fn integer(&mut self, value: i64) {
        self.integer_as(Tag::INTEGER, value);
    }

    /// Writes an ENUMERATED.
    pub fn enumerated(&mut self, value: i64) {
        self.integer_as(Tag::ENUMERATED, value);
    }

    /// Writes integer contents under another tag: `[n] INTEGER`.
    pub fn integer_as(&mut self, tag: Tag, value: i64) {
        if let small @ 0..0x80 = value {
            return self
                .out
                .extend_from_slice(&[tag.0, 1, small.to_le_bytes()[0]]);
        }
        let bytes = value.to_be_bytes();
        // A leading byte is redundant when it only repeats the sign of the next one.
        let redundant = bytes
            .iter()
            .zip(bytes.iter().skip(1))
            .take_while(|&(&here, &next)| here == (next.cast_signed() >> 7).cast_unsigned())
            .count();
        self.primitive(tag, bytes.get(redundant..).unwrap_or(&bytes));
    }

    /// Writes a BOOLEAN; true is 0xff (RFC 4511 section 5.1).
    pub fn boolean(&mut self, value: bool) {
        self.boolean_as(Tag::BOOLEAN, value);
    }

    /// Writes boolean contents under another tag: `[n] BOOLEAN`.
    pub fn boolean_as(&mut self, tag: Tag, value: bool) {
        self.primitive(tag, if value { &[0xff] } else { &[0] });
    }

    /// Begins a container of unknown, probably short contents.
    #[inline]
    pub fn begin(&mut self, tag: Tag) -> Mark {
        self.begin_reserving(tag, 1)
    }

    /// Begins a container that probably exceeds 127 bytes: up to 65,535 of contents are never
    /// moved.
    #[inline]
    pub fn begin_long(&mut self, tag: Tag) -> Mark {
        self.begin_reserving(tag, LONG_RESERVED)
    }

    #[inline]
    fn begin_reserving(&mut self, tag: Tag, reserved: usize) -> Mark {
        let head = [tag.0, 0, 0, 0];
        let length_at = self.out.len() + 1;
        self.out
            .extend_from_slice(head.get(..=reserved).unwrap_or(&head));
        Mark {
            length_at,
            reserved,
        }
    }

    /// Ends a container: writes its length. Containers end in the reverse order of their beginning.
    ///
    /// # Panics
    /// If the contents have 4 GiB or more, or the buffer was cut before the container.
    #[inline]
    pub fn end(&mut self, mark: Mark) {
        let content_at = mark.length_at + mark.reserved;
        let len = self
            .out
            .len()
            .checked_sub(content_at)
            .expect("the container is still in the buffer");
        // The usual cases: no more bytes are needed than were reserved.
        match self.out.get_mut(mark.length_at..content_at) {
            Some([form, high, low]) if len <= usize::from(u16::MAX) => {
                let [.., second, first] = len.to_be_bytes();
                (*form, *high, *low) = (0x82, second, first);
            }
            Some([only]) if len < 0x80 => *only = len.to_le_bytes()[0],
            _ => self.end_longer(&mark, len),
        }
    }

    /// Ends a container whose length may need more bytes than were reserved.
    #[inline(never)]
    fn end_longer(&mut self, mark: &Mark, len: usize) {
        let content_at = mark.length_at + mark.reserved;
        let needed = if len < 0x80 { 1 } else { 1 + length_bytes(len) };
        let width = needed.max(mark.reserved);
        if width > mark.reserved {
            let more = width - mark.reserved;
            self.out.resize(content_at + len + more, 0);
            self.out
                .copy_within(content_at..content_at + len, content_at + more);
        }
        let Some(slot) = self.out.get_mut(mark.length_at..mark.length_at + width) else {
            return;
        };
        if let [only] = slot {
            *only = len.to_le_bytes()[0];
        } else if let [form, bytes @ ..] = slot {
            *form = 0x80 | bytes.len().to_le_bytes()[0];
            let be = len_be(len);
            let from = be.len().saturating_sub(bytes.len());
            bytes.copy_from_slice(be.get(from..).unwrap_or(&be));
        }
    }

    /// Writes a container whose contents `fill` writes.
    #[inline]
    pub fn container(&mut self, tag: Tag, fill: impl FnOnce(&mut Writer<'_>)) {
        let mark = self.begin(tag);
        fill(self);
        self.end(mark);
    }

    /// Writes an element whose contents are appended to the buffer by `fill`.
    #[inline]
    pub fn primitive_with(&mut self, tag: Tag, fill: impl FnOnce(&mut Vec<u8>)) {
        let mark = self.begin(tag);
        fill(self.out);
        self.end(mark);
    }
}

/// Returns the bytes of an element with contents of `len` bytes, its head included.
#[must_use]
#[inline]
pub const fn element_len(len: usize) -> usize {
    if len < 0x80 {
        2 + len
    } else {
        2 + length_bytes(len) + len
    }
}

/// Returns the number of bytes the long form needs for `len`, 1 to 4.
const fn length_bytes(len: usize) -> usize {
    match len {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xff_ffff => 3,
        _ => 4,
    }
}

fn len_be(len: usize) -> [u8; 4] {
    u32::try_from(len)
        .expect("an LDAP element is shorter than 4 GiB")
        .to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reader;

    #[test]
    fn integers_are_minimal_and_read_back() {
        let cases: [(i64, &[u8]); 10] = [
            (0, &[2, 1, 0]),
            (127, &[2, 1, 0x7f]),
            (128, &[2, 2, 0, 0x80]),
            (256, &[2, 2, 1, 0]),
            (-1, &[2, 1, 0xff]),
            (-128, &[2, 1, 0x80]),
            (-129, &[2, 2, 0xff, 0x7f]),
            (0x7fff_ffff, &[2, 4, 0x7f, 0xff, 0xff, 0xff]),
            (i64::MAX, &[2, 8, 0x7f, 255, 255, 255, 255, 255, 255, 255]),
            (i64::MIN, &[2, 8, 0x80, 0, 0, 0, 0, 0, 0, 0]),
        ];
        for (value, encoded) in cases {
            let mut out = vec![];
            Writer::new(&mut out).integer(value);
            assert_eq!(out, encoded, "{value}");
            assert_eq!(Reader::new(&out).integer(), Ok(value));
        }
    }

    #[test]
    fn containers_of_every_size_read_back() {
        for long in [false, true] {
            for len in [
                0, 1, 126, 127, 128, 129, 255, 256, 257, 65_535, 65_536, 70_000,
            ] {
                let mut out = b"before".to_vec();
                let mut writer = Writer::new(&mut out);
                let outer = writer.begin(Tag::SEQUENCE);
                let inner = if long {
                    writer.begin_long(Tag::SET)
                } else {
                    writer.begin(Tag::SET)
                };
                writer
                    .buffer()
                    .extend((0..len).map(|i| u8::try_from(i % 251).unwrap()));
                writer.end(inner);
                writer.octet_string(b"behind");
                writer.end(outer);
                let mut reader = Reader::new(&out[6..]);
                let mut outer = reader.nested(Tag::SEQUENCE).unwrap();
                assert!(reader.is_empty());
                let content = outer.expect(Tag::SET).unwrap();
                assert!(
                    content
                        .iter()
                        .enumerate()
                        .all(|(i, &byte)| usize::from(byte) == i % 251)
                );
                assert_eq!(content.len(), len);
                assert_eq!(outer.octet_string(), Ok(&b"behind"[..]));
                assert_eq!(outer.end(), Ok(()));
            }
        }
    }

    #[test]
    fn primitives_use_the_shortest_length() {
        for (len, header) in [
            (0usize, 2),
            (127, 2),
            (128, 3),
            (255, 3),
            (256, 4),
            (65_536, 5),
            (1 << 24, 6),
        ] {
            let mut out = vec![];
            Writer::new(&mut out).octet_string(&vec![7; len]);
            assert_eq!(out.len(), header + len);
            assert_eq!(element_len(len), out.len());
            assert_eq!(Reader::new(&out).octet_string().map(<[u8]>::len), Ok(len));
        }
    }
}
