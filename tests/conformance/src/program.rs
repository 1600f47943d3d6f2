//! The program under test.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Returns the path of the `fulgurite` program, built in the profile of the running test.
///
/// The first call of a process runs `cargo build`, which does nothing when the program is up to
/// date. The whole workspace is named so that cargo unifies features as `cargo test` does. A path
/// in `FULGURITE_TEST_PROGRAM` is taken as it is, so that long tests outlive a build.
///
/// # Panics
/// If the build fails.
#[must_use]
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let built = std::env::var_os("FULGURITE_TEST_PROGRAM");
        built.map_or_else(build, PathBuf::from)
    })
}

/// Returns a command for the program, without settings from the environment of the test.
#[must_use]
pub fn fulgurite() -> Command {
    let mut command = Command::new(program());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("FULGURITE_") {
            command.env_remove(name);
        }
    }
    command
}

fn build() -> PathBuf {
    // A test is `target/PROFILE/deps/NAME-HASH`; the program is `target/PROFILE/fulgurite`.
    let test = std::env::current_exe().expect("the path of this test");
    let folder = test.ancestors().nth(2).expect("a folder of a profile");
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(name) => name,
    };
    let target = folder.parent().expect("a target folder");
    let mut command = Command::new(env!("CARGO"));
    // Cargo has told this test about its package. Some build scripts, such as that of `ring`, run
    // again if these variables change. Then all that depends on them is built again, twice.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    let status = command
        .args(["build", "--quiet", "--workspace", "--bin", "fulgurite"])
        .args(["--profile", profile, "--target-dir"])
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .expect("run cargo");
    assert!(status.success(), "cargo build: {status}");
    folder.join("fulgurite")
}
