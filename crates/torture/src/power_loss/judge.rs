//! The quick judge finds the snapshot that the meta pages choose, and checks that all its sectors
//! are present.
//!
//! The results of opening, reading and checking depend on the meta pages and the pages of the
//! chosen snapshot. Those are the pages up to its last one that its free list does not name. So one
//! full check per combination is enough. For all other states the judge compares numbers.

use fulgurite_format::Meta;
use rustc_hash::FxHashMap;

use super::cut::{Cut, DiskState};
use super::disk::Disk;
use super::history::Committed;
use super::sectors::{ContentId, Octets, PAGE, PageIds, SECTOR, Sectors, ZEROS};

/// A snapshot as the cache held it when it was committed.
#[derive(Debug)]
struct Whole {
    /// The pages it reaches, in order.
    pages: Vec<(usize, PageIds)>,
    /// The minimal length of the file, in bytes.
    len: u64,
}

/// The findings of the quick judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Glance {
    /// There is no file, or an empty one.
    Nothing,
    /// The meta pages are none, or not as any commit left them.
    Unknown,
    /// The newer meta page describes this snapshot.
    Snapshot {
        snapshot: usize,
        /// All of it is there.
        whole: bool,
        /// The other meta page describes a snapshot that is not all there.
        other_broken: bool,
    },
}

/// Knows the snapshots of a history up to some event of it.
#[derive(Debug, Default)]
pub(super) struct Judge {
    wholes: Vec<Whole>,
    /// The first snapshot with these fields. After going back another may follow that differs in
    /// its pages only.
    by_fields: FxHashMap<Vec<u8>, usize>,
    /// Per snapshot, the next one with the same fields.
    twins: FxHashMap<usize, usize>,
    /// Returns the snapshot that a meta page's sector describes, and its id.
    known: FxHashMap<ContentId, Option<(usize, u64)>>,
}

/// The snapshots that the meta pages may describe after a cut.
#[derive(Debug)]
pub(super) struct Bench<'j> {
    judge: &'j mut Judge,
    /// Per snapshot that was asked for.
    needs: FxHashMap<usize, Needs>,
    /// Where the sectors of the meta pages stand among the undecided ones, or what they hold.
    metas: [Result<usize, ContentId>; 2],
}

/// The undecided sectors that a snapshot needs.
#[derive(Debug)]
struct Needs {
    /// True if the decided part is correct.
    rest_whole: bool,
    sectors: Vec<(usize, ContentId)>,
}

impl Judge {
    /// The cache holds this snapshot now.
    pub(super) fn learn(&mut self, snapshot: &Committed, disk: &Disk, sectors: &Sectors) {
        let is_used = |page: &u64| !snapshot.free.contains(page);
        let pages = (2..=snapshot.last).filter(is_used);
        let pages: Vec<(usize, PageIds)> = pages
            .filter_map(|page| Some((page as usize, *disk.cache.get(page as usize)?)))
            .collect();
        let end = |(page, _): &(usize, PageIds)| ((page + 1) * PAGE) as u64;
        // Without pages, what means something of the meta pages is enough.
        let len = pages.last().map_or((PAGE + SECTOR) as u64, end);
        let index = self.wholes.len();
        self.wholes.push(Whole { pages, len });
        let meta_page = (snapshot.txnid % 2) as usize;
        let ids = disk.cache.get(meta_page).map_or(0, |ids| ids[0]);
        let mut last = *self
            .by_fields
            .entry(fields(sectors.octets(ids)))
            .or_insert(index);
        while let Some(twin) = self.twins.get(&last) {
            last = *twin;
        }
        if last != index {
            self.twins.insert(last, index);
        }
        self.known.clear();
    }

    /// Takes a cut to judge its states.
    pub(super) fn bench(&mut self, cut: &Cut, disk: &Disk) -> Bench<'_> {
        let place = |page: usize| {
            let of_page = |at: &usize| {
                let sector = &cut.undecided[*at];
                sector.page == page && sector.sector == 0
            };
            let decided = disk.durable.get(page).map_or(0, |ids| ids[0]);
            (0..cut.undecided.len()).find(of_page).ok_or(decided)
        };
        let metas = [place(0), place(1)];
        Bench {
            judge: self,
            needs: FxHashMap::default(),
            metas,
        }
    }
}

impl Bench<'_> {
    pub(super) fn glance(
        &mut self,
        cut: &Cut,
        disk: &Disk,
        state: &DiskState,
        sectors: &Sectors,
    ) -> Glance {
        let Some(len) = state.len.filter(|len| *len > 0) else {
            return Glance::Nothing;
        };
        if self.is_unmade(len, state, sectors) {
            return Glance::Nothing;
        }
        if len < (PAGE + SECTOR) as u64 {
            return Glance::Unknown;
        }
        let (Some(first), Some(second)) =
            (self.meta(0, state, sectors), self.meta(1, state, sectors))
        else {
            return Glance::Unknown;
        };
        let (newest, other) = if second.1 > first.1 {
            (second.0, first.0)
        } else {
            (first.0, second.0)
        };
        let place = (cut, disk, sectors);
        let (snapshot, whole) = self.newest_whole(newest, len, place, state);
        let (_, other_whole) = self.newest_whole(other, len, place, state);
        Glance::Snapshot {
            snapshot,
            whole,
            other_broken: !other_whole,
        }
    }

    /// As [`Bench::glance`], where a description names the snapshot by its meta page.
    pub(super) fn glance_at(
        &mut self,
        meta: &Octets,
        place: (&Cut, &Disk, &Sectors),
        state: &DiskState,
    ) -> Glance {
        let Some(len) = state.len.filter(|len| *len > 0) else {
            return Glance::Nothing;
        };
        let Some((described, _)) = self.judge.describe(meta) else {
            return Glance::Unknown;
        };
        let (snapshot, whole) = self.newest_whole(described, len, place, state);
        Glance::Snapshot {
            snapshot,
            whole,
            other_broken: false,
        }
    }

    /// Returns true if the file is at most as long as a new one and holds only zeros. An open makes
    /// such a file anew. Of the first two pages only the first sectors are ever written to.
    fn is_unmade(&self, len: u64, state: &DiskState, sectors: &Sectors) -> bool {
        let is_blank = |page: usize| match self.metas[page] {
            Ok(at) => match state.torn.iter().find(|(torn, _)| *torn == at) {
                Some((_, octets)) => octets[..] == sectors.octets(ZEROS)[..],
                None => state.ids[at] == ZEROS,
            },
            Err(decided) => decided == ZEROS,
        };
        len <= 2 * PAGE as u64 && is_blank(0) && (len <= PAGE as u64 || is_blank(1))
    }

    /// Of snapshots with the same fields, the newest that is all there; the first if none is.
    fn newest_whole(
        &mut self,
        first: usize,
        len: u64,
        (cut, disk, sectors): (&Cut, &Disk, &Sectors),
        state: &DiskState,
    ) -> (usize, bool) {
        let (mut found, mut next) = ((first, false), Some(first));
        while let Some(snapshot) = next {
            if self.is_whole(snapshot, len, cut, disk, state, sectors) {
                found = (snapshot, true);
            }
            next = self.judge.twins.get(&snapshot).copied();
        }
        found
    }

    /// All that opening looks at where it is refused: the meta pages' sectors, and whether they are
    /// there. `None` if one is torn.
    pub(super) fn meta_sectors(&self, state: &DiskState) -> Option<[u64; 3]> {
        let id = |page: usize| match self.metas[page] {
            Ok(at) if state.torn.iter().any(|(torn, _)| *torn == at) => None,
            Ok(at) => Some(u64::from(state.ids[at])),
            Err(decided) => Some(u64::from(decided)),
        };
        let len = match state.len? {
            // Beyond this a file of zeros is no new one.
            len if len > 2 * PAGE as u64 => u64::MAX,
            len => len.min((PAGE + SECTOR) as u64),
        };
        Some([id(0)?, id(1)?, len])
    }

    /// The snapshot that a meta page describes, and its id.
    fn meta(&mut self, page: usize, state: &DiskState, sectors: &Sectors) -> Option<(usize, u64)> {
        let id = match self.metas[page] {
            Ok(at) => match state.torn.iter().find(|(torn, _)| *torn == at) {
                Some((_, octets)) => return self.judge.describe(octets),
                None => state.ids[at],
            },
            Err(decided) => decided,
        };
        if let Some(known) = self.judge.known.get(&id) {
            return *known;
        }
        let found = self.judge.describe(sectors.octets(id));
        self.judge.known.insert(id, found);
        found
    }

    fn is_whole(
        &mut self,
        snapshot: usize,
        len: u64,
        cut: &Cut,
        disk: &Disk,
        state: &DiskState,
        sectors: &Sectors,
    ) -> bool {
        let whole = &self.judge.wholes[snapshot];
        if len < whole.len {
            return false;
        }
        let needs = self
            .needs
            .entry(snapshot)
            .or_insert_with(|| Needs::new(whole, cut, disk));
        let is_there = |(at, id): &(usize, ContentId)| {
            let torn = state.torn.iter().find(|(torn, _)| torn == at);
            torn.map_or(state.ids[*at] == *id, |(_, octets)| {
                octets[..] == sectors.octets(*id)[..]
            })
        };
        needs.rest_whole && needs.sectors.iter().all(is_there)
    }
}

impl Judge {
    fn describe(&self, octets: &Octets) -> Option<(usize, u64)> {
        let meta = Meta::read(octets).ok()?;
        let snapshot = self.by_fields.get(&fields(octets))?;
        Some((*snapshot, meta.txnid.0))
    }
}

impl Needs {
    fn new(whole: &Whole, cut: &Cut, disk: &Disk) -> Needs {
        let mut needs = Needs {
            rest_whole: true,
            sectors: Vec::new(),
        };
        for (page, ids) in &whole.pages {
            let first = cut.undecided.partition_point(|sector| sector.page < *page);
            let of_page = cut.undecided[first..]
                .iter()
                .take_while(|sector| sector.page == *page);
            let mut decided = disk.durable.get(*page).copied().unwrap_or_default();
            for (at, sector) in of_page.enumerate() {
                needs.sectors.push((first + at, ids[sector.sector]));
                decided[sector.sector] = ids[sector.sector];
            }
            needs.rest_whole &= decided == *ids;
        }
        needs
    }
}

/// The bytes of a meta page that a commit writes.
fn fields(octets: &Octets) -> Vec<u8> {
    octets[Meta::COMMIT_AT..Meta::LEN].to_vec()
}
