//! Thousands of entries that cannot be stored, or that wait for names.

use fulgurite_ldap::ContentChange;

use crate::replicated::{Copy, attribute, csn, reached, unit};
use crate::support::TOP;

/// Returns the state of one of many units.
fn numbered_unit(uuid: u32, name: u32, number: u32) -> ContentChange {
    let mut state = unit(1, &format!("ou={name},{TOP}"), number);
    if let ContentChange::Entry(entry) = &mut state {
        entry.uuid[..4].copy_from_slice(&uuid.to_be_bytes());
    }
    state
}

#[test]
fn a_full_quarantine_loses_nothing() {
    const COUNT: u32 = 10_000;
    let mut copy = Copy::plain();
    copy.apply(&[unit(1, TOP, 1), reached(1)]);
    let wrong = |number: u32| {
        let mut wrong = numbered_unit(number, number, number + 2);
        if let ContentChange::Entry(entry) = &mut wrong {
            entry.attributes.push(attribute("noSuchType", &["x"]));
        }
        wrong
    };
    let all: Vec<ContentChange> = (0..COUNT).map(wrong).collect();
    for batch in all.chunks(512) {
        copy.apply(batch);
    }
    let count = |copy: &Copy| copy.world.directory.databases()[0].quarantined_count(1);
    assert_eq!(count(&copy).unwrap(), u64::from(COUNT));
    // A newer state of one of them has its place. One more has none, and the state stays.
    copy.apply(&[wrong(7)]);
    let more = [
        numbered_unit(COUNT + 1, COUNT + 1, 20_000),
        wrong(COUNT),
        reached(30_000),
    ];
    let store = copy.world.store.path().to_owned();
    let directory = &copy.world.directory;
    let full = directory.apply_content(&store, &mut copy.content, &more);
    let full = full.expect_err("a full quarantine").to_string();
    assert!(
        full.starts_with("the quarantine is full, with 10000 entries"),
        "{full}"
    );
    assert_eq!(
        (copy.names(), copy.state()),
        (vec![TOP.to_owned()], vec![csn(1)])
    );
    assert_eq!(count(&copy).unwrap(), u64::from(COUNT));
    // The provider sends the same again when there is room.
    let gone = ContentChange::Delete {
        uuid: match wrong(5) {
            ContentChange::Entry(entry) => entry.uuid,
            _ => unreachable!(),
        },
        csn: None,
        ends: None,
    };
    copy.apply(&[gone]);
    copy.apply(&more);
    assert_eq!(copy.names().len(), 2);
    assert_eq!(copy.state(), [csn(30_000)]);
    assert_eq!(count(&copy).unwrap(), u64::from(COUNT));
}

#[test]
fn a_large_entry_waits_alone_in_the_quarantine() {
    let mut copy = Copy::plain();
    copy.apply(&[unit(1, TOP, 1), reached(1)]);
    let wrong = |uuid: u8, len: usize| {
        let mut wrong = unit(uuid, &format!("ou={uuid},{TOP}"), 2);
        if let ContentChange::Entry(entry) = &mut wrong {
            entry
                .attributes
                .push(attribute("noSuchType", &[&"x".repeat(len)]));
        }
        wrong
    };
    copy.apply(&[wrong(2, 40 << 20)]);
    let store = copy.world.store.path().to_owned();
    let directory = &copy.world.directory;
    let full = directory.apply_content(&store, &mut copy.content, &[wrong(3, 40 << 20)]);
    let full = full.expect_err("64 MiB at most").to_string();
    assert!(full.contains("full, with 1 entries"), "{full}");
    copy.apply(&[wrong(2, 10), wrong(3, 40 << 20)]);
}

#[test]
fn thousands_of_entries_may_take_the_names_of_each_other() {
    const COUNT: u32 = 20_000;
    let mut copy = Copy::new(|_| {}, true);
    copy.apply(&[unit(1, TOP, 1), reached(1)]);
    let held: Vec<_> = (0..COUNT).map(|at| numbered_unit(at, at, at + 2)).collect();
    copy.apply(&held);
    copy.apply(&[reached(COUNT + 2)]);
    // Each takes the name of the next one.
    let moved = |at: u32| numbered_unit(at, at + 1, at + COUNT + 3);
    let moved: Vec<_> = (0..COUNT).map(moved).collect();
    let begun = [ContentChange::BeginRefresh];
    copy.apply(&begun);
    moved
        .chunks(5_000)
        .for_each(|batch| drop(copy.apply(batch)));
    let wait = format!("ou=1,{TOP}");
    let uuid = |copy: &Copy| copy.world.read(&wait, &["entryUUID"]).get("entryUUID")[0].to_owned();
    assert!(
        uuid(&copy).starts_with("00000001-"),
        "nothing is decided yet"
    );
    let report = copy.apply(&[ContentChange::EndRefresh, reached(3 * COUNT)]);
    assert_eq!(report.warnings.len(), 1, "{:?}", report.warnings);
    assert!(report.warnings[0].contains("wait for names"), "{report:?}");
    assert!(uuid(&copy).starts_with("00000000-"));
    assert_eq!(copy.names().len(), COUNT as usize + 1);
    let view = copy.world.store.snapshot().expect("a snapshot");
    let report = fulgurite_store::verify(&view).expect("a sound store");
    assert!(report.is_clean(), "{report:?}");
}
