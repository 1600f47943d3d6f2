//! Bind states: what readers see of them, and what updates leave of them.

use crate::store::add_bind_state;
use crate::testing::*;
use crate::{EntryId, Store, StoreOptions, View, Writer};
use fulgurite::Snapshot;
use fulgurite_schema::{Assertion, AttributeDescription, AttributeSelector, CheckedEntry, Filter};

const JANE: &str = "uid=jane,dc=example,dc=com";
const LAST: &str = "pwdLastSuccess";
const TIMES: [&str; 3] = ["20260101000000Z", "20260102000000Z", "20260103000000Z"];

fn description(name: &str) -> AttributeDescription {
    schema().describe(name.as_bytes()).unwrap()
}

/// A store with an index of the attribute that binds change.
fn with_jane(more: &[(&str, &str)]) -> (TestStore, EntryId) {
    let store = create_with(&StoreOptions {
        indexes: Some(vec![format!("{LAST}:eq,pres").parse().unwrap()]),
        ..options()
    });
    let mut writer = store.write().unwrap();
    add(&mut writer, &suffix_entry(&schema()));
    let id = add(&mut writer, &jane(more));
    for number in 0..8 {
        let name = format!("uid=other{number},dc=example,dc=com");
        add(&mut writer, &person(&schema(), &name, &[]));
    }
    writer.commit().unwrap();
    (store, id)
}

fn jane(more: &[(&str, &str)]) -> CheckedEntry {
    person(&schema(), JANE, more)
}

fn change(store: &Store, change: impl FnOnce(&mut Writer<'_>)) {
    let mut writer = store.write().unwrap();
    change(&mut writer);
    writer.commit().unwrap();
    assert_clean(store);
}

fn bind(store: &Store, id: EntryId, values: &[&str]) {
    let values = values.iter().map(|value| value.as_bytes().to_vec());
    let changes = [(description(LAST), values.collect())];
    change(store, |writer| {
        writer.change_bind_state(id, &changes).unwrap();
    });
}

/// Returns the values that readers see, and those of the record.
fn seen<T: Snapshot>(view: &View<'_, T>, id: EntryId) -> (Vec<String>, Vec<String>) {
    let entry = view.entry(id).unwrap().unwrap();
    let text = |value: &[u8]| String::from_utf8(value.to_vec()).unwrap();
    let of = |entry: &crate::EntryView<'_>| {
        let direct = entry.values(&description(LAST)).into_iter().flatten();
        let direct: Vec<String> = direct.map(text).collect();
        let listed = entry.attributes().filter(|held| &*held.info.text == LAST);
        let listed: Vec<String> = listed.flat_map(|held| held.values).map(text).collect();
        assert_eq!(direct, listed);
        let copied = entry.to_entry().unwrap();
        let copied = copied.values(description(LAST).attribute).iter();
        assert_eq!(direct, copied.map(|value| text(value)).collect::<Vec<_>>());
        direct
    };
    (of(&entry), of(&entry.without_bind_state()))
}

type TestFilter = Filter<AttributeSelector>;

fn present() -> TestFilter {
    Filter::Present(AttributeSelector::from(description(LAST)))
}

fn assertion(value: &str) -> Assertion<AttributeSelector> {
    let schema = schema();
    let rule = schema.attribute(LAST).unwrap().equality.unwrap();
    let normal = rule
        .normalise_assertion(&*schema, value.as_bytes())
        .unwrap();
    Assertion {
        attribute: AttributeSelector::from(description(LAST)),
        rule,
        normal: normal.into(),
    }
}

fn equal(value: &str) -> TestFilter {
    Filter::Equality(assertion(value))
}

/// Returns the numbers of the entries that a search would find.
fn matches(store: &Store, filter: TestFilter) -> Vec<u64> {
    let view = store.snapshot().unwrap();
    let mut candidates = view
        .plan(EntryId(1), crate::Scope::Subtree, &filter)
        .unwrap();
    let compiled = crate::compile_filter(&view, filter);
    let mut found = Vec::new();
    while let Some(entry) = candidates.next_entry(&view).unwrap() {
        if compiled.test(&schema(), &entry).is_true() {
            found.push(entry.id().0);
        }
    }
    found
}

fn texts(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

#[test]
fn a_bind_changes_the_row_alone_and_every_reader_sees_it() {
    let (store, id) = with_jane(&[]);
    let record = |store: &Store| {
        let view = store.snapshot().unwrap();
        let bytes = view.txn.get(store.dbs.entries, &id.key()).unwrap();
        (bytes.unwrap().to_vec(), view.changes().unwrap().newest)
    };
    let before = record(&store);
    assert_eq!(matches(&store, present()), [0_u64; 0]);
    bind(&store, id, &TIMES[..1]);
    bind(&store, id, &TIMES[1..2]);
    assert_eq!(record(&store), before);
    let shown = seen(&store.snapshot().unwrap(), id);
    assert_eq!(shown, (texts(&TIMES[1..2]), Vec::new()));
    assert_eq!(matches(&store, present()), [id.0]);
    assert_eq!(matches(&store, equal(TIMES[1])), [id.0]);
    assert_eq!(matches(&store, equal(TIMES[0])), [0_u64; 0]);
    assert_eq!(
        matches(&store, Filter::GreaterOrEqual(assertion(TIMES[1]))),
        [id.0]
    );
    assert_eq!(matches(&store, Filter::Not(Box::new(present()))).len(), 9);
    let writer = store.write().unwrap();
    assert_eq!(seen(&writer, id), shown);
    drop(writer);
    bind(&store, id, &[]);
    assert_eq!(store.snapshot().unwrap().bind_state_count().unwrap(), 0);
    assert_eq!(matches(&store, present()), [0_u64; 0]);
}

#[test]
fn the_row_hides_values_of_the_record() {
    let (store, id) = with_jane(&[(LAST, TIMES[0])]);
    assert_eq!(matches(&store, equal(TIMES[0])), [id.0]);
    bind(&store, id, &[]);
    let shown = seen(&store.snapshot().unwrap(), id);
    assert_eq!(shown, (Vec::new(), texts(&TIMES[..1])));
    assert_eq!(matches(&store, present()), [0_u64; 0]);
    assert_eq!(matches(&store, equal(TIMES[0])), [0_u64; 0]);
    // An update of something else leaves both.
    change(&store, |writer| {
        writer.modify(id, &jane(&[("title", "boss")])).unwrap();
    });
    assert_eq!(seen(&store.snapshot().unwrap(), id), shown);
    change(&store, |writer| {
        let entry = jane(&[("title", "boss"), (LAST, TIMES[2])]);
        writer.modify(id, &entry).unwrap();
    });
    let shown = seen(&store.snapshot().unwrap(), id);
    assert_eq!(shown, (texts(&TIMES[2..]), texts(&TIMES[2..])));
    assert_eq!(store.snapshot().unwrap().bind_state_count().unwrap(), 0);
}

#[test]
fn updates_keep_the_row_unless_they_change_its_attribute() {
    let (store, id) = with_jane(&[(LAST, TIMES[0])]);
    bind(&store, id, &TIMES[1..2]);
    let shown = (texts(&TIMES[1..2]), texts(&TIMES[..1]));
    // The copy that an update makes has the values of the row, or none for those that stay.
    change(&store, |writer| {
        let mut copy = writer.entry(id).unwrap().unwrap().to_entry().unwrap();
        let last = copy.attributes.iter_mut();
        for held in last.filter(|held| held.description == description(LAST)) {
            held.values.clear();
        }
        copy.push(&description("title"), b"boss".to_vec());
        let checked = CheckedEntry::on_trust(copy, &schema());
        writer.modify(id, &checked).unwrap();
        assert_eq!(seen(writer, id), shown);
        let mut copy = writer.entry(id).unwrap().unwrap().to_entry().unwrap();
        copy.dn = fulgurite_schema::Dn::parse(&schema(), "uid=ann,dc=example,dc=com").unwrap();
        copy.add_missing_rdn_values(&schema());
        let checked = CheckedEntry::on_trust(copy, &schema());
        writer.rename(id, EntryId(1), &checked).unwrap();
    });
    assert_eq!(seen(&store.snapshot().unwrap(), id), shown);
    // An update that takes the attribute away takes it from both.
    change(&store, |writer| {
        let entry = person(&schema(), "uid=ann,dc=example,dc=com", &[]);
        writer.modify(id, &entry).unwrap();
    });
    let shown = seen(&store.snapshot().unwrap(), id);
    assert_eq!(shown, (Vec::new(), Vec::new()));
    assert_eq!(store.snapshot().unwrap().bind_state_count().unwrap(), 0);
}

#[test]
fn many_items_of_a_filter_read_the_bind_states_once() {
    // Jane's record has a value that the index knows.
    let (store, id) = with_jane(&[(LAST, TIMES[0])]);
    bind(&store, id, &TIMES[1..2]);
    let view = store.snapshot().unwrap();
    let items = TIMES.iter().map(|time| equal(time)).cycle().take(60);
    let filter = Filter::Or(items.collect());
    let planned = view
        .plan(EntryId(1), crate::Scope::Subtree, &filter)
        .unwrap();
    let explained = planned.explain(&view);
    // The index knows the first time, so each of its 20 items has a term. All items share one for
    // the bind states.
    let terms = explained.matches("1 entry by index").count();
    assert_eq!(terms, 20 + 1, "{explained}");
    let ids = view.bind_state_ids().unwrap();
    assert!(std::sync::Arc::ptr_eq(
        &ids,
        &view.bind_state_ids().unwrap()
    ));
    assert_eq!(matches(&store, filter), [id.0]);
}

#[test]
fn the_row_goes_with_its_entry() {
    let (store, _) = with_jane(&[]);
    let name = "uid=last,dc=example,dc=com";
    let mut given = Vec::new();
    for _ in 0..2 {
        change(&store, |writer| {
            given.push(add(writer, &person(&schema(), name, &[])));
        });
        let id = *given.last().unwrap();
        assert_eq!(seen(&store.snapshot().unwrap(), id).0, [""; 0]);
        bind(&store, id, &TIMES[..1]);
        change(&store, |writer| writer.delete(id).unwrap());
    }
    assert_eq!(given[0], given[1], "the last id is given again");
    let gone = store.write().unwrap().change_bind_state(given[0], &[]);
    assert!(matches!(gone, Err(crate::StoreError::NoSuchEntry(_))));
}

#[test]
fn a_store_of_an_earlier_release_has_no_bind_states() {
    let (store, id) = with_jane(&[(LAST, TIMES[0])]);
    let mut txn = store.env.write().unwrap();
    txn.drop_database(store.dbs.bind_state.unwrap()).unwrap();
    txn.commit().unwrap();
    let TestStore { store, dir } = store;
    drop(store);
    let open = |read_only| {
        let options = StoreOptions {
            read_only,
            ..options()
        };
        Store::open(dir.path(), &options, schema()).unwrap()
    };
    let store = open(true);
    assert!(store.dbs.bind_state.is_none());
    let shown = seen(&store.snapshot().unwrap(), id);
    assert_eq!(shown, (texts(&TIMES[..1]), texts(&TIMES[..1])));
    assert_clean(&store);
    // Another schema for an environment that cannot be written.
    add_bind_state(&store.env).unwrap();
    drop(store);
    let store = open(false);
    bind(&store, id, &TIMES[1..2]);
    drop(store);
    let store = open(true);
    assert_eq!(seen(&store.snapshot().unwrap(), id).0, texts(&TIMES[1..2]));
}

#[test]
fn verification_finds_a_bind_state_of_no_entry_and_a_malformed_one() {
    let (store, id) = with_jane(&[]);
    bind(&store, id, &TIMES[..1]);
    let problems = |key: EntryId, row: &[u8]| {
        let mut writer = store.write().unwrap();
        let db = store.dbs.bind_state.unwrap();
        writer.view.txn.put(db, &key.key(), row).unwrap();
        writer.has_changed_entries = true;
        writer.commit().unwrap();
        let view = store.snapshot().unwrap();
        assert_eq!(view.check_bind_state(key).is_ok(), row.len() > 3);
        crate::verify(&view).unwrap().problems
    };
    let view = store.snapshot().unwrap();
    let db = store.dbs.bind_state.unwrap();
    let sound = view.txn.get(db, &id.key()).unwrap().unwrap().to_vec();
    drop(view);
    let missing = "entry 999: has a bind state and does not exist".to_owned();
    assert_eq!(
        problems(EntryId(999), &sound),
        std::slice::from_ref(&missing)
    );
    let malformed = format!("entry {id}: its bind state is malformed");
    assert_eq!(problems(id, b"xyz"), [malformed, missing]);
}
