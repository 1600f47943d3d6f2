//! The beginning of a copy of an environment: the path of its file, and its first meta pages.

use fulgurite_os::platform::path::{Path, PathBuf};

use fulgurite_format::Meta;

use super::{Handle, files};

impl Handle {
    /// The data file of an environment at `path` that is opened as this one was.
    pub(crate) fn data_file_at(&self, path: &Path) -> PathBuf {
        files::paths(path, self.options.no_subdir).0
    }

    /// The meta page of a new file for an environment like this one; `meta` is its own.
    pub(crate) fn fresh_meta(&self, meta: &Meta) -> Meta {
        let mut fresh = files::new_meta(&self.options);
        fresh.map_address = meta.map_address;
        fresh.map_size = self.map_size();
        fresh.free.pad = meta.free.pad;
        fresh
    }
}
