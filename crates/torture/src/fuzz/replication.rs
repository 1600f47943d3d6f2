//! Replication with a peer that sends anything: requests to the provider, and responses to the
//! consumer.
//!
//! ```text
//!   sync_provider:  form u8 | cookie, or the value of the control ...
//!   sync_consumer:  settings u8 | { kind u8 | length u8 | bytes } ...
//! ```
//!
//! The provider is asked for its content, or for the log of its changes. It answers with no more
//! than that. The changes that the consumer makes are
//! stored as a server would do it. The store is sound afterwards, and the state is made of numbers.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use fulgurite_directory::{
    AccessLogOptions, ContentOptions, CopiedContent, DatabaseOptions, Directory, DirectoryOptions,
    OverlaySettings, Progress, Quantum, RootAccount,
};
use fulgurite_ldap::control::{SyncDone, SyncInfo, SyncMode, SyncRequest, SyncState};
use fulgurite_ldap::{
    Control, FilterBuf, LdapResult, Message, Request, ResponseMessage, ResultCode, Scope,
    SearchRequest, encode, frame, oid,
};
use fulgurite_policy::{Origin, OverlayLine, RetryList, Sourced, SyncData, Syncrepl, find_overlay};
use fulgurite_replica::{BindSecrets, Consumer, ContentChange, Phase, Vector};
use fulgurite_schema::{Builtin, Schema, SchemaBuilder};
use fulgurite_store::{Durability, Store, StoreOptions};

use super::bytes::Bytes;
use super::cookies::{ROOT, TOP, add, decoded, encoded, root};
use super::files::in_scratch;

/// Entries of the provider, its top included.
const ENTRIES: usize = 12;
/// More bytes than a refresh of the provider's content has, or one of its log.
const ANSWER_MAX: usize = 30_000;
const LOG: &str = "cn=log";
const CSN: &str = "20260101000000.000001Z#000000#001#000000";

/// A request of a consumer.
pub fn sync_provider(bytes: &[u8]) {
    let mut input = Bytes(bytes);
    let form = input.octet();
    let rest = input.take(bytes.len());
    let directory = provider();
    let request = SyncRequest {
        mode: match form & 1 {
            0 => SyncMode::RefreshOnly,
            _ => SyncMode::RefreshAndPersist,
        },
        cookie: (form & 2 == 0).then_some(rest),
        reload_hint: form & 4 != 0,
    };
    let value = match form & 8 {
        0 => request.encode(),
        _ => rest.to_vec(),
    };
    let filter = FilterBuf::parse("(objectClass=*)").expect("a filter");
    let base = if form & 16 == 0 { TOP } else { LOG };
    let search = SearchRequest {
        attributes: vec![b"*", b"+"],
        ..SearchRequest::new(base, Scope::Subtree, filter.filter())
    };
    let control = Control::with_value(oid::SYNC_REQUEST, true, &value);
    let pdu = encoded(&Request::Search(search), &[control]);
    let message = decoded(&pdu);
    let Request::Search(search) = &message.request else {
        unreachable!("a search was encoded")
    };
    let session = root(directory);
    let mut task = directory.begin_search(&session, message.id, search, &message.controls);
    let mut out = Vec::new();
    for _ in 0..ENTRIES * 10 {
        match task.advance(&mut out, Quantum::default()) {
            Progress::More => {}
            _ => return check_answer(&out),
        }
    }
    panic!("a refresh of {ENTRIES} entries without an end");
}

fn check_answer(out: &[u8]) {
    assert!(out.len() < ANSWER_MAX, "{} bytes", out.len());
    let mut rest = out;
    while let Ok(Some(len)) = frame(rest, usize::MAX) {
        let (pdu, others) = rest.split_at(len);
        ResponseMessage::decode(pdu).expect("our own response");
        rest = others;
    }
    assert!(rest.is_empty(), "half a response");
}

/// One directory for the whole process; its files are removed while it is open.
fn provider() -> &'static Directory {
    static DIRECTORY: OnceLock<Directory> = OnceLock::new();
    DIRECTORY.get_or_init(|| {
        let mut made = None;
        in_scratch(|path| made = Some(filled(path)));
        made.expect("a directory")
    })
}

fn filled(path: &Path) -> Directory {
    let directory = empty(path, None);
    add(&directory, TOP, "domain", None);
    for number in 1..ENTRIES {
        let dn = format!("cn=a{number},{TOP}");
        add(&directory, &dn, "device", Some("a"));
    }
    directory
}

/// The log of changes under its name.
fn access_log() -> OverlaySettings {
    let mut overlay = OverlaySettings::new("accesslog", Origin::Default);
    let row = find_overlay("accesslog").expect("a known overlay");
    for (keyword, argument) in [("logdb", LOG), ("logops", "writes"), ("logsuccess", "TRUE")] {
        overlay.lines.push(Sourced::by_default(OverlayLine {
            directive: row.directive(keyword).expect("a known directive"),
            arguments: vec![argument.to_owned()],
        }));
    }
    overlay
}

/// The schema with that of the log.
fn schema() -> Arc<Schema> {
    static SCHEMA: OnceLock<Arc<Schema>> = OnceLock::new();
    let made = SCHEMA.get_or_init(|| {
        let schema = SchemaBuilder::standard().builtin(Builtin::AccessLog);
        Arc::new(schema.build().expect("the built-in schema resolves"))
    });
    Arc::clone(made)
}

/// Returns a directory with a provider's overlays, and without entries.
fn empty(path: &Path, copied: Option<&Syncrepl>) -> Directory {
    let schema = schema();
    let options = StoreOptions {
        suffixes: vec![TOP.to_owned()],
        durability: Some(Durability::NoSync),
        ..StoreOptions::default()
    };
    let store = Store::create(path, &options, Arc::clone(&schema)).expect("a store");
    let mut options = DirectoryOptions::new(schema, vec![DatabaseOptions::new(store)]);
    options.server_id = 1;
    options.access_logs = vec![AccessLogOptions {
        provides: true,
        ..AccessLogOptions::new(LOG)
    }];
    let database = &mut options.databases[0];
    database.root = Some(RootAccount {
        dn: ROOT.to_owned(),
        password: None,
    });
    let provider = OverlaySettings::new("syncprov", Origin::Default);
    database.overlays = vec![provider, access_log()];
    database.replication.consumers = copied.into_iter().cloned().collect();
    Directory::open(options).expect("a directory")
}

/// Requests with the state of the provider, an older one, a later one and none.
pub(super) fn provider_seeds() -> Vec<Vec<u8>> {
    let state = provider().databases()[0].content_state();
    let newest = state.expect("a sound store").join(";");
    let later = newest.replacen('2', "3", 1);
    let cookies = [
        String::new(),
        "rid=001".to_owned(),
        format!("rid=001,csn={newest}"),
        format!("rid=001,sid=00f,csn={CSN}"),
        format!("rid=001,sid=002,csn={newest},fg=1"),
        format!("rid=001,csn={later}"),
        format!("rid=001,csn={CSN},delcsn={newest}"),
    ];
    let with_form = |form: u8, bytes: &[u8]| [&[form], bytes].concat();
    let cookies = cookies.iter().zip([0, 1, 4, 5].into_iter().cycle());
    let mut seeds: Vec<_> = cookies
        .map(|(cookie, form)| with_form(form, cookie.as_bytes()))
        .collect();
    let request = SyncRequest {
        mode: SyncMode::RefreshOnly,
        cookie: Some(b"rid=001"),
        reload_hint: true,
    };
    seeds.push(with_form(8, &request.encode()));
    // The same of the log.
    let of_log = seeds.iter().filter_map(|seed| seed.split_first());
    let of_log: Vec<_> = of_log
        .map(|(form, rest)| with_form(form | 16, rest))
        .collect();
    seeds.extend(of_log);
    seeds
}

/// The responses of a provider, stored as a server stores them.
pub fn sync_consumer(bytes: &[u8]) {
    in_scratch(|path| follow(path, bytes));
}

fn follow(path: &Path, bytes: &[u8]) {
    let mut input = Bytes(bytes);
    let flags = input.octet();
    let settings = Syncrepl {
        persist: flags & 1 != 0,
        data: match flags & 2 {
            0 => SyncData::Entries,
            _ => SyncData::AccessLog,
        },
        log_base: (flags & 2 != 0).then(|| "cn=log".to_owned()),
        retry: Some(RetryList {
            steps: vec![(1, None)],
        }),
        ..Syncrepl::new(7, "ldap://h", TOP)
    };
    let directory = empty(path, Some(&settings));
    let options = ContentOptions {
        settings: &settings,
        multi_provider: flags & 4 != 0,
    };
    let content = CopiedContent::new(directory.schema(), options);
    let mut content = content.expect("sound settings");
    let stored = (flags & 8 != 0).then_some(CSN);
    let server = (flags & 4 != 0).then_some(1);
    let mut consumer = Consumer::new(settings, Vector::of(stored), server);
    let mut search = begin(&mut consumer);
    while let Some(id) = search {
        let Some(pdu) = response(&mut input, id) else {
            break;
        };
        let Ok(message) = ResponseMessage::decode(&pdu) else {
            continue;
        };
        let taken = consumer.receive(&message, 1);
        let changes = consumer.take_changes();
        let kept: usize = changes.iter().map(ContentChange::bytes).sum();
        assert!(kept <= 64 * pdu.len() + 4_000, "{kept} of {}", pdu.len());
        let report = directory.apply_content(&store_of(&directory), &mut content, &changes);
        let report = report.expect("a store that can be written");
        if report.lost_sync.is_some() {
            consumer.lost_sync(1);
        }
        if let Some(state) = report.state {
            consumer.has_stored(Vector::of(state));
        }
        if let Err(trouble) = taken {
            consumer.failed(&trouble, 1, 0);
        }
        search = match consumer.take_output() {
            sent if sent.is_empty() => search,
            sent => request_id(&sent),
        };
        search = search.or_else(|| begin(&mut consumer));
    }
    check_copy(&directory);
}

fn store_of(directory: &Directory) -> std::path::PathBuf {
    directory.databases()[0].store().path().to_owned()
}

fn check_copy(directory: &Directory) {
    let database = &directory.databases()[0];
    let view = database.store().snapshot().expect("a snapshot");
    let report = fulgurite_store::verify(&view).expect("a sound store");
    assert!(report.is_clean(), "{report:?}");
    for csn in database.content_state().expect("a sound store") {
        let is_number = csn.len() == CSN.len() && csn.is_ascii();
        assert!(is_number, "{csn:?} is in the state");
    }
}

/// Connects and binds. Returns the number of the search.
fn begin(consumer: &mut Consumer) -> Option<u32> {
    consumer.turn(1_000_000);
    if consumer.status().phase != Phase::Connecting {
        return None;
    }
    consumer.connected(1_000_000, BindSecrets([7; 18])).ok()?;
    let id = request_id(&consumer.take_output())?;
    let mut out = Vec::new();
    encode::bind_result(&mut out, id, &LdapResult::success(), None, &[]);
    let message = ResponseMessage::decode(&out).expect("our own response");
    consumer.receive(&message, 1_000_000).ok()?;
    request_id(&consumer.take_output())
}

/// Returns the number of the last request, unless that ends the connection.
fn request_id(mut sent: &[u8]) -> Option<u32> {
    let mut last = None;
    while let Ok(Some(len)) = frame(sent, usize::MAX) {
        let (pdu, rest) = sent.split_at(len);
        let message = Message::decode(pdu, &fulgurite_ldap::Limits::default());
        let message = message.expect("a request of the consumer");
        last = (!matches!(message.request, Request::Unbind)).then_some(message.id);
        sent = rest;
    }
    last
}

/// Makes the next response of the input's bytes.
fn response(input: &mut Bytes<'_>, id: u32) -> Option<Vec<u8>> {
    if input.is_empty() {
        return None;
    }
    let kind = input.octet();
    let len = usize::from(input.octet());
    let value = input.take(len);
    let mut out = Vec::new();
    match kind % 5 {
        0 => encode::intermediate(&mut out, id, Some(oid::SYNC_INFO), Some(value), &[]),
        1 => {
            let control = Control::with_value(oid::SYNC_DONE, false, value);
            let code = [0, 0, 53, 4096][usize::from(kind / 5) % 4];
            let result = LdapResult::new(ResultCode::from_number(code));
            let operation = fulgurite_ldap::Operation::Search;
            encode::result(&mut out, id, operation, &result, &[control]);
        }
        2 => entry(&mut out, id, value, input),
        3 => logged(&mut out, id, value, input),
        _ => out.extend_from_slice(value),
    }
    Some(out)
}

/// An entry with the state of these bytes, and a name and a value that follow them.
fn entry(out: &mut Vec<u8>, id: u32, state: &[u8], input: &mut Bytes<'_>) {
    let len = usize::from(input.octet());
    let dn = input.take(len).to_vec();
    let len = usize::from(input.octet());
    let number = input.take(len);
    let mut entry = encode::search_entry(out, id, &dn);
    for (name, value) in [
        ("objectClass", &b"organizationalUnit"[..]),
        ("structuralObjectClass", b"organizationalUnit"),
        ("ou", number),
        ("entryCSN", number),
    ] {
        entry.attribute(name.as_bytes());
        entry.value(value);
    }
    entry.finish(&[Control::with_value(oid::SYNC_STATE, false, state)]);
}

/// An entry of an access log with the state of these bytes, and a change that follows them.
fn logged(out: &mut Vec<u8>, id: u32, state: &[u8], input: &mut Bytes<'_>) {
    let kinds = ["modify", "add", "delete", "modrdn", "bind"];
    let kind = kinds[input.below(kinds.len())];
    let len = usize::from(input.octet());
    let change = input.take(len);
    let mut entry = encode::search_entry(out, id, b"reqStart=1,cn=log");
    for (name, value) in [
        ("reqType", kind.as_bytes()),
        ("reqDN", TOP.as_bytes()),
        ("entryCSN", CSN.as_bytes()),
        ("reqMod", change),
        ("reqMod", b":"),
        ("reqNewRDN", b"dc=other"),
        ("reqDeleteOldRDN", b"TRUE"),
    ] {
        entry.attribute(name.as_bytes());
        entry.value(value);
    }
    entry.finish(&[Control::with_value(oid::SYNC_STATE, false, state)]);
}

/// Refreshes with entries, deletions, sets and ends, by entries and by the log.
pub(super) fn consumer_seeds() -> Vec<Vec<u8>> {
    let cookie = format!("rid=007,sid=002,csn={CSN}");
    let part = |kind: u8, value: &[u8]| [&[kind, value.len() as u8], value].concat();
    let state = |state| {
        let value = SyncState {
            state,
            entry_uuid: [1; 16],
            cookie: Some(cookie.as_bytes()),
        };
        value.encode()
    };
    let text = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
    let one = [
        part(2, &state(fulgurite_ldap::control::EntryState::Add)),
        text(TOP),
        text(CSN),
    ];
    let gone = [
        part(2, &state(fulgurite_ldap::control::EntryState::Delete)),
        text(TOP),
        text(CSN),
    ];
    let change = [
        part(3, &state(fulgurite_ldap::control::EntryState::Add)),
        vec![0],
        text("description:+ one"),
    ];
    let (one, gone, change) = (one.concat(), gone.concat(), change.concat());
    let done = SyncDone {
        cookie: Some(cookie.as_bytes()),
        refresh_deletes: true,
    };
    let done = part(1, &done.encode());
    let new_cookie = part(0, &SyncInfo::NewCookie(cookie.as_bytes()).encode());
    let deleted = part(0, b"\xa1\x00");
    let present = part(0, b"\xa2\x00");
    vec![
        [&[0][..], &one, &done].concat(),
        [&[1][..], &one, &deleted, &gone, &new_cookie].concat(),
        [&[4 + 1][..], &one, &one, &present, &gone].concat(),
        [&[8][..], &new_cookie, &gone, &done].concat(),
        [&[3][..], &one, &done, &change, &deleted].concat(),
        [&[4 + 3 + 8][..], &done, &change, &change].concat(),
    ]
}
