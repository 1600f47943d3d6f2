//! Errors of opening a directory.

use fulgurite_access::RuleError;
use fulgurite_schema::DnError;
use thiserror::Error;

/// Why a directory cannot be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// Two databases have a suffix in common.
    #[error("the suffix {0:?} is that of two databases")]
    SameSuffix(String),
    /// A subordinate database has no database above it.
    #[error("the database {0:?} is subordinate, but no other database has a suffix above it")]
    NoSuperior(String),
    /// The root's name is no name.
    #[error("root DN {dn:?}: {source}")]
    RootDn {
        /// As configured.
        dn: String,
        /// What is wrong with it.
        source: DnError,
    },
    /// Limits are for nobody that can be told.
    #[error("{origin}: limits for {who:?}: {reason}")]
    Limits {
        /// Where they were written.
        origin: String,
        /// Whom they are said to be for.
        who: String,
        /// What is wrong with that.
        reason: String,
    },
    /// The default search base is no name.
    #[error("default search base {dn:?}: {source}")]
    SearchBase {
        /// As configured.
        dn: String,
        /// What is wrong with it.
        source: DnError,
    },
    /// An access rule is wrong.
    #[error(transparent)]
    Access(#[from] RuleError),
    /// The schema lacks an attribute type that operations need.
    #[error("the schema does not define {0}, which the server needs")]
    SchemaLacks(&'static str),
}
