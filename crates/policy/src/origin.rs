//! The place where a setting was written.

use std::fmt;
use std::ops::Deref;
use std::path::PathBuf;

/// The place where a setting was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A line of a configuration file.
    File {
        /// The file as it was named.
        path: PathBuf,
        /// The line, counted from one.
        line: usize,
        /// The character of that line, counted from one, if the reader knows it.
        column: Option<usize>,
    },
    /// An environment variable.
    Variable(String),
    /// A flag of the command line, with its dashes.
    Flag(&'static str),
    /// No place: the value is the default.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File { path, line, column } => {
                write!(out, "{}, line {line}", path.display())?;
                match column {
                    Some(column) => write!(out, ", column {column}"),
                    None => Ok(()),
                }
            }
            Origin::Variable(name) => write!(out, "environment variable {name}"),
            Origin::Flag(flag) => out.write_str(flag),
            Origin::Default => out.write_str("default"),
        }
    }
}

/// A value and the place where it was written. Dereferences to the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Its place.
    pub origin: Origin,
}

impl<T> Sourced<T> {
    /// Returns a value from a place.
    pub fn new(value: T, origin: Origin) -> Self {
        Self { value, origin }
    }

    /// Returns a value that no source wrote.
    pub fn by_default(value: T) -> Self {
        Self::new(value, Origin::Default)
    }

    /// Returns true if no source wrote the value.
    pub fn is_default(&self) -> bool {
        self.origin == Origin::Default
    }
}

impl<T> Deref for Sourced<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}
