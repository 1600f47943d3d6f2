//! Providers that attack their copies: each session is one attack, and a sound refresh follows.
//!
//! The copy must not end. It holds no more memory than a few batches, and stores nothing that the
//! rules of a store forbid. In the end it has the content of the sound provider.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use fulgurite_ldap::control::{EntryState, SyncIdSet, SyncInfo, SyncState};
use fulgurite_ldap::{MessageId, encode};
use fulgurite_testkit::{Random, seed};

use crate::provider::{Encryption, PASSWORD, entry, entry_with, numbered_entry, start_script};
use crate::{Copy, content, is_whole, whole};

/// Bytes of the largest value.
const VALUE_BYTES: usize = 16 << 20;
/// Bytes of memory that an attack may cost, with what the provider here needs for its messages.
const MEMORY_MAX: u64 = 16 * VALUE_BYTES as u64;
/// Bytes of a cookie, about.
const COOKIE_BYTES: usize = 1 << 20;

type Attack = fn(MessageId, &mut dyn Write) -> io::Result<()>;

/// All attacks. Each comes when the copy is empty, and once more when it has the content.
const ATTACKS: [(&str, Attack); 10] = [
    ("random bytes", random_bytes),
    ("a batch without an end", endless_batch),
    ("messages without an end", endless_message),
    ("huge entries", huge_entries),
    ("cookies of a megabyte", huge_cookies),
    ("cookies of all servers", cookies_of_all_servers),
    ("wrong UUIDs", wrong_uuids),
    ("sets of UUIDs", sets_of_uuids),
    ("cycles of names", cycles_of_names),
    ("cycles of places", cycles_of_places),
];

fn unit(name: &str) -> [(&str, &str); 3] {
    [
        ("objectClass", "organizationalUnit"),
        ("ou", name),
        ("structuralObjectClass", "organizationalUnit"),
    ]
}

fn write_all(stream: &mut dyn Write, messages: &[Vec<u8>]) -> io::Result<()> {
    messages
        .iter()
        .try_for_each(|bytes| stream.write_all(bytes))
}

fn info(id: MessageId, info: &SyncInfo<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    encode::sync_info(&mut out, id, info);
    out
}

fn random_bytes(id: MessageId, stream: &mut dyn Write) -> io::Result<()> {
    let mut random = Random::new(seed("attacks", 19));
    write_all(stream, &content(id))?;
    (0..64).try_for_each(|_| stream.write_all(&random.bytes(64 << 10)))
}

/// Entries that come again and again with other values, and no end of the refresh.
fn endless_batch(id: MessageId, stream: &mut dyn Write) -> io::Result<()> {
    write_all(stream, &content(id))?;
    for number in 0..20_000_u32 {
        let name = (number % 500).to_string();
        let text = format!("{number} {}", "x".repeat(4_000));
        let mut attributes = unit(&name).to_vec();
        attributes.push(("description", &text));
        let dn = format!("ou={name},ou=a,dc=x");
        let bytes = numbered_entry(id, number % 500, &dn, &attributes);
        stream.write_all(&bytes)?;
    }
    Ok(())
}

/// A length of nearly four gigabytes, and bytes that would be its content.
fn endless_message(id: MessageId, stream: &mut dyn Write) -> io::Result<()> {
    write_all(stream, &content(id))?;
    stream.write_all(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xf0])?;
    (0..512).try_for_each(|_| stream.write_all(&[0; 64 << 10]))
}

fn huge_entries(id: MessageId, stream: &mut dyn Write) -> io::Result<()> {
    write_all(stream, &content(id))?;
    let large = "x".repeat(VALUE_BYTES);
    let mut attributes = unit("huge").to_vec();
    attributes.push(("description", &large));
    stream.write_all(&entry(id, 9, "ou=huge,dc=x", &attributes))?;
    drop(large);
    let values: Vec<String> = (0..50_000).map(|value| format!("value {value}")).collect();
    let mut attributes = unit("wide").to_vec();
    attributes.extend(values.iter().map(|value| ("description", value.as_str())));
    stream.write_all(&entry(id, 10, "ou=wide,dc=x", &attributes))?;
    let name = "y".repeat(1 << 20);
    let dn = format!("ou={name},dc=x");
    stream.write_all(&entry(id, 11, &dn, &unit(&name)))?;
    let deep = "ou=z,".repeat(20_000) + "dc=x";
    stream.write_all(&entry(id, 12, &deep, &unit("z")))
}

fn with_cookie(id: MessageId, cookie: &str) -> Vec<u8> {
    let state = SyncState {
        state: EntryState::Modify,
        entry_uuid: [2; 16],
        cookie: Some(cookie.as_bytes()),
    };
    entry_with(id, &state.encode(), "ou=a,dc=x", &unit("a"))
}

fn huge_cookies(id: MessageId, stream: &mut dyn Write) -> io::Result<()> {
    write_all(stream, &content(id))?;
    let number = "20260101000000.000000Z#000000#001#000000";
    let many = vec![number; COOKIE_BYTES / number.len()].join(";");
    let cookies = [
        format!("rid=001,csn={many}"),
        format!(
            "rid=001,sid=001,csn={number},{}",
            "x=y,".repeat(COOKIE_BYTES / 4)
        ),
        format!("rid=001,csn={}", "9".repeat(COOKIE_BYTES)),
        "\u{0}".repeat(COOKIE_BYTES),
    ];
    for _ in 0..3 {
        for cookie in &cookies {
            stream.write_all(&info(id, &SyncInfo::NewCookie(cookie.as_bytes())))?;
            stream.write_all(&with_cookie(id, cookie))?;
        }
    }
    Ok(())
}

/// The state of 4,096 servers, with each of many messages.
fn cookies_of_all_servers(id: MessageId, stream: &mut dyn Write) -> io::Result<()> {
    write_all(stream, &content(id))?;
    for round in 0..30 {
        let number = |server: u32| format!("20200101000000.{round:06}Z#000000#{server:03x}#000000");
        let all: Vec<String> = (0..4096).map(number).collect();
        let cookie = format!("rid=001,csn={}", all.join(";"));
        stream.write_all(&with_cookie(id, &cookie))?;
    }
    Ok(())
}

/// UUIDs of other lengths, one of two entries, and that of the top for something else.
fn wrong_uuids(id: MessageId, stream: &mut dyn Write) -> io::Result<()> {
    write_all(stream, &content(id))?;
    stream.write_all(&entry(id, 2, "ou=other,dc=x", &unit("other")))?;
    stream.write_all(&entry(id, 3, "ou=other,dc=x", &unit("other")))?;
    stream.write_all(&entry(id, 1, "ou=top,ou=a,dc=x", &unit("top")))?;
    stream.write_all(&entry(id, 0, "ou=zero,dc=x", &unit("zero")))?;
    let mut attributes = unit("b").to_vec();
    attributes.push(("entryUUID", "07070707-0707-0707-0707-070707070707"));
    stream.write_all(&entry(id, 3, "ou=b,dc=x", &attributes))?;
    // SyncState: SEQUENCE { ENUMERATED add, OCTET STRING of 15 octets }.
    let state = [&[0x30, 20, 0x0a, 1, 1, 0x04, 15][..], &[7; 15]].concat();
    stream.write_all(&entry_with(id, &state, "ou=short,dc=x", &unit("short")))
}

fn sets_of_uuids(id: MessageId, stream: &mut dyn Write) -> io::Result<()> {
    write_all(stream, &content(id))?;
    for round in 0..40_u32 {
        let uuid = |number: u32| {
            let mut uuid = [0x5a; 16];
            uuid[..4].copy_from_slice(&(round << 16 | number).to_be_bytes());
            uuid
        };
        let set = SyncIdSet {
            cookie: None,
            refresh_deletes: round % 2 == 0,
            uuids: (0..20_000).map(uuid).collect(),
        };
        stream.write_all(&info(id, &SyncInfo::SyncIdSet(set)))?;
    }
    // The top goes, with entries below it.
    let set = SyncIdSet {
        cookie: None,
        refresh_deletes: true,
        uuids: vec![[1; 16]; 3],
    };
    stream.write_all(&info(id, &SyncInfo::SyncIdSet(set)))
}

/// Names that change in circles: below each other, below themselves, and by turns.
fn cycles_of_names(id: MessageId, stream: &mut dyn Write) -> io::Result<()> {
    write_all(stream, &content(id))?;
    let names = [
        (2, "ou=a,ou=b,dc=x", "a"),
        (3, "ou=b,ou=a,dc=x", "b"),
        (2, "ou=a,ou=a,dc=x", "a"),
        (3, "ou=b,ou=b,ou=b,dc=x", "b"),
        (4, "ou=c,ou=b,ou=a,dc=x", "c"),
        (2, "ou=a,ou=c,ou=b,ou=a,dc=x", "a"),
        (1, "ou=x,ou=a,dc=x", "x"),
    ];
    for round in 0..60_u32 {
        for (uuid, dn, name) in names {
            stream.write_all(&entry(id, uuid, dn, &unit(name)))?;
        }
        let turn = ["a", "b", "c"];
        for (at, uuid) in [2, 3, 4].into_iter().enumerate() {
            let name = turn[(at + round as usize) % 3];
            stream.write_all(&entry(id, uuid, &format!("ou={name},dc=x"), &unit(name)))?;
        }
    }
    Ok(())
}

/// Cookies of a server like this one. Entries are above each other in a circle, and at any depth.
/// Numbers of values are none.
fn cycles_of_places(id: MessageId, stream: &mut dyn Write) -> io::Result<()> {
    write_all(stream, &content(id))?;
    let number = |at: u32| format!("20260101000000.{at:06}Z#000000#001#000000");
    for round in 0..100_u32 {
        let levels = [0, 1, 2, 65_535, u32::MAX][round as usize % 5];
        let turn = [
            (2_u8, 3_u8, "a"),
            (3, 4, "b"),
            (4, 2, "c"),
            (2, 2, "a"),
            (1, 4, "x"),
        ];
        for (uuid, above, name) in turn {
            let above = u128::from_be_bytes([above; 16]);
            let csn = number(round);
            let cookie = format!(
                "rid=001,sid=001,csn={csn},fg=1,fgp={above:032x}/{levels}/{csn},fgs={}",
                ["", "x", "description=;;", &csn][round as usize % 4]
            );
            let state = SyncState {
                state: EntryState::Modify,
                entry_uuid: [uuid; 16],
                cookie: Some(cookie.as_bytes()),
            };
            let mut attributes = unit(name).to_vec();
            attributes.push(("entryCSN", &csn));
            let dn = format!("ou={name},dc=x");
            stream.write_all(&entry_with(id, &state.encode(), &dn, &attributes))?;
        }
    }
    Ok(())
}

/// Returns the bytes of memory that no file has.
fn anonymous_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the status of the process");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next());
    let kibibytes: u64 = kibibytes.expect("a figure").parse().expect("digits");
    kibibytes << 10
}

/// Watches the memory until it is over. Returns the most.
fn watch(is_over: &AtomicBool, most: &AtomicU64) {
    while !is_over.load(Ordering::Relaxed) {
        most.fetch_max(anonymous_bytes(), Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Session 0 attacks an empty copy. Sound refreshes and the other attacks take turns then.
fn attack(label: &str, attack: Attack, several: bool) {
    let sent = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&sent);
    let script = move |number: usize, id: MessageId, stream: &mut dyn Write| {
        if number == 1 || number > 2 {
            for bytes in whole(number, id) {
                stream.write_all(&bytes)?;
            }
            // The second attack is the next session.
            return match number {
                1 => Err(io::ErrorKind::UnexpectedEof.into()),
                _ => Ok(()),
            };
        }
        // A copy that closes the connection has ended the attack.
        let _ = attack(id, stream);
        count.fetch_add(1, Ordering::SeqCst);
        Err(io::ErrorKind::UnexpectedEof.into())
    };
    let (port, sessions) = start_script(Encryption::None, Box::new(script));
    let line = format!(
        "provider=ldap://localhost:{port} bindmethod=simple binddn=cn=r credentials={PASSWORD}"
    );
    let copy = match several {
        true => Copy::of_several_providers(&line),
        false => Copy::new(&line),
    };
    copy.run_until(|copy| sessions.load(Ordering::SeqCst) > 3 && is_whole(copy));
    assert_eq!(sent.load(Ordering::SeqCst), 2, "{label}: both attacks");
    let database = &copy.live.current().databases()[0];
    let view = database.store().snapshot().expect("a view");
    let report = fulgurite_store::verify(&view).expect("a readable store");
    assert!(report.problems.is_empty(), "{label}: {report:?}");
    for number in database.content_state().expect("a state") {
        assert_eq!(number.len(), 40, "{label}: {number}");
    }
}

#[test]
fn attacks_of_a_provider_cost_little_and_change_nothing() {
    let (is_over, most) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| watch(&is_over, &most));
        let outcome = std::panic::catch_unwind(|| {
            for (label, script) in ATTACKS {
                for several in [false, true] {
                    // The allocator keeps what former attacks have had.
                    let before = anonymous_bytes();
                    most.store(before, Ordering::Relaxed);
                    attack(label, script, several);
                    let grown = most.load(Ordering::Relaxed) - before;
                    println!("{label}, {several}: {} MiB more", grown >> 20);
                    assert!(grown < MEMORY_MAX, "{label}: {grown} bytes");
                }
            }
        });
        is_over.store(true, Ordering::Relaxed);
        if let Err(panic) = outcome {
            std::panic::resume_unwind(panic);
        }
    });
}
