//! Row 6 of the interop matrix: refreshes that break off in the middle.
//!
//! ```text
//!   our provider --> ways that break after some entries --> copies: ours, slapd 2.5, slapd 2.4
//! ```
//! A first refresh begins anew. In a later one our provider tells a cookie after each thousand
//! entries, which slapd stores as well. So less than a tenth of the entries is sent twice. A copy
//! that was away gets what has changed, and no more.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::copies::{PATIENCE, Provider, assert_equal_dumps, wait_for};
use crate::data::SUFFIX;
use crate::faulty_copies::{Program, Way, consumer, dump, provider};
use crate::proxy::{Fault, Proxy};
use crate::stage::{Running, Stage, is_ours};

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

/// A copy behind a way that breaks.
struct BrokenCopy {
    label: String,
    stage: Stage,
    proxy: Proxy,
}

impl BrokenCopy {
    /// Configures one, if its program is there.
    fn new(program: Program, provider: &Provider) -> Option<BrokenCopy> {
        let label = format!("interrupted-{program:?}");
        let proxy = Proxy::new(provider.port.number());
        let Some(stage) = consumer(&label, program, Way::Persist, proxy.port) else {
            println!("{label}: slapd 2.4 is not unpacked");
            return None;
        };
        Some(BrokenCopy {
            label,
            stage,
            proxy,
        })
    }

    /// Follows until the copy is equal. Returns the number of entries that came.
    fn follow(&self, theirs: &Running<'_>, break_after: Option<u64>) -> u64 {
        let before = self.proxy.entries();
        if let Some(entries) = break_after {
            self.proxy.refuse_after(entries);
        }
        let ours = self.stage.start();
        if break_after.is_some() {
            mend_after_break(&self.proxy);
        }
        wait_for(theirs, &ours, &self.stage);
        let sent = self.proxy.entries() - before;
        println!("{}: {sent} entries", self.label);
        ours.stop();
        sent
    }
}

/// Lets all copies do something at once: they wait more than they work.
fn at_once(copies: &[BrokenCopy], action: impl Fn(&BrokenCopy) + Sync) {
    std::thread::scope(|scope| {
        for copy in copies {
            let action = &action;
            scope.spawn(move || action(copy));
        }
    });
}

#[test]
fn copies_go_on_where_they_were() {
    if !is_ours() {
        return;
    }
    let provider = provider("interrupted", Program::Ours, Way::Persist, "").expect("our program");
    let file = provider.stage.file("people.ldif", &people());
    let added = provider.stage.tool("a", &["-b", SUFFIX, "-l", &file], "");
    added.well();
    let programs = [Program::Ours, Program::Slapd, Program::Older];
    let copies = programs.map(|program| BrokenCopy::new(program, &provider));
    let copies: Vec<BrokenCopy> = copies.into_iter().flatten().collect();
    let theirs = provider.start();
    at_once(&copies, |copy| {
        let sent = copy.follow(&theirs, Some(HALF));
        let label = &copy.label;
        assert_eq!(sent, HALF + PEOPLE + TOP, "{label}: it begins anew");
    });
    change_people(&theirs, PEOPLE, "all");
    at_once(&copies, |copy| {
        let sent = copy.follow(&theirs, Some(BREAK));
        let label = &copy.label;
        assert!(sent >= PEOPLE, "{label}: {sent} entries");
        assert!(sent < PEOPLE + PEOPLE / 10, "{label}: {sent} entries");
    });
    change_people(&theirs, CHANGED, "some");
    at_once(&copies, |copy| {
        let sent = copy.follow(&theirs, None);
        assert_eq!(sent, CHANGED, "{}: the changed ones", copy.label);
    });
    theirs.stop();
    for copy in &copies {
        assert_equal_dumps(&dump(&provider.stage), &dump(&copy.stage), &copy.stage);
    }
}
