//! Each matching rule and each syntax, by table.

use fulgurite_schema::{MatchingRule, Schema, Syntax, Truth};

fn outcome(rule: &str, assertion: &str, value: &str) -> Truth {
    let schema = Schema::standard();
    let rule = MatchingRule::find(rule).unwrap_or_else(|| panic!("no rule {rule}"));
    match rule.normalise_assertion(&*schema, assertion.as_bytes()) {
        Ok(normal) => rule.matches(&*schema, &normal, value.as_bytes()),
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
        ("objectIdentifierMatch", "unheardOf", "UNHEARDOF", Undefined),
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

/// slapd's answer for each value, and our deliberate differences. The same table is run against
/// both servers.
const SYNTAXES: &str = include_str!("../data/syntaxes.txt");

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&b, tail)) = rest.split_first() {
        rest = tail;
        if b == b'%' {
            let digits = std::str::from_utf8(&rest[..2]).unwrap();
            bytes.push(u8::from_str_radix(digits, 16).unwrap());
            rest = &rest[2..];
        } else {
            bytes.push(b);
        }
    }
    bytes
}

#[test]
fn syntaxes() {
    let schema = Schema::standard();
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in SYNTAXES.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.splitn(3, '|').collect();
        let [oid, verdict, value] = fields.as_slice() else {
            panic!("bad line: {line}")
        };
        let syntax = Syntax::find(oid).unwrap_or_else(|| panic!("no syntax {oid}"));
        let valid = syntax.validate(&*schema, &unescape(value)).is_ok();
        if valid != matches!(*verdict, "+" | ">") {
            wrong.push(format!("{} {line}", syntax.description));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 400);
}

/// Syntaxes of RFC 4517 whose values slapd refuses altogether.
#[test]
fn syntaxes_that_only_we_know() {
    let schema = Schema::standard();
    for (number, good, bad) in [
        (3, "( 1.2.3 NAME 'x' SYNTAX 1.2.3 )", "x"),
        (21, "person#cn$EQ#oneLevel", ""),
        (25, "person#cn$EQ", ""),
        (37, "( 2.5.6.6 NAME 'person' )", "( person )"),
        (43, "x", ""),
        (51, "abc$graphic:x", "abc$nosuch:x"),
        (58, "a*b*c", "a**b"),
    ] {
        let oid = format!("1.3.6.1.4.1.1466.115.121.1.{number}");
        let syntax = Syntax::find(&oid).unwrap();
        assert!(syntax.validate(&*schema, good.as_bytes()).is_ok(), "{oid}");
        assert!(syntax.validate(&*schema, bad.as_bytes()).is_err(), "{oid}");
    }
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
        // As in slapd, a piece may name the end of a line.
        (
            "caseIgnoreListSubstringsMatch",
            "*St$Some*",
            "1  Main St $ Some Town",
            true,
        ),
        (
            "caseIgnoreListSubstringsMatch",
            "*$*",
            "one line, 5\\24",
            false,
        ),
        (
            "caseIgnoreListSubstringsMatch",
            "*5\\24*",
            "one line, 5\\24",
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
            .substring_assertion(
                piece(first),
                parts[1..parts.len() - 1].iter().copied(),
                piece(last),
            )
            .unwrap();
        let outcome = found.substring_matches(&*schema, &assertion, value.as_bytes());
        assert_eq!(outcome, Truth::from(expected), "{rule} {pieces} {value}");
    }
    let equality = MatchingRule::find("caseIgnoreMatch").unwrap();
    assert!(
        equality
            .substring_assertion(Some(b"a"), std::iter::empty(), None)
            .is_err()
    );
}
