//! The size of the map: who may change it, and what happens to the mapping.
//!
//! ```text
//!                    exact (LMDB's way)                      growing
//!   a page too many  Error::MapFull                          the size grows in steps, up to a bound
//!   grown by others  Error::MapResized, until it is set      the size follows
//! ```
//!
//! In both cases more address space is reserved than the size needs. If the file outgrows it, a
//! second mapping takes over. The first stays for the readers that have it: nothing is ever moved
//! or unmapped below them.

use core::sync::atomic::{AtomicU64, Ordering};
use fulgurite_os::platform::sync::{Mutex, MutexGuard, PoisonError};

use fulgurite_os::address_space_is_limited;

use super::options::MapRule;

/// Map size of a new file, as in LMDB.
pub(super) const MAP_SIZE_NEW: u64 = 1 << 20;
/// The map grows by an eighth of its size, within these bounds in bytes.
pub(super) const GROWTH_MIN: u64 = 1 << 20;
pub(super) const GROWTH_MAX: u64 = 1 << 30;
/// So much address space is reserved for an exact map size that may be changed, where there is
/// plenty.
const RESERVE_MIN: u64 = 1 << 30;
/// No file is larger.
pub(super) const SIZE_MAX: u64 = i64::MAX as u64;

/// The size of the map in bytes. In the exact regime it bounds the file; in the growing regime it
/// is announced to other processes.
#[derive(Debug)]
pub(super) struct MapSize {
    pub(super) bytes: AtomicU64,
    is_exact: bool,
    /// The bound of the growing regime: the largest of those that the handles were opened with.
    pub(super) bytes_max: AtomicU64,
    /// The bound that the program has set since, which no opening raises.
    limit: AtomicU64,
    /// Held while the mapping is replaced.
    replacing: Mutex<()>,
}

impl MapSize {
    /// Returns the initial size, for a file that stores the size `stored` and uses `used` bytes.
    ///
    /// A bound below the used bytes leaves a `reserve` behind them, in which deletions find room.
    pub(super) fn new(rule: MapRule, stored: u64, used: u64, reserve: u64) -> MapSize {
        let stored = if stored == 0 { MAP_SIZE_NEW } else { stored };
        let (bytes, is_exact, bytes_max) = match rule {
            MapRule::Grows(bytes_max) if bytes_max < used => {
                (stored, false, used.saturating_add(reserve))
            }
            MapRule::Grows(bytes_max) => (stored, false, bytes_max),
            MapRule::Exact(0) => (stored, true, 0),
            MapRule::Exact(bytes) => (bytes, true, 0),
        };
        MapSize {
            bytes: AtomicU64::new(bytes.max(used).min(SIZE_MAX)),
            is_exact,
            bytes_max: AtomicU64::new(bytes_max),
            limit: AtomicU64::new(u64::MAX),
            replacing: Mutex::new(()),
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(super) const fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Returns the bound of the growing regime.
    pub(super) fn bound(&self) -> u64 {
        self.bytes_max.load(Ordering::Relaxed).min(self.limit())
    }

    /// Returns the bytes that the file may grow to: up to the map, or up to the bound.
    pub(super) fn growth_bound(&self) -> u64 {
        match self.is_exact() {
            true => self.bytes(),
            false => {
                let opened = self.bytes_max.load(Ordering::Relaxed);
                opened.max(self.bytes()).min(self.limit())
            }
        }
    }

    /// Returns the bound that the program has set.
    pub(super) fn limit(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    /// Sets the bound of the growing regime.
    pub(super) fn set_limit(&self, bytes: u64) {
        self.bytes_max.store(bytes, Ordering::Relaxed);
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// Raises the bound of the growing regime.
    pub(super) fn raise_limit(&self, bytes: u64) {
        self.bytes_max.fetch_max(bytes, Ordering::Relaxed);
        self.limit.fetch_max(bytes, Ordering::Relaxed);
    }

    pub(super) fn replacing(&self) -> MutexGuard<'_, ()> {
        self.replacing
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// How much address space to ask for.
    pub(super) fn reservation(&self) -> usize {
        let wish = if self.is_exact() {
            let least = if address_space_is_limited() {
                0
            } else {
                RESERVE_MIN
            };
            self.bytes().max(least)
        } else {
            self.bytes_max.load(Ordering::Relaxed).max(self.bytes())
        };
        usize::try_from(wish.min(SIZE_MAX / 2)).unwrap_or(usize::MAX / 4)
    }
}
