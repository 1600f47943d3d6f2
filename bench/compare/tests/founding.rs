//! The founding tables in tiny sizes: every row is run, and every answer is right.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// People of the tiny run, and the entries around them.
const PEOPLE: u64 = 600;
const OTHERS: u64 = 4;

#[test]
fn every_row_is_run_and_every_answer_is_right() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the project");
    build_missing(&project);
    let work = tempfile::tempdir().expect("a folder");
    found_tables(&project, work.path(), &[]);
    require_figures(work.path());
    // A run of one part keeps the others.
    found_tables(&project, work.path(), &["--only", "memcache"]);
    require_figures(work.path());
    for part in [
        "people",
        "unstamped",
        "logged",
        "accounts",
        "databases",
        "memcache",
    ] {
        require_answers(&read(
            &work.path().join(format!("out/founding-{part}.json")),
        ));
    }
}

/// Runs the parts, and requires that nothing is wrong.
fn found_tables(project: &Path, work: &Path, parts: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_compare"))
        .args(["founding", "--size", "tiny", "--seed", "7", "--out"])
        .arg(work.join("out"))
        .arg("--disk")
        .arg(work)
        .args(parts)
        .current_dir(project)
        .output()
        .expect("compare runs");
    let text = String::from_utf8_lossy(&output.stderr);
    let page = std::fs::read_to_string(work.join("out/founding-tables.md"));
    let page = page.unwrap_or_default();
    assert!(output.status.success(), "{text}\n{page}");
}

/// Requires a figure of ours in every table that needs no tool but the peers.
fn require_figures(work: &Path) {
    let tables = read(&work.join("out/founding-tables.json"));
    let tables = tables["Tables"].as_array().expect("tables").clone();
    assert_eq!(tables.len(), 22);
    for table in &tables {
        let cells = table["cells"].as_array().expect("cells");
        let mut ours = cells.iter().filter(|cell| cell["name"] == "fulgurite");
        let id = table["id"].as_str().expect("an id");
        match id {
            // It is about the C library.
            "F1" => {}
            // They need valgrind.
            "F15" | "F22" => {}
            _ => assert!(ours.any(|cell| cell["today"].is_number()), "{id}"),
        }
    }
}

/// Requires answers without errors; entries of searches are as many as there have to be.
fn require_answers(piece: &Value) {
    let rows = piece["Run"]["rows"].as_array().expect("rows");
    for row in rows {
        let name = row["name"].as_str().expect("a name");
        assert_eq!(row["faults"].as_array().map(Vec::len), Some(0), "{name}");
        let played = row["played"].as_array().expect("engines");
        assert!(!played.is_empty(), "nobody has played {name}");
        let outcomes = played.iter().flat_map(|one| one["rounds"].as_array());
        for outcome in outcomes.flatten().map(|round| &round[1]) {
            let of = |field: &str| outcome[field].as_u64().expect(field);
            assert_eq!((of("errors"), of("wrong")), (0, 0), "{name}");
            assert!(of("operations") > 0, "{name}");
            let each = match name {
                _ if name.starts_with("scan") => PEOPLE + OTHERS,
                _ if name.starts_with("mail-server") || name.starts_with("uid-") => 1,
                _ if name.starts_with("databases-") && name.ends_with("-uid") => 1,
                _ => continue,
            };
            assert_eq!(of("digest"), each * of("operations"), "entries of {name}");
        }
    }
}

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("a piece of the report");
    serde_json::from_str(&text).expect("JSON")
}

/// Builds the load generator and our server if they are missing. `scripts/test.sh` has built them
/// before.
fn build_missing(project: &Path) {
    let generator = PathBuf::from(env!("CARGO_BIN_EXE_compare")).with_file_name("fulgurite-bench");
    if !generator.exists() {
        cargo_build(project, &["--workspace", "--bin", "fulgurite-bench"]);
    }
    if !project.join("target/release/fulgurite").exists() {
        cargo_build(project, &["--release", "--package", "fulgurite-cli"]);
    }
}

fn cargo_build(project: &Path, arguments: &[&str]) {
    let status = Command::new(env!("CARGO"))
        .arg("build")
        .args(arguments)
        .current_dir(project)
        .status();
    assert!(status.expect("cargo").success());
}
