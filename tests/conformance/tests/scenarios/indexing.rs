//! Index changes during service, and after a stop in their midst.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fulgurite_config::{Layer, Settings};
use fulgurite_store::{Store, StoreOptions, verify};

use crate::data::SUFFIX;
use crate::stage::{Stage, is_ours, ran};

fn people(from: usize, count: usize) -> String {
    let person = |n: usize| {
        format!(
            "dn: uid=u{n},{SUFFIX}\nobjectClass: inetOrgPerson\nuid: u{n}\ncn: Person {n}\nsn: {}\n\
             mail: person{n}@example.com\n\n",
            n % 7
        )
    };
    (from..from + count).map(person).collect()
}

fn index(stage: &Stage, arguments: &[&str]) -> Command {
    let mut command = Command::new(fulgurite_conformance::program());
    command
        .args(["index", "--data"])
        .arg(stage.path("db"))
        .args(arguments);
    command.stdin(Stdio::null());
    command
}

/// Every index against every entry.
#[track_caller]
fn assert_sound(stage: &Stage) {
    let layer = Layer::from_slapd_conf(&stage.path("slapd.conf")).expect("slapd.conf");
    let settings = Settings::new(layer).expect("the settings");
    let schema = Arc::new(fulgurite_server::schema(&settings).expect("the schema"));
    let store = Store::open(&stage.path("db"), &StoreOptions::default(), schema);
    let store = store.expect("the store");
    let report = verify(&store.snapshot().expect("a view")).expect("a check");
    assert!(
        report.is_clean() && report.entries > 0,
        "{:#?}",
        report.problems
    );
}

fn status(stage: &Stage) -> String {
    ran(&mut index(stage, &["--status"]), "").well()
}

#[test]
fn an_index_is_built_beside_reads_and_writes_and_survives_kills() {
    if !is_ours() {
        return;
    }
    let stage = Stage::usual("index", "");
    let top = format!("dn: {SUFFIX}\nobjectClass: domain\ndc: example\n\n");
    stage.add(&(top + &people(0, 3000))).well();
    let server = stage.start();
    // Killed again and again, the work goes on where it stood; the server works on it too.
    for round in 0..3 {
        let mut child = index(&stage, &["--add", "mail:eq,sub", "--add", "sn:eq", "-q"])
            .stderr(Stdio::null())
            .spawn()
            .expect("start it");
        let begun = Instant::now();
        while !status(&stage).contains("mail:") && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = child.kill();
        let _ = child.wait();
        let first = 10_000 + round * 10;
        server.root("ldapadd", &[], &people(first, 5)).well();
        let found = server.search(&[&format!("(mail=person{first}@example.com)"), "1.1"]);
        assert!(found.contains("dn: uid=u10"), "{found}");
    }
    let begun = Instant::now();
    while !status(&stage).contains("mail:eq,sub  complete") || status(&stage).contains("being") {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "{}",
            status(&stage)
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    let found = server.search(&["(mail=person2999@example.com)", "1.1"]);
    assert!(found.contains("dn: uid=u2999,"), "{found}");
    ran(&mut index(&stage, &["--remove", "sn", "-q"]), "").well();
    assert!(!status(&stage).contains("sn:"), "{}", status(&stage));
    assert!(
        server
            .search(&["(mail=*son1234@*)", "1.1"])
            .contains("dn: uid=u1234,")
    );
    server.stop();
    assert_sound(&stage);
    assert!(
        stage.log().contains("index"),
        "the server says what it does: {}",
        stage.log()
    );
}

#[test]
fn a_changed_configuration_changes_the_indexes() {
    if !is_ours() {
        return;
    }
    let stage = Stage::usual("index-conf", "index sn eq");
    let top = format!("dn: {SUFFIX}\nobjectClass: domain\ndc: example\n\n");
    stage.add(&(top + &people(0, 500))).well();
    assert!(
        status(&stage).contains("sn:eq  complete"),
        "{}",
        status(&stage)
    );
    stage.configure(&stage.database("db", SUFFIX, "index mail eq"));
    let server = stage.start();
    let begun = Instant::now();
    while status(&stage).contains("sn:") || !status(&stage).contains("mail:eq  complete") {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "{}",
            status(&stage)
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(
        server
            .search(&["(mail=person77@example.com)", "1.1"])
            .contains("dn: uid=u77,")
    );
    server.stop();
    assert_sound(&stage);
}
