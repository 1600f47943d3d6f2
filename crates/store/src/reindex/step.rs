//! The work on indexes, in steps of bounded size.

use std::sync::Arc;

use crate::error::{Damage, StoreError};
use crate::ids::EntryId;
use crate::index::{Index, IndexStage, IndexState, KeyMaker, KeyRange, WorkItem, definition_of};
use crate::store::Store;
use crate::write::Writer;
use fulgurite::Snapshot;
use fulgurite_schema::AttributeDescription;

/// Keys deleted for one entry that a step may read.
const KEYS_PER_ENTRY: usize = 16;

/// The rest of the work after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexProgress {
    /// There is more to do.
    More,
    /// All work is done.
    Done,
}

impl Store {
    /// Does a bounded amount of the requested work, in one transaction that reads `entries_max`
    /// entries at most.
    /// # Errors
    /// [`StoreError`]; the work stays where it was.
    pub fn index_step(&self, entries_max: usize) -> Result<IndexProgress, StoreError> {
        // A look first, as it takes no lock and mostly there is nothing to do.
        if self.index_status()?.work.is_empty() {
            return Ok(IndexProgress::Done);
        }
        let mut writer = self.write()?;
        let mut state = IndexState::read(&writer.view.txn, self.dbs.meta)?;
        let clearing = (state.work.iter()).position(|work| work.stage != IndexStage::Fill);
        match clearing {
            Some(at) => clear(&mut writer, &mut state, at, entries_max)?,
            None => fill(&mut writer, &mut state, entries_max)?,
        }
        let is_done = state.work.is_empty();
        writer.commit()?;
        Ok(if is_done {
            IndexProgress::Done
        } else {
            IndexProgress::More
        })
    }
}

/// Deletes keys of an index. After the last key, an index that is being built goes to the stage of
/// filling.
fn clear(
    writer: &mut Writer<'_>,
    state: &mut IndexState,
    at: usize,
    entries_max: usize,
) -> Result<(), StoreError> {
    let Some(work) = state.work.get_mut(at) else {
        return Ok(());
    };
    let keys_max = entries_max.max(1).saturating_mul(KEYS_PER_ENTRY);
    if delete_keys(writer, work, keys_max)? {
        return Ok(());
    }
    if work.stage == IndexStage::Drop {
        state.work.remove(at);
    } else {
        (work.stage, work.position) = (IndexStage::Fill, 1);
    }
    state.generation += 1;
    writer.write_index_state(state)
}

/// Deletes `keys_max` keys at most. Returns true if there may be more.
fn delete_keys(
    writer: &mut Writer<'_>,
    work: &WorkItem,
    keys_max: usize,
) -> Result<bool, StoreError> {
    let attribute = writer.view.schema().attribute(&work.attribute);
    let description = attribute.map(|attribute| AttributeDescription::plain(attribute.index));
    let Some(id) = description.and_then(|plain| writer.view.attributes.find(&plain)) else {
        return Ok(false);
    };
    let range = KeyRange::prefix(id, definition_of(work.kind).code, &[]);
    let index = writer.view.store.dbs.index;
    let mut keys: Vec<Vec<u8>> = Vec::new();
    {
        let mut cursor = writer.view.txn.cursor(index)?;
        let mut row = cursor.seek_range(&range.start)?;
        while let Some((key, _)) = row.filter(|(key, _)| *key < range.end.as_slice()) {
            if keys.len() == keys_max {
                break;
            }
            keys.push(key.to_vec());
            row = cursor.next()?;
        }
    }
    let is_full = keys.len() == keys_max;
    writer.apply(|writer| {
        for key in &keys {
            writer.view.txn.delete(index, key)?;
        }
        Ok(())
    })?;
    Ok(is_full)
}

/// Adds some entries to the indexes that are furthest behind, and to all others under way.
fn fill(
    writer: &mut Writer<'_>,
    state: &mut IndexState,
    entries_max: usize,
) -> Result<(), StoreError> {
    let Some(from) = state.work.iter().map(|work| work.position).min() else {
        return Ok(());
    };
    let next = enter(writer, EntryId(from), entries_max.max(1))?;
    let behind = |work: &&mut WorkItem| work.position == from;
    let meta = writer.view.store.dbs.meta;
    if let Some(next) = next {
        let works = state.work.iter_mut().filter(behind);
        works.for_each(|work| work.position = next.0);
        return state.write_positions(&mut writer.view.txn, meta);
    }
    let done: Vec<WorkItem> = state
        .work
        .extract_if(.., |work| work.position == from)
        .collect();
    for work in done {
        let schema = Arc::clone(writer.view.store.schema());
        state
            .set_complete(&schema, &work.attribute, work.kind, true)
            .map_err(|_| Damage::Description)?;
    }
    state.generation += 1;
    writer.write_index_state(state)
}

/// Adds entries from an id on. Returns the next one to add, if there is one.
fn enter(
    writer: &mut Writer<'_>,
    from: EntryId,
    entries_max: usize,
) -> Result<Option<EntryId>, StoreError> {
    let indexes = Arc::clone(&writer.view.indexes);
    let mut next = writer.view.next_entry_id(from)?;
    for _ in 0..entries_max {
        let Some(id) = next else { return Ok(None) };
        if let Some(entry) = writer.view.entry(id)? {
            let postings = &mut writer.postings;
            let keys = KeyMaker::new(&indexes, &writer.view.store.schema);
            let is_filling = |index: &Index| !index.usable;
            keys.each_key_of(&entry, &is_filling, &mut writer.key, &mut |key| {
                postings.change(key, id, true);
            });
        }
        next = writer.view.next_entry_id(EntryId(id.0 + 1))?;
    }
    Ok(next)
}
