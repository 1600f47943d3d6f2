//! The schemes by name, what they cost, and new hashes.

use argon2::{Argon2, PasswordHasher as _};

use crate::digest::DigestKind;
use crate::foreign::ForeignHash;
use crate::pbkdf2::Pbkdf2Kind;
use crate::{crypt, digest, pbkdf2};

/// A way to store passwords.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    /// `{CLEARTEXT}` or no scheme at all.
    Cleartext,
    /// `{MD5}`.
    Md5,
    /// `{SMD5}`: salted.
    Smd5,
    /// `{SHA}`.
    Sha,
    /// `{SSHA}`: salted.
    Ssha,
    /// `{SHA256}`.
    Sha256,
    /// `{SSHA256}`: salted.
    Ssha256,
    /// `{SHA384}`.
    Sha384,
    /// `{SSHA384}`: salted.
    Ssha384,
    /// `{SHA512}`.
    Sha512,
    /// `{SSHA512}`: salted.
    Ssha512,
    /// `{CRYPT}`: the forms of crypt(3), new ones as SHA-512-crypt, `$6$`.
    Crypt,
    /// `{ARGON2}`: RFC 9106 as a PHC string, new ones as Argon2id.
    #[default]
    Argon2,
    /// `{PBKDF2}` and `{PBKDF2-SHA1}`.
    Pbkdf2Sha1,
    /// `{PBKDF2-SHA256}`.
    Pbkdf2Sha256,
    /// `{PBKDF2-SHA512}`.
    Pbkdf2Sha512,
    /// `{PBKDF2_SHA256}`, as 389 Directory Server writes it.
    Pbkdf2Of389,
    /// `{BCRYPT}`: the form of crypt(3) without its name.
    Bcrypt,
    /// `{SCRYPT}`: RFC 7914, as `$s0$...` or a PHC string.
    Scrypt,
    /// `{PKCS5S2}` of Atlassian's products and OpenDJ.
    Pkcs5S2,
}

/// Names in stored values, the one written first.
const NAMES: &[(&str, Scheme)] = &[
    ("CLEARTEXT", Scheme::Cleartext),
    ("MD5", Scheme::Md5),
    ("SMD5", Scheme::Smd5),
    ("SHA", Scheme::Sha),
    ("SSHA", Scheme::Ssha),
    ("SHA256", Scheme::Sha256),
    ("SSHA256", Scheme::Ssha256),
    ("SHA384", Scheme::Sha384),
    ("SSHA384", Scheme::Ssha384),
    ("SHA512", Scheme::Sha512),
    ("SSHA512", Scheme::Ssha512),
    ("CRYPT", Scheme::Crypt),
    ("ARGON2", Scheme::Argon2),
    ("PBKDF2-SHA1", Scheme::Pbkdf2Sha1),
    ("PBKDF2", Scheme::Pbkdf2Sha1),
    ("PBKDF2-SHA256", Scheme::Pbkdf2Sha256),
    ("PBKDF2-SHA512", Scheme::Pbkdf2Sha512),
    ("PBKDF2_SHA256", Scheme::Pbkdf2Of389),
    ("BCRYPT", Scheme::Bcrypt),
    ("SCRYPT", Scheme::Scrypt),
    ("PKCS5S2", Scheme::Pkcs5S2),
];

/// How the scheme works.
pub(crate) enum Family {
    Cleartext,
    Digest { kind: DigestKind, salted: bool },
    Crypt,
    Argon2,
    Pbkdf2(Pbkdf2Kind),
    Bcrypt,
    Foreign(ForeignHash),
}

impl Scheme {
    /// Returns the scheme of that name, with or without braces, in any case.
    pub fn from_name(name: &str) -> Option<Scheme> {
        let bare = name
            .strip_prefix('{')
            .and_then(|name| name.strip_suffix('}'))
            .unwrap_or(name);
        NAMES
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(bare))
            .map(|(_, scheme)| *scheme)
    }

    /// Returns the name it is stored under, without braces.
    pub fn name(self) -> &'static str {
        NAMES
            .iter()
            .find(|(_, scheme)| *scheme == self)
            .map_or("", |(name, _)| name)
    }

    /// Returns the scheme of a stored value.
    ///
    /// # Errors
    /// [`SchemeError::Unknown`].
    pub fn of(stored: &[u8]) -> Result<Scheme, SchemeError> {
        split(stored).map(|(scheme, _)| scheme)
    }

    /// Returns the cost of a check: some schemes take milliseconds on purpose.
    pub fn cost(self) -> Cost {
        match self.family() {
            Family::Cleartext | Family::Digest { .. } => Cost::Cheap,
            Family::Crypt
            | Family::Argon2
            | Family::Pbkdf2(_)
            | Family::Bcrypt
            | Family::Foreign(_) => Cost::Slow,
        }
    }

    pub(crate) fn family(self) -> Family {
        let plain = |kind| Family::Digest {
            kind,
            salted: false,
        };
        let salted = |kind| Family::Digest { kind, salted: true };
        match self {
            Self::Cleartext => Family::Cleartext,
            Self::Md5 => plain(DigestKind::Md5),
            Self::Smd5 => salted(DigestKind::Md5),
            Self::Sha => plain(DigestKind::Sha1),
            Self::Ssha => salted(DigestKind::Sha1),
            Self::Sha256 => plain(DigestKind::Sha256),
            Self::Ssha256 => salted(DigestKind::Sha256),
            Self::Sha384 => plain(DigestKind::Sha384),
            Self::Ssha384 => salted(DigestKind::Sha384),
            Self::Sha512 => plain(DigestKind::Sha512),
            Self::Ssha512 => salted(DigestKind::Sha512),
            Self::Crypt => Family::Crypt,
            Self::Argon2 => Family::Argon2,
            Self::Pbkdf2Sha1 => Family::Pbkdf2(Pbkdf2Kind::Sha1),
            Self::Pbkdf2Sha256 => Family::Pbkdf2(Pbkdf2Kind::Sha256),
            Self::Pbkdf2Sha512 => Family::Pbkdf2(Pbkdf2Kind::Sha512),
            Self::Pbkdf2Of389 => Family::Foreign(ForeignHash::Pbkdf2Of389),
            Self::Bcrypt => Family::Bcrypt,
            Self::Scrypt => Family::Foreign(ForeignHash::Scrypt),
            Self::Pkcs5S2 => Family::Foreign(ForeignHash::Pkcs5S2),
        }
    }
}

/// The cost of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// Microseconds.
    Cheap,
    /// Milliseconds to a second, and perhaps much memory.
    Slow,
}

/// A stored password that cannot be checked. For a client it is a wrong password; for an
/// administrator, a finding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemeError {
    /// A scheme that is not known.
    #[error("the stored password has the scheme {{{0}}}, which is not known")]
    Unknown(String),
    /// A form of a known scheme that is not supported.
    #[error(
        "the stored password has the scheme {{{scheme}}} in a form that is not supported: {form}"
    )]
    Unsupported {
        /// The scheme's name.
        scheme: &'static str,
        /// The cost that the check would have.
        form: &'static str,
    },
    /// A value that its scheme cannot have made.
    #[error("the stored password does not have the form of its scheme {{{0}}}")]
    Malformed(&'static str),
    /// Parameters that would take a minute or a gigabyte.
    #[error(
        "the stored password's scheme {{{0}}} has parameters that would take too much time or memory"
    )]
    TooCostly(&'static str),
}

/// A password that cannot be hashed.
#[derive(Debug, thiserror::Error)]
pub enum HashError {
    /// The system gives no random bytes for a salt.
    #[error("the system gives no random bytes for a salt: {0}")]
    Random(String),
    /// A password that the scheme cannot take.
    #[error("the password cannot be stored as {{{scheme}}}: {reason}")]
    Refused {
        /// The scheme's name.
        scheme: &'static str,
        /// Why not.
        reason: String,
    },
}

/// Splits `{SCHEME}rest`; a value without a scheme is in clear.
pub(crate) fn split(stored: &[u8]) -> Result<(Scheme, &[u8]), SchemeError> {
    let Some(after) = stored.strip_prefix(b"{") else {
        return Ok((Scheme::Cleartext, stored));
    };
    match after.iter().position(|byte| *byte == b'}') {
        // "{}" and "{no end" are passwords of people who like braces.
        None | Some(0) => Ok((Scheme::Cleartext, stored)),
        Some(end) => {
            let (name, rest) = after.split_at(end);
            let name = String::from_utf8_lossy(name);
            let scheme = Scheme::from_name(&name);
            let scheme = scheme.ok_or_else(|| SchemeError::Unknown(name.into_owned()))?;
            Ok((scheme, rest.get(1..).unwrap_or_default()))
        }
    }
}

/// Returns the cost of a check against `stored`. It is cheap if `stored` cannot be checked at all.
pub fn cost(stored: &[u8]) -> Cost {
    Scheme::of(stored).map_or(Cost::Cheap, Scheme::cost)
}

/// Makes the value to store for a new password, with a salt from the system's random numbers.
///
/// Cost: that of [`verify`](crate::verify) for the scheme, tens of milliseconds for
/// [`Scheme::Argon2`].
///
/// # Errors
/// [`HashError`] when there is no randomness or the scheme cannot take the password (a NUL in
/// crypt(3)).
pub fn hash(scheme: Scheme, password: &[u8]) -> Result<String, HashError> {
    hash_with(scheme, password, None)
}

/// Hashes as [`hash`] does, with the form of new `{CRYPT}` passwords as slapd's
/// `password-crypt-salt-format` gives it: `$6$%.8s` and the like. Its beginning decides the form of
/// crypt(3), and the salt has at most the length that it states. Without one, and for other
/// schemes, it has no effect.
///
/// # Errors
/// As [`hash`], and a format that no form of crypt(3) known here begins with.
pub fn hash_with(
    scheme: Scheme,
    password: &[u8],
    crypt_salt_format: Option<&str>,
) -> Result<String, HashError> {
    let name = scheme.name();
    let refused = |reason: &str| HashError::Refused {
        scheme: name,
        reason: reason.to_owned(),
    };
    let rest = match scheme.family() {
        Family::Cleartext => {
            let text = std::str::from_utf8(password).map_err(|_| refused("it is not UTF-8"))?;
            // Without braces the value says the same, unless the password itself begins with one.
            return Ok(if text.starts_with('{') {
                format!("{{{name}}}{text}")
            } else {
                text.to_owned()
            });
        }
        Family::Digest { kind, salted: true } => digest::store(kind, password, &random::<16>()?),
        Family::Digest {
            kind,
            salted: false,
        } => digest::store(kind, password, &[]),
        Family::Crypt => {
            crypt::store(password, &random::<32>()?, crypt_salt_format).map_err(refused)?
        }
        Family::Bcrypt => {
            crypt::store(password, &random::<32>()?, Some("$2b$10$%.22s")).map_err(refused)?
        }
        Family::Foreign(foreign) => foreign.store(password, &random::<64>()?),
        Family::Pbkdf2(kind) => pbkdf2::store(kind, password, &random::<16>()?),
        Family::Argon2 => Argon2::default()
            .hash_password_with_salt(password, &random::<16>()?)
            .map_err(|error| refused(&error.to_string()))?
            .to_string(),
    };
    Ok(format!("{{{name}}}{rest}"))
}

pub(crate) fn random<const N: usize>() -> Result<[u8; N], HashError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| HashError::Random(error.to_string()))?;
    Ok(bytes)
}
