//! Texts of configurations.

use std::path::Path;

use fulgurite_config::{ConfigError, Layer, Settings};

/// A slapd.conf: read, and, if it can be used, shown and made into entries. Files that it includes
/// are not opened.
pub fn slapd_conf(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if text.to_lowercase().contains("include") {
        return;
    }
    use_up(Layer::from_slapd_conf_text(&text, Path::new("any.conf")));
}

/// Settings in TOML: the same.
pub fn settings_toml(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    use_up(Layer::from_toml(&text, Path::new("any.toml")));
}

fn use_up(layer: Result<Layer, ConfigError>) {
    match layer.and_then(Settings::new) {
        Ok(settings) => {
            let shown = settings.shown();
            let secret = |key: &str, value: &str| {
                key == "root.password" && !["", "(hidden)"].contains(&value)
            };
            assert!(!shown.iter().any(|line| secret(line.key, &line.value)));
            assert!(settings.config_entries(true).len() >= 4);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
