//! Whether a page is what its place calls for; and of what tree, for what keys, that place is.

use std::rc::Rc;

use fulgurite_format::{DatabaseFlags, KEY_LEN_MAX, NodeFlags, PageFlags, TreeRecord};

use crate::check::layout::{Entries, Header, Item, Tiling};
use crate::check::tree::{KeyOrder, Role};

/// A tree to be salvaged.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    /// The number of the database in the new environment.
    pub(super) database: usize,
    /// The tree holds the values of this key.
    pub(super) key: Option<Rc<[u8]>>,
    pub(super) role: Role,
    pub(super) order: KeyOrder,
    pub(super) duplicates_order: KeyOrder,
    /// Flags of the database.
    pub(super) flags: DatabaseFlags,
    pub(super) record: TreeRecord,
}

impl Tree {
    /// A database, whose order is judged unless it is the program's own.
    pub(super) fn database(database: usize, role: Role, record: TreeRecord, judged: bool) -> Tree {
        let (order, duplicates_order) = match (role, judged) {
            (Role::Free, _) => (KeyOrder::Integer, KeyOrder::Integer),
            (_, true) => (
                KeyOrder::of_keys(record.flags),
                KeyOrder::of_duplicates(record.flags),
            ),
            (_, false) => (KeyOrder::Unknown, KeyOrder::Unknown),
        };
        Tree {
            database,
            key: None,
            role,
            order,
            duplicates_order,
            flags: record.flags,
            record,
        }
    }

    /// The tree of the values of one of its keys.
    pub(super) fn of_values(&self, key: &[u8], record: TreeRecord) -> Tree {
        Tree {
            key: Some(key.into()),
            role: Role::Duplicates(self.duplicates_order),
            order: self.duplicates_order,
            record,
            ..self.clone()
        }
    }

    pub(super) fn has_duplicates(&self) -> bool {
        self.key.is_none() && self.role != Role::Free && self.flags.has(DatabaseFlags::DUP_SORT)
    }

    /// Whether its leaves are packed.
    pub(super) fn is_packed(&self) -> bool {
        self.key.is_some() && self.flags.has(DatabaseFlags::DUP_FIXED)
    }

    /// Node flags that its leaves can have.
    pub(super) fn admits_flags(&self, flags: u16) -> bool {
        match flags {
            0 => true,
            NodeFlags::OVERFLOW => self.key.is_none() && !self.has_duplicates(),
            NodeFlags::SUB_TREE => self.role == Role::Main,
            _ => self.has_duplicates() && flags & !NodeFlags::SUB_TREE == NodeFlags::DUPLICATES,
        }
    }

    fn admits_key_bytes(&self, bytes: usize) -> bool {
        match (self.role, self.order) {
            (Role::Free, _) => bytes == 8,
            (Role::Duplicates(_), KeyOrder::Integer) => bytes > 0 && bytes.is_multiple_of(2),
            (_, KeyOrder::Integer) => bytes == 4 || bytes == 8,
            _ => (1..=KEY_LEN_MAX).contains(&bytes),
        }
    }
}

/// The keys that a place is for: from `low` on, below `high`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bounds<'a> {
    pub(super) low: Option<&'a [u8]>,
    pub(super) high: Option<&'a [u8]>,
}

impl Bounds<'_> {
    pub(super) fn admit(self, order: KeyOrder, key: &[u8]) -> bool {
        order == KeyOrder::Unknown
            || self.low.is_none_or(|low| !order.ascends(key, low))
                && self.high.is_none_or(|high| order.ascends(key, high))
    }
}

/// What a page at a place of a tree is found to be.
pub(super) struct Found<'a> {
    /// Its entries, if its bounds make sense and it is of the right kind.
    pub(super) entries: Option<Entries<'a>>,
    /// What is wrong with it.
    pub(super) fault: Option<Fault>,
}

/// Why a page is not taken as it is.
#[derive(Debug)]
pub(super) enum Fault {
    /// What stands in it cannot be.
    Contents(String),
    /// It is sound, but its keys belong elsewhere; or the separators above it are wrong.
    Place(String),
}

impl<'a> Found<'a> {
    fn nothing(fault: String) -> Found<'a> {
        Found {
            entries: None,
            fault: Some(Fault::Contents(fault)),
        }
    }
}

/// Looks at page `pgno` at a level of a tree; the root is level 1.
pub(super) fn examine<'a>(
    bytes: &'a [u8],
    pgno: u64,
    tree: &Tree,
    level: u16,
    bounds: Bounds<'_>,
    tiling: &mut Tiling,
) -> Found<'a> {
    let header = match Header::parse(bytes) {
        Some(header) if header.pgno == pgno => header,
        Some(header) => return Found::nothing(format!("it says it is page {}", header.pgno)),
        None => return Found::nothing("it has no header".to_owned()),
    };
    let is_branch = level < tree.record.depth;
    let wanted = match (is_branch, tree.is_packed()) {
        (true, _) => PageFlags::BRANCH,
        (false, false) => PageFlags::LEAF,
        (false, true) => PageFlags::LEAF | PageFlags::PACKED,
    };
    // The dirty mark may have been left behind by a crash.
    if header.flags & !PageFlags::DIRTY != wanted {
        let flags = header.flags;
        return Found::nothing(format!("flags {flags:#06x} at level {level}"));
    }
    if header.is_packed() && u32::from(header.pad) != tree.record.pad {
        return Found::nothing(format!("items of {} bytes", header.pad));
    }
    let entries = match Entries::parse(bytes, &header) {
        Ok(entries) => entries,
        Err(fault) => return Found::nothing(fault),
    };
    let fault = entries
        .check_nodes(tiling)
        .and_then(|_| keys(&entries, tree, is_branch))
        .map_err(Fault::Contents)
        .and_then(|()| place(&entries, tree, is_branch, bounds).map_err(Fault::Place))
        .err();
    Found {
        entries: Some(entries),
        fault,
    }
}

/// Checks that there are keys, of a kind that the tree has, and that they ascend.
fn keys(entries: &Entries<'_>, tree: &Tree, is_branch: bool) -> Result<(), String> {
    if entries.len() == 0 {
        return Err("it is empty".to_owned());
    }
    let mut previous: Option<&[u8]> = None;
    for (index, item) in entries.iter().enumerate() {
        // The first key of a branch stands for what is below all others.
        if is_branch && index == 0 {
            continue;
        }
        if !is_branch && !tree.admits_key_bytes(item.key.len()) {
            return Err(format!("key {index} has {} bytes", item.key.len()));
        }
        if !is_branch && !tree.admits_flags(item.flags) {
            return Err(format!("node {index} has flags {:#06x}", item.flags));
        }
        if previous.is_some_and(|previous| !tree.order.ascends(previous, item.key)) {
            return Err(format!("key {index} is out of order"));
        }
        previous = Some(item.key);
    }
    Ok(())
}

/// Checks that keys, of which it is known that they ascend, belong in this place.
fn place(
    entries: &Entries<'_>,
    tree: &Tree,
    is_branch: bool,
    bounds: Bounds<'_>,
) -> Result<(), String> {
    let last = entries.len().saturating_sub(1);
    for index in [usize::from(is_branch), last] {
        let outside = |item: &Item<'_>| !bounds.admit(tree.order, item.key);
        if index <= last
            && entries.get(index).is_some_and(|item| outside(&item))
            && (index > 0 || !is_branch)
        {
            return Err(format!("key {index} lies outside its separators"));
        }
    }
    Ok(())
}

/// The nodes of a damaged leaf that can be believed: each ends where the next one in the page begins, and their keys
/// ascend and belong in this place. So a node with a wrong size or place is left out, and so is what it touches.
pub(super) fn believable(
    bytes_in_page: usize,
    entries: &Entries<'_>,
    tree: &Tree,
    bounds: Bounds<'_>,
) -> Vec<usize> {
    if entries.is_packed() {
        return Vec::new();
    }
    let mut starts: Vec<usize> = entries.iter().map(|item| item.at).collect();
    starts.sort_unstable();
    let mut good = Vec::new();
    let mut previous: Option<&[u8]> = None;
    for index in 0..entries.len() {
        let Some(item) = entries.get(index) else {
            continue;
        };
        let next = starts.partition_point(|start| *start <= item.at);
        let end = starts.get(next).copied().unwrap_or(bytes_in_page);
        let alone = next == 0 || starts.get(next.wrapping_sub(2)) != Some(&item.at);
        let ascends = previous.is_none_or(|previous| tree.order.ascends(previous, item.key));
        if item.at + item.node_bytes == end
            && alone
            && ascends
            && tree.admits_key_bytes(item.key.len())
            && tree.admits_flags(item.flags)
            && bounds.admit(tree.order, item.key)
        {
            previous = Some(item.key);
            good.push(index);
        }
    }
    good
}
