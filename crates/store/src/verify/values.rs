//! Rows of overflow values against the records.

use std::collections::BTreeSet;

use super::report::Report;
use crate::bytes::u32_at;
use crate::error::StoreError;
use crate::overflow_values;
use crate::view::View;
use fulgurite::Snapshot;

/// Checks that blocks and hashes of overflow values belong to attributes that announce them, and to
/// each other. The walk has seen already that no value is missing.
pub(super) fn check_values(view: &View<'_>, report: &mut Report) -> Result<(), StoreError> {
    let (mut blocks, mut hashes) = (BTreeSet::new(), BTreeSet::new());
    let mut cursor = view.txn.cursor(view.store.dbs.values)?;
    let mut row = cursor.first()?;
    while let Some((key, value)) = row {
        row = cursor.next()?;
        let Some((id, number, part)) = overflow_values::parse_key(key) else {
            report.problem(|| "a row of values has no sound key".to_owned());
            continue;
        };
        let held = match view.record(id) {
            Ok(Some(record)) => record.values(number),
            _ => None,
        };
        if !held.is_some_and(|values| values.are_overflow()) {
            report.problem(|| format!("entry {id}: has values apart that are not its own"));
        }
        match part {
            overflow_values::RowKind::Block(block) => {
                let info = view.attributes.get(number);
                let values = overflow_values::Block::parse(value).zip(info);
                for (half, value) in values.iter().flat_map(|(block, _)| block.iter()) {
                    let Some((_, info)) = &values else { break };
                    let hash =
                        overflow_values::hash(view.schema(), info.description.attribute, value);
                    if !hash.to_le_bytes().starts_with(&half.to_le_bytes()) {
                        report.problem(|| format!("entry {id}: a value has a wrong hash"));
                    }
                    blocks.insert((id, number, hash, block));
                }
            }
            overflow_values::RowKind::Hash(hash) => {
                let holders = value.chunks_exact(4).filter_map(|n| u32_at(n, 0));
                hashes.extend(holders.map(|block| (id, number, hash, block)));
            }
        }
    }
    for (id, ..) in blocks.symmetric_difference(&hashes) {
        report.problem(|| format!("entry {id}: a value is not found by its hash"));
    }
    Ok(())
}
