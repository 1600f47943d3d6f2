//! One statement of slapd.conf or `cn=config`, and the readers of its arguments.

use crate::Origin;
use crate::quantity::parse_c_int;

/// The part of a configuration that a statement is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    /// Before any database, or in `database frontend`.
    Frontend,
    /// In `backend`.
    Backend,
    /// In `database config`.
    Config,
    /// In `database monitor`.
    Monitor,
    /// In `database mdb`.
    Store,
}

impl Section {
    /// Returns slapd's name of a database that has no suffix.
    pub(crate) fn without_suffix(self) -> Option<&'static str> {
        match self {
            Section::Frontend | Section::Backend => Some("frontend"),
            Section::Config => Some("config"),
            Section::Monitor => Some("monitor"),
            Section::Store => None,
        }
    }

    /// Returns true if the statement is about all databases.
    pub(crate) fn is_frontend(self) -> bool {
        matches!(self, Section::Frontend | Section::Backend)
    }
}

/// One directive with its arguments.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    /// The directive as typed.
    pub(crate) keyword: String,
    /// The tokens after it.
    pub(crate) arguments: Vec<String>,
    /// The text after it, with its quotes.
    pub(crate) text: String,
    /// The text is a value of `cn=config`, which has rules of quoting for itself.
    pub(crate) is_value: bool,
    /// The place of the statement.
    pub(crate) origin: Origin,
    /// The part of the configuration.
    pub(crate) section: Section,
}

impl Statement {
    /// Returns the first argument; empty if there is none.
    pub(crate) fn first(&self) -> &str {
        self.arguments.first().map_or("", String::as_str)
    }

    /// Reads the first argument as slapd reads a truth value. Without arguments, it is true.
    pub(crate) fn truth(&self) -> Result<bool, String> {
        let word = self.arguments.first().map_or("on", String::as_str);
        match word.to_ascii_lowercase().as_str() {
            "on" | "true" | "yes" => Ok(true),
            "off" | "false" | "no" => Ok(false),
            _ => Err(format!("<{}> invalid value", self.keyword)),
        }
    }

    /// Reads a number of 32 bits, with or without a sign.
    pub(crate) fn int(&self) -> Result<i32, String> {
        self.number("int")
    }

    /// Reads a number of 32 bits without a sign.
    pub(crate) fn unsigned(&self) -> Result<u32, String> {
        self.number("unsigned int")
    }

    /// Reads a number of 64 bits without a sign; `type_name` is slapd's name of the type.
    pub(crate) fn unsigned_long(&self, type_name: &str) -> Result<u64, String> {
        self.number(type_name)
    }

    fn number<T: TryFrom<i64>>(&self, type_name: &str) -> Result<T, String> {
        let word = self.first();
        let number = parse_c_int(word).and_then(|number| T::try_from(number).ok());
        let typed = &self.keyword;
        number.ok_or_else(|| format!("<{typed}> unable to parse \"{word}\" as {type_name}"))
    }
}
