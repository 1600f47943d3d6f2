//! The structural checker: is every page of a snapshot valid, and used exactly once?
//!
//! It reads the data file through its own file descriptor, never through the map. So it can read a
//! file that no engine would open, a live environment, and files with duplicates. With the engine
//! it shares only the constants of the page layout. Its memory is bounded: one page per tree level,
//! three bits per page of the file, and a thousand findings. So is its time: it reads each page
//! once, whatever the page numbers in the file.
//!
//! ```text
//!   meta page ----> free-list tree ----> records of free pages --+
//!        |                                                       |   each page is claimed once;
//!        +--------> main tree ---> values on overflow runs ------+-> a page claimed twice or never
//!                      |                                         |   is a finding
//!                      +---> named databases ---> value trees ---+
//!
//!   other meta page ---> the pages that its snapshot does not share with this one
//! ```
//!
//! It checks everything that sections 3 to 9 of the LMDB 0.9 file format promise. These are page
//! numbers, flags and bounds, the order of keys and separators, levels, and counts. They are also
//! duplicates in all their forms, overflow runs and the free list. It cannot check the bytes of
//! keys and values, because the format has no checksums.
//!
//! | to check | call |
//! | --- | --- |
//! | an environment, also while others write to it | [`check_environment`] |
//! | a data file at rest | [`check_file`] |
//! | a snapshot that a read transaction holds | [`check_snapshot`] |
//! | bytes in memory, many times a second | [`Checker::check_image`] |

mod checker;
mod environment;
mod free_list;
mod options;
mod page_claims;
mod report;
mod state;
mod tree;
mod value;

pub use checker::{Checker, check_file, check_snapshot};
pub(crate) use environment::EnvironmentFiles;
pub use environment::{Access, CheckedEnvironment, check_environment};
pub use options::CheckOptions;
pub use report::{CheckError, DatabaseSummary, Fault, Finding, PreviousSnapshot, Report};

pub use super::image::source::Source;

#[cfg(test)]
mod tests;
