//! Row 4 of the interop matrix: access logs that are purged while nobody writes. A copy that was
//! changed by hand is repaired.

use std::time::{Duration, Instant};

use fulgurite_testkit::{Random, seed};

use crate::copies::{PATIENCE, Updates, assert_equal_dumps, log_of, wait_for};
use crate::data::SUFFIX;
use crate::faulty_copies::{Program, Way, consumer, dump, provider};
use crate::proxy::Proxy;
use crate::stage::{Running, Stage, is_ours};

/// Lets the log of a provider keep two seconds.
fn purge_soon(stage: &Stage) {
    let text = std::fs::read_to_string(stage.path("slapd.conf")).expect("the configuration");
    let lines = "logsuccess TRUE\n";
    assert!(text.contains(lines), "{text}");
    let purged = text.replace(lines, &format!("{lines}logpurge 00:00:02 00:00:01\n"));
    stage.file("slapd.conf", &purged);
}

/// Waits until a log has no records.
fn wait_until_purged(server: &Running<'_>) {
    let begun = Instant::now();
    loop {
        let records = ["-LLL", "-b", "cn=log", "(reqStart=*)", "1.1"];
        let found = server.root("ldapsearch", &records, "").well();
        if found.trim().is_empty() {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "the log stays: {found}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Lets a copy follow a log that is purged under it, and behind its back.
fn follow_purged(programs: (Program, Program)) {
    let seed = seed("purged logs", 4533);
    let label = format!("purged-{:?}-{:?}", programs.0, programs.1);
    println!("seed {seed}, {label}");
    let provider = provider(&label, programs.0, Way::Log, "").expect("a program");
    purge_soon(&provider.stage);
    let copy = consumer(&label, programs.1, Way::Log, provider.port.number()).expect("a program");
    let theirs = provider.start();
    let mut ours = copy.start();
    let mut updates = Updates::new(&provider, Random::new(seed));
    for round in 0..2 {
        updates.run(40);
        wait_for(&theirs, &ours, &copy);
        wait_until_purged(&theirs);
        // The copy has all of it, and goes on.
        updates.run(10);
        wait_for(&theirs, &ours, &copy);
        if round == 0 {
            ours.stop();
            updates.run(40);
            wait_until_purged(&theirs);
            ours = copy.start();
            wait_for(&theirs, &ours, &copy);
        }
    }
    drop(updates);
    ours.stop();
    theirs.stop();
    assert_equal_dumps(&dump(&provider.stage), &dump(&copy), &copy);
}

#[test]
fn slapd_follows_our_log_that_is_purged() {
    if is_ours() {
        follow_purged((Program::Ours, Program::Slapd));
    }
}

#[test]
fn our_server_follows_the_log_of_slapd_that_is_purged() {
    if is_ours() {
        follow_purged((Program::Slapd, Program::Ours));
    }
}

/// Returns a dump in which an entry has other values, and all of its stamps.
fn damaged(dump: &str, victim: &str) -> String {
    let dump = dump.replace("\n ", "");
    let entries = dump.split("\n\n").filter(|entry| !entry.trim().is_empty());
    let entries = entries.map(|entry| {
        if !entry.starts_with(&format!("dn: {victim}\n")) {
            return format!("{entry}\n\n");
        }
        let lines = entry.lines().filter(|line| *line != "description: two");
        let lines = lines.map(|line| match line {
            "description: one" => "description: wrong\n".to_owned(),
            "sn: x" => "sn: wrong\n".to_owned(),
            line => format!("{line}\n"),
        });
        lines.collect::<String>() + "\n"
    });
    entries.collect()
}

/// Damages one entry of a copy. A change of the provider does not fit then.
fn repair(program: Program) {
    let seed = seed("tampered copies", 4533);
    let label = format!("tampered-{program:?}");
    println!("seed {seed}, {label}");
    let provider = provider(&label, program, Way::Log, "").expect("a program");
    let proxy = Proxy::new(provider.port.number());
    let copy = consumer(&label, Program::Ours, Way::Log, proxy.port).expect("a program");
    let theirs = provider.start();
    let ours = copy.start();
    let mut updates = Updates::new(&provider, Random::new(seed));
    updates.run(80);
    let victim = format!("cn=victim,{SUFFIX}");
    let entry =
        format!("dn: {victim}\nobjectClass: person\nsn: x\ndescription: one\ndescription: two\n");
    theirs.root("ldapadd", &[], &entry).well();
    wait_for(&theirs, &ours, &copy);
    ours.stop();
    // A load keeps stamps and state, so no number says that the entry has changed.
    let damaged = damaged(&dump(&copy), &victim);
    let folder = copy.path("db");
    std::fs::remove_dir_all(&folder).expect("remove the copy");
    std::fs::create_dir(&folder).expect("make its folder");
    copy.add(&damaged).well();
    assert!(dump(&copy).contains("description: wrong"), "it is damaged");
    let before = proxy.entries();
    let ours = copy.start();
    let change =
        format!("dn: {victim}\nchangetype: modify\ndelete: description\ndescription: two\n-\n\n");
    theirs.root("ldapmodify", &[], &change).well();
    wait_for(&theirs, &ours, &copy);
    updates.run(20);
    wait_for(&theirs, &ours, &copy);
    let sent = proxy.entries() - before;
    drop(updates);
    let log = log_of(&copy);
    ours.stop();
    theirs.stop();
    assert_equal_dumps(&dump(&provider.stage), &dump(&copy), &copy);
    // The record, the entry, and the twenty updates; each may have moved entries.
    assert!(
        sent < 40,
        "{sent} entries were sent: a whole refresh?\n{log}"
    );
    assert!(log.contains("reading the entries again"), "{log}");
}

#[test]
fn a_copy_of_slapd_repairs_an_entry() {
    if is_ours() {
        repair(Program::Slapd);
    }
}

#[test]
fn a_copy_of_our_server_repairs_an_entry() {
    if is_ours() {
        repair(Program::Ours);
    }
}
