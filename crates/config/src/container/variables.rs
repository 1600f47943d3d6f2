//! The variables that are set, and the words in them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::{ConfigError, Origin};

/// The variables that are not empty.
pub(crate) struct Variables(pub(crate) BTreeMap<String, String>);

impl Variables {
    pub(super) fn get(&self, name: &'static str) -> Option<(&str, Origin)> {
        let value = self.0.get(name)?;
        Some((value.as_str(), Origin::Variable(name.to_owned())))
    }

    /// Returns the first of several that is set.
    pub(super) fn first(&self, names: &[&'static str]) -> Option<(&str, Origin)> {
        names.iter().find_map(|name| self.get(name))
    }

    pub(super) fn is_true(&self, name: &'static str) -> bool {
        self.get(name).is_some_and(|(value, _)| truth(value))
    }
}

/// Returns true for the words that mean so.
pub(super) fn truth(value: &str) -> bool {
    ["true", "yes", "on", "1"].contains(&value.to_ascii_lowercase().as_str())
}

impl Variables {
    /// Returns true if the variables are those of Bitnami's image.
    pub(super) fn is_bitnami(&self) -> bool {
        self.get("LDAP_ROOT").is_some()
    }

    /// Returns a secret that a variable has, or the file that another one names.
    pub(super) fn secret(
        &self,
        name: &'static str,
        file: &'static str,
    ) -> Result<Option<(String, Origin)>, ConfigError> {
        if let Some((value, origin)) = self.get(name) {
            return Ok(Some((value.to_owned(), origin)));
        }
        let Some((path, origin)) = self.get(file) else {
            return Ok(None);
        };
        let path = PathBuf::from(path);
        let text = std::fs::read_to_string(&path).map_err(|cause| ConfigError::Unreadable {
            what: "password file",
            path,
            cause,
        })?;
        Ok(Some((
            text.trim_end_matches(['\n', '\r']).to_owned(),
            origin,
        )))
    }
}

/// Returns the items of a list, which commas, semicolons or blanks divide.
pub(super) fn items(list: &str) -> Vec<&str> {
    let items = list.split([',', ';', ' ']);
    items.filter(|item| !item.is_empty()).collect()
}

/// Returns a value escaped for a name (RFC 4514, section 2.4), as far as these images' values need
/// it.
pub(super) fn escaped(value: &str) -> String {
    let mut out = String::new();
    for letter in value.chars() {
        if matches!(letter, ',' | '+' | '"' | '\\' | '<' | '>' | ';' | '=') {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}
