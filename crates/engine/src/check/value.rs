//! What a leaf node holds beside its key: a value, an overflow run, a sub-page, or the record of another tree.

use fulgurite_format::{
    DatabaseFlags, KEY_LEN_MAX, NodeFlags, PageFlags, Pgno, TREE_RECORD_LEN, TreeRecord,
    overflow_pages,
};

use super::layout::{Entries, HEADER, Header, Item, u64_at};
use super::report::{Fault, Name};
use super::tree::{self, KeyOrder, Role, Walk};
use super::{Check, free};

pub(crate) const SUB_DATABASE: u16 = NodeFlags::SUB_TREE | NodeFlags::DUPLICATES;

/// The node being looked at.
struct Node<'a> {
    pgno: u64,
    index: usize,
    item: &'a Item<'a>,
}

pub(super) fn check(
    check: &mut Check<'_>,
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
            let bytes = item.data.len();
            if duplicates && bytes > KEY_LEN_MAX {
                let fault = Fault::DuplicateSize { index, bytes };
                check.reporter.find(walk.name, pgno, fault);
            }
            plain(check, walk, &node);
        }
        NodeFlags::OVERFLOW if !duplicates && !matches!(walk.role, Role::Duplicates(_)) => {
            overflow(check, walk, &node);
        }
        NodeFlags::SUB_TREE if walk.role == Role::Main => named(check, walk, &node),
        NodeFlags::DUPLICATES if duplicates => sub_page(check, walk, &node),
        SUB_DATABASE if duplicates => sub_database(check, walk, &node),
        flags => check
            .reporter
            .find(walk.name, pgno, Fault::NodeFlags { index, flags }),
    }
}

fn plain(check: &mut Check<'_>, walk: &mut Walk<'_>, node: &Node<'_>) {
    walk.counts.entries += 1;
    match walk.role {
        Role::Free if !check.in_previous => {
            let value = free::Value::Inline(node.item.data);
            free::record(check, node.pgno, node.item.key, value);
        }
        Role::Duplicates(_) if !node.item.data.is_empty() => {
            let fault = Fault::StrayValue { index: node.index };
            check.reporter.find(walk.name, node.pgno, fault);
        }
        _ => {}
    }
}

fn overflow(check: &mut Check<'_>, walk: &mut Walk<'_>, node: &Node<'_>) {
    walk.counts.entries += 1;
    let first = u64_at(node.item.data, 0).unwrap_or(Pgno::NONE.0);
    let value = u64::from(node.item.value_bytes);
    let run = match run_pages(check, first, value) {
        Ok(run) => run,
        Err(reason) => {
            let index = node.index;
            let fault = Fault::Overflow { index, reason };
            return check.reporter.find(walk.name, node.pgno, fault);
        }
    };
    for pgno in first..first + run {
        check.claim(pgno, walk.name);
    }
    walk.counts.overflow += run;
    if walk.role == Role::Free && !check.in_previous {
        let at = first * check.pages.page_bytes() as u64 + HEADER as u64;
        let value = free::Value::Run { at, bytes: value };
        free::record(check, node.pgno, node.item.key, value);
    }
}

/// How many pages the run at `first` has, if it can hold a value of so many bytes.
fn run_pages(check: &Check<'_>, first: u64, value: u64) -> Result<u64, String> {
    if !check.space.seen.in_range(first) || !check.pages.holds(first, 1) {
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
    if run < needed || !check.space.seen.in_range(first + run - 1) || !check.pages.holds(first, run)
    {
        return Err(format!(
            "{value} bytes in {run} pages from page {first}, {needed} are needed"
        ));
    }
    Ok(run)
}

fn named(check: &mut Check<'_>, walk: &mut Walk<'_>, node: &Node<'_>) {
    walk.counts.entries += 1;
    let Some(record) = record(check, walk, node) else {
        return;
    };
    if let Err(reason) = named_record(&record, walk.record) {
        return unsound_record(check, walk, node, reason);
    }
    check.tree(&record, Role::Named, Name::Named(node.item.key));
}

/// Whether a record can be that of a named database in this main one.
pub(crate) fn named_record(record: &TreeRecord, main: &TreeRecord) -> Result<(), String> {
    if record.flags.0 & !DatabaseFlags::PERSISTENT != 0
        || main.flags.0 & (DatabaseFlags::DUP_SORT | DatabaseFlags::INTEGER_KEY) != 0
    {
        return Err(format!(
            "flags {:#x} in a main database with flags {:#x}",
            record.flags.0, main.flags.0
        ));
    }
    Ok(())
}

fn sub_database(check: &mut Check<'_>, walk: &mut Walk<'_>, node: &Node<'_>) {
    let Some(record) = record(check, walk, node) else {
        return;
    };
    if let Err(reason) = sub_record(&record, walk.record) {
        return unsound_record(check, walk, node, reason);
    }
    let name = match walk.name {
        Name::Named(name) => Name::Duplicates(Some(name)),
        _ => Name::Duplicates(None),
    };
    let role = Role::Duplicates(walk.duplicates_order);
    let counts = tree::walk(check, &record, role, name);
    walk.counts.sub_branch += counts.branch;
    walk.counts.sub_leaf += counts.leaf;
    walk.counts.entries += counts.entries;
}

/// Whether a record can be that of the duplicates of a key of this database.
pub(crate) fn sub_record(record: &TreeRecord, database: &TreeRecord) -> Result<(), String> {
    let fixed = database.flags.0 & DatabaseFlags::DUP_FIXED;
    let integer = match fixed != 0 && database.flags.has(DatabaseFlags::INTEGER_DUP) {
        true => DatabaseFlags::INTEGER_KEY,
        false => 0,
    };
    if record.flags.0 != fixed | integer
        || record.root.is_none()
        || (record.pad == 0) != (fixed == 0)
    {
        return Err(format!(
            "flags {:#x}, item size {}, root {:#x}",
            record.flags.0, record.pad, record.root.0
        ));
    }
    Ok(())
}

fn unsound_record(check: &mut Check<'_>, walk: &Walk<'_>, node: &Node<'_>, reason: String) {
    let index = node.index;
    let fault = Fault::Record { index, reason };
    check.reporter.find(walk.name, node.pgno, fault);
}

/// The 48-byte record in a node.
fn record(check: &mut Check<'_>, walk: &Walk<'_>, node: &Node<'_>) -> Option<TreeRecord> {
    let bytes = node.item.data.len();
    let record = TreeRecord::read(node.item.data).filter(|_| bytes == TREE_RECORD_LEN);
    if record.is_none() {
        unsound_record(check, walk, node, format!("it has {bytes} bytes"));
    }
    record
}

fn sub_page(check: &mut Check<'_>, walk: &mut Walk<'_>, node: &Node<'_>) {
    let (bytes, index) = (node.item.data, node.index);
    let entries = match sub_page_entries(bytes, walk.record.flags).and_then(|entries| {
        entries.check_nodes(&mut check.space.tiling)?;
        bare_keys(&entries)?;
        Ok(entries)
    }) {
        Ok(entries) => entries,
        Err(reason) => {
            let fault = Fault::SubPage { index, reason };
            return check.reporter.find(walk.name, node.pgno, fault);
        }
    };
    walk.counts.entries += entries.len() as u64;
    if let Some(item) = unordered(&entries, walk.duplicates_order) {
        let fault = Fault::DuplicateOrder { index, item };
        check.reporter.find(walk.name, node.pgno, fault);
    }
}

/// The items of a sub-page, of the kind that a database with these flags has.
pub(crate) fn sub_page_entries(bytes: &[u8], flags: DatabaseFlags) -> Result<Entries<'_>, String> {
    let header = Header::parse(bytes).ok_or_else(|| format!("it has {} bytes", bytes.len()))?;
    let packed = match flags.has(DatabaseFlags::DUP_FIXED) {
        true => PageFlags::PACKED,
        false => 0,
    };
    if header.flags != PageFlags::LEAF | PageFlags::DIRTY | PageFlags::SUB_PAGE | packed {
        return Err(format!("flags {:#06x}", header.flags));
    }
    let entries = Entries::parse(bytes, &header)?;
    match entries.len() {
        0 => Err("it is empty".to_owned()),
        _ => Ok(entries),
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

fn unordered(entries: &Entries<'_>, order: KeyOrder) -> Option<usize> {
    let mut previous: Option<&[u8]> = None;
    entries.iter().position(|item| {
        let ascends = previous.is_none_or(|previous| order.ascends(previous, item.key));
        previous = Some(item.key);
        !ascends
    })
}
