//! Responses of a server, decoded for clients (RFC 4511 sections 4.2.2, 4.5.2, 4.12, 4.13).

use fulgurite_ber::{Reader, Tag};

use crate::message::Envelope;
use crate::operation::{EXTENDED_RESPONSE, INTERMEDIATE, SEARCH_ENTRY, SEARCH_REFERENCE};
use crate::{
    Controls, DecodeError, Fault, LdapResult, MessageId, Operation, PartialAttribute, Values,
};

/// A response as a client receives it, borrowed from its PDU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseMessage<'a> {
    /// The request it belongs to; 0 for unsolicited notifications.
    pub id: MessageId,
    /// The response.
    pub response: Response<'a>,
    /// The controls of the response.
    pub controls: Controls<'a>,
}

/// A response of any operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Response<'a> {
    /// The bind's result.
    Bind {
        /// The result.
        result: LdapResult,
        /// The SASL mechanism's message.
        server_credentials: Option<&'a [u8]>,
    },
    /// An entry found.
    SearchEntry(SearchEntry<'a>),
    /// A part of the search to be continued elsewhere: LDAP URLs.
    SearchReference(Values<'a>),
    /// The search's result.
    SearchDone(LdapResult),
    /// The modify's result.
    Modify(LdapResult),
    /// The add's result.
    Add(LdapResult),
    /// The delete's result.
    Delete(LdapResult),
    /// The modify DN's result.
    ModifyDn(LdapResult),
    /// The compare's result.
    Compare(LdapResult),
    /// The extended operation's result, or an unsolicited notification.
    Extended {
        /// The result.
        result: LdapResult,
        /// OID of the operation as dotted text, if the server names it.
        name: Option<&'a [u8]>,
        /// The value that the operation returns.
        value: Option<&'a [u8]>,
    },
    /// Something on the way to a result.
    Intermediate {
        /// OID of its kind as dotted text.
        name: Option<&'a [u8]>,
        /// Its value.
        value: Option<&'a [u8]>,
    },
}

/// An entry as a search returns it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchEntry<'a> {
    /// DN text.
    pub dn: &'a [u8],
    /// The attributes that were asked for and may be seen.
    pub attributes: Vec<PartialAttribute<'a>>,
}

impl<'a> ResponseMessage<'a> {
    /// Decodes one PDU.
    ///
    /// # Errors
    /// [`DecodeError`]; a client cannot do much but close, in either case.
    pub fn decode(pdu: &'a [u8]) -> Result<Self, DecodeError> {
        let envelope = Envelope::open(pdu).map_err(DecodeError::Envelope)?;
        let operation = match envelope.tag {
            SEARCH_ENTRY | SEARCH_REFERENCE => Some(Operation::Search),
            INTERMEDIATE => Some(Operation::Extended),
            tag => Operation::from_result_tag(tag),
        }
        .ok_or(DecodeError::Envelope(Fault::UnknownOperation(envelope.tag)))?;
        let id = envelope.id;
        let body = |fault| DecodeError::Body {
            id,
            operation,
            fault,
        };
        let response = Response::decode(envelope.tag, operation, envelope.content).map_err(body)?;
        let controls = Controls::decode(envelope.rest).map_err(body)?;
        Ok(ResponseMessage {
            id,
            response,
            controls,
        })
    }
}

impl<'a> Response<'a> {
    /// Returns the result, if this response ends its operation.
    #[must_use]
    pub const fn result(&self) -> Option<&LdapResult> {
        match self {
            Response::Bind { result, .. }
            | Response::SearchDone(result)
            | Response::Modify(result)
            | Response::Add(result)
            | Response::Delete(result)
            | Response::ModifyDn(result)
            | Response::Compare(result)
            | Response::Extended { result, .. } => Some(result),
            Response::SearchEntry(_)
            | Response::SearchReference(_)
            | Response::Intermediate { .. } => None,
        }
    }

    fn decode(tag: Tag, operation: Operation, content: &'a [u8]) -> Result<Self, Fault> {
        let mut reader = Reader::new(content);
        let response = match tag {
            SEARCH_ENTRY => Response::SearchEntry(SearchEntry::decode(&mut reader)?),
            SEARCH_REFERENCE => return references(reader),
            INTERMEDIATE => Response::Intermediate {
                name: reader.optional(Tag::context(0))?,
                value: reader.optional(Tag::context(1))?,
            },
            _ => Self::with_result(tag, operation, &mut reader)?,
        };
        reader.skip_extensions()?;
        Ok(response)
    }

    fn with_result(tag: Tag, operation: Operation, reader: &mut Reader<'a>) -> Result<Self, Fault> {
        let result = LdapResult::decode(reader)?;
        Ok(match operation {
            Operation::Bind => Response::Bind {
                result,
                server_credentials: reader.optional(Tag::context(7))?,
            },
            Operation::Search => Response::SearchDone(result),
            Operation::Modify => Response::Modify(result),
            Operation::Add => Response::Add(result),
            Operation::Delete => Response::Delete(result),
            Operation::ModifyDn => Response::ModifyDn(result),
            Operation::Compare => Response::Compare(result),
            Operation::Extended => {
                debug_assert_eq!(tag, EXTENDED_RESPONSE);
                Response::Extended {
                    result,
                    name: reader.optional(Tag::context(10))?,
                    value: reader.optional(Tag::context(11))?,
                }
            }
            Operation::Unbind | Operation::Abandon => return Err(Fault::UnknownOperation(tag)),
        })
    }
}

fn references(reader: Reader<'_>) -> Result<Response<'_>, Fault> {
    let urls = Values::decode(reader, Tag::OCTET_STRING)?;
    if urls.is_empty() {
        Err(Fault::Empty("SearchResultReference"))
    } else {
        Ok(Response::SearchReference(urls))
    }
}

impl<'a> SearchEntry<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, Fault> {
        let dn = reader.octet_string()?;
        let mut list = reader.nested(Tag::SEQUENCE)?;
        let mut attributes = Vec::new();
        while !list.is_empty() {
            attributes.push(PartialAttribute::decode(&mut list)?);
        }
        Ok(SearchEntry { dn, attributes })
    }
}
