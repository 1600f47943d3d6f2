//! Server-side sorting (RFC 2891).

use fulgurite_ber::{Reader, Tag, Writer};

use super::kind::ControlKind;
use crate::{Fault, oid};

const RULE: Tag = Tag::context(0);
const REVERSE: Tag = Tag::context(1);
const ATTRIBUTE: Tag = Tag::context(0);

/// One key of a sort request: an attribute, and how its values are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortKey<'a> {
    /// Type and options.
    pub attribute: &'a [u8],
    /// Name or OID of an ordering rule; absent, the attribute's own.
    pub rule: Option<&'a [u8]>,
    /// Largest first.
    pub reverse: bool,
}

/// The value of the sort request control: keys, the most significant first. At least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortRequest<'a> {
    /// The keys.
    pub keys: Vec<SortKey<'a>>,
}

impl<'a> SortRequest<'a> {
    /// The control's constants.
    pub const KIND: ControlKind =
        ControlKind::with_value(oid::SORT_REQUEST, "sorted results control", |value| {
            SortRequest::decode(value).map(|_| ())
        });

    /// Decodes a control value.
    ///
    /// # Errors
    /// A [`Fault`] for anything but the sequence of RFC 2891, also for an empty list; the answer is
    /// `protocolError`.
    pub fn decode(value: &'a [u8]) -> Result<Self, Fault> {
        let mut outside = Reader::new(value);
        let mut list = outside.nested(Tag::SEQUENCE)?;
        outside.end()?;
        let mut keys = Vec::new();
        while !list.is_empty() {
            keys.push(SortKey::decode(&mut list)?);
        }
        if keys.is_empty() {
            return Err(Fault::Empty("sort key list"));
        }
        Ok(SortRequest { keys })
    }

    /// Returns the control value.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        Writer::new(&mut out).container(Tag::SEQUENCE, |writer| {
            self.keys.iter().for_each(|key| key.encode(writer));
        });
        out
    }
}

impl<'a> SortKey<'a> {
    fn decode(list: &mut Reader<'a>) -> Result<Self, Fault> {
        let mut key = list.nested(Tag::SEQUENCE)?;
        let attribute = key.octet_string()?;
        if attribute.is_empty() {
            return Err(Fault::Empty("attribute of a sort key"));
        }
        let rule = key.optional(RULE)?;
        let reverse = match key.optional(REVERSE)? {
            Some(content) => Reader::boolean_of(content)?,
            None => false,
        };
        key.skip_extensions()?;
        Ok(SortKey {
            attribute,
            rule,
            reverse,
        })
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        writer.container(Tag::SEQUENCE, |writer| {
            writer.octet_string(self.attribute);
            if let Some(rule) = self.rule {
                writer.primitive(RULE, rule);
            }
            if self.reverse {
                writer.boolean_as(REVERSE, true);
            }
        });
    }
}

/// The value of the sort response control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortResponse<'a> {
    /// The outcome of sorting, a result code of those that RFC 2891 lists.
    pub code: u32,
    /// The first attribute that is to blame.
    pub attribute: Option<&'a [u8]>,
}

impl<'a> SortResponse<'a> {
    /// The control's constants.
    pub const KIND: ControlKind = ControlKind::with_value(
        oid::SORT_RESPONSE,
        "sorted results response control",
        |value| SortResponse::decode(value).map(|_| ()),
    );

    /// Decodes a control value.
    ///
    /// # Errors
    /// A [`Fault`] for anything but the sequence of RFC 2891.
    pub fn decode(value: &'a [u8]) -> Result<Self, Fault> {
        let mut outside = Reader::new(value);
        let mut reader = outside.nested(Tag::SEQUENCE)?;
        outside.end()?;
        let number = reader.enumerated()?;
        let code = u32::try_from(number).map_err(|_| Fault::OutOfRange {
            what: "sort result",
            value: number,
        })?;
        let attribute = reader.optional(ATTRIBUTE)?;
        reader.skip_extensions()?;
        Ok(SortResponse { code, attribute })
    }

    /// Returns the control value.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        Writer::new(&mut out).container(Tag::SEQUENCE, |writer| {
            writer.enumerated(i64::from(self.code));
            if let Some(attribute) = self.attribute {
                writer.primitive(ATTRIBUTE, attribute);
            }
        });
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_responses_come_back() {
        let request = SortRequest {
            keys: vec![
                SortKey {
                    attribute: b"sn",
                    rule: None,
                    reverse: false,
                },
                SortKey {
                    attribute: b"cn;lang-de",
                    rule: Some(b"2.5.13.3"),
                    reverse: true,
                },
            ],
        };
        let value = request.encode();
        assert_eq!(SortRequest::decode(&value), Ok(request));
        for attribute in [None, Some(&b"sn"[..])] {
            let response = SortResponse {
                code: 16,
                attribute,
            };
            assert_eq!(SortResponse::decode(&response.encode()), Ok(response));
        }
    }

    #[test]
    fn a_malformed_list_of_keys_is_refused() {
        assert_eq!(
            SortRequest::decode(b"\x30\x00"),
            Err(Fault::Empty("sort key list"))
        );
        assert!(SortRequest::decode(b"\x30\x04\x30\x02\x04\x00").is_err());
        assert!(SortRequest::decode(b"\x30\x05\x30\x03\x04\x01a\x00").is_err());
        assert!(SortRequest::decode(b"").is_err());
        assert!(SortRequest::decode(b"\x30\x05\x30\x03\x04\x01a").is_ok());
    }
}
