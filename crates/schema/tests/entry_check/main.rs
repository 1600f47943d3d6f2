//! The whole-entry check: one row per violation.

use fulgurite_schema::{
    CheckOptions, Dn, Entry, Schema, SchemaBuilder, SchemaViolation, ViolationKind,
};

/// Builds an entry from `attribute: value` lines.
fn entry(schema: &Schema, dn: &str, lines: &str) -> Entry {
    let mut entry = Entry::new(Dn::parse(schema, dn).unwrap());
    for line in lines.split('|') {
        let (attribute, value) = line.split_once(": ").unwrap();
        entry.push(
            &schema.describe(attribute.as_bytes()).unwrap(),
            value.as_bytes().to_vec(),
        );
    }
    entry
}

fn check(dn: &str, lines: &str) -> Result<String, SchemaViolation> {
    let schema = Schema::standard();
    let checked = schema.check(entry(&schema, dn, lines), &CheckOptions::default())?;
    Ok(schema
        .object_class_at(checked.structural_class())
        .name()
        .to_owned())
}

#[test]
fn good_entries() {
    for (dn, lines, structural) in [
        (
            "dc=example,dc=com",
            "objectClass: dcObject|objectClass: organization|dc: example|o: x",
            "organization",
        ),
        (
            "cn=a",
            "objectClass: top|objectClass: PERSON|cn: A|sn: b",
            "person",
        ),
        (
            "cn=a",
            "objectClass: 2.5.6.6|cn: a|sn: b|entryUUID: 597ae2f6-16a6-1027-98f4-d28b5365dc14",
            "person",
        ),
        (
            "uid=a+cn=b",
            "objectClass: inetOrgPerson|uid: a|cn: b|cn;lang-de: b|sn: c|mail: a@b",
            "inetOrgPerson",
        ),
        (
            "cn=a",
            "objectClass: person|objectClass: extensibleObject|cn: a|sn: b|mail: c@d",
            "person",
        ),
        (
            "o=a",
            "objectClass: organization|objectClass: organizationalUnit|objectClass: pilotOrganization|o: a|ou: b",
            "pilotOrganization",
        ),
        (
            "cn=a",
            "objectClass: person|objectClass: organizationalPerson|objectClass: inetOrgPerson|cn: a|sn: b",
            "inetOrgPerson",
        ),
    ] {
        assert_eq!(check(dn, lines).as_deref(), Ok(structural), "{lines}");
    }
}

#[test]
fn violations_and_their_texts() {
    use ViolationKind::*;
    for (dn, lines, kind, text) in [
        (
            "cn=a",
            "objectClass: person|cn: a",
            ObjectClass,
            "object class 'person' requires attribute 'sn'",
        ),
        (
            "cn=a",
            "objectClass: person|cn: a|sn: b|mail: c",
            ObjectClass,
            "attribute 'mail' not allowed",
        ),
        (
            "cn=a",
            "objectClass: top|cn: a",
            ObjectClass,
            "no structural object class provided",
        ),
        (
            "uid=b",
            "objectClass: uidObject|uid: b",
            ObjectClass,
            "no structural object class provided",
        ),
        ("cn=a", "cn: a", ObjectClass, "no objectClass attribute"),
        (
            "cn=a",
            "objectClass: person|objectClass: organization|cn: a|sn: b|o: c",
            ObjectClass,
            "invalid structural object class chain (person/organization)",
        ),
        (
            "cn=a",
            "objectClass: foo|cn: a",
            InvalidSyntax,
            "objectClass: value #0 invalid per syntax",
        ),
        (
            "cn=a",
            "objectClass: inetOrgPerson|cn: a|sn: b|mail: x|mail: é",
            InvalidSyntax,
            "mail: value #1 invalid per syntax",
        ),
        (
            "cn=a",
            "objectClass: person|cn: a|sn: ",
            InvalidSyntax,
            "sn: value #0 invalid per syntax",
        ),
        (
            "cn=a",
            "objectClass: person|cn: a|cn: A|sn: b",
            ValueExists,
            "cn: value #0 provided more than once",
        ),
        (
            "cn=a",
            "objectClass: person|objectClass: 2.5.6.6|cn: a|sn: b",
            ValueExists,
            "objectClass: value #0 provided more than once",
        ),
        (
            "cn=a",
            "objectClass: inetOrgPerson|cn: a|sn: b|displayName: x|displayName: y",
            Constraint,
            "displayName: multiple values provided",
        ),
        (
            "cn=a",
            "objectClass: inetOrgPerson|cn: b|sn: b",
            Naming,
            "value of naming attribute 'cn' is not present in entry",
        ),
        (
            "uid=a",
            "objectClass: inetOrgPerson|cn: b|sn: b",
            Naming,
            "naming attribute 'uid' is not present in entry",
        ),
        (
            "createTimestamp=20200101000000Z",
            "objectClass: person|cn: b|sn: b|createTimestamp: 20200101000000Z",
            Naming,
            "naming attribute 'createTimestamp' is operational",
        ),
        (
            "cn=a",
            "objectClass: inetOrgPerson|cn: a|sn: b|userCertificate: x",
            UndefinedAttributeType,
            "userCertificate: requires ;binary transfer",
        ),
        (
            "cn=a",
            "objectClass: inetOrgPerson|cn: a|sn: b|userCertificate;binary: x",
            InvalidSyntax,
            "userCertificate;binary: value #0 invalid per syntax",
        ),
    ] {
        let violation = check(dn, lines).unwrap_err();
        assert_eq!(
            (violation.kind, violation.text.as_str()),
            (kind, text),
            "{lines}"
        );
    }
}

#[test]
fn structural_class_is_for_life_and_values_can_be_trusted() {
    let schema = Schema::standard();
    let person = schema.object_class("person").unwrap().index;
    let options = CheckOptions {
        structural_class: Some(person),
        ..CheckOptions::default()
    };
    let changed = entry(&schema, "cn=a", "objectClass: inetOrgPerson|cn: a|sn: b");
    let violation = schema.check(changed, &options).unwrap_err();
    assert_eq!(violation.kind, ViolationKind::ObjectClassMods);
    assert_eq!(
        violation.text,
        "structural object class modification from 'person' to 'inetOrgPerson' not allowed"
    );
    let trusting = CheckOptions {
        structural_class: Some(person),
        skip_values: true,
        ..CheckOptions::default()
    };
    let twice = entry(&schema, "cn=a", "objectClass: person|cn: a|cn: a|sn: b");
    assert!(schema.check(twice.clone(), &trusting).is_ok());
    assert!(schema.check(twice, &CheckOptions::default()).is_err());
    let single = entry(
        &schema,
        "cn=a",
        "objectClass: inetOrgPerson|cn: a|sn: b|displayName: x|displayName: y",
    );
    let violation = schema
        .check(
            single,
            &CheckOptions {
                skip_values: true,
                ..CheckOptions::default()
            },
        )
        .unwrap_err();
    assert_eq!(
        violation.text,
        "attribute 'displayName' cannot have multiple values"
    );
}

#[test]
fn rdn_values_can_be_added() {
    let schema = Schema::standard();
    let mut short = entry(
        &schema,
        "cn=A b+uid=u",
        "objectClass: inetOrgPerson|sn: b|cn: a  B",
    );
    short.add_missing_rdn_values(&schema);
    assert_eq!(short.values(schema.attribute("uid").unwrap().index), [b"u"]);
    assert_eq!(
        short.values(schema.attribute("cn").unwrap().index).len(),
        1,
        "an equal value is there already"
    );
    assert!(schema.check(short, &CheckOptions::default()).is_ok());
}

#[test]
fn content_rules_and_abstract_classes() {
    let schema = SchemaBuilder::standard()
        .text(
            "rules",
            "objectclass ( 1.3.6.1.4.1.32473.5 NAME 'thing' SUP top ABSTRACT )\n\
             ditcontentrule ( 2.5.6.4 NAME 'orgs' AUX dcObject MUST l MAY mail NOT st )",
        )
        .unwrap()
        .build()
        .unwrap();
    let check = |lines: &str| {
        let checked = schema.check(entry(&schema, "o=a", lines), &CheckOptions::default());
        checked
            .map(|_| String::new())
            .map_err(|violation| violation.text)
            .unwrap_or_else(|text| text)
    };
    assert_eq!(check("objectClass: organization|o: a|l: x|mail: m"), "");
    assert_eq!(
        check("objectClass: organization|o: a"),
        "content rule 'orgs' requires attribute 'l'"
    );
    assert_eq!(
        check("objectClass: organization|o: a|l: x|st: y"),
        "content rule 'orgs' precluded attribute 'st'"
    );
    assert_eq!(
        check("objectClass: organization|objectClass: uidObject|o: a|l: x|uid: y"),
        "class 'uidObject' not allowed by content rule 'orgs'"
    );
    assert_eq!(
        check("objectClass: organization|objectClass: thing|o: a|l: x"),
        "instantiation of abstract objectClass 'thing' not allowed"
    );
}
