//! The two threads of a load, and the channel between them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use super::loader::Loader;
use super::{Failure, LoadError};
use crate::error::OpenError;
use crate::store::{Store, StoreOptions};
use fulgurite_schema::{CheckedEntry, Schema};

/// Entries handed over at once: enough that the channel does not count.
const BATCH_LEN: usize = 64;
/// Batches on their way at once.
const BATCHES_MAX: usize = 16;

/// How to load.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// Memory for sorting, in bytes. Besides, some forty bytes per entry are needed.
    pub memory_bytes: usize,
    /// Where temporary files go; the store's directory when `None`.
    pub temporary_dir: Option<PathBuf>,
}

impl Default for LoadOptions {
    fn default() -> LoadOptions {
        LoadOptions {
            memory_bytes: 512 << 20,
            temporary_dir: None,
        }
    }
}

/// What a load has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadProgress {
    /// So many entries were handed over.
    Entries(u64),
    /// Names are being written.
    Names,
    /// Indexes are being written.
    Indexes,
    /// The transaction is being committed.
    Commit,
}

/// What a load has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadReport {
    /// Entries loaded.
    pub entries: u64,
}

/// The loading thread has failed; [`bulk_load`] will say why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the load has failed")]
pub struct Stopped;

/// Takes the entries of a load.
pub struct LoadSink<'p> {
    batches: SyncSender<Vec<(CheckedEntry, u64)>>,
    batch: Vec<(CheckedEntry, u64)>,
    entries: u64,
    progress: &'p mut dyn FnMut(LoadProgress),
}

impl LoadSink<'_> {
    /// Hands one entry over; `line` names it in errors. Parents may come after their children.
    ///
    /// # Errors
    /// [`Stopped`] when the load has failed already, possibly over an earlier entry.
    pub fn add(&mut self, entry: CheckedEntry, line: u64) -> Result<(), Stopped> {
        self.batch.push((entry, line));
        self.entries += 1;
        if self.batch.len() == BATCH_LEN {
            self.flush()?;
            (self.progress)(LoadProgress::Entries(self.entries));
        }
        Ok(())
    }

    /// Number of entries handed over so far.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.entries
    }

    fn flush(&mut self) -> Result<(), Stopped> {
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH_LEN));
        self.batches.send(batch).map_err(|_| Stopped)
    }
}

impl std::fmt::Debug for LoadSink<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoadSink")
            .field("entries", &self.entries)
            .finish_non_exhaustive()
    }
}

/// Loads the entries that `produce` hands to the sink, in one transaction: all of them, or none.
///
/// `produce` runs on the calling thread; everything behind the sink on a thread of its own. `progress` is called on
/// the calling thread too.
///
/// # Errors
/// [`LoadError`]; the store is unchanged then.
pub fn bulk_load<E: From<Stopped>>(
    store: &Store,
    options: &LoadOptions,
    progress: &mut dyn FnMut(LoadProgress),
    produce: impl FnOnce(&mut LoadSink<'_>) -> Result<(), E>,
) -> Result<LoadReport, LoadError<E>> {
    let (batches, incoming) = sync_channel(BATCHES_MAX);
    let (phases, phase) = channel();
    let (verdict, end) = channel();
    thread::scope(|scope| {
        let loading = scope.spawn(move || load(store, options, &incoming, &end, &phases));
        let mut sink = LoadSink {
            batches,
            batch: Vec::with_capacity(BATCH_LEN),
            entries: 0,
            progress,
        };
        let produced = produce(&mut sink).and_then(|()| sink.flush().map_err(E::from));
        // The thread commits only if it hears that everything has come.
        if produced.is_ok() {
            let _ = verdict.send(());
        }
        drop(verdict);
        let LoadSink {
            batches,
            progress,
            entries,
            ..
        } = sink;
        drop(batches);
        progress(LoadProgress::Entries(entries));
        phase.iter().for_each(progress);
        let loaded = loading.join().map_err(|_| LoadError::Internal)?;
        match (loaded, produced) {
            (Err(failure), _) => Err(failure.into()),
            (Ok(_), Err(error)) => Err(LoadError::Source(error)),
            (Ok(entries), Ok(())) => Ok(LoadReport { entries }),
        }
    })
}

/// Creates a store and loads it. If the load fails the files of the store are removed again, and so is its directory if
/// it was created here.
///
/// # Errors
/// [`LoadError`]; [`LoadError::Create`] when there is a store already.
pub fn load_new<E: From<Stopped>>(
    path: &Path,
    store_options: &StoreOptions,
    schema: Arc<Schema>,
    options: &LoadOptions,
    progress: &mut dyn FnMut(LoadProgress),
    produce: impl FnOnce(&mut LoadSink<'_>) -> Result<(), E>,
) -> Result<(Store, LoadReport), LoadError<E>> {
    let had_dir = path.exists();
    if Store::exists(path) {
        return Err(OpenError::Exists { path: path.into() }.into());
    }
    let remove = || {
        for name in ["data.mdb", "lock.mdb"] {
            let _ = std::fs::remove_file(path.join(name));
        }
        if !had_dir {
            let _ = std::fs::remove_dir(path);
        }
    };
    let store = Store::create(path, store_options, schema).inspect_err(|_| remove())?;
    match bulk_load(&store, options, progress, produce) {
        Ok(report) => Ok((store, report)),
        Err(error) => {
            drop(store);
            remove();
            Err(error)
        }
    }
}

/// The loading thread.
fn load(
    store: &Store,
    options: &LoadOptions,
    incoming: &Receiver<Vec<(CheckedEntry, u64)>>,
    end: &Receiver<()>,
    phases: &Sender<LoadProgress>,
) -> Result<u64, Failure> {
    let dir = options.temporary_dir.as_deref().unwrap_or(store.path());
    let mut loader = Loader::new(store.write()?, dir, options.memory_bytes)?;
    for (entry, line) in incoming.iter().flatten() {
        loader.add(&entry, line)?;
    }
    if end.recv().is_err() {
        return Ok(0);
    }
    loader.finish(&mut |phase| {
        let _ = phases.send(phase);
    })
}
