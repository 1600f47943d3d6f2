//! The schema as the server publishes it (RFC 4512, section 4.2).
//!
//! - `element`: one description, read from its text
//! - `names`: all descriptions by name, and the attributes that classes allow
//! - `shared`: one schema in memory for all sessions

mod element;
mod names;
mod shared;

pub(crate) use element::{ElementKind, SchemaElement};
pub(crate) use names::{ClassAttributes, SchemaNames};
pub(crate) use shared::SharedSchema;
