//! The disk's content in the worst case. A write covered by a failed flush never arrives, although
//! the system's memory shows it and later flushes succeed.

use std::sync::{Mutex, MutexGuard, PoisonError};

use fulgurite::DiskObserver;
use fulgurite::seam::{Call, FileRole, Site, Verdict};

use super::errnos;

/// How badly a failing call behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Malice {
    /// A failed flush loses its writes; a failed synchronous write did nothing.
    Loses,
    /// Every other write is lost; a synchronous write that failed is on the disk all the same.
    Mixes,
}

/// The disk below the system's memory.
#[derive(Debug)]
pub(super) struct Shadow {
    malice: Malice,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    disk: Vec<u8>,
    /// Written, but not flushed.
    pending: Vec<(usize, Vec<u8>)>,
    /// How many of these the next call is to write.
    announced: usize,
    /// A synchronous write that has been announced.
    coming: Option<(usize, Vec<u8>)>,
}

impl Shadow {
    pub(super) fn new(malice: Malice) -> Shadow {
        Shadow {
            malice,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the file that a restart would find after a power loss now.
    pub(super) fn image(&self) -> Vec<u8> {
        self.state().disk.clone()
    }

    /// Octets of memory that it takes.
    pub(super) fn held_octets(&self) -> usize {
        let state = self.state();
        let queue = state.pending.capacity() * size_of::<(usize, Vec<u8>)>();
        let writes = state.pending.iter().chain(&state.coming);
        let octets: usize = writes.map(|(_, octets)| octets.capacity()).sum();
        state.disk.capacity() + queue + octets
    }

    /// Notes the outcome of the call announced last.
    pub(super) fn decide(&self, site: Site, verdict: Verdict) {
        let errno = match verdict {
            Verdict::Fail(errno) => Some(errno),
            Verdict::Go | Verdict::Short(_) => None,
        };
        if errno == Some(errnos::EINTR) {
            return;
        }
        let mut state = self.state();
        match (site.role, site.call) {
            (FileRole::Meta, Call::WriteMeta) => {
                // After a part the same write is asked about again; it is the last word that
                // counts.
                if matches!(verdict, Verdict::Short(_)) {
                    return;
                }
                if let Some((at, octets)) = state.coming.take()
                    && (errno.is_none() || self.malice == Malice::Mixes)
                {
                    put(&mut state.disk, at, &octets);
                }
            }
            (FileRole::Data, Call::Write | Call::WriteVectored | Call::WriteMeta) => {
                let announced = std::mem::take(&mut state.announced);
                if errno.is_some() {
                    let left = state.pending.len().saturating_sub(announced);
                    state.pending.truncate(left);
                }
            }
            (FileRole::Data, Call::Sync) => {
                let pending = std::mem::take(&mut state.pending);
                for (index, (at, octets)) in pending.into_iter().enumerate() {
                    let arrives = errno.is_none()
                        || (self.malice == Malice::Mixes && index.is_multiple_of(2));
                    if arrives {
                        put(&mut state.disk, at, &octets);
                    }
                }
            }
            _ => {}
        }
    }
}

fn put(disk: &mut Vec<u8>, at: usize, octets: &[u8]) {
    let end = at + octets.len();
    if disk.len() < end {
        disk.resize(end, 0);
    }
    if let Some(place) = disk.get_mut(at..end) {
        place.copy_from_slice(octets);
    }
}

impl DiskObserver for Shadow {
    fn write(&self, offset: u64, bytes: &[u8], synchronous: bool) {
        let mut state = self.state();
        let at = usize::try_from(offset).unwrap_or(usize::MAX);
        if synchronous {
            state.coming = Some((at, bytes.to_vec()));
        } else {
            state.pending.push((at, bytes.to_vec()));
            state.announced += 1;
        }
    }

    fn sync(&self) {}

    fn resize(&self, len: u64) {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let mut state = self.state();
        state.disk.truncate(len);
        state
            .pending
            .retain(|(at, octets)| at + octets.len() <= len);
    }
}
