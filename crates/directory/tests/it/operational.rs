use fulgurite_directory::Session;
use fulgurite_ldap::{ModifyOperation, Scope};

use crate::support::{JANE, PEOPLE, ROOT, TOP, World, asked};

const STAMPED: [&str; 7] = [
    "createTimestamp",
    "creatorsName",
    "entryCSN",
    "entryUUID",
    "modifiersName",
    "modifyTimestamp",
    "structuralObjectClass",
];

#[test]
fn an_added_entry_is_stamped() {
    let world = World::new();
    let entry = world.read(JANE, &["+"]);
    let mut names = STAMPED.to_vec();
    names.extend(["entryDN", "hasSubordinates", "subschemaSubentry"]);
    names.sort_unstable();
    assert_eq!(entry.names(), names);
    assert_eq!(entry.get("structuralObjectClass"), ["inetOrgPerson"]);
    assert_eq!(entry.get("createTimestamp"), ["20260102030405Z"]);
    assert_eq!(entry.get("modifyTimestamp"), ["20260102030405Z"]);
    assert_eq!(entry.get("creatorsName"), [ROOT]);
    assert_eq!(entry.get("modifiersName"), [ROOT]);
    // Third write of the same microsecond, third random number.
    assert_eq!(
        entry.get("entryCSN"),
        ["20260102030405.000000Z#000002#000#000000"]
    );
    assert_eq!(
        entry.get("entryUUID"),
        ["00000000-0000-4000-8000-000000000002"]
    );
    assert_eq!(entry.get("entryDN"), [JANE]);
    assert_eq!(entry.get("subschemaSubentry"), ["cn=Subschema"]);
    assert_eq!(entry.get("hasSubordinates"), ["FALSE"]);
}

#[test]
fn updates_change_the_stamps_and_keep_the_uuid() {
    let world =
        World::with(|options| options.access = vec!["to * by users write by * read".into()]);
    let before = world.read(JANE, &["+"]);
    world.clock.sleep_s(61);
    let change: (ModifyOperation, &str, &[&str]) = (ModifyOperation::Replace, "title", &["Dr"]);
    let jane = world.user(JANE);
    assert!(world.modify(&jane, JANE, &[change]).is_success());
    let after = world.read(JANE, &["+"]);
    for name in STAMPED {
        let moves = ["entryCSN", "modifiersName", "modifyTimestamp"].contains(&name);
        assert_eq!(before.get(name) != after.get(name), moves, "{name}");
    }
    assert_eq!(after.get("modifiersName"), [JANE]);
    assert_eq!(after.get("modifyTimestamp"), ["20260102030506Z"]);
    assert!(after.get("entryCSN") > before.get("entryCSN"));

    world.clock.sleep_s(1);
    let top_before = world.read(PEOPLE, &["entryCSN"]);
    assert!(
        world
            .rename(&world.root(), PEOPLE, "ou=folk", true, None)
            .is_success()
    );
    let moved = world.read("uid=jane,ou=folk,dc=example,dc=com", &["+"]);
    assert_eq!(
        moved.get("entryCSN"),
        after.get("entryCSN"),
        "descendants keep theirs"
    );
    let top = world.read("ou=folk,dc=example,dc=com", &["+"]);
    assert!(top.get("entryCSN") > top_before.get("entryCSN"));
    assert_eq!(top.get("modifyTimestamp"), ["20260102030507Z"]);
    assert_eq!(moved.get("entryDN"), ["uid=jane,ou=folk,dc=example,dc=com"]);
}

#[test]
fn computed_attributes_are_returned_on_request() {
    let world = World::new();
    assert!(!world.read(PEOPLE, &[]).names().contains(&"hasSubordinates"));
    let entry = world.read(PEOPLE, &["hasSubordinates", "numsubordinates", "ou"]);
    assert_eq!(entry.names(), ["hasSubordinates", "numSubordinates", "ou"]);
    assert_eq!(entry.get("hasSubordinates"), ["TRUE"]);
    assert_eq!(entry.get("numSubordinates"), ["2"]);
    let mut types = asked(PEOPLE, Scope::Base, "(objectClass=*)", &["entryDN"]);
    types.types_only = true;
    let found = world.search(&Session::new(), &types);
    assert_eq!(found.entries[0].names(), ["entryDN"]);
    assert_eq!(found.entries[0].get("entryDN"), [""; 0]);
}

#[test]
fn computed_attributes_can_be_searched() {
    let world = World::new();
    let groups = "ou=groups,dc=example,dc=com";
    assert_eq!(world.names("(hasSubordinates=TRUE)"), [TOP, groups, PEOPLE]);
    assert_eq!(
        world.names("(&(objectClass=organizationalUnit)(!(hasSubordinates=FALSE)))"),
        [groups, PEOPLE]
    );
    assert_eq!(world.names("(numSubordinates>=2)"), [TOP, PEOPLE]);
    assert_eq!(
        world.names("(entryDN=UID=jane,OU=people, dc=example,dc=com)"),
        [JANE]
    );
    assert_eq!(
        world.names("(&(entryDN=uid=jane,ou=people,dc=example,dc=com)(sn=Doe))"),
        [JANE]
    );
    assert_eq!(
        world.names("(|(entryDN=dc=example,dc=com)(uid=jane))"),
        [TOP, JANE]
    );
    assert_eq!(
        world.names("(entryDN=uid=nobody,dc=example,dc=com)"),
        [""; 0]
    );
    assert_eq!(
        world.names("(entryDN:dnOneLevelMatch:=ou=groups,dc=example,dc=com)"),
        ["cn=all,ou=groups,dc=example,dc=com"]
    );
    assert_eq!(world.names("(hasSubordinates=*)").len(), 6);
    assert_eq!(world.names("(!(entryDN=*))"), [""; 0]);
    assert_eq!(
        world.names("(structuralObjectClass=inetOrgPerson)").len(),
        2
    );
    assert_eq!(world.names("(structuralObjectClass=person)").len(), 2);
    assert_eq!(
        world.names("(entryUUID=00000000-0000-4000-8000-000000000000)"),
        [TOP]
    );
    assert_eq!(world.names("(modifyTimestamp<=20260102030405Z)").len(), 6);
}
