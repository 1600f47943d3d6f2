//! Random histories of groups and members: `memberOf` is compared with the members of all groups.

use std::collections::BTreeSet;

use fulgurite_ldap::ModifyOperation::{Add, Delete, Replace};
use fulgurite_ldap::Scope;
use fulgurite_store::{Durability, IndexSpec};
use fulgurite_testkit::{Random, quick_or_long, seed};

use crate::guards::overlay;
use crate::memberof::assert_ok;
use crate::support::{EntryText, TOP, World, asked};

/// The names of the history: some are longer than the values that index keys hold.
fn rdn(random: &mut Random) -> String {
    let number = random.below(7);
    let long = if number > 4 {
        "long ".repeat(14)
    } else {
        String::new()
    };
    format!("cn={long}n{number}")
}

/// Returns another spelling of a name.
fn spelled(random: &mut Random, name: &str) -> String {
    match random.below(3) {
        0 => name.to_uppercase(),
        1 => name.replace(',', ", "),
        _ => name.to_owned(),
    }
}

fn normal(name: &str) -> String {
    name.to_lowercase().replace(", ", ",")
}

fn all(world: &World, filter: &str, attribute: &str) -> Vec<EntryText> {
    let asked = asked(TOP, Scope::Subtree, filter, &[attribute]);
    let found = world.search(&world.root(), &asked);
    assert_ok(&found.result);
    found.entries
}

/// Makes a random update.
fn step(world: &World, random: &mut Random) -> String {
    let root = world.root();
    let known = world.names("(objectClass=*)");
    let below: Vec<&String> = known.iter().filter(|dn| *dn != TOP).collect();
    let dn = match below.is_empty() {
        true => format!("cn=none,{TOP}"),
        false => (*random.pick(&below)).clone(),
    };
    let new = rdn(random);
    let parent = random.pick(&known).clone();
    let mut members: BTreeSet<String> = BTreeSet::new();
    for _ in 0..=random.below(6) {
        let name = match random.chance(70) {
            true => random.pick(&known).clone(),
            false => format!("{},{}", rdn(random), random.pick(&known)),
        };
        members.insert(normal(&name));
    }
    let members: Vec<String> = members.iter().map(|name| spelled(random, name)).collect();
    let members: Vec<&str> = members.iter().map(String::as_str).collect();
    match random.below(8) {
        0..3 => {
            let dn = format!("{new},{parent}");
            let is_group = random.chance(75);
            let mut attributes = match is_group {
                true => vec![("objectClass", "groupOfNames")],
                false => vec![
                    ("objectClass", "device"),
                    ("objectClass", "extensibleObject"),
                ],
            };
            attributes.extend(members.iter().map(|member| ("member", *member)));
            format!("add {dn}: {:?}", world.add(&root, &dn, &attributes).code)
        }
        3..5 => {
            let operation = *random.pick(&[Add, Replace, Delete]);
            let result = world.modify(&root, &dn, &[(operation, "member", &members)]);
            format!("{operation:?} {dn}: {:?}", result.code)
        }
        5..7 => {
            let superior = random.chance(50).then_some(parent.as_str());
            let result = world.rename(&root, &dn, &new, true, superior);
            format!("rename {dn} to {new}, {superior:?}: {:?}", result.code)
        }
        _ => format!("delete {dn}: {:?}", world.delete(&root, &dn).code),
    }
}

/// Compares what the overlay shows and finds with the members of all groups.
fn assert_like_members(world: &World, random: &mut Random, context: &str) {
    let groups = all(world, "(objectClass=groupOfNames)", "member");
    let entries = all(world, "(objectClass=*)", "memberOf");
    let is_in = |entry: &str, group: &EntryText| {
        let mut members = group.get("member").into_iter();
        members.any(|member| normal(member) == normal(entry))
    };
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    for entry in &entries {
        let expected = groups.iter().filter(|group| is_in(&entry.dn, group));
        let expected = sorted(expected.map(|group| group.dn.clone()).collect());
        let shown = entry.get("memberOf").into_iter().map(str::to_owned);
        assert_eq!(sorted(shown.collect()), expected, "{context}\n{}", entry.dn);
    }
    let such = |test: &dyn Fn(&str) -> bool| {
        let names = entries.iter().map(|entry| entry.dn.clone());
        sorted(names.filter(|name| test(name)).collect())
    };
    let any = |name: &str| groups.iter().any(|group| is_in(name, group));
    assert_eq!(world.names("(memberOf=*)"), such(&any), "{context}");
    let none = |name: &str| !any(name);
    assert_eq!(world.names("(!(memberOf=*))"), such(&none), "{context}");
    let named = |filter: String| world.names(&filter);
    for group in &groups {
        let dn = &group.dn;
        let is_member = |name: &str| is_in(name, group);
        let spelled = spelled(random, dn);
        assert_eq!(
            named(format!("(memberOf={spelled})")),
            such(&is_member),
            "{context}"
        );
        let is_not = |name: &str| !is_member(name);
        assert_eq!(
            named(format!("(!(memberOf={dn}))")),
            such(&is_not),
            "{context}"
        );
        let other = random.pick(&groups);
        let both = |name: &str| is_member(name) && is_in(name, other);
        let filter = format!("(&(memberOf={dn})(memberOf={}))", other.dn);
        assert_eq!(named(filter), such(&both), "{context}");
        let either = |name: &str| is_member(name) || is_in(name, other);
        let filter = format!("(|(memberOf={dn})(memberOf={}))", other.dn);
        assert_eq!(named(filter), such(&either), "{context}");
        let shallow = |name: &str| is_member(name) && normal(name).starts_with("cn=n1");
        let filter = format!("(&(memberOf={dn})(cn=n1))");
        assert_eq!(named(filter), such(&shallow), "{context}");
    }
}

#[test]
fn random_histories_agree_with_the_members_of_all_groups() {
    let seed = seed("memberof_model", 0x6d65_0001);
    let mut random = Random::new(seed);
    for history in 0..quick_or_long(8, 80) {
        let refint = if random.chance(50) { "TRUE" } else { "FALSE" };
        let (few, indexed) = (random.chance(60), random.chance(70));
        let world = World::empty_with_store(
            |options| {
                let lines = [format!("memberof-refint {refint}")];
                let overlay = overlay("memberof", &lines.each_ref().map(String::as_str));
                options.databases[0].overlays = vec![overlay];
            },
            |store| {
                store.inline_values_max = few.then_some(2);
                store.durability = Some(Durability::NoSync);
                let indexes = ["objectClass:eq", "cn:eq", "member:eq"];
                let indexes = indexes.iter().take(if indexed { 3 } else { 2 });
                let indexes = indexes.map(|text| text.parse::<IndexSpec>().expect(text));
                store.indexes = Some(indexes.collect());
            },
        );
        world.load(&format!("dn: {TOP}\nobjectClass: domain\ndc: example\n"));
        let mut deeds: Vec<String> = Vec::new();
        for number in 0..100 {
            deeds.push(step(&world, &mut random));
            let last = deeds.iter().rev().take(4).cloned().collect::<Vec<_>>();
            let context = format!(
                "seed {seed}, history {history}, step {number}: {}",
                last.join("\n")
            );
            if number % 4 == 3 {
                assert_like_members(&world, &mut random, &context);
            }
        }
        let shown = world.names("(memberOf=*)");
        assert!(!deeds.is_empty() && shown.len() < 1_000, "seed {seed}");
    }
}
