//! Indexes made and unmade while the store is in use.
//!
//! What is asked for is recorded at once; then the work is done in steps, each a write transaction of bounded size,
//! between which other writers get their turn and searches go on. Every writer enters its changes into an index from
//! the moment it is recorded; entries that were there before are entered step by step. So an entry may be entered
//! twice, which does no harm, and none is missed. Where the work stands is part of each step's transaction: whoever
//! ends it, by intent or by a crash, it goes on from there, in whichever process.

use std::sync::Arc;

use crate::error::{OpenError, StoreError};
use crate::ids::EntryId;
use crate::index::{
    IndexKind, IndexKinds, IndexSpec, IndexStage, IndexState, KeyRange, Kind, Work, emit,
};
use crate::store::{Store, resolve};
use crate::write::Writer;
use fulgurite::Snapshot;
use fulgurite_schema::AttributeDescription;

/// Keys that are deleted for one entry that a step may read.
const KEYS_PER_ENTRY: usize = 16;

/// What a store's indexes are at the moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexStatus {
    /// Complete ones: searches use these.
    pub complete: Vec<IndexSpec>,
    /// What is being made or unmade.
    pub work: Vec<IndexWork>,
    /// The last entry's id: where filling ends.
    pub last_id: u64,
}

/// One kind of index of one attribute that is being made or unmade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexWork {
    /// The attribute's name.
    pub attribute: String,
    /// Which kind of index.
    pub kind: IndexKind,
    /// What is being done.
    pub stage: IndexStage,
    /// The first entry that is not entered yet.
    pub position: u64,
}

impl IndexWork {
    /// How much of the entries is entered, from 0 to 100.
    #[must_use]
    pub fn percent(&self, last_id: u64) -> u64 {
        match self.stage {
            IndexStage::Fill => {
                let done = self.position.saturating_sub(1).min(last_id);
                done.saturating_mul(100).checked_div(last_id).unwrap_or(100)
            }
            IndexStage::Clear | IndexStage::Drop => 0,
        }
    }
}

/// What a step of the work has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexProgress {
    /// There is more to do.
    More,
    /// All indexes are as they are to be.
    Done,
}

impl Store {
    /// The indexes of the newest committed state.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails or the store's description is damaged.
    pub fn index_status(&self) -> Result<IndexStatus, StoreError> {
        let view = self.snapshot()?;
        let state = IndexState::read(&view.txn, self.dbs.meta)?;
        let last = view.last_entry_id()?;
        let work = state.work.into_iter().map(|work| IndexWork {
            attribute: work.attribute,
            kind: work.kind,
            stage: work.stage,
            position: work.position,
        });
        Ok(IndexStatus {
            complete: state.complete.into_iter().map(|one| one.spec).collect(),
            work: work.collect(),
            last_id: last.0,
        })
    }

    /// Asks for exactly these indexes. What is new is made by [`index_step`](Self::index_step), what is not among them
    /// is no longer used nor written from now on. Returns whether anything differs from what was asked for before.
    ///
    /// # Errors
    /// [`OpenError::Index`] for an attribute that cannot be indexed so; [`OpenError::Read`] when the store fails.
    pub fn request_indexes(&self, wanted: &[IndexSpec]) -> Result<bool, OpenError> {
        let resolved = resolve(self.schema(), wanted)?;
        let wanted = resolved.iter().map(|spec| IndexSpec {
            attribute: spec.attribute.name().to_owned(),
            kinds: spec.kinds,
        });
        let wanted: Vec<IndexSpec> = wanted.collect();
        self.change_indexes(|state| {
            for attribute in attributes_of(state, &wanted) {
                let kinds = wanted.iter().find(|spec| spec.attribute == attribute);
                let kinds = kinds.map_or(IndexKinds::default(), |spec| spec.kinds);
                for kind in IndexKind::ALL {
                    self.request(state, &attribute, kind, kinds.has(kind))?;
                }
            }
            Ok(())
        })
    }

    /// Asks for these indexes, or kinds of them, besides those there are.
    ///
    /// # Errors
    /// As [`request_indexes`](Self::request_indexes).
    pub fn add_indexes(&self, more: &[IndexSpec]) -> Result<bool, OpenError> {
        let resolved = resolve(self.schema(), more)?;
        self.change_indexes(|state| {
            for spec in &resolved {
                for kind in IndexKind::ALL
                    .into_iter()
                    .filter(|kind| spec.kinds.has(*kind))
                {
                    self.request(state, spec.attribute.name(), kind, true)?;
                }
            }
            Ok(())
        })
    }

    /// Gives up all indexes of these attributes.
    ///
    /// # Errors
    /// As [`request_indexes`](Self::request_indexes); an attribute without index is no error.
    pub fn remove_indexes(&self, attributes: &[String]) -> Result<bool, OpenError> {
        let names = self.attribute_names(attributes)?;
        self.change_indexes(|state| {
            for attribute in &names {
                for kind in IndexKind::ALL {
                    self.request(state, attribute, kind, false)?;
                }
            }
            Ok(())
        })
    }

    /// Asks for complete indexes to be made anew: those of these attributes, or all of them. They are not used until
    /// they are complete again. Returns whether there are any.
    ///
    /// # Errors
    /// As [`request_indexes`](Self::request_indexes).
    pub fn rebuild_indexes(&self, attributes: Option<&[String]>) -> Result<bool, OpenError> {
        let names = attributes
            .map(|names| self.attribute_names(names))
            .transpose()?;
        self.change_indexes(|state| {
            for spec in complete_specs(state) {
                if names
                    .as_ref()
                    .is_some_and(|names| !names.contains(&spec.attribute))
                {
                    continue;
                }
                self.make_anew(state, &spec)?;
            }
            Ok(())
        })
    }

    /// Does a bounded amount of the work that was asked for, in one transaction that reads `entries_max` entries at most.
    ///
    /// # Errors
    /// [`StoreError`]; the work stays where it was.
    pub fn index_step(&self, entries_max: usize) -> Result<IndexProgress, StoreError> {
        // A look first: it takes no lock, and mostly there is nothing to do.
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

    /// Makes indexes whose rules have changed in the schema anew.
    pub(crate) fn renew_outdated_indexes(&self) -> Result<(), OpenError> {
        self.change_indexes(|state| {
            for spec in state.outdated(self.schema()) {
                self.make_anew(state, &spec)?;
            }
            Ok(())
        })?;
        Ok(())
    }

    fn make_anew(&self, state: &mut IndexState, spec: &IndexSpec) -> Result<(), OpenError> {
        for kind in IndexKind::ALL
            .into_iter()
            .filter(|kind| spec.kinds.has(*kind))
        {
            state.set_complete(self.schema(), &spec.attribute, kind, false)?;
            state.work.push(Work {
                attribute: spec.attribute.clone(),
                kind,
                stage: IndexStage::Clear,
                position: 1,
            });
        }
        Ok(())
    }

    /// Records one wish.
    fn request(
        &self,
        state: &mut IndexState,
        attribute: &str,
        kind: IndexKind,
        is_wanted: bool,
    ) -> Result<(), OpenError> {
        let is_complete = state.kinds_of(attribute).has(kind);
        let mut works = state.work.iter_mut();
        let work = works.find(|work| work.attribute == attribute && work.kind == kind);
        let stage = if is_wanted {
            IndexStage::Clear
        } else {
            IndexStage::Drop
        };
        match work {
            // Under way in the right direction.
            Some(work) if is_wanted != (work.stage == IndexStage::Drop) => {}
            Some(work) => (work.stage, work.position) = (stage, 1),
            None if is_complete == is_wanted => {}
            None => {
                if is_complete {
                    state.set_complete(self.schema(), attribute, kind, false)?;
                }
                state.work.push(Work {
                    attribute: attribute.to_owned(),
                    kind,
                    stage,
                    position: 1,
                });
            }
        }
        Ok(())
    }

    /// Changes the recorded state in a transaction of its own, if it differs afterwards.
    fn change_indexes(
        &self,
        change: impl FnOnce(&mut IndexState) -> Result<(), OpenError>,
    ) -> Result<bool, OpenError> {
        let read = |source: StoreError| OpenError::Read {
            path: self.path().into(),
            source,
        };
        let mut writer = self.write().map_err(read)?;
        let before = IndexState::read(&writer.view.txn, self.dbs.meta).map_err(read)?;
        let mut state = before.clone();
        change(&mut state)?;
        if state == before {
            return Ok(false);
        }
        state.generation += 1;
        number_attributes(&mut writer, &state).map_err(read)?;
        writer
            .write_index_state(&state)
            .and_then(|()| writer.commit())
            .map_err(read)?;
        Ok(true)
    }

    fn attribute_names(&self, names: &[String]) -> Result<Vec<String>, OpenError> {
        let known = |name: &String| {
            let attribute = self.schema().attribute(name);
            attribute
                .map(|attribute| attribute.name().to_owned())
                .ok_or_else(|| OpenError::Index {
                    text: name.clone(),
                    reason: "the schema does not define the attribute",
                })
        };
        names.iter().map(known).collect()
    }
}

fn complete_specs(state: &IndexState) -> Vec<IndexSpec> {
    state.complete.iter().map(|one| one.spec.clone()).collect()
}

/// Every attribute that has an index, is to have one, or whose index is worked on.
fn attributes_of(state: &IndexState, wanted: &[IndexSpec]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let complete = state.complete.iter().map(|one| &one.spec.attribute);
    let work = state.work.iter().map(|work| &work.attribute);
    for name in wanted
        .iter()
        .map(|spec| &spec.attribute)
        .chain(complete)
        .chain(work)
    {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// Gives every attribute type that is to be indexed its number.
fn number_attributes(writer: &mut Writer<'_>, state: &IndexState) -> Result<(), StoreError> {
    for work in &state.work {
        let attribute = writer.view.schema().attribute(&work.attribute);
        if let Some(attribute) = attribute.map(|attribute| attribute.index) {
            writer.number_description(&AttributeDescription::plain(attribute))?;
        }
    }
    Ok(())
}

/// Takes keys of an index away; when none is left, what is to be made is filled next.
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

/// Deletes so many keys at most; whether there may be more.
fn delete_keys(writer: &mut Writer<'_>, work: &Work, keys_max: usize) -> Result<bool, StoreError> {
    let attribute = writer.view.schema().attribute(&work.attribute);
    let description = attribute.map(|attribute| AttributeDescription::plain(attribute.index));
    let Some(id) = description.and_then(|plain| writer.view.attributes.find(&plain)) else {
        return Ok(false);
    };
    let range = KeyRange::prefix(id, Kind::of(work.kind), &[]);
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

/// Enters some entries into the indexes that are furthest behind, and into all others under way.
fn fill(
    writer: &mut Writer<'_>,
    state: &mut IndexState,
    entries_max: usize,
) -> Result<(), StoreError> {
    let Some(from) = state.work.iter().map(|work| work.position).min() else {
        return Ok(());
    };
    let next = enter(writer, EntryId(from), entries_max.max(1))?;
    let behind = |work: &&mut Work| work.position == from;
    let meta = writer.view.store.dbs.meta;
    if let Some(next) = next {
        let works = state.work.iter_mut().filter(behind);
        works.for_each(|work| work.position = next.0);
        return state.write_positions(&mut writer.view.txn, meta);
    }
    let done: Vec<Work> = state
        .work
        .extract_if(.., |work| work.position == from)
        .collect();
    for work in done {
        let schema = Arc::clone(writer.view.store.schema());
        state
            .set_complete(&schema, &work.attribute, work.kind, true)
            .map_err(|_| crate::Damage::Description)?;
    }
    state.generation += 1;
    writer.write_index_state(state)
}

/// Enters entries from an id on; the next one to enter, if there is one.
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
            emit(
                &indexes,
                &writer.view.store.schema,
                &entry,
                &|index| !index.usable,
                &mut writer.key,
                &mut |key| postings.change(key, id, true),
            );
        }
        next = writer.view.next_entry_id(EntryId(id.0 + 1))?;
    }
    Ok(next)
}

#[cfg(test)]
mod tests;
