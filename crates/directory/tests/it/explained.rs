//! The explanation of access rules by an extended operation, and searches that are reported.

use fulgurite_directory::{ExtendedStep, Session, UnselectiveSearches};
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
    let searches = UnselectiveSearches::default();
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
    world.reopen(|options| options.unselective_searches = searches.clone());
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
