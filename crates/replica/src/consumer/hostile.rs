//! Providers that send anything: no panic, and no more kept than has come.

use fulgurite_ldap::encode;
use proptest::prelude::*;

use super::tests::Play;
use super::*;

const CSN: &str = "20260101000000.000001Z#000000#001#000000";

fn settings(has_log: bool) -> Syncrepl {
    Syncrepl {
        persist: true,
        data: match has_log {
            true => SyncData::AccessLog,
            false => SyncData::Entries,
        },
        log_base: has_log.then(|| "cn=log".to_owned()),
        ..Syncrepl::new(7, "ldap://h", "dc=x")
    }
}

/// Returns bytes that are nearly a cookie.
fn cookie() -> impl Strategy<Value = Vec<u8>> {
    let seed = format!(
        "rid=007,sid=001,csn={CSN};{},delcsn={CSN}",
        CSN.replace("#001#", "#002#")
    );
    let edits = proptest::collection::vec((0..seed.len(), any::<u8>(), 0..4_u8), 0..4);
    edits.prop_map(move |edits| {
        let mut bytes = seed.clone().into_bytes();
        for (at, byte, kind) in edits {
            let at = at.min(bytes.len());
            match kind {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, byte),
                2 => bytes.extend_from_within(..at),
                _ => bytes
                    .iter_mut()
                    .skip(at)
                    .take(1)
                    .for_each(|held| *held = byte),
            }
        }
        bytes
    })
}

/// Returns a Sync Info that is right, or a few bytes away from one.
fn sync_info() -> impl Strategy<Value = Vec<u8>> {
    let info = (cookie(), 0..4_u8, any::<bool>(), 0..300_usize);
    let encoded = info.prop_map(|(cookie, kind, flag, count)| {
        let end = PhaseEnd {
            cookie: Some(&cookie),
            refresh_done: flag,
        };
        let info = match kind {
            0 => SyncInfo::NewCookie(&cookie),
            1 => SyncInfo::RefreshDelete(end),
            2 => SyncInfo::RefreshPresent(end),
            _ => SyncInfo::SyncIdSet(SyncIdSet {
                cookie: Some(&cookie),
                refresh_deletes: flag,
                uuids: vec![[7; 16]; count],
            }),
        };
        info.encode()
    });
    (encoded, any::<u16>(), any::<u8>(), 0..3_u8).prop_map(|(mut bytes, at, byte, edits)| {
        let len = bytes.len().max(1);
        for edit in 0..usize::from(edits) {
            let at = (usize::from(at) + edit * 7) % len;
            bytes
                .iter_mut()
                .skip(at)
                .take(1)
                .for_each(|held| *held = byte);
        }
        bytes
    })
}

/// A message of the provider.
#[derive(Clone, Debug)]
enum Sent {
    Info(Vec<u8>),
    Bytes(Vec<u8>),
    Entry {
        state: Vec<u8>,
        modification: Vec<u8>,
    },
    Done(Vec<u8>, u32),
}

fn sent() -> impl Strategy<Value = Sent> {
    let bytes = || proptest::collection::vec(any::<u8>(), 0..60);
    let state = (cookie(), 0..4_u32).prop_map(|(cookie, state)| {
        let state = match state {
            0 => EntryState::Present,
            1 => EntryState::Delete,
            2 => EntryState::Modify,
            _ => EntryState::Add,
        };
        SyncState {
            state,
            entry_uuid: [1; 16],
            cookie: Some(&cookie),
        }
        .encode()
    });
    let state = prop_oneof![4 => state, 1 => bytes()];
    let changes = prop_oneof![
        Just(b"description:+ one".to_vec()),
        Just(b":".to_vec()),
        Just(b"cn:=".to_vec()),
        bytes()
    ];
    prop_oneof![
        sync_info().prop_map(Sent::Info),
        bytes().prop_map(Sent::Bytes),
        (state, changes).prop_map(|(state, modification)| Sent::Entry {
            state,
            modification
        }),
        (
            bytes(),
            prop_oneof![Just(0), Just(53), Just(4096), any::<u32>()]
        )
            .prop_map(|(value, code)| Sent::Done(value, code)),
    ]
}

fn message(id: MessageId, sent: &Sent) -> Vec<u8> {
    let mut out = Vec::new();
    match sent {
        Sent::Info(value) | Sent::Bytes(value) => {
            encode::intermediate(&mut out, id, Some(oid::SYNC_INFO), Some(value), &[]);
        }
        Sent::Entry {
            state,
            modification,
        } => {
            let mut entry = encode::search_entry(&mut out, id, b"reqStart=1,cn=log");
            for (name, value) in [
                ("reqType", b"modify".as_slice()),
                ("reqDN", b"cn=a,dc=x"),
                ("entryCSN", CSN.as_bytes()),
                ("reqMod", modification),
            ] {
                entry.attribute(name.as_bytes());
                entry.value(value);
            }
            entry.finish(&[Control::with_value(oid::SYNC_STATE, false, state)]);
        }
        Sent::Done(value, code) => {
            let result = LdapResult::new(ResultCode::from_number(*code & 0xffff));
            let control = Control::with_value(oid::SYNC_DONE, false, value);
            let operation = fulgurite_ldap::Operation::Search;
            encode::result(&mut out, id, operation, &result, &[control]);
        }
    }
    out
}

/// Returns the bytes that a consumer keeps of what has come.
fn kept(consumer: &mut Consumer) -> usize {
    let changes = consumer.take_changes();
    let numbers: usize = consumer.reached.csns().map(str::len).sum();
    changes.iter().map(ContentChange::bytes).sum::<usize>() + numbers
}

proptest! {
    #[test]
    fn a_consumer_survives_any_provider(
        has_log in any::<bool>(),
        all in proptest::collection::vec(sent(), 1..20),
    ) {
        let (mut play, _) = Play::begin(settings(has_log), &[CSN]);
        let mut came = 1_000;
        for sent in all {
            // A search that has ended may be followed by another one with the next number.
            let id = play.search_id();
            let bytes = message(id, &sent);
            came += bytes.len();
            let Ok(message) = ResponseMessage::decode(&bytes) else {
                continue;
            };
            if let Err(trouble) = play.consumer.receive(&message, 1) {
                play.consumer.failed(&trouble, 1, 0);
                break;
            }
            let kept = kept(&mut play.consumer);
            prop_assert!(kept <= 64 * came, "{kept} bytes of {came}");
        }
    }
}
