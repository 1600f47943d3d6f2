//! The key that authenticates the cookies of paged searches.

use crate::core::clock::Entropy;

/// The key of an HMAC, 32 bytes.
pub(crate) type CookieKey = [u8; 32];

/// Draws a key from two random values.
pub(crate) fn random_key(entropy: &dyn Entropy) -> CookieKey {
    let mut key = CookieKey::default();
    for half in key.chunks_exact_mut(16) {
        half.copy_from_slice(&entropy.random());
    }
    key
}
