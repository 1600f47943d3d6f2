//! Search options, of Active Directory: flags of a search in a number.

use fulgurite_ber::{Reader, Tag, Writer};

use super::kind::ControlKind;
use crate::Fault;

/// The value of the search options control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchOptions {
    flags: i32,
}

impl SearchOptions {
    /// The control's constants.
    pub const KIND: ControlKind = ControlKind::with_value(
        "1.2.840.113556.1.4.1340",
        "searchOptions control",
        |value| SearchOptions::decode(value).map(|_| ()),
    );

    /// The answer has no referral and no search reference, as with the domain scope control.
    pub const DOMAIN_SCOPE: SearchOptions = SearchOptions { flags: 1 };
    /// The search covers all naming contexts of the server.
    pub const PHANTOM_ROOT: SearchOptions = SearchOptions { flags: 2 };

    /// Returns true if all flags of `other` are set.
    #[must_use]
    pub const fn contains(self, other: SearchOptions) -> bool {
        self.flags & other.flags == other.flags
    }

    /// Returns true if a flag outside `known` is set.
    #[must_use]
    pub const fn exceeds(self, known: SearchOptions) -> bool {
        self.flags & !known.flags != 0
    }

    /// Decodes a control value.
    ///
    /// # Errors
    /// A [`Fault`] for anything but a sequence of one number of 32 bits.
    pub fn decode(value: &[u8]) -> Result<Self, Fault> {
        let mut outside = Reader::new(value);
        let mut sequence = outside.nested(Tag::SEQUENCE)?;
        outside.end()?;
        let number = sequence.integer()?;
        sequence.skip_extensions()?;
        let flags = i32::try_from(number).map_err(|_| Fault::OutOfRange {
            what: "flags",
            value: number,
        })?;
        Ok(SearchOptions { flags })
    }

    /// Returns the control value.
    #[must_use]
    pub fn encode(self) -> Vec<u8> {
        let mut out = Vec::new();
        Writer::new(&mut out).container(Tag::SEQUENCE, |writer| {
            writer.integer(i64::from(self.flags));
        });
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_in_a_sequence() {
        for flags in [0, 1, 2, 3, -1, i32::MAX] {
            let options = SearchOptions { flags };
            let value = options.encode();
            assert_eq!(SearchOptions::decode(&value), Ok(options));
            assert!(SearchOptions::decode(&value[..value.len() - 1]).is_err());
            assert!(SearchOptions::decode(&[&value[..], b"\0"].concat()).is_err());
        }
        assert!(SearchOptions::decode(b"\x30\x00").is_err());
        assert!(SearchOptions::decode(b"\x02\x01\x01").is_err());
        assert!(SearchOptions::decode(b"\x30\x07\x02\x05\x01\x00\x00\x00\x01").is_err());
    }

    #[test]
    fn flags_are_compared_bit_by_bit() {
        let (domain, phantom) = (SearchOptions::DOMAIN_SCOPE, SearchOptions::PHANTOM_ROOT);
        let both = SearchOptions { flags: 3 };
        assert!(both.contains(domain) && both.contains(phantom) && !domain.contains(phantom));
        assert!(both.exceeds(domain) && !domain.exceeds(domain) && !domain.exceeds(both));
    }
}
