//! The threads of a load, and the channels between them.
//!
//! ```text
//! calling thread:  parts, numbered --> preparing threads: entries, records, keys --> loading thread: in order of numbers
//!                       ^-------------------------- a permit for each part -------------------------'
//! ```
//!
//! The number of permits is fixed, so memory is bounded even if the input is faster than the load.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Scope};

use super::batch::{Batch, LoadBatch, PreparationContext};
use super::error::LoadError;
use super::loader::Loader;
use super::options::{LoadOptions, LoadProgress, LoadReport};
use super::part_reader::PartReader;
use crate::store::Store;

/// Parts under way for each thread at most.
const PARTS_PER_THREAD: usize = 3;

/// Loads the entries that clones of `reader` make of the parts.
pub(super) fn run<P, E, R>(
    store: &Store,
    options: &LoadOptions,
    progress: &mut dyn FnMut(LoadProgress),
    parts: impl Iterator<Item = Result<P, E>>,
    reader: R,
) -> Result<LoadReport, LoadError<E>>
where
    P: Send,
    E: Send,
    R: PartReader<P, E> + Clone + Send,
{
    let (sender, incoming) = channel();
    let (permits, returned_permits) = sync_channel(options.thread_count() * PARTS_PER_THREAD);
    let (phases, phase) = channel();
    let (all_sent, part_count) = channel();
    let incoming = &Mutex::new(incoming);
    thread::scope(|scope| {
        let channels = CallerChannels {
            permits: returned_permits,
            part_count,
            phases,
        };
        let loading = scope.spawn(move || {
            load(
                scope,
                store,
                options,
                PartSource { incoming, reader },
                channels,
            )
        });
        let mut outgoing = OutgoingParts {
            parts: sender,
            permits,
            sent: 0,
        };
        let mut report = |phase: &Receiver<LoadProgress>| phase.try_iter().for_each(&mut *progress);
        let produced = outgoing.send_all(parts, &mut || report(&phase));
        // The loading thread commits only if it learns that all parts have been sent.
        if let Ok(Completion::All) = produced {
            let _ = all_sent.send(outgoing.sent);
        }
        drop(all_sent);
        drop(outgoing);
        phase.iter().for_each(progress);
        let loaded = loading.join().map_err(|_| LoadError::Internal)?;
        match (loaded, produced) {
            (Err(error), _) => Err(error),
            (Ok(_), Err(error)) => Err(LoadError::Source(error)),
            (Ok(entries), Ok(Completion::All)) => Ok(LoadReport { entries }),
            // A loading thread that ends early has an error.
            (Ok(_), Ok(Completion::LoadEnded)) => Err(LoadError::Internal),
        }
    })
}

/// The calling thread's ends of the channels.
struct OutgoingParts<P> {
    parts: Sender<(u64, P)>,
    permits: SyncSender<()>,
    sent: u64,
}

/// How the sending of parts ended.
enum Completion {
    /// All parts were sent.
    All,
    /// The loading thread has ended and takes no more parts.
    LoadEnded,
}

impl<P> OutgoingParts<P> {
    /// Sends all parts; waits while too many are under way.
    fn send_all<E>(
        &mut self,
        parts: impl Iterator<Item = Result<P, E>>,
        after_each: &mut dyn FnMut(),
    ) -> Result<Completion, E> {
        for part in parts {
            let part = part?;
            if self.permits.send(()).is_err() || self.parts.send((self.sent, part)).is_err() {
                return Ok(Completion::LoadEnded);
            }
            self.sent += 1;
            after_each();
        }
        Ok(Completion::All)
    }
}

/// Where preparing threads take parts from, and the reader that they clone.
struct PartSource<'a, P, R> {
    incoming: &'a Mutex<Receiver<(u64, P)>>,
    reader: R,
}

/// The loading thread's ends of the channels to the calling thread.
struct CallerChannels {
    /// A permit is returned here for each part that has been loaded.
    permits: Receiver<()>,
    /// The number of parts, once all have been sent.
    part_count: Receiver<u64>,
    phases: Sender<LoadProgress>,
}

/// A prepared part: its number, its entries, and the error that ended them. `None` if a preparing
/// thread panicked.
type Prepared<E> = Option<(u64, Batch, Option<E>)>;

/// Returns the loading thread.
fn load<'scope, 's: 'scope, P, E, R>(
    scope: &'scope Scope<'scope, '_>,
    store: &'s Store,
    options: &LoadOptions,
    source: PartSource<'scope, P, R>,
    channels: CallerChannels,
) -> Result<u64, LoadError<E>>
where
    P: Send,
    E: Send + 'scope,
    R: PartReader<P, E> + Clone + Send + 'scope,
{
    let dir = options.temporary_dir.as_deref().unwrap_or(store.path());
    let loader = Loader::new(store.write()?, dir, options.memory_bytes)?;
    let context = Arc::new(loader.preparation_context());
    let (results, prepared) = channel::<Prepared<E>>();
    let PartSource { incoming, reader } = source;
    let preparers: Vec<_> = (0..options.thread_count())
        .map(|_| {
            let (context, results) = (Arc::clone(&context), results.clone());
            let mut reader = reader.clone();
            scope.spawn(move || {
                let alarm = PanicAlarm(results);
                let mut batch = LoadBatch::new(&context);
                prepare(incoming, &alarm.0, &mut |part| {
                    let error = reader.read(part, &mut batch).err();
                    (batch.take(), error)
                });
            })
        })
        .collect();
    drop(results);
    let taken_in = take_in(loader, &context, &prepared, &channels);
    // After a failure the parts under way are of no use. Closed channels end the other threads.
    drop(prepared);
    let CallerChannels {
        permits,
        part_count,
        phases,
    } = channels;
    drop(permits);
    let mut panicked = false;
    for preparer in preparers {
        panicked |= preparer.join().is_err();
    }
    let (loader, parts) = taken_in?;
    match part_count.recv() {
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

/// Reports the panic of a thread, so that no other thread waits for its part.
struct PanicAlarm<E>(Sender<Prepared<E>>);

impl<E> Drop for PanicAlarm<E> {
    fn drop(&mut self) {
        if thread::panicking() {
            let _ = self.0.send(None);
        }
    }
}

/// Returns a preparing thread.
fn prepare<P, E>(
    incoming: &Mutex<Receiver<(u64, P)>>,
    results: &Sender<Prepared<E>>,
    read: &mut dyn FnMut(P) -> (Batch, Option<E>),
) {
    loop {
        let part = incoming
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv();
        let Ok((number, part)) = part else { return };
        let (batch, error) = read(part);
        if results.send(Some((number, batch, error))).is_err() {
            return;
        }
    }
}

/// Loads everything that was prepared, in the order of the parts. Returns the number of parts.
fn take_in<'s, E>(
    mut loader: Loader<'s>,
    context: &PreparationContext<'_>,
    prepared: &Receiver<Prepared<E>>,
    channels: &CallerChannels,
) -> Result<(Loader<'s>, u64), LoadError<E>> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    for part in prepared {
        let (number, batch, error) = part.ok_or(LoadError::Internal)?;
        early.insert(number, (batch, error));
        while let Some((batch, error)) = early.remove(&next) {
            loader.add_batch(batch, context)?;
            if let Some(error) = error {
                return Err(LoadError::Source(error));
            }
            next += 1;
            let _ = channels.permits.recv();
            let _ = channels.phases.send(LoadProgress::Entries(loader.loaded()));
        }
    }
    Ok((loader, next))
}
