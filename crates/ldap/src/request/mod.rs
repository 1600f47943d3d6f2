//! Requests of a client: one file per operation, with decoding and encoding.

mod add;
mod bind;
mod compare;
mod delete;
mod extended;
mod modify;
mod modify_dn;
mod search;

use fulgurite_ber::{Reader, Tag, Writer};

use crate::message_id::MESSAGE_ID_MAX;
use crate::{Fault, Limits, MessageId, Operation, Values};

pub use add::AddRequest;
pub use bind::{Authentication, BindRequest};
pub use compare::CompareRequest;
pub use delete::DeleteRequest;
pub use extended::ExtendedRequest;
pub use modify::{Change, ModifyOperation, ModifyRequest};
pub use modify_dn::ModifyDnRequest;
pub use search::{Deref, Scope, SearchRequest};

/// A request of any operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request<'a> {
    /// Authenticate (4.2).
    Bind(BindRequest<'a>),
    /// Close the connection (4.3); has no response.
    Unbind,
    /// Read entries (4.5).
    Search(SearchRequest<'a>),
    /// Change an entry's attributes (4.6).
    Modify(ModifyRequest<'a>),
    /// Create an entry (4.7).
    Add(AddRequest<'a>),
    /// Remove an entry (4.8).
    Delete(DeleteRequest<'a>),
    /// Rename or move an entry (4.9).
    ModifyDn(ModifyDnRequest<'a>),
    /// Ask whether an entry has a value (4.10).
    Compare(CompareRequest<'a>),
    /// Forget a request (4.11); has no response. Any number is possible here, also one that
    /// was never used.
    Abandon(MessageId),
    /// Anything else (4.12).
    Extended(ExtendedRequest<'a>),
}

impl<'a> Request<'a> {
    /// Returns the operation of the request.
    #[must_use]
    pub const fn operation(&self) -> Operation {
        match self {
            Request::Bind(_) => Operation::Bind,
            Request::Unbind => Operation::Unbind,
            Request::Search(_) => Operation::Search,
            Request::Modify(_) => Operation::Modify,
            Request::Add(_) => Operation::Add,
            Request::Delete(_) => Operation::Delete,
            Request::ModifyDn(_) => Operation::ModifyDn,
            Request::Compare(_) => Operation::Compare,
            Request::Abandon(_) => Operation::Abandon,
            Request::Extended(_) => Operation::Extended,
        }
    }

    /// Decodes the contents of a protocolOp.
    pub(crate) fn decode(
        operation: Operation,
        content: &'a [u8],
        limits: &Limits,
    ) -> Result<Self, Fault> {
        let mut reader = Reader::new(content);
        let request = match operation {
            Operation::Bind => Request::Bind(BindRequest::decode(&mut reader)?),
            // NULL by the letter; what it contains does not matter to a connection that ends.
            Operation::Unbind => return Ok(Request::Unbind),
            Operation::Search => Request::Search(SearchRequest::decode(&mut reader, limits)?),
            Operation::Modify => Request::Modify(ModifyRequest::decode(&mut reader)?),
            Operation::Add => Request::Add(AddRequest::decode(&mut reader)?),
            Operation::Delete => return Ok(Request::Delete(DeleteRequest { dn: content })),
            Operation::ModifyDn => Request::ModifyDn(ModifyDnRequest::decode(&mut reader)?),
            Operation::Compare => Request::Compare(CompareRequest::decode(&mut reader)?),
            Operation::Abandon => return abandoned(content).map(Request::Abandon),
            Operation::Extended => Request::Extended(ExtendedRequest::decode(&mut reader)?),
        };
        reader.skip_extensions()?;
        Ok(request)
    }

    /// Writes the protocolOp.
    pub(crate) fn encode(&self, writer: &mut Writer<'_>) {
        let tag = self.operation().request_tag();
        match self {
            Request::Bind(bind) => writer.container(tag, |writer| bind.encode(writer)),
            Request::Unbind => writer.primitive(tag, &[]),
            Request::Search(search) => writer.container(tag, |writer| search.encode(writer)),
            Request::Modify(modify) => writer.container(tag, |writer| modify.encode(writer)),
            Request::Add(add) => writer.container(tag, |writer| add.encode(writer)),
            Request::Delete(delete) => writer.primitive(tag, delete.dn),
            Request::ModifyDn(modify_dn) => {
                writer.container(tag, |writer| modify_dn.encode(writer))
            }
            Request::Compare(compare) => writer.container(tag, |writer| compare.encode(writer)),
            Request::Abandon(id) => writer.integer_as(tag, i64::from(*id)),
            Request::Extended(extended) => writer.container(tag, |writer| extended.encode(writer)),
        }
    }
}

fn abandoned(content: &[u8]) -> Result<MessageId, Fault> {
    let number = Reader::integer_of(content)?;
    u32::try_from(number)
        .ok()
        .filter(|&id| id <= MESSAGE_ID_MAX)
        .ok_or(Fault::MessageId(number))
}

/// An attribute description with values, possibly none (RFC 4511 section 4.1.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartialAttribute<'a> {
    /// Type and options, such as `cn;lang-de`.
    pub description: &'a [u8],
    /// The values, in the order they were sent.
    pub values: Values<'a>,
}

impl<'a> PartialAttribute<'a> {
    /// Returns an attribute under construction.
    #[must_use]
    pub const fn new(description: &'a str, values: &'a [&'a [u8]]) -> Self {
        PartialAttribute {
            description: description.as_bytes(),
            values: Values::from_slices(values),
        }
    }

    pub(crate) fn decode(reader: &mut Reader<'a>) -> Result<Self, Fault> {
        let mut attribute = reader.nested(Tag::SEQUENCE)?;
        let description = attribute.octet_string()?;
        let values = Values::decode(attribute.nested(Tag::SET)?, Tag::OCTET_STRING)?;
        attribute.skip_extensions()?;
        Ok(PartialAttribute {
            description,
            values,
        })
    }

    pub(crate) fn encode(&self, writer: &mut Writer<'_>) {
        writer.container(Tag::SEQUENCE, |writer| {
            writer.octet_string(self.description);
            writer.container(Tag::SET, |writer| {
                self.values.encode(writer, Tag::OCTET_STRING)
            });
        });
    }
}
