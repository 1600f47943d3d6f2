//! `{PBKDF2...}` as OpenLDAP's module writes it: `iterations$salt$key` in "adapted" base64.

use base64::Engine as _;
use base64::alphabet::Alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use pbkdf2::pbkdf2_hmac;
use sha1::Sha1;
use sha2::{Sha256, Sha512};
use subtle::ConstantTimeEq as _;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Pbkdf2Kind {
    Sha1,
    Sha256,
    Sha512,
}

/// Iterations of new hashes: what OWASP advises for each function (2023).
const fn iterations(kind: Pbkdf2Kind) -> u32 {
    match kind {
        Pbkdf2Kind::Sha1 => 1_300_000,
        Pbkdf2Kind::Sha256 => 600_000,
        Pbkdf2Kind::Sha512 => 210_000,
    }
}

/// Beyond this a check takes many seconds.
const ITERATIONS_MAX: u32 = 10_000_000;

/// Base64 with `.` for `+` and without padding.
static ADAPTED: GeneralPurpose = GeneralPurpose::new(
    &match Alphabet::new("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789./") {
        Ok(alphabet) => alphabet,
        Err(_) => panic!("64 distinct characters"),
    },
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

impl Pbkdf2Kind {
    fn derive(self, password: &[u8], salt: &[u8], iterations: u32, key: &mut [u8]) {
        match self {
            Self::Sha1 => pbkdf2_hmac::<Sha1>(password, salt, iterations, key),
            Self::Sha256 => pbkdf2_hmac::<Sha256>(password, salt, iterations, key),
            Self::Sha512 => pbkdf2_hmac::<Sha512>(password, salt, iterations, key),
        }
    }

    fn key_length(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
            Self::Sha512 => 64,
        }
    }
}

/// Why no answer can be given.
pub(crate) enum Refusal {
    Malformed,
    TooCostly,
}

pub(crate) fn verify(kind: Pbkdf2Kind, rest: &[u8], password: &[u8]) -> Result<bool, Refusal> {
    let text = std::str::from_utf8(rest).map_err(|_| Refusal::Malformed)?;
    let mut parts = text.trim_end().split('$');
    let (Some(iterations), Some(salt), Some(key), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(Refusal::Malformed);
    };
    let iterations: u32 = iterations.parse().map_err(|_| Refusal::Malformed)?;
    let salt = ADAPTED.decode(salt).map_err(|_| Refusal::Malformed)?;
    let key = ADAPTED.decode(key).map_err(|_| Refusal::Malformed)?;
    if iterations == 0 || key.len() != kind.key_length() {
        return Err(Refusal::Malformed);
    }
    if iterations > ITERATIONS_MAX {
        return Err(Refusal::TooCostly);
    }
    let mut derived = vec![0; key.len()];
    kind.derive(password, &salt, iterations, &mut derived);
    Ok(derived.ct_eq(&key).into())
}

pub(crate) fn store(kind: Pbkdf2Kind, password: &[u8], salt: &[u8]) -> String {
    let iterations = iterations(kind);
    let mut key = vec![0; kind.key_length()];
    kind.derive(password, salt, iterations, &mut key);
    format!(
        "{iterations}${}${}",
        ADAPTED.encode(salt),
        ADAPTED.encode(key)
    )
}

/// Returns a well-formed value with the iterations of new ones, whose password nobody knows.
pub(crate) fn dummy(kind: Pbkdf2Kind) -> String {
    let zeros = |bytes: usize| ADAPTED.encode(vec![0; bytes]);
    format!(
        "{}${}${}",
        iterations(kind),
        zeros(16),
        zeros(kind.key_length())
    )
}
