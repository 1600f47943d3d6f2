//! One database: what it holds, by which rules, and how it is kept.

use std::path::Path;

use fulgurite_policy::DatabaseKind;

use crate::index::{self, IndexSetting};
use crate::table::{Content, ContentLayer, Policy, PolicyLayer, Storage, StorageLayer};
use crate::{ConfigError, Origin, Sourced};

/// Something on top of a database, with what was said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlay {
    /// Its name: `memberof`.
    pub name: String,
    /// Where it was asked for.
    pub origin: Origin,
    /// Its directives, as written.
    pub directives: Vec<Sourced<String>>,
}

/// One database as it holds.
#[derive(Clone, Debug)]
pub struct Database {
    /// What stands behind it.
    pub kind: DatabaseKind,
    /// Where it was declared.
    pub origin: Origin,
    /// Its rules; conditions, restrictions and strengths include those of all databases, access rules do not.
    pub policy: Policy,
    /// What it holds.
    pub content: Content,
    /// How that is kept.
    pub storage: Storage,
    /// What is on top of it, first named first.
    pub overlays: Vec<Overlay>,
}

/// What one source said of a database.
#[derive(Clone, Debug, Default)]
pub struct DatabaseLayer {
    /// What stands behind it.
    pub kind: DatabaseKind,
    /// Where it was declared; nothing for a database that no source declared as such.
    pub origin: Option<Origin>,
    /// Its rules.
    pub policy: PolicyLayer,
    /// What it holds.
    pub content: ContentLayer,
    /// How that is kept.
    pub storage: StorageLayer,
    /// What is on top of it.
    pub overlays: Vec<Overlay>,
}

impl DatabaseLayer {
    /// This layer on top of `lower`.
    ///
    /// Indexes are joined, an upper one replacing the lower one of the same attribute. A root password and a file
    /// for it are one setting: whichever the upper layer gives hides both of the lower one.
    #[must_use]
    pub fn over(self, mut lower: Self) -> Self {
        if self.content.root_password.is_some() || self.content.root_password_file.is_some() {
            lower.content.root_password = None;
            lower.content.root_password_file = None;
        }
        let indexes = index::join(
            self.storage.indexes.clone(),
            std::mem::take(&mut lower.storage.indexes),
        );
        let mut storage = self.storage.over(lower.storage);
        storage.indexes = indexes;
        Self {
            kind: self.kind,
            origin: self.origin.or(lower.origin),
            policy: self.policy.over(lower.policy),
            content: self.content.over(lower.content),
            storage,
            overlays: if self.overlays.is_empty() {
                lower.overlays
            } else {
                self.overlays
            },
        }
    }

    /// Fills in what it inherits from the rules of all databases, and the defaults.
    pub(crate) fn resolve(self, all: &PolicyLayer) -> Database {
        let frontend = all.clone().resolve();
        let mut policy = self.policy.inheriting(all).resolve();
        let with = |own: Origin, general: &Origin| match own {
            Origin::Default => general.clone(),
            own => own,
        };
        policy.require.value = policy.require.value.with(frontend.require.value);
        policy.require.origin = with(policy.require.origin, &frontend.require.origin);
        policy.security.value = policy.security.value.with(frontend.security.value);
        policy.security.origin = with(policy.security.origin, &frontend.security.origin);
        policy.restrict.value = policy.restrict.value.with(&frontend.restrict.value);
        policy.restrict.origin = with(policy.restrict.origin, &frontend.restrict.origin);
        Database {
            kind: self.kind,
            origin: self.origin.unwrap_or(Origin::Default),
            policy,
            content: self.content.resolve(),
            storage: self.storage.resolve(),
            overlays: self.overlays,
        }
    }
}

impl Database {
    /// The directory of the store.
    ///
    /// # Errors
    /// [`ConfigError::Missing`] when nothing set it.
    pub fn directory(&self) -> Result<&Path, ConfigError> {
        self.storage
            .directory
            .as_deref()
            .ok_or(ConfigError::Missing {
                what: "the data directory",
                flag: "--data DIR",
                key: "data",
                variable: "FULGURITE_DATA",
            })
    }

    /// The name at the top of the data, the first if there are several.
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
        self.content
            .suffixes
            .first()
            .map(|suffix| suffix.value.as_str())
    }

    /// The indexes to keep, the default ones included; none is without a kind.
    ///
    /// Attributes named without kinds have those of `index default`.
    pub fn indexes(&self) -> Vec<IndexSetting> {
        self.storage.kept_indexes()
    }

    /// Whether anybody said which indexes are to be kept; otherwise a store keeps those it was made with.
    pub fn names_indexes(&self) -> bool {
        !self.storage.indexes.is_empty() || !self.storage.default_indexes.is_default()
    }

    /// The root identity's password, in clear or hashed; reads the file if one was named, less its last line end.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`], or [`ConfigError::Conflict`] when the file is empty.
    pub fn root_password(&self) -> Result<Option<Vec<u8>>, ConfigError> {
        let Some(path) = &self.content.root_password_file.value else {
            let password = self.content.root_password.as_ref();
            return Ok(password.map(|secret| secret.0.clone().into_bytes()));
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
