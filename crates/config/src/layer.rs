//! What one source of settings said, and nothing else.

use std::fmt;
use std::path::PathBuf;

use crate::{Durability, IndexSetting, ListenUrl, LogLevel};

/// Text that must not appear in logs; it prints as dots.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret(...)")
    }
}

/// The settings of one source: `None` and empty lists where it said nothing.
///
/// A program makes one from its flags, one with [`Layer::from_file`] and one with [`Layer::from_environment`], and
/// stacks them: `flags.over(file).over(environment)`.
#[derive(Clone, Debug, Default)]
pub struct Layer {
    /// Directory of the store.
    pub data: Option<PathBuf>,
    /// Name of the entry at the top of the data.
    pub suffix: Option<String>,
    /// Addresses to listen on.
    pub listen: Option<Vec<ListenUrl>>,
    /// Schema files to read after the built-in schema.
    pub schema: Option<Vec<PathBuf>>,
    /// Whether the RFC 2307bis definitions take the place of RFC 2307's.
    pub rfc2307bis: Option<bool>,
    /// Worker threads; `Some(None)` for one per core.
    pub threads: Option<Option<u32>>,
    /// Name that passes all access rules and limits.
    pub root_dn: Option<String>,
    /// Its password, in clear or hashed.
    pub root_password: Option<Secret>,
    /// A file that holds its password.
    pub root_password_file: Option<PathBuf>,
    /// Indexes beside (or instead of) the default ones.
    pub index: Vec<IndexSetting>,
    /// Whether the default indexes are kept.
    pub default_indexes: Option<bool>,
    /// Access rules, each a text of its own, in order.
    pub access: Option<Vec<String>>,
    /// See [`Limits`](crate::Limits): `Some(None)` for unlimited.
    pub limits_size: Option<Option<u32>>,
    /// Seconds one search may take.
    pub limits_time: Option<Option<u32>>,
    /// Bytes of one request of a bound client.
    pub limits_request_bytes: Option<u64>,
    /// Bytes of one request before a bind.
    pub limits_request_bytes_anonymous: Option<u64>,
    /// Connections at once.
    pub limits_connections: Option<u32>,
    /// Requests of one connection waiting at once.
    pub limits_pending: Option<u32>,
    /// Seconds without a request after which a connection is closed.
    pub limits_idle: Option<Option<u32>>,
    /// Nesting of and, or, not in a filter.
    pub limits_filter_depth: Option<u32>,
    /// How sure a commit is.
    pub storage_durability: Option<Durability>,
    /// Bound of the data file's size.
    pub storage_map_bytes_max: Option<u64>,
    /// Slots for readers, of all processes together.
    pub storage_readers_max: Option<u32>,
    /// What is logged.
    pub log_level: Option<LogLevel>,
    /// Whether every operation is logged.
    pub log_operations: Option<bool>,
}

impl Layer {
    /// This layer on top of `lower`: what it says holds, `lower` speaks where it is silent.
    ///
    /// Indexes are joined, an upper one replacing the lower one of the same attribute. A root password and a file
    /// for it are one setting: whichever the upper layer gives hides both of the lower one.
    #[must_use]
    pub fn over(self, lower: Layer) -> Layer {
        let own_password = self.root_password.is_some() || self.root_password_file.is_some();
        let (password, password_file) = match own_password {
            true => (self.root_password, self.root_password_file),
            false => (lower.root_password, lower.root_password_file),
        };
        Layer {
            data: self.data.or(lower.data),
            suffix: self.suffix.or(lower.suffix),
            listen: self.listen.or(lower.listen),
            schema: self.schema.or(lower.schema),
            rfc2307bis: self.rfc2307bis.or(lower.rfc2307bis),
            threads: self.threads.or(lower.threads),
            root_dn: self.root_dn.or(lower.root_dn),
            root_password: password,
            root_password_file: password_file,
            index: join_indexes(self.index, lower.index),
            default_indexes: self.default_indexes.or(lower.default_indexes),
            access: self.access.or(lower.access),
            limits_size: self.limits_size.or(lower.limits_size),
            limits_time: self.limits_time.or(lower.limits_time),
            limits_request_bytes: self.limits_request_bytes.or(lower.limits_request_bytes),
            limits_request_bytes_anonymous: self
                .limits_request_bytes_anonymous
                .or(lower.limits_request_bytes_anonymous),
            limits_connections: self.limits_connections.or(lower.limits_connections),
            limits_pending: self.limits_pending.or(lower.limits_pending),
            limits_idle: self.limits_idle.or(lower.limits_idle),
            limits_filter_depth: self.limits_filter_depth.or(lower.limits_filter_depth),
            storage_durability: self.storage_durability.or(lower.storage_durability),
            storage_map_bytes_max: self.storage_map_bytes_max.or(lower.storage_map_bytes_max),
            storage_readers_max: self.storage_readers_max.or(lower.storage_readers_max),
            log_level: self.log_level.or(lower.log_level),
            log_operations: self.log_operations.or(lower.log_operations),
        }
    }
}

/// The lower settings with the upper ones in place of those for the same attribute, new ones last.
pub(crate) fn join_indexes(
    upper: Vec<IndexSetting>,
    lower: Vec<IndexSetting>,
) -> Vec<IndexSetting> {
    let mut joined = lower;
    for setting in upper {
        match joined
            .iter_mut()
            .find(|known| known.attribute.eq_ignore_ascii_case(&setting.attribute))
        {
            Some(known) => *known = setting,
            None => joined.push(setting),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upper_layers_win_one_setting_at_a_time() {
        let flags = Layer {
            suffix: Some("dc=flag".into()),
            ..Layer::default()
        };
        let file = Layer {
            suffix: Some("dc=file".into()),
            limits_size: Some(None),
            root_password_file: Some("pw".into()),
            index: vec![
                IndexSetting::parse("cn:eq").unwrap(),
                IndexSetting::parse("l:eq").unwrap(),
            ],
            ..Layer::default()
        };
        let environment = Layer {
            root_password: Some(Secret("hidden".into())),
            limits_size: Some(Some(7)),
            threads: Some(Some(3)),
            ..Layer::default()
        };
        let flags = Layer {
            index: vec![IndexSetting::parse("CN:sub").unwrap()],
            ..flags
        };
        let all = flags.over(file).over(environment);
        assert_eq!(all.suffix.as_deref(), Some("dc=flag"));
        assert_eq!(all.limits_size, Some(None));
        assert_eq!(all.threads, Some(Some(3)));
        assert_eq!(
            all.root_password, None,
            "the file's password file hides the environment's password"
        );
        let indexes: Vec<String> = all
            .index
            .iter()
            .map(|one| format!("{}:{}", one.attribute, one.kinds))
            .collect();
        assert_eq!(indexes, ["CN:sub", "l:eq"]);
    }

    #[test]
    fn secrets_do_not_print() {
        assert!(!format!("{:?}", Secret("opensesame".into())).contains("opensesame"));
    }
}
