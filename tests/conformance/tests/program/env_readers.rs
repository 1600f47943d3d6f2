//! `fulgurite env stat` and `env top` next to live processes, of the original library too.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use fulgurite_conformance::{failure, fulgurite, path, run};
use fulgurite_testkit::{Peer, Scratch, c_peer};

/// An environment with a named database, a reader on an old snapshot, and some commits since.
fn environment(scratch: &Scratch) -> (Peer, Peer) {
    let (mut writer, mut reader) = (c_peer(), c_peer());
    for peer in [&mut writer, &mut reader] {
        peer.must(&format!("open {} nosync", scratch.path().display()));
    }
    writer.must("write");
    writer.must("create things lexical");
    writer.must("fill things 0 200 300 1");
    writer.must("commit");
    reader.must("read 0");
    for round in 0..12 {
        writer.must("write");
        writer.must(&format!("fill things {} 30 300 {round}", round * 10));
        writer.must("commit");
    }
    (writer, reader)
}

fn text(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the message of a refusal.
fn said(arguments: &[&str]) -> String {
    let (status, text) = failure(&run(arguments));
    assert_eq!(status, 1, "{text}");
    text
}

/// The value of a key that comes once in a line of JSON.
fn number(json: &str, key: &str) -> u64 {
    let behind = json.split(&format!("\"{key}\":")).nth(1);
    let digits = behind.unwrap_or_else(|| panic!("no {key} in {json}"));
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap();
    digits[..end]
        .parse()
        .unwrap_or_else(|_| panic!("{key} in {json}"))
}

#[test]
fn stat_shows_what_a_reader_holds_back() {
    let scratch = Scratch::new("env-stat");
    let (mut writer, mut reader) = environment(&scratch);
    let at = path(scratch.path());
    let shown = text(&["env", "stat", at]);
    let pid = reader.pid().to_string();
    let line = shown
        .lines()
        .find(|line| line.trim_start().starts_with(&pid));
    let words: Vec<&str> = line.expect("the reader").split_whitespace().collect();
    // Of the original's readers nobody knows the age; their lag and pages are known all the same.
    assert_eq!(words[3..6], ["1", "-", "12"], "{shown}");
    assert_eq!(words[6], words[7], "it is the only one");
    assert_eq!(words[8], "reads");
    assert!(
        shown.contains("        200 ") && shown.contains("  things\n"),
        "{shown}"
    );

    let json = text(&["env", "stat", "--json", at]);
    let held = number(&json, "held_by_readers");
    assert!(held > 50 && words[6] == held.to_string(), "{json}\n{shown}");
    assert_eq!(
        number(&json, "all"),
        held + number(&json, "usable") + number(&json, "resting")
    );
    assert_eq!(number(&json, "last_transaction"), 13);
    assert!(json.contains("\"name\":\"things\"") && json.contains("\"age_seconds\":null"));
    reader.must("end 0");
    let json = text(&["env", "stat", "--json", at]);
    assert_eq!(number(&json, "held_by_readers"), 0);
    assert!(number(&json, "usable") >= held);
    // Nobody was disturbed, and no slot was left behind.
    writer.must("write");
    writer.must("put - 61 62");
    writer.must("commit");
    assert_eq!(writer.must("check"), "0");
}

#[test]
fn top_shows_the_living_the_dead_and_the_writer() {
    let scratch = Scratch::new("env-top");
    let (mut writer, mut reader) = environment(&scratch);
    let at = path(scratch.path());
    let look = || text(&["env", "top", at, "--once", "--interval", "0.05"]);
    let shown = look();
    assert!(
        shown.contains("writer none  readers 1, idle 0, dead 0"),
        "{shown}"
    );
    assert!(shown.contains("0.0 commits/s  +0B/s"), "{shown}");
    writer.must("write");
    let shown = look();
    let expected = format!("writer thread {} ", writer.pid());
    assert!(shown.contains(&expected), "{shown}");
    writer.must("abort");
    reader.kill();
    let shown = look();
    assert!(shown.contains("dead 1"), "{shown}");
    assert!(
        shown.lines().any(|line| line.ends_with("  dead")),
        "{shown}"
    );
    assert_eq!(writer.must("check"), "1", "top has cleared nothing");
    assert!(look().contains("readers 0, idle 0, dead 0"));
}

#[test]
fn top_goes_on_in_lines_and_counts_commits() {
    let scratch = Scratch::new("env-top-lines");
    let (mut writer, _reader) = environment(&scratch);
    let at = path(scratch.path());
    let mut top = fulgurite()
        .args(["env", "top", at, "--interval", "0.2"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(top.stdout.take().unwrap()).lines();
    let mut rates = Vec::new();
    for line in lines.map_while(Result::ok) {
        assert!(!line.contains('\x1b'), "{line}");
        if let Some((_, behind)) = line.split_once("  transaction ")
            && let Some(rate) = behind.split_whitespace().nth(1)
        {
            rates.push(rate.parse::<f64>().unwrap());
            if rates.len() == 6 {
                break;
            }
            for _ in 0..5 {
                writer.must("write");
                writer.must("fill things 0 3 300 1");
                writer.must("commit");
            }
        }
    }
    // The pipe is closed now: that is the end of it.
    let status = top.wait().unwrap();
    assert!(status.success(), "{status:?}");
    assert!(rates.iter().any(|rate| *rate > 5.0), "{rates:?}");
}

/// Where no slot is left for the tool, all that needs none is shown.
#[test]
fn a_full_reader_table_does_not_keep_top_from_looking() {
    let scratch = Scratch::new("env-top-full");
    let mut peer = c_peer();
    peer.must(&format!(
        "open {} nosync readers=2",
        scratch.path().display()
    ));
    peer.must("write");
    peer.must("put - 61 62");
    peer.must("commit");
    let slots: u32 = peer
        .must("info")
        .split(' ')
        .nth(3)
        .unwrap()
        .parse()
        .unwrap();
    let mut others = Vec::new();
    peer.must("read 0");
    loop {
        let mut other = c_peer();
        other.must(&format!("open {} nosync", scratch.path().display()));
        if other.ask("read 0").is_err() {
            break;
        }
        others.push(other);
        assert!(others.len() < 200, "{slots} slots");
    }
    let at = path(scratch.path());
    let shown = text(&["env", "top", at, "--once", "--interval", "0.05"]);
    assert!(shown.contains("free unknown"), "{shown}");
    assert!(
        shown.contains(&format!("readers {}, ", others.len() + 1)),
        "{shown}"
    );
    let refused = said(&["env", "stat", at]);
    assert!(refused.contains("reader slots are in use"), "{refused}");
}

#[test]
fn an_environment_that_is_not_there_is_named() {
    let scratch = Scratch::new("env-none");
    let at = path(scratch.path());
    for tool in ["stat", "top"] {
        let text = said(&["env", tool, at]);
        assert!(
            text.contains("cannot open") && text.contains("data.mdb"),
            "{text}"
        );
    }
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
}
