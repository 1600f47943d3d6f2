//! Simple paged results (RFC 2696).

use fulgurite_ber::{Reader, Tag, Writer};

use super::kind::ControlKind;
use crate::{Fault, oid};

/// The value of the paged results control, in requests and in responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PagedResults<'a> {
    /// Request: entries per page, 0 to end the search. Response: the estimated total, 0 if unknown.
    pub size: u32,
    /// Where to go on; empty in the first request and in the last response.
    pub cookie: &'a [u8],
}

impl<'a> PagedResults<'a> {
    /// The control's constants.
    pub const KIND: ControlKind =
        ControlKind::with_value(oid::PAGED_RESULTS, "paged results control", |value| {
            PagedResults::decode(value).map(|_| ())
        });

    /// Decodes a control value.
    ///
    /// # Errors
    /// A [`Fault`] for anything but the sequence of RFC 2696; the answer is `protocolError`.
    pub fn decode(value: &'a [u8]) -> Result<Self, Fault> {
        let mut outside = Reader::new(value);
        let mut reader = outside.nested(Tag::SEQUENCE)?;
        outside.end()?;
        let number = reader.integer()?;
        let size = u32::try_from(number)
            .ok()
            .filter(|&size| size <= i32::MAX.cast_unsigned())
            .ok_or(Fault::OutOfRange {
                what: "paged results size",
                value: number,
            })?;
        let cookie = reader.octet_string()?;
        reader.skip_extensions()?;
        Ok(PagedResults { size, cookie })
    }

    /// Returns the control value.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(16 + self.cookie.len());
        Writer::new(&mut out).container(Tag::SEQUENCE, |writer| {
            writer.integer(i64::from(self.size));
            writer.octet_string(self.cookie);
        });
        out
    }
}
