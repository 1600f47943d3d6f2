//! Checks whether a page fits a position: a level of a tree and a range of keys.

use std::rc::Rc;

use fulgurite_format::{DatabaseFlags, NodeFlags, PageFlags, TreeRecord};

use crate::maintain::image::layout::{Entries, Header, Item, Tiling};
use crate::maintain::image::order::{KeyBounds, PagePosition, RecordedOrder, key_len_fits};
use crate::maintain::walk::TreeRole;

/// A tree to salvage.
#[derive(Debug, Clone)]
pub(super) struct DamagedTree {
    /// The index of its database in the new environment.
    pub(super) database: usize,
    /// The key whose values the tree holds, if it is a value tree.
    pub(super) key: Option<Rc<[u8]>>,
    pub(super) role: TreeRole,
    pub(super) order: RecordedOrder,
    pub(super) duplicates_order: RecordedOrder,
    /// Flags of the database.
    pub(super) flags: DatabaseFlags,
    pub(super) record: TreeRecord,
}

impl DamagedTree {
    /// Describes a database. Its order is checked unless it is the program's own.
    pub(super) fn database(
        database: usize,
        role: TreeRole,
        record: TreeRecord,
        checks_order: bool,
    ) -> DamagedTree {
        let (order, duplicates_order) = match (role, checks_order) {
            (TreeRole::FreeList, _) => (RecordedOrder::Integer, RecordedOrder::Integer),
            (_, true) => (
                RecordedOrder::of_keys(record.flags),
                RecordedOrder::of_duplicates(record.flags),
            ),
            (_, false) => (RecordedOrder::Unknown, RecordedOrder::Unknown),
        };
        DamagedTree {
            database,
            key: None,
            role,
            order,
            duplicates_order,
            flags: record.flags,
            record,
        }
    }

    /// Describes the value tree of one of its keys.
    pub(super) fn of_values(&self, key: &[u8], record: TreeRecord) -> DamagedTree {
        DamagedTree {
            key: Some(key.into()),
            role: TreeRole::Duplicates,
            order: self.duplicates_order,
            record,
            ..self.clone()
        }
    }

    pub(super) fn has_duplicates(&self) -> bool {
        self.key.is_none()
            && self.role != TreeRole::FreeList
            && self.flags.has(DatabaseFlags::DUP_SORT)
    }

    /// Returns true if its leaves are packed.
    pub(super) fn is_packed(&self) -> bool {
        self.key.is_some() && self.flags.has(DatabaseFlags::DUP_FIXED)
    }

    /// Returns true if its leaves can have these node flags.
    pub(super) fn admits_flags(&self, flags: u16) -> bool {
        match flags {
            0 => true,
            NodeFlags::OVERFLOW => self.key.is_none() && !self.has_duplicates(),
            NodeFlags::SUB_TREE => self.role == TreeRole::Main,
            _ => self.has_duplicates() && flags & !NodeFlags::SUB_TREE == NodeFlags::DUPLICATES,
        }
    }

    fn admits_key_bytes(&self, bytes: usize) -> bool {
        key_len_fits(self.role, self.order, bytes)
    }
}

/// The result of checking a page.
pub(super) struct PageVerdict<'a> {
    /// Its entries, if the page has valid bounds and the right kind.
    pub(super) entries: Option<Entries<'a>>,
    /// The first fault.
    pub(super) fault: Option<PageFault>,
}

/// Why a page does not fit.
#[derive(Debug)]
pub(super) enum PageFault {
    /// Its contents are invalid.
    Contents(String),
    /// It is sound, but its keys belong elsewhere, or the separators above it are wrong.
    Place(String),
}

impl<'a> PageVerdict<'a> {
    fn nothing(fault: String) -> PageVerdict<'a> {
        PageVerdict {
            entries: None,
            fault: Some(PageFault::Contents(fault)),
        }
    }
}

/// Checks a page at a position of a tree.
pub(super) fn check_page<'a>(
    bytes: &'a [u8],
    tree: &DamagedTree,
    position: PagePosition<'_>,
    tiling: &mut Tiling,
) -> PageVerdict<'a> {
    let PagePosition {
        pgno,
        level,
        bounds,
    } = position;
    let header = match Header::parse(bytes) {
        Some(header) if header.pgno == pgno => header,
        Some(header) => return PageVerdict::nothing(format!("it says it is page {}", header.pgno)),
        None => return PageVerdict::nothing("it has no header".to_owned()),
    };
    let is_branch = level < tree.record.depth;
    let wanted = match (is_branch, tree.is_packed()) {
        (true, _) => PageFlags::BRANCH,
        (false, false) => PageFlags::LEAF,
        (false, true) => PageFlags::LEAF | PageFlags::PACKED,
    };
    // A crash may have left the dirty flag behind.
    if header.flags & !PageFlags::DIRTY != wanted {
        let flags = header.flags;
        return PageVerdict::nothing(format!("flags {flags:#06x} at level {level}"));
    }
    if header.is_packed() && u32::from(header.pad) != tree.record.pad {
        return PageVerdict::nothing(format!("items of {} bytes", header.pad));
    }
    let entries = match Entries::parse(bytes, &header) {
        Ok(entries) => entries,
        Err(fault) => return PageVerdict::nothing(fault),
    };
    let fault = entries
        .check_nodes(tiling)
        .and_then(|_| keys(&entries, tree, is_branch))
        .map_err(PageFault::Contents)
        .and_then(|()| place(&entries, tree, is_branch, bounds).map_err(PageFault::Place))
        .err();
    PageVerdict {
        entries: Some(entries),
        fault,
    }
}

/// Checks that there are keys, that the tree can have them, and that they ascend.
fn keys(entries: &Entries<'_>, tree: &DamagedTree, is_branch: bool) -> Result<(), String> {
    if entries.len() == 0 {
        return Err("it is empty".to_owned());
    }
    let mut previous: Option<&[u8]> = None;
    for (index, item) in entries.iter().enumerate() {
        // The first key of a branch is below all others and not stored.
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

/// Checks that ascending keys are within the bounds of this position.
fn place(
    entries: &Entries<'_>,
    tree: &DamagedTree,
    is_branch: bool,
    bounds: KeyBounds<'_>,
) -> Result<(), String> {
    let last = entries.len().saturating_sub(1);
    for index in [usize::from(is_branch), last] {
        let outside = |item: &Item<'_>| !bounds.admit(tree.order, item.key);
        if index <= last
            && entries.get(index).is_some_and(|item| outside(&item))
            && (index > 0 || !is_branch)
        {
            return Err(format!("key {index} is outside its separators"));
        }
    }
    Ok(())
}

/// Returns the nodes of a damaged leaf that are credible.
///
/// A credible node ends where the next one begins, its key ascends, and its key is within the
/// bounds. So a node with a wrong size or offset is dropped, together with the node it overlaps.
pub(super) fn believable(
    bytes_in_page: usize,
    entries: &Entries<'_>,
    tree: &DamagedTree,
    bounds: KeyBounds<'_>,
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
