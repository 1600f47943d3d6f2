//! The state of an entry as a provider tells it: its numbers, and which of two states count.

use std::borrow::Cow;

use fulgurite_ldap::control::EntryUuid;
use fulgurite_ldap::{ContentAttribute, ContentEntry};
use fulgurite_schema::{Dn, Entry};
use fulgurite_store::PackedCsn;

use super::applier::Applier;
use super::error::ContentResult;
use super::join::{EntrySide, Join, Joined, hide_name, show_name};
use super::numbers::EntryNumbers;
use super::stamps::{EntryStamps, stamps_of};

/// The prefix of the rows of providers that tell whole entries.
const PREFIX: &[u8] = b"whole/";

/// The outcome of two states.
pub(super) struct Decided {
    pub(super) joined: Joined,
    /// True if others may decide in another way, before they hear of this.
    pub(super) announces: bool,
}

impl Applier<'_, '_> {
    /// Returns the numbers of the parts of an entry; `None` if the provider tells whole entries.
    pub(super) fn told_stamps(
        &self,
        given: &ContentEntry,
        csn: Option<PackedCsn>,
    ) -> Option<EntryStamps> {
        // Names among the values are others at the provider.
        let text = given
            .stamps
            .as_deref()
            .filter(|_| !self.content.is_massaged())?;
        EntryStamps::of_text(text, csn)
    }

    /// Returns the numbers of an entry that a provider tells.
    pub(super) fn numbers_of(&self, given: &ContentEntry, entry: &Entry) -> EntryNumbers {
        let values = self.number_of(entry);
        let place = given.place.as_ref().and_then(|place| place.csn.as_ref());
        let place = place.and_then(|csn| PackedCsn::parse(csn.as_bytes()));
        let whole = match self.told_stamps(given, values) {
            Some(stamps) => stamps.base,
            None => values,
        };
        EntryNumbers {
            values,
            place: place.max(whole),
        }
    }

    /// Notes if the provider tells whole entries.
    pub(super) fn note_form(&mut self, tells_whole: bool) -> ContentResult {
        if self.content.tells_whole == Some(tells_whole) {
            return Ok(());
        }
        self.content.tells_whole = Some(tells_whole);
        let key = [PREFIX, &self.content.rid.to_be_bytes()].concat();
        let is_noted = self.writer.sync_row(&key)?.is_some();
        match tells_whole {
            _ if is_noted == tells_whole => {}
            true => self.writer.put_sync_row(&key, &[])?,
            false => self.writer.delete_sync_row(&key)?,
        }
        Ok(())
    }

    /// Returns true if some provider of the database tells whole entries.
    fn has_whole_provider(&self) -> ContentResult<bool> {
        let mut has = false;
        let consumers = self.database.consumers();
        self.writer.sync_rows(PREFIX, &mut |key, _| {
            let rid = key.get(PREFIX.len()..).and_then(|rid| rid.try_into().ok());
            let rid = rid.map(u16::from_be_bytes);
            has |= consumers.iter().any(|consumer| Some(consumer.rid) == rid);
            !has
        })?;
        Ok(has)
    }

    /// Joins two states, or decides about the whole entry.
    pub(super) fn decide(
        &self,
        held: EntrySide<'_>,
        (incoming, csn): (&Entry, Option<PackedCsn>),
        told: Option<&EntryStamps>,
    ) -> ContentResult<Decided> {
        let whole = EntryStamps::whole(csn);
        let is_newer = csn > held.csn;
        if let Some(told) = told {
            let joined = self.join(held, (incoming, csn, told));
            let is_merge = joined.keeps && !joined.news.is_empty();
            if !is_merge || !self.has_whole_provider()? {
                return Ok(Decided {
                    joined,
                    announces: false,
                });
            }
            // The other one never hears of a merge: the entryCSN stays.
            let joined = match is_newer {
                true => self.join(held, (incoming, csn, &whole)),
                false => self.unchanged(held, false),
            };
            return Ok(Decided {
                joined,
                announces: true,
            });
        }
        let was_written_whole = held.stamps.are_whole();
        if is_newer {
            return Ok(Decided {
                announces: !was_written_whole && self.is_unknown_to_provider(held.csn, csn),
                joined: self.join(held, (incoming, csn, &whole)),
            });
        }
        let is_other = csn.map(|csn| csn.server()) != held.csn.map(|csn| csn.server());
        let announces = !was_written_whole && csn < held.csn && is_other && self.is_news(csn);
        let mut joined = self.unchanged(held, csn == held.csn);
        if !announces {
            joined.stamps = held.stamps.clone();
        }
        Ok(Decided { joined, announces })
    }

    /// Joins a state with the one here.
    pub(super) fn join(
        &self,
        held: EntrySide<'_>,
        (entry, csn, stamps): (&Entry, Option<PackedCsn>, &EntryStamps),
    ) -> Joined {
        let (schema, types) = (&*self.core.schema, &self.core.types);
        let given = EntrySide { entry, csn, stamps };
        let join = Join {
            schema,
            types,
            held,
            given,
        };
        let selection = &self.content.selection;
        let mut joined = join.run(&|description| selection.has(schema, description));
        // The same RDN, if the one here is that of an entry that is aside.
        joined.takes_leaf |= stamps.leaf == held.stamps.leaf;
        joined
    }

    /// Joins a state with the one that waits for its name. Returns `None` if that is the same.
    pub(super) fn with_waiting<'g>(
        &mut self,
        given: &'g ContentEntry,
    ) -> ContentResult<Option<Cow<'g, ContentEntry>>> {
        let Some(held) = self.waiting_entry(&given.uuid)? else {
            return Ok(Some(Cow::Borrowed(given)));
        };
        let Some(row) = self.waiting_row(&given.uuid)? else {
            return Ok(Some(Cow::Borrowed(given)));
        };
        let incoming = self.incoming(given)?;
        let numbers = self.numbers_of(given, &incoming);
        // The same state of another consumer is decided with the settings of this one.
        let is_other = held.rid != self.content.rid;
        if numbers == held.numbers && row.stamps == given.stamps && !is_other {
            return Ok(None);
        }
        let told = self.told_stamps(given, numbers.values);
        let before = self.incoming(&row)?;
        let waiting = self.told_stamps(&row, held.numbers.values);
        if let Some((told, waiting)) = told.zip(waiting) {
            self.stop_waiting(&given.uuid)?;
            let held_side = EntrySide {
                entry: &before,
                csn: held.numbers.values,
                stamps: &waiting,
            };
            let mut joined = self.join(held_side, (&incoming, numbers.values, &told));
            let takes_place = numbers.place > held.numbers.place;
            if joined.keeps_forgotten(numbers.place < held.numbers.place) {
                joined.stamps.announced = self.own_number(joined.stamps.announced);
            }
            let sides = [(&row, &before.dn), (given, &incoming.dn)];
            let joined = self.as_told(joined, sides, takes_place);
            return Ok(Some(Cow::Owned(joined)));
        }
        let waiting = held.numbers;
        let is_older = waiting.values >= numbers.values && waiting.place >= numbers.place;
        if is_older && !(is_other && waiting == numbers) {
            return Ok(None);
        }
        if waiting.values > numbers.values || waiting.place > numbers.place {
            // Each has a part of the newest state.
            self.settle_one(&given.uuid)?;
        }
        self.stop_waiting(&given.uuid)?;
        Ok(Some(Cow::Borrowed(given)))
    }

    /// Returns a joined state in the form in which providers tell it.
    fn as_told(
        &self,
        joined: Joined,
        [held, given]: [(&ContentEntry, &Dn); 2],
        takes_place: bool,
    ) -> ContentEntry {
        let schema = &self.core.schema;
        let leaf = if joined.takes_leaf { given.1 } else { held.1 };
        let (place, dn) = if takes_place { given } else { held };
        let (mut entry, mut stamps) = (joined.entry, joined.stamps);
        entry.dn = match (dn.parent(), leaf.leaf()) {
            (Some(above), Some(leaf)) => above.child(&leaf),
            _ => dn.clone(),
        };
        show_name(schema, &mut entry, &mut stamps);
        let attributes = entry.attributes.into_iter();
        let attributes = attributes.map(|held| ContentAttribute {
            description: held.description.text(schema).into_owned(),
            values: held.values,
        });
        ContentEntry {
            uuid: held.0.uuid,
            dn: entry.dn.pretty().to_owned(),
            attributes: attributes.collect(),
            place: place.place.clone(),
            stamps: Some(stamps.text()),
        }
    }

    /// Returns true if an entry gets another name by the state of it that waits. The state
    /// must have the RDN, too.
    pub(super) fn gets_name(
        &self,
        uuid: &EntryUuid,
        held: &Entry,
        waiting: &ContentEntry,
    ) -> ContentResult<bool> {
        let here = self.numbers_here(uuid, held)?;
        let incoming = self.incoming(waiting)?;
        let numbers = self.numbers_of(waiting, &incoming);
        let Some(told) = self.told_stamps(waiting, numbers.values) else {
            let is_newer = numbers.place > here.place.max(here.values);
            return Ok(numbers.values > here.values || (numbers.values == here.values && is_newer));
        };
        let own = stamps_of(self.writer, uuid, here.values)?;
        let moves = numbers.place > here.place;
        Ok(told.leaf > own.leaf || (told.leaf == own.leaf && moves))
    }

    /// Returns the held state as the outcome, as if one change had written it.
    fn unchanged(&self, held: EntrySide<'_>, takes_leaf: bool) -> Joined {
        let mut entry = held.entry.clone();
        hide_name(&self.core.schema, &mut entry, held.stamps);
        Joined {
            entry,
            stamps: EntryStamps {
                deleted: held.stamps.deleted,
                announced: held.stamps.announced,
                ..EntryStamps::whole(held.csn)
            },
            takes_leaf,
            news: Vec::new(),
            keeps: true,
        }
    }
}
