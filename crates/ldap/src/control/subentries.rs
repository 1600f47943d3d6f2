//! Subentries (RFC 3672): whether a search sees subentries alone, or all but these.

use fulgurite_ber::{Reader, Tag, Writer};

use super::kind::ControlKind;
use crate::{Fault, oid};

/// The value of the subentries control: whether subentries are visible, and then nothing else is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subentries {
    /// Subentries only, or no subentries at all.
    pub visible: bool,
}

impl Subentries {
    /// The control's constants.
    pub const KIND: ControlKind =
        ControlKind::with_value(oid::SUBENTRIES, "subentries control", |value| {
            Subentries::decode(value).map(|_| ())
        });

    /// Decodes a control value.
    ///
    /// # Errors
    /// A [`Fault`] for anything but one boolean; the answer is `protocolError`.
    pub fn decode(value: &[u8]) -> Result<Self, Fault> {
        let mut reader = Reader::new(value);
        let visible = Reader::boolean_of(reader.expect(Tag::BOOLEAN)?)?;
        reader.end()?;
        Ok(Subentries { visible })
    }

    /// Returns the control value.
    #[must_use]
    pub fn encode(self) -> Vec<u8> {
        let mut out = Vec::new();
        Writer::new(&mut out).boolean(self.visible);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_boolean_and_nothing_else() {
        for visible in [false, true] {
            let control = Subentries { visible };
            assert_eq!(Subentries::decode(&control.encode()), Ok(control));
        }
        assert!(Subentries::decode(b"").is_err());
        assert!(Subentries::decode(b"\x02\x01\x01").is_err());
        assert!(Subentries::decode(b"\x01\x01\xff\x00").is_err());
    }
}
