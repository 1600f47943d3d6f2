//! The version of LMDB that this library reports.

use alloc::ffi::CString;
use alloc::string::String;
use core::ffi::{CStr, c_char, c_int};
use fulgurite::platform::sync::OnceLock;
use fulgurite::platform::variable;
use fulgurite::{joined, number_text};

use crate::ffi::{Out, exported};

/// The version of the interface: major.
pub const MDB_VERSION_MAJOR: c_int = 0;
/// The version of the interface: minor.
pub const MDB_VERSION_MINOR: c_int = 9;
/// The version of the interface: patch.
pub const MDB_VERSION_PATCH: c_int = 36;

/// The variable with another version to report, for programs that accept only the one they were
/// compiled with.
const VARIABLE: &CStr = c"FULGURITE_LMDB_VERSION";

exported! {
    /// Returns the version of the interface as text, and stores it as three numbers. Each pointer
    /// may be NULL.
    ///
    /// Some programs refuse any number other than that of the header they were compiled with. The
    /// environment variable FULGURITE_LMDB_VERSION may hold another version of the same series,
    /// such as 0.9.24, to be returned instead.
    fn mdb_version(major: *mut c_int, minor: *mut c_int, patch: *mut c_int) -> *mut c_char {
        plain(version)
    }
}

fn version(major: Out<'_, c_int>, minor: Out<'_, c_int>, patch: Out<'_, c_int>) -> *mut c_char {
    static REPORTED: OnceLock<ReportedVersion> = OnceLock::new();
    let reported = REPORTED.get_or_init(|| {
        let asked = variable(VARIABLE).and_then(|value| String::from_utf8(value).ok());
        ReportedVersion::of(asked.as_deref())
    });
    major.store_if_wanted(MDB_VERSION_MAJOR);
    minor.store_if_wanted(MDB_VERSION_MINOR);
    patch.store_if_wanted(reported.patch);
    // The C declaration has no const, but programs only read the text.
    reported.text.as_ptr().cast_mut()
}

/// The version, with the patch number asked for.
struct ReportedVersion {
    patch: c_int,
    text: CString,
}

impl ReportedVersion {
    fn of(asked: Option<&str>) -> ReportedVersion {
        let patch = asked
            .and_then(|asked| asked.trim().strip_prefix("0.9."))
            .and_then(|patch| patch.parse().ok())
            .filter(|patch| (0..=255).contains(patch))
            .unwrap_or(MDB_VERSION_PATCH);
        let number = |number: c_int| number_text(u64::from(number.unsigned_abs()), 10, 0);
        let text = joined(&[
            "LMDB ",
            &number(MDB_VERSION_MAJOR),
            ".",
            &number(MDB_VERSION_MINOR),
            ".",
            &number(patch),
            concat!(": (Fulgurite ", env!("CARGO_PKG_VERSION"), ")"),
        ]);
        ReportedVersion {
            patch,
            text: CString::new(text).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_sets_another_version_of_the_series() {
        assert_eq!(ReportedVersion::of(None).patch, 36);
        assert_eq!(ReportedVersion::of(Some("0.9.24")).patch, 24);
        for nonsense in ["", "1.0.1", "0.9", "0.9.x", "0.9.-1", "0.9.999"] {
            assert_eq!(ReportedVersion::of(Some(nonsense)).patch, 36, "{nonsense}");
        }
        let text = ReportedVersion::of(Some("0.9.24")).text;
        assert!(text.to_str().unwrap().starts_with("LMDB 0.9.24: ("));
    }
}
