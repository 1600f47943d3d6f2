//! The envelope of a request (RFC 4511 section 4.1.1).

use fulgurite_ber::{Malformed, Reader, Tag};

use crate::{Controls, DecodeError, Fault, Limits, MESSAGE_ID_MAX, MessageId, Operation, Request};

/// A request as a server receives it, borrowed from its PDU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message<'a> {
    /// The client's name for this request; never 0.
    pub id: MessageId,
    /// The request.
    pub request: Request<'a>,
    /// How it is asked.
    pub controls: Controls<'a>,
}

impl<'a> Message<'a> {
    /// Decodes one PDU, as [`crate::frame`] delimits it.
    ///
    /// A search allocates its list of attributes and the vectors of `and` and `or`. A modify
    /// allocates its list of changes, an add its list of attributes. Everything else is borrowed.
    ///
    /// # Errors
    /// [`DecodeError::Envelope`] if there is nothing to answer to, otherwise [`DecodeError::Body`].
    pub fn decode(pdu: &'a [u8], limits: &Limits) -> Result<Message<'a>, DecodeError> {
        let envelope = Envelope::open(pdu).map_err(DecodeError::Envelope)?;
        let id = match envelope.id {
            0 => return Err(DecodeError::Envelope(Fault::MessageId(0))),
            id => id,
        };
        let operation = Operation::from_request_tag(envelope.tag)
            .ok_or(DecodeError::Envelope(Fault::UnknownOperation(envelope.tag)))?;
        let body = |fault| DecodeError::Body {
            id,
            operation,
            fault,
        };
        let request = Request::decode(operation, envelope.content, limits).map_err(body)?;
        let controls = Controls::decode(envelope.rest).map_err(body)?;
        Ok(Message {
            id,
            request,
            controls,
        })
    }
}

/// Returns the message id of a PDU, request or response, without a look at the rest of it.
#[must_use]
pub fn peek_message_id(pdu: &[u8]) -> Option<MessageId> {
    Envelope::open(pdu).ok().map(|envelope| envelope.id)
}

/// The outside of any LDAPMessage.
pub(crate) struct Envelope<'a> {
    pub(crate) id: MessageId,
    pub(crate) tag: Tag,
    /// Contents of the protocolOp.
    pub(crate) content: &'a [u8],
    /// The rest of the message: controls and extensions.
    pub(crate) rest: Reader<'a>,
}

impl<'a> Envelope<'a> {
    pub(crate) fn open(pdu: &'a [u8]) -> Result<Self, Fault> {
        let mut outside = Reader::new(pdu);
        let mut rest = outside.nested(Tag::SEQUENCE)?;
        if !outside.is_empty() {
            return Err(Malformed::TrailingBytes(outside.remaining().len()).into());
        }
        let number = rest.integer()?;
        let id = u32::try_from(number)
            .ok()
            .filter(|&id| id <= MESSAGE_ID_MAX)
            .ok_or(Fault::MessageId(number))?;
        let (tag, content) = rest.element()?;
        Ok(Envelope {
            id,
            tag,
            content,
            rest,
        })
    }
}
