//! The types of settings: how each is read from its sources, and how it is written.

use std::num::NonZeroU32;
use std::path::PathBuf;

use fulgurite_policy::{
    AuditFormat, AuthzPolicy, BuiltinSchema, ClusterReads, CrlCheck, Durability, LogFormat,
    LogLevel, ReplicatedState, Subordinate, TlsVersion, VerifyClient,
};

use crate::quantity::{parse_bytes, parse_limit};
use crate::secret::Secret;
use crate::statement::Statement;
use crate::{Origin, Sourced};

/// A value as its source wrote it.
#[derive(Clone, Debug)]
pub enum Value {
    /// A string, or any value from the environment and the command line.
    Text(String),
    /// A number, in digits.
    Number(String),
    /// `true` or `false` in a file.
    Truth(bool),
    /// An array in a file, each item with its place.
    List(Vec<Sourced<Value>>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

/// A type of settings.
pub(crate) trait Setting: Sized {
    /// The type in words, for the reference.
    const KIND: &'static str;

    /// Reads a value of TOML, the environment or the command line.
    ///
    /// Errors are clauses that say which value would be right, without the key's name.
    fn read(value: Value) -> Result<Self, String>;

    /// Reads the arguments of a directive of slapd. Errors are slapd's sentences, without the
    /// place.
    fn from_statement(statement: &Statement) -> Result<Self, String> {
        Self::read(Value::Text(statement.first().to_owned()))
    }

    /// Returns the value as a person sees it; empty if it is not set.
    fn show(&self) -> String;

    /// Returns the value as TOML; `None` if it is not set.
    fn toml(&self) -> Option<String> {
        Some(quoted(&self.show()))
    }

    /// Returns the values of the attribute in `cn=config`.
    fn olc(&self) -> Vec<String> {
        vec![self.show()]
    }

    /// Returns the items of a list that is given as one text.
    fn items(text: &str) -> Vec<String> {
        let lines = text.lines().map(str::trim);
        lines
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()
    }
}

/// Returns a text as a string of TOML.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            control if control.is_control() => {
                out.push_str(&format!("\\u{:04X}", u32::from(control)));
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

/// Returns an array of strings as TOML.
pub(crate) fn toml_list<S: AsRef<str>>(items: &[S]) -> String {
    let items: Vec<String> = items.iter().map(|item| quoted(item.as_ref())).collect();
    format!("[{}]", items.join(", "))
}

/// Reads a list: an array in a file, or one text that the type divides.
pub(crate) fn read_list<T: Setting>(
    value: Value,
    origin: &Origin,
) -> Result<Vec<Sourced<T>>, (Origin, String)> {
    let items = match value {
        Value::List(items) => items,
        Value::Text(text) => {
            let items = T::items(&text).into_iter();
            items
                .map(|item| Sourced::new(Value::Text(item), origin.clone()))
                .collect()
        }
        other => vec![Sourced::new(other, origin.clone())],
    };
    let read = items.into_iter().map(|item| match T::read(item.value) {
        Ok(value) => Ok(Sourced::new(value, item.origin)),
        Err(message) => Err((item.origin, message)),
    });
    read.collect()
}

/// Fails if a text is no value of a type.
pub(crate) fn check<T: Setting>(text: &str) -> Result<(), String> {
    T::read(Value::Text(text.to_owned())).map(drop)
}

/// Returns the text of a value.
pub(crate) fn text(value: Value) -> Result<String, String> {
    match value {
        Value::Text(text) if text.is_empty() => Err("the text is empty".to_owned()),
        Value::Text(text) => Ok(text),
        _ => Err("a text in quotes is expected".to_owned()),
    }
}

/// Returns the words of a value: an array of texts, or one text with spaces or commas between them.
pub(crate) fn words(value: Value) -> Result<Vec<String>, String> {
    match value {
        Value::Text(all) => Ok(all
            .split([' ', '\t', ','])
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()),
        Value::List(items) => items.into_iter().map(|item| text(item.value)).collect(),
        _ => Err("a text, or a list of texts in brackets, is expected".to_owned()),
    }
}

/// Returns the digits of a value that is a number, or a text that may be one.
pub(crate) fn number_text(value: Value) -> Result<String, String> {
    match value {
        Value::Number(text) | Value::Text(text) => Ok(text),
        _ => Err("a number is expected".to_owned()),
    }
}

impl Setting for String {
    const KIND: &'static str = "text";

    fn read(value: Value) -> Result<Self, String> {
        text(value)
    }

    fn from_statement(statement: &Statement) -> Result<Self, String> {
        Ok(statement.first().to_owned())
    }

    fn show(&self) -> String {
        self.clone()
    }
}

impl Setting for PathBuf {
    const KIND: &'static str = "path";

    fn read(value: Value) -> Result<Self, String> {
        text(value).map(PathBuf::from)
    }

    fn from_statement(statement: &Statement) -> Result<Self, String> {
        Ok(PathBuf::from(statement.first()))
    }

    fn show(&self) -> String {
        self.display().to_string()
    }

    fn items(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }
}

impl Setting for Option<String> {
    const KIND: &'static str = "text";

    fn read(value: Value) -> Result<Self, String> {
        text(value).map(Some)
    }

    fn from_statement(statement: &Statement) -> Result<Self, String> {
        String::from_statement(statement).map(Some)
    }

    fn show(&self) -> String {
        self.clone().unwrap_or_default()
    }

    fn toml(&self) -> Option<String> {
        self.as_ref().and_then(Setting::toml)
    }
}

impl Setting for Option<PathBuf> {
    const KIND: &'static str = "path";

    fn read(value: Value) -> Result<Self, String> {
        PathBuf::read(value).map(Some)
    }

    fn from_statement(statement: &Statement) -> Result<Self, String> {
        PathBuf::from_statement(statement).map(Some)
    }

    fn show(&self) -> String {
        self.as_ref().map(Setting::show).unwrap_or_default()
    }

    fn toml(&self) -> Option<String> {
        self.as_ref().and_then(Setting::toml)
    }
}

impl Setting for Option<Secret> {
    const KIND: &'static str = "text, never shown";

    fn read(value: Value) -> Result<Self, String> {
        text(value).map(|text| Some(Secret(text)))
    }

    fn show(&self) -> String {
        if self.is_some() { "(hidden)" } else { "" }.to_owned()
    }

    fn toml(&self) -> Option<String> {
        None
    }
}

impl Setting for bool {
    const KIND: &'static str = "true or false";

    fn read(value: Value) -> Result<Self, String> {
        let truth = match &value {
            Value::Truth(truth) => Some(*truth),
            Value::Text(text) => match text.to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" | "1" => Some(true),
                "false" | "no" | "off" | "0" => Some(false),
                _ => None,
            },
            _ => None,
        };
        truth.ok_or_else(|| "true or false is expected".to_owned())
    }

    fn from_statement(statement: &Statement) -> Result<Self, String> {
        statement.truth()
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn toml(&self) -> Option<String> {
        Some(self.to_string())
    }

    fn olc(&self) -> Vec<String> {
        vec![if *self { "TRUE" } else { "FALSE" }.to_owned()]
    }
}

/// A whole number; zero is one.
impl Setting for u32 {
    const KIND: &'static str = "number";

    fn read(value: Value) -> Result<Self, String> {
        let text = number_text(value)?;
        text.parse()
            .map_err(|_| format!("\"{text}\" is not a whole number from 0 to {}", u32::MAX))
    }

    fn from_statement(statement: &Statement) -> Result<Self, String> {
        statement.unsigned()
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn toml(&self) -> Option<String> {
        Some(self.to_string())
    }
}

/// A count; zero would allow nothing.
impl Setting for NonZeroU32 {
    const KIND: &'static str = "number above zero";

    fn read(value: Value) -> Result<Self, String> {
        let text = number_text(value)?;
        match text.parse().map(NonZeroU32::new) {
            Ok(Some(count)) => Ok(count),
            Ok(None) => Err("0 would allow nothing".to_owned()),
            Err(_) => Err(format!(
                "\"{text}\" is not a whole number from 1 to {}",
                u32::MAX
            )),
        }
    }

    /// As slapd, takes a number below one for one.
    fn from_statement(statement: &Statement) -> Result<Self, String> {
        let number = u32::try_from(statement.int()?);
        Ok(number
            .ok()
            .and_then(NonZeroU32::new)
            .unwrap_or(NonZeroU32::MIN))
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn toml(&self) -> Option<String> {
        Some(self.to_string())
    }
}

/// A limit; none means unlimited.
impl Setting for Option<u32> {
    const KIND: &'static str = "number, or \"unlimited\"";

    fn read(value: Value) -> Result<Self, String> {
        parse_limit(&number_text(value)?)
    }

    /// Reads slapd's form: zero and less for no limit.
    fn from_statement(statement: &Statement) -> Result<Self, String> {
        let number = u32::try_from(statement.int()?);
        Ok(number.ok().filter(|number| *number > 0))
    }

    fn show(&self) -> String {
        self.map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string())
    }

    fn toml(&self) -> Option<String> {
        let unlimited = || quoted("unlimited");
        Some(self.map_or_else(unlimited, |limit| limit.to_string()))
    }

    fn olc(&self) -> Vec<String> {
        vec![self.unwrap_or(0).to_string()]
    }
}

/// A number of bytes.
impl Setting for u64 {
    const KIND: &'static str = "bytes, such as 4096 or \"4 MiB\"";

    fn read(value: Value) -> Result<Self, String> {
        match parse_bytes(&number_text(value)?)? {
            0 => Err("0 bytes would allow nothing".to_owned()),
            bytes => Ok(bytes),
        }
    }

    fn from_statement(statement: &Statement) -> Result<Self, String> {
        statement.unsigned_long("ber_len_t")
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn toml(&self) -> Option<String> {
        const UNITS: [(u32, &str); 4] = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
        let whole = |(shift, _): &&(u32, &str)| *self > 0 && self.trailing_zeros() >= *shift;
        Some(match UNITS.iter().find(whole) {
            Some((shift, unit)) => quoted(&format!("{} {unit}", self >> shift)),
            None => self.to_string(),
        })
    }
}

impl Setting for Option<u64> {
    const KIND: &'static str = "bytes, such as 4096 or \"4 MiB\", or \"unlimited\"";

    fn read(value: Value) -> Result<Self, String> {
        match value {
            Value::Text(word) if word == "unlimited" => Ok(None),
            value => u64::read(value).map(Some),
        }
    }

    fn show(&self) -> String {
        self.map_or_else(|| "unlimited".to_owned(), |bytes| bytes.to_string())
    }

    fn toml(&self) -> Option<String> {
        match self {
            Some(bytes) => bytes.toml(),
            None => Some(quoted("unlimited")),
        }
    }

    fn olc(&self) -> Vec<String> {
        vec![self.unwrap_or(0).to_string()]
    }
}

/// A list of words.
impl Setting for Vec<String> {
    const KIND: &'static str = "list of words";

    fn read(value: Value) -> Result<Self, String> {
        words(value)
    }

    fn show(&self) -> String {
        self.join(" ")
    }

    fn toml(&self) -> Option<String> {
        Some(toml_list(self))
    }

    fn olc(&self) -> Vec<String> {
        self.clone()
    }
}

/// Gives types with words (`policy::Choice`) the form of a setting.
macro_rules! choices {
    ($($name:ident),*) => { $(
        impl Setting for $name {
            const KIND: &'static str = "word";

            fn read(value: Value) -> Result<Self, String> {
                Self::parse(&text(value)?)
            }

            fn from_statement(statement: &Statement) -> Result<Self, String> {
                let (typed, word) = (&statement.keyword, statement.first());
                Self::parse(&word.to_ascii_lowercase()).map_err(|message| {
                    format!("<{typed}> unable to parse value \"{word}\": {message}")
                })
            }

            fn show(&self) -> String {
                self.as_str().to_owned()
            }
        }
    )* };
}

choices!(
    AuthzPolicy,
    BuiltinSchema,
    ClusterReads,
    CrlCheck,
    Durability,
    AuditFormat,
    LogFormat,
    LogLevel,
    ReplicatedState,
    Subordinate,
    TlsVersion,
    VerifyClient
);
