//! For each fault a file that has it, and no other but what must follow from it.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use super::image::{Image, PAGE};
use crate::maintain::check::{CheckOptions, Checker, Fault, Report, Source};

/// The name of a fault's kind. Exhaustive, so that a new kind cannot be forgotten here.
fn kind(fault: &Fault) -> &'static str {
    match fault {
        Fault::Meta(_) => "meta",
        Fault::PageOutOfRange { .. } => "page out of range",
        Fault::UsedTwice => "used twice",
        Fault::Lost => "lost",
        Fault::BeyondFile => "beyond file",
        Fault::Unreadable(_) => "unreadable",
        Fault::Malformed(_) => "malformed",
        Fault::WrongKind { .. } => "wrong kind",
        Fault::ThinBranch { .. } => "thin branch",
        Fault::EmptyLeaf => "empty leaf",
        Fault::FirstSeparator => "first separator",
        Fault::OutOfOrder { .. } => "out of order",
        Fault::OutsideSeparators { .. } => "outside separators",
        Fault::KeySize { .. } => "key size",
        Fault::NodeSize { .. } => "node size",
        Fault::NodeFlags { .. } => "node flags",
        Fault::DuplicateSize { .. } => "duplicate size",
        Fault::StrayValue { .. } => "stray value",
        Fault::Record { .. } => "record",
        Fault::DuplicateOrder { .. } => "duplicate order",
        Fault::SubPage { .. } => "sub-page",
        Fault::Overflow { .. } => "overflow",
        Fault::FreeRecord { .. } => "free record",
        Fault::Count { .. } => "count",
        Fault::TreeRecord(_) => "tree record",
    }
}

/// How many kinds there are.
const KINDS: usize = 25;

/// A fault, what else must be found with it, and how it comes about.
type Case = (&'static str, &'static [&'static str], fn(&mut Image));

const COUNTED: &[&str] = &["count"];
const UNREACHED: &[&str] = &["count", "lost"];

const CASES: &[Case] = &[
    ("meta", &[], |file| {
        let at = file.meta() + 44;
        file.set(at, 2, 0);
    }),
    ("meta", &[], |file| {
        // The other meta page: the original refuses a file with one bad page.
        let at = PAGE - file.meta() + 16;
        file.set(at, 4, 0);
    }),
    ("page out of range", &["lost"], |file| {
        let first = first_free(file);
        file.set(first, 8, 5_000_000);
    }),
    ("used twice", &["lost"], |file| {
        // The list goes down from its highest page, and no page is higher than this leaf.
        let (first, leaf) = (first_free(file), highest_leaf(file) / PAGE);
        assert!(
            leaf as u64 > file.get(first + 8, 8),
            "the list stays in order"
        );
        file.set(first, 8, leaf as u64);
    }),
    ("used twice", UNREACHED, |file| {
        // Two branches of one tree name the same leaf; the second is not walked again.
        let root = file.root_of(b"plain");
        let (from, to) = (file.node(root, 2), file.node(root, 3));
        file.bytes.copy_within(from..from + 6, to);
    }),
    ("lost", &[], |file| {
        let at = file.meta() + 136;
        let last = file.get(at, 8);
        file.set(at, 8, last + 1);
    }),
    ("beyond file", UNREACHED, |file| {
        let last = highest_leaf(file);
        file.bytes.truncate(last);
    }),
    ("malformed", &[], |file| {
        let leaf = file.plain_leaf();
        file.set(leaf, 8, 3_000);
    }),
    ("malformed", COUNTED, |file| {
        // Two nodes share their place, and the sizes add up.
        let leaf = file.root_of(b"numbers");
        let first = file.get(leaf + 16, 2);
        file.set(leaf + 18, 2, first);
    }),
    ("wrong kind", &[], |file| {
        let leaf = file.plain_leaf();
        file.bytes[leaf + 10] |= 0x10;
    }),
    ("thin branch", UNREACHED, |file| {
        let root = file.root_of(b"plain");
        let node = file.node(root, 0);
        file.bytes.copy_within(node..node + 8, root + PAGE - 8);
        file.set(root + 12, 2, 18);
        file.set(root + 14, 2, PAGE as u64 - 8);
        file.set(root + 16, 2, PAGE as u64 - 8);
    }),
    ("empty leaf", COUNTED, |file| {
        let leaf = file.plain_leaf();
        file.set(leaf + 12, 2, 16);
        file.set(leaf + 14, 2, PAGE as u64);
    }),
    ("first separator", &[], |file| {
        let root = file.root_of(b"plain");
        let node = file.node(root, 0) - root;
        let upper = file.get(root + 14, 2) as usize;
        // The nodes below it move down by the two bytes that it gains.
        let head = file.bytes[root + node..][..8].to_vec();
        file.bytes
            .copy_within(root + upper..root + node, root + upper - 2);
        for index in 0..file.len(root) {
            let at = root + 16 + 2 * index;
            let offset = file.get(at, 2);
            if offset as usize <= node {
                file.set(at, 2, offset - 2);
            }
        }
        file.set(root + 14, 2, upper as u64 - 2);
        file.bytes[root + node - 2..][..8].copy_from_slice(&head);
        file.set(root + node + 4, 2, 2);
        file.bytes[root + node + 6..][..2].copy_from_slice(b"aa");
    }),
    ("out of order", &[], |file| {
        let leaf = file.root_of(b"numbers");
        file.swap(leaf, 5);
    }),
    ("outside separators", &[], |file| {
        let leaf = file.plain_leaf();
        let key = file.node(leaf, 0) + 8;
        file.bytes[key] = b'a';
    }),
    ("key size", &[], |file| {
        let node = file.node(file.root_of(b"numbers"), 0);
        let value = file.get(node, 4);
        file.set(node + 6, 2, 6);
        file.set(node, 4, value + 2);
    }),
    ("node size", COUNTED, |file| {
        let leaf = file.plain_leaf();
        let (mut nodes, count) = (Vec::new(), file.len(leaf));
        for index in 0..count {
            nodes.push((file.node(leaf, index), index));
        }
        nodes.sort_unstable();
        // The lowest in the page takes the two above it in.
        let [(lowest, _), (_, second), (_, third), ..] = nodes[..] else {
            panic!("three values of a thousand bytes stand on a page");
        };
        let end = nodes.get(3).map_or(leaf + PAGE, |node| node.0);
        let key = file.get(lowest + 6, 2) as usize;
        file.set(lowest, 4, (end - lowest - 8 - key) as u64);
        file.drop_offset(leaf, second.max(third));
        file.drop_offset(leaf, second.min(third));
    }),
    ("node flags", COUNTED, |file| {
        let node = file.node(file.plain_leaf(), 1);
        file.set(node + 4, 2, 8);
    }),
    ("duplicate size", COUNTED, |file| {
        let node = file.find(file.root_of(b"pairs"), b"some");
        file.set(node + 4, 2, 0);
    }),
    ("stray value", &[], |file| {
        let record = file.data(file.find(file.root_of(b"pairs"), b"many"));
        let mut leaf = file.root(record);
        if file.bytes[leaf + 10] == 1 {
            leaf = file.child(leaf, 0);
        }
        let node = file.node(leaf, 3);
        let key = file.get(node + 6, 2);
        file.set(node + 6, 2, key - 2);
        file.set(node, 4, 2);
    }),
    ("record", &[], |file| {
        let record = file.database(b"empty");
        file.set(record + 4, 2, 0x80);
    }),
    ("duplicate order", &[], |file| {
        let page = file.sub_page();
        file.swap(page, 4);
    }),
    ("sub-page", COUNTED, |file| {
        let page = file.sub_page();
        file.bytes[page + 10] &= !0x10;
    }),
    ("overflow", UNREACHED, |file| {
        let first = long_value(file);
        file.set(first + 12, 4, 1);
    }),
    ("free record", &[], |file| {
        let (leaf, newest) = (file.free_leaf(), file.get(file.meta() + 144, 8));
        let last = file.node(leaf, file.len(leaf) - 1);
        file.set(last + 8, 8, newest + 1);
    }),
    ("free record", &["lost"], |file| {
        // It counts more pages than it has room for.
        let leaf = file.free_leaf();
        let data = file.data(file.node(leaf, 0));
        file.set(data, 8, 5_000);
    }),
    ("count", &[], |file| {
        let record = file.database(b"plain");
        let entries = file.get(record + 32, 8);
        file.set(record + 32, 8, entries + 1);
    }),
    ("tree record", &[], |file| {
        let record = file.database(b"empty");
        file.set(record + 6, 2, 1);
    }),
];

/// Returns the offset of the first, and so highest, page number of the first free-list record.
fn first_free(file: &Image) -> usize {
    file.data(file.node(file.free_leaf(), 0)) + 8
}

/// The highest page of the file, which must be a leaf of the database with plain values.
fn highest_leaf(file: &Image) -> usize {
    let root = file.root_of(b"plain");
    let highest = (0..file.len(root))
        .map(|index| file.child(root, index))
        .max();
    highest.expect("a branch has children")
}

/// Where the run of the long value begins.
fn long_value(file: &Image) -> usize {
    let root = file.root_of(b"plain");
    let node = (0..file.len(root))
        .map(|index| file.child(root, index))
        .flat_map(|leaf| (0..file.len(leaf)).map(move |index| (leaf, index)))
        .map(|(leaf, index)| file.node(leaf, index))
        .find(|node| file.get(node + 4, 2) == 1)
        .expect("a long value");
    file.get(file.data(node), 8) as usize * PAGE
}

fn kinds_in(report: &Report) -> BTreeSet<&'static str> {
    report
        .findings
        .iter()
        .map(|found| kind(&found.fault))
        .collect()
}

#[test]
fn each_fault_is_found_and_nothing_else() {
    let sound = Image::new();
    let mut checker = Checker::new(CheckOptions::default());
    let report = checker.check_image(&sound.bytes).expect("a report");
    assert!(report.is_sound(), "{report}");
    let mut covered = BTreeSet::from(["unreadable"]);
    let mut wrong = Vec::new();
    for (number, (fault, consequences, damage)) in CASES.iter().enumerate() {
        let mut file = sound.clone();
        damage(&mut file);
        let report = checker.check_image(&file.bytes).expect("a report");
        let mut expected: BTreeSet<_> = consequences.iter().copied().collect();
        expected.insert(fault);
        if kinds_in(&report) != expected {
            wrong.push(format!("case {number}, {expected:?}: {report}"));
        }
        covered.insert(fault);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(covered.len(), KINDS, "{covered:?}");
}

/// A disk that cannot read one page.
struct Failing<'a> {
    bytes: &'a [u8],
    at: u64,
}

impl Source for Failing<'_> {
    fn len_bytes(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn lend<'a>(&'a self, at: u64, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
        match at == self.at {
            true => Err(io::Error::from_raw_os_error(5)),
            false => self.bytes.lend(at, buffer),
        }
    }
}

#[test]
fn an_unreadable_page_is_a_finding() {
    let sound = Image::new();
    let failing = Failing {
        bytes: &sound.bytes,
        at: sound.plain_leaf() as u64,
    };
    let report = Checker::default()
        .check(&failing, Path::new("failing"))
        .expect("a report");
    assert_eq!(kinds_in(&report), BTreeSet::from(["unreadable", "count"]));
}

#[test]
fn the_previous_snapshot_is_checked_separately() {
    let sound = Image::new();
    let mut checker = Checker::new(CheckOptions::default());
    let usable = checker
        .check_image(&sound.bytes)
        .expect("a report")
        .previous;
    assert!(
        matches!(usable, super::PreviousSnapshot::Usable { txnid: 1 }),
        "{usable:?}"
    );
    // A page that only the older snapshot has.
    let mut file = sound.clone();
    let older = PAGE - file.meta();
    let page = file.root(older + 88);
    file.bytes[page..page + PAGE].fill(0xee);
    let report = checker.check_image(&file.bytes).expect("a report");
    assert!(report.is_sound(), "{report}");
    assert!(matches!(
        report.previous,
        super::PreviousSnapshot::Unusable { txnid: 1, .. }
    ));
}

#[test]
fn an_unknown_order_is_not_checked() {
    let mut file = Image::new();
    let leaf = file.root_of(b"numbers");
    file.swap(leaf, 5);
    let page = file.sub_page();
    file.swap(page, 4);
    let judge = |options: CheckOptions| {
        let mut checker = Checker::new(options);
        checker.check_image(&file.bytes).expect("a report")
    };
    let judged = judge(CheckOptions::default());
    assert_eq!(judged.findings_total, 2, "{judged}");
    let hint = judged
        .notes
        .iter()
        .any(|note| note.contains("mdb_set_compare"));
    assert!(hint, "{judged}");
    let half = judge(CheckOptions::default().any_order("numbers"));
    assert_eq!(half.findings_total, 1, "{half}");
    let none = judge(
        CheckOptions::default()
            .any_order("numbers")
            .any_order("pairs"),
    );
    assert!(none.is_sound() && none.notes.len() == 2, "{none}");
    assert!(judge(CheckOptions::default().any_order_everywhere(true)).is_sound());
    // A key twice in a row is wrong in every order.
    let mut file = file.clone();
    let (first, second) = (file.node(leaf, 0) + 8, file.node(leaf, 1) + 8);
    file.bytes.copy_within(first..first + 8, second);
    let mut checker = Checker::new(CheckOptions::default().any_order_everywhere(true));
    let twice = checker.check_image(&file.bytes).expect("a report");
    assert_eq!(kinds_in(&twice), BTreeSet::from(["out of order"]));
}
