//! The engine compared with files of the real LMDB, processes on liblmdb and ordered maps.
//! Processes are killed on the way.
//!
//! ```text
//! cargo test -p fulgurite --test suite                     the quick form
//! FULGURITE_TEST_LONG=1 cargo test ... --test suite        longer runs with fresh seeds
//! FULGURITE_TEST_SEED=N cargo test ... --test suite NAME   the run that printed N
//! ```
//!
//! The suite is one program, and starts itself again for the processes it needs; see `child`.

mod child;
mod committer;
mod common;
mod compaction;
mod copies;
mod crash_points;
mod damage;
mod damage_steps;
mod fixtures;
mod fixtures_duplicates;
mod flips;
mod full_disk;
mod growth;
mod hostile;
mod killed;
mod limits;
mod long_readers;
mod lost_pages;
mod narrow;
mod nested;
mod peer;
mod random_ops;
mod reached_pages;
mod real_tools;
mod resize;
mod sharing;
mod sharing_crash;
mod space;
mod spill;
mod threads;
