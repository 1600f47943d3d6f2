//! The content that a consumer asked for: scope, filter, selection and rights, asked about single
//! entries.

use std::borrow::Cow;
use std::sync::Arc;

use fulgurite_access::{Decisions, Rights};
use fulgurite_ldap::control::{EntryState, SyncIdSet, SyncInfo, SyncState};
use fulgurite_ldap::{MessageId, Scope, encode};
use fulgurite_schema::{AttributeDescription, AttributeSelector, Dn, Entry, Filter, Schema};
use fulgurite_store::{CsnVector, DnCache, EntryId, EntryView, PackedCsn, StoreError, View};

use super::cookie::CookieForm;
use super::entries::{is_glue, state_control};
use super::peer::{self, PeerFacts};
use crate::core::database::Database;
use crate::core::entry_identity::EntryIdentity;
use crate::core::foundation::Core;
use crate::core::well_known_types::WellKnownTypes;
use crate::rights::facts::{EntryFacts, EntrySource};
use crate::rights::projection::{AttributeRights, EntryCaches, Projection, StoredEntry};
use crate::rights::requester_rights::RequesterRights;
use crate::search::filter::{KnownGroupNames, PreparedFilter, VisibleStoredEntry};
use crate::search::normal_names::NormalNames;

/// The content of a consumer.
pub(super) struct Content<'d> {
    pub(super) core: &'d Core,
    pub(super) database: &'d Database,
    pub(super) decisions: Decisions<'d>,
    pub(super) id: MessageId,
    pub(super) base: Dn,
    pub(super) scope: Scope,
    pub(super) filter: Arc<Filter<AttributeSelector>>,
    pub(super) projection: Projection,
    /// True if referral objects are entries of the content.
    pub(super) has_referrals: bool,
    /// True if it is the whole tree, so that a consumer can follow each rename.
    pub(super) is_whole: bool,
    /// True if the content is there, and empty, while its base is missing.
    pub(super) may_lack_base: bool,
    /// The form of cookies for a consumer that is a server like this one.
    pub(super) peer: Option<CookieForm>,
    /// True if the message about an entry that leaves has its UUID alone, as in a refresh of slapd.
    pub(super) tells_uuids: bool,
    /// Present in the persist stage of a consumer like slapd.
    pub(super) entrance: Option<Entrance>,
    state: ContentState,
}

/// The entryCSN of entries that enter because of one above, for a consumer that passes over old
/// ones.
pub(super) struct Entrance {
    /// The number of the change that brings them.
    pub(super) csn: PackedCsn,
    /// The state that the consumer has. It passes over entries that this covers.
    pub(super) known: CsnVector,
}

/// The part that belongs to one view.
#[derive(Default)]
struct ContentState {
    tested: Option<PreparedFilter>,
    base: Option<EntryId>,
    may_have_any: bool,
    /// True if entries that leave are named.
    shows_names: bool,
    attribute_rights: AttributeRights,
    names: DnCache,
    normals: NormalNames,
    normal: String,
}

/// The parts of a content that the request decides.
pub(super) struct ContentRequest {
    pub(super) id: MessageId,
    pub(super) base: Dn,
    pub(super) scope: Scope,
    pub(super) filter: Arc<Filter<AttributeSelector>>,
    pub(super) projection: Projection,
    pub(super) has_referrals: bool,
}

impl<'d> Content<'d> {
    pub(super) fn new(
        core: &'d Core,
        database: &'d Database,
        decisions: Decisions<'d>,
        request: ContentRequest,
    ) -> Content<'d> {
        let ContentRequest {
            id,
            base,
            scope,
            filter,
            projection,
            has_referrals,
        } = request;
        let has_all = has_all(&filter, &core.schema);
        let is_top = scope == Scope::Subtree && database.suffixes().contains(&base);
        Content {
            is_whole: is_top && has_all && has_referrals && decisions.uniform(),
            core,
            database,
            decisions,
            id,
            base,
            scope,
            filter,
            projection,
            has_referrals,
            may_lack_base: false,
            peer: None,
            tells_uuids: false,
            entrance: None,
            state: ContentState::default(),
        }
    }

    /// Prepares for the entries of a view. Returns false if the base is gone.
    pub(super) fn enter(&mut self, view: &View<'d>) -> Result<bool, StoreError> {
        let (may_have_any, shows_names) = self.visible_entries(view);
        self.state = ContentState {
            tested: Some(PreparedFilter::new(&self.filter, view, self.requester())),
            base: match self.base.is_root() {
                true => Some(EntryId::ROOT),
                false => view.find(&self.base)?.entry(),
            },
            may_have_any,
            shows_names,
            ..ContentState::default()
        };
        Ok(self.state.base.is_some() || self.may_lack_base)
    }

    /// Frees what belongs to the view.
    pub(super) fn leave(&mut self) {
        self.state = ContentState::default();
    }

    fn requester(&self) -> RequesterRights<'_> {
        // A copy has the stored values, not those of dynamic lists.
        RequesterRights {
            stored_only: true,
            ..RequesterRights::new(self.core, self.database, &self.decisions)
        }
    }

    /// Returns true if a name is in the scope.
    pub(super) fn has_name(&self, dn: &Dn) -> bool {
        match self.scope {
            Scope::Base => *dn == self.base,
            Scope::One => dn.parent().is_some_and(|parent| parent == self.base),
            Scope::Subtree => self.covers_tree(dn),
            Scope::Children => self.covers_tree(dn) && *dn != self.base,
        }
    }

    /// Returns true if the scope has the entries below this name.
    pub(super) fn covers_tree(&self, dn: &Dn) -> bool {
        let is_deep = matches!(self.scope, Scope::Subtree | Scope::Children);
        is_deep && dn.is_within(&self.base)
    }

    /// Returns true if a rename from or to this name may move entries of the scope.
    pub(super) fn concerns(&self, dn: &Dn) -> bool {
        dn.is_within(&self.base) || self.base.is_within(dn)
    }

    /// Returns true if the scope reaches below its first level.
    pub(super) fn is_deep(&self) -> bool {
        matches!(self.scope, Scope::Subtree | Scope::Children)
    }

    /// Returns true if the rights to an entry do not follow its name or its values.
    pub(super) fn has_same_rights(&self) -> bool {
        self.decisions.uniform()
    }

    /// Returns true if the requester may read some entry.
    pub(super) fn may_have_any(&self) -> bool {
        self.state.may_have_any
    }

    /// Decides for all entries of a view. The first value is false if the requester may read none.
    /// The second is true if a search would show the name of any entry that matches. The
    /// requester may then know the names of entries that are gone.
    fn visible_entries(&self, view: &View<'d>) -> (bool, bool) {
        if !self.decisions.uniform() {
            return (true, false);
        }
        let facts = EntryFacts::new(self.core, view, EntrySource::Missing);
        let rights = facts.rights(&self.decisions, "");
        let mut may_test = true;
        let _ = (*self.filter)
            .clone()
            .map(&mut |selector: AttributeSelector| {
                let description = AttributeDescription::plain(selector.attribute);
                may_test &= rights.attribute(&description).allows(Rights::SEARCH);
                selector
            });
        let may_read = rights.entry().allows(Rights::READ);
        let shows_names = may_read && may_test && !self.decisions.by_value();
        (may_read, shows_names)
    }

    /// Returns an entry of this UUID, if the content has it.
    pub(super) fn find<'v>(
        &mut self,
        view: &'v View<'d>,
        id: EntryId,
        uuid: Option<[u8; 16]>,
    ) -> Result<Option<(EntryView<'v>, [u8; 16])>, StoreError> {
        let Some(entry) = view.entry(id)? else {
            return Ok(None);
        };
        let identity = EntryIdentity::of(&self.core.types, &entry);
        let identity = identity.filter(|found| uuid.is_none_or(|uuid| found.uuid == uuid));
        let Some(identity) = identity else {
            return Ok(None);
        };
        let has_it = self.has_place(view, &entry)? && self.matches(view, &entry)?;
        Ok(has_it.then_some((entry, identity.uuid)))
    }

    fn has_place(&self, view: &View<'d>, entry: &EntryView<'_>) -> Result<bool, StoreError> {
        let Some(base) = self.state.base else {
            return Ok(false);
        };
        let id = entry.id();
        let below = || match base {
            EntryId::ROOT => Ok(true),
            base => view.is_descendant(id, base),
        };
        Ok(match self.scope {
            Scope::Base => id == base,
            Scope::One => entry.parent().unwrap_or(EntryId::ROOT) == base,
            Scope::Subtree => id == base || below()?,
            Scope::Children => id != base && below()?,
        })
    }

    /// Tests an entry, whatever its place.
    pub(super) fn matches(
        &mut self,
        view: &View<'d>,
        entry: &EntryView<'_>,
    ) -> Result<bool, StoreError> {
        let (types, uniform) = (&self.core.types, self.decisions.uniform());
        let mut tested = self.state.tested.take();
        if let Some(tested) = &mut tested {
            tested.prepare(&self.filter, view, self.requester());
        }
        if !uniform {
            let mut normal = std::mem::take(&mut self.state.normal);
            self.state.normals.write(view, entry, &mut normal)?;
            self.state.normal = normal;
        }
        let facts = EntryFacts::new(self.core, view, EntrySource::Stored(*entry));
        let rights = facts.rights(&self.decisions, &self.state.normal);
        let hidden = is_glue(types, entry)
            || entry.is_placeholder()
            || self.scope != Scope::Base && types.is_subentry(entry)
            || !self.has_referrals && types.is_referral(entry);
        let mut admitted = false;
        if !hidden && rights.entry().allows(Rights::READ) {
            let visible = VisibleStoredEntry {
                entry: *entry,
                view,
                rights,
                requester: self.requester(),
                check: !uniform,
                by_value: self.decisions.by_value(),
                groups: KnownGroupNames::default(),
            };
            admitted = tested
                .as_ref()
                .is_some_and(|tested| tested.admits(view.schema(), &visible));
        }
        drop(facts);
        self.state.tested = tested;
        Ok(admitted)
    }

    /// Writes an entry that was [found](Self::find).
    pub(super) fn write(
        &mut self,
        view: &View<'d>,
        entry: &EntryView<'_>,
        state: &SyncState<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let facts = match self.peer {
            Some(form) => PeerFacts::of(&self.core.types, view, entry)?.map(|facts| (form, facts)),
            None => None,
        };
        let cookie = facts.map(|(form, facts)| form.with(state.cookie, &facts.cookie_part()));
        let state = SyncState {
            cookie: cookie.as_deref().or(state.cookie),
            ..*state
        };
        self.write_named(view, entry, (&state, None), out)
    }

    /// Writes an entry under another name, and with an older entryCSN. Else slapd would not take
    /// the message with its own name. It passes over what has the entryCSN of its copy. The
    /// entry has the value of the other name, which the next rename takes away.
    pub(super) fn write_aside(
        &mut self,
        view: &View<'d>,
        entry: &EntryView<'_>,
        (state, name): (&SyncState<'_>, &Dn),
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let aside = entry_aside(&self.core.types, &entry.without_bind_state(), name)?;
        self.write_named(view, entry, (state, Some((name, &aside))), out)
    }

    /// Writes an entry that has moved into the content, or within it, because of one above.
    ///
    /// slapd gets it with the number of that change, if it would pass over its own.
    pub(super) fn write_entering(
        &mut self,
        view: &View<'d>,
        entry: &EntryView<'_>,
        state: &SyncState<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let csn = EntryIdentity::of(&self.core.types, entry).and_then(|identity| identity.csn);
        let is_old = |entrance: &&Entrance| csn.is_some_and(|csn| entrance.known.covers(csn));
        let Some(entrance) = self.entrance.as_ref().filter(is_old) else {
            return self.write(view, entry, state, out);
        };
        let mut entering = entry.without_bind_state().to_entry()?;
        let text = entrance.csn.text();
        change_csns(&self.core.types, &mut entering, |csn| {
            *csn = text.clone().into_bytes()
        });
        let name = view.resolved_dn(entry.id())?;
        self.write_named(view, entry, (state, Some((&name, &entering))), out)
    }

    fn write_named(
        &mut self,
        view: &View<'d>,
        entry: &EntryView<'_>,
        (state, other): (&SyncState<'_>, Option<(&Dn, &Entry)>),
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        if !self.decisions.uniform() {
            let mut normal = std::mem::take(&mut self.state.normal);
            self.state.normals.write(view, entry, &mut normal)?;
            self.state.normal = normal;
        }
        let facts = EntryFacts::new(self.core, view, EntrySource::Stored(*entry));
        let mut attribute_rights = std::mem::take(&mut self.state.attribute_rights);
        let mut names = std::mem::take(&mut self.state.names);
        let value = state.encode();
        // Each server has its own binds.
        let entry = &entry.without_bind_state();
        let stored = StoredEntry {
            controls: &[state_control(&value)],
            entry,
            other_name: other.map(|(name, _)| name.pretty()),
            view,
            requester: self.requester(),
            rights: facts.rights(&self.decisions, &self.state.normal),
        };
        let mut caches = EntryCaches {
            attribute_rights: &mut attribute_rights,
            names: &mut names,
        };
        let projection = &self.projection;
        let written = match other {
            None => projection.write_stored(out, self.id, &stored, &mut caches),
            Some((_, other)) => projection.write_loose(out, self.id, &stored, other),
        };
        drop(facts);
        self.state.attribute_rights = attribute_rights;
        self.state.names = names;
        written
    }

    /// Returns true if glue has the name of an entry that is gone.
    ///
    /// slapd may have the entries below it. So it would refuse the message of a deletion, again
    /// and again. After a set it makes glue of the entry.
    pub(super) fn has_left_glue(&self, view: &View<'_>, dn: &str) -> Result<bool, StoreError> {
        if !self.database.is_multi_provider() {
            return Ok(false);
        }
        let Ok(dn) = Dn::parse(view.schema(), dn) else {
            return Ok(false);
        };
        let Some(id) = view.find(&dn)?.entry() else {
            return Ok(false);
        };
        let entry = view.entry(id)?;
        Ok(entry.is_some_and(|entry| is_glue(&self.core.types, &entry)))
    }

    /// Writes that an entry has left the content, as a set of one UUID.
    pub(super) fn write_gone_set(&self, uuid: [u8; 16], cookie: Option<&[u8]>, out: &mut Vec<u8>) {
        let set = SyncIdSet {
            cookie,
            refresh_deletes: true,
            uuids: vec![uuid],
        };
        encode::sync_info(out, self.id, &SyncInfo::SyncIdSet(set));
    }

    /// Writes that an entry has left the content.
    pub(super) fn write_gone(
        &self,
        view: &View<'_>,
        (uuid, dn): ([u8; 16], &str),
        cookie: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        if self.tells_uuids {
            // slapd with a log of its session on disk makes a set of each deletion, too.
            self.write_gone_set(uuid, cookie, out);
            return Ok(());
        }
        let ended = match self.peer {
            Some(form) => peer::ended_part(view, uuid)?.map(|part| form.with(cookie, &part)),
            None => None,
        };
        let state = SyncState {
            state: EntryState::Delete,
            entry_uuid: uuid,
            cookie: ended.as_deref().or(cookie),
        };
        let value = state.encode();
        let name = match self.state.shows_names && !dn.is_empty() {
            true => Cow::Borrowed(dn),
            false => Cow::Owned(self.nobody(uuid)),
        };
        encode::search_entry(out, self.id, name.as_bytes()).finish(&[state_control(&value)]);
        Ok(())
    }
}

impl Content<'_> {
    /// Returns a name in place of one that is secret or unknown. slapd's consumer finds what it
    /// deletes by the UUID, but refuses an empty name, again and again.
    fn nobody(&self, uuid: [u8; 16]) -> String {
        let uuid = uuid::Uuid::from_bytes(uuid).hyphenated();
        format!("entryUUID={uuid},{}", self.base.pretty())
    }
}

/// Returns true for a filter that every entry matches.
pub(crate) fn has_all(filter: &Filter<AttributeSelector>, schema: &Schema) -> bool {
    match filter {
        Filter::Present(selector) => selector.attribute == schema.object_class_attribute(),
        Filter::Constant(truth) => truth.is_true(),
        _ => false,
    }
}

/// Returns the entry as it would be under another name, with an entryCSN just below its own.
fn entry_aside(
    types: &WellKnownTypes,
    entry: &EntryView<'_>,
    name: &Dn,
) -> Result<Entry, StoreError> {
    let mut entry = entry.to_entry()?;
    change_csns(types, &mut entry, |csn| earlier_csn(csn));
    for ava in name.rdn().into_iter().flat_map(|rdn| rdn.avas()) {
        let description = AttributeDescription::plain(ava.attribute);
        entry
            .attributes
            .retain(|attribute| attribute.description != description);
        entry.push(&description, ava.value.to_vec());
    }
    Ok(entry)
}

fn change_csns(types: &WellKnownTypes, entry: &mut Entry, change: impl FnMut(&mut Vec<u8>)) {
    let attributes = entry.attributes.iter_mut();
    let csns = attributes.filter(|attribute| attribute.description == types.entry_csn);
    csns.flat_map(|attribute| attribute.values.iter_mut())
        .for_each(change);
}

/// Turns a number into the greatest one of the same server below it.
///
/// It stays as it is if it is the first of its hour.
fn earlier_csn(csn: &mut [u8]) {
    const TEXT: &[u8] = b"??????????5959.999999Z#ffffff#???#ffffff";
    let is_csn = csn.len() == TEXT.len();
    let mut digits = csn
        .iter_mut()
        .zip(TEXT)
        .filter(|(_, last)| last.is_ascii_hexdigit());
    if !is_csn || digits.all(|(digit, _)| *digit == b'0') {
        return;
    }
    for (digit, last) in csn.iter_mut().zip(TEXT).rev() {
        match (*last, *digit) {
            (b'?' | b'.' | b'Z' | b'#', _) => {}
            (last, b'0') => *digit = last,
            (_, b'a') => {
                *digit = b'9';
                return;
            }
            _ => {
                *digit -= 1;
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::earlier_csn;

    #[test]
    fn the_number_before() {
        let before = |csn: &str| {
            let mut csn = csn.as_bytes().to_vec();
            earlier_csn(&mut csn);
            String::from_utf8(csn).unwrap()
        };
        let pairs = [
            (
                "20261126140905.039503Z#000000#001#00000a",
                "20261126140905.039503Z#000000#001#000009",
            ),
            (
                "20261126140905.039503Z#000001#001#000000",
                "20261126140905.039503Z#000000#001#ffffff",
            ),
            (
                "20261126140905.039503Z#000000#00a#000000",
                "20261126140905.039502Z#ffffff#00a#ffffff",
            ),
            (
                "20261126140900.000000Z#000000#001#000000",
                "20261126140859.999999Z#ffffff#001#ffffff",
            ),
            (
                "20261126140000.000000Z#000000#001#000000",
                "20261126140000.000000Z#000000#001#000000",
            ),
            ("none", "none"),
        ];
        for (csn, expected) in pairs {
            assert_eq!(before(csn), expected);
        }
    }
}
