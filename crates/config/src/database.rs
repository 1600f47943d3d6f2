//! One database: its content, its rules, its storage and its overlays.

use std::path::Path;

use fulgurite_policy::{DatabaseKind, DynlistSet, OverlaySettings, OverlaySupport, find_overlay};

use crate::index::{self, IndexSetting};
use crate::table::{Content, ContentLayer, Policy, PolicyLayer, Storage, StorageLayer};
use crate::{ConfigError, Origin};

/// One database with all settings.
#[derive(Clone, Debug)]
pub struct Database {
    /// Its kind.
    pub kind: DatabaseKind,
    /// The place of its declaration.
    pub origin: Origin,
    /// Its rules. Conditions, restrictions and strengths include those of all databases; access
    /// rules do not.
    pub policy: Policy,
    /// Its names, its root and its replication.
    pub content: Content,
    /// Its storage.
    pub storage: Storage,
    /// Its overlays, in the order of the configuration.
    pub overlays: Vec<OverlaySettings>,
}

/// The settings of a database that one source sets.
#[derive(Clone, Debug, Default)]
pub struct DatabaseLayer {
    /// Its kind.
    pub kind: DatabaseKind,
    /// The place of its declaration; `None` if no source declares it.
    pub origin: Option<Origin>,
    /// Its rules.
    pub policy: PolicyLayer,
    /// Its names, its root and its replication.
    pub content: ContentLayer,
    /// Its storage.
    pub storage: StorageLayer,
    /// Its overlays.
    pub overlays: Vec<OverlaySettings>,
}

impl DatabaseLayer {
    /// Returns this layer with the settings of `lower` where this one sets nothing.
    ///
    /// Indexes are joined: an upper one replaces the lower one of the same attribute. A root
    /// password and a file for it are one setting. Either of the upper layer hides both of the
    /// lower one.
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

    /// Returns the database with inherited rules and defaults.
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
    /// Returns the directory of the store.
    ///
    /// # Errors
    /// [`ConfigError::Missing`] if no source sets it.
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

    /// Returns the name at the top of the data; the first if there are several.
    ///
    /// # Errors
    /// [`ConfigError::Missing`] if no source sets it.
    pub fn suffix(&self) -> Result<&str, ConfigError> {
        self.suffix_if_set().ok_or(ConfigError::Missing {
            what: "the suffix",
            flag: "--suffix DN",
            key: "suffix",
            variable: "FULGURITE_SUFFIX",
        })
    }

    /// Returns the name at the top of the data, for commands that can also read it from the store.
    pub fn suffix_if_set(&self) -> Option<&str> {
        self.content
            .suffixes
            .first()
            .map(|suffix| suffix.value.as_str())
    }

    /// Returns the indexes that the store keeps, with the default ones; none is without a kind.
    ///
    /// Attributes without kinds have those of `index default`.
    pub fn indexes(&self) -> Vec<IndexSetting> {
        self.storage.kept_indexes()
    }

    /// Returns the attributes of members and of groups, for each overlay `memberof` and each set of
    /// `dynlist` with static groups.
    pub fn memberships(&self) -> impl Iterator<Item = (String, String)> {
        let sets = self.overlays.iter().flat_map(DynlistSet::of);
        let items = sets.flat_map(|set| set.items);
        let items = items.filter(|item| item.static_class.is_some());
        let listed = items.filter_map(|item| Some((item.attribute, item.member_of?)));
        self.stored_memberships().chain(listed)
    }

    /// Returns the same of each overlay `memberof`.
    fn stored_memberships(&self) -> impl Iterator<Item = (String, String)> {
        let overlays = self.overlays.iter();
        let own = overlays.filter(|overlay| overlay.name.eq_ignore_ascii_case("memberof"));
        own.map(|overlay| {
            let name = |keyword, default: &str| overlay.last(keyword).unwrap_or(default).to_owned();
            let member = name("memberof-member-ad", "member");
            (member, name("memberof-memberof-ad", "memberOf"))
        })
    }

    /// Returns the attributes that the `refint` of a container's variables looks up. Nobody has
    /// written it, so nobody could have named their indexes.
    pub fn attributes_of_unwritten_refint(&self) -> impl Iterator<Item = &str> {
        let overlays = self.overlays.iter().filter(|overlay| {
            let is_unwritten = matches!(overlay.origin, Origin::Variable(_));
            is_unwritten && overlay.name.eq_ignore_ascii_case("refint")
        });
        let lines = overlays.flat_map(|overlay| &overlay.lines);
        let named = lines.filter(|line| line.directive.keyword == "refint_attributes");
        named.flat_map(|line| line.arguments.iter().map(String::as_str))
    }

    /// Returns the attributes whose values the overlay `memberof` of slapd stores, and this server
    /// computes.
    pub fn computed_attributes(&self) -> impl Iterator<Item = String> {
        self.stored_memberships().map(|(_, member_of)| member_of)
    }

    /// Returns the overlays that the server has, in the order of the configuration. The others are
    /// left out.
    pub fn served_overlays(&self) -> impl Iterator<Item = &OverlaySettings> {
        let overlays = self.overlays.iter();
        overlays.filter(|overlay| {
            let known = find_overlay(&overlay.name).map(|known| known.support);
            matches!(
                known,
                Some(OverlaySupport::BuiltIn | OverlaySupport::PerDatabase)
            )
        })
    }

    /// Returns true if a source names indexes. Otherwise a store keeps those it was made with.
    pub fn names_indexes(&self) -> bool {
        !self.storage.indexes.is_empty() || !self.storage.default_indexes.is_default()
    }

    /// Returns the root's password, in clear or hashed, from its file if one is named. The file's
    /// last line end is not part of it.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`], or [`ConfigError::Conflict`] if the file is empty.
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
