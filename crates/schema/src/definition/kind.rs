//! Kinds of attribute types and object classes, as descriptions name them.

/// What an attribute is for (RFC 4512, section 4.1.2, USAGE).
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
    /// What an entry is; exactly one chain per entry.
    #[default]
    Structural,
    /// What an entry has in addition.
    Auxiliary,
}
