//! The facts as one JSON object.

use std::io::Write;

use serde_json::{Value, json};

use super::facts::{DatabaseFacts, EnvironmentFacts};
use crate::ToolError;
use crate::readers::{ReaderFacts, state};

/// Writes the facts as one object and a line end.
pub(super) fn write(facts: &EnvironmentFacts, output: &mut dyn Write) -> Result<(), ToolError> {
    let (info, free) = (&facts.info, &facts.free);
    let by_age: Vec<Value> = free
        .by_age
        .iter()
        .map(|group| {
            json!({ "from": group.from, "to": group.to, "records": group.records, "pages": group.pages })
        })
        .collect();
    let object = json!({
        "path": facts.path.to_string_lossy(),
        "page_size": info.page_size,
        "pages": info.last_page + 1,
        "file_bytes": facts.file_bytes,
        "disk_bytes": facts.disk_bytes,
        "map_size": info.map_size,
        "last_transaction": info.last_txnid,
        "reader_slots": { "max": info.readers_max, "used": info.readers_used },
        "free_pages": {
            "transaction": facts.snapshot,
            "all": free.pages,
            "usable": free.reusable,
            "held_by_readers": free.held_by_readers,
            "resting": free.resting,
            "by_age": by_age,
        },
        "databases": facts.databases.iter().map(database).collect::<Vec<_>>(),
        "readers": facts.readers.iter().map(reader).collect::<Vec<_>>(),
    });
    writeln!(output, "{object}")?;
    Ok(())
}

/// Describes a database. A name that is no text is added in hexadecimal.
fn database(facts: &DatabaseFacts) -> Value {
    let stat = &facts.stat;
    let mut object = json!({
        "kind": facts.kind,
        "flags": facts.flags,
        "records": stat.entries,
        "depth": stat.depth,
        "branch_pages": stat.branch_pages,
        "leaf_pages": stat.leaf_pages,
        "overflow_pages": stat.overflow_pages,
    });
    if facts.kind == "named" {
        object["name"] = String::from_utf8_lossy(&facts.name).into();
        if std::str::from_utf8(&facts.name).is_err() {
            object["name_octets"] = hex::encode(&facts.name).into();
        }
    }
    object
}

/// Describes a reader, in the words of the text.
pub(crate) fn reader(facts: &ReaderFacts) -> Value {
    let reader = &facts.reader;
    json!({
        "pid": reader.pid,
        "process": facts.process,
        "thread": format!("{:x}", reader.thread),
        "snapshot": reader.snapshot.map(|id| id.0),
        "age_seconds": reader.age.map(|age| age.as_secs_f64()),
        "lag": reader.snapshot.map(|_| reader.lag),
        "held_pages": facts.pages.map(|pages| pages.held),
        "held_alone_pages": facts.pages.map(|pages| pages.freed_by_its_end),
        "state": state(facts),
    })
}
