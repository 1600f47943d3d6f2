//! How values of each type are read from files and variables, and shown again.

use std::num::NonZeroU32;
use std::path::PathBuf;

use crate::quantity::{parse_bytes, parse_limit};
use crate::{Origin, Secret, Sourced};

/// A value as its source wrote it.
#[derive(Clone, Debug)]
pub enum Value {
    /// A string, or anything from the environment and the command line.
    Text(String),
    /// A number, in digits.
    Number(String),
    /// `true` or `false` in a file.
    Truth(bool),
    /// An array in a file, each item with its own place.
    List(Vec<Sourced<Value>>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

/// A type that settings have: how it is read and how it is shown.
pub(crate) trait Setting: Sized {
    /// Reads it. Errors are clauses that say what would be right, without the key's name.
    fn read(value: Value) -> Result<Self, String>;

    /// What a person sees; nothing when it is not set.
    fn show(&self) -> String;

    /// The items of a list that is given as one text.
    fn items(text: &str) -> Vec<String> {
        let lines = text.lines().map(str::trim);
        lines
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()
    }
}

/// Reads a list: an array in a file, or one text that the type knows how to divide.
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

/// The text of a value that is one.
pub(crate) fn text(value: Value) -> Result<String, String> {
    match value {
        Value::Text(text) if text.is_empty() => Err("the text is empty".to_owned()),
        Value::Text(text) => Ok(text),
        _ => Err("a text in quotes is wanted".to_owned()),
    }
}

/// The words of a value: an array of texts, or one text with spaces or commas between.
pub(crate) fn words(value: Value) -> Result<Vec<String>, String> {
    match value {
        Value::Text(all) => Ok(all
            .split([' ', '\t', ','])
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()),
        Value::List(items) => items.into_iter().map(|item| text(item.value)).collect(),
        _ => Err("a text, or a list of texts in brackets, is wanted".to_owned()),
    }
}

/// The digits of a value that is a number, or a text that may be one.
pub(crate) fn number_text(value: Value) -> Result<String, String> {
    match value {
        Value::Number(text) | Value::Text(text) => Ok(text),
        _ => Err("a number is wanted".to_owned()),
    }
}

impl Setting for String {
    fn read(value: Value) -> Result<Self, String> {
        text(value)
    }

    fn show(&self) -> String {
        self.clone()
    }
}

impl Setting for Option<String> {
    fn read(value: Value) -> Result<Self, String> {
        text(value).map(Some)
    }

    fn show(&self) -> String {
        self.clone().unwrap_or_default()
    }
}

impl Setting for PathBuf {
    fn read(value: Value) -> Result<Self, String> {
        text(value).map(PathBuf::from)
    }

    fn show(&self) -> String {
        self.display().to_string()
    }

    fn items(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }
}

impl Setting for Option<PathBuf> {
    fn read(value: Value) -> Result<Self, String> {
        PathBuf::read(value).map(Some)
    }

    fn show(&self) -> String {
        self.as_ref().map(Setting::show).unwrap_or_default()
    }
}

impl Setting for Option<Secret> {
    fn read(value: Value) -> Result<Self, String> {
        text(value).map(|text| Some(Secret(text)))
    }

    fn show(&self) -> String {
        if self.is_some() { "(hidden)" } else { "" }.to_owned()
    }
}

impl Setting for bool {
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
        truth.ok_or_else(|| "true or false is wanted".to_owned())
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

/// A whole number, zero among them.
impl Setting for u32 {
    fn read(value: Value) -> Result<Self, String> {
        let text = number_text(value)?;
        text.parse()
            .map_err(|_| format!("\"{text}\" is not a whole number from 0 to {}", u32::MAX))
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

/// A count of which zero would allow nothing.
impl Setting for NonZeroU32 {
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

    fn show(&self) -> String {
        self.to_string()
    }
}

/// A limit; none means unlimited.
impl Setting for Option<u32> {
    fn read(value: Value) -> Result<Self, String> {
        parse_limit(&number_text(value)?)
    }

    fn show(&self) -> String {
        self.map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string())
    }
}

/// A number of octets.
impl Setting for u64 {
    fn read(value: Value) -> Result<Self, String> {
        match parse_bytes(&number_text(value)?)? {
            0 => Err("0 bytes would allow nothing".to_owned()),
            bytes => Ok(bytes),
        }
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Setting for Option<u64> {
    fn read(value: Value) -> Result<Self, String> {
        match value {
            Value::Text(word) if word == "unlimited" => Ok(None),
            value => u64::read(value).map(Some),
        }
    }

    fn show(&self) -> String {
        self.map_or_else(|| "unlimited".to_owned(), |bytes| bytes.to_string())
    }
}

/// Gives each of these types the words that `policy` declares.
macro_rules! word_settings {
    ($($name:ident),*) => { $(
        impl Setting for fulgurite_policy::$name {
            fn read(value: Value) -> Result<Self, String> {
                Self::parse(&text(value)?)
            }

            fn show(&self) -> String {
                self.as_str().to_owned()
            }
        }
    )* };
}

word_settings!(
    AuthzPolicy,
    BuiltinSchema,
    CrlCheck,
    Durability,
    LogLevel,
    Subordinate,
    TlsVersion,
    VerifyClient
);

/// Words in a list.
impl Setting for Vec<String> {
    fn read(value: Value) -> Result<Self, String> {
        words(value)
    }

    fn show(&self) -> String {
        self.join(" ")
    }
}
