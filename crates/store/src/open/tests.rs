//! Opening a store with the settings of its creation, and with others.

use crate::testing::*;
use crate::{EntryId, IndexSpec, NameLookup, OpenError, Scope, Store, StoreError, StoreOptions};
use fulgurite::Snapshot as _;
use fulgurite_schema::{Filter, SchemaBuilder, Truth};
use std::sync::Arc;

fn asking(indexes: &[&str]) -> StoreOptions {
    let indexes = indexes
        .iter()
        .map(|text| text.parse::<IndexSpec>().unwrap())
        .collect();
    StoreOptions {
        indexes: Some(indexes),
        ..options()
    }
}

fn reopen(made: TestStore, options: &StoreOptions) -> Result<Vec<String>, OpenError> {
    let TestStore { store, dir } = made;
    drop(store);
    Ok(Store::open(dir.path(), options, schema())?.indexes())
}

#[test]
fn the_stored_indexes_are_used_unless_others_are_requested() {
    let asked = asking(&["uid:eq", "cn:sub", "uid:pres"]);
    assert_eq!(
        reopen(create_with(&asked), &StoreOptions::default()).unwrap(),
        ["uid:eq,pres", "cn:sub"]
    );
    assert!(reopen(create_with(&asked), &asking(&["cn:sub", "uid:eq,pres"])).is_ok());
    // An index that is not requested any more is not used any more, from the first moment.
    let (made, other) = (create_with(&asked), asking(&["uid:eq", "sn:eq"]));
    let store = Store::open(made.dir.path(), &other, schema()).unwrap();
    store.snapshot().unwrap();
    assert_eq!(store.indexes(), ["uid:eq"]);
    assert!(
        reopen(create_with(&options()), &options())
            .unwrap()
            .contains(&"mail:eq,pres,sub".to_owned())
    );
}

#[test]
fn wrong_settings_are_refused() {
    let dir = tempfile::TempDir::new().unwrap();
    let path = dir.path();
    let create = |options: &StoreOptions| {
        Store::create(path, options, schema())
            .map(drop)
            .unwrap_err()
    };
    assert!(matches!(
        create(&asking(&["noSuchAttribute:eq"])),
        OpenError::Index { .. }
    ));
    assert!(matches!(
        create(&asking(&["jpegPhoto:sub"])),
        OpenError::Index { .. }
    ));
    let suffixes = |list: &[&str]| StoreOptions {
        suffixes: list.iter().map(|s| (*s).to_owned()).collect(),
        ..options()
    };
    for list in [
        &[][..],
        &["", "dc=com"],
        &["no dn"],
        &["dc=com", "dc=example,dc=com"],
    ] {
        assert!(
            matches!(create(&suffixes(list)), OpenError::UnusableSuffix(_)),
            "{list:?}"
        );
    }
    assert!(matches!(
        Store::open(path, &options(), schema()),
        Err(OpenError::NotAStore { .. })
    ));
    drop(Store::create(path, &suffixes(&["dc=example,dc=com", "o=Other"]), schema()).unwrap());
    assert!(matches!(create(&options()), OpenError::Exists { .. }));
    let store = Store::open(path, &suffixes(&["O=other", "dc=Example,DC=com"]), schema()).unwrap();
    assert_eq!(store.suffixes().len(), 2);
}

#[test]
fn files_of_a_process_that_died_before_its_first_commit_are_no_store() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path();
    std::fs::write(path.join("data.mdb"), b"").unwrap();
    assert!(!Store::exists(path));
    let env = fulgurite::Environment::options().open(path).unwrap();
    assert!(!Store::exists(path));
    drop(env);
    assert!(!Store::exists(path));
    drop(Store::create(path, &options(), schema()).unwrap());
    assert!(Store::exists(path));
    // Data of another program is left alone.
    let other = tempfile::tempdir().unwrap();
    let env = fulgurite::Environment::options()
        .open(other.path())
        .unwrap();
    let mut txn = env.write().unwrap();
    let main = txn.open_database(None).unwrap();
    txn.put(main, b"key", b"value").unwrap();
    txn.commit().unwrap();
    drop(env);
    assert!(Store::exists(other.path()));
    assert!(matches!(
        Store::open(other.path(), &options(), schema()),
        Err(OpenError::NotAStore { .. })
    ));
}

#[test]
fn a_store_takes_other_suffixes_until_it_has_entries() {
    let TestStore { store, dir } = create();
    let other = || StoreOptions {
        suffixes: vec!["o=Other".to_owned()],
        ..options()
    };
    let read_only = StoreOptions {
        read_only: true,
        ..other()
    };
    let is_refused = |options: &StoreOptions| {
        let opened = Store::open(dir.path(), options, schema());
        matches!(opened, Err(OpenError::Suffixes { .. }))
    };
    let here = options().suffixes;
    assert!(store.has_suffixes(&here) && !store.has_suffixes(&other().suffixes));
    let renamed = store.with_suffixes(schema(), &other().suffixes).unwrap();
    assert_eq!(renamed.suffixes()[0].normal(), "o=other");
    let back = renamed.with_suffixes(schema(), &here).unwrap();
    drop((store, renamed, back));
    assert!(is_refused(&read_only));
    drop(Store::open(dir.path(), &other(), schema()).unwrap());
    assert!(is_refused(&StoreOptions {
        read_only: true,
        ..options()
    }));
    let store = Store::open(dir.path(), &options(), schema()).unwrap();
    let mut writer = store.write().unwrap();
    add(&mut writer, &suffix_entry(&schema()));
    writer.commit().unwrap();
    let refused = store.with_suffixes(schema(), &other().suffixes);
    assert!(matches!(refused, Err(OpenError::Suffixes { .. })));
    drop(store);
    assert!(is_refused(&other()));
}

#[test]
fn a_schema_that_lacks_stored_attributes_is_refused() {
    let made = create();
    let mut writer = made.write().unwrap();
    add(&mut writer, &suffix_entry(&schema()));
    writer.commit().unwrap();
    let TestStore { store, dir } = made;
    drop(store);
    let bare = Arc::new(SchemaBuilder::new().build().unwrap());
    let error = Store::open(dir.path(), &StoreOptions::default(), bare).unwrap_err();
    assert!(
        matches!(
            error,
            OpenError::UnusableSuffix(_) | OpenError::Index { .. } | OpenError::SchemaLacks { .. }
        ),
        "{error}"
    );
}

#[test]
fn another_layout_is_refused() {
    let made = create_with(&options());
    let mut writer = made.write().unwrap();
    let meta = writer.store().dbs.meta;
    let old = b"fulgurite-store 5";
    writer
        .view
        .txn
        .put(meta, crate::store::KEY_LAYOUT, old)
        .unwrap();
    writer.commit().unwrap();
    let TestStore { store, dir } = made;
    drop(store);
    for read_only in [false, true] {
        let options = StoreOptions {
            read_only,
            ..options()
        };
        let refused = Store::open(dir.path(), &options, schema());
        let error = refused.map(drop).unwrap_err();
        let found = match &error {
            OpenError::Layout { found, .. } => found.as_bytes(),
            _ => b"",
        };
        assert_eq!(found, old, "{error}");
        let advice = "Export with the release that wrote it, and load anew";
        assert!(error.to_string().ends_with(advice), "{error}");
    }
}

#[test]
fn verification_finds_an_attribute_without_number() {
    let schema = schema();
    let made = create_with(&asking(&["uid:eq"]));
    let mut writer = made.write().unwrap();
    add(&mut writer, &suffix_entry(&schema));
    let id = add(&mut writer, &unit(&schema, "ou=a,dc=example,dc=com"));
    // The attribute with the last number.
    let ou = schema.describe(b"ou").unwrap();
    let number = writer.attributes().find(&ou).unwrap();
    assert_eq!(usize::from(number.0), writer.attributes().len());
    let attributes = writer.store().dbs.attributes;
    writer.view.txn.delete(attributes, &number.key()).unwrap();
    writer.commit().unwrap();
    let TestStore { store, dir } = made;
    drop(store);
    let store = Store::open(dir.path(), &StoreOptions::default(), schema).unwrap();
    let report = crate::verify(&store.snapshot().unwrap()).unwrap();
    let expected = format!("entry {id}: holds an attribute of unknown number");
    assert_eq!(report.problems, [expected]);
}

#[test]
fn files_have_the_permissions_asked_for() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |file_mode| {
        let made = create_with(&StoreOptions {
            file_mode,
            ..options()
        });
        let of = |name| {
            std::fs::metadata(made.dir.path().join(name))
                .unwrap()
                .permissions()
                .mode()
        };
        (of("data.mdb") & 0o777, of("lock.mdb") & 0o777)
    };
    assert_eq!(mode(None), (0o600, 0o600), "only the owner reads passwords");
    assert_eq!(mode(Some(0o600)), (0o600, 0o600));
    assert_eq!(mode(Some(0o400)), (0o400, 0o400));
    // The usual mask would take the write permission of the group away.
    assert_eq!(mode(Some(0o660)), (0o660, 0o660));
}

#[test]
fn entries_above_the_bound_are_refused_and_the_others_stay() {
    let made = create_with(&StoreOptions {
        entry_bytes_max: Some(40),
        ..options()
    });
    let store = &made.store;
    let mut writer = store.write().unwrap();
    let top = suffix_entry(&schema());
    let refused = writer.add(crate::EntryId::ROOT, &top);
    assert!(
        matches!(
            refused,
            Err(crate::StoreError::EntryTooBig { bytes_max: 40, .. })
        ),
        "{refused:?}"
    );
    store.limit_entries(None);
    writer.add(crate::EntryId::ROOT, &top).unwrap();
    writer.commit().unwrap();
    assert_eq!(store.snapshot().unwrap().entry_count().unwrap(), 1);
}

#[test]
fn the_empty_suffix_is_no_entry_but_has_children() {
    let (schema, everything) = (
        schema(),
        StoreOptions {
            suffixes: vec![String::new()],
            ..options()
        },
    );
    let made = create_with(&everything);
    let mut writer = made.write().unwrap();
    let us = add(
        &mut writer,
        &entry(&schema, "c=US", &[("objectClass", "country")]),
    );
    let example = entry(
        &schema,
        "o=Example,c=US",
        &[("objectClass", "organization")],
    );
    let below = add(&mut writer, &example);
    let deep = entry(&schema, "c=DE,c=US", &[("objectClass", "country")]);
    let refused = writer.add(EntryId::ROOT, &deep);
    assert!(matches!(refused, Err(StoreError::OutsideSuffix(_))));
    // Move it to the top under a new name, and the former top entry below it.
    let alone = entry(
        &schema,
        "o=Alone",
        &[("objectClass", "organization"), ("o", "Example")],
    );
    writer.rename(below, EntryId::ROOT, &alone).unwrap();
    let moved = entry(&schema, "c=US,o=Alone", &[("objectClass", "country")]);
    assert!(matches!(
        writer.rename(us, us, &moved),
        Err(StoreError::CannotMove(_))
    ));
    writer.rename(us, below, &moved).unwrap();
    writer.commit().unwrap();
    let TestStore { store, dir } = made;
    drop(store);
    let store = Store::open(dir.path(), &everything, schema).unwrap();
    let view = store.snapshot().unwrap();
    assert_eq!(view.dn(us).unwrap(), "c=US,o=Alone");
    assert_eq!(
        (view.depth(below).unwrap(), view.depth(us).unwrap()),
        (1, 2)
    );
    assert_eq!(find(&view, "O=alone"), NameLookup::Entry(below));
    assert_eq!(find(&view, "c=us,o=alone"), NameLookup::Entry(us));
    let missing = |deepest| NameLookup::Missing { deepest };
    assert_eq!(find(&view, ""), missing(None));
    assert_eq!(find(&view, "c=US"), missing(None));
    assert_eq!(find(&view, "c=IT,o=alone"), missing(Some((below, 1))));
    assert_eq!(view.children(EntryId::ROOT).unwrap(), [below]);
    for (scope, expected) in [
        (Scope::OneLevel, &[below][..]),
        (Scope::Subtree, &[us, below]),
        (Scope::Subordinates, &[us, below]),
    ] {
        let all = Filter::Constant(Truth::True);
        let mut candidates = view.plan(EntryId::ROOT, scope, &all).unwrap();
        let mut found = Vec::new();
        while let Some(entry) = candidates.next_entry(&view).unwrap() {
            found.push(entry.id());
        }
        assert_eq!(found, expected, "{scope:?}");
    }
    drop(view);
    assert_clean(&store);
}

#[test]
fn attributes_are_shown_in_the_spelling_of_the_schema() {
    let made = create_with(&options());
    let schema = schema();
    let mut writer = made.store.write().unwrap();
    add(&mut writer, &suffix_entry(&schema));
    add(&mut writer, &unit(&schema, "ou=a,dc=example,dc=com"));
    let ou = schema.describe(b"ou").unwrap();
    let number = writer.attributes().find(&ou).unwrap();
    // The spelling of an older schema.
    let attributes = writer.store().dbs.attributes;
    writer
        .view
        .txn
        .put(attributes, &number.key(), b"OU")
        .unwrap();
    writer.commit().unwrap();
    let TestStore { store, dir } = made;
    drop(store);
    let store = Store::open(dir.path(), &options(), Arc::clone(&schema)).unwrap();
    let mut writer = store.write().unwrap();
    add(&mut writer, &unit(&schema, "ou=b,dc=example,dc=com"));
    writer.commit().unwrap();
    let view = store.snapshot().unwrap();
    let id = find(&view, "ou=b,dc=example,dc=com").entry().unwrap();
    let entry = view.entry(id).unwrap().unwrap();
    for attribute in entry.attributes() {
        assert_eq!(
            entry.shape().iter().nth(attribute.position),
            Some(attribute.info.id)
        );
        if attribute.info.description == ou {
            assert_eq!(&*attribute.info.text, "ou");
            assert_eq!(attribute.info.id, number);
        }
    }
}
