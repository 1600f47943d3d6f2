//! The keys that a server stores for SCRAM instead of a password (RFC 5803).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use pbkdf2::pbkdf2_hmac;
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};

use crate::scheme::HashError;

/// Iterations for keys that are derived from passwords in clear or when a password is set. RFC 7677
/// asks for at least this number. More iterations would cost frequent logins more than guessing.
const ITERATIONS: u32 = 4096;

/// Beyond this a client would take minutes.
const ITERATIONS_MAX: u32 = 10_000_000;

/// The hash function of a SCRAM mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScramHash {
    /// RFC 5802.
    Sha1,
    /// RFC 7677.
    Sha256,
    /// As SCRAM-SHA-256, with the longer hash.
    Sha512,
}

impl ScramHash {
    /// All of them.
    pub const ALL: [ScramHash; 3] = [Self::Sha1, Self::Sha256, Self::Sha512];

    /// Returns the name of the scheme in `authPassword` values, which is that of the mechanism.
    #[must_use]
    pub const fn scheme(self) -> &'static str {
        match self {
            Self::Sha1 => "SCRAM-SHA-1",
            Self::Sha256 => "SCRAM-SHA-256",
            Self::Sha512 => "SCRAM-SHA-512",
        }
    }

    pub(crate) fn hash(self, data: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha1 => Sha1::digest(data).to_vec(),
            Self::Sha256 => Sha256::digest(data).to_vec(),
            Self::Sha512 => Sha512::digest(data).to_vec(),
        }
    }

    pub(crate) fn hmac(self, key: &[u8], data: &[u8]) -> Vec<u8> {
        // HMAC takes keys of every length; the error has no way to happen.
        macro_rules! of {
            ($hash:ty) => {
                Hmac::<$hash>::new_from_slice(key)
                    .map(|mac| mac.chain_update(data).finalize().into_bytes().to_vec())
                    .unwrap_or_default()
            };
        }
        match self {
            Self::Sha1 => of!(Sha1),
            Self::Sha256 => of!(Sha256),
            Self::Sha512 => of!(Sha512),
        }
    }

    fn salted_password(self, password: &[u8], salt: &[u8], iterations: u32) -> Vec<u8> {
        let mut salted = vec![0; self.length()];
        match self {
            Self::Sha1 => pbkdf2_hmac::<Sha1>(password, salt, iterations, &mut salted),
            Self::Sha256 => pbkdf2_hmac::<Sha256>(password, salt, iterations, &mut salted),
            Self::Sha512 => pbkdf2_hmac::<Sha512>(password, salt, iterations, &mut salted),
        }
        salted
    }

    pub(crate) const fn length(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
            Self::Sha512 => 64,
        }
    }
}

/// Keys of one password. The keys alone do not allow a login. They allow guessing, and
/// impersonation of the client by an attacker who also overhears a login.
#[derive(Clone, PartialEq, Eq)]
pub struct ScramKeys {
    /// The hash function.
    pub hash: ScramHash,
    /// How often it is applied.
    pub iterations: u32,
    /// The salt.
    pub salt: Vec<u8>,
    pub(crate) stored_key: Vec<u8>,
    pub(crate) server_key: Vec<u8>,
}

/// Returns a salt for a user without a stored one. It is the same at each call, and unpredictable
/// without the secret. So users who do not exist look like users who do.
#[must_use]
pub fn salt_for(secret: &[u8], mechanism: &str, user: &str) -> [u8; 16] {
    let text = [mechanism.as_bytes(), &[0], user.as_bytes()].concat();
    let mut salt = [0; 16];
    let digest = ScramHash::Sha256.hmac(secret, &text);
    salt.iter_mut()
        .zip(digest)
        .for_each(|(byte, digest)| *byte = digest);
    salt
}

/// An `authPassword` value that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScramKeysError {
    /// Keys of another mechanism.
    #[error("the value is not of the scheme asked for")]
    OtherScheme,
    /// Not what RFC 5803 says.
    #[error(
        "the value does not have the form <scheme>$<iterations>:<salt>$<stored key>:<server key>"
    )]
    Malformed,
}

impl ScramKeys {
    /// Derives the keys of a password.
    ///
    /// Cost: a few milliseconds.
    #[must_use]
    pub fn derive(hash: ScramHash, password: &[u8], salt: &[u8], iterations: u32) -> ScramKeys {
        ScramKeys::derive_all(hash, password, salt, iterations).1
    }

    /// Derives the key of the client too, which no server stores.
    pub(crate) fn derive_all(
        hash: ScramHash,
        password: &[u8],
        salt: &[u8],
        iterations: u32,
    ) -> (Vec<u8>, ScramKeys) {
        // A password that SASLprep refuses is taken as it is, as other servers do.
        let prepared = std::str::from_utf8(password)
            .ok()
            .and_then(|text| stringprep::saslprep(text).ok());
        let password = prepared.as_ref().map_or(password, |text| text.as_bytes());
        let salted = hash.salted_password(password, salt, iterations);
        let client_key = hash.hmac(&salted, b"Client Key");
        let keys = ScramKeys {
            hash,
            iterations,
            salt: salt.to_vec(),
            stored_key: hash.hash(&client_key),
            server_key: hash.hmac(&salted, b"Server Key"),
        };
        (client_key, keys)
    }

    /// Derives the keys to store for a new password, with a random salt.
    ///
    /// # Errors
    /// [`HashError::Random`].
    pub fn generate(hash: ScramHash, password: &[u8]) -> Result<ScramKeys, HashError> {
        let salt = crate::scheme::random::<16>()?;
        Ok(ScramKeys::derive(hash, password, &salt, ITERATIONS))
    }

    /// Iterations of keys that are derived here.
    #[must_use]
    pub const fn iterations_of_new() -> u32 {
        ITERATIONS
    }

    /// Reads a value of `authPassword` (RFC 5803).
    ///
    /// # Errors
    /// [`ScramKeysError`].
    pub fn parse(hash: ScramHash, value: &[u8]) -> Result<ScramKeys, ScramKeysError> {
        let text = std::str::from_utf8(value).map_err(|_| ScramKeysError::Malformed)?;
        let (scheme, rest) = text.split_once('$').ok_or(ScramKeysError::Malformed)?;
        if !scheme.trim().eq_ignore_ascii_case(hash.scheme()) {
            return Err(ScramKeysError::OtherScheme);
        }
        Self::parse_rest(hash, rest).ok_or(ScramKeysError::Malformed)
    }

    fn parse_rest(hash: ScramHash, rest: &str) -> Option<ScramKeys> {
        let (info, keys) = rest.split_once('$')?;
        let (iterations, salt) = info.trim().split_once(':')?;
        let (stored, server) = keys.trim().split_once(':')?;
        let iterations: u32 = iterations.parse().ok()?;
        let key = |text: &str| {
            let bytes = STANDARD.decode(text).ok()?;
            (bytes.len() == hash.length()).then_some(bytes)
        };
        let salt = STANDARD.decode(salt).ok()?;
        let sensible = (1..=ITERATIONS_MAX).contains(&iterations) && !salt.is_empty();
        sensible.then_some(ScramKeys {
            hash,
            iterations,
            salt,
            stored_key: key(stored)?,
            server_key: key(server)?,
        })
    }

    /// Returns the value of `authPassword` that holds them.
    #[must_use]
    pub fn to_value(&self) -> String {
        format!(
            "{}${}:{}${}:{}",
            self.hash.scheme(),
            self.iterations,
            STANDARD.encode(&self.salt),
            STANDARD.encode(&self.stored_key),
            STANDARD.encode(&self.server_key)
        )
    }
}

impl std::fmt::Debug for ScramKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScramKeys")
            .field("hash", &self.hash)
            .field("iterations", &self.iterations)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lead_back() {
        for hash in ScramHash::ALL {
            let keys = ScramKeys::derive(hash, b"pencil", b"some salt", 4096);
            assert_eq!(
                ScramKeys::parse(hash, keys.to_value().as_bytes()),
                Ok(keys.clone())
            );
        }
        let keys = ScramKeys::derive(ScramHash::Sha1, b"pencil", b"some salt", 4096);
        assert_eq!(
            ScramKeys::parse(ScramHash::Sha256, keys.to_value().as_bytes()),
            Err(ScramKeysError::OtherScheme)
        );
    }

    /// Returns the example of RFC 5803, section 4, has these parts (its keys are cut short there).
    #[test]
    fn malformed_values() {
        for value in [
            "SCRAM-SHA-1",
            "SCRAM-SHA-1$4096:AAAA",
            "SCRAM-SHA-1$x:AAAA$AAAA:AAAA",
            "SCRAM-SHA-1$4096:AAAA$AAAA:AAAA",
            "SCRAM-SHA-1$0:AAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAA=:AAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            "SCRAM-SHA-1$99999999:AAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAA=:AAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        ] {
            assert_eq!(
                ScramKeys::parse(ScramHash::Sha1, value.as_bytes()),
                Err(ScramKeysError::Malformed),
                "{value}"
            );
        }
    }
}
