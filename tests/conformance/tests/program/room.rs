//! Full files and full disks: the log, the probes and the figures tell.

use std::process::Command;
use std::time::{Duration, Instant};

use fulgurite_client::{Client, PartialAttribute};
use fulgurite_conformance::{LoadedStore, ROOT, RunningServer, SUFFIX, TIMEOUT, program};

use crate::metrics::{address, figures, get};

/// Adds an entry with a value of this length. Returns the result code.
fn add(client: &mut Client, name: &str, bytes: usize) -> u32 {
    let dn = format!("cn={name},{SUFFIX}");
    let text = "x".repeat(bytes);
    let class: [&[u8]; 1] = [b"organizationalRole"];
    let (cn, description): ([&[u8]; 1], _) = ([name.as_bytes()], [text.as_bytes()]);
    let attributes = [
        PartialAttribute::new("objectClass", &class),
        PartialAttribute::new("cn", &cn),
        PartialAttribute::new("description", &description),
    ];
    client.add(&dn, &attributes).expect("an add").code.number()
}

/// Adds entries until one is refused. Returns their number.
fn fill(client: &mut Client) -> usize {
    let refused = (0..1000).find(|number| add(client, &format!("fill{number}"), 100_000) != 0);
    refused.expect("there is an end")
}

/// Fills a server, makes room, and looks at what it tells.
fn check(serving: &RunningServer, words: &str, reason: &str) {
    let address = address(serving);
    let mut client = serving.root_client();
    let begun = Instant::now();
    while get(address, "/readyz", "").0 != 200 {
        assert!(begun.elapsed() < TIMEOUT, "ready");
        std::thread::sleep(Duration::from_millis(20));
    }
    let added = fill(&mut client);
    assert!(added > 5, "{added}");
    // A full disk is filled to its last byte. In a full file, the log of changes gives some room.
    let mut small = 0;
    while reason == "disk" && add(&mut client, &format!("small{small}"), 1) == 0 {
        small += 1;
    }
    let line = serving.logged(&format!("are refused: {words}"));
    assert!(line.contains("ERROR") && line.contains(SUFFIX), "{line}");
    let (status, why) = get(address, "/readyz", "");
    assert_eq!(status, 503, "{why}");
    assert_eq!(get(address, "/healthz", "").0, 200);
    let labels = [("reason", reason)];
    let refused = figures(address).sum("fulgurite_database_updates_refused_total", &labels);
    assert!(refused > 0.0);
    let small = (0..small).map(|number| format!("cn=small{number},{SUFFIX}"));
    let names = small.chain((0..added).map(|number| format!("cn=fill{number},{SUFFIX}")));
    for name in names {
        let deleted = client.delete(&name).expect("a delete");
        assert!(deleted.is_success(), "{name} {deleted:?}");
    }
    // The pages of a deletion can be used two commits later.
    let again = (0..10).any(|number| add(&mut client, &format!("again{number}"), 10) == 0);
    assert!(again, "there is room again");
    let line = serving.logged("succeed again");
    assert!(line.contains("ERROR"), "{line}");
    assert_eq!(get(address, "/readyz", "").0, 200);
}

#[test]
fn a_full_file_is_told() {
    let loaded = LoadedStore::generated(5);
    let options = [
        "--metrics-listen",
        "127.0.0.1:0",
        "--map-bytes-max",
        "4194304",
    ];
    let serving = loaded.serve(&options);
    check(&serving, "its file has reached its bound", "map");
    serving.stop();
}

#[test]
fn a_full_disk_is_told() {
    let allowed = Command::new("unshare").args(["-m", "true"]).status();
    if !allowed.is_ok_and(|status| status.success()) {
        println!("skipped: only root may mount a small disk");
        return;
    }
    let loaded = LoadedStore::generated(5);
    let disk = loaded.root.path().join("disk");
    std::fs::create_dir(&disk).expect("make a directory");
    let all = loaded.root.path().join("all.ldif");
    let script = "mount -t tmpfs -o size=5m none \"$0\" && \"$1\" load --quiet --suffix \"$2\" \
                  --data \"$0/data\" \"$3\" && shift 3 && exec \"$@\" --data \"$0/data\"";
    let mut command = Command::new("unshare");
    command
        .args(["-m", "sh", "-c", script])
        .arg(&disk)
        .arg(program())
        .arg(SUFFIX)
        .arg(all);
    command.arg(program()).args([
        "serve",
        "--suffix",
        SUFFIX,
        "--listen",
        "ldap://127.0.0.1:0",
        "--metrics-listen",
        "127.0.0.1:0",
        "--root-dn",
        ROOT,
        "--root-password-file",
    ]);
    command.arg(loaded.root.path().join("password"));
    let serving = RunningServer::start(&mut command);
    check(&serving, "the disk is full", "disk");
    serving.stop();
}
