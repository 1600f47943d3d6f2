use ResultCode::{
    EntryAlreadyExists, NoSuchObject, NotAllowedOnNonLeaf, ProtocolError, StrongerAuthRequired,
    Success,
};
use fulgurite_directory::{Session, WriteRequest};
use fulgurite_ldap::{ModifyOperation, ResultCode};

use crate::support::{JANE, PEOPLE, World, add_pdu, asked, decode, delete_pdu, modify_pdu, pdu};

#[test]
fn failing_members_leave_their_neighbours_alone() {
    let world = World::new();
    let root = world.root();
    let unit = [("objectClass", "organizationalUnit")];
    let child = "ou=b,ou=a,dc=example,dc=com";
    let change: (ModifyOperation, &str, &[&str]) =
        (ModifyOperation::Replace, "description", &["x"]);
    let batch = [
        (&root, add_pdu("ou=a,dc=example,dc=com", &unit), Success),
        (
            &root,
            add_pdu("ou=A,dc=example,dc=com", &unit),
            EntryAlreadyExists,
        ),
        (
            &root,
            add_pdu("ou=b,ou=none,dc=example,dc=com", &unit),
            NoSuchObject,
        ),
        // Members see what those before them did.
        (&root, add_pdu(child, &unit), Success),
        (
            &root,
            delete_pdu("ou=a,dc=example,dc=com"),
            NotAllowedOnNonLeaf,
        ),
        (&root, modify_pdu(child, &[change]), Success),
        (&root, delete_pdu(JANE), Success),
        (&root, modify_pdu(JANE, &[change]), NoSuchObject),
        (&Session::new(), delete_pdu(PEOPLE), StrongerAuthRequired),
    ];
    let requests: Vec<WriteRequest> = batch
        .iter()
        .map(|(session, pdu, _)| WriteRequest::new(session, pdu))
        .collect();
    let replies = world.directory.apply(&requests);
    let codes: Vec<ResultCode> = replies.iter().map(|reply| reply.result.code).collect();
    let expected: Vec<ResultCode> = batch.iter().map(|(.., code)| *code).collect();
    assert_eq!(codes, expected);
    assert_eq!(world.read(child, &[]).get("description"), ["x"]);
    assert_eq!(world.names("(uid=jane)"), [""; 0]);
    assert_eq!(world.names("(ou=none)"), [""; 0]);
}

#[test]
fn marks_grow_within_a_batch() {
    let world = World::new();
    let unit = [("objectClass", "organizationalUnit")];
    let dns: Vec<String> = (0..20)
        .map(|n| format!("ou=u{n},dc=example,dc=com"))
        .collect();
    let requests: Vec<WriteRequest> = dns
        .iter()
        .map(|dn| WriteRequest::new(&world.root(), &add_pdu(dn, &unit)))
        .collect();
    assert!(
        world
            .directory
            .apply(&requests)
            .iter()
            .all(|reply| reply.result.is_success())
    );
    let csns: Vec<String> = dns
        .iter()
        .map(|dn| world.read(dn, &["entryCSN"]).get("entryCSN").join(""))
        .collect();
    assert!(csns.windows(2).all(|pair| pair[0] < pair[1]), "{csns:?}");
}

#[test]
fn an_empty_batch_and_strange_requests_are_answered() {
    let world = World::new();
    assert_eq!(world.directory.apply(&[]), []);
    let search = asked("", fulgurite_ldap::Scope::Base, "(cn=x)", &[]).pdu();
    let requests = [
        WriteRequest::new(&world.root(), &search),
        WriteRequest::new(&world.root(), b"not a message"),
        WriteRequest::new(&world.root(), &pdu(&decode(&delete_pdu("x")).request, &[])),
    ];
    let replies = world.directory.apply(&requests);
    let codes: Vec<ResultCode> = replies.iter().map(|reply| reply.result.code).collect();
    assert_eq!(
        codes,
        [ProtocolError, ProtocolError, ResultCode::InvalidDnSyntax]
    );
}
