//! From settings to a directory that can be served.

use std::sync::Arc;

use fulgurite_config::{ConfigError, Durability, IndexSetting, Settings};
use fulgurite_directory::{DatabaseOptions, Directory, DirectoryOptions, Limits, RootAccount};
use fulgurite_schema::{Builtin, Schema, SchemaBuilder, SchemaError};
use fulgurite_store::{IndexKinds, IndexSpec, Store, StoreOptions};

use crate::{ServerSettings, SessionLimits};

/// Searches that hold a snapshot at once, at least: many connections may each run several.
const READERS_MIN: u32 = 4096;

/// Pending requests of an anonymous connection, as in slapd; configured is the bound of all others.
const PENDING_ANONYMOUS: usize = 100;

/// Why a directory cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A setting is missing or cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A schema file is wrong.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] fulgurite_store::OpenError),
    /// Root name or access rules are wrong.
    #[error(transparent)]
    Directory(#[from] fulgurite_directory::OpenError),
}

/// The schema that the settings ask for.
///
/// # Errors
/// [`SchemaError`] if a schema file cannot be read or is wrong.
pub fn schema(settings: &Settings) -> Result<Schema, SchemaError> {
    let posix = if settings.rfc2307bis {
        Builtin::Rfc2307bis
    } else {
        Builtin::Nis
    };
    let parts = [
        Builtin::Core,
        Builtin::Cosine,
        Builtin::InetOrgPerson,
        posix,
    ];
    let builtin = parts
        .into_iter()
        .fold(SchemaBuilder::new(), SchemaBuilder::builtin);
    settings
        .schema
        .iter()
        .try_fold(builtin, |builder, file| builder.file(file))?
        .build()
}

/// How the settings want a store to be made or opened.
///
/// # Errors
/// [`OpenError::Config`] if there is no suffix.
pub fn store_options(settings: &Settings) -> Result<StoreOptions, OpenError> {
    let indexes = settings.indexes.iter().map(index_spec);
    Ok(StoreOptions {
        suffixes: vec![settings.suffix()?.to_owned()],
        indexes: Some(indexes.collect()),
        durability: Some(durability(settings.storage.durability)),
        readers_max: Some(settings.storage.readers_max.max(READERS_MIN)),
        map_bytes_max: Some(settings.storage.map_bytes_max),
        ..StoreOptions::default()
    })
}

/// Opens the directory that the settings describe, with its existing store.
///
/// # Errors
/// [`OpenError`], a mistake in the settings or a store that is not there.
pub fn open_directory(settings: &Settings) -> Result<Directory, OpenError> {
    let schema = Arc::new(schema(settings)?);
    let options = StoreOptions {
        // A store keeps the indexes it was made with.
        indexes: None,
        ..store_options(settings)?
    };
    let store = Store::open(settings.data()?, &options, Arc::clone(&schema))?;
    let root = match &settings.root_dn {
        Some(dn) => Some(RootAccount {
            dn: dn.clone(),
            password: settings.root_password()?,
        }),
        None => None,
    };
    let defaults = Limits::default();
    let database = DatabaseOptions {
        root,
        ..DatabaseOptions::new(store)
    };
    Ok(Directory::open(DirectoryOptions {
        access: settings.access.clone(),
        limits: Limits {
            size_max: settings.limits.size.unwrap_or(0),
            time_s_max: settings.limits.time.unwrap_or(0),
            ..defaults
        },
        ..DirectoryOptions::new(schema, vec![database])
    })?)
}

fn index_spec(setting: &IndexSetting) -> IndexSpec {
    IndexSpec {
        attribute: setting.attribute.clone(),
        kinds: IndexKinds {
            presence: setting.kinds.presence,
            equality: setting.kinds.equality,
            substring: setting.kinds.substring,
        },
    }
}

const fn durability(durability: Durability) -> fulgurite_store::Durability {
    match durability {
        Durability::Full => fulgurite_store::Durability::Full,
        Durability::NoMetaSync => fulgurite_store::Durability::NoMetaSync,
        Durability::NoSync => fulgurite_store::Durability::NoSync,
    }
}

impl From<&Settings> for ServerSettings {
    fn from(settings: &Settings) -> Self {
        let defaults = ServerSettings::default();
        let limits = &settings.limits;
        let octets = |octets: u64| usize::try_from(octets).unwrap_or(usize::MAX);
        let pending = limits.pending as usize;
        ServerSettings {
            workers: settings
                .threads
                .map_or(defaults.workers, |threads| threads as usize),
            connections_max: limits.connections as usize,
            session: SessionLimits {
                request_bytes_max_anonymous: octets(limits.request_bytes_anonymous),
                request_bytes_max_authenticated: octets(limits.request_bytes),
                pending_max_anonymous: pending.min(PENDING_ANONYMOUS),
                pending_max_authenticated: pending,
                filter_depth_max: u16::try_from(limits.filter_depth).unwrap_or(u16::MAX),
                idle_timeout: limits
                    .idle
                    .map(|s| std::time::Duration::from_secs(s.into())),
                ..SessionLimits::default()
            },
            log_operations: settings.log.operations,
            ..defaults
        }
    }
}
