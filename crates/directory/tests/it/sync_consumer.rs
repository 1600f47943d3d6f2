//! A consumer of content synchronisation in a few lines, for tests of the provider.
//!
//! It is strict where slapd's is. It takes no name that another entry holds, and deletes no entry
//! with others below it. It passes over an entry that has the entryCSN of its copy. So it does
//! with a message if it has the first number of its cookie.

use std::collections::{BTreeMap, BTreeSet};

use fulgurite_directory::{OverlaySettings, Progress, Quantum, SearchTask, Session};
use fulgurite_ldap::control::{EntryState, SyncDone, SyncInfo, SyncMode, SyncRequest, SyncState};
use fulgurite_ldap::{ModifyOperation, Request, Response, ResponseMessage, ResultCode, Scope, oid};
use fulgurite_policy::Origin;
use fulgurite_testkit::Random;

use crate::support::*;

pub(crate) type Uuid = [u8; 16];

pub(crate) fn world() -> World {
    World::with(|options| {
        options.server_id = 1;
        let overlay = OverlaySettings::new("syncprov", Origin::Default);
        options.databases[0].overlays = vec![overlay];
    })
}

/// An entry as a consumer has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Copied {
    pub(crate) dn: String,
    pub(crate) attributes: BTreeMap<String, BTreeSet<String>>,
}

/// The content that a consumer asks for.
#[derive(Clone)]
pub(crate) struct Wanted {
    pub(crate) base: &'static str,
    pub(crate) scope: Scope,
    pub(crate) filter: &'static str,
}

pub(crate) const EVERYTHING: Wanted = Wanted {
    base: TOP,
    scope: Scope::Subtree,
    filter: "(objectClass=*)",
};

impl Wanted {
    fn search(&self) -> Asked {
        let attributes = ["*", "entryUUID", "entryCSN", "creatorsName"];
        asked(self.base, self.scope, self.filter, &attributes)
    }

    pub(crate) fn is_everything(&self) -> bool {
        self.base == TOP && self.scope == Scope::Subtree && self.filter == EVERYTHING.filter
    }
}

/// A consumer.
#[derive(Default)]
pub(crate) struct Consumer {
    pub(crate) copies: BTreeMap<Uuid, Copied>,
    pub(crate) cookie: Option<Vec<u8>>,
    /// The entries named in this refresh.
    pub(crate) named: BTreeSet<Uuid>,
    pub(crate) is_refreshing: bool,
    /// True in the first refresh. An earlier one may have broken off. As at slapd, a newcomer then
    /// takes the name of an entry that has not come yet. An entry may also come below the new name
    /// of one that was renamed meanwhile.
    pub(crate) is_first: bool,
    /// Texts of the messages, for failures and for tests of their order.
    pub(crate) seen: Vec<String>,
    pub(crate) result: Option<ResultCode>,
    pub(crate) is_strict: bool,
    /// True if slapd has entries below a deleted one. The deletion then comes as a set.
    pub(crate) has_entries_below: bool,
    pub(crate) program: Program,
}

/// The program that a consumer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Program {
    /// This one, with a copy that no client changes: `fg=0`, and the reload hint.
    #[default]
    Ours,
    /// slapd gives the hint alone. It passes over entries in the persist stage whose number is in
    /// its state.
    Slapd,
    /// A client gives neither. Deletions of a refresh come in sets. Otherwise it is like slapd.
    Client,
}

impl Program {
    pub(crate) fn random(random: &mut Random) -> Program {
        *random.pick(&[Program::Ours, Program::Slapd, Program::Client])
    }
}

impl Consumer {
    pub(crate) fn new(wanted: &Wanted) -> Consumer {
        Consumer {
            is_strict: wanted.is_everything(),
            ..Consumer::default()
        }
    }

    fn begin(&mut self) {
        self.named.clear();
        self.is_refreshing = true;
        self.is_first = self.cookie.is_none();
        self.result = None;
        self.seen.clear();
    }

    /// Applies the messages in `bytes`.
    pub(crate) fn take(&mut self, bytes: &mut Vec<u8>) {
        let all = std::mem::take(bytes);
        let mut rest = all.as_slice();
        while !rest.is_empty() {
            let len = fulgurite_ldap::frame(rest, usize::MAX).unwrap().unwrap();
            let (pdu, behind) = rest.split_at(len);
            rest = behind;
            self.message(&ResponseMessage::decode(pdu).unwrap());
        }
    }

    fn message(&mut self, message: &ResponseMessage<'_>) {
        match &message.response {
            Response::SearchEntry(entry) => {
                let control = message.controls.find(oid::SYNC_STATE).expect("a state");
                let state = SyncState::decode(control.value.unwrap()).unwrap();
                let dn = String::from_utf8(entry.dn.to_vec()).unwrap();
                self.seen.push(format!("{:?} {dn}", state.state));
                let mut attributes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
                for attribute in &entry.attributes {
                    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                    let values = attribute.values.iter().map(text).collect();
                    attributes.insert(text(attribute.description), values);
                }
                if !self.has_first_of(state.cookie) {
                    self.entry(&state, Copied { dn, attributes });
                }
                self.keep(state.cookie);
            }
            Response::Intermediate { name, value } => {
                assert_eq!(*name, Some(oid::SYNC_INFO.as_bytes()));
                match SyncInfo::decode(value.unwrap()).unwrap() {
                    SyncInfo::NewCookie(cookie) => {
                        self.seen.push("newcookie".to_owned());
                        self.keep(Some(cookie));
                    }
                    SyncInfo::RefreshDelete(end) => self.end_refresh(true, end.cookie),
                    SyncInfo::RefreshPresent(end) => self.end_refresh(false, end.cookie),
                    SyncInfo::SyncIdSet(set) if set.refresh_deletes => {
                        let takes_sets = self.program == Program::Client || self.has_entries_below;
                        assert!(takes_sets, "deletions come as entries");
                        self.seen.push(format!("gone {}", set.uuids.len()));
                        self.gone(&set.uuids);
                        self.keep(set.cookie);
                    }
                    SyncInfo::SyncIdSet(set) => {
                        self.seen.push(format!("present {}", set.uuids.len()));
                        self.named.extend(&set.uuids);
                        self.keep(set.cookie);
                    }
                }
            }
            Response::SearchDone(result) => {
                self.result = Some(result.code);
                let Some(control) = message.controls.find(oid::SYNC_DONE) else {
                    return;
                };
                let done = SyncDone::decode(control.value.unwrap()).unwrap();
                self.end_refresh(done.refresh_deletes, done.cookie);
            }
            other => panic!("{other:?}"),
        }
    }

    /// Drops the entries of a set. As at slapd, their order does not matter.
    fn gone(&mut self, uuids: &[Uuid]) {
        assert!(self.is_refreshing, "sets are for refreshes");
        self.named.extend(uuids);
        let gone = uuids.iter().filter_map(|uuid| self.copies.remove(uuid));
        let gone: Vec<String> = gone.map(|copy| format!(",{}", copy.dn)).collect();
        let hangs = |copy: &&Copied| gone.iter().any(|above| copy.dn.ends_with(above));
        let child = self.copies.values().find(hangs);
        let is_free = child.is_none() || !self.is_strict;
        assert!(is_free, "{child:?} hangs in the air: {:#?}", self.seen);
    }

    fn entry(&mut self, state: &SyncState<'_>, copy: Copied) {
        let uuid = state.entry_uuid;
        self.named.insert(uuid);
        if state.state == EntryState::Delete {
            let in_set = self.program == Program::Client && self.is_refreshing;
            assert!(!in_set, "a deletion outside a set: {:#?}", self.seen);
            let Some(gone) = self.copies.remove(&uuid) else {
                return;
            };
            let below = format!(",{}", gone.dn);
            let child = self.copies.values().find(|held| held.dn.ends_with(&below));
            let is_free = child.is_none() || !self.is_strict;
            assert!(is_free, "{child:?} hangs in the air: {:#?}", self.seen);
            return;
        }
        if self.program != Program::Ours && !self.is_refreshing && self.covers(&copy) {
            return;
        }
        let mut holders = self.copies.iter();
        let holder = holders.find(|(held, other)| **held != uuid && other.dn == copy.dn);
        let holder = holder.map(|(held, _)| *held);
        if let Some(stale) = holder.filter(|held| self.is_first && !self.named.contains(held)) {
            self.copies.remove(&stale);
        } else {
            assert!(holder.is_none(), "{} is taken: {:#?}", copy.dn, self.seen);
        }
        let parent = copy.dn.split_once(',').map_or("", |(_, parent)| parent);
        let mut copies = self.copies.values();
        let has_parent = copy.dn == TOP || copies.any(|held| held.dn == parent);
        assert!(
            has_parent || !self.is_strict || self.is_first,
            "{} has no parent: {:#?}",
            copy.dn,
            self.seen
        );
        let csn = copy.attributes.get("entryCSN");
        let known = self.copies.get(&uuid);
        if known.is_some_and(|known| csn.is_some() && known.attributes.get("entryCSN") == csn) {
            return;
        }
        let before = self.copies.insert(uuid, copy.clone());
        if let Some(before) = before.filter(|before| before.dn != copy.dn) {
            let (old, new) = (format!(",{}", before.dn), format!(",{}", copy.dn));
            for held in self.copies.values_mut() {
                if let Some(front) = held.dn.strip_suffix(&old) {
                    held.dn = format!("{front}{new}");
                }
            }
        }
    }

    /// Returns true if the state has the number of an entry.
    fn covers(&self, copy: &Copied) -> bool {
        let state = String::from_utf8(self.cookie.clone().unwrap_or_default()).unwrap();
        let numbers = state.split_once("csn=").map_or("", |(_, numbers)| numbers);
        let number = csn_of(copy);
        let is_later = |held: &&str| held[30..33] == number[30..33] && *held >= number;
        numbers
            .split(';')
            .filter(|held| held.len() > 33)
            .any(|held| is_later(&held))
    }

    fn end_refresh(&mut self, deletes: bool, cookie: Option<&[u8]>) {
        assert!(self.is_refreshing);
        self.is_refreshing = false;
        self.seen.push(format!("end {deletes}"));
        if !deletes {
            self.copies.retain(|uuid, _| self.named.contains(uuid));
        }
        self.keep(cookie);
    }

    /// Returns true if the state has the first number of a cookie.
    fn has_first_of(&self, cookie: Option<&[u8]>) -> bool {
        let first = cookie.map(numbers).unwrap_or_default().into_iter().next();
        let held = self.cookie.as_deref().map(numbers).unwrap_or_default();
        first.is_some_and(|(server, csn)| held.get(&server).is_some_and(|held| *held >= csn))
    }

    fn keep(&mut self, cookie: Option<&[u8]>) {
        if let Some(cookie) = cookie {
            // A consumer merges what a cookie tells into its state.
            let mut all = self.cookie.as_deref().map(numbers).unwrap_or_default();
            all.extend(numbers(cookie));
            let numbers: Vec<String> = all.into_values().collect();
            self.cookie = Some(format!("rid=007,csn={}", numbers.join(";")).into_bytes());
        }
    }
}

/// Returns the numbers of a cookie by their servers.
fn numbers(cookie: &[u8]) -> BTreeMap<String, String> {
    let cookie = String::from_utf8(cookie.to_vec()).unwrap();
    let numbers = cookie.split_once("csn=").map_or("", |(_, numbers)| numbers);
    let numbers = numbers.split(';').filter(|number| !number.is_empty());
    let by_server = |csn: &str| (csn[30..33].to_owned(), csn.to_owned());
    numbers.map(by_server).collect()
}

pub(crate) fn begin<'d>(
    world: &'d World,
    wanted: &Wanted,
    consumer: &mut Consumer,
    mode: SyncMode,
) -> SearchTask<'d> {
    begin_as(&world.root(), world, wanted, (consumer, mode))
}

/// Begins a search of another requester than the root.
pub(crate) fn begin_as<'d>(
    session: &Session,
    world: &'d World,
    wanted: &Wanted,
    (consumer, mode): (&mut Consumer, SyncMode),
) -> SearchTask<'d> {
    consumer.begin();
    let mut cookie = consumer.cookie.clone();
    let cookie = cookie.get_or_insert_with(|| b"rid=007".to_vec());
    if consumer.program == Program::Ours {
        cookie.extend_from_slice(b",fg=0");
    }
    let request = SyncRequest {
        mode,
        cookie: Some(cookie.as_slice()),
        reload_hint: consumer.program != Program::Client,
    };
    let mut search = wanted.search();
    search.controls = vec![
        (oid::MANAGE_DSA_IT, true, None),
        (oid::SYNC_REQUEST, true, Some(request.encode())),
    ];
    let pdu = search.pdu();
    let message = decode(&pdu);
    let Request::Search(request) = &message.request else {
        unreachable!()
    };
    let directory = &world.directory;
    directory.begin_search(session, message.id, request, &message.controls)
}

/// Advances until the search waits or ends.
pub(crate) fn run(
    task: &mut SearchTask<'_>,
    consumer: &mut Consumer,
    quantum: Quantum,
) -> Progress {
    let mut out = Vec::new();
    loop {
        let progress = task.advance(&mut out, quantum);
        consumer.take(&mut out);
        if progress != Progress::More {
            return progress;
        }
    }
}

pub(crate) fn refresh(world: &World, wanted: &Wanted, consumer: &mut Consumer) -> ResultCode {
    let mut task = begin(world, wanted, consumer, SyncMode::RefreshOnly);
    assert_eq!(run(&mut task, consumer, Quantum::default()), Progress::Done);
    consumer.result.expect("a result")
}

/// The content as a search finds it.
pub(crate) fn content(world: &World, wanted: &Wanted) -> BTreeMap<String, Copied> {
    let found = world.search(&world.root(), &wanted.search());
    let entries = found.entries.into_iter().map(|entry| {
        let uuid = entry.get("entryUUID").concat();
        let attributes = entry.attributes.into_iter();
        let attributes = attributes.map(|(name, values)| (name, values.into_iter().collect()));
        let copy = Copied {
            dn: entry.dn,
            attributes: attributes.collect(),
        };
        (uuid, copy)
    });
    entries.collect()
}

/// Returns the entryCSN of a copy.
fn csn_of(copy: &Copied) -> &str {
    copy.attributes["entryCSN"].iter().next().unwrap()
}

#[track_caller]
pub(crate) fn assert_equal(world: &World, wanted: &Wanted, consumer: &Consumer, label: &str) {
    let expected = content(world, wanted);
    let copies = consumer.copies.values();
    let copies: BTreeMap<String, Copied> = copies
        .map(|copy| {
            let uuid = copy.attributes["entryUUID"].iter().next().unwrap();
            let mut copy = copy.clone();
            // Entries that have moved along with others have the number of the move there.
            if consumer.program != Program::Ours
                && let Some(other) = expected.get(uuid)
                && csn_of(&copy) > csn_of(other)
            {
                let numbers = other.attributes["entryCSN"].clone();
                copy.attributes.insert("entryCSN".to_owned(), numbers);
            }
            (
                copy.attributes["entryUUID"].iter().next().unwrap().clone(),
                copy,
            )
        })
        .collect();
    for (uuid, copy) in &expected {
        assert_eq!(
            copies.get(uuid),
            Some(copy),
            "{label}: {:#?}",
            consumer.seen
        );
    }
    for (uuid, copy) in &copies {
        let extra = (!expected.contains_key(uuid)).then_some(copy);
        assert_eq!(extra, None, "{label}: {:#?}", consumer.seen);
    }
}

pub(crate) fn describe(world: &World, dn: &str, value: &str) {
    let changes = [(ModifyOperation::Replace, "description", &[value][..])];
    let result = world.modify(&world.root(), dn, &changes);
    assert_eq!(code(&result), ResultCode::Success, "{dn}");
}

pub(crate) fn rename(world: &World, dn: &str, rdn: &str, superior: Option<&str>) {
    let result = world.rename(&world.root(), dn, rdn, true, superior);
    assert_eq!(code(&result), ResultCode::Success, "{dn} {rdn} {result:?}");
}

/// Does something while a search is in the persist stage.
pub(crate) fn while_a_search_waits(world: &World, doing: impl FnOnce()) {
    let mut consumer = Consumer::new(&EVERYTHING);
    let mode = SyncMode::RefreshAndPersist;
    let mut task = begin(world, &EVERYTHING, &mut consumer, mode);
    let progress = run(&mut task, &mut consumer, Quantum::default());
    assert_eq!(progress, Progress::Waiting);
    doing();
}
