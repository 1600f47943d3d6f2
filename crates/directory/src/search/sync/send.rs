//! One changed entry as messages. Those that must come first precede it. The entries below it may
//! enter or leave the content with it.

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
    /// The number of entries written.
    pub(super) sent: u32,
    /// The work done, in candidates of a search.
    pub(super) worked: usize,
}

/// An entry whose message waits for others.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    number: usize,
    /// True if the one before waits for its name.
    is_holder: bool,
}

/// The way of the entries below one that moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Descendants {
    /// They have entered the content.
    Enter,
    /// They have left it.
    Leave,
    /// They are in it under new names, which no other message tells.
    Follow,
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
            is_holder: false,
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
            let cookie = cookie.filter(|_| current == number);
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
        // An entry gives up its name only for one that waits for just that name.
        let mut holders: Vec<(usize, usize)> = Vec::new();
        if first.is_holder {
            holders.push((first.number, stack.len()));
        }
        for (at, waiting) in stack.iter().enumerate().skip(begin + 1) {
            if waiting.is_holder {
                holders.push((waiting.number, at));
            }
        }
        debug_assert!(!holders.is_empty(), "parents alone make no cycle");
        let Some((number, len)) = holders.first().copied() else {
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

    /// Returns an unsent entry that must come before this one.
    fn first(&self, entry: &ChangedEntry, number: usize) -> Result<Option<Waiting>, StoreError> {
        let waiting = |number, is_holder| Waiting { number, is_holder };
        let stored = self.view.entry(entry.id)?;
        let is_here = stored.is_some() && !entry.is_deleted;
        if !is_here {
            let held = entry.held.as_ref();
            let below = held.and_then(|held| self.batch.unsent_below(held.normal()));
            return Ok(below
                .filter(|below| *below != number)
                .map(|below| waiting(below, false)));
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
        let name = self.view.resolved_dn(entry.id)?;
        let holder = self.batch.holder(name.normal());
        let holder = holder.filter(|holder| *holder != number);
        Ok(holder.map(|holder| waiting(holder, true)))
    }

    /// Frees the name that an entry holds at the consumer: it gets another one for a moment.
    ///
    /// A deletion would not do. slapd refuses it if the consumer has entries below.
    fn step_aside(&mut self, number: usize, out: &mut Vec<u8>) -> Result<(), StoreError> {
        let Some(entry) = self.batch.entries.get(number).cloned() else {
            return Ok(());
        };
        let found = self.content.find(self.view, entry.id, Some(entry.uuid))?;
        let mut aside = None;
        if let Some((found, uuid)) = found {
            let name = self.name_aside(&entry)?;
            let state = SyncState {
                state: self.changed(),
                entry_uuid: uuid,
                cookie: None,
            };
            let state = (&state, Some(name.pretty()));
            self.content.write(self.view, &found, state, out)?;
            aside = Some(name);
        } else {
            let held = entry.held.as_ref().map_or("", Dn::pretty);
            self.content.write_gone(entry.uuid, held, None, out);
        }
        self.sent += 1;
        if let Some(entry) = self.batch.entries.get_mut(number) {
            entry.held = aside;
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
        if entry.is_own && self.stage == Stage::Persist {
            return Ok(());
        }
        let was_in = entry.held.as_ref();
        let was_in = was_in.is_some_and(|held| self.content.has_name(held));
        let found = self.content.find(self.view, entry.id, Some(entry.uuid))?;
        let descendants = self.descendants(entry, found.is_some())?;
        if descendants == Some(Descendants::Leave) {
            self.send_below(entry.id, Descendants::Leave, out)?;
        }
        match found {
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
                self.content
                    .write(self.view, &stored, (&state, None), out)?;
                self.sent += 1;
            }
            None if was_in && entry.may_leave => {
                let held = entry.held.as_ref().map_or("", Dn::pretty);
                self.content.write_gone(entry.uuid, held, cookie, out);
                self.sent += 1;
            }
            None => {}
        }
        match descendants {
            Some(way @ (Descendants::Enter | Descendants::Follow)) => {
                self.send_below(entry.id, way, out)
            }
            _ => Ok(()),
        }
    }

    /// Returns the way of the entries below a renamed one, if the consumer cannot know it.
    fn descendants(
        &self,
        entry: &ChangedEntry,
        is_in: bool,
    ) -> Result<Option<Descendants>, StoreError> {
        let (Some(held), true) = (&entry.held, entry.is_named && self.content.is_deep()) else {
            return Ok(None);
        };
        if self.view.entry(entry.id)?.is_none() || !self.view.has_children(entry.id)? {
            return Ok(None);
        }
        let name = self.view.resolved_dn(entry.id)?;
        Ok(
            match (
                self.content.covers_tree(held),
                self.content.covers_tree(&name),
            ) {
                (false, true) => Some(Descendants::Enter),
                (true, false) => Some(Descendants::Leave),
                (true, true) if !is_in && *held != name => Some(Descendants::Follow),
                _ => None,
            },
        )
    }

    /// Sends the entries below one that moved, except those that the batch has.
    fn send_below(
        &mut self,
        top: EntryId,
        way: Descendants,
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let mut ids = self.view.children(top)?;
        let mut next = 0;
        while let Some(&id) = ids.get(next) {
            next += 1;
            ids.extend(self.view.children(id)?);
        }
        self.worked += ids.len();
        if way == Descendants::Leave {
            ids.reverse();
        }
        for id in ids {
            if way == Descendants::Leave {
                self.send_leaving(id, out)?;
                continue;
            }
            let Some((entry, uuid)) = self.content.find(self.view, id, None)? else {
                continue;
            };
            if self.batch.has(uuid) {
                continue;
            }
            let state = SyncState {
                state: match way {
                    Descendants::Enter => EntryState::Add,
                    _ => self.changed(),
                },
                entry_uuid: uuid,
                cookie: None,
            };
            self.content.write(self.view, &entry, (&state, None), out)?;
            self.sent += 1;
        }
        Ok(())
    }

    /// Sends that an entry has left the content with the one above it.
    fn send_leaving(&mut self, id: EntryId, out: &mut Vec<u8>) -> Result<(), StoreError> {
        let Some(entry) = self.view.entry(id)? else {
            return Ok(());
        };
        let types = &self.content.core.types;
        let Some(identity) = crate::core::entry_identity::EntryIdentity::of(types, &entry) else {
            return Ok(());
        };
        if !self.batch.has(identity.uuid) && self.content.matches(self.view, &entry)? {
            let name = self.view.dn(id)?;
            self.content.write_gone(identity.uuid, &name, None, out);
            self.sent += 1;
        }
        Ok(())
    }
}
