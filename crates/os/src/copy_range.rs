//! Writes bytes of a map to another file without a buffer between. The system copies them once.
//!
//! The bytes may change meanwhile, and a page of them may be missing. The call then fails, without
//! the signal of a touched page.

use crate::platform::io;
use rustix::fd::AsRawFd;

use crate::file::retried;
use crate::seam::{self, Call};
use crate::{File, Map};

impl File {
    /// Writes at most `len` bytes of `map`, from `from` on. They go to `offset`, or behind the last
    /// write. Returns how many were written. Fewer are no fault. None means that the map cannot
    /// supply them: they are outside it, or the file has lost them. Reading the file then gives the
    /// error.
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
                // SAFETY: the range is inside the map. Only the system reads it, and it fails with
                // `EFAULT` where a page is missing.
                Some(offset) => unsafe { libc::pwrite64(file, at, len, offset.cast_signed()) },
                // SAFETY: the range is inside the map. Only the system reads it, and it fails with
                // `EFAULT` where a page is missing.
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
