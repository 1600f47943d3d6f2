//! Values of the transaction operations (RFC 5805).

use fulgurite_ber::{Reader, Tag, Writer};

use crate::{Fault, MessageId};

/// The value of an end transaction request (RFC 5805 section 3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndTransaction<'a> {
    /// True if its updates are to be done, rather than forgotten.
    pub commit: bool,
    /// The identifier of the transaction.
    pub identifier: &'a [u8],
}

impl<'a> EndTransaction<'a> {
    /// Decodes a request value.
    ///
    /// # Errors
    /// A [`Fault`] for anything but the sequence of RFC 5805.
    pub fn decode(value: &'a [u8]) -> Result<Self, Fault> {
        let mut outside = Reader::new(value);
        let mut reader = outside.nested(Tag::SEQUENCE)?;
        outside.end()?;
        let commit = match reader.peek() {
            Some(Tag::BOOLEAN) => reader.boolean()?,
            _ => true,
        };
        // There are clients that leave the tag on it under which they got it.
        let (_, identifier) = reader.element()?;
        reader.end()?;
        Ok(EndTransaction { commit, identifier })
    }

    /// Returns the request value.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        Writer::new(&mut out).container(Tag::SEQUENCE, |writer| {
            if !self.commit {
                writer.boolean(false);
            }
            writer.octet_string(self.identifier);
        });
        out
    }
}

/// Returns the value of the response to an end transaction request that has failed: the update that
/// is to blame.
#[must_use]
pub fn failed_update(id: MessageId) -> Vec<u8> {
    let mut out = Vec::new();
    Writer::new(&mut out).container(Tag::SEQUENCE, |writer| writer.integer(i64::from(id)));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commit_is_the_default() {
        for commit in [true, false] {
            let identifier = b"7".as_slice();
            let request = EndTransaction { commit, identifier };
            let value = request.encode();
            assert_eq!(EndTransaction::decode(&value), Ok(request));
            assert!(EndTransaction::decode(&value[1..]).is_err());
        }
        let tagged =
            EndTransaction::decode(b"\x30\x02\x8b\x00").expect("the tag of a response value");
        assert!(tagged.commit && tagged.identifier.is_empty());
        assert_eq!(failed_update(4), b"\x30\x03\x02\x01\x04");
        assert!(EndTransaction::decode(b"\x30\x03\x01\x01\xff").is_err());
    }
}
