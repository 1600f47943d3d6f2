//! One tree from its root to its leaves: kinds, levels, order and separators.

use std::cmp::Ordering;

use fulgurite_format::{DEPTH_MAX, DatabaseFlags, KEY_LEN_MAX, PageFlags, TreeRecord, layout};

use super::layout::{Entries, Header, Nodes};
use super::pages::ReadFault;
use super::report::{Fault, Name};
use super::{Check, Claim, value};

/// What a tree is for, which decides what its leaves may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Free,
    Main,
    Named,
    /// A sub-database: its keys are the duplicates of one key, in the order their database gives them.
    Duplicates(KeyOrder),
}

/// How keys compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyOrder {
    Lexical,
    Reverse,
    Integer,
    /// The program's own, of which nothing is known but that it tells keys apart.
    Unknown,
}

impl KeyOrder {
    pub(crate) fn of_keys(flags: DatabaseFlags) -> Self {
        match flags {
            f if f.has(DatabaseFlags::REVERSE_KEY) => KeyOrder::Reverse,
            f if f.has(DatabaseFlags::INTEGER_KEY) => KeyOrder::Integer,
            _ => KeyOrder::Lexical,
        }
    }

    pub(crate) fn of_duplicates(flags: DatabaseFlags) -> Self {
        match flags {
            f if f.has(DatabaseFlags::INTEGER_DUP) => KeyOrder::Integer,
            f if f.has(DatabaseFlags::REVERSE_DUP) => KeyOrder::Reverse,
            _ => KeyOrder::Lexical,
        }
    }

    #[inline]
    pub(crate) fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            KeyOrder::Lexical => a.cmp(b),
            KeyOrder::Reverse => a.iter().rev().cmp(b.iter().rev()),
            KeyOrder::Integer => a
                .len()
                .cmp(&b.len())
                .then_with(|| a.iter().rev().cmp(b.iter().rev())),
            KeyOrder::Unknown => match a == b {
                true => Ordering::Equal,
                false => Ordering::Less,
            },
        }
    }

    /// Whether the first is below the second, as far as can be told.
    #[inline]
    pub(crate) fn ascends(self, a: &[u8], b: &[u8]) -> bool {
        self.compare(a, b) == Ordering::Less
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
    pub(super) name: Name<'a>,
    pub(super) order: KeyOrder,
    pub(super) duplicates_order: KeyOrder,
    pub(super) counts: Counts,
}

/// The keys a page may hold: from `low` on, below `high`.
#[derive(Clone, Copy, Default)]
struct Bounds<'a> {
    low: Option<&'a [u8]>,
    high: Option<&'a [u8]>,
}

impl Bounds<'_> {
    fn admit(self, order: KeyOrder, key: &[u8]) -> bool {
        // Where nothing is known of the order, nothing lies outside.
        order == KeyOrder::Unknown
            || self.low.is_none_or(|low| !order.ascends(key, low))
                && self.high.is_none_or(|high| order.ascends(key, high))
    }
}

/// Walks a tree and compares what it met with its record.
pub(super) fn walk(
    check: &mut Check<'_>,
    record: &TreeRecord,
    role: Role,
    name: Name<'_>,
) -> Counts {
    let judged = check.judges_order_of(name);
    let order = match role {
        Role::Free => KeyOrder::Integer,
        Role::Duplicates(order) => order,
        Role::Main | Role::Named if judged => KeyOrder::of_keys(record.flags),
        Role::Main | Role::Named => KeyOrder::Unknown,
    };
    let duplicates_order = match judged {
        true => KeyOrder::of_duplicates(record.flags),
        false => KeyOrder::Unknown,
    };
    let mut walk = Walk {
        record,
        role,
        name,
        order,
        duplicates_order,
        counts: Counts::default(),
    };
    let root = record.root.0;
    if (record.root.is_none()) != (record.depth == 0) {
        let fault = Fault::TreeRecord(format!("depth {} with root {root:#x}", record.depth));
        check.reporter.find(name, root, fault);
    }
    if record.depth > DEPTH_MAX {
        let fault = Fault::TreeRecord(format!("depth {}", record.depth));
        check.reporter.find(name, root, fault);
    }
    if !record.root.is_none() {
        walk.page(check, root, 1, Bounds::default());
    }
    if !check.in_previous {
        walk.compare_counts(check);
    }
    walk.counts
}

impl Walk<'_> {
    fn page(&mut self, check: &mut Check<'_>, pgno: u64, level: u16, bounds: Bounds<'_>) {
        if level > DEPTH_MAX {
            let fault = Fault::TreeRecord(format!("its tree is deeper than {DEPTH_MAX}"));
            return check.reporter.find(self.name, pgno, fault);
        }
        // A claim also ends every cycle: a page is entered once.
        let shared = match check.claim(pgno, self.name) {
            Claim::Refused => return,
            Claim::Fresh => false,
            Claim::Shared => true,
        };
        let mut buffer = check.space.take_buffer();
        match check.pages.page(pgno, &mut buffer) {
            Err(ReadFault::BeyondFile) => check.reporter.find(self.name, pgno, Fault::BeyondFile),
            Err(ReadFault::System(e)) => {
                let fault = Fault::Unreadable(e.to_string());
                check.reporter.find(self.name, pgno, fault);
            }
            Ok(bytes) => self.contents(check, pgno, bytes, level, bounds, shared),
        }
        check.space.give_buffer(buffer);
    }

    fn contents(
        &mut self,
        check: &mut Check<'_>,
        pgno: u64,
        bytes: &[u8],
        level: u16,
        bounds: Bounds<'_>,
        shared: bool,
    ) {
        let Some(header) = Header::parse(bytes) else {
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
            let kind = header.flags & (PageFlags::BRANCH | PageFlags::LEAF);
            if kind != PageFlags::BRANCH && kind != PageFlags::LEAF {
                return;
            }
        }
        let entries = match Entries::parse(bytes, &header) {
            Ok(entries) => entries,
            Err(reason) => return self.malformed(check, pgno, reason),
        };
        if shared {
            return self.first_key(check, pgno, &entries, bounds);
        }
        match entries.check_nodes(&mut check.space.tiling) {
            Err(reason) => self.malformed(check, pgno, reason),
            Ok(_) if header.is_branch() => self.branch(check, pgno, level, &entries, bounds),
            Ok(nodes) => self.leaf(check, pgno, &entries, &nodes, bounds),
        }
    }

    fn malformed(&self, check: &mut Check<'_>, pgno: u64, reason: String) {
        check
            .reporter
            .find(self.name, pgno, Fault::Malformed(reason));
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

    /// Whether a page that was looked at in the newest snapshot is at its place here too.
    fn first_key(
        &self,
        check: &mut Check<'_>,
        pgno: u64,
        entries: &Entries<'_>,
        bounds: Bounds<'_>,
    ) {
        if let Some(first) = entries.get(0).filter(|first| first.child == 0)
            && !bounds.admit(self.order, first.key)
        {
            check
                .reporter
                .find(self.name, pgno, Fault::OutsideSeparators { index: 0 });
        }
    }

    fn branch(
        &mut self,
        check: &mut Check<'_>,
        pgno: u64,
        level: u16,
        entries: &Entries<'_>,
        bounds: Bounds<'_>,
    ) {
        self.counts.branch += 1;
        if entries.len() < 2 {
            let entries = entries.len();
            check
                .reporter
                .find(self.name, pgno, Fault::ThinBranch { entries });
        }
        let mut next = entries.get(0);
        if next.is_some_and(|first| !first.key.is_empty()) {
            check.reporter.find(self.name, pgno, Fault::FirstSeparator);
        }
        let mut low = bounds.low;
        let mut index = 0;
        while let Some(entry) = next {
            index += 1;
            next = entries.get(index);
            let high = next.map(|next| next.key).or(bounds.high);
            if let (Some(low), Some(high)) = (low, high)
                && !self.order.ascends(low, high)
            {
                let fault = Fault::OutOfOrder { index: index - 1 };
                check.reporter.find(self.name, pgno, fault);
            }
            self.page(check, entry.child, level + 1, Bounds { low, high });
            low = high;
        }
    }

    fn leaf(
        &mut self,
        check: &mut Check<'_>,
        pgno: u64,
        entries: &Entries<'_>,
        nodes: &Nodes,
        bounds: Bounds<'_>,
    ) {
        self.counts.leaf += 1;
        if entries.len() == 0 {
            check.reporter.find(self.name, pgno, Fault::EmptyLeaf);
        }
        self.leaf_keys(check, pgno, entries, bounds);
        if entries.is_packed() || nodes.flags == 0 && self.holds_plain_values() {
            self.counts.entries += entries.len() as u64;
        } else {
            for (index, item) in entries.iter().enumerate() {
                value::check(check, self, pgno, index, &item);
            }
        }
        let node_max = layout::node_max(check.pages.page_bytes()).next_multiple_of(2);
        if nodes.largest_bytes > node_max {
            for (index, item) in entries.iter().enumerate() {
                let bytes = item.node_bytes;
                if bytes > node_max {
                    let fault = Fault::NodeSize { index, bytes };
                    check.reporter.find(self.name, pgno, fault);
                }
            }
        }
    }

    /// Whether nodes without flags need no look at their values.
    fn holds_plain_values(&self) -> bool {
        matches!(self.role, Role::Main | Role::Named)
            && !self.record.flags.has(DatabaseFlags::DUP_SORT)
    }

    /// Keys ascend, and lie between the separators. So those of one leaf need not be compared with those of the next.
    fn leaf_keys(
        &self,
        check: &mut Check<'_>,
        pgno: u64,
        entries: &Entries<'_>,
        bounds: Bounds<'_>,
    ) {
        let (mut previous, mut ascending): (Option<&[u8]>, bool) = (None, true);
        for (index, item) in entries.iter().enumerate() {
            let bytes = item.key.len();
            if !self.key_size_fits(bytes) {
                let fault = Fault::KeySize { index, bytes };
                check.reporter.find(self.name, pgno, fault);
            }
            if previous.is_some_and(|previous| !self.order.ascends(previous, item.key)) {
                ascending = false;
                let fault = Fault::OutOfOrder { index };
                check.reporter.find(self.name, pgno, fault);
            }
            previous = Some(item.key);
        }
        let inside = |key: &[u8]| bounds.admit(self.order, key);
        let first = entries.get(0).is_none_or(|first| inside(first.key));
        if ascending && first && previous.is_none_or(inside) {
            return;
        }
        for (index, item) in entries.iter().enumerate() {
            if !inside(item.key) {
                let fault = Fault::OutsideSeparators { index };
                check.reporter.find(self.name, pgno, fault);
            }
        }
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

    fn compare_counts(&self, check: &mut Check<'_>) {
        let (record, counts) = (self.record, &self.counts);
        let compare = |check: &mut Check<'_>, what, recorded, counted| {
            if recorded != counted {
                let fault = Fault::Count {
                    what,
                    recorded,
                    counted,
                };
                check.reporter.find(self.name, record.root.0, fault);
            }
        };
        compare(check, "entries", record.entries, counts.entries);
        compare(
            check,
            "overflow pages",
            record.overflow_pages,
            counts.overflow,
        );
        if !record.flags.has(DatabaseFlags::DUP_SORT) {
            compare(check, "branch pages", record.branch_pages, counts.branch);
            compare(check, "leaf pages", record.leaf_pages, counts.leaf);
            return;
        }
        // Libraries before 0.9.36 leave out the pages of sub-databases; 0.9.36 counts them and forgets to subtract. A
        // file may have been written by both, so no number is wrong here.
        let fits = |recorded, own, sub| recorded == own || recorded == own + sub;
        if !fits(record.branch_pages, counts.branch, counts.sub_branch)
            || !fits(record.leaf_pages, counts.leaf, counts.sub_leaf)
        {
            check.reporter.note(format!(
                "{}: the record says {} branch and {} leaf pages, there are {} and {}: such counts drift in databases \
                 with duplicates, and nothing depends on them",
                self.name,
                record.branch_pages,
                record.leaf_pages,
                counts.branch + counts.sub_branch,
                counts.leaf + counts.sub_leaf
            ));
        }
    }
}
