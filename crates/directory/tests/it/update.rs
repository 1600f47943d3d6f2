use std::sync::Arc;

use ModifyOperation::{Add, Delete, Replace};
use fulgurite_ldap::{Control, LdapResult, ModifyOperation, ResultCode, oid};
use fulgurite_schema::SchemaBuilder;

use crate::support::{JANE, JOHN, PEOPLE, World, add_pdu, decode, modify_pdu, pdu};

#[test]
fn the_naming_value_is_added_when_missing() {
    let world = World::new();
    let groups = world.read("ou=groups,dc=example,dc=com", &[]);
    assert_eq!(groups.get("ou"), ["groups"]);
    let dn = "cn=a+sn=b,ou=people,dc=example,dc=com";
    let person = [("objectClass", "person"), ("cn", "other"), ("sn", "B")];
    assert!(world.add(&world.root(), dn, &person).is_success());
    let entry = world.read(dn, &[]);
    assert_eq!(entry.dn, dn);
    assert_eq!(entry.get("cn"), ["other", "a"]);
    assert_eq!(entry.get("sn"), ["B"]);
}

#[test]
fn a_modify_is_checked_once_at_its_end() {
    let world = World::new();
    let changes: [(ModifyOperation, &str, &[&str]); 4] = [
        (Delete, "sn", &[]),
        (Delete, "uid", &["jane"]),
        (Add, "uid", &["JANE", "jd"]),
        (Add, "sn", &["Doe-Roe"]),
    ];
    let result = world.modify(&world.root(), JANE, &changes);
    assert_eq!(result, LdapResult::success());
    let entry = world.read(JANE, &[]);
    assert_eq!(entry.get("sn"), ["Doe-Roe"]);
    assert_eq!(entry.get("uid"), ["JANE", "jd"]);
    assert_eq!(world.names("(uid=jd)"), [JANE]);
    assert_eq!(world.names("(sn=Doe)"), [""; 0]);
}

#[test]
fn a_refused_modify_changes_nothing() {
    let world = World::new();
    let before = world.read(JANE, &["*", "+"]);
    let changes: [(ModifyOperation, &str, &[&str]); 2] = [
        (Replace, "title", &["Dr"]),
        (Delete, "mail", &["nobody@example.com"]),
    ];
    assert!(!world.modify(&world.root(), JANE, &changes).is_success());
    assert_eq!(world.read(JANE, &["*", "+"]), before);
}

#[test]
fn renaming_moves_values_and_names() {
    let world = World::new();
    let root = world.root();
    assert!(
        world
            .rename(&root, JANE, "uid=JANE", true, None)
            .is_success()
    );
    let upper = "uid=JANE,ou=people,dc=example,dc=com";
    let entry = world.read(JANE, &["uid"]);
    assert_eq!((entry.dn.as_str(), entry.get("uid")), (upper, vec!["JANE"]));

    assert!(
        world
            .rename(&root, JANE, "cn=Jane  Doe+uid=jd", false, None)
            .is_success()
    );
    let both = "cn=Jane  Doe+uid=jd,ou=people,dc=example,dc=com";
    let entry = world.read(both, &["cn", "uid"]);
    assert_eq!(entry.get("cn"), ["Jane Doe"], "the value was there");
    assert_eq!(entry.get("uid"), ["JANE", "jd"]);

    assert!(
        world
            .rename(&root, both, "cn=Jane Doe", true, None)
            .is_success()
    );
    let entry = world.read("cn=jane doe,ou=people,dc=example,dc=com", &["cn", "uid"]);
    assert_eq!(entry.get("cn"), ["Jane Doe"]);
    assert_eq!(entry.get("uid"), ["JANE"]);
    assert_eq!(world.names("(uid=jd)"), [""; 0]);
}

#[test]
fn a_subtree_moves_as_a_whole() {
    let world = World::new();
    let result = world.rename(
        &world.root(),
        PEOPLE,
        "ou=people",
        true,
        Some("ou=groups,dc=example,dc=com"),
    );
    assert_eq!(result, LdapResult::success());
    let moved = "uid=jane,ou=people,ou=groups,dc=example,dc=com";
    assert_eq!(world.names("(uid=jane)"), [moved]);
    assert_eq!(world.read(moved, &["sn"]).get("sn"), ["Doe"]);
    let counts = |dn: &str| {
        world
            .read(dn, &["numSubordinates"])
            .get("numSubordinates")
            .join("")
    };
    assert_eq!(counts("dc=example,dc=com"), "1");
    assert_eq!(counts("ou=groups,dc=example,dc=com"), "2");
}

#[test]
fn deleted_entries_are_not_found() {
    let world = World::new();
    assert!(world.delete(&world.root(), JOHN).is_success());
    assert_eq!(world.names("(objectClass=inetOrgPerson)"), [JANE]);
    let person = [("objectClass", "inetOrgPerson"), ("cn", "x"), ("sn", "Roe")];
    assert!(world.add(&world.root(), JOHN, &person).is_success());
    assert_eq!(world.names("(sn=roe)"), [JOHN]);
    assert_eq!(world.names("(description=*)"), [""; 0]);
}

/// The definitions of an obsolete type and a class that allows it.
const OBSOLETE: &str = "attributetype ( 1.2.3.4.1 NAME 'old' OBSOLETE EQUALITY caseIgnoreMatch
    SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 )
objectclass ( 1.2.3.4.2 NAME 'ageing' SUP top AUXILIARY MAY old )
";

/// Sends a request again with the relax control.
fn relaxed(world: &World, request: &[u8]) -> LdapResult {
    let relax = Control {
        oid: oid::RELAX.as_bytes(),
        critical: true,
        value: None,
    };
    let message = decode(request);
    world.write(&world.root(), &pdu(&message.request, &[relax]))
}

/// As in slapd, requests give no values of an obsolete type. Stored ones do not hinder other
/// changes.
#[test]
fn values_of_an_obsolete_type_can_only_go_as_a_whole() {
    let builder = SchemaBuilder::standard().text("test", OBSOLETE);
    let schema = builder.expect("definitions").build().expect("a schema");
    let world = World::empty_with_schema(Arc::new(schema), |_| {}, |_| {});
    world.load_example();
    let obsolete = LdapResult {
        diagnostic: "old: attribute is obsolete".to_owned(),
        ..LdapResult::new(ResultCode::ConstraintViolation)
    };
    let dn = "cn=old,ou=people,dc=example,dc=com";
    let entry = [
        ("objectClass", "person"),
        ("objectClass", "ageing"),
        ("cn", "old"),
        ("sn", "x"),
        ("old", "here"),
    ];
    assert_eq!(world.add(&world.root(), dn, &entry), obsolete);
    assert!(relaxed(&world, &add_pdu(dn, &entry)).is_success());
    let modify =
        |change: (ModifyOperation, &str, &[&str])| world.modify(&world.root(), dn, &[change]);
    assert!(modify((Replace, "description", &["other"])).is_success());
    for (operation, value) in [
        (Delete, "here"),
        (Delete, "elsewhere"),
        (Add, "x"),
        (Replace, "x"),
    ] {
        assert_eq!(modify((operation, "old", &[value])), obsolete);
    }
    let missing: [(ModifyOperation, &str, &[&str]); 1] = [(Delete, "old", &["elsewhere"])];
    let result = relaxed(&world, &modify_pdu(dn, &missing));
    assert_eq!(result.code, ResultCode::NoSuchAttribute);
    let renamed = world.rename(&world.root(), dn, "old=here", false, None);
    assert_eq!(renamed.code, ResultCode::NamingViolation);
    assert_eq!(renamed.diagnostic, "naming attribute 'old' is obsolete");
    assert!(modify((Delete, "old", &[])).is_success());
    assert!(world.read(dn, &[]).get("old").is_empty());
}

/// As in slapd, the relax control opens the state, but not the time of the last success.
#[test]
fn the_relax_control_opens_the_state() {
    let world = crate::password_policy::world(&[], &[]);
    let relaxed_change = |name: &str, value: &str| {
        let change: (ModifyOperation, &str, &[&str]) = (Replace, name, &[value]);
        relaxed(&world, &modify_pdu(JANE, &[change]))
    };
    for (name, value) in [
        ("pwdChangedTime", "20200101000000Z"),
        ("pwdFailureTime", "20200101000000.5Z"),
        (
            "pwdHistory",
            "20200101000000Z#1.3.6.1.4.1.1466.115.121.1.40#1#x",
        ),
        ("pwdGraceUseTime", "20200101000000Z"),
        ("pwdAccountTmpLockoutEnd", "20200101000000Z"),
    ] {
        assert_eq!(relaxed_change(name, value), LdapResult::success(), "{name}");
        assert_eq!(world.read(JANE, &[name]).get(name), [value]);
        let change: (ModifyOperation, &str, &[&str]) = (Replace, name, &[]);
        let result = world.modify(&world.root(), JANE, &[change]);
        assert_eq!(result.code, ResultCode::ConstraintViolation, "{name}");
    }
    let refused = relaxed_change("pwdLastSuccess", "20200101000000Z");
    let text = "pwdLastSuccess: no-user-modification attribute not manageable";
    assert_eq!(refused.diagnostic, text);
}
