//! Backups in a directory: written, listed, removed, refused.

use std::cell::Cell;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fulgurite_schema::Schema;
use fulgurite_store::{Store, StoreOptions};
use tempfile::TempDir;

use super::folder::{name_of, seconds_of};
use super::schedule::{Surroundings, run};
use super::write::folder_name;
use super::*;
use crate::backup_status::{BackupPlan, BackupStatus};

/// 2026-11-27, 02:00 UTC.
const NIGHT: u64 = 1_795_744_800;

fn source(folder: &Path) -> BackupSource {
    let options = StoreOptions {
        suffixes: vec!["dc=x".to_owned()],
        ..StoreOptions::default()
    };
    let store = Store::create(folder, &options, Schema::standard()).unwrap();
    BackupSource {
        suffix: "dc=x".to_owned(),
        store: Arc::new(store),
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn names_are_times() {
    assert_eq!(name_of(NIGHT), "20261127020000Z");
    assert_eq!(seconds_of("20261127020000Z"), Some(NIGHT));
    for name in [
        "20261127020000",
        "20260230020000Z",
        "20261127026000Z",
        "2026112702000aZ",
        "Z",
        "",
    ] {
        assert_eq!(seconds_of(name), None, "{name}");
    }
    assert_eq!(folder_name(2, "o=a/b ü"), "2-o=a_b__");
    assert_eq!(folder_name(1, &"x".repeat(500)).len(), 102);
}

#[test]
fn a_backup_is_whole_or_not_there() {
    let folder = TempDir::new().unwrap();
    let to = folder.path().join("a/b");
    let sources = [source(&folder.path().join("data"))];
    let stops = |mut calls: u32| {
        move || {
            calls = calls.saturating_sub(1);
            match calls {
                0 => Err(io::Error::other("enough")),
                _ => Ok(()),
            }
        }
    };
    for calls in 1..4 {
        let failed = write_backup(&to, &sources, NIGHT, &mut stops(calls)).unwrap_err();
        assert!(failed.to_string().contains("enough"), "{failed}");
        assert_eq!(names(&to), [""; 0]);
    }
    // A crash leaves a part, which the next one removes.
    fs::create_dir(to.join(".20261127010000Z.partial")).unwrap();
    let written = write_backup(&to, &sources, NIGHT, &mut || Ok(())).unwrap();
    assert_eq!(names(&to), ["20261127020000Z"]);
    assert_eq!(list_backups(&to).unwrap(), std::slice::from_ref(&written));
    let [database] = written.manifest.databases.as_slice() else {
        panic!("{written:?}");
    };
    let file = written.data_file(&database.folder);
    assert_eq!(digest_of(&file, &mut |_| Ok(())).unwrap(), database.sha256);
    assert_eq!(file.metadata().unwrap().len(), database.bytes);
    assert_eq!((mode(&to), mode(&written.path)), (0o700, 0o700));
    assert_eq!(mode(file.parent().unwrap()), 0o700);
    assert_eq!(mode(&file), 0o600);
    assert_eq!(mode(&written.path.join("manifest.json")), 0o600);
    let again = write_backup(&to, &sources, NIGHT, &mut || Ok(())).unwrap_err();
    assert!(matches!(again, BackupError::Exists(_)), "{again}");
}

#[test]
fn old_backups_go_and_other_folders_stay() {
    let folder = TempDir::new().unwrap();
    let to = folder.path().join("to");
    let sources = [source(&folder.path().join("data"))];
    let later = NIGHT + 4 * 86_400;
    for day in 0..5 {
        write_backup(&to, &sources, NIGHT + day * 86_400, &mut || Ok(())).unwrap();
    }
    fs::create_dir(to.join("20200101000000Z")).unwrap();
    fs::create_dir(to.join("mine")).unwrap();
    write_backup(&to, &sources, NIGHT + 900 * 86_400, &mut || Ok(())).unwrap();
    let removed = remove_old_backups(&to, 2, later).unwrap();
    let removed: Result<Vec<Backup>, BackupError> = removed.into_iter().collect();
    assert_eq!(removed.unwrap().len(), 3);
    assert_eq!(
        names(&to),
        [
            "20200101000000Z",
            "20261130020000Z",
            "20261201020000Z",
            "20290515020000Z",
            "mine"
        ]
    );
    assert!(remove_old_backups(&to, 2, later).unwrap().is_empty());
}

#[test]
fn two_programs_do_not_write_at_the_same_time() {
    let folder = TempDir::new().unwrap();
    let held = folder::LockedDirectory::lock(folder.path()).unwrap();
    let busy = write_backup(folder.path(), &[], NIGHT, &mut || Ok(())).unwrap_err();
    assert!(matches!(busy, BackupError::Busy(_)), "{busy}");
    drop(held);
    write_backup(folder.path(), &[], NIGHT, &mut || Ok(())).unwrap();
}

#[test]
fn a_manifest_reads_back_and_leads_nowhere_else() {
    let manifest = BackupManifest {
        program: "Fulgurite 1".to_owned(),
        databases: vec![SavedDatabase {
            suffix: "cn=\"ü\"".to_owned(),
            data: "/var/lib/x".to_owned(),
            folder: "1-x".to_owned(),
            entries: 7,
            position: 3,
            changes: vec!["20261127020000.000000Z#000000#000#000000".to_owned()],
            bytes: 8192,
            sha256: "00".to_owned(),
        }],
    };
    let text = manifest.text();
    assert_eq!(BackupManifest::parse(&text), Ok(manifest));
    for (from, to) in [
        ("\"1-x\"", "\"../1-x\""),
        ("\"1-x\"", "\"..\""),
        ("\"format\": 1", "\"format\": 2"),
        ("\"entries\": 7", "\"entries\": -7"),
        ("{", "["),
    ] {
        let wrong = text.replacen(from, to, 1);
        assert!(BackupManifest::parse(&wrong).is_err(), "{wrong}");
    }
}

/// Runs a schedule for a number of seconds of its clock.
fn run_for(seconds: u64, from: u64, status: &BackupStatus, source: &BackupSource) {
    let now = Cell::new(from);
    let pause = |time: Duration| {
        now.set(now.get() + time.as_secs());
        now.get() < from + seconds
    };
    let around = Surroundings {
        sources: &|| vec![source.clone()],
        now_s: &|| now.get(),
        pause: &pause,
        is_stopping: &|| false,
    };
    run(status, &around);
}

#[test]
fn a_schedule_keeps_its_interval_over_restarts_and_tries_again() {
    let folder = TempDir::new().unwrap();
    let to = folder.path().join("to");
    let source = source(&folder.path().join("data"));
    let status = BackupStatus::default();
    run_for(100, NIGHT, &status, &source);
    assert!(!to.exists(), "there is no plan");
    let plan = BackupPlan {
        to: to.clone(),
        every: Duration::from_secs(3600),
        keep: 3,
    };
    status.set_plan(Some(plan.clone()));
    run_for(4 * 3600 + 100, NIGHT, &status, &source);
    let state = status.state();
    assert_eq!((state.written, state.failures), (5, 0));
    assert_eq!(
        names(&to),
        ["20261127040001Z", "20261127050001Z", "20261127060001Z"]
    );
    // A restart after twenty minutes goes on where the last one was.
    let restarted = BackupStatus::default();
    restarted.set_plan(Some(plan.clone()));
    run_for(3600, NIGHT + 4 * 3600 + 1200, &restarted, &source);
    assert_eq!(restarted.state().written, 1);
    assert_eq!(names(&to)[2], "20261127070001Z");
    let last = restarted.state().last.unwrap();
    assert_eq!(last.time_s, NIGHT + 5 * 3600 + 1);
    assert!(last.bytes > 0);
    // A file in the way of the directory: attempts every ten minutes, until it is gone.
    let blocked = folder.path().join("file");
    fs::write(&blocked, "x").unwrap();
    restarted.set_plan(Some(BackupPlan {
        to: blocked.clone(),
        ..plan.clone()
    }));
    run_for(1801, NIGHT, &restarted, &source);
    let state = restarted.state();
    assert_eq!((state.written, state.failures), (1, 3));
    assert!(state.trouble.unwrap().contains("file"));
    fs::remove_file(&blocked).unwrap();
    run_for(700, NIGHT + 1801, &restarted, &source);
    let state = restarted.state();
    assert_eq!((state.written, state.failures, state.trouble), (2, 3, None));
}

#[test]
fn a_failure_is_recorded_until_a_success() {
    let folder = TempDir::new().unwrap();
    let to = folder.path().join("to");
    let source = source(&folder.path().join("data"));
    let held = folder::LockedDirectory::lock(&to).unwrap();
    let status = BackupStatus::default();
    status.set_plan(Some(BackupPlan {
        to: to.clone(),
        every: Duration::from_secs(3600),
        keep: 1,
    }));
    run_for(10, NIGHT, &status, &source);
    let failure = last_failure(&to).unwrap();
    assert!(
        failure.starts_with("20261127020001Z another program"),
        "{failure}"
    );
    drop(held);
    run_for(10, NIGHT + 700, &status, &source);
    assert_eq!(last_failure(&to), None);
    assert_eq!(status.state().failures, 1);
}
