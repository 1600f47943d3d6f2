//! What holds: every setting with its value, defaults filled in.

use std::path::{Path, PathBuf};

use crate::error::ConfigError;
use crate::index::{self, IndexSetting};
use crate::layer::{Layer, Secret, join_indexes};
use crate::listen::ListenUrl;

/// How sure a commit is when it is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Data and meta page are on disk: a power loss loses nothing.
    #[default]
    Full,
    /// The meta page may still be in memory: a power loss may lose the last transaction, never the rest.
    NoMetaSync,
    /// Nothing is forced to disk: a power loss may destroy the file. A crash of the process loses nothing.
    NoSync,
}

impl Durability {
    /// Reads `full`, `no-meta-sync` or `no-sync`.
    ///
    /// # Errors
    /// A clause that lists what there is.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "full" => Ok(Self::Full),
            "no-meta-sync" => Ok(Self::NoMetaSync),
            "no-sync" => Ok(Self::NoSync),
            _ => Err(format!(
                "\"{text}\" is none of full, no-meta-sync and no-sync"
            )),
        }
    }
}

/// How much is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// What needs a person.
    Error,
    /// What may need one soon.
    Warn,
    /// Start, stop and what an administrator did.
    #[default]
    Info,
    /// For finding a fault.
    Debug,
    /// Everything.
    Trace,
}

impl LogLevel {
    /// Reads `error`, `warn`, `info`, `debug` or `trace`.
    ///
    /// # Errors
    /// A clause that lists what there is.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "error" => Ok(Self::Error),
            "warn" => Ok(Self::Warn),
            "info" => Ok(Self::Info),
            "debug" => Ok(Self::Debug),
            "trace" => Ok(Self::Trace),
            _ => Err(format!(
                "\"{text}\" is none of error, warn, info, debug and trace"
            )),
        }
    }

    /// The word it is written as.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// Bounds on what clients may ask for; `None` means unlimited. The root identity is above `size` and `time`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Entries one search may return.
    pub size: Option<u32>,
    /// Seconds one search may take.
    pub time: Option<u32>,
    /// Bytes of one request of a bound client.
    pub request_bytes: u64,
    /// Bytes of one request of an anonymous client.
    pub request_bytes_anonymous: u64,
    /// Connections at once.
    pub connections: u32,
    /// Requests of one connection waiting at once; further ones stay unread in the socket.
    pub pending: u32,
    /// Seconds without a request after which a connection is closed.
    pub idle: Option<u32>,
    /// Nesting of and, or, not in a filter.
    pub filter_depth: u32,
}

/// How the store's file is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageSettings {
    /// How sure a commit is.
    pub durability: Durability,
    /// Bound of the data file's size in bytes; address space for it is reserved, the file itself grows by need.
    pub map_bytes_max: u64,
    /// Slots for readers, of all processes together.
    pub readers_max: u32,
}

/// What is logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSettings {
    /// How much.
    pub level: LogLevel,
    /// Whether every operation gets a line.
    pub operations: bool,
}

/// The settings that hold.
#[derive(Clone, Debug)]
pub struct Settings {
    data: Option<PathBuf>,
    suffix: Option<String>,
    root_password: Option<Secret>,
    root_password_file: Option<PathBuf>,
    /// Addresses to listen on; `ldap://127.0.0.1:389` unless set.
    pub listen: Vec<ListenUrl>,
    /// Schema files to read after the built-in schema, in order.
    pub schema: Vec<PathBuf>,
    /// Whether the RFC 2307bis definitions take the place of RFC 2307's.
    pub rfc2307bis: bool,
    /// Worker threads; `None` for one per core.
    pub threads: Option<u32>,
    /// Name that passes all access rules and limits.
    pub root_dn: Option<String>,
    /// Indexes to keep, the default ones included; none is without a kind.
    pub indexes: Vec<IndexSetting>,
    /// Access rules in order; empty for the standard ones.
    pub access: Vec<String>,
    /// Bounds on what clients may ask for.
    pub limits: Limits,
    /// How the store's file is kept.
    pub storage: StorageSettings,
    /// What is logged.
    pub log: LogSettings,
}

impl Settings {
    /// Fills in the defaults.
    ///
    /// # Errors
    /// [`ConfigError::Conflict`] for settings that exclude or demand each other.
    pub fn new(layer: Layer) -> Result<Settings, ConfigError> {
        refuse_conflicts(&layer)?;
        let default_indexes = if layer.default_indexes.unwrap_or(true) {
            index::defaults()
        } else {
            Vec::new()
        };
        let mut indexes = join_indexes(layer.index, default_indexes);
        indexes.retain(|index| !index.kinds.is_none());
        Ok(Settings {
            data: layer.data,
            suffix: layer.suffix,
            root_password: layer.root_password,
            root_password_file: layer.root_password_file,
            listen: layer
                .listen
                .unwrap_or_else(|| vec![ListenUrl::ldap("127.0.0.1", 389)]),
            schema: layer.schema.unwrap_or_default(),
            rfc2307bis: layer.rfc2307bis.unwrap_or(false),
            threads: layer.threads.flatten(),
            root_dn: layer.root_dn,
            indexes,
            access: layer.access.unwrap_or_default(),
            limits: Limits {
                size: layer.limits_size.unwrap_or(Some(500)),
                time: layer.limits_time.unwrap_or(Some(3600)),
                request_bytes: layer.limits_request_bytes.unwrap_or(4 << 20),
                request_bytes_anonymous: layer.limits_request_bytes_anonymous.unwrap_or(256 << 10),
                connections: layer.limits_connections.unwrap_or(10_000),
                pending: layer.limits_pending.unwrap_or(1_000),
                idle: layer.limits_idle.flatten(),
                filter_depth: layer.limits_filter_depth.unwrap_or(64),
            },
            storage: StorageSettings {
                durability: layer.storage_durability.unwrap_or_default(),
                map_bytes_max: layer.storage_map_bytes_max.unwrap_or(1 << 40),
                readers_max: layer.storage_readers_max.unwrap_or(126),
            },
            log: LogSettings {
                level: layer.log_level.unwrap_or_default(),
                operations: layer.log_operations.unwrap_or(false),
            },
        })
    }

    /// The directory of the store.
    ///
    /// # Errors
    /// [`ConfigError::Missing`] when nothing set it.
    pub fn data(&self) -> Result<&Path, ConfigError> {
        self.data.as_deref().ok_or(ConfigError::Missing {
            what: "the data directory",
            flag: "--data DIR",
            key: "data",
            variable: "FULGURITE_DATA",
        })
    }

    /// The name at the top of the data.
    ///
    /// # Errors
    /// [`ConfigError::Missing`] when nothing set it.
    pub fn suffix(&self) -> Result<&str, ConfigError> {
        self.suffix_if_set().ok_or(ConfigError::Missing {
            what: "the suffix",
            flag: "--suffix DN",
            key: "suffix",
            variable: "FULGURITE_SUFFIX",
        })
    }

    /// The name at the top of the data, where a command can learn it from the store as well.
    pub fn suffix_if_set(&self) -> Option<&str> {
        self.suffix.as_deref()
    }

    /// The root identity's password, in clear or hashed; reads the file if one was named, less its last line end.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`], or [`ConfigError::Conflict`] when the file is empty.
    pub fn root_password(&self) -> Result<Option<Vec<u8>>, ConfigError> {
        let Some(path) = &self.root_password_file else {
            return Ok(self
                .root_password
                .as_ref()
                .map(|secret| secret.0.clone().into_bytes()));
        };
        let mut password = std::fs::read(path).map_err(|cause| ConfigError::Unreadable {
            what: "root password file",
            path: path.clone(),
            cause,
        })?;
        for end in [b'\n', b'\r'] {
            if password.last() == Some(&end) {
                password.pop();
            }
        }
        if password.is_empty() {
            return Err(ConfigError::Conflict(format!(
                "root password file {} is empty",
                path.display()
            )));
        }
        Ok(Some(password))
    }
}

fn refuse_conflicts(layer: &Layer) -> Result<(), ConfigError> {
    let with_password = layer.root_password.is_some() || layer.root_password_file.is_some();
    let problem = if layer.root_password.is_some() && layer.root_password_file.is_some() {
        "the root password is given twice, once as text and once as a file: keep one"
    } else if with_password && layer.root_dn.is_none() {
        "there is a root password but no root name: give --root-dn DN or root.dn as well"
    } else if layer.listen.as_ref().is_some_and(Vec::is_empty) {
        "the list of addresses to listen on is empty"
    } else {
        return Ok(());
    };
    Err(ConfigError::Conflict(problem.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_the_documented_ones() {
        let settings = Settings::new(Layer::default()).unwrap();
        assert_eq!(settings.limits.size, Some(500));
        assert_eq!(settings.limits.time, Some(3600));
        assert_eq!(settings.limits.idle, None);
        assert_eq!(settings.indexes.len(), 13);
        let missing = settings.data().unwrap_err().to_string();
        assert!(
            missing.contains("--data DIR") && missing.contains("FULGURITE_DATA"),
            "{missing}"
        );
        assert!(settings.suffix().is_err());
    }

    #[test]
    fn default_indexes_can_be_changed_and_dropped() {
        let index = |text| IndexSetting::parse(text).unwrap();
        let layer = Layer {
            index: vec![index("UID:none"), index("l:eq")],
            ..Layer::default()
        };
        let settings = Settings::new(layer.clone()).unwrap();
        assert!(
            !settings
                .indexes
                .iter()
                .any(|one| one.attribute.eq_ignore_ascii_case("uid"))
        );
        assert_eq!(settings.indexes.len(), 13);
        let alone = Settings::new(Layer {
            default_indexes: Some(false),
            ..layer
        })
        .unwrap();
        assert_eq!(alone.indexes, [index("l:eq")]);
    }

    #[test]
    fn the_root_password_comes_from_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("password");
        std::fs::write(&file, "two words \r\n").unwrap();
        let layer = Layer {
            root_dn: Some("cn=admin".into()),
            root_password_file: Some(file.clone()),
            ..Layer::default()
        };
        let settings = Settings::new(layer).unwrap();
        assert_eq!(
            settings.root_password().unwrap().as_deref(),
            Some(&b"two words "[..])
        );
        std::fs::write(&file, "\n").unwrap();
        assert!(
            settings
                .root_password()
                .unwrap_err()
                .to_string()
                .contains("is empty")
        );
        std::fs::remove_file(&file).unwrap();
        assert!(
            settings
                .root_password()
                .unwrap_err()
                .to_string()
                .starts_with("cannot read root password file")
        );
    }

    #[test]
    fn conflicts_are_refused() {
        let twice = Layer {
            root_dn: Some("cn=admin".into()),
            root_password: Some(Secret("a".into())),
            root_password_file: Some("b".into()),
            ..Layer::default()
        };
        assert!(
            Settings::new(twice)
                .unwrap_err()
                .to_string()
                .contains("twice")
        );
        let nameless = Layer {
            root_password: Some(Secret("a".into())),
            ..Layer::default()
        };
        assert!(
            Settings::new(nameless)
                .unwrap_err()
                .to_string()
                .contains("--root-dn")
        );
        assert!(
            Settings::new(Layer {
                listen: Some(vec![]),
                ..Layer::default()
            })
            .is_err()
        );
    }
}
