//! Controls that slapd does not know, and what becomes of a batch when the store itself fails.

use ResultCode::{
    AdminLimitExceeded, AssertionFailed, InsufficientAccessRights, NoOperation, NoSuchObject,
    NotAllowedOnNonLeaf, Success, UnwillingToPerform,
};
use fulgurite_directory::Session;
use fulgurite_ldap::control::ReadEntry;
use fulgurite_ldap::{Control, FilterBuf, ModifyOperation, ResponseMessage, ResultCode, oid};

use crate::support::{
    JANE, JOHN, PEOPLE, TOP, World, add_pdu, code, decode, delete_pdu, modify_pdu, pdu,
    write_request,
};

const UNIT: [(&str, &str); 1] = [("objectClass", "organizationalUnit")];

pub(crate) fn with(request: &[u8], controls: &[Control<'_>]) -> Vec<u8> {
    pdu(&decode(request).request, controls)
}

pub(crate) fn tree_delete(dn: &str) -> Vec<u8> {
    with(&delete_pdu(dn), &[Control::new(oid::TREE_DELETE, true)])
}

#[test]
fn tree_delete_removes_the_whole_subtree() {
    let world = World::new();
    let root = world.root();
    let before = world.names("(objectClass=*)");
    let inside = before.iter().filter(|dn| dn.ends_with(PEOPLE)).count();
    assert!(inside > 2, "there is something below it");
    assert_eq!(code(&world.delete(&root, PEOPLE)), NotAllowedOnNonLeaf);
    assert_eq!(code(&world.write(&root, &tree_delete(PEOPLE))), Success);
    let after = world.names("(objectClass=*)");
    assert_eq!(after.len(), before.len() - inside);
    assert!(!after.iter().any(|dn| dn.ends_with(PEOPLE)));
    assert_eq!(
        code(&world.write(&root, &tree_delete(PEOPLE))),
        NoSuchObject
    );
    // The place is free again, and counts are right: the suffix can lose everything too.
    assert_eq!(code(&world.add(&root, PEOPLE, &UNIT)), Success);
    assert_eq!(code(&world.write(&root, &tree_delete(TOP))), Success);
}

#[test]
fn tree_delete_has_a_bound() {
    let below = |tree_delete_max| {
        let world = World::with(|options| options.databases[0].tree_delete_max = tree_delete_max);
        let names = world.names("(objectClass=*)");
        let inside = names.iter().filter(|dn| dn.ends_with(PEOPLE)).count();
        let result = world.write(&world.root(), &tree_delete(PEOPLE));
        let left = names.len() - world.names("(objectClass=*)").len();
        (inside, left, code(&result))
    };
    let (inside, gone, result) = below(usize::MAX);
    assert_eq!((gone, result), (inside, Success));
    assert_eq!(below(inside), (inside, inside, Success));
    assert_eq!(below(inside - 1), (inside, 0, AdminLimitExceeded));
}

#[test]
fn tree_delete_needs_the_right_to_each_entry() {
    let world = World::with(|options| {
        options.access = [
            "to dn.base=\"uid=john,ou=people,dc=example,dc=com\" by * read",
            "to * by users write by * read",
        ]
        .map(Into::into)
        .to_vec();
    });
    let jane = world.user(JANE);
    let refused = world.write(&jane, &tree_delete(PEOPLE));
    assert_eq!(code(&refused), InsufficientAccessRights);
    assert_eq!(world.names("(uid=john)").len(), 1, "nothing has gone");
    assert_eq!(code(&world.write(&jane, &delete_pdu(JANE))), Success);
}

#[test]
fn an_assertion_holds_at_the_moment_of_the_change() {
    let world = World::new();
    let root = world.root();
    let change = |filter: &str, value: &str| {
        let values: &[&str] = &[value];
        let request = modify_pdu(JOHN, &[(ModifyOperation::Replace, "title", values)]);
        let filter = FilterBuf::parse(filter).expect(filter);
        let assertion = Control::with_value(oid::ASSERTION, true, filter.encoded());
        with(&request, &[assertion])
    };
    // Both have seen the same title; only one of them may go on from there.
    let batch = [
        write_request(&root, &change("(!(title=*))", "first")),
        write_request(&root, &change("(!(title=*))", "second")),
        write_request(&root, &change("(title=first)", "third")),
    ];
    let replies = world.directory.apply(&batch);
    let codes: Vec<_> = replies.iter().map(|reply| reply.result.code).collect();
    assert_eq!(codes, [Success, AssertionFailed, Success]);
    assert_eq!(world.read(JOHN, &["title"]).get("title"), ["third"]);
}

#[test]
fn the_assertion_of_an_add_is_about_the_new_entry() {
    let world = World::new();
    let root = world.root();
    let name = "ou=new,dc=example,dc=com";
    // Answers of slapd 2.5.
    for (filter, expected) in [
        ("(entryDN=ou=old,dc=example,dc=com)", AssertionFailed),
        ("(!(entryDN=*))", AssertionFailed),
        ("(entryDN=OU=New,dc=example,dc=com)", Success),
        ("(subschemaSubentry=*)", Success),
        ("(hasSubordinates=FALSE)", AssertionFailed),
        ("(createTimestamp=*)", Success),
    ] {
        let filter = FilterBuf::parse(filter).expect(filter);
        let assertion = Control::with_value(oid::ASSERTION, true, filter.encoded());
        let request = with(&add_pdu(name, &UNIT), &[assertion]);
        let result = world.write(&root, &request);
        assert_eq!(code(&result), expected, "{filter:?}");
        if expected == Success {
            assert_eq!(code(&world.delete(&root, name)), Success);
        }
    }
}

#[test]
fn no_op_changes_nothing_and_returns_no_entry() {
    let world = World::new();
    let names = ReadEntry {
        attributes: vec![b"*"],
    };
    let value = names.encode();
    let controls = [
        Control::new(oid::NO_OP, true),
        Control::with_value(oid::PRE_READ, true, &value),
    ];
    let before = world.read(JOHN, &["*", "+"]);
    for request in [
        modify_pdu(JOHN, &[(ModifyOperation::Replace, "title", &["x"])]),
        delete_pdu(JOHN),
    ] {
        let request = write_request(&world.root(), &with(&request, &controls));
        let reply = world.directory.apply(&[request]).remove(0);
        assert_eq!(reply.result.code, NoOperation);
        let message = ResponseMessage::decode(&reply.bytes).expect("a response");
        assert!(message.controls.is_empty());
    }
    assert_eq!(world.read(JOHN, &["*", "+"]), before);
}

#[test]
fn an_update_too_large_for_the_store_fails_alone() {
    let full = |options: &mut fulgurite_store::StoreOptions| options.map_bytes_max = Some(4 << 20);
    let world = World::empty_with_store(|_| {}, full);
    let root = world.root();
    let top = [("objectClass", "domain"), ("dc", "example")];
    assert_eq!(code(&world.add(&root, TOP, &top)), Success);
    let large = "x".repeat(6 << 20);
    let huge = [
        ("objectClass", "organizationalUnit"),
        ("description", large.as_str()),
    ];
    let batch = [
        add_pdu("ou=a,dc=example,dc=com", &UNIT),
        add_pdu("ou=huge,dc=example,dc=com", &huge),
        add_pdu("ou=b,dc=example,dc=com", &UNIT),
    ];
    let requests: Vec<_> = batch.iter().map(|pdu| write_request(&root, pdu)).collect();
    let replies = world.directory.apply(&requests);
    let codes: Vec<_> = replies.iter().map(|reply| reply.result.code).collect();
    assert_eq!(codes, [Success, UnwillingToPerform, Success], "{replies:?}");
    let names = world.names("(ou=*)");
    assert_eq!(names, ["ou=a,dc=example,dc=com", "ou=b,dc=example,dc=com"]);
}

#[test]
fn controls_give_an_anonymous_client_no_rights() {
    let world = World::new();
    let refused = world.write(&Session::new(), &tree_delete(PEOPLE));
    assert_eq!(code(&refused), ResultCode::StrongerAuthRequired);
}

#[test]
fn values_of_configured_types_are_stored_in_order() {
    let world = World::with(|options| options.sorted_values = vec!["description".to_owned()]);
    let root = world.root();
    let change = |operation, values| {
        let result = world.modify(&root, JOHN, &[(operation, "description", values)]);
        assert_eq!(code(&result), Success);
        world.read(JOHN, &["description"])
    };
    let read = change(ModifyOperation::Replace, &["c", "B", "a"]);
    assert_eq!(read.get("description"), ["a", "B", "c"]);
    let read = change(ModifyOperation::Add, &["bb"]);
    assert_eq!(read.get("description"), ["a", "B", "bb", "c"]);
    let titles = [(ModifyOperation::Replace, "title", &["c", "a"][..])];
    assert_eq!(code(&world.modify(&root, JOHN, &titles)), Success);
    assert_eq!(world.read(JOHN, &["title"]).get("title"), ["c", "a"]);
}
