//! Schemes of other servers, so that their passwords can be taken over: 389-ds' `{PBKDF2_SHA256}`,
//! `{PKCS5S2}` of Atlassian's and OpenDJ, `{SCRYPT}`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use pbkdf2::pbkdf2_hmac;
use sha1::Sha1;
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

/// Beyond this a check takes many seconds.
const ITERATIONS_MAX: u32 = 10_000_000;

/// Memory of one scrypt check at most.
const SCRYPT_BYTES_MAX: u64 = 1 << 30;

/// Iterations that `{PKCS5S2}` always has.
const PKCS5S2_ITERATIONS: u32 = 10_000;

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Why no answer can be given.
pub(crate) enum Refusal {
    Malformed,
    TooCostly,
}

/// A scheme of another server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ForeignHash {
    /// Four bytes of iterations, sixty-four of salt, two hundred and fifty-six of key.
    Pbkdf2Of389,
    /// Sixteen bytes of salt, thirty-two of key, PBKDF2 with SHA-1.
    Pkcs5S2,
    /// `$s0$<parameters>$<salt>$<key>` or a PHC string.
    Scrypt,
}

impl ForeignHash {
    pub(crate) fn verify(self, rest: &[u8], password: &[u8]) -> Result<bool, Refusal> {
        match self {
            ForeignHash::Pbkdf2Of389 => verify_389(rest, password),
            ForeignHash::Pkcs5S2 => verify_pkcs5s2(rest, password),
            ForeignHash::Scrypt => verify_scrypt(rest, password),
        }
    }

    /// Returns a stored value, with a salt of at least sixteen bytes.
    pub(crate) fn store(self, password: &[u8], salt: &[u8; 64]) -> String {
        let short = salt.first_chunk::<16>().unwrap_or(&[0; 16]);
        match self {
            ForeignHash::Pbkdf2Of389 => {
                let iterations = 100_000_u32;
                let mut key = [0; 256];
                pbkdf2_hmac::<Sha256>(password, salt, iterations, &mut key);
                STANDARD.encode([&iterations.to_be_bytes()[..], salt, &key].concat())
            }
            ForeignHash::Pkcs5S2 => {
                let mut key = [0; 32];
                pbkdf2_hmac::<Sha1>(password, short, PKCS5S2_ITERATIONS, &mut key);
                STANDARD.encode([&short[..], &key].concat())
            }
            ForeignHash::Scrypt => {
                let (log_n, r, p) = (16_u8, 8, 1);
                let mut key = [0; 32];
                if let Ok(parameters) = scrypt::Params::new(log_n, r, p) {
                    // The only failure is a key of no length.
                    let _ = scrypt::scrypt(password, short, &parameters, &mut key);
                }
                let parameters = u32::from(log_n) << 16 | r << 8 | p;
                let (salt, key) = (STANDARD.encode(short), STANDARD.encode(key));
                format!("$s0${parameters:x}${salt}${key}")
            }
        }
    }
}

fn decode(text: &[u8]) -> Result<Vec<u8>, Refusal> {
    LENIENT
        .decode(text.trim_ascii())
        .map_err(|_| Refusal::Malformed)
}

fn verify_389(rest: &[u8], password: &[u8]) -> Result<bool, Refusal> {
    let stored = decode(rest)?;
    let (iterations, rest) = stored.split_first_chunk::<4>().ok_or(Refusal::Malformed)?;
    let (salt, key) = rest.split_at_checked(64).ok_or(Refusal::Malformed)?;
    let iterations = u32::from_be_bytes(*iterations);
    if iterations == 0 || key.len() != 256 {
        return Err(Refusal::Malformed);
    }
    if iterations > ITERATIONS_MAX {
        return Err(Refusal::TooCostly);
    }
    let mut derived = [0; 256];
    pbkdf2_hmac::<Sha256>(password, salt, iterations, &mut derived);
    Ok(derived.ct_eq(key).into())
}

fn verify_pkcs5s2(rest: &[u8], password: &[u8]) -> Result<bool, Refusal> {
    let stored = decode(rest)?;
    let (salt, key) = stored.split_at_checked(16).ok_or(Refusal::Malformed)?;
    if key.len() != 32 {
        return Err(Refusal::Malformed);
    }
    let mut derived = [0; 32];
    pbkdf2_hmac::<Sha1>(password, salt, PKCS5S2_ITERATIONS, &mut derived);
    Ok(derived.ct_eq(key).into())
}

fn verify_scrypt(rest: &[u8], password: &[u8]) -> Result<bool, Refusal> {
    let text = std::str::from_utf8(rest)
        .map_err(|_| Refusal::Malformed)?
        .trim_end();
    let mut parts = text.split('$');
    let (Some(""), Some(form), Some(parameters), Some(salt), Some(key), None) = (
        parts.next(),
        parts.next(),
        parts.next(),
        parts.next(),
        parts.next(),
        parts.next(),
    ) else {
        return Err(Refusal::Malformed);
    };
    let (log_n, r, p) = match form {
        "s0" => packed(parameters),
        "scrypt" => listed(parameters),
        _ => None,
    }
    .ok_or(Refusal::Malformed)?;
    let bytes = 1_u64
        .checked_shl(u32::from(log_n))
        .and_then(|n| n.checked_mul(128 * u64::from(r)));
    if log_n >= 40 || p > 16 || bytes.is_none_or(|bytes| bytes * u64::from(p) > SCRYPT_BYTES_MAX) {
        return Err(Refusal::TooCostly);
    }
    let parameters = scrypt::Params::new(log_n, r, p).map_err(|_| Refusal::Malformed)?;
    let (salt, key) = (decode(salt.as_bytes())?, decode(key.as_bytes())?);
    if key.len() < 16 || key.len() > 64 {
        return Err(Refusal::Malformed);
    }
    let mut derived = vec![0; key.len()];
    scrypt::scrypt(password, &salt, &parameters, &mut derived).map_err(|_| Refusal::Malformed)?;
    Ok(derived.ct_eq(&key).into())
}

/// Parses `e0801`: the exponent, r and p in hexadecimal.
fn packed(text: &str) -> Option<(u8, u32, u32)> {
    let packed = u32::from_str_radix(text, 16).ok()?;
    let log_n = u8::try_from(packed >> 16).ok()?;
    let (r, p) = (packed >> 8 & 0xff, packed & 0xff);
    (log_n > 0 && r > 0 && p > 0).then_some((log_n, r, p))
}

/// Parses `ln=16,r=8,p=1`.
fn listed(text: &str) -> Option<(u8, u32, u32)> {
    let mut parts = text.split(',');
    let log_n = parts.next()?.strip_prefix("ln=")?.parse().ok()?;
    let r = parts.next()?.strip_prefix("r=")?.parse().ok()?;
    let p = parts.next()?.strip_prefix("p=")?.parse().ok()?;
    (parts.next().is_none() && log_n > 0 && r > 0 && p > 0).then_some((log_n, r, p))
}
