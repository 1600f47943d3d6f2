//! The entries of a full refresh: an ordinary search whose entries carry their state.

use fulgurite_ldap::control::{EntryState, SyncIdSet, SyncInfo, SyncState};
use fulgurite_ldap::{Control, MessageId, encode, oid};
use fulgurite_store::{CsnVector, EntryId, EntryView, PackedCsn, StoreError, View};
use rustc_hash::FxHashSet;

use super::cookie::CookieForm;
use super::peer::PeerFacts;
use crate::core::entry_identity::EntryIdentity;
use crate::core::well_known_types::WellKnownTypes;

/// The number of entries in one set.
const SET_LEN: usize = 256;

/// The part of a search's output that a full refresh adds.
#[derive(Debug, Default)]
pub(crate) struct RefreshEntries {
    /// The consumer's vector, if unchanged entries are not sent.
    covered: Option<CsnVector>,
    unchanged: Unchanged,
    /// The form of cookies.
    form: CookieForm,
    /// True if a merge may change an entry whose entryCSN stays.
    has_merges: bool,
    /// Unchanged entries to be named.
    present: Vec<[u8; 16]>,
    /// The entries that came before their turn, because others are below them.
    early: FxHashSet<EntryId>,
    /// The parent of the entry before. All above that entry has come.
    settled: Option<EntryId>,
}

/// The way in which a refresh tells an entry that the consumer has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Unchanged {
    /// By its UUID.
    #[default]
    Named,
    /// Not at all: the consumer gets all deletions.
    Omitted,
}

/// The way in which a full refresh tells an entry.
pub(crate) enum RefreshEntry {
    /// Not at all: it cannot be identified, or is none of this server.
    Nothing,
    /// By its UUID alone.
    Present,
    /// As a whole, with this control value.
    Whole(Vec<u8>),
}

impl RefreshEntries {
    /// Makes a refresh that does not send the entries which `covered` covers.
    pub(super) fn new(
        (covered, unchanged): (Option<CsnVector>, Unchanged),
        form: CookieForm,
        has_merges: bool,
    ) -> RefreshEntries {
        RefreshEntries {
            covered,
            unchanged,
            form,
            has_merges,
            present: Vec::new(),
            early: FxHashSet::default(),
            settled: None,
        }
    }

    /// Notes the parent of the next entry. Returns the one of the entry before: the way up from
    /// there needs no second look.
    pub(crate) fn settle_below(&mut self, parent: Option<EntryId>) -> Option<EntryId> {
        std::mem::replace(&mut self.settled, parent)
    }

    /// Notes that an entry comes before its turn. Returns false if it came already.
    pub(crate) fn comes_early(&mut self, id: EntryId) -> bool {
        self.early.insert(id)
    }

    /// Returns true if an entry came before its turn.
    pub(crate) fn came_early(&self, id: EntryId) -> bool {
        self.early.contains(&id)
    }

    /// Decides about an entry that matches.
    pub(crate) fn of(
        &mut self,
        types: &WellKnownTypes,
        (view, entry): (&View<'_>, &EntryView<'_>),
        (out, id): (&mut Vec<u8>, MessageId),
    ) -> Result<RefreshEntry, StoreError> {
        let identity = EntryIdentity::of(types, entry);
        let Some(identity) = identity.filter(|_| !is_glue(types, entry)) else {
            return Ok(RefreshEntry::Nothing);
        };
        let facts = match self.form.is_peer || self.has_merges {
            true => PeerFacts::of(types, view, entry)?,
            false => None,
        };
        let place = facts.as_ref().and_then(|facts| facts.place.as_ref());
        let moved = place.and_then(|place| place.csn.as_deref());
        let moved = moved.and_then(|csn| PackedCsn::parse(csn.as_bytes()));
        let covered = self.covered.as_ref();
        let is_covered = covered.is_some_and(|covered| {
            let has = |csn| covered.covers(csn);
            let mut facts = facts.iter();
            identity.csn.is_some_and(has)
                && moved.is_none_or(has)
                && facts.all(|facts| facts.stamps.are_covered(covered))
        });
        if is_covered && self.unchanged == Unchanged::Omitted {
            return Ok(RefreshEntry::Nothing);
        }
        if is_covered {
            self.present.push(identity.uuid);
            if self.present.len() >= SET_LEN {
                self.flush(out, id);
            }
            return Ok(RefreshEntry::Present);
        }
        let facts = facts.filter(|_| self.form.is_peer);
        let cookie = facts.map(|facts| self.form.with(None, &facts.cookie_part()));
        let state = SyncState {
            state: EntryState::Add,
            entry_uuid: identity.uuid,
            cookie: cookie.as_deref(),
        };
        Ok(RefreshEntry::Whole(state.encode()))
    }

    /// Writes the set of entries that are named but not yet written.
    pub(crate) fn flush(&mut self, out: &mut Vec<u8>, id: MessageId) {
        if self.present.is_empty() {
            return;
        }
        let set = SyncIdSet {
            cookie: None,
            refresh_deletes: false,
            uuids: std::mem::take(&mut self.present),
        };
        encode::sync_info(out, id, &SyncInfo::SyncIdSet(set));
    }
}

/// Returns true for an entry that only holds the place of a missing one.
pub(super) fn is_glue(types: &WellKnownTypes, entry: &EntryView<'_>) -> bool {
    let classes = entry.values(&types.structural_object_class);
    let class = classes.and_then(|classes| classes.first());
    class.is_some_and(|class| class.eq_ignore_ascii_case(b"glue"))
}

/// Returns the control with an entry's state.
pub(super) fn state_control(value: &[u8]) -> Control<'_> {
    Control::with_value(oid::SYNC_STATE, false, value)
}
