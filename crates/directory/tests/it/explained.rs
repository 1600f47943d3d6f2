//! The explanation of access rules by an extended operation, and searches that are reported.

use std::sync::Arc;

use fulgurite_directory::{Connection, EndPoint, ExtendedStep, Session, SlowSearches};
use fulgurite_ldap::{
    AccessQuery, Controls, ExtendedRequest, LdapResult, PartAccess, ResultCode, Scope,
    decode_access, oid,
};

use crate::support::{JANE, JOHN, World, asked};

fn world() -> World {
    World::with(|options| {
        let rules = [
            "to attrs=title by self write by * read",
            "to * by dn.exact=\"uid=john,ou=people,dc=example,dc=com\" manage by * read",
        ];
        options.access = rules.iter().map(|&rule| rule.into()).collect();
    })
}

/// The group that only the root may read, with Jane in it.
const SECRET: &str = "cn=secret,dc=example,dc=com";

/// John manages Jane's entry and may not read the group, unless it is public.
fn guarded_world(group_rule: &str) -> World {
    let world = World::with(|options| {
        let jane = format!(
            "to dn.exact=\"{JANE}\" by dn.exact=\"{JOHN}\" manage by group=\"{SECRET}\" write \
             by peername.ip=10.0.0.1 read by ssf=128 compare by * search"
        );
        let group = format!("to dn.exact=\"{SECRET}\" {group_rule}");
        let rules = [jane.as_str(), group.as_str(), "to * by * read"];
        options.access = rules.iter().map(|&rule| rule.into()).collect();
    });
    let group = format!("dn: {SECRET}\nobjectClass: groupOfNames\ncn: secret\nmember: {JANE}\n\n");
    world.load(&group);
    world
}

fn explain(
    world: &World,
    session: &Session,
    (entry, subject): (&str, &str),
    parts: &[&str],
) -> Result<Vec<PartAccess>, LdapResult> {
    let query = AccessQuery {
        entry: entry.as_bytes(),
        subject: subject.as_bytes(),
        parts: parts.iter().map(|part| part.as_bytes()).collect(),
        given: Vec::new(),
    };
    ask(world, session, Some(&query.encode()))
}

fn ask(
    world: &World,
    session: &Session,
    value: Option<&[u8]>,
) -> Result<Vec<PartAccess>, LdapResult> {
    let oid = oid::EXPLAIN_ACCESS.as_bytes();
    let request = ExtendedRequest { oid, value };
    let directory = &world.directory;
    match directory.extended(&mut session.clone(), 1, &request, &Controls::NONE) {
        ExtendedStep::Done(reply) if reply.result.is_success() => {
            Ok(decode_access(&reply.value.expect("a value")).expect("an answer"))
        }
        ExtendedStep::Done(reply) => Err(reply.result),
        other => panic!("{other:?}"),
    }
}

#[test]
fn managers_learn_the_rule_that_decides() {
    let world = world();
    for manager in [world.root(), world.user(JOHN)] {
        let parts = ["title", "entry", "children"];
        let answer = explain(&world, &manager, (JANE, JOHN), &parts).expect("an answer");
        let [title, entry, children] = answer.as_slice() else {
            panic!("{answer:?}");
        };
        assert_eq!(
            (title.part.as_str(), title.rights.as_str()),
            ("title", "read(=rscxd)")
        );
        assert!(!title.allowed.split(' ').any(|word| word == "write"));
        let deciding = title.steps.last().expect("a step");
        assert_eq!((deciding.rule, deciding.by.as_str()), (1, "by * read"));
        assert!(entry.allowed.ends_with("manage"), "{entry:?}");
        assert_eq!(children.part, "children");
        let own = explain(&world, &manager, (JANE, JANE), &["title"]).expect("an answer");
        assert!(
            own[0].allowed.ends_with("write") && own[0].steps.len() == 1,
            "{own:?}"
        );
        let nobody = explain(&world, &manager, (JANE, ""), &["title"]).expect("an answer");
        assert_eq!(nobody[0].rights, "read(=rscxd)");
    }
}

#[test]
fn others_learn_nothing_about_rules_and_entries() {
    let world = world();
    let mut refusals = Vec::new();
    for session in [Session::new(), world.user(JANE)] {
        for entry in [
            JANE,
            JOHN,
            "uid=missing,dc=example,dc=com",
            "dc=elsewhere",
            "malformed",
            "",
        ] {
            let refusal = explain(&world, &session, (entry, JANE), &["title"]);
            refusals.push(refusal.expect_err("a refusal"));
        }
    }
    refusals.dedup();
    assert_eq!(refusals.len(), 1, "{refusals:?}");
    assert_eq!(refusals[0].code, ResultCode::InsufficientAccessRights);
}

#[test]
fn managers_of_one_entry_do_not_learn_who_is_in_a_group_that_they_may_not_read() {
    let world = guarded_world("by * none");
    let john = world.user(JOHN);
    // Each part alone, and several: a group that one part has asked for is not known to the next.
    for parts in [&["title"][..], &["entry", "title", "children"]] {
        for subject in [JANE, "uid=nobody,dc=example,dc=com"] {
            let answer = explain(&world, &john, (JANE, subject), parts).expect("an answer");
            for part in answer {
                let empty = (
                    part.rights.as_str(),
                    part.allowed.as_str(),
                    part.steps.len(),
                );
                assert!(
                    part.is_withheld && empty == ("", "", 0),
                    "{subject}: {part:?}"
                );
            }
        }
    }
    // No group decides about these, but the clause of the group is on the way of one.
    let own = explain(&world, &john, (JANE, JOHN), &["title"]).expect("an answer");
    assert!(own[0].allowed.ends_with("manage"), "{own:?}");
    let anonymous = explain(&world, &john, (JANE, ""), &["title"]).expect("an answer");
    assert_eq!(anonymous[0].rights, "search(=scxd)");
    assert!(
        !format!("{anonymous:?}").contains("secret"),
        "{anonymous:?}"
    );
    let root = explain(&world, &world.root(), (JANE, JANE), &["title"]).expect("an answer");
    assert!(root[0].allowed.ends_with("write"), "{root:?}");
    let open = guarded_world("by * read");
    let told = explain(&open, &open.user(JOHN), (JANE, JANE), &["title"]).expect("an answer");
    assert!(
        told[0].allowed.ends_with("write") && format!("{told:?}").contains("secret"),
        "{told:?}"
    );
}

#[test]
fn the_subject_has_the_connection_that_the_question_states() {
    let world = guarded_world("by * none");
    let here = Connection {
        peer: EndPoint::Ip("10.0.0.1:9".parse().expect("an address")),
        ..Connection::default()
    };
    let mut root = world.root();
    root.set_connection(Arc::new(here));
    let rights = |given: &[&str]| {
        let query = AccessQuery {
            entry: JANE.as_bytes(),
            parts: vec![b"title"],
            given: given.iter().map(|fact| fact.as_bytes()).collect(),
            ..AccessQuery::default()
        };
        ask(&world, &root, Some(&query.encode())).map(|parts| parts[0].rights.clone())
    };
    assert_eq!(rights(&[]).expect("an answer"), "search(=scxd)");
    let peer = ["peername=IP=10.0.0.1:4711", "ssf=0"];
    assert_eq!(rights(&peer).expect("an answer"), "read(=rscxd)");
    assert_eq!(rights(&["ssf=256"]).expect("an answer"), "compare(=cxd)");
    for wrong in ["color=red", "ssf=x", "ssf"] {
        let refusal = rights(&[wrong]).expect_err("a refusal");
        assert_eq!(refusal.code, ResultCode::ProtocolError, "{wrong}");
    }
}

#[test]
fn wrong_questions_are_refused() {
    let world = world();
    let root = world.root();
    let code = |outcome: Result<Vec<PartAccess>, LdapResult>| outcome.expect_err("refused").code;
    for value in [None, Some(&b""[..]), Some(b"\x30\x01"), Some(b"\x04\x00")] {
        assert_eq!(code(ask(&world, &root, value)), ResultCode::ProtocolError);
    }
    let outcome = explain(&world, &root, (JANE, "malformed"), &["title"]);
    assert_eq!(code(outcome), ResultCode::InvalidDnSyntax);
    let outcome = explain(&world, &root, (JANE, JANE), &["nothing"]);
    assert_eq!(code(outcome), ResultCode::UndefinedAttributeType);
    let missing = ("uid=missing,dc=example,dc=com", JANE);
    let outcome = explain(&world, &root, missing, &["title"]);
    assert_eq!(code(outcome), ResultCode::NoSuchObject);
}

#[test]
fn searches_in_vain_are_reported_without_values() {
    let searches = SlowSearches::default();
    let mut world = World::new();
    let text: String = (0..1200)
        .map(|number| {
            format!(
                "dn: cn=one {number},ou=people,dc=example,dc=com\nobjectClass: person\ncn: one {number}\n\
                 sn: one\ndescription: kind {number}\n\n"
            )
        })
        .collect();
    world.load(&text);
    world.reopen(|options| options.slow_searches = searches.clone());
    let base = "dc=example,dc=com";
    for value in ["secret", "hidden"] {
        let filter = format!("(&(objectClass=person)(description={value}))");
        world.search(
            &world.root(),
            &asked(base, Scope::Subtree, &filter, &["1.1"]),
        );
    }
    world.search(
        &world.root(),
        &asked(base, Scope::Subtree, "(objectClass=*)", &["1.1"]),
    );
    let list = searches.list();
    let [search] = list.as_slice() else {
        panic!("{list:?}");
    };
    assert_eq!(search.filter, "(&(objectClass=person)(description=?))");
    assert_eq!((search.count, search.returned), (2, 0));
    assert!(search.examined >= 2400, "{search:?}");
    assert!(
        search.missing.contains(&"description:eq".to_owned()),
        "{search:?}"
    );
    assert!(!format!("{search:?}").contains("secret"), "{search:?}");
}
