//! Search (RFC 4511 section 4.5.1).

use fulgurite_ber::{Reader, Tag, Writer};

use crate::{Fault, Filter, Limits};

/// A request for entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRequest<'a> {
    /// DN text of where to begin.
    pub base: &'a [u8],
    /// How far below the base.
    pub scope: Scope,
    /// The aliases to follow.
    pub deref: Deref,
    /// Entries wanted at most; 0 leaves it to the server.
    pub size_limit: u32,
    /// Seconds to spend at most; 0 leaves it to the server.
    pub time_limit_s: u32,
    /// True if only attribute descriptions are wanted, without values.
    pub types_only: bool,
    /// The filter that chooses entries.
    pub filter: Filter<'a>,
    /// The attributes to return: descriptions, `*`, `+`, `1.1`, `@class`. An empty list means all
    /// user attributes.
    pub attributes: Vec<&'a [u8]>,
}

/// How far below the base a search reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The base itself.
    Base,
    /// Its children.
    One,
    /// Itself and everything below.
    Subtree,
    /// Everything below, without itself (draft-sermersheim-ldap-subordinate-scope).
    Children,
}

impl Scope {
    /// Returns the number on the wire.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Scope::Base => 0,
            Scope::One => 1,
            Scope::Subtree => 2,
            Scope::Children => 3,
        }
    }
}

/// When aliases are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Deref {
    /// Never.
    Never,
    /// Below the base, not in finding it.
    Searching,
    /// In finding the base, not below.
    Finding,
    /// Always.
    Always,
}

impl Deref {
    /// Returns the number on the wire.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Deref::Never => 0,
            Deref::Searching => 1,
            Deref::Finding => 2,
            Deref::Always => 3,
        }
    }

    /// Returns true if aliases are followed in finding the base.
    #[must_use]
    pub const fn finding(self) -> bool {
        matches!(self, Deref::Finding | Deref::Always)
    }

    /// Returns true if aliases are followed below the base.
    #[must_use]
    pub const fn searching(self) -> bool {
        matches!(self, Deref::Searching | Deref::Always)
    }
}

impl<'a> SearchRequest<'a> {
    /// Returns a search for all user attributes, without limits and without following aliases.
    #[must_use]
    pub const fn new(base: &'a str, scope: Scope, filter: Filter<'a>) -> Self {
        SearchRequest {
            base: base.as_bytes(),
            scope,
            deref: Deref::Never,
            size_limit: 0,
            time_limit_s: 0,
            types_only: false,
            filter,
            attributes: Vec::new(),
        }
    }

    pub(super) fn decode(reader: &mut Reader<'a>, limits: &Limits) -> Result<Self, Fault> {
        let base = reader.octet_string()?;
        let scope = match reader.enumerated()? {
            0 => Scope::Base,
            1 => Scope::One,
            2 => Scope::Subtree,
            3 => Scope::Children,
            value => {
                return Err(Fault::OutOfRange {
                    what: "scope",
                    value,
                });
            }
        };
        let deref = match reader.enumerated()? {
            0 => Deref::Never,
            1 => Deref::Searching,
            2 => Deref::Finding,
            3 => Deref::Always,
            value => {
                return Err(Fault::OutOfRange {
                    what: "derefAliases",
                    value,
                });
            }
        };
        let size_limit = limit(reader, "sizeLimit")?;
        let time_limit_s = limit(reader, "timeLimit")?;
        let types_only = reader.boolean()?;
        let filter = Filter::decode(reader, limits)?;
        let attributes = selection(reader.nested(Tag::SEQUENCE)?)?;
        Ok(SearchRequest {
            base,
            scope,
            deref,
            size_limit,
            time_limit_s,
            types_only,
            filter,
            attributes,
        })
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>) {
        writer.octet_string(self.base);
        writer.enumerated(i64::from(self.scope.number()));
        writer.enumerated(i64::from(self.deref.number()));
        writer.integer(i64::from(self.size_limit));
        writer.integer(i64::from(self.time_limit_s));
        writer.boolean(self.types_only);
        self.filter.encode(writer);
        writer.container(Tag::SEQUENCE, |writer| {
            for description in &self.attributes {
                writer.octet_string(description);
            }
        });
    }
}

/// Reads an INTEGER (0 .. maxInt).
fn limit(reader: &mut Reader<'_>, what: &'static str) -> Result<u32, Fault> {
    let value = reader.integer()?;
    u32::try_from(value)
        .ok()
        .filter(|&limit| limit <= i32::MAX.cast_unsigned())
        .ok_or(Fault::OutOfRange { what, value })
}

fn selection(mut reader: Reader<'_>) -> Result<Vec<&[u8]>, Fault> {
    let mut attributes = Vec::new();
    while !reader.is_empty() {
        attributes.push(reader.octet_string()?);
    }
    Ok(attributes)
}
