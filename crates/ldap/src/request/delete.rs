//! Delete (RFC 4511 section 4.8).

/// A request to remove an entry that has no children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeleteRequest<'a> {
    /// DN text of the entry.
    pub dn: &'a [u8],
}
