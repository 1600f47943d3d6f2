//! Searches and compares one after the other on the snapshot that a thread keeps, while the
//! directory changes.

use fulgurite_directory::{Progress, Quantum, Session, Snapshots};
use fulgurite_ldap::{
    Assertion, CompareRequest, Controls, ModifyOperation, Request, ResultCode, Scope,
};

use crate::support::{JANE, JOHN, PEOPLE, TOP, World, asked, code, decode, found};

/// Names found and the result, twice the same: the second time with what the first has left.
fn search<'d>(
    world: &'d World,
    kept: &mut Snapshots<'d>,
    session: &Session,
    base: &str,
    filter: &str,
) -> (Vec<String>, ResultCode) {
    let mut once = || {
        let found = found(&answer(world, kept, session, base, filter, &["1.1"]));
        let names = found.dns().into_iter().map(str::to_owned).collect();
        (names, found.result.code)
    };
    let first = once();
    assert_eq!(once(), first);
    first
}

fn compare<'d>(world: &'d World, kept: &mut Snapshots<'d>, dn: &str, value: &str) -> ResultCode {
    let request = CompareRequest {
        dn: dn.as_bytes(),
        assertion: Assertion {
            attribute: b"uid",
            value: value.as_bytes(),
        },
    };
    let root = world.root();
    let result = world
        .directory
        .compare_on(kept, &root, &request, &Controls::NONE);
    result.code
}

#[test]
fn a_cached_view_is_as_new_as_the_request() {
    let world = World::new();
    let kept = &mut Snapshots::default();
    let root = world.root();
    let moved = "ou=staff,dc=example,dc=com";
    let moved_jane = "uid=jane,ou=staff,dc=example,dc=com";
    let one = |dn: &str| (vec![dn.to_owned()], ResultCode::Success);
    let none = || (Vec::new(), ResultCode::Success);
    let missing = || (Vec::new(), ResultCode::NoSuchObject);

    assert_eq!(search(&world, kept, &root, PEOPLE, "(uid=jane)"), one(JANE));
    assert_eq!(search(&world, kept, &root, moved, "(uid=jane)"), missing());
    assert_eq!(compare(&world, kept, JANE, "jane"), ResultCode::CompareTrue);
    // Names of parents change.
    let renamed = world.rename(&root, PEOPLE, "ou=staff", true, None);
    assert_eq!(code(&renamed), ResultCode::Success);
    assert_eq!(search(&world, kept, &root, PEOPLE, "(uid=jane)"), missing());
    assert_eq!(
        search(&world, kept, &root, TOP, "(uid=jane)"),
        one(moved_jane)
    );
    assert_eq!(
        search(&world, kept, &root, moved, "(uid=jane)"),
        one(moved_jane)
    );
    assert_eq!(
        compare(&world, kept, JANE, "jane"),
        ResultCode::NoSuchObject
    );
    assert_eq!(
        compare(&world, kept, moved_jane, "jane"),
        ResultCode::CompareTrue
    );
    // Entries come and go; so do sizes of scopes.
    let attributes = [
        ("objectClass", "inetOrgPerson"),
        ("uid", "new"),
        ("cn", "N"),
        ("sn", "N"),
    ];
    let new = format!("uid=new,{moved}");
    assert_eq!(
        code(&world.add(&root, &new, &attributes)),
        ResultCode::Success
    );
    assert_eq!(search(&world, kept, &root, moved, "(uid=new)"), one(&new));
    assert_eq!(compare(&world, kept, &new, "new"), ResultCode::CompareTrue);
    assert_eq!(code(&world.delete(&root, &new)), ResultCode::Success);
    assert_eq!(search(&world, kept, &root, moved, "(uid=new)"), none());
    assert_eq!(compare(&world, kept, &new, "new"), ResultCode::NoSuchObject);
    let names = search(&world, kept, &root, moved, "(objectClass=person)").0;
    assert_eq!(names.len(), 2, "{names:?}");
}

/// The bytes of an answer.
fn answer<'d>(
    world: &'d World,
    kept: &mut Snapshots<'d>,
    session: &Session,
    base: &str,
    filter: &str,
    attributes: &[&str],
) -> Vec<u8> {
    let pdu = asked(base, Scope::Subtree, filter, attributes).pdu();
    let message = decode(&pdu);
    let Request::Search(request) = &message.request else {
        unreachable!("a search was encoded")
    };
    let (directory, controls) = (&world.directory, &message.controls);
    let mut task = directory.begin_search_on(kept, session, message.id, request, controls);
    let mut out = Vec::new();
    while task.advance(&mut out, Quantum::default()) == Progress::More {}
    task.leave(kept);
    out
}

#[test]
fn cached_attribute_rights_do_not_leak_between_requesters() {
    let rules = [
        "access to attrs=sn by users read by * none",
        "access to attrs=description by dn.exact=\"uid=jane,ou=people,dc=example,dc=com\" read by * none",
        "access to * by * read",
    ];
    let world = World::with(|options| {
        options.access = rules.iter().map(|&rule| rule.into()).collect();
    });
    let (kept, all) = (&mut Snapshots::default(), "(objectClass=*)");
    let root = world.root();
    let sessions = [
        Session::new(),
        world.user(JANE),
        world.user(JOHN),
        world.root(),
    ];
    let lists: [&[&str]; 6] = [
        &[],
        &["*"],
        &["sn", "cn"],
        &["+"],
        &["1.1"],
        &["description", "*"],
    ];
    let mut lengths = Vec::new();
    // Attributes that the store did not know, with their options, and some that an entry loses.
    let changes: [&[(ModifyOperation, &str, &[&str])]; 3] = [
        &[],
        &[
            (ModifyOperation::Add, "description", &["seen by few"]),
            (ModifyOperation::Add, "cn;lang-de", &["J"]),
        ],
        &[(ModifyOperation::Delete, "cn;lang-de", &[])],
    ];
    for change in changes {
        if !change.is_empty() {
            assert_eq!(
                code(&world.modify(&root, JANE, change)),
                ResultCode::Success
            );
        }
        for _ in 0..2 {
            for session in &sessions {
                for list in lists {
                    for dn in [JANE, JOHN, TOP] {
                        let ours = answer(&world, kept, session, dn, all, list);
                        let fresh =
                            answer(&world, &mut Snapshots::default(), session, dn, all, list);
                        assert_eq!(ours, fresh, "{dn} {list:?} {:?}", session.identity());
                        lengths.push(ours.len());
                    }
                }
            }
        }
    }
    lengths.sort_unstable();
    lengths.dedup();
    assert!(lengths.len() > 15, "answers differ: {lengths:?}");
}
