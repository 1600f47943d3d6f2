//! The simulated disk: what it surely holds, what the system's cache holds, and everything that was
//! on its way.
//!
//! ```text
//!   cache      what a reader of the file sees                 every write goes here at once
//!   pending    per page, the contents it had since            each sector may have reached the disk in any of them
//!   durable    what the last completed sync left              nothing takes it back
//! ```

use std::collections::BTreeMap;

use super::recording::Event;
use super::sectors::{PAGE, PageIds, SECTOR, Sectors, ZERO_PAGE};

/// A content that a page had, and the event that gave it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Version {
    pub(super) event: usize,
    pub(super) ids: PageIds,
}

/// The file as the disk and the system's cache have it.
#[derive(Debug, Default)]
pub(super) struct Disk {
    pub(super) cache: Vec<PageIds>,
    pub(super) durable: Vec<PageIds>,
    pub(super) pending: BTreeMap<usize, Vec<Version>>,
    pub(super) len: u64,
    pub(super) len_durable: u64,
    /// The lengths the file had since, with the events that gave them.
    pub(super) lens_pending: Vec<(usize, u64)>,
    /// The file's name is in its directory.
    pub(super) is_named: bool,
}

impl Disk {
    /// An event begins: what it changes is in the cache, and may be on the disk.
    pub(super) fn begin(&mut self, event: usize, what: &Event, sectors: &mut Sectors) {
        match what {
            Event::Write { at, bytes, .. } => self.write(event, *at, bytes, sectors),
            Event::Length(len) => self.set_len(event, *len, sectors),
            _ => {}
        }
    }

    /// An event has ended: what it makes durable is.
    pub(super) fn finish(&mut self, what: &Event) {
        match what {
            Event::Write {
                at,
                bytes,
                durable: true,
            } => self.harden(*at, bytes.len() as u64),
            Event::Sync => {
                self.durable.clone_from(&self.cache);
                self.pending.clear();
                self.harden_len();
            }
            Event::FlushMap { at, len } => {
                let first = *at as usize / PAGE;
                let end = (*at + *len).div_ceil(PAGE as u64) as usize;
                for page in first..end.min(self.cache.len()) {
                    self.durable[page] = self.cache[page];
                    self.pending.remove(&page);
                }
                self.harden_len();
            }
            Event::SyncDirectory => self.is_named = true,
            _ => {}
        }
    }

    fn write(&mut self, event: usize, at: u64, bytes: &[u8], sectors: &mut Sectors) {
        let end = at + bytes.len() as u64;
        if end > self.len {
            self.set_len(event, end, sectors);
        }
        let mut done = 0;
        while done < bytes.len() {
            let at = at as usize + done;
            let part = (PAGE - at % PAGE).min(bytes.len() - done);
            let page = at / PAGE;
            let ids = sectors.overwrite(&self.cache[page], at % PAGE, &bytes[done..done + part]);
            self.change(event, page, ids);
            done += part;
        }
    }

    fn change(&mut self, event: usize, page: usize, ids: PageIds) {
        if self.cache[page] == ids {
            return;
        }
        self.cache[page] = ids;
        let versions = self.pending.entry(page).or_default();
        versions.push(Version { event, ids });
    }

    fn set_len(&mut self, event: usize, len: u64, sectors: &mut Sectors) {
        let pages = len.div_ceil(PAGE as u64) as usize;
        if len < self.len {
            for page in pages..self.cache.len() {
                self.change(event, page, ZERO_PAGE);
            }
            let kept = (len % PAGE as u64) as usize;
            if kept > 0 {
                let cut = sectors.overwrite(&self.cache[pages - 1], kept, &vec![0; PAGE - kept]);
                self.change(event, pages - 1, cut);
            }
        }
        if self.cache.len() < pages {
            self.cache.resize(pages, ZERO_PAGE);
            self.durable.resize(pages, ZERO_PAGE);
        }
        if len != self.len {
            self.len = len;
            self.lens_pending.push((event, len));
        }
    }

    /// These octets are as the cache has them, and no older content of their sectors is possible.
    fn harden(&mut self, at: u64, len: u64) {
        let (first, end) = (
            at as usize / SECTOR,
            (at + len).div_ceil(SECTOR as u64) as usize,
        );
        for sector in first..end {
            let (page, sector) = (sector / (PAGE / SECTOR), sector % (PAGE / SECTOR));
            let id = self.cache[page][sector];
            self.durable[page][sector] = id;
            for version in self.pending.get_mut(&page).into_iter().flatten() {
                version.ids[sector] = id;
            }
        }
        if at + len > self.len_durable {
            self.harden_len();
        }
    }

    fn harden_len(&mut self) {
        self.len_durable = self.len;
        self.lens_pending.clear();
    }
}
