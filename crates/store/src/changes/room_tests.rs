//! The log in a store that cannot grow any more.

use super::tests::change;
use super::*;
use crate::testing::*;
use crate::{EntryId, RoomFor, Store, StoreError, StoreOptions};

/// A store that can grow to a size in MiB.
fn create_small(mebibytes: u64) -> TestStore {
    create_with(&StoreOptions {
        map_bytes_max: Some(mebibytes << 20),
        durability: Some(fulgurite::Durability::NoSync),
        ..options()
    })
}

fn commit_long(store: &Store, number: u64) -> Result<(), StoreError> {
    let dn = format!("cn={},dc=example,dc=com", "x".repeat(700));
    let long = NewChange {
        dn: &dn,
        ..change(ChangeKind::Modify, number)
    };
    let mut writer = store.write()?;
    writer.log_change(&long)?;
    writer.raise_vector(long.csn)?;
    writer.commit()
}

#[test]
fn the_log_alone_does_not_fill_a_small_store() {
    let made = create_small(2);
    for number in 1..=6000 {
        commit_long(&made.store, number).unwrap();
    }
    let state = made.snapshot().unwrap().changes().unwrap();
    assert!(state.bytes <= (2 << 20) / 4, "{state:?}");
    assert!(state.len() > 100, "{state:?}");
    made.limit_log(64 << 10);
    for number in 6001..=6800 {
        commit_long(&made.store, number).unwrap();
    }
    let state = made.snapshot().unwrap().changes().unwrap();
    assert!(state.bytes <= 64 << 10, "{state:?}");
    assert_clean(&made.store);
}

#[test]
fn the_log_gives_its_room_to_entries() {
    let made = create_small(2);
    let schema = schema();
    let mut writer = made.write().unwrap();
    add(&mut writer, &suffix_entry(&schema));
    writer.commit().unwrap();
    for number in 1..=500 {
        commit_long(&made.store, number).unwrap();
    }
    let before = made.snapshot().unwrap().changes().unwrap().bytes;
    let text = "x".repeat(2000);
    let text = text.as_str();
    let (mut rooms, mut number) = (0, 0);
    let room = RoomFor::Storing(2 * text.len() as u64);
    loop {
        number += 1;
        let name = format!("ou={number},dc=example,dc=com");
        let values = [("objectClass", "organizationalUnit"), ("description", text)];
        let entry = entry(&schema, &name, &values);
        let added = made.write().and_then(|mut writer| {
            let parent = parent_of(&*writer, &entry.entry().dn);
            writer.add(parent, &entry)?;
            let change = change(ChangeKind::Add, 500 + number);
            writer.log_change(&change)?;
            writer.raise_vector(change.csn)?;
            writer.commit()
        });
        match added {
            Ok(()) => {}
            Err(error) if error.lacks_room() => match made.make_room(room).unwrap() {
                true => {
                    rooms += 1;
                    // It is to be tried again.
                    number -= 1;
                }
                false => break,
            },
            Err(error) => panic!("entry {number}: {error}"),
        }
        assert!(number < 5000, "the store is small");
    }
    assert!(rooms > 0, "the log had {before} bytes");
    let state = made.snapshot().unwrap().changes().unwrap();
    assert!(
        state.bytes < 16 << 10,
        "of {before} bytes, more is left: {state:?}"
    );
    assert_clean(&made.store);
}

#[test]
fn the_log_keeps_its_records_if_they_are_too_few() {
    let made = create_small(2);
    for number in 1..=400 {
        commit_long(&made.store, number).unwrap();
    }
    let state = |store: &Store| store.snapshot().unwrap().changes().unwrap();
    // No room of the log would be enough.
    let before = state(&made.store);
    assert!(!made.make_room(RoomFor::Storing(2 << 20)).unwrap());
    assert_eq!(state(&made.store), before);
    made.keep_changes(Retention {
        records_min: 100,
        ..made.retention()
    });
    while made.make_room(RoomFor::Storing(1000)).unwrap() {}
    assert_eq!(state(&made.store).len(), 100);
    while made.make_room(RoomFor::Deletion).unwrap() {}
    assert_eq!(state(&made.store).len(), 1);
    assert_clean(&made.store);
}

#[test]
fn entries_go_from_a_store_that_is_full() {
    let made = create_small(2);
    let schema = schema();
    let mut writer = made.write().unwrap();
    add(&mut writer, &suffix_entry(&schema));
    writer.commit().unwrap();
    let text = "x".repeat(3000);
    let mut ids = Vec::new();
    let add_more = |ids: &mut Vec<EntryId>, text: &str| {
        for number in 1.. {
            let name = format!("ou={text:.1}{number},dc=example,dc=com");
            let values = [("objectClass", "organizationalUnit"), ("description", text)];
            let entry = entry(&schema, &name, &values);
            let added = made.write().and_then(|mut writer| {
                let parent = parent_of(&*writer, &entry.entry().dn);
                let id = writer.add(parent, &entry)?;
                writer.commit()?;
                Ok(id)
            });
            match added {
                Ok(id) => ids.push(id),
                Err(error) => return assert!(error.lacks_room(), "{error}"),
            }
        }
    };
    add_more(&mut ids, &text);
    add_more(&mut ids, "y");
    let delete = |id: EntryId, uses_reserve: bool| {
        let mut writer = made.write()?;
        if uses_reserve {
            writer.use_reserve();
        }
        writer.delete(id)?;
        let deletion = change(ChangeKind::Delete, id.0);
        writer.log_change(&deletion)?;
        writer.raise_vector(deletion.csn)?;
        writer.commit()
    };
    let mut has_used_reserve = false;
    for id in ids {
        if let Err(error) = delete(id, false) {
            assert!(error.lacks_room(), "{error}");
            delete(id, true).expect("room for a deletion");
            has_used_reserve = true;
        }
    }
    assert!(has_used_reserve, "the store was full");
    assert_clean(&made.store);
}
