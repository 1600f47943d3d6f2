//! Contents of sectors, each kept once and known by a small number, so that disk states are lists
//! of numbers.

use fulgurite_testkit::Random;
use rustc_hash::FxHashMap;

/// The unit that a disk keeps or loses as a whole.
pub(super) const SECTOR: usize = 512;
/// The unit that the system writes as a whole, and the page size of the recorded environments.
pub(super) const PAGE: usize = 4096;
/// Sectors of a page.
pub(super) const SECTORS: usize = PAGE / SECTOR;

/// A content of a sector, by number.
pub(super) type ContentId = u32;
/// A content of a page.
pub(super) type PageIds = [ContentId; SECTORS];
/// The octets of a sector.
pub(super) type Octets = [u8; SECTOR];

/// The content that sectors have which nobody wrote.
pub(super) const ZEROS: ContentId = 0;
/// A page of them.
pub(super) const ZERO_PAGE: PageIds = [ZEROS; SECTORS];

/// All contents met so far.
#[derive(Debug)]
pub(super) struct Sectors {
    contents: Vec<Octets>,
    ids: FxHashMap<Box<Octets>, ContentId>,
}

impl Sectors {
    pub(super) fn new() -> Sectors {
        let mut sectors = Sectors {
            contents: Vec::new(),
            ids: FxHashMap::default(),
        };
        sectors.id(&[0; SECTOR]);
        sectors
    }

    /// The number of a content.
    pub(super) fn id(&mut self, octets: &Octets) -> ContentId {
        if let Some(id) = self.ids.get(octets) {
            return *id;
        }
        let id = self.contents.len() as ContentId;
        self.contents.push(*octets);
        self.ids.insert(Box::new(*octets), id);
        id
    }

    pub(super) fn octets(&self, id: ContentId) -> &Octets {
        &self.contents[id as usize]
    }

    /// The numbers of a whole page.
    pub(super) fn page(&mut self, octets: &[u8]) -> PageIds {
        let mut ids = ZERO_PAGE;
        for (id, octets) in ids.iter_mut().zip(octets.as_chunks::<SECTOR>().0) {
            *id = self.id(octets);
        }
        ids
    }

    /// Applies a write of `bytes` at offset `at` to a page.
    pub(super) fn overwrite(&mut self, page: &PageIds, at: usize, bytes: &[u8]) -> PageIds {
        let mut octets = [0; PAGE];
        for (octets, id) in octets.as_chunks_mut::<SECTOR>().0.iter_mut().zip(page) {
            *octets = *self.octets(*id);
        }
        octets[at..at + bytes.len()].copy_from_slice(bytes);
        self.page(&octets)
    }
}

/// Spreads the bits of a number; for hashes of states, not for secrets.
pub(super) fn mix(number: u64) -> u64 {
    Random::new(number).bits()
}

/// A hash of octets, the same in every run.
pub(super) fn hash(octets: &[u8]) -> u64 {
    let (words, rest) = octets.as_chunks::<8>();
    let mut hash = octets.len() as u64;
    for word in words {
        hash = mix(hash ^ u64::from_le_bytes(*word));
    }
    for octet in rest {
        hash = mix(hash ^ u64::from(*octet) << 8);
    }
    hash
}
