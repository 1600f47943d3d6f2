//! Settings from environment variables named `FULGURITE_...`.

use crate::error::{ConfigError, Origin};
use crate::hint::nearest;
use crate::layer::{Layer, keys};

const PREFIX: &str = "FULGURITE_";

impl Layer {
    /// Reads the variables whose names begin with `FULGURITE_`; give it `std::env::vars()`.
    ///
    /// A key's variable is its name in capitals with `_` for `.`: `limits.size` is `FULGURITE_LIMITS_SIZE`. Empty
    /// variables count as absent. Unknown ones are refused only when they look like a slip of a known one: container
    /// platforms invent variables of their own (`FULGURITE_SERVICE_HOST`) for a service of that name.
    ///
    /// # Errors
    /// [`ConfigError::Value`] for a value its key does not take, [`ConfigError::UnknownKey`] for a near miss.
    pub fn from_environment(
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Layer, ConfigError> {
        let mut layer = Layer::default();
        for (name, value) in variables {
            let Some(rest) = name.strip_prefix(PREFIX) else {
                continue;
            };
            if value.is_empty() {
                continue;
            }
            match keys().find(|key| variable_part(key) == rest) {
                Some(key) => layer.set(key, value.as_str(), &Origin::Variable(name.clone()))?,
                None => refuse_near_miss(&name, rest)?,
            }
        }
        Ok(layer)
    }
}

fn variable_part(key: &str) -> String {
    key.replace('.', "_").to_ascii_uppercase()
}

fn refuse_near_miss(name: &str, rest: &str) -> Result<(), ConfigError> {
    let known: Vec<String> = keys()
        .map(|key| variable_part(key).to_ascii_lowercase())
        .collect();
    // A wrong word ("PORT" for "ROOT.DN") is not a slip of the finger: two edits at most, and only of longer words.
    match nearest(rest, known.iter().map(String::as_str)) {
        Some(near) if rest.len() > 4 => Err(ConfigError::UnknownKey {
            origin: Origin::Variable(name.to_owned()),
            key: name.to_owned(),
            hint: Some(format!("{PREFIX}{}", near.to_ascii_uppercase())),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Layer, ConfigError> {
        Layer::from_environment(
            pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        )
    }

    #[test]
    fn reads_what_is_ours() {
        let layer = read(&[
            ("PATH", "/bin"),
            ("FULGURITE_SUFFIX", "dc=example,dc=com"),
            (
                "FULGURITE_LISTEN",
                "ldap://127.0.0.1:3890 ldap://[::1]:3890",
            ),
            ("FULGURITE_LIMITS_SIZE", "unlimited"),
            ("FULGURITE_INDEX", "uid:eq mail:eq,sub"),
            ("FULGURITE_DATA", ""),
            ("FULGURITE_LOG_OPERATIONS", "yes"),
            ("FULGURITE_SERVICE_HOST", "10.0.0.1"),
            ("FULGURITE_PORT", "tcp://10.0.0.1:389"),
        ])
        .unwrap();
        let database = &layer.first;
        assert_eq!(&*database.content.suffixes[0].value, "dc=example,dc=com");
        assert_eq!(layer.global.listen.len(), 2);
        assert_eq!(database.storage.indexes.len(), 2);
        assert!(database.storage.directory.is_none());
        assert!(layer.global.log_operations.is_some_and(|said| said.value));
    }

    #[test]
    fn names_the_variable() {
        let error = read(&[("FULGURITE_THREADS", "many")])
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("FULGURITE_THREADS") && error.contains("cores"),
            "{error}"
        );
        let error = read(&[("FULGURITE_SUFIX", "dc=x")])
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("did you mean \"FULGURITE_SUFFIX\"?"),
            "{error}"
        );
    }
}
