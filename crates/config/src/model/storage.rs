//! How a database keeps its data.

use std::path::PathBuf;

use fulgurite_policy::{Durability, IndexKinds};

use super::settings;
use crate::index::IndexSetting;
use crate::setting::{Setting, Value, number_text};

/// Permissions of files that a database makes, as `open(2)` takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileMode(pub u32);

impl Setting for FileMode {
    fn read(value: Value) -> Result<Self, String> {
        let text = number_text(value)?;
        parse_mode(&text).ok_or_else(|| {
            format!("\"{text}\" is no file mode; write one like \"0600\" or \"-rw-------\"")
        })
    }

    fn show(&self) -> String {
        format!("{:04o}", self.0)
    }
}

/// `0600`, `600` or `-rw-------`.
pub(crate) fn parse_mode(text: &str) -> Option<FileMode> {
    if text.bytes().all(|octet| octet.is_ascii_digit()) {
        return u32::from_str_radix(text, 8)
            .ok()
            .filter(|mode| *mode <= 0o7777)
            .map(FileMode);
    }
    let letters = text.strip_prefix('-')?;
    let wanted = "rwxrwxrwx";
    if letters.len() != wanted.len() {
        return None;
    }
    let mut mode = 0;
    for (letter, known) in letters.chars().zip(wanted.chars()) {
        mode = mode << 1 | u32::from(letter == known);
        if letter != known && letter != '-' {
            return None;
        }
    }
    Some(FileMode(mode))
}

settings! {
    /// How a database keeps its data.
    Storage / StorageLayer {
        /// Directory of the store.
        "data" directory: Option<PathBuf> = None;
        /// Permissions of the files made there.
        "storage.mode" mode: FileMode = FileMode(0o600);
        /// How sure a commit is.
        "storage.durability" durability: Durability = Durability::Full;
        /// Bound of the data file's size in octets; address space for it is reserved, the file itself grows by need.
        "storage.map_bytes_max" map_bytes_max: u64 = 1 << 40;
        /// Slots for readers, of all processes together; at least this many.
        "storage.readers_max" readers_max: u32 = 126;
        /// Octets of one entry at most; none for no bound.
        "storage.entry_bytes_max" entry_bytes_max: Option<u64> = None;
        /// Entries that a search reads before it lets its snapshot go.
        "storage.snapshot_entries" snapshot_entries: u32 = 10_000;
        /// Whether what clients ask for by habit is indexed unless an index of that attribute is named.
        "default_indexes" default_indexes: bool = true;
        /// Kinds of index for attributes that are named without any.
        "index_default" index_default: IndexKinds = IndexKinds::default();
    } {
        /// Indexes as written; see [`Database::indexes`](crate::Database::indexes) for those that are kept.
        "index" indexes: IndexSetting;
    }
}
