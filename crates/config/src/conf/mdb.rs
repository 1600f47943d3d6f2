//! Directives about how a database of type mdb keeps its data.

use super::{Directive, Kind, Reader, Scope, Statement};
use crate::Sourced;
use crate::index::IndexSetting;
use crate::model::{FileMode, parse_mode};
use crate::quantity::parse_c_int;
use fulgurite_policy::{Durability, IndexKinds};

const NO_CANDIDATE_ARRAYS: &str = "there are no candidate arrays of a fixed size";
const ALWAYS_DURABLE: &str =
    "every commit is on disk when it is acknowledged; nothing is left to flush later";

pub(crate) const DIRECTIVES: &[Directive] = &[
    Directive::one(
        "directory",
        "olcDbDirectory",
        "<dir>",
        Kind::Text(|reader, value, origin| {
            let path = Some(value.into());
            reader.database().storage.directory = Some(Sourced::new(path, origin));
        }),
    )
    .within(Scope::Mdb),
    Directive::many(
        "index",
        "olcDbIndex",
        "<attr> <[pres,eq,approx,sub]>",
        Kind::Words(index),
    )
    .taking(1, Some(2))
    .within(Scope::Mdb),
    Directive::one(
        "maxsize",
        "olcDbMaxSize",
        "<size>",
        Kind::Octets("unsigned long", |reader, value, origin| {
            reader.database().storage.map_bytes_max =
                Some(Sourced::new(value.max(1 << 20), origin));
        }),
    )
    .within(Scope::Mdb),
    Directive::one(
        "maxreaders",
        "olcDbMaxReaders",
        "<num>",
        Kind::Unsigned(|reader, value, origin| {
            reader.database().storage.readers_max = Some(Sourced::new(value, origin));
            Ok(())
        }),
    )
    .within(Scope::Mdb),
    Directive::one(
        "maxentrysize",
        "olcDbMaxEntrySize",
        "<size>",
        Kind::Octets("unsigned long", |reader, value, origin| {
            let value = Some(value).filter(|octets| *octets > 0);
            reader.database().storage.entry_bytes_max = Some(Sourced::new(value, origin));
        }),
    )
    .within(Scope::Mdb),
    Directive::one(
        "rtxnsize",
        "olcDbRtxnSize",
        "<entries>",
        Kind::Unsigned(|reader, value, origin| {
            reader.database().storage.snapshot_entries = Some(Sourced::new(value, origin));
            Ok(())
        }),
    )
    .within(Scope::Mdb),
    Directive::one(
        "dbnosync",
        "olcDbNoSync",
        "<(null)>",
        Kind::Truth(|reader, value, origin| {
            if value {
                let durability = Sourced::new(Durability::NoSync, origin);
                reader.database().storage.durability = Some(durability);
            }
        }),
    )
    .taking(0, Some(1))
    .within(Scope::Mdb),
    Directive::many(
        "envflags",
        "olcDbEnvFlags",
        "<flags>",
        Kind::Words(envflags),
    )
    .within(Scope::Mdb),
    Directive::one("mode", "olcDbMode", "<mode>", Kind::Words(mode)).within(Scope::Mdb),
    Directive::many(
        "checkpoint",
        "olcDbCheckpoint",
        "<kbyte> <min>",
        Kind::Words(checkpoint),
    )
    .taking(2, Some(2))
    .within(Scope::Mdb),
    Directive::one(
        "searchstack",
        "olcDbSearchStack",
        "<depth>",
        Kind::Int(|reader, _, origin| {
            reader.note(origin, format!("searchstack: {NO_CANDIDATE_ARRAYS}"));
            Ok(())
        }),
    )
    .within(Scope::Mdb),
    Directive::one(
        "idlexp",
        "olcBkMdbIdlExp",
        "<exp>",
        Kind::Unsigned(|reader, _, origin| {
            reader.note(origin, format!("idlexp: {NO_CANDIDATE_ARRAYS}"));
            Ok(())
        }),
    )
    .within(Scope::Mdb),
    Directive::many(
        "multival",
        "olcDbMultival",
        "<attr> <hi,lo>",
        Kind::Words(multival),
    )
    .taking(2, Some(2))
    .within(Scope::Mdb),
    Directive::one(
        "dbpagesize",
        "olcDbPageSize",
        "<size>",
        Kind::Needless("pages have the size of the system's"),
    )
    .within(Scope::Mdb),
];

fn index(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let storage = &mut reader.database().storage;
    let usual = storage.index_default.as_ref().map(|said| said.value);
    let kinds = match statement.arguments.get(1) {
        Some(words) => index_kinds(words)?,
        None => usual.ok_or("no indexes selected")?,
    };
    if kinds.is_none() {
        return Err("no indexes selected".to_owned());
    }
    if statement.first().eq_ignore_ascii_case("default") {
        storage.index_default = Some(Sourced::new(kinds, statement.origin.clone()));
        return Ok(());
    }
    for attribute in statement.first().split(',').filter(|name| !name.is_empty()) {
        let same = |known: &Sourced<IndexSetting>| known.attribute.eq_ignore_ascii_case(attribute);
        if storage.indexes.iter().any(same) {
            return Err(format!(
                "duplicate index definition for attr \"{attribute}\""
            ));
        }
        let attribute = attribute.to_owned();
        let setting = IndexSetting { attribute, kinds };
        storage
            .indexes
            .push(Sourced::new(setting, statement.origin.clone()));
    }
    Ok(())
}

fn index_kinds(words: &str) -> Result<IndexKinds, String> {
    let mut kinds = IndexKinds::default();
    for word in words.split(',').filter(|word| !word.is_empty()) {
        if !kinds.add(word) {
            return Err(format!("index type \"{word}\" undefined"));
        }
    }
    Ok(kinds)
}

fn envflags(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    for word in &statement.arguments {
        let origin = statement.origin.clone();
        let storage = &mut reader.database().storage;
        match word.to_ascii_lowercase().as_str() {
            "nosync" => storage.durability = Some(Sourced::new(Durability::NoSync, origin)),
            "nometasync" => storage.durability = Some(Sourced::new(Durability::NoMetaSync, origin)),
            "writemap" | "mapasync" | "nordahead" => {
                let text = format!(
                    "envflags {word}: the store decides itself how it writes and reads its file"
                );
                reader.note(origin, text);
            }
            _ => return Err(format!("envflags: unknown keyword \"{word}\"")),
        }
    }
    Ok(())
}

fn mode(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let word = statement.first();
    // slapd stops at the first digit that is not octal.
    let octal: String = word.chars().take_while(|digit| digit.is_digit(8)).collect();
    let plain = word.bytes().all(|octet| octet.is_ascii_digit());
    let mode = match plain {
        true => u32::from_str_radix(&octal, 8)
            .ok()
            .or(Some(0))
            .map(|mode| FileMode(mode & 0o7777)),
        false => parse_mode(word),
    };
    let mode =
        mode.ok_or_else(|| format!("<{}> unable to parse mode \"{word}\"", statement.keyword))?;
    reader.database().storage.mode = Some(Sourced::new(mode, statement.origin.clone()));
    Ok(())
}

fn checkpoint(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    for (name, word) in ["kbyte", "minutes"].into_iter().zip(&statement.arguments) {
        if parse_c_int(word)
            .and_then(|number| i32::try_from(number).ok())
            .is_none()
        {
            return Err(format!("invalid {name} \"{word}\" in \"checkpoint\"."));
        }
    }
    reader.note(
        statement.origin.clone(),
        format!("checkpoint: {ALWAYS_DURABLE}"),
    );
    Ok(())
}

fn multival(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let bounds = statement
        .arguments
        .get(1)
        .and_then(|words| words.split_once(','));
    let bounds =
        bounds.and_then(|(high, low)| Some((high.parse::<u32>().ok()?, low.parse::<u32>().ok()?)));
    if bounds.is_none_or(|(high, low)| high < low) {
        return Err("invalid hi/lo thresholds".to_owned());
    }
    let text = "multival: attributes with many values are kept apart without being told".to_owned();
    reader.note(statement.origin.clone(), text);
    Ok(())
}
