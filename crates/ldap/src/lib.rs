//! LDAP messages, filters, controls, URLs and DN text (RFC 4511, 4514-4516).
//!
//! Bytes become borrowed structures, and structures become bytes. Both directions are here: the
//! server reads requests and writes responses, and the client does the opposite.
//!
//! ```text
//!                 frame(bytes, limit)          Message::decode(pdu, limits)
//!   socket bytes ---------------------> pdu ---------------------------------> Message<'pdu>
//!                  how long is it?                                               id
//!                                                                                request: Request<'pdu>
//!                  encode::search_entry(out, id)                                 controls: Controls<'pdu>
//!   write buffer <---------------------------- dn, attribute, value ...
//! ```
//!
//! Nothing in a decoded message is copied. Names and values are slices of the PDU, and lists of
//! values stay encoded until they are iterated ([`Values`], [`Controls`]). Entries are encoded
//! straight into the write buffer.
//!
//! This crate has no socket, no session and no schema. An attribute description is a slice of bytes
//! here, and a DN is text split into its parts. Meaning begins in `fulgurite-schema`.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::unwrap_used))]

mod access_query;
mod content_change;
pub mod control;
pub mod dn;
pub mod encode;
mod error;
mod extended;
mod filter;
mod frame;
mod limits;
mod message;
mod message_id;
pub mod oid;
mod operation;
mod request;
mod response;
mod result;
mod transaction;
mod update;
mod url;
mod values;

pub use access_query::{AccessQuery, AccessStep, PartAccess, decode_access, encode_access};
pub use content_change::{
    ContentAttribute, ContentChange, ContentEntry, EntryPlace, LoggedKind, LoggedOperation,
};
pub use control::{Control, Controls};
pub use error::{DecodeError, Fault};
pub use extended::{
    CancelRequest, PasswordModifyRequest, generated_password, read_generated_password,
};
pub use filter::{
    Assertion, Extensible, FILTER_DEPTH_CEILING, Filter, FilterBuf, FilterTextError, Junction,
    Step, Substrings, Walk,
};
pub use frame::{FrameError, frame};
pub use limits::Limits;
pub use message::{Message, RequestEnvelope, peek_message_id};
pub use message_id::{MESSAGE_ID_MAX, MessageId};
pub use operation::Operation;
pub use request::{
    AddRequest, Authentication, BindRequest, Change, CompareRequest, DeleteRequest, Deref,
    ExtendedRequest, ModifyDnRequest, ModifyOperation, ModifyRequest, PartialAttribute, Request,
    Scope, SearchRequest,
};
pub use response::{Response, ResponseMessage, SearchEntry};
pub use result::{LdapResult, ResultCode};
pub use transaction::{EndTransaction, failed_update};
pub use update::UpdateBuf;
pub use url::{LdapUrl, Scheme, UrlError, UrlExtension};
pub use values::{Values, ValuesIter};
