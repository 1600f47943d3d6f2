//! One changed entry as messages. Those that must come first precede it.

use fulgurite_ldap::control::{EntryState, SyncState};
use fulgurite_schema::Dn;
use fulgurite_store::{EntryId, StoreError, View};

use super::batch::{Batch, ChangedEntry};
use super::content::Content;

/// The stage of a synchronisation, which decides the states of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Every entry is sent as added.
    Refresh,
    /// Changed entries are sent as modified.
    Persist,
}

/// The messages of changed entries in one view.
pub(super) struct Sender<'a, 'd> {
    pub(super) content: &'a mut Content<'d>,
    pub(super) batch: &'a mut Batch,
    pub(super) view: &'a View<'d>,
    pub(super) stage: Stage,
    /// True if sets tell slapd of deletions below which there are entries.
    pub(super) has_sets: bool,
    /// The cookie of such a set.
    pub(super) set_cookie: Option<Vec<u8>>,
    /// The number of entries written.
    pub(super) sent: u32,
    /// The work done, in candidates of a search.
    pub(super) worked: usize,
}

/// An entry whose message waits for others.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    number: usize,
    /// True if the one before can go on as soon as this one has another name.
    can_step_aside: bool,
}

impl<'d> Sender<'_, 'd> {
    /// Sends an entry of the batch, and before it what must come first. Only the message of the
    /// entry itself carries the cookie.
    pub(super) fn send(
        &mut self,
        number: usize,
        cookie: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let mut stack = vec![Waiting {
            number,
            can_step_aside: false,
        }];
        while let Some(&Waiting {
            number: current, ..
        }) = stack.last()
        {
            let Some(entry) = self.batch.entries.get_mut(current) else {
                break;
            };
            if entry.is_sent {
                stack.pop();
                continue;
            }
            entry.waits = true;
            let entry = entry.clone();
            self.worked += 1;
            if let Some(first) = self.first(&entry, current)? {
                if self.waits(first.number) {
                    self.break_cycle(&mut stack, first, out)?;
                } else {
                    stack.push(first);
                }
                continue;
            }
            let is_own = current == number;
            let cookie = cookie.filter(|_| is_own);
            if !is_own {
                // slapd passes over a set that its state covers.
                self.set_cookie = None;
            }
            self.send_one(&entry, cookie, out)?;
            if let Some(entry) = self.batch.entries.get_mut(current) {
                entry.is_sent = true;
                entry.waits = false;
            }
            stack.pop();
        }
        Ok(())
    }

    fn waits(&self, number: usize) -> bool {
        let entry = self.batch.entries.get(number);
        entry.is_some_and(|entry| entry.waits)
    }

    /// Lets one entry of a cycle give up its name: entries have swapped their names, perhaps by way
    /// of others. The last of the stack waits for `first`, which is in the stack too.
    fn break_cycle(
        &mut self,
        stack: &mut Vec<Waiting>,
        first: Waiting,
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let mut begin = stack.iter();
        let begin = begin.position(|waiting| waiting.number == first.number);
        let begin = begin.unwrap_or_default();
        let last = (first, stack.len());
        let cycle = stack.iter().enumerate().skip(begin + 1);
        let cycle = cycle.map(|(at, waiting)| (*waiting, at));
        let mut chosen = None;
        for (waiting, len) in std::iter::once(last).chain(cycle) {
            if !waiting.can_step_aside {
                continue;
            }
            // Deletions would leave the entries below without a parent.
            let is_here = self.is_here(waiting.number)?;
            if chosen.is_none() || is_here {
                chosen = Some((waiting.number, len));
            }
            if is_here {
                break;
            }
        }
        debug_assert!(chosen.is_some(), "parents alone make no cycle");
        let Some((number, len)) = chosen else {
            stack.pop();
            return Ok(());
        };
        self.step_aside(number, out)?;
        for waiting in stack.drain(len..) {
            if let Some(entry) = self.batch.entries.get_mut(waiting.number) {
                entry.waits = false;
            }
        }
        Ok(())
    }

    /// Returns true if the content has an entry of the batch.
    fn is_here(&mut self, number: usize) -> Result<bool, StoreError> {
        let Some(entry) = self.batch.entries.get(number) else {
            return Ok(false);
        };
        let found = self.content.find(self.view, entry.id, Some(entry.uuid))?;
        Ok(found.is_some())
    }

    /// Returns an unsent entry that must come before this one.
    fn first(&self, entry: &ChangedEntry, number: usize) -> Result<Option<Waiting>, StoreError> {
        let waiting = |number, can_step_aside| Waiting {
            number,
            can_step_aside,
        };
        let stored = self.view.entry(entry.id)?;
        if stored.is_none() || entry.is_deleted {
            let below = self.batch.unsent_below(number);
            return Ok(below.map(|below| waiting(below, true)));
        }
        let mut above = self.view.parent(entry.id)?;
        while let Some(id) = above {
            if let Some(parent) = self.batch.unsent_named(id) {
                return Ok(Some(waiting(parent, false)));
            }
            above = self.view.parent(id)?;
        }
        if !entry.is_named {
            return Ok(None);
        }
        let holder = self.batch.holder(&self.key(entry.id)?, number);
        Ok(holder.map(|holder| waiting(holder, true)))
    }

    /// Returns the key of an entry's name.
    fn key(&self, id: EntryId) -> Result<Dn, StoreError> {
        let name = self.view.resolved_dn(id)?;
        let mut below = Vec::from_iter(name.leaf());
        let mut rest = name.parent();
        let mut above = self.view.parent(id)?;
        while let Some(id) = above {
            if let Some(anchor) = self.batch.anchor(id) {
                let below = below.iter().rev();
                return Ok(below.fold(anchor.clone(), |above, rdn| above.child(rdn)));
            }
            let Some(name) = rest else { break };
            below.extend(name.leaf());
            rest = name.parent();
            above = self.view.parent(id)?;
        }
        Ok(name)
    }

    /// Frees the name that an entry holds at the consumer: it gets another one for a moment.
    ///
    /// A deletion would not do. slapd refuses it if the consumer has entries below.
    fn step_aside(&mut self, number: usize, out: &mut Vec<u8>) -> Result<(), StoreError> {
        let Some(entry) = self.batch.entries.get(number).cloned() else {
            return Ok(());
        };
        let found = self.content.find(self.view, entry.id, Some(entry.uuid))?;
        let Some((found, uuid)) = found else {
            self.send_one(&entry, None, out)?;
            if let Some(entry) = self.batch.entries.get_mut(number) {
                entry.is_sent = true;
            }
            return Ok(());
        };
        let name = self.name_aside(&entry)?;
        let state = SyncState {
            state: self.changed(),
            entry_uuid: uuid,
            cookie: None,
        };
        // At a peer, the entry that gets the name waits for it.
        if self.content.peer.is_none() {
            self.content
                .write_aside(self.view, &found, (&state, &name), out)?;
            self.sent += 1;
        }
        if let Some(entry) = self.batch.entries.get_mut(number) {
            entry.held = Some(name);
            entry.is_aside = true;
        }
        Ok(())
    }

    /// Returns a name below the base that no entry has. It is the UUID, if possible as a value of
    /// the attribute that names the entry.
    fn name_aside(&self, entry: &ChangedEntry) -> Result<Dn, StoreError> {
        let schema = self.view.schema();
        let uuid = uuid::Uuid::from_bytes(entry.uuid).hyphenated().to_string();
        let name = self.view.resolved_dn(entry.id)?;
        let ava = name.rdn().and_then(|rdn| rdn.avas().next());
        let own = ava.map(|ava| schema.attribute_at(ava.attribute).name());
        let mut names = own.into_iter().chain(["cn"]);
        let rdn = names.find_map(|name| Dn::parse(schema, &format!("{name}={uuid}")).ok());
        let rdn = rdn.unwrap_or_else(Dn::root);
        Ok(self.content.base.child(&rdn))
    }

    /// Returns the state of an entry that the consumer has in another form.
    fn changed(&self) -> EntryState {
        match self.stage {
            Stage::Refresh => EntryState::Add,
            Stage::Persist => EntryState::Modify,
        }
    }

    /// Sends one entry as it is now.
    fn send_one(
        &mut self,
        entry: &ChangedEntry,
        cookie: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let held = entry.held.as_ref();
        let was_in = held.is_some_and(|held| self.content.has_name(held));
        match self.content.find(self.view, entry.id, Some(entry.uuid))? {
            Some((stored, uuid)) => {
                let state = SyncState {
                    state: if was_in {
                        self.changed()
                    } else {
                        EntryState::Add
                    },
                    entry_uuid: uuid,
                    cookie,
                };
                self.content.write(self.view, &stored, &state, out)?;
                self.sent += 1;
            }
            // A consumer that may read nothing now has read it before this search, if at all.
            None if self.stage == Stage::Persist && !self.content.may_have_any() => {}
            None if self.is_back(entry)? => {}
            None if entry.may_leave && (was_in || self.may_have_been_in(entry)) => {
                let tombstone = self.view.tombstone(entry.uuid)?;
                let name = entry.held.as_ref().or(entry.names.last());
                let last = tombstone.map_or("", |tombstone| tombstone.dn);
                let name = name.map_or(last, Dn::pretty);
                match self.has_sets && self.content.has_left_glue(self.view, name)? {
                    true => {
                        let cookie = self.set_cookie.as_deref();
                        self.content.write_gone_set(entry.uuid, cookie, out);
                    }
                    false => {
                        let gone = (entry.uuid, name);
                        self.content.write_gone(self.view, gone, cookie, out)?;
                    }
                }
                self.sent += 1;
            }
            None => {}
        }
        Ok(())
    }

    /// Returns true if a deleted entry is here again, by a change that the consumer has already.
    /// Only several providers bring an entry back.
    fn is_back(&self, entry: &ChangedEntry) -> Result<bool, StoreError> {
        let may_be = self.content.database.is_multi_provider()
            && (entry.is_deleted || (self.content.peer.is_some() && self.content.is_whole));
        Ok(may_be && self.view.tombstone(entry.uuid)?.is_none())
    }

    /// Returns true if the consumer may have got the entry in a refresh that broke off.
    /// Among several providers, the records beyond its state are no whole story of an entry.
    fn may_have_been_in(&self, entry: &ChangedEntry) -> bool {
        if entry.is_deleted && self.content.database.is_multi_provider() {
            return true;
        }
        entry.is_repeated && entry.names.iter().any(|name| self.content.has_name(name))
    }
}
