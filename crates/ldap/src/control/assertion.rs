//! The assertion control (RFC 4528): an operation is done only where a filter is true of its entry.

use fulgurite_ber::Reader;

use super::kind::ControlKind;
use crate::{Fault, Filter, Limits, oid};

/// The value of the assertion control.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assert<'a> {
    /// The filter that has to be true.
    pub filter: Filter<'a>,
}

impl<'a> Assert<'a> {
    /// The control's constants.
    pub const KIND: ControlKind =
        ControlKind::with_value(oid::ASSERTION, "assert control", |value| {
            Assert::decode(value).map(|_| ())
        });

    /// Decodes a control value; filters are bounded as those of searches are by default.
    ///
    /// # Errors
    /// A [`Fault`] for anything but one filter; the answer is `protocolError`.
    pub fn decode(value: &'a [u8]) -> Result<Self, Fault> {
        let mut reader = Reader::new(value);
        let filter = Filter::decode(&mut reader, &Limits::default())?;
        reader.end()?;
        Ok(Assert { filter })
    }
}
