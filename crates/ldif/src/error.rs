//! Errors in LDIF text, with their line.

use std::fmt;
use std::io;

/// An error with its place.
#[derive(Debug, thiserror::Error)]
pub struct LdifError {
    /// The file as the caller named it, if it did.
    pub file: Option<String>,
    /// The line, counted from one.
    pub line: u64,
    /// The kind of the error.
    #[source]
    pub kind: LdifErrorKind,
}

impl fmt::Display for LdifError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(out, "{file}, ")?;
        }
        write!(out, "line {}: {}", self.line, self.kind)
    }
}

impl LdifError {
    /// Returns true if the reader can continue with the next record. It always can, unless the
    /// input failed.
    pub fn is_recoverable(&self) -> bool {
        !matches!(self.kind, LdifErrorKind::Read(_))
    }
}

/// The kinds of errors in LDIF text.
#[derive(Debug, thiserror::Error)]
pub enum LdifErrorKind {
    /// The input failed.
    #[error("cannot read on: {0}")]
    Read(#[source] io::Error),
    /// A line that is neither `name: value`, nor a comment, nor a continuation.
    #[error("a line of the form \"name: value\" is wanted; this one has no colon")]
    NoColon,
    /// A name of an attribute with a character that none has.
    #[error("\"{0}\" is no attribute description")]
    Description(String),
    /// A record that does not begin with `dn:`.
    #[error("a record begins with \"dn:\", this one with \"{0}:\"")]
    NoName(String),
    /// `dn:` in the middle of a record.
    #[error("\"dn:\" is inside a record; is the empty line before it missing?")]
    SecondName,
    /// A name that is not UTF-8.
    #[error("the name after \"dn:\" is not UTF-8")]
    NameEncoding,
    /// Invalid base64 after `::`.
    #[error("the text after \"::\" is not base64")]
    Base64,
    /// A continuation line with nothing before it.
    #[error("a line that begins with a space continues the one before it, and there is none")]
    NothingToContinue,
    /// More bytes in one record than allowed.
    #[error("the record is longer than {0} bytes, the most that is allowed")]
    TooLong(usize),
    /// A version other than 1.
    #[error("LDIF version \"{0}\" is not known; there is version 1")]
    Version(String),
    /// `:<` where it is not allowed.
    #[error("values from files (\":<\") are not allowed here")]
    UrlForbidden,
    /// `:<` with something other than a local file.
    #[error("\"{0}\" is not a URL of the form file:///path")]
    Url(String),
    /// A file named after `:<` that cannot be read.
    #[error("cannot read {path}: {cause}")]
    ValueFile {
        /// The file.
        path: String,
        /// The system's reason.
        cause: io::Error,
    },
    /// `changetype:` with an unknown word.
    #[error("\"{0}\" is no changetype; there are add, delete, modify, modrdn and moddn")]
    ChangeType(String),
    /// A control line that does not have the form of one.
    #[error("a control has the form \"control: OID [true|false] [: value]\"")]
    Control,
    /// A control that no changetype follows.
    #[error("a control needs a \"changetype:\" line after it")]
    ControlWithoutChange,
    /// Lines after `changetype: delete`.
    #[error("a deletion has no further lines")]
    AfterDelete,
    /// A line of a modification that is out of place.
    #[error(
        "\"add:\", \"delete:\", \"replace:\" or \"increment:\" with an attribute is wanted, not \"{0}:\""
    )]
    ModificationKind(String),
    /// A value of another attribute within a modification.
    #[error(
        "within the modification of {wanted} a value of {found} is out of place; is the line \"-\" missing?"
    )]
    ModificationValue {
        /// The attribute that is being modified.
        wanted: String,
        /// The one the line names.
        found: String,
    },
    /// A line of a rename that is out of place.
    #[error(
        "a rename has the lines newrdn, deleteoldrdn and, if need be, newsuperior; this is \"{0}:\""
    )]
    Rename(String),
    /// A rename that lacks a line.
    #[error("the rename lacks its line \"{0}:\"")]
    RenameLacks(&'static str),
    /// `deleteoldrdn` with something other than 0 or 1.
    #[error("\"deleteoldrdn:\" is followed by 0 or 1")]
    DeleteOldRdn,
    /// An entry without any attribute.
    #[error("the entry has no attributes")]
    NoAttributes,
}
