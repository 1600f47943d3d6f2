//! Errors of settings: one sentence each, with the place.

use std::path::PathBuf;

use fulgurite_policy::Origin;

/// A setting that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file named by a setting cannot be read.
    #[error("cannot read {what} {}: {cause}", path.display())]
    Unreadable {
        /// The kind of file: "configuration file", "root password file".
        what: &'static str,
        /// The file as it was named.
        path: PathBuf,
        /// The system's reason.
        cause: std::io::Error,
    },
    /// The file is not TOML.
    #[error("{origin}: {message}")]
    Syntax {
        /// The line of the error.
        origin: Origin,
        /// The text that the parser expected.
        message: String,
    },
    /// An unknown key.
    #[error("{origin}: there is no setting \"{key}\"{}", hint.as_ref().map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default())]
    UnknownKey {
        /// Its place.
        origin: Origin,
        /// The key as written.
        key: String,
        /// The nearest existing key, when one is near.
        hint: Option<String>,
    },
    /// A value that does not fit its key.
    #[error("{origin}: {key}: {message}")]
    Value {
        /// Its place.
        origin: Origin,
        /// Its key.
        key: String,
        /// The error, and a value that would be right.
        message: String,
    },
    /// A setting that this command needs.
    #[error(
        "{what} is not set: give {flag}, {key} in the configuration file, or the environment variable {variable}"
    )]
    Missing {
        /// The missing setting, in words.
        what: &'static str,
        /// The flag that would set it.
        flag: &'static str,
        /// The key that would set it.
        key: &'static str,
        /// The variable that would set it.
        variable: &'static str,
    },
    /// A line of a slapd.conf that slapd would refuse, in its words.
    #[error("{}: line {line}: {message}", path.display())]
    Directive {
        /// The file as it was named.
        path: PathBuf,
        /// The line, counted from one; of a continued one the last.
        line: usize,
        /// The error.
        message: String,
    },
    /// A setting that names something which does not exist.
    #[error("{origin}: {message}")]
    Meaning {
        /// Its place.
        origin: Origin,
        /// The error.
        message: String,
    },
    /// Settings that exclude or need each other.
    #[error("{0}")]
    Conflict(String),
}

impl ConfigError {
    /// Returns an error at a place, in the form of the reader of that place.
    pub fn at(origin: &Origin, message: impl Into<String>) -> ConfigError {
        let message = message.into();
        match origin {
            // The reader of TOML knows columns; those of slapd.conf and cn=config know lines only.
            Origin::File {
                path,
                line,
                column: None,
            } => ConfigError::Directive {
                path: path.clone(),
                line: *line,
                message,
            },
            origin => ConfigError::Meaning {
                origin: origin.clone(),
                message,
            },
        }
    }
}
