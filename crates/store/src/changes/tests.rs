//! The log with the changes it records: commits, aborts, retention and loads.

use super::*;
use crate::testing::*;
use crate::{EntryId, LogPurged, Store, View, Writer};
use fulgurite::{Database, Snapshot as _};
use proptest::prelude::*;
use std::collections::BTreeMap;

pub(super) fn csn(number: u64) -> PackedCsn {
    csn_of(number, 1)
}

pub(super) fn csn_of(number: u64, server: u16) -> PackedCsn {
    let text = format!("20260131235959.{number:06}Z#000000#{server:03x}#000000");
    PackedCsn::parse(text.as_bytes()).unwrap()
}

fn uuid(number: u64) -> [u8; 16] {
    u128::from(number).to_be_bytes()
}

pub(super) fn change(kind: ChangeKind, number: u64) -> NewChange<'static> {
    NewChange {
        kind,
        csn: csn(number),
        previous: None,
        uuid: uuid(number),
        entry: EntryId(number),
        time_us: number,
        session: 0,
        author: "cn=root",
        dn: "ou=a,dc=example,dc=com",
        rename: None,
        operations: &[],
        is_unordered: false,
    }
}

/// Logs a change of this server.
fn log(writer: &mut Writer<'_>, kind: ChangeKind, number: u64) {
    writer.log_change(&change(kind, number)).unwrap();
    writer.raise_vector(csn(number)).unwrap();
}

pub(super) fn commit_changes(store: &Store, numbers: std::ops::RangeInclusive<u64>) {
    for number in numbers {
        let mut writer = store.write().unwrap();
        log(&mut writer, ChangeKind::Modify, number);
        writer.commit().unwrap();
    }
}

/// Returns the positions of all records.
pub(super) fn beyond_all(view: &View<'_>) -> Vec<u64> {
    let none = CsnVector::default();
    view.changes_beyond(&none, 1000).unwrap().unwrap()
}

/// Replaces the record at a position by bytes that are none.
fn damage_record(store: &Store, position: u64) {
    let mut writer = store.write().unwrap();
    let key = position.to_be_bytes();
    let len = writer
        .view
        .txn
        .get(store.dbs.changes, &key)
        .unwrap()
        .unwrap()
        .len();
    let damaged = vec![0xff; len];
    writer
        .view
        .txn
        .put(store.dbs.changes, &key, &damaged)
        .unwrap();
    writer.commit().unwrap();
}

#[test]
fn a_record_comes_back() {
    let made = create();
    let values = [
        vec![b"cn=root".to_vec()],
        vec![b"a\nb".to_vec(), Vec::new()],
    ];
    let operations = [
        NewOperation {
            operator: b'=',
            attribute: "modifiersName".into(),
            values: &values[0],
        },
        NewOperation {
            operator: b'+',
            attribute: "cn;lang-de".into(),
            values: &values[1],
        },
        NewOperation {
            operator: b'-',
            attribute: "sn".into(),
            values: &[],
        },
    ];
    let written = NewChange {
        previous: Some(csn(6)),
        session: 300,
        rename: Some(NewRename {
            new_rdn: "ou=b",
            deletes_old: true,
            superior: Some("dc=example,dc=com"),
        }),
        operations: &operations,
        is_unordered: true,
        ..change(ChangeKind::Rename, 7)
    };
    let mut writer = made.write().unwrap();
    writer.log_change(&written).unwrap();
    writer.commit().unwrap();
    let view = made.snapshot().unwrap();
    let read = view.change(1).unwrap().unwrap();
    assert_eq!(
        (read.kind, read.csn, read.previous),
        (ChangeKind::Rename, csn(7), Some(csn(6)))
    );
    assert_eq!(
        (read.uuid, read.entry, read.time_us),
        (uuid(7), EntryId(7), 7)
    );
    assert_eq!(
        (read.session, read.dn, read.rename),
        (300, written.dn, written.rename)
    );
    assert_eq!(
        (read.author().unwrap().as_str(), read.is_unordered),
        ("cn=root", true)
    );
    let operations = read.operations().unwrap();
    let expected = [("modifiersName", 1), ("cn;lang-de", 2), ("sn", 0)];
    let read: Vec<_> = operations
        .iter()
        .map(|op| (op.attribute, op.values.len()))
        .collect();
    assert_eq!(read, expected);
    assert_eq!(operations[1].values, [&b"a\nb"[..], b""]);
    assert_eq!(beyond_all(&view), [1]);
    assert!(
        view.changes().unwrap().vector.is_empty(),
        "nothing has raised it"
    );
    drop(view);
    assert_clean(&made.store);
}

#[test]
fn an_aborted_change_leaves_no_record() {
    let made = create();
    commit_changes(&made.store, 1..=3);
    let mut writer = made.write().unwrap();
    log(&mut writer, ChangeKind::Modify, 4);
    drop(writer);
    let view = made.snapshot().unwrap();
    let state = view.changes().unwrap();
    assert_eq!((state.newest, state.vector.of(1)), (3, Some(csn(3))));
    assert!(view.change(4).unwrap().is_none());
    drop(view);
    commit_changes(&made.store, 5..=5);
    assert_eq!(
        made.snapshot().unwrap().change(4).unwrap().unwrap().csn,
        csn(5)
    );
}

#[test]
fn changes_beyond_a_vector_are_found_by_server() {
    let made = create();
    let mut writer = made.write().unwrap();
    for (number, server) in [(1, 1), (2, 2), (3, 1), (1, 0), (5, 2), (4, 1)] {
        let change = NewChange {
            csn: csn_of(number, server),
            ..change(ChangeKind::Modify, number)
        };
        writer.log_change(&change).unwrap();
        writer.raise_vector(change.csn).unwrap();
    }
    writer.commit().unwrap();
    let view = made.snapshot().unwrap();
    let beyond = |known: &[(u64, u16)]| {
        let known = known.iter().map(|&(number, server)| csn_of(number, server));
        view.changes_beyond(&known.collect(), 10).unwrap().unwrap()
    };
    assert_eq!(beyond(&[]), [1, 2, 3, 4, 5, 6]);
    assert_eq!(beyond(&[(3, 1), (2, 2)]), [4, 5, 6]);
    assert_eq!(beyond(&[(2, 1), (9, 2), (1, 0)]), [3, 6]);
    assert_eq!(beyond(&[(9, 0), (9, 1), (9, 2), (9, 3)]), [0; 0]);
    assert_eq!(view.changes_beyond(&CsnVector::default(), 5).unwrap(), None);
    let vector = view.changes().unwrap().vector;
    assert_eq!(
        vector.iter().collect::<Vec<_>>(),
        [csn_of(1, 0), csn_of(4, 1), csn_of(5, 2)]
    );
}

#[test]
fn a_reader_of_the_log_is_behind_by_changes_and_time() {
    let made = create();
    commit_changes(&made.store, 1..=10);
    let lag = |position, now_us| {
        let view = made.snapshot().unwrap();
        let lag = view.lag_behind(position, now_us).unwrap();
        (lag.changes, lag.age_us)
    };
    let view = made.snapshot().unwrap();
    let written_us = |position| view.change(position).unwrap().unwrap().time_us;
    assert_eq!(lag(10, u64::MAX), (0, 0));
    assert_eq!(lag(7, written_us(8) + 5), (3, 5));
    assert_eq!(lag(7, 0), (3, 0), "a clock that was set back");
    made.keep_changes(Retention {
        bytes_max: 0,
        records_min: 2,
        ..Retention::default()
    });
    commit_changes(&made.store, 11..=12);
    let oldest = made.snapshot().unwrap().changes().unwrap().oldest;
    assert!(oldest > 4, "{oldest}");
    assert_eq!(lag(3, written_us(oldest) + 5), (9, 5), "dropped records");
}

#[test]
fn old_records_go_a_few_at_a_time() {
    let made = create();
    commit_changes(&made.store, 1..=100);
    let bytes = made.snapshot().unwrap().changes().unwrap().bytes;
    made.keep_changes(Retention {
        bytes_max: bytes / 10,
        ..Retention::default()
    });
    commit_changes(&made.store, 101..=101);
    let state = made.snapshot().unwrap().changes().unwrap();
    assert_eq!((state.oldest, state.horizon.of(1)), (3, Some(csn(2))));
    commit_changes(&made.store, 102..=250);
    let state = made.snapshot().unwrap().changes().unwrap();
    assert_eq!(state.newest, 250);
    assert!((5..=15).contains(&state.len()), "{state:?}");
    assert_eq!(state.horizon.of(1), Some(csn(state.oldest - 1)));
    assert_clean(&made.store);
    made.keep_changes(Retention {
        time_us_max: 2,
        ..Retention::default()
    });
    commit_changes(&made.store, 251..=270);
    let state = made.snapshot().unwrap().changes().unwrap();
    assert_eq!(state.oldest, 268, "{state:?}");
    made.keep_changes(Retention {
        bytes_max: 0,
        records_min: 8,
        ..Retention::default()
    });
    commit_changes(&made.store, 271..=290);
    assert_eq!(made.snapshot().unwrap().changes().unwrap().len(), 8);
    assert_clean(&made.store);
}

#[test]
fn a_purge_drops_old_records_without_a_write() {
    let made = create();
    commit_changes(&made.store, 1..=100);
    made.keep_changes(Retention {
        time_us_max: 50,
        ..Retention::default()
    });
    let state = || made.snapshot().unwrap().changes().unwrap();
    let before = made.commit_counts().commits;
    assert_eq!(
        made.purge_log(51, 1000).unwrap(),
        LogPurged::Done(0),
        "none is older"
    );
    assert_eq!(
        made.commit_counts().commits,
        before,
        "and nothing is written"
    );
    assert_eq!(
        made.purge_log(100, 10).unwrap(),
        LogPurged::More(10),
        "a few at a time"
    );
    assert_eq!(made.purge_log(100, 1000).unwrap(), LogPurged::Done(39));
    assert_eq!((state().oldest, state().horizon.of(1)), (50, Some(csn(49))));
    assert_clean(&made.store);
    made.keep_changes(Retention {
        time_us_max: 50,
        records_min: 8,
        ..Retention::default()
    });
    assert_eq!(made.purge_log(1000, 1000).unwrap(), LogPurged::Done(43));
    assert_eq!(made.purge_log(1000, 1000).unwrap(), LogPurged::Done(0));
    made.keep_changes(Retention {
        time_us_max: 50,
        ..Retention::default()
    });
    let writer = made.write().unwrap();
    let store = &made.store;
    let dropped = std::thread::scope(|scope| {
        let other = scope.spawn(|| store.purge_log(1000, 1000).unwrap());
        other.join().unwrap()
    });
    assert_eq!(dropped, LogPurged::Busy, "another one writes");
    drop(writer);
    // The newest one goes too.
    assert_eq!(made.purge_log(1000, 1000).unwrap(), LogPurged::Done(8));
    let empty = state();
    assert_eq!((empty.len(), empty.newest, empty.bytes), (0, 100, 0));
    assert_eq!(empty.horizon, empty.vector);
    assert_eq!(made.purge_log(1000, 1000).unwrap(), LogPurged::Done(0));
    assert_clean(&made.store);
    // Positions and chains go on.
    commit_changes(&made.store, 101..=102);
    assert_eq!((state().oldest, state().newest), (101, 102));
    let view = made.snapshot().unwrap();
    let known = CsnVector::from_iter([csn(100)]);
    assert_eq!(
        view.changes_beyond(&known, 10).unwrap(),
        Some(vec![101, 102])
    );
    assert_clean(&made.store);
}

#[test]
fn large_records_push_out_as_many_bytes_of_small_ones() {
    let made = create();
    commit_changes(&made.store, 1..=200);
    let bytes_max = made.snapshot().unwrap().changes().unwrap().bytes;
    made.keep_changes(Retention {
        bytes_max,
        ..Retention::default()
    });
    let dn = format!(
        "cn={},dc=example,dc=com",
        "x".repeat(bytes_max as usize / 4)
    );
    for number in 201..=204 {
        let mut writer = made.write().unwrap();
        let large = NewChange {
            dn: &dn,
            ..change(ChangeKind::Modify, number)
        };
        writer.log_change(&large).unwrap();
        writer.raise_vector(large.csn).unwrap();
        writer.commit().unwrap();
        let bytes = made.snapshot().unwrap().changes().unwrap().bytes;
        assert!(bytes <= bytes_max, "{bytes} of {bytes_max}");
    }
    assert_clean(&made.store);
}

#[test]
fn deletions_are_remembered_until_they_are_old_or_undone() {
    let made = create();
    let mut writer = made.write().unwrap();
    for number in 1..=3 {
        log(&mut writer, ChangeKind::Delete, number);
    }
    // The third entry comes back.
    let again = NewChange {
        csn: csn(4),
        ..change(ChangeKind::Add, 3)
    };
    writer.log_change(&again).unwrap();
    writer.raise_vector(csn(4)).unwrap();
    writer.commit().unwrap();
    let view = made.snapshot().unwrap();
    let tombstone = view.tombstone(uuid(2)).unwrap().unwrap();
    assert_eq!(
        (tombstone.csn, tombstone.position, tombstone.dn),
        (csn(2), 2, change(ChangeKind::Add, 0).dn)
    );
    assert_eq!(view.tombstone(uuid(3)).unwrap(), None);
    let beyond = |known| {
        view.deleted_beyond(&CsnVector::from_iter([csn(known)]))
            .unwrap()
    };
    assert_eq!(
        (beyond(0), beyond(1)),
        (vec![uuid(1), uuid(2)], vec![uuid(2)])
    );
    drop(view);
    assert_clean(&made.store);
    made.keep_changes(Retention {
        tombstone_us_max: 10,
        ..Retention::default()
    });
    commit_changes(&made.store, 12..=12);
    let view = made.snapshot().unwrap();
    assert_eq!(view.tombstone(uuid(1)).unwrap(), None);
    assert!(view.tombstone(uuid(2)).unwrap().is_some());
    assert_eq!(
        view.changes().unwrap().tombstone_horizon.of(1),
        Some(csn(1))
    );
    drop(view);
    assert_clean(&made.store);
}

#[test]
fn commits_drop_a_damaged_record() {
    let made = create();
    commit_changes(&made.store, 1..=6);
    // A record in no chain has a row by its number.
    let mut writer = made.write().unwrap();
    let late = NewChange {
        csn: csn(2),
        is_unordered: true,
        ..change(ChangeKind::Modify, 7)
    };
    writer.log_change(&late).unwrap();
    writer.commit().unwrap();
    damage_record(&made.store, 1);
    damage_record(&made.store, 7);
    commit_changes(&made.store, 8..=8);
    let state = made.snapshot().unwrap().changes().unwrap();
    assert_eq!((state.oldest, state.newest), (2, 8), "it goes at once");
    assert_eq!(
        state.horizon.of(1),
        Some(csn(6)),
        "consumers of that state go on, all before read the entries"
    );
    made.keep_changes(Retention {
        bytes_max: 0,
        ..Retention::default()
    });
    commit_changes(&made.store, 9..=14);
    let view = made.snapshot().unwrap();
    let state = view.changes().unwrap();
    assert_eq!((state.len(), state.oldest), (1, 14));
    assert!(state.horizon.covers(csn(13)));
    assert_eq!(beyond_all(&view), [14]);
    drop(view);
    assert_clean(&made.store);
}

#[test]
fn a_damaged_record_in_a_chain_leaves_everything_to_a_refresh() {
    let made = create();
    commit_changes(&made.store, 1..=6);
    damage_record(&made.store, 4);
    let view = made.snapshot().unwrap();
    let beyond = |known| {
        let known = CsnVector::from_iter([csn(known)]);
        view.changes_beyond(&known, 100).unwrap()
    };
    assert_eq!((beyond(4), beyond(2)), (None, None));
    assert_eq!(beyond(5), Some(vec![6]));
    assert!(view.change(4).unwrap().is_none());
}

#[test]
fn commits_drop_damaged_memories_of_deletions() {
    let made = create();
    let mut writer = made.write().unwrap();
    (1..=3).for_each(|number| log(&mut writer, ChangeKind::Delete, number));
    writer.commit().unwrap();
    let mut writer = made.write().unwrap();
    let dbs = made.store.dbs;
    let txn = &mut writer.view.txn;
    txn.put(dbs.tombstones, &uuid_key(uuid(1)), b"x").unwrap();
    txn.put(dbs.tombstones, &uuid_key(uuid(2)), b"x").unwrap();
    // Shorter than a number.
    txn.put(dbs.tombstones, &[BY_CSN, 0, 1, 0], &[]).unwrap();
    writer.commit().unwrap();
    // The entry of a damaged one comes back.
    let mut writer = made.write().unwrap();
    log(&mut writer, ChangeKind::Add, 2);
    writer.commit().unwrap();
    for number in 4..=8 {
        commit_changes(&made.store, number..=number);
    }
    let view = made.snapshot().unwrap();
    assert_eq!(view.tombstone(uuid(1)).unwrap(), None);
    assert!(view.tombstone(uuid(3)).unwrap().is_some());
    let state = view.changes().unwrap();
    assert!(state.tombstone_horizon.covers(csn(2)), "{state:?}");
    drop(view);
    assert_clean(&made.store);
}

/// Makes the log one of the layout without chains: all records have a row by their number.
fn forget_chains(store: &Store, numbers: std::ops::RangeInclusive<u64>) {
    let mut writer = store.write().unwrap();
    let (dbs, txn) = (store.dbs, &mut writer.view.txn);
    let mut bytes = 0;
    for number in numbers {
        let mut record = Vec::new();
        change(ChangeKind::Modify, number).encode(None, &mut record);
        bytes += record.len() as u64;
        txn.put(dbs.changes, &number.to_be_bytes(), &record)
            .unwrap();
        txn.put(dbs.change_csn, &change_key(csn(number), number), &[])
            .unwrap();
    }
    let mut state = LogState::read(txn, dbs.meta).unwrap().unwrap();
    (state.bytes, state.chains) = (bytes, Chains::default());
    state.write(txn, dbs.meta).unwrap();
    let key = b"changes.state";
    let mut row = txn.get(Database::MAIN, key).unwrap().unwrap().to_vec();
    row.truncate(row.len() - 2);
    row[0] = 1;
    txn.delete(Database::MAIN, key).unwrap();
    txn.put(dbs.meta, b"changes", &row).unwrap();
    writer.commit().unwrap();
}

#[test]
fn a_log_without_chains_goes_on_with_them() {
    let made = create();
    commit_changes(&made.store, 1..=4);
    forget_chains(&made.store, 1..=4);
    assert_clean(&made.store);
    commit_changes(&made.store, 5..=6);
    let view = made.snapshot().unwrap();
    assert_eq!(beyond_all(&view), [1, 2, 3, 4, 5, 6]);
    let known = CsnVector::from_iter([csn(3)]);
    assert_eq!(
        view.changes_beyond(&known, 100).unwrap(),
        Some(vec![4, 5, 6])
    );
    assert_eq!(view.changes().unwrap().vector.of(1), Some(csn(6)));
    drop(view);
    assert_clean(&made.store);
}

#[test]
fn a_load_never_lowers_the_vector() {
    let made = create();
    let schema = schema();
    let mut writer = made.write().unwrap();
    add(&mut writer, &suffix_entry(&schema));
    add(
        &mut writer,
        &stamped(&schema, "ou=5,dc=example,dc=com", csn(5)),
    );
    // The entry of the newest change is gone, and with it its number.
    log(&mut writer, ChangeKind::Delete, 9);
    writer.commit().unwrap();
    let mut writer = made.write().unwrap();
    add(
        &mut writer,
        &stamped(&schema, "ou=6,dc=example,dc=com", csn_of(6, 2)),
    );
    writer.log_load().unwrap();
    writer.commit().unwrap();
    made.settle_changes().unwrap();
    let state = made.snapshot().unwrap().changes().unwrap();
    assert_eq!(
        state.vector.iter().collect::<Vec<_>>(),
        [csn(9), csn_of(6, 2)]
    );
    assert_eq!((&state.horizon, state.is_pending), (&state.vector, false));
}

pub(super) fn stamped(
    schema: &fulgurite_schema::Schema,
    name: &str,
    csn: PackedCsn,
) -> fulgurite_schema::CheckedEntry {
    let text = csn.text();
    entry(
        schema,
        name,
        &[("objectClass", "organizationalUnit"), ("entryCSN", &text)],
    )
}

proptest! {
    /// Changes of several servers, in any order: those beyond any vector are found.
    #[test]
    fn changes_beyond_any_vector_are_found(
        made in proptest::collection::vec((0..40_u64, 0..3_u16), 1..60),
        known in proptest::collection::vec((0..40_u64, 0..3_u16), 0..3),
        dropped in 0..20_u64,
    ) {
        let store = create();
        let known: CsnVector = known.iter().map(|&(number, server)| csn_of(number, server)).collect();
        let mut expected = Vec::new();
        for (position, &(number, server)) in (1..).zip(&made) {
            let change = NewChange {
                csn: csn_of(number, server),
                is_unordered: true,
                ..change(ChangeKind::Modify, position)
            };
            let mut writer = store.write().unwrap();
            writer.log_change(&change).unwrap();
            writer.commit().unwrap();
            if !known.covers(change.csn) {
                expected.push(position);
            }
        }
        let mut writer = store.write().unwrap();
        let mut bytes = 0;
        for position in 1..=dropped.min(made.len() as u64 - 1) {
            bytes += writer.view.txn.get(store.dbs.changes, &position.to_be_bytes()).unwrap().unwrap().len() as u64;
        }
        writer.log_state().unwrap();
        writer.log.shrink(&mut writer.view.txn, &store.store, (bytes, 0)).unwrap();
        writer.log.has_changed = true;
        writer.commit().unwrap();
        let view = store.snapshot().unwrap();
        let oldest = view.changes().unwrap().oldest;
        expected.retain(|position| *position >= oldest);
        prop_assert_eq!(view.changes_beyond(&known, 100).unwrap(), Some(expected));
        drop(view);
        assert_clean(&store.store);
    }

    /// Commits and aborts at random: the log is the list of the committed changes.
    #[test]
    fn the_log_is_what_was_committed(
        batches in proptest::collection::vec((1..6_u64, any::<bool>(), 0..4_usize), 1..30),
    ) {
        let made = create();
        let (mut model, mut next) = (BTreeMap::new(), 0);
        let mut vector = CsnVector::default();
        for (len, commits, kind) in batches {
            let kinds = [ChangeKind::Add, ChangeKind::Modify, ChangeKind::Delete, ChangeKind::Glue];
            let mut writer = made.write().unwrap();
            let mut batch = Vec::new();
            for _ in 0..len {
                next += 1;
                let change = NewChange { csn: csn_of(next, (next % 3) as u16), ..change(kinds[kind], next) };
                writer.log_change(&change).unwrap();
                writer.raise_vector(change.csn).unwrap();
                batch.push(change.csn);
            }
            if commits {
                writer.commit().unwrap();
                for csn in batch {
                    model.insert(model.len() as u64 + 1, csn);
                    vector.raise(csn);
                }
            }
        }
        let view = made.snapshot().unwrap();
        let state = view.changes().unwrap();
        prop_assert_eq!(state.newest, model.len() as u64);
        prop_assert_eq!(&state.vector, &vector);
        for (position, csn) in &model {
            prop_assert_eq!(view.change(*position).unwrap().unwrap().csn, *csn);
        }
        drop(view);
        assert_clean(&made.store);
    }
}

#[test]
fn a_part_of_a_transaction_is_undone_alone() {
    let made = create();
    let mut writer = made.write().unwrap();
    let first = writer.savepoint().unwrap();
    log(&mut writer, ChangeKind::Modify, 1);
    writer.put_sync_row(b"kept", b"1").unwrap();
    let changes = writer.changes_made();
    let second = writer.savepoint().unwrap();
    log(&mut writer, ChangeKind::Modify, 2);
    writer.put_sync_row(b"kept", b"2").unwrap();
    writer.put_sync_row(b"undone", b"1").unwrap();
    assert!(writer.changes_made() > changes);
    writer.undo(second);
    assert_eq!(writer.changes_made(), changes);
    assert_eq!(writer.sync_row(b"kept").unwrap(), Some(&b"1"[..]));
    assert_eq!(writer.log_state().unwrap().newest, 1);
    writer.keep(first).unwrap();
    log(&mut writer, ChangeKind::Modify, 3);
    writer.commit().unwrap();
    let view = made.snapshot().unwrap();
    assert_eq!(view.sync_row(b"undone").unwrap(), None);
    assert_eq!(view.changes().unwrap().newest, 2);
    assert_eq!(view.change(2).unwrap().unwrap().csn, csn(3));
    assert_clean(&made.store);
}
