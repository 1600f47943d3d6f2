//! The scope of a search as the requester states it.

/// Scope of a search (RFC 4511, section 4.5.1.2, and the children scope known from other servers).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The base entry only.
    Base,
    /// Its children.
    OneLevel,
    /// The base entry and everything below.
    Subtree,
    /// Everything below the base entry, without it.
    Subordinates,
}
