//! What a copy of an environment begins with: where its file lies, what its meta pages say before there is anything.

use std::path::{Path, PathBuf};

use fulgurite_format::{DatabaseFlags, META_PAGES, Meta, Pgno, TreeRecord, Txnid};

use super::Environment;
use super::open::{FIXED_MAP_FLAG, NO_SUBDIR_FLAG, file_paths};

impl Environment {
    /// The data file of an environment at `path` that is opened as this one was.
    pub(crate) fn data_file_at(&self, path: &Path) -> PathBuf {
        file_paths(path, self.parts.options.no_subdir).0
    }

    /// The meta page of a new file for an environment like this one; `meta` is its own.
    pub(crate) fn fresh_meta(&self, meta: &Meta) -> Meta {
        let options = &self.parts.options;
        let mut flags = DatabaseFlags::INTEGER_KEY;
        if options.no_subdir {
            flags |= NO_SUBDIR_FLAG;
        }
        if options.fixed_map {
            flags |= FIXED_MAP_FLAG;
        }
        let mut free = TreeRecord::empty(DatabaseFlags(flags));
        free.pad = meta.free.pad;
        Meta {
            map_address: meta.map_address,
            map_size: self.map_size(),
            free,
            main: TreeRecord::empty(DatabaseFlags(0)),
            last: Pgno(META_PAGES - 1),
            txnid: Txnid(0),
        }
    }
}
