//! Row 6 of the interop matrix: refreshes that break off in the middle.
//!
//! ```text
//!   our provider --> way that breaks after some entries --> copy
//! ```
//! A first refresh begins anew. In a later one our provider tells a cookie after each thousand
//! entries, which slapd stores as well. So less than a tenth of the entries is sent twice. A copy
//! that was away gets what has changed, and no more.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::copies::{PATIENCE, assert_equal_dumps, wait_for};
use crate::data::SUFFIX;
use crate::faulty_copies::{Program, Way, consumer, dump, provider};
use crate::proxy::{Fault, Proxy};
use crate::stage::{Running, is_ours};

/// The people of the provider.
const PEOPLE: u64 = 2_500;
/// The number of them after which a first refresh breaks.
const HALF: u64 = PEOPLE / 2;
/// The number after which a later refresh breaks. The last cookie came a hundred before it.
const BREAK: u64 = 2_100;
/// The entries above them.
const TOP: u64 = 4;
/// One percent of them.
const CHANGED: u64 = PEOPLE / 100;

fn person(number: u64) -> String {
    format!("cn=person {number},ou=a,{SUFFIX}")
}

fn people() -> String {
    let mut text = String::new();
    for number in 0..PEOPLE {
        let name = person(number);
        let _ = write!(
            text,
            "dn: {name}\nobjectClass: person\ncn: person {number}\nsn: {number}\n\n"
        );
    }
    text
}

fn change(people: &[u64], text: &str) -> String {
    let mut changes = String::new();
    for number in people {
        let name = person(*number);
        let _ = write!(
            changes,
            "dn: {name}\nchangetype: modify\nreplace: description\ndescription: {text}\n-\n\n"
        );
    }
    changes
}

/// Waits until the way has broken, and mends it. A copy stores what it got before it comes back.
fn mend_after_break(proxy: &Proxy) {
    let begun = Instant::now();
    while !proxy.has_broken() {
        assert!(begun.elapsed() < PATIENCE, "enough entries come");
        std::thread::sleep(Duration::from_millis(10));
    }
    proxy.set(Fault::None);
}

/// Changes the first people, some hundred by each client.
fn change_people(server: &Running<'_>, count: u64, text: &str) {
    let all: Vec<u64> = (0..count).collect();
    for part in all.chunks(250) {
        let changes = change(part, text);
        server.root("ldapmodify", &[], &changes).well();
    }
}

/// Breaks refreshes of a copy, and counts the entries that come.
fn interrupt(program: Program) {
    if !is_ours() {
        return;
    }
    let label = format!("interrupted-{program:?}");
    let provider = provider(&label, Program::Ours, Way::Persist, "").expect("our program");
    let file = provider.stage.file("people.ldif", &people());
    let added = provider.stage.tool("a", &["-b", SUFFIX, "-l", &file], "");
    added.well();
    let proxy = Proxy::new(provider.port.number());
    let Some(copy) = consumer(&label, program, Way::Persist, proxy.port) else {
        return println!("{label}: slapd 2.4 is not unpacked");
    };
    let theirs = provider.start();
    proxy.refuse_after(HALF);
    let ours = copy.start();
    mend_after_break(&proxy);
    wait_for(&theirs, &ours, &copy);
    let all = PEOPLE + TOP;
    assert_eq!(proxy.entries(), HALF + all, "a first refresh begins anew");
    ours.stop();
    change_people(&theirs, PEOPLE, "all");
    let before = proxy.entries();
    proxy.refuse_after(BREAK);
    let ours = copy.start();
    mend_after_break(&proxy);
    wait_for(&theirs, &ours, &copy);
    let sent = proxy.entries() - before;
    println!("{label}: {sent} entries for {PEOPLE} changes");
    assert!(sent >= PEOPLE, "all entries came through the proxy");
    assert!(sent < PEOPLE + PEOPLE / 10, "{sent} entries were sent");
    ours.stop();
    change_people(&theirs, CHANGED, "some");
    let before = proxy.entries();
    let ours = copy.start();
    wait_for(&theirs, &ours, &copy);
    assert_eq!(proxy.entries() - before, CHANGED, "the changed ones");
    ours.stop();
    theirs.stop();
    assert_equal_dumps(&dump(&provider.stage), &dump(&copy), &copy);
}

#[test]
fn our_copy_goes_on_where_it_was() {
    interrupt(Program::Ours);
}

#[test]
fn a_copy_of_slapd_goes_on_where_it_was() {
    interrupt(Program::Slapd);
}

#[test]
fn a_copy_of_older_slapd_goes_on_where_it_was() {
    interrupt(Program::Older);
}
