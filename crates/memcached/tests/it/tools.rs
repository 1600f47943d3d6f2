//! The tools of an environment on a cache that another process serves meanwhile.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fulgurite_engine_tools::{
    BackupOutcome, CheckOptions, CheckSettings, CompactOptions, TopOptions, Verdict, backup,
    check_pages, compact, restore, stat, top, write_check,
};
use fulgurite_testkit::Scratch;

use crate::kills::start_child;
use crate::world::{Client, Running, options};

/// Items that stay as they are while the tools run.
const ITEMS: usize = 2_000;

fn check(path: &Path) -> Verdict {
    let settings = CheckSettings {
        path: path.to_owned(),
        options: CheckOptions::default(),
        json: false,
        quiet: true,
        progress: false,
    };
    let checked = check_pages(&settings).expect("a check");
    let mut findings = Vec::new();
    let verdict = write_check(&checked, None, &settings, &mut findings).expect("a text");
    assert_eq!(String::from_utf8_lossy(&findings), "");
    verdict
}

fn set(number: usize) -> String {
    format!("set k{number} 0 0 500\r\n{number:0500}\r\n")
}

/// Stores and deletes items of another name until the tools are done. Returns the rounds.
fn disturb(client: &mut Client, is_over: &AtomicBool) -> u64 {
    let mut rounds = 0;
    while !is_over.load(Ordering::Relaxed) {
        let value = "x".repeat(3_000);
        let number = rounds % 500;
        let asked = format!("set w{number} 0 0 3000\r\n{value}\r\nget w{number}\r\n");
        let answer = client.ask(asked);
        assert!(answer.starts_with("STORED\r\nVALUE w"), "{answer}");
        if rounds % 3 == 0 {
            client.ask(format!("delete w{number}\r\n"));
        }
        rounds += 1;
    }
    rounds
}

fn use_tools(data: &Path, scratch: &Scratch) {
    let mut shown = Vec::new();
    stat(data, false, &mut shown).expect("facts");
    assert!(String::from_utf8_lossy(&shown).contains("items"));
    shown.clear();
    let once = TopOptions {
        interval: Duration::from_millis(20),
        once: true,
        is_terminal: false,
    };
    top(data, &once, &mut shown).expect("a report");
    assert!(!shown.is_empty());
    let backups = scratch.join("backups");
    for _ in 0..3 {
        let outcome = backup(data, &backups, false, &mut |_| {}).expect("a backup");
        assert!(matches!(outcome, BackupOutcome::Written(_)), "{outcome:?}");
        assert_eq!(check(data), Verdict::Sound);
    }
    let choices = CompactOptions {
        until_bytes: 0,
        punch: false,
        wait: Duration::from_millis(200),
        pause: Duration::ZERO,
    };
    compact(data, choices, &mut |_| {}).expect("a compaction");
    assert_eq!(check(data), Verdict::Sound);
}

#[test]
fn tools_work_on_a_cache_that_is_served() {
    let scratch = Scratch::new("memcached");
    let child = start_child(scratch.path());
    let data = scratch.join("data");
    let mut client = Client::unix(&child.socket);
    for number in 0..ITEMS {
        assert_eq!(client.ask(set(number)), "STORED\r\n");
        // Room for a compaction.
        client.ask(format!("set gone{number} 0 -1 500\r\n{number:0500}\r\n"));
    }
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let mut other = Client::unix(&child.socket);
        let disturbing = scope.spawn({
            let is_over = &is_over;
            move || disturb(&mut other, is_over)
        });
        let tools = std::panic::catch_unwind(|| use_tools(&data, &scratch));
        is_over.store(true, Ordering::Relaxed);
        let rounds = disturbing.join().expect("a client");
        assert!(tools.is_ok());
        assert!(rounds > 0);
    });
    let all_there = |client: &mut Client| {
        for number in 0..ITEMS {
            let expected = format!("VALUE k{number} 0 500\r\n{number:0500}\r\nEND\r\n");
            assert_eq!(client.ask(format!("get k{number}\r\n")), expected);
        }
    };
    all_there(&mut client);
    drop(child);
    // A cache from a backup serves too.
    let restored = scratch.join("restored");
    let backups = scratch.join("backups");
    restore(&backups, &restored, false, None, &mut |_| {}).expect("a cache");
    assert_eq!(check(&restored), Verdict::Sound);
    let server = Running::start(&options(&restored));
    all_there(&mut server.client());
}
