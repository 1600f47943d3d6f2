//! A store as LDIF: every entry with all its attributes, parents before children.

use std::io::{self, Write};

use fulgurite_ldif::Writer;
use fulgurite_store::{AttributeView, DnCache, EntryView, Export, Store, StoreError};
use thiserror::Error;

/// Why an export failed.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The output cannot be written.
    #[error("cannot write the export: {0}")]
    Output(#[from] io::Error),
}

/// Writes one state of the store, whatever is written to it meanwhile. Gives the number of entries.
///
/// The output should be buffered; it is flushed at the end.
///
/// # Errors
/// [`ExportError`].
pub fn export(store: &Store, output: impl Write) -> Result<u64, ExportError> {
    let view = store.snapshot()?;
    let mut writer = Writer::new(output);
    let mut entries = Export::new();
    let (mut names, mut name) = (DnCache::new(), String::new());
    let mut count = 0;
    while let Some(entry) = entries.next(&view)? {
        // The place of an entry that has not come.
        if entry.is_placeholder() {
            continue;
        }
        name.clear();
        entry.write_dn(&mut names, &mut name)?;
        write_entry(&mut writer, &name, &entry)?;
        count += 1;
    }
    writer.into_inner()?.flush()?;
    Ok(count)
}

/// Object classes first, then what users wrote, then what the server keeps; by name, so that exports can be compared.
fn write_entry(
    writer: &mut Writer<impl Write>,
    name: &str,
    entry: &EntryView<'_>,
) -> io::Result<()> {
    let mut attributes: Vec<AttributeView<'_>> = entry.attributes().collect();
    attributes.sort_by_key(|attribute| {
        let first = attribute.info.text.eq_ignore_ascii_case("objectClass");
        (
            attribute.info.operational,
            !first,
            attribute.info.text.as_ref(),
        )
    });
    writer.name(name)?;
    for attribute in attributes {
        for value in attribute.values {
            writer.value(&attribute.info.text, value)?;
        }
    }
    writer.end()
}
