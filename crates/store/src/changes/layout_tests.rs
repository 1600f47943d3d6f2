//! Stores of older layouts, and stores that have lost the state of the log.

use super::tests::{beyond_all, change, commit_changes, csn, csn_of, stamped};
use super::*;
use crate::testing::*;
use crate::{Store, StoreOptions};
use fulgurite::{Database, Snapshot as _};
use std::sync::Arc;

/// Reads a store of the layout before through every function of the log.
fn read_without_log(store: &Store, known: PackedCsn) {
    store.settle_changes().unwrap();
    store.show_changes().unwrap();
    let view = store.snapshot().unwrap();
    assert_eq!(view.entry_count().unwrap(), 4);
    let state = view.changes().unwrap();
    assert_eq!((state.is_pending, state.is_empty()), (true, true));
    assert!(view.change(1).unwrap().is_none());
    let nothing = CsnVector::default();
    assert_eq!(view.changes_beyond(&nothing, 9).unwrap(), Some(Vec::new()));
    assert_eq!(view.tombstone([0; 16]).unwrap(), None);
    assert_eq!(
        view.deleted_beyond(&nothing).unwrap(),
        Vec::<[u8; 16]>::new()
    );
    assert_eq!(view.vector_of_entries().unwrap().of(1), Some(known));
    drop(view);
    assert_clean(store);
    let other = store.with_schema(Arc::clone(store.schema())).unwrap();
    assert_eq!(other.snapshot().unwrap().entry_count().unwrap(), 4);
}

#[test]
fn an_older_layout_gets_a_log_and_the_vector_of_its_entries() {
    let made = create_with(&options());
    let schema = schema();
    let mut writer = made.write().unwrap();
    add(&mut writer, &suffix_entry(&schema));
    for (number, server) in [(5, 1), (7, 1), (6, 2)] {
        let name = format!("ou={number},dc=example,dc=com");
        add(
            &mut writer,
            &stamped(&schema, &name, csn_of(number, server)),
        );
    }
    // Nothing of the log is known to the layout before.
    let dbs = writer.store().dbs;
    let txn = &mut writer.view.txn;
    txn.put(
        dbs.meta,
        crate::store::KEY_LAYOUT,
        crate::store::LAYOUT_WITHOUT_LOG.as_bytes(),
    )
    .unwrap();
    for database in [dbs.changes, dbs.change_csn, dbs.tombstones] {
        txn.drop_database(database).unwrap();
    }
    writer.commit().unwrap();
    let TestStore { store, dir } = made;
    drop(store);
    let read_only = StoreOptions {
        read_only: true,
        ..options()
    };
    read_without_log(
        &Store::open(dir.path(), &read_only, schema.clone()).unwrap(),
        csn_of(7, 1),
    );
    let store = Store::open(dir.path(), &options(), schema).unwrap();
    assert!(store.snapshot().unwrap().changes().unwrap().is_pending);
    store.settle_changes().unwrap();
    let state = store.snapshot().unwrap().changes().unwrap();
    assert_eq!(
        state.vector.iter().collect::<Vec<_>>(),
        [csn_of(7, 1), csn_of(6, 2)]
    );
    assert_eq!((&state.horizon, state.is_pending), (&state.vector, false));
    commit_changes(&store, 8..=9);
    assert_eq!(store.snapshot().unwrap().changes().unwrap().newest, 2);
    assert_clean(&store);
}

/// Takes a store back to what layout 7 was before the chains. The state is a row of `meta`, of
/// another version, and each record has a row by its number.
fn take_back_to_layout_7(store: &Store, keeps_newer: bool) {
    let mut writer = store.write().unwrap();
    let dbs = writer.store().dbs;
    let txn = &mut writer.view.txn;
    let layout = crate::store::LAYOUT_UNCHAINED.as_bytes();
    txn.put(dbs.meta, crate::store::KEY_LAYOUT, layout).unwrap();
    let mut row = txn
        .get(Database::MAIN, b"changes.state")
        .unwrap()
        .unwrap()
        .to_vec();
    let state = LogState::read(txn, dbs.meta).unwrap().unwrap();
    let mut chains = Vec::new();
    state.chains.encode(&mut chains);
    row.truncate(row.len() - chains.len());
    row[0] = 1;
    if !keeps_newer {
        let mut len = 0_u64;
        txn.delete(Database::MAIN, b"changes.state").unwrap();
        for position in state.oldest..=state.newest {
            let key = position.to_be_bytes();
            let bytes = txn.get(dbs.changes, &key).unwrap().unwrap().to_vec();
            let record = ChangeRecord::decode(&bytes).unwrap();
            let plain = change(record.kind, position);
            let mut encoded = Vec::new();
            plain.encode(None, &mut encoded);
            len += encoded.len() as u64;
            txn.put(dbs.changes, &key, &encoded).unwrap();
            let row = change_key(record.csn, position);
            txn.put(dbs.change_csn, &row, &[]).unwrap();
        }
        row[18..26].copy_from_slice(&len.to_le_bytes());
    }
    txn.put(dbs.meta, b"changes", &row).unwrap();
    writer.commit().unwrap();
}

#[test]
fn layout_7_becomes_8_when_it_is_opened_for_writing() {
    // Without chains, with them, and written by releases of both kinds.
    for form in ["plain", "chained", "both"] {
        let made = create_with(&options());
        let schema = schema();
        let mut writer = made.write().unwrap();
        add(&mut writer, &suffix_entry(&schema));
        let entry = stamped(&schema, "ou=5,dc=example,dc=com", csn(5));
        add(&mut writer, &entry);
        writer.commit().unwrap();
        commit_changes(&made.store, 1..=5);
        match form {
            "chained" => {
                let mut writer = made.write().unwrap();
                let meta = writer.store().dbs.meta;
                let layout = crate::store::LAYOUT_UNCHAINED.as_bytes();
                let txn = &mut writer.view.txn;
                txn.put(meta, crate::store::KEY_LAYOUT, layout).unwrap();
                writer.commit().unwrap();
            }
            _ => take_back_to_layout_7(&made.store, form == "both"),
        }
        let TestStore { store, dir } = made;
        drop(store);
        let layout = |expected: &str| {
            let env = fulgurite::Environment::options().read_only(true);
            let env = env.open(dir.path()).unwrap();
            let found = crate::store::Description::read(&env).unwrap().unwrap();
            assert_eq!(found.layout, expected, "{form}");
        };
        let read_only = StoreOptions {
            read_only: true,
            ..options()
        };
        let store = Store::open(dir.path(), &read_only, schema.clone()).unwrap();
        let view = store.snapshot().unwrap();
        assert_eq!(view.entry_count().unwrap(), 2);
        assert_eq!(view.changes().unwrap().vector.of(1), Some(csn(5)));
        assert_eq!(beyond_all(&view).len(), 5, "{form}");
        drop(view);
        drop(store);
        layout("fulgurite-store 7");
        let store = Store::open(dir.path(), &options(), schema).unwrap();
        store.settle_changes().unwrap();
        let state = store.snapshot().unwrap().changes().unwrap();
        assert_eq!((state.newest, state.is_pending), (5, false), "{form}");
        assert_eq!(state.vector.of(1), Some(csn(5)), "{form}");
        let kept = if form == "both" { 0 } else { 5 };
        assert_eq!(state.len(), kept, "{form}");
        // Without records, consumers of any older state get everything.
        let horizon = (form == "both").then_some(csn(5));
        assert_eq!(state.horizon.of(1), horizon, "{form}");
        commit_changes(&store, 6..=7);
        let view = store.snapshot().unwrap();
        let known: CsnVector = [csn(5)].into_iter().collect();
        assert_eq!(view.changes_beyond(&known, 9).unwrap(), Some(vec![6, 7]));
        assert_eq!(beyond_all(&view).len() as u64, kept + 2, "{form}");
        drop(view);
        assert_clean(&store);
        drop(store);
        layout("fulgurite-store 8");
    }
}

#[test]
fn a_lost_state_of_the_log_is_computed_from_the_entries() {
    let made = create_with(&options());
    let schema = schema();
    let mut writer = made.write().unwrap();
    add(&mut writer, &suffix_entry(&schema));
    let entry = stamped(&schema, "ou=5,dc=example,dc=com", csn_of(5, 1));
    add(&mut writer, &entry);
    writer.commit().unwrap();
    commit_changes(&made.store, 3..=4);
    // As after mdb_dump -a, which leaves the main database out.
    let mut writer = made.write().unwrap();
    let txn = &mut writer.view.txn;
    assert!(
        txn.delete(fulgurite::Database::MAIN, b"changes.state")
            .unwrap()
    );
    writer.commit().unwrap();
    let TestStore { store, dir } = made;
    drop(store);
    let store = Store::open(dir.path(), &options(), schema).unwrap();
    assert!(store.snapshot().unwrap().changes().unwrap().is_pending);
    store.settle_changes().unwrap();
    let state = store.snapshot().unwrap().changes().unwrap();
    assert!(state.vector.covers(csn_of(5, 1)), "{state:?}");
    assert_eq!((&state.horizon, state.is_pending), (&state.vector, false));
    assert_clean(&store);
    commit_changes(&store, 8..=9);
    assert_clean(&store);
}
