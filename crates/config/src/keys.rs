//! The one table of keys: every setting's name and how its value is read.

use std::path::PathBuf;

use crate::quantity::{parse_bytes, parse_limit};
use crate::{Durability, IndexSetting, Layer, LogLevel, Secret};

/// A value as its source wrote it.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A string, or anything from the environment.
    Text(String),
    /// A number, in digits.
    Number(String),
    /// `true` or `false` in a file.
    Truth(bool),
    /// An array in a file.
    List(Vec<Value>),
}

type Reader = fn(&mut Layer, Value) -> Result<(), String>;

/// All keys. The name in the environment follows from the key: `limits.size` is `FULGURITE_LIMITS_SIZE`.
pub(crate) const KEYS: &[(&str, Reader)] = &[
    ("data", |layer, value| set(&mut layer.data, path(value))),
    ("suffix", |layer, value| set(&mut layer.suffix, text(value))),
    ("listen", |layer, value| {
        set(&mut layer.listen, parsed_list(value, str::parse))
    }),
    ("schema", |layer, value| {
        set(
            &mut layer.schema,
            parsed_list(value, |one| Ok(PathBuf::from(one))),
        )
    }),
    ("rfc2307bis", |layer, value| {
        set(&mut layer.rfc2307bis, truth(value))
    }),
    ("threads", |layer, value| {
        set(&mut layer.threads, threads(value))
    }),
    ("default_indexes", |layer, value| {
        set(&mut layer.default_indexes, truth(value))
    }),
    // In a file this is a table, read by `file.rs`; as one text it is what follows --index, separated by spaces.
    ("index", |layer, value| {
        layer.index = parsed_list(value, IndexSetting::parse)?;
        Ok(())
    }),
    ("access", |layer, value| {
        set(&mut layer.access, rules(value))
    }),
    ("root.dn", |layer, value| {
        set(&mut layer.root_dn, text(value))
    }),
    ("root.password", |layer, value| {
        set(&mut layer.root_password, text(value).map(Secret))
    }),
    ("root.password_file", |layer, value| {
        set(&mut layer.root_password_file, path(value))
    }),
    ("limits.size", |layer, value| {
        set(&mut layer.limits_size, limit(value))
    }),
    ("limits.time", |layer, value| {
        set(&mut layer.limits_time, limit(value))
    }),
    ("limits.request_bytes", |layer, value| {
        set(&mut layer.limits_request_bytes, bytes(value))
    }),
    ("limits.request_bytes_anonymous", |layer, value| {
        set(&mut layer.limits_request_bytes_anonymous, bytes(value))
    }),
    ("limits.connections", |layer, value| {
        set(&mut layer.limits_connections, count(value))
    }),
    ("limits.pending", |layer, value| {
        set(&mut layer.limits_pending, count(value))
    }),
    ("limits.idle", |layer, value| {
        set(&mut layer.limits_idle, limit(value))
    }),
    ("limits.filter_depth", |layer, value| {
        set(&mut layer.limits_filter_depth, count(value))
    }),
    ("storage.durability", |layer, value| {
        set(
            &mut layer.storage_durability,
            word(value, Durability::parse),
        )
    }),
    ("storage.map_bytes_max", |layer, value| {
        set(&mut layer.storage_map_bytes_max, bytes(value))
    }),
    ("storage.readers_max", |layer, value| {
        set(&mut layer.storage_readers_max, count(value))
    }),
    ("log.level", |layer, value| {
        set(&mut layer.log_level, word(value, LogLevel::parse))
    }),
    ("log.operations", |layer, value| {
        set(&mut layer.log_operations, truth(value))
    }),
];

/// The reader of a key.
pub(crate) fn find(key: &str) -> Option<Reader> {
    KEYS.iter()
        .find(|(name, _)| *name == key)
        .map(|(_, read)| *read)
}

fn set<T>(place: &mut Option<T>, value: Result<T, String>) -> Result<(), String> {
    *place = Some(value?);
    Ok(())
}

fn text(value: Value) -> Result<String, String> {
    match value {
        Value::Text(text) if text.is_empty() => Err("the text is empty".to_owned()),
        Value::Text(text) => Ok(text),
        _ => Err("a text in quotes is wanted".to_owned()),
    }
}

fn path(value: Value) -> Result<PathBuf, String> {
    text(value).map(PathBuf::from)
}

fn word<T>(value: Value, parse: fn(&str) -> Result<T, String>) -> Result<T, String> {
    parse(&text(value)?)
}

fn truth(value: Value) -> Result<bool, String> {
    match value {
        Value::Truth(truth) => Ok(truth),
        Value::Text(text) if ["true", "yes", "1"].contains(&text.as_str()) => Ok(true),
        Value::Text(text) if ["false", "no", "0"].contains(&text.as_str()) => Ok(false),
        _ => Err("true or false is wanted".to_owned()),
    }
}

fn number_text(value: Value) -> Result<String, String> {
    match value {
        Value::Number(text) | Value::Text(text) => Ok(text),
        _ => Err("a number is wanted".to_owned()),
    }
}

fn bytes(value: Value) -> Result<u64, String> {
    match parse_bytes(&number_text(value)?)? {
        0 => Err("0 bytes would allow nothing".to_owned()),
        bytes => Ok(bytes),
    }
}

fn limit(value: Value) -> Result<Option<u32>, String> {
    parse_limit(&number_text(value)?)
}

fn count(value: Value) -> Result<u32, String> {
    let text = number_text(value)?;
    match text.parse() {
        Ok(0) => Err("0 would allow nothing".to_owned()),
        Ok(count) => Ok(count),
        Err(_) => Err(format!(
            "\"{text}\" is not a whole number from 1 to {}",
            u32::MAX
        )),
    }
}

fn threads(value: Value) -> Result<Option<u32>, String> {
    match value {
        Value::Text(word) if word == "cores" => Ok(None),
        value => match count(value) {
            Ok(threads) if threads <= 1024 => Ok(Some(threads)),
            _ => Err(
                "a number from 1 to 1024, or \"cores\" for one thread per core, is wanted"
                    .to_owned(),
            ),
        },
    }
}

/// A list in a file, or words separated by spaces.
fn parsed_list<T>(value: Value, parse: fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    match value {
        Value::Text(text) => text.split_whitespace().map(parse).collect(),
        Value::List(items) => items.into_iter().map(|item| parse(&text(item)?)).collect(),
        _ => Err("a text, or a list of texts in brackets, is wanted".to_owned()),
    }
}

/// Access rules: a list in a file, or one rule a line.
fn rules(value: Value) -> Result<Vec<String>, String> {
    match value {
        Value::Text(text) => Ok(text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()),
        Value::List(items) => items.into_iter().map(text).collect(),
        _ => Err("a list of rules in brackets is wanted".to_owned()),
    }
}
