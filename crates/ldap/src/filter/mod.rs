//! Search filters: the tree (RFC 4511 section 4.5.1.7) and its text (RFC 4515).
//!
//! A [`Filter`] borrows from its encoding. Filters from text have no encoding, so [`FilterBuf`]
//! makes one:
//!
//! ```
//! use fulgurite_ldap::{Filter, FilterBuf};
//!
//! let text: FilterBuf = "(&(objectClass=person)(cn=b*s))".parse()?;
//! let Filter::And(parts) = text.filter() else { panic!() };
//! assert_eq!(parts[1].to_string(), "(cn=b*s)");
//! # Ok::<(), fulgurite_ldap::FilterTextError>(())
//! ```
//!
//! Nothing here recurses but the compiler's own `Drop`, `Clone` and `PartialEq`.
//! [`FILTER_DEPTH_CEILING`] bounds these, and every way to make a filter from outside data observes
//! it.

mod buf;
mod decode;
mod encode;
mod parse;
mod print;
mod tree;
mod walk;

pub use buf::FilterBuf;
pub use parse::FilterTextError;
pub use tree::{Assertion, Extensible, FILTER_DEPTH_CEILING, Filter, Substrings};
pub use walk::{Junction, Step, Walk};

use fulgurite_ber::Tag;

const AND: Tag = Tag::context(0).constructed();
const OR: Tag = Tag::context(1).constructed();
const NOT: Tag = Tag::context(2).constructed();
const EQUALITY: Tag = Tag::context(3).constructed();
const SUBSTRINGS: Tag = Tag::context(4).constructed();
const GREATER_OR_EQUAL: Tag = Tag::context(5).constructed();
const LESS_OR_EQUAL: Tag = Tag::context(6).constructed();
const PRESENT: Tag = Tag::context(7);
const APPROXIMATE: Tag = Tag::context(8).constructed();
const EXTENSIBLE: Tag = Tag::context(9).constructed();

const INITIAL: Tag = Tag::context(0);
const ANY: Tag = Tag::context(1);
const FINAL: Tag = Tag::context(2);

const RULE: Tag = Tag::context(1);
const TYPE: Tag = Tag::context(2);
const MATCH_VALUE: Tag = Tag::context(3);
const DN_ATTRIBUTES: Tag = Tag::context(4);
