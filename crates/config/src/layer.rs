//! The settings of one source.

use std::sync::Arc;

use fulgurite_policy::OverlaySettings;

use crate::database::DatabaseLayer;
use crate::setting::Value;
use crate::suggest::nearest;
use crate::table::{FlagForm, GlobalLayer, Info, PolicyLayer, keys};
use crate::{ConfigError, ConfigFiles, Note, Origin, SeedEntry, SeedWords, Sourced};

/// The settings of one source.
///
/// A program makes one from its flags, one with [`Layer::from_file`] and one with
/// [`Layer::from_environment`], and stacks them: `flags.over(file).over(environment)`.
#[derive(Clone, Debug, Default)]
pub struct Layer {
    /// Settings of the whole server.
    pub global: GlobalLayer,
    /// The rules of all databases.
    pub frontend: PolicyLayer,
    /// The overlays of all databases.
    pub frontend_overlays: Vec<OverlaySettings>,
    /// Settings of a database that the source does not declare. They go to the first one with a
    /// store.
    pub first: DatabaseLayer,
    /// Databases declared one by one.
    pub databases: Vec<DatabaseLayer>,
    /// Settings of `cn=config`.
    pub config: DatabaseLayer,
    /// The source is a configuration of slapd, so slapd's defaults apply.
    pub slapd: bool,
    /// The source declares all databases, even if that is none.
    pub declares_databases: bool,
    /// Modules that slapd would load; `cn=config` shows them.
    pub modules: Vec<Sourced<String>>,
    /// The folders in which slapd looks for modules, with colons between them.
    pub module_path: Option<Sourced<String>>,
    /// The configuration directory that the settings come from.
    pub files: Option<Arc<ConfigFiles>>,
    /// Entries that the first start adds.
    pub seeds: Vec<SeedEntry>,
    /// Words that LDIF files of the start contain as `{{ NAME }}`, with their values.
    pub seed_words: SeedWords,
    /// Messages that need no correction.
    pub notes: Vec<Note>,
}

impl Layer {
    /// Returns all keys that [`Layer::set`] knows, as files write them.
    pub fn keys() -> impl Iterator<Item = &'static str> {
        keys()
    }

    /// Sets a key as files and variables name it, for example `limits.size`; keys of databases go
    /// to the first.
    ///
    /// # Errors
    /// [`ConfigError::UnknownKey`], or [`ConfigError::Value`] for a value that the key does not
    /// take.
    pub fn set(
        &mut self,
        key: &str,
        value: impl Into<Value>,
        origin: &Origin,
    ) -> Result<(), ConfigError> {
        let value = value.into();
        let outcome = self
            .global
            .set(key, value.clone(), origin)
            .or_else(|| self.frontend.set(key, value.clone(), origin))
            .or_else(|| self.first.set(key, value, origin));
        match outcome {
            Some(Ok(())) => Ok(()),
            Some(Err((origin, message))) => Err(ConfigError::Value {
                origin,
                key: key.to_owned(),
                message,
            }),
            None => Err(ConfigError::UnknownKey {
                origin: origin.clone(),
                key: key.to_owned(),
                hint: nearest(key, keys()).map(str::to_owned),
            }),
        }
    }

    /// Sets a key to the value of a flag, as [`Layer::set`].
    ///
    /// # Errors
    /// As [`Layer::set`].
    pub fn set_flag(
        &mut self,
        flag: &'static str,
        key: &str,
        value: impl Into<Value>,
    ) -> Result<(), ConfigError> {
        self.set(key, value, &Origin::Flag(flag))
    }

    /// Sets a key to the values of a repeated flag, as [`Layer::set`].
    ///
    /// # Errors
    /// As [`Layer::set`].
    pub fn set_flag_list(
        &mut self,
        flag: &'static str,
        key: &str,
        values: impl IntoIterator<Item = String>,
    ) -> Result<(), ConfigError> {
        let origin = Origin::Flag(flag);
        let items = values.into_iter();
        let items = items.map(|item| Sourced::new(Value::Text(item), origin.clone()));
        self.set(key, Value::List(items.collect()), &origin)
    }

    /// Sets a setting to the values that its flag has on the command line; a switch has none.
    ///
    /// # Errors
    /// As [`Layer::set`].
    pub fn set_from_flag(&mut self, info: &Info, values: &[String]) -> Result<(), ConfigError> {
        let (Some(key), Some(flag)) = (info.key, info.flag) else {
            return Ok(());
        };
        match (flag.form, values.first()) {
            (FlagForm::Switch(value), _) => self.set_flag(flag.name, key, value),
            (FlagForm::Repeated(_), _) => {
                self.set_flag_list(flag.name, key, values.iter().cloned())
            }
            (FlagForm::Value(_), Some(value)) => self.set_flag(flag.name, key, value.as_str()),
            (FlagForm::Value(_), None) => Ok(()),
        }
    }

    /// Returns this layer with the settings of `lower` where this one sets nothing.
    ///
    /// Indexes are joined: an upper one replaces the lower one of the same attribute. A root
    /// password and a file for it are one setting. Either of the upper layer hides both of the
    /// lower one.
    #[must_use]
    pub fn over(self, lower: Layer) -> Layer {
        let mut notes = self.notes;
        notes.extend(lower.notes);
        Layer {
            global: self.global.over(lower.global),
            frontend: self.frontend.over(lower.frontend),
            frontend_overlays: match self.frontend_overlays.is_empty() {
                true => lower.frontend_overlays,
                false => self.frontend_overlays,
            },
            first: self.first.over(lower.first),
            databases: if self.databases.is_empty() {
                lower.databases
            } else {
                self.databases
            },
            config: self.config.over(lower.config),
            slapd: self.slapd || lower.slapd,
            declares_databases: self.declares_databases || lower.declares_databases,
            seeds: if self.seeds.is_empty() {
                lower.seeds
            } else {
                self.seeds
            },
            seed_words: if self.seed_words.is_empty() {
                lower.seed_words
            } else {
                self.seed_words
            },
            modules: if self.modules.is_empty() {
                lower.modules
            } else {
                self.modules
            },
            module_path: self.module_path.or(lower.module_path),
            files: self.files.or(lower.files),
            notes,
        }
    }
}

impl DatabaseLayer {
    /// Sets a key of content or storage. Returns `None` if there is no such key.
    pub(crate) fn set(
        &mut self,
        key: &str,
        value: Value,
        origin: &Origin,
    ) -> Option<Result<(), (Origin, String)>> {
        self.content
            .set(key, value.clone(), origin)
            .or_else(|| self.storage.set(key, value, origin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    fn layer(pairs: &[(&str, &str)]) -> Layer {
        let mut layer = Layer::default();
        for (key, value) in pairs {
            layer
                .set(key, *value, &Origin::Variable((*key).to_owned()))
                .unwrap();
        }
        layer
    }

    #[test]
    fn upper_layers_win_one_setting_at_a_time() {
        let flags = layer(&[("suffix", "dc=flag"), ("index", "CN:sub")]);
        let file = layer(&[
            ("suffix", "dc=file"),
            ("limits.size", "unlimited"),
            ("root.dn", "cn=a"),
            ("root.password_file", "pw"),
            ("index", "cn:eq l:eq"),
        ]);
        let environment = layer(&[
            ("root.password", "hidden"),
            ("limits.size", "7"),
            ("threads", "3"),
        ]);
        let all = flags.over(file).over(environment);
        let suffixes: Vec<_> = all
            .first
            .content
            .suffixes
            .iter()
            .map(|one| &**one)
            .collect();
        assert_eq!(suffixes, ["dc=flag"]);
        assert_eq!(
            all.first.content.root_password, None,
            "the file's password file hides the environment's password"
        );
        let indexes: Vec<String> = all
            .first
            .storage
            .indexes
            .iter()
            .map(|one| format!("{}:{}", one.attribute, one.kinds))
            .collect();
        assert_eq!(indexes, ["CN:sub", "l:eq"]);
        let settings = Settings::new(all).unwrap();
        assert_eq!(settings.global.threads.0, Some(3));
        assert_eq!(settings.frontend.size.soft, Some(crate::Limit::Unlimited));
    }
}
