//! Answers copied out of records are those that are put together value by value.

use fulgurite_directory::Session;
use fulgurite_ldap::Scope;
use proptest::prelude::*;

use crate::support::{PEOPLE, TOP, World, asked};

/// Where values may be treated differently, each is asked about: nothing is copied.
const BY_VALUE: [&str; 2] = [
    r#"to attrs=mail val.regex="^never$" by * none"#,
    "to * by * read",
];
/// Where passwords are hidden from all alike, what is left is copied.
const ALIKE: [&str; 2] = ["to attrs=userPassword by * none", "to * by * read"];
const ALIKE_BY_VALUE: [&str; 3] = [ALIKE[0], BY_VALUE[0], BY_VALUE[1]];

const NAMES: [&str; 8] = [
    "description",
    "mail",
    "telephoneNumber",
    "userPassword",
    "description;lang-de",
    "title",
    "l",
    "postalCode",
];
const SELECTIONS: [&[&str]; 8] = [
    &[],
    &["*", "+"],
    &["+"],
    &["cn", "mail", "l"],
    &["description"],
    &["1.1"],
    &["*", "entryDN"],
    &["userPassword", "structuralObjectClass", "sn"],
];

type Person = Vec<(prop::sample::Index, Vec<usize>)>;

fn people() -> impl Strategy<Value = Vec<Person>> {
    let values = prop::collection::btree_set(
        prop_oneof![6 => 1_usize..30, 1 => 120_usize..140, 1 => 250_usize..400],
        1..4,
    );
    let values = values.prop_map(|lens| lens.into_iter().collect());
    let person = prop::collection::vec((any::<prop::sample::Index>(), values), 0..6);
    prop::collection::vec(person, 1..12)
}

fn add(world: &World, number: usize, person: &Person) {
    let uid = format!("p{number}");
    let mut attributes = vec![
        ("objectClass".to_owned(), "inetOrgPerson".to_owned()),
        ("uid".to_owned(), uid.clone()),
        ("cn".to_owned(), "somebody".to_owned()),
        ("sn".to_owned(), "body".to_owned()),
    ];
    let mut used = std::collections::BTreeSet::new();
    for (name, lens) in person {
        let name = *name.get(&NAMES);
        if used.insert(name) {
            attributes.extend(lens.iter().map(|len| (name.to_owned(), "7".repeat(*len))));
        }
    }
    let attributes: Vec<(&str, &str)> = attributes
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let added = world.add(&world.root(), &format!("uid={uid},{PEOPLE}"), &attributes);
    assert_eq!(added, fulgurite_ldap::LdapResult::success());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn nobody_can_tell_a_copy(people in people(), inline_max in prop_oneof![Just(1_usize), Just(256)], types_only: bool) {
        let mut world = World::empty_with_store(
            |_| {},
            |options| options.inline_values_max = Some(inline_max),
        );
        world.load("dn: dc=example,dc=com\nobjectClass: domain\n\ndn: ou=people,dc=example,dc=com\nobjectClass: organizationalUnit");
        people.iter().enumerate().for_each(|(number, person)| add(&world, number, person));
        for (copied, asked_for) in [(&BY_VALUE[1..], &BY_VALUE[..]), (&ALIKE[..], &ALIKE_BY_VALUE[..])] {
            let mut answers = [copied, asked_for].map(|rules| {
                world.reopen(|options| options.access = rules.iter().map(|&rule| rule.into()).collect());
                let selections = SELECTIONS.iter().map(|selection| {
                    let mut asked = asked(TOP, Scope::Subtree, "(objectClass=*)", selection);
                    asked.types_only = types_only;
                    world.answer(&Session::new(), &asked)
                });
                selections.collect::<Vec<_>>()
            }).into_iter();
            prop_assert_eq!(answers.next(), answers.next());
        }
    }
}
