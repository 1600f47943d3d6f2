//! The whole check of a store: names, counts and indexes against the entries.

use std::collections::{BTreeMap, BTreeSet};

use crate::bytes::u32_at;
use crate::error::{Damage, StoreError};
use crate::ids::EntryId;
use crate::idset::{Bitmap, Chunk, join};
use crate::index::{IndexStage, IndexState, KeyMaker, KeyRange, chunk_key, definition_of, key};
use crate::names::{Counts, NameList};
use crate::overflow_values;
use crate::view::View;
use fulgurite::Snapshot;
use fulgurite_schema::AttributeDescription;

/// Number of problems described at most.
const PROBLEMS_MAX: usize = 100;

/// The result of [`verify`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Number of entries read.
    pub entries: u64,
    /// Number of their postings.
    pub postings: u64,
    /// The first hundred problems, one sentence each.
    pub problems: Vec<String>,
}

impl Report {
    /// Returns true if there is no problem.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    fn problem(&mut self, text: impl FnOnce() -> String) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(text());
        }
    }
}

/// Compares every index, name and count of a view with its entries. An index that is being built is
/// compared as far as it is filled. An index that is being removed is not compared.
///
/// Memory grows with the indexes, by some tens of bytes for each id in each posting. So this check
/// is for tests and for stores of moderate size.
/// # Errors
/// [`StoreError::Engine`] if the engine fails; everything else is reported as a problem.
pub fn verify(view: &View<'_>) -> Result<Report, StoreError> {
    let mut report = Report::default();
    let expected = walk_entries(view, &mut report)?;
    check_names(view, &mut report)?;
    check_counts(view, &expected.parents, &mut report)?;
    check_values(view, &mut report)?;
    report.postings = expected.postings.len() as u64;
    check_index(view, expected.postings, &mut report)?;
    Ok(report)
}

/// The state that follows from the entries.
#[derive(Default)]
struct ExpectedState {
    postings: BTreeMap<Vec<u8>, BTreeSet<EntryId>>,
    parents: BTreeMap<EntryId, EntryId>,
}

fn walk_entries(view: &View<'_>, report: &mut Report) -> Result<ExpectedState, StoreError> {
    let mut expected = ExpectedState::default();
    let mut next = view.next_entry_id(EntryId(0))?;
    let mut scratch = Vec::new();
    while let Some(id) = next {
        next = view.next_entry_id(EntryId(id.0 + 1))?;
        report.entries += 1;
        let entry = match view.entry(id) {
            Ok(Some(entry)) if entry.record().is_sound() => entry,
            Ok(_) | Err(StoreError::Damaged(_)) => {
                report.problem(|| format!("entry {id}: the record is malformed"));
                continue;
            }
            Err(error) => return Err(error),
        };
        if entry.attributes().count() != entry.record().attributes().count() {
            report.problem(|| format!("entry {id}: holds an attribute of unknown number"));
        }
        let parent = entry.record().parent();
        expected.parents.insert(id, parent);
        if parent != EntryId::ROOT && !matches!(view.record(parent), Ok(Some(_))) {
            report.problem(|| format!("entry {id}: its parent {parent} does not exist"));
        }
        if view.child(parent, entry.rdn_normal()).ok().flatten() != Some(id) {
            report.problem(|| format!("entry {id}: is not found by its name"));
        }
        let postings = &mut expected.postings;
        postings.entry(key::all_entries()).or_default().insert(id);
        let keys = KeyMaker::new(&view.indexes, &view.store.schema);
        keys.each_key(&entry, &mut scratch, &mut |key| {
            match postings.get_mut(key) {
                Some(ids) => ids.insert(id),
                None => postings
                    .insert(key.to_vec(), BTreeSet::from([id]))
                    .is_none(),
            };
        });
    }
    Ok(expected)
}

/// Checks that every name leads to an entry of that name. Together with the walk this shows that
/// names and entries are one to one.
fn check_names(view: &View<'_>, report: &mut Report) -> Result<(), StoreError> {
    let mut cursor = view.txn.cursor(view.store.dbs.names)?;
    let mut row = cursor.first()?;
    while let Some((key, list)) = row {
        for child in NameList(list) {
            let Ok((id, rdn_normal)) = child else {
                report.problem(|| "a name list is malformed".to_owned());
                continue;
            };
            let sound = match view.record(id) {
                Ok(Some(record)) => {
                    record.rdn_normal() == rdn_normal
                        && key == view.name_key(record.parent(), rdn_normal)
                }
                _ => false,
            };
            if !sound {
                report.problem(|| format!("a name leads to entry {id}, which is not called so"));
            }
        }
        row = cursor.next()?;
    }
    Ok(())
}

/// Checks that blocks and hashes of overflow values belong to attributes that announce them, and to
/// each other. The walk has seen already that no value is missing.
fn check_values(view: &View<'_>, report: &mut Report) -> Result<(), StoreError> {
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

fn check_counts(
    view: &View<'_>,
    parents: &BTreeMap<EntryId, EntryId>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let mut expected: BTreeMap<EntryId, Counts> = BTreeMap::new();
    for parent in parents.values().filter(|parent| **parent != EntryId::ROOT) {
        expected.entry(*parent).or_default().children += 1;
        let (mut above, mut levels) = (Some(parent), 0);
        while let Some(id) = above.filter(|id| **id != EntryId::ROOT && levels < parents.len()) {
            expected.entry(*id).or_default().descendants += 1;
            above = parents.get(id);
            levels += 1;
        }
    }
    let mut stored = BTreeMap::new();
    let mut cursor = view.txn.cursor(view.store.dbs.counts)?;
    let mut row = cursor.first()?;
    while let Some((key, value)) = row {
        if let (Some(id), Ok(counts)) = (EntryId::from_key(key), Counts::parse(value)) {
            stored.insert(id, counts);
        } else {
            report.problem(|| "a subordinate count is malformed".to_owned());
        }
        row = cursor.next()?;
    }
    let ids: BTreeSet<&EntryId> = stored.keys().chain(expected.keys()).collect();
    for id in ids
        .into_iter()
        .filter(|id| stored.get(id) != expected.get(id))
    {
        report.problem(|| {
            format!(
                "entry {id}: counts {:?}, in truth {:?}",
                stored.get(id),
                expected.get(id)
            )
        });
    }
    Ok(())
}

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

fn check_index(
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
