//! The dereference control. Texts and bytes are slapd's.

use fulgurite_directory::{RuleText, Session};
use fulgurite_ldap::control::{Dereference, DereferenceSpec, DereferencedValue, dereferenced};
use fulgurite_ldap::{ResponseMessage, ResultCode, Scope, oid};

use crate::support::{JANE, JOHN, TOP, World, asked};

const GROUP: &str = "cn=all,ou=groups,dc=example,dc=com";

/// Returns the values of the response controls of all entries found; `None` for an entry without.
fn searched(
    world: &World,
    session: &Session,
    filter: &str,
    specs: &[(&str, &[&str])],
) -> Vec<Option<Vec<u8>>> {
    let mut bytes = &*answer(world, session, filter, specs);
    let mut values = Vec::new();
    while !bytes.is_empty() {
        let len = fulgurite_ldap::frame(bytes, usize::MAX)
            .expect("framed")
            .expect("whole");
        let (pdu, rest) = bytes.split_at(len);
        let message = ResponseMessage::decode(pdu).expect("a response");
        bytes = rest;
        if rest.is_empty() {
            let result = message.response.result().expect("a result");
            assert_eq!(result.code, ResultCode::Success, "{result:?}");
            continue;
        }
        let control = message.controls.find(oid::DEREFERENCE);
        assert!(control.is_none_or(|control| !control.critical));
        values.push(control.map(|control| control.value.expect("a value").to_vec()));
    }
    values
}

fn answer(world: &World, session: &Session, filter: &str, specs: &[(&str, &[&str])]) -> Vec<u8> {
    let specs = specs.iter().map(|(attribute, attributes)| DereferenceSpec {
        attribute: attribute.as_bytes(),
        attributes: attributes.iter().map(|name| name.as_bytes()).collect(),
    });
    let control = Dereference {
        specs: specs.collect(),
    };
    let mut asked = asked(TOP, Scope::Subtree, filter, &["1.1"]);
    asked.controls = vec![(oid::DEREFERENCE, true, Some(control.encode()))];
    world.answer(session, &asked)
}

fn value<'v>(value: &'v str, attributes: &[(&'v str, &[&'v str])]) -> DereferencedValue<'v> {
    let attributes = attributes.iter().map(|(name, values)| {
        let values = values.iter().map(|value| value.as_bytes()).collect();
        (*name, values)
    });
    DereferencedValue {
        attribute: "member",
        value: value.as_bytes(),
        attributes: attributes.collect(),
    }
}

#[test]
fn values_come_with_attributes_of_the_entries_they_name() {
    let world = World::new();
    let gone = "uid=gone,ou=people,dc=example,dc=com";
    let members = [JANE, gone, JOHN];
    let change = [(
        fulgurite_ldap::ModifyOperation::Replace,
        "member",
        &members[..],
    )];
    assert!(world.modify(&world.root(), GROUP, &change).is_success());
    let specs: [(&str, &[&str]); 2] = [
        (
            "MEMBER",
            &["CN", "description", "hasSubordinates", "name", "uid"],
        ),
        ("owner", &["uid"]),
    ];
    let found = searched(&world, &world.root(), "(|(cn=all)(uid=jane))", &specs);
    let expected = dereferenced(&[
        value(JANE, &[("cn", &["Jane Doe"]), ("uid", &["jane"])]),
        value(gone, &[]),
        value(
            JOHN,
            &[
                ("cn", &["John Roe"]),
                ("description", &["first of two", "Second  of Two"]),
                ("uid", &["john"]),
            ],
        ),
    ]);
    assert_eq!(found, [None, Some(expected)]);
}

#[test]
fn rights_hide_attributes_entries_and_values() {
    let rules = [
        "to dn.exact=uid=john,ou=people,dc=example,dc=com by dn.exact=uid=jane,ou=people,dc=example,dc=com none by * read",
        "to attrs=cn by dn.exact=uid=john,ou=people,dc=example,dc=com none by * read",
        "to attrs=member by anonymous none by * read",
        "to * by * read",
    ];
    let world = World::with(|options| {
        options.access = rules.map(|rule| RuleText::from(rule.to_owned())).to_vec();
    });
    let specs: [(&str, &[&str]); 1] = [("member", &["cn", "uid"])];
    let found = |session: &Session| searched(&world, session, "(objectClass=groupOfNames)", &specs);
    let expected = dereferenced(&[
        value(JANE, &[("cn", &["Jane Doe"]), ("uid", &["jane"])]),
        value(JOHN, &[]),
    ]);
    assert_eq!(found(&world.user(JANE)), [Some(expected)]);
    let expected = dereferenced(&[
        value(JANE, &[("uid", &["jane"])]),
        // The first rule about an entry decides.
        value(JOHN, &[("cn", &["John Roe"]), ("uid", &["john"])]),
    ]);
    assert_eq!(found(&world.user(JOHN)), [Some(expected)]);
    assert_eq!(found(&Session::new()), [None]);
}

#[test]
fn wrong_attributes_are_refused_in_slapds_words() {
    let world = World::new();
    for (specs, text) in [
        (&[("x", &["cn"][..])][..], "derefAttr decoding error"),
        (&[("cn", &["cn"])], "derefAttr syntax not distinguishedName"),
        (&[("member", &["x"])], "attribute decoding error"),
        (&[("member", &["*"])], "attribute decoding error"),
        (
            &[("member", &["cn"]), ("MEMBER", &["sn"])],
            "derefAttr must be unique within control",
        ),
    ] {
        let bytes = answer(&world, &world.root(), "(cn=all)", specs);
        let message = ResponseMessage::decode(&bytes).expect("a response");
        let result = message.response.result().expect("a result");
        assert_eq!(result.code, ResultCode::ProtocolError);
        assert_eq!(result.diagnostic, format!("Dereference control: {text}"));
    }
}
