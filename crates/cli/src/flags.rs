//! Flags as a layer of settings, on top of the file and the environment.

use std::path::Path;

use fulgurite_config::{ConfigError, DatabaseChoice, Layer, Settings};

use crate::arguments::tools::{ConfigFlags, ExplainSearch, Import, Index, Modify, SchemaCheck};
use crate::arguments::{Export, Load, SchemaFlags, Serve, StoreFlags};

/// Returns the settings of `flags`, which override the file of --config, which overrides the
/// environment. If these declare several databases, `choice` says whether the command needs one.
pub(crate) fn settings(
    flags: Layer,
    config: Option<&Path>,
    choice: DatabaseChoice,
) -> Result<Settings, ConfigError> {
    let file = config
        .map(Layer::from_file)
        .transpose()?
        .unwrap_or_default();
    let environment = Layer::from_environment(variables())?;
    Settings::new(flags.flags_over(file.over(environment), choice)?)
}

/// Returns the variables of the environment that are text.
pub(crate) fn variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

impl Load {
    pub(crate) fn settings(&self) -> Result<Settings, ConfigError> {
        let mut flags = Flags::default();
        self.store.say(&mut flags)?;
        self.schema.say(&mut flags)?;
        flags.say("--suffix", "suffix", self.suffix.suffix.as_ref())?;
        flags.say_all("--index", "index", &self.index, |index| {
            format!("{}:{}", index.attribute, index.kinds)
        })?;
        let defaults = self.no_default_indexes.then_some("false");
        flags.say("--no-default-indexes", "default_indexes", defaults)?;
        settings(flags.0, self.store.config.as_deref(), DatabaseChoice::One)
    }
}

impl Serve {
    pub(crate) fn settings(&self) -> Result<Settings, ConfigError> {
        let mut flags = Flags::default();
        self.store.say(&mut flags)?;
        self.schema.say(&mut flags)?;
        flags.say("--suffix", "suffix", self.suffix.suffix.as_ref())?;
        flags.say_all("--listen", "listen", &self.listen, |url| url.text.clone())?;
        flags.say("--root-dn", "root.dn", self.root_dn.as_ref())?;
        let password = self.root_password_file.as_ref();
        let password = password.map(|path| path.display());
        flags.say("--root-password-file", "root.password_file", password)?;
        flags.say("--threads", "threads", self.threads)?;
        let limit = |limit: Option<Option<u32>>| {
            limit.map(|limit| limit.map_or("unlimited".to_owned(), |limit| limit.to_string()))
        };
        flags.say("--size-limit", "limits.size", limit(self.size_limit))?;
        flags.say("--time-limit", "limits.time", limit(self.time_limit))?;
        flags.say("--idle-timeout", "limits.idle", limit(self.idle_timeout))?;
        flags.say("--connections", "limits.connections", self.connections)?;
        let durability = self.durability.map(|durability| durability.as_str());
        flags.say("--durability", "storage.durability", durability)?;
        let level = self.log_level.map(|level| level.as_str());
        flags.say("--log-level", "log.level", level)?;
        let operations = self.log_operations.then_some("true");
        flags.say("--log-operations", "log.operations", operations)?;
        settings(flags.0, self.store.config.as_deref(), DatabaseChoice::All)
    }
}

impl Export {
    pub(crate) fn settings(&self) -> Result<Settings, ConfigError> {
        store_settings(&self.store, &self.schema, self.suffix.suffix.as_ref())
    }
}

impl Index {
    pub(crate) fn settings(&self) -> Result<Settings, ConfigError> {
        store_settings(&self.store, &self.schema, self.suffix.suffix.as_ref())
    }
}

impl Modify {
    pub(crate) fn settings(&self) -> Result<Settings, ConfigError> {
        store_settings(&self.store, &self.schema, self.suffix.suffix.as_ref())
    }
}

impl SchemaCheck {
    pub(crate) fn settings(&self) -> Result<Settings, ConfigError> {
        store_settings(&self.store, &self.schema, self.suffix.suffix.as_ref())
    }
}

impl ExplainSearch {
    pub(crate) fn settings(&self) -> Result<Settings, ConfigError> {
        store_settings(&self.store, &self.schema, self.suffix.suffix.as_ref())
    }
}

impl Import {
    /// Returns the settings; of several databases, that of `suffix` counts.
    pub(crate) fn settings(&self, suffix: &str) -> Result<Settings, ConfigError> {
        let mut flags = Flags::default();
        self.store.say(&mut flags)?;
        self.schema.say(&mut flags)?;
        let layer = match &self.slapd_conf {
            Some(path) => Layer::from_slapd_conf(path)?,
            None => Layer::default(),
        };
        let file = self.store.config.as_deref().map(Layer::from_file);
        let file = file.transpose()?.unwrap_or_default();
        let mut lower = layer.over(file);
        if lower.store_suffixes().count() > 1 {
            let mut choice = Layer::default();
            choice.set_flag("--from", "suffix", suffix)?;
            lower = choice.flags_over(lower, DatabaseChoice::One)?;
        }
        Settings::new(flags.0.over(lower))
    }
}

impl ConfigFlags {
    /// Returns the settings of a file or directory. A TOML file overrides the environment.
    pub(crate) fn settings(&self) -> Result<Settings, ConfigError> {
        match (&self.slapd_conf, &self.slapd_dir) {
            (Some(file), _) => Settings::new(Layer::from_slapd_conf(file)?),
            (None, Some(dir)) => Settings::new(Layer::from_config_dir(dir)?),
            (None, None) => settings(
                Layer::default(),
                self.config.as_deref(),
                DatabaseChoice::All,
            ),
        }
    }
}

fn store_settings(
    store: &StoreFlags,
    schema: &SchemaFlags,
    suffix: Option<&String>,
) -> Result<Settings, ConfigError> {
    let mut flags = Flags::default();
    store.say(&mut flags)?;
    schema.say(&mut flags)?;
    flags.say("--suffix", "suffix", suffix)?;
    settings(flags.0, store.config.as_deref(), DatabaseChoice::One)
}

impl StoreFlags {
    fn say(&self, flags: &mut Flags) -> Result<(), ConfigError> {
        let data = self.data.as_ref().map(|path| path.display());
        flags.say("--data", "data", data)?;
        flags.say(
            "--map-bytes-max",
            "storage.map_bytes_max",
            self.map_bytes_max,
        )
    }
}

impl SchemaFlags {
    fn say(&self, flags: &mut Flags) -> Result<(), ConfigError> {
        flags.say_all("--schema", "schema", &self.schema, |path| {
            path.display().to_string()
        })?;
        flags.say(
            "--rfc2307bis",
            "rfc2307bis",
            self.rfc2307bis.then_some("true"),
        )
    }
}

/// A layer of settings that flags fill.
#[derive(Default)]
pub(crate) struct Flags(pub(crate) Layer);

impl Flags {
    /// Sets a key if the flag is present.
    pub(crate) fn say(
        &mut self,
        flag: &'static str,
        key: &str,
        value: Option<impl ToString>,
    ) -> Result<(), ConfigError> {
        match value {
            Some(value) => self.0.set_flag(flag, key, value.to_string().as_str()),
            None => Ok(()),
        }
    }

    /// Sets a key with a list if the flag is present at least once.
    pub(crate) fn say_all<T>(
        &mut self,
        flag: &'static str,
        key: &str,
        values: &[T],
        text: impl Fn(&T) -> String,
    ) -> Result<(), ConfigError> {
        match values.is_empty() {
            true => Ok(()),
            false => self.0.set_flag_list(flag, key, values.iter().map(text)),
        }
    }
}
