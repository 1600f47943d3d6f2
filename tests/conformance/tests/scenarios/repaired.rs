//! `fulgurite replication check` and its repair, between two servers in one state.

use fulgurite_conformance::HeldPort;

use crate::copies::{INDEXES, assert_equal_dumps, top, wait_for};
use crate::data::{PASSWORD, ROOT, SUFFIX};
use crate::stage::{Ran, Running, Stage, is_ours, ran};

/// A server with a known address.
pub(crate) struct Node {
    pub(crate) stage: Stage,
    pub(crate) url: String,
    _port: HeldPort,
}

impl Node {
    pub(crate) fn new(stage: Stage) -> Node {
        let port = HeldPort::new();
        Node {
            stage,
            url: format!("ldap://{}", port.address()),
            _port: port,
        }
    }

    pub(crate) fn configure(&self, number: u16, lines: &str) {
        let lines = format!("{INDEXES}limits * size=unlimited\n{lines}overlay syncprov\n");
        let database = self.stage.database("db", SUFFIX, &lines);
        self.stage.configure(&format!(
            "moduleload syncprov.so\nserverID {number}\n{database}"
        ));
    }

    pub(crate) fn start(&self) -> Running<'_> {
        self.stage.start_at(&[&self.url])
    }
}

/// Returns the line of a consumer of a provider.
pub(crate) fn syncrepl(rid: u16, url: &str) -> String {
    format!(
        "syncrepl rid={rid} provider={url} searchbase=\"{SUFFIX}\" bindmethod=simple \
         binddn=\"{ROOT}\" credentials={PASSWORD} retry=\"1 +\" type=refreshAndPersist\n"
    )
}

/// The entries of the provider.
fn people() -> String {
    let mut text = top();
    for name in ["kept", "older", "missing"] {
        text += &format!(
            "dn: cn={name},ou=a,{SUFFIX}\nobjectClass: person\ncn: {name}\nsn: x\n\
             description: right\n\n"
        );
    }
    text + &format!(
        "dn: cn=away,ou=b,{SUFFIX}\nobjectClass: referral\nobjectClass: extensibleObject\n\
         cn: away\nref: ldap://elsewhere.example.com/\n\n"
    )
}

/// Returns a dump in which one entry is missing, and two have an older state.
fn tampered(dump: &str) -> String {
    let dump = dump.replace("\n ", "");
    let entries = dump.split("\n\n").filter(|entry| {
        let is_missing = entry.starts_with("dn: cn=missing,");
        !is_missing && !entry.trim().is_empty()
    });
    let entries = entries.map(|entry| {
        if !(entry.starts_with("dn: cn=older,") || entry.starts_with("dn: cn=away,")) {
            return format!("{entry}\n\n");
        }
        let lines = entry.lines().map(|line| match line.split_once(": ") {
            Some(("entryCSN", _)) => {
                "entryCSN: 20200101000000.000000Z#000000#001#000000\n".to_owned()
            }
            Some(("description", _)) => "description: wrong\n".to_owned(),
            _ => format!("{line}\n"),
        });
        lines.collect::<String>() + "\n"
    });
    entries.collect()
}

/// Runs the command at two servers.
fn check(one: &Node, other: &Node, more: &[&str]) -> Ran {
    let password = one.stage.file("password", PASSWORD);
    let mut command = fulgurite_conformance::fulgurite();
    command.args(["replication", "check", "--url", &one.url]);
    command.args(["--peer", &other.url, "--base", SUFFIX]);
    command.args(["--as", ROOT, "--password-file", &password]);
    ran(command.args(more), "")
}

/// Tampers with the second server, and repairs it.
fn repair(one: &Node, two: &Node) {
    let file = one.stage.file("people.ldif", &people());
    one.stage
        .tool("a", &["-w", "-S", "1", "-l", &file], "")
        .well();
    let first = one.start();
    let second = two.start();
    wait_for(&first, &second, &two.stage);
    second.stop();
    let dump = two.stage.cat();
    let folder = two.stage.path("db");
    std::fs::remove_dir_all(&folder).expect("remove the copy");
    std::fs::create_dir(&folder).expect("make its folder");
    two.stage.add(&tampered(&dump)).well();
    let second = two.start();
    wait_for(&first, &second, &two.stage);

    let found = check(one, two, &[]).with_status(1);
    assert!(found.contains("different"), "{found}");
    assert_eq!(found.matches("missing").count(), 1, "{found}");
    let uuids = found.lines().filter(|line| line.contains('#')).count();
    assert_eq!(uuids, 3, "{found}");
    let planned = check(one, two, &["--dry-run"]).with_status(1);
    let goes = format!("would go from {} to {}", one.url, two.url);
    assert_eq!(planned.matches(&goes).count(), 3, "{planned}");
    let same = check(one, two, &[]).with_status(1);
    assert_eq!(same, found, "a plan changes nothing");

    let repaired = check(one, two, &["--repair"]).well();
    assert_eq!(repaired.matches(" goes from ").count(), 3, "{repaired}");
    assert!(repaired.ends_with("equal\n"), "{repaired}");
    let after = check(one, two, &[]).well();
    assert!(after.ends_with("equal\n"), "{after}");
    wait_for(&first, &second, &two.stage);
    first.stop();
    second.stop();
    assert_equal_dumps(&one.stage.cat(), &two.stage.cat(), &two.stage);
}

#[test]
fn a_provider_of_ours_is_repaired_by_another() {
    if !is_ours() {
        return;
    }
    let nodes = ["repaired-1", "repaired-2"].map(|label| Node::new(Stage::new(label)));
    let [one, two] = &nodes;
    one.configure(1, &(syncrepl(1, &two.url) + "multiprovider on\n"));
    two.configure(2, &(syncrepl(2, &one.url) + "multiprovider on\n"));
    repair(one, two);
}

#[test]
fn a_copy_of_slapd_is_repaired_by_it() {
    if !is_ours() {
        return;
    }
    let one = Node::new(Stage::with_original("repaired-slapd"));
    let two = Node::new(Stage::new("repaired-copy"));
    one.configure(1, "");
    two.configure(2, &syncrepl(2, &one.url));
    repair(&one, &two);
}
