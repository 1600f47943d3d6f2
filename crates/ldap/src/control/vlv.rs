//! Virtual list views (draft-ietf-ldapext-ldapv3-vlv-09).

use fulgurite_ber::{Reader, Tag, Writer};

use super::kind::ControlKind;
use crate::{Fault, oid};

const BY_OFFSET: Tag = Tag::context(0).constructed();
const BY_VALUE: Tag = Tag::context(1);

/// The value of the VLV request control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VlvRequest<'a> {
    /// Entries wanted before the target.
    pub before: u32,
    /// Entries wanted after it.
    pub after: u32,
    /// The entry of the sorted list at which the view is placed.
    pub target: VlvTarget<'a>,
    /// The context that the server returned with the previous view.
    pub context: Option<&'a [u8]>,
}

/// An entry of a sorted list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VlvTarget<'a> {
    /// By its position, as the client reckons it.
    Offset {
        /// Position, counted from 1.
        offset: u32,
        /// Length of the list as the client knows it. It is 0 if the client does not know it, or if
        /// `offset` is exact.
        count: u32,
    },
    /// The first one whose first sort key is not less than this.
    AtLeast(&'a [u8]),
}

impl<'a> VlvRequest<'a> {
    /// The control's constants.
    pub const KIND: ControlKind =
        ControlKind::with_value(oid::VLV_REQUEST, "vlv control", |value| {
            VlvRequest::decode(value).map(|_| ())
        });

    /// Decodes a control value.
    ///
    /// # Errors
    /// A [`Fault`] for anything but the sequence of the draft; the answer is `protocolError`.
    pub fn decode(value: &'a [u8]) -> Result<Self, Fault> {
        let mut outside = Reader::new(value);
        let mut reader = outside.nested(Tag::SEQUENCE)?;
        outside.end()?;
        let before = number(&mut reader, "beforeCount")?;
        let after = number(&mut reader, "afterCount")?;
        let target = match reader.element()? {
            (BY_OFFSET, content) => {
                let mut reader = Reader::new(content);
                let offset = number(&mut reader, "offset")?;
                let count = number(&mut reader, "contentCount")?;
                reader.skip_extensions()?;
                VlvTarget::Offset { offset, count }
            }
            (BY_VALUE, value) => VlvTarget::AtLeast(value),
            (tag, _) => return Err(Fault::FilterChoice(tag)),
        };
        let context = reader.optional(Tag::OCTET_STRING)?;
        reader.skip_extensions()?;
        Ok(VlvRequest {
            before,
            after,
            target,
            context,
        })
    }

    /// Returns the control value.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        Writer::new(&mut out).container(Tag::SEQUENCE, |writer| {
            writer.integer(i64::from(self.before));
            writer.integer(i64::from(self.after));
            match self.target {
                VlvTarget::Offset { offset, count } => writer.container(BY_OFFSET, |writer| {
                    writer.integer(i64::from(offset));
                    writer.integer(i64::from(count));
                }),
                VlvTarget::AtLeast(value) => writer.primitive(BY_VALUE, value),
            }
            if let Some(context) = self.context {
                writer.octet_string(context);
            }
        });
        out
    }
}

/// The value of the VLV response control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VlvResponse<'a> {
    /// Position of the target, counted from 1.
    pub position: u32,
    /// Length of the list.
    pub count: u32,
    /// The outcome of the view, as a result code.
    pub code: u32,
    /// For the next request.
    pub context: Option<&'a [u8]>,
}

impl<'a> VlvResponse<'a> {
    /// The control's constants.
    pub const KIND: ControlKind =
        ControlKind::with_value(oid::VLV_RESPONSE, "vlv response control", |value| {
            VlvResponse::decode(value).map(|_| ())
        });

    /// Decodes a control value.
    ///
    /// # Errors
    /// A [`Fault`] for anything but the sequence of the draft.
    pub fn decode(value: &'a [u8]) -> Result<Self, Fault> {
        let mut outside = Reader::new(value);
        let mut reader = outside.nested(Tag::SEQUENCE)?;
        outside.end()?;
        let position = number(&mut reader, "targetPosition")?;
        let count = number(&mut reader, "contentCount")?;
        let code = checked(reader.enumerated()?, "virtualListViewResult")?;
        let context = reader.optional(Tag::OCTET_STRING)?;
        reader.skip_extensions()?;
        Ok(VlvResponse {
            position,
            count,
            code,
            context,
        })
    }

    /// Returns the control value.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        Writer::new(&mut out).container(Tag::SEQUENCE, |writer| {
            writer.integer(i64::from(self.position));
            writer.integer(i64::from(self.count));
            writer.enumerated(i64::from(self.code));
            if let Some(context) = self.context {
                writer.octet_string(context);
            }
        });
        out
    }
}

fn number(reader: &mut Reader<'_>, what: &'static str) -> Result<u32, Fault> {
    checked(reader.integer()?, what)
}

fn checked(value: i64, what: &'static str) -> Result<u32, Fault> {
    u32::try_from(value)
        .ok()
        .filter(|&number| number <= i32::MAX.cast_unsigned())
        .ok_or(Fault::OutOfRange { what, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_responses_come_back() {
        let targets = [
            VlvTarget::Offset {
                offset: 77,
                count: 300,
            },
            VlvTarget::AtLeast(b"m"),
        ];
        for target in targets {
            for context in [None, Some(&b"abc"[..])] {
                let request = VlvRequest {
                    before: 0,
                    after: 200,
                    target,
                    context,
                };
                assert_eq!(VlvRequest::decode(&request.encode()), Ok(request));
            }
        }
        let response = VlvResponse {
            position: 3,
            count: 9,
            code: 76,
            context: Some(b"x"),
        };
        assert_eq!(VlvResponse::decode(&response.encode()), Ok(response));
    }

    #[test]
    fn negative_counts_and_unknown_targets_are_refused() {
        let negative = b"\x30\x0e\x02\x01\xff\x02\x01\x00\xa0\x06\x02\x01\x01\x02\x01\x00";
        assert!(matches!(
            VlvRequest::decode(negative),
            Err(Fault::OutOfRange { value: -1, .. })
        ));
        assert!(VlvRequest::decode(b"\x30\x08\x02\x01\x00\x02\x01\x00\x82\x00").is_err());
        assert!(VlvRequest::decode(b"\x30\x06\x02\x01\x00\x02\x01\x00").is_err());
    }
}
