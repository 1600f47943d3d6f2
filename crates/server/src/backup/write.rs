//! Writes one backup of all databases.

use std::io;
use std::path::Path;
use std::sync::Arc;

use fulgurite_store::{Store, StoreError, StoreOptions};

use super::folder::{
    Backup, BackupError, LockedDirectory, PartialBackup, forget_failure, protect, sync,
};
use super::manifest::{BackupManifest, SavedDatabase, digest_of};

/// Letters of a suffix in the name of a folder, at most.
const SUFFIX_LETTERS: usize = 100;

/// A database to copy.
#[derive(Clone, Debug)]
pub struct BackupSource {
    /// Its first suffix.
    pub suffix: String,
    /// Its store, which others may use.
    pub store: Arc<Store>,
}

/// Writes a backup of all databases into a new folder of a directory, while others use them.
///
/// Each copy is a state after one commit. Nobody waits for the copy, but the data file grows while
/// it is made. `watch` is called often; its error ends the backup.
///
/// # Errors
/// [`BackupError`]. Then nothing new is in the directory.
pub fn write_backup(
    directory: &Path,
    sources: &[BackupSource],
    now_s: u64,
    watch: &mut dyn FnMut() -> io::Result<()>,
) -> Result<Backup, BackupError> {
    let locked = LockedDirectory::lock(directory)?;
    let backup = write_all(locked.begin(now_s)?, sources, watch)?;
    forget_failure(directory);
    Ok(backup)
}

fn write_all(
    partial: PartialBackup<'_>,
    sources: &[BackupSource],
    watch: &mut dyn FnMut() -> io::Result<()>,
) -> Result<Backup, BackupError> {
    let mut databases = Vec::with_capacity(sources.len());
    for (number, source) in sources.iter().enumerate() {
        databases.push(copy(&partial, number + 1, source, watch)?);
    }
    partial.finish(BackupManifest {
        program: concat!("Fulgurite ", env!("CARGO_PKG_VERSION")).to_owned(),
        databases,
    })
}

/// Copies one database, and opens the copy to learn its content.
fn copy(
    partial: &PartialBackup<'_>,
    number: usize,
    source: &BackupSource,
    watch: &mut dyn FnMut() -> io::Result<()>,
) -> Result<SavedDatabase, BackupError> {
    let suffix = || source.suffix.clone();
    let copy_error = |source: StoreError| BackupError::Copy {
        suffix: suffix(),
        source,
    };
    let name = folder_name(number, &source.suffix);
    let folder = partial.make_folder(&name)?;
    let file = folder.join("data.mdb");
    let environment = source.store.environment();
    // Free pages are of no use in a backup.
    let copied = environment.copy_to_file(&file, true, &mut |_| watch());
    copied.map_err(|error| copy_error(StoreError::Engine(error)))?;
    protect(&file)?;
    sync(&folder)?;
    let options = StoreOptions {
        read_only: true,
        no_lock: true,
        ..StoreOptions::default()
    };
    let store = Store::open(&folder, &options, Arc::clone(source.store.schema()));
    let store = store.map_err(|source| BackupError::Unusable {
        suffix: suffix(),
        source: Box::new(source),
    })?;
    let view = store.snapshot().map_err(copy_error)?;
    let entries = view.entry_count().map_err(copy_error)?;
    let changes = view.changes().map_err(copy_error)?;
    let size = file.metadata().map_err(BackupError::io("read", &file))?;
    let digest = digest_of(&file, &mut |_| watch());
    Ok(SavedDatabase {
        suffix: suffix(),
        data: source.store.path().display().to_string(),
        folder: name,
        entries,
        position: changes.newest,
        changes: changes.vector.iter().map(|csn| csn.text()).collect(),
        bytes: size.len(),
        sha256: digest.map_err(BackupError::io("read", &file))?,
    })
}

/// Returns the name of a database's folder: its number, and its suffix for people.
pub(super) fn folder_name(number: usize, suffix: &str) -> String {
    let plain = |letter: char| match letter {
        letter if letter.is_ascii_alphanumeric() || "=,-.".contains(letter) => letter,
        _ => '_',
    };
    let suffix: String = suffix.chars().take(SUFFIX_LETTERS).map(plain).collect();
    format!("{number}-{suffix}")
}
