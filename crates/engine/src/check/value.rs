//! What a leaf node holds beside its key: a value, an overflow run, a sub-page, or the record of another tree.

use std::cmp::Ordering;

use fulgurite_format::{
    DatabaseFlags, KEY_LEN_MAX, NodeFlags, PageFlags, Pgno, TREE_RECORD_LEN, TreeRecord, V09,
    overflow_pages,
};

use super::layout::{HEADER, Header, Item, items, u64_at};
use super::report::Fault;
use super::tree::{self, KeyOrder, Role, Walk};
use super::{Check, free};

const SUB_DATABASE: u16 = NodeFlags::SUB_TREE | NodeFlags::DUPLICATES;

/// The node being looked at.
struct Node<'a> {
    pgno: u64,
    index: usize,
    item: &'a Item<'a>,
}

pub(super) fn check(
    check: &mut Check,
    walk: &mut Walk<'_>,
    pgno: u64,
    index: usize,
    item: &Item<'_>,
) {
    let node = Node { pgno, index, item };
    let duplicates = walk.record.flags.has(DatabaseFlags::DUP_SORT)
        && matches!(walk.role, Role::Main | Role::Named);
    match item.flags {
        0 => {
            if duplicates && item.data.len() > KEY_LEN_MAX {
                let fault = Fault::DuplicateSize {
                    index,
                    bytes: item.data.len(),
                };
                check.reporter.find(walk.name, pgno, fault);
            }
            plain(check, walk, &node)
        }
        NodeFlags::OVERFLOW if !duplicates && !matches!(walk.role, Role::Duplicates(_)) => {
            overflow(check, walk, &node)
        }
        NodeFlags::SUB_TREE if walk.role == Role::Main => named(check, walk, &node),
        NodeFlags::DUPLICATES if duplicates => sub_page(check, walk, &node),
        SUB_DATABASE if duplicates => sub_database(check, walk, &node),
        flags => check
            .reporter
            .find(walk.name, pgno, Fault::NodeFlags { index, flags }),
    }
}

fn plain(check: &mut Check, walk: &mut Walk<'_>, node: &Node<'_>) {
    walk.counts.entries += 1;
    match walk.role {
        Role::Free => {
            let at = node.pgno * check.pages.page_bytes() as u64 + node.item.data_at as u64;
            free::record(
                check,
                node.pgno,
                node.item.key,
                at,
                node.item.data.len() as u64,
            );
        }
        Role::Duplicates(_) if !node.item.data.is_empty() => {
            check.reporter.find(
                walk.name,
                node.pgno,
                Fault::StrayValue { index: node.index },
            );
        }
        _ => {}
    }
}

fn overflow(check: &mut Check, walk: &mut Walk<'_>, node: &Node<'_>) {
    walk.counts.entries += 1;
    let index = node.index;
    let first = u64_at(node.item.data, 0).unwrap_or(Pgno::NONE.0);
    let fail = |check: &mut Check, reason: String| {
        check
            .reporter
            .find(walk.name, node.pgno, Fault::Overflow { index, reason });
    };
    if !check.seen.in_range(first) || !check.pages.holds(first, 1) {
        return fail(check, format!("page {first} is out of range"));
    }
    let start = first * check.pages.page_bytes() as u64;
    let mut bytes = [0; HEADER];
    let Some(header) = check
        .pages
        .read(start, &mut bytes)
        .ok()
        .and_then(|()| Header::parse(&bytes))
    else {
        return fail(check, format!("page {first} cannot be read"));
    };
    if header.pgno != first || header.flags != PageFlags::OVERFLOW {
        return fail(
            check,
            format!(
                "page {first} has number {} and flags {:#06x}",
                header.pgno, header.flags
            ),
        );
    }
    let (run, value) = (
        u64::from(header.run_pages),
        u64::from(node.item.value_bytes),
    );
    let needed = overflow_pages::<V09>(value as usize, check.pages.page_bytes());
    if run < needed || !check.seen.in_range(first + run - 1) || !check.pages.holds(first, run) {
        return fail(
            check,
            format!("{value} bytes in {run} pages from page {first}, {needed} are needed"),
        );
    }
    for pgno in first..first + run {
        check.claim(pgno, walk.name);
    }
    walk.counts.overflow += run;
    if walk.role == Role::Free {
        free::record(
            check,
            node.pgno,
            node.item.key,
            start + HEADER as u64,
            value,
        );
    }
}

fn named(check: &mut Check, walk: &mut Walk<'_>, node: &Node<'_>) {
    walk.counts.entries += 1;
    let name = String::from_utf8_lossy(node.item.key).into_owned();
    let Some(record) = record(check, walk, node) else {
        return;
    };
    if record.flags.0 & !DatabaseFlags::PERSISTENT != 0
        || walk.record.flags.0 & (DatabaseFlags::DUP_SORT | DatabaseFlags::INTEGER_KEY) != 0
    {
        let reason = format!(
            "flags {:#x} in a main database with flags {:#x}",
            record.flags.0, walk.record.flags.0
        );
        return check.reporter.find(
            walk.name,
            node.pgno,
            Fault::Record {
                index: node.index,
                reason,
            },
        );
    }
    check.tree(&record, Role::Named, &name);
}

fn sub_database(check: &mut Check, walk: &mut Walk<'_>, node: &Node<'_>) {
    let Some(record) = record(check, walk, node) else {
        return;
    };
    let fixed = walk.record.flags.0 & DatabaseFlags::DUP_FIXED;
    let integer = if fixed != 0 && walk.record.flags.has(DatabaseFlags::INTEGER_DUP) {
        DatabaseFlags::INTEGER_KEY
    } else {
        0
    };
    if record.flags.0 != fixed | integer
        || record.root.is_none()
        || (record.pad == 0) != (fixed == 0)
    {
        let reason = format!(
            "flags {:#x}, item size {}, root {:#x}",
            record.flags.0, record.pad, record.root.0
        );
        return check.reporter.find(
            walk.name,
            node.pgno,
            Fault::Record {
                index: node.index,
                reason,
            },
        );
    }
    let order = KeyOrder::of_duplicates(walk.record.flags);
    let counts = tree::walk(
        check,
        &record,
        Role::Duplicates(order),
        &format!("{} duplicates", walk.name),
    );
    walk.counts.sub_branch += counts.branch;
    walk.counts.sub_leaf += counts.leaf;
    walk.counts.entries += counts.entries;
}

/// The 48-byte record in a node.
fn record(check: &mut Check, walk: &Walk<'_>, node: &Node<'_>) -> Option<TreeRecord> {
    let record =
        TreeRecord::read(node.item.data).filter(|_| node.item.data.len() == TREE_RECORD_LEN);
    if record.is_none() {
        let reason = format!("it has {} bytes", node.item.data.len());
        check.reporter.find(
            walk.name,
            node.pgno,
            Fault::Record {
                index: node.index,
                reason,
            },
        );
    }
    record
}

fn sub_page(check: &mut Check, walk: &mut Walk<'_>, node: &Node<'_>) {
    match sub_page_items(walk, node) {
        Ok(entries) => walk.counts.entries += entries,
        Err(reason) => {
            check.reporter.find(
                walk.name,
                node.pgno,
                Fault::SubPage {
                    index: node.index,
                    reason,
                },
            );
        }
    }
}

/// How many duplicates a sound sub-page holds.
fn sub_page_items(walk: &Walk<'_>, node: &Node<'_>) -> Result<u64, String> {
    let bytes = node.item.data;
    let header = Header::parse(bytes).ok_or_else(|| format!("it has {} bytes", bytes.len()))?;
    let packed = if walk.record.flags.has(DatabaseFlags::DUP_FIXED) {
        PageFlags::PACKED
    } else {
        0
    };
    if header.flags != PageFlags::LEAF | PageFlags::DIRTY | PageFlags::SUB_PAGE | packed {
        return Err(format!("flags {:#06x}", header.flags));
    }
    let entries = items(bytes, &header)?;
    if entries.is_empty() {
        return Err("it is empty".to_owned());
    }
    if let Some(at) = entries
        .iter()
        .position(|e| e.flags != 0 || !e.data.is_empty())
    {
        return Err(format!("item {at} is no bare key"));
    }
    if let Some(bytes) = entries
        .iter()
        .map(|e| e.key.len())
        .find(|bytes| !(1..=KEY_LEN_MAX).contains(bytes))
    {
        return Err(format!("it has an item of {bytes} bytes"));
    }
    let order = KeyOrder::of_duplicates(walk.record.flags);
    let ascending = |pair: &[Item<'_>]| order.compare(pair[0].key, pair[1].key) == Ordering::Less;
    if let Some(at) = entries.windows(2).position(|pair| !ascending(pair)) {
        return Err(format!("item {} is out of order", at + 1));
    }
    Ok(entries.len() as u64)
}
