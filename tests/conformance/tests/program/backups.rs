//! Backups that a server makes by itself, their verification, and restoring to a point in time.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fulgurite_client::{Change, Client, ModifyOperation, PartialAttribute};
use fulgurite_conformance::{
    LoadedStore, PASSWORD, ROOT, RunningServer, SUFFIX, TIMEOUT, failure, fulgurite, path, run,
};

use crate::metrics::{address, figures};

/// Serves a store that makes backups, with a monitor and figures.
fn serve(loaded: &LoadedStore, to: &Path, more: &[(&str, &str)]) -> RunningServer {
    let mut command = loaded.serve_command("ldap://127.0.0.1:0");
    command.args(["--metrics-listen", "127.0.0.1:0"]);
    command.env("FULGURITE_MONITOR", "true");
    command.env("FULGURITE_BACKUP_TO", to);
    RunningServer::start(command.envs(more.iter().copied()))
}

/// Returns the folders of whole backups, the oldest first.
fn backups(to: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(to).into_iter().flatten();
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.join("manifest.json").exists())
        .collect();
    paths.sort();
    paths
}

fn wait_for(what: &str, is_there: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_there() {
        assert!(begun.elapsed() < TIMEOUT, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn status(loaded: &LoadedStore, serving: &RunningServer) -> Output {
    let mut command = fulgurite();
    let url = format!("ldap://{}", serving.address);
    command.args(["status", "-H", &url, "-D", ROOT, "-y"]);
    let command = command.arg(loaded.root.path().join("password"));
    command.output().expect("run the program")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_server_makes_backups_and_tells() {
    let loaded = LoadedStore::generated(20);
    let to = loaded.root.path().join("backups");
    let every = [
        ("FULGURITE_BACKUP_EVERY", "2s"),
        ("FULGURITE_BACKUP_KEEP", "2"),
    ];
    let serving = serve(&loaded, &to, &every);
    let address = address(&serving);
    let written = || {
        let labels = [("result", "success")];
        figures(address).sum("fulgurite_backups_total", &labels)
    };
    wait_for("four backups", || written() >= 4.0);
    let figures = figures(address);
    assert_eq!(figures.one("fulgurite_backup_failing"), 0.0);
    assert_eq!(figures.one("fulgurite_backup_interval_seconds"), 2.0);
    assert!(figures.one("fulgurite_backup_size_bytes") > 4096.0);
    assert!(figures.one("fulgurite_backup_time_seconds") > 1.7e9);
    let screen = text(&status(&loaded, &serving).stdout);
    assert!(
        screen.contains("\nbackups      the newest of 2"),
        "{screen}"
    );
    serving.stop();
    // The last one may have ended before the oldest was removed.
    let left = backups(&to);
    assert!((2..=3).contains(&left.len()), "{left:?}");
    let verified = run(&["backup", "verify", path(&to), "--boot"]);
    let said = text(&verified.stdout);
    assert!(verified.status.success(), "{verified:?}");
    assert!(said.contains("entries, sound\n"), "{said}");
    assert!(said.contains(": a server shows "), "{said}");
    let newest = left.last().expect("a backup");
    let folder = std::fs::read_dir(newest).expect("a folder");
    let mut folders = folder.map(|entry| entry.expect("an entry").path());
    let data = folders.find(|path| path.is_dir()).expect("a database");
    let data = data.join("data.mdb");
    let mut bytes = std::fs::read(&data).expect("the data");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&data, bytes).expect("damage the data");
    let (code, message) = failure(&run(&["backup", "verify", path(newest)]));
    assert_eq!(code, 1, "{message}");
    assert!(message.contains("its digest is not that"), "{message}");
}

/// The settings that `fulgurite setup` writes have overlays, whose attributes are in the data.
#[test]
fn a_backup_of_a_directory_with_a_password_policy_boots() {
    let root = tempfile::tempdir().expect("a folder");
    let file = |name: &str| root.path().join(name);
    let (data, config, to) = (file("data"), file("x.toml"), file("backups"));
    let entry = "dn: dc=example,dc=org\nobjectClass: organization\nobjectClass: dcObject\n\
                 o: x\ndc: example\npwdChangedTime: 20260101000000Z\n";
    std::fs::write(file("x.ldif"), entry).expect("write the entry");
    let text = format!(
        "suffix = \"dc=example,dc=org\"\ndata = {data:?}\n[[overlay]]\nname = \"ppolicy\"\n"
    );
    std::fs::write(&config, text).expect("write the settings");
    let config = ["--config", path(&config)];
    let success = |words: &[&str]| {
        let output = run(words);
        assert!(output.status.success(), "{output:?}");
        text_of(&output)
    };
    success(&[&["load"][..], &config, &[path(&file("x.ldif"))]].concat());
    success(&[&["backup", "now"][..], &config, &["--to", path(&to)]].concat());
    let verify = ["backup", "verify", path(&to), "--boot"];
    let said = success(&[&verify[..], &config].concat());
    assert!(said.contains(": a server shows 1 entries"), "{said}");
    let (_, message) = failure(&run(&verify));
    assert!(message.contains("by --config"), "{message}");
}

fn text_of(output: &Output) -> String {
    text(&output.stdout)
}

#[test]
fn a_failed_backup_is_told_everywhere() {
    let loaded = LoadedStore::generated(5);
    let file = loaded.root.path().join("file");
    std::fs::write(&file, "in the way").expect("write a file");
    let serving = serve(&loaded, &file.join("backups"), &[]);
    let address = address(&serving);
    let line = serving.logged("no backup: ");
    assert!(
        line.contains("ERROR") && line.contains("600 seconds"),
        "{line}"
    );
    wait_for("the figure", || {
        figures(address).one("fulgurite_backup_failing") == 1.0
    });
    let output = status(&loaded, &serving);
    let screen = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{screen}");
    assert!(
        screen.contains("warning: Backups: There is none yet. The last one failed: cannot make "),
        "{screen}"
    );
    serving.stop();
}

fn add(client: &mut Client, name: &str) {
    let dn = format!("cn={name},{SUFFIX}");
    let (class, cn): ([&[u8]; 1], [&[u8]; 1]) = ([b"organizationalRole"], [name.as_bytes()]);
    let attributes = [
        PartialAttribute::new("objectClass", &class),
        PartialAttribute::new("cn", &cn),
    ];
    let added = client.add(&dn, &attributes).expect("an add");
    assert!(added.is_success(), "{added:?}");
}

fn describe(client: &mut Client, name: &str, operation: ModifyOperation, texts: &[&str]) {
    let values: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
    let change = Change {
        operation,
        attribute: PartialAttribute::new("description", &values),
    };
    let dn = format!("cn={name},{SUFFIX}");
    let changed = client.modify(&dn, &[change]).expect("a modify");
    assert!(changed.is_success(), "{changed:?}");
}

fn rename(client: &mut Client, name: &str, rdn: &str, above: Option<&str>) {
    let dn = format!("{name},{SUFFIX}");
    let renamed = client.modify_dn(&dn, rdn, true, above).expect("a rename");
    assert!(renamed.is_success(), "{renamed:?}");
}

fn delete(client: &mut Client, name: &str) {
    let deleted = client.delete(&format!("{name},{SUFFIX}"));
    assert!(deleted.expect("a delete").is_success());
}

/// Returns the records of a store, sorted.
fn records(data: &Path) -> Vec<String> {
    let output = run(&["export", "--data", path(data), "--suffix", SUFFIX]);
    assert!(output.status.success(), "{output:?}");
    let text = text(&output.stdout);
    let mut records: Vec<String> = text.split("\n\n").map(str::to_owned).collect();
    records.sort();
    records
}

/// Waits for the next second, and returns the one before as a time in UTC.
fn end_of_second() -> String {
    let now = || {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .expect("a time")
    };
    let before = now().as_secs();
    wait_for("the next second", || now().as_secs() > before);
    let time = before + 1;
    let output = std::process::Command::new("date")
        .args(["-u", "-d", &format!("@{time}"), "+%Y-%m-%dT%H:%M:%SZ"])
        .output();
    text(&output.expect("run date").stdout).trim().to_owned()
}

fn restore(from: &Path, to: &Path, more: &[&str]) -> Output {
    run(&[&["restore", path(from), "--to", path(to)], more].concat())
}

#[test]
fn a_database_is_restored_to_a_point_in_time() {
    let loaded = LoadedStore::generated(20);
    let at = |name: &str| loaded.root.path().join(name);
    let to = at("backups");
    let serving = serve(&loaded, &to, &[("FULGURITE_BACKUP_EVERY", "1d")]);
    wait_for("a backup", || !backups(&to).is_empty());
    let early = records(&loaded.data());
    let mut client = serving.root_client();
    for name in ["a", "b", "c"] {
        add(&mut client, name);
    }
    describe(&mut client, "a", ModifyOperation::Add, &["one", "two"]);
    describe(&mut client, "a", ModifyOperation::Delete, &["one"]);
    rename(
        &mut client,
        "cn=b",
        "cn=below",
        Some(&format!("cn=a,{SUFFIX}")),
    );
    rename(&mut client, "cn=a", "cn=above", None);
    delete(&mut client, "cn=c");
    let time = end_of_second();
    let expected = records(&loaded.data());
    assert_ne!(expected, early);
    // This record begins in the second after that time.
    std::thread::sleep(Duration::from_millis(1100));
    delete(&mut client, "cn=below,cn=above");
    describe(&mut client, "above", ModifyOperation::Replace, &[]);
    assert_ne!(records(&loaded.data()), expected);
    let log = loaded.data();
    // The server runs meanwhile.
    let restored = restore(&to, &at("restored"), &["--at", &time]);
    assert!(restored.status.success(), "{restored:?}");
    let said = text(&restored.stderr);
    assert!(said.contains("8 changes of "), "{said}");
    assert_eq!(records(&at("restored")), expected);
    let plain = restore(&to, &at("plain"), &[]);
    assert!(plain.status.success(), "{plain:?}");
    assert_eq!(records(&at("plain")), early);
    // All of the log gives the present state, and the result is sound.
    let late = ["--at", "2999-01-01T00:00:00Z", "--log", path(&log)];
    let whole = restore(&to, &at("whole"), &late);
    assert!(whole.status.success(), "{whole:?}");
    assert_eq!(records(&at("whole")), records(&log));
    let checked = run(&["check", path(&at("whole"))]);
    assert!(checked.status.success(), "{checked:?}");
    refusals(&loaded, &to);
    drop(client);
    serving.stop();
    // A server goes on from the restored state.
    let other = LoadedStore::generated(1);
    std::fs::remove_dir_all(other.data()).expect("remove the store");
    std::fs::rename(at("restored"), other.data()).expect("move the store");
    let serving = other.serve(&[]);
    add(&mut serving.root_client(), "again");
    serving.stop();
}

fn refusals(loaded: &LoadedStore, to: &Path) {
    let at = |name: &str| loaded.root.path().join(name);
    let refused = |more: &[&str]| {
        let (code, message) = failure(&restore(to, &at("refused"), more));
        assert_eq!(code, 1, "{message}");
        assert!(!at("refused/data.mdb").exists(), "{message}");
        assert!(!at("refused/.restoring").exists(), "{message}");
        message
    };
    let message = refused(&["--at", "2001-01-01T00:00:00Z"]);
    assert!(
        message.contains("has no backup from before 20010101000000Z"),
        "{message}"
    );
    let message = refused(&["--at", "tomorrow"]);
    assert!(message.contains("is no time in UTC"), "{message}");
    let message = refused(&["--suffix", "dc=other"]);
    assert!(message.contains("and no \"dc=other\""), "{message}");
    // A younger store of the same name has other changes.
    let other = LoadedStore::generated(1);
    let late = ["--at", "2999-01-01T00:00:00Z", "--log", other.data_str()];
    let message = refused(&late);
    assert!(
        message.contains("does not reach back") || message.contains("restored itself"),
        "{message}"
    );
    let (code, message) = failure(&restore(to, &at("plain"), &[]));
    assert_eq!(code, 1, "{message}");
    assert!(message.contains("nothing is overwritten"), "{message}");
}

#[test]
fn a_log_that_has_dropped_changes_is_refused() {
    let loaded = LoadedStore::generated(5);
    let at = |name: &str| loaded.root.path().join(name);
    let to = at("backups");
    let small = [("FULGURITE_STORAGE_LOG_BYTES_MAX", "4 KiB")];
    let serving = serve(&loaded, &to, &small);
    wait_for("a backup", || !backups(&to).is_empty());
    let mut client = serving.root_client();
    add(&mut client, "a");
    for number in 0..200 {
        let text = format!("number {number}");
        describe(&mut client, "a", ModifyOperation::Replace, &[&text]);
    }
    drop(client);
    serving.stop();
    let late = ["--at", "2999-01-01T00:00:00Z"];
    let (code, message) = failure(&restore(&to, &at("restored"), &late));
    assert_eq!(code, 1, "{message}");
    assert!(
        message.contains("the log of changes does not reach back to the backup"),
        "{message}"
    );
    assert!(message.contains("storage.log_bytes_max"), "{message}");
    assert!(!PASSWORD.is_empty() && !message.contains(PASSWORD));
}
