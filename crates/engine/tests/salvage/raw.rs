//! A second reading of sound files: which pages each record needs.

use crate::contents::Record;

const PAGE: usize = 4096;

/// Where a page of a tree is met.
#[derive(Clone)]
struct Here<'a> {
    name: Option<&'a [u8]>,
    /// The values of this key are listed.
    key: Option<&'a [u8]>,
    /// Pages without which nothing below can be attributed.
    needs: Vec<usize>,
}

/// A record with its leaf and value pages, and those that lead to them.
pub(crate) struct Placed {
    pub(crate) record: Record,
    pub(crate) pages: Vec<usize>,
}

/// The records of the newest snapshot, and all pages of its trees, branches among them.
pub(crate) fn placed(image: &[u8]) -> (Vec<Placed>, Vec<usize>) {
    let newest = usize::from(word(image, PAGE + 144, 8) > word(image, 144, 8));
    let root = word(image, newest * PAGE + 128, 8);
    let mut walk = Walk {
        image,
        records: Vec::new(),
        pages: Vec::new(),
    };
    let here = Here {
        name: None,
        key: None,
        needs: Vec::new(),
    };
    if root != u64::MAX {
        walk.page(root as usize, &here);
    }
    (walk.records, walk.pages)
}

struct Walk<'a> {
    image: &'a [u8],
    records: Vec<Placed>,
    pages: Vec<usize>,
}

impl<'a> Walk<'a> {
    fn page(&mut self, pgno: usize, here: &Here<'a>) {
        self.pages.push(pgno);
        let page = &self.image[pgno * PAGE..][..PAGE];
        let flags = word(page, 10, 2);
        let count = (word(page, 12, 2) as usize - 16) / 2;
        let with_this = || {
            let mut here = here.clone();
            here.needs.push(pgno);
            here
        };
        if flags & 0x20 != 0 {
            let size = word(page, 8, 2) as usize;
            for item in page[16..16 + count * size].chunks(size) {
                self.record(&with_this(), here.key.expect("a key"), item);
            }
            return;
        }
        for index in 0..count {
            let node = &page[word(page, 16 + 2 * index, 2) as usize..];
            if flags & 1 != 0 {
                self.page(word(node, 0, 6) as usize, here);
            } else {
                self.leaf(node, &with_this());
            }
        }
    }

    fn leaf(&mut self, node: &'a [u8], here: &Here<'a>) {
        let (size, flags) = (word(node, 0, 4) as usize, word(node, 4, 2));
        let key_len = word(node, 6, 2) as usize;
        let (key, data) = (&node[8..8 + key_len], &node[8 + key_len..]);
        match (flags, here.key) {
            (0, Some(outer)) => self.record(here, outer, key),
            (0, None) => self.record(here, key, &data[..size]),
            (1, _) => {
                let first = word(data, 0, 8) as usize;
                let value = &self.image[first * PAGE + 16..][..size];
                let pages = (15 + size) / PAGE + 1;
                let mut here = here.clone();
                here.needs.extend(first..first + pages);
                self.pages.extend(first..first + pages);
                self.record(&here, key, value);
            }
            (2, _) => {
                let mut below = here.clone();
                below.name = Some(key);
                self.tree(data, &below);
            }
            (4, _) => self.sub_page(&data[..size], key, here),
            _ => {
                let mut below = here.clone();
                below.key = Some(key);
                self.tree(data, &below);
            }
        }
    }

    fn tree(&mut self, record: &[u8], here: &Here<'a>) {
        let root = word(record, 40, 8);
        if root != u64::MAX {
            self.page(root as usize, here);
        }
    }

    fn sub_page(&mut self, page: &'a [u8], key: &'a [u8], here: &Here<'a>) {
        let count = (word(page, 12, 2) as usize - 16) / 2;
        for index in 0..count {
            let item = if word(page, 10, 2) & 0x20 != 0 {
                let size = word(page, 8, 2) as usize;
                &page[16 + index * size..][..size]
            } else {
                let node = &page[word(page, 16 + 2 * index, 2) as usize..];
                &node[8..8 + word(node, 6, 2) as usize]
            };
            self.record(here, key, item);
        }
    }

    fn record(&mut self, here: &Here<'a>, key: &[u8], value: &[u8]) {
        self.records.push(Placed {
            record: (here.name.map(<[u8]>::to_vec), key.to_vec(), value.to_vec()),
            pages: here.needs.clone(),
        });
    }
}

/// Reads a little-endian number of up to eight bytes.
fn word(bytes: &[u8], at: usize, len: usize) -> u64 {
    let mut word = [0; 8];
    word[..len].copy_from_slice(&bytes[at..at + len]);
    u64::from_le_bytes(word)
}
