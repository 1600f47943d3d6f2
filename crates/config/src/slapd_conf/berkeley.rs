//! The backends hdb and bdb of OpenLDAP 2.4, whose databases a survey takes as those of mdb.

/// Their settings that mdb lacks, or that mean something else there.
const SETTINGS: [&str; 13] = [
    "cachefree",
    "cachesize",
    "checkpoint",
    "cryptfile",
    "cryptkey",
    "dbconfig",
    "dbpagesize",
    "dirtyread",
    "dncachesize",
    "idlcachesize",
    "linearindex",
    "lockdetect",
    "shm_key",
];

/// The prefix of their attributes.
const ATTRIBUTE_PREFIX: &str = "olcdb";

/// Returns true for the names of the backends.
pub(crate) fn is_backend(kind: &str) -> bool {
    matches!(kind, "hdb" | "bdb")
}

/// Returns true for the modules of the backends.
pub(super) fn is_module(name: &str) -> bool {
    matches!(name, "back_hdb" | "back_bdb")
}

/// Returns true for a directive or an attribute that only concerns the files of the backends.
pub(crate) fn is_setting(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let plain = name.strip_prefix(ATTRIBUTE_PREFIX).unwrap_or(&name);
    // `olcDbConfig` and `olcDbPageSize` have the prefix without the letters of the directive.
    let mut settings = SETTINGS.iter();
    settings.any(|known| *known == plain || known.strip_prefix("db") == Some(plain))
        || plain == "shmkey"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_and_attributes_are_known() {
        for name in [
            "cachesize",
            "CacheSize",
            "dbconfig",
            "shm_key",
            "olcDbCacheSize",
            "olcDbConfig",
            "olcDbPageSize",
            "olcDbShmKey",
            "olcDbIDLcacheSize",
        ] {
            assert!(is_setting(name), "{name}");
        }
        for name in [
            "index",
            "olcDbIndex",
            "olcDbDirectory",
            "olcDbMode",
            "olcSuffix",
        ] {
            assert!(!is_setting(name), "{name}");
        }
    }
}
