//! Flags as a layer of settings, on top of the file and the environment.

use std::path::Path;

use fulgurite_config::{ConfigError, Layer, Settings};

use crate::arguments::{Export, Load, SchemaFlags, Serve, StoreFlags};

/// The settings that hold when `flags` were given, with the file named by --config and the environment
/// below them.
pub(crate) fn settings(flags: Layer, config: Option<&Path>) -> Result<Settings, ConfigError> {
    let file = config
        .map(Layer::from_file)
        .transpose()?
        .unwrap_or_default();
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let environment = Layer::from_environment(variables)?;
    Settings::new(flags.over(file).over(environment))
}

impl Load {
    pub(crate) fn settings(&self) -> Result<Settings, ConfigError> {
        let layer = Layer {
            suffix: self.suffix.suffix.clone(),
            index: self.index.clone(),
            default_indexes: self.no_default_indexes.then_some(false),
            ..self.schema.over(self.store.layer())
        };
        settings(layer, self.store.config.as_deref())
    }
}

impl Serve {
    pub(crate) fn settings(&self) -> Result<Settings, ConfigError> {
        let layer = Layer {
            suffix: self.suffix.suffix.clone(),
            listen: some_unless_empty(&self.listen),
            root_dn: self.root_dn.clone(),
            root_password_file: self.root_password_file.clone(),
            threads: self.threads.map(Some),
            limits_size: self.size_limit,
            limits_time: self.time_limit,
            limits_idle: self.idle_timeout,
            limits_connections: self.connections,
            storage_durability: self.durability,
            log_level: self.log_level,
            log_operations: self.log_operations.then_some(true),
            ..self.schema.over(self.store.layer())
        };
        settings(layer, self.store.config.as_deref())
    }
}

impl Export {
    pub(crate) fn settings(&self) -> Result<Settings, ConfigError> {
        settings(
            self.schema.over(self.store.layer()),
            self.store.config.as_deref(),
        )
    }
}

impl StoreFlags {
    fn layer(&self) -> Layer {
        Layer {
            data: self.data.clone(),
            storage_map_bytes_max: self.map_bytes_max,
            ..Layer::default()
        }
    }
}

impl SchemaFlags {
    fn over(&self, layer: Layer) -> Layer {
        Layer {
            schema: some_unless_empty(&self.schema),
            rfc2307bis: self.rfc2307bis.then_some(true),
            ..layer
        }
    }
}

fn some_unless_empty<T: Clone>(list: &[T]) -> Option<Vec<T>> {
    (!list.is_empty()).then(|| list.to_vec())
}
