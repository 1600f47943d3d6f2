//! Lists of octet strings that stay where they are.

use std::fmt;

use fulgurite_ber::{Reader, Tag, Writer};

use crate::Fault;

/// A list of values: still encoded in the PDU it was decoded from, or slices to be encoded.
///
/// Decoding has walked the list once, so iterating cannot fail; it costs a length byte per value.
#[derive(Clone, Copy)]
pub struct Values<'a>(Repr<'a>);

#[derive(Clone, Copy)]
enum Repr<'a> {
    /// Complete elements, validated.
    Encoded(&'a [u8]),
    Slices(&'a [&'a [u8]]),
}

impl<'a> Values<'a> {
    /// No values.
    pub const EMPTY: Values<'static> = Values(Repr::Encoded(&[]));

    /// Returns the values of a request under construction.
    #[must_use]
    pub const fn from_slices(values: &'a [&'a [u8]]) -> Self {
        Values(Repr::Slices(values))
    }

    /// Takes over the rest of `reader`, which has to hold elements with `tag` only.
    pub(crate) fn decode(mut reader: Reader<'a>, tag: Tag) -> Result<Self, Fault> {
        let encoded = reader.remaining();
        while !reader.is_empty() {
            reader.expect(tag)?;
        }
        Ok(Values(Repr::Encoded(encoded)))
    }

    /// Elements that the caller has walked already.
    pub(crate) const fn from_validated(encoded: &'a [u8]) -> Self {
        Values(Repr::Encoded(encoded))
    }

    /// Appends the elements of a set of values, as they are encoded.
    pub(crate) fn append_encoded(self, out: &mut Vec<u8>) {
        match self.0 {
            Repr::Encoded(encoded) => out.extend_from_slice(encoded),
            Repr::Slices(_) => self.encode(&mut Writer::new(out), Tag::OCTET_STRING),
        }
    }

    /// The number of bytes that [`append_encoded`](Self::append_encoded) appends. For values that
    /// are not encoded yet it is an estimate.
    pub(crate) fn encoded_len(self) -> usize {
        const HEADER_BYTES: usize = 4;
        match self.0 {
            Repr::Encoded(encoded) => encoded.len(),
            Repr::Slices(values) => values.iter().map(|value| HEADER_BYTES + value.len()).sum(),
        }
    }

    /// Iterates over the values in their order.
    #[must_use]
    pub fn iter(&self) -> ValuesIter<'a> {
        ValuesIter(match self.0 {
            Repr::Encoded(encoded) => IterRepr::Encoded(Reader::new(encoded)),
            Repr::Slices(values) => IterRepr::Slices(values.iter()),
        })
    }

    /// Returns the number of values there are; walks them.
    #[must_use]
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Returns true if there is no value.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        match self.0 {
            Repr::Encoded(encoded) => encoded.is_empty(),
            Repr::Slices(values) => values.is_empty(),
        }
    }

    /// Returns the first value.
    #[must_use]
    pub fn first(&self) -> Option<&'a [u8]> {
        self.iter().next()
    }

    pub(crate) fn encode(&self, writer: &mut Writer<'_>, tag: Tag) {
        for value in self {
            writer.primitive(tag, value);
        }
    }
}

/// Iterates over [`Values`].
#[derive(Debug, Clone)]
pub struct ValuesIter<'a>(IterRepr<'a>);

#[derive(Debug, Clone)]
enum IterRepr<'a> {
    Encoded(Reader<'a>),
    Slices(std::slice::Iter<'a, &'a [u8]>),
}

impl<'a> Iterator for ValuesIter<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        match &mut self.0 {
            IterRepr::Encoded(reader) => reader.element().ok().map(|(_, content)| content),
            IterRepr::Slices(values) => values.next().copied(),
        }
    }
}

impl<'a> IntoIterator for Values<'a> {
    type Item = &'a [u8];
    type IntoIter = ValuesIter<'a>;

    fn into_iter(self) -> ValuesIter<'a> {
        self.iter()
    }
}

impl<'a> IntoIterator for &Values<'a> {
    type Item = &'a [u8];
    type IntoIter = ValuesIter<'a>;

    fn into_iter(self) -> ValuesIter<'a> {
        self.iter()
    }
}

impl PartialEq for Values<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Values<'_> {}

impl fmt::Debug for Values<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(
                self.iter()
                    .map(<[u8]>::escape_ascii)
                    .map(|text| text.to_string()),
            )
            .finish()
    }
}
