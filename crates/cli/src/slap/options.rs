//! The options that slapd's programs share.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::failure::Failure;
use super::levels;
use fulgurite_terminal::getopt::ParsedOption;

/// The database of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum DatabaseChoice {
    /// The first one with entries.
    #[default]
    First,
    /// `-n`: by number, 0 for the configuration.
    Number(usize),
    /// `-b`: the database that holds this DN.
    Suffix(String),
}

impl DatabaseChoice {
    /// Returns true for the configuration database.
    pub(super) fn is_configuration(&self) -> bool {
        match self {
            DatabaseChoice::First => false,
            DatabaseChoice::Number(number) => *number == 0,
            DatabaseChoice::Suffix(suffix) => suffix.trim().eq_ignore_ascii_case("cn=config"),
        }
    }
}

/// The shared options.
#[derive(Clone, Debug)]
pub(super) struct SharedOptions {
    /// `-f`.
    pub(super) config_file: Option<PathBuf>,
    /// `-F`.
    pub(super) config_dir: Option<PathBuf>,
    /// `-d`, once or several times.
    pub(super) debug: Option<u32>,
    /// `-v`.
    pub(super) verbose: bool,
    /// `-c`.
    pub(super) continue_on_error: bool,
    /// `-g`.
    pub(super) without_glued: bool,
    /// `-n` or `-b`.
    pub(super) choice: DatabaseChoice,
    /// `-l`.
    pub(super) file: Option<PathBuf>,
    /// `-o schema-check=`.
    pub(super) schema_check: bool,
    /// `-o value-check=`: refuse duplicate values.
    pub(super) value_check: bool,
    /// `-o ldif-wrap=`: columns, none for no folding.
    pub(super) wrap: Option<Option<usize>>,
    /// `-o authzDN=`, `peername=` and so on: facts for access rules.
    pub(super) facts: Vec<(String, String)>,
}

impl Default for SharedOptions {
    fn default() -> SharedOptions {
        SharedOptions {
            config_file: None,
            config_dir: None,
            debug: None,
            verbose: false,
            continue_on_error: false,
            without_glued: false,
            choice: DatabaseChoice::First,
            file: None,
            schema_check: true,
            value_check: false,
            wrap: None,
            facts: Vec::new(),
        }
    }
}

/// Facts about a connection that slapacl takes.
const FACTS: &[&str] = &[
    "authzDN",
    "domain",
    "peername",
    "sasl_ssf",
    "sockname",
    "sockurl",
    "ssf",
    "tls_ssf",
    "transport_ssf",
];

impl SharedOptions {
    /// Takes a shared option. Returns false for any other option.
    ///
    /// # Errors
    /// [`Failure`] for an invalid value.
    pub(super) fn take(&mut self, given: &ParsedOption) -> Result<bool, Failure> {
        let path = || PathBuf::from(&given.value);
        match given.letter {
            'f' => self.config_file = Some(path()),
            'F' => self.config_dir = Some(path()),
            'd' => self.add_level(&given.value)?,
            'v' => self.verbose = true,
            'c' => self.continue_on_error = true,
            'g' => self.without_glued = true,
            'l' => self.file = Some(path()),
            'n' => self.choose(DatabaseChoice::Number(number(&given.value)?))?,
            'b' => self.choose(DatabaseChoice::Suffix(text(&given.value)))?,
            'o' => self.add_option(&given.value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn choose(&mut self, choice: DatabaseChoice) -> Result<(), Failure> {
        // One database only: a second option is an error, even for the same database.
        if self.choice != DatabaseChoice::First {
            return Err(Failure::Usage);
        }
        self.choice = choice;
        Ok(())
    }

    fn add_level(&mut self, value: &OsStr) -> Result<(), Failure> {
        let value = text(value);
        if value == "?" {
            print!("{}", levels::table());
            return Err(Failure::Reported(1));
        }
        let mask = levels::parse(&value).map_err(|wrong| {
            eprintln!("unrecognized log level \"{wrong}\"");
            Failure::Usage
        })?;
        self.debug = Some(self.debug.unwrap_or(0) | mask);
        Ok(())
    }

    fn add_option(&mut self, value: &OsStr) -> Result<(), Failure> {
        let given = text(value);
        let (name, value) = match given.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (given.as_str(), None),
        };
        let wrong = || {
            eprintln!("unable to parse {name}=\"{}\".", value.unwrap_or_default());
            Failure::Usage
        };
        match (name.to_ascii_lowercase().as_str(), value) {
            ("schema-check", Some(value)) => {
                self.schema_check = yes_or_no(value).ok_or_else(wrong)?
            }
            ("value-check", Some(value)) => {
                self.value_check = yes_or_no(value).ok_or_else(wrong)?;
            }
            ("ldif-wrap" | "ldif_wrap", Some("no")) => self.wrap = Some(None),
            ("ldif-wrap" | "ldif_wrap", Some(value)) => {
                let columns: usize = value.parse().map_err(|_| wrong())?;
                self.wrap = Some(Some(columns).filter(|columns| *columns > 0));
            }
            ("syslog" | "syslog-level" | "syslog-user" | "slp", _) => {}
            ("module-path" | "module-load", Some(_)) => {}
            (name, Some(value)) => {
                let fact = FACTS.iter().find(|fact| fact.eq_ignore_ascii_case(name));
                let fact = fact.ok_or(Failure::Usage)?;
                self.facts.push(((*fact).to_owned(), value.to_owned()));
            }
            _ => return Err(Failure::Usage),
        }
        Ok(())
    }
}

/// Parses the number of an option.
pub(super) fn number<T: std::str::FromStr>(value: &OsString) -> Result<T, Failure> {
    text(value).trim().parse().map_err(|_| Failure::Usage)
}

fn yes_or_no(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "yes" | "true" | "on" | "1" => Some(true),
        "no" | "false" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// Returns the text of an argument, with bytes that are no UTF-8 replaced.
pub(super) fn text(argument: &OsStr) -> String {
    argument.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(common: &mut SharedOptions, letter: char, value: &str) -> Result<bool, Failure> {
        common.take(&ParsedOption {
            letter,
            value: value.into(),
        })
    }

    #[test]
    fn shared_options() {
        let mut common = SharedOptions::default();
        for (letter, value) in [
            ('d', "stats"),
            ('d', "0x1"),
            ('o', "ldif-wrap=no"),
            ('o', "schema-check=no"),
            ('o', "peername=IP=127.0.0.1:9"),
            ('n', "1"),
        ] {
            assert!(take(&mut common, letter, value).unwrap(), "{letter}");
        }
        assert_eq!(common.debug, Some(0x101));
        assert_eq!(common.wrap, Some(None));
        assert!(!common.schema_check);
        let fact = ("peername".to_owned(), "IP=127.0.0.1:9".to_owned());
        assert_eq!(common.facts, [fact]);
        assert_eq!(common.choice, DatabaseChoice::Number(1));
        assert!(!take(&mut common, 'q', "").unwrap());
        for (letter, value) in [('n', "2"), ('o', "foo=bar"), ('d', "bogus")] {
            assert!(
                matches!(take(&mut common, letter, value), Err(Failure::Usage)),
                "-{letter} {value}"
            );
        }
    }
}
