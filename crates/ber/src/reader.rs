//! Zero-copy reading of elements.

use crate::{Malformed, Tag};

/// The nesting a [`Reader::new`] follows: well above any LDAP structure but filters, which carry
/// their own limit.
pub const DEPTH_MAX: u16 = 32;

/// The identifier and length bytes of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The identifier byte.
    pub tag: Tag,
    /// How many bytes the identifier and the length take, 2 to 6.
    pub header_len: usize,
    /// How many bytes of contents are declared.
    pub content_len: usize,
}

impl Header {
    /// Reads the header at the start of `bytes`, without looking at the contents.
    ///
    /// Returns `None` while too few bytes have arrived.
    /// # Errors
    /// A length form or a tag form that LDAP does not use, as soon as it can be seen.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Result<Option<Header>, Malformed> {
        let Some((&identifier, rest)) = bytes.split_first() else {
            return Ok(None);
        };
        let tag = Tag(identifier);
        if tag.number() == 31 {
            return Err(Malformed::HighTagNumber);
        }
        let Some((&first, rest)) = rest.split_first() else {
            return Ok(None);
        };
        if first < 0x80 {
            return Ok(Some(Header {
                tag,
                header_len: 2,
                content_len: usize::from(first),
            }));
        }
        let count = first & 0x7f;
        match count {
            0 => return Err(Malformed::IndefiniteLength),
            1..=4 => {}
            _ => return Err(Malformed::LengthBytes(count)),
        }
        let Some(length) = rest.get(..usize::from(count)) else {
            return Ok(None);
        };
        let content_len = length
            .iter()
            .fold(0u32, |sum, &byte| sum << 8 | u32::from(byte));
        let header_len = 2 + usize::from(count);
        Ok(Some(Header {
            tag,
            header_len,
            content_len: content_len as usize,
        }))
    }

    /// Returns the bytes of the whole element, header and contents.
    #[must_use]
    pub const fn total_len(self) -> usize {
        self.header_len.saturating_add(self.content_len)
    }
}

/// Reads the elements of one container in order.
///
/// Copying a reader is cheap and saves its position.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
    depth_left: u16,
}

impl<'a> Reader<'a> {
    /// Reads `bytes` with at most [`DEPTH_MAX`] levels of nesting.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self::with_depth(bytes, DEPTH_MAX)
    }

    /// Reads `bytes`; [`Reader::nested`] can be followed `depth_max` times.
    #[must_use]
    pub const fn with_depth(bytes: &'a [u8], depth_max: u16) -> Self {
        Reader {
            rest: bytes,
            depth_left: depth_max,
        }
    }

    /// Returns true if every element has been read.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the bytes not read yet.
    #[must_use]
    pub const fn remaining(&self) -> &'a [u8] {
        self.rest
    }

    /// Returns the tag of the next element, if there is one.
    #[must_use]
    pub fn peek(&self) -> Option<Tag> {
        self.rest.first().copied().map(Tag)
    }

    /// Reads the next element, whatever it is: its tag and its contents.
    ///
    /// # Errors
    /// [`Malformed::Truncated`] at the end, and every malformed header.
    #[inline]
    pub fn element(&mut self) -> Result<(Tag, &'a [u8]), Malformed> {
        let header = Header::parse(self.rest)?.ok_or(Malformed::Truncated)?;
        let element = self
            .rest
            .get(..header.total_len())
            .ok_or(Malformed::Truncated)?;
        let content = element
            .get(header.header_len..)
            .ok_or(Malformed::Truncated)?;
        self.rest = self.rest.get(element.len()..).ok_or(Malformed::Truncated)?;
        Ok((header.tag, content))
    }

    /// Reads the next element, which has to carry `tag`; returns its contents.
    ///
    /// # Errors
    /// [`Malformed::UnexpectedTag`] for another element, otherwise as [`Reader::element`].
    #[inline]
    pub fn expect(&mut self, tag: Tag) -> Result<&'a [u8], Malformed> {
        match self.peek() {
            Some(found) if found == tag => self.element().map(|(_, content)| content),
            Some(found) => Err(Malformed::UnexpectedTag {
                expected: tag,
                found,
            }),
            None => Err(Malformed::Truncated),
        }
    }

    /// Reads the next element if it carries `tag`.
    ///
    /// # Errors
    /// As [`Reader::element`], once the tag fits.
    #[inline]
    pub fn optional(&mut self, tag: Tag) -> Result<Option<&'a [u8]>, Malformed> {
        if self.peek() == Some(tag) {
            self.element().map(|(_, content)| Some(content))
        } else {
            Ok(None)
        }
    }

    /// Reads the next element, which has to be a container with `tag`, and enters it.
    ///
    /// # Errors
    /// [`Malformed::TooDeep`] beyond the reader's depth, otherwise as [`Reader::expect`].
    #[inline]
    pub fn nested(&mut self, tag: Tag) -> Result<Reader<'a>, Malformed> {
        let content = self.expect(tag)?;
        let depth_left = self.depth_left.checked_sub(1).ok_or(Malformed::TooDeep)?;
        Ok(Reader {
            rest: content,
            depth_left,
        })
    }

    /// Reads a primitive OCTET STRING.
    ///
    /// # Errors
    /// As [`Reader::expect`].
    #[inline]
    pub fn octet_string(&mut self) -> Result<&'a [u8], Malformed> {
        self.expect(Tag::OCTET_STRING)
    }

    /// Reads an INTEGER of up to eight bytes.
    ///
    /// # Errors
    /// [`Malformed::IntegerBytes`], otherwise as [`Reader::expect`].
    #[inline]
    pub fn integer(&mut self) -> Result<i64, Malformed> {
        integer_content(self.expect(Tag::INTEGER)?)
    }

    /// Reads an ENUMERATED.
    ///
    /// # Errors
    /// As [`Reader::integer`].
    #[inline]
    pub fn enumerated(&mut self) -> Result<i64, Malformed> {
        integer_content(self.expect(Tag::ENUMERATED)?)
    }

    /// Reads a BOOLEAN; any non-zero byte is true.
    ///
    /// # Errors
    /// [`Malformed::BooleanBytes`], otherwise as [`Reader::expect`].
    #[inline]
    pub fn boolean(&mut self) -> Result<bool, Malformed> {
        boolean_content(self.expect(Tag::BOOLEAN)?)
    }

    /// Checks that nothing is left.
    ///
    /// # Errors
    /// [`Malformed::TrailingBytes`].
    pub const fn end(&self) -> Result<(), Malformed> {
        match self.rest.len() {
            0 => Ok(()),
            left => Err(Malformed::TrailingBytes(left)),
        }
    }

    /// Skips what an extended SEQUENCE carries behind the components we know (RFC 4511 section 4).
    ///
    /// # Errors
    /// If what follows is not a series of elements.
    pub fn skip_extensions(&mut self) -> Result<(), Malformed> {
        while !self.is_empty() {
            self.element()?;
        }
        Ok(())
    }
}

/// Returns the value of INTEGER contents: two's complement, most significant byte first.
///
/// # Errors
/// [`Malformed::IntegerBytes`] for none, or more than eight bytes.
#[inline]
pub(crate) fn integer_content(content: &[u8]) -> Result<i64, Malformed> {
    match content {
        [only] => Ok(i64::from(only.cast_signed())),
        [first, rest @ ..] if rest.len() < 8 => Ok(rest
            .iter()
            .fold(i64::from(first.cast_signed()), |sum, &byte| {
                sum << 8 | i64::from(byte)
            })),
        _ => Err(Malformed::IntegerBytes(content.len())),
    }
}

#[inline]
pub(crate) const fn boolean_content(content: &[u8]) -> Result<bool, Malformed> {
    match content {
        [byte] => Ok(*byte != 0),
        _ => Err(Malformed::BooleanBytes(content.len())),
    }
}

impl Reader<'_> {
    /// Returns the value of contents that an implicit tag gave another name: `[n] INTEGER`.
    ///
    /// # Errors
    /// [`Malformed::IntegerBytes`].
    pub fn integer_of(content: &[u8]) -> Result<i64, Malformed> {
        integer_content(content)
    }

    /// Returns the value of contents that an implicit tag gave another name: `[n] BOOLEAN`.
    ///
    /// # Errors
    /// [`Malformed::BooleanBytes`].
    pub fn boolean_of(content: &[u8]) -> Result<bool, Malformed> {
        boolean_content(content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_in_every_accepted_form() {
        for header in [
            &[0x04u8, 3][..],
            &[4, 0x81, 3],
            &[4, 0x82, 0, 3],
            &[4, 0x83, 0, 0, 3],
            &[4, 0x84, 0, 0, 0, 3],
        ] {
            let mut bytes = header.to_vec();
            bytes.extend_from_slice(b"abc");
            let mut reader = Reader::new(&bytes);
            assert_eq!(reader.octet_string(), Ok(&b"abc"[..]));
            assert!(reader.is_empty());
        }
    }

    #[test]
    fn forbidden_forms_are_named() {
        assert_eq!(
            Reader::new(&[0x30, 0x80, 0, 0]).element(),
            Err(Malformed::IndefiniteLength)
        );
        assert_eq!(
            Reader::new(&[4, 0x85, 0, 0, 0, 0, 1, 9]).element(),
            Err(Malformed::LengthBytes(5))
        );
        assert_eq!(
            Reader::new(&[0x1f, 0x81, 1, 0]).element(),
            Err(Malformed::HighTagNumber)
        );
        assert_eq!(
            Reader::new(&[4, 0x84, 0xff, 0xff, 0xff, 0xff, 1]).element(),
            Err(Malformed::Truncated)
        );
        assert_eq!(Reader::new(&[]).element(), Err(Malformed::Truncated));
        assert_eq!(
            Reader::new(&[2, 0]).integer(),
            Err(Malformed::IntegerBytes(0))
        );
        assert_eq!(
            Reader::new(&[2, 9, 0, 0, 0, 0, 0, 0, 0, 0, 1]).integer(),
            Err(Malformed::IntegerBytes(9))
        );
        assert_eq!(
            Reader::new(&[1, 0]).boolean(),
            Err(Malformed::BooleanBytes(0))
        );
    }

    #[test]
    fn headers_wait_for_their_bytes() {
        let header = [0x30, 0x82, 0x01, 0x02];
        for cut in 0..header.len() {
            assert_eq!(Header::parse(&header[..cut]), Ok(None), "{cut} bytes");
        }
        let parsed = Header::parse(&header).unwrap().unwrap();
        assert_eq!(
            (parsed.header_len, parsed.content_len, parsed.total_len()),
            (4, 258, 262)
        );
    }

    #[test]
    fn nesting_is_bounded() {
        let mut bytes = vec![];
        for _ in 0..4 {
            let len = u8::try_from(bytes.len()).unwrap();
            bytes.splice(0..0, [0x30, len]);
        }
        let descend = |depth| {
            let mut reader = Reader::with_depth(&bytes, depth);
            for _ in 0..4 {
                reader = reader.nested(Tag::SEQUENCE)?;
            }
            Ok(())
        };
        assert_eq!(descend(4), Ok(()));
        assert_eq!(descend(3), Err(Malformed::TooDeep));
    }

    #[test]
    fn every_short_input_is_an_answer() {
        for bits in 0..=u32::from(u16::MAX) * 16 {
            let bytes = bits.to_be_bytes();
            let mut reader = Reader::new(&bytes[1..]);
            let before = reader.remaining().len();
            if let Ok((_, content)) = reader.element() {
                assert!(content.len() + 2 + reader.remaining().len() <= before);
            }
        }
    }
}
