//! Paths: bytes without a meaning, but for the slash.

use alloc::borrow::{Borrow, ToOwned};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Deref;

/// A borrowed path.
#[derive(PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Path([u8]);

/// An owned path.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PathBuf(Vec<u8>);

impl Path {
    /// Returns a text or another path as a path.
    pub fn new<P: AsRef<Path> + ?Sized>(path: &P) -> &Path {
        path.as_ref()
    }

    pub(crate) const fn from_bytes(bytes: &[u8]) -> &Path {
        let path: *const [u8] = bytes;
        // SAFETY: `Path` has the layout of its only field, and any bytes are valid in it.
        unsafe { &*(path as *const Path) }
    }

    pub(crate) const fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns this path with `name` behind it.
    #[must_use]
    pub fn join(&self, name: &str) -> PathBuf {
        let mut whole = self.0.to_vec();
        if whole.last().is_some_and(|last| *last != b'/') {
            whole.push(b'/');
        }
        whole.extend_from_slice(name.as_bytes());
        PathBuf(whole)
    }

    /// Returns a text that shows the path.
    #[must_use]
    pub fn display(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

impl AsRef<Path> for Path {
    fn as_ref(&self) -> &Path {
        self
    }
}

impl AsRef<Path> for PathBuf {
    fn as_ref(&self) -> &Path {
        self
    }
}

impl AsRef<Path> for str {
    fn as_ref(&self) -> &Path {
        Path::from_bytes(self.as_bytes())
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display())
    }
}

impl ToOwned for Path {
    type Owned = PathBuf;

    fn to_owned(&self) -> PathBuf {
        PathBuf(self.0.to_vec())
    }
}

impl Borrow<Path> for PathBuf {
    fn borrow(&self) -> &Path {
        self
    }
}

impl Deref for PathBuf {
    type Target = Path;

    fn deref(&self) -> &Path {
        Path::from_bytes(&self.0)
    }
}

impl fmt::Debug for PathBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
