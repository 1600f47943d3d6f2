//! LDAP operations on a store, one module each.
//!
//! ```text
//!                      reads: any thread, no locks                      writes: one thread
//!   bind  compare  extended      search                            add  delete  modify  modify DN
//!    |       |        |            |                                         |
//!    |  begin_search -> SearchTask::advance -> octets       apply(batch) -> one commit -> octets
//!    v       v        v            v                                         v
//!   ===== Directory: schema | access rules | limits | root DSE | subschema | stores =============
//! ```
//!
//! Everything here takes decoded requests and gives results or encoded responses. Operations know no socket and no
//! thread, and get time and randomness through [`Clock`] and [`Entropy`]; the machine's own ([`SystemClock`],
//! [`SystemEntropy`]) are two implementations of them. Result codes are chosen here and nowhere
//! below.

#![forbid(unsafe_code)]

mod advice;
mod alias;
mod answer;
mod assertion;
mod auth;
mod changes;
mod clock;
mod computed;
mod connection;
mod context;
mod controls;
mod csn;
mod database;
mod derived_keys;
mod directory;
mod explain;
mod facts;
mod import;
mod known;
mod large;
mod limits;
mod lookup;
mod modifiers;
mod names;
mod op;
mod permission;
mod read_entry;
mod referral;
mod restrictions;
mod rights;
mod seen;
mod selection;
mod session;
mod snapshots;
mod special;
mod stamp;
mod transaction;
mod tree;
mod write;

pub use auth::{AuthOptions, PasswordCheck, UnknownIdentity};
/// The rule language and what it decides: texts and explanations pass through this crate.
pub use fulgurite_access::{
    Explanation, Level, Outcome, Rights, RuleError, RuleText, Step, WithoutRules,
};

pub use clock::{Clock, Entropy, SystemClock, SystemEntropy, Timestamp};
pub use connection::{ChannelBindings, Connection, EndPoint, PeerCredentials, Strength, TlsFacts};
pub use csn::{Csn, CsnGenerator};
pub use database::{Database, DatabaseOptions, Subordinate};
pub use directory::{Directory, DirectoryOptions, OpenError, RootAccount};
pub use explain::{ExplainError, Explained, Subject};
pub use fulgurite_auth::{
    AuthzId, AuthzPolicy, AuthzRegexp, AuthzRegexpError, Scheme, ScramHash, SecurityProperties,
};
pub use import::{Completer, Importer, Marks};
pub use limits::{Limit, Limits, LimitsRule, SizeLimits, TimeLimits};
pub use op::bind::{BindOutcome, BindStep};
pub use op::extended::{ExtendedReply, ExtendedStep};
pub use op::password_modify::PasswordChange;
pub use op::search::{Progress, Quantum, SearchTask, SortLimits};
pub use restrictions::{Allow, Disallow, Operations, Require, Restrictions, Security};
pub use selection::Selection;
pub use session::{Identity, Method, Name, Session};
pub use snapshots::Snapshots;
pub use transaction::Kept;
pub use tree::{Growing, TreeEntry, TreeOptions, TreeSource};
pub use write::{WriteReply, WriteRequest};
