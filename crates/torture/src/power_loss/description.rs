//! The file that describes the checkpoint, as the disk may hold it.

use fulgurite_format::Meta;
use fulgurite_testkit::Random;
use rustc_hash::FxHashSet;

use super::cut::{Cut, DiskState};
use super::disk::Disk;
use super::recording::Event;
use super::sectors::{Octets, PAGE, SECTOR, SECTORS, Sectors};

/// Where a description has its number, says if it has a meta page, and has that page.
const NUMBER: std::ops::Range<usize> = 8..16;
const HAS_META_AT: usize = 17;
const META_AT: usize = 88;
/// Number of random states next to the numbered ones.
const RANDOM_STATES: u64 = 6;

/// The file up to some event.
#[derive(Debug, Default)]
pub(super) struct DescriptionFile {
    disk: Disk,
    /// Everything that was written: other contents are torn.
    written: FxHashSet<Vec<u8>>,
}

/// The file after a power loss.
#[derive(Debug, Default)]
pub(super) struct DescriptionState {
    /// Its bytes; `None` if there is none.
    pub(super) bytes: Option<Vec<u8>>,
    /// The meta page of the checkpoint; `None` if those of the data file count.
    pub(super) meta: Option<Box<Octets>>,
}

impl DescriptionFile {
    /// An event of this file begins.
    pub(super) fn begin(&mut self, index: usize, event: &Event, sectors: &mut Sectors) {
        if let Event::Write { bytes, .. } = event {
            self.written.insert(bytes.to_vec());
        }
        self.disk.begin(index, event, sectors);
    }

    /// An event of this file has ended.
    pub(super) fn finish(&mut self, event: &Event) {
        self.disk.finish(event);
    }

    /// Prepares the states of a moment.
    pub(super) fn cut(&self, index: usize) -> Cut {
        Cut::new(index, &self.disk)
    }

    /// Returns one of the states of a moment.
    pub(super) fn choose(
        &self,
        cut: &Cut,
        random: &mut Random,
        sectors: &Sectors,
    ) -> DescriptionState {
        let others = match cut.is_settled() {
            true => 0,
            false => RANDOM_STATES,
        };
        let choice = random.below((cut.exhaustive() + others) as usize);
        let mut state = DiskState::default();
        cut.choose(choice as u64, random, sectors, &mut state);
        self.state(cut, &state, sectors)
    }

    /// Returns the state that the system has in memory.
    pub(super) fn newest(&self, cut: &Cut, sectors: &Sectors) -> DescriptionState {
        let mut state = DiskState::default();
        cut.choose_newest(&mut state);
        self.state(cut, &state, sectors)
    }

    fn state(&self, cut: &Cut, state: &DiskState, sectors: &Sectors) -> DescriptionState {
        let Some(len) = state.len else {
            return DescriptionState::default();
        };
        let mut bytes = Vec::new();
        for page in 0..len.div_ceil(PAGE as u64) as usize {
            let ids = self.disk.durable.get(page).copied().unwrap_or_default();
            for (sector, id) in ids.iter().enumerate().take(SECTORS) {
                let place = |of: &&super::cut::Undecided| of.page == page && of.sector == sector;
                let at = cut.undecided.iter().position(|of| place(&of));
                let torn = at.and_then(|at| state.torn.iter().find(|(torn, _)| *torn == at));
                let octets = match (torn, at) {
                    (Some((_, octets)), _) => octets,
                    (None, Some(at)) => sectors.octets(state.ids[at]),
                    (None, None) => sectors.octets(*id),
                };
                bytes.extend_from_slice(octets);
            }
        }
        bytes.truncate(len as usize);
        let slots = [0, PAGE].map(|at| self.slot(bytes.get(at..).unwrap_or_default()));
        let newest = slots.into_iter().flatten();
        let newest = newest.max_by_key(|slot| number_of(slot));
        DescriptionState {
            meta: newest.and_then(meta_of),
            bytes: Some(bytes),
        }
    }

    /// Returns what was written at the beginning of these bytes, if that is whole.
    fn slot<'b>(&self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        let sizes = self.written.iter().map(Vec::len).max()?;
        let slot = bytes.get(..sizes)?;
        self.written.contains(slot).then_some(slot)
    }
}

fn number_of(slot: &[u8]) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&slot[NUMBER]);
    u64::from_le_bytes(number)
}

/// Returns the meta page of a description, alone in a sector.
pub(super) fn meta_of(slot: &[u8]) -> Option<Box<Octets>> {
    if slot[HAS_META_AT] == 0 {
        return None;
    }
    let mut octets = Box::new([0; SECTOR]);
    octets[..Meta::LEN].copy_from_slice(&slot[META_AT..META_AT + Meta::LEN]);
    Some(octets)
}
