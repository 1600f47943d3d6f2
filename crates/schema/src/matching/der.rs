//! Just enough DER (X.690) to find the parts of certificates and revocation lists that identify
//! them. The `der` and `x509-cert` crates are no replacement: they refuse encodings that slapd
//! accepts and directories hold. Examples are lengths with leading zeros, long serial numbers,
//! Latin-1 strings and bytes after the certificate.
//!
//! ```text
//!   Certificate      { { [0] version?, serial, algorithm, issuer, ... }, algorithm, signature }      (RFC 5280, 4.1)
//!   CertificateList  { { version?, algorithm, issuer, thisUpdate, ... }, algorithm, signature }      (RFC 5280, 5.1)
//!   Name             { { { type, value }+ }* }   RDNs from the root to the leaf, each a SET of SEQUENCEs
//! ```
//! Each element is looked at once, nothing recurses, so the work is bounded by the value's length.

pub(super) const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
const OBJECT_IDENTIFIER: u8 = 0x06;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// A run of elements.
#[derive(Clone, Copy)]
pub(super) struct Der<'v> {
    rest: &'v [u8],
}

/// Serial number and issuer of a certificate, both as encoded.
pub(super) struct CertificateParts<'v> {
    /// Contents of an INTEGER, at least one byte.
    pub(super) serial: &'v [u8],
    pub(super) issuer: Der<'v>,
}

/// Issuer and time of a revocation list.
pub(super) struct ListParts<'v> {
    pub(super) issuer: Der<'v>,
    /// As Generalized Time.
    pub(super) this_update: Vec<u8>,
}

/// One attribute of a name: its type in numbers with dots, the tag and the bytes of its value.
pub(super) struct NamePart<'v> {
    pub(super) oid: String,
    pub(super) tag: u8,
    pub(super) value: &'v [u8],
}

impl<'v> Der<'v> {
    pub(super) fn new(bytes: &'v [u8]) -> Der<'v> {
        Der { rest: bytes }
    }

    /// Returns the next element's tag and contents. Lengths in definite form only, tags of one
    /// byte.
    fn next(&mut self) -> Option<(u8, &'v [u8])> {
        let (&tag, rest) = self.rest.split_first()?;
        let (&first, mut rest) = rest.split_first()?;
        let mut length = usize::from(first);
        if first >= 0x80 {
            let count = usize::from(first & 0x7f);
            if !(1..=4).contains(&count) || tag & 0x1f == 0x1f {
                return None;
            }
            let (bytes, after) = rest.split_at_checked(count)?;
            length = bytes.iter().fold(0, |n, b| n << 8 | usize::from(*b));
            rest = after;
        }
        let (content, rest) = rest.split_at_checked(length)?;
        self.rest = rest;
        Some((tag, content))
    }

    fn expect(&mut self, tag: u8) -> Option<&'v [u8]> {
        self.next()
            .and_then(|(found, content)| (found == tag).then_some(content))
    }

    fn sequence(&mut self) -> Option<Der<'v>> {
        self.expect(SEQUENCE).map(Der::new)
    }

    fn skip_if(&mut self, tag: u8) {
        if self.rest.first() == Some(&tag) {
            self.next();
        }
    }
}

/// Returns the parts of a certificate. Bytes after the certificate are ignored.
pub(super) fn certificate(value: &[u8]) -> Option<CertificateParts<'_>> {
    let mut certificate = Der::new(value).sequence()?;
    let mut signed = certificate.sequence()?;
    signed.skip_if(VERSION);
    let serial = signed.expect(INTEGER).filter(|bytes| !bytes.is_empty())?;
    signed.sequence()?;
    let issuer = signed.sequence()?;
    // Validity, subject, key.
    for _ in 0..3 {
        signed.sequence()?;
    }
    certificate.sequence()?;
    certificate.expect(BIT_STRING)?;
    Some(CertificateParts { serial, issuer })
}

/// Returns the parts of a revocation list.
pub(super) fn certificate_list(value: &[u8]) -> Option<ListParts<'_>> {
    let mut list = Der::new(value).sequence()?;
    let mut signed = list.sequence()?;
    signed.skip_if(INTEGER);
    signed.sequence()?;
    let issuer = signed.sequence()?;
    let this_update = match signed.next()? {
        (GENERALIZED_TIME, time) => time.to_vec(),
        (UTC_TIME, time) => {
            // Two digits of a year: 1950 to 2049 (RFC 5280, section 4.1.2.5.1).
            let tens = time.first().filter(|b| b.is_ascii_digit())?;
            let century: &[u8] = if *tens >= b'5' { b"19" } else { b"20" };
            [century, time].concat()
        }
        _ => return None,
    };
    list.sequence()?;
    list.expect(BIT_STRING)?;
    Some(ListParts {
        issuer,
        this_update,
    })
}

/// Returns true if the bytes are a PKCS #8 PrivateKeyInfo (RFC 5208): a version, an algorithm, the
/// key.
pub(crate) fn is_private_key(value: &[u8]) -> bool {
    let parts = || {
        let mut info = Der::new(value).sequence()?;
        info.expect(INTEGER)?;
        info.sequence()?.expect(OBJECT_IDENTIFIER)?;
        info.expect(OCTET_STRING)
    };
    parts().is_some()
}

/// Returns true if the bytes are a certificate.
pub(crate) fn is_certificate(value: &[u8]) -> bool {
    certificate(value).is_some()
}

/// Returns true if the bytes are a revocation list.
pub(crate) fn is_certificate_list(value: &[u8]) -> bool {
    certificate_list(value).is_some()
}

/// Returns the RDNs of a name as encoded, root first. `None` when it is no name.
pub(super) fn name(mut name: Der<'_>) -> Option<Vec<Vec<NamePart<'_>>>> {
    let mut rdns = Vec::new();
    while !name.rest.is_empty() {
        let mut rdn = Der::new(name.expect(SET)?);
        let mut parts = Vec::new();
        while !rdn.rest.is_empty() {
            let mut part = rdn.sequence()?;
            let oid = object_identifier(part.expect(OBJECT_IDENTIFIER)?)?;
            let (tag, value) = part.next()?;
            parts.push(NamePart { oid, tag, value });
        }
        rdns.push(parts);
    }
    Some(rdns)
}

/// Returns an object identifier's numbers with dots.
fn object_identifier(content: &[u8]) -> Option<String> {
    let mut text = String::new();
    let mut number: u128 = 0;
    for &b in content {
        number = number.checked_mul(128)?.checked_add(u128::from(b & 0x7f))?;
        if b & 0x80 != 0 {
            continue;
        }
        if text.is_empty() {
            let first = (number / 40).min(2);
            text = format!("{first}.{}", number - first * 40);
        } else {
            text.push_str(&format!(".{number}"));
        }
        number = 0;
    }
    let complete = content.last().is_some_and(|b| b & 0x80 == 0);
    complete.then_some(text)
}

/// Returns the text of a string type, as UTF-8; `None` for other types.
pub(super) fn string(tag: u8, bytes: &[u8]) -> Option<Vec<u8>> {
    match tag {
        // UTF8String, NumericString, PrintableString, IA5String, VisibleString.
        0x0c | 0x12 | 0x13 | 0x16 | 0x1a => Some(bytes.to_vec()),
        // TeletexString is Latin-1 in practice.
        0x14 => Some(
            bytes
                .iter()
                .map(|b| char::from(*b))
                .collect::<String>()
                .into(),
        ),
        // BMPString.
        0x1e => {
            let units = bytes
                .chunks(2)
                .map(|pair| Some(u16::from_be_bytes(pair.try_into().ok()?)));
            let units: Vec<u16> = units.collect::<Option<_>>()?;
            String::from_utf16(&units).ok().map(String::into_bytes)
        }
        // UniversalString.
        0x1c => {
            let characters = bytes
                .chunks(4)
                .map(|four| char::from_u32(u32::from_be_bytes(four.try_into().ok()?)));
            let text: String = characters.collect::<Option<_>>()?;
            Some(text.into_bytes())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers() {
        assert_eq!(object_identifier(&[0x55, 4, 3]).as_deref(), Some("2.5.4.3"));
        assert_eq!(
            object_identifier(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 1]).as_deref(),
            Some("1.2.840.113549.1.9.1")
        );
        assert_eq!(
            object_identifier(&[0x88, 0x37, 3]).as_deref(),
            Some("2.999.3")
        );
        assert_eq!(object_identifier(&[]), None);
        assert_eq!(object_identifier(&[0x55, 0x84]), None);
        assert_eq!(object_identifier(&[0xff; 40]), None);
    }

    #[test]
    fn strings() {
        assert_eq!(string(0x14, b"\xe4").as_deref(), Some("ä".as_bytes()));
        assert_eq!(string(0x1e, b"\0a\0\xe4").as_deref(), Some("aä".as_bytes()));
        assert_eq!(string(0x1e, b"\0a\0"), None);
        assert_eq!(string(0x1c, b"\0\0\0a").as_deref(), Some(&b"a"[..]));
        assert_eq!(string(0x02, b"a"), None);
    }

    #[test]
    fn truncated_der_is_refused() {
        let key = b"0\x0b\x02\x01\x00\x30\x04\x06\x02\x2a\x03\x04\x00";
        assert!(is_private_key(key));
        for length in 0..key.len() {
            assert!(!is_private_key(&key[..length]), "{length}");
        }
        for bad in [
            &b"0\x80\0\0"[..],
            b"0\x85\0\0\0\0\0",
            b"0\x84\xff\xff\xff\xff",
            b"1\0",
        ] {
            assert!(!is_certificate(bad) && !is_certificate_list(bad) && !is_private_key(bad));
        }
    }
}
