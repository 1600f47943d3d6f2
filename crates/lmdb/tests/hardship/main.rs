//! The system fails a program in C: failed calls (by strace), limits, full and read-only file
//! systems, missing rights. It shows that the machine behaves as the simulated failures of the
//! other tests do.
//!
//! `FULGURITE_LMDB_LIBRARY` names the library to use; by default it is the one that was built with
//! this test.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use fulgurite::check::check_file;
use fulgurite_testkit::quick_or_long;
use tempfile::TempDir;

const WRITE_MAP: &str = "0x80000";
const READ_ONLY: &str = "0x20000";
/// How the program ends after an error that it was told of.
const TOLD: i32 = 10;
const RECORDS: usize = 20;

fn library() -> PathBuf {
    match std::env::var_os("FULGURITE_LMDB_LIBRARY") {
        Some(path) => path.into(),
        None => std::env::current_exe()
            .unwrap()
            .with_file_name("liblmdb.so"),
    }
}

/// The program, compiled once.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = PROGRAM.get_or_init(|| {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("hardship");
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let compiled = Command::new("cc")
            .args(["-O1", "-Wall", "-Werror", "-o"])
            .arg(&path)
            .arg(here.join("tests/c/hardship.c"))
            .arg("-I")
            .arg(here.join("include"))
            .arg(library())
            .arg("-Wl,-rpath,$ORIGIN")
            .output()
            .unwrap();
        assert!(compiled.status.success(), "{compiled:?}");
        // Under the name by which it is looked for; else the system's own would be found.
        std::fs::copy(library(), place.path().join("liblmdb.so.0")).unwrap();
        // A user without rights must be able to run it.
        let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(place.path(), everybody).unwrap();
        (place, path)
    });
    path
}

/// The result of a run of the program.
#[derive(Debug)]
struct Run {
    /// `None` if a signal ended it.
    code: Option<i32>,
    committed: usize,
    records: Option<usize>,
    told: String,
    errors: String,
}

impl Run {
    fn of(output: &Output) -> Run {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let last = |label: &str| {
            let mut numbers = text
                .lines()
                .filter_map(|line| line.strip_prefix(label)?.parse().ok());
            numbers.next_back()
        };
        Run {
            code: output.status.code(),
            committed: last("committed ").unwrap_or(0),
            records: last("records "),
            errors: String::from_utf8_lossy(&output.stderr).into_owned(),
            told: text,
        }
    }

    fn is_clean(&self) -> bool {
        matches!(self.code, Some(0 | TOLD))
    }
}

/// A store, and the words before the program on the command line.
struct Store(TempDir);

impl Store {
    fn new() -> Store {
        Store(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn run(&self, before: &[&str], what: &str, flags: &str, variables: &[(&str, &str)]) -> Run {
        let mut words = before
            .iter()
            .map(|word| (*word).to_owned())
            .collect::<Vec<_>>();
        words.push(program().display().to_string());
        let output = Command::new(&words[0])
            .args(&words[1..])
            .arg(what)
            .arg(self.path())
            .arg(flags)
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        Run::of(&output)
    }

    /// After whatever happened: the file is sound, and has what was committed.
    fn assert_kept(&self, run: &Run, context: &str) {
        let data = self.path().join("data.mdb");
        if run.committed > 0 || std::fs::metadata(&data).is_ok_and(|data| data.len() > 0) {
            let report = check_file(&data).unwrap_or_else(|error| panic!("{context}: {error}"));
            assert!(report.is_sound(), "{context}: {report}");
        }
        let after = self.run(&[], "count", "0", &[]);
        let records = after.records;
        assert_eq!(
            records,
            Some(run.committed * RECORDS),
            "{context}: {run:?}, {after:?}"
        );
    }
}

fn has(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output();
    found.is_ok_and(|output| output.status.success())
}

#[test]
fn failed_system_calls_are_reported() {
    if !has("strace") {
        println!("skipped: there is no strace");
        return;
    }
    // The call, the error, and which of the calls on the environment's files.
    let plans: &[(&str, &str, &[u32])] = &[
        ("fdatasync", "EIO", &[1, 2, 4]),
        ("fdatasync", "EINTR", &[2]),
        ("fsync", "EIO", &[1]),
        ("pwrite64", "EIO", &[1, 2, 3]),
        ("pwrite64", "ENOSPC", &[2, 5]),
        ("pwritev", "ENOSPC", &[1, 3]),
        ("pwritev", "EINTR", &[2]),
        ("pread64", "EIO", &[1, 2]),
        ("fallocate", "ENOSPC", &[1, 2]),
        ("fallocate", "EOPNOTSUPP", &[1]),
        ("ftruncate", "ENOSPC", &[1]),
        ("openat", "EMFILE", &[1, 2, 3]),
        ("fcntl", "ENOLCK", &[1, 2, 3]),
        ("mmap", "ENOMEM", &[1, 2]),
        ("msync", "EIO", &[1, 2, 3, 5]),
    ];
    let mut tried = 0;
    let mut told = 0;
    for (call, error, numbers) in plans {
        for number in *numbers {
            let place = Store::new();
            let inject = format!("inject={call}:error={error}:when={number}");
            let trace = format!("trace={call}");
            let files = ["data.mdb", "lock.mdb", ""]
                .map(|name| place.path().join(name).display().to_string());
            let files = files.each_ref().map(|file| file.trim_end_matches('/'));
            let strace = [
                "strace",
                "-f",
                "-qq",
                "-o",
                "/dev/null",
                "-e",
                &trace,
                "-e",
                &inject,
                "-P",
                files[0],
                "-P",
                files[1],
                "-P",
                files[2],
            ];
            let flags = if *call == "msync" { WRITE_MAP } else { "0" };
            let run = place.run(&strace, "run", flags, &[]);
            let context = format!("{call} number {number} fails with {error}");
            if run.errors.contains("ptrace") && run.told.is_empty() {
                println!("skipped: {}", run.errors);
                return;
            }
            assert!(run.is_clean(), "{context}: {run:?}");
            if *error == "EINTR" {
                assert_eq!(run.code, Some(0), "{context}: {run:?}");
            }
            tried += 1;
            told += usize::from(run.code == Some(TOLD));
            place.assert_kept(&run, &context);
        }
    }
    println!("{tried} calls failed, {told} told");
    assert!(
        told * 2 > tried,
        "strace hardly hits anything: {told} of {tried}"
    );
}

#[test]
fn a_limit_of_address_space_is_reported() {
    let mut clean = 0;
    for flags in ["0", WRITE_MAP] {
        for mebibytes in (4..=64).step_by(quick_or_long(3, 1)) {
            let place = Store::new();
            let limit = format!("--as={}", mebibytes << 20);
            let map = format!("{}", 8 << 20);
            let run = place.run(&["prlimit", &limit], "run", flags, &[("MAP_SIZE", &map)]);
            // With less the system cannot even load the program.
            if run.code == Some(127) {
                continue;
            }
            assert!(run.is_clean(), "{limit}: {run:?}");
            clean += 1;
            place.assert_kept(&run, &limit);
        }
    }
    assert!(clean > 10, "{clean} runs");
}

#[test]
fn a_limit_of_file_size_is_reported() {
    for ignored in [true, false] {
        for kibibytes in [0, 4, 8, 12, 32, 100] {
            let place = Store::new();
            let limit = format!("--fsize={}", kibibytes << 10);
            let variables: &[(&str, &str)] = if ignored {
                &[("IGNORE_XFSZ", "1")]
            } else {
                &[]
            };
            let run = place.run(&["prlimit", &limit], "run", "0", variables);
            let context = format!("{limit}, SIGXFSZ ignored: {ignored}");
            // Where a program does not ignore the signal it ends it: so the system has it.
            assert!(
                run.is_clean() || !ignored && run.code.is_none(),
                "{context}: {run:?}"
            );
            assert_ne!(run.code, Some(0), "{context}: nothing was refused");
            if ignored {
                assert!(run.told.contains(": 27"), "{context}: {run:?}");
            }
            place.assert_kept(&run, &context);
        }
    }
}

#[test]
fn a_limit_of_descriptors_is_reported() {
    for limit in 3..10 {
        let place = Store::new();
        let limit = format!("--nofile={limit}");
        let run = place.run(&["prlimit", &limit], "run", "0", &[]);
        if run.code == Some(127) {
            continue;
        }
        assert!(run.is_clean(), "{limit}: {run:?}");
        assert!(
            run.code == Some(0) || run.told.contains(": 24"),
            "{limit}: {run:?}"
        );
        place.assert_kept(&run, &limit);
    }
}

/// Runs the program on a new file system, if the system permits one.
fn on_file_system(
    place: &Store,
    options: &str,
    then: &str,
    what: &str,
    flags: &str,
) -> Option<Run> {
    let directory = place.path().display();
    let script =
        format!("mount -t tmpfs -o {options} tmpfs {directory} || exit 77\n{then}\nexec \"$@\"");
    let run = place.run(
        &["unshare", "--mount", "sh", "-c", &script, "sh"],
        what,
        flags,
        &[],
    );
    if run.code == Some(77) || run.errors.contains("unshare") {
        println!(
            "skipped: no file system can be mounted here: {}",
            run.errors
        );
        return None;
    }
    Some(run)
}

#[test]
fn a_full_disk_leaves_room_to_delete() {
    for flags in ["0", WRITE_MAP] {
        let place = Store::new();
        let Some(run) = on_file_system(&place, "size=1m", "", "fill", flags) else {
            return;
        };
        assert_eq!(run.code, Some(0), "flags {flags}: {run:?}");
        assert!(
            run.told.contains(": 28"),
            "the disk was never full: {run:?}"
        );
        assert!(
            run.committed > 10 && run.records.is_some_and(|records| records > 100),
            "{run:?}"
        );
    }
}

#[test]
fn a_read_only_file_system_is_reported() {
    let program = program().display();
    let place = Store::new();
    let directory = place.path().display();
    let prepare =
        format!("{program} run {directory} 0 && mount -o remount,ro {directory} || exit 76");
    let Some(reads) = on_file_system(&place, "size=4m", &prepare, "count", READ_ONLY) else {
        return;
    };
    assert_eq!(
        (reads.code, reads.records),
        (Some(0), Some(6 * RECORDS)),
        "{reads:?}"
    );
    let Some(writes) = on_file_system(&place, "size=4m", &prepare, "run", "0") else {
        return;
    };
    assert_eq!(writes.code, Some(TOLD), "{writes:?}");
    assert!(writes.told.contains("mdb_env_open: 30"), "{writes:?}");
}

#[test]
fn missing_rights_to_the_files_are_reported() {
    let place = Store::new();
    let made = place.run(&[], "run", "0", &[]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let allow = |path: &Path, mode| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(path, mode).unwrap();
    };
    allow(place.path(), 0o755);
    let without_rights = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
    ];
    let refused = place.run(&without_rights, "run", "0", &[]);
    if refused.errors.contains("setpriv") {
        println!("skipped: {}", refused.errors);
        return;
    }
    assert_eq!(refused.code, Some(TOLD), "{refused:?}");
    assert!(refused.told.contains("mdb_env_open: 13"), "{refused:?}");
    // A user who may read the data but not write the lock file gets the error too.
    allow(&place.path().join("data.mdb"), 0o644);
    let reads = place.run(&without_rights, "count", READ_ONLY, &[]);
    assert!(reads.is_clean(), "{reads:?}");
    place.assert_kept(&made, "after others were refused");
}
