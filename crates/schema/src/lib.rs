//! Syntaxes, matching rules, attribute types, object classes; resolved DNs, filters, entries (RFC
//! 4512, 4517-4519).
//!
//! `fulgurite-ldap` reads syntax: an attribute is a word, a DN a text, a filter a tree of words.
//! This crate resolves the words, as a compiler resolves names, and everything above it works with
//! the result.
//!
//! ```text
//!   built-in definitions ─┐
//!   .schema files ────────┴─> SchemaBuilder ──> Schema   (immutable, shared)
//!                                                 │
//!   "cn;lang-de" ──> AttributeDescription <───────┤   type number + options
//!   "UID=a, DC=b" ─> Dn <─────────────────────────┤   normal form for keys, pretty form for clients
//!   ldap::Filter ──> Filter<AttributeSelector> <──┤   assertion values normalised, nonsense Undefined
//!   Entry ─────────> CheckedEntry <───────────────┘   or a SchemaViolation
//! ```
//!
//! A [`MatchingRule`] turns a value into a *normal form*. Equal values have equal bytes, and the
//! order of bytes is the rule's order. The same bytes are index keys in the store. Plain ASCII is
//! compared without making them.
//!
//! The crate parses no messages (`fulgurite-ldap` does), stores nothing, and decides nothing about
//! access. Numbers of types and classes hold for one [`Schema`] value and are never written to
//! disk.

#![forbid(unsafe_code)]

mod builtin;
mod calendar;
mod check;
mod definition;
mod description;
mod dn;
mod entry;
mod filter;
mod matching;
mod name_resolver;
mod oid;
mod pretty;
mod registry;
mod syntax;

pub use builtin::Builtin;
pub use calendar::{civil_from_days, days_from_civil};
pub use check::{CheckOptions, CheckedEntry, SchemaViolation, ViolationKind};
pub use definition::{ClassKind, Usage};
pub use description::{AttributeDescription, DescriptionError};
pub use dn::{Ava, Dn, DnError, Rdn, SiblingNames, normal_is_under};
pub use entry::{Attribute, Entry};
pub use filter::{Assertion, AttributeSelector, EntrySubject, Filter, FilterSubject, visit_dn};
pub use matching::{
    ApproximateAssertion, IN_CHAIN, InvalidValue, MatchingRule, NameResolver, SubstringAssertion,
    Truth,
};
pub use oid::{is_descriptor, is_descriptor_or_oid, is_numeric_oid};
pub use registry::{
    AttributeIndex, AttributeType, ObjectClass, ObjectClassIndex, Schema, SchemaBuilder,
    SchemaError,
};
pub use syntax::{InvalidSyntax, Syntax};
