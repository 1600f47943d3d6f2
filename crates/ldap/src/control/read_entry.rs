//! The pre-read and post-read controls (RFC 4527): the entry as it was before an update, or is
//! after it.

use fulgurite_ber::{Reader, Tag, Writer};

use super::kind::ControlKind;
use crate::{Fault, Values, oid};

/// The value of both request controls. The value of the response controls is a search result entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadEntry<'a> {
    /// The attributes to return, as in a search.
    pub attributes: Vec<&'a [u8]>,
}

impl<'a> ReadEntry<'a> {
    /// The constants of the pre-read control.
    pub const PRE: ControlKind =
        ControlKind::with_value(oid::PRE_READ, "preread control:", |value| {
            ReadEntry::decode(value).map(|_| ())
        });
    /// The constants of the post-read control.
    pub const POST: ControlKind =
        ControlKind::with_value(oid::POST_READ, "postread control:", |value| {
            ReadEntry::decode(value).map(|_| ())
        });

    /// Decodes a control value.
    ///
    /// # Errors
    /// A [`Fault`] for anything but a sequence of names; the answer is `protocolError`.
    pub fn decode(value: &'a [u8]) -> Result<Self, Fault> {
        let mut reader = Reader::new(value);
        // Some clients send a set, and servers take it.
        let list = match reader.peek() {
            Some(Tag::SET) => Tag::SET,
            _ => Tag::SEQUENCE,
        };
        let names = Values::decode(reader.nested(list)?, Tag::OCTET_STRING)?;
        reader.end()?;
        Ok(ReadEntry {
            attributes: names.iter().collect(),
        })
    }

    /// Returns the control value.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        Writer::new(&mut out).container(Tag::SEQUENCE, |writer| {
            for name in &self.attributes {
                writer.octet_string(name);
            }
        });
        out
    }
}

/// Returns the value of a response control: a message with a search result entry, without its
/// envelope. `None` if it is no message.
#[must_use]
pub fn read_entry_value(message: &[u8]) -> Option<Vec<u8>> {
    let mut envelope = Reader::new(message).nested(Tag::SEQUENCE).ok()?;
    envelope.integer().ok()?;
    Some(envelope.remaining().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_of_names() {
        for attributes in [vec![], vec![b"cn".as_slice(), b"*", b"+"]] {
            let control = ReadEntry { attributes };
            let value = control.encode();
            assert_eq!(ReadEntry::decode(&value), Ok(control));
            assert!(ReadEntry::decode(&[&value[..], b"x"].concat()).is_err());
        }
        let set = ReadEntry::decode(b"\x31\x04\x04\x02cn").expect("a set will do");
        assert_eq!(set.attributes, [b"cn"]);
        assert!(ReadEntry::decode(b"").is_err());
        assert!(ReadEntry::decode(b"\x30\x03\x02\x01\x01").is_err());
    }
}
