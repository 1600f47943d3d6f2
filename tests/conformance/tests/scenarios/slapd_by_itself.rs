//! Divergences that slapd has by itself: both the provider and the copy are Debian's slapd.
//!
//! ```text
//!   provider   cn=n1 --rename--> cn=a1, and a modify        --rename--> cn=b1 (cn: a1 stays), a modify
//!   copy            \--rename--|killed|  starts again --->           rename, modify: cn: a1 is lost
//! ```
//! A copy stores an entry that was renamed and changed in two transactions. `soak` lets for this.

use std::process::Command;
use std::time::{Duration, Instant};

use fulgurite_client::{Change, Client, PartialAttribute};

use crate::copies::{INDEXES, PATIENCE, Provider, entries, state, wait_for};
use crate::data::{PASSWORD, ROOT, SUFFIX};
use crate::stage::Stage;

/// The flush of the copy before which it dies: the first is that of the rename.
const KILL_AT: &str = "2";

/// Compiles the library that kills a server at a flush.
fn killer(stage: &Stage) -> std::path::PathBuf {
    let source = stage.file("kill.c", include_str!("kill.c"));
    let library = stage.path("kill.so");
    let mut compile = Command::new("cc");
    compile
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&library);
    let status = compile.arg(source).status().expect("run cc");
    assert!(status.success(), "cc: {status}");
    library
}

/// Renames an entry and changes it.
fn rename_and_change(client: &mut Client, from: &str, to: &str, deletes_old: bool) {
    let name = format!("cn={from},ou=a,{SUFFIX}");
    let rdn = format!("cn={to}");
    let renamed = client.modify_dn(&name, &rdn, deletes_old, None);
    assert!(renamed.expect("an answer").is_success());
    let values: [&[u8]; 1] = [to.as_bytes()];
    let name = format!("{rdn},ou=a,{SUFFIX}");
    let changed = client.modify(&name, &[Change::replace("description", &values)]);
    assert!(changed.expect("an answer").is_success());
}

#[test]
fn a_killed_copy_of_slapd_loses_a_name() {
    let provider = Provider::new("by-itself", "");
    let person = format!("dn: cn=n1,ou=a,{SUFFIX}\nobjectClass: person\ncn: n1\nsn: x\n");
    provider.stage.add(&person).well();
    let mut copy = Stage::with_original("by-itself-copy");
    let line = provider.syncrepl("type=refreshAndPersist");
    copy.configure(&copy.database("db", SUFFIX, &format!("{INDEXES}{line}")));
    let server = provider.start();
    let mut client = Client::connect(provider.port.address()).expect("connect");
    let bound = client.bind(ROOT, PASSWORD.as_bytes()).expect("bind");
    assert!(bound.is_success(), "{bound:?}");
    let follower = copy.start();
    wait_for(&server, &follower, &copy);
    follower.stop();

    rename_and_change(&mut client, "n1", "a1", true);
    let library = killer(&copy);
    copy.set("LD_PRELOAD", library);
    copy.set("FULGURITE_TEST_KILL_AT", KILL_AT.into());
    let mut killed = copy.start();
    let begun = Instant::now();
    while !killed.has_ended() {
        assert!(begun.elapsed() < PATIENCE, "the copy lives");
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(killed);

    rename_and_change(&mut client, "a1", "b1", false);
    copy.set("FULGURITE_TEST_KILL_AT", "0".into());
    // A refresh of everything does not help: the entry has the newest entryCSN.
    for arguments in [&[][..], &["-c", "rid=7"]] {
        let follower = copy.start_with(
            &[&["-f", &copy.text("slapd.conf")], arguments].concat(),
            &[],
        );
        wait_for(&server, &follower, &copy);
        follower.stop();
    }
    server.stop();
    let (theirs, copied) = (entries(&provider.stage.cat()), entries(&copy.cat()));
    let whole: Vec<_> = theirs.difference(&copied).collect();
    let poorer: Vec<_> = copied.difference(&theirs).collect();
    assert_eq!((whole.len(), poorer.len()), (1, 1), "{whole:?} {poorer:?}");
    assert_eq!(whole[0].replace("cn: a1\n", ""), *poorer[0]);
}

#[test]
fn a_killed_slapd_has_a_state_from_before_its_newest_entry() {
    let mut provider = Provider::new("by-itself-state", "syncprov-checkpoint 1 1\n");
    let server = provider.start();
    server.search(&["-s", "base"]);
    server.stop();
    let library = killer(&provider.stage);
    provider.stage.set("LD_PRELOAD", library);
    provider.stage.set("FULGURITE_TEST_KILL_AT", KILL_AT.into());
    let mut killed = provider.start();
    let mut client = Client::connect(provider.port.address()).expect("connect");
    let bound = client.bind(ROOT, PASSWORD.as_bytes()).expect("bind");
    assert!(bound.is_success(), "{bound:?}");
    let classes: [&[u8]; 1] = [b"person"];
    let values: [&[u8]; 1] = [b"x"];
    let attributes = [
        PartialAttribute::new("objectClass", &classes),
        PartialAttribute::new("sn", &values),
    ];
    // The first flush is that of the entry, the second one that of the state.
    let _ = client.add(&format!("cn=n1,{SUFFIX}"), &attributes);
    let begun = Instant::now();
    while !killed.has_ended() {
        assert!(begun.elapsed() < PATIENCE, "the provider lives");
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(killed);
    provider.stage.set("FULGURITE_TEST_KILL_AT", "0".into());
    let server = provider.start();
    let state = state(&server);
    let found = server.search(&["(cn=n1)", "entryCSN"]);
    let newest = found
        .lines()
        .find_map(|line| line.strip_prefix("entryCSN: "));
    let newest = newest.expect("the entry is there");
    let state = state.strip_prefix("contextCSN: ").expect("a state");
    assert!(state < newest, "{state} {newest}");
    server.stop();
}
