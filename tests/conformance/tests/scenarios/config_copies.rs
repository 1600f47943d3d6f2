//! Consumers of the configuration itself: `overlay syncprov` of `cn=config`.

use std::process::{Command, Stdio};
use std::time::Instant;

use crate::configuring::{ADMIN, DATABASE, configured};
use crate::data::{SUFFIX, names};
use crate::stage::{PATIENCE, Running, Stage, is_ours};

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

/// Lets a server copy definitions, and refer changes of its configuration to the provider.
#[test]
fn a_server_copies_the_configuration_of_another() {
    let stages = ["config-copied", "config-copying"].map(Stage::new);
    let [provider, copy] = stages
        .each_ref()
        .map(|stage| stage.start_by_directory(&configured(stage)));
    let provide = format!(
        "dn: cn=module{{0}},cn=config\nchangetype: modify\nadd: olcModuleLoad\n\
         olcModuleLoad: syncprov.so\n\n\
         dn: {OVERLAY}\nchangetype: add\nobjectClass: olcSyncProvConfig\nolcOverlay: {{0}}syncprov\n"
    );
    provider
        .client_as(ADMIN, "ldapmodify", &[], &provide)
        .well();
    let follow = format!(
        "dn: olcDatabase={{0}}config,cn=config\nchangetype: modify\nadd: olcSyncrepl\n\
         olcSyncrepl: rid=001 provider={url} searchbase=\"cn=schema,cn=config\" bindmethod=simple \
         binddn=\"{}\" credentials={} type=refreshAndPersist retry=\"1 +\"\n-\n\
         add: olcUpdateRef\nolcUpdateRef: {url}\n",
        ADMIN.0,
        ADMIN.1,
        url = provider.url
    );
    copy.client_as(ADMIN, "ldapmodify", &[], &follow).well();
    let begun = Instant::now();
    for number in 1..3 {
        let add = format!(
            "dn: cn=extra{number},cn=schema,cn=config\nchangetype: add\nobjectClass: olcSchemaConfig\n\
             cn: extra{number}\nolcAttributeTypes: ( 1.3.6.1.4.1.4203.666.99.{number} \
             NAME 'extra{number}' SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 )\n"
        );
        provider.client_as(ADMIN, "ldapmodify", &[], &add).well();
        let read = ["-LLL", "-b", "cn=schema,cn=config", "-s", "one"];
        let read = |server: &Running<'_>| server.client_as(ADMIN, "ldapsearch", &read, "").well();
        while read(&copy) != read(&provider) {
            assert!(begun.elapsed() < PATIENCE, "{}", read(&copy));
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
    let change =
        format!("dn: {DATABASE}\nchangetype: modify\nreplace: olcSizeLimit\nolcSizeLimit: 600\n");
    let refused = copy.client_as(ADMIN, "ldapmodify", &[], &change);
    assert_eq!(refused.status, 10, "{}", refused.err);
    provider.client_as(ADMIN, "ldapmodify", &[], &change).well();
    copy.stop();
    provider.stop();
}

/// Makes a configuration without databases for entries. Returns its path.
fn minimal(stage: &Stage, number: u16) -> String {
    let folder = stage.text("slapd.d");
    std::fs::create_dir_all(&folder).expect("make a folder");
    let text = format!(
        "dn: cn=config\nobjectClass: olcGlobal\ncn: config\nolcServerID: {number}\n\n\
         dn: olcDatabase={{0}}config,cn=config\nobjectClass: olcDatabaseConfig\n\
         olcDatabase: {{0}}config\nolcRootDN: {}\nolcRootPW: {}\n",
        ADMIN.0, ADMIN.1
    );
    let file = stage.file("init.ldif", &text);
    let added = stage.tool_by_directory("a", &folder, &["-n0", "-l", &file]);
    added.well();
    folder
}

/// Lets two servers take changes of their configuration, at once and in a time without each other.
#[test]
fn two_servers_merge_their_configurations() {
    if !is_ours() {
        return;
    }
    let stages = ["config-merged-1", "config-merged-2"].map(Stage::new);
    let mut servers = [1, 2].map(|number| {
        let stage = &stages[usize::from(number) - 1];
        stage.start_by_directory(&minimal(stage, number))
    });
    let urls = servers.each_ref().map(|server| server.url.clone());
    let consumers: String = (1..)
        .zip(&urls)
        .map(|(rid, url)| {
            format!(
                "olcSyncrepl: rid={rid} provider={url} searchbase=\"cn=config\" bindmethod=simple \
                 binddn=\"{}\" credentials={} type=refreshAndPersist retry=\"1 +\"\n",
                ADMIN.0, ADMIN.1
            )
        })
        .collect();
    let several = format!(
        "dn: olcDatabase={{0}}config,cn=config\nchangetype: modify\nadd: olcSyncrepl\n{consumers}-\n\
         add: olcMultiProvider\nolcMultiProvider: TRUE\n\n"
    );
    let provide = format!(
        "dn: cn=module,cn=config\nchangetype: add\nobjectClass: olcModuleList\ncn: module\n\
         olcModuleLoad: syncprov.so\n\n\
         dn: {OVERLAY}\nchangetype: add\nobjectClass: olcSyncProvConfig\nolcOverlay: {{0}}syncprov\n\n"
    );
    let change = |server: &Running<'_>, text: &str| {
        server.client_as(ADMIN, "ldapmodify", &[], text).well();
    };
    change(&servers[0], &(provide + &several));
    change(&servers[1], &several);
    settle(&servers, &["syncprov"], &[]);
    let schema = |number: usize| {
        format!(
            "dn: cn=extra{number},cn=schema,cn=config\nchangetype: add\nobjectClass: olcSchemaConfig\n\
             cn: extra{number}\nolcAttributeTypes: ( 1.3.6.1.4.1.4203.666.98.{number} \
             NAME 'extra{number}' SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 )\n\n"
        )
    };
    let global = |line: &str| {
        let (name, _) = line.split_once(':').expect("an attribute");
        format!("dn: cn=config\nchangetype: modify\nreplace: {name}\n{line}\n\n")
    };
    let overlay = |text: &str| {
        format!("dn: {OVERLAY}\nchangetype: modify\nreplace: olcSpSessionlog\n{text}\n\n")
    };
    change(&servers[0], &schema(1));
    change(&servers[1], &overlay("olcSpSessionlog: 100"));
    settle(&servers, &["'extra1'", "olcSpSessionlog: 100"], &[]);
    // Each changes while the other one is away.
    let [one, two] = servers;
    two.stop();
    change(
        &one,
        &(global("olcIdleTimeout: 500") + &overlay("olcSpSessionlog: 200")),
    );
    one.stop();
    let again = |at: usize| {
        let more = [urls[at].as_str()];
        stages[at].start_by(["-F", &stages[at].text("slapd.d")], &more)
    };
    let two = again(1);
    change(&two, &overlay("olcSpSessionlog: 300"));
    servers = [again(0), two];
    let seen = ["olcIdleTimeout: 500", "olcSpSessionlog: 300"];
    settle(&servers, &seen, &["olcSpSessionlog: 200"]);
    let gone = format!("dn: {OVERLAY}\nchangetype: delete\n\n");
    change(&servers[1], &gone);
    servers.into_iter().for_each(Running::stop);
}

/// Waits until two servers have the same entries, with some texts and without others.
fn settle(servers: &[Running<'_>; 2], seen: &[&str], unseen: &[&str]) {
    let begun = Instant::now();
    let all = [
        "-LLL",
        "-o",
        "ldif-wrap=no",
        "-b",
        "cn=config",
        "(!(cn=schema))",
    ];
    loop {
        let [one, two] = servers
            .each_ref()
            .map(|server| server.client_as(ADMIN, "ldapsearch", &all, "").well());
        let is_there = seen.iter().all(|text| one.contains(text));
        if one == two && is_there && !unseen.iter().any(|text| one.contains(text)) {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{one}\n---\n{two}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}
