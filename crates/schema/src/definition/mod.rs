//! Schema definitions as written: parsed, not resolved (RFC 4512, section 4.1).
//!
//! ```text
//!   a .schema file ─> file ─┐
//!   LDIF ───────────> ldif ─┴─> Statement ─> source ─> parse (words by lexer) ─> text ─> display
//! ```

mod display;
mod file;
mod kind;
mod ldif;
mod lexer;
mod parse;
mod source;
mod statement;
mod text;

pub use kind::{ClassKind, Usage};
pub(crate) use parse::Macros;
pub(crate) use source::{SourceContents, parse_source, parse_statement};
pub(crate) use statement::Statement;
pub(crate) use text::{
    AttributeTypeText, Body, ContentRuleText, Definition, Head, Location, NameFormText,
    ObjectClassText, Origin, StructureRuleText, SyntaxText,
};
