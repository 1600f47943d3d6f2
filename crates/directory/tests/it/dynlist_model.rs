//! Random histories of dynamic groups: each answer is compared with a model of nested membership.

use std::collections::BTreeSet;

use fulgurite_ldap::ModifyOperation::{Add, Delete, Replace};
use fulgurite_ldap::Scope;
use fulgurite_testkit::{Random, quick_or_long, seed};

use crate::dynlist::{empty, managed, shown};
use crate::guards::overlay;
use crate::support::{EntryText, TOP, World, asked};

/// The state of the model: all groups with their direct members.
struct Model {
    entries: Vec<EntryText>,
    /// The group, its direct members, and true for a dynamic group.
    groups: Vec<(String, BTreeSet<String>, bool)>,
}

fn normal(name: &str) -> String {
    name.to_lowercase().replace(", ", ",")
}

impl Model {
    /// Reads the stored entries, and asks for the members of each URL by an ordinary search.
    fn of(world: &World) -> Model {
        let stored = |base: &str, scope, filter: &str| {
            let found = world.search(&world.root(), &managed(asked(base, scope, filter, &["*"])));
            found.entries
        };
        let entries = stored(TOP, Scope::Subtree, "(objectClass=*)");
        let mut groups = Vec::new();
        for entry in &entries {
            let mut members: BTreeSet<String> =
                entry.get("member").into_iter().map(normal).collect();
            let dynamic = entry.get("objectClass").contains(&"groupOfURLs");
            for url in entry.get("memberURL") {
                let parts: Vec<&str> = url.trim_start_matches("ldap:///").split('?').collect();
                let scope = match parts[2] {
                    "one" => Scope::One,
                    "base" => Scope::Base,
                    _ => Scope::Subtree,
                };
                let found = stored(parts[0], scope, parts[3]);
                members.extend(found.iter().map(|found| normal(&found.dn)));
            }
            if dynamic || entry.get("objectClass").contains(&"groupOfNames") {
                groups.push((entry.dn.clone(), members, dynamic));
            }
        }
        Model { entries, groups }
    }

    /// Returns the groups of an entry.
    fn groups_of(&self, dn: &str, nested: bool) -> BTreeSet<String> {
        let above = |dn: &str| {
            let dn = normal(dn);
            let groups = self
                .groups
                .iter()
                .filter(move |(_, members, _)| members.contains(&dn));
            groups.map(|(group, ..)| group.clone()).collect::<Vec<_>>()
        };
        let mut found = BTreeSet::new();
        let mut waiting = above(dn);
        while let Some(group) = waiting.pop() {
            if found.insert(group.clone()) && nested {
                waiting.extend(above(&group));
            }
        }
        found
    }

    /// Returns the names of entries for which a test is true.
    fn such(&self, test: impl Fn(&EntryText) -> bool) -> Vec<String> {
        let found = self.entries.iter().filter(|entry| test(entry));
        let mut names: Vec<String> = found.map(|entry| entry.dn.clone()).collect();
        names.sort();
        names
    }
}

fn assert_like_model(world: &World, nested: bool, context: &str) {
    let model = Model::of(world);
    for entry in &model.entries {
        let groups: Vec<String> = model.groups_of(&entry.dn, nested).into_iter().collect();
        let seen = shown(world, &entry.dn, &["memberOf"], "memberOf");
        assert_eq!(seen, groups, "{context}\n{}", entry.dn);
    }
    let any = |entry: &EntryText| !model.groups_of(&entry.dn, nested).is_empty();
    assert_eq!(world.names("(memberOf=*)"), model.such(any), "{context}");
    for (group, members, dynamic) in &model.groups {
        let is_member = |entry: &EntryText| model.groups_of(&entry.dn, nested).contains(group);
        let found = world.names(&format!("(memberOf={group})"));
        assert_eq!(found, model.such(is_member), "{context}\n{group}");
        let found = world.names(&format!("(!(memberOf={group}))"));
        assert_eq!(
            found,
            model.such(|entry| !is_member(entry)),
            "{context}\n{group}"
        );
        let people = |entry: &EntryText| is_member(entry) && !entry.get("sn").is_empty();
        let found = world.names(&format!("(&(sn=*)(memberOf={group}))"));
        assert_eq!(found, model.such(people), "{context}\n{group}");
        if *dynamic {
            let seen = shown(world, group, &["member"], "member");
            let seen: BTreeSet<String> = seen.iter().map(|name| normal(name)).collect();
            assert_eq!(seen, *members, "{context}\n{group}");
        }
        if nested {
            let seen = shown(world, group, &["member", "memberOf"], "member");
            let seen: BTreeSet<String> = seen.iter().map(|name| normal(name)).collect();
            let mut expected = members.clone();
            for (_, members, _) in model
                .groups
                .iter()
                .filter(|(inner, ..)| model.groups_of(inner, true).contains(group))
            {
                expected.extend(members.iter().cloned());
            }
            assert_eq!(seen, expected, "{context}\n{group}");
        }
    }
    for entry in &model.entries {
        let dn = normal(&entry.dn);
        let names = |entry: &EntryText| {
            let mut groups = model.groups.iter();
            groups.any(|(group, members, _)| *group == entry.dn && members.contains(&dn))
        };
        let found = world.names(&format!("(member={})", entry.dn));
        assert_eq!(found, model.such(names), "{context}\nmember {dn}");
    }
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
    let new = format!("cn=n{}", random.below(8));
    let parent = random.pick(&known).clone();
    let member = match random.chance(85) {
        true => random.pick(&known).clone(),
        false => format!("cn=nobody,{TOP}"),
    };
    let filters = [
        "(sn=a)",
        "(sn=b)",
        "(objectClass=groupOfNames)",
        "(cn=n1)",
        "(cn=*)",
    ];
    let scope = *random.pick(&["one", "sub", "base"]);
    let url = format!("ldap:///{parent}??{scope}?{}", random.pick(&filters));
    let name = format!("{new},{parent}");
    match random.below(9) {
        0..2 => {
            let attributes = [("objectClass", "groupOfNames"), ("member", member.as_str())];
            format!(
                "group {name}: {:?}",
                world.add(&root, &name, &attributes).code
            )
        }
        2..4 => {
            let attributes = [("objectClass", "groupOfURLs"), ("memberURL", url.as_str())];
            format!(
                "list {name} {url}: {:?}",
                world.add(&root, &name, &attributes).code
            )
        }
        4 => {
            let sn = *random.pick(&["a", "b", "c"]);
            let attributes = [("objectClass", "person"), ("sn", sn)];
            format!(
                "person {name} {sn}: {:?}",
                world.add(&root, &name, &attributes).code
            )
        }
        5..7 => {
            let operation = *random.pick(&[Add, Add, Replace, Delete]);
            let result = world.modify(&root, &dn, &[(operation, "member", &[member.as_str()])]);
            format!("{operation:?} {member} {dn}: {:?}", result.code)
        }
        7 => {
            let superior = random.chance(50).then_some(parent.as_str());
            let result = world.rename(&root, &dn, &new, true, superior);
            format!("rename {dn} to {new}, {superior:?}: {:?}", result.code)
        }
        _ => format!("delete {dn}: {:?}", world.delete(&root, &dn).code),
    }
}

#[test]
fn random_histories_agree_with_a_model() {
    let seed = seed("dynlist_model", 0x6479_0001);
    for round in 0..quick_or_long(12, 400) {
        let mut random = Random::new(seed.wrapping_add(round));
        let nested = random.chance(70);
        let mut world = empty();
        world.load("dn: dc=example,dc=com\nobjectClass: dcObject\nobjectClass: organization\ndc: example\no: x\n");
        let star = if nested { "*" } else { "" };
        let set =
            format!("dynlist-attrset groupOfURLs~memberURL~member+memberOf@groupOfNames{star}");
        world.reopen(|options| options.databases[0].overlays = vec![overlay("dynlist", &[&set])]);
        let mut history = format!("seed {seed}, round {round}, nested {nested}");
        for number in 0..30 {
            history = format!("{history}\n{}", step(&world, &mut random));
            if number % 3 == 2 {
                assert_like_model(&world, nested, &history);
            }
        }
    }
}
