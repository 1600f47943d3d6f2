//! Cipher suites in the notations of OpenSSL (`HIGH:!AES128:@STRENGTH`) and GnuTLS
//! (`SECURE256:-VERS-TLS1.2`).
//!
//! The server supports only suites with forward secrecy and authenticated encryption. So most words
//! of such lists remove suites that are not supported anyway. Each word selects suites, versions,
//! or nothing.

use fulgurite_policy::TlsVersion;
use rustls::SupportedCipherSuite;
use rustls::crypto::ring::ALL_CIPHER_SUITES;

use super::error::TlsError;

/// The suites that a list selects.
#[derive(Debug)]
pub(super) struct SuiteSelection {
    pub(super) suites: Vec<SupportedCipherSuite>,
    /// Unknown words.
    pub(super) unknown: Vec<String>,
}

/// Known words that select nothing: unsupported algorithms, and orders.
const WITHOUT_EFFECT: &[&str] = &[
    "@strength",
    "comp-all",
    "comp-null",
    "kx-all",
    "cipher-all",
    "mac-all",
    "sign-all",
    "group-all",
    "curve-all",
    "ctype-all",
    "ctype-x509",
    "ctype-x.509",
    "anull",
    "enull",
    "null",
    "export",
    "exp",
    "low",
    "medium",
    "des",
    "3des",
    "rc4",
    "rc2",
    "idea",
    "seed",
    "camellia",
    "aria",
    "md5",
    "sha",
    "sha1",
    "sslv2",
    "sslv3",
    "tlsv1",
    "tlsv1.0",
    "tlsv1.1",
    "psk",
    "srp",
    "krsa",
    "rsa",
    "dh",
    "adh",
    "aecdh",
    "dhe",
    "edh",
    "kdhe",
    "kedh",
    "dss",
    "adss",
    "kecdh",
    "aecdh",
    "gost",
    "complementofdefault",
    "complementofall",
    "dhe-rsa",
    "dhe-dss",
    "vers-ssl3.0",
    "vers-tls1.0",
    "vers-tls1.1",
    "vers-dtls-all",
    "vers-dtls1.0",
    "vers-dtls1.2",
    "arcfour-128",
    "3des-cbc",
    "aes-128-cbc",
    "aes-256-cbc",
    "camellia-128-cbc",
    "camellia-256-cbc",
    "sha256",
    "sha384",
    "aesccm",
    "aesccm8",
    "anon-dh",
    "anon-ecdh",
    "ctype-openpgp",
    "ctype-opgp",
];

/// Lists the known words, for a warning about unknown ones.
pub(super) fn known_words() -> String {
    let names: Vec<String> = ALL_CIPHER_SUITES.iter().map(openssl_name).collect();
    format!(
        "{}, and the words HIGH, DEFAULT, ALL, AES128, AES256, AESGCM, CHACHA20, ECDHE, ECDSA, aRSA, TLSv1.2, TLSv1.3, NORMAL, SECURE128, SECURE256, PFS, VERS-TLS1.2, VERS-TLS1.3",
        names.join(", ")
    )
}

/// Selects the suites of a list, of versions from `version_min` on.
///
/// # Errors
/// [`TlsError::NoSuites`] if no suite is left.
pub(super) fn choose(
    list: Option<&str>,
    version_min: TlsVersion,
) -> Result<SuiteSelection, TlsError> {
    let mut chosen = SuiteSelection {
        suites: Vec::new(),
        unknown: Vec::new(),
    };
    match list {
        None => chosen.suites = ALL_CIPHER_SUITES.to_vec(),
        Some(list) => chosen.read(list),
    }
    chosen
        .suites
        .retain(|suite| version_min == TlsVersion::Tls12 || is_13(suite));
    if chosen.suites.is_empty() {
        let list = list.unwrap_or_default().to_owned();
        return Err(TlsError::NoSuites(list, known_words()));
    }
    Ok(chosen)
}

impl SuiteSelection {
    fn read(&mut self, list: &str) {
        let mut removed: Vec<SupportedCipherSuite> = Vec::new();
        let mut names_13 = false;
        let mut names_any = false;
        for word in list
            .split([':', ',', ' ', ';'])
            .filter(|word| !word.is_empty())
        {
            let (sign, bare) = match word.as_bytes().first() {
                Some(b'!' | b'-') => ('-', word.get(1..).unwrap_or_default()),
                Some(b'+') => ('+', word.get(1..).unwrap_or_default()),
                _ => (' ', word),
            };
            let Some(set) = set_of(bare) else {
                self.unknown.push(word.to_owned());
                continue;
            };
            let everything = set.len() == ALL_CIPHER_SUITES.len();
            if sign == '-' {
                self.suites.retain(|suite| !set.contains(suite));
                if word.starts_with('!') {
                    removed.extend(set);
                }
                continue;
            }
            names_any |= !set.is_empty();
            names_13 |= !everything
                && set.iter().any(is_13)
                && bare.to_ascii_uppercase().starts_with("TLS_");
            let fresh: Vec<_> = set
                .into_iter()
                .filter(|suite| !removed.contains(suite) && !self.suites.contains(suite))
                .collect();
            self.suites.extend(fresh);
        }
        // OpenSSL's lists concern TLS 1.2 and older. Suites of TLS 1.3 stay unless the list names
        // or removes them.
        if names_any && !names_13 && !is_gnutls(list) {
            let all = ALL_CIPHER_SUITES.iter().filter(|suite| is_13(suite));
            let kept = all.filter(|suite| !removed.contains(suite));
            let kept: Vec<_> = kept
                .filter(|suite| !self.suites.contains(suite))
                .copied()
                .collect();
            self.suites.splice(0..0, kept);
        }
    }
}

/// Returns true for a list in GnuTLS's notation, which concerns all versions.
fn is_gnutls(list: &str) -> bool {
    let upper = list.to_ascii_uppercase();
    [
        "VERS-",
        "NORMAL",
        "SECURE",
        "PERFORMANCE",
        "PFS",
        "SUITEB",
        "NONE",
    ]
    .iter()
    .any(|word| upper.contains(word))
}

/// Returns the suites that a word selects; `None` for an unknown word.
fn set_of(word: &str) -> Option<Vec<SupportedCipherSuite>> {
    let lower = word.to_ascii_lowercase();
    let of = |wanted: &dyn Fn(&str) -> bool| {
        let fits = |suite: &&SupportedCipherSuite| wanted(&rust_name(suite));
        Some(ALL_CIPHER_SUITES.iter().filter(fits).copied().collect())
    };
    if WITHOUT_EFFECT.contains(&lower.as_str())
        || lower.starts_with('%')
        || lower.starts_with("@seclevel")
    {
        return Some(Vec::new());
    }
    match lower.as_str() {
        "none" => Some(Vec::new()),
        "all" | "high" | "default" | "normal" | "performance" | "pfs" | "secure128" | "legacy"
        | "system" | "vers-all" | "vers-tls-all" | "fips" | "aead" | "kecdhe" | "keecdh"
        | "ecdhe" | "eecdh" | "ecdh" => of(&|_| true),
        "secure192" | "suiteb192" | "secure256" => {
            of(&|name| name.contains("256_GCM") || name.contains("CHACHA20"))
        }
        "suiteb128" => of(&|name| name.contains("_GCM")),
        "aes128" | "aes-128-gcm" => of(&|name| name.contains("AES_128")),
        "aes256" | "aes-256-gcm" => of(&|name| name.contains("AES_256")),
        "aes" | "aesgcm" => of(&|name| name.contains("AES")),
        "chacha20" | "chacha20-poly1305" => of(&|name| name.contains("CHACHA20")),
        "ecdsa" | "aecdsa" | "ecdhe-ecdsa" => of(&|name| name.contains("ECDSA")),
        "arsa" | "ecdhe-rsa" => of(&|name| name.contains("_RSA_")),
        "tlsv1.2" | "vers-tls1.2" => of(&|name| !name.starts_with("TLS13")),
        "tlsv1.3" | "vers-tls1.3" => of(&|name| name.starts_with("TLS13")),
        // A combination such as ECDHE+AESGCM selects the intersection.
        combined if combined.contains('+') => {
            let mut sets = combined.split('+').map(set_of);
            let first = sets.next()??;
            sets.try_fold(first, |all, set| {
                let set = set?;
                Some(
                    all.into_iter()
                        .filter(|suite| set.contains(suite))
                        .collect(),
                )
            })
        }
        _ => named(&lower),
    }
}

/// Returns the suite of that name in the notation of OpenSSL or the standard. Names of unsupported
/// suites select nothing.
fn named(lower: &str) -> Option<Vec<SupportedCipherSuite>> {
    let found: Vec<_> = ALL_CIPHER_SUITES
        .iter()
        .filter(|suite| {
            lower == openssl_name(suite).to_ascii_lowercase()
                || lower == standard_name(suite).to_ascii_lowercase()
        })
        .copied()
        .collect();
    let is_old = [
        "tls_", "ecdhe-", "dhe-", "ecdh-", "dh-", "rsa-", "aes", "camellia", "des-", "psk-",
    ]
    .iter()
    .any(|start| lower.starts_with(start))
        && (lower.contains("sha")
            || lower.contains("ccm")
            || lower.contains("gcm")
            || lower.contains("poly"));
    (!found.is_empty() || is_old).then_some(found)
}

fn is_13(suite: &SupportedCipherSuite) -> bool {
    matches!(suite, SupportedCipherSuite::Tls13(_))
}

fn rust_name(suite: &SupportedCipherSuite) -> String {
    suite.suite().as_str().unwrap_or_default().to_owned()
}

/// `TLS_AES_256_GCM_SHA384`.
fn standard_name(suite: &SupportedCipherSuite) -> String {
    rust_name(suite).replacen("TLS13_", "TLS_", 1)
}

/// Returns OpenSSL's name, such as `ECDHE-RSA-AES256-GCM-SHA384`; for TLS 1.3 the standard name.
pub(super) fn openssl_name(suite: &SupportedCipherSuite) -> String {
    let name = standard_name(suite);
    if is_13(suite) {
        return name;
    }
    let name = name.replacen("TLS_", "", 1).replace("_WITH_", "_");
    let name = name
        .replace("AES_", "AES")
        .replace("POLY1305_SHA256", "POLY1305");
    name.replace('_', "-")
}

/// Returns the strength factor of a suite: the bits of its key.
pub(super) fn strength(suite: &SupportedCipherSuite) -> u32 {
    if rust_name(suite).contains("AES_128") {
        128
    } else {
        256
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &str) -> Vec<String> {
        let chosen = choose(Some(list), TlsVersion::Tls12).unwrap();
        assert!(chosen.unknown.is_empty(), "{list}: {:?}", chosen.unknown);
        chosen.suites.iter().map(openssl_name).collect()
    }

    const TLS13: [&str; 3] = [
        "TLS_AES_256_GCM_SHA384",
        "TLS_AES_128_GCM_SHA256",
        "TLS_CHACHA20_POLY1305_SHA256",
    ];

    #[test]
    fn openssl_lists_select_their_suites() {
        for list in [
            "HIGH",
            "DEFAULT",
            "HIGH:MEDIUM:!aNULL:!MD5:@STRENGTH",
            "ALL:!EXPORT:!LOW",
            "HIGH:+SSLv3",
        ] {
            assert_eq!(names(list).len(), ALL_CIPHER_SUITES.len(), "{list}");
        }
        assert_eq!(
            names("ECDHE-RSA-AES256-GCM-SHA384"),
            [&TLS13[..], &["ECDHE-RSA-AES256-GCM-SHA384"]].concat()
        );
        assert_eq!(names("TLS_AES_256_GCM_SHA384"), ["TLS_AES_256_GCM_SHA384"]);
        assert!(
            names("HIGH:!AES128")
                .iter()
                .all(|name| !name.contains("AES128") && !name.contains("AES_128"))
        );
        assert_eq!(
            names("ECDHE+AESGCM:!ECDSA:!TLSv1.3"),
            ["ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-AES128-GCM-SHA256"]
        );
        assert_eq!(names("AES256-SHA:ECDHE-RSA-AES128-GCM-SHA256").len(), 4);
    }

    #[test]
    fn gnutls_lists_select_their_suites() {
        assert_eq!(names("NORMAL").len(), ALL_CIPHER_SUITES.len());
        assert_eq!(names("NORMAL:-VERS-TLS-ALL:+VERS-TLS1.3"), TLS13);
        assert!(
            names("SECURE256:-VERS-TLS1.3:%SERVER_PRECEDENCE")
                .iter()
                .all(|name| name.starts_with("ECDHE"))
        );
        assert!(
            names("NORMAL:-AES-128-GCM")
                .iter()
                .all(|name| !name.contains("128"))
        );
    }

    #[test]
    fn unknown_words_are_named() {
        let chosen = choose(Some("HIGH:NONSENSE:!ALSO-NONE"), TlsVersion::Tls12).unwrap();
        assert_eq!(chosen.unknown, ["NONSENSE", "!ALSO-NONE"]);
        assert_eq!(chosen.suites.len(), ALL_CIPHER_SUITES.len());
        let nothing = choose(Some("NONSENSE"), TlsVersion::Tls12).unwrap_err();
        assert!(nothing.to_string().contains("NONSENSE"), "{nothing}");
        assert!(choose(Some("VERS-TLS1.2"), TlsVersion::Tls13).is_err());
    }

    #[test]
    fn strength_is_that_of_the_key() {
        for suite in ALL_CIPHER_SUITES {
            let expected = if openssl_name(suite).contains("128_GCM")
                || openssl_name(suite).contains("AES128")
            {
                128
            } else {
                256
            };
            assert_eq!(strength(suite), expected, "{suite:?}");
        }
    }
}
