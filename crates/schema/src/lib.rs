//! Syntaxes, matching rules, attribute types, object classes; resolved DNs, filters, entries (RFC 4512, 4517-4519).

#![forbid(unsafe_code)]

mod builtin;
mod check;
mod definition;
mod description;
mod dn;
mod entry;
mod filter;
mod matching;
mod oid;
mod prep;
mod registry;
mod syntax;

pub use check::{CheckOptions, CheckedEntry, SchemaViolation, ViolationKind};
pub use description::{AttributeDescription, DescriptionError};
pub use dn::{Ava, Dn, DnError, Rdn, normal_is_under};
pub use entry::{Attribute, Entry};
pub use filter::{Assertion, AttributeSelector, EntrySubject, Filter, FilterSubject, visit_dn};
pub use matching::{InvalidValue, MatchingRule, SubstringAssertion, Truth};
pub use oid::{is_descriptor, is_descriptor_or_oid, is_numeric_oid};
pub use registry::{
    AttributeIndex, AttributeType, Builtin, ClassKind, ObjectClass, ObjectClassIndex, Schema,
    SchemaBuilder, SchemaError, Usage,
};
pub use syntax::{InvalidSyntax, Syntax};
