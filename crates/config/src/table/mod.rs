//! The settings table: one row for each setting, and one for each directive of slapd that has no
//! setting.
//!
//! ```text
//!   row: key, field, type, default, text   <- TOML, environment, flags, `config show`, docs/settings.md
//!        directive: word, attribute        <- slapd.conf, cn=config, both ways
//! ```
//!
//! A new setting is a row here and its use elsewhere. Readers and writers take all they need from
//! the row.

mod content;
mod flag;
mod global;
mod group;
mod policy;
mod readers;
mod security;
mod spec;
mod storage;
mod without_setting;

pub use content::{Content, ContentLayer};
pub use flag::{Flag, FlagForm, FlagGroup};
pub use global::{Global, GlobalLayer};
pub use policy::{Policy, PolicyLayer};
pub use spec::{Directive, Info};
pub(crate) use spec::{Row, Scope, Spec, VARIABLE_PREFIX, Write};
pub use storage::{Storage, StorageLayer};

/// A row of each group.
#[derive(Clone, Copy)]
pub(crate) enum AnyRow {
    /// Of the server.
    Global(&'static Row<GlobalLayer, Global>),
    /// Of the rules of a database, or of all databases.
    Policy(&'static Row<PolicyLayer, Policy>),
    /// Of what a database holds.
    Content(&'static Row<ContentLayer, Content>),
    /// Of the way in which a database is stored.
    Storage(&'static Row<StorageLayer, Storage>),
}

impl AnyRow {
    /// Returns the fields that do not depend on the group.
    pub(crate) fn info(self) -> &'static Info {
        match self {
            AnyRow::Global(row) => &row.info,
            AnyRow::Policy(row) => &row.info,
            AnyRow::Content(row) => &row.info,
            AnyRow::Storage(row) => &row.info,
        }
    }
}

/// Returns every row, those of the server first.
pub(crate) fn rows() -> impl Iterator<Item = AnyRow> {
    let global = Global::SETTINGS.iter().chain(Global::DIRECTIVES);
    let policy = Policy::SETTINGS.iter();
    let content = Content::SETTINGS.iter().chain(Content::DIRECTIVES);
    let storage = Storage::SETTINGS.iter().chain(Storage::DIRECTIVES);
    global
        .map(AnyRow::Global)
        .chain(policy.map(AnyRow::Policy))
        .chain(content.map(AnyRow::Content))
        .chain(storage.map(AnyRow::Storage))
}

/// Returns every setting, those of the server first.
pub fn settings_info() -> impl Iterator<Item = &'static Info> {
    rows().map(AnyRow::info).filter(|info| info.key.is_some())
}

/// Returns true if a reload does not change the setting of a key.
#[must_use]
pub fn is_fixed(key: &str) -> bool {
    settings_info().any(|info| info.key == Some(key) && info.fixed)
}

/// Returns all keys, those of the server first.
pub(crate) fn keys() -> impl Iterator<Item = &'static str> {
    rows().filter_map(|row| row.info().key)
}

/// Returns the keys that a `[[database]]` may have, without its type.
pub(crate) fn database_keys() -> impl Iterator<Item = &'static str> {
    let of_database = rows().filter(|row| !matches!(row, AnyRow::Global(_)));
    of_database.filter_map(|row| row.info().key)
}

/// Returns every directive with its row.
pub(crate) fn directives() -> impl Iterator<Item = (AnyRow, &'static Directive)> {
    rows().filter_map(|row| Some((row, row.info().directive.as_ref()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_directive_attribute_or_flag_is_declared_twice() {
        fn assert_unique(mut names: Vec<&str>) {
            names.sort_unstable();
            let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
            assert_eq!(twice, None);
        }
        assert_unique(keys().collect());
        assert_unique(directives().map(|(_, one)| one.keyword).collect());
        let attributes = directives().map(|(_, one)| one.olc);
        assert_unique(attributes.filter(|olc| !olc.is_empty()).collect());
        assert_unique(
            settings_info()
                .filter_map(|info| Some(info.flag?.name))
                .collect(),
        );
    }

    #[test]
    fn every_setting_is_documented() {
        for info in settings_info() {
            assert!(!info.doc.is_empty(), "{:?}", info.key);
        }
    }
}
