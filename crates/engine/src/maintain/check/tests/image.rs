//! A small sound file of every kind of content, and ways to find places in its bytes.

use fulgurite_testkit::Scratch;

use crate::{Database, DatabaseFlags, Environment, KeyOrder};

/// Bytes of a page.
pub(super) const PAGE: usize = 4096;

/// A data file in memory.
#[derive(Clone)]
pub(super) struct Image {
    pub(super) bytes: Vec<u8>,
}

impl Image {
    /// Four databases, one of them empty, long values, and free pages.
    pub(super) fn new() -> Image {
        let scratch = Scratch::new("check-image");
        let environment = Environment::options().open(scratch.path()).expect("open");
        let mut txn = environment.write().expect("write");
        let plain = txn
            .create_database("plain", KeyOrder::Lexical)
            .expect("create");
        let numbers = txn
            .create_database("numbers", KeyOrder::Integer)
            .expect("create");
        let dup_sort = DatabaseFlags(DatabaseFlags::DUP_SORT);
        let pairs = txn.create_named(b"pairs", dup_sort).expect("create");
        txn.create_database("empty", KeyOrder::Lexical)
            .expect("create");
        for n in 0..40_u64 {
            let key = format!("key {n:03}");
            txn.put(plain, key.as_bytes(), &[b'v'; 1000]).expect("put");
            txn.put(numbers, &n.to_ne_bytes(), b"value").expect("put");
        }
        txn.put(plain, b"key 5 is long", &[b'l'; 10_000])
            .expect("put");
        for n in 0..300 {
            let value = format!("value {n:04} and more zz");
            txn.put(pairs, b"many", value.as_bytes()).expect("put");
            if n < 30 {
                txn.put(pairs, b"some", value.as_bytes()).expect("put");
            }
        }
        txn.commit().expect("commit");
        let mut txn = environment.write().expect("write");
        for n in 0..20 {
            let key = format!("key {n:03}");
            txn.put(plain, key.as_bytes(), &[b'w'; 1000]).expect("put");
        }
        txn.put(Database::MAIN, b"record", b"beside them")
            .expect("put");
        txn.commit().expect("commit");
        let bytes = std::fs::read(scratch.join("data.mdb")).expect("read");
        Image { bytes }
    }

    /// A little-endian number of `len` bytes.
    pub(super) fn get(&self, at: usize, len: usize) -> u64 {
        let mut word = [0; 8];
        word[..len].copy_from_slice(&self.bytes[at..at + len]);
        u64::from_le_bytes(word)
    }

    pub(super) fn set(&mut self, at: usize, len: usize, value: u64) {
        self.bytes[at..at + len].copy_from_slice(&value.to_le_bytes()[..len]);
    }

    /// Where the newest meta page begins.
    pub(super) fn meta(&self) -> usize {
        PAGE * usize::from(self.get(PAGE + 144, 8) > self.get(144, 8))
    }

    /// Returns the offset of the root page of the record at `record`.
    pub(super) fn root(&self, record: usize) -> usize {
        self.get(record + 40, 8) as usize * PAGE
    }

    /// Entries of the page that begins at `page`.
    pub(super) fn len(&self, page: usize) -> usize {
        (self.get(page + 12, 2) as usize - 16) / 2
    }

    /// Where a node of a page begins.
    pub(super) fn node(&self, page: usize, index: usize) -> usize {
        page + self.get(page + 16 + 2 * index, 2) as usize
    }

    /// Where the data of a leaf node begin.
    pub(super) fn data(&self, node: usize) -> usize {
        node + 8 + self.get(node + 6, 2) as usize
    }

    /// The node with this key on the leaf that begins at `page`.
    pub(super) fn find(&self, page: usize, key: &[u8]) -> usize {
        (0..self.len(page))
            .map(|index| self.node(page, index))
            .find(|node| self.bytes[node + 8..self.data(*node)] == *key)
            .expect("a node with this key")
    }

    /// Returns the offset of the record of a named database.
    pub(super) fn database(&self, name: &[u8]) -> usize {
        let main = self.root(self.meta() + 88);
        self.data(self.find(main, name))
    }

    /// Where the root page of a named database begins.
    pub(super) fn root_of(&self, name: &[u8]) -> usize {
        self.root(self.database(name))
    }

    /// Where a child of a branch page begins.
    pub(super) fn child(&self, page: usize, index: usize) -> usize {
        self.get(self.node(page, index), 6) as usize * PAGE
    }

    /// A leaf in the middle of the database with plain values.
    pub(super) fn plain_leaf(&self) -> usize {
        self.child(self.root_of(b"plain"), 3)
    }

    /// The sub-page with the values of `some`.
    pub(super) fn sub_page(&self) -> usize {
        self.data(self.find(self.root_of(b"pairs"), b"some"))
    }

    /// Where the only leaf of the free list begins.
    pub(super) fn free_leaf(&self) -> usize {
        self.root(self.meta() + 40)
    }

    /// Exchanges two neighbours among the offsets of a page or sub-page.
    pub(super) fn swap(&mut self, page: usize, index: usize) {
        self.bytes[page + 16 + 2 * index..][..4].rotate_left(2);
    }

    /// Takes an entry's offset away.
    pub(super) fn drop_offset(&mut self, page: usize, index: usize) {
        let (first, count) = (page + 16, self.len(page));
        self.bytes.copy_within(
            first + 2 * (index + 1)..first + 2 * count,
            first + 2 * index,
        );
        let lower = self.get(page + 12, 2);
        self.set(page + 12, 2, lower - 2);
    }
}
