//! Changing the size of the map: following other processes, growing, and replacing the mapping.

use alloc::sync::Arc;
use core::sync::atomic::Ordering;

use fulgurite_format::{Meta, Pgno, layout};
use fulgurite_os::{DataFile, Map};

use super::Mapping;
use super::disk_room::{DiskRoom, RESERVE_PAGES};
use super::map_size::{GROWTH_MAX, GROWTH_MIN, SIZE_MAX};
use super::options::MapRule;
use super::shared::Shared;
use crate::Error;
use crate::boxed_error::BoxedError;

impl Shared {
    /// Follows another process that has changed the map size, or refuses to; at the begin of each
    /// transaction.
    #[inline]
    pub(super) fn adopt_size(&self, meta: &Meta) -> Result<(), BoxedError> {
        let page_size = self.mapping.page_size() as u64;
        let size = self.size.bytes();
        // The meta page was checked: this cannot overflow.
        let needed = (meta.last.0 + 1) * page_size;
        if self.size.is_exact() {
            if needed > size {
                return Err(Error::MapResized(size).into());
            }
        } else if meta.map_size > size {
            let announced = meta.map_size.min(SIZE_MAX);
            self.size.bytes.fetch_max(announced, Ordering::Relaxed);
        }
        if needed > self.mapping().map().len() as u64 {
            self.reserve(needed)?;
        }
        Ok(())
    }

    /// Finds room for the pages behind `before` up to `last`, letting the map grow if it may. Only
    /// a transaction that `stores` nothing may use the reserve.
    pub(super) fn make_room(
        &self,
        before: Pgno,
        last: u64,
        stores: bool,
    ) -> Result<(), BoxedError> {
        let size = self.size.bytes();
        let needed = (last + 1)
            .checked_mul(self.mapping.page_size() as u64)
            .filter(|needed| *needed <= SIZE_MAX)
            .ok_or(Error::MapFull(size))?;
        let reserve = stores.then(|| DiskRoom::reserve(self.mapping.page_size()));
        // The map may be larger already, and the file is not.
        let limit = self.size.growth_bound();
        if !self.size.is_exact() && needed.saturating_add(reserve.unwrap_or(0)) > limit {
            return Err(Error::MapFull(limit).into());
        }
        // LMDB leaves the last page of its map alone.
        let spare = u64::from(self.size.is_exact()) * self.mapping.page_size() as u64;
        let size = if needed + spare <= size {
            size
        } else {
            self.grow(size, needed, reserve.unwrap_or(0))?
        };
        if needed > self.mapping().map().len() as u64 {
            self.reserve(needed).map_err(|_| Error::MapFull(size))?;
        }
        // Another process may have announced a larger map without making the file that long.
        if self.mapping().map().is_writable() {
            let len = size.min(self.mapping().map().len() as u64);
            self.mapping().extend_to(len)?;
        }
        // Counted from the pages in use, not from the file's end: a damaged file may record any
        // last page.
        let from = needed - (last - before.0) * self.mapping.page_size() as u64;
        let file = self.mapping().file();
        let is_mapped = self.mapping().map().is_writable();
        self.disk_room
            .take(file, from, needed, reserve, is_mapped)?;
        self.size.bytes.fetch_max(size, Ordering::Relaxed);
        Ok(())
    }

    /// Returns the number of pages of the reserve that have no place below the bound. Earlier
    /// deletions have used it, or the bound is close to the pages in use.
    #[inline]
    pub(super) fn missing_reserve(&self, last: Pgno) -> u64 {
        if self.size.is_exact() {
            return 0;
        }
        let bound = layout::whole_pages(self.size.growth_bound(), self.mapping.page_size());
        let end = last.0.saturating_add(1).saturating_add(RESERVE_PAGES);
        end.saturating_sub(bound).min(RESERVE_PAGES)
    }

    /// Sets the bound of the growing regime, see [`crate::Environment::limit_growth`].
    pub(super) fn limit_growth(&self, bytes: u64) {
        let page_size = self.mapping.page_size();
        let used = self.published_meta().map_or(0, |meta| meta.last.0 + 1);
        let least = used
            .saturating_mul(page_size as u64)
            .saturating_add(DiskRoom::reserve(page_size));
        self.size.set_limit(bytes.max(least));
    }

    /// Takes the reserve behind the last page, if the last close gave it back. Returns `false` if
    /// the disk has no room.
    #[cold]
    pub(super) fn keep_room(&self, last: Pgno) -> bool {
        let mapping = self.mapping();
        // With a writable map there is room up to the map's end. Without a lock file no process
        // gives room back.
        if self.lock.is_none() || mapping.map().is_writable() {
            return true;
        }
        let page_size = mapping.page_size();
        let end = last.0.saturating_add(1).saturating_mul(page_size as u64);
        self.disk_room.keep(mapping.file(), end, page_size)
    }

    /// The size that the map grows to, so that `needed` bytes fit, and a reserve below its bound.
    fn grow(&self, size: u64, needed: u64, reserve: u64) -> Result<u64, BoxedError> {
        let bound = self.size.bound();
        if self.size.is_exact() || needed.saturating_add(reserve) > bound {
            return Err(Error::MapFull(if self.size.is_exact() { size } else { bound }).into());
        }
        let step = (size / 8).clamp(GROWTH_MIN, GROWTH_MAX);
        let bytes = fulgurite_os::whole_system_pages(needed.max(size + step));
        Ok(bytes.min(bound))
    }

    /// Sets the size, see [`crate::Environment::set_map_size`].
    pub(super) fn set_size(&self, bytes: u64) -> Result<(), BoxedError> {
        if self.writer.is_set() {
            return Err(Error::MapSizeBusy.into());
        }
        let meta = self.published_meta()?;
        let used = (meta.last.0 + 1) * self.mapping.page_size() as u64;
        let wanted = if bytes == 0 { meta.map_size } else { bytes };
        let least = if self.size.is_exact() {
            used
        } else {
            self.size.bytes()
        };
        self.size.raise_limit(wanted);
        self.resize_to(wanted.max(least).min(SIZE_MAX))
    }

    /// Adds the wishes of another handle: larger sizes count, in the regime that the first handle
    /// chose.
    pub(super) fn join_size(&self, rule: MapRule) -> Result<(), BoxedError> {
        match rule {
            MapRule::Exact(bytes) if self.size.is_exact() => {
                self.resize_to(bytes.min(SIZE_MAX).max(self.size.bytes()))
            }
            MapRule::Grows(bytes_max) => {
                self.size.bytes_max.fetch_max(bytes_max, Ordering::Relaxed);
                Ok(())
            }
            MapRule::Exact(_) => Ok(()),
        }
    }

    fn resize_to(&self, bytes: u64) -> Result<(), BoxedError> {
        if bytes > self.mapping().map().len() as u64 {
            self.reserve(bytes)?;
        }
        if self.mapping().map().is_writable() {
            self.mapping().extend_to(bytes)?;
        }
        self.size.bytes.store(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Lets a handle write that shares files opened for reading only.
    pub(super) fn become_writable(
        &self,
        file: DataFile,
        writable_map: bool,
    ) -> Result<(), BoxedError> {
        let replacing = self.size.replacing();
        let old = self.mapping();
        let len = old.map().len();
        if self.is_fixed {
            return Err(Error::GrownBeyondBound(len as u64).into());
        }
        let map = Map::reserve(file.pages(), len, len, writable_map).map_err(no_space())?;
        old.replace(Mapping::new(Arc::new(file), map, old.page_size())?)?;
        drop(replacing);
        self.resize_to(self.size.bytes())
    }

    /// Makes a mapping of at least `bytes` the one that is used from now on. Each is at least twice
    /// as large as the one before, so there are few of them.
    #[cold]
    fn reserve(&self, bytes: u64) -> Result<(), BoxedError> {
        let _one_at_a_time = self.size.replacing();
        let old = self.mapping();
        let len = old.map().len();
        let least = usize::try_from(bytes).unwrap_or(usize::MAX);
        if least <= len {
            return Ok(());
        }
        if self.is_fixed {
            return Err(Error::GrownBeyondBound(len as u64).into());
        }
        let wish = len.saturating_mul(2).max(self.size.reservation());
        let map = Map::reserve(old.file().pages(), wish, least, old.map().is_writable())
            .map_err(no_space())?;
        old.replace(Mapping::new(old.shared_file(), map, old.page_size())?)
    }
}

fn no_space() -> impl FnOnce(fulgurite_os::platform::io::Error) -> BoxedError {
    Error::io("reserving address space for the map")
}
