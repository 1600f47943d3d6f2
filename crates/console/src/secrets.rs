//! Random identifiers and their comparison.

use std::io;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Returns 256 random bits as text.
pub(crate) fn random_id() -> io::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(hex::encode(bytes))
}

/// Returns the digest of an identifier. Looking it up tells nothing about the identifier by time.
pub(crate) fn digest(id: &str) -> [u8; 32] {
    Sha256::digest(id.as_bytes()).into()
}

/// Returns the digest of values in their order.
pub(crate) fn digest_of<'v>(values: impl Iterator<Item = &'v Vec<u8>>) -> [u8; 32] {
    let mut digest = Sha256::new();
    for value in values {
        digest.update(value.len().to_le_bytes());
        digest.update(value);
    }
    digest.finalize().into()
}

/// Returns true if two secrets are equal. The time does not depend on their bytes.
pub(crate) fn are_equal(one: &str, other: &str) -> bool {
    !one.is_empty() && bool::from(one.as_bytes().ct_eq(other.as_bytes()))
}
