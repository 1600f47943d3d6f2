//! Attributes, classes and values: what the schema wants, and what it does not.

use fulgurite_testkit::Random;

/// Kinds of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Ascii,
    Number,
    Phone,
    Name,
    Flag,
    Time,
    Octets,
    Postal,
    Password,
    Class,
    Country,
    Uuid,
    Url,
}

/// Attributes that requests speak of, with what they hold.
pub(crate) const ATTRIBUTES: &[(&str, Kind)] = &[
    ("cn", Kind::Text),
    ("sn", Kind::Text),
    ("givenName", Kind::Text),
    ("description", Kind::Text),
    ("title", Kind::Text),
    ("l", Kind::Text),
    ("ou", Kind::Text),
    ("uid", Kind::Text),
    ("employeeType", Kind::Text),
    ("displayName", Kind::Text),
    ("mail", Kind::Ascii),
    ("labeledURI", Kind::Url),
    ("telephoneNumber", Kind::Phone),
    ("homePhone", Kind::Phone),
    ("uidNumber", Kind::Number),
    ("gidNumber", Kind::Number),
    ("homeDirectory", Kind::Ascii),
    ("memberUid", Kind::Ascii),
    ("member", Kind::Name),
    ("uniqueMember", Kind::Name),
    ("seeAlso", Kind::Name),
    ("manager", Kind::Name),
    ("owner", Kind::Name),
    ("userPassword", Kind::Password),
    ("jpegPhoto", Kind::Octets),
    ("audio", Kind::Octets),
    ("postalAddress", Kind::Postal),
    ("businessCategory", Kind::Text),
    ("c", Kind::Country),
    ("objectClass", Kind::Class),
    ("cn;lang-de", Kind::Text),
    ("description;lang-en", Kind::Text),
    ("description;lang-en-US", Kind::Text),
    ("serialNumber", Kind::Ascii),
    ("shadowLastChange", Kind::Number),
    ("preferredLanguage", Kind::Text),
    ("x121Address", Kind::Number),
    ("destinationIndicator", Kind::Ascii),
];

/// Attributes that clients do not usually change, and what is none.
pub(crate) const ODD_ATTRIBUTES: &[(&str, Kind)] = &[
    ("createTimestamp", Kind::Time),
    ("entryUUID", Kind::Uuid),
    ("creatorsName", Kind::Name),
    ("structuralObjectClass", Kind::Class),
    ("hasSubordinates", Kind::Flag),
    ("entryDN", Kind::Name),
    ("subschemaSubentry", Kind::Name),
    ("modifiersName", Kind::Name),
    ("name", Kind::Text),
    ("undefinedType", Kind::Text),
    ("2.5.4.4", Kind::Text),
    ("SURNAME", Kind::Text),
    ("cn;x-odd", Kind::Text),
    ("cn;binary", Kind::Text),
    ("userCertificate;binary", Kind::Octets),
    ("c n", Kind::Text),
    ("", Kind::Text),
    ("description;lang-", Kind::Text),
    ("9.9.9", Kind::Text),
    ("ref", Kind::Url),
    ("aliasedObjectName", Kind::Name),
];

/// Any attribute: an ordinary one nearly always.
pub(crate) fn attribute(random: &mut Random) -> (&'static str, Kind) {
    if random.chance(6) {
        *random.pick(ODD_ATTRIBUTES)
    } else {
        *random.pick(ATTRIBUTES)
    }
}

/// Attributes that most entries may have.
const COMMON: &[(&str, Kind)] = &[
    ("description", Kind::Text),
    ("description", Kind::Text),
    ("seeAlso", Kind::Name),
    ("telephoneNumber", Kind::Phone),
    ("userPassword", Kind::Password),
    ("l", Kind::Text),
    ("ou", Kind::Text),
    ("cn", Kind::Text),
];

/// An attribute that a change is likely to succeed with, most of the time.
pub(crate) fn common(random: &mut Random) -> (&'static str, Kind) {
    if random.chance(65) {
        *random.pick(COMMON)
    } else {
        attribute(random)
    }
}

const WORDS: &[&str] = &[
    "alpha",
    "Beta",
    "GAMMA",
    "delta wave",
    "  spaced   out ",
    "Zürich",
    "zürich",
    "ＦＵＬＬ",
    "naïve",
    "a",
    "x",
    "comma, here",
    "plus+sign",
    "back\\slash",
    "star*",
    "(paren)",
    "#hash",
    "secret plan",
    "secret",
    "ﬁsh",
    "straße",
    "one two",
    "ONE  TWO",
];

/// Object classes.
pub(crate) const CLASSES: &[&str] = &[
    "top",
    "person",
    "organizationalPerson",
    "inetOrgPerson",
    "organizationalUnit",
    "organizationalRole",
    "groupOfNames",
    "groupOfUniqueNames",
    "device",
    "applicationProcess",
    "posixAccount",
    "posixGroup",
    "shadowAccount",
    "extensibleObject",
    "labeledURIObject",
    "simpleSecurityObject",
    "uidObject",
    "dcObject",
    "account",
    "room",
    "document",
    "country",
    "locality",
    "alias",
    "referral",
    "undefinedClass",
    "2.5.6.6",
];

/// A value of that kind, legal nearly always; `names` are those of entries.
pub(crate) fn value(kind: Kind, names: &[String], random: &mut Random) -> Vec<u8> {
    if random.chance(4) {
        return odd(random);
    }
    let text = match kind {
        Kind::Text => random.pick(WORDS).to_string(),
        Kind::Ascii => [
            "a@example.org",
            "B@Example.ORG",
            "/home/a",
            "abc",
            "ABC",
            "a b",
            "x.y",
        ][random.below(7)]
        .to_owned(),
        Kind::Number => [
            "0",
            "1",
            "7",
            "42",
            "-3",
            "100000",
            "2147483648",
            "007",
            "99999999999999999999",
        ][random.below(9)]
        .to_owned(),
        Kind::Phone => [
            "+1 555 0100",
            "+15550100",
            "+1-555-0100",
            "555 0100",
            "0100",
        ][random.below(5)]
        .to_owned(),
        Kind::Uuid => "9f1f3b4e-0c1c-4d55-9f3e-0a4f8f3d2c11".to_owned(),
        Kind::Name => random.pick(names).clone(),
        Kind::Flag => ["TRUE", "FALSE", "true", "maybe"][random.below(4)].to_owned(),
        Kind::Time => [
            "20240101000000Z",
            "20240101000000.5Z",
            "202401010000Z",
            "20241301000000Z",
        ][random.below(4)]
        .to_owned(),
        Kind::Postal => {
            ["1 Road$Town", "1 ROAD $ town", "Only one", "a$b$c$d$e$f"][random.below(4)].to_owned()
        }
        Kind::Password => {
            ["secret", "geheim", "{SSHA}bad", "{CLEARTEXT}secret"][random.below(4)].to_owned()
        }
        Kind::Class => random.pick(CLASSES).to_string(),
        Kind::Country => ["DE", "us", "FR"][random.below(3)].to_owned(),
        Kind::Url => [
            "ldap://other.example/dc=x",
            "http://example.org/ label",
            "ldap://other.example",
            "urn:x",
        ][random.below(4)]
        .to_owned(),
        Kind::Octets => {
            let len = [0, 1, 7, 40][random.below(4)];
            return random.bytes(len);
        }
    };
    text.into_bytes()
}

fn odd(random: &mut Random) -> Vec<u8> {
    match random.below(7) {
        0 => Vec::new(),
        1 => b" ".to_vec(),
        2 => vec![0xff, 0xfe, 0x41],
        3 => vec![0],
        4 => b"nonsense".to_vec(),
        5 => vec![b'x'; 300],
        _ => b"cn=odd,dc=nowhere".to_vec(),
    }
}
