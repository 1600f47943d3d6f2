//! What can be wrong with a setting, said in one sentence with its place.

use std::path::PathBuf;

use fulgurite_policy::Origin;

/// A setting that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file named by a setting cannot be read.
    #[error("cannot read {what} {}: {cause}", path.display())]
    Unreadable {
        /// What the file was to be: "configuration file", "root password file".
        what: &'static str,
        /// The file as it was named.
        path: PathBuf,
        /// The system's reason.
        cause: std::io::Error,
    },
    /// The file is not TOML.
    #[error("{origin}: {message}")]
    Syntax {
        /// The line of the mistake.
        origin: Origin,
        /// What the parser expected.
        message: String,
    },
    /// A key that no setting has.
    #[error("{origin}: there is no setting \"{key}\"{}", hint.as_ref().map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default())]
    UnknownKey {
        /// Where it stands.
        origin: Origin,
        /// The key as written.
        key: String,
        /// The nearest existing key, when one is near.
        hint: Option<String>,
    },
    /// A value that its key does not take.
    #[error("{origin}: {key}: {message}")]
    Value {
        /// Where it stands.
        origin: Origin,
        /// The key it was given for.
        key: String,
        /// What is wrong with it and what would be right.
        message: String,
    },
    /// A setting that this command cannot do without.
    #[error(
        "{what} is not set: give {flag}, {key} in the configuration file, or the environment variable {variable}"
    )]
    Missing {
        /// What is missing, in words.
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
        /// What is wrong.
        message: String,
    },
    /// A setting that means something which is not there.
    #[error("{origin}: {message}")]
    Meaning {
        /// Where it stands.
        origin: Origin,
        /// What is wrong.
        message: String,
    },
    /// Settings that exclude or demand each other.
    #[error("{0}")]
    Conflict(String),
}

impl ConfigError {
    /// What is wrong with something written at a place, said as the place's own reader says it.
    pub fn at(origin: &Origin, message: impl Into<String>) -> ConfigError {
        let message = message.into();
        match origin {
            // Readers of TOML know columns; lines alone come from slapd.conf and cn=config.
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
