//! The resources of a process: descriptors, mappings, memory.

use std::path::Path;

use fulgurite::seam::allocated_bytes;

/// The resources at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Resources {
    descriptors: usize,
    mappings: usize,
    /// Of memory.
    octets: isize,
}

impl Resources {
    /// Returns the resources of this process for the files in `directory`.
    pub(super) fn now(directory: &Path) -> Resources {
        let directory = directory.to_string_lossy().into_owned();
        let descriptors = std::fs::read_dir("/proc/self/fd").map_or(0, |entries| {
            let targets = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
            targets
                .filter(|target| target.to_string_lossy().starts_with(&directory))
                .count()
        });
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let mappings = maps
            .lines()
            .filter(|line| line.contains(&directory))
            .count();
        Resources {
            descriptors,
            mappings,
            octets: allocated_bytes(),
        }
    }

    /// Returns the resources held now and not before, without `own` bytes of notes. Returns `None`
    /// if there are none.
    pub(super) fn more_than(
        &self,
        before: &Resources,
        own: usize,
        maps_may_stay: bool,
    ) -> Option<String> {
        if self.descriptors > before.descriptors {
            return Some(format!(
                "{} descriptors are left open",
                self.descriptors - before.descriptors
            ));
        }
        if self.mappings > before.mappings && !maps_may_stay {
            return Some(format!(
                "{} mappings are left",
                self.mappings - before.mappings
            ));
        }
        let octets = self.octets - before.octets - own.cast_signed();
        (octets > 0).then(|| format!("{octets} octets of memory are left"))
    }
}
