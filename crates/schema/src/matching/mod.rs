//! Matching rules (RFC 4517, section 4).
//!
//! ```text
//!   table.rs     one row for each rule: OID, name, syntax, functions
//!      |
//!   rule.rs      MatchingRule: normalise, matches, compare, substring_matches
//!      |
//!   text numbers time oids names certificate octet_string
//!      |         one file for each family of rules, each with the Form that its rules share
//!   form.rs      Form: functions from values and assertions to comparable bytes
//! ```
//! A rule asks a schema about names through [`NameResolver`] alone, so rules do not depend on the
//! registry.

mod approximate;
mod certificate;
mod der;
mod form;
mod invalid;
mod names;
mod needle;
mod numbers;
mod octet_string;
mod oids;
mod places;
mod prepare;
mod resolver;
mod rule;
mod substring;
mod table;
mod text;
mod time;
mod truth;

pub use approximate::ApproximateAssertion;
pub use invalid::InvalidValue;
pub use resolver::NameResolver;
pub use rule::{IN_CHAIN, MatchingRule};
pub use substring::SubstringAssertion;
pub use truth::Truth;

pub(crate) use der::{is_certificate, is_certificate_list, is_private_key};
pub(crate) use names::split_uid;
pub(crate) use numbers::{is_bit_string, is_integer, is_uuid};
pub(crate) use oids::first_component;
pub(crate) use prepare::{AsciiProfile, Case};
pub(crate) use rule::RuleKind;
pub(crate) use text::{is_postal_address, is_printable};
pub(crate) use time::{is_csn, is_generalized_time};
