//! From a file's path below `src` to its module path.

/// Returns the module path of a file, such as `["txn", "read"]` for `txn/read.rs`.
///
/// `path` is relative to `src`. Crate roots and `mod.rs` files name their folder.
pub(crate) fn module_path(path: &str) -> Vec<String> {
    let stem = path.strip_suffix(".rs").unwrap_or(path);
    let mut parts: Vec<String> = stem.split('/').map(str::to_owned).collect();
    let last = parts.last().map(String::as_str);
    if last == Some("mod") || (parts.len() == 1 && matches!(last, Some("lib" | "main"))) {
        parts.pop();
    }
    parts
}

/// Returns true if the file holds tests only, by its name.
pub(crate) fn is_test_file(path: &str) -> bool {
    path.ends_with("tests.rs") || path.contains("/tests/") || path.starts_with("tests/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_and_mod_files_name_their_folder() {
        assert!(module_path("lib.rs").is_empty());
        assert_eq!(module_path("txn/mod.rs"), ["txn"]);
        assert_eq!(module_path("txn/read.rs"), ["txn", "read"]);
        assert_eq!(module_path("main/lib.rs"), ["main", "lib"]);
    }

    #[test]
    fn test_files_are_known_by_name() {
        assert!(is_test_file("tree/tests.rs"));
        assert!(is_test_file("check/tests/image.rs"));
        assert!(!is_test_file("testing.rs"));
    }
}
