//! The threads of a load, and the channels between them.
//!
//! ```text
//! caller:     parts, numbered --> preparing threads: entries, records, keys --> loading thread: in order of numbers
//!                  ^-------------------------- a permit for each part -------------------------'
//! ```
//!
//! There are only so many permits, so memory is bounded however fast the caller is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Scope};

use super::LoadError;
use super::batch::{Batch, LoadBatch};
use super::loader::Loader;
use crate::error::OpenError;
use crate::store::{Store, StoreOptions};
use fulgurite_schema::{CheckedEntry, Schema};

/// Entries of a part where the caller hands single ones over: enough that the channel does not count.
const PART_LEN: usize = 256;
/// Parts on their way at once, for each thread.
const PARTS_PER_THREAD: usize = 3;

/// How to load.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// Memory for sorting, in bytes. Besides, some forty bytes per entry are needed, and the parts under way.
    pub memory_bytes: usize,
    /// Where temporary files go; the store's directory when `None`.
    pub temporary_dir: Option<PathBuf>,
    /// How many threads prepare entries and sort; what comes out does not depend on it. As many as there are processors
    /// when `None`.
    pub threads: Option<usize>,
}

impl Default for LoadOptions {
    fn default() -> LoadOptions {
        LoadOptions {
            memory_bytes: 512 << 20,
            temporary_dir: None,
            threads: None,
        }
    }
}

impl LoadOptions {
    pub(super) fn thread_count(&self) -> usize {
        let available = || thread::available_parallelism().map_or(1, usize::from);
        self.threads.unwrap_or_else(available).max(1)
    }
}

/// What a load has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadProgress {
    /// So many entries have been taken in.
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

/// Takes the parts of a load.
pub struct PartSink<'p, P> {
    parts: Sender<(u64, P)>,
    permits: SyncSender<()>,
    sent: u64,
    phases: Receiver<LoadProgress>,
    progress: &'p mut dyn FnMut(LoadProgress),
}

impl<P> PartSink<'_, P> {
    /// Hands one part over; waits while too many are under way.
    ///
    /// # Errors
    /// [`Stopped`] when the load has failed already, possibly over an earlier part.
    pub fn send(&mut self, part: P) -> Result<(), Stopped> {
        self.permits.send(()).map_err(|_| Stopped)?;
        let numbered = (self.sent, part);
        self.parts.send(numbered).map_err(|_| Stopped)?;
        self.sent += 1;
        self.phases.try_iter().for_each(&mut *self.progress);
        Ok(())
    }
}

impl<P> std::fmt::Debug for PartSink<'_, P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PartSink")
            .field("sent", &self.sent)
            .finish_non_exhaustive()
    }
}

/// Entries with their lines.
type Entries = Vec<(CheckedEntry, u64)>;

/// Takes the entries of a load.
pub struct LoadSink<'a, 'p> {
    parts: &'a mut PartSink<'p, Entries>,
    part: Entries,
}

impl LoadSink<'_, '_> {
    /// Hands one entry over; `line` names it in errors. Parents may come after their children.
    ///
    /// # Errors
    /// [`Stopped`] when the load has failed already, possibly over an earlier entry.
    pub fn add(&mut self, entry: CheckedEntry, line: u64) -> Result<(), Stopped> {
        self.part.push((entry, line));
        if self.part.len() == PART_LEN {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Stopped> {
        let part = std::mem::replace(&mut self.part, Vec::with_capacity(PART_LEN));
        self.parts.send(part)
    }
}

impl std::fmt::Debug for LoadSink<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoadSink").finish_non_exhaustive()
    }
}

/// Loads the entries that `produce` hands to the sink, in one transaction: all of them, or none.
///
/// `produce` runs on the calling thread; everything behind the sink on threads of its own. `progress` is called on
/// the calling thread too.
///
/// # Errors
/// [`LoadError`]; the store is unchanged then.
pub fn bulk_load<E: From<Stopped>>(
    store: &Store,
    options: &LoadOptions,
    progress: &mut dyn FnMut(LoadProgress),
    produce: impl FnOnce(&mut LoadSink<'_, '_>) -> Result<(), E>,
) -> Result<LoadReport, LoadError<E>> {
    let reader = || {
        |part: Entries, batch: &mut LoadBatch<'_>| -> Result<(), Stopped> {
            part.into_iter()
                .for_each(|(entry, line)| batch.add(entry, line));
            Ok(())
        }
    };
    bulk_load_parts(store, options, progress, reader, |parts| {
        let mut sink = LoadSink {
            parts,
            part: Vec::with_capacity(PART_LEN),
        };
        produce(&mut sink)?;
        sink.flush().map_err(E::from)
    })
}

/// Loads the entries that readers make of the parts that `produce` hands to the sink, in one transaction: all of them,
/// or none.
///
/// `produce` and `progress` run on the calling thread; `reader` makes a reader for each of the threads that prepare
/// entries. Which of them reads which part is left to chance, and what comes out depends on the order of the parts only.
///
/// # Errors
/// [`LoadError`]; the store is unchanged then. Of several mistakes the first is told, in the order of parts and entries.
pub fn bulk_load_parts<P, R, E, F>(
    store: &Store,
    options: &LoadOptions,
    progress: &mut dyn FnMut(LoadProgress),
    reader: impl Fn() -> F + Sync,
    produce: impl FnOnce(&mut PartSink<'_, P>) -> Result<(), E>,
) -> Result<LoadReport, LoadError<E>>
where
    P: Send,
    R: Send,
    E: From<Stopped> + From<R>,
    F: FnMut(P, &mut LoadBatch<'_>) -> Result<(), R>,
{
    let (parts, incoming) = channel();
    let (permits, taken) = sync_channel(options.thread_count() * PARTS_PER_THREAD);
    let (phases, phase) = channel();
    let (verdict, end) = channel();
    let incoming = Mutex::new(incoming);
    let (incoming, reader) = (&incoming, &reader);
    thread::scope(|scope| {
        let ends = Ends { taken, end, phases };
        let loading =
            scope.spawn(move || load(scope, store, options, Source { incoming, reader }, ends));
        let mut sink = PartSink {
            parts,
            permits,
            sent: 0,
            phases: phase,
            progress,
        };
        let produced = produce(&mut sink);
        // The thread commits only if it hears that everything has come.
        if produced.is_ok() {
            let _ = verdict.send(sink.sent);
        }
        drop(verdict);
        let PartSink {
            parts,
            progress,
            phases,
            ..
        } = sink;
        drop(parts);
        phases.iter().for_each(progress);
        let loaded = loading.join().map_err(|_| LoadError::Internal)?;
        match (loaded, produced) {
            (Err(failure), _) => Err(failure.map_source(E::from)),
            (Ok(_), Err(error)) => Err(LoadError::Source(error)),
            (Ok(entries), Ok(())) => Ok(LoadReport { entries }),
        }
    })
}

/// Creates a store and loads it by [`bulk_load`].
///
/// # Errors
/// As [`create_and_load`].
pub fn load_new<E: From<Stopped>>(
    path: &Path,
    store_options: &StoreOptions,
    schema: Arc<Schema>,
    options: &LoadOptions,
    progress: &mut dyn FnMut(LoadProgress),
    produce: impl FnOnce(&mut LoadSink<'_, '_>) -> Result<(), E>,
) -> Result<(Store, LoadReport), LoadError<E>> {
    create_and_load(path, store_options, schema, |store| {
        bulk_load(store, options, progress, produce)
    })
}

/// Creates a store and loads it. If the load fails the files of the store are removed again, and so is its directory if
/// it was created here.
///
/// # Errors
/// [`LoadError`]; [`LoadError::Create`] when there is a store already.
pub fn create_and_load<E>(
    path: &Path,
    store_options: &StoreOptions,
    schema: Arc<Schema>,
    load: impl FnOnce(&Store) -> Result<LoadReport, LoadError<E>>,
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
    match load(&store) {
        Ok(report) => Ok((store, report)),
        Err(error) => {
            drop(store);
            remove();
            Err(error)
        }
    }
}

/// Where parts come from, and what reads them.
struct Source<'a, P, F> {
    incoming: &'a Mutex<Receiver<(u64, P)>>,
    reader: &'a F,
}

/// The loading thread's ends of the channels to the caller.
struct Ends {
    /// A permit is given back for each part that has been taken in.
    taken: Receiver<()>,
    /// How many parts there were, once all have been sent.
    end: Receiver<u64>,
    phases: Sender<LoadProgress>,
}

/// What a preparing thread hands on: the part's number, its entries, and the mistake that ended them.
type Read<R> = (u64, Batch, Option<R>);

/// The loading thread.
fn load<'scope, 's: 'scope, P, R, F, M>(
    scope: &'scope Scope<'scope, '_>,
    store: &'s Store,
    options: &LoadOptions,
    source: Source<'scope, P, M>,
    ends: Ends,
) -> Result<u64, LoadError<R>>
where
    P: Send,
    R: Send + 'scope,
    F: FnMut(P, &mut LoadBatch<'_>) -> Result<(), R>,
    M: Fn() -> F + Sync,
{
    let dir = options.temporary_dir.as_deref().unwrap_or(store.path());
    let loader = Loader::new(store.write()?, dir, options.memory_bytes)?;
    let preparing = Arc::new(loader.preparing());
    let (results, read) = channel::<Option<Read<R>>>();
    let Source { incoming, reader } = source;
    let preparers: Vec<_> = (0..options.thread_count())
        .map(|_| {
            let (preparing, results) = (Arc::clone(&preparing), results.clone());
            scope.spawn(move || {
                let alarm = Alarm(results);
                let mut batch = LoadBatch::new(&preparing);
                let mut reader = reader();
                prepare(incoming, &alarm.0, &mut |part| {
                    let mistake = reader(part, &mut batch).err();
                    (batch.take(), mistake)
                });
            })
        })
        .collect();
    drop(results);
    let taken_in = take_in(loader, &preparing, &read, &ends);
    // What is still under way is of no use any more if that failed: everybody is told by the ends of channels.
    drop(read);
    let Ends { taken, end, phases } = ends;
    drop(taken);
    let mut panicked = false;
    for preparer in preparers {
        panicked |= preparer.join().is_err();
    }
    let (loader, parts) = taken_in?;
    match end.recv() {
        Err(_) => Ok(0),
        Ok(sent) if sent != parts || panicked => Err(LoadError::Internal),
        Ok(_) => {
            let threads = options.thread_count();
            let finished = loader.finish(threads, &mut |phase| {
                let _ = phases.send(phase);
            });
            Ok(finished?)
        }
    }
}

/// Says that a thread has panicked: others must not wait for what it had in hand.
struct Alarm<R>(Sender<Option<Read<R>>>);

impl<R> Drop for Alarm<R> {
    fn drop(&mut self) {
        if thread::panicking() {
            let _ = self.0.send(None);
        }
    }
}

/// A preparing thread.
fn prepare<P, R>(
    incoming: &Mutex<Receiver<(u64, P)>>,
    results: &Sender<Option<Read<R>>>,
    read: &mut dyn FnMut(P) -> (Batch, Option<R>),
) {
    loop {
        let part = incoming
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv();
        let Ok((number, part)) = part else { return };
        let (batch, mistake) = read(part);
        if results.send(Some((number, batch, mistake))).is_err() {
            return;
        }
    }
}

/// Takes everything in that was prepared, in the order of the parts. Returns how many there were.
fn take_in<'s, R>(
    mut loader: Loader<'s>,
    preparing: &super::batch::Preparing<'_>,
    read: &Receiver<Option<Read<R>>>,
    ends: &Ends,
) -> Result<(Loader<'s>, u64), LoadError<R>> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    for prepared in read {
        let (number, batch, mistake) = prepared.ok_or(LoadError::Internal)?;
        early.insert(number, (batch, mistake));
        while let Some((batch, mistake)) = early.remove(&next) {
            loader.add_batch(batch, preparing)?;
            if let Some(mistake) = mistake {
                return Err(LoadError::Source(mistake));
            }
            next += 1;
            let _ = ends.taken.recv();
            let _ = ends.phases.send(LoadProgress::Entries(loader.loaded()));
        }
    }
    Ok((loader, next))
}
