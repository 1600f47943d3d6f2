//! Is this the password?

use argon2::password_hash::PasswordVerifier as _;
use argon2::{Argon2, Params, PasswordHash};
use subtle::ConstantTimeEq as _;

use crate::scheme::{Family, Scheme, SchemeError, split};
use crate::{crypt, digest, foreign, pbkdf2};

/// Memory of one Argon2 check at most, in KiB.
const ARGON2_KIB_MAX: u32 = 1 << 20;

/// Memory times passes of one Argon2 check at most, in KiB: some seconds.
const ARGON2_WORK_MAX: u64 = 4 << 20;

/// Returns `Ok(true)` if `stored` was made of `password`.
///
/// Cost: see [`cost`](crate::cost). Comparisons take the same time wherever the difference is.
///
/// # Errors
/// [`SchemeError`] when the stored value cannot be checked; to a client that is a wrong password.
pub fn verify(stored: &[u8], password: &[u8]) -> Result<bool, SchemeError> {
    let (scheme, rest) = split(stored)?;
    let name = scheme.name();
    match scheme.family() {
        // Lengths differ openly; constant time covers the content.
        Family::Cleartext => Ok(rest.ct_eq(password).into()),
        Family::Digest { kind, salted } => {
            digest::verify(kind, salted, rest, password).ok_or(SchemeError::Malformed(name))
        }
        Family::Bcrypt if !rest.starts_with(b"$2") => Err(SchemeError::Malformed(name)),
        Family::Crypt | Family::Bcrypt => {
            crypt::verify(rest, password).map_err(|refusal| match refusal {
                crypt::Refusal::Malformed => SchemeError::Malformed(name),
                crypt::Refusal::TooCostly => SchemeError::TooCostly(name),
                crypt::Refusal::Form(form) => SchemeError::Unsupported { scheme: name, form },
            })
        }
        Family::Pbkdf2(kind) => {
            pbkdf2::verify(kind, rest, password).map_err(|refusal| match refusal {
                pbkdf2::Refusal::Malformed => SchemeError::Malformed(name),
                pbkdf2::Refusal::TooCostly => SchemeError::TooCostly(name),
            })
        }
        Family::Argon2 => verify_argon2(rest, password),
        Family::Foreign(foreign) => {
            foreign
                .verify(rest, password)
                .map_err(|refusal| match refusal {
                    foreign::Refusal::Malformed => SchemeError::Malformed(name),
                    foreign::Refusal::TooCostly => SchemeError::TooCostly(name),
                })
        }
    }
}

fn verify_argon2(rest: &[u8], password: &[u8]) -> Result<bool, SchemeError> {
    let name = Scheme::Argon2.name();
    let malformed = SchemeError::Malformed(name);
    let text = std::str::from_utf8(rest).map_err(|_| malformed.clone())?;
    let hash = PasswordHash::new(text.trim_end()).map_err(|_| malformed.clone())?;
    let parameters = Params::try_from(&hash).map_err(|_| malformed.clone())?;
    let work = u64::from(parameters.m_cost()) * u64::from(parameters.t_cost());
    if parameters.m_cost() > ARGON2_KIB_MAX || work > ARGON2_WORK_MAX {
        return Err(SchemeError::TooCostly(name));
    }
    match Argon2::default().verify_password(password, &hash) {
        Ok(()) => Ok(true),
        Err(argon2::password_hash::Error::PasswordInvalid) => Ok(false),
        Err(_) => Err(malformed),
    }
}

/// Does the work of one check and drops the answer. An unknown user then takes as long as a known
/// one.
///
/// `like` is the scheme that most passwords of the directory have, [`Scheme::default`] where
/// nothing is known.
pub fn dummy_verify(like: Scheme, password: &[u8]) {
    let stored = dummy(like);
    let matched = verify(stored.as_bytes(), password);
    // The work must not be optimised away, nor its answer ever count.
    std::hint::black_box(&matched);
}

/// Returns the password of a value that is stored in clear.
#[must_use]
pub fn clear_text(stored: &[u8]) -> Option<&[u8]> {
    match split(stored) {
        Ok((Scheme::Cleartext, password)) => Some(password),
        _ => None,
    }
}

/// Returns the kind of a stored password: the scheme and its parameters, without salt and hash. The
/// kind decides the cost of a check.
#[must_use]
pub fn kind(stored: &[u8]) -> String {
    let Ok((scheme, rest)) = split(stored) else {
        return "?".to_owned();
    };
    let family = scheme.family();
    if let Family::Cleartext | Family::Digest { .. } = family {
        return ["{", scheme.name(), "}"].concat();
    }
    let rest = String::from_utf8_lossy(rest);
    let mut parts = rest.split('$');
    let parameters: Vec<&str> = match family {
        Family::Cleartext | Family::Digest { .. } => Vec::new(),
        Family::Pbkdf2(_) => parts.take(1).collect(),
        Family::Argon2 => parts.take(4).collect(),
        Family::Foreign(foreign::ForeignHash::Scrypt) => parts.take(3).collect(),
        Family::Foreign(_) => Vec::new(),
        Family::Crypt | Family::Bcrypt => {
            let form = parts.nth(1);
            let first = parts.next().filter(|first| {
                form.is_some_and(|form| form.starts_with('2') || form == "y")
                    || first.starts_with("rounds=")
            });
            form.into_iter().chain(first).collect()
        }
    };
    format!("{{{}}}{}", scheme.name(), parameters.join("$"))
}

/// Returns a well-formed stored value of each scheme, whose password nobody knows, with the
/// parameters of new hashes.
#[must_use]
pub fn decoy(scheme: Scheme) -> String {
    dummy(scheme)
}

fn dummy(scheme: Scheme) -> String {
    let digest_bytes = |bytes: usize| "A".repeat(bytes.div_ceil(3) * 4);
    let rest = match scheme.family() {
        Family::Cleartext => return "fulgurite".to_owned(),
        // One digest and sixteen bytes of salt, whatever the kind: multiples of three decode
        // without padding.
        Family::Digest { salted: true, .. } => digest_bytes(81),
        Family::Digest { kind, .. } => {
            return format!(
                "{{{}}}{}",
                scheme.name(),
                digest::store(kind, b"fulgurite", &[])
            );
        }
        Family::Bcrypt => format!("$2b$10${}", ".".repeat(53)),
        Family::Foreign(foreign) => foreign.store(b"fulgurite", &[0; 64]),
        Family::Crypt => format!("$6$fulgurite0000000${}", ".".repeat(86)),
        Family::Argon2 => {
            let (memory, passes, lanes) = (
                Params::DEFAULT_M_COST,
                Params::DEFAULT_T_COST,
                Params::DEFAULT_P_COST,
            );
            let (salt, key) = ("A".repeat(22), "A".repeat(43));
            format!("$argon2id$v=19$m={memory},t={passes},p={lanes}${salt}${key}")
        }
        Family::Pbkdf2(kind) => return format!("{{{}}}{}", scheme.name(), pbkdf2::dummy(kind)),
    };
    format!("{{{}}}{rest}", scheme.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dummies_are_checked_to_the_end_and_never_match() {
        for scheme in [
            Scheme::Ssha,
            Scheme::Sha,
            Scheme::Ssha512,
            Scheme::Md5,
            Scheme::Crypt,
            Scheme::Argon2,
            Scheme::Pbkdf2Sha512,
            Scheme::Bcrypt,
            Scheme::Pkcs5S2,
        ] {
            assert_eq!(
                verify(dummy(scheme).as_bytes(), b"secret"),
                Ok(false),
                "{}",
                scheme.name()
            );
            dummy_verify(scheme, b"secret");
        }
    }
}
