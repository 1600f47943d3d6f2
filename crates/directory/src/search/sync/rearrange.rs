//! A batch in which names have moved, for a consumer of a part of the tree.
//!
//! Such a consumer lacks entries above and between those that it has, so it cannot follow each
//! rename. After a refresh that broke off, its names are in doubt as well. A rearrangement needs
//! no knowledge of them. Each entry whose name may have changed leaves the content first, found by
//! its UUID. Then all that the content has comes again, parents first.

use std::cmp::Reverse;
use std::collections::VecDeque;

use fulgurite_ldap::control::{EntryState, SyncState};
use fulgurite_schema::Dn;
use fulgurite_store::{EntryId, StoreError, View};
use rustc_hash::{FxHashMap, FxHashSet};

use super::batch::{Batch, ChangedEntry};
use super::content::Content;
use super::kinship::Kinship;
use super::send::Stage;
use crate::core::entry_identity::EntryIdentity;

/// A message of a rearrangement.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Move {
    Leave {
        uuid: [u8; 16],
        name: String,
    },
    Enter {
        uuid: [u8; 16],
        id: EntryId,
        state: EntryState,
    },
}

/// The messages that are not sent yet.
#[derive(Debug, Default)]
pub(super) struct Rearrangement {
    moves: VecDeque<Move>,
}

/// The entries of a rearrangement, until their order is known.
struct Planned<'a, 'd> {
    batch: &'a Batch,
    content: &'a mut Content<'d>,
    view: &'a View<'d>,
    leaving: Vec<(Reverse<usize>, [u8; 16], String)>,
    entering: Vec<(usize, EntryId, [u8; 16])>,
    left: FxHashSet<[u8; 16]>,
    entered: FxHashSet<[u8; 16]>,
    /// The entries of trees that have moved, so that a tree within another is not walked again.
    walked: FxHashSet<EntryId>,
}

/// Returns true if the ordinary messages of a batch would not do.
///
/// They do if the consumer has the whole tree. Else each renamed entry has to take those below it
/// along. No other entry of the batch may have had its name, or one below.
pub(super) fn is_needed<'d>(
    batch: &Batch,
    content: &mut Content<'d>,
    view: &View<'d>,
) -> Result<bool, StoreError> {
    if content.is_whole {
        return Ok(false);
    }
    let moved = moved(batch, content);
    if !moved.contains(&true) {
        return Ok(false);
    }
    if names_meet(batch, &moved) {
        return Ok(true);
    }
    for (entry, _) in batch
        .entries
        .iter()
        .zip(&moved)
        .filter(|(_, moved)| **moved)
    {
        let has_children = is_there(entry, content, view)? && view.has_children(entry.id)?;
        let is_within_reach = concerns(entry, content);
        if is_within_reach && has_children && !takes_along(entry, content, view)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns for each entry of the batch whether a rename of it may move entries of the content.
///
/// An entry that has left the content may be renamed out there. The consumer still has the entries
/// below it. So renamed entries move together if one has had a name above the other.
fn moved(batch: &Batch, content: &Content<'_>) -> Vec<bool> {
    let renamed = |entry: &ChangedEntry| entry.is_renamed && !entry.is_sent;
    let entries = batch.entries.iter();
    let mut moved: Vec<bool> = entries
        .map(|entry| renamed(entry) && concerns(entry, content))
        .collect();
    let seeds = moved.iter().enumerate();
    let seeds = seeds.filter_map(|(at, is_moved)| is_moved.then_some(at));
    let seeds: Vec<usize> = seeds.collect();
    if seeds.is_empty() {
        return moved;
    }
    let mut kinship = Kinship::default();
    for (at, entry) in batch.entries.iter().enumerate() {
        if renamed(entry) {
            entry.names.iter().for_each(|name| kinship.note(at, name));
        }
    }
    kinship.spread(seeds, |at| {
        if let Some(is_moved) = moved.get_mut(at) {
            *is_moved = true;
        }
    });
    moved
}

fn concerns(entry: &ChangedEntry, content: &Content<'_>) -> bool {
    entry.names.iter().any(|name| content.concerns(name))
}

/// Returns the names above a name, without the root.
fn ancestors(name: &Dn) -> impl Iterator<Item = Dn> {
    let next = |name: &Dn| name.parent().filter(|parent| !parent.is_root());
    std::iter::successors(next(name), next)
}

/// Returns true if an entry has had the name of a moved one, or a name below it.
fn names_meet(batch: &Batch, moved: &[bool]) -> bool {
    let mut holders: FxHashMap<&str, (usize, bool)> = FxHashMap::default();
    for (at, (entry, is_moved)) in batch.entries.iter().zip(moved).enumerate() {
        for name in &entry.names {
            let before = holders.insert(name.normal(), (at, *is_moved));
            let is_same = |(other, was_moved)| other != at && (was_moved || *is_moved);
            if before.is_some_and(is_same) {
                return true;
            }
        }
    }
    let mut names = batch.entries.iter().flat_map(|entry| &entry.names);
    let is_moved = |name: Dn| holders.get(name.normal()).is_some_and(|(_, moved)| *moved);
    names.any(|name| ancestors(name).any(is_moved))
}

/// Returns true if the view has the entry: its id may be that of a newer one.
fn is_there(
    entry: &ChangedEntry,
    content: &Content<'_>,
    view: &View<'_>,
) -> Result<bool, StoreError> {
    let stored = view.entry(entry.id)?;
    let identity = stored.and_then(|stored| EntryIdentity::of(&content.core.types, &stored));
    Ok(identity.is_some_and(|identity| identity.uuid == entry.uuid))
}

/// Returns true if the message of a renamed entry moves those below it at the consumer as well.
fn takes_along<'d>(
    entry: &ChangedEntry,
    content: &mut Content<'d>,
    view: &View<'d>,
) -> Result<bool, StoreError> {
    let mut names = entry.names.iter();
    if !content.is_deep() {
        // The scope has nothing below them.
        return Ok(names.all(|name| content.has_name(name)));
    }
    // Rights may follow names, so that entries below have become hidden or visible.
    let has_same_rights = content.has_same_rights();
    let was_in = has_same_rights && !entry.may_enter && names.all(|name| content.covers_tree(name));
    Ok(was_in && content.find(view, entry.id, Some(entry.uuid))?.is_some())
}

impl Rearrangement {
    /// Plans the messages of a batch, behind those of `before` that are not sent yet.
    pub(super) fn plan<'d>(
        before: Rearrangement,
        batch: &Batch,
        (content, view): (&mut Content<'d>, &View<'d>),
        stage: Stage,
    ) -> Result<Rearrangement, StoreError> {
        let moved = moved(batch, content);
        let mut planned = Planned {
            batch,
            content,
            view,
            leaving: Vec::new(),
            entering: Vec::new(),
            left: FxHashSet::default(),
            entered: FxHashSet::default(),
            walked: FxHashSet::default(),
        };
        let mut moves = VecDeque::new();
        for waiting in before.moves {
            match waiting {
                Move::Leave { .. } => moves.push_back(waiting),
                Move::Enter { uuid, id, .. } => planned.enter(uuid, id)?,
            }
        }
        for (entry, _) in batch
            .entries
            .iter()
            .zip(&moved)
            .filter(|(_, moved)| **moved)
        {
            if is_there(entry, planned.content, view)? {
                planned.move_tree(entry.id)?;
            }
        }
        for entry in batch.entries.iter().filter(|entry| !entry.is_sent) {
            planned.change(entry)?;
        }
        planned.append(stage, &mut moves);
        Ok(Rearrangement { moves })
    }

    /// Returns true if all messages are sent.
    pub(super) fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }

    /// Returns the number of messages.
    pub(super) fn len(&self) -> usize {
        self.moves.len()
    }

    /// Sends the next message.
    pub(super) fn send_next<'d>(
        &mut self,
        content: &mut Content<'d>,
        view: &View<'d>,
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        match self.moves.pop_front() {
            None => {}
            Some(Move::Leave { uuid, name }) => {
                content.write_gone(view, (uuid, &name), None, out)?;
            }
            Some(Move::Enter { uuid, id, state }) => {
                let Some((entry, _)) = content.find(view, id, Some(uuid))? else {
                    return content.write_gone(view, (uuid, ""), None, out);
                };
                let state = SyncState {
                    state,
                    entry_uuid: uuid,
                    cookie: None,
                };
                content.write_entering(view, &entry, &state, out)?;
            }
        }
        Ok(())
    }
}

impl Planned<'_, '_> {
    /// Plans that an entry comes in its new state.
    fn enter(&mut self, uuid: [u8; 16], id: EntryId) -> Result<(), StoreError> {
        if self.entered.insert(uuid) {
            let depth = match self.view.entry(id)? {
                Some(_) => self.view.depth(id)?,
                None => 0,
            };
            self.entering.push((depth, id, uuid));
        }
        Ok(())
    }

    fn leave(&mut self, uuid: [u8; 16], depth: usize, name: String) {
        if self.left.insert(uuid) {
            self.leaving.push((Reverse(depth), uuid, name));
        }
    }

    /// Plans that a moved entry and all below it leave, and those of the content come again.
    fn move_tree(&mut self, top: EntryId) -> Result<(), StoreError> {
        let mut ids = vec![top];
        let has_same_rights = self.content.has_same_rights();
        while let Some(id) = ids.pop() {
            if !self.walked.insert(id) {
                continue;
            }
            let Some(entry) = self.view.entry(id)? else {
                continue;
            };
            ids.extend(self.view.children(id)?);
            let Some(identity) = EntryIdentity::of(&self.content.core.types, &entry) else {
                continue;
            };
            let uuid = identity.uuid;
            let matches = self.content.matches(self.view, &entry)?;
            let may_leave = self.batch.entry(uuid).is_some_and(|entry| entry.may_leave);
            if matches || may_leave || !has_same_rights {
                self.leave(uuid, self.view.depth(id)?, self.view.dn(id)?);
            }
            if matches && self.content.find(self.view, id, Some(uuid))?.is_some() {
                self.enter(uuid, id)?;
            }
        }
        Ok(())
    }

    /// Plans the message of an entry of the batch.
    fn change(&mut self, entry: &ChangedEntry) -> Result<(), StoreError> {
        let found = self.content.find(self.view, entry.id, Some(entry.uuid))?;
        if found.is_some() && !entry.is_deleted {
            return self.enter(entry.uuid, entry.id);
        }
        // A deleted entry may have been in the content by the name of a moved one above it.
        let mut names = entry.names.iter();
        let may_be_there = names.any(|name| self.content.has_name(name)) && entry.may_leave;
        if may_be_there || entry.is_deleted {
            let name = entry.names.last();
            let depth = entry.names.first().map_or(0, |name| name.depth());
            let name = name.map_or_else(String::new, |name| name.pretty().to_owned());
            self.leave(entry.uuid, depth, name);
        }
        Ok(())
    }

    /// Appends the messages: children leave before their parents, and enter after them.
    fn append(mut self, stage: Stage, moves: &mut VecDeque<Move>) {
        if stage == Stage::Persist && !self.content.may_have_any() {
            self.leaving.clear();
        }
        self.leaving.sort_unstable();
        self.entering.sort_unstable();
        let leaving = self.leaving.into_iter();
        moves.extend(leaving.map(|(_, uuid, name)| Move::Leave { uuid, name }));
        for (_, id, uuid) in self.entering {
            let had_name = || {
                let entry = self.batch.entry(uuid);
                let mut names = entry.iter().flat_map(|entry| &entry.names);
                names.any(|name| self.content.has_name(name))
            };
            let stays = stage == Stage::Persist && !self.left.contains(&uuid);
            let state = match stays && had_name() {
                true => EntryState::Modify,
                false => EntryState::Add,
            };
            moves.push_back(Move::Enter { uuid, id, state });
        }
    }
}
