use ResultCode::{
    EntryAlreadyExists, NoSuchObject, NotAllowedOnNonLeaf, ProtocolError, StrongerAuthRequired,
    Success,
};
use fulgurite_directory::{Session, UpdateStep, WriteRequest};
use fulgurite_ldap::{LdapResult, ModifyOperation, ResultCode};
use fulgurite_store::Durability;

use crate::controls::tree_delete;
use crate::support::{
    JANE, PEOPLE, World, add_pdu, asked, decode, delete_pdu, modify_pdu, pdu, write_request,
};

#[test]
fn a_refused_update_does_not_affect_its_batch() {
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
        .map(|(session, pdu, _)| write_request(session, pdu))
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
fn csns_increase_within_a_batch() {
    let world = World::new();
    let unit = [("objectClass", "organizationalUnit")];
    let dns: Vec<String> = (0..20)
        .map(|n| format!("ou=u{n},dc=example,dc=com"))
        .collect();
    let requests: Vec<WriteRequest> = dns
        .iter()
        .map(|dn| write_request(&world.root(), &add_pdu(dn, &unit)))
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
fn an_empty_batch_and_invalid_requests_are_answered() {
    let world = World::new();
    assert_eq!(world.directory.apply(&[]), []);
    let search = asked("", fulgurite_ldap::Scope::Base, "(cn=x)", &[]).pdu();
    let mut session = world.root();
    assert!(WriteRequest::new(&session, &decode(&search)).is_none());
    let step = world.directory.begin_update(&mut session, &decode(&search));
    assert!(matches!(step, UpdateStep::Answered(result) if result.code == ProtocolError));
    let requests = [write_request(
        &session,
        &pdu(&decode(&delete_pdu("x")).request, &[]),
    )];
    let replies = world.directory.apply(&requests);
    let codes: Vec<ResultCode> = replies.iter().map(|reply| reply.result.code).collect();
    assert_eq!(codes, [ResultCode::InvalidDnSyntax]);
}

/// A directory without flushes, with a group whose members are overflow values.
fn unsafe_world() -> World {
    let world = World::empty_with_store(
        |_| {},
        |options| {
            options.inline_values_max = Some(4);
            options.durability = Some(Durability::NoSync);
        },
    );
    world.load(
        "dn: dc=example,dc=com\nobjectClass: domain\n\ndn: ou=people,dc=example,dc=com\nobjectClass: organizationalUnit\n\n\
         dn: cn=all,dc=example,dc=com\nobjectClass: groupOfNames\ncn: all\nmember: cn=1\nmember: cn=2\nmember: cn=3\n\
         member: cn=4\nmember: cn=5\nmember: cn=6",
    );
    world
}

fn requests(world: &World, pdus: &[Vec<u8>]) -> Vec<WriteRequest> {
    let root = world.root();
    let request = |pdu: &Vec<u8>| write_request(&root, pdu);
    pdus.iter().map(request).collect()
}

const DESCRIBED: (ModifyOperation, &str, &[&str]) =
    (ModifyOperation::Replace, "description", &["x"]);

#[test]
fn short_updates_are_applied_at_once_as_by_the_writer() {
    let unit = [("objectClass", "organizationalUnit")];
    let pdus = [
        add_pdu("ou=a,dc=example,dc=com", &unit),
        add_pdu("ou=A,dc=example,dc=com", &unit),
        modify_pdu("ou=a,dc=example,dc=com", &[DESCRIBED]),
        modify_pdu("ou=none,dc=example,dc=com", &[DESCRIBED]),
        delete_pdu("ou=people,dc=example,dc=com"),
    ];
    let (one, other) = (unsafe_world(), unsafe_world());
    let replies = one.directory.apply_at_once(&requests(&one, &pdus));
    let replies = replies.expect("nothing of it takes long");
    assert_eq!(replies, other.directory.apply(&requests(&other, &pdus)));
    assert_eq!(replies[2].result, LdapResult::success());
    for world in [&one, &other] {
        assert_eq!(
            world.names("(objectClass=organizationalUnit)"),
            ["ou=a,dc=example,dc=com"]
        );
        assert_eq!(
            world.read("ou=a,dc=example,dc=com", &[]).get("description"),
            ["x"]
        );
    }
}

#[test]
fn a_large_update_defers_its_whole_batch() {
    let world = unsafe_world();
    let before = world.names("(objectClass=*)");
    let people = "ou=people,dc=example,dc=com";
    let group = "cn=all,dc=example,dc=com";
    let large = "x".repeat(20_000);
    let described: (ModifyOperation, &str, &[&str]) =
        (ModifyOperation::Replace, "description", &[&large]);
    for long in [
        tree_delete(people),
        delete_pdu(group),
        modify_pdu(group, &[DESCRIBED]),
        modify_pdu(people, &[described]),
    ] {
        let pdus = [modify_pdu(people, &[DESCRIBED]), long];
        let requests = requests(&world, &pdus);
        assert_eq!(world.directory.apply_at_once(&requests), None);
        assert_eq!(world.names("(objectClass=*)"), before);
        assert_eq!(world.read(people, &[]).get("description"), [""; 0]);
    }
}

#[test]
fn an_update_that_must_wait_is_deferred() {
    let world = unsafe_world();
    let pdus = [modify_pdu("ou=people,dc=example,dc=com", &[DESCRIBED])];
    let writer = world.store.write().expect("nobody else writes");
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| {
            let requests = requests(&world, &pdus);
            world.directory.apply_at_once(&requests)
        });
        assert_eq!(asked.join().expect("it does not panic"), None);
    });
    drop(writer);
    let requests_now = requests(&world, &pdus);
    assert!(world.directory.apply_at_once(&requests_now).is_some());
    // A commit that waits for the disk.
    let durable = World::new();
    let pdus = [modify_pdu(PEOPLE, &[DESCRIBED])];
    let requests = requests(&durable, &pdus);
    assert_eq!(durable.directory.apply_at_once(&requests), None);
}
