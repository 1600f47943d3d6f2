//! Situations and the results OpenLDAP gives in them: code and matchedDN.

use ModifyOperation::{Add, Delete, Increment, Replace};
use ResultCode::*;
use fulgurite_directory::Session;
use fulgurite_ldap::{Control, LdapResult, ModifyOperation, Request, ResultCode, Scope};

use crate::support::{
    JANE, JOHN, PEOPLE, ROOT, TOP, World, add_pdu, asked, code, decode, delete_pdu, found, pdu,
};

const PERSON: [(&str, &str); 3] = [("objectClass", "person"), ("cn", "x"), ("sn", "x")];
const UNIT: [(&str, &str); 1] = [("objectClass", "organizationalUnit")];

/// A new entry: its name and attributes.
type New<'a> = (&'a str, &'a [(&'a str, &'a str)]);
/// A change of one attribute of the entry named first, and what is to come of it.
type Changed<'a> = (
    &'a str,
    ModifyOperation,
    &'a str,
    &'a [&'a str],
    ResultCode,
    &'a str,
);

/// Returns true if a result has this code and matchedDN.
fn expect(result: &LdapResult, code: ResultCode, matched: &str, situation: &str) {
    assert_eq!(
        (result.code, result.matched_dn.as_str()),
        (code, matched),
        "{situation}: {result}"
    );
}

#[test]
fn searches() {
    let world = World::new();
    for (base, filter, expected, matched) in [
        (
            "uid=x,ou=people,dc=example,dc=com",
            "(uid=*)",
            NoSuchObject,
            PEOPLE,
        ),
        ("cn=a,cn=b,dc=example,dc=com", "(uid=*)", NoSuchObject, TOP),
        ("dc=elsewhere", "(uid=*)", NoSuchObject, ""),
        ("dc=com", "(uid=*)", NoSuchObject, ""),
        ("no name", "(uid=*)", InvalidDnSyntax, ""),
        ("nope=x,dc=com", "(uid=*)", InvalidDnSyntax, ""),
        (TOP, "(nope=x)", Success, ""),
        (TOP, "(!(nope=x))", Success, ""),
        (TOP, "(uidNumber=many)", Success, ""),
        (TOP, "(|)", Success, ""),
    ] {
        let found = world.search(&Session::new(), &asked(base, Scope::Subtree, filter, &[]));
        expect(
            &found.result,
            expected,
            matched,
            &format!("{base} {filter}"),
        );
        assert_eq!(found.entries, []);
    }
}

#[test]
fn compares() {
    let world = World::new();
    for (dn, name, value, expected, matched) in [
        (JANE, "sn", "DOE", CompareTrue, ""),
        (JANE, "name", "doe", CompareTrue, ""),
        (JANE, "cn;lang-de", "Jane Reh", CompareTrue, ""),
        (JANE, "sn", "Roe", CompareFalse, ""),
        (JANE, "title", "x", NoSuchAttribute, ""),
        (JANE, "nope", "x", UndefinedAttributeType, ""),
        (JANE, "uidNumber", "many", InvalidAttributeSyntax, ""),
        (JANE, "jpegPhoto", "x", InappropriateMatching, ""),
        (JANE, "userPassword", "jane's", InsufficientAccessRights, ""),
        (JANE, "hasSubordinates", "FALSE", CompareTrue, ""),
        (PEOPLE, "numSubordinates", "2", CompareTrue, ""),
        (
            PEOPLE,
            "entryDN",
            "OU=People,dc=example,dc=com",
            UnwillingToPerform,
            "",
        ),
        (
            "uid=x,ou=people,dc=example,dc=com",
            "cn",
            "x",
            NoSuchObject,
            PEOPLE,
        ),
        (
            "uid=x,ou=people,dc=example,dc=com",
            "nope",
            "x",
            UndefinedAttributeType,
            "",
        ),
        ("dc=com", "cn", "x", NoSuchObject, ""),
        ("x", "cn", "x", InvalidDnSyntax, ""),
        ("", "objectClass", "top", CompareTrue, ""),
        ("", "cn", "x", NoSuchAttribute, ""),
        ("cn=subschema", "cn", "SUBSCHEMA", CompareTrue, ""),
    ] {
        let result = world.compare(&Session::new(), dn, name, value);
        expect(&result, expected, matched, &format!("{dn} {name}:{value}"));
    }
}

#[test]
fn adds() {
    let world = World::new();
    let unit = |dn| (dn, UNIT.as_slice());
    let rows: [(New<'_>, ResultCode, &str); 26] = [
        (unit(PEOPLE), EntryAlreadyExists, ""),
        (unit("ou=x,ou=y,dc=example,dc=com"), NoSuchObject, TOP),
        (
            unit("ou=x,ou=y,ou=people,dc=example,dc=com"),
            NoSuchObject,
            PEOPLE,
        ),
        (unit("ou=x,dc=elsewhere"), UnwillingToPerform, ""),
        (unit("dc=com"), UnwillingToPerform, ""),
        (unit(""), EntryAlreadyExists, ""),
        (unit("cn=subschema"), EntryAlreadyExists, ""),
        (unit("x"), InvalidDnSyntax, ""),
        (unit("nope=x,dc=example,dc=com"), InvalidDnSyntax, ""),
        (
            ("cn=x,dc=example,dc=com", &PERSON[..2]),
            ObjectClassViolation,
            "",
        ),
        (
            ("cn=x,dc=example,dc=com", &[("cn", "x")]),
            ObjectClassViolation,
            "",
        ),
        (
            ("cn=x,dc=example,dc=com", &[("objectClass", "top")]),
            ObjectClassViolation,
            "",
        ),
        (
            ("uid=x,dc=example,dc=com", &[("objectClass", "uidObject")]),
            ObjectClassViolation,
            "",
        ),
        (
            (
                "ou=x,dc=example,dc=com",
                &[
                    ("objectClass", "organizationalUnit"),
                    ("objectClass", "domain"),
                    ("dc", "x"),
                ],
            ),
            ObjectClassViolation,
            "",
        ),
        (
            (
                "ou=x,dc=example,dc=com",
                &[("objectClass", "organizationalUnit"), ("mail", "x@y")],
            ),
            ObjectClassViolation,
            "",
        ),
        (
            ("mail=x,dc=example,dc=com", &UNIT),
            ObjectClassViolation,
            "",
        ),
        // The schema is looked at before the tree is.
        (
            ("cn=x,ou=y,dc=example,dc=com", &PERSON[..2]),
            ObjectClassViolation,
            "",
        ),
        (
            (
                "ou=x,dc=example,dc=com",
                &[("objectClass", "organizationalUnit"), ("nope", "x")],
            ),
            UndefinedAttributeType,
            "",
        ),
        (
            ("ou=x,dc=example,dc=com", &[("objectClass", "nope")]),
            InvalidAttributeSyntax,
            "",
        ),
        (
            (
                "ou=x,dc=example,dc=com",
                &[("objectClass", "organizationalUnit"), ("description", "")],
            ),
            InvalidAttributeSyntax,
            "",
        ),
        (
            (
                "ou=x,dc=example,dc=com",
                &[
                    ("objectClass", "organizationalUnit"),
                    ("description", "a"),
                    ("description", "A"),
                ],
            ),
            AttributeOrValueExists,
            "",
        ),
        (
            (
                "uid=x,dc=example,dc=com",
                &[
                    ("objectClass", "inetOrgPerson"),
                    ("cn", "x"),
                    ("sn", "x"),
                    ("displayName", "a"),
                    ("displayName", "b"),
                ],
            ),
            ConstraintViolation,
            "",
        ),
        (
            (
                "ou=x,dc=example,dc=com",
                &[
                    ("objectClass", "organizationalUnit"),
                    ("creatorsName", "cn=me"),
                ],
            ),
            ConstraintViolation,
            "",
        ),
        (("ou=x,dc=example,dc=com", &[]), ProtocolError, ""),
        (unit("ou=x,dc=example,dc=com"), Success, ""),
        (unit("ou=X,dc=Example,dc=com"), EntryAlreadyExists, ""),
    ];
    for ((dn, attributes), expected, matched) in rows {
        let result = world.add(&world.root(), dn, attributes);
        expect(&result, expected, matched, &format!("{dn} {attributes:?}"));
    }
}

#[test]
fn modifications() {
    let world = World::new();
    let nobody = "uid=x,ou=people,dc=example,dc=com";
    let rows: [Changed<'_>; 27] = [
        (nobody, Replace, "sn", &["x"], NoSuchObject, PEOPLE),
        (nobody, Replace, "nope", &["x"], UndefinedAttributeType, ""),
        ("dc=com", Replace, "sn", &["x"], UnwillingToPerform, ""),
        ("", Replace, "description", &["x"], UnwillingToPerform, ""),
        (
            "cn=subschema",
            Replace,
            "description",
            &["x"],
            UnwillingToPerform,
            "",
        ),
        ("x", Replace, "sn", &["x"], InvalidDnSyntax, ""),
        (JANE, Add, "cn", &["JANE DOE"], AttributeOrValueExists, ""),
        (JANE, Add, "title", &["a", "A"], AttributeOrValueExists, ""),
        (JANE, Delete, "title", &[], NoSuchAttribute, ""),
        (JANE, Delete, "cn", &["Janet"], NoSuchAttribute, ""),
        (JANE, Replace, "title", &[], Success, ""),
        (JANE, Delete, "sn", &[], ObjectClassViolation, ""),
        (JOHN, Delete, "uid", &[], NamingViolation, ""),
        (JOHN, Replace, "uid", &["j"], NamingViolation, ""),
        (
            JANE,
            Replace,
            "objectClass",
            &["organizationalUnit"],
            ObjectClassModsProhibited,
            "",
        ),
        (
            JANE,
            Replace,
            "objectClass",
            &["person"],
            ObjectClassModsProhibited,
            "",
        ),
        (JANE, Delete, "objectClass", &[], ObjectClassViolation, ""),
        (JANE, Replace, "nope", &["x"], UndefinedAttributeType, ""),
        (
            JANE,
            Replace,
            "uidNumber",
            &["x"],
            InvalidAttributeSyntax,
            "",
        ),
        (JANE, Add, "uidNumber", &["7"], ConstraintViolation, ""),
        (JANE, Add, "dc", &["x"], ObjectClassViolation, ""),
        (JANE, Increment, "sn", &["1"], ConstraintViolation, ""),
        (JOHN, Increment, "uidNumber", &["1"], NoSuchAttribute, ""),
        (JANE, Add, "title", &[], ProtocolError, ""),
        (
            JANE,
            Replace,
            "createTimestamp",
            &["20200101000000Z"],
            ConstraintViolation,
            "",
        ),
        (
            JANE,
            Replace,
            "entryUUID",
            &["x"],
            InvalidAttributeSyntax,
            "",
        ),
        (JANE, Increment, "uidNumber", &["5"], Success, ""),
    ];
    let before = world.read(JOHN, &["*", "+"]);
    for (dn, operation, name, values, expected, matched) in rows {
        let result = world.modify(&world.root(), dn, &[(operation, name, values)]);
        let situation = format!("{dn} {operation:?} {name} {values:?}");
        expect(&result, expected, matched, &situation);
    }
    assert_eq!(
        world.read(JOHN, &["*", "+"]),
        before,
        "refusals leave no trace"
    );
    assert_eq!(world.read(JANE, &["uidNumber"]).get("uidNumber"), ["1005"]);
}

#[test]
fn deletions() {
    let world = World::new();
    for (dn, expected, matched) in [
        (PEOPLE, NotAllowedOnNonLeaf, ""),
        (TOP, NotAllowedOnNonLeaf, ""),
        ("uid=x,ou=people,dc=example,dc=com", NoSuchObject, PEOPLE),
        ("dc=com", UnwillingToPerform, ""),
        ("", UnwillingToPerform, ""),
        ("cn=subschema", UnwillingToPerform, ""),
        ("x", InvalidDnSyntax, ""),
        (JANE, Success, ""),
        (JANE, NoSuchObject, PEOPLE),
        (JOHN, Success, ""),
        (PEOPLE, Success, ""),
    ] {
        let result = world.delete(&world.root(), dn);
        expect(&result, expected, matched, dn);
    }
}

#[test]
fn renamings() {
    let world = World::new();
    let nobody = "uid=x,ou=people,dc=example,dc=com";
    let rows: [(&str, &str, Option<&str>, ResultCode, &str); 17] = [
        (nobody, "uid=y", None, NoSuchObject, PEOPLE),
        (JANE, "uid=john", None, EntryAlreadyExists, ""),
        (JANE, "", None, InvalidDnSyntax, ""),
        (JANE, "uid=a,ou=b", None, InvalidDnSyntax, ""),
        (JANE, "nope=a", None, InvalidDnSyntax, ""),
        (JANE, "uid", None, InvalidDnSyntax, ""),
        (
            JANE,
            "uid=j",
            Some("ou=x,dc=example,dc=com"),
            NoSuchObject,
            "",
        ),
        (JANE, "uid=j", Some("x"), InvalidDnSyntax, ""),
        (PEOPLE, "ou=people", Some(JANE), UnwillingToPerform, ""),
        (PEOPLE, "ou=people", Some(PEOPLE), UnwillingToPerform, ""),
        (TOP, "dc=other", None, AffectsMultipleDsas, ""),
        (
            PEOPLE,
            "ou=people",
            Some("dc=other"),
            AffectsMultipleDsas,
            "",
        ),
        (PEOPLE, "ou=people", Some(""), AffectsMultipleDsas, ""),
        (JANE, "dc=jane", None, ObjectClassViolation, ""),
        ("", "cn=x", None, UnwillingToPerform, ""),
        ("dc=com", "dc=x", None, UnwillingToPerform, ""),
        (JANE, "uid=j", None, Success, ""),
    ];
    for (dn, new_rdn, superior, expected, matched) in rows {
        let result = world.rename(&world.root(), dn, new_rdn, true, superior);
        expect(
            &result,
            expected,
            matched,
            &format!("{dn} {new_rdn} {superior:?}"),
        );
    }
}

#[test]
fn updates_need_an_authenticated_requester_with_rights() {
    let world = World::new();
    let (anonymous, jane) = (Session::new(), world.user(JANE));
    let new = "ou=x,dc=example,dc=com";
    for (session, expected) in [
        (&anonymous, StrongerAuthRequired),
        (&jane, InsufficientAccessRights),
    ] {
        assert_eq!(code(&world.add(session, new, &UNIT)), expected);
        assert_eq!(code(&world.delete(session, JANE)), expected);
        let change: (ModifyOperation, &str, &[&str]) = (Replace, "sn", &["x"]);
        assert_eq!(code(&world.modify(session, JANE, &[change])), expected);
        assert_eq!(
            code(&world.rename(session, JANE, "uid=j", true, None)),
            expected
        );
    }
    // Errors of the request itself come first, even for strangers.
    let change: (ModifyOperation, &str, &[&str]) = (Replace, "nope", &["x"]);
    let unknown = world.modify(&anonymous, JANE, &[change]);
    assert_eq!(code(&unknown), UndefinedAttributeType);
    assert_eq!(
        code(&world.add(&anonymous, "dc=com", &UNIT)),
        UnwillingToPerform
    );
    assert_eq!(
        code(&world.add(&jane, "ou=x,ou=y,dc=example,dc=com", &UNIT)),
        NoSuchObject
    );
}

#[test]
fn controls() {
    let world = World::new();
    let anonymous = Session::new();
    let search = |controls: &[Control<'_>]| {
        let asked = asked(ROOT, Scope::Base, "(cn=x)", &[]).pdu();
        let request = decode(&asked).request;
        let pdu = pdu(&request, controls);
        let message = decode(&pdu);
        let Request::Search(request) = &message.request else {
            unreachable!("a search was encoded")
        };
        let mut out = Vec::new();
        world
            .directory
            .begin_search(&anonymous, 7, request, &message.controls)
            .advance(&mut out, Default::default());
        code(&found(&out).result)
    };
    let unknown = |critical| Control::new("1.2.3.4", critical);
    let paged = "1.2.840.113556.1.4.319";
    // The base does not exist: a control that does no harm leaves it at that.
    assert_eq!(search(&[unknown(false)]), NoSuchObject);
    assert_eq!(search(&[Control::manage_dsa_it()]), NoSuchObject);
    assert_eq!(search(&[unknown(true)]), UnavailableCriticalExtension);
    assert_eq!(search(&[unknown(false), unknown(false)]), NoSuchObject);
    let managed = Control::manage_dsa_it();
    assert_eq!(search(&[managed, managed]), ProtocolError);
    assert_eq!(search(&[Control::new(paged, false)]), ProtocolError);
    assert_eq!(
        search(&[Control::with_value(paged, true, b"x")]),
        ProtocolError
    );

    let root = world.root();
    let delete = delete_pdu(JOHN);
    let request = decode(&delete).request;
    let value = [0x30, 5, 2, 1, 1, 4, 0];
    let with_page = pdu(&request, &[Control::with_value(paged, true, &value)]);
    assert_eq!(
        code(&world.write(&root, &with_page)),
        UnavailableCriticalExtension
    );
    let with_unknown = pdu(&request, &[unknown(true)]);
    assert_eq!(
        code(&world.write(&root, &with_unknown)),
        UnavailableCriticalExtension
    );
    assert_eq!(
        code(&world.write(&root, &pdu(&request, &[unknown(false)]))),
        Success
    );
}

#[test]
fn the_suffix_entry_is_added_like_any_other() {
    let world = World::empty(|_| {});
    let root = world.root();
    let domain = [("objectClass", "domain"), ("dc", "example")];
    expect(
        &world.add(&root, PEOPLE, &UNIT),
        NoSuchObject,
        "",
        "no suffix entry yet",
    );
    let search = asked(TOP, Scope::Subtree, "(objectClass=*)", &[]);
    expect(
        &world.search(&root, &search).result,
        NoSuchObject,
        "",
        "no suffix entry yet",
    );
    expect(
        &world.write(&root, &add_pdu(TOP, &domain)),
        Success,
        "",
        TOP,
    );
    expect(&world.add(&root, PEOPLE, &UNIT), Success, "", PEOPLE);
    expect(&world.add(&root, TOP, &domain), EntryAlreadyExists, "", TOP);
}
