//! One tree from its root to its leaves: kinds, levels, order and separators.
//!
//! The walk has its own loop instead of the visitor of [`crate::maintain::walk`]. It reads a file
//! that no snapshot need describe, continues after damage, and claims each page.

use fulgurite_format::{DEPTH_MAX, DatabaseFlags, PageFlags, TreeRecord, layout};

use super::report::{DatabaseLabel, Fault, TreeCounts};
use super::state::{CheckState, PageClaim, TreeCheck};
use super::value::{self, Node};
use crate::maintain::image::layout::{Entries, Header, Nodes};
use crate::maintain::image::order::{KeyBounds, PagePosition, RecordedOrder, key_len_fits};
use crate::maintain::image::pages::ReadFault;
use crate::maintain::walk::TreeRole;

/// Checks one database and compares what it holds with its record.
pub(super) fn check_database(
    check: &mut CheckState<'_>,
    record: &TreeRecord,
    role: TreeRole,
    label: DatabaseLabel<'_>,
) {
    let is_order_checked = check.checks_order_of(label);
    let (order, duplicates_order) = match (role, is_order_checked) {
        (TreeRole::FreeList, _) => (RecordedOrder::Integer, RecordedOrder::Lexical),
        (_, true) => (
            RecordedOrder::of_keys(record.flags),
            RecordedOrder::of_duplicates(record.flags),
        ),
        (_, false) => (RecordedOrder::Unknown, RecordedOrder::Unknown),
    };
    let counts = check_tree(
        check,
        TreeCheck {
            record,
            role,
            label,
            order,
            duplicates_order,
            counts: TreeCounts::default(),
        },
    );
    if check.in_previous {
        return;
    }
    check.reporter.database(label, record, &counts);
    if !is_order_checked {
        check.reporter.note(format!(
            "{label}: the order of its keys and values was not checked"
        ));
    }
}

/// Checks a tree and returns the counts of its pages and entries.
fn check_tree(check: &mut CheckState<'_>, mut tree: TreeCheck<'_>) -> TreeCounts {
    let (record, label) = (tree.record, tree.label);
    let root = record.root.0;
    if (record.root.is_none()) != (record.depth == 0) {
        let fault = Fault::TreeRecord(format!("depth {} with root {root:#x}", record.depth));
        check.reporter.find(label, root, fault);
    }
    if record.depth > DEPTH_MAX {
        let fault = Fault::TreeRecord(format!("depth {}", record.depth));
        check.reporter.find(label, root, fault);
    }
    if !record.root.is_none() {
        let position = PagePosition {
            pgno: root,
            level: 1,
            bounds: KeyBounds::default(),
        };
        tree.page(check, position);
    }
    if !check.in_previous {
        tree.compare_counts(check);
    }
    tree.counts
}

impl TreeCheck<'_> {
    fn page(&mut self, check: &mut CheckState<'_>, position: PagePosition<'_>) {
        let PagePosition { pgno, level, .. } = position;
        if level > DEPTH_MAX {
            let fault = Fault::TreeRecord(format!("its tree is deeper than {DEPTH_MAX}"));
            return check.reporter.find(self.label, pgno, fault);
        }
        // A claim also ends every cycle: a page is entered once.
        let shared = match check.claim(pgno, self.label) {
            PageClaim::Refused => return,
            PageClaim::Fresh => false,
            PageClaim::Shared => true,
        };
        let mut buffer = check.buffers.take_buffer();
        match check.pages.page(pgno, &mut buffer) {
            Err(ReadFault::BeyondFile) => check.reporter.find(self.label, pgno, Fault::BeyondFile),
            Err(ReadFault::System(e)) => {
                let fault = Fault::Unreadable(e.to_string());
                check.reporter.find(self.label, pgno, fault);
            }
            Ok(bytes) => self.contents(check, position, bytes, shared),
        }
        check.buffers.give_buffer(buffer);
    }

    fn contents(
        &mut self,
        check: &mut CheckState<'_>,
        position: PagePosition<'_>,
        bytes: &[u8],
        shared: bool,
    ) {
        let PagePosition {
            pgno,
            level,
            bounds,
        } = position;
        let Some(header) = Header::parse(bytes) else {
            return;
        };
        if header.pgno != pgno {
            let fault = Fault::Malformed(format!("it says it is page {}", header.pgno));
            check.reporter.find(self.label, pgno, fault);
        }
        if !self.kind_fits(&header, level) {
            let fault = Fault::WrongKind {
                flags: header.flags,
                level,
                depth: self.record.depth,
            };
            check.reporter.find(self.label, pgno, fault);
            // A stray flag or a wrong depth does not hide the contents. A different kind of page
            // does.
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
        match entries.check_nodes(&mut check.buffers.tiling) {
            Err(reason) => self.malformed(check, pgno, reason),
            Ok(_) if header.is_branch() => self.branch(check, position, &entries),
            Ok(nodes) => self.leaf(check, pgno, &entries, &nodes, bounds),
        }
    }

    fn malformed(&self, check: &mut CheckState<'_>, pgno: u64, reason: String) {
        check
            .reporter
            .find(self.label, pgno, Fault::Malformed(reason));
    }

    fn kind_fits(&self, header: &Header, level: u16) -> bool {
        let packed = matches!(self.role, TreeRole::Duplicates)
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

    /// Checks the position of a page that the newest snapshot shares: its first key must be in
    /// bounds.
    fn first_key(
        &self,
        check: &mut CheckState<'_>,
        pgno: u64,
        entries: &Entries<'_>,
        bounds: KeyBounds<'_>,
    ) {
        if let Some(first) = entries.get(0).filter(|first| first.child == 0)
            && !bounds.admit(self.order, first.key)
        {
            check
                .reporter
                .find(self.label, pgno, Fault::OutsideSeparators { index: 0 });
        }
    }

    fn branch(
        &mut self,
        check: &mut CheckState<'_>,
        position: PagePosition<'_>,
        entries: &Entries<'_>,
    ) {
        let PagePosition {
            pgno,
            level,
            bounds,
        } = position;
        self.counts.branch += 1;
        if entries.len() < 2 {
            let entries = entries.len();
            check
                .reporter
                .find(self.label, pgno, Fault::ThinBranch { entries });
        }
        let mut next = entries.get(0);
        if next.is_some_and(|first| !first.key.is_empty()) {
            check.reporter.find(self.label, pgno, Fault::FirstSeparator);
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
                check.reporter.find(self.label, pgno, fault);
            }
            let child = PagePosition {
                pgno: entry.child,
                level: level + 1,
                bounds: KeyBounds { low, high },
            };
            self.page(check, child);
            low = high;
        }
    }

    fn leaf(
        &mut self,
        check: &mut CheckState<'_>,
        pgno: u64,
        entries: &Entries<'_>,
        nodes: &Nodes,
        bounds: KeyBounds<'_>,
    ) {
        self.counts.leaf += 1;
        if entries.len() == 0 {
            check.reporter.find(self.label, pgno, Fault::EmptyLeaf);
        }
        self.leaf_keys(check, pgno, entries, bounds);
        if entries.is_packed() || nodes.flags == 0 && self.holds_plain_values() {
            self.counts.entries += entries.len() as u64;
        } else {
            for (index, item) in entries.iter().enumerate() {
                let node = Node {
                    pgno,
                    index,
                    item: &item,
                };
                if let Some((record, role)) = value::check_node(check, self, &node) {
                    self.referenced_tree(check, &record, role, item.key);
                }
            }
        }
        let node_max = layout::node_max(check.pages.page_bytes()).next_multiple_of(2);
        if nodes.largest_bytes > node_max {
            for (index, item) in entries.iter().enumerate() {
                let bytes = item.node_bytes;
                if bytes > node_max {
                    let fault = Fault::NodeSize { index, bytes };
                    check.reporter.find(self.label, pgno, fault);
                }
            }
        }
    }

    /// Checks the tree that a leaf entry with this key refers to.
    fn referenced_tree(
        &mut self,
        check: &mut CheckState<'_>,
        record: &TreeRecord,
        role: TreeRole,
        key: &[u8],
    ) {
        if role == TreeRole::Named {
            return check_database(check, record, role, DatabaseLabel::Named(key));
        }
        let label = match self.label {
            DatabaseLabel::Named(name) => DatabaseLabel::Duplicates(Some(name)),
            _ => DatabaseLabel::Duplicates(None),
        };
        let counts = check_tree(
            check,
            TreeCheck {
                record,
                role,
                label,
                order: self.duplicates_order,
                duplicates_order: self.duplicates_order,
                counts: TreeCounts::default(),
            },
        );
        self.counts.sub_branch += counts.branch;
        self.counts.sub_leaf += counts.leaf;
        self.counts.entries += counts.entries;
    }

    /// Returns true if nodes without flags need no further check.
    fn holds_plain_values(&self) -> bool {
        matches!(self.role, TreeRole::Main | TreeRole::Named)
            && !self.record.flags.has(DatabaseFlags::DUP_SORT)
    }

    /// Checks that keys ascend and are between the separators. So keys of different leaves need not
    /// be compared.
    fn leaf_keys(
        &self,
        check: &mut CheckState<'_>,
        pgno: u64,
        entries: &Entries<'_>,
        bounds: KeyBounds<'_>,
    ) {
        let (mut previous, mut ascending): (Option<&[u8]>, bool) = (None, true);
        for (index, item) in entries.iter().enumerate() {
            let bytes = item.key.len();
            if !key_len_fits(self.role, self.order, bytes) {
                let fault = Fault::KeySize { index, bytes };
                check.reporter.find(self.label, pgno, fault);
            }
            if previous.is_some_and(|previous| !self.order.ascends(previous, item.key)) {
                ascending = false;
                let fault = Fault::OutOfOrder { index };
                check.reporter.find(self.label, pgno, fault);
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
                check.reporter.find(self.label, pgno, fault);
            }
        }
    }

    fn compare_counts(&self, check: &mut CheckState<'_>) {
        let (record, counts) = (self.record, &self.counts);
        let compare = |check: &mut CheckState<'_>, what, recorded, counted| {
            if recorded != counted {
                let fault = Fault::Count {
                    what,
                    recorded,
                    counted,
                };
                check.reporter.find(self.label, record.root.0, fault);
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
        // Libraries before 0.9.36 leave out the pages of value trees. 0.9.36 counts them and
        // forgets to subtract them. Both may have written a file, so no count is a fault here.
        let fits = |recorded, own, sub| recorded == own || recorded == own + sub;
        if !fits(record.branch_pages, counts.branch, counts.sub_branch)
            || !fits(record.leaf_pages, counts.leaf, counts.sub_leaf)
        {
            check.reporter.note(format!(
                "{}: the record says {} branch and {} leaf pages, there are {} and {}: such counts drift in databases \
                 with duplicates, and nothing depends on them",
                self.label,
                record.branch_pages,
                record.leaf_pages,
                counts.branch + counts.sub_branch,
                counts.leaf + counts.sub_leaf
            ));
        }
    }
}
