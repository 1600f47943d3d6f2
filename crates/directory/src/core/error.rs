//! Errors of opening a directory.

use fulgurite_access::RuleError;
use fulgurite_policy::Sourced;
use fulgurite_schema::DnError;
use fulgurite_store::StoreError;
use thiserror::Error;

/// The reason why a directory cannot be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// Two databases share a suffix.
    #[error("the suffix {0:?} is that of two databases")]
    SameSuffix(String),
    /// A subordinate database has no database above it.
    #[error("the database {0:?} is subordinate, but no other database has a suffix above it")]
    NoSuperior(String),
    /// The root's name is not a DN.
    #[error("root DN {dn:?}: {source}")]
    RootDn {
        /// The text of the configuration.
        dn: String,
        /// The reason.
        source: DnError,
    },
    /// The selector of a limits rule cannot be parsed.
    #[error("{origin}: limits for {who:?}: {reason}")]
    Limits {
        /// The place in the configuration.
        origin: String,
        /// The selector.
        who: String,
        /// The reason.
        reason: String,
    },
    /// The default search base is not a DN.
    #[error("default search base {dn:?}: {source}")]
    SearchBase {
        /// The text of the configuration.
        dn: String,
        /// The reason.
        source: DnError,
    },
    /// An access rule cannot be parsed.
    #[error(transparent)]
    Access(#[from] RuleError),
    /// An overlay that the server must not ignore, or one with a wrong directive.
    #[error("{}: {}", .0.origin, .0.value)]
    Overlay(Sourced<String>),
    /// The log of changes of a database cannot be read or written.
    #[error("log of changes: {0}")]
    Changes(#[source] StoreError),
    /// The log of operations cannot be opened.
    #[error("log of operations: {0}")]
    Operations(#[source] fulgurite_store::OpenError),
    /// The schema lacks an attribute type that the operations need.
    #[error("the schema does not define {0}, which the server needs")]
    SchemaLacks(&'static str),
}
