//! The control of OpenLDAP's overlay `valsort`: whether values come as they are stored.

use fulgurite_ber::{Reader, Tag, Writer};

use super::kind::ControlKind;
use crate::{Fault, oid};

/// The value of the control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueOrderRequest {
    /// True for values in their stored form and order.
    pub stored: bool,
}

impl ValueOrderRequest {
    /// The control's constants.
    pub const KIND: ControlKind =
        ControlKind::with_value(oid::VALUE_ORDER, "valSort control", |value| {
            ValueOrderRequest::decode(value).map(|_| ())
        });

    /// Decodes a control value.
    ///
    /// # Errors
    /// A [`Fault`] for anything but a sequence of one boolean.
    pub fn decode(value: &[u8]) -> Result<Self, Fault> {
        let mut outside = Reader::new(value);
        let mut fields = outside.nested(Tag::SEQUENCE)?;
        outside.end()?;
        let stored = Reader::boolean_of(fields.expect(Tag::BOOLEAN)?)?;
        fields.end()?;
        Ok(ValueOrderRequest { stored })
    }

    /// Returns the control value.
    #[must_use]
    pub fn encode(self) -> Vec<u8> {
        let mut out = Vec::new();
        Writer::new(&mut out).container(Tag::SEQUENCE, |writer| writer.boolean(self.stored));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_of_one_boolean_and_nothing_else() {
        for stored in [false, true] {
            let control = ValueOrderRequest { stored };
            assert_eq!(ValueOrderRequest::decode(&control.encode()), Ok(control));
        }
        assert_eq!(
            ValueOrderRequest { stored: true }.encode(),
            b"\x30\x03\x01\x01\xff"
        );
        assert!(ValueOrderRequest::decode(b"").is_err());
        assert!(ValueOrderRequest::decode(b"\x01\x01\xff").is_err());
        assert!(ValueOrderRequest::decode(b"\x30\x03\x01\x01\xff\x00").is_err());
        assert!(ValueOrderRequest::decode(b"\x30\x06\x01\x01\xff\x01\x01\xff").is_err());
    }
}
