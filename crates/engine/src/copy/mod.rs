//! Copying a live environment: a snapshot is pinned and streamed out, while writers go on.
//!
//! ```text
//!   plain     the pages of the snapshot as they lie in the file; free ones too, so places stay
//!   compact   the trees page by page in key order, children before parents, numbered anew without gaps
//! ```
//!
//! A plain copy to a file or a pipe is written by the system from where the map has it, and what goes elsewhere, or is not
//! there, by way of a buffer.
//!
//! Neither waits for a writer: what the snapshot's own meta page says is known from pinning it, and the other meta
//! page matters only as the older of the two. Memory is bounded: two buffers of a mebioctet, and a few numbers for each
//! level of a tree. The snapshot is pinned for as long as the copy takes, so a file that is being changed grows.

mod compact;
mod count;
mod outlet;
mod output;
mod plain;
mod target;

use std::io::{self, Write};
use std::os::fd::BorrowedFd;
use std::path::Path;

use fulgurite_format::Meta;
use fulgurite_os::{File, FileRole, NoPipeSignal, remove_file};
use outlet::{AnyWriter, Outlet};
use target::Target;

use crate::{Environment, Error, ReadTxn};

impl Environment {
    /// Copies the newest snapshot to a new environment at `path`: into that directory, which must exist, or to that
    /// file if this environment is one without directory. No lock file is made. The copy is durable on return; if the
    /// power fails before, there is no file, an empty one, or one that no environment is opened on: the meta pages come last.
    ///
    /// A plain copy of an environment that nobody writes to is equal to its data file, octet for octet. A compact one
    /// has no free pages, and its pages lie in key order; its next transaction is number 2.
    /// # Errors
    /// [`Error::Io`] from the system, above all if the file exists already; [`Error::Corrupted`] and
    /// [`Error::BeyondEnd`] for a damaged page, and what [`Environment::read`] gives. A file that was begun is removed.
    pub fn copy_to_path(&self, path: impl AsRef<Path>, compact: bool) -> Result<(), Error> {
        let path = self.handle().data_file_at(path.as_ref());
        self.copy_to_file(&path, compact, &mut |_| Ok(()))
    }

    /// As [`Environment::copy_to_path`], to exactly this file. `watch` is told before each write how many octets there are
    /// so far, and calls the copy off with an error.
    /// # Errors
    /// As [`Environment::copy_to_path`], and what `watch` says.
    pub fn copy_to_file(
        &self,
        path: &Path,
        compact: bool,
        watch: &mut dyn FnMut(u64) -> io::Result<()>,
    ) -> Result<(), Error> {
        let mut target = Target::create(path, self, watch)?;
        let copied = self
            .copy_into(&mut target, compact)
            .and_then(|()| target.finish());
        if copied.is_err() {
            // What matters is why copying failed; if the file cannot be removed it stays, incomplete.
            let _ = remove_file(FileRole::Copy, path);
        }
        copied
    }

    /// Copies the newest snapshot to a descriptor, which may be a pipe; see [`Environment::copy_to_path`]. A pipe that
    /// nobody reads is an error, whatever the program does about signals.
    /// # Errors
    /// As [`Environment::copy_to`]; [`Error::Io`] for a descriptor that is not open.
    pub fn copy_to_fd(&self, to: BorrowedFd<'_>, compact: bool) -> Result<(), Error> {
        let io = Error::io("writing the copy");
        // A program in C need not know that what it copies to is a pipe.
        let guard = File::duplicate(FileRole::Copy, to)
            .and_then(|to| NoPipeSignal::block().map(|guard| (to, guard)));
        let (mut to, _guard) = guard.map_err(io)?;
        self.copy_into(&mut to, compact)
    }

    /// Copies the newest snapshot to any writer; see [`Environment::copy_to_path`].
    /// # Errors
    /// [`Error::Io`] from the writer; [`Error::Corrupted`] and [`Error::BeyondEnd`] for a damaged page, and what
    /// [`Environment::read`] gives.
    pub fn copy_to(&self, to: &mut impl Write, compact: bool) -> Result<(), Error> {
        self.copy_into(&mut AnyWriter(to), compact)
    }

    fn copy_into(&self, to: &mut dyn Outlet, compact: bool) -> Result<(), Error> {
        let (txn, meta) = pin(self)?;
        if compact {
            compact::copy(&txn, &meta, to)
        } else {
            plain::copy(&txn, &meta, to)
        }
    }
}

/// A pinned snapshot, and what its meta page said when it was pinned.
fn pin(environment: &Environment) -> Result<(ReadTxn<'_>, Meta), Error> {
    let txn = environment.read()?;
    let meta = txn.meta()?;
    Ok((txn, meta))
}
