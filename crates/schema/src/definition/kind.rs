//! Kinds of attribute types and object classes, as descriptions name them.

/// The use of an attribute (RFC 4512, section 4.1.2, USAGE).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Usage {
    /// User data.
    #[default]
    UserApplications,
    /// Operational, replicated with the entry.
    DirectoryOperation,
    /// Operational, shared between servers.
    DistributedOperation,
    /// Operational, of one server.
    DsaOperation,
}

/// Kind of an object class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClassKind {
    /// Only there to be derived from.
    Abstract,
    /// The kind of thing that an entry describes; exactly one chain per entry.
    #[default]
    Structural,
    /// An addition to an entry.
    Auxiliary,
}
