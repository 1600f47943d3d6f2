//! `{CRYPT}`: the strings of crypt(3), told apart by what stands between the first two dollars.

use md5::{Digest, Md5};
use sha_crypt::{PasswordVerifier as _, ShaCrypt};
use subtle::ConstantTimeEq as _;
use yescrypt::{Params, Yescrypt};

/// Rounds of SHA-crypt beyond which a check takes many seconds.
const SHA_ROUNDS_MAX: u32 = 10_000_000;

/// bcrypt's exponent beyond which a check takes many seconds.
const BCRYPT_COST_MAX: u32 = 17;

/// Memory of one yescrypt check at most.
const YESCRYPT_BYTES_MAX: u64 = 1 << 30;

/// Why no answer can be given.
pub(crate) enum Refusal {
    Malformed,
    TooCostly,
    /// A form that is not supported.
    Form(&'static str),
}

/// Whether `stored` is the password's hash.
pub(crate) fn verify(stored: &[u8], password: &[u8]) -> Result<bool, Refusal> {
    let stored = std::str::from_utf8(stored)
        .map_err(|_| Refusal::Malformed)?
        .trim_end();
    if password.contains(&0) {
        return Ok(false); // crypt(3) takes C strings
    }
    let mut parts = stored.split('$');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(""), Some("1"), Some(salt)) => verify_md5(stored, salt, password),
        (Some(""), Some("5" | "6"), Some(first)) => {
            let rounds = first
                .strip_prefix("rounds=")
                .map_or(Ok(0), str::parse::<u32>);
            if rounds.map_err(|_| Refusal::Malformed)? > SHA_ROUNDS_MAX {
                return Err(Refusal::TooCostly);
            }
            answer(ShaCrypt::default().verify_password(password, stored))
        }
        (Some(""), Some("2" | "2a" | "2b" | "2x" | "2y"), Some(cost)) => {
            if cost.parse::<u32>().map_err(|_| Refusal::Malformed)? > BCRYPT_COST_MAX {
                return Err(Refusal::TooCostly);
            }
            bcrypt::verify(password, stored).map_err(|_| Refusal::Malformed)
        }
        (Some(""), Some("y"), Some(parameters)) => {
            check_yescrypt(parameters)?;
            answer(Yescrypt::default().verify_password(password, stored))
        }
        (Some(""), Some("7" | "gy" | "md5" | "sha1" | "3"), _) => Err(Refusal::Form(
            "of crypt(3), $1$, $2a$, $2b$, $2y$, $5$, $6$ and $y$ are",
        )),
        _ if !stored.contains('$') && stored.len() == 13 => Err(Refusal::Form(
            "a DES password of eight characters at most should be replaced",
        )),
        _ => Err(Refusal::Malformed),
    }
}

/// A new SHA-512-crypt string; `None` for a password that is no C string.
pub(crate) fn store(password: &[u8], salt: &[u8]) -> Option<String> {
    use sha_crypt::PasswordHasher as _;
    if password.contains(&0) {
        return None;
    }
    ShaCrypt::SHA512
        .hash_password_with_salt(password, salt)
        .ok()
        .map(|hash| hash.to_string())
}

fn answer(result: Result<(), sha_crypt::password_hash::Error>) -> Result<bool, Refusal> {
    match result {
        Ok(()) => Ok(true),
        Err(sha_crypt::password_hash::Error::PasswordInvalid) => Ok(false),
        Err(_) => Err(Refusal::Malformed),
    }
}

/// Refuses what would take a gigabyte. Three characters are flavour, N and r; more would be parameters that no
/// system's crypt(3) makes by default and whose work cannot be told from here.
fn check_yescrypt(parameters: &str) -> Result<(), Refusal> {
    let parsed: Params = parameters.parse().map_err(|_| Refusal::Malformed)?;
    let bytes = parsed.n().checked_mul(128 * u64::from(parsed.r()));
    match bytes {
        Some(bytes) if bytes <= YESCRYPT_BYTES_MAX && parameters.len() <= 3 => Ok(()),
        _ => Err(Refusal::TooCostly),
    }
}

fn verify_md5(stored: &str, salt: &str, password: &[u8]) -> Result<bool, Refusal> {
    let hash = stored.rsplit('$').next().unwrap_or_default();
    if hash.len() != 22 || stored.split('$').count() != 4 {
        return Err(Refusal::Malformed);
    }
    let salt = salt.as_bytes();
    let computed = md5_crypt(password, salt.get(..8).unwrap_or(salt));
    Ok(computed.as_bytes().ct_eq(hash.as_bytes()).into())
}

/// MD5-crypt (Poul-Henning Kamp, FreeBSD 1994): a thousand rounds, 22 characters.
fn md5_crypt(password: &[u8], salt: &[u8]) -> String {
    let inner = Md5::new()
        .chain_update(password)
        .chain_update(salt)
        .chain_update(password)
        .finalize();
    let mut start = Md5::new()
        .chain_update(password)
        .chain_update(b"$1$")
        .chain_update(salt);
    for chunk in password.chunks(16) {
        start.update(inner.get(..chunk.len()).unwrap_or_default());
    }
    // One byte for each bit of the length, a NUL or the first character: an accident that became the standard.
    let mut length = password.len();
    while length > 0 {
        start.update(if length & 1 == 1 {
            &[0][..]
        } else {
            password.get(..1).unwrap_or_default()
        });
        length >>= 1;
    }
    let mut digest = start.finalize();
    for round in 0..1000 {
        let (first, last): (&[u8], &[u8]) = if round % 2 == 1 {
            (password, &digest)
        } else {
            (&digest, password)
        };
        let mut next = Md5::new().chain_update(first);
        if round % 3 != 0 {
            next.update(salt);
        }
        if round % 7 != 0 {
            next.update(password);
        }
        digest = next.chain_update(last).finalize();
    }
    encode_md5(&digest.into())
}

/// The sixteen bytes in the order and alphabet of crypt(3), six bits a character.
fn encode_md5(digest: &[u8; 16]) -> String {
    const ORDER: [[usize; 3]; 5] = [[0, 6, 12], [1, 7, 13], [2, 8, 14], [3, 9, 15], [4, 10, 5]];
    const ALPHABET: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut text = String::with_capacity(22);
    let mut push = |mut bits: u32, characters: usize| {
        for _ in 0..characters {
            text.push(char::from(ALPHABET[bits as usize & 63]));
            bits >>= 6;
        }
    };
    for [high, middle, low] in ORDER {
        push(
            u32::from(digest[high]) << 16 | u32::from(digest[middle]) << 8 | u32::from(digest[low]),
            4,
        );
    }
    push(u32::from(digest[11]), 2);
    text
}
