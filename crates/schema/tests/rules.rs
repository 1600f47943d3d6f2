//! Each matching rule and each syntax, by table.

use fulgurite_schema::{MatchingRule, Schema, Syntax, Truth};

fn outcome(rule: &str, assertion: &str, value: &str) -> Truth {
    let schema = Schema::standard();
    let rule = MatchingRule::find(rule).unwrap_or_else(|| panic!("no rule {rule}"));
    match rule.normalise_assertion(&schema, assertion.as_bytes()) {
        Ok(normal) => rule.matches(&schema, &normal, value.as_bytes()),
        Err(_) => Truth::Undefined,
    }
}

#[test]
fn rules() {
    use Truth::*;
    let uuid = "597ae2f6-16a6-1027-98f4-d28b5365dc14";
    let csn = "20240131101112.123456Z#00000a#001#000000";
    for (rule, assertion, value, expected) in [
        ("objectIdentifierMatch", "2.5.4.3", "CN", True),
        ("objectIdentifierMatch", "commonName", "2.5.4.3", True),
        ("objectIdentifierMatch", "sn", "2.5.4.3", False),
        ("objectIdentifierMatch", "caseIgnoreMatch", "2.5.13.2", True),
        ("objectIdentifierMatch", "unheardOf", "UNHEARDOF", True),
        ("objectIdentifierMatch", "1..2", "2.5.4.3", Undefined),
        ("distinguishedNameMatch", "cn=A,dc=B", "CN=a , DC=b", True),
        ("distinguishedNameMatch", "cn=A+sn=B", "sn=b+cn=a", True),
        ("distinguishedNameMatch", "cn=A", "cn=A,dc=B", False),
        ("distinguishedNameMatch", "", "", True),
        ("distinguishedNameMatch", "", "cn=a", False),
        ("distinguishedNameMatch", "cn=a\\2cb", "cn=\"a,b\"", True),
        ("distinguishedNameMatch", "cn=a", "rubbish", Undefined),
        ("distinguishedNameMatch", "nosuch=a", "cn=a", Undefined),
        ("caseIgnoreMatch", "foo bar", " FOO  bar ", True),
        ("caseIgnoreMatch", "foobar", "foo bar", False),
        ("caseIgnoreMatch", "stra\u{df}e", "STRASSE", True),
        ("caseIgnoreMatch", "", "x", Undefined),
        ("caseExactMatch", "foo", "Foo", False),
        ("caseExactMatch", "foo  bar", " foo bar", True),
        ("caseExactMatch", "e\u{301}", "\u{e9}", True),
        ("caseIgnoreOrderingMatch", "m", "L", True),
        ("caseIgnoreOrderingMatch", "m", "m", False),
        ("caseExactOrderingMatch", "a", "B", True),
        ("caseIgnoreIA5Match", "A@B", "a@b", True),
        ("caseIgnoreIA5Match", "", "", True),
        ("caseIgnoreIA5Match", "\u{e9}", "e", Undefined),
        ("caseIgnoreIA5Match", "e", "\u{e9}", Undefined),
        ("caseExactIA5Match", "/bin/SH", "/bin/sh", False),
        ("numericStringMatch", "12 34", "1234", True),
        ("numericStringMatch", "12x", "12", Undefined),
        ("numericStringOrderingMatch", "2", "1 9", True),
        ("caseIgnoreListMatch", "a  b$C", "A b$c", True),
        ("caseIgnoreListMatch", "a$b", "a b", False),
        ("caseIgnoreListMatch", "a\\24b", "a$b", False),
        ("caseIgnoreListMatch", "a\\24b\\5C", "A\\24B\\5c", True),
        ("booleanMatch", "TRUE", "TRUE", True),
        ("booleanMatch", "TRUE", "FALSE", False),
        ("booleanMatch", "true", "TRUE", Undefined),
        ("integerMatch", "10", "10", True),
        ("integerMatch", "-10", "10", False),
        (
            "integerMatch",
            "123456789012345678901234567890",
            "123456789012345678901234567890",
            True,
        ),
        ("integerMatch", "1e3", "1000", Undefined),
        ("integerOrderingMatch", "-1", "-2", True),
        ("integerOrderingMatch", "9", "10", False),
        ("integerFirstComponentMatch", "7", "( 7 NAME 'x' )", True),
        ("integerFirstComponentMatch", "8", "( 7 NAME 'x' )", False),
        (
            "objectIdentifierFirstComponentMatch",
            "cn",
            "( 2.5.4.3 NAME 'cn' )",
            True,
        ),
        (
            "objectIdentifierFirstComponentMatch",
            "2.5.4.4",
            "(2.5.4.3 NAME 'cn')",
            False,
        ),
        ("bitStringMatch", "'01'B", "'01'B", True),
        ("bitStringMatch", "'01'B", "'010'B", False),
        ("bitStringMatch", "01", "'01'B", Undefined),
        (
            "generalizedTimeMatch",
            "2024013110Z",
            "20240131110000+0100",
            True,
        ),
        (
            "generalizedTimeMatch",
            "20240131100000.0Z",
            "20240131100000Z",
            True,
        ),
        (
            "generalizedTimeMatch",
            "20240231100000Z",
            "20240131100000Z",
            Undefined,
        ),
        (
            "generalizedTimeOrderingMatch",
            "20240131100000Z",
            "20240131100000+0100",
            True,
        ),
        ("octetStringMatch", "a", "A", False),
        ("octetStringMatch", "a ", "a ", True),
        ("octetStringOrderingMatch", "b", "aa", True),
        ("telephoneNumberMatch", "+1 800-555", "+1800 555", True),
        ("telephoneNumberMatch", "+1800555x", "+1800555X", True),
        ("telephoneNumberMatch", "\u{e9}", "1", Undefined),
        ("uniqueMemberMatch", "cn=A#'01'B", "CN=a#'01'B", True),
        ("uniqueMemberMatch", "cn=A#'01'B", "cn=a", False),
        ("uniqueMemberMatch", "cn=A", "cn=a", True),
        (
            "UUIDMatch",
            uuid,
            "597AE2F6-16A6-1027-98F4-D28B5365DC14",
            True,
        ),
        ("UUIDMatch", "597ae2f6", uuid, Undefined),
        (
            "UUIDOrderingMatch",
            "697ae2f6-16a6-1027-98f4-d28b5365dc14",
            uuid,
            True,
        ),
        (
            "CSNMatch",
            "20240131101112.123456Z#00000A#01#000000",
            csn,
            True,
        ),
        (
            "CSNOrderingMatch",
            "20240131101112.123457Z#000000#000#000000",
            csn,
            True,
        ),
        ("CSNSIDMatch", "01", csn, True),
        ("CSNSIDMatch", "002", csn, False),
        ("rdnMatch", "cn=A", "CN=a", True),
        ("integerBitAndMatch", "5", "7", True),
        ("integerBitAndMatch", "8", "7", False),
        ("integerBitOrMatch", "12", "4", True),
        ("integerBitAndMatch", "99999999999999999999", "7", Undefined),
        ("dnSubtreeMatch", "dc=a", "dc=a", True),
        ("dnSubtreeMatch", "dc=a", "cn=x,cn=y,dc=a", True),
        ("dnSubtreeMatch", "dc=a", "cn=x,dc=ba", False),
        ("dnOneLevelMatch", "dc=a", "cn=x,dc=a", True),
        ("dnOneLevelMatch", "", "dc=a", True),
        ("dnSubordinateMatch", "dc=a", "dc=a", False),
        ("dnSuperiorMatch", "cn=x,dc=a", "dc=a", True),
    ] {
        assert_eq!(
            outcome(rule, assertion, value),
            expected,
            "{rule} {assertion:?} {value:?}"
        );
    }
}

#[test]
fn rules_are_found_by_name_and_oid_and_each_has_its_own() {
    for rule in MatchingRule::all() {
        assert_eq!(MatchingRule::find(rule.oid), Some(rule));
        assert_eq!(MatchingRule::find(&rule.name.to_uppercase()), Some(rule));
        assert!(Syntax::find(rule.syntax).is_some(), "{}", rule.name);
    }
    assert_eq!(MatchingRule::find("nosuchMatch"), None);
    for syntax in Syntax::all() {
        assert_eq!(Syntax::find(syntax.oid), Some(syntax));
    }
}

/// One row: the syntax's last arc (or whole OID), good values, bad values.
type Row = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const SYNTAXES: &[Row] = &[
    (
        "3",
        &["( 2.5.4.3 NAME 'cn' SUP name )"],
        &["", "2.5.4.3", "( cn )", "( 2.5.4.3"],
    ),
    ("6", &["'0101'B", "''B"], &["0101", "'02'B", "'01'b", ""]),
    ("7", &["TRUE", "FALSE"], &["true", "1", ""]),
    (
        "8",
        &["0\u{2}\u{5}\u{0}"],
        &["", "0", "x", "0\u{3}\u{5}\u{0}"],
    ),
    ("11", &["DE", "us"], &["D", "DEU", "d*", ""]),
    (
        "12",
        &["", "cn=a,dc=b", "2.5.4.3=a"],
        &["a", "cn=", "nosuch=a", "cn=a,"],
    ),
    (
        "14",
        &["telephone", "mhs $ Telephone"],
        &["", "pigeon", "mhs $"],
    ),
    ("15", &["x", " ", "\u{e9}"], &[""]),
    (
        "22",
        &["+1 2", "+1 2$a3Width$fineResolution"],
        &["", "+1$nosuch", "x*"],
    ),
    (
        "24",
        &["20240131101112Z", "2024013110-0500"],
        &["20240131101112", "x", ""],
    ),
    ("26", &["", "abc"], &["\u{e9}"]),
    (
        "27",
        &["0", "-1", "123456789012345678901234567890"],
        &["", "-0", "01", "+1", "1.0"],
    ),
    ("34", &["cn=a", "cn=a#'01'B"], &["cn=a#'02'B,x", "x"]),
    ("36", &["12 3"], &["", "1a"]),
    ("38", &["2.5.4.3", "cn"], &["", "1..2", "c n", "1cn"]),
    ("39", &["smtp$a@b"], &["smtp", "*$x"]),
    ("40", &["", "\u{0}\u{ff}"], &[]),
    ("41", &["a$b$c", "a\\24b", "a\\5c"], &["", "a\\b", "a\\"]),
    ("44", &["a B'()+,-./:? ="], &["", "a*", "\u{e9}", "a@b"]),
    (
        "45",
        &["{}", "{ base \"ou=}x\", minimum 1 }"],
        &["", "x", "{", "{}x", "{}}"],
    ),
    ("50", &["+49 30 1-2"], &["", "\u{e9}", "*"]),
    (
        "51",
        &["abc$graphic:x"],
        &["", "abc$nosuch:x", "abc$graphic"],
    ),
    ("52", &["1$2$3"], &["1$2", "1$$3", ""]),
    ("58", &["*", "a*", "*b", "a*b*c"], &["", "a", "a**b"]),
    (
        "1.3.6.1.1.1.0.0",
        &["(a,b,c)", "(,-,)", "(host.x, user ,)"],
        &["", "(a,b)", "a,b,c", "(a b,c,d)"],
    ),
    (
        "1.3.6.1.1.1.0.1",
        &["root=server:/path"],
        &["", "root", "root=server", "=server:/x"],
    ),
    (
        "1.3.6.1.1.16.1",
        &["597ae2f6-16a6-1027-98f4-d28b5365dc14"],
        &["", "597ae2f616a6102798f4d28b5365dc14"],
    ),
    (
        "1.3.6.1.4.1.4203.666.11.2.1",
        &["20240131101112.123456Z#000000#000#000000"],
        &["", "20240131101112.123456Z"],
    ),
    (
        "1.3.6.1.4.1.4203.666.11.2.4",
        &["1", "0ff"],
        &["", "1234", "x"],
    ),
    (
        "1.2.36.79672281.1.5.0",
        &["cn=a", "cn=a+sn=b"],
        &["", "cn=a,dc=b"],
    ),
];

#[test]
fn syntaxes() {
    let schema = Schema::standard();
    for (oid, good, bad) in SYNTAXES {
        let oid = if oid.contains('.') {
            (*oid).to_owned()
        } else {
            format!("1.3.6.1.4.1.1466.115.121.1.{oid}")
        };
        let syntax = Syntax::find(&oid).unwrap_or_else(|| panic!("no syntax {oid}"));
        for value in *good {
            assert!(
                syntax.validate(&schema, value.as_bytes()).is_ok(),
                "{} {value:?}",
                syntax.description
            );
        }
        for value in *bad {
            assert!(
                syntax.validate(&schema, value.as_bytes()).is_err(),
                "{} {value:?}",
                syntax.description
            );
        }
    }
    let jpeg = Syntax::find("1.3.6.1.4.1.1466.115.121.1.28").unwrap();
    // As OpenLDAP does: whatever a client calls a picture is one.
    assert!(jpeg.validate(&schema, b"GIF89a").is_ok());
    assert!(
        Syntax::find("1.3.6.1.4.1.1466.115.121.1.15")
            .unwrap()
            .validate(&schema, b"\xff")
            .is_err()
    );
}

#[test]
fn substrings_of_every_family() {
    let schema = Schema::standard();
    for (rule, pieces, value, expected) in [
        ("caseIgnoreSubstringsMatch", "a*B", "Ab", true),
        ("caseExactSubstringsMatch", "a*B", "Ab", false),
        (
            "caseIgnoreIA5SubstringsMatch",
            "*@EXAMPLE.com",
            "x@example.COM",
            true,
        ),
        ("caseExactIA5SubstringsMatch", "/home/*", "/home/x", true),
        ("numericStringSubstringsMatch", "1 2*", "12 3", true),
        ("telephoneNumberSubstringsMatch", "*5-55*", "+1 555", true),
        (
            "caseIgnoreListSubstringsMatch",
            "1 main*town",
            "1  Main St$Some Town",
            true,
        ),
        ("octetStringSubstringsMatch", "a *", "a b", true),
        ("octetStringSubstringsMatch", "A*", "a b", false),
        // Pieces may not overlap.
        ("caseIgnoreSubstringsMatch", "aa*aa", "aaa", false),
        ("caseIgnoreSubstringsMatch", "*aa*aa*", "aaaa", true),
        (
            "caseIgnoreSubstringsMatch",
            "*stra\u{df}*",
            "HAUPTSTRASSE",
            true,
        ),
    ] {
        let found = MatchingRule::find(rule).unwrap();
        let parts: Vec<&[u8]> = pieces.split('*').map(str::as_bytes).collect();
        let piece = |part: &'static [u8]| (!part.is_empty()).then_some(part);
        let (first, last) = (parts[0], parts[parts.len() - 1]);
        let assertion = found
            .substring_assertion(piece(first), &parts[1..parts.len() - 1], piece(last))
            .unwrap();
        let outcome = found.substring_matches(&schema, &assertion, value.as_bytes());
        assert_eq!(outcome, Truth::from(expected), "{rule} {pieces} {value}");
    }
    let equality = MatchingRule::find("caseIgnoreMatch").unwrap();
    assert!(equality.substring_assertion(Some(b"a"), &[], None).is_err());
}
