//! Exchanges as slapd was recorded to make them, and others that no provider should make.

use fulgurite_ldap::control::{SyncRequest, SyncState};
use fulgurite_ldap::{Limits, Message, Operation, encode};
use fulgurite_policy::RetryList;
use proptest::prelude::*;

use super::*;

const CSN1: &str = "20260101000000.000001Z#000000#001#000000";
const CSN2: &str = "20260101000000.000002Z#000000#001#000000";
const CSN3: &str = "20260101000000.000003Z#000000#001#000000";
const SECRETS: BindSecrets = BindSecrets([7; 18]);

fn settings(persist: bool) -> Syncrepl {
    Syncrepl {
        persist,
        interval_s: 10,
        retry: Some(RetryList {
            steps: vec![(5, None)],
        }),
        ..Syncrepl::new(7, "ldap://h", "dc=x")
    }
}

fn cookie_of(csn: &str) -> Vec<u8> {
    format!("rid=007,sid=001,csn={csn}").into_bytes()
}

/// A consumer with the provider's side of its connection.
pub(super) struct Play {
    pub(super) consumer: Consumer,
    search: MessageId,
}

impl Play {
    /// Binds, and reads the search request.
    pub(super) fn begin(settings: Syncrepl, stored: &[&str]) -> (Play, SyncRequestOf) {
        let mut consumer = Consumer::new(settings, Vector::of(stored), None);
        assert!(matches!(consumer.turn(0), Turn::Connect { .. }));
        consumer.connected(0, SECRETS).expect("a bind");
        let mut play = Play {
            consumer,
            search: 0,
        };
        let id = play.request().0;
        let mut out = Vec::new();
        encode::bind_result(&mut out, id, &LdapResult::success(), None, &[]);
        play.hear(&out).expect("bound");
        let request = play.search();
        (play, request)
    }

    /// Returns the number of the search under way.
    pub(super) fn search_id(&self) -> MessageId {
        self.consumer
            .search
            .as_ref()
            .map_or(self.search, |search| search.id)
    }

    fn request(&mut self) -> (MessageId, Vec<u8>) {
        let bytes = self.consumer.take_output();
        let message = Message::decode(&bytes, &Limits::default()).expect("one request");
        (message.id, bytes)
    }

    fn search(&mut self) -> SyncRequestOf {
        let (id, bytes) = self.request();
        self.search = id;
        let message = Message::decode(&bytes, &Limits::default()).expect("a search");
        let control = message
            .controls
            .find(oid::SYNC_REQUEST)
            .expect("the control");
        assert!(!control.critical);
        assert!(message.controls.find(oid::MANAGE_DSA_IT).is_some());
        let request = SyncRequest::decode(control.value.expect("a value")).expect("sound");
        let Request::Search(search) = message.request else {
            panic!("no search");
        };
        SyncRequestOf {
            mode: request.mode,
            cookie: String::from_utf8(request.cookie.expect("a cookie").to_vec()).expect("text"),
            hint: request.reload_hint,
            base: String::from_utf8(search.base.to_vec()).expect("text"),
        }
    }

    fn hear(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        let message = ResponseMessage::decode(bytes).expect("a message");
        self.consumer.receive(&message, 1)
    }

    fn info(&mut self, info: &SyncInfo<'_>) -> Result<(), Trouble> {
        let mut out = Vec::new();
        encode::sync_info(&mut out, self.search, info);
        self.hear(&out)
    }

    fn entry(&mut self, state: EntryState, uuid: u8, cookie: Option<&[u8]>) -> Result<(), Trouble> {
        let value = SyncState {
            state,
            entry_uuid: [uuid; 16],
            cookie,
        };
        let value = value.encode();
        let control = Control::with_value(oid::SYNC_STATE, false, &value);
        let mut out = Vec::new();
        encode::search_entry(&mut out, self.search, b"cn=a,dc=x").finish(&[control]);
        self.hear(&out)
    }

    fn done(&mut self, code: u32, text: &str, done: Option<SyncDone<'_>>) -> Result<(), Trouble> {
        let value = done.map(|done| done.encode());
        let control = value
            .as_ref()
            .map(|value| Control::with_value(oid::SYNC_DONE, false, value));
        let controls: Vec<_> = control.into_iter().collect();
        let result = LdapResult::with_diagnostic(ResultCode::from_number(code), text);
        let mut out = Vec::new();
        encode::result(&mut out, self.search, Operation::Search, &result, &controls);
        self.hear(&out)
    }

    fn changes(&mut self) -> Vec<String> {
        let changes = self.consumer.take_changes().into_iter();
        let shown = changes.map(|change| match change {
            ContentChange::BeginRefresh => "begin".to_owned(),
            ContentChange::Entry(entry) => format!("entry {}", entry.uuid[0]),
            ContentChange::Delete { uuid, csn, .. } => {
                format!("delete {} {}", uuid[0], csn.unwrap_or_default())
            }
            ContentChange::Present(uuids) => format!("present {}", uuids.len()),
            ContentChange::DropUnnamed { state } => format!("drop {}", state.join(";")),
            ContentChange::EndRefresh => "end".to_owned(),
            ContentChange::Reached { csns, replaces } => {
                format!(
                    "reached {}{}",
                    csns.join(";"),
                    if replaces { " !" } else { "" }
                )
            }
            ContentChange::Operation(operation) => format!("operation {}", operation.csn),
        });
        shown.collect()
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct SyncRequestOf {
    mode: SyncMode,
    cookie: String,
    hint: bool,
    base: String,
}

const END: PhaseEnd<'static> = PhaseEnd {
    cookie: None,
    refresh_done: true,
};

#[test]
fn a_first_refresh_has_no_state_and_stores_it_at_the_end() {
    let (mut play, request) = Play::begin(settings(false), &[]);
    assert_eq!(
        (request.mode, request.cookie.as_str(), request.hint),
        (SyncMode::RefreshOnly, "rid=007,fg=0", true)
    );
    play.entry(EntryState::Add, 1, None).expect("an entry");
    let cookie = cookie_of(CSN1);
    let done = SyncDone {
        cookie: Some(&cookie),
        refresh_deletes: true,
    };
    play.done(0, "", Some(done)).expect("the end");
    let drop = format!("drop {CSN1}");
    let reached = format!("reached {CSN1}");
    // An entry that is here and was not sent is gone: the provider knew no state.
    assert_eq!(play.changes(), ["begin", "entry 1", &drop, "end", &reached]);
    assert_eq!(play.consumer.turn(1), Turn::Wait { until_ms: 10_001 });
    assert!(matches!(play.consumer.turn(10_001), Turn::Connect { .. }));
}

#[test]
fn an_equal_state_changes_nothing() {
    let (mut play, request) = Play::begin(settings(true), &[CSN1]);
    assert_eq!(request.cookie, format!("rid=007,csn={CSN1},fg=0"));
    assert_eq!(request.mode, SyncMode::RefreshAndPersist);
    play.info(&SyncInfo::RefreshDelete(END)).expect("A1 00");
    assert_eq!(play.changes(), ["begin", "end"]);
    assert_eq!(play.consumer.status().phase, Phase::Persisting);
}

#[test]
fn a_deletion_of_the_session_log_does_not_move_the_state() {
    let (mut play, _) = Play::begin(settings(true), &[CSN1]);
    let cookie = format!("rid=007,sid=001,csn={CSN1},delcsn={CSN3}");
    let set = SyncIdSet {
        cookie: Some(cookie.as_bytes()),
        refresh_deletes: true,
        uuids: vec![[9; 16]],
    };
    play.info(&SyncInfo::SyncIdSet(set)).expect("a set");
    play.entry(EntryState::Add, 1, None)
        .expect("an older change");
    let cookie = cookie_of(CSN3);
    let end = PhaseEnd {
        cookie: Some(&cookie),
        ..END
    };
    play.info(&SyncInfo::RefreshDelete(end)).expect("the end");
    let (delete, reached) = (format!("delete 9 {CSN3}"), format!("reached {CSN3}"));
    assert_eq!(
        play.changes(),
        ["begin", &delete, "entry 1", "end", &reached]
    );
}

#[test]
fn one_number_is_that_of_a_deletion_unless_a_peer_tells_it() {
    let (mut play, _) = Play::begin(settings(true), &[CSN1]);
    play.info(&SyncInfo::RefreshDelete(END)).expect("the end");
    play.changes();
    let told = |parts: &str| format!("rid=007,sid=001,csn={CSN2}{parts}");
    for (cookie, number) in [
        (told(""), CSN2),
        (told(",fg=1"), ""),
        (told(&format!(",fg=1,delcsn={CSN3}")), CSN3),
    ] {
        let deletion = play.entry(EntryState::Delete, 9, Some(cookie.as_bytes()));
        deletion.expect("a deletion");
        let delete = format!("delete 9 {number}");
        assert_eq!(play.changes()[0].trim_end(), delete.trim_end(), "{cookie}");
    }
}

#[test]
fn a_present_phase_drops_what_it_does_not_name() {
    let (mut play, _) = Play::begin(settings(true), &[CSN1]);
    let set = SyncIdSet {
        cookie: None,
        refresh_deletes: false,
        uuids: vec![[1; 16], [2; 16]],
    };
    play.info(&SyncInfo::SyncIdSet(set)).expect("a set");
    play.entry(EntryState::Add, 2, None).expect("a change");
    let cookie = cookie_of(CSN2);
    let end = PhaseEnd {
        cookie: Some(&cookie),
        ..END
    };
    play.info(&SyncInfo::RefreshPresent(end)).expect("the end");
    let (drop, reached) = (format!("drop {CSN2}"), format!("reached {CSN2}"));
    assert_eq!(
        play.changes(),
        ["begin", "present 2", "entry 2", &drop, "end", &reached]
    );
    // Then each change as it happens.
    let cookie = cookie_of(CSN3);
    play.entry(EntryState::Modify, 2, Some(&cookie))
        .expect("a change");
    play.entry(EntryState::Delete, 1, Some(&cookie))
        .expect("a deletion");
    play.info(&SyncInfo::NewCookie(&cookie))
        .expect("a change elsewhere");
    let (delete, reached) = (format!("delete 1 {CSN3}"), format!("reached {CSN3}"));
    assert_eq!(
        play.changes(),
        ["entry 2", &reached, &delete, &reached, &reached]
    );
}

#[test]
fn a_refresh_that_ends_in_an_error_drops_nothing() {
    for code in [3, 4, 32, 50, 51, 52, 80] {
        let (mut play, _) = Play::begin(settings(false), &[CSN1]);
        play.entry(EntryState::Add, 1, None).expect("an entry");
        let trouble = play.done(code, "", None).expect_err("a refusal");
        assert_eq!(play.changes(), ["begin", "entry 1"]);
        play.consumer.failed(&trouble, 1_000, 0);
        assert_eq!(play.consumer.turn(1_000), Turn::Wait { until_ms: 6_000 });
    }
    let (mut play, _) = Play::begin(settings(false), &[CSN1]);
    assert!(play.done(0, "", None).is_err(), "no Sync Done control");
    assert_eq!(play.changes(), ["begin"]);
}

#[test]
fn a_provider_that_lost_changes_is_asked_for_everything() {
    for (code, text) in [(53, "consumer state is newer than provider!"), (4096, "")] {
        let (mut play, _) = Play::begin(settings(true), &[CSN3]);
        play.done(code, text, None).expect("another search");
        assert_eq!(play.search().cookie, "rid=007,fg=0");
        play.entry(EntryState::Add, 1, None).expect("an entry");
        let cookie = cookie_of(CSN2);
        let end = PhaseEnd {
            cookie: Some(&cookie),
            ..END
        };
        play.info(&SyncInfo::RefreshDelete(end)).expect("the end");
        let (drop, reached) = (format!("drop {CSN2}"), format!("reached {CSN2} !"));
        let expected = ["begin", "begin", "entry 1", &drop, "end", &reached];
        assert_eq!(play.changes(), expected);
        // Once is enough.
        let (mut play, _) = Play::begin(settings(true), &[]);
        assert!(play.done(code, text, None).is_err());
    }
}

#[test]
fn the_log_follows_the_entries() {
    let log = Syncrepl {
        data: SyncData::AccessLog,
        log_base: Some("cn=log".to_owned()),
        ..settings(true)
    };
    let (mut play, request) = Play::begin(log.clone(), &[]);
    assert_eq!(
        (request.base.as_str(), request.mode),
        ("dc=x", SyncMode::RefreshOnly)
    );
    let cookie = cookie_of(CSN1);
    let done = SyncDone {
        cookie: Some(&cookie),
        refresh_deletes: true,
    };
    play.done(0, "", Some(done)).expect("the entries");
    let request = play.search();
    assert_eq!(
        (request.base.as_str(), request.mode),
        ("cn=log", SyncMode::RefreshAndPersist)
    );
    assert_eq!(
        (request.cookie, request.hint),
        (format!("rid=007,csn={CSN1},fg=0"), false)
    );
    play.changes();
    // A cookie that is too old brings the entries again.
    play.done(4096, "sync cookie is stale", None)
        .expect("the entries");
    assert_eq!(play.search().base, "dc=x");
    let (_, request) = Play::begin(log, &[CSN1]);
    assert_eq!(request.base, "cn=log");
}

#[test]
fn an_ended_persist_stage_begins_again_at_once() {
    let (mut play, _) = Play::begin(settings(true), &[CSN1]);
    play.info(&SyncInfo::RefreshDelete(END)).expect("the end");
    play.done(0, "", None).expect("another search");
    assert_eq!(play.search().cookie, format!("rid=007,csn={CSN1},fg=0"));
    assert!(play.done(0, "", None).is_err(), "an end without a refresh");
}

#[test]
fn wrong_messages_are_troubles() {
    let (mut play, _) = Play::begin(settings(true), &[CSN1]);
    let mut out = Vec::new();
    encode::search_entry(&mut out, play.search, b"cn=a,dc=x").finish(&[]);
    assert!(play.hear(&out).is_err(), "an entry without a state");
    play.info(&SyncInfo::RefreshDelete(END)).expect("the end");
    assert!(
        play.info(&SyncInfo::RefreshPresent(END)).is_err(),
        "a second end"
    );
    assert_eq!(play.changes(), ["begin", "end"], "nothing is dropped");
    let own = Consumer::new(settings(true), Vector::default(), Some(1));
    let mut play = Play {
        consumer: own,
        search: 1,
    };
    play.consumer.turn(0);
    play.consumer.connected(0, SECRETS).expect("a bind");
    let mut out = Vec::new();
    encode::bind_result(&mut out, 1, &LdapResult::success(), None, &[]);
    play.consumer.take_output();
    play.hear(&out).expect("bound");
    assert!(play.search().cookie.starts_with("rid=007,sid=001"));
    let cookie = cookie_of(CSN1);
    let same = play.info(&SyncInfo::NewCookie(&cookie));
    assert_eq!(same, Err(Trouble::SameServer(1)));
}

proptest! {
    /// Any messages in any order: no panic, and nothing is dropped unless a refresh has ended.
    #[test]
    fn no_message_breaks_it(steps in prop::collection::vec((0..9_u8, any::<u8>(), any::<bool>()), 0..40)) {
        let (mut play, _) = Play::begin(settings(true), &[CSN1]);
        let mut may_drop = false;
        for (kind, number, flag) in steps {
            if play.consumer.status().phase == Phase::Waiting { break; }
            let cookie = if flag { cookie_of(CSN2) } else { vec![number; usize::from(number % 60)] };
            let end = PhaseEnd { cookie: Some(&cookie), refresh_done: flag };
            may_drop |= matches!(kind, 3..=5);
            let done = match kind {
                0 => play.entry(EntryState::Add, number, Some(&cookie)),
                1 => play.entry(EntryState::Delete, number, Some(&cookie)),
                2 => play.info(&SyncInfo::NewCookie(&cookie)),
                3 => play.info(&SyncInfo::RefreshDelete(end)),
                4 => play.info(&SyncInfo::RefreshPresent(end)),
                5 => play.done(0, "", Some(SyncDone { cookie: Some(&cookie), refresh_deletes: flag })),
                6 => play.done(u32::from(number), "newer than provider", None),
                7 => play.entry(EntryState::Present, number, None),
                _ => {
                    let uuids = vec![[number; 16]];
                    play.info(&SyncInfo::SyncIdSet(SyncIdSet { cookie: Some(&cookie), refresh_deletes: flag, uuids }))
                }
            };
            if let Err(trouble) = done {
                play.consumer.failed(&trouble, 5, number);
            } else if matches!(kind, 5 | 6) {
                let output = play.consumer.take_output();
                if let Ok(message) = Message::decode(&output, &Limits::default()) {
                    play.search = message.id;
                }
            }
            let dropped = play.changes().iter().any(|change| change.starts_with("drop"));
            prop_assert!(may_drop || !dropped);
        }
    }
}

#[test]
fn a_copy_asks_for_what_it_needs_as_slapd_does() {
    let asked = |attributes: &str| {
        let names = attributes.split_whitespace().map(str::to_owned);
        let settings = Syncrepl {
            attributes: names.collect(),
            ..Syncrepl::new(1, "ldap://h", "dc=x")
        };
        settings.copied_attributes().join(" ")
    };
    // Each line is a request that slapd made.
    for (attributes, expected) in [
        ("", "* +"),
        ("* +", "* +"),
        ("*", "* structuralObjectClass entryCSN"),
        ("+", "+ objectClass"),
        ("cn sn", "cn sn objectClass structuralObjectClass entryCSN"),
        (
            "o entryUUID",
            "o entryUUID objectClass structuralObjectClass entryCSN",
        ),
        (
            "structuralObjectClass o",
            "o objectClass structuralObjectClass entryCSN",
        ),
    ] {
        assert_eq!(asked(attributes), expected, "{attributes}");
    }
}
