//! Directories that vanish, placed under the build's own target directory rather than in a `/tmp`
//! that may be memory.

use std::path::{Path, PathBuf};

/// A directory that is removed with everything in it when dropped.
#[derive(Debug)]
pub struct Scratch(tempfile::TempDir);

impl Scratch {
    /// Makes a fresh directory whose name begins with `label`.
    ///
    /// # Panics
    /// If the directory cannot be made.
    #[must_use]
    pub fn new(label: &str) -> Self {
        let parent = target_dir().join("scratch");
        std::fs::create_dir_all(&parent).expect("make the directory for scratch files");
        let dir = tempfile::Builder::new()
            .prefix(&format!("{label}-"))
            .tempdir_in(parent)
            .expect("make a scratch directory");
        Self(dir)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// A path inside it.
    #[must_use]
    pub fn join(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Leaves the directory behind for inspection and returns its path.
    #[must_use]
    pub fn keep(self) -> PathBuf {
        self.0.keep()
    }
}

/// The profile directory of the running test program (such as `target/debug`), where by-products of
/// tests belong.
#[must_use]
pub fn target_dir() -> PathBuf {
    let exe = std::env::current_exe().unwrap_or_default();
    let deps = exe.ancestors().find(|dir| dir.ends_with("deps"));
    match deps.and_then(Path::parent) {
        Some(profile) => profile.join("test-data"),
        None => std::env::temp_dir().join("fulgurite-test-data"),
    }
}
