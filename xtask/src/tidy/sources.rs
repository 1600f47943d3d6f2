//! Checks of one source file: its length, its unsafe code, its words.

/// Lines of a Rust file at most; a longer one has two reasons to exist.
const LINES_MAX: usize = 800;

/// Crates whose business is raw memory.
const UNSAFE_CRATES: [&str; 5] = [
    "crates/os/",
    "crates/engine/",
    "crates/lmdb/",
    // It is called by SQLite.
    "crates/sqlite/",
    // Its adapters call other key/value stores.
    "bench/compare/",
];

/// Texts of one machine or of unfinished work. Two halves each, so that this file passes.
const FORBIDDEN: [(&str, &str); 8] = [
    (concat!("/wo", "rk/"), "a path of one machine"),
    (concat!("/ro", "ot/"), "a path of one machine"),
    (concat!("../sha", "red"), "a path outside the repository"),
    (
        concat!("TO", "DO"),
        "unfinished work: finish it, or file an issue",
    ),
    (
        concat!("FIX", "ME"),
        "unfinished work: finish it, or file an issue",
    ),
    (
        concat!("XX", "X:"),
        "unfinished work: finish it, or file an issue",
    ),
    (
        concat!("unimpl", "emented!"),
        "unfinished work: finish it, or file an issue",
    ),
    (concat!("dbg", "!("), "a trace left behind"),
];

/// Ways to the system that go round the seam of `os`, where tests let calls fail.
const AROUND_THE_SEAM: [&str; 6] = [
    "std::fs",
    "fs::",
    "rustix",
    "libc::",
    "std::os::unix",
    ".metadata()",
];

/// Every fault of one file; `name` is its path from the root, with slashes.
pub(crate) fn faults(name: &str, bytes: &[u8]) -> Vec<String> {
    let Some(text) = checked_text(name, bytes) else {
        return Vec::new();
    };
    let mut faults = Vec::new();
    if name.ends_with(".rs") {
        let lines = text.lines().count();
        if lines > LINES_MAX {
            faults.push(format!(
                "{name}: {lines} lines, {LINES_MAX} at most: find its second reason to exist"
            ));
        }
        if is_crate_root(name) && !may_be_unsafe(name) && !text.contains("#![forbid(unsafe_code)]")
        {
            faults.push(format!("{name}: #![forbid(unsafe_code)] is missing"));
        }
    }
    if must_ask_the_seam(name) {
        for (number, line) in text.lines().enumerate() {
            let is_code = !line.trim_start().starts_with("//");
            for way in AROUND_THE_SEAM
                .iter()
                .filter(|way| is_code && line.contains(*way))
            {
                faults.push(format!(
                    "{name}:{}: \"{way}\" goes round the seam: system calls of the engine are made in crates/os",
                    number + 1
                ));
            }
        }
    }
    for (number, line) in text.lines().enumerate() {
        for (word, what) in FORBIDDEN.iter().filter(|(word, _)| line.contains(word)) {
            faults.push(format!("{name}:{}: \"{word}\" is {what}", number + 1));
        }
    }
    faults
}

/// The file's text if it is of a kind that people write here.
fn checked_text<'b>(name: &str, bytes: &'b [u8]) -> Option<&'b str> {
    let file = name.rsplit('/').next().unwrap_or(name);
    let known = match file.rsplit_once('.') {
        Some((_, extension)) => [
            "rs", "md", "toml", "sh", "py", "c", "h", "yaml", "yml", "ldif",
        ]
        .contains(&extension),
        None => name.starts_with("scripts/") || name.starts_with(".ci/") || file == "Makefile",
    };
    if !known {
        None
    } else {
        std::str::from_utf8(bytes).ok()
    }
}

/// Returns true if the file holds the attributes of a crate.
fn is_crate_root(name: &str) -> bool {
    name.ends_with("/src/lib.rs") || name.ends_with("/src/main.rs")
}

/// The engine's own sources; its tests may do as they like.
fn must_ask_the_seam(name: &str) -> bool {
    let is_test =
        name.ends_with("tests.rs") || name.contains("/tests/") || name.contains("/models/");
    name.starts_with("crates/engine/src/") && !is_test
}

fn may_be_unsafe(name: &str) -> bool {
    UNSAFE_CRATES.iter().any(|folder| name.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_code_is_forbidden_by_name() {
        assert_eq!(faults("crates/ber/src/lib.rs", b"//! x\n").len(), 1);
        assert!(faults("crates/ber/src/lib.rs", b"#![forbid(unsafe_code)]\n").is_empty());
        assert!(faults("crates/os/src/lib.rs", b"//! x\n").is_empty());
        assert!(faults("crates/ber/src/reader.rs", b"//! x\n").is_empty());
        assert_eq!(faults("crates/cli/src/main.rs", b"fn main() {}\n").len(), 1);
    }

    #[test]
    fn the_engine_asks_the_seam() {
        let text = b"use std::fs::File;\n//! std::fs is fine here\n";
        let found = faults("crates/engine/src/opened/files.rs", text);
        assert!(
            found[0].starts_with("crates/engine/src/opened/files.rs:1: "),
            "{found:?}"
        );
        for name in [
            "crates/engine/src/check/tests.rs",
            "crates/engine/src/check/tests/image.rs",
            "crates/engine/tests/a.rs",
            "crates/os/src/disk.rs",
        ] {
            assert!(faults(name, text).is_empty(), "{name}");
        }
    }

    #[test]
    fn long_files_are_faults() {
        assert!(faults("crates/os/src/a.rs", "\n".repeat(LINES_MAX).as_bytes()).is_empty());
        assert_eq!(
            faults("crates/os/src/a.rs", "\n".repeat(LINES_MAX + 1).as_bytes()).len(),
            1
        );
        assert!(faults("examples/a.ldif", "\n".repeat(LINES_MAX + 1).as_bytes()).is_empty());
    }

    #[test]
    fn words_are_found_with_their_line() {
        let text = format!("// fine\n// {}{} later\n", "TO", "DO");
        let found = faults("crates/os/src/a.rs", text.as_bytes());
        assert!(found[0].starts_with("crates/os/src/a.rs:2: "), "{found:?}");
        let path = format!("see {}{}x", "/wo", "rk/");
        assert_eq!(faults("README.md", path.as_bytes()).len(), 1);
        assert_eq!(faults("Makefile", path.as_bytes()).len(), 1);
        assert!(
            faults("fixtures/data.mdb", path.as_bytes()).is_empty(),
            "data is not prose"
        );
    }

    #[test]
    fn this_file_passes_its_own_check() {
        assert!(faults("xtask/src/tidy/sources.rs", include_bytes!("sources.rs")).is_empty());
    }
}
