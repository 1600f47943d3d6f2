//! Programs in C, compiled at first use, and the LMDB libraries that they are run on.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::process::require_tool;
use crate::scratch::{Scratch, target_dir};

/// The program `peers/torture.c`: one of several processes on one environment, on the library given
/// by its path.
///
/// # Panics
/// If the compiler or `lmdb.h` is missing; the message names the packages.
#[must_use]
pub fn torture_program() -> PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM
        .get_or_init(|| {
            let sources = ["torture.c", "torture_steps.c", "torture_verify.c"];
            compile("lmdb-torture", &sources, &["-ldl"])
        })
        .clone()
}

/// The program `peers/walker.c`: walks through one environment after another, damaged ones, on the
/// library given by its path.
///
/// # Panics
/// If the compiler or `lmdb.h` is missing; the message names the packages.
#[must_use]
pub fn walker_program() -> PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM
        .get_or_init(|| compile("lmdb-walker", &["walker.c", "walker_write.c"], &["-ldl"]))
        .clone()
}

/// The real libraries of this machine: Debian's, and the newest of the 0.9 line if
/// `scripts/setup.sh` has built it.
///
/// # Panics
/// If Debian's is missing.
#[must_use]
pub fn reference_libraries() -> Vec<PathBuf> {
    let folders = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
    ];
    let debian = folders
        .iter()
        .map(|folder| Path::new(folder).join("liblmdb.so.0"))
        .find(|path| path.exists())
        .expect("there is no liblmdb.so.0: apt-get install liblmdb-dev");
    let newest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build/lmdb-0.9.36/liblmdb.so");
    let mut found = vec![debian];
    found.extend(newest.canonicalize());
    found
}

/// Compiles C sources of the folder `peers`; returns the program.
pub(crate) fn compile(name: &str, sources: &[&str], libraries: &[&str]) -> PathBuf {
    require_tool("cc", "--version", "gcc");
    let program = target_dir().join(name);
    let fresh = Scratch::new(name);
    let built = Command::new("cc")
        .args(["-O1", "-o"])
        .arg(fresh.join(name))
        .args(sources.iter().map(|name| source(name)))
        .args(libraries)
        .output()
        .expect("run cc");
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(
        built.status.success(),
        "{name} does not compile; apt-get install gcc libc6-dev liblmdb-dev\n{said}"
    );
    // Several test programs may do this at once: the last one's stays, and all are the same.
    std::fs::rename(fresh.join(name), &program).expect("install the compiled program");
    program
}

/// A source in the folder `peers`.
pub(crate) fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("peers")
        .join(name)
}
