//! The operations of RFC 4511 section 4 and their tags.

use std::fmt;

use fulgurite_ber::Tag;

/// One kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Bind (4.2).
    Bind,
    /// Unbind (4.3); has no response.
    Unbind,
    /// Search (4.5); its result is SearchResultDone.
    Search,
    /// Modify (4.6).
    Modify,
    /// Add (4.7).
    Add,
    /// Delete (4.8).
    Delete,
    /// Modify DN (4.9).
    ModifyDn,
    /// Compare (4.10).
    Compare,
    /// Abandon (4.11); has no response.
    Abandon,
    /// Extended (4.12).
    Extended,
}

pub(crate) const SEARCH_ENTRY: Tag = Tag(0x64);
pub(crate) const SEARCH_REFERENCE: Tag = Tag(0x73);
pub(crate) const EXTENDED_RESPONSE: Tag = Tag(0x78);
pub(crate) const INTERMEDIATE: Tag = Tag(0x79);

impl Operation {
    /// Every operation.
    pub const ALL: [Operation; 10] = [
        Operation::Bind,
        Operation::Unbind,
        Operation::Search,
        Operation::Modify,
        Operation::Add,
        Operation::Delete,
        Operation::ModifyDn,
        Operation::Compare,
        Operation::Abandon,
        Operation::Extended,
    ];

    /// Returns the tag of the request.
    #[must_use]
    pub const fn request_tag(self) -> Tag {
        match self {
            Operation::Bind => Tag(0x60),
            Operation::Unbind => Tag(0x42),
            Operation::Search => Tag(0x63),
            Operation::Modify => Tag(0x66),
            Operation::Add => Tag(0x68),
            Operation::Delete => Tag(0x4a),
            Operation::ModifyDn => Tag(0x6c),
            Operation::Compare => Tag(0x6e),
            Operation::Abandon => Tag(0x50),
            Operation::Extended => Tag(0x77),
        }
    }

    /// Returns the operation whose request carries `tag`.
    #[must_use]
    pub const fn from_request_tag(tag: Tag) -> Option<Operation> {
        Some(match tag.0 {
            0x60 => Operation::Bind,
            0x42 => Operation::Unbind,
            0x63 => Operation::Search,
            0x66 => Operation::Modify,
            0x68 => Operation::Add,
            0x4a => Operation::Delete,
            0x6c => Operation::ModifyDn,
            0x6e => Operation::Compare,
            0x50 => Operation::Abandon,
            0x77 => Operation::Extended,
            _ => return None,
        })
    }

    /// Returns the tag of the response that carries the result; none for unbind and abandon.
    #[must_use]
    pub const fn result_tag(self) -> Option<Tag> {
        Some(match self {
            Operation::Bind => Tag(0x61),
            Operation::Search => Tag(0x65),
            Operation::Modify => Tag(0x67),
            Operation::Add => Tag(0x69),
            Operation::Delete => Tag(0x6b),
            Operation::ModifyDn => Tag(0x6d),
            Operation::Compare => Tag(0x6f),
            Operation::Extended => EXTENDED_RESPONSE,
            Operation::Unbind | Operation::Abandon => return None,
        })
    }

    /// Returns the operation that a response with `tag` ends.
    #[must_use]
    pub const fn from_result_tag(tag: Tag) -> Option<Operation> {
        Some(match tag.0 {
            0x61 => Operation::Bind,
            0x65 => Operation::Search,
            0x67 => Operation::Modify,
            0x69 => Operation::Add,
            0x6b => Operation::Delete,
            0x6d => Operation::ModifyDn,
            0x6f => Operation::Compare,
            0x78 => Operation::Extended,
            _ => return None,
        })
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operation::Bind => "bind",
            Operation::Unbind => "unbind",
            Operation::Search => "search",
            Operation::Modify => "modify",
            Operation::Add => "add",
            Operation::Delete => "delete",
            Operation::ModifyDn => "modify DN",
            Operation::Compare => "compare",
            Operation::Abandon => "abandon",
            Operation::Extended => "extended",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_name_their_operations() {
        for operation in Operation::ALL {
            assert_eq!(
                Operation::from_request_tag(operation.request_tag()),
                Some(operation)
            );
            if let Some(tag) = operation.result_tag() {
                assert_eq!(Operation::from_result_tag(tag), Some(operation));
                assert_eq!(Operation::from_request_tag(tag), None);
            }
        }
    }
}
