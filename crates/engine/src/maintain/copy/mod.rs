//! Copying a live environment: the copy pins a snapshot and streams it out, while writers go on.
//!
//! ```text
//!   plain     the pages of the snapshot as they are in the file, free ones too; numbers stay
//!   compact   the trees page by page in key order, children before parents, numbered anew without gaps
//! ```
//!
//! For a plain copy to a file or a pipe the system writes directly from the map. Everything else
//! goes through a buffer.
//!
//! No copy waits for a writer. Pinning the snapshot gives the contents of its meta page. The other
//! meta page only has to be the older one. Memory is bounded: two buffers of one mebibyte, and a
//! few numbers for each level of a tree. The snapshot is pinned as long as the copy takes, so a
//! file that is being changed grows.

mod compact;
mod copy_file;
mod count;
mod page_buffer;
mod page_numbers;
mod plain;
mod sink;

use fulgurite_os::fd::BorrowedFd;
use fulgurite_os::platform::io;
use fulgurite_os::platform::io::Write;
use fulgurite_os::platform::path::Path;

use copy_file::CopyFile;
use fulgurite_format::Meta;
use fulgurite_os::{File, FileRole, NoPipeSignal, remove_file};
use sink::{AnyWriter, CopySink};

use crate::boxed_error::BoxedError;
use crate::{Environment, Error, ReadTxn};

impl Environment {
    /// Copies the newest snapshot to a new environment at `path`.
    ///
    /// `path` is an existing directory, or a file if this environment has no directory. The copy
    /// makes no lock file. It is durable on return. The meta pages come last. So after a power loss
    /// there is no file, an empty one, or one that cannot be opened.
    ///
    /// While no writer is active, a plain copy equals the data file byte for byte. A compact one
    /// has no free pages, and its pages are in key order; its next transaction is number 2.
    /// # Errors
    /// [`Error::Io`] from the system, above all if the file exists already. [`Error::Corrupted`]
    /// and [`Error::BeyondEnd`] for a damaged page, and the errors of [`Environment::read`]. An
    /// incomplete file is removed.
    pub fn copy_to_path(&self, path: impl AsRef<Path>, compact: bool) -> Result<(), Error> {
        let path = self.handle().data_file_at(path.as_ref());
        self.copy_to_file(&path, compact, &mut |_| Ok(()))
    }

    /// As [`Environment::copy_to_path`], to exactly this file.
    ///
    /// Before each write it calls `watch` with the bytes written so far. An error of `watch` ends
    /// the copy.
    /// # Errors
    /// As [`Environment::copy_to_path`], and those of `watch`.
    pub fn copy_to_file(
        &self,
        path: &Path,
        compact: bool,
        watch: &mut dyn FnMut(u64) -> io::Result<()>,
    ) -> Result<(), Error> {
        let mut target = CopyFile::create(path, self, watch)?;
        let copied = self
            .copy_into(&mut target, compact)
            .and_then(|()| target.finish());
        if copied.is_err() {
            // The error of the copy matters more. If the incomplete file cannot be removed it
            // stays.
            let _ = remove_file(FileRole::Copy, path);
        }
        copied.map_err(Error::from)
    }

    /// Copies the newest snapshot to a descriptor, which may be a pipe; see
    /// [`Environment::copy_to_path`].
    ///
    /// A pipe without a reader is an error, whatever the program does about signals.
    /// # Errors
    /// As [`Environment::copy_to`]; [`Error::Io`] for a descriptor that is not open.
    pub fn copy_to_fd(&self, to: BorrowedFd<'_>, compact: bool) -> Result<(), Error> {
        let io = Error::io("writing the copy");
        // A program in C may not know that it copies to a pipe, so SIGPIPE must not reach it.
        let guard = File::duplicate(FileRole::Copy, to)
            .and_then(|to| NoPipeSignal::block().map(|guard| (to, guard)));
        let (mut to, _guard) = guard.map_err(io)?;
        self.copy_into(&mut to, compact).map_err(Error::from)
    }

    /// Copies the newest snapshot to any writer; see [`Environment::copy_to_path`].
    /// # Errors
    /// [`Error::Io`] from the writer; [`Error::Corrupted`] and [`Error::BeyondEnd`] for a damaged
    /// page, and the errors of [`Environment::read`].
    pub fn copy_to(&self, to: &mut impl Write, compact: bool) -> Result<(), Error> {
        self.copy_into(&mut AnyWriter(to), compact)
            .map_err(Error::from)
    }

    fn copy_into(&self, to: &mut dyn CopySink, compact: bool) -> Result<(), BoxedError> {
        let (txn, meta) = pin(self)?;
        if compact {
            compact::copy(&txn, &meta, to)
        } else {
            plain::copy(&txn, &meta, to)
        }
    }
}

/// Pins the newest snapshot and returns it with its meta page.
fn pin(environment: &Environment) -> Result<(ReadTxn<'_>, Meta), BoxedError> {
    let txn = environment.read()?;
    let meta = txn.meta()?;
    Ok((txn, meta))
}
