//! Controls as a message carries them: OID, criticality, value.

use fulgurite_ber::{Reader, Tag, Writer};

use crate::{Fault, oid};

/// One control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Control<'a> {
    /// OID as dotted text; see [`crate::oid`].
    pub oid: &'a [u8],
    /// True if the operation must fail when the server does not understand the control.
    pub critical: bool,
    /// Its value, whose meaning depends on the control.
    pub value: Option<&'a [u8]>,
}

impl<'a> Control<'a> {
    /// Returns a control without value.
    #[must_use]
    pub const fn new(oid: &'a str, critical: bool) -> Self {
        Control {
            oid: oid.as_bytes(),
            critical,
            value: None,
        }
    }

    /// Returns a control with a value.
    #[must_use]
    pub const fn with_value(oid: &'a str, critical: bool, value: &'a [u8]) -> Self {
        Control {
            oid: oid.as_bytes(),
            critical,
            value: Some(value),
        }
    }

    /// Returns a critical ManageDsaIT control (RFC 3296): treat referral objects as ordinary
    /// entries.
    #[must_use]
    pub const fn manage_dsa_it() -> Control<'static> {
        Control::new(oid::MANAGE_DSA_IT, true)
    }

    /// Returns true if this is the control `oid`.
    #[must_use]
    pub fn is(&self, oid: &str) -> bool {
        self.oid == oid.as_bytes()
    }

    fn decode(reader: &mut Reader<'a>) -> Result<Self, Fault> {
        let mut control = reader.nested(Tag::SEQUENCE)?;
        let oid = control.octet_string()?;
        if oid.is_empty() {
            return Err(Fault::Empty("controlType"));
        }
        let critical = if control.peek() == Some(Tag::BOOLEAN) {
            control.boolean()?
        } else {
            false
        };
        let value = control.optional(Tag::OCTET_STRING)?;
        control.skip_extensions()?;
        Ok(Control {
            oid,
            critical,
            value,
        })
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        writer.container(Tag::SEQUENCE, |writer| {
            writer.octet_string(self.oid);
            if self.critical {
                writer.boolean(true);
            }
            if let Some(value) = self.value {
                writer.octet_string(value);
            }
        });
    }
}

const CONTROLS: Tag = Tag::context(0).constructed();

/// The controls of a message, decoded one by one as they are iterated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Controls<'a> {
    /// Complete control elements, validated.
    encoded: &'a [u8],
}

impl<'a> Controls<'a> {
    /// No controls.
    pub const NONE: Controls<'static> = Controls { encoded: &[] };

    /// Returns the controls of complete elements that a message held.
    pub(crate) const fn from_validated(encoded: &'a [u8]) -> Self {
        Controls { encoded }
    }

    /// Returns the control elements as they are encoded.
    pub(crate) const fn encoded(&self) -> &'a [u8] {
        self.encoded
    }

    /// Reads what follows the protocolOp of a message.
    pub(crate) fn decode(mut rest: Reader<'a>) -> Result<Self, Fault> {
        if rest.peek() != Some(CONTROLS) {
            rest.skip_extensions()?;
            return Ok(Controls::NONE);
        }
        let mut controls = rest.nested(CONTROLS)?;
        rest.skip_extensions()?;
        let encoded = controls.remaining();
        while !controls.is_empty() {
            Control::decode(&mut controls)?;
        }
        Ok(Controls { encoded })
    }

    /// Iterates over the controls in their order.
    pub fn iter(&self) -> impl Iterator<Item = Control<'a>> + use<'a> {
        let mut reader = Reader::new(self.encoded);
        std::iter::from_fn(move || Control::decode(&mut reader).ok())
    }

    /// Returns true if there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.encoded.is_empty()
    }

    /// Returns the first control `oid`.
    #[must_use]
    pub fn find(&self, oid: &str) -> Option<Control<'a>> {
        self.iter().find(|control| control.is(oid))
    }

    /// Returns the OID of a control that occurs twice, which no operation permits. Sorts the OIDs,
    /// so that a message stuffed with controls costs no more than its length deserves.
    #[must_use]
    pub fn duplicate(&self) -> Option<&'a [u8]> {
        let mut oids: Vec<&[u8]> = self.iter().map(|control| control.oid).collect();
        oids.sort_unstable();
        oids.windows(2).find_map(|pair| match pair {
            [one, other] if one == other => Some(*one),
            _ => None,
        })
    }
}

/// Writes the controls of a message, nothing for none.
pub(crate) fn encode(writer: &mut Writer<'_>, controls: &[Control<'_>]) {
    if !controls.is_empty() {
        writer.container(CONTROLS, |writer| {
            for control in controls {
                control.encode(writer);
            }
        });
    }
}
