use std::sync::Arc;

use crate::testing::*;
use crate::{EntryId, NameLookup, StoreError};
use fulgurite_schema::{CheckOptions, CheckedEntry, Dn, Schema};
use proptest::prelude::*;

const PEOPLE: &str = "ou=people,dc=example,dc=com";

fn with_people() -> TestStore {
    let store = create();
    let mut writer = store.write().unwrap();
    add(&mut writer, &suffix_entry(&schema()));
    add(&mut writer, &unit(&schema(), PEOPLE));
    writer.commit().unwrap();
    store
}

#[test]
fn entries_are_found_by_name_and_keep_their_text() {
    let store = with_people();
    let mut writer = store.write().unwrap();
    let id = add(
        &mut writer,
        &person(&schema(), "UID = Jane , OU=People,dc=example,dc=com", &[]),
    );
    assert_eq!(
        find(&writer, "uid=jane,ou=people,dc=example,dc=com"),
        NameLookup::Entry(id)
    );
    writer.commit().unwrap();
    let view = store.snapshot().unwrap();
    assert_eq!(
        find(&view, "uid=JANE,ou=people,dc=example,dc=com"),
        NameLookup::Entry(id)
    );
    assert_eq!(view.dn(id).unwrap(), "uid=Jane,ou=people,dc=example,dc=com");
    assert_eq!(view.depth(id).unwrap(), 4);
    let people = find(&view, PEOPLE).entry().unwrap();
    let deepest = Some((people, 3));
    assert_eq!(
        find(&view, "uid=x,uid=joe,ou=people,dc=example,dc=com"),
        NameLookup::Missing { deepest }
    );
    assert_eq!(
        find(&view, "dc=example,dc=org"),
        NameLookup::Missing { deepest: None }
    );
    assert_eq!(view.children(people).unwrap(), [id]);
    assert!(view.has_children(people).unwrap() && !view.has_children(id).unwrap());
    assert!(view.is_descendant(id, people).unwrap() && !view.is_descendant(people, id).unwrap());
    assert!(!view.is_descendant(id, id).unwrap());
    assert_eq!(view.descendant_count(EntryId(1)).unwrap(), 2);
    assert_clean(&store);
}

#[test]
fn a_refused_operation_leaves_no_trace_in_a_batch() {
    let store = with_people();
    let schema = schema();
    let mut writer = store.write().unwrap();
    let jane = person(&schema, "uid=jane,ou=people,dc=example,dc=com", &[]);
    let jane_id = add(&mut writer, &jane);
    let people = find(&writer, PEOPLE).entry().unwrap();
    assert!(matches!(
        writer.add(people, &jane),
        Err(StoreError::EntryExists(_))
    ));
    assert!(matches!(
        writer.add(EntryId(99), &jane),
        Err(StoreError::NoSuchParent(_))
    ));
    assert!(matches!(
        writer.add(EntryId::ROOT, &jane),
        Err(StoreError::OutsideSuffix(_))
    ));
    assert!(matches!(writer.delete(people), Err(StoreError::NotLeaf(_))));
    assert!(matches!(
        writer.delete(EntryId(99)),
        Err(StoreError::NoSuchEntry(_))
    ));
    assert!(matches!(
        writer.modify(EntryId(99), &jane),
        Err(StoreError::NoSuchEntry(_))
    ));
    assert!(matches!(
        writer.rename(people, jane_id, &unit(&schema, PEOPLE)),
        Err(StoreError::CannotMove(_))
    ));
    assert!(matches!(
        writer.rename(people, people, &unit(&schema, PEOPLE)),
        Err(StoreError::CannotMove(_))
    ));
    assert!(matches!(
        writer.rename(EntryId(1), people, &unit(&schema, PEOPLE)),
        Err(StoreError::CannotMove(_))
    ));
    add(
        &mut writer,
        &person(&schema, "uid=joe,ou=people,dc=example,dc=com", &[]),
    );
    writer.commit().unwrap();
    assert_eq!(contents(&store.snapshot().unwrap()).len(), 4);
    assert_clean(&store);
}

#[test]
fn an_id_that_a_batch_frees_and_gives_again_has_the_new_postings() {
    let (store, schema) = (with_people(), schema());
    let named = |name: &str| person(&schema, &format!("uid={name},{PEOPLE}"), &[]);
    let mut writer = store.write().unwrap();
    let jane = add(&mut writer, &named("jane"));
    writer.commit().unwrap();
    let mut writer = store.write().unwrap();
    writer.delete(jane).unwrap();
    assert_eq!(add(&mut writer, &named("joe")), jane);
    let ann = add(&mut writer, &named("ann"));
    writer.delete(ann).unwrap();
    add(&mut writer, &named("eve"));
    writer.commit().unwrap();
    assert_clean(&store);
}

#[test]
fn an_uncommitted_writer_leaves_nothing() {
    let store = with_people();
    let before = contents(&store.snapshot().unwrap());
    let mut writer = store.write().unwrap();
    add(
        &mut writer,
        &person(
            &schema(),
            "uid=jane,ou=people,dc=example,dc=com",
            &[("cn;lang-fr", "Jeanne")],
        ),
    );
    drop(writer);
    assert_eq!(contents(&store.snapshot().unwrap()), before);
    // The number that the dropped writer gave to cn;lang-fr is used again.
    let mut writer = store.write().unwrap();
    add(
        &mut writer,
        &person(
            &schema(),
            "uid=jane,ou=people,dc=example,dc=com",
            &[("cn;lang-de", "Johanna")],
        ),
    );
    writer.commit().unwrap();
    let view = store.snapshot().unwrap();
    let jane = contents(&view)
        .remove("uid=jane,ou=people,dc=example,dc=com")
        .unwrap();
    assert_eq!(jane["cn;lang-de"], [b"Johanna".to_vec()]);
    assert_clean(&store);
}

#[test]
fn a_renamed_subtree_moves_with_its_root() {
    let store = with_people();
    let schema = schema();
    let mut writer = store.write().unwrap();
    let jane = add(
        &mut writer,
        &person(&schema, "uid=jane,ou=people,dc=example,dc=com", &[]),
    );
    let staff = add(&mut writer, &unit(&schema, "ou=staff,dc=example,dc=com"));
    let people = find(&writer, PEOPLE).entry().unwrap();
    writer
        .rename(
            people,
            staff,
            &unit(&schema, "ou=Folk,ou=staff,dc=example,dc=com"),
        )
        .unwrap();
    writer.commit().unwrap();
    let view = store.snapshot().unwrap();
    assert_eq!(
        view.dn(jane).unwrap(),
        "uid=jane,ou=Folk,ou=staff,dc=example,dc=com"
    );
    assert_eq!(
        find(&view, "uid=jane,ou=folk,ou=staff,dc=example,dc=com"),
        NameLookup::Entry(jane)
    );
    assert_eq!(find(&view, PEOPLE).entry(), None);
    assert_eq!(
        (
            view.child_count(EntryId(1)).unwrap(),
            view.descendant_count(staff).unwrap()
        ),
        (1, 2)
    );
    assert_clean(&store);
}

#[test]
fn names_have_no_length_limit() {
    let store = with_people();
    let long = "x".repeat(30_000);
    let mut writer = store.write().unwrap();
    let dn = format!("uid={long},{PEOPLE}");
    let id = add(&mut writer, &person(&schema(), &dn, &[]));
    writer.commit().unwrap();
    let view = store.snapshot().unwrap();
    assert_eq!(find(&view, &dn), NameLookup::Entry(id));
    assert_eq!(view.dn(id).unwrap(), dn);
    assert_clean(&store);
}

#[test]
fn views_see_their_own_state_and_parked_ones_the_newest() {
    let store = with_people();
    let mut old = store.snapshot().unwrap();
    let parked = store.snapshot().unwrap().park();
    let mut writer = store.write().unwrap();
    let dn = "uid=jane,ou=people,dc=example,dc=com";
    add(
        &mut writer,
        &person(
            &schema(),
            dn,
            &[("description;lang-sw", "a new description")],
        ),
    );
    writer.commit().unwrap();
    assert_eq!(find(&old, dn).entry(), None);
    let resumed = parked.resume().unwrap();
    let id = find(&resumed, dn).entry().unwrap();
    assert!(
        resumed
            .entry(id)
            .unwrap()
            .unwrap()
            .attributes()
            .any(|a| &*a.info.text == "description;lang-sw")
    );
    old.refresh().unwrap();
    assert_eq!(find(&old, dn).entry(), Some(id));
}

/// Returns one of a few names, so that operations concern the same entries.
fn place(a: u8, b: u8) -> String {
    match (a % 4, b % 6) {
        (0, b) => format!("ou=u{b},dc=example,dc=com"),
        (a, b) => format!("uid=p{b},ou=u{a},dc=example,dc=com"),
    }
}

fn some_entry(schema: &Schema, dn: &str, seed: u8) -> CheckedEntry {
    if dn.starts_with("ou=") {
        return unit(schema, dn);
    }
    let number = (seed % 5).to_string();
    let surname = ["Abbot", "Babbage", "Abba", "O'Neill"][usize::from(seed % 4)];
    let mut more = vec![
        ("cn", surname),
        ("description", "x"),
        ("cn;lang-en", "Jane D"),
    ];
    more.truncate(usize::from(seed % 4));
    if seed.is_multiple_of(3) {
        more.extend([
            ("objectClass", "posixAccount"),
            ("uidNumber", &*number),
            ("gidNumber", "1"),
            ("homeDirectory", "/"),
        ]);
    }
    person(schema, dn, &more)
}

fn renamed(schema: &Schema, mut entry: fulgurite_schema::Entry, dn: &str) -> Option<CheckedEntry> {
    entry.dn = Dn::parse(schema, dn).unwrap();
    entry.add_missing_rdn_values(schema);
    schema.check(entry, &CheckOptions::default()).ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn random_operations_keep_the_store_sound(ops in prop::collection::vec((0_u8..5, any::<[u8; 5]>()), 1..250)) {
        let store = with_people();
        let schema = schema();
        let mut writer = store.write().unwrap();
        for (op, [a, b, c, d, seed]) in ops {
            let (dn, other) = (place(a, b), place(c, d));
            let id = find(&writer, &dn).entry();
            let parsed = Dn::parse(&schema, &other).unwrap();
            let new_parent = writer.find(&parsed.parent().unwrap()).unwrap().entry();
            match (op, id) {
                (0 | 4, None) => {
                    let entry = some_entry(&schema, &dn, seed);
                    if let Some(parent) = writer.find(&entry.entry().dn.parent().unwrap()).unwrap().entry() {
                        match seed % 3 {
                            0 => writer.add(parent, &entry).unwrap(),
                            _ => writer.add_shared(parent, &Arc::new(entry)).unwrap(),
                        };
                    }
                }
                (1, Some(id)) => writer.modify(id, &some_entry(&schema, &dn, seed)).unwrap(),
                (2, Some(id)) => {
                    let leaf = !writer.has_children(id).unwrap();
                    prop_assert_eq!(writer.delete(id).is_ok(), leaf);
                }
                (3, Some(id)) => {
                    let entry = writer.entry(id).unwrap().unwrap().to_entry().unwrap();
                    if let (Some(parent), Some(new)) = (new_parent, renamed(&schema, entry, &other)) {
                        let _ = writer.rename(id, parent, &new);
                    }
                }
                (4, Some(_)) => {
                    writer.commit().unwrap();
                    assert_clean(&store);
                    writer = store.write().unwrap();
                }
                _ => {}
            }
        }
        let entries = writer.entry_count().unwrap();
        writer.commit().unwrap();
        assert_clean(&store);
        prop_assert_eq!(contents(&store.snapshot().unwrap()).len() as u64, entries);

    }
}

#[test]
fn a_placeholder_is_replaced_once() {
    let (store, schema) = (create(), schema());
    let mut writer = store.write().unwrap();
    let name = |text: &str| fulgurite_schema::Dn::parse(&schema, text).unwrap();
    let suffix = writer
        .add_placeholder(EntryId::ROOT, &name(SUFFIX))
        .unwrap();
    let child = writer
        .add(suffix, &unit(&schema, "ou=a,dc=example,dc=com"))
        .unwrap();
    assert!(writer.entry(suffix).unwrap().unwrap().is_placeholder());
    assert!(!writer.entry(child).unwrap().unwrap().is_placeholder());
    writer
        .fill_placeholder(suffix, &suffix_entry(&schema))
        .unwrap();
    let again = writer.fill_placeholder(suffix, &suffix_entry(&schema));
    assert!(matches!(again, Err(StoreError::EntryExists(_))));
    writer.commit().unwrap();
    assert_clean(&store);
    assert_eq!(contents(&store.snapshot().unwrap()).len(), 2);
}

#[test]
fn ids_can_be_given_in_any_order() {
    let (store, schema) = (create(), schema());
    let mut writer = store.write().unwrap();
    let child = unit(&schema, "ou=a,dc=example,dc=com");
    writer.add_as(EntryId(3), EntryId(7), &child).unwrap();
    writer
        .add_as(EntryId(7), EntryId::ROOT, &suffix_entry(&schema))
        .unwrap();
    for (id, parent) in [(3, 7), (9, 7)] {
        let taken = writer.add_as(EntryId(id), EntryId(parent), &child);
        assert!(matches!(taken, Err(StoreError::EntryExists(_))), "{id}");
    }
    writer.commit().unwrap();
    assert_clean(&store);
    let view = store.snapshot().unwrap();
    assert_eq!(
        find(&view, "ou=a,dc=example,dc=com").entry(),
        Some(EntryId(3))
    );
    assert_eq!(view.descendant_count(EntryId(7)).unwrap(), 1);
}

#[test]
fn an_entry_without_a_parent_can_be_removed_again() {
    let (store, schema) = (create(), schema());
    let mut writer = store.write().unwrap();
    writer
        .add_as(EntryId(1), EntryId::ROOT, &suffix_entry(&schema))
        .unwrap();
    let unit = |name: &str| unit(&schema, &format!("{name},ou=lost,dc=example,dc=com"));
    writer
        .add_as(EntryId(3), EntryId(2), &unit("ou=a"))
        .unwrap();
    writer
        .add_as(EntryId(4), EntryId(3), &unit("ou=b,ou=a"))
        .unwrap();
    writer.undo_add(EntryId(4)).unwrap();
    writer.undo_add(EntryId(3)).unwrap();
    writer.commit().unwrap();
    assert_clean(&store);
    assert_eq!(contents(&store.snapshot().unwrap()).len(), 1);
}

#[test]
fn rows_of_a_consumer_come_back_and_go() {
    let store = create();
    let mut writer = store.write().unwrap();
    writer.put_sync_row(b"a/1", b"one").unwrap();
    writer.put_sync_row(b"a/2", b"two").unwrap();
    writer.put_sync_row(b"b/1", b"other").unwrap();
    writer.delete_sync_row(b"a/1").unwrap();
    writer.delete_sync_row(b"a/1").unwrap();
    writer.commit().unwrap();
    let mut rows = Vec::new();
    let view = store.snapshot().unwrap();
    view.sync_rows(b"a/", &mut |key, value| {
        rows.push((key.to_vec(), value.to_vec()));
        true
    })
    .unwrap();
    assert_eq!(rows, [(b"a/2".to_vec(), b"two".to_vec())]);
    assert_clean(&store);
}
