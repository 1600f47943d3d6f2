//! Overlays that refuse updates: `unique` and `constraint`. The texts are slapd's.

use std::collections::{BTreeMap, BTreeSet};

use ModifyOperation::{Add, Delete, Increment, Replace};
use fulgurite_directory::{OverlayLine, OverlaySettings, RuleText, Sourced, WriteRequest};
use fulgurite_ldap::{Control, LdapResult, ModifyOperation, Request, ResultCode, oid};
use fulgurite_policy::{Origin, find_overlay};
use fulgurite_schema::Dn;
use fulgurite_store::Durability;
use fulgurite_testkit::{Random, quick_or_long, seed};

use crate::support::{
    JANE, JOHN, PEOPLE, TOP, World, add_pdu, decode, modify_pdu, pdu, write_request,
};

/// Returns the settings of an overlay from lines: a keyword, and arguments divided by `~`.
pub(crate) fn overlay(name: &str, lines: &[&str]) -> OverlaySettings {
    let mut settings = OverlaySettings::new(name, Origin::Default);
    for line in lines {
        let (keyword, arguments) = line.split_once(' ').unwrap_or((line, ""));
        let directive = find_overlay(name).and_then(|row| row.directive(keyword));
        settings.lines.push(Sourced::by_default(OverlayLine {
            directive: directive.expect(keyword),
            arguments: arguments.split('~').map(str::to_owned).collect(),
        }));
    }
    settings
}

/// Returns the example with overlays that have not seen its entries.
fn world(overlays: &[OverlaySettings]) -> World {
    let mut world = World::new();
    world.reopen(|options| options.databases[0].overlays = overlays.to_vec());
    world
}

fn unique(uris: &[&str]) -> World {
    let lines: Vec<String> = uris.iter().map(|uri| format!("unique_uri {uri}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    world(&[overlay("unique", &lines)])
}

fn constraint(rules: &[&str]) -> World {
    let lines: Vec<String> = rules
        .iter()
        .map(|rule| format!("constraint_attribute {rule}"))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    world(&[overlay("constraint", &lines)])
}

/// Adds a person below `ou=people`, with more attributes.
fn add(world: &World, uid: &str, more: &[(&str, &str)]) -> LdapResult {
    let dn = format!("uid={uid},{PEOPLE}");
    world.add(&world.root(), &dn, &person(uid, more))
}

fn person<'p>(uid: &'p str, more: &[(&'p str, &'p str)]) -> Vec<(&'p str, &'p str)> {
    let mut attributes = vec![
        ("objectClass", "inetOrgPerson"),
        ("uid", uid),
        ("cn", "Some One"),
        ("sn", "One"),
    ];
    attributes.extend(more);
    attributes
}

fn modify(world: &World, dn: &str, changes: &[(ModifyOperation, &str, &[&str])]) -> LdapResult {
    world.modify(&world.root(), dn, changes)
}

#[track_caller]
fn assert_not_unique(result: &LdapResult, filter: &str) {
    let text = format!("non-unique attributes found with {filter}");
    assert_eq!(
        (result.code, result.diagnostic.as_str()),
        (ResultCode::ConstraintViolation, text.as_str())
    );
}

#[track_caller]
fn assert_breaks(result: &LdapResult, text: &str) {
    assert_eq!(
        (result.code, result.diagnostic.as_str()),
        (ResultCode::ConstraintViolation, text)
    );
}

#[track_caller]
fn assert_ok(result: &LdapResult) {
    assert_eq!(*result, LdapResult::success());
}

#[test]
fn a_value_of_another_entry_is_refused_with_the_filter_that_found_it() {
    let world = unique(&["ldap:///?mail,uid,cn,uidNumber,description?sub"]);
    assert_not_unique(
        &add(
            &world,
            "new",
            &[
                ("mail", "JANE@example.com"),
                ("description", "tä*(\\)\u{7f}"),
            ],
        ),
        "(|(uid=new)(cn=Some One)(mail=JANE@example.com)(description=t\\C3\\A4\\2A\\28\\5C\\29\\7F))",
    );
    assert_not_unique(
        &modify(
            &world,
            JOHN,
            &[
                (Add, "mail", &["x@example.com", "jane@EXAMPLE.com"]),
                (Replace, "cn", &["Q"]),
                (Delete, "description", &["second of two"]),
            ],
        ),
        "(|(mail=x@example.com)(mail=jane@EXAMPLE.com)(cn=Q))",
    );
    let root = world.root();
    assert_not_unique(
        &world.rename(&root, JOHN, "uid=JANE+mail=q@x", false, None),
        "(|(mail=q@x)(uid=JANE))",
    );
    // The entry itself does not count, nor do values of other descriptions and deleted ones.
    assert_ok(&modify(
        &world,
        JANE,
        &[(Replace, "mail", &["JANE@example.com"])],
    ));
    let german = [(Add, "mail;lang-de", &["jane@example.com"][..])];
    assert_ok(&modify(&world, JOHN, &german));
    assert_ok(&modify(&world, JOHN, &[(Delete, "mail;lang-de", &[])]));
    assert_ok(&world.rename(&root, JOHN, "uid=john2", false, None));
    let john = format!("uid=john2,{PEOPLE}");
    assert_ok(&world.rename(&root, &john, "uid=john", true, None));
    assert_ok(&modify(&world, JANE, &[(Delete, "mail", &[])]));
    assert_ok(&modify(
        &world,
        JOHN,
        &[(Add, "mail", &["jane@example.com"])],
    ));
}

#[test]
fn the_sum_of_an_increment_must_be_unique() {
    let world = unique(&["ldap:///?uidNumber?sub"]);
    let account = [
        ("objectClass", "posixAccount"),
        ("uidNumber", "999"),
        ("gidNumber", "1"),
        ("homeDirectory", "/"),
    ];
    assert_ok(&add(&world, "acc", &account));
    let dn = format!("uid=acc,{PEOPLE}");
    assert_not_unique(
        &modify(&world, &dn, &[(Increment, "uidNumber", &["1"])]),
        "(|(uidNumber=1000))",
    );
    assert_ok(&modify(&world, &dn, &[(Increment, "uidNumber", &["2"])]));
}

#[test]
fn domains_have_bases_scopes_filters_and_exceptions() {
    let world = unique(&[
        "ldap:///ou=people,dc=example,dc=com?title?one",
        "strict ldap:///?roomNumber?sub?(OBJECTCLASS=posixAccount)",
        "serialize ignore ldap:///?objectClass,cn,sn,uid,title,roomNumber,ou,member?sub",
    ]);
    let outside = "uid=out,dc=example,dc=com";
    let root = world.root();
    assert_ok(&world.add(&root, outside, &person("out", &[("title", "boss")])));
    assert_ok(&add(&world, "a", &[("title", "boss")]));
    assert_not_unique(&add(&world, "b", &[("title", "Boss")]), "(|(title=Boss))");
    // An entry below the base is tested whatever its depth, one elsewhere is not.
    let deep = format!("uid=deep,uid=a,{PEOPLE}");
    let result = world.add(&root, &deep, &person("deep", &[("title", "boss")]));
    assert_not_unique(&result, "(|(title=boss))");
    assert_ok(&modify(&world, outside, &[(Replace, "title", &["boss"])]));
    // The new superior counts, with the values of the RDN.
    assert_ok(&world.rename(&root, outside, "title=boss", false, None));
    let boss = "title=boss,dc=example,dc=com";
    let moved = world.rename(&root, boss, "title=boss", false, Some(PEOPLE));
    assert_not_unique(&moved, "(|(title=boss))");
    // The filter is about found entries, and exempts new ones.
    assert_ok(&modify(&world, JANE, &[(Replace, "roomNumber", &["7"])]));
    assert_ok(&add(&world, "c", &[("roomNumber", "7")]));
    assert_not_unique(
        &modify(&world, JOHN, &[(Replace, "roomNumber", &["7"])]),
        "(&(objectClass=posixAccount)(|(roomNumber=7)))",
    );
    assert_not_unique(
        &modify(&world, JOHN, &[(Replace, "roomNumber", &[])]),
        "(&(objectClass=posixAccount)(|(roomNumber=*)))",
    );
    // All attributes but the named ones.
    assert_not_unique(
        &modify(
            &world,
            JOHN,
            &[
                (Add, "givenName", &["J"]),
                (Add, "mail", &["jane@example.com"]),
            ],
        ),
        "(|(givenName=J)(mail=jane@example.com))",
    );
    assert_ok(&add(&world, "d", &[]));
}

#[test]
fn older_directives_are_one_domain() {
    let lines = [
        "unique_base ou=people,dc=example,dc=com",
        "unique_attributes mail~title",
    ];
    let world = world(&[overlay("unique", &lines)]);
    assert_not_unique(
        &add(&world, "a", &[("mail", "jane@example.com"), ("title", "x")]),
        "(|(mail=jane@example.com)(title=x))",
    );
    let outside = "uid=out,dc=example,dc=com";
    let more = [("mail", "jane@example.com")];
    assert_ok(&world.add(&world.root(), outside, &person("out", &more)));
}

#[test]
fn the_relax_control_needs_the_right_to_manage() {
    let rules = "to * by dn.exact=\"uid=john,ou=people,dc=example,dc=com\" manage by users write";
    let world = World::with(|options| {
        options.databases[0].overlays = vec![overlay("unique", &["unique_uri ldap:///?mail?sub"])];
        options.access = vec![RuleText::from(rules.to_owned())];
    });
    let update = |user: &str, control: &'static str| {
        let change = modify_pdu(JOHN, &[(Replace, "mail", &["jane@example.com"])]);
        let message = decode(&change);
        let Request::Modify(request) = &message.request else {
            unreachable!("a modify was encoded")
        };
        let control = Control {
            oid: control.as_bytes(),
            critical: true,
            value: None,
        };
        let bytes = pdu(&Request::Modify(request.clone()), &[control]);
        world.write(&world.user(user), &bytes)
    };
    assert_not_unique(
        &update(JOHN, oid::MANAGE_DSA_IT),
        "(|(mail=jane@example.com))",
    );
    assert_not_unique(&update(JANE, oid::RELAX), "(|(mail=jane@example.com))");
    assert_ok(&update(JOHN, oid::RELAX));
}

#[test]
fn updates_of_one_batch_see_each_other() {
    for uri in ["ldap:///?mail?sub", "ldap:///?roomNumber?sub"] {
        let world = unique(&[uri]);
        let attribute = if uri.contains("mail") {
            "mail"
        } else {
            "roomNumber"
        };
        let dns = ["a", "b"].map(|uid| format!("uid={uid},{PEOPLE}"));
        let adds: Vec<WriteRequest> = ["a", "b"]
            .iter()
            .zip(&dns)
            .map(|(uid, dn)| {
                let attributes = person(uid, &[(attribute, "same")]);
                write_request(&world.root(), &add_pdu(dn, &attributes))
            })
            .collect();
        let replies = world.directory.apply(&adds);
        assert_eq!(replies[0].result, LdapResult::success());
        assert_not_unique(&replies[1].result, &format!("(|({attribute}=same))"));
    }
}

#[test]
fn a_check_without_an_index_waits_for_the_writer_thread() {
    let world = World::empty_with_store(
        |options| {
            let lines = ["unique_uri ldap:///?roomNumber,mail?sub"];
            options.databases[0].overlays = vec![overlay("unique", &lines)];
        },
        |store| store.durability = Some(Durability::NoSync),
    );
    world.load_example();
    for number in 0..80 {
        let uid = format!("u{number}");
        let mail = format!("{number}@example.com");
        assert_ok(&add(&world, &uid, &[("mail", &mail), ("roomNumber", &uid)]));
    }
    let change = |attribute: &str, value: &str| {
        let bytes = modify_pdu(JOHN, &[(Replace, attribute, &[value])]);
        [write_request(&world.root(), &bytes)]
    };
    let unindexed = change("roomNumber", "free");
    assert_eq!(world.directory.apply_at_once(&unindexed), None);
    let replies = world.directory.apply(&unindexed);
    assert_eq!(replies[0].result, LdapResult::success());
    let indexed = change("mail", "7@example.com");
    let replies = world
        .directory
        .apply_at_once(&indexed)
        .expect("a look-up is short");
    assert_not_unique(&replies[0].result, "(|(mail=7@example.com))");
}

/// The values of an entry that the model knows.
#[derive(Clone, Default)]
struct ModelEntry {
    mail: BTreeSet<String>,
    room: BTreeSet<String>,
}

/// The model of two unique attributes among entries by uid.
#[derive(Default)]
struct Model {
    entries: BTreeMap<String, ModelEntry>,
}

impl Model {
    /// Returns true if another entry has one of these values.
    fn is_taken(&self, uid: &str, mail: &[String], room: &[String]) -> bool {
        let mut others = self.entries.iter().filter(|(other, _)| *other != uid);
        others.any(|(_, entry)| {
            let has = |held: &BTreeSet<String>, new: &[String]| {
                new.iter().any(|value| held.contains(&value.to_lowercase()))
            };
            has(&entry.mail, mail) || has(&entry.room, room)
        })
    }
}

/// Values of one attribute, none twice in any case of letters.
fn values(random: &mut Random, prefix: &str) -> Vec<String> {
    let count = random.below(3);
    let mut values: Vec<String> = Vec::new();
    for _ in 0..count {
        let value = format!("{prefix}{}", random.below(12));
        if !values.iter().any(|held| held.eq_ignore_ascii_case(&value)) {
            values.push(if random.chance(30) {
                value.to_uppercase()
            } else {
                value
            });
        }
    }
    values
}

#[test]
fn random_histories_agree_with_a_model_of_unique_values() {
    let seed = seed("unique_model", 0x7569_0001);
    let mut random = Random::new(seed);
    for history in 0..quick_or_long(6, 60) {
        // `mail` has an index, and `roomNumber` has none.
        let world = unique(&["ldap:///?mail,roomNumber?sub"]);
        let mut model = Model::default();
        model.entries.insert(
            "jane".to_owned(),
            ModelEntry {
                mail: BTreeSet::from(["jane@example.com".to_owned()]),
                ..ModelEntry::default()
            },
        );
        model
            .entries
            .insert("john".to_owned(), ModelEntry::default());
        for step in 0..150 {
            let uid = format!("u{}", random.below(8));
            let (mail, room) = (values(&mut random, "m"), values(&mut random, "r"));
            let (result, expected) = one_step(&world, &mut model, &mut random, (&uid, mail, room));
            assert_eq!(
                result.code, expected,
                "seed {seed}, history {history}, step {step}: {result:?}"
            );
        }
        let refusals = model.entries.len();
        assert!(refusals > 2, "seed {seed}: histories add entries");
    }
}

/// Makes a random update in the world and in the model. Returns the result and the expected code.
fn one_step(
    world: &World,
    model: &mut Model,
    random: &mut Random,
    (uid, mail, room): (&str, Vec<String>, Vec<String>),
) -> (LdapResult, ResultCode) {
    let (root, dn) = (world.root(), format!("uid={uid},{PEOPLE}"));
    let exists = model.entries.contains_key(uid);
    let lower = |values: &[String]| values.iter().map(|value| value.to_lowercase()).collect();
    let taken = model.is_taken(uid, &mail, &room);
    let pairs = |name: &'static str, values: &[String]| -> Vec<(&'static str, String)> {
        values.iter().map(|value| (name, value.clone())).collect()
    };
    if !exists {
        let given = [pairs("mail", &mail), pairs("roomNumber", &room)].concat();
        let given: Vec<(&str, &str)> = given.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let result = world.add(&root, &dn, &person(uid, &given));
        if taken {
            return (result, ResultCode::ConstraintViolation);
        }
        let entry = ModelEntry {
            mail: lower(&mail),
            room: lower(&room),
        };
        model.entries.insert(uid.to_owned(), entry);
        return (result, ResultCode::Success);
    }
    if random.chance(15) {
        model.entries.remove(uid);
        return (world.delete(&root, &dn), ResultCode::Success);
    }
    let texts = |values: &[String]| -> Vec<String> { values.to_vec() };
    let (mail_values, room_values) = (texts(&mail), texts(&room));
    let mails: Vec<&str> = mail_values.iter().map(String::as_str).collect();
    let rooms: Vec<&str> = room_values.iter().map(String::as_str).collect();
    let changes = [
        (Replace, "mail", mails.as_slice()),
        (Replace, "roomNumber", rooms.as_slice()),
    ];
    let result = modify(world, &dn, &changes);
    if taken {
        return (result, ResultCode::ConstraintViolation);
    }
    let entry = ModelEntry {
        mail: lower(&mail),
        room: lower(&room),
    };
    model.entries.insert(uid.to_owned(), entry);
    (result, ResultCode::Success)
}

#[test]
fn rules_check_added_and_replaced_values() {
    let world = constraint(&[
        "mail~regex~^[a-z]+@example.com$",
        "uid~negregex~^z",
        "title,description~size~4",
        "street~count~1",
        "employeeType~count~0",
        "pager~size~-1",
    ]);
    let broken = |result: &LdapResult, attribute: &str| {
        assert_breaks(result, &format!("modify breaks constraint on {attribute}"));
    };
    assert_breaks(
        &add(&world, "a", &[("mail", "BAD@example.com")]),
        "add breaks constraint on mail",
    );
    assert_breaks(&add(&world, "z", &[]), "add breaks constraint on uid");
    let refused: [(&str, &[&str]); 4] = [
        ("mail", &["ok@example.com", "FOO@example.com"]),
        ("description", &["äöü"]),
        ("street", &["a", "b"]),
        ("employeeType", &["x"]),
    ];
    for (attribute, values) in refused {
        broken(
            &modify(&world, JOHN, &[(Replace, attribute, values)]),
            attribute,
        );
    }
    let accepted: [(&str, &[&str]); 5] = [
        ("mail", &["ok@example.com"]),
        ("description", &["äö"]),
        ("street", &["a"]),
        ("street;lang-de", &["a", "b"]),
        ("pager", &["1234567"]),
    ];
    for (attribute, values) in accepted {
        assert_ok(&modify(&world, JOHN, &[(Replace, attribute, values)]));
    }
    broken(&modify(&world, JOHN, &[(Add, "street", &["b"])]), "street");
    assert_ok(&modify(
        &world,
        JOHN,
        &[(Add, "street", &["b"]), (Delete, "street", &["a"])],
    ));
    broken(
        &world.rename(&world.root(), JOHN, "uid=zed", false, None),
        "uid",
    );
    broken(
        &world.rename(&world.root(), JOHN, "street=c", false, None),
        "street",
    );
    broken(
        &world.rename(&world.root(), JOHN, "mail=BAD+uid=zed", false, None),
        "uid",
    );
    assert_ok(&world.rename(&world.root(), JOHN, "street=b", false, None));
}

#[test]
fn an_attribute_with_too_many_values_stops_no_other_change() {
    let mut world = World::new();
    assert_ok(&modify(&world, JOHN, &[(Replace, "title", &["a", "b"])]));
    world.reopen(|options| {
        let rules = ["constraint_attribute title~count~1"];
        options.databases[0].overlays = vec![overlay("constraint", &rules)];
    });
    assert_ok(&modify(&world, JOHN, &[(Replace, "description", &["x"])]));
    assert_breaks(
        &modify(&world, JOHN, &[(Replace, "title", &["a", "c"])]),
        "modify breaks constraint on title",
    );
    assert_ok(&world.rename(&world.root(), JOHN, "uid=other", true, None));
}

#[test]
fn deleted_values_count_only_for_the_number_of_those_left() {
    let mut world = World::new();
    let titles: [&str; 4] = ["one", "two", "three", "four"];
    assert_ok(&modify(&world, JOHN, &[(Replace, "title", &titles)]));
    let rules = [
        "constraint_attribute title~count~2",
        "constraint_attribute title~regex~^x",
    ];
    world.reopen(|options| {
        options.databases[0].overlays = vec![overlay("constraint", &rules)];
    });
    assert_breaks(
        &modify(&world, JOHN, &[(Delete, "title", &["one"])]),
        "modify breaks constraint on title",
    );
    assert_ok(&modify(&world, JOHN, &[(Delete, "title", &["one", "two"])]));
    assert_ok(&modify(&world, JOHN, &[(Delete, "title", &[])]));
}

#[test]
fn a_large_attribute_is_counted_as_a_whole() {
    let world = constraint(&["description~count~1000"]);
    let many: Vec<String> = (0..1000)
        .map(|number| format!("value {number:0>40}"))
        .collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_ok(&modify(&world, JOHN, &[(Replace, "description", &many)]));
    assert_breaks(
        &modify(&world, JOHN, &[(Add, "description", &["one more"])]),
        "modify breaks constraint on description",
    );
}

#[test]
fn negated_sets_and_lists_forbid() {
    let world = constraint(&[
        "cn~negset~this/cn & [ann]",
        "l~neguri~ldap:///ou=people,dc=example,dc=com?sn?one?(objectClass=person)",
    ]);
    assert_ok(&modify(&world, JANE, &[(Add, "l", &["nobody"])]));
    assert_breaks(
        &modify(&world, JANE, &[(Add, "l", &["doe"])]),
        "modify breaks constraint on l",
    );
    assert_ok(&add(&world, "a", &[]));
    let result = add(&world, "b", &[("cn", "Ann")]);
    assert_breaks(&result, "add breaks constraint on cn");
    let result = modify(&world, JANE, &[(Add, "cn", &["ann"])]);
    assert_breaks(&result, "modify breaks constraint on cn");
}

#[test]
fn lists_sets_and_restrictions() {
    let world = constraint(&[
        "l~uri~ldap:///ou=people,dc=example,dc=com?sn,cn?one?(objectClass=person)",
        "cn~set~(this/cn & [ann]) | (this/sn & [x]) | (this/uid & [jane])",
        "o~size~3~restrict=ldap:///ou=people,dc=example,dc=com??one?(givenName=g)",
    ]);
    let change = |changes: &[(ModifyOperation, &str, &[&str])]| modify(&world, JANE, changes);
    assert_ok(&change(&[(Replace, "l", &["DOE", "john roe"])]));
    assert_breaks(
        &change(&[(Replace, "l", &["DOE", "nobody"])]),
        "modify breaks constraint on l",
    );
    assert_breaks(&add(&world, "a", &[]), "add breaks constraint on cn");
    assert_ok(&add(&world, "b", &[("cn", "ANN")]));
    let b = format!("uid=b,{PEOPLE}");
    let result = modify(&world, &b, &[(Replace, "cn", &["other"])]);
    assert_breaks(&result, "modify breaks constraint on cn");
    let both: [(ModifyOperation, &str, &[&str]); 2] =
        [(Replace, "cn", &["other"]), (Replace, "sn", &["X"])];
    assert_ok(&modify(&world, &b, &both));
    // The entry before the update decides about a restriction.
    let long: (ModifyOperation, &str, &[&str]) = (Replace, "o", &["toolong"]);
    assert_ok(&change(&[long, (Add, "givenName", &["g"])]));
    assert_breaks(&change(&[long]), "modify breaks constraint on o");
    let more = [("cn", "ann"), ("o", "toolong"), ("givenName", "g")];
    assert_breaks(&add(&world, "c", &more), "add breaks constraint on o");
    let outside = format!("uid=c,{TOP}");
    assert_ok(&world.add(&world.root(), &outside, &person("c", &more)));
}

#[test]
fn a_list_of_names_has_the_entries_below_its_base() {
    let list = "uri~ldap:///ou=people,dc=example,dc=com?entryDN?one?(objectClass=person)";
    let world = constraint(&[&format!("manager~{list}"), &format!("seeAlso,o~{list}")]);
    let change = |name: &str, value: &str| modify(&world, JANE, &[(Replace, name, &[value])]);
    assert_ok(&change("manager", "UID=John, ou=people,dc=example,dc=com"));
    let text = "modify breaks constraint on manager";
    assert_breaks(&change("manager", PEOPLE), text);
    assert_breaks(&change("manager", &format!("uid=missing,{PEOPLE}")), text);
    assert_ok(&change("seeAlso", JANE));
    assert_breaks(&change("o", "John"), "modify breaks constraint on o");
    assert_ok(&add(&world, "m", &[("manager", JOHN)]));
}

#[test]
fn the_guard_configured_last_refuses_first() {
    let rules = overlay("constraint", &["constraint_attribute mail~regex~^x"]);
    let domains = overlay("unique", &["unique_uri ldap:///?mail?sub"]);
    let change: [(ModifyOperation, &str, &[&str]); 1] = [(Replace, "mail", &["jane@example.com"])];
    let mut world = World::new();
    let mut text = |overlays: Vec<OverlaySettings>| {
        world.reopen(|options| options.databases[0].overlays = overlays);
        modify(&world, JOHN, &change).diagnostic
    };
    assert_eq!(
        text(vec![domains.clone(), rules.clone()]),
        "modify breaks constraint on mail"
    );
    assert_eq!(
        text(vec![rules, domains]),
        "non-unique attributes found with (|(mail=jane@example.com))"
    );
}

#[test]
fn stored_values_that_an_overlay_would_refuse_are_reported() {
    let mut world = World::new();
    assert_ok(&add(&world, "one", &[("mail", "same@example.com")]));
    let two = [("mail", "SAME@example.com"), ("carLicense", "long")];
    assert_ok(&add(&world, "two", &two));
    assert_ok(&add(&world, "three", &[("mail", "other@example.com")]));
    world.reopen(|options| {
        options.databases[0].overlays = vec![
            overlay("unique", &["unique_uri ldap:///?mail?sub"]),
            overlay("constraint", &["constraint_attribute carLicense~size~3"]),
        ];
    });
    let mut found = Vec::new();
    let mut report = |dn: &Dn, reason: &str| found.push(format!("{}: {reason}", dn.pretty()));
    let count = world.directory.check_by_overlays(&mut report);
    assert_eq!(count.expect("a check"), 3);
    found.sort();
    let not_unique = "non-unique attributes found with";
    assert_eq!(
        found,
        [
            format!("uid=one,{PEOPLE}: {not_unique} (|(mail=same@example.com))"),
            format!("uid=two,{PEOPLE}: {not_unique} (|(mail=SAME@example.com))"),
            format!("uid=two,{PEOPLE}: the entry breaks constraint on carLicense"),
        ]
    );
    // The check leaves the writer free.
    assert_ok(&add(&world, "four", &[]));
}
