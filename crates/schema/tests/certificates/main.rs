//! Exact matching of certificates and revocation lists (RFC 4523), on values that OpenSSL made.

use fulgurite_ldap::FilterBuf;
use fulgurite_schema::{Dn, Entry, EntrySubject, Filter, MatchingRule, Schema, Syntax, Truth};

const CERTIFICATE: &[u8] = include_bytes!("../data/certificate.der");
const REVOCATIONS: &[u8] = include_bytes!("../data/revocations.der");

/// 0x8034567890abcdef; the highest bit is set, so the encoding has a zero byte in front.
const SERIAL: &str = "9238103811466972655";
const ISSUER: &str = "email=ca@example.com,CN=Test CA+OU=A,O=Example\\, Inc.,C=DE";

fn outcome(filter: &str) -> Truth {
    let schema = Schema::standard();
    let mut entry = Entry::new(Dn::parse(&schema, "cn=x").unwrap());
    for (attribute, value) in [
        ("userCertificate;binary", CERTIFICATE),
        ("certificateRevocationList;binary", REVOCATIONS),
    ] {
        entry.push(
            &schema.describe(attribute.as_bytes()).unwrap(),
            value.to_vec(),
        );
    }
    let buffer = FilterBuf::parse(filter).unwrap_or_else(|error| panic!("{filter}: {error}"));
    let subject = EntrySubject {
        schema: &schema,
        entry: &entry,
    };
    Filter::resolve(&schema, &buffer.filter()).test(&schema, &subject)
}

/// Returns a filter's value with what is special in filters escaped.
fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\5c")
        .replace('(', "\\28")
        .replace(')', "\\29")
}

#[test]
fn a_certificate_is_known_by_serial_number_and_issuer() {
    use Truth::*;
    let gser = format!("{{ serialNumber {SERIAL}, issuer rdnSequence:\"{ISSUER}\" }}");
    for (assertion, expected) in [
        (gser.clone(), True),
        (
            gser.to_lowercase()
                .replace("serialnumber", "serialNumber")
                .replace("rdnsequence", "rdnSequence"),
            True,
        ),
        (format!("{SERIAL}${ISSUER}"), True),
        (
            format!("{{ issuer rdnSequence:\"{ISSUER}\", serialNumber '8034567890ABCDEF'H }}"),
            True,
        ),
        (gser.replace("655", "654"), False),
        (gser.replace("C=DE", "C=FR"), False),
        (gser.replace("+OU=A", ""), False),
        ("x".to_owned(), Undefined),
        (format!("{SERIAL}$nosuch=x"), Undefined),
    ] {
        let value = escaped(&assertion);
        for filter in [
            format!("(userCertificate={value})"),
            format!("(userCertificate;binary={value})"),
            format!("(userCertificate:certificateExactMatch:={value})"),
            format!("(2.5.4.36:2.5.13.34:={value})"),
        ] {
            assert_eq!(outcome(&filter), expected, "{filter}");
        }
    }
    let bytes: String = CERTIFICATE.iter().map(|b| format!("\\{b:02x}")).collect();
    assert_eq!(outcome(&format!("(userCertificate={bytes})")), True);
}

#[test]
fn a_revocation_list_is_known_by_issuer_and_time() {
    use Truth::*;
    let issuer = escaped(ISSUER);
    for (time, expected) in [
        ("\"20261121192500Z\"", True),
        ("utcTime:\"261121192500Z\"", True),
        ("\"20261121192501Z\"", False),
        ("\"x\"", Undefined),
    ] {
        let filter = format!(
            "(certificateRevocationList:certificateListExactMatch:={{ issuer rdnSequence:\"{issuer}\", thisUpdate {time} }})"
        );
        assert_eq!(outcome(&filter), expected, "{filter}");
    }
}

#[test]
fn whatever_is_cut_off_or_changed_is_no_value_or_another() {
    let schema = Schema::standard();
    let valid = |number: u8, value: &[u8]| {
        let oid = format!("1.3.6.1.4.1.1466.115.121.1.{number}");
        Syntax::find(&oid)
            .unwrap()
            .validate(&*schema, value)
            .is_ok()
    };
    assert!(valid(8, CERTIFICATE) && !valid(9, CERTIFICATE));
    assert!(valid(9, REVOCATIONS) && !valid(8, REVOCATIONS));
    let rule = MatchingRule::find("certificateExactMatch").unwrap();
    for length in 0..CERTIFICATE.len() {
        assert!(!valid(8, &CERTIFICATE[..length]), "{length}");
    }
    // No byte may make it fail otherwise than by an error.
    for at in 0..CERTIFICATE.len() {
        let mut changed = CERTIFICATE.to_vec();
        changed[at] ^= 0xff;
        let _ = valid(8, &changed);
        let _ = rule.normalise(&*schema, &changed);
    }
}
