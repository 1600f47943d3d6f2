//! Postings against the index keys of the entries.

use std::collections::{BTreeMap, BTreeSet};

use super::report::Report;
use crate::error::{Damage, StoreError};
use crate::ids::{AttributeId, EntryId};
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
            report.problem(|| format!("{} is malformed", posting_name(view, key)));
            continue;
        };
        if counted != ids.len() {
            report.problem(|| format!("{} counts itself wrong", posting_name(view, key)));
        }
        let wanted = expected.entry(posting.to_vec()).or_default();
        for id in ids {
            if !wanted.remove(&id) {
                report.problem(|| {
                    let name = posting_name(view, posting);
                    format!("{name} lists entry {id}, which is not of it")
                });
            }
        }
    }
    for (posting, ids) in expected {
        if is_in(&filling, &posting) {
            continue;
        }
        for id in ids {
            report.problem(|| {
                let name = posting_name(view, &posting);
                format!("{name} does not list entry {id}")
            });
        }
    }
    Ok(())
}

/// Returns the words for a posting: its attribute, then the rest of its key.
fn posting_name(view: &View<'_>, key: &[u8]) -> String {
    let (number, rest) = key.split_at_checked(2).unwrap_or((key, &[]));
    let id = AttributeId::from_key(number);
    let rest = rest.escape_ascii();
    match id.map(|id| (id, view.attributes().get(id))) {
        Some((AttributeId::ENTRIES, _)) => format!("the list of all entries ({rest})"),
        Some((_, Some(info))) => format!("the index of {}, key {rest},", info.text),
        _ => format!(
            "the index of an unknown attribute, key {},",
            key.escape_ascii()
        ),
    }
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
