//! Consumers and providers that send anything: no panic, and answers no longer than the content.

use fulgurite_directory::Quantum;
use fulgurite_ldap::control::{SyncMode, SyncRequest};
use fulgurite_ldap::{
    ContentAttribute, ContentChange, ContentEntry, LoggedKind, LoggedOperation, ModifyOperation,
    Request, Scope, oid,
};
use fulgurite_testkit::Random;

use crate::replicated::{Copy, csn};
use crate::support::*;
use crate::sync_consumer::{describe, world};

/// Returns some bytes of a text, changed at a few places.
fn mutated(random: &mut Random, text: &[u8]) -> Vec<u8> {
    let mut bytes = text.to_vec();
    for _ in 0..random.below(4) {
        let at = random.below(bytes.len() + 1);
        match random.below(4) {
            0 => bytes.truncate(at),
            1 => {
                let len = random.below(9);
                let other = random.bytes(len);
                bytes.splice(at..at, other);
            }
            2 => {
                let from = random.below(at + 1);
                let part = bytes[from..at].to_vec();
                bytes.extend(part);
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = u8::try_from(random.below(256)).unwrap();
                }
            }
        }
    }
    bytes
}

/// Returns a cookie that is right, or nearly so.
fn cookie(random: &mut Random, newest: &str) -> Vec<u8> {
    let seeds = [
        format!("rid=001,csn={newest}"),
        format!(
            "rid=001,sid=00f,csn={newest};{}",
            newest.replace("#001#", "#002#")
        ),
        format!("rid=999,csn=20200101000000.000000Z#000000#001#000000,delcsn={newest}"),
        "rid=001".to_owned(),
        String::new(),
    ];
    let seed = random.pick(&seeds).clone();
    mutated(random, seed.as_bytes())
}

#[test]
fn the_provider_answers_any_request() {
    let first = fulgurite_testkit::seed("hostile-request", 1);
    let mut random = Random::new(first);
    let world = world();
    for round in 0..3 {
        describe(&world, JANE, &round.to_string());
    }
    let newest = world.read(TOP, &["contextCSN"]).get("contextCSN").concat();
    for _ in 0..fulgurite_testkit::quick_or_long(2_000, 200_000) {
        let cookie = cookie(&mut random, &newest);
        let request = SyncRequest {
            mode: *random.pick(&[SyncMode::RefreshOnly, SyncMode::RefreshAndPersist]),
            cookie: Some(&cookie),
            reload_hint: random.chance(50),
        };
        let mut value = request.encode();
        if random.chance(40) {
            value = mutated(&mut random, &value);
        }
        let mut search = asked(TOP, Scope::Subtree, "(objectClass=*)", &["*", "+"]);
        search.controls = vec![(oid::SYNC_REQUEST, true, Some(value))];
        let pdu = search.pdu();
        let message = decode(&pdu);
        let Request::Search(request) = &message.request else {
            unreachable!()
        };
        let (directory, root) = (&world.directory, world.root());
        let mut task = directory.begin_search(&root, message.id, request, &message.controls);
        let mut out = Vec::new();
        for _ in 0..5 {
            task.advance(&mut out, Quantum::default());
        }
        assert!(out.len() < 20_000, "{} bytes for {cookie:?}", out.len());
    }
}

/// Returns a text that is a name, or nearly so.
fn name(random: &mut Random) -> String {
    let names = [
        TOP.to_owned(),
        format!("ou=a,{TOP}"),
        format!("ou=b,ou=a,{TOP}"),
        "ou=a".to_owned(),
        String::new(),
    ];
    let name = random.pick(&names).clone();
    if random.chance(80) {
        return name;
    }
    String::from_utf8_lossy(&mutated(random, name.as_bytes())).into_owned()
}

fn number(random: &mut Random) -> String {
    let text = csn(u32::try_from(random.below(20)).unwrap());
    if random.chance(80) {
        return text;
    }
    String::from_utf8_lossy(&mutated(random, text.as_bytes())).into_owned()
}

fn attribute(random: &mut Random) -> ContentAttribute {
    let known = [
        ("objectClass", "organizationalUnit"),
        ("objectClass", "glue"),
        ("ou", "a"),
        ("ou", "b"),
        ("entryUUID", "01010101-0101-0101-0101-010101010101"),
        ("structuralObjectClass", "organizationalUnit"),
        ("description", "x"),
        ("description;lang-de", "x"),
        ("contextCSN", "x"),
        ("none", "x"),
    ];
    let (description, value) = *random.pick(&known);
    let count = random.below(3);
    let values = (0..count).map(|_| match random.chance(70) {
        true => value.as_bytes().to_vec(),
        false => mutated(random, value.as_bytes()),
    });
    let values = values.collect();
    ContentAttribute {
        description: match random.chance(95) {
            true => description.to_owned(),
            false => String::from_utf8_lossy(&mutated(random, b"cn;x-y")).into_owned(),
        },
        values,
    }
}

fn attributes(random: &mut Random) -> Vec<ContentAttribute> {
    let count = random.below(6);
    let mut attributes: Vec<_> = (0..count).map(|_| attribute(random)).collect();
    attributes.push(ContentAttribute {
        description: "entryCSN".to_owned(),
        values: vec![number(random).into_bytes()],
    });
    attributes
}

fn kind(random: &mut Random) -> LoggedKind {
    let kinds = [
        ModifyOperation::Add,
        ModifyOperation::Delete,
        ModifyOperation::Replace,
        ModifyOperation::Increment,
    ];
    let changes = attributes(random);
    let mut modified = |changes: Vec<ContentAttribute>| -> Vec<_> {
        let changes = changes.into_iter();
        changes
            .map(|change| (*random.pick(&kinds), change))
            .collect()
    };
    let changes = modified(changes);
    match random.below(4) {
        0 => LoggedKind::Add(attributes(random)),
        1 => LoggedKind::Modify(changes),
        2 => LoggedKind::Delete,
        _ => LoggedKind::Rename {
            new_rdn: random.pick(&["ou=a", "ou=b", "", "x"]).to_string(),
            delete_old_rdn: random.chance(50),
            new_superior: random.chance(50).then(|| name(random)),
            changes,
        },
    }
}

fn content_change(random: &mut Random) -> ContentChange {
    let uuid = [u8::try_from(random.below(5)).unwrap(); 16];
    match random.below(9) {
        0 => ContentChange::BeginRefresh,
        1 => ContentChange::EndRefresh,
        2 => ContentChange::Present(vec![uuid]),
        3 => ContentChange::Delete {
            uuid,
            csn: random.chance(50).then(|| number(random)),
            ends: None,
        },
        4 => ContentChange::DropUnnamed {
            state: vec![number(random)],
        },
        5 => ContentChange::Reached {
            csns: vec![number(random), number(random)],
            replaces: random.chance(20),
        },
        6 => ContentChange::Operation(LoggedOperation {
            uuid: random.chance(50).then_some(uuid),
            dn: name(random),
            csn: number(random),
            kind: kind(random),
        }),
        _ => ContentChange::Entry(ContentEntry {
            uuid,
            dn: name(random),
            attributes: attributes(random),
            place: None,
            stamps: None,
        }),
    }
}

#[test]
fn a_copy_takes_any_changes() {
    let first = fulgurite_testkit::seed("hostile-changes", 1);
    for seed in first..first + fulgurite_testkit::quick_or_long(40, 4_000) {
        let mut random = Random::new(seed);
        let mut copy = Copy::new(|_| {}, random.chance(30));
        let store = copy.world.store.path().to_owned();
        for _ in 0..20 {
            let count = random.between(1, 6);
            let changes: Vec<_> = (0..count).map(|_| content_change(&mut random)).collect();
            let directory = &copy.world.directory;
            let applied = directory.apply_content(&store, &mut copy.content, &changes);
            applied.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
        let view = copy.world.store.snapshot().expect("a snapshot");
        let report = fulgurite_store::verify(&view).expect("a sound store");
        assert!(report.is_clean(), "seed {seed}: {report:?}");
        let quarantined = copy.world.directory.databases()[0].quarantined().unwrap();
        assert!(quarantined.len() <= 5, "seed {seed}: one row for each UUID");
    }
}
