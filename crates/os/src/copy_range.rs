//! Bytes of a map written to another file, without a buffer between: the system copies them once,
//! from where they lie.
//!
//! They may change meanwhile, and a page of them may be gone: the call then fails, and no signal is
//! raised as for a page that the process itself touches.

use std::io;
use std::os::fd::AsRawFd;

use crate::file::retried;
use crate::seam::{self, Call};
use crate::{File, Map};

impl File {
    /// Writes at most `len` bytes of `map`, from `from` on, at `offset`, or behind what was written
    /// last; returns how many. Fewer are no fault, and none means that they cannot be had through
    /// the map: they are outside it, or the file that it shows does not have them any more, which
    /// is for reading that file to say.
    /// # Errors
    /// The system's.
    pub fn copy_range(
        &self,
        offset: Option<u64>,
        map: &Map,
        from: usize,
        len: usize,
    ) -> io::Result<usize> {
        let Some(at) = map.for_system(from, len) else {
            return Ok(0);
        };
        let file = self.file.as_raw_fd();
        let written = retried(|| {
            let len = seam::ask_len(self.role, Call::Write, len)?;
            let at = at.as_ptr().cast();
            let written = match offset {
                // SAFETY: the range is in the map; the system alone reads it, and fails where there
                // is no page.
                Some(offset) => unsafe { libc::pwrite64(file, at, len, offset.cast_signed()) },
                // SAFETY: as above.
                None => unsafe { libc::write(file, at, len) },
            };
            usize::try_from(written).map_err(|_| io::Error::last_os_error())
        });
        match written {
            Err(error) if error.raw_os_error() == Some(libc::EFAULT) => Ok(0),
            result => result,
        }
    }
}
