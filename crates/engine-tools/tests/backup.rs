//! Backups compared with their environments: restored at every point, and refused when damaged.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fulgurite::{
    CompactStep, Compaction, Database, Durability, Environment, KeyOrder, Snapshot, ValueKind,
    WriteTxn,
};
use fulgurite_engine_tools::{
    BackupError, BackupKind, BackupOutcome, Progress, backup, list_backups, restore, verify_backups,
};
use fulgurite_testkit::{
    Random, Scratch, c_peer, hex, python_peer, quick_or_long, require_tool, run_bounded, seed,
};

fn open(dir: &Path) -> Environment {
    fs::create_dir_all(dir).expect("a directory");
    Environment::options()
        .durability(Durability::NoSync)
        .open(dir)
        .expect("open")
}

fn quiet(_: Progress) {}

/// Makes a backup. Returns its transaction, or `None` if nothing had changed.
fn save(environment: &Path, to: &Path) -> Option<u64> {
    match backup(environment, to, false, &mut quiet).expect("a backup") {
        BackupOutcome::Written(entry) => Some(entry.txnid),
        BackupOutcome::Unchanged(_) => None,
    }
}

fn bring_back(from: &Path, to: &Path, txnid: Option<u64>) -> Result<u64, BackupError> {
    restore(from, to, false, txnid, &mut quiet).map(|restored| restored.txnid)
}

/// Returns the real `mdb_dump`'s text of all databases, without the sizes of maps and tables.
fn dump(dir: &Path) -> String {
    require_tool("mdb_dump", "-V", "lmdb-utils");
    let mut text = String::new();
    for all in [&["-a"][..], &[]] {
        let mut command = Command::new("mdb_dump");
        let outcome = run_bounded(command.args(all).arg(dir), Duration::from_secs(60));
        // Without named databases `-a` finds none.
        assert!(outcome.success() || !all.is_empty(), "{outcome:?}");
        text.push_str(&outcome.stdout);
    }
    let settings = ["mapsize=", "maxreaders="];
    let lines = text
        .lines()
        .filter(|line| !settings.iter().any(|name| line.starts_with(name)));
    lines.collect::<Vec<_>>().join("\n")
}

fn change(txn: &mut WriteTxn<'_>, random: &mut Random) {
    let names = ["a", "b", "many"];
    for _ in 0..random.between(1, 40) {
        let name = *random.pick(&names);
        let key = format!("key{:04}", random.below(600)).into_bytes();
        let db = match name {
            "many" => {
                let kind = ValueKind::Any(KeyOrder::Lexical);
                let map = txn.create_multimap(name, KeyOrder::Lexical, kind);
                map.expect("create").database()
            }
            _ => txn
                .create_database(name, KeyOrder::Lexical)
                .expect("create"),
        };
        if random.chance(65) {
            let long = name != "many" && random.chance(10);
            let len = if long {
                random.between(2000, 30_000)
            } else {
                random.between(1, 200)
            };
            let key = if name == "many" { &key[..4] } else { &key };
            txn.put(db, key, &random.bytes(len)).expect("put");
        } else {
            txn.delete(db, &key).expect("delete");
        }
    }
    if random.chance(3) {
        let db = txn.open_database(Some("a"));
        db.and_then(|db| txn.clear_database(db)).ok();
    }
}

/// Random histories with backups and compactions: each backup restores the contents of its time.
#[test]
fn every_point_of_a_history_is_restored() {
    for round in 0..quick_or_long(2, 100) {
        let mut random = Random::new(seed("backup", 31 + round));
        let scratch = Scratch::new("backup");
        let (dir, to) = (scratch.join("env"), scratch.join("backups"));
        let environment = open(&dir);
        let mut points: BTreeMap<u64, String> = BTreeMap::new();
        for _ in 0..quick_or_long(120, 400) {
            let mut txn = environment.write().expect("the writer");
            change(&mut txn, &mut random);
            txn.commit().expect("commit");
            if random.chance(10) {
                let full = random.chance(15);
                match backup(&dir, &to, full, &mut quiet).expect("a backup") {
                    BackupOutcome::Written(entry) => {
                        points.insert(entry.txnid, dump(&dir));
                    }
                    BackupOutcome::Unchanged(txnid) => assert!(points.contains_key(&txnid)),
                }
            }
            if random.chance(4) {
                let mut compaction = Compaction::new();
                while environment.compact_step(&mut compaction).expect("a step")
                    != CompactStep::Done
                {}
            }
        }
        assert!(points.len() >= 5, "{points:?}");
        let entries = verify_backups(&to, &mut quiet).expect("sound backups");
        assert!(entries.iter().any(|entry| entry.kind != BackupKind::Full));
        for (txnid, expected) in &points {
            let restored = scratch.join(&format!("restored-{txnid}"));
            assert_eq!(
                bring_back(&to, &restored, Some(*txnid)).expect("restore"),
                *txnid
            );
            assert_eq!(dump(&restored), *expected, "transaction {txnid}");
            let report = fulgurite::check::check_file(&restored.join("data.mdb")).expect("check");
            assert!(report.is_sound(), "{report}");
            assert_eq!(report.txnid, *txnid);
        }
        // The newest is restored unless another is given.
        let newest = *points.keys().last().expect("a point");
        let restored = scratch.join("restored");
        assert_eq!(bring_back(&to, &restored, None).expect("restore"), newest);
        // It continues as the same environment: the chain takes its backups.
        assert_eq!(save(&restored, &to), None);
        let copy = open(&restored);
        let mut txn = copy.write().expect("the writer");
        assert_eq!(txn.id().0, newest + 1);
        change(&mut txn, &mut random);
        txn.commit().expect("commit");
        assert_eq!(save(&restored, &to), Some(newest + 1));
        let expected = dump(&restored);
        let again = scratch.join("again");
        bring_back(&to, &again, None).expect("restore");
        assert_eq!(dump(&again), expected);
    }
}

/// Debian's library and PyPI's write while backups are made, and open the restored files.
#[test]
fn the_original_writes_meanwhile_and_opens_restored_files() {
    let scratch = Scratch::new("backup-peers");
    let (dir, to) = (scratch.join("env"), scratch.join("backups"));
    fs::create_dir_all(&dir).expect("a directory");
    let mut random = Random::new(seed("backup-peers", 5));
    for mut peer in [c_peer(), python_peer()] {
        peer.must(&format!("open {} nosync mapsize=100000000", dir.display()));
        peer.must("write");
        peer.must("create d lexical");
        peer.must("commit");
        for turn in 0..8 {
            peer.must("write");
            peer.must(&format!(
                "fill d {} 300 {} {turn}",
                random.below(2000),
                random.between(10, 9000)
            ));
            peer.must("commit");
            // Another transaction is open during the backup, and commits afterwards.
            peer.must("write");
            peer.must(&format!("put d {} 00", hex(b"open")));
            peer.must("read 0");
            let hash = peer.must("hash 0 d");
            let txnid = save(&dir, &to).expect("something has changed");
            peer.must("commit");
            peer.must("end 0");
            let restored = scratch.join(&format!("at-{txnid}-{}", peer.pid()));
            bring_back(&to, &restored, None).expect("restore");
            for mut reader in [c_peer(), python_peer()] {
                reader.must(&format!("open {} mapsize=100000000", restored.display()));
                reader.must("use d");
                reader.must("read 0");
                assert_eq!(reader.must("hash 0 d"), hash, "{}", reader.name());
                reader.must("end 0");
            }
            let mut writer = c_peer();
            writer.must(&format!("open {} mapsize=100000000", restored.display()));
            writer.must("use d");
            writer.must("write");
            writer.must(&format!("put d {} 01", hex(b"more")));
            writer.must("commit");
            let mut stat = Command::new("mdb_stat");
            let outcome = run_bounded(
                stat.args(["-e", "-ff", "-a"]).arg(&restored),
                Duration::from_secs(30),
            );
            assert!(outcome.success(), "{outcome:?}");
        }
    }
}

/// A chain of three in `to`; returns the files.
fn chain(dir: &Path, to: &Path) -> Vec<PathBuf> {
    let environment = open(dir);
    let mut random = Random::new(9);
    let mut txn = environment.write().expect("the writer");
    // The part that does not change later.
    let base = txn
        .create_database("base", KeyOrder::Lexical)
        .expect("create");
    for key in 0..300u32 {
        txn.put(base, &key.to_be_bytes(), &[1; 100]).expect("put");
    }
    txn.commit().expect("commit");
    for _ in 0..3 {
        for _ in 0..4 {
            let mut txn = environment.write().expect("the writer");
            change(&mut txn, &mut random);
            txn.commit().expect("commit");
        }
        save(dir, to).expect("something has changed");
    }
    let files: Vec<PathBuf> = list_backups(to)
        .expect("list")
        .into_iter()
        .map(|entry| entry.path)
        .collect();
    assert_eq!(files.len(), 3);
    assert_eq!(
        bring_back(to, &dir.with_extension("try"), None).expect("restore"),
        13
    );
    files
}

/// A digest covers every byte of a file.
#[test]
fn every_changed_byte_is_noticed() {
    let scratch = Scratch::new("backup-flips");
    let to = scratch.join("backups");
    let files = chain(&scratch.join("env"), &to);
    let mut random = Random::new(seed("backup-flips", 77));
    let mut target = 0;
    for file in &files {
        let sound = fs::read(file).expect("read");
        let len = sound.len();
        let every = quick_or_long(5, 1);
        let ends = (0..432).chain(len - 140..len);
        let mut places: Vec<usize> = ends.step_by(every).collect();
        places.extend((0..quick_or_long(80, 20_000)).map(|_| random.below(len)));
        for at in places {
            let mut damaged = sound.clone();
            damaged[at] ^= 1 << random.below(8);
            fs::write(file, &damaged).expect("write");
            target += 1;
            let restored = scratch.join(&format!("r{target}"));
            let refused = bring_back(&to, &restored, None);
            assert!(refused.is_err(), "{}, byte {at} of {len}", file.display());
            assert!(!restored.join("data.mdb").exists());
            if target % 50 == 0 {
                assert!(
                    verify_backups(&to, &mut quiet).is_err(),
                    "byte {at} of {len}"
                );
            }
            let _ = fs::remove_dir_all(&restored);
        }
        fs::write(file, &sound).expect("write");
    }
    bring_back(&to, &scratch.join("sound"), None).expect("all is as it was");
}

#[test]
fn files_cut_off_missing_exchanged_or_renamed_are_refused() {
    let scratch = Scratch::new("backup-misfits");
    let to = scratch.join("backups");
    let files = chain(&scratch.join("env"), &to);
    let other = scratch.join("other-backups");
    chain(&scratch.join("other-env"), &other);
    let target = scratch.join("restored");
    let refusal = || bring_back(&to, &target, None).expect_err("it must be refused");
    for file in &files {
        let sound = fs::read(file).expect("read");
        for len in [
            0,
            5,
            127,
            128,
            431,
            440,
            sound.len() / 2,
            sound.len() - 97,
            sound.len() - 1,
        ] {
            fs::write(file, &sound[..len]).expect("write");
            let error = refusal();
            assert!(
                matches!(error, BackupError::CutOff(_) | BackupError::NotABackup(_)),
                "{len} bytes: {error}"
            );
        }
        fs::write(file, &sound).expect("write");
    }
    // The first and the second of three are needed for the third.
    for file in &files[..2] {
        let aside = scratch.join("aside");
        fs::rename(file, &aside).expect("rename");
        let error = refusal();
        assert!(matches!(error, BackupError::Missing { .. }), "{error}");
        fs::rename(&aside, file).expect("rename");
    }
    // The other chain is sound and has the same names and partly the same contents. One more byte
    // makes it another.
    let environment = open(&scratch.join("third-env"));
    let mut txn = environment.write().expect("the writer");
    txn.put(Database::MAIN, b"k", b"v").expect("put");
    txn.commit().expect("commit");
    drop(environment);
    let third = scratch.join("third");
    let environment = open(&scratch.join("third-env"));
    for _ in 0..4 {
        let mut txn = environment.write().expect("the writer");
        txn.put(Database::MAIN, b"k", b"w").expect("put");
        txn.commit().expect("commit");
    }
    save(&scratch.join("third-env"), &third);
    let own = fs::read(&files[0]).expect("read");
    let foreign = third.join(files[0].file_name().expect("a name"));
    assert!(foreign.exists(), "the histories are as long as each other");
    fs::copy(&foreign, &files[0]).expect("copy");
    let error = refusal();
    assert!(matches!(error, BackupError::Exchanged { .. }), "{error}");
    fs::write(&files[0], own).expect("write");
    let renamed = to.join("full-99.fgb");
    fs::rename(&files[0], &renamed).expect("rename");
    let error = refusal();
    assert!(matches!(error, BackupError::Renamed { .. }), "{error}");
    fs::rename(&renamed, &files[0]).expect("rename");
    bring_back(&to, &target, None).expect("all is as it was");
    // Existing files are never overwritten.
    let error = refusal();
    assert!(matches!(error, BackupError::Exists(_)), "{error}");
    let unknown = bring_back(&to, &scratch.join("unknown"), Some(1)).expect_err("no such point");
    assert!(
        unknown.to_string().contains("The backups have: 5, 9, 13"),
        "{unknown}"
    );
}

#[test]
fn backups_of_another_environment_are_not_continued() {
    let scratch = Scratch::new("backup-foreign");
    let (dir, to) = (scratch.join("env"), scratch.join("backups"));
    chain(&dir, &to);
    // An earlier environment, and one with the same id but other contents.
    let early = scratch.join("early");
    bring_back(&to, &early, Some(5)).expect("restore");
    let refused = |dir: &Path| backup(dir, &to, false, &mut quiet).expect_err("it must be refused");
    assert!(matches!(
        refused(&early),
        BackupError::Behind {
            environment: 5,
            newest: 13,
            ..
        }
    ));
    let environment = open(&early);
    for value in 0..8u8 {
        let mut txn = environment.write().expect("the writer");
        txn.put(Database::MAIN, b"k", &[value]).expect("put");
        txn.commit().expect("commit");
    }
    drop(environment);
    assert!(matches!(refused(&early), BackupError::Foreign { .. }));
    // Another environment that is further, with nothing in common.
    let stranger = scratch.join("stranger");
    let environment = open(&stranger);
    for value in 0..20u8 {
        let mut txn = environment.write().expect("the writer");
        for key in 0..2000u32 {
            txn.put(Database::MAIN, &key.to_be_bytes(), &[value; 300])
                .expect("put");
        }
        txn.commit().expect("commit");
    }
    drop(environment);
    // It is not made part of the chain.
    match backup(&stranger, &to, false, &mut quiet).expect("a backup") {
        BackupOutcome::Written(entry) => assert_eq!(entry.kind, BackupKind::Full),
        other => panic!("{other:?}"),
    }
    assert_eq!(save(&dir, &scratch.join("elsewhere")), Some(13));
}

/// A power loss takes the snapshot of the newest backup. The same number of other transactions
/// follows, with trees of the same shape: the next backups have these.
#[test]
fn backups_go_on_after_a_power_loss_leads_back_to_a_checkpoint() {
    let scratch = Scratch::new("backup-checkpoint");
    let (dir, to) = (scratch.join("env"), scratch.join("backups"));
    fs::create_dir_all(&dir).expect("a directory");
    let open = |boot: &[u8]| {
        let options = Environment::options().checkpoints(true).boot_id(boot);
        options.open(&dir).expect("open")
    };
    let commit = |environment: &Environment, value: u8| {
        let mut txn = environment.write().expect("the writer");
        for key in 0..100_u32 {
            txn.put(Database::MAIN, &key.to_be_bytes(), &[value; 300])
                .expect("put");
        }
        txn.commit().expect("commit");
    };
    let mut restores = 0;
    let mut holds = |value: u8| {
        restores += 1;
        let restored = scratch.join(&format!("restored-{restores}"));
        bring_back(&to, &restored, None).expect("restore");
        let environment = Environment::options().open(&restored).expect("open");
        let txn = environment.read().expect("a snapshot");
        let found = txn.get(Database::MAIN, &7_u32.to_be_bytes());
        assert_eq!(found.expect("get"), Some(&[value; 300][..]));
    };
    let mut environment = open(b"1");
    for turn in [2, 3] {
        commit(&environment, 10 * turn);
        environment.checkpoint().expect("a checkpoint");
        commit(&environment, 10 * turn + 1);
        commit(&environment, 10 * turn + 2);
        save(&dir, &to).expect("a backup of what is lost");
        holds(10 * turn + 2);
        environment.close_as_if_killed();
        environment = open(&[turn]);
        // One of them at the checkpoint itself.
        if turn == 3 {
            save(&dir, &to).expect("a backup of the checkpoint");
            holds(30);
        }
        commit(&environment, 10 * turn + 3);
        commit(&environment, 10 * turn + 4);
        save(&dir, &to).expect("a backup of what came instead");
        holds(10 * turn + 4);
        assert_eq!(save(&dir, &to), None, "nothing has changed");
    }
    verify_backups(&to, &mut quiet).expect("all are sound");
}

#[test]
fn an_increment_holds_the_changed_pages_only() {
    let scratch = Scratch::new("backup-small");
    let (dir, to) = (scratch.join("env"), scratch.join("backups"));
    let environment = open(&dir);
    let mut txn = environment.write().expect("the writer");
    for key in 0..20_000u32 {
        txn.put(Database::MAIN, &key.to_be_bytes(), &[7; 150])
            .expect("put");
    }
    txn.commit().expect("commit");
    save(&dir, &to).expect("a full one");
    for key in 0..3u32 {
        let mut txn = environment.write().expect("the writer");
        txn.put(Database::MAIN, &(key * 5000).to_be_bytes(), &[8; 150])
            .expect("put");
        txn.commit().expect("commit");
    }
    save(&dir, &to).expect("an increment");
    assert_eq!(save(&dir, &to), None, "nothing has changed");
    let entries = list_backups(&to).expect("list");
    assert_eq!(entries.len(), 2);
    assert_eq!(entries[1].kind, BackupKind::Incremental(entries[0].txnid));
    assert!(entries[0].pages > 500 && entries[0].pages == entries[0].pages_of_snapshot);
    assert!(entries[1].pages < 16, "{entries:?}");
}

const ROLE: &str = "FULGURITE_TEST_ROLE";

/// Does nothing in a test run. In a child process it makes backups until it is killed.
#[test]
fn entry() {
    let Ok(dir) = std::env::var(ROLE) else {
        return;
    };
    let dir = PathBuf::from(dir);
    loop {
        let _ = backup(&dir.join("env"), &dir.join("backups"), false, &mut quiet);
    }
}

/// A killed backup leaves the earlier ones intact, and the next backup continues from them.
#[test]
fn a_killed_backup_leaves_the_others_usable() {
    let scratch = Scratch::new("backup-killed");
    let (dir, to) = (scratch.join("env"), scratch.join("backups"));
    let environment = open(&dir);
    let mut random = Random::new(seed("backup-killed", 3));
    let program = std::env::current_exe().expect("this program");
    for round in 0..quick_or_long(8, 200) {
        let mut child = Command::new(&program)
            .args(["--exact", "entry", "--nocapture"])
            .env(ROLE, scratch.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("spawn");
        let until =
            std::time::Instant::now() + Duration::from_millis(random.between(50, 200) as u64);
        while std::time::Instant::now() < until {
            let mut txn = environment.write().expect("the writer");
            change(&mut txn, &mut random);
            txn.commit().expect("commit");
        }
        child.kill().expect("kill");
        child.wait().expect("wait");
        environment.clear_stale_readers().expect("clear");
        let expected = dump(&dir);
        backup(&dir, &to, false, &mut quiet).expect("a backup");
        let left = fs::read_dir(&to).expect("read").filter(|entry| {
            let name = entry.as_ref().expect("an entry").file_name();
            name.to_string_lossy().ends_with(".part")
        });
        assert_eq!(left.count(), 0);
        let restored = scratch.join(&format!("restored-{round}"));
        bring_back(&to, &restored, None).expect("restore");
        assert_eq!(dump(&restored), expected, "round {round}");
    }
    verify_backups(&to, &mut quiet).expect("all are sound");
}
