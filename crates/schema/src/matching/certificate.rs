//! Exact matching of certificates and revocation lists (RFC 4523, sections 2.4, 2.5 and 3).
//!
//! Serial number and issuer identify a certificate. Issuer and time of issue identify a revocation
//! list. The normal form is that pair, so an assertion, which names just these, is looked up like
//! any other value.
//!
//! ```text
//!   value       DER                                                        ─┐
//!   assertion   { serialNumber 17, issuer rdnSequence:"cn=ca,dc=example" }  ├─> 11$cn=ca,dc=example
//!   assertion   17$cn=ca,dc=example              (older clients)           ─┘
//! ```

use std::borrow::Cow;

use super::der;
use super::form::{Form, Test};
use super::invalid::{InvalidValue, Normal};
use super::resolver::NameResolver;
use super::time;

/// certificateExactMatch.
pub(super) static CERTIFICATE: Form = Form {
    assertion: |names, assertion| {
        if is_der_sequence(assertion) {
            certificate(names, assertion)
        } else {
            certificate_assertion(names, assertion)
        }
    },
    ..Form::new(certificate)
};

/// certificateListExactMatch.
pub(super) static CERTIFICATE_LIST: Form = Form {
    assertion: |names, assertion| {
        if is_der_sequence(assertion) {
            list(names, assertion)
        } else {
            list_assertion(names, assertion)
        }
    },
    ..Form::new(list)
};

/// certificateMatch and others that are compared byte by byte. An assertion in the GSER form of RFC
/// 4523 is Undefined.
pub(super) static ENCODED: Form = Form {
    assertion: |_, assertion| {
        if is_der_sequence(assertion) {
            Ok(Cow::Borrowed(assertion))
        } else {
            Err(InvalidValue)
        }
    },
    equality: Test::Stored(|_, assertion, value| (assertion == value).into()),
    ..Form::new(|_, value| Ok(Cow::Borrowed(value)))
};

fn is_der_sequence(value: &[u8]) -> bool {
    value.first() == Some(&0x30)
}

/// Digits of a serial number; those of RFC 5280 have at most 49.
const SERIAL_DIGITS_MAX: usize = 256;

/// Returns the normal form of a certificate.
fn certificate<'v>(names: &dyn NameResolver, value: &'v [u8]) -> Normal<'v> {
    let parts = der::certificate(value).ok_or(InvalidValue)?;
    let (negative, magnitude) = magnitude(parts.serial);
    Ok(joined(
        &serial_text(negative, &magnitude),
        &encoded_name(names, parts.issuer)?,
    ))
}

/// Returns the normal form of an assertion about a certificate.
fn certificate_assertion<'v>(names: &dyn NameResolver, assertion: &'v [u8]) -> Normal<'v> {
    let text = std::str::from_utf8(assertion).map_err(|_| InvalidValue)?;
    let (serial, issuer) = if text.trim_start().starts_with('{') {
        let fields = Fields::parse(text)?;
        (fields.get("serialNumber")?, fields.get("issuer")?)
    } else {
        text.split_once('$').ok_or(InvalidValue)?
    };
    let (negative, magnitude) = written_serial(serial)?;
    Ok(joined(
        &serial_text(negative, &magnitude),
        &written_name(names, unquoted(issuer)?.as_bytes())?,
    ))
}

/// Returns the normal form of a revocation list.
fn list<'v>(names: &dyn NameResolver, value: &'v [u8]) -> Normal<'v> {
    let parts = der::certificate_list(value).ok_or(InvalidValue)?;
    let made = time::generalized_time(&parts.this_update)?;
    let made = String::from_utf8_lossy(&made).into_owned();
    Ok(joined(&made, &encoded_name(names, parts.issuer)?))
}

/// Returns the normal form of an assertion about a revocation list: `{ issuer rdnSequence:"cn=ca",
/// thisUpdate utcTime:"200101000000Z" }`.
fn list_assertion<'v>(names: &dyn NameResolver, assertion: &'v [u8]) -> Normal<'v> {
    let text = std::str::from_utf8(assertion).map_err(|_| InvalidValue)?;
    let fields = Fields::parse(text)?;
    let issuer = written_name(names, unquoted(fields.get("issuer")?)?.as_bytes())?;
    let made = unquoted(fields.get("thisUpdate")?)?;
    // UTCTime has no century.
    let made = match made
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(made.len())
    {
        ..=12 if made.starts_with(|c| ('5'..='9').contains(&c)) => format!("19{made}"),
        ..=12 => format!("20{made}"),
        _ => made,
    };
    let made = time::generalized_time(made.as_bytes())?;
    Ok(joined(&String::from_utf8_lossy(&made), &issuer))
}

fn joined(first: &str, name: &str) -> Cow<'static, [u8]> {
    Cow::Owned(format!("{first}${name}").into_bytes())
}

/// The members of a GSER sequence (RFC 3641, section 3.1): `{ name value, name value }`.
struct Fields<'t> {
    members: Vec<(&'t str, &'t str)>,
}

impl<'t> Fields<'t> {
    fn parse(text: &'t str) -> Result<Fields<'t>, InvalidValue> {
        let inner = text
            .trim()
            .strip_prefix('{')
            .and_then(|t| t.strip_suffix('}'));
        let mut members = Vec::new();
        for member in split_outside_quotes(inner.ok_or(InvalidValue)?) {
            let member = member.trim();
            members.push(member.split_once(' ').ok_or(InvalidValue)?);
        }
        Ok(Fields { members })
    }

    fn get(&self, name: &str) -> Result<&'t str, InvalidValue> {
        let mut found = self.members.iter().filter(|(held, _)| *held == name);
        match (found.next(), found.next()) {
            (Some((_, value)), None) => Ok(value.trim()),
            _ => Err(InvalidValue),
        }
    }
}

/// Parts between commas, those within quotes aside; a quote within quotes is doubled, which changes
/// nothing here.
fn split_outside_quotes(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut quoted) = (Vec::new(), 0, false);
    for (at, b) in text.bytes().enumerate() {
        match b {
            b'"' => quoted = !quoted,
            b',' if !quoted => {
                parts.push(text.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

/// Returns the text in `"..."`, `rdnSequence:"..."`, `utcTime:"..."`. In the older form it is the
/// text itself.
fn unquoted(text: &str) -> Result<String, InvalidValue> {
    let Some((before, rest)) = text.split_once('"') else {
        return Ok(text.trim().to_owned());
    };
    let choice = before.trim();
    let known = matches!(
        choice,
        "" | "rdnSequence:" | "utcTime:" | "generalTime:" | "generalizedTime:"
    );
    // A DN may contain quotes in the older form, in which it begins with a type.
    if !known {
        return Ok(text.trim().to_owned());
    }
    let inner = rest.trim_end().strip_suffix('"').ok_or(InvalidValue)?;
    Ok(inner.replace("\"\"", "\""))
}

/// Returns the sign and bytes, without leading zeros, of an INTEGER's contents.
fn magnitude(content: &[u8]) -> (bool, Vec<u8>) {
    let negative = content.first().is_some_and(|b| b & 0x80 != 0);
    let mut bytes = content.to_vec();
    if negative {
        bytes.iter_mut().for_each(|b| *b = !*b);
        for b in bytes.iter_mut().rev() {
            let (sum, carried) = b.overflowing_add(1);
            *b = sum;
            if !carried {
                break;
            }
        }
    }
    let zeros = bytes.iter().take_while(|b| **b == 0).count();
    bytes.drain(..zeros);
    (negative, bytes)
}

/// Returns the sign and bytes of a number as assertions write it: decimal, or `'17'H`.
fn written_serial(text: &str) -> Result<(bool, Vec<u8>), InvalidValue> {
    let text = text.trim();
    if text.len() > SERIAL_DIGITS_MAX {
        return Err(InvalidValue);
    }
    if let Some(digits) = text.strip_prefix('\'').and_then(|t| t.strip_suffix("'H")) {
        let even = format!("{}{digits}", if digits.len() % 2 == 1 { "0" } else { "" });
        let bytes = even.as_bytes().chunks(2).map(|pair| {
            let pair = std::str::from_utf8(pair).ok()?;
            u8::from_str_radix(pair, 16).ok()
        });
        let bytes: Vec<u8> = bytes.collect::<Option<_>>().ok_or(InvalidValue)?;
        let zeros = bytes.iter().take_while(|b| **b == 0).count();
        return Ok((false, bytes.get(zeros..).unwrap_or_default().to_vec()));
    }
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    if digits.is_empty() {
        return Err(InvalidValue);
    }
    // Least significant byte first while it grows.
    let mut bytes: Vec<u8> = Vec::new();
    for digit in digits.chars() {
        let mut carry = digit.to_digit(10).ok_or(InvalidValue)?;
        for b in &mut bytes {
            let sum = u32::from(*b) * 10 + carry;
            *b = u8::try_from(sum & 0xff).unwrap_or_default();
            carry = sum >> 8;
        }
        if carry > 0 {
            bytes.push(u8::try_from(carry).unwrap_or_default());
        }
    }
    bytes.reverse();
    Ok((negative, bytes))
}

fn serial_text(negative: bool, magnitude: &[u8]) -> String {
    let sign = if negative { "-" } else { "" };
    format!("{sign}{}", hex::encode(magnitude))
}

/// Returns the normal form of a name in a certificate, leaf first as LDAP writes names.
fn encoded_name(names: &dyn NameResolver, name: der::Der<'_>) -> Result<String, InvalidValue> {
    let rdns = der::name(name).ok_or(InvalidValue)?;
    let levels = rdns.iter().rev().map(|rdn| {
        let parts = rdn.iter().map(|part| {
            // A value that is no string is compared as it is encoded.
            let value = der::string(part.tag, part.value);
            names.normal_ava(&part.oid, value.as_deref().unwrap_or(part.value))
        });
        level(parts.collect())
    });
    Ok(levels.collect::<Vec<_>>().join(","))
}

/// Returns the normal form of a name as an assertion writes it. Types the schema does not know may
/// be there in numbers.
fn written_name(names: &dyn NameResolver, text: &[u8]) -> Result<String, InvalidValue> {
    let text = std::str::from_utf8(text).map_err(|_| InvalidValue)?;
    let rdns = fulgurite_ldap::dn::parse(text).map_err(|_| InvalidValue)?;
    let levels = rdns.iter().map(|rdn| {
        let parts = rdn.iter().map(|ava| {
            let known = names.has_attribute(ava.attribute);
            let numeric = crate::oid::is_numeric_oid(ava.attribute);
            (known || numeric)
                .then(|| names.normal_ava(ava.attribute, &ava.value))
                .ok_or(InvalidValue)
        });
        parts.collect::<Result<Vec<_>, _>>().map(level)
    });
    Ok(levels.collect::<Result<Vec<_>, _>>()?.join(","))
}

fn level(mut parts: Vec<String>) -> String {
    parts.sort_unstable();
    parts.join("+")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schema;

    fn assertion(text: &str) -> Option<String> {
        certificate_assertion(&*Schema::standard(), text.as_bytes())
            .ok()
            .map(|n| String::from_utf8(n.into_owned()).unwrap())
    }

    #[test]
    fn forms_of_assertions() {
        let normal = Some("0123$cn=ca\\2c inc,dc=example".to_owned());
        for same in [
            "291$cn=CA\\, Inc,dc=example",
            "291$ CN=\"CA, Inc\" , DC=Example",
            "{ serialNumber 291, issuer rdnSequence:\"cn=CA\\2C Inc,dc=example\" }",
            "{serialNumber 291,issuer rdnSequence:\"cn=CA\\, Inc,dc=example\"}",
            "{ issuer rdnSequence:\"CN=ca\\, inc,dc=example\", serialNumber '123'H }",
            "{ issuer \"CN=ca\\, inc,dc=example\", serialNumber 291 }",
        ] {
            assert_eq!(assertion(same), normal, "{same}");
        }
        assert_eq!(assertion("-1$").as_deref(), Some("-01$"));
        assert_eq!(assertion("0$").as_deref(), Some("$"));
        assert_eq!(
            assertion("340282366920938463463374607431768211456$1.2.3.4=X").as_deref(),
            Some("0100000000000000000000000000000000$1.2.3.4=X")
        );
        for bad in [
            "",
            "x",
            "x$cn=a",
            "1$a",
            "1$nosuch=a",
            "{ serialNumber 1 }",
            "{ serialNumber 1, serialNumber 1, issuer \"cn=a\" }",
            "{ serialNumber 1, issuer \"cn=a }",
            "{ serialNumber 'xy'H, issuer \"cn=a\" }",
            "{ serialNumber 1, issuer \"cn=a\"",
        ] {
            assert_eq!(assertion(bad), None, "{bad}");
        }
        let schema = Schema::standard();
        let list = |text: &str| {
            let normal = list_assertion(&*schema, text.as_bytes());
            normal.ok().map(Cow::into_owned)
        };
        let full = list("{ issuer rdnSequence:\"cn=a\", thisUpdate \"20200102030405Z\" }");
        assert_eq!(full.as_deref(), Some(&b"20200102030405$cn=a"[..]));
        assert_eq!(
            list("{ thisUpdate utcTime:\"200102030405Z\", issuer rdnSequence:\"CN=A\" }"),
            full
        );
        assert_eq!(list("{ issuer \"cn=a\" }"), None);
    }

    #[test]
    fn serial_numbers_as_encoded_and_as_written() {
        for (encoded, written) in [
            (&[0x00][..], "0"),
            (&[0x7f], "127"),
            (&[0x00, 0x80], "128"),
            (&[0x80], "-128"),
            (&[0xff], "-1"),
            (&[0xff, 0x7f], "-129"),
            (&[0x01, 0x00], "256"),
        ] {
            let (negative, bytes) = magnitude(encoded);
            let (minus, digits) = written_serial(written).unwrap();
            assert_eq!(
                serial_text(negative, &bytes),
                serial_text(minus, &digits),
                "{written}"
            );
        }
    }
}
