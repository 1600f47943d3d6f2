//! Cookies of paged searches, forged and sealed.
//!
//! ```text
//!   input:  sealed? u8 | search u8 | page size u8 | cookie ...
//! ```
//!
//! The server refuses a cookie that a client makes up. Any bytes may follow a valid seal, because
//! another version of the server may have sealed them. The resulting page must still be a page.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use fulgurite_directory::{
    DatabaseOptions, Directory, DirectoryOptions, Identity, Name, Progress, Quantum, RootAccount,
    SearchTask, Session, WriteRequest,
};
use fulgurite_ldap::control::{PagedResults, SortKey, SortRequest};
use fulgurite_ldap::{
    AddRequest, Control, FilterBuf, Limits, Message, PartialAttribute, Request, ResponseMessage,
    ResultCode, Scope, SearchRequest, Values, encode, frame, oid,
};
use fulgurite_schema::{Dn, Schema};
use fulgurite_store::{Durability, Store, StoreOptions};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::bytes::Bytes;
use super::files::in_scratch;
pub(super) const TOP: &str = "dc=example,dc=com";
pub(super) const ROOT: &str = "cn=admin,dc=example,dc=com";
const KEY: [u8; 32] = [5; 32];
const SEAL_LEN: usize = 16;
/// A cookie begins with its version. The time and the hash of the search follow, then the position.
const PLACE_AT: usize = 1;
const PLACE_LEN: usize = 4 + 2 + 4 + 8 + 8;
const HASH_LEN: usize = 8;
/// Entries of the directory, its top included.
const ENTRIES: usize = 40;

/// A cookie as it comes back from a client, or as another server might have sealed it.
pub fn cookies(bytes: &[u8]) {
    let mut input = Bytes(bytes);
    let (sealed, sorted) = (input.octet() % 2 == 1, input.octet() % 2 == 1);
    let size = u32::from(input.octet()) % 50 + 1;
    let place = input.take(bytes.len());
    let directory = directory();
    let cookie = if sealed {
        seal(own_cookie(directory, sorted), place)
    } else {
        place.to_vec()
    };
    let page = search(directory, sorted, size, &cookie);
    if sealed || cookie.is_empty() {
        assert_eq!(page.code, ResultCode::Success);
    } else {
        assert_eq!(page.code, ResultCode::ProtocolError, "a cookie was forged");
        assert_eq!((page.entries, page.cookie.len()), (0, 0));
    }
    assert!(page.entries <= size as usize);
    if !page.cookie.is_empty() {
        assert_eq!(
            page.entries, size as usize,
            "only a full page has one behind it"
        );
        let next = search(directory, sorted, size, &page.cookie);
        assert_eq!(next.code, ResultCode::Success);
        assert!(next.entries > 0, "an empty page");
    }
}

/// Forged, sealed over a place that is there, and over one that is not.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let place = |leg: u8, region: u8, id: u8, key: &[u8]| {
        let mut place = vec![0, 0, 0, 7, 0, leg, 0, 0, 0, region];
        place.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, id]);
        place.extend_from_slice(&[0; 8]);
        place.extend_from_slice(key);
        place
    };
    let mut seeds = vec![vec![0, 0, 5], vec![0, 1, 5, 2, 0, 0]];
    for (leg, region, id, key) in [
        (0, 0, 7, &b""[..]),
        (0, 0, 39, b"\x01a17"),
        (9, 9, 200, b""),
    ] {
        for sorted in [0, 1] {
            let place = place(leg, region, id, key);
            seeds.push([&[1, sorted, 4][..], &place].concat());
        }
    }
    seeds
}

/// A cookie that the directory has made for a first page.
fn own_cookie(directory: &Directory, sorted: bool) -> Vec<u8> {
    let page = search(directory, sorted, 1, b"");
    assert!(
        page.cookie.len() >= PLACE_AT + PLACE_LEN + HASH_LEN + SEAL_LEN,
        "{page:?}"
    );
    page.cookie
}

/// Puts a place, and a sort key, into a cookie and seals it again.
fn seal(mut cookie: Vec<u8>, place: &[u8]) -> Vec<u8> {
    let (place, key) = place.split_at(place.len().min(PLACE_LEN));
    let mac = cookie.split_off(cookie.len() - SEAL_LEN);
    encipher(&mut cookie, &mac);
    cookie.truncate(PLACE_AT + PLACE_LEN + HASH_LEN);
    if let Some(old) = cookie.get_mut(PLACE_AT..PLACE_AT + place.len()) {
        old.copy_from_slice(place);
    }
    cookie.extend_from_slice(key);
    let mac = keyed(b'a', &cookie, &[]);
    encipher(&mut cookie, &mac[..SEAL_LEN]);
    cookie.extend_from_slice(&mac[..SEAL_LEN]);
    cookie
}

/// Adds the key stream that belongs to a seal, or takes it away.
fn encipher(cookie: &mut [u8], mac: &[u8]) {
    for (number, block) in cookie.chunks_mut(32).enumerate() {
        let stream = keyed(b'e', mac, &(number as u64).to_be_bytes());
        for (octet, key) in block.iter_mut().zip(stream) {
            *octet ^= key;
        }
    }
}

fn keyed(purpose: u8, text: &[u8], more: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(&KEY).expect("HMAC takes keys of any length");
    mac.update(&[purpose]);
    mac.update(text);
    mac.update(more);
    mac.finalize().into_bytes().into()
}

#[derive(Debug)]
struct PageAnswer {
    entries: usize,
    code: ResultCode,
    cookie: Vec<u8>,
}

fn search(directory: &Directory, sorted: bool, size: u32, cookie: &[u8]) -> PageAnswer {
    let filter = FilterBuf::parse("(objectClass=*)").expect("a filter");
    let request = SearchRequest {
        attributes: vec![b"1.1"],
        ..SearchRequest::new(TOP, Scope::Subtree, filter.filter())
    };
    let keys = vec![SortKey {
        attribute: b"cn",
        rule: Some(b"caseIgnoreOrderingMatch"),
        reverse: false,
    }];
    let sort = SortRequest { keys }.encode();
    let page = PagedResults { size, cookie }.encode();
    let mut controls = vec![Control::with_value(oid::PAGED_RESULTS, true, &page)];
    if sorted {
        controls.push(Control::with_value(oid::SORT_REQUEST, true, &sort));
    }
    let pdu = encoded(&Request::Search(request), &controls);
    let message = decoded(&pdu);
    let Request::Search(request) = &message.request else {
        unreachable!("a search was encoded")
    };
    let session = root(directory);
    let task = directory.begin_search(&session, message.id, request, &message.controls);
    end_of(task)
}

fn end_of(mut task: SearchTask<'_>) -> PageAnswer {
    let mut out = Vec::new();
    // Each quantum looks at something: an endless search would not come to its end here.
    for _ in 0..ENTRIES * 10 {
        if task.advance(&mut out, Quantum::default()) == Progress::Done {
            return PageAnswer {
                entries: task.entries() as usize,
                code: task.code(),
                cookie: cookie_in(&out),
            };
        }
    }
    panic!("a search of {ENTRIES} entries without an end");
}

fn cookie_in(mut out: &[u8]) -> Vec<u8> {
    let mut cookie = Vec::new();
    while let Ok(Some(len)) = frame(out, usize::MAX) {
        let (pdu, rest) = out.split_at(len);
        let message = ResponseMessage::decode(pdu).expect("our own response");
        let value = message.controls.find(oid::PAGED_RESULTS);
        if let Some(value) = value.and_then(|control| control.value) {
            let page = PagedResults::decode(value).expect("our own control");
            cookie = page.cookie.to_vec();
        }
        out = rest;
    }
    cookie
}

/// One directory for the whole process; its files are removed while it is open.
fn directory() -> &'static Directory {
    static DIRECTORY: OnceLock<Directory> = OnceLock::new();
    DIRECTORY.get_or_init(|| {
        let mut made = None;
        in_scratch(|path| made = Some(filled(path)));
        made.expect("a directory")
    })
}

fn filled(path: &Path) -> Directory {
    let schema = Schema::standard();
    let options = StoreOptions {
        suffixes: vec![TOP.to_owned()],
        durability: Some(Durability::NoSync),
        ..StoreOptions::default()
    };
    let store = Store::create(path, &options, Arc::clone(&schema)).expect("a store");
    let mut options = DirectoryOptions::new(schema, vec![DatabaseOptions::new(store)]);
    options.databases[0].root = Some(RootAccount {
        dn: ROOT.to_owned(),
        password: None,
    });
    options.cookie_key = Some(KEY);
    options.sort_limits.per_connection_max = 0;
    let directory = Directory::open(options).expect("a directory");
    add(&directory, TOP, "domain", None);
    for number in 1..ENTRIES {
        // Some have the same sort key.
        let name = format!("a{}", number / 3);
        let dn = format!("cn=a{number},{TOP}");
        add(&directory, &dn, "device", Some(&name));
    }
    directory
}

pub(super) fn add(directory: &Directory, dn: &str, class: &str, name: Option<&str>) {
    let classes = [class.as_bytes()];
    let names: Vec<&[u8]> = name.iter().map(|name| name.as_bytes()).collect();
    let mut attributes = vec![PartialAttribute {
        description: b"objectClass",
        values: Values::from_slices(&classes),
    }];
    if !names.is_empty() {
        attributes.push(PartialAttribute {
            description: b"cn",
            values: Values::from_slices(&names),
        });
    }
    let dn = dn.as_bytes();
    let pdu = encoded(&Request::Add(AddRequest { dn, attributes }), &[]);
    let update = WriteRequest::new(&root(directory), &decoded(&pdu)).expect("an update");
    let replies = directory.apply(&[update]);
    assert!(
        replies.iter().all(|reply| reply.result.is_success()),
        "{replies:?}"
    );
}

pub(super) fn root(directory: &Directory) -> Session {
    let name = Dn::parse(directory.schema(), ROOT).expect("a name");
    Session::of(Identity::User(Name::from(&name)))
}

pub(super) fn encoded(request: &Request<'_>, controls: &[Control<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    encode::request(&mut out, 7, request, controls);
    out
}

pub(super) fn decoded(pdu: &[u8]) -> Message<'_> {
    Message::decode(pdu, &Limits::default()).expect("what was encoded decodes")
}
