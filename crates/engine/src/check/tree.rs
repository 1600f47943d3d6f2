//! One tree from its root to its leaves: kinds, levels, order and separators.

use std::cmp::Ordering;

use fulgurite_format::{DatabaseFlags, Format, KEY_LEN_MAX, PageFlags, TreeRecord, V09};

use super::layout::{Header, Item, items};
use super::pages::ReadFault;
use super::report::Fault;
use super::{Check, value};

/// Deeper trees cannot be walked by anyone.
const DEPTH_MAX: u16 = 32;

/// What a tree is for, which decides what its leaves may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Free,
    Main,
    Named,
    /// A sub-database: its keys are the duplicates of one key, in the order their database gives them.
    Duplicates(KeyOrder),
}

/// How keys compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyOrder {
    Lexical,
    Reverse,
    Integer,
}

impl KeyOrder {
    pub(super) fn of_keys(flags: DatabaseFlags) -> Self {
        match flags {
            f if f.has(DatabaseFlags::REVERSE_KEY) => KeyOrder::Reverse,
            f if f.has(DatabaseFlags::INTEGER_KEY) => KeyOrder::Integer,
            _ => KeyOrder::Lexical,
        }
    }

    pub(super) fn of_duplicates(flags: DatabaseFlags) -> Self {
        match flags {
            f if f.has(DatabaseFlags::INTEGER_DUP) => KeyOrder::Integer,
            f if f.has(DatabaseFlags::REVERSE_DUP) => KeyOrder::Reverse,
            _ => KeyOrder::Lexical,
        }
    }

    pub(super) fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            KeyOrder::Lexical => a.cmp(b),
            KeyOrder::Reverse => a.iter().rev().cmp(b.iter().rev()),
            KeyOrder::Integer => a
                .len()
                .cmp(&b.len())
                .then_with(|| a.iter().rev().cmp(b.iter().rev())),
        }
    }
}

/// What a walk met.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) branch: u64,
    pub(super) leaf: u64,
    pub(super) overflow: u64,
    pub(super) entries: u64,
    pub(super) sub_branch: u64,
    pub(super) sub_leaf: u64,
}

/// A tree being walked.
pub(super) struct Walk<'a> {
    pub(super) record: &'a TreeRecord,
    pub(super) role: Role,
    pub(super) name: &'a str,
    pub(super) order: KeyOrder,
    pub(super) counts: Counts,
    /// The last leaf key met.
    previous: Option<Vec<u8>>,
}

/// The keys a page may hold: from `low` on, below `high`.
#[derive(Clone, Copy)]
struct Bounds<'a> {
    low: Option<&'a [u8]>,
    high: Option<&'a [u8]>,
}

/// Walks a tree and compares what it met with its record.
pub(super) fn walk(check: &mut Check, record: &TreeRecord, role: Role, name: &str) -> Counts {
    let order = match role {
        Role::Free => KeyOrder::Integer,
        Role::Main | Role::Named => KeyOrder::of_keys(record.flags),
        Role::Duplicates(order) => order,
    };
    let mut walk = Walk {
        record,
        role,
        name,
        order,
        counts: Counts::default(),
        previous: None,
    };
    let root = record.root.0;
    if (record.root.is_none()) != (record.depth == 0) {
        let fault = Fault::TreeRecord(format!("depth {} with root {root:#x}", record.depth));
        check.reporter.find(name, root, fault);
    }
    if record.depth > DEPTH_MAX {
        check.reporter.find(
            name,
            root,
            Fault::TreeRecord(format!("depth {}", record.depth)),
        );
    }
    if !record.root.is_none() {
        walk.page(
            check,
            root,
            1,
            Bounds {
                low: None,
                high: None,
            },
        );
    }
    walk.compare_counts(check);
    walk.counts
}

impl Walk<'_> {
    fn page(&mut self, check: &mut Check, pgno: u64, level: u16, bounds: Bounds<'_>) {
        // A claim also ends every cycle: a page is entered once.
        if level > DEPTH_MAX || !check.claim(pgno, self.name) {
            return;
        }
        let bytes = match check.pages.page(pgno) {
            Ok(bytes) => bytes,
            Err(ReadFault::BeyondFile) => {
                return check.reporter.find(self.name, pgno, Fault::BeyondFile);
            }
            Err(ReadFault::System(e)) => {
                return check
                    .reporter
                    .find(self.name, pgno, Fault::Unreadable(e.to_string()));
            }
        };
        let Some(header) = Header::parse(&bytes) else {
            return;
        };
        if header.pgno != pgno {
            let fault = Fault::Malformed(format!("it says it is page {}", header.pgno));
            check.reporter.find(self.name, pgno, fault);
        }
        if !self.kind_fits(&header, level) {
            let fault = Fault::WrongKind {
                flags: header.flags,
                level,
                depth: self.record.depth,
            };
            check.reporter.find(self.name, pgno, fault);
            // A stray flag or a wrong depth does not hide what the page holds; another kind of page does.
            if header.flags & (PageFlags::BRANCH | PageFlags::LEAF) != PageFlags::BRANCH
                && header.flags & (PageFlags::BRANCH | PageFlags::LEAF) != PageFlags::LEAF
            {
                return;
            }
        }
        match items(&bytes, &header) {
            Err(reason) => check
                .reporter
                .find(self.name, pgno, Fault::Malformed(reason)),
            Ok(entries) if header.flags & PageFlags::BRANCH != 0 => {
                self.branch(check, pgno, level, &entries, bounds)
            }
            Ok(entries) => self.leaf(check, pgno, &header, &entries, bounds),
        }
    }

    fn kind_fits(&self, header: &Header, level: u16) -> bool {
        let packed = matches!(self.role, Role::Duplicates(_))
            && self.record.flags.has(DatabaseFlags::DUP_FIXED);
        match header.flags {
            PageFlags::BRANCH => level < self.record.depth,
            PageFlags::LEAF => level == self.record.depth && !packed,
            flags if flags == PageFlags::LEAF | PageFlags::PACKED => {
                level == self.record.depth && packed && u32::from(header.pad) == self.record.pad
            }
            _ => false,
        }
    }

    fn branch(
        &mut self,
        check: &mut Check,
        pgno: u64,
        level: u16,
        entries: &[Item<'_>],
        bounds: Bounds<'_>,
    ) {
        self.counts.branch += 1;
        if entries.len() < 2 {
            check.reporter.find(
                self.name,
                pgno,
                Fault::ThinBranch {
                    entries: entries.len(),
                },
            );
        }
        if entries.first().is_some_and(|first| !first.key.is_empty()) {
            check.reporter.find(self.name, pgno, Fault::FirstSeparator);
        }
        for (index, entry) in entries.iter().enumerate() {
            let low = if index == 0 {
                bounds.low
            } else {
                Some(entry.key)
            };
            let high = entries.get(index + 1).map(|next| next.key).or(bounds.high);
            if let (Some(low), Some(high)) = (low, high)
                && self.order.compare(low, high) != Ordering::Less
            {
                check
                    .reporter
                    .find(self.name, pgno, Fault::OutOfOrder { index });
            }
            self.page(check, entry.child, level + 1, Bounds { low, high });
        }
    }

    fn leaf(
        &mut self,
        check: &mut Check,
        pgno: u64,
        header: &Header,
        entries: &[Item<'_>],
        bounds: Bounds<'_>,
    ) {
        self.counts.leaf += 1;
        if entries.is_empty() {
            check.reporter.find(self.name, pgno, Fault::EmptyLeaf);
        }
        let node_max = V09::node_max(check.pages.page_bytes());
        for (index, entry) in entries.iter().enumerate() {
            self.leaf_key(check, pgno, index, entry.key, bounds);
            if header.flags & PageFlags::PACKED != 0 {
                self.counts.entries += 1;
                continue;
            }
            if entry.node_bytes > node_max.next_multiple_of(2) {
                check.reporter.find(
                    self.name,
                    pgno,
                    Fault::NodeSize {
                        index,
                        bytes: entry.node_bytes,
                    },
                );
            }
            value::check(check, self, pgno, index, entry);
        }
    }

    fn leaf_key(
        &mut self,
        check: &mut Check,
        pgno: u64,
        index: usize,
        key: &[u8],
        bounds: Bounds<'_>,
    ) {
        if !self.key_size_fits(key.len()) {
            check.reporter.find(
                self.name,
                pgno,
                Fault::KeySize {
                    index,
                    bytes: key.len(),
                },
            );
        }
        if let Some(previous) = &self.previous
            && self.order.compare(previous, key) != Ordering::Less
        {
            check
                .reporter
                .find(self.name, pgno, Fault::OutOfOrder { index });
        }
        let below = bounds
            .low
            .is_some_and(|low| self.order.compare(key, low) == Ordering::Less);
        let above = bounds
            .high
            .is_some_and(|high| self.order.compare(key, high) != Ordering::Less);
        if below || above {
            check
                .reporter
                .find(self.name, pgno, Fault::OutsideSeparators { index });
        }
        let slot = self.previous.get_or_insert_default();
        slot.clear();
        slot.extend_from_slice(key);
    }

    fn key_size_fits(&self, bytes: usize) -> bool {
        match (self.role, self.order) {
            (Role::Free, _) => bytes == 8,
            // Integer duplicates may have any even size.
            (Role::Duplicates(_), KeyOrder::Integer) => bytes > 0 && bytes.is_multiple_of(2),
            (_, KeyOrder::Integer) => bytes == 4 || bytes == 8,
            _ => (1..=KEY_LEN_MAX).contains(&bytes),
        }
    }

    fn compare_counts(&self, check: &mut Check) {
        let (record, counts) = (self.record, &self.counts);
        let mut exact = vec![
            ("entries", record.entries, counts.entries),
            ("overflow pages", record.overflow_pages, counts.overflow),
        ];
        // With duplicates these two depend on the version that wrote the file, and drift.
        if !record.flags.has(DatabaseFlags::DUP_SORT) {
            exact.push(("branch pages", record.branch_pages, counts.branch));
            exact.push(("leaf pages", record.leaf_pages, counts.leaf));
        }
        for (what, recorded, counted) in exact {
            if recorded != counted {
                check.reporter.find(
                    self.name,
                    record.root.0,
                    Fault::Count {
                        what,
                        recorded,
                        counted,
                    },
                );
            }
        }
    }
}
