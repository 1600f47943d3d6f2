//! A store as LDIF: every entry with all its attributes, parents before children.

use std::io::{self, Write};

use fulgurite_ldif::Writer;
use fulgurite_store::{
    AttributeId, AttributeInfo, AttributeTable, AttributeView, DnCache, Export, Store, StoreError,
};
use thiserror::Error;

use crate::context::{CONTEXT_CSN, Context};

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
    let context = Context::of(&view)?;
    let mut entries = Export::new(&view);
    let (mut names, mut name) = (DnCache::new(), String::new());
    let mut order = Order::of(view.attributes());
    let mut attributes: Vec<AttributeView<'_>> = Vec::new();
    let mut count = 0;
    while let Some(entry) = entries.next()? {
        // A placeholder of an entry that has not come.
        if entry.is_placeholder() {
            continue;
        }
        name.clear();
        entry.write_dn(&mut names, &mut name)?;
        attributes.clear();
        attributes.extend(entry.attributes());
        let context = context.values(&entry);
        write_entry(&mut writer, &name, (&attributes, context), &mut order)?;
        count += 1;
    }
    writer.into_inner()?.flush()?;
    Ok(count)
}

/// The order of attributes: object classes first, then user attributes, then operational ones. Each
/// group is sorted by name, so that exports can be compared.
struct Order {
    /// By number of the attribute.
    ranks: Vec<usize>,
    /// The attributes of the entry before, as it had them, and the positions from which they came
    /// out. Most entries have those of their neighbour, and need no sorting.
    last: Vec<AttributeId>,
    positions: Vec<usize>,
}

impl Order {
    fn of(table: &AttributeTable) -> Order {
        let mut sorted: Vec<&AttributeInfo> = table.iter().collect();
        sorted.sort_by_key(|info| {
            let first = info.text.eq_ignore_ascii_case("objectClass");
            (info.operational, !first, info.text.as_ref())
        });
        let mut ranks = vec![0; sorted.len() + 1];
        for (rank, info) in sorted.into_iter().enumerate() {
            if let Some(position) = ranks.get_mut(usize::from(info.id.0)) {
                *position = rank;
            }
        }
        Order {
            ranks,
            last: Vec::new(),
            positions: Vec::new(),
        }
    }

    /// Returns the positions of an entry's attributes in the order in which they are written.
    fn positions(&mut self, attributes: &[AttributeView<'_>]) -> &[usize] {
        let ids = || attributes.iter().map(|attribute| attribute.info.id);
        if !ids().eq(self.last.iter().copied()) {
            self.last.clear();
            self.last.extend(ids());
            self.positions.clear();
            self.positions.extend(0..attributes.len());
            let (last, ranks) = (&self.last, &self.ranks);
            let rank = |position: &usize| {
                let id = last.get(*position)?;
                ranks.get(usize::from(id.0))
            };
            self.positions.sort_by_key(rank);
        }
        &self.positions
    }
}

fn write_entry(
    writer: &mut Writer<impl Write>,
    name: &str,
    (attributes, context): (&[AttributeView<'_>], &[String]),
    order: &mut Order,
) -> io::Result<()> {
    writer.name(name)?;
    for position in order.positions(attributes) {
        let Some(attribute) = attributes.get(*position) else {
            continue;
        };
        for value in attribute.values {
            writer.value(&attribute.info.text, value)?;
        }
    }
    for value in context {
        writer.value(CONTEXT_CSN, value.as_bytes())?;
    }
    writer.end()
}
