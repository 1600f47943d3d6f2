//! Referral objects and aliases (RFC 3296, RFC 4512 section 2.6) lead to a referral or a refusal.

use fulgurite_directory::{Quantum, Session};
use fulgurite_ldap::control::SearchOptions;
use fulgurite_ldap::{
    Control, LdapResult, ModifyOperation, Request, Response, ResponseMessage, ResultCode, Scope,
    oid,
};
use fulgurite_store::{IndexKind, IndexKinds, IndexSpec, StoreOptions};

use crate::support::{JANE, TOP, World, add_pdu, asked, decode, delete_pdu, pdu};

const ELSEWHERE: &str = "ou=elsewhere,dc=example,dc=com";
const PERSON: [(&str, &str); 3] = [("objectClass", "person"), ("cn", "x"), ("sn", "x")];

fn world() -> World {
    let world = World::new();
    world.load(
        "dn: ou=elsewhere,dc=example,dc=com
        objectClass: referral
        objectClass: extensibleObject
        ou: elsewhere
        ref: ldap://other.example/ou=there,dc=example,dc=net the other office

        dn: ou=alias,dc=example,dc=com
        objectClass: alias
        objectClass: extensibleObject
        ou: alias
        aliasedObjectName: ou=people,dc=example,dc=com
",
    );
    world
}

/// The referral entry is what makes a search without an index of classes read everything.
#[test]
fn a_store_without_referrals_knows_it_without_an_index() {
    let by_name = |options: &mut StoreOptions| {
        let uid = IndexSpec {
            attribute: "uid".to_owned(),
            kinds: IndexKinds::of(&[IndexKind::Equality]),
        };
        options.indexes = Some(vec![uid]);
    };
    let world = World::empty_with_store(|_| {}, by_name);
    world.load_example();
    assert_eq!(world.examined("(uid=jane)"), (1, 1));
    world.load(
        "dn: ou=elsewhere,dc=example,dc=com
        objectClass: referral
        objectClass: extensibleObject
        ou: elsewhere
        ref: ldap://other.example/
",
    );
    let (examined, found) = world.examined("(uid=jane)");
    assert!(examined > 1 && found == 1, "{examined} {found}");
}

fn with_control(pdu_of: &[u8]) -> Vec<u8> {
    let control = Control {
        oid: oid::MANAGE_DSA_IT.as_bytes(),
        critical: true,
        value: None,
    };
    pdu(&decode(pdu_of).request, &[control])
}

/// Code, matchedDN and URLs.
fn summary(result: &LdapResult) -> (ResultCode, &str, Vec<&str>) {
    (
        result.code,
        result.matched_dn.as_str(),
        result.referrals.iter().map(String::as_str).collect(),
    )
}

fn sent_to(url: &str) -> (ResultCode, &str, Vec<&str>) {
    (ResultCode::Referral, ELSEWHERE, vec![url])
}

/// Runs a search and returns names of entries, URLs of references, and the result.
fn search(world: &World, pdu: &[u8]) -> (Vec<String>, Vec<String>, LdapResult) {
    let message = decode(pdu);
    let Request::Search(request) = &message.request else {
        unreachable!("a search was encoded")
    };
    let session = world.root();
    let mut task = world
        .directory
        .begin_search(&session, message.id, request, &message.controls);
    let mut out = Vec::new();
    while task.advance(&mut out, Quantum::default()) == fulgurite_directory::Progress::More {}
    let (mut entries, mut references, mut result) = (vec![], vec![], None);
    let mut rest = out.as_slice();
    while !rest.is_empty() {
        let len = fulgurite_ldap::frame(rest, usize::MAX)
            .expect("framed")
            .expect("whole messages");
        let (one, more) = rest.split_at(len);
        rest = more;
        match ResponseMessage::decode(one).expect("a response").response {
            Response::SearchEntry(entry) => {
                entries.push(String::from_utf8_lossy(entry.dn).into_owned())
            }
            Response::SearchReference(urls) => {
                references.extend(
                    urls.iter()
                        .map(|url| String::from_utf8_lossy(url).into_owned()),
                );
            }
            Response::SearchDone(done) => result = Some(done),
            other => panic!("{other:?}"),
        }
    }
    (entries, references, result.expect("a result"))
}

#[test]
fn a_base_at_or_below_a_referral_object_gives_a_referral() {
    let world = world();
    for (base, scope, url) in [
        (
            ELSEWHERE,
            Scope::Subtree,
            "ldap://other.example/ou=there,dc=example,dc=net??sub",
        ),
        (
            ELSEWHERE,
            Scope::Base,
            "ldap://other.example/ou=there,dc=example,dc=net??base",
        ),
        (
            "cn=x,ou=y,ou=elsewhere,dc=example,dc=com",
            Scope::One,
            "ldap://other.example/cn=x,ou=y,ou=there,dc=example,dc=net??one",
        ),
    ] {
        let (entries, references, result) =
            search(&world, &asked(base, scope, "(cn=x)", &[]).pdu());
        assert_eq!((entries.len(), references.len()), (0, 0));
        assert_eq!(summary(&result), sent_to(url), "{base}");
    }
}

#[test]
fn search_options_suppress_referrals() {
    let world = world();
    let answer = |base: &str, controls: &[Control<'_>]| {
        let asked = asked(base, Scope::Subtree, "(objectClass=*)", &[]).pdu();
        let (_, references, result) = search(&world, &pdu(&decode(&asked).request, controls));
        (references.len(), result.code, result.diagnostic)
    };
    let options = |critical, value| Control::with_value(SearchOptions::KIND.oid, critical, value);
    let domain = SearchOptions::DOMAIN_SCOPE.encode();
    let phantom = SearchOptions::PHANTOM_ROOT.encode();
    let text = String::new;

    let none = options(true, b"\x30\x03\x02\x01\x00");
    assert_eq!(answer(TOP, &[none]), (1, ResultCode::Success, text()));
    for critical in [false, true] {
        let given = [options(critical, &domain)];
        assert_eq!(answer(TOP, &given), (0, ResultCode::Success, text()));
        let missing = (0, ResultCode::NoSuchObject, text());
        assert_eq!(answer(ELSEWHERE, &given), missing);
    }
    let given = [options(false, &phantom)];
    assert_eq!(answer(TOP, &given), (1, ResultCode::Success, text()));
    let refused = "searchOptions contained unrecognized flag".to_owned();
    let given = [options(true, &phantom)];
    assert_eq!(
        answer(TOP, &given),
        (0, ResultCode::UnwillingToPerform, refused)
    );

    let scope = Control::new(oid::DOMAIN_SCOPE, true);
    let twice = "control specified multiple times".to_owned();
    for (given, text) in [
        (
            [scope, options(true, &domain)],
            format!("searchOptions {twice} or with domainScope control"),
        ),
        (
            [options(true, &domain), scope],
            format!("domainScope {twice}"),
        ),
    ] {
        assert_eq!(answer(TOP, &given), (0, ResultCode::ProtocolError, text));
    }
}

#[test]
fn a_search_that_meets_a_referral_object_returns_a_reference_whatever_the_filter() {
    let world = world();
    let pdu = asked(TOP, Scope::Subtree, "(uid=jane)", &["1.1"]).pdu();
    let (entries, references, result) = search(&world, &pdu);
    assert_eq!(entries, [JANE]);
    assert_eq!(
        references,
        ["ldap://other.example/ou=there,dc=example,dc=net??sub"]
    );
    assert_eq!(result.code, ResultCode::Success);
    let (entries, references, _) = search(&world, &with_control(&pdu));
    assert_eq!((entries.len(), references.len()), (1, 0));
    let managed = with_control(&asked(ELSEWHERE, Scope::Base, "(ref=*)", &[]).pdu());
    assert_eq!(search(&world, &managed).0, [ELSEWHERE]);
}

#[test]
fn updates_at_or_below_a_referral_object_give_a_referral() {
    let world = world();
    let root = world.root();
    let here = "ldap://other.example/ou=there,dc=example,dc=net";
    let below = "ldap://other.example/cn=x,ou=there,dc=example,dc=net";
    let child = "cn=x,ou=elsewhere,dc=example,dc=com";
    let change: [(ModifyOperation, &str, &[&str]); 1] =
        [(ModifyOperation::Add, "description", &["x"])];
    assert_eq!(summary(&world.add(&root, child, &PERSON)), sent_to(below));
    assert_eq!(
        summary(&world.modify(&root, ELSEWHERE, &change)),
        sent_to(here)
    );
    assert_eq!(
        summary(&world.modify(&root, child, &change)),
        sent_to(below)
    );
    assert_eq!(summary(&world.delete(&root, ELSEWHERE)), sent_to(here));
    assert_eq!(
        summary(&world.rename(&root, ELSEWHERE, "ou=moved", true, None)),
        sent_to(here)
    );
    assert_eq!(
        summary(&world.compare(&Session::new(), ELSEWHERE, "ou", "elsewhere")),
        sent_to(here)
    );
    let managed = with_control(&delete_pdu(ELSEWHERE));
    assert_eq!(world.write(&root, &managed).code, ResultCode::Success);
    assert_eq!(
        world
            .add(&root, ELSEWHERE, &[("objectClass", "organizationalUnit")])
            .code,
        ResultCode::Success
    );
}

#[test]
fn nothing_is_added_below_an_alias() {
    let world = world();
    let pdu = add_pdu("cn=x,ou=alias,dc=example,dc=com", &PERSON);
    assert_eq!(
        world.write(&world.root(), &pdu).code,
        ResultCode::AliasProblem
    );
    let moved = world.rename(
        &world.root(),
        JANE,
        "uid=jane",
        false,
        Some("ou=alias,dc=example,dc=com"),
    );
    assert_eq!(moved.code, ResultCode::AliasProblem);
}

#[test]
fn compare_matches_superior_classes() {
    let world = world();
    let compared = |value| {
        world
            .compare(&Session::new(), JANE, "objectClass", value)
            .code
    };
    assert_eq!(compared("person"), ResultCode::CompareTrue);
    assert_eq!(compared("top"), ResultCode::CompareTrue);
    assert_eq!(compared("organizationalUnit"), ResultCode::CompareFalse);
    assert_eq!(compared("noSuchClass"), ResultCode::InvalidAttributeSyntax);
}
