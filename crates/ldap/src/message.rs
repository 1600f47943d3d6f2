//! The envelope of a request (RFC 4511 section 4.1.1).

use fulgurite_ber::{Malformed, Reader, Tag};

use crate::{
    Controls, DecodeError, ExtendedRequest, Fault, Limits, MESSAGE_ID_MAX, MessageId, Operation,
    Request,
};

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
        RequestEnvelope::open(pdu)?.decode(pdu, limits)
    }
}

/// The envelope of a request whose body is not decoded yet.
///
/// It borrows nothing, so a request may wait with it. Decoding consumes it, and it has no copy. So
/// the body of a PDU is decoded once:
///
/// ```
/// # use fulgurite_ldap::{Limits, RequestEnvelope};
/// let unbind = b"\x30\x05\x02\x01\x01\x42\x00";
/// let envelope = RequestEnvelope::open(unbind)?;
/// let message = envelope.decode(unbind, &Limits::default())?;
/// assert_eq!(message.id, 1);
/// # Ok::<(), fulgurite_ldap::DecodeError>(())
/// ```
///
/// ```compile_fail,E0382
/// # use fulgurite_ldap::{Limits, RequestEnvelope};
/// let unbind = b"\x30\x05\x02\x01\x01\x42\x00";
/// let envelope = RequestEnvelope::open(unbind)?;
/// let message = envelope.decode(unbind, &Limits::default())?;
/// let again = envelope.decode(unbind, &Limits::default())?;
/// # Ok::<(), fulgurite_ldap::DecodeError>(())
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct RequestEnvelope {
    /// The client's name for this request; never 0.
    pub id: MessageId,
    /// The operation of the request.
    pub operation: Operation,
    /// Length of the protocolOp's contents in bytes.
    content_len: usize,
    /// Length of the rest of the PDU in bytes: controls and extensions.
    rest_len: usize,
}

impl RequestEnvelope {
    /// Reads the envelope of one PDU, as [`crate::frame`] delimits it.
    ///
    /// # Errors
    /// [`DecodeError::Envelope`]; there is nothing to answer to.
    pub fn open(pdu: &[u8]) -> Result<RequestEnvelope, DecodeError> {
        let envelope = Envelope::open(pdu).map_err(DecodeError::Envelope)?;
        let id = match envelope.id {
            0 => return Err(DecodeError::Envelope(Fault::MessageId(0))),
            id => id,
        };
        let operation = Operation::from_request_tag(envelope.tag)
            .ok_or(DecodeError::Envelope(Fault::UnknownOperation(envelope.tag)))?;
        Ok(RequestEnvelope {
            id,
            operation,
            content_len: envelope.content.len(),
            rest_len: envelope.rest.remaining().len(),
        })
    }

    /// Returns the OID of an extended request; `pdu` is that of [`RequestEnvelope::open`].
    #[must_use]
    pub fn extended_oid<'a>(&self, pdu: &'a [u8]) -> Option<&'a [u8]> {
        if self.operation != Operation::Extended {
            return None;
        }
        let (content, _) = self.parts(pdu);
        let mut reader = Reader::new(content);
        ExtendedRequest::decode_oid(&mut reader).ok()
    }

    /// Decodes the body; `pdu` is that of [`RequestEnvelope::open`].
    ///
    /// # Errors
    /// [`DecodeError::Body`] for a malformed operation or control.
    pub fn decode<'a>(self, pdu: &'a [u8], limits: &Limits) -> Result<Message<'a>, DecodeError> {
        let (content, rest) = self.parts(pdu);
        let RequestEnvelope { id, operation, .. } = self;
        let body = |fault| DecodeError::Body {
            id,
            operation,
            fault,
        };
        let request = Request::decode(operation, content, limits).map_err(body)?;
        let controls = Controls::decode(Reader::new(rest)).map_err(body)?;
        Ok(Message {
            id,
            request,
            controls,
        })
    }

    /// Returns the contents of the protocolOp, and the rest up to the end of the PDU.
    fn parts<'a>(&self, pdu: &'a [u8]) -> (&'a [u8], &'a [u8]) {
        let (before, rest) = split_end(pdu, self.rest_len);
        let (_, content) = split_end(before, self.content_len);
        (content, rest)
    }
}

/// Splits the last `len` bytes off.
fn split_end(bytes: &[u8], len: usize) -> (&[u8], &[u8]) {
    debug_assert!(len <= bytes.len(), "the PDU is another one");
    bytes.split_at(bytes.len().saturating_sub(len))
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
