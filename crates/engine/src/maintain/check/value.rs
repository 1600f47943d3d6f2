//! The contents of a leaf node besides its key: a value, an overflow run, a sub-page, or a tree
//! record.

use fulgurite_format::{
    DatabaseFlags, KEY_LEN_MAX, NodeFlags, PageFlags, Pgno, TREE_RECORD_LEN, TreeRecord,
    overflow_pages,
};

use super::free_list::{self, ListValue};
use super::report::Fault;
use super::state::{CheckState, TreeCheck};
use crate::maintain::image::layout::{Entries, HEADER, Header, Item, u64_at};
use crate::maintain::image::order::RecordedOrder;
use crate::maintain::image::records::{
    check_named_record, check_value_tree_record, sub_page_entries,
};
use crate::maintain::walk::{TreeRole, VALUE_TREE};

/// The node being looked at.
pub(super) struct Node<'a> {
    pub(super) pgno: u64,
    pub(super) index: usize,
    pub(super) item: &'a Item<'a>,
}

/// Checks a node, and returns the record and role of the tree it refers to.
pub(super) fn check_node(
    check: &mut CheckState<'_>,
    walk: &mut TreeCheck<'_>,
    node: &Node<'_>,
) -> Option<(TreeRecord, TreeRole)> {
    let (pgno, index, item) = (node.pgno, node.index, node.item);
    let has_duplicates = walk.record.flags.has(DatabaseFlags::DUP_SORT)
        && matches!(walk.role, TreeRole::Main | TreeRole::Named);
    match item.flags {
        0 => {
            let bytes = item.data.len();
            if has_duplicates && bytes > KEY_LEN_MAX {
                let fault = Fault::DuplicateSize { index, bytes };
                check.reporter.find(walk.label, pgno, fault);
            }
            plain(check, walk, node);
        }
        NodeFlags::OVERFLOW if !has_duplicates && walk.role != TreeRole::Duplicates => {
            overflow(check, walk, node);
        }
        NodeFlags::SUB_TREE if walk.role == TreeRole::Main => return named_tree(check, walk, node),
        NodeFlags::DUPLICATES if has_duplicates => sub_page(check, walk, node),
        VALUE_TREE if has_duplicates => return value_tree(check, walk, node),
        flags => check
            .reporter
            .find(walk.label, pgno, Fault::NodeFlags { index, flags }),
    }
    None
}

fn plain(check: &mut CheckState<'_>, walk: &mut TreeCheck<'_>, node: &Node<'_>) {
    walk.counts.entries += 1;
    match walk.role {
        TreeRole::FreeList if !check.in_previous => {
            let value = ListValue::Inline(node.item.data);
            free_list::record(check, node.pgno, node.item.key, value);
        }
        TreeRole::Duplicates if !node.item.data.is_empty() => {
            let fault = Fault::StrayValue { index: node.index };
            check.reporter.find(walk.label, node.pgno, fault);
        }
        _ => {}
    }
}

fn overflow(check: &mut CheckState<'_>, walk: &mut TreeCheck<'_>, node: &Node<'_>) {
    walk.counts.entries += 1;
    let first = u64_at(node.item.data, 0).unwrap_or(Pgno::NONE.0);
    let value = u64::from(node.item.value_bytes);
    let run = match run_pages(check, first, value) {
        Ok(run) => run,
        Err(reason) => {
            let index = node.index;
            let fault = Fault::Overflow { index, reason };
            return check.reporter.find(walk.label, node.pgno, fault);
        }
    };
    for pgno in first..first + run {
        check.claim(pgno, walk.label);
    }
    walk.counts.overflow += run;
    if walk.role == TreeRole::FreeList && !check.in_previous {
        let at = first * check.pages.page_bytes() as u64 + HEADER as u64;
        let value = ListValue::Run { at, bytes: value };
        free_list::record(check, node.pgno, node.item.key, value);
    }
}

/// Returns the pages of the run at `first`, if it can hold a value of this length.
fn run_pages(check: &CheckState<'_>, first: u64, value: u64) -> Result<u64, String> {
    if !check.buffers.claims.in_range(first) || !check.pages.holds(first, 1) {
        return Err(format!("page {first} is out of range"));
    }
    let mut bytes = [0; HEADER];
    let Some(header) = check
        .pages
        .read(first * check.pages.page_bytes() as u64, &mut bytes)
        .ok()
        .and_then(Header::parse)
    else {
        return Err(format!("page {first} cannot be read"));
    };
    if header.pgno != first || header.flags != PageFlags::OVERFLOW {
        return Err(format!(
            "page {first} has number {} and flags {:#06x}",
            header.pgno, header.flags
        ));
    }
    let run = u64::from(header.run_pages);
    let needed = overflow_pages(value as usize, check.pages.page_bytes());
    if run < needed
        || !check.buffers.claims.in_range(first + run - 1)
        || !check.pages.holds(first, run)
    {
        return Err(format!(
            "{value} bytes in {run} pages from page {first}, {needed} are needed"
        ));
    }
    Ok(run)
}

fn named_tree(
    check: &mut CheckState<'_>,
    walk: &mut TreeCheck<'_>,
    node: &Node<'_>,
) -> Option<(TreeRecord, TreeRole)> {
    walk.counts.entries += 1;
    let record = record(check, walk, node)?;
    if let Err(reason) = check_named_record(&record, walk.record) {
        unsound_record(check, walk, node, reason);
        return None;
    }
    Some((record, TreeRole::Named))
}

fn value_tree(
    check: &mut CheckState<'_>,
    walk: &TreeCheck<'_>,
    node: &Node<'_>,
) -> Option<(TreeRecord, TreeRole)> {
    let record = record(check, walk, node)?;
    if let Err(reason) = check_value_tree_record(&record, walk.record) {
        unsound_record(check, walk, node, reason);
        return None;
    }
    Some((record, TreeRole::Duplicates))
}

fn unsound_record(
    check: &mut CheckState<'_>,
    walk: &TreeCheck<'_>,
    node: &Node<'_>,
    reason: String,
) {
    let index = node.index;
    let fault = Fault::Record { index, reason };
    check.reporter.find(walk.label, node.pgno, fault);
}

/// The 48-byte record in a node.
fn record(check: &mut CheckState<'_>, walk: &TreeCheck<'_>, node: &Node<'_>) -> Option<TreeRecord> {
    let bytes = node.item.data.len();
    let record = TreeRecord::read(node.item.data).filter(|_| bytes == TREE_RECORD_LEN);
    if record.is_none() {
        unsound_record(check, walk, node, format!("it has {bytes} bytes"));
    }
    record
}

fn sub_page(check: &mut CheckState<'_>, walk: &mut TreeCheck<'_>, node: &Node<'_>) {
    let (bytes, index) = (node.item.data, node.index);
    let entries = match sub_page_entries(bytes, walk.record.flags).and_then(|entries| {
        entries.check_nodes(&mut check.buffers.tiling)?;
        bare_keys(&entries)?;
        Ok(entries)
    }) {
        Ok(entries) => entries,
        Err(reason) => {
            let fault = Fault::SubPage { index, reason };
            return check.reporter.find(walk.label, node.pgno, fault);
        }
    };
    walk.counts.entries += entries.len() as u64;
    if let Some(item) = unordered(&entries, walk.duplicates_order) {
        let fault = Fault::DuplicateOrder { index, item };
        check.reporter.find(walk.label, node.pgno, fault);
    }
}

fn bare_keys(entries: &Entries<'_>) -> Result<(), String> {
    for (at, item) in entries.iter().enumerate() {
        if item.flags != 0 || !item.data.is_empty() {
            return Err(format!("item {at} is no bare key"));
        }
        let bytes = item.key.len();
        if !(1..=KEY_LEN_MAX).contains(&bytes) {
            return Err(format!("it has an item of {bytes} bytes"));
        }
    }
    Ok(())
}

fn unordered(entries: &Entries<'_>, order: RecordedOrder) -> Option<usize> {
    let mut previous: Option<&[u8]> = None;
    entries.iter().position(|item| {
        let ascends = previous.is_none_or(|previous| order.ascends(previous, item.key));
        previous = Some(item.key);
        !ascends
    })
}
