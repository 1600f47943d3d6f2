//! A history's requests to the disk, in order, with the answers that its caller received.

use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fulgurite::DiskObserver;

use super::sectors::PAGE;

/// One thing that was asked of the disk, or that the caller was told.
#[derive(Debug, Clone)]
pub(super) enum Event {
    /// Octets were written, or changed through a writable map.
    Write {
        /// Where.
        at: u64,
        /// What.
        bytes: Arc<[u8]>,
        /// It is durable once the next event begins.
        durable: bool,
    },
    /// The file got this length in octets.
    Length(u64),
    /// Everything before is durable once the next event begins.
    Sync,
    /// Changes of these octets through the map are durable once the next event begins.
    FlushMap { at: u64, len: u64 },
    /// The file's name is durable once the next event begins.
    SyncDirectory,
    /// The disk said yes and did nothing.
    Ignored,
    /// One of these happens to the file that describes the checkpoint.
    Description(Box<Event>),
    /// From here on the system has this boot id.
    Boot(u64),
    /// A snapshot came to be: the cache holds all of it.
    Committed(usize),
    /// The caller was told that after a power loss no older snapshot is found.
    Promised(usize),
    /// A reopen, perhaps on an older snapshot. Until a newer one is promised, that one or a newer
    /// may be found.
    OpenedOn(usize),
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Write { at, bytes, durable } => {
                let pages = (*at as usize / PAGE, (*at as usize + bytes.len() - 1) / PAGE);
                let how = if *durable { ", durable" } else { "" };
                write!(
                    f,
                    "{} octets on pages {}..={}{how}",
                    bytes.len(),
                    pages.0,
                    pages.1
                )
            }
            Event::Length(len) => write!(f, "length {len}"),
            Event::FlushMap { at, len } => write!(f, "{len} octets flushed from {at} on"),
            other => write!(f, "{other:?}"),
        }
    }
}

/// Records what happens to one data file.
#[derive(Debug)]
pub(super) struct Recorder {
    /// The data file, if it is changed through a map: those changes are seen by reading it.
    mapped: Option<PathBuf>,
    state: Arc<Mutex<State>>,
}

/// Records what happens to the file that describes the checkpoint.
struct DescriptionRecorder(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    events: Vec<Event>,
    /// The content of the file at the last read.
    known: Vec<u8>,
    /// The recorder of a copy of the file.
    copy: Option<Arc<Recorder>>,
}

impl Recorder {
    pub(super) fn new(mapped: Option<PathBuf>) -> Arc<Recorder> {
        Arc::new(Recorder {
            mapped,
            state: Arc::default(),
        })
    }

    /// From now on copies of the file are recorded too; returns the recorder.
    pub(super) fn record_copies(&self) -> Arc<Recorder> {
        let copy = Recorder::new(None);
        self.state().copy = Some(Arc::clone(&copy));
        copy
    }

    /// Notes what the caller was told.
    pub(super) fn tell(&self, event: Event) {
        self.look();
        self.state().events.push(event);
    }

    /// Records what has changed in the file through the map, since it was last looked at.
    pub(super) fn look(&self) {
        let Some(path) = &self.mapped else {
            return;
        };
        let mut state = self.state();
        let Ok(file) = File::open(path) else {
            return;
        };
        let len = file.metadata().map_or(0, |metadata| metadata.len()) as usize;
        let mut now = vec![0; len];
        if file.read_exact_at(&mut now, 0).is_err() {
            return;
        }
        state.known.resize(len, 0);
        for at in (0..len).step_by(PAGE) {
            let page = at..(at + PAGE).min(len);
            if state.known[page.clone()] != now[page.clone()] {
                state.events.push(Event::Write {
                    at: at as u64,
                    bytes: now[page].into(),
                    durable: false,
                });
            }
        }
        state.known = now;
    }

    pub(super) fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.state().events)
    }

    /// A write that a map's reader need not report again.
    fn write_event(&self, at: u64, bytes: &[u8], durable: bool) {
        self.look();
        let mut state = self.state();
        if self.mapped.is_some() {
            let end = at as usize + bytes.len();
            if state.known.len() < end {
                state.known.resize(end, 0);
            }
            state.known[at as usize..end].copy_from_slice(bytes);
        }
        state.events.push(Event::Write {
            at,
            bytes: bytes.into(),
            durable,
        });
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DiskObserver for Recorder {
    fn write(&self, offset: u64, bytes: &[u8], synchronous: bool) {
        self.write_event(offset, bytes, synchronous);
    }

    fn sync(&self) {
        self.tell(Event::Sync);
    }

    fn resize(&self, len: u64) {
        self.tell(Event::Length(len));
    }

    fn store(&self, offset: u64, words: &[u64]) {
        let octets: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        self.write_event(offset, &octets, false);
    }

    fn flush_map(&self, offset: u64, len: u64, wait: bool) {
        self.look();
        // One that is not waited for promises nothing.
        if wait {
            self.tell(Event::FlushMap { at: offset, len });
        }
    }

    fn sync_directory(&self) {
        self.tell(Event::SyncDirectory);
    }

    fn copy(&self) -> Option<Arc<dyn DiskObserver>> {
        let copy = self.state().copy.clone()?;
        Some(copy)
    }

    fn checkpoint(&self) -> Option<Arc<dyn DiskObserver>> {
        Some(Arc::new(DescriptionRecorder(Arc::clone(&self.state))))
    }
}

impl DescriptionRecorder {
    fn tell(&self, event: Event) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.events.push(Event::Description(Box::new(event)));
    }
}

impl DiskObserver for DescriptionRecorder {
    fn write(&self, offset: u64, bytes: &[u8], synchronous: bool) {
        self.tell(Event::Write {
            at: offset,
            bytes: bytes.into(),
            durable: synchronous,
        });
    }

    fn sync(&self) {
        self.tell(Event::Sync);
    }

    fn resize(&self, len: u64) {
        self.tell(Event::Length(len));
    }

    fn sync_directory(&self) {
        self.tell(Event::SyncDirectory);
    }
}
