//! Names in documents and scripts are those that `compare list` knows.

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;

/// Texts with commands of the bench.
const TEXTS: [&str; 4] = [
    "bench/README.md",
    "docs/performance.md",
    "docs/trust.md",
    "scripts/bench.sh",
];

#[test]
fn documents_name_rows_that_exist() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(env!("CARGO_BIN_EXE_compare"))
        .arg("list")
        .output()
        .expect("compare runs");
    let list = String::from_utf8(output.stdout).expect("text");
    let known: HashSet<&str> = list
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let mut count = 0;
    for text in TEXTS {
        let content = std::fs::read_to_string(project.join(text)).expect(text);
        let lines = content
            .lines()
            .filter(|line| line.contains("bench.sh") || line.contains("part "));
        for line in lines {
            for name in names(line) {
                count += 1;
                let is_known = match name.strip_suffix('-') {
                    Some(_) => known.iter().any(|one| one.starts_with(name)),
                    None => known.contains(name),
                };
                assert!(is_known, "{text}: {name}");
            }
        }
    }
    assert!(count > 20, "{count} names");
}

/// The values of `--only` and `--with` in a line.
fn names(line: &str) -> Vec<&str> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let pairs = words.windows(2);
    pairs
        .filter(|pair| matches!(pair[0], "--only" | "--with"))
        .map(|pair| pair[1])
        .collect()
}
