//! Clients that write to all nodes, and remember what they were told.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use fulgurite_client::{Change, Client, PartialAttribute, ResultCode};
use fulgurite_conformance::SUFFIX;

use crate::nodes::root_client;

/// The answers that a client has got.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// The names whose additions were acknowledged.
    pub(crate) done: BTreeSet<String>,
    /// The names whose additions were refused as busy: nothing was done.
    pub(crate) refused: BTreeSet<String>,
    /// The names whose additions may be done or not.
    pub(crate) unknown: BTreeSet<String>,
    /// Acknowledged increments of the client's counter.
    pub(crate) counted: u64,
    /// Increments that may be done or not.
    pub(crate) perhaps_counted: u64,
}

/// The name of a client's counter.
pub(crate) fn counter(number: usize) -> String {
    format!("uid=counter-{number},{SUFFIX}")
}

pub(crate) fn add_person(client: &mut Client, uid: &str) -> Option<ResultCode> {
    let dn = format!("uid={uid},{SUFFIX}");
    let name = [uid.as_bytes()];
    let attributes = [
        PartialAttribute::new("objectClass", &[b"inetOrgPerson", b"posixAccount"]),
        PartialAttribute::new("cn", &name),
        PartialAttribute::new("sn", &[b"x"]),
        PartialAttribute::new("uid", &name),
        PartialAttribute::new("uidNumber", &[b"0"]),
        PartialAttribute::new("gidNumber", &[b"0"]),
        PartialAttribute::new("homeDirectory", &[b"/"]),
    ];
    let result = client.add(&dn, &attributes).ok()?;
    Some(result.code)
}

/// Writes through one node until the end.
pub(crate) fn write(number: usize, address: SocketAddr, is_over: &AtomicBool) -> Told {
    let mut told = Told::default();
    let mut client: Option<Client> = None;
    for step in 0_u64.. {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        let Some(open) = &mut client else {
            client = root_client(address);
            std::thread::sleep(std::time::Duration::from_millis(20));
            continue;
        };
        let uid = format!("w{number}-{step}");
        let code = if step % 2 == 0 {
            let code = add_person(open, &uid);
            match code {
                Some(ResultCode::Success) => told.done.insert(uid),
                Some(ResultCode::Busy) => told.refused.insert(uid),
                _ => told.unknown.insert(uid),
            };
            code
        } else {
            let one = [Change::increment("uidNumber", &[b"1"])];
            let code = open
                .modify(&counter(number), &one)
                .ok()
                .map(|result| result.code);
            match code {
                Some(ResultCode::Success) => told.counted += 1,
                Some(ResultCode::Busy) => {}
                _ => told.perhaps_counted += 1,
            }
            code
        };
        match code {
            None => client = None,
            Some(ResultCode::Success | ResultCode::Busy | ResultCode::Unavailable) => {}
            Some(other) => panic!("an answer that no failure explains: {other:?}"),
        }
    }
    told
}

/// Holds the answers of a client to the content of a node: names, and the counters' values.
pub(crate) fn check(number: usize, told: &Told, names: &BTreeMap<String, u64>) {
    for uid in &told.done {
        assert!(
            names.contains_key(uid),
            "{uid} was acknowledged, and is lost"
        );
    }
    for uid in &told.refused {
        assert!(!names.contains_key(uid), "{uid} was refused, and is there");
    }
    let counted = names[&format!("counter-{number}")];
    let (least, most) = (told.counted, told.counted + told.perhaps_counted);
    assert!(
        (least..=most).contains(&counted),
        "{least}..={most}: {counted}"
    );
}
