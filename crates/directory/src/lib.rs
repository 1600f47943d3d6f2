//! LDAP operations on stores of entries.
//!
//! ```text
//!                      reads: any thread, no locks                      writes: one thread
//!   bind  compare  extended      search                            add  delete  modify  modify DN
//!    |       |        |            |                                         |
//!    |  begin_search -> SearchTask::advance -> bytes        apply(batch) -> one commit -> bytes
//!    v       v        v            v                                         v
//!   ===== Directory: schema | access rules | limits | root DSE | subschema | stores =============
//! ```
//!
//! The folders are listed from top to bottom, and a folder uses only those below it:
//!
//! ```text
//!   cluster   the content of a cluster's node: batches of effects, made and applied
//!   op        one module for each operation, and batches of updates
//!   search    a search as a task that works in steps
//!   write     one update: context, changes, stamps
//!   auth      passwords, SASL, proxied authorization
//!   features  optional features of databases: glue, sorted searches, unique values
//!   request   controls, limits, restrictions, aliases, referrals
//!   rights    access rules asked about entries, and the projection of entries
//!   generated entries that no store holds
//!   core      schema, databases, sessions, time
//! ```
//!
//! Operations take decoded requests and give results or encoded responses. They know no socket and
//! no thread, and get time and randomness through [`Clock`] and [`Entropy`]. Result codes are
//! chosen in this crate and in none below it.

#![forbid(unsafe_code)]

mod auth;
mod cluster;
mod core;
mod directory;
mod features;
mod generated;
mod log_purge;
mod op;
mod request;
mod rights;
mod search;
mod write;

pub use auth::{AuthOptions, BindOutcome, PasswordCheck, UnknownIdentity};
pub use cluster::{
    CheckpointRule, OrderedReply, StoreContent, Unsuitable, WireError, cluster_position,
};
/// The rule language and its decisions, for programs that read rules or explain them.
pub use fulgurite_access::{
    Explanation, Level, Outcome, Rights, RuleError, RuleText, Step, WithoutRules,
};

pub use crate::core::change_signal::ChangeListener;
pub use crate::core::clock::{Clock, Entropy, SystemClock, SystemEntropy, Timestamp};
pub use crate::core::connection::{
    ChannelBindings, Connection, EndPoint, PeerCredentials, Strength, TlsFacts,
};
pub use crate::core::csn::{Csn, CsnGenerator};
pub use crate::core::database::{Database, DatabaseOptions, RootAccount};
pub use crate::core::error::OpenError;
pub use crate::core::limits::Limits;
pub use crate::core::notices::WarningLog;
pub use crate::core::replication::{Forwarding, ReplicationOptions};
pub use crate::core::session::{Identity, Method, Name, Session};
pub use crate::core::slow_searches::{SlowSearch, SlowSearches};
pub use directory::{Directory, DirectoryOptions};
pub use features::auditlog::{AuditStyle, AuditText};
pub use features::compilation::OverlayReport;
pub use features::registry::check_overlays;
pub use fulgurite_auth::{
    AuthzId, AuthzPolicy, AuthzRegexp, AuthzRegexpError, Scheme, ScramHash, SecurityProperties,
};
/// The administrator's decisions that options are made of.
pub use fulgurite_policy::{
    Allow, Disallow, Limit, LimitsRule, Operations, OverlayLine, OverlaySettings, ReplicatedState,
    Require, Restrict, Restrictions, Security, SizeLimits, SortLimits, Sourced, Subordinate,
    TimeLimits,
};
pub use generated::tree::{AccessLogOptions, SentCounter, TreeEntry, TreeOptions, TreeSource};
pub use log_purge::LogPurge;
pub use op::begin_update::UpdateStep;
pub use op::bind::BindStep;
pub use op::extended_step::{ExtendedReply, ExtendedStep};
pub use op::operation_record::BegunRecord;
pub use op::password_modify::PasswordChange;
pub use op::tree_update::{TreeChange, TreeRefusal, TreeUpdate};
pub use request::controls::{CONTROLS, ControlRow};
pub use rights::explain::{ExplainError, ExplainTarget, RightsExplanation};
pub use rights::selection::Selection;
pub use rights::snapshots::Snapshots;
pub use search::run::Quantum;
pub use search::task::{Progress, SearchTask};
pub use write::forwarded::ForwardedUpdate;
pub use write::import::{Author, EntryCompleter, EntryStamps, Importer};
pub use write::replicated::{
    Conflict, ConflictKind, ContentError, ContentFill, ContentOptions, ContentReport,
    CopiedContent, FillStep, QuarantinedEntry, conflicts,
};
pub use write::request::{WriteReply, WriteRequest};
pub use write::update_order::{OrderedDirectory, Unsettled, UpdateOrder};
