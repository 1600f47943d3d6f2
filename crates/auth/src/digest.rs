//! `{SHA}` and its kin: base64 of the digest, followed by the salt if there is one.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};
use subtle::ConstantTimeEq as _;

#[derive(Clone, Copy, Debug)]
pub(crate) enum DigestKind {
    Md5,
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl DigestKind {
    fn digest(self, password: &[u8], salt: &[u8]) -> Vec<u8> {
        fn of<D: Digest>(password: &[u8], salt: &[u8]) -> Vec<u8> {
            D::new()
                .chain_update(password)
                .chain_update(salt)
                .finalize()
                .to_vec()
        }
        match self {
            Self::Md5 => of::<Md5>(password, salt),
            Self::Sha1 => of::<Sha1>(password, salt),
            Self::Sha256 => of::<Sha256>(password, salt),
            Self::Sha384 => of::<Sha384>(password, salt),
            Self::Sha512 => of::<Sha512>(password, salt),
        }
    }

    fn length(self) -> usize {
        match self {
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }
}

/// Some tools forget the padding.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Returns `Some(true)` if `rest` is the digest of the password, and `None` if it is no digest.
pub(crate) fn verify(kind: DigestKind, salted: bool, rest: &[u8], password: &[u8]) -> Option<bool> {
    let stored = LENIENT.decode(rest.trim_ascii_end()).ok()?;
    let (digest, salt) = stored.split_at_checked(kind.length())?;
    if salt.is_empty() == salted {
        return None;
    }
    Some(kind.digest(password, salt).ct_eq(digest).into())
}

pub(crate) fn store(kind: DigestKind, password: &[u8], salt: &[u8]) -> String {
    let mut stored = kind.digest(password, salt);
    stored.extend_from_slice(salt);
    STANDARD.encode(stored)
}
