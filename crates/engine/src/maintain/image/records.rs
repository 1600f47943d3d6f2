//! Rules for what leaf nodes hold besides plain values: tree records and sub-pages.

use fulgurite_format::{DatabaseFlags, PageFlags, TreeRecord};

use super::layout::{Entries, Header};

/// Checks that a record can be that of a named database in this main one.
pub(crate) fn check_named_record(record: &TreeRecord, main: &TreeRecord) -> Result<(), String> {
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

/// Checks that a record can be that of a value tree of this database.
pub(crate) fn check_value_tree_record(
    record: &TreeRecord,
    database: &TreeRecord,
) -> Result<(), String> {
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

/// Returns the items of a sub-page, of the kind that a database with these flags has.
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
