//! Variables of the process, and paths as bytes.

use alloc::vec::Vec;
use core::ffi::CStr;

use super::path::Path;

/// Returns the value of a variable of the process; none if it is unset.
#[must_use]
pub fn variable(name: &CStr) -> Option<Vec<u8>> {
    #[cfg(feature = "std")]
    {
        use std::os::unix::ffi::OsStringExt;

        std::env::var_os(name.to_str().ok()?).map(OsStringExt::into_vec)
    }
    #[cfg(not(feature = "std"))]
    {
        // SAFETY: the name ends with zero. Programs in C must not change variables while other
        // threads read them.
        let value = unsafe { libc::getenv(name.as_ptr()) };
        if value.is_null() {
            return None;
        }
        // SAFETY: `getenv` returns a text that ends with zero.
        Some(unsafe { CStr::from_ptr(value) }.to_bytes().to_vec())
    }
}

/// Returns the bytes of a path, as the system has them.
#[must_use]
pub fn path_bytes(path: &Path) -> &[u8] {
    #[cfg(feature = "std")]
    {
        use std::os::unix::ffi::OsStrExt;

        path.as_os_str().as_bytes()
    }
    #[cfg(not(feature = "std"))]
    path.as_bytes()
}

/// Returns the path that consists of these bytes.
#[must_use]
pub fn path_from_bytes(bytes: &[u8]) -> &Path {
    #[cfg(feature = "std")]
    {
        use std::os::unix::ffi::OsStrExt;

        Path::new(std::ffi::OsStr::from_bytes(bytes))
    }
    #[cfg(not(feature = "std"))]
    Path::from_bytes(bytes)
}
