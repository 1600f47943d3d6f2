//! Settings of the way in which a database stores its data.

use std::path::PathBuf;

use fulgurite_policy::{Durability, IndexSelection};

use super::flag::{Flag, FlagGroup};
use super::group::settings;
use super::readers::ignore;
use super::spec::{Directive, Row, Scope, Take, mdb, own};
use crate::file_mode::{FileMode, parse_mode};
use crate::index::{self, IndexSetting};
use crate::quantity::parse_c_int;
use crate::setting::Setting as _;
use crate::statement::Statement;
use crate::{Note, Sourced};

settings! {
    /// Settings of the way in which a database stores its data.
    Storage / StorageLayer {
        /// Directory of the store. `fulgurite load` makes it; `serve` makes an empty one.
        "data" directory: Option<PathBuf> = None
            => mdb("directory", "olcDbDirectory", "<dir>").flag(Flag::value("--data", "DIR").of(FlagGroup::Store)).fixed()
                .installed(&["\"/var/lib/fulgurite\""]);
        /// Permissions of the files of the store.
        "storage.mode" mode: FileMode = FileMode(0o600) => mdb("mode", "olcDbMode", "<mode>").read(mode);
        /// State that a commit has reached when it is acknowledged: `full`, `no-meta-sync` or
        /// `no-sync`. With `full`, it is on disk. With `no-meta-sync`, a power loss may lose the
        /// last commits. With `no-sync`, it may destroy the file.
        "storage.durability" durability: Durability = Durability::Full
            => mdb("dbnosync", "olcDbNoSync", "<(null)>").taking(0, Some(1)).take(no_sync)
                .write(|durability| (*durability == Durability::NoSync).olc())
                .flag(Flag::value("--durability", "HOW"));
        /// Bytes that the data file may grow to. The store reserves address space for them; the
        /// file grows by need.
        "storage.map_bytes_max" map_bytes_max: u64 = 1 << 40
            => mdb("maxsize", "olcDbMaxSize", "<size>").flag(Flag::value("--map-bytes-max", "BYTES").of(FlagGroup::Store))
                .read(|statement| statement.unsigned_long("unsigned long").map(|size| size.max(1 << 20)));
        /// Bytes of the log of changes, from which consumers catch up. The oldest changes go first.
        /// The log has at most a quarter of `storage.map_bytes_max`, and gives its room to entries.
        "storage.log_bytes_max" log_bytes_max: u64 = 256 << 20
            => own().flag(Flag::value("--log-bytes-max", "BYTES"));
        /// Reader slots of all processes together; the server takes more if it needs them.
        "storage.readers_max" readers_max: u32 = 126
            => mdb("maxreaders", "olcDbMaxReaders", "<num>").fixed();
        /// Bytes of one entry, or `unlimited`.
        "storage.entry_bytes_max" entry_bytes_max: Option<u64> = None
            => mdb("maxentrysize", "olcDbMaxEntrySize", "<size>")
                .read(|statement| Ok(Some(statement.unsigned_long("unsigned long")?).filter(|size| *size > 0)));
        /// Entries that a search reads before it releases its snapshot.
        "storage.snapshot_entries" snapshot_entries: u32 = 10_000
            => mdb("rtxnsize", "olcDbRtxnSize", "<entries>");
        /// Keep the indexes of the table `index` in the example file, except for attributes named
        /// there.
        "default_indexes" default_indexes: bool = true => own().flag(
                Flag::switch("--no-default-indexes", false)
                    .of(FlagGroup::Index)
                    .help("Use only the indexes of --index, none of the default ones."),
            );
        /// Kinds of index for attributes that slapd.conf's `index ATTRIBUTE` names without a kind.
        /// Unused in TOML files.
        "index_default" index_default: IndexSelection = IndexSelection::default()
            => own().examples(&["\"eq\""]);
    } {
        /// Indexes of each attribute: `eq` answers `(a=v)` and `(a>=v)`, `pres` answers `(a=*)`,
        /// `sub` answers `(a=*v*)`, `approx` answers `(a~=v)`. An attribute named here replaces its
        /// default; `none` drops it.
        "index" indexes: IndexSetting
            => mdb("index", "olcDbIndex", "<attr> <[pres,eq,approx,sub]>").taking(1, Some(2)).take(index)
                .write_group(written_indexes).flag(
                    Flag::repeated("--index", "ATTRIBUTE:KINDS").of(FlagGroup::Index).help(
                        "Keep an index: an attribute and any of eq, pres, sub, approx. Replaces the \
                         default index of the same attribute; `none` removes it.",
                    ),
                );
    }
}

impl Storage {
    /// Directives that have no setting or share one.
    pub(crate) const DIRECTIVES: &'static [Row<StorageLayer, Storage>] = &[
        Row {
            write: |storage| match *storage.durability {
                Durability::NoMetaSync => vec!["nometasync".to_owned()],
                _ => Vec::new(),
            },
            ..bare("envflags", "olcDbEnvFlags", "<flags>", (1, None), env_flags)
        },
        bare(
            "checkpoint",
            "olcDbCheckpoint",
            "<kbyte> <min>",
            (2, Some(2)),
            checkpoint,
        ),
        bare(
            "searchstack",
            "olcDbSearchStack",
            "<depth>",
            (1, Some(1)),
            |_, s, notes| {
                s.int()?;
                notes.push(Note::new(
                    &s.origin,
                    format!("searchstack: {NO_CANDIDATE_ARRAYS}"),
                ));
                Ok(())
            },
        ),
        bare(
            "idlexp",
            "olcBkMdbIdlExp",
            "<exp>",
            (1, Some(1)),
            |_, s, notes| {
                s.unsigned()?;
                notes.push(Note::new(
                    &s.origin,
                    format!("idlexp: {NO_CANDIDATE_ARRAYS}"),
                ));
                Ok(())
            },
        ),
        bare(
            "multival",
            "olcDbMultival",
            "<attr> <hi,lo>",
            (2, Some(2)),
            multival,
        ),
        bare(
            "dbpagesize",
            "olcDbPageSize",
            "<size>",
            (1, Some(1)),
            |_, s, notes| ignore(s, notes, "pages have the size of the system's"),
        ),
    ];
}

const NO_CANDIDATE_ARRAYS: &str = "there are no candidate arrays of a fixed size";
const ALWAYS_DURABLE: &str = "every commit is on disk when it is acknowledged";

const fn bare(
    keyword: &'static str,
    olc: &'static str,
    arguments: &'static str,
    (least, most): (usize, Option<usize>),
    take: Take<StorageLayer>,
) -> Row<StorageLayer, Storage> {
    let directive = Directive {
        least,
        most,
        scope: Scope::Store,
        ..Directive::new(keyword, olc, arguments)
    };
    Row::bare(directive, take)
}

impl Storage {
    /// Returns the indexes that the store keeps, with the default ones; none is without a kind.
    pub(crate) fn kept_indexes(&self) -> Vec<IndexSetting> {
        let defaults = match *self.default_indexes {
            true => index::defaults(),
            false => Vec::new(),
        };
        let defaults = defaults.into_iter().map(Sourced::by_default).collect();
        let joined = index::join(self.indexes.clone(), defaults);
        joined
            .into_iter()
            .map(|index| index.value)
            .filter(|index| !index.kinds.is_none())
            .collect()
    }
}

fn written_indexes(storage: &Storage) -> Vec<String> {
    let default = *storage.index_default;
    let default = (!default.is_none()).then(|| format!("default {default}"));
    let kept = storage.kept_indexes().into_iter();
    let kept = kept.map(|index| format!("{} {}", index.attribute, index.kinds));
    default.into_iter().chain(kept).collect()
}

fn index(
    storage: &mut StorageLayer,
    statement: &Statement,
    _: &mut Vec<Note>,
) -> Result<(), String> {
    let default = storage.index_default.as_ref().map(|default| default.value);
    let kinds = match statement.arguments.get(1) {
        Some(words) => index_kinds(words)?,
        None => default.ok_or("no indexes selected")?,
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
        let setting = Sourced::new(setting, statement.origin.clone());
        storage.indexes.push(setting);
    }
    Ok(())
}

fn index_kinds(words: &str) -> Result<IndexSelection, String> {
    let mut kinds = IndexSelection::default();
    for word in words.split(',').filter(|word| !word.is_empty()) {
        if !kinds.add(word) {
            return Err(format!("index type \"{word}\" undefined"));
        }
    }
    Ok(kinds)
}

fn no_sync(
    storage: &mut StorageLayer,
    statement: &Statement,
    _: &mut Vec<Note>,
) -> Result<(), String> {
    if statement.truth()? {
        let durability = Sourced::new(Durability::NoSync, statement.origin.clone());
        storage.durability = Some(durability);
    }
    Ok(())
}

fn env_flags(
    storage: &mut StorageLayer,
    statement: &Statement,
    notes: &mut Vec<Note>,
) -> Result<(), String> {
    for word in &statement.arguments {
        let origin = &statement.origin;
        let durability = match word.to_ascii_lowercase().as_str() {
            "nosync" => Durability::NoSync,
            "nometasync" => Durability::NoMetaSync,
            "writemap" | "mapasync" | "nordahead" => {
                let text =
                    format!("envflags {word}: the store chooses how it writes and reads its file");
                notes.push(Note::new(origin, text));
                continue;
            }
            _ => {
                let typed = &statement.keyword;
                return Err(format!("{typed}: unknown keyword \"{word}\""));
            }
        };
        storage.durability = Some(Sourced::new(durability, origin.clone()));
    }
    Ok(())
}

fn mode(statement: &Statement) -> Result<FileMode, String> {
    let word = statement.first();
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        // slapd stops at the first digit that is not octal.
        let octal: String = word.chars().take_while(|digit| digit.is_digit(8)).collect();
        let mode = u32::from_str_radix(&octal, 8).unwrap_or(0);
        return Ok(FileMode(mode & 0o7777));
    }
    let typed = &statement.keyword;
    parse_mode(word).ok_or_else(|| format!("<{typed}> unable to parse mode \"{word}\""))
}

fn checkpoint(
    _: &mut StorageLayer,
    statement: &Statement,
    notes: &mut Vec<Note>,
) -> Result<(), String> {
    for (name, word) in ["kbyte", "minutes"].into_iter().zip(&statement.arguments) {
        let number = parse_c_int(word).and_then(|number| i32::try_from(number).ok());
        if number.is_none() {
            return Err(format!("invalid {name} \"{word}\" in \"checkpoint\"."));
        }
    }
    notes.push(Note::new(
        &statement.origin,
        format!("checkpoint: {ALWAYS_DURABLE}"),
    ));
    Ok(())
}

fn multival(
    _: &mut StorageLayer,
    statement: &Statement,
    notes: &mut Vec<Note>,
) -> Result<(), String> {
    let bounds = statement.arguments.get(1);
    let bounds = bounds.and_then(|words| words.split_once(','));
    let bounds =
        bounds.and_then(|(high, low)| Some((high.parse::<u32>().ok()?, low.parse::<u32>().ok()?)));
    if bounds.is_none_or(|(high, low)| high < low) {
        return Err("invalid hi/lo thresholds".to_owned());
    }
    let text = "multival: the store separates attributes with many values by itself";
    notes.push(Note::new(&statement.origin, text.to_owned()));
    Ok(())
}
