//! `{CRYPT}`: the strings of crypt(3), distinguished by the text between the first two dollars.

use md5::{Digest, Md5};
use sha_crypt::{PasswordVerifier as _, ShaCrypt};
use subtle::ConstantTimeEq as _;
use yescrypt::{Params, Yescrypt};

use crate::des_crypt::des_crypt;

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

/// Returns `Ok(true)` if `stored` is the password's hash.
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
            "of crypt(3), DES, $1$, $2a$, $2b$, $2y$, $5$, $6$ and $y$ are",
        )),
        (Some(hash), None, None) if hash.len() == 13 => {
            let salt = hash
                .as_bytes()
                .first_chunk::<2>()
                .ok_or(Refusal::Malformed)?;
            let computed = des_crypt(password, *salt).ok_or(Refusal::Malformed)?;
            Ok(computed.as_bytes().ct_eq(hash.as_bytes()).into())
        }
        _ => Err(Refusal::Malformed),
    }
}

/// Returns a new string of crypt(3), of the form that `format` begins with: SHA-512-crypt without
/// one.
///
/// # Errors
/// Why there is none, for people.
pub(crate) fn store(
    password: &[u8],
    random: &[u8; 32],
    format: Option<&str>,
) -> Result<String, &'static str> {
    if password.contains(&0) {
        return Err("it holds a NUL byte");
    }
    let form = match format {
        None => SaltFormat::new("$6$%.16s"),
        Some(format) => SaltFormat::new(format),
    };
    let form = form.ok_or("the salt format has no %s, or more than one")?;
    let mut parts = form.before.split('$');
    let unknown = "the salt format begins with no form of crypt(3) that is made here: $1$, $2a$, $2b$, $2y$, $5$, $6$, $y$ and none";
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(""), Some("6"), Some(rounds), _) => {
            sha(ShaCrypt::SHA512, password, random, rounds, form.length)
        }
        (Some(""), Some("5"), Some(rounds), _) => {
            sha(ShaCrypt::SHA256, password, random, rounds, form.length)
        }
        (Some(""), Some("1"), Some(""), None) => {
            let salt = salt_text(random, form.length.clamp(1, 8));
            Ok(format!(
                "$1${salt}${}",
                md5_crypt(password, salt.as_bytes())
            ))
        }
        (Some(""), Some(version @ ("2a" | "2b" | "2y")), Some(cost), Some("")) => {
            let cost: u32 = cost.parse().map_err(|_| unknown)?;
            if !(4..=BCRYPT_COST_MAX).contains(&cost) {
                return Err("the cost of bcrypt is from 4 to 17");
            }
            let salt = *random.first_chunk::<16>().unwrap_or(&[0; 16]);
            let made = bcrypt::hash_with_salt(password, cost, salt);
            let made = made.map_err(|_| "bcrypt cannot take it")?.to_string();
            Ok(format!("${version}{}", made.get(3..).unwrap_or_default()))
        }
        (Some(""), Some("y"), Some(_), _) => {
            use yescrypt::PasswordHasher as _;
            let salt = random.first_chunk::<16>().unwrap_or(&[0; 16]);
            let made = Yescrypt::default().hash_password_with_salt(password, salt);
            made.map(|hash| hash.to_string())
                .map_err(|_| "yescrypt cannot take it")
        }
        (Some(""), None, None, None) => {
            let salt = salt_text(random, 2);
            let salt = salt.as_bytes().first_chunk::<2>().unwrap_or(b"..");
            des_crypt(password, *salt).ok_or(unknown)
        }
        _ => Err(unknown),
    }
}

/// `printf`'s format of a salt: its prefix, and its greatest length.
struct SaltFormat<'f> {
    before: &'f str,
    length: usize,
}

impl<'f> SaltFormat<'f> {
    fn new(format: &'f str) -> Option<SaltFormat<'f>> {
        let (before, after) = format.split_once('%')?;
        let (length, rest) = after.split_once('s')?;
        let length = match length {
            "" => 31,
            digits => digits.strip_prefix('.')?.parse().ok()?,
        };
        (!rest.contains('%')).then_some(SaltFormat { before, length })
    }
}

/// Characters of a salt: six bits of an byte each.
fn salt_text(random: &[u8; 32], length: usize) -> String {
    const ALPHABET: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let letters = random.iter().take(length);
    letters
        .map(|byte| char::from(ALPHABET[usize::from(byte & 63)]))
        .collect()
}

fn sha(
    sha: ShaCrypt,
    password: &[u8],
    random: &[u8; 32],
    rounds: &str,
    length: usize,
) -> Result<String, &'static str> {
    use sha_crypt::CustomizedPasswordHasher as _;
    let rounds = match rounds.strip_prefix("rounds=") {
        Some(digits) => digits
            .parse()
            .map_err(|_| "the rounds of the salt format are no number")?,
        None => 5000,
    };
    if rounds > SHA_ROUNDS_MAX {
        return Err("the rounds of the salt format would take too long");
    }
    let parameters =
        sha_crypt::Params::new(rounds).map_err(|_| "there are at least 1000 rounds")?;
    // Six bits to a character: never longer than asked for, and never longer than the sixteen there
    // may be.
    let bytes = (length.clamp(2, 16) * 6 / 8).max(1);
    let salt = random.get(..bytes).unwrap_or(random);
    sha.hash_password_customized(password, salt, None, None, parameters)
        .map(|hash| hash.to_string())
        .map_err(|_| "SHA-crypt cannot take it")
}

fn answer(result: Result<(), sha_crypt::password_hash::Error>) -> Result<bool, Refusal> {
    match result {
        Ok(()) => Ok(true),
        Err(sha_crypt::password_hash::Error::PasswordInvalid) => Ok(false),
        Err(_) => Err(Refusal::Malformed),
    }
}

/// Refuses what would take a gigabyte. Three characters are flavour, N and r. More characters would
/// be parameters that no system's crypt(3) makes by default, and whose cost is unknown.
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

/// Computes MD5-crypt (Poul-Henning Kamp, FreeBSD 1994): a thousand rounds, 22 characters.
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
    // One byte for each bit of the length, a NUL or the first character: an accident that became
    // the standard.
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

/// Returns the sixteen bytes in the order and alphabet of crypt(3), six bits a character.
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
