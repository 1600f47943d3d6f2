//! A search result entry, written as its parts become known.

use fulgurite_ber::{Mark, Tag, Writer, element_len};

use crate::operation::SEARCH_ENTRY;
use crate::{Control, MessageId, control};

/// Begins a search result entry: the DN, then attributes with their values, then
/// [`EntryWriter::finish`].
///
/// ```
/// use fulgurite_ldap::encode;
///
/// let mut out = Vec::new();
/// let mut entry = encode::search_entry(&mut out, 7, b"cn=Ada,dc=example");
/// entry.attribute(b"cn");
/// entry.value(b"Ada");
/// entry.finish(&[]);
/// ```
#[must_use]
pub fn search_entry<'o>(out: &'o mut Vec<u8>, id: MessageId, dn: &[u8]) -> EntryWriter<'o> {
    EntryWriter::open(out, id, |writer| writer.octet_string(dn))
}

/// Writes one entry into a buffer.
///
/// Values are copied once, to where they will be sent from. An entry that is dropped unfinished
/// leaves the buffer as it was.
#[derive(Debug)]
pub struct EntryWriter<'o> {
    writer: Writer<'o>,
    /// Where the buffer ended before this entry; what an unfinished entry is cut back to.
    start: usize,
    /// Message, protocolOp and list of attributes; taken by `finish`.
    containers: Option<[Mark; 3]>,
    attribute: Option<OpenAttribute>,
}

#[derive(Debug)]
struct OpenAttribute {
    start: usize,
    attribute: Mark,
    values: Mark,
    values_at: usize,
}

impl<'o> EntryWriter<'o> {
    /// Begins an entry whose DN text `dn` appends to the buffer.
    #[inline]
    pub fn begin(out: &'o mut Vec<u8>, id: MessageId, dn: impl FnOnce(&mut Vec<u8>)) -> Self {
        Self::open(out, id, |writer| {
            writer.primitive_with(Tag::OCTET_STRING, dn);
        })
    }

    #[inline]
    fn open(out: &'o mut Vec<u8>, id: MessageId, dn: impl FnOnce(&mut Writer<'_>)) -> Self {
        let mut writer = Writer::new(out);
        let start = writer.position();
        let message = writer.begin_long(Tag::SEQUENCE);
        writer.integer(i64::from(id));
        let operation = writer.begin_long(SEARCH_ENTRY);
        dn(&mut writer);
        let list = writer.begin_long(Tag::SEQUENCE);
        EntryWriter {
            writer,
            start,
            containers: Some([message, operation, list]),
            attribute: None,
        }
    }

    /// Begins an attribute, ending the one before.
    pub fn attribute(&mut self, description: &[u8]) {
        self.end_attribute();
        let start = self.writer.position();
        let attribute = self.writer.begin(Tag::SEQUENCE);
        self.writer.octet_string(description);
        let values = self.writer.begin(Tag::SET);
        let values_at = self.writer.position();
        self.attribute = Some(OpenAttribute {
            start,
            attribute,
            values,
            values_at,
        });
    }

    /// Adds a value to the current attribute.
    ///
    /// # Panics
    /// In debug builds, if no attribute was begun.
    #[inline]
    pub fn value(&mut self, value: &[u8]) {
        debug_assert!(self.attribute.is_some(), "a value belongs to an attribute");
        self.writer.octet_string(value);
    }

    /// Adds a value that `fill` appends to the buffer.
    ///
    /// # Panics
    /// In debug builds, if no attribute was begun.
    pub fn value_with(&mut self, fill: impl FnOnce(&mut Vec<u8>)) {
        debug_assert!(self.attribute.is_some(), "a value belongs to an attribute");
        self.writer.primitive_with(Tag::OCTET_STRING, fill);
    }

    /// Ends the current attribute, or removes it if it got no value. It serves callers that decide
    /// about each value separately.
    pub fn drop_attribute_without_values(&mut self) {
        if let Some(open) = self
            .attribute
            .take_if(|open| open.values_at == self.writer.position())
        {
            self.writer.truncate(open.start);
        }
    }

    /// Writes an attribute with all its values at once, after ending the one before. Each byte is
    /// written once, at its final position. The values are gone through twice.
    #[inline]
    pub fn whole_attribute<'v>(
        &mut self,
        description: &[u8],
        values: impl Iterator<Item = &'v [u8]> + Clone,
    ) {
        self.end_attribute();
        let set: usize = values.clone().map(|value| element_len(value.len())).sum();
        let list = element_len(description.len()) + element_len(set);
        self.writer.buffer().reserve(element_len(list));
        self.writer.header(Tag::SEQUENCE, list);
        self.writer.octet_string(description);
        self.writer.header(Tag::SET, set);
        values.for_each(|value| self.writer.octet_string(value));
    }

    /// Writes an attribute whose values are encoded already, an OCTET STRING each, ending the one
    /// before.
    #[inline]
    pub fn attribute_of(&mut self, description: &[u8], values: &[u8]) {
        self.end_attribute();
        let list = element_len(description.len()) + element_len(values.len());
        self.writer.buffer().reserve(element_len(list));
        self.writer.header(Tag::SEQUENCE, list);
        self.writer.octet_string(description);
        self.writer.primitive(Tag::SET, values);
    }

    /// Writes attributes by what `fill` appends to the buffer, each a PartialAttribute, ending the
    /// one before.
    #[inline]
    pub fn encoded_by<R>(&mut self, fill: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        self.end_attribute();
        fill(self.writer.buffer())
    }

    fn end_attribute(&mut self) {
        if let Some(open) = self.attribute.take() {
            self.writer.end(open.values);
            self.writer.end(open.attribute);
        }
    }

    /// Returns the bytes written for this entry so far.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.writer.position() - self.start
    }

    /// Returns true if nothing was written; never true, an entry has a DN.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ends the entry: it is now in the buffer, ready to be sent.
    #[inline]
    pub fn finish(mut self, controls: &[Control<'_>]) {
        self.end_attribute();
        if let Some([message, operation, list]) = self.containers.take() {
            self.writer.end(list);
            self.writer.end(operation);
            control::encode(&mut self.writer, controls);
            self.writer.end(message);
        }
    }
}

impl Drop for EntryWriter<'_> {
    fn drop(&mut self) {
        if self.containers.is_some() {
            self.writer.truncate(self.start);
        }
    }
}
