//! An administrator's work on a running server: signals, a changed configuration, files of process
//! ids, `cn=Monitor`.

use std::path::Path;
use std::time::Instant;

use fulgurite_client::{Client, Scope};
use fulgurite_conformance::{HeldPort, PASSWORD, ROOT, RunningServer, SUFFIX, TIMEOUT, fulgurite};
use fulgurite_ldap::{PartialAttribute, ResultCode};
use rustix::process::Signal;
use tempfile::TempDir;

/// A configuration in slapd's words.
fn configuration(folder: &Path, access: &str, more: &str) -> String {
    let place = folder.display();
    std::fs::create_dir_all(folder.join("db")).expect("make the folder");
    format!(
        "attributetype ( 0.9.2342.19200300.100.1.25 NAME 'dc' EQUALITY caseIgnoreIA5Match\n  \
         SYNTAX 1.3.6.1.4.1.1466.115.121.1.26 SINGLE-VALUE )\n\
         objectclass ( 0.9.2342.19200300.100.4.13 NAME 'domain' SUP top STRUCTURAL MUST dc )\n\
         pidfile {place}/pid\nargsfile {place}/args\n{more}\n\
         database mdb\nsuffix {SUFFIX}\nrootdn {ROOT}\nrootpw {PASSWORD}\ndirectory {place}/db\n{access}\n\
         database monitor\nrootdn cn=Monitor\nrootpw {PASSWORD}\naccess to * by users read\n"
    )
}

fn write(folder: &Path, text: &str) -> String {
    let file = folder.join("slapd.conf");
    // In one step: the server reads it when it likes.
    let new = folder.join("slapd.conf.new");
    std::fs::write(&new, text).expect("write the configuration");
    std::fs::rename(&new, &file).expect("put the configuration in its place");
    file.to_str().expect("a path in UTF-8").to_owned()
}

fn top_is_shown(client: &mut Client) -> bool {
    let found = client.search(SUFFIX, Scope::Base, "(objectClass=*)", &["1.1"]);
    found.is_ok_and(|found| found.entries.len() == 1)
}

/// Waits until something is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < TIMEOUT, "{what}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn a_changed_configuration_is_read_again() {
    let folder = TempDir::new().expect("make a directory");
    let folder = folder.path();
    let file = write(folder, &configuration(folder, "access to * by * read", ""));
    let mut command = fulgurite();
    command.args(["serve", "--config", &file, "--listen", "ldap://127.0.0.1:0"]);
    let serving = RunningServer::start(&mut command);
    let pid = std::fs::read_to_string(folder.join("pid")).expect("the file of the process id");
    assert_eq!(pid, format!("{}\n", serving.pid()));
    let arguments =
        std::fs::read_to_string(folder.join("args")).expect("the file of the arguments");
    assert!(arguments.contains(" serve --config "), "{arguments}");
    let mut root = serving.root_client();
    let (class, name): ([&[u8]; 1], [&[u8]; 1]) = ([b"domain"], [b"example"]);
    let top = [
        PartialAttribute::new("objectClass", &class),
        PartialAttribute::new("dc", &name),
    ];
    let added = root.add(SUFFIX, &top);
    assert!(added.expect("an answer").is_success());
    let mut client = serving.client();
    assert!(top_is_shown(&mut client));
    // Other rules hold for connections that are there already.
    write(folder, &configuration(folder, "access to * by * none", ""));
    serving.signal(Signal::HUP);
    until("the new rules hold", || !top_is_shown(&mut client));
    // A setting that cannot change, or is wrong, leaves everything as it is.
    let open = "access to * by * read";
    write(folder, &configuration(folder, open, "threads 7"));
    serving.signal(Signal::HUP);
    std::thread::sleep(std::time::Duration::from_millis(300));
    write(folder, &configuration(folder, open, ""));
    std::thread::sleep(std::time::Duration::from_millis(300));
    write(folder, &configuration(folder, "access to nothing", ""));
    serving.signal(Signal::HUP);
    std::thread::sleep(std::time::Duration::from_millis(300));
    write(folder, &configuration(folder, open, ""));
    serving.signal(Signal::HUP);
    until("the old rules hold again", || top_is_shown(&mut client));
    // The schema may grow, and what grew can be used.
    let schema = "attributetype ( 1.3.6.1.4.1.99999.1 NAME 'shoeSize' SUP name )\n\
                  objectclass ( 1.3.6.1.4.1.99999.2 NAME 'shod' SUP top AUXILIARY MAY shoeSize )";
    write(folder, &configuration(folder, open, schema));
    serving.signal(Signal::HUP);
    let add = |root: &mut Client| {
        let (classes, size): ([&[u8]; 2], [&[u8]; 1]) = ([b"domain", b"shod"], [b"42"]);
        let attributes = [
            PartialAttribute::new("objectClass", &classes),
            PartialAttribute::new("shoeSize", &size),
        ];
        root.add(&format!("dc=shoes,{SUFFIX}"), &attributes)
            .expect("an answer")
    };
    until("the new class can be used", || add(&mut root).is_success());
    let shod = client.search(SUFFIX, Scope::Subtree, "(shoeSize=42)", &["shoeSize"]);
    assert_eq!(
        shod.expect("an answer").entries[0]
            .first("shoeSize")
            .as_deref(),
        Some("42")
    );
    // An index more is made while the server serves.
    let indexed = format!("{open}\nindex shoeSize eq");
    write(folder, &configuration(folder, &indexed, schema));
    serving.signal(Signal::HUP);
    std::thread::sleep(std::time::Duration::from_secs(1));
    let shod = client.search(SUFFIX, Scope::Subtree, "(shoeSize=42)", &["1.1"]);
    assert_eq!(shod.expect("an answer").entries.len(), 1);
    serving.signal(Signal::USR1);
    until("the figures are asked for", || top_is_shown(&mut client));
    let log = serving.stop();
    assert!(!folder.join("pid").exists() && !folder.join("args").exists());
    let said = |text: &str| log.iter().any(|line| line.contains(text));
    assert!(said("has been read again"), "{log:?}");
    assert!(said("index shoeSize:eq of "), "{log:?}");
    assert!(said("threads (\"7\" instead of "), "{log:?}");
    assert!(said("cannot change while the server runs"), "{log:?}");
    assert!(said("stays unchanged"), "{log:?}");
    assert!(
        said("cn=Add,cn=Operations,cn=Monitor: monitorOpInitiated="),
        "{log:?}"
    );
}

#[test]
fn the_monitor_counts_what_clients_do() {
    let folder = TempDir::new().expect("make a directory");
    let folder = folder.path();
    let file = write(folder, &configuration(folder, "access to * by * read", ""));
    let mut command = fulgurite();
    command.args(["serve", "--config", &file, "--listen", "ldap://127.0.0.1:0"]);
    let serving = RunningServer::start(&mut command);
    let mut root = serving.root_client();
    let mut read = |dn: &str, name: &str| {
        let found = root.search(dn, Scope::Base, "(objectClass=*)", &[name]);
        let found = found.expect("an answer");
        assert!(found.result.is_success(), "{dn}: {:?}", found.result);
        found.entries[0]
            .first(name)
            .unwrap_or_else(|| panic!("{dn} has no {name}"))
    };
    let number = |text: String| text.parse::<u64>().expect("a number");
    let searches = "cn=Search,cn=Operations,cn=Monitor";
    let before = number(read(searches, "monitorOpCompleted"));
    let mut anonymous = serving.client();
    for _ in 0..10 {
        let _ = anonymous.search(SUFFIX, Scope::Base, "(objectClass=*)", &[]);
    }
    // And the one that asked before.
    assert_eq!(number(read(searches, "monitorOpCompleted")), before + 11);
    assert_eq!(
        number(read(
            "cn=Current,cn=Connections,cn=Monitor",
            "monitorCounter"
        )),
        2
    );
    assert!(number(read("cn=Bytes,cn=Statistics,cn=Monitor", "monitorCounter")) > 100);
    let database = "cn=Database 1,cn=Databases,cn=Monitor";
    assert_eq!(read(database, "namingContexts"), SUFFIX);
    assert_eq!(read(database, "olmMDBEntries"), "0");
    let hidden = anonymous.search("cn=Monitor", Scope::Subtree, "(objectClass=*)", &[]);
    assert_eq!(
        hidden.expect("an answer").entries.len(),
        0,
        "its rules hold"
    );
    let refused = root.delete("cn=Time,cn=Monitor").expect("an answer");
    assert_eq!(refused.code, ResultCode::UnwillingToPerform);
    serving.stop();
}

#[test]
fn slapd_ends_when_it_is_hung_up() {
    let folder = TempDir::new().expect("make a directory");
    let folder = folder.path();
    let file = write(folder, &configuration(folder, "access to * by * read", ""));
    let port = HeldPort::new();
    let address = port.address();
    let mut command = fulgurite();
    command.args([
        "slapd",
        "-d",
        "0",
        "-f",
        &file,
        "-h",
        &format!("ldap://{address}/"),
    ]);
    let mut slapd = command.spawn().expect("start slapd");
    until("it listens", || Client::connect(address).is_ok());
    until("its process id is written", || folder.join("pid").exists());
    let pid = i32::try_from(slapd.id())
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    rustix::process::kill_process(pid.expect("a process id"), Signal::HUP).expect("send a signal");
    let status = slapd.wait().expect("its end");
    assert_eq!(status.code(), Some(0));
    assert!(!folder.join("pid").exists());
}

#[test]
fn what_keeps_it_from_starting_is_named() {
    let folder = TempDir::new().expect("make a directory");
    let place = folder.path();
    let file = write(place, &configuration(place, "", ""));
    std::fs::remove_dir(place.join("db")).expect("take the folder away");
    let start = |file: &str| {
        let output = fulgurite()
            .args(["slapd", "-d", "0", "-f", file, "-h", "ldap://127.0.0.1:0/"])
            .output()
            .expect("run slapd");
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let said = start(&file);
    assert!(said.contains(&format!("{}/db", place.display())), "{said}");
    std::fs::create_dir(place.join("db")).expect("make the folder");
    let unwritable = configuration(place, "", "").replace("/pid\n", "/no/such/folder/pid\n");
    let said = start(&write(place, &unwritable));
    assert!(said.contains("/no/such/folder/pid"), "{said}");
}
