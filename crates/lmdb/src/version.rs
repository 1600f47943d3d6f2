//! Which version of the original this library says it is.

use std::ffi::{CString, c_char, c_int};
use std::sync::OnceLock;

/// The version of the interface: major.
pub const MDB_VERSION_MAJOR: c_int = 0;
/// The version of the interface: minor.
pub const MDB_VERSION_MINOR: c_int = 9;
/// The version of the interface: patch.
pub const MDB_VERSION_PATCH: c_int = 36;

/// Programs that run with no other version than that they were built with can be given it.
const VARIABLE: &str = "FULGURITE_LMDB_VERSION";

/// Tells the version of the interface, as three numbers and as text. Each pointer may be NULL.
///
/// Some programs refuse any other number than that of the header they were compiled with: when the environment variable
/// FULGURITE_LMDB_VERSION holds a version of the same series, such as 0.9.24, that is told instead.
///
/// # Safety
/// Each pointer is null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_version(
    major: *mut c_int,
    minor: *mut c_int,
    patch: *mut c_int,
) -> *mut c_char {
    static CLAIM: OnceLock<Claim> = OnceLock::new();
    let claim = CLAIM.get_or_init(|| Claim::of(std::env::var(VARIABLE).ok().as_deref()));
    let numbers = [MDB_VERSION_MAJOR, MDB_VERSION_MINOR, claim.patch];
    for (out, number) in [major, minor, patch].into_iter().zip(numbers) {
        if !out.is_null() {
            // SAFETY: the caller's promise.
            unsafe { out.write(number) };
        }
    }
    // The C declaration has no const; nobody writes to it.
    claim.text.as_ptr().cast_mut()
}

struct Claim {
    patch: c_int,
    text: CString,
}

impl Claim {
    fn of(wish: Option<&str>) -> Claim {
        let patch = wish
            .and_then(|wish| wish.trim().strip_prefix("0.9."))
            .and_then(|patch| patch.parse().ok())
            .filter(|patch| (0..=255).contains(patch))
            .unwrap_or(MDB_VERSION_PATCH);
        let text = format!(
            "LMDB {MDB_VERSION_MAJOR}.{MDB_VERSION_MINOR}.{patch}: (Fulgurite {})",
            env!("CARGO_PKG_VERSION")
        );
        Claim {
            patch,
            text: CString::new(text).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_of_the_series_can_be_claimed() {
        assert_eq!(Claim::of(None).patch, 36);
        assert_eq!(Claim::of(Some("0.9.24")).patch, 24);
        for nonsense in ["", "1.0.1", "0.9", "0.9.x", "0.9.-1", "0.9.999"] {
            assert_eq!(Claim::of(Some(nonsense)).patch, 36, "{nonsense}");
        }
        let text = Claim::of(Some("0.9.24")).text;
        assert!(text.to_str().unwrap().starts_with("LMDB 0.9.24: ("));
    }
}
