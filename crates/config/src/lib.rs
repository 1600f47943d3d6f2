//! Settings of the programs, read from files, the environment and flags into one typed model.
//!
//! ```text
//!   flags        Layer ─┐
//!   --config     Layer ─┼─ Layer::over ─>  Settings::new  ──>  Settings: typed, defaults filled in
//!   environment  Layer ─┘   (upper wins)
//! ```
//!
//! A [`Layer`] holds the settings of one source. A [`Settings`] holds all of them, with defaults.
//! Each setting is one row of the table in `table/`. `limits.size` in a file is
//! `FULGURITE_LIMITS_SIZE` in the environment. Every error is one sentence that names its place:
//! file and line, variable, or flag.
//!
//! The crate does not read the command line; its flags fill a [`Layer`]. It does not interpret
//! names, access rules and schema files either. Those texts stay as they were written.

#![forbid(unsafe_code)]

mod argument_text;
mod chain;
mod choice;
mod cluster;
mod cn_config;
mod configuration_changes;
mod container;
mod database;
mod document;
mod environment;
mod error;
mod features;
mod file_mode;
mod ignored_settings;
mod index;
mod interval;
mod layer;
mod levels;
mod limits;
mod listen;
mod manual;
mod names;
mod note;
mod plain_name;
mod provider_link;
mod quantity;
mod replication_hosts;
mod root_dse;
mod secret;
mod seed;
mod seed_change;
mod seed_entry;
mod seed_words;
mod setting;
mod settings;
mod show;
mod slapd_conf;
mod socket_address;
mod statement;
mod suggest;
mod survey;
mod syncrepl;
mod table;
mod tcp_buffer;
#[cfg(test)]
mod test_folder;
mod tokens;
mod toml_file;
mod toml_overlay;
mod toml_write;
mod value_tokens;

pub use argument_text::ArgumentText;
pub use chain::Chain;
pub use choice::{ChosenLayer, DatabaseChoice};
pub use cluster::ClusterSettings;
pub use cn_config::{
    ConfigAddError, ConfigAddition, ConfigChange, ConfigChangeError, ConfigEntry, ConfigFiles,
    Generation, WriteError,
};
pub use database::{Database, DatabaseLayer};
pub use document::{example, flags, reference};
pub use error::ConfigError;
pub use file_mode::FileMode;
/// The values of settings.
pub use fulgurite_policy::{
    Allow, AuditFormat, AuthzPolicy, BuiltinSchema, ClusterReads, CrlCheck, DatabaseKind, Disallow,
    Durability, FeatureSet, IndexSelection, Limit, LimitsRule, LogFormat, LogLevel, Origin,
    Require, Restrict, Security, SizeLimits, SortLimits, Sourced, Subordinate, TimeLimits,
    TlsVersion, VerifyClient,
};
pub use index::{IndexSetting, parse_kinds};
pub use interval::Interval;
pub use layer::Layer;
pub use levels::{LevelError, STATS as LEVEL_STATS, level_names, log_level, parse_level};
pub use listen::{LDAPI_PATH, ListenScheme, ListenUrl};
pub use manual::manual;
pub use names::{AuthzRegexp, SchemaPart, ServerId, Threads, is_own_url};
pub use note::Note;
pub use quantity::{parse_bytes, parse_limit};
pub use secret::Secret;
pub use seed_change::{SeedAction, SeedChange, SeedFile, SeedModification, SeedOperation};
pub use seed_entry::{NamedValues, SeedEntry};
pub use seed_words::{PasswordHash, SeedWords};
pub use setting::Value;
pub use settings::Settings;
pub use show::Shown;
pub use socket_address::SocketAddress;
pub use survey::{OF_ALL, Survey};
pub use syncrepl::SyncreplSetting;
pub use table::{
    Content, ContentLayer, Directive, Flag, FlagForm, FlagGroup, Global, GlobalLayer, Info, Policy,
    PolicyLayer, Storage, StorageLayer, is_fixed, settings_info,
};
pub use tcp_buffer::{TcpBuffer, TcpBufferSizes, TcpDirection};
