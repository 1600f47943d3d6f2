//! The arguments of `CREATE VIRTUAL TABLE ... USING fulgurite_raw(...)`.

use std::path::PathBuf;

use rusqlite::vtab::{dequote, parse_boolean};

use super::form::Form;
use crate::error::{Result, misuse};
use crate::session::Access;

/// The arguments of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arguments {
    pub(crate) directory: PathBuf,
    /// The named database; `None` is the unnamed one.
    pub(crate) database: Option<String>,
    pub(crate) key: Form,
    pub(crate) value: Form,
    pub(crate) access: Access,
}

impl Arguments {
    /// Arguments with defaults.
    pub(crate) fn new(directory: impl Into<PathBuf>) -> Arguments {
        Arguments {
            directory: directory.into(),
            database: None,
            key: Form::Auto,
            value: Form::Auto,
            access: Access::Read,
        }
    }

    /// Reads the arguments as SQLite splits them. The first one is the path, and the second may be
    /// the name of the database.
    pub(crate) fn parse(arguments: &[&[u8]]) -> Result<Arguments> {
        let mut parsed: Option<Arguments> = None;
        for argument in arguments {
            let argument = std::str::from_utf8(argument)?.trim();
            let named = argument
                .split_once('=')
                .filter(|(name, _)| is_word(name.trim()));
            match (&mut parsed, named) {
                (None, None) => parsed = Some(Arguments::new(&*dequote(argument))),
                (None, Some(_)) => {
                    return Err(misuse("the first argument is the environment's path"));
                }
                (Some(parsed), None) => parsed.set("database", &dequote(argument))?,
                (Some(parsed), Some((name, value))) => {
                    parsed.set(name.trim(), &dequote(value.trim()))?;
                }
            }
        }
        parsed.ok_or_else(|| misuse("the environment's path is missing"))
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let switch = || {
            parse_boolean(value)
                .ok_or_else(|| misuse(format!("{name} is on or off, not '{value}'")))
        };
        match name.to_ascii_lowercase().as_str() {
            "database" => self.database = Some(value.to_owned()),
            "key" => self.key = Form::named(value)?,
            "value" => self.value = Form::named(value)?,
            "writable" if switch()? => self.access = self.access_at_least(Access::Write),
            "create" if switch()? => self.access = self.access_at_least(Access::Create),
            "writable" | "create" => {}
            _ => {
                return Err(misuse(format!(
                    "no argument '{name}': there are database, key, value, writable and create"
                )));
            }
        }
        Ok(())
    }

    fn access_at_least(&self, access: Access) -> Access {
        match (self.access, access) {
            (Access::Create, _) | (_, Access::Create) => Access::Create,
            _ => Access::Write,
        }
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
}
