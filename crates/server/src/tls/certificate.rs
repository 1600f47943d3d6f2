//! Data from certificates: the subject as a DN, the time of validity, and the hash that names an
//! end point.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use fulgurite_net::pem::{self, FileError};
use sha2::{Digest as _, Sha256, Sha384, Sha512};
use x509_cert::Certificate;
use x509_cert::der::asn1::{
    Any, BmpString, Ia5StringRef, PrintableStringRef, TeletexStringRef, Utf8StringRef,
};
use x509_cert::der::{Decode as _, Tag, Tagged as _};

use super::error::TlsError;

/// Short names of attribute types (RFC 4514 section 3, RFC 4519). Other types are written as OIDs.
const NAMES: &[(&str, &str)] = &[
    ("2.5.4.3", "cn"),
    ("2.5.4.4", "sn"),
    ("2.5.4.5", "serialNumber"),
    ("2.5.4.6", "c"),
    ("2.5.4.7", "l"),
    ("2.5.4.8", "st"),
    ("2.5.4.9", "street"),
    ("2.5.4.10", "o"),
    ("2.5.4.11", "ou"),
    ("2.5.4.12", "title"),
    ("2.5.4.42", "givenName"),
    ("0.9.2342.19200300.100.1.1", "uid"),
    ("0.9.2342.19200300.100.1.25", "dc"),
    ("1.2.840.113549.1.9.1", "email"),
];

/// Returns the subject as a DN (RFC 4514), the last RDN of the certificate first. `None` if the
/// bytes are no certificate or the subject is empty.
pub(super) fn subject_dn(der: &[u8]) -> Option<String> {
    let certificate = Certificate::from_der(der).ok()?;
    let rdns: Vec<_> = certificate.tbs_certificate().subject().iter_rdn().collect();
    let mut dn = String::new();
    for rdn in rdns.into_iter().rev() {
        for (index, ava) in rdn.iter().enumerate() {
            if !dn.is_empty() {
                dn.push(if index == 0 { ',' } else { '+' });
            }
            let oid = ava.oid.to_string();
            let known = NAMES.iter().find(|(number, _)| *number == oid);
            dn.push_str(known.map_or(oid.as_str(), |(_, name)| name));
            dn.push('=');
            match text(&ava.value) {
                Some(text) => escape(&text, &mut dn),
                None => push_hexstring(&ava.value, &mut dn),
            }
        }
    }
    (!dn.is_empty()).then_some(dn)
}

/// Facts of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFacts {
    /// Its subject as a DN; `None` if it is empty.
    pub subject: Option<String>,
    /// The start of its validity, in seconds since 1970.
    pub not_before_s: u64,
    /// The end of its validity, in seconds since 1970.
    pub not_after_s: u64,
}

/// Returns the facts of the first certificate in a file.
///
/// # Errors
/// [`TlsError`] if the file is unreadable or has no certificate.
pub fn certificate_facts(file: &Path) -> Result<CertificateFacts, TlsError> {
    let what = "certificate";
    let found = pem::certificates(what, file)?;
    let facts = found.first().and_then(|der| {
        let (not_before_s, not_after_s) = validity(der)?;
        Some(CertificateFacts {
            subject: subject_dn(der),
            not_before_s,
            not_after_s,
        })
    });
    facts.ok_or_else(|| {
        TlsError::File(FileError::Unusable {
            what,
            file: file.to_owned(),
            reason: "it is no certificate of X.509".to_owned(),
        })
    })
}

/// Returns the start and the end of a certificate's validity, in seconds since 1970.
pub(super) fn validity(der: &[u8]) -> Option<(u64, u64)> {
    let certificate = Certificate::from_der(der).ok()?;
    let validity = certificate.tbs_certificate().validity();
    Some((
        validity.not_before.to_unix_duration().as_secs(),
        validity.not_after.to_unix_duration().as_secs(),
    ))
}

/// Returns the reason if a certificate is not valid now.
pub(super) fn validity_error(der: &[u8]) -> Option<&'static str> {
    let (from, until) = validity(der)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
    if now > until {
        Some("it has expired")
    } else if now < from {
        Some("it is not valid yet")
    } else {
        None
    }
}

/// Returns `tls-server-end-point` (RFC 5929, section 4.1): the certificate's hash. The hash
/// function is that of its signature, or SHA-256 instead of a weak one. `None` if the signature has
/// no separate hash function.
pub(super) fn end_point(der: &[u8]) -> Option<Vec<u8>> {
    let certificate = Certificate::from_der(der).ok()?;
    match certificate.signature_algorithm().oid.to_string().as_str() {
        // MD5 and SHA-1 with RSA, ECDSA with SHA-1; SHA-256 with RSA and ECDSA
        "1.2.840.113549.1.1.4"
        | "1.2.840.113549.1.1.5"
        | "1.2.840.10045.4.1"
        | "1.2.840.113549.1.1.11"
        | "1.2.840.10045.4.3.2" => Some(Sha256::digest(der).to_vec()),
        "1.2.840.113549.1.1.12" | "1.2.840.10045.4.3.3" => Some(Sha384::digest(der).to_vec()),
        "1.2.840.113549.1.1.13" | "1.2.840.10045.4.3.4" => Some(Sha512::digest(der).to_vec()),
        _ => None,
    }
}

fn text(value: &Any) -> Option<String> {
    match value.tag() {
        Tag::Utf8String => Utf8StringRef::try_from(value)
            .ok()
            .map(|text| text.as_str().to_owned()),
        Tag::PrintableString => PrintableStringRef::try_from(value)
            .ok()
            .map(|text| text.as_str().to_owned()),
        Tag::Ia5String => Ia5StringRef::try_from(value)
            .ok()
            .map(|text| text.as_str().to_owned()),
        Tag::TeletexString => TeletexStringRef::try_from(value)
            .ok()
            .map(|text| text.as_str().to_owned()),
        Tag::BmpString => BmpString::from_der(&x509_cert::der::Encode::to_der(value).ok()?)
            .ok()
            .map(|text| text.to_string()),
        _ => None,
    }
}

/// Appends a value as a hexstring (RFC 4514, section 2.4).
fn push_hexstring(value: &Any, dn: &mut String) {
    let der = x509_cert::der::Encode::to_der(value).unwrap_or_default();
    dn.push('#');
    dn.push_str(&hex::encode(der));
}

/// RFC 4514, section 2.4.
fn escape(value: &str, dn: &mut String) {
    let last = value.chars().count().saturating_sub(1);
    for (index, character) in value.chars().enumerate() {
        let edge = index == 0 || index == last;
        match character {
            ',' | '+' | '"' | '\\' | '<' | '>' | ';' | '=' => {
                dn.push('\\');
                dn.push(character);
            }
            '#' if index == 0 => dn.push_str("\\#"),
            ' ' if edge => dn.push_str("\\ "),
            character if character.is_ascii_control() => {
                let _ = write!(dn, "\\{:02X}", character as u32);
            }
            character => dn.push(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair};

    use super::*;

    fn certificate(parts: &[(DnType, &str)]) -> Vec<u8> {
        let mut parameters = CertificateParams::new(Vec::new()).unwrap();
        parameters.distinguished_name = rcgen::DistinguishedName::new();
        for (kind, value) in parts {
            parameters.distinguished_name.push(kind.clone(), *value);
        }
        let key = KeyPair::generate().unwrap();
        parameters.self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn subjects_are_reversed_and_escaped() {
        let der = certificate(&[
            (DnType::CountryName, "NO"),
            (DnType::OrganizationName, "Fjell, Sten + Søn"),
            (DnType::CommonName, " Kari #1"),
        ]);
        assert_eq!(
            subject_dn(&der).as_deref(),
            Some("cn=\\ Kari #1,o=Fjell\\, Sten \\+ Søn,c=NO")
        );
        let unknown = certificate(&[(DnType::CustomDnType(vec![1, 2, 3, 4]), "x")]);
        assert_eq!(subject_dn(&unknown).as_deref(), Some("1.2.3.4=x"));
        assert_eq!(subject_dn(&certificate(&[])), None);
        assert_eq!(subject_dn(b"nonsense"), None);
    }

    #[test]
    fn end_points_use_the_hash_of_the_signature() {
        let der = certificate(&[(DnType::CommonName, "x")]);
        // rcgen signs with ECDSA and SHA-256 unless told otherwise.
        assert_eq!(end_point(&der), Some(Sha256::digest(&der).to_vec()));
        assert_eq!(end_point(b"nonsense"), None);
    }

    #[test]
    fn expired_and_future_certificates_are_detected() {
        let mut parameters = CertificateParams::new(Vec::new()).unwrap();
        let key = KeyPair::generate().unwrap();
        let der = parameters.clone().self_signed(&key).unwrap().der().to_vec();
        assert_eq!(validity_error(&der), None);
        parameters.not_after = rcgen::date_time_ymd(2001, 1, 1);
        let der = parameters.clone().self_signed(&key).unwrap().der().to_vec();
        assert_eq!(validity_error(&der), Some("it has expired"));
        parameters.not_before = rcgen::date_time_ymd(2099, 1, 1);
        parameters.not_after = rcgen::date_time_ymd(2100, 1, 1);
        let der = parameters.self_signed(&key).unwrap().der().to_vec();
        assert_eq!(validity_error(&der), Some("it is not valid yet"));
    }
}
