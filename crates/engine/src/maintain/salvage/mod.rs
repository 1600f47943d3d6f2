//! Salvage: writes what a damaged file still holds into a new environment.
//!
//! The damaged file is only read. The walk checks pages as the checker does. But a page that does
//! not fit leaves a hole instead of a finding, and the walk goes on:
//!
//! ```text
//!   1  the newest snapshot      every page that fits its position: number, kind, order, separators
//!   2  pages without an owner   leaves below a damaged branch: neither in a tree nor free,
//!                               and their keys fit one hole
//!   3  the previous snapshot    its records for the remaining holes, one commit older
//!   4  lost pages               leaves that fit no hole, or several: written to a text file
//! ```
//!
//! The first of these sources that has a record stores it. Salvage takes records from pages with a
//! sound structure. The format has no checksums, so a flipped bit in a value goes unnoticed.
//! Salvage never guesses. It gives a leaf without an owner to a database only under three
//! conditions. The free list is whole, exactly one hole has room for the leaf, and no other such
//! leaf overlaps it.
//!
//! Its memory is two bits for each page, one value, and two keys for each page without an owner.

mod holes;
mod job;
mod leaf;
mod lost_pages;
mod orphans;
mod page_check;
mod previous;
mod report;
mod snapshots;
mod source_stage;
mod state;
mod walk;
mod writer;

pub use report::{Basis, Hole, SalvageError, SalvageReport, SalvagedDatabase};

use std::path::Path;

use super::check::{CheckError, CheckOptions, EnvironmentFiles};
use job::Job;

/// Writes what the environment at `path` still holds into a new one in the existing directory
/// `output`.
///
/// It reads the environment as [`check_environment`](super::check::check_environment) does, also
/// while other processes use it. Of `options` only those about order count. A database with the
/// program's own order is written in the order of the file. From time to time it calls `progress`
/// with the pages that have a place and the number of all pages.
/// # Errors
/// [`SalvageError`] if the file cannot be read, nothing in it describes its contents, or the new
/// environment cannot be written. Damage is no error; see [`SalvageReport`].
pub fn salvage(
    path: &Path,
    output: &Path,
    options: &CheckOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<SalvageReport, SalvageError> {
    let files = EnvironmentFiles::find(path);
    let mut report = None;
    let done = files.with_snapshot(|file, metas| {
        let job = Job {
            file,
            metas,
            path: &files.data,
            output,
            options,
        };
        report = Some(job.run(progress));
        Ok(())
    });
    match (done, report) {
        (_, Some(Err(error))) => Err(error),
        (Ok(((), access)), Some(Ok(report))) => Ok(SalvageReport { access, ..report }),
        // The file changed meanwhile, so the records are from different snapshots.
        (Err(error), _) => Err(SalvageError::Input(error)),
        (Ok(_), None) => Err(SalvageError::Input(CheckError::Overtaken {
            path: path.to_owned(),
        })),
    }
}
