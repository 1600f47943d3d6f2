//! One moment of power loss: the undecided sectors, and every possible state, by number.
//!
//! ```text
//!   choice    0 .. exhaustive      each combination of what the undecided sectors, or pages, or writes, may hold
//!             exhaustive ..        a random one: by sectors, by pages, by writes, as of an earlier moment, torn
//! ```

use fulgurite_testkit::Random;

use super::disk::Disk;
use super::sectors::{ContentId, Octets, PAGE, SECTOR, SECTORS, Sectors, mix};

/// Cuts with at most this many states are tried exhaustively; of others, a random choice.
const EXHAUSTIVE_MAX: u64 = 4096;
/// Where a commit writes in a meta page.
const META_FIELDS: std::ops::Range<usize> = 32..152;

/// A sector that may hold one of several contents.
#[derive(Debug)]
pub(super) struct Undecided {
    pub(super) page: usize,
    pub(super) sector: usize,
    /// The contents in order of time, each with the event that wrote it; the first is durable.
    pub(super) versions: Vec<(usize, ContentId)>,
}

/// The parts that make up the states of a cut.
#[derive(Debug)]
pub(super) struct Cut {
    /// The number of events that had begun.
    pub(super) index: usize,
    pub(super) undecided: Vec<Undecided>,
    /// Lengths in octets that the file may have; the first is durable.
    lens: Vec<u64>,
    /// The file may be missing from its directory.
    may_be_absent: bool,
    /// The events that changed an undecided sector, in order.
    events: Vec<usize>,
    grain: Grain,
    exhaustive: u64,
    /// Hash of all decided sectors, for each length.
    base_hashes: Vec<(u64, u64)>,
}

/// The units that are decided as a whole in an exhaustive run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grain {
    Sector,
    Page,
    Write,
    /// There is too much for that.
    None,
}

/// A disk's content after a power loss.
#[derive(Debug, Clone, Default)]
pub(super) struct DiskState {
    /// Length of the file in octets; `None` if there is no file.
    pub(super) len: Option<u64>,
    /// The contents of the undecided sectors, in the cut's order.
    pub(super) ids: Vec<ContentId>,
    /// Undecided sectors, by place in the cut's order, that hold parts of two contents.
    pub(super) torn: Vec<(usize, Box<Octets>)>,
}

/// How the octets of a torn sector reached the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tear {
    /// From the first to the last: any number of them.
    Forwards,
    /// From the last to the first.
    Backwards,
    /// Any words of eight octets.
    Words,
    /// Any octets.
    Octets,
}

impl Tear {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Tear::Forwards => "forwards",
            Tear::Backwards => "backwards",
            Tear::Words => "words",
            Tear::Octets => "octets",
        }
    }
}

impl Cut {
    pub(super) fn new(index: usize, disk: &Disk) -> Cut {
        let undecided = undecided(disk);
        let mut lens = vec![disk.len_durable];
        lens.extend(disk.lens_pending.iter().map(|(_, len)| *len));
        lens.dedup();
        let mut events: Vec<usize> = undecided
            .iter()
            .flat_map(|sector| sector.versions.iter().skip(1).map(|version| version.0))
            .collect();
        events.sort_unstable();
        events.dedup();
        let mut cut = Cut {
            index,
            undecided,
            lens,
            may_be_absent: !disk.is_named,
            events,
            grain: Grain::None,
            exhaustive: 0,
            base_hashes: Vec::new(),
        };
        cut.choose_grain();
        let lens = cut.lens.iter();
        cut.base_hashes = lens.map(|len| (*len, cut.base_hash(disk, *len))).collect();
        cut
    }

    /// How many choices are tried one by one before random ones begin; 0 if there are too many.
    pub(super) const fn exhaustive(&self) -> u64 {
        self.exhaustive
    }

    /// Returns true if more states exist than the exhaustive ones, without torn sectors.
    pub(super) fn has_more(&self) -> bool {
        self.grain != Grain::Sector
    }

    /// Returns true if nothing is undecided, except perhaps the length and the name.
    pub(super) fn is_settled(&self) -> bool {
        self.undecided.is_empty()
    }

    /// Makes `state` the state of a choice; `random` belongs to the choice.
    pub(super) fn choose(
        &self,
        choice: u64,
        random: &mut Random,
        sectors: &Sectors,
        state: &mut DiskState,
    ) {
        state.ids.clear();
        state.torn.clear();
        if choice < self.exhaustive {
            return self.choose_numbered(choice, state);
        }
        self.choose_len(random, state);
        match random.below(16) {
            0..4 => self.choose_sectors(random, state, 50),
            4..6 => {
                let newest = *random.pick(&[3, 15, 85, 97]);
                self.choose_sectors(random, state, newest);
            }
            6..9 => self.choose_pages(random, state),
            9..12 => self.choose_writes(random, state),
            12 => self.choose_moment(random, state),
            _ => {
                self.choose_sectors(random, state, 50);
                self.tear_some(random, sectors, state);
            }
        }
    }

    /// Makes `state` the newest one, as the system has it in memory.
    pub(super) fn choose_newest(&self, state: &mut DiskState) {
        state.torn.clear();
        state.len = self.lens.last().copied();
        let newest = self.undecided.iter().map(Undecided::newest);
        state.ids = newest.collect();
    }

    /// Returns a state in which only the sector of the newest meta page is torn. Returns `None` if
    /// that sector is not pending.
    pub(super) fn choose_torn_meta(
        &self,
        tear: Tear,
        random: &mut Random,
        sectors: &Sectors,
        state: &mut DiskState,
    ) -> bool {
        state.ids.clear();
        state.torn.clear();
        state.len = self.lens.last().copied();
        state
            .ids
            .extend(self.undecided.iter().map(Undecided::newest));
        let is_meta = |sector: &Undecided| sector.page < 2 && sector.sector == 0;
        let Some(at) = self.undecided.iter().position(is_meta) else {
            return false;
        };
        self.tear(at, tear, random, sectors, state);
        true
    }

    /// A hash of what the disk holds.
    pub(super) fn hash(&self, state: &DiskState, disk: &Disk) -> u64 {
        let Some(len) = state.len else {
            return 1;
        };
        let known = self.base_hashes.iter().find(|(known, _)| *known == len);
        let mut hash = known.map_or_else(|| self.base_hash(disk, len), |(_, hash)| *hash);
        for (sector, id) in self.undecided.iter().zip(&state.ids) {
            if sector.at() < len {
                hash ^= sector_hash(sector.page, sector.sector, *id);
            }
        }
        for (at, octets) in &state.torn {
            let sector = &self.undecided[*at];
            hash ^= sector_hash(sector.page, sector.sector, state.ids[*at]);
            hash ^= mix(super::sectors::hash(&octets[..]) ^ sector.at());
        }
        hash
    }

    fn base_hash(&self, disk: &Disk, len: u64) -> u64 {
        let mut hash = mix(len);
        for (page, ids) in disk.durable.iter().enumerate() {
            for (sector, id) in ids.iter().enumerate() {
                if ((page * PAGE + sector * SECTOR) as u64) < len {
                    hash ^= sector_hash(page, sector, *id);
                }
            }
        }
        for sector in &self.undecided {
            if sector.at() < len {
                hash ^= sector_hash(sector.page, sector.sector, sector.versions[0].1);
            }
        }
        hash
    }

    fn choose_grain(&mut self) {
        for grain in [Grain::Sector, Grain::Page, Grain::Write] {
            let count = self.count(grain);
            if count <= EXHAUSTIVE_MAX {
                self.grain = grain;
                self.exhaustive = count;
                return;
            }
        }
    }

    /// How many states there are if such pieces are decided as a whole.
    fn count(&self, grain: Grain) -> u64 {
        let of_len = self.lens.len() as u64;
        let mut count = of_len;
        let mut multiply = |options: usize| count = count.saturating_mul(options as u64);
        match grain {
            Grain::Sector => self
                .undecided
                .iter()
                .for_each(|sector| multiply(sector.versions.len())),
            Grain::Page => self
                .undecided
                .chunk_by(|a, b| a.page == b.page)
                .for_each(|page| multiply(events_of(page).len() + 1)),
            Grain::Write => self.events.iter().for_each(|_| multiply(2)),
            Grain::None => return u64::MAX,
        }
        count.saturating_add(u64::from(self.may_be_absent))
    }

    /// The choice, read as a number whose digits decide piece by piece.
    fn choose_numbered(&self, choice: u64, state: &mut DiskState) {
        let mut rest = choice;
        let mut digit = |options: usize| {
            let digit = rest % options as u64;
            rest /= options as u64;
            digit as usize
        };
        if self.may_be_absent && choice + 1 == self.exhaustive {
            state.len = None;
            state
                .ids
                .extend(self.undecided.iter().map(Undecided::durable));
            return;
        }
        state.len = Some(self.lens[digit(self.lens.len())]);
        match self.grain {
            Grain::Sector => {
                for sector in &self.undecided {
                    state
                        .ids
                        .push(sector.versions[digit(sector.versions.len())].1);
                }
            }
            Grain::Page => {
                for page in self.undecided.chunk_by(|a, b| a.page == b.page) {
                    let events = events_of(page);
                    let moment = match digit(events.len() + 1) {
                        0 => 0,
                        other => events[other - 1],
                    };
                    state
                        .ids
                        .extend(page.iter().map(|sector| sector.as_of(moment)));
                }
            }
            Grain::Write | Grain::None => {
                let kept: Vec<bool> = self.events.iter().map(|_| digit(2) == 1).collect();
                self.keep_writes(&kept, state);
            }
        }
    }

    fn choose_len(&self, random: &mut Random, state: &mut DiskState) {
        let newest = self.lens[self.lens.len() - 1];
        state.len = Some(newest);
        if self.may_be_absent && random.chance(20) {
            state.len = None;
        } else if self.lens.len() > 1 && random.chance(50) {
            state.len = Some(*random.pick(&self.lens));
            if random.chance(50) {
                let (low, high) = (self.lens[0].min(newest), self.lens[0].max(newest));
                let sectors = random.below(((high - low) as usize / SECTOR).max(1));
                state.len = Some(low + (sectors * SECTOR) as u64);
            }
        }
    }

    /// Each sector by itself; the newest content with this chance in percent, else any.
    fn choose_sectors(&self, random: &mut Random, state: &mut DiskState, newest: usize) {
        for sector in &self.undecided {
            let id = if random.chance(newest) {
                sector.newest()
            } else if sector.versions.len() == 2 {
                sector.durable()
            } else {
                random.pick(&sector.versions).1
            };
            state.ids.push(id);
        }
    }

    /// Each page by itself, as of some moment.
    fn choose_pages(&self, random: &mut Random, state: &mut DiskState) {
        for page in self.undecided.chunk_by(|a, b| a.page == b.page) {
            let event = self.events[random.below(self.events.len())];
            let moment = if random.chance(40) { 0 } else { event };
            state
                .ids
                .extend(page.iter().map(|sector| sector.as_of(moment)));
        }
    }

    /// Some writes reached the disk, the others did not.
    fn choose_writes(&self, random: &mut Random, state: &mut DiskState) {
        let keep = *random.pick(&[10, 50, 50, 90]);
        let kept: Vec<bool> = self.events.iter().map(|_| random.chance(keep)).collect();
        self.keep_writes(&kept, state);
    }

    fn keep_writes(&self, kept: &[bool], state: &mut DiskState) {
        let is_kept = |event: usize| {
            let place = self.events.binary_search(&event);
            place.is_ok_and(|place| kept[place])
        };
        for sector in &self.undecided {
            let found = sector.versions.iter().rev().find(|v| is_kept(v.0));
            state.ids.push(found.map_or(sector.durable(), |v| v.1));
        }
    }

    /// Everything as it was at some moment, but for a few sectors.
    fn choose_moment(&self, random: &mut Random, state: &mut DiskState) {
        let moment = if self.events.is_empty() {
            0
        } else {
            *random.pick(&self.events)
        };
        for sector in &self.undecided {
            let astray = random.chance(5);
            state.ids.push(if astray {
                random.pick(&sector.versions).1
            } else {
                sector.as_of(moment)
            });
        }
    }

    /// Tears one to three sectors in the order of their octets.
    fn tear_some(&self, random: &mut Random, sectors: &Sectors, state: &mut DiskState) {
        if self.undecided.is_empty() {
            return;
        }
        for _ in 0..random.between(1, 3) {
            let at = random.below(self.undecided.len());
            if state.torn.iter().all(|(other, _)| *other != at) {
                self.tear(at, Tear::Forwards, random, sectors, state);
            }
        }
    }

    fn tear(
        &self,
        at: usize,
        tear: Tear,
        random: &mut Random,
        sectors: &Sectors,
        state: &mut DiskState,
    ) {
        let sector = &self.undecided[at];
        let newer = random.between(1, sector.versions.len() - 1);
        let older = random.below(newer);
        let old = sectors.octets(sector.versions[older].1);
        let new = sectors.octets(sector.versions[newer].1);
        let is_meta = sector.page < 2 && sector.sector == 0;
        let part = if is_meta { META_FIELDS } else { 0..SECTOR };
        let border = random.between(part.start, part.end);
        let bits = random.bytes(SECTOR);
        let mut octets = Box::new(*old);
        for place in 0..SECTOR {
            let is_new = match tear {
                Tear::Forwards => place < border,
                Tear::Backwards => place >= border,
                Tear::Words => bits[place / 8] & 1 == 1,
                Tear::Octets => bits[place] & 1 == 1,
            };
            if is_new {
                octets[place] = new[place];
            }
        }
        state.torn.push((at, octets));
    }
}

impl Undecided {
    fn at(&self) -> u64 {
        (self.page * PAGE + self.sector * SECTOR) as u64
    }

    fn durable(&self) -> ContentId {
        self.versions[0].1
    }

    fn newest(&self) -> ContentId {
        self.versions[self.versions.len() - 1].1
    }

    /// The content after an event.
    fn as_of(&self, event: usize) -> ContentId {
        let found = self.versions.iter().rev().find(|v| v.0 <= event);
        found.map_or(self.durable(), |v| v.1)
    }
}

/// The sectors that differ between the contents their page may have.
fn undecided(disk: &Disk) -> Vec<Undecided> {
    let mut found = Vec::new();
    for (page, versions) in &disk.pending {
        for sector in 0..SECTORS {
            let mut list = vec![(0, disk.durable[*page][sector])];
            for version in versions {
                let id = version.ids[sector];
                if list.last().is_some_and(|last| last.1 != id) {
                    list.push((version.event, id));
                }
            }
            if list.len() > 1 {
                found.push(Undecided {
                    page: *page,
                    sector,
                    versions: list,
                });
            }
        }
    }
    found
}

/// The events that changed one of these sectors, in order.
fn events_of(sectors: &[Undecided]) -> Vec<usize> {
    let mut events: Vec<usize> = sectors
        .iter()
        .flat_map(|sector| sector.versions.iter().skip(1).map(|version| version.0))
        .collect();
    events.sort_unstable();
    events.dedup();
    events
}

fn sector_hash(page: usize, sector: usize, id: ContentId) -> u64 {
    mix(((page * SECTORS + sector) as u64) << 32 | u64::from(id))
}
