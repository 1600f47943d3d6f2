//! Words in braces that LDIF files of the start contain, with their values.
//!
//! ```text
//!   {{ LDAP_BASE_DN }}                   --> the text
//!   {{ LDAP_CONFIG_PASSWORD_ENCRYPTED }} --> the hash of the password, made once for each start
//! ```

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::{ConfigError, Secret};

/// The function that makes the hash of a password. Its error is a clause with the reason.
pub type PasswordHash<'h> = dyn Fn(&str) -> Result<String, String> + 'h;

/// The words of a start with their values.
#[derive(Clone, Debug, Default)]
pub struct SeedWords {
    texts: BTreeMap<String, String>,
    passwords: BTreeMap<String, SeedPassword>,
}

/// A password, and its hash once a file needs it.
#[derive(Clone, Debug)]
struct SeedPassword {
    clear: Secret,
    hash: Arc<OnceLock<String>>,
}

impl SeedWords {
    /// Returns true if there are no words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.passwords.is_empty()
    }

    pub(crate) fn add_text(&mut self, name: &str, value: String) {
        self.texts.insert(name.to_owned(), value);
    }

    /// Adds a word that files get as a hash.
    pub(crate) fn add_password(&mut self, name: &str, clear: String) {
        let password = SeedPassword {
            clear: Secret(clear),
            hash: Arc::default(),
        };
        self.passwords.insert(name.to_owned(), password);
    }

    /// Returns a text with the values of its words.
    ///
    /// # Errors
    /// [`ConfigError::Conflict`] for a password that has no hash.
    pub(crate) fn fill(&self, text: &str, hash: &PasswordHash<'_>) -> Result<String, ConfigError> {
        filled_in(text, &|name| match self.passwords.get(name) {
            Some(password) => password.hashed(name, hash).map(Some),
            None => Ok(self.texts.get(name).map(String::as_str)),
        })
    }

    /// Returns a text with the values of its words, and passwords as they are. Equal settings give
    /// equal texts, because a hash has another salt at each start.
    pub(crate) fn fill_in_clear(&self, text: &str) -> Result<String, ConfigError> {
        filled_in(text, &|name| {
            let clear = self.passwords.get(name);
            let clear = clear.map(|password| password.clear.0.as_str());
            Ok(clear.or(self.texts.get(name).map(String::as_str)))
        })
    }
}

impl SeedPassword {
    fn hashed(&self, name: &str, hash: &PasswordHash<'_>) -> Result<&str, ConfigError> {
        if let Some(known) = self.hash.get() {
            return Ok(known);
        }
        let made = hash(&self.clear.0).map_err(|reason| {
            ConfigError::Conflict(format!("the password of {name} has no hash: {reason}"))
        })?;
        Ok(self.hash.get_or_init(|| made))
    }
}

/// Returns a text with the values of the words that it contains in braces: `{{ NAME }}`.
fn filled_in<'w>(
    text: &str,
    value_of: &dyn Fn(&str) -> Result<Option<&'w str>, ConfigError>,
) -> Result<String, ConfigError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, behind)) = after.split_once("}}") else {
            break;
        };
        out.push_str(before);
        match value_of(name.trim())? {
            Some(value) => out.push_str(value),
            None => out.push_str(&format!("{{{{{name}}}}}")),
        }
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_braces_get_their_values() {
        let mut words = SeedWords::default();
        for (name, value) in [("LDAP_BASE_DN", "dc=x"), ("LDAP_BACKEND", "mdb")] {
            words.add_text(name, value.to_owned());
        }
        let filled = |text: &str| words.fill_in_clear(text).unwrap();
        assert_eq!(filled("dn: ou=a,{{ LDAP_BASE_DN }}\n"), "dn: ou=a,dc=x\n");
        assert_eq!(filled("{1}{{LDAP_BACKEND}},x {{ A }}"), "{1}mdb,x {{ A }}");
        assert_eq!(filled("a {{ b"), "a {{ b");
    }

    #[test]
    fn a_password_is_hashed_once_and_never_shown() {
        let mut words = SeedWords::default();
        words.add_password("SECRET_ENCRYPTED", "opensesame".to_owned());
        let calls = std::cell::Cell::new(0);
        let hash = |clear: &str| {
            calls.set(calls.get() + 1);
            Ok(format!("{{LENGTH}}{}", clear.len()))
        };
        let text = "userPassword: {{ SECRET_ENCRYPTED }}";
        for words in [&words, &words.clone()] {
            let filled = words.fill(text, &hash).unwrap();
            assert_eq!(filled, "userPassword: {LENGTH}10");
        }
        assert_eq!(calls.get(), 1);
        assert!(!format!("{words:?}").contains("opensesame"));
        assert_eq!(
            words.fill_in_clear(text).unwrap(),
            "userPassword: opensesame"
        );
        let mut other = SeedWords::default();
        other.add_password("SECRET_ENCRYPTED", "opensesame".to_owned());
        let refused = other
            .fill(text, &|_| Err("no memory".to_owned()))
            .unwrap_err();
        let refused = refused.to_string();
        assert!(refused.contains("SECRET_ENCRYPTED") && refused.contains("no memory"));
    }
}
