//! System calls of the engine: files, mappings, shared words, process-shared mutexes.
//!
//! ```text
//!   seam       asked before each call; tests let it fail
//!   File       opening, reading, writing, syncing, locking of a file of the environment
//!   DataFile   positioned writes, syncs, growth        DiskObserver   sees each of them (power-loss tests)
//!   Map        a reservation of address space over the file; lends bytes
//!   SharedMap  the lock file: atomic words and SharedMutex
//!   bus_guard  turns a missing page of a map into zeros and a mark
//!   Word       the operations on a shared word: an atomic, or that of a model checker
//!   record_lock   advisory locks by byte, between processes
//!   NoPipeSignal  makes a closed pipe an error instead of a signal
//!   other_maps    the processes that have an environment open, and how they map it
//!   allocator     a setting of the C library
//!   prefetch      a hint that bytes of a map will be read soon
//!   platform      errors, paths, locks and clocks: of the standard library, or without it
//! ```
//!
//! Without the feature `std` this crate, and those above it, use `core`, `alloc` and the C library
//! alone; see [`platform`].
//!
//! This crate knows no pages, no formats, no transactions. Every raw pointer of the engine lives
//! here or in the one module of the engine that borrows from [`Map`].

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod allocator;
mod bus_guard;
mod clock;
mod copy_range;
mod disk;
mod file;
mod lock_holders;
mod map;
mod mutex;
mod number_text;
mod pipe_signal;
pub mod platform;
mod prefetch;
mod process;
mod record_lock;
pub mod seam;
mod shared;
mod word;

pub use allocator::return_large_blocks;
pub use bus_guard::{any_map_is_lost, set_bus_guard};
pub use clock::coarse_clock_ns;
pub use disk::{DataFile, DiskObserver};
pub use file::{Access, File, FileIdentity, IS_A_DIRECTORY, is_directory, remove_file};
pub use lock_holders::{OtherMaps, other_maps};
pub use map::{ADDRESS_TAKEN, Map};
pub use mutex::{LockOutcome, NOT_RECOVERABLE, SharedMutex};
pub use number_text::{joined, number_text};
pub use pipe_signal::NoPipeSignal;
pub use prefetch::{
    CACHE_LINE, prefetch, prefetch_at_offset, prefetch_first_lines, prefetch_lines,
};
pub use process::{
    address_space_is_limited, distinct_processes, fork_generation, page_size, process_id,
    thread_word, whole_system_pages,
};
pub use record_lock::{LockKind, is_locked_by_other, lock_byte_wait, try_lock_byte};
pub use rustix::fd;
pub use seam::FileRole;
pub use shared::SharedMap;
pub use word::{Word, load_words, store_words};
