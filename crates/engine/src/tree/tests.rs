//! The tree on a plain vector of pages: every order, small pages, no map and no file.

use std::collections::{BTreeMap, BTreeSet};

use fulgurite_format::{PageKind, PageMut, Pgno, TreeRecord, layout};

use super::{Pages, PagesMut, Path, Tree, find, first, next, remove, seek, touch_path};
use crate::boxed_error::BoxedError;
use crate::tree::{LeafStep, last, previous};
use crate::value::{place_value, release_value, run_of, value_of};
use crate::{Error, KeyOrder};

#[test]
fn prefetched_entries_are_those_of_three_search_steps() {
    /// The middles of that many steps among the entries from one to another, as a search takes
    /// them.
    fn middles(from: usize, to: usize, steps: u32, found: &mut BTreeSet<usize>) {
        if steps > 0 && from < to {
            let middle = (from + to) / 2;
            found.insert(middle);
            middles(from, middle, steps - 1, found);
            middles(middle + 1, to, steps - 1, found);
        }
    }
    for end in 0..300 {
        let mut looked_at = BTreeSet::new();
        middles(0, end, 3, &mut looked_at);
        let asked: BTreeSet<_> = super::search::first_probes(end).into_iter().collect();
        assert!(asked.is_superset(&looked_at), "{end}: {asked:?}");
    }
}

/// Pages in memory. Those that a "commit" has sealed are copied before they change.
struct VecPages {
    page_size: usize,
    bytes: Vec<u8>,
    sealed: BTreeSet<Pgno>,
    free: Vec<Pgno>,
    /// Sealed pages that were replaced, and free again after the next seal.
    replaced: Vec<Pgno>,
}

#[derive(Clone, Copy)]
struct VecView<'a>(&'a VecPages);

impl VecPages {
    fn new(page_size: usize) -> VecPages {
        VecPages {
            page_size,
            bytes: vec![0; 2 * page_size],
            sealed: BTreeSet::new(),
            free: vec![],
            replaced: vec![],
        }
    }

    fn count(&self) -> u64 {
        (self.bytes.len() / self.page_size) as u64
    }

    fn seal(&mut self) {
        self.free.append(&mut self.replaced);
        self.sealed = (2..self.count())
            .map(Pgno)
            .filter(|pgno| !self.free.contains(pgno))
            .collect();
    }
}

impl<'a> Pages<'a> for VecView<'a> {
    fn page_size(self) -> usize {
        self.0.page_size
    }

    fn last(self) -> Pgno {
        Pgno(self.0.count() - 1)
    }

    fn page(self, pgno: Pgno) -> Result<&'a [u8], BoxedError> {
        self.run(pgno, self.0.page_size)
    }

    fn run(self, first: Pgno, len: usize) -> Result<&'a [u8], BoxedError> {
        let start = first.0 as usize * self.0.page_size;
        self.0
            .bytes
            .get(start..start + len)
            .ok_or_else(Error::beyond_end(first))
    }
}

impl PagesMut for VecPages {
    type View<'a> = VecView<'a>;

    fn view(&self) -> VecView<'_> {
        VecView(self)
    }

    fn touch(&mut self, pgno: Pgno, kind: PageKind) -> Result<Pgno, BoxedError> {
        if !self.sealed.contains(&pgno) {
            return Ok(pgno);
        }
        let mut copy = self.view().page(pgno)?.to_vec();
        self.view()
            .tree_page(pgno, kind)?
            .check_nodes()
            .map_err(Error::at(pgno))?;
        let own = self.allocate(1)?;
        PageMut::renumber(&mut copy, own, kind);
        self.page_mut(own)?.copy_from_slice(&copy);
        self.replaced.push(pgno);
        Ok(own)
    }

    fn page_mut(&mut self, pgno: Pgno) -> Result<&mut [u8], BoxedError> {
        assert!(
            !self.sealed.contains(&pgno),
            "a sealed page is changed in place"
        );
        let len = self.page_size;
        self.run_mut(pgno, len)
    }

    fn run_mut(&mut self, first: Pgno, len: usize) -> Result<&mut [u8], BoxedError> {
        let start = first.0 as usize * self.page_size;
        self.bytes
            .get_mut(start..start + len)
            .ok_or_else(Error::beyond_end(first))
    }

    fn allocate(&mut self, count: u64) -> Result<Pgno, BoxedError> {
        if count == 1
            && let Some(pgno) = self.free.pop()
        {
            return Ok(pgno);
        }
        let first = Pgno(self.count());
        self.bytes
            .resize(self.bytes.len() + count as usize * self.page_size, 0xaa);
        Ok(first)
    }

    fn release(&mut self, first: Pgno, count: u64) -> Result<(), BoxedError> {
        for pgno in (first.0..first.0 + count).map(Pgno) {
            if self.sealed.contains(&pgno) {
                self.replaced.push(pgno)
            } else {
                self.free.push(pgno)
            }
        }
        Ok(())
    }
}

fn put(pages: &mut VecPages, tree: &mut Tree, key: &[u8], value: &[u8]) {
    let mut path = Path::new();
    let exact = seek(pages.view(), tree, key, &mut path).unwrap();
    place_value(pages, tree, &mut path, exact, key, value.len())
        .unwrap()
        .copy_from_slice(value);
}

fn delete(pages: &mut VecPages, tree: &mut Tree, key: &[u8]) -> bool {
    let mut path = Path::new();
    if !seek(pages.view(), tree, key, &mut path).unwrap() {
        return false;
    }
    let run = {
        let leaf = path.leaf().unwrap();
        let node = pages
            .view()
            .tree_page(leaf.pgno, PageKind::Leaf)
            .unwrap()
            .leaf(leaf.index)
            .unwrap();
        node.overflow()
            .map(|_| run_of(pages.view(), leaf.pgno, &node).unwrap())
    };
    touch_path(pages, tree, &mut path).unwrap();
    release_value(pages, &mut tree.record, run).unwrap();
    remove(pages, tree, &mut path).unwrap();
    true
}

fn keys_forwards(pages: &VecPages, tree: &Tree) -> Vec<Vec<u8>> {
    let mut path = Path::new();
    let mut found = Vec::new();
    let mut more = first(pages.view(), tree, &mut path).unwrap();
    while more {
        let leaf = path.leaf().unwrap();
        found.push(
            pages
                .view()
                .tree_page(leaf.pgno, PageKind::Leaf)
                .unwrap()
                .key(leaf.index)
                .unwrap()
                .to_vec(),
        );
        more = next(pages.view(), tree, &mut path).unwrap() != LeafStep::AtEnd;
    }
    found
}

/// Every page is in the tree or free, none twice. Branches have at least two children, and counts
/// are right.
fn check_shape(pages: &VecPages, tree: &Tree) {
    let mut seen = BTreeSet::new();
    let (mut branches, mut leaves, mut overflow) = (0, 0, 0);
    let mut todo: Vec<(Pgno, usize)> = if tree.record.root.is_none() {
        vec![]
    } else {
        vec![(tree.record.root, 0)]
    };
    while let Some((pgno, level)) = todo.pop() {
        assert!(seen.insert(pgno), "page {pgno} is reached twice");
        let kind = tree.kind_at(level);
        let page = pages.view().tree_page(pgno, kind).unwrap();
        page.check_nodes().unwrap();
        match kind {
            PageKind::Branch => {
                branches += 1;
                assert!(page.len() >= 2, "branch {pgno} has {} children", page.len());
                assert_eq!(page.key(0).unwrap(), b"");
                todo.extend((0..page.len()).map(|index| (page.child(index).unwrap(), level + 1)));
            }
            PageKind::Leaf | PageKind::Packed(_) => {
                leaves += 1;
                assert!(!page.is_empty());
                for index in 0..page.len() {
                    let node = page.leaf(index).unwrap();
                    if node.overflow().is_some() {
                        let (start, count) = run_of(pages.view(), pgno, &node).unwrap();
                        overflow += count;
                        assert!((start.0..start.0 + count).all(|pgno| seen.insert(Pgno(pgno))));
                    }
                }
            }
        }
    }
    let record = &tree.record;
    assert_eq!(
        (
            record.branch_pages,
            record.leaf_pages,
            record.overflow_pages
        ),
        (branches, leaves, overflow)
    );
    for pgno in pages.free.iter().chain(&pages.replaced) {
        assert!(seen.insert(*pgno), "page {pgno} is both in use and free");
    }
    assert_eq!(seen.len() as u64, pages.count() - 2, "a page is lost");
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// A key of the order's kind, from few enough that deletions hit.
fn key_of(order: KeyOrder, random: &mut Random, key_max: usize) -> Vec<u8> {
    let number = random.below(3000);
    match order {
        KeyOrder::Integer => (number * 7919).to_ne_bytes().to_vec(),
        _ => {
            let mut key = number.to_be_bytes().to_vec();
            key.resize((1 + number as usize * 31 % key_max).max(8), b'k');
            key
        }
    }
}

fn sorted(model: &BTreeMap<Vec<u8>, Vec<u8>>, order: KeyOrder) -> Vec<Vec<u8>> {
    let mut keys: Vec<Vec<u8>> = model.keys().cloned().collect();
    keys.sort_by(|a, b| order.compare(a, b));
    keys
}

fn run(order: KeyOrder, page_size: usize, seed: u64) {
    let mut random = Random(seed);
    let mut pages = VecPages::new(page_size);
    let mut tree = Tree::plain(TreeRecord::empty(order.flags()), order);
    let mut model = BTreeMap::new();
    let key_max = layout::key_max(page_size);
    // Under miri each step costs a thousand times as much.
    let (rounds, steps) = if cfg!(miri) { (4, 40) } else { (40, 150) };
    for round in 0..rounds {
        let season = rounds.min(20_u64);
        let growing = round % season < season * 3 / 5;
        for _ in 0..steps {
            let key = key_of(order, &mut random, key_max);
            if random.below(10) < if growing { 8 } else { 2 } {
                let large = random.below(30) == 0;
                let len = random.below(if large { 3 * page_size as u64 } else { 60 }) as usize;
                let value = vec![random.below(256) as u8; len];
                put(&mut pages, &mut tree, &key, &value);
                model.insert(key, value);
            } else {
                assert_eq!(
                    delete(&mut pages, &mut tree, &key),
                    model.remove(&key).is_some()
                );
            }
        }
        check_shape(&pages, &tree);
        assert_eq!(
            keys_forwards(&pages, &tree),
            sorted(&model, order),
            "{order:?} {page_size} round {round}"
        );
        assert_eq!(tree.record.entries, model.len() as u64);
        if round % 3 == 0 {
            pages.seal();
        }
    }
    for (key, value) in &model {
        let (leaf, node) = find(pages.view(), &tree, key).unwrap().unwrap();
        assert_eq!(
            value_of(pages.view(), leaf, &node).unwrap(),
            value.as_slice()
        );
    }
    crate::value::clear(&mut pages, &mut tree).unwrap();
    check_shape(&pages, &tree);
    assert_eq!(tree.record, TreeRecord::empty(order.flags()));
}

#[test]
fn agrees_with_an_ordered_map_in_every_order_and_page_size() {
    for (seed, page_size) in [(1, 512), (2, 1024), (3, 4096), (4, 32768)] {
        for order in [KeyOrder::Lexical, KeyOrder::Reverse, KeyOrder::Integer] {
            run(order, page_size, seed);
        }
    }
}

#[test]
fn ascending_keys_fill_pages() {
    let mut pages = VecPages::new(4096);
    let mut tree = Tree::plain(
        TreeRecord::empty(KeyOrder::Lexical.flags()),
        KeyOrder::Lexical,
    );
    let count = if cfg!(miri) { 300 } else { 10_000_u64 };
    for number in 0..count {
        put(&mut pages, &mut tree, &number.to_be_bytes(), &[1; 80]);
    }
    check_shape(&pages, &tree);
    // 98 bytes each with node header and offset: 41 to a page.
    assert_eq!(tree.record.leaf_pages, count.div_ceil(41));
}

#[test]
fn walking_back_meets_the_same_entries() {
    let mut pages = VecPages::new(512);
    let mut tree = Tree::plain(
        TreeRecord::empty(KeyOrder::Lexical.flags()),
        KeyOrder::Lexical,
    );
    let count = if cfg!(miri) { 100 } else { 1000_u64 };
    for number in 0..count {
        put(
            &mut pages,
            &mut tree,
            &(number * 37 % count).to_be_bytes(),
            b"value",
        );
    }
    let mut path = Path::new();
    assert!(last(pages.view(), &tree, &mut path).unwrap());
    let mut met = 1;
    while previous(pages.view(), &tree, &mut path).unwrap() != LeafStep::AtEnd {
        met += 1;
    }
    assert_eq!(met, count);
}

#[test]
fn a_tree_deeper_than_it_claims_is_refused() {
    let mut pages = VecPages::new(512);
    let mut tree = Tree::plain(
        TreeRecord::empty(KeyOrder::Lexical.flags()),
        KeyOrder::Lexical,
    );
    for number in 0..200u64 {
        put(&mut pages, &mut tree, &number.to_be_bytes(), b"value");
    }
    tree.record.depth -= 1;
    assert!(matches!(
        find(pages.view(), &tree, b"x").map_err(Error::from),
        Err(Error::Corrupted { .. })
    ));
    tree.record.depth += 2;
    assert!(matches!(
        find(pages.view(), &tree, b"x").map_err(Error::from),
        Err(Error::Corrupted { .. })
    ));
}
