//! Decisions of an administrator as plain data.
//!
//! ```text
//!   config  --reads words into-->  Limits, Restrictions, Allow, TlsOptions ...  <--applies--  directory, server, auth
//! ```
//!
//! Each type is declared once, with the words that slapd.conf(5) uses for its values. The crate
//! reads no files and decides nothing. `config` fills these types; `directory`, `server` and `auth`
//! obey them.

#![forbid(unsafe_code)]

mod choice;
mod dynlist;
mod features;
mod index;
mod limits;
mod origin;
mod overlay;
mod provider_link;
mod restrictions;
mod result_name;
mod syncrepl;
mod tls;

pub use choice::{
    AuditFormat, AuthzPolicy, BuiltinSchema, Choice, ClusterReads, DatabaseKind, Durability,
    LogFormat, LogLevel, ReplicatedState, Subordinate, word_list,
};
pub use dynlist::{DynlistItem, DynlistSet};
pub use features::{Allow, Disallow, FeatureSet, Require};
pub use index::{IndexKind, IndexKinds, IndexSelection};
pub use limits::{Limit, LimitsRule, SizeLimits, SortLimits, TimeLimits};
pub use origin::{Origin, Sourced};
pub use overlay::{
    OVERLAYS, Overlay, OverlayDirective, OverlayLine, OverlaySettings, OverlaySupport,
    OverlayValue, find_overlay, overlay_of, overlay_truth,
};
pub use provider_link::{
    BindMethod, CertificateDemand, Credentials, Keepalive, ProviderLink, StartTls, SyncBind,
    SyncTls,
};
pub use restrictions::{FactorError, Operations, Restrict, Restrictions, Security};
pub use result_name::{result_name, result_number};
pub use syncrepl::{RetryList, SyncData, SyncScope, Syncrepl};
pub use tls::{CrlCheck, TlsOptions, TlsVersion, VerifyClient};
