//! The provider of content synchronisation, against a consumer in a few lines.
//!
//! The consumer is strict where slapd's is. It takes no name that another entry holds, and deletes
//! no entry with others below it. It passes over an entry that has the entryCSN of its copy.

use std::collections::{BTreeMap, BTreeSet};

use fulgurite_directory::{OverlaySettings, Progress, Quantum, SearchTask};
use fulgurite_ldap::control::{EntryState, SyncDone, SyncInfo, SyncMode, SyncRequest, SyncState};
use fulgurite_ldap::{ModifyOperation, Request, Response, ResponseMessage, ResultCode, Scope, oid};
use fulgurite_policy::Origin;
use fulgurite_store::Retention;
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
    base: &'static str,
    scope: Scope,
    filter: &'static str,
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

    fn is_everything(&self) -> bool {
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
    /// True in the first refresh. It is in order of ids, and slapd makes places for parents.
    pub(crate) is_first: bool,
    /// Texts of the messages, for failures and for tests of their order.
    pub(crate) seen: Vec<String>,
    pub(crate) result: Option<ResultCode>,
    pub(crate) is_strict: bool,
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
    fn take(&mut self, bytes: &mut Vec<u8>) {
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
                self.entry(&state, Copied { dn, attributes });
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
                    SyncInfo::SyncIdSet(set) => {
                        assert!(!set.refresh_deletes, "deletions come as entries");
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

    fn entry(&mut self, state: &SyncState<'_>, copy: Copied) {
        let uuid = state.entry_uuid;
        self.named.insert(uuid);
        if state.state == EntryState::Delete {
            let Some(gone) = self.copies.remove(&uuid) else {
                return;
            };
            let below = format!(",{}", gone.dn);
            let child = self.copies.values().find(|held| held.dn.ends_with(&below));
            let is_free = child.is_none() || !self.is_strict;
            assert!(is_free, "{child:?} hangs in the air: {:#?}", self.seen);
            return;
        }
        let mut holders = self.copies.iter();
        let holder = holders.find(|(held, other)| **held != uuid && other.dn == copy.dn);
        assert!(holder.is_none(), "{} is taken: {:#?}", copy.dn, self.seen);
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

    fn end_refresh(&mut self, deletes: bool, cookie: Option<&[u8]>) {
        assert!(self.is_refreshing);
        self.is_refreshing = false;
        self.seen.push(format!("end {deletes}"));
        if !deletes {
            self.copies.retain(|uuid, _| self.named.contains(uuid));
        }
        self.keep(cookie);
    }

    fn keep(&mut self, cookie: Option<&[u8]>) {
        if let Some(cookie) = cookie {
            // A consumer merges what a cookie tells into its state.
            let vector = |cookie: &[u8]| -> BTreeMap<String, String> {
                let cookie = String::from_utf8(cookie.to_vec()).unwrap();
                let numbers = cookie.split_once("csn=").map_or("", |(_, numbers)| numbers);
                let numbers = numbers.split(';').filter(|number| !number.is_empty());
                let by_server = |csn: &str| (csn[30..33].to_owned(), csn.to_owned());
                numbers.map(by_server).collect()
            };
            let mut all = self.cookie.as_deref().map(vector).unwrap_or_default();
            all.extend(vector(cookie));
            let numbers: Vec<String> = all.into_values().collect();
            self.cookie = Some(format!("rid=007,csn={}", numbers.join(";")).into_bytes());
        }
    }
}

pub(crate) fn begin<'d>(
    world: &'d World,
    wanted: &Wanted,
    consumer: &mut Consumer,
    mode: SyncMode,
) -> SearchTask<'d> {
    consumer.begin();
    let request = SyncRequest {
        mode,
        cookie: consumer.cookie.as_deref(),
        reload_hint: true,
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
    directory.begin_search(&world.root(), message.id, request, &message.controls)
}

/// Begins a refresh and lets the connection break after a few steps.
fn break_off(world: &World, wanted: &Wanted, consumer: &mut Consumer, random: &mut Random) {
    let mut task = begin(world, wanted, consumer, SyncMode::RefreshOnly);
    let mut out = Vec::new();
    let small = Quantum {
        candidates_max: random.between(1, 4),
        bytes_max: random.between(1, 900),
    };
    for _ in 0..random.between(1, 5) {
        if task.advance(&mut out, small) != Progress::More {
            break;
        }
        if random.chance(20) {
            task.park();
            for _ in 0..random.between(1, 4) {
                change(world, random, 0);
            }
        }
    }
    consumer.take(&mut out);
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

#[track_caller]
pub(crate) fn assert_equal(world: &World, wanted: &Wanted, consumer: &Consumer, label: &str) {
    let copies = consumer.copies.values();
    let copies: BTreeMap<String, Copied> = copies
        .map(|copy| {
            let uuid = copy.attributes["entryUUID"].iter().next().unwrap();
            (uuid.clone(), copy.clone())
        })
        .collect();
    let expected = content(world, wanted);
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

#[test]
fn a_consumer_gets_everything_and_then_the_changes() {
    let world = world();
    let mut consumer = Consumer::new(&EVERYTHING);
    assert_eq!(
        refresh(&world, &EVERYTHING, &mut consumer),
        ResultCode::Success
    );
    assert_eq!(consumer.seen.last().unwrap(), "end true");
    assert_equal(&world, &EVERYTHING, &consumer, "first");
    refresh(&world, &EVERYTHING, &mut consumer);
    assert_eq!(consumer.seen, ["end true"], "nothing has changed");
    describe(&world, JANE, "new");
    describe(&world, JANE, "newer");
    world.delete(&world.root(), JOHN);
    refresh(&world, &EVERYTHING, &mut consumer);
    assert_eq!(
        consumer.seen,
        [
            &format!("Add {JANE}"),
            &format!("Delete {JOHN}"),
            "end true"
        ]
    );
    assert_equal(&world, &EVERYTHING, &consumer, "second");
}

#[test]
fn the_persist_stage_tells_each_change() {
    let world = world();
    let mut consumer = Consumer::new(&EVERYTHING);
    let mut task = begin(
        &world,
        &EVERYTHING,
        &mut consumer,
        SyncMode::RefreshAndPersist,
    );
    let quantum = Quantum::default();
    assert_eq!(run(&mut task, &mut consumer, quantum), Progress::Waiting);
    assert_eq!(world.directory.waiting_searches(), 1);
    consumer.seen.clear();
    assert_eq!(run(&mut task, &mut consumer, quantum), Progress::Waiting);
    assert!(consumer.seen.is_empty(), "{:?}", consumer.seen);
    describe(&world, JANE, "new");
    run(&mut task, &mut consumer, quantum);
    rename(&world, JANE, "uid=jo", None);
    run(&mut task, &mut consumer, quantum);
    world.delete(&world.root(), JOHN);
    run(&mut task, &mut consumer, quantum);
    let jo = "uid=jo,ou=people,dc=example,dc=com";
    assert_eq!(
        consumer.seen,
        [
            format!("Modify {JANE}"),
            format!("Modify {jo}"),
            format!("Delete {JOHN}")
        ]
    );
    assert_equal(&world, &EVERYTHING, &consumer, "after");
    drop(task);
    assert_eq!(world.directory.waiting_searches(), 0);
    // The cookies of the messages were enough.
    refresh(&world, &EVERYTHING, &mut consumer);
    assert_eq!(consumer.seen, ["end true"]);
}

#[test]
fn a_change_outside_the_content_moves_the_cookie_alone() {
    let world = world();
    let wanted = Wanted {
        filter: "(objectClass=groupOfNames)",
        ..EVERYTHING
    };
    let mut consumer = Consumer::new(&wanted);
    let mut task = begin(&world, &wanted, &mut consumer, SyncMode::RefreshAndPersist);
    run(&mut task, &mut consumer, Quantum::default());
    consumer.seen.clear();
    describe(&world, JANE, "new");
    run(&mut task, &mut consumer, Quantum::default());
    assert_eq!(consumer.seen, ["newcookie"]);
}

#[test]
fn swapped_names_do_not_meet() {
    let world = world();
    let mut consumer = Consumer::new(&EVERYTHING);
    refresh(&world, &EVERYTHING, &mut consumer);
    rename(&world, JANE, "uid=tmp", None);
    rename(&world, JOHN, "uid=jane", None);
    rename(
        &world,
        "uid=tmp,ou=people,dc=example,dc=com",
        "uid=john",
        None,
    );
    refresh(&world, &EVERYTHING, &mut consumer);
    assert_equal(&world, &EVERYTHING, &consumer, "leaves");
    // The same with entries that have others below them.
    let groups = "ou=groups,dc=example,dc=com";
    rename(&world, PEOPLE, "ou=tmp", None);
    rename(&world, groups, "ou=people", None);
    rename(&world, "ou=tmp,dc=example,dc=com", "ou=groups", None);
    refresh(&world, &EVERYTHING, &mut consumer);
    assert_equal(&world, &EVERYTHING, &consumer, "trees");
}

#[test]
fn a_name_for_a_moment_has_another_number() {
    let world = world();
    let mut consumer = Consumer::new(&EVERYTHING);
    refresh(&world, &EVERYTHING, &mut consumer);
    rename(&world, JANE, "uid=tmp", None);
    rename(&world, JOHN, "uid=jane", None);
    let tmp = "uid=tmp,ou=people,dc=example,dc=com";
    rename(&world, tmp, "uid=john", None);
    refresh(&world, &EVERYTHING, &mut consumer);
    // One of the two comes twice, and the consumer takes both messages.
    let sent = consumer.seen.iter().filter(|seen| seen.starts_with("Add"));
    assert_eq!(sent.count(), 3, "{:#?}", consumer.seen);
    assert_equal(&world, &EVERYTHING, &consumer, "swapped");
}

#[test]
fn a_parent_takes_the_name_of_an_entry_that_moved_below_it() {
    let world = world();
    let mut consumer = Consumer::new(&EVERYTHING);
    refresh(&world, &EVERYTHING, &mut consumer);
    rename(
        &world,
        "ou=groups,dc=example,dc=com",
        "ou=groups",
        Some(PEOPLE),
    );
    rename(&world, PEOPLE, "ou=groups", None);
    refresh(&world, &EVERYTHING, &mut consumer);
    let copies: BTreeSet<&str> = consumer.copies.values().map(|copy| &*copy.dn).collect();
    assert!(
        copies.contains("ou=groups,ou=groups,dc=example,dc=com"),
        "{copies:?}"
    );
}

#[test]
fn a_subtree_that_moves_into_the_scope_or_out_of_it_takes_all_along() {
    let world = world();
    let wanted = Wanted {
        base: "ou=groups,dc=example,dc=com",
        ..EVERYTHING
    };
    let mut consumer = Consumer::new(&wanted);
    let mut task = begin(&world, &wanted, &mut consumer, SyncMode::RefreshAndPersist);
    run(&mut task, &mut consumer, Quantum::default());
    let mut poller = Consumer::new(&wanted);
    refresh(&world, &wanted, &mut poller);
    rename(&world, PEOPLE, "ou=people", Some(wanted.base));
    run(&mut task, &mut consumer, Quantum::default());
    assert_eq!(consumer.copies.len(), 5);
    assert_equal(&world, &wanted, &consumer, "in");
    refresh(&world, &wanted, &mut poller);
    assert_equal(&world, &wanted, &poller, "in, by refresh");
    rename(
        &world,
        "ou=people,ou=groups,dc=example,dc=com",
        "ou=people",
        Some(TOP),
    );
    run(&mut task, &mut consumer, Quantum::default());
    refresh(&world, &wanted, &mut poller);
    assert_equal(&world, &wanted, &consumer, "out");
    assert_equal(&world, &wanted, &poller, "out, by refresh");
}

#[test]
fn a_trimmed_log_leads_to_a_present_phase() {
    let world = world();
    let mut consumer = Consumer::new(&EVERYTHING);
    refresh(&world, &EVERYTHING, &mut consumer);
    world.store.keep_changes(Retention {
        bytes_max: 0,
        ..Retention::default()
    });
    world.delete(&world.root(), JOHN);
    for round in 0..10 {
        describe(&world, JANE, &round.to_string());
    }
    refresh(&world, &EVERYTHING, &mut consumer);
    let whole = consumer
        .seen
        .iter()
        .filter(|seen| seen.starts_with("Add"))
        .count();
    assert_eq!(whole, 1, "{:?}", consumer.seen);
    assert_eq!(consumer.seen.last().unwrap(), "end false");
    assert_equal(&world, &EVERYTHING, &consumer, "present");
    let mut persisting = Consumer::new(&EVERYTHING);
    let mut task = begin(
        &world,
        &EVERYTHING,
        &mut persisting,
        SyncMode::RefreshAndPersist,
    );
    run(&mut task, &mut persisting, Quantum::default());
    for round in 0..10 {
        describe(&world, JANE, &round.to_string());
    }
    run(&mut task, &mut persisting, Quantum::default());
    assert_eq!(persisting.result, Some(ResultCode::ESyncRefreshRequired));
}

#[test]
fn requests_are_refused_in_slapds_words() {
    let world = world();
    let ask = |world: &World, value: Option<&[u8]>, base: &str| {
        let mut search = asked(base, Scope::Subtree, "(objectClass=*)", &[]);
        let value = value.map(<[u8]>::to_vec);
        search.controls = vec![(oid::SYNC_REQUEST, true, value)];
        let result = world.search(&world.root(), &search).result;
        (result.code.number(), result.diagnostic)
    };
    let refused = |code: u32, text: &str| (code, text.to_owned());
    for mode in [0, 2, 4] {
        let answer = ask(&world, Some(&[0x30, 3, 0x0a, 1, mode]), TOP);
        assert_eq!(answer, refused(2, "Sync control : unknown update mode"));
    }
    let malformed = ask(&world, Some(b"\x30\x02\x04\x00"), TOP);
    assert_eq!(malformed, refused(2, "Sync control : mode decoding error"));
    assert_eq!(
        ask(&world, None, TOP),
        refused(2, "Sync control value is absent")
    );
    let only = &[0x30, 3, 0x0a, 1, 1][..];
    assert_eq!(ask(&world, Some(only), "ou=none,dc=example,dc=com").0, 32);
    let newer = SyncRequest {
        mode: SyncMode::RefreshOnly,
        cookie: Some(b"rid=001,csn=20990101000000.000000Z#000000#001#000000"),
        reload_hint: false,
    };
    let newer = ask(&world, Some(&newer.encode()), TOP);
    assert_eq!(newer, refused(53, "consumer state is newer than provider!"));
    let without = World::new();
    let refused_there = refused(12, "critical control unavailable in context");
    assert_eq!(ask(&without, Some(only), TOP), refused_there);
    assert!(
        !without
            .read("", &["supportedControl"])
            .get("supportedControl")
            .contains(&oid::SYNC_REQUEST)
    );
    assert!(
        world
            .read("", &["supportedControl"])
            .get("supportedControl")
            .contains(&oid::SYNC_REQUEST)
    );
}

#[test]
fn the_top_entry_shows_the_state_and_no_search_finds_it() {
    let world = world();
    let csn = world.read("cn=all,ou=groups,dc=example,dc=com", &["entryCSN"]);
    let csn = csn.get("entryCSN").concat();
    for attributes in [&["contextCSN"][..], &["+"]] {
        let top = world.read(TOP, attributes);
        assert_eq!(top.get("contextCSN"), [&csn]);
    }
    assert!(world.read(TOP, &["*"]).get("contextCSN").is_empty());
    assert!(world.read(PEOPLE, &["contextCSN"]).names().is_empty());
    assert!(world.names(&format!("(contextCSN={csn})")).is_empty());
    let changes = [(ModifyOperation::Replace, "contextCSN", &[&*csn][..])];
    let refused = world.modify(&world.root(), TOP, &changes);
    assert_eq!(code(&refused), ResultCode::ConstraintViolation);
}

/// One random change.
fn change(world: &World, random: &mut Random, round: usize) {
    let root = world.root();
    let entries = world.names("(!(objectClass=domain))");
    let containers = world.names("(|(objectClass=organizationalUnit)(objectClass=domain))");
    let parent = random.pick(&containers).clone();
    let unit = format!("ou={}", random.pick(&["a", "b", "c"]));
    let leaf = format!("cn={}", random.pick(&["1", "2", "3", "4"]));
    let value = random.pick(&["x", "y", "z"]).to_string() + &(round % 7).to_string();
    match random.below(8) {
        0 => {
            let attributes = [("objectClass", "organizationalUnit")];
            world.add(&root, &format!("{unit},{parent}"), &attributes);
        }
        1 | 2 => {
            let attributes = [("objectClass", "device"), ("description", &*value)];
            world.add(&root, &format!("{leaf},{parent}"), &attributes);
        }
        _ if entries.is_empty() => {}
        3 => {
            world.delete(&root, &random.pick(&entries).clone());
        }
        4 | 5 => {
            let changes = [(ModifyOperation::Replace, "description", &[&*value][..])];
            world.modify(&root, &random.pick(&entries).clone(), &changes);
        }
        number => {
            let dn = random.pick(&entries);
            let rdn = if dn.starts_with("ou=") { unit } else { leaf };
            let superior = (number == 7).then_some(parent.as_str());
            world.rename(&root, dn, &rdn, true, superior);
        }
    }
}

const BASE: &str = "ou=a,dc=example,dc=com";

fn random_contents() -> Vec<Wanted> {
    vec![
        EVERYTHING,
        Wanted {
            base: BASE,
            ..EVERYTHING
        },
        Wanted {
            base: BASE,
            scope: Scope::Children,
            ..EVERYTHING
        },
        Wanted {
            scope: Scope::One,
            ..EVERYTHING
        },
        Wanted {
            filter: "(description=x*)",
            ..EVERYTHING
        },
        Wanted {
            filter: "(!(objectClass=organizationalUnit))",
            ..EVERYTHING
        },
        Wanted {
            base: BASE,
            filter: "(|(description=*0)(cn=1))",
            ..EVERYTHING
        },
    ]
}

fn random_history(seed: u64, wanted: &Wanted) {
    let world = World::empty(|options| {
        options.server_id = 1;
        options.databases[0].overlays = vec![OverlaySettings::new("syncprov", Origin::Default)];
    });
    let root = world.root();
    world.add(&root, TOP, &[("objectClass", "domain")]);
    world.add(&root, BASE, &[("objectClass", "organizationalUnit")]);
    let mut random = Random::new(seed);
    let (mut poller, mut persisting) = (Consumer::new(wanted), Consumer::new(wanted));
    let mut task = None;
    for round in 0..25 {
        let is_last = round == 24;
        let small = Quantum {
            candidates_max: random.between(1, 5),
            bytes_max: random.between(1, 500),
        };
        for _ in 0..random.between(1, 6) {
            change(&world, &mut random, round);
        }
        let label = format!(
            "seed {seed}, round {round}, {} {}",
            wanted.base, wanted.filter
        );
        let running = task.get_or_insert_with(|| {
            begin(&world, wanted, &mut persisting, SyncMode::RefreshAndPersist)
        });
        // A slow client, whose search gives up its snapshot while changes go on.
        let mut out = Vec::new();
        let progress = running.advance(&mut out, small);
        persisting.take(&mut out);
        if random.chance(30) {
            running.park();
        }
        if random.chance(30) {
            change(&world, &mut random, round);
        }
        let progress = match progress {
            Progress::Done => progress,
            _ => run(running, &mut persisting, small),
        };
        if progress == Progress::Done {
            // The base is gone, or it never was.
            persisting = Consumer::new(wanted);
            task = None;
        } else {
            assert_equal(&world, wanted, &persisting, &label);
            if random.chance(20) {
                task = None;
            }
        }
        // Only a refresh from the log leaves a consumer that can go on.
        if wanted.is_everything() && poller.cookie.is_some() && random.chance(30) {
            break_off(&world, wanted, &mut poller, &mut random);
            if poller
                .result
                .is_some_and(|result| result != ResultCode::Success)
            {
                poller = Consumer::new(wanted);
            }
        }
        if random.chance(50) || is_last {
            if refresh(&world, wanted, &mut poller) == ResultCode::Success {
                assert_equal(&world, wanted, &poller, &format!("{label}, polled"));
            } else {
                poller = Consumer::new(wanted);
            }
        }
    }
}

#[test]
fn consumers_equal_the_provider_after_random_changes() {
    let first = fulgurite_testkit::seed("sync", 1);
    for seed in first..first + fulgurite_testkit::quick_or_long(6, 200) {
        for wanted in random_contents() {
            random_history(seed, &wanted);
        }
    }
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
