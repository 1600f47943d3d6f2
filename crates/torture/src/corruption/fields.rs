//! The layout of a sound file: every field that could lead an engine astray.
//!
//! It follows the format's description, independent of the engine's views. A view knows the valid
//! bytes of a field, this module only its purpose.

/// The purpose of a field, and so the values that could replace it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A page's number in its own header.
    OwnNumber,
    /// Flags of a page.
    PageFlags,
    /// An offset in a page: bounds and places of nodes.
    Offset,
    /// The number of a page elsewhere: children, roots, overflow runs, the last page.
    Pointer,
    /// A number of pages, entries or items.
    Count,
    /// The length of a key, of a value or of a packed item.
    Length,
    /// Flags of a node.
    NodeFlags,
    /// Flags of a database.
    DatabaseFlags,
    /// Levels of a tree.
    Depth,
    /// A transaction's number.
    Txnid,
    /// Octets of the map.
    MapSize,
    /// Octets of a page.
    PageSize,
    /// Magic and version.
    Magic,
    /// A page number in a record of the free list.
    Free,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 14] = [
        Kind::OwnNumber,
        Kind::PageFlags,
        Kind::Offset,
        Kind::Pointer,
        Kind::Count,
        Kind::Length,
        Kind::NodeFlags,
        Kind::DatabaseFlags,
        Kind::Depth,
        Kind::Txnid,
        Kind::MapSize,
        Kind::PageSize,
        Kind::Magic,
        Kind::Free,
    ];
}

/// A field: a number of bytes from an offset of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Where it begins.
    pub at: usize,
    /// Octets.
    pub len: usize,
    /// The purpose of the field.
    pub kind: Kind,
}

/// A number in little-endian order; 0 where there are no such octets.
#[must_use]
pub(super) fn number(bytes: &[u8], at: usize, len: usize) -> u64 {
    let mut word = [0; 8];
    if let Some(octets) = bytes.get(at..at + len) {
        word[..len].copy_from_slice(octets);
    }
    u64::from_le_bytes(word)
}

/// The page size that the first meta page names.
#[must_use]
pub(super) fn page_size(bytes: &[u8]) -> usize {
    number(bytes, 40, 4) as usize
}

/// The fields of a sound file.
#[must_use]
pub(super) fn of(bytes: &[u8]) -> Vec<Field> {
    let size = page_size(bytes);
    let mut fields = Fields {
        bytes,
        size,
        found: Vec::new(),
    };
    let mut free_tree = Vec::new();
    for meta in [0, size] {
        fields.meta(meta);
        free_tree.push(number(bytes, meta + 80, 8));
    }
    let pages = bytes.len() / size;
    // Parents may stand behind their children: as many rounds as a small tree has levels.
    for _ in 0..3 {
        for page in 2..pages {
            let is_branch = number(bytes, page * size + 10, 2) & 1 != 0;
            if is_branch && free_tree.contains(&(page as u64)) {
                fields.children(page * size, &mut free_tree);
            }
        }
    }
    let mut skip = 0;
    for page in 2..pages {
        if page < skip {
            continue;
        }
        let flags = number(bytes, page * size + 10, 2);
        if flags & 4 != 0 {
            fields.overflow(page * size);
            skip = page + number(bytes, page * size + 12, 4) as usize;
        } else {
            fields.page(page * size, size, free_tree.contains(&(page as u64)));
        }
    }
    fields.found
}

struct Fields<'a> {
    bytes: &'a [u8],
    size: usize,
    found: Vec<Field>,
}

impl Fields<'_> {
    fn add(&mut self, at: usize, len: usize, kind: Kind) {
        if at + len <= self.bytes.len() {
            self.found.push(Field { at, len, kind });
        }
    }

    fn meta(&mut self, at: usize) {
        self.add(at, 8, Kind::OwnNumber);
        self.add(at + 10, 2, Kind::PageFlags);
        self.add(at + 16, 4, Kind::Magic);
        self.add(at + 20, 4, Kind::Magic);
        self.add(at + 24, 8, Kind::MapSize);
        self.add(at + 32, 8, Kind::MapSize);
        self.record(at + 40);
        self.add(at + 40, 4, Kind::PageSize);
        self.record(at + 88);
        self.add(at + 136, 8, Kind::Pointer);
        self.add(at + 144, 8, Kind::Txnid);
    }

    fn record(&mut self, at: usize) {
        self.add(at, 4, Kind::Length);
        self.add(at + 4, 2, Kind::DatabaseFlags);
        self.add(at + 6, 2, Kind::Depth);
        for count in 0..4 {
            self.add(at + 8 + 8 * count, 8, Kind::Count);
        }
        self.add(at + 40, 8, Kind::Pointer);
    }

    fn children(&self, at: usize, into: &mut Vec<u64>) {
        for entry in 0..self.entries(at) {
            let node = at + number(self.bytes, at + 16 + 2 * entry, 2) as usize;
            let child = number(self.bytes, node, 6);
            if !into.contains(&child) {
                into.push(child);
            }
        }
    }

    fn entries(&self, at: usize) -> usize {
        (number(self.bytes, at + 12, 2) as usize).saturating_sub(16) / 2
    }

    fn overflow(&mut self, at: usize) {
        self.add(at, 8, Kind::OwnNumber);
        self.add(at + 10, 2, Kind::PageFlags);
        self.add(at + 12, 4, Kind::Count);
    }

    /// A tree page, or a sub-page of `size` octets.
    fn page(&mut self, at: usize, size: usize, of_free_list: bool) {
        let flags = number(self.bytes, at + 10, 2);
        self.add(at, 8, Kind::OwnNumber);
        self.add(at + 8, 2, Kind::Length);
        self.add(at + 10, 2, Kind::PageFlags);
        self.add(at + 12, 2, Kind::Offset);
        self.add(at + 14, 2, Kind::Offset);
        if flags & 0x20 != 0 || flags & 3 == 0 {
            return;
        }
        for entry in 0..self.entries(at).min(size / 2) {
            let place = at + 16 + 2 * entry;
            self.add(place, 2, Kind::Offset);
            let node = number(self.bytes, place, 2) as usize;
            if node + 8 > size {
                continue;
            }
            if flags & 1 != 0 {
                self.add(at + node, 6, Kind::Pointer);
                self.add(at + node + 6, 2, Kind::Length);
            } else {
                self.leaf_node(at + node, of_free_list);
            }
        }
    }

    fn leaf_node(&mut self, at: usize, of_free_list: bool) {
        self.add(at, 4, Kind::Length);
        self.add(at + 4, 2, Kind::NodeFlags);
        self.add(at + 6, 2, Kind::Length);
        let data = at + 8 + number(self.bytes, at + 6, 2) as usize;
        let data_len = number(self.bytes, at, 4) as usize;
        let flags = number(self.bytes, at + 4, 2);
        if flags == 1 {
            self.add(data, 8, Kind::Pointer);
        } else if flags & 2 != 0 {
            self.record(data);
        } else if flags & 4 != 0 {
            self.page(data, data_len, false);
        }
        if of_free_list {
            self.add(at + 8, 8, Kind::Txnid);
            let list = match flags {
                1 => number(self.bytes, data, 8) as usize * self.size + 16,
                _ => data,
            };
            self.add(list, 8, Kind::Count);
            let count = number(self.bytes, list, 8) as usize;
            for entry in 1..=count.min(self.size) {
                self.add(list + 8 * entry, 8, Kind::Free);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_field_is_found_in_the_bases() {
        let bases = crate::corruption::bases::all();
        for kind in Kind::ALL {
            let places: usize = bases
                .iter()
                .flat_map(|base| &base.fields)
                .filter(|field| field.kind == kind)
                .count();
            assert!(places >= bases.len(), "{kind:?}: {places}");
        }
    }
}
