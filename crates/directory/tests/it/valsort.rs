//! The overlay `valsort`: the order of values in answers, and weights. The texts are slapd's.

use ModifyOperation::{Add, Delete, Replace};
use fulgurite_directory::{RuleText, Session};
use fulgurite_ldap::control::ValueOrderRequest;
use fulgurite_ldap::{LdapResult, ModifyOperation, ResultCode, Scope, oid};

use crate::guards::overlay;
use crate::support::{JANE, JOHN, PEOPLE, TOP, World, asked};

/// Returns the example whose persons have ordered values.
fn world(rules: &[&str]) -> World {
    let mut world = World::new();
    let values: [(ModifyOperation, &str, &[&str]); 3] = [
        (
            Replace,
            "title",
            &["{2}two", "{1}one", "{10}ten", "{1}a one"],
        ),
        (Replace, "description", &["beta", "Alpha", "ZETA"]),
        (Replace, "mail", &["b@x", "a@x"]),
    ];
    assert_ok(&world.modify(&world.root(), JANE, &values));
    let lines: Vec<String> = rules
        .iter()
        .map(|rule| format!("valsort-attr {}", rule.replace(' ', "~")))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let overlays = [overlay("valsort", &lines)];
    world.reopen(|options| options.databases[0].overlays = overlays.to_vec());
    world
}

fn assert_ok(result: &LdapResult) {
    assert_eq!(*result, LdapResult::success());
}

#[track_caller]
fn assert_refused(result: &LdapResult, text: &str) {
    let expected = (ResultCode::ConstraintViolation, text);
    assert_eq!((result.code, result.diagnostic.as_str()), expected);
}

/// Returns the values of an attribute of Jane, in the order of the answer.
fn values(world: &World, attribute: &str) -> Vec<String> {
    let entry = world.read(JANE, &[attribute]);
    entry
        .get(attribute)
        .into_iter()
        .map(str::to_owned)
        .collect()
}

const PEOPLE_RULES: [&str; 3] = [
    "title ou=people,dc=example,dc=com weighted",
    "description OU=People,dc=example,dc=com alpha-ascend",
    "mail dc=example,dc=com Alpha-Descend",
];

#[test]
fn values_come_in_the_order_of_the_directives() {
    let world = world(&PEOPLE_RULES);
    assert_eq!(values(&world, "title"), ["one", "a one", "two", "ten"]);
    assert_eq!(values(&world, "description"), ["Alpha", "beta", "ZETA"]);
    assert_eq!(values(&world, "mail"), ["b@x", "a@x"]);
    let whole = world.read(JANE, &["*", "+"]);
    assert_eq!(whole.get("title"), ["one", "a one", "two", "ten"]);
    assert_eq!(whole.get("cn"), ["Jane Doe"]);
    assert_eq!(whole.get("entryDN"), [JANE]);
    // Other entries and filters are about what is stored.
    assert_eq!(world.names("(title={1}one)"), [JANE]);
    assert!(world.names("(title=one)").is_empty());
    assert_eq!(
        world.compare(&world.root(), JANE, "title", "{1}one").code,
        ResultCode::CompareTrue
    );
    let title: [(ModifyOperation, &str, &[&str]); 1] = [(Add, "description", &["z", "a"])];
    assert_ok(&world.modify(&world.root(), TOP, &title));
    let top = world.read(TOP, &["description"]);
    assert_eq!(
        top.get("description"),
        ["z", "a"],
        "an entry above the base"
    );
}

#[test]
fn orders_apply_one_after_another_and_secondary_orders_settle_ties() {
    let world = world(&[
        "title ou=people,dc=example,dc=com weighted alpha-ascend",
        "description dc=example,dc=com alpha-ascend",
        "description dc=example,dc=com alpha-descend",
    ]);
    assert_eq!(values(&world, "title"), ["a one", "one", "two", "ten"]);
    assert_eq!(values(&world, "description"), ["ZETA", "beta", "Alpha"]);
}

#[test]
fn the_control_asks_for_stored_values() {
    let world = world(&PEOPLE_RULES);
    let with = |value: Vec<u8>| {
        let mut asked = asked(JANE, Scope::Base, "(objectClass=*)", &["title"]);
        asked.controls = vec![(oid::VALUE_ORDER, true, Some(value))];
        world.search(&world.root(), &asked)
    };
    let stored = with(ValueOrderRequest { stored: true }.encode());
    let expected = ["{2}two", "{1}one", "{10}ten", "{1}a one"];
    assert_eq!(stored.entries[0].get("title"), expected);
    let shown = with(ValueOrderRequest { stored: false }.encode());
    assert_eq!(
        shown.entries[0].get("title"),
        ["one", "a one", "two", "ten"]
    );
    let wrong = with(b"\x00".to_vec()).result;
    assert_eq!(wrong.code, ResultCode::ProtocolError);
    assert_eq!(wrong.diagnostic, "valSort control: flag decoding error");
}

#[test]
fn updates_need_weights() {
    let world = world(&PEOPLE_RULES);
    let modify = |dn: &str, operation, attribute: &str, values: &[&str]| {
        world.modify(&world.root(), dn, &[(operation, attribute, values)])
    };
    let (missing, wrong) = ("weight missing from attribute", "weight is misformatted");
    assert_refused(&modify(JANE, Add, "title", &["plain"]), missing);
    assert_refused(&modify(JANE, Replace, "title", &["{1}a", "b"]), missing);
    assert_refused(&modify(JANE, Add, "title", &["{x}a"]), wrong);
    assert_refused(&modify(JANE, Delete, "title", &["one"]), missing);
    assert_ok(&modify(JANE, Delete, "title", &["{1}one"]));
    assert_ok(&modify(JANE, Add, "title", &["{-1}first"]));
    assert_ok(&modify(JANE, Add, "title;lang-de", &["plain"]));
    assert_eq!(values(&world, "title")[0], "first");
    assert_ok(&modify(JANE, Delete, "title", &[]));
    let person = |title| {
        let names = [("objectClass", "inetOrgPerson"), ("uid", "new")];
        let names = names.into_iter().chain([("cn", "New"), ("sn", "N")]);
        names.chain([("title", title)]).collect::<Vec<_>>()
    };
    let dn = format!("uid=new,{PEOPLE}");
    assert_refused(&world.add(&world.root(), &dn, &person("x")), missing);
    assert_ok(&world.add(&world.root(), &dn, &person("{1}x")));
    // Values of new names are not checked, and an entry without a weight shows all as stored.
    assert_ok(&modify(JOHN, Replace, "title", &["{2}b", "{1}a"]));
    assert_ok(&world.rename(&world.root(), JOHN, "title=z", false, None));
    let renamed = format!("title=z,{PEOPLE}");
    let entry = world.read(&renamed, &["title"]);
    assert_eq!(entry.get("title"), ["{2}b", "{1}a", "z"]);
}

#[test]
fn rights_and_size_of_answers_hold() {
    let mut world = world(&PEOPLE_RULES);
    let overlays = [overlay(
        "valsort",
        &["valsort-attr title~ou=people,dc=example,dc=com~weighted"],
    )];
    world.reopen(|options| {
        options.databases[0].overlays = overlays.to_vec();
        let rules = ["to attrs=description by * none", "to * by * read"];
        options.access = rules.map(|rule| RuleText::from(rule.to_owned())).to_vec();
    });
    let asked = asked(
        JANE,
        Scope::Base,
        "(objectClass=*)",
        &["title", "description"],
    );
    let found = world.search(&Session::new(), &asked);
    assert_eq!(
        found.entries[0].get("title"),
        ["one", "a one", "two", "ten"]
    );
    assert!(found.entries[0].get("description").is_empty());
}
