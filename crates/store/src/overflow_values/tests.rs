use crate::testing::*;
use crate::{EntryId, ValueChange};
use fulgurite_schema::{Assertion, CheckedEntry, Filter, Schema};
use proptest::prelude::*;

const GROUP: &str = "cn=all,dc=example,dc=com";

fn member(number: u32) -> String {
    // Some are longer than the literal part of an index key, and some differ behind that part.
    let stretch = if number.is_multiple_of(3) { 80 } else { 1 };
    format!("uid={}{number},{SUFFIX}", "m".repeat(stretch))
}

fn group(schema: &Schema, members: &[u32]) -> CheckedEntry {
    let names: Vec<String> = members.iter().copied().map(member).collect();
    let mut attributes = vec![("objectClass", "groupOfNames")];
    attributes.extend(names.iter().map(|name| ("member", name.as_str())));
    entry(schema, GROUP, &attributes)
}

fn members(store: &TestStore, id: EntryId) -> Vec<String> {
    let view = store.snapshot().unwrap();
    let description = view.schema().describe(b"member").unwrap();
    let entry = view.entry(id).unwrap().unwrap();
    let values = entry.values(&description).unwrap();
    assert_eq!(values.len(), values.iter().count());
    values
        .iter()
        .map(|value| String::from_utf8(value.to_vec()).unwrap())
        .collect()
}

fn with_group(numbers: &[u32]) -> (TestStore, EntryId) {
    let store = create();
    let schema = schema();
    let mut writer = store.write().unwrap();
    add(&mut writer, &suffix_entry(&schema));
    let id = add(&mut writer, &group(&schema, numbers));
    writer.commit().unwrap();
    (store, id)
}

fn found_by(store: &TestStore, number: u32) -> bool {
    let view = store.snapshot().unwrap();
    let schema = view.schema();
    let attribute = schema.describe(b"member").unwrap();
    let rule = schema.attribute_at(attribute.attribute).equality.unwrap();
    let asked = member(number);
    let normal = rule.normalise_assertion(schema, asked.as_bytes());
    let filter = Filter::Equality(Assertion {
        attribute,
        rule,
        normal: normal.unwrap().into(),
    });
    let mut candidates = view
        .plan(EntryId(1), crate::Scope::Subtree, &filter)
        .unwrap();
    candidates.next(&view).unwrap().is_some()
}

#[test]
fn single_values_of_many_are_added_and_removed() {
    let numbers: Vec<u32> = (0..500).collect();
    let (store, id) = with_group(&numbers);
    let schema = schema();
    let mut model: Vec<String> = numbers.iter().copied().map(member).collect();
    assert_eq!(members(&store, id), model);
    let description = schema.describe(b"member").unwrap();
    let only_one = group(&schema, &[0]);
    let mut writer = store.write().unwrap();
    for number in 0..300_u32 {
        let gone = member(number * 7 % 500);
        let removed = vec![gone.to_uppercase().replace("UID", "uid").into_bytes()];
        let change = ValueChange {
            description: description.clone(),
            removed: if model.contains(&gone) {
                removed
            } else {
                Vec::new()
            },
            added: vec![member(1000 + number).into_bytes()],
        };
        model.retain(|held| *held != gone);
        model.push(member(1000 + number));
        writer.modify_values(id, &only_one, &[change]).unwrap();
    }
    assert!(
        writer
            .holds_value(id, &description, member(1001).to_uppercase().as_bytes())
            .unwrap()
    );
    assert!(
        !writer
            .holds_value(id, &description, member(7).as_bytes())
            .unwrap()
    );
    writer.commit().unwrap();
    assert_eq!(members(&store, id), model);
    assert_clean(&store);
    assert!(found_by(&store, 1005) && !found_by(&store, 7) && !found_by(&store, 21));
}

#[test]
fn rows_are_deleted_with_their_entry() {
    let (store, id) = with_group(&(0..300).collect::<Vec<_>>());
    let mut writer = store.write().unwrap();
    writer.delete(id).unwrap();
    writer.commit().unwrap();
    let view = store.snapshot().unwrap();
    let values = fulgurite::Snapshot::stat(&view.txn, store.dbs.values).unwrap();
    // The rows that remain are the classes of the suffix entry.
    assert!(values.entries < 10, "{values:?}");
    assert_clean(&store);
}

#[test]
fn a_record_with_all_values_of_an_attribute_clears_their_old_rows() {
    let (store, id) = with_group(&(0..300).collect::<Vec<_>>());
    let schema = schema();
    let described = |texts: &[&str]| {
        let mut attributes = vec![("objectClass", "groupOfNames"), ("member", "uid=m0,dc=x")];
        attributes.extend(texts.iter().map(|text| ("description", *text)));
        entry(&schema, GROUP, &attributes)
    };
    let change = |number| ValueChange {
        description: schema.describe(b"member").unwrap(),
        removed: Vec::new(),
        added: vec![member(number).into_bytes()],
    };
    let steps: [&[&str]; 6] = [
        &["a", "b", "c"],
        &["d", "b"],
        &["b"],
        &["e", "f"],
        &[],
        &["g", "h"],
    ];
    for (texts, number) in steps.iter().zip(1000..) {
        let mut writer = store.write().unwrap();
        let new = described(texts);
        writer.modify_values(id, &new, &[change(number)]).unwrap();
        writer.commit().unwrap();
        let view = store.snapshot().unwrap();
        let description = schema.describe(b"description").unwrap();
        let held = view.entry(id).unwrap().unwrap();
        let held = held.values(&description);
        assert_eq!(
            held.is_some_and(|held| held.are_overflow()),
            texts.len() > 1
        );
        let held: Vec<&[u8]> = held.into_iter().flatten().collect();
        let expected: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
        assert_eq!(held, expected);
        assert_clean(&store);
    }
    assert_eq!(members(&store, id).len(), 306);
}

#[test]
fn a_value_longer_than_a_page_is_alone_in_its_block() {
    let store = create();
    let schema = schema();
    let long = |n: usize| format!("{n}{}", "x".repeat(9000));
    let texts: Vec<String> = (0..5).map(long).chain(["short".into()]).collect();
    let more: Vec<(&str, &str)> = texts.iter().map(|t| ("description", t.as_str())).collect();
    let mut writer = store.write().unwrap();
    add(&mut writer, &suffix_entry(&schema));
    let id = add(
        &mut writer,
        &person(&schema, "uid=a,dc=example,dc=com", &more),
    );
    writer.commit().unwrap();
    let view = store.snapshot().unwrap();
    let description = schema.describe(b"description").unwrap();
    let held = view.entry(id).unwrap().unwrap();
    let held: Vec<&[u8]> = held.values(&description).unwrap().iter().collect();
    assert_eq!(held, texts.iter().map(|t| t.as_bytes()).collect::<Vec<_>>());
    assert_clean(&store);
}

#[test]
fn verification_finds_missing_rows() {
    let (store, id) = with_group(&(0..200).collect::<Vec<_>>());
    let view = store.snapshot().unwrap();
    let number = view
        .attributes()
        .find(&view.schema().describe(b"member").unwrap())
        .unwrap();
    drop(view);
    let hash = crate::bytes::stable_hash(member(10).as_bytes());
    let doomed = [
        super::of_block(id, number, 2),
        super::key::of_hash(id, number, hash),
    ];
    for key in doomed {
        let before = store.snapshot().unwrap();
        let held = fulgurite::Snapshot::get(&before.txn, store.dbs.values, &key).unwrap();
        let held = held.expect("the row is there").to_vec();
        drop(before);
        let mut writer = store.write().unwrap();
        assert!(writer.view.txn.delete(store.dbs.values, &key).unwrap());
        writer.commit().unwrap();
        let report = crate::verify(&store.snapshot().unwrap()).unwrap();
        assert!(!report.is_clean());
        let mut writer = store.write().unwrap();
        writer.view.txn.put(store.dbs.values, &key, &held).unwrap();
        writer.commit().unwrap();
        assert_clean(&store);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// Compares whole replacements and single changes, in any order, with a list.
    #[test]
    fn any_changes_give_the_values_of_a_list(steps in prop::collection::vec((any::<bool>(), prop::collection::vec(0_u32..60, 1..50)), 1..8)) {
        let (store, id) = with_group(&[1, 2, 3]);
        let schema = schema();
        let description = schema.describe(b"member").unwrap();
        let mut model = vec![1, 2, 3];
        for (whole, mut numbers) in steps {
            let mut seen = std::collections::BTreeSet::new();
            numbers.retain(|number| seen.insert(*number));
            let mut writer = store.write().unwrap();
            if whole || model.len() < 2 {
                writer.modify(id, &group(&schema, &numbers)).unwrap();
                model = numbers;
            } else {
                // A stored value is removed, any other is added.
                let (mut removed, added): (Vec<u32>, Vec<u32>) =
                    numbers.into_iter().partition(|number| model.contains(number));
                if added.is_empty() && removed.len() == model.len() {
                    removed.pop();
                }
                let texts = |numbers: &[u32]| numbers.iter().map(|n| member(*n).into_bytes()).collect();
                let change = ValueChange {
                    description: description.clone(),
                    removed: texts(&removed),
                    added: texts(&added),
                };
                model.retain(|number| !removed.contains(number));
                model.extend(added);
                let large = writer.entry(id).unwrap().unwrap().values(&description).unwrap().are_overflow();
                if large {
                    writer.modify_values(id, &group(&schema, &model[..1]), &[change]).unwrap();
                } else {
                    writer.modify(id, &group(&schema, &model)).unwrap();
                }
            }
            writer.commit().unwrap();
            let texts: Vec<String> = model.iter().copied().map(member).collect();
            prop_assert_eq!(members(&store, id), texts);
            assert_clean(&store);
        }
    }
}
