//! Consumers of the configuration itself: `overlay syncprov` of `cn=config`.

use std::process::{Command, Stdio};
use std::time::Instant;

use crate::configuring::{ADMIN, DATABASE, configured};
use crate::data::{SUFFIX, names};
use crate::stage::{PATIENCE, Stage};

const OVERLAY: &str = "olcOverlay={0}syncprov,olcDatabase={0}config,cn=config";

/// Lets a client copy the configuration, and wait. The end of the overlay ends it, as in slapd.
#[test]
fn the_configuration_is_copied_as_in_slapd() {
    let mut seen = Vec::new();
    for stage in [
        Stage::new("config-copy-ours"),
        Stage::with_original("config-copy-slapd"),
    ] {
        let folder = configured(&stage);
        let server = stage.start_by_directory(&folder);
        let copy = ["-LLL", "-b", "cn=config", "-E", "!sync=ro", "1.1"];
        let asked = || server.client_as(ADMIN, "ldapsearch", &copy, "");
        asked().with_status(12);
        let add = format!(
            "dn: cn=module{{0}},cn=config\nchangetype: modify\nadd: olcModuleLoad\n\
             olcModuleLoad: syncprov.so\n\n\
             dn: {OVERLAY}\nchangetype: add\nobjectClass: olcSyncProvConfig\nolcOverlay: {{0}}syncprov\n"
        );
        server.client_as(ADMIN, "ldapmodify", &[], &add).well();
        let mut copied = names(&asked().well());
        copied.sort();
        let all = ["-LLL", "-b", "cn=config", "1.1"];
        let mut stored = names(&server.client_as(ADMIN, "ldapsearch", &all, "").well());
        stored.sort();
        assert_eq!(copied, stored);
        let mut waiting = Command::new("ldapsearch");
        waiting.args(["-x", "-H", &server.url, "-D", ADMIN.0, "-w", ADMIN.1]);
        waiting.args(["-b", "cn=config", "-E", "!sync=rp"]);
        let output = std::fs::File::create(stage.path("copied")).expect("a file");
        let mut waiting = waiting
            .stdout(output)
            .stderr(Stdio::null())
            .spawn()
            .expect("start a consumer");
        let begun = Instant::now();
        // The client writes blocks, so the file does not show the end of the refresh.
        let has_begun = |path| std::fs::metadata(path).is_ok_and(|file| file.len() > 0);
        while !has_begun(stage.path("copied")) {
            assert!(begun.elapsed() < PATIENCE, "no refresh");
            assert!(waiting.try_wait().expect("a process").is_none());
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        std::thread::sleep(std::time::Duration::from_millis(300));
        server.client_as(ADMIN, "ldapdelete", &[OVERLAY], "").well();
        let ended = loop {
            assert!(begun.elapsed() < PATIENCE, "the consumer still waits");
            if let Some(ended) = waiting.try_wait().expect("a process") {
                break ended.code();
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        };
        asked().with_status(12);
        server.stop();
        seen.push((copied, ended));
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0].1, Some(52));
}

/// Takes the providers of a copy away, as a client that parts two servers does.
#[test]
fn the_last_provider_of_a_copy_may_go() {
    let [ours, theirs] = [
        Stage::new("former-copy-ours"),
        Stage::with_original("former-copy-slapd"),
    ]
    .map(|stage| {
        let folder = configured(&stage);
        let server = stage.start_by_directory(&folder);
        let modify = |lines: &str| {
            let text = format!("dn: {DATABASE}\nchangetype: modify\n{lines}\n");
            let ran = server.client_as(ADMIN, "ldapmodify", &[], &text);
            (ran.status, ran.err)
        };
        let begin = format!(
            "add: olcSyncrepl\nolcSyncrepl: rid=001 provider=ldap://127.0.0.1:1 searchbase=\"{SUFFIX}\" \
             bindmethod=simple type=refreshAndPersist retry=\"60 +\"\n-\n\
             add: olcUpdateRef\nolcUpdateRef: ldap://127.0.0.1:1\n-\n\
             add: olcMultiProvider\nolcMultiProvider: TRUE\n"
        );
        let answers = [
            &*begin,
            "delete: olcSyncrepl\n",
            "replace: olcSizeLimit\nolcSizeLimit: 600\n",
            "replace: olcMultiProvider\nolcMultiProvider: FALSE\n",
            "replace: olcMultiProvider\nolcMultiProvider: TRUE\n",
            "replace: olcUpdateRef\nolcUpdateRef: ldap://127.0.0.1:2\n",
            "delete: olcUpdateRef\n",
        ]
        .map(modify);
        let held = ["-LLL", "-s", "base", "-b", DATABASE, "olcMultiProvider", "olcUpdateRef"];
        let held = server.client_as(ADMIN, "ldapsearch", &held, "").well();
        server.stop();
        (answers, held)
    });
    assert_eq!(ours, theirs);
    assert_eq!(ours.0[1].0, 0, "{ours:?}");
}
