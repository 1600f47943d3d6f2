//! The facts as text for people.

use std::io::Write;

use super::facts::{AgeGroup, EnvironmentFacts};
use crate::ToolError;
use crate::readers::{short_bytes, table};

/// Writes the facts, section by section.
pub(super) fn write(facts: &EnvironmentFacts, output: &mut dyn Write) -> Result<(), ToolError> {
    let info = &facts.info;
    let used = info.last_page + 1;
    let map_pages = info.map_size / info.page_size as u64;
    writeln!(output, "Environment {}", facts.path.display())?;
    let lines = [
        ("last transaction", info.last_txnid.to_string()),
        ("page size", format!("{} bytes", info.page_size)),
        (
            "pages used so far",
            format!("{used} ({})", size(info.page_size, used)),
        ),
        (
            "file",
            format!(
                "{} bytes, {} on disk",
                facts.file_bytes,
                short_bytes(facts.disk_bytes)
            ),
        ),
        (
            "map size",
            format!(
                "{} bytes, room for {} more pages",
                info.map_size,
                map_pages.saturating_sub(used)
            ),
        ),
        (
            "reader slots",
            format!("{} of {} ever used", info.readers_used, info.readers_max),
        ),
    ];
    for (name, value) in lines {
        writeln!(output, "  {name:<18} {value}")?;
    }
    free_pages(facts, output)?;
    databases(facts, output)?;
    if facts.readers.is_empty() {
        writeln!(output, "\nNo readers")?;
    } else {
        write!(output, "\nReaders\n{}", table(&facts.readers))?;
    }
    Ok(())
}

fn size(page_size: usize, pages: u64) -> String {
    short_bytes(pages.saturating_mul(page_size as u64))
}

fn free_pages(facts: &EnvironmentFacts, output: &mut dyn Write) -> Result<(), ToolError> {
    let (free, page_size) = (&facts.free, facts.info.page_size);
    writeln!(output, "\nFree pages, as of transaction {}", facts.snapshot)?;
    for (name, pages) in [
        ("all", free.pages),
        ("usable now", free.reusable),
        ("held by readers", free.held_by_readers),
        ("rest for a commit", free.resting),
    ] {
        writeln!(output, "  {name:<18} {pages} ({})", size(page_size, pages))?;
    }
    for group in &free.by_age {
        let (name, pages, records) = (age(group), group.pages, group.records);
        writeln!(output, "  {name:<18} {pages} in {records} records")?;
    }
    Ok(())
}

fn age(group: &AgeGroup) -> String {
    match (group.from, group.to) {
        (0, _) => "freed by the last".to_owned(),
        (from, Some(to)) => format!("freed {from}-{to} ago"),
        (from, None) => format!("freed >= {from} ago"),
    }
}

fn databases(facts: &EnvironmentFacts, output: &mut dyn Write) -> Result<(), ToolError> {
    writeln!(
        output,
        "\nDatabases\n  {:>12} {:>10} {:>10} {:>10} {:>5}  NAME",
        "RECORDS", "LEAVES", "BRANCHES", "OVERFLOW", "DEPTH"
    )?;
    for database in &facts.databases {
        let stat = &database.stat;
        let name = if database.kind == "named" {
            database.name.escape_ascii().to_string()
        } else {
            format!("({})", database.kind)
        };
        let flags = if database.flags.is_empty() {
            String::new()
        } else {
            format!("  [{}]", database.flags.join(", "))
        };
        writeln!(
            output,
            "  {:>12} {:>10} {:>10} {:>10} {:>5}  {name}{flags}",
            stat.entries, stat.leaf_pages, stat.branch_pages, stat.overflow_pages, stat.depth
        )?;
    }
    Ok(())
}
