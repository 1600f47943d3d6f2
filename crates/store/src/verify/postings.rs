//! Postings against the index keys of the entries.

use std::collections::{BTreeMap, BTreeSet};

use super::report::Report;
use crate::error::{Damage, StoreError};
use crate::ids::EntryId;
use crate::idset::{Bitmap, Chunk, join};
use crate::index::{IndexStage, IndexState, KeyRange, chunk_key, definition_of};
use crate::view::View;
use fulgurite::Snapshot;
use fulgurite_schema::AttributeDescription;

/// Returns the key ranges of unfinished postings: those being filled, and those being removed.
fn unfinished(view: &View<'_>) -> Result<(Vec<KeyRange>, Vec<KeyRange>), StoreError> {
    let state = IndexState::read(&view.txn, view.store.dbs.meta)?;
    let (mut filling, mut vanishing) = (Vec::new(), Vec::new());
    for work in state.work {
        let attribute = view.schema().attribute(&work.attribute);
        let plain = attribute.map(|attribute| AttributeDescription::plain(attribute.index));
        let Some(id) = plain.and_then(|plain| view.attributes().find(&plain)) else {
            continue;
        };
        let range = KeyRange::prefix(id, definition_of(work.kind).code, &[]);
        match work.stage {
            IndexStage::Fill => filling.push(range),
            IndexStage::Clear | IndexStage::Drop => vanishing.push(range),
        }
    }
    Ok((filling, vanishing))
}

fn is_in(ranges: &[KeyRange], key: &[u8]) -> bool {
    ranges
        .iter()
        .any(|range| range.start.as_slice() <= key && key < range.end.as_slice())
}

pub(super) fn check_index(
    view: &View<'_>,
    mut expected: BTreeMap<Vec<u8>, BTreeSet<EntryId>>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let (filling, vanishing) = unfinished(view)?;
    let mut cursor = view.txn.cursor(view.store.dbs.index)?;
    let mut row = cursor.first()?;
    while let Some((key, value)) = row {
        row = cursor.next()?;
        if is_in(&vanishing, key) {
            continue;
        }
        let chunk = decode_chunk(key, value);
        let Ok((posting, ids, counted)) = chunk else {
            report.problem(|| format!("the posting at {} is malformed", key.escape_ascii()));
            continue;
        };
        if counted != ids.len() {
            report.problem(|| format!("the posting at {} counts itself wrong", key.escape_ascii()));
        }
        let wanted = expected.entry(posting.to_vec()).or_default();
        for id in ids {
            if !wanted.remove(&id) {
                report.problem(|| {
                    format!(
                        "{} lists entry {id}, which is not of it",
                        posting.escape_ascii()
                    )
                });
            }
        }
    }
    for (posting, ids) in expected {
        if is_in(&filling, &posting) {
            continue;
        }
        for id in ids {
            report.problem(|| format!("{} does not list entry {id}", posting.escape_ascii()));
        }
    }
    Ok(())
}

fn decode_chunk<'k>(
    key: &'k [u8],
    value: &[u8],
) -> Result<(&'k [u8], Vec<EntryId>, usize), Damage> {
    let (posting, number) = chunk_key::split_chunk(key).ok_or(Damage::Posting)?;
    let chunk = Chunk::parse(value)?;
    let mut bits = Bitmap::new();
    chunk.or_into(&mut bits)?;
    Ok((
        posting,
        bits.iter().map(|low| join(number, low)).collect(),
        chunk.len(),
    ))
}
