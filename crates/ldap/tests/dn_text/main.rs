//! Distinguished names as text (RFC 4514).

use std::borrow::Cow;

use fulgurite_ldap::dn::{self, Ava, DnError, Rdn, ValueForm};
use proptest::prelude::*;

/// `type=value` of every AVA, with `+` and `|` between, values as escaped ASCII.
fn shape(text: &str) -> String {
    let rdns = dn::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let rdn = |rdn: &Rdn<'_>| {
        rdn.iter()
            .map(|ava| format!("{}={}", ava.attribute, ava.value.escape_ascii()))
            .collect::<Vec<_>>()
            .join("+")
    };
    rdns.iter().map(rdn).collect::<Vec<_>>().join("|")
}

fn reprint(text: &str) -> String {
    let mut out = String::new();
    dn::write(
        &mut out,
        &dn::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")),
    );
    out
}

#[test]
fn examples_of_the_rfc() {
    // RFC 4514 section 4.
    for (text, parts) in [
        (
            "UID=jsmith,DC=example,DC=net",
            "UID=jsmith|DC=example|DC=net",
        ),
        (
            "OU=Sales+CN=J.  Smith,DC=example,DC=net",
            "OU=Sales+CN=J.  Smith|DC=example|DC=net",
        ),
        (
            "CN=James \\\"Jim\\\" Smith\\, III,DC=example",
            "CN=James \\\"Jim\\\" Smith, III|DC=example",
        ),
        (
            "CN=Before\\0dAfter,DC=example",
            "CN=Before\\rAfter|DC=example",
        ),
        ("1.3.6.1.4.1.1466.0=#04024869", "1.3.6.1.4.1.1466.0=Hi"),
        ("CN=Lu\\C4\\8Di\\C4\\87", "CN=Lu\\xc4\\x8di\\xc4\\x87"),
        ("", ""),
        ("cn=", "cn="),
        ("cn=a=b", "cn=a=b"),
        ("cn=a#b", "cn=a#b"),
        ("cn=\\#a\\=\\ \\\\", "cn=#a= \\\\"),
    ] {
        assert_eq!(shape(text), parts, "{text}");
    }
}

#[test]
fn leniencies_of_older_rfcs() {
    for (text, parts) in [
        ("  cn = a b  ,  dc = c  ", "cn=a b|dc=c"),
        ("cn=a;dc=c", "cn=a|dc=c"),
        ("cn=\"a, b + c\" , dc=x", "cn=a, b + c|dc=x"),
        ("cn=\"say \\\"hi\\\"\"", "cn=say \\\"hi\\\""),
        ("cn=a + sn=b , dc=x", "cn=a+sn=b|dc=x"),
        ("cn= \\ a\\  ", "cn= a "),
    ] {
        assert_eq!(shape(text), parts, "{text}");
    }
}

#[test]
fn hex_strings_are_encoded_values() {
    for text in [
        "cn=#04024869",
        "cn=#0C024869",
        "cn=#13024869",
        "cn=#16024869",
        "cn=#0481024869 ",
    ] {
        assert_eq!(shape(text), "cn=Hi", "{text}");
    }
    let rdns = dn::parse("x=#0203010001,dc=c").expect("valid");
    assert_eq!(
        (rdns[0][0].form, &*rdns[0][0].value),
        (ValueForm::Ber, &[2, 3, 1, 0, 1][..])
    );
    assert_eq!(reprint("x=#0203010001,dc=c"), "x=#0203010001,dc=c");
    for text in [
        "cn=#",
        "cn=#04",
        "cn=#040248",
        "cn=#0402486",
        "cn=#0402486900",
        "cn=#04024869z",
        "cn=#3080",
    ] {
        assert_eq!(dn::parse(text), Err(DnError::Hex(3)), "{text}");
    }
}

#[test]
fn mistakes_are_pointed_at() {
    use DnError as E;
    for (text, error) in [
        ("cn", E::MissingEquals(2)),
        ("=a", E::Attribute(0)),
        ("cn=a,", E::Attribute(5)),
        ("cn=a,,dc=b", E::Attribute(5)),
        (",", E::Attribute(0)),
        ("cn=a+", E::Attribute(5)),
        ("c_n=a", E::MissingEquals(1)),
        ("1.02=a", E::Attribute(0)),
        ("1.=a", E::Attribute(0)),
        ("9cn=a", E::Attribute(0)),
        ("OID.2.5.4.3=a", E::Attribute(0)),
        ("cn;lang-de=a", E::MissingEquals(2)),
        ("cn=a\\", E::Escape(4)),
        ("cn=a\\g1", E::Escape(4)),
        ("cn=a\\1", E::Escape(4)),
        ("cn=a\"b", E::Unescaped(4)),
        ("cn=a<b", E::Unescaped(4)),
        ("cn=a\0", E::Unescaped(4)),
        ("cn=\"a", E::Quote(3)),
        ("cn=\"a\"b", E::Quote(3)),
    ] {
        assert_eq!(dn::parse(text), Err(error), "{text:?}");
    }
}

#[test]
fn single_rdns() {
    assert_eq!(dn::parse_rdn("cn=a+sn=b").map(|rdn| rdn.len()), Ok(2));
    assert_eq!(dn::parse_rdn("cn=a,dc=b"), Err(DnError::NotSingle(4)));
    assert_eq!(dn::parse_rdn(""), Err(DnError::EmptyRdn));
    assert_eq!(dn::parse_rdn(" "), Err(DnError::EmptyRdn));
    assert_eq!(dn::parse("  "), Err(DnError::EmptyRdn));
    assert_eq!(dn::parse(""), Ok(vec![]));
}

#[test]
fn values_are_borrowed_unless_escaped() {
    let rdns = dn::parse("cn=Ada Lovelace ,dc=a\\2Cb").expect("valid");
    assert!(matches!(rdns[0][0].value, Cow::Borrowed(b"Ada Lovelace")));
    assert!(matches!(&rdns[1][0].value, Cow::Owned(value) if value == b"a,b"));
}

#[test]
fn values_are_escaped_where_they_must_be() {
    for (value, text) in [
        (&b"plain text"[..], "plain text"),
        (b"", ""),
        (b" a ", "\\20a\\20"),
        (b"  ", "\\20\\20"),
        (b" ", "\\20"),
        (b"#a#", "\\23a#"),
        (
            b"a,b+c\"d\\e<f>g;h=i",
            "a\\2Cb\\2Bc\\22d\\5Ce\\3Cf\\3Eg\\3Bh\\3Di",
        ),
        (b"a\0b\n", "a\\00b\\0A"),
        ("Lučić".as_bytes(), "Lučić"),
        (b"a\xffb", "a\\FFb"),
    ] {
        let mut out = "x=".to_owned();
        dn::write_value_escaped(&mut out, value);
        assert_eq!(out, format!("x={text}"));
        assert_eq!(dn::parse(&out).expect("valid")[0][0].value, value);
    }
}

fn ava() -> impl Strategy<Value = Ava<'static>> {
    let name = prop_oneof![Just("cn"), Just("2.5.4.3"), Just("x-y"), Just("DC")];
    let value = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..12),
        "[ #,+\"\\\\<>;=a-cä\0\n]{0,10}".prop_map(String::into_bytes),
    ];
    (name, value).prop_map(|(attribute, value)| Ava {
        attribute,
        value: Cow::Owned(value),
        form: ValueForm::Plain,
    })
}

proptest! {
    #[test]
    fn property_names_survive_as_text(rdns in proptest::collection::vec(proptest::collection::vec(ava(), 1..4), 0..5)) {
        let mut text = String::new();
        dn::write(&mut text, &rdns);
        prop_assert_eq!(dn::parse(&text), Ok(rdns), "{}", text);
    }

    #[test]
    fn property_any_text_is_an_answer(text in "[a-f0-9=,+;\"\\\\#<> .ä\0]{0,30}") {
        if let Ok(rdns) = dn::parse(&text) {
            let mut again = String::new();
            dn::write(&mut again, &rdns);
            prop_assert_eq!(dn::parse(&again), Ok(rdns), "{}", again);
        }
    }
}
