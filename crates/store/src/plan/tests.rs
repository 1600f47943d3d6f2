use super::*;
use crate::testing::*;
use crate::{EntryId, EntryWalk, Store, View, compile_filter};
use fulgurite_schema::{
    ApproximateAssertion, Assertion, AttributeSelector, Filter, MatchingRule, Schema, Truth,
};
use proptest::prelude::*;

/// An item of a filter in the tests.
#[derive(Clone, Debug)]
enum Item {
    Present(&'static str),
    Equal(&'static str, String),
    AtLeast(&'static str, String),
    AtMost(&'static str, String),
    Pieces(&'static str, Option<String>, Vec<String>, Option<String>),
    Sounds(&'static str, String),
    Class(&'static str),
    Rule(&'static str, &'static str, String),
    Constant(Truth),
}

fn resolve(schema: &Schema, item: &Item) -> Filter<AttributeSelector> {
    let select = |name: &str| schema.describe(name.as_bytes()).unwrap();
    let of = |name: &str| schema.attribute_at(select(name).attribute);
    let assertion = |name: &str, rule: Option<&'static MatchingRule>, value: &str| {
        let rule = rule.unwrap();
        let normal = rule
            .normalise_assertion(schema, value.as_bytes())
            .ok()?
            .into();
        Some(Assertion {
            attribute: select(name),
            rule,
            normal,
        })
    };
    let or_undefined = |filter: Option<Filter<AttributeSelector>>| {
        filter.unwrap_or(Filter::Constant(Truth::Undefined))
    };
    match item {
        Item::Present(name) => Filter::Present(select(name)),
        Item::Equal(name, value) => {
            or_undefined(assertion(name, of(name).equality, value).map(Filter::Equality))
        }
        Item::AtLeast(name, value) => {
            or_undefined(assertion(name, of(name).ordering, value).map(Filter::GreaterOrEqual))
        }
        Item::AtMost(name, value) => {
            or_undefined(assertion(name, of(name).ordering, value).map(Filter::LessOrEqual))
        }
        Item::Pieces(name, initial, any, last) => {
            let rule = of(name).substring.unwrap();
            let any = any.iter().map(String::as_bytes);
            let initial = initial.as_deref().map(str::as_bytes);
            let pieces = rule.substring_assertion(initial, any, last.as_deref().map(str::as_bytes));
            or_undefined(pieces.ok().map(|pieces| Filter::Substrings {
                attribute: select(name),
                rule,
                pieces: pieces.into(),
            }))
        }
        Item::Sounds(name, value) => Filter::Approximate {
            attribute: select(name),
            rule: of(name).equality.unwrap(),
            words: ApproximateAssertion::new(value.as_bytes()),
        },
        Item::Class(name) => {
            let class = schema.object_class(name).unwrap();
            let rule = of("objectClass").equality.unwrap();
            let normal = |class: &str| rule.normalise(schema, class.as_bytes()).unwrap().into();
            let below = class
                .subclasses
                .iter()
                .map(|index| normal(schema.object_class_at(*index).name()));
            Filter::ObjectClass {
                attribute: select("objectClass"),
                class: class.index,
                implied_by: below.collect(),
            }
        }
        Item::Rule(name, rule, value) => {
            let rule = MatchingRule::find(rule).unwrap();
            let Ok(normal) = rule.normalise_assertion(schema, value.as_bytes()) else {
                return Filter::Constant(Truth::Undefined);
            };
            Filter::Extensible {
                attribute: Some(select(name)),
                attribute_type: Some(select(name).attribute),
                rule,
                normal: normal.into(),
                dn_attributes: false,
            }
        }
        Item::Constant(truth) => Filter::Constant(*truth),
    }
}

#[derive(Clone, Debug)]
enum Tree {
    Item(Item),
    Not(Box<Tree>),
    And(Vec<Tree>),
    Or(Vec<Tree>),
}

fn build(schema: &Schema, tree: &Tree) -> Filter<AttributeSelector> {
    match tree {
        Tree::Item(item) => resolve(schema, item),
        Tree::Not(inner) => Filter::Not(Box::new(build(schema, inner))),
        Tree::And(list) => Filter::And(list.iter().map(|tree| build(schema, tree)).collect()),
        Tree::Or(list) => Filter::Or(list.iter().map(|tree| build(schema, tree)).collect()),
    }
}

const NAMES: [&str; 8] = [
    "cn",
    "uid",
    "sn",
    "name",
    "cn;lang-en",
    "description",
    "mail",
    "title",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "a",
            "b",
            "ab",
            "ba",
            "abba",
            "Abba Babb",
            "b a",
            "aab",
            "x"
        ])
        .prop_map(str::to_owned),
        "[ab]{1,4}",
        Just("a".repeat(63)),
        Just("a".repeat(64)),
        Just(format!("{}b", "a".repeat(64))),
        Just(format!("{}c", "a".repeat(64))),
    ]
}

fn item() -> impl Strategy<Value = Item> {
    let name = || prop::sample::select(&NAMES[..]);
    let piece = || prop::option::of("[ab ]{1,4}");
    let class = prop::sample::select(
        &[
            "person",
            "inetOrgPerson",
            "top",
            "organizationalUnit",
            "account",
            "posixAccount",
        ][..],
    );
    prop_oneof![
        name().prop_map(Item::Present),
        prop::sample::select(&["objectClass", "seeAlso", "entryUUID"][..]).prop_map(Item::Present),
        (name(), word()).prop_map(|(name, value)| Item::Equal(name, value)),
        (0_i32..6).prop_map(|n| Item::Equal("uidNumber", n.to_string())),
        (0_i32..6).prop_map(|n| Item::AtLeast("uidNumber", n.to_string())),
        (-1_i32..6).prop_map(|n| Item::AtMost("uidNumber", n.to_string())),
        (
            name(),
            piece(),
            prop::collection::vec("[ab ]{1,4}", 0..3),
            piece()
        )
            .prop_filter("a piece", |(_, a, b, c)| a.is_some()
                || !b.is_empty()
                || c.is_some())
            .prop_map(|(name, a, b, c)| Item::Pieces(name, a, b, c)),
        (
            prop::sample::select(&["cn", "sn", "cn;lang-en"][..]),
            word()
        )
            .prop_map(|(name, value)| Item::Sounds(name, value)),
        class.prop_map(Item::Class),
        (name(), word()).prop_map(|(name, value)| Item::Rule(name, "caseIgnoreMatch", value)),
        (name(), word()).prop_map(|(name, value)| Item::Rule(name, "caseExactMatch", value)),
        Just(Item::Equal("uidNumber", "no number".to_owned())),
        prop::sample::select(vec![Truth::True, Truth::False, Truth::Undefined])
            .prop_map(Item::Constant),
    ]
}

fn tree() -> impl Strategy<Value = Tree> {
    item()
        .prop_map(Tree::Item)
        .prop_recursive(4, 12, 3, |inner| {
            prop_oneof![
                inner.clone().prop_map(|tree| Tree::Not(Box::new(tree))),
                prop::collection::vec(inner.clone(), 0..4).prop_map(Tree::And),
                prop::collection::vec(inner, 0..4).prop_map(Tree::Or),
            ]
        })
}

fn values() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let names = &["cn", "uid", "sn", "cn;lang-en", "description", "title"][..];
    prop::collection::vec((prop::sample::select(names), word()), 0..6)
}

/// A person: position in the tree, uidNumber, more values.
type Person = (u8, Option<u8>, Vec<(&'static str, String)>);

fn populate(people: &[Person]) -> TestStore {
    let store = create();
    let schema = schema();
    let mut writer = store.write().unwrap();
    add(&mut writer, &suffix_entry(&schema));
    for unit_dn in [
        "ou=a,dc=example,dc=com",
        "ou=b,dc=example,dc=com",
        "ou=c,ou=b,dc=example,dc=com",
    ] {
        add(&mut writer, &unit(&schema, unit_dn));
    }
    for (number, (place, uid_number, values)) in people.iter().enumerate() {
        let above = ["ou=a,", "ou=b,", "ou=c,ou=b,", ""][usize::from(place % 4)];
        let dn = format!("mail=p{number},{above}dc=example,dc=com");
        let uid_number = uid_number.map(|n| n.to_string());
        let mut more: Vec<(&str, &str)> = Vec::new();
        for (name, value) in values {
            if !more
                .iter()
                .any(|(n, v)| n == name && v.eq_ignore_ascii_case(value))
            {
                more.push((name, value));
            }
        }
        if let Some(number) = &uid_number {
            more.extend([
                ("objectClass", "posixAccount"),
                ("uidNumber", number),
                ("gidNumber", "1"),
            ]);
            more.push(("homeDirectory", "/"));
            if !more.iter().any(|(name, _)| *name == "uid") {
                more.push(("uid", "u"));
            }
        }
        add(&mut writer, &person(&schema, &dn, &more));
    }
    writer.commit().unwrap();
    store
}

fn brute_force(
    view: &View<'_>,
    base: EntryId,
    scope: Scope,
    filter: &Filter<AttributeSelector>,
) -> Vec<EntryId> {
    let schema = view.schema();
    let mut found = Vec::new();
    for id in (1..=view.entry_count().unwrap()).map(EntryId) {
        let entry = view.entry(id).unwrap().unwrap();
        let within = match scope {
            Scope::Base => id == base,
            Scope::OneLevel => entry.parent() == Some(base),
            Scope::Subtree => id == base || view.is_descendant(id, base).unwrap(),
            Scope::Subordinates => view.is_descendant(id, base).unwrap(),
        };
        if within && filter.test(schema, &entry).is_true() {
            found.push(id);
        }
    }
    found
}

fn check(store: &Store, filter: &Filter<AttributeSelector>) -> Result<(), TestCaseError> {
    let view = store.snapshot().unwrap();
    let compiled = compile_filter(&view, filter.clone());
    for base in (1..=5).map(EntryId) {
        for scope in [
            Scope::Base,
            Scope::OneLevel,
            Scope::Subtree,
            Scope::Subordinates,
        ] {
            let expected = brute_force(&view, base, scope, filter);
            let mut candidates = view.plan(base, scope, filter).unwrap();
            let explained = candidates.explain(&view);
            let (mut all, mut matching) = (Vec::new(), Vec::new());
            while let Some(entry) = candidates.next_entry(&view).unwrap() {
                all.push(entry.id());
                if filter.test(view.schema(), &entry).is_true() {
                    matching.push(entry.id());
                }
                prop_assert_eq!(
                    compiled.test(view.schema(), &entry),
                    filter.test(view.schema(), &entry)
                );
            }
            prop_assert_eq!(&matching, &expected, "{} {:?}", &explained, scope);
            prop_assert!(
                !candidates.is_exact() || all == expected,
                "not exact: {} {:?}",
                &explained,
                scope
            );
            prop_assert!(
                all.len() as u64 <= candidates.count_max(),
                "more than {}",
                &explained
            );
            for after in all.iter().step_by(3) {
                candidates.seek(*after);
                let next = candidates.next(&view).unwrap();
                prop_assert_eq!(
                    next,
                    all.iter().find(|id| *id > after).copied(),
                    "after {}: {}",
                    after,
                    &explained
                );
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn plans_yield_what_a_scan_finds(
        people in prop::collection::vec((any::<u8>(), prop::option::of(0_u8..6), values()), 0..40),
        trees in prop::collection::vec(tree(), 12),
    ) {
        let store = populate(&people);
        assert_clean(&store);
        for tree in &trees {
            check(&store, &build(&schema(), tree))?;
        }
    }
}

fn explain(store: &Store, filter: &Tree) -> String {
    let view = store.snapshot().unwrap();
    let filter = build(view.schema(), filter);
    view.plan(EntryId(1), Scope::Subtree, &filter)
        .unwrap()
        .explain(&view)
}

#[test]
fn plans_have_the_expected_terms() {
    let people: Vec<_> = (0..200_u8)
        .map(|n| {
            (
                n,
                Some(n % 5),
                vec![("uid", format!("u{n}")), ("cn", format!("name {}", n % 10))],
            )
        })
        .collect();
    let store = populate(&people);
    let item = |item| Tree::Item(item);
    let uid = || item(Item::Equal("uid", "u7".to_owned()));
    let person = || item(Item::Class("person"));
    assert_eq!(
        explain(&store, &uid()),
        "1 entry by index; at most 1; all match"
    );
    assert_eq!(
        explain(&store, &Tree::And(vec![person(), uid()])),
        "1 entry by index; at most 1; each is tested"
    );
    assert_eq!(
        explain(&store, &person()),
        "objectClass=2.5.6.6:index; at most 200; all match"
    );
    assert_eq!(
        explain(&store, &Tree::Not(Box::new(person()))),
        "not(objectClass=2.5.6.6:index); at most 204; each is tested"
    );
    let any = Item::Pieces("cn", None, vec!["ame 3".to_owned()], None);
    assert_eq!(
        explain(&store, &item(any)),
        "20 entries by index; at most 20; each is tested"
    );
    let sounds = Item::Sounds("cn", "Naim 3".to_owned());
    assert_eq!(
        explain(&store, &item(sounds)),
        "20 entries by index; at most 20; each is tested"
    );
    let range = Item::AtLeast("uidNumber", "3".to_owned());
    assert_eq!(
        explain(&store, &item(range)),
        "80 entries by index; at most 80; all match"
    );
    assert_eq!(
        explain(&store, &item(Item::Equal("title", "x".to_owned()))),
        "no entry; at most 0; all match"
    );
    assert_eq!(
        explain(&store, &Tree::And(vec![])),
        "all entries; at most 204; all match"
    );
    assert_eq!(
        explain(&store, &item(Item::Equal("description", "x".to_owned()))),
        "no entry; at most 0; all match"
    );
}

#[test]
fn a_plan_can_be_interrupted_and_survives_changes() {
    let people: Vec<_> = (0..100_u8).map(|n| (n, None, Vec::new())).collect();
    let store = populate(&people);
    let mut view = store.snapshot().unwrap();
    let filter = build(view.schema(), &Tree::Item(Item::Class("person")));
    let mut candidates = view.plan(EntryId(2), Scope::Subtree, &filter).unwrap();
    let mut seen = 0;
    let mut rounds = 0;
    loop {
        let mut quantum = 7;
        while candidates
            .next_entry_within(&view, &mut EntryWalk::new(), &mut quantum)
            .unwrap()
            .is_some()
        {
            seen += 1;
        }
        rounds += 1;
        if quantum > 0 {
            break;
        }
    }
    assert_eq!(seen, 25);
    assert!(rounds > 1);
    candidates.seek(EntryId(0));
    let mut writer = store.write().unwrap();
    let gone = find(&view, "mail=p0,ou=a,dc=example,dc=com")
        .entry()
        .unwrap();
    writer.delete(gone).unwrap();
    writer.commit().unwrap();
    view.refresh().unwrap();
    let mut left = 0;
    while candidates.next_entry(&view).unwrap().is_some() {
        left += 1;
    }
    assert_eq!(left, 24);
}
