//! The overlay `refint`: references follow renamed and deleted entries. The model is slapd 2.5.

use std::collections::BTreeMap;

use ModifyOperation::{Add, Replace};
use fulgurite_ldap::{
    Control, DeleteRequest, LdapResult, ModifyOperation, Request, ResultCode, oid,
};
use fulgurite_store::{Durability, IndexSpec};
use fulgurite_testkit::{Random, quick_or_long, seed};

use crate::guards::overlay;
use crate::support::{
    EntryText, JANE, JOHN, PEOPLE, ROOT, TOP, World, modify_pdu, pdu, write_request,
};

const GROUP: &str = "cn=all,ou=groups,dc=example,dc=com";
const REFINT: &str = "cn=Referential Integrity Overlay";
const ATTRIBUTES: [&str; 3] = ["member", "owner", "seeAlso"];

/// Returns an empty directory with the overlay. `member` has an equality index, and no other
/// attribute has one.
fn empty(lines: &[&str], inline_values_max: Option<usize>) -> World {
    World::empty_with_store(
        |options| options.databases[0].overlays = vec![overlay("refint", lines)],
        |store| {
            store.inline_values_max = inline_values_max;
            store.durability = Some(Durability::NoSync);
            let indexes = ["objectClass:eq", "member:eq"].map(|text| text.parse::<IndexSpec>());
            store.indexes = Some(indexes.map(|index| index.expect("an index")).to_vec());
        },
    )
}

fn world(lines: &[&str]) -> World {
    let world = empty(lines, None);
    world.load_example();
    world
}

#[track_caller]
fn assert_ok(result: &LdapResult) {
    assert_eq!(*result, LdapResult::success());
}

fn rename(world: &World, dn: &str, rdn: &str, superior: Option<&str>) -> LdapResult {
    world.rename(&world.root(), dn, rdn, true, superior)
}

fn group(world: &World, cn: &str, more: &[(&str, &str)]) -> String {
    let dn = format!("cn={cn},{TOP}");
    let mut attributes = vec![("objectClass", "groupOfNames"), ("cn", cn)];
    attributes.extend(more);
    assert_ok(&world.add(&world.root(), &dn, &attributes));
    dn
}

#[test]
fn values_get_the_new_name_at_their_end_and_only_the_author_changes() {
    let world = world(&[
        "refint_attributes owner~member",
        "refint_attributes seeAlso",
    ]);
    let dn = group(
        &world,
        "g",
        &[
            ("member", "UID=John, OU=People,dc=example,dc=com"),
            ("member", JANE),
            ("owner", JOHN),
            ("seeAlso;lang-de", JOHN),
        ],
    );
    let asked = [
        "*",
        "modifiersName",
        "modifyTimestamp",
        "entryCSN",
        "creatorsName",
    ];
    let before = world.read(&dn, &asked);
    world.clock.sleep_s(5);
    assert_ok(&rename(&world, JOHN, "uid=Johnny  B", None));
    let new = format!("uid=Johnny  B,{PEOPLE}");
    let mut expected = before;
    let mut set = |name: &str, values: &[&str]| {
        let values = values.iter().map(|&value| value.to_owned()).collect();
        expected.attributes.insert(name.to_owned(), values);
    };
    set("member", &[JANE, &new]);
    set("owner", &[&new]);
    set("modifiersName", &[REFINT]);
    assert_eq!(world.read(&dn, &asked), expected);
    assert_eq!(world.read(GROUP, &["member"]).get("member"), [JANE, &new]);
    // Another spelling of the same name is a new value.
    assert_ok(&rename(&world, JANE, "uid=JANE", None));
    let jane = format!("uid=JANE,{PEOPLE}");
    assert_eq!(world.read(GROUP, &["member"]).get("member"), [&new, &jane]);
    let found = world.names(&format!("(member={jane})"));
    assert_eq!(found, [GROUP.to_owned(), dn]);
}

#[test]
fn values_below_a_renamed_entry_follow() {
    let world = world(&["refint_attributes member~owner"]);
    let gone = format!("cn=gone,{PEOPLE}");
    let more = [
        ("member", gone.as_str()),
        ("member", PEOPLE),
        ("member", TOP),
        ("owner", JANE),
    ];
    let dn = group(&world, "g", &more);
    let groups = "ou=groups,dc=example,dc=com";
    assert_ok(&rename(&world, PEOPLE, "ou=Folk\\, all", Some(groups)));
    let folk = "ou=Folk\\2C all,ou=groups,dc=example,dc=com";
    let read = world.read(&dn, &["member", "owner"]);
    let below = |rdn: &str| format!("{rdn},{folk}");
    assert_eq!(read.get("member"), [TOP, &below("cn=gone"), folk]);
    assert_eq!(read.get("owner"), [below("uid=jane")]);
    let read = world.read(GROUP, &["member"]);
    assert_eq!(read.get("member"), [below("uid=jane"), below("uid=john")]);
}

#[test]
fn a_deleted_entry_leaves_no_value_but_the_last_one_that_is_required() {
    let world = world(&["refint_attributes member~owner~seeAlso"]);
    let more = [("member", JOHN), ("owner", JOHN), ("seeAlso", JOHN)];
    let last = group(&world, "last", &more);
    let more = [("member", JOHN), ("member", JANE), ("owner", JOHN)];
    let two = group(&world, "two", &more);
    assert_ok(&world.delete(&world.root(), JOHN));
    let read = |dn: &str| world.read(dn, &["member", "owner", "seeAlso", "modifiersName"]);
    // As in slapd, no value of the entry is removed then.
    let stays = read(&last);
    for name in ATTRIBUTES {
        assert_eq!(stays.get(name), [JOHN], "{name}");
    }
    assert_eq!(stays.get("modifiersName"), [ROOT]);
    assert_eq!(read(&two).get("member"), [JANE]);
    assert_eq!(read(&two).names(), ["member", "modifiersName"]);
    assert_eq!(read(&two).get("modifiersName"), [REFINT]);
}

#[test]
fn a_name_for_nothing_replaces_the_last_value() {
    let world = world(&[
        "refint_attributes member~owner",
        "refint_nothing CN=nobody, dc=example,dc=com",
        "refint_modifiersname cn=me",
    ]);
    let dn = group(
        &world,
        "g",
        &[("member", JOHN), ("owner", JOHN), ("owner", JANE)],
    );
    assert_ok(&world.delete(&world.root(), JOHN));
    let read = world.read(&dn, &["member", "owner", "modifiersName"]);
    assert_eq!(read.get("member"), ["cn=nobody,dc=example,dc=com"]);
    assert_eq!(read.get("owner"), [JANE]);
    assert_eq!(read.get("modifiersName"), ["cn=me"]);
}

#[test]
fn a_value_with_an_identifier_stays() {
    let world = world(&["refint_attributes uniqueMember"]);
    let with = format!("{JOHN}#'01'B");
    let attributes = [
        ("objectClass", "groupOfUniqueNames"),
        ("cn", "u"),
        ("uniqueMember", &with),
        ("uniqueMember", JOHN),
    ];
    let dn = format!("cn=u,{TOP}");
    assert_ok(&world.add(&world.root(), &dn, &attributes));
    assert_ok(&rename(&world, JOHN, "uid=x", None));
    let x = format!("uid=x,{PEOPLE}");
    let read = || {
        world
            .read(&dn, &["uniqueMember"])
            .get("uniqueMember")
            .join(" ")
    };
    assert_eq!(read(), format!("{with} {x}"));
    let groups = "ou=groups,dc=example,dc=com";
    assert_ok(&rename(&world, PEOPLE, "ou=people", Some(groups)));
    assert_eq!(read(), format!("{with} uid=x,ou=people,{groups}"));
}

#[test]
fn nothing_follows_without_a_change() {
    let world = world(&["refint_attributes member"]);
    let request = Request::Delete(DeleteRequest {
        dn: JOHN.as_bytes(),
    });
    let no_op = Control {
        oid: oid::NO_OP.as_bytes(),
        critical: true,
        value: None,
    };
    let result = world.write(&world.root(), &pdu(&request, &[no_op]));
    assert_eq!(result.code, ResultCode::NoOperation);
    assert_eq!(
        world.delete(&world.root(), PEOPLE).code,
        ResultCode::NotAllowedOnNonLeaf
    );
    assert_eq!(world.read(GROUP, &["member"]).get("member"), [JANE, JOHN]);
}

#[test]
fn a_deleted_tree_leaves_no_value() {
    let world = world(&["refint_attributes member~owner", "refint_nothing cn=none"]);
    let dn = group(
        &world,
        "g",
        &[("member", JANE), ("member", TOP), ("owner", PEOPLE)],
    );
    let request = Request::Delete(DeleteRequest {
        dn: PEOPLE.as_bytes(),
    });
    let tree = Control {
        oid: oid::TREE_DELETE.as_bytes(),
        critical: true,
        value: None,
    };
    assert_ok(&world.write(&world.root(), &pdu(&request, &[tree])));
    let read = world.read(&dn, &["member", "owner"]);
    assert_eq!(
        (read.get("member"), read.get("owner")),
        (vec![TOP], vec!["cn=none"])
    );
    assert_eq!(world.read(GROUP, &["member"]).get("member"), ["cn=none"]);
}

#[test]
fn many_members_follow() {
    let world = world(&["refint_attributes member~owner"]);
    let member = |number: usize| format!("uid=m{number},{PEOPLE}");
    let mut names: Vec<String> = (0..3000).map(member).collect();
    names.push(JOHN.to_owned());
    let values: Vec<&str> = names.iter().map(String::as_str).collect();
    let changed = world.modify(&world.root(), GROUP, &[(Replace, "member", &values)]);
    assert_ok(&changed);
    let rename_pdu = modify_pdu(JOHN, &[(Add, "description", &["x"])]);
    assert!(
        world
            .directory
            .apply_at_once(&[write_request(&world.root(), &rename_pdu)])
            .is_some()
    );
    assert_ok(&rename(&world, JOHN, "uid=jack", None));
    let read = || world.read(GROUP, &["member"]).attributes["member"].clone();
    *names.last_mut().expect("john") = format!("uid=jack,{PEOPLE}");
    assert_eq!(read(), names);
    assert_ok(&rename(&world, PEOPLE, "ou=folk", None));
    for name in &mut names {
        *name = name.replace("ou=people", "ou=folk");
    }
    assert_eq!(read(), names);
    let jack = names.pop().expect("jack");
    assert_ok(&world.delete(&world.root(), &jack));
    assert_eq!(read(), names);
    let report = fulgurite_store::verify(&world.store.snapshot().expect("a view"));
    assert!(report.expect("a report").is_clean());
}

#[test]
fn a_change_of_many_entries_waits_for_the_writer_thread() {
    let world = world(&["refint_attributes member"]);
    for number in 0..70 {
        group(
            &world,
            &format!("g{number}"),
            &[("member", JOHN), ("member", JANE)],
        );
    }
    let delete = |dn: &str| {
        let request = Request::Delete(DeleteRequest { dn: dn.as_bytes() });
        [write_request(&world.root(), &pdu(&request, &[]))]
    };
    assert_eq!(world.directory.apply_at_once(&delete(JOHN)), None);
    assert_eq!(world.read(GROUP, &["member"]).get("member"), [JANE, JOHN]);
    assert_ok(&world.directory.apply(&delete(JOHN))[0].result);
    assert_eq!(
        world.names(&format!("(member={JOHN})")),
        Vec::<String>::new()
    );
    let few = delete("cn=g1,dc=example,dc=com");
    assert!(world.directory.apply_at_once(&few).is_some());
}

/// An entry of the model: the values of the three attributes, and the last author.
#[derive(Clone, Debug, Default, PartialEq)]
struct ModelEntry {
    values: [Vec<String>; 3],
    by: &'static str,
}

/// The model: groups by name. Each of them may have entries below it.
#[derive(Default)]
struct Model {
    entries: BTreeMap<String, ModelEntry>,
    nothing: Option<&'static str>,
}

fn is_below(dn: &str, base: &str) -> bool {
    dn.strip_suffix(base)
        .is_some_and(|rest| rest.ends_with(','))
}

impl Model {
    fn has_children(&self, dn: &str) -> bool {
        self.entries.keys().any(|other| is_below(other, dn))
    }

    /// Renames an entry with all below it, or deletes it, and changes the values.
    fn rename(&mut self, old: &str, new: Option<&str>) {
        let subtree = self.has_children(old);
        let moved = |name: &str| {
            let front = name.strip_suffix(old);
            front.and_then(|front| new.map(|new| format!("{front}{new}")))
        };
        let affected = |name: &str| name == old || subtree && is_below(name, old);
        let entries = std::mem::take(&mut self.entries);
        for (name, mut entry) in entries {
            let own = name == old;
            let name = if own || is_below(&name, old) {
                moved(&name)
            } else {
                Some(name)
            };
            let Some(name) = name else { continue };
            if own {
                entry.by = ROOT;
            }
            entry = self.followed(entry, &affected, &moved);
            self.entries.insert(name, entry);
        }
    }

    /// Returns an entry with its values changed, or unchanged if it may not be so.
    fn followed(
        &self,
        before: ModelEntry,
        affected: &dyn Fn(&str) -> bool,
        moved: &dyn Fn(&str) -> Option<String>,
    ) -> ModelEntry {
        let mut after = before.clone();
        for (at, values) in after.values.iter_mut().enumerate() {
            let (gone, mut kept): (Vec<String>, Vec<String>) =
                values.drain(..).partition(|value| affected(value));
            let mut come: Vec<String> = gone.iter().filter_map(|value| moved(value)).collect();
            if !gone.is_empty() && kept.is_empty() && come.is_empty() {
                come.extend(self.nothing.map(str::to_owned));
            }
            if !gone.is_empty() {
                after.by = REFINT;
            }
            for value in come {
                if kept.contains(&value) {
                    return before;
                }
                kept.push(value);
            }
            if at == 0 && kept.is_empty() {
                return before;
            }
            *values = kept;
        }
        after
    }
}

/// Returns some names, of entries or of nothing, each once.
fn some_names(random: &mut Random, model: &Model, count_max: usize) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for _ in 0..random.below(count_max + 1) {
        let known: Vec<&String> = model.entries.keys().collect();
        let name = match random.below(4) {
            0 => format!("cn=n{},{TOP}", random.below(8)),
            1 if !known.is_empty() => format!("cn=n{},{}", random.below(8), random.pick(&known)),
            _ if known.is_empty() => TOP.to_owned(),
            _ => (*random.pick(&known)).clone(),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Makes a random update in the world and in the model.
fn step(world: &World, model: &mut Model, random: &mut Random) -> String {
    let root = world.root();
    let known: Vec<String> = model.entries.keys().cloned().collect();
    let parents: Vec<String> = known.iter().cloned().chain([TOP.to_owned()]).collect();
    let rdn = format!("cn=n{}", random.below(8));
    let entry = known.get(random.below(known.len().max(1))).cloned();
    let choice = random.below(10);
    match entry {
        Some(dn) if choice < 3 => {
            let at = random.below(3);
            let mut values = some_names(random, model, 4);
            if values.is_empty() && at == 0 {
                values.push(TOP.to_owned());
            }
            let texts: Vec<&str> = values.iter().map(String::as_str).collect();
            let changes = [(Replace, ATTRIBUTES[at], texts.as_slice())];
            assert_ok(&world.modify(&root, &dn, &changes));
            let entry = model.entries.get_mut(&dn).expect("known");
            (entry.values[at], entry.by) = (values, ROOT);
            format!("modify {dn}")
        }
        Some(dn) if choice < 5 => {
            let refused = model.has_children(&dn);
            let result = world.delete(&root, &dn);
            assert_eq!(result.is_success(), !refused, "{dn}");
            if !refused {
                model.rename(&dn, None);
            }
            format!("delete {dn}: {result:?}")
        }
        Some(dn) if choice < 8 => {
            let superior = random.chance(50).then(|| random.pick(&parents).clone());
            let parent = dn.split_once(',').expect("two RDNs").1.to_owned();
            let new = format!("{rdn},{}", superior.as_ref().unwrap_or(&parent));
            let inside = superior
                .as_ref()
                .is_some_and(|to| *to == dn || is_below(to, &dn));
            let above = is_below(&dn, &new);
            let refused = inside || above || new != dn && model.entries.contains_key(&new);
            let result = rename(world, &dn, &rdn, superior.as_deref());
            assert_eq!(result.is_success(), !refused, "{dn} to {new}: {result:?}");
            if !refused {
                model.rename(&dn, Some(&new));
            }
            format!("rename {dn} to {new}: {result:?}")
        }
        _ => {
            let dn = format!("{rdn},{}", random.pick(&parents));
            if model.entries.contains_key(&dn) {
                return format!("{dn} exists");
            }
            let mut values = [4, 1, 2].map(|count| some_names(random, model, count));
            if values[0].is_empty() {
                values[0].push(dn.clone());
            }
            let mut attributes = vec![("objectClass", "groupOfNames")];
            for (name, values) in ATTRIBUTES.iter().zip(&values) {
                attributes.extend(values.iter().map(|value| (*name, value.as_str())));
            }
            assert_ok(&world.add(&root, &dn, &attributes));
            model
                .entries
                .insert(dn.clone(), ModelEntry { values, by: ROOT });
            format!("add {dn}")
        }
    }
}

fn assert_like_model(world: &World, model: &Model, context: &str) {
    for (dn, expected) in &model.entries {
        let read: EntryText = world.read(dn, &["member", "owner", "seeAlso", "modifiersName"]);
        let values = ATTRIBUTES.map(|name| read.get(name).into_iter().map(str::to_owned).collect());
        let found: [Vec<String>; 3] = values;
        assert_eq!(found, expected.values, "{context}\n{dn}");
        assert_eq!(read.get("modifiersName"), [expected.by], "{context}\n{dn}");
    }
    let names = world.names("(objectClass=groupOfNames)");
    assert_eq!(names.len(), model.entries.len(), "{context}");
}

#[test]
fn random_histories_agree_with_a_model_of_references() {
    let seed = seed("refint_model", 0x7265_0001);
    let mut random = Random::new(seed);
    for history in 0..quick_or_long(8, 80) {
        let nothing = random.chance(50).then_some("cn=none");
        let mut lines = vec![
            "refint_attributes member~owner",
            "refint_attributes seeAlso",
        ];
        lines.extend(nothing.map(|_| "refint_nothing cn=none"));
        let world = empty(&lines, random.chance(60).then_some(2));
        world.load(&format!("dn: {TOP}\nobjectClass: domain\ndc: example\n"));
        let mut model = Model {
            nothing,
            ..Model::default()
        };
        let mut deeds = Vec::new();
        for _ in 0..120 {
            deeds.push(step(&world, &mut model, &mut random));
            let last = deeds
                .iter()
                .rev()
                .take(3)
                .cloned()
                .collect::<Vec<_>>()
                .join("\n");
            let context = format!(
                "seed {seed}, history {history}, step {}: {last}",
                deeds.len()
            );
            assert_like_model(&world, &model, &context);
        }
        let report = fulgurite_store::verify(&world.store.snapshot().expect("a view"));
        let report = report.expect("a report");
        assert!(
            report.is_clean(),
            "seed {seed}, history {history}: {report:?}"
        );
        assert!(
            model.entries.len() > 1,
            "seed {seed}: histories add entries"
        );
    }
}
