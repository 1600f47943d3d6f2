//! The report of conflicts: a row of each kind, and its bounds.

use fulgurite_directory::{Conflict, ConflictKind, conflicts};
use fulgurite_ldap::{ContentAttribute, ContentChange};

use crate::accesslog;
use crate::replicated::{Copy, csn, reached, unit};
use crate::support::TOP;
use crate::sync_consumer::describe;

/// Returns a number of server 1, in the seconds after the start of the clock.
fn later(second: u32) -> String {
    format!("202601020304{second:02}.000000Z#000000#001#000000")
}

/// Returns the state of an entry with a number and a description.
fn state(uuid: u8, dn: &str, number: &str, text: &str) -> ContentChange {
    let mut state = unit(uuid, dn, 1);
    if let ContentChange::Entry(entry) = &mut state {
        for attribute in &mut entry.attributes {
            if attribute.description == "entryCSN" {
                attribute.values = vec![number.as_bytes().to_vec()];
            }
        }
        entry.attributes.push(ContentAttribute {
            description: "description".to_owned(),
            values: vec![text.as_bytes().to_vec()],
        });
    }
    state
}

fn deletion(uuid: u8, number: &str) -> ContentChange {
    ContentChange::Delete {
        uuid: [uuid; 16],
        csn: Some(number.to_owned()),
        ends: None,
    }
}

fn told(number: &str) -> ContentChange {
    ContentChange::Reached {
        csns: vec![number.to_owned()],
        replaces: false,
    }
}

fn apply(copy: &mut Copy, changes: &[ContentChange]) {
    let store = copy.world.store.path().to_owned();
    let directory = &copy.world.directory;
    let applied = directory.apply_content(&store, &mut copy.content, changes);
    applied.expect("a sound store");
}

fn report(copy: &Copy) -> Vec<Conflict> {
    let mut found = Vec::new();
    let read = conflicts(&copy.world.store, &mut |conflict| {
        found.push(conflict);
        true
    });
    read.expect("a sound store");
    found
}

fn kinds(copy: &Copy) -> Vec<ConflictKind> {
    report(copy).iter().map(|conflict| conflict.kind).collect()
}

fn a() -> String {
    format!("ou=a,{TOP}")
}

/// A copy among several, with one entry below the top.
fn copy() -> Copy {
    let mut copy = Copy::new(|_| {}, true);
    apply(&mut copy, &[unit(1, TOP, 1), unit(2, &a(), 2), reached(2)]);
    assert_eq!(kinds(&copy), []);
    copy
}

#[test]
fn a_change_that_loses_to_a_later_one_is_reported() {
    let mut copy = copy();
    describe(&copy.world, &a(), "ours");
    let own = copy.world.read(&a(), &["entryCSN"]).get("entryCSN")[0].to_owned();
    apply(
        &mut copy,
        &[state(2, &a(), &later(30), "theirs"), told(&later(30))],
    );
    let found = report(&copy);
    assert_eq!(kinds(&copy), [ConflictKind::Overwritten]);
    assert_eq!(found[0].winner, Some(later(30)));
    assert_eq!(found[0].loser, Some(own));
    assert!(found[0].ldif.contains("description: ours\n"), "{found:?}");
    // The same change once more, and a change that follows it, are none.
    apply(&mut copy, &[state(2, &a(), &later(30), "theirs")]);
    apply(
        &mut copy,
        &[state(2, &a(), &later(31), "theirs"), told(&later(31))],
    );
    assert_eq!(kinds(&copy).len(), 1);
    // Nor does a change lose that the provider knew.
    copy.world.clock.sleep_s(30);
    describe(&copy.world, &a(), "ours again");
    let own = copy.world.read(&a(), &["entryCSN"]).get("entryCSN")[0].to_owned();
    apply(&mut copy, &[told(&own)]);
    apply(
        &mut copy,
        &[state(2, &a(), &later(50), "later"), told(&later(50))],
    );
    assert_eq!(kinds(&copy).len(), 1);
    // A change that comes late loses, too.
    copy.world.clock.sleep_s(30);
    describe(&copy.world, &a(), "ours at last");
    apply(
        &mut copy,
        &[state(2, &a(), &later(55), "late"), told(&later(55))],
    );
    let found = report(&copy);
    assert_eq!(found.len(), 2);
    assert_eq!(found[1].loser, Some(later(55)));
    assert!(found[1].ldif.contains("description: late\n"), "{found:?}");
}

#[test]
fn an_entry_that_loses_its_name_is_reported() {
    let mut copy = copy();
    apply(&mut copy, &[state(3, &a(), &later(10), "newer")]);
    assert_eq!(
        kinds(&copy),
        [],
        "nothing is decided before the state covers it"
    );
    let uuid = copy.world.read(&a(), &["entryUUID"]).get("entryUUID")[0].to_owned();
    assert!(uuid.starts_with("0202"), "{uuid}");
    apply(&mut copy, &[told(&later(10))]);
    let found = report(&copy);
    assert_eq!(kinds(&copy), [ConflictKind::NameTaken]);
    assert_eq!((found[0].uuid, &found[0].loser), ([2; 16], &Some(csn(2))));
    assert!(
        found[0].ldif.starts_with(&format!("dn: {}\n", a())),
        "{found:?}"
    );
    let uuid = copy.world.read(&a(), &["entryUUID"]).get("entryUUID")[0].to_owned();
    assert!(uuid.starts_with("0303"), "{uuid}");
    apply(
        &mut copy,
        &[state(4, &a(), &later(5), "older"), told(&later(11))],
    );
    let found = report(&copy);
    assert_eq!(found.len(), 2);
    assert_eq!(
        (found[1].uuid, &found[1].winner),
        ([4; 16], &Some(later(10)))
    );
}

#[test]
fn deletions_against_changes_are_reported() {
    let mut copy = copy();
    describe(&copy.world, &a(), "ours");
    apply(&mut copy, &[deletion(2, &later(30)), told(&later(30))]);
    let found = report(&copy);
    assert_eq!(kinds(&copy), [ConflictKind::DeletedOverChange]);
    assert!(found[0].ldif.contains("description: ours\n"), "{found:?}");
    apply(
        &mut copy,
        &[state(2, &a(), &later(40), "back"), told(&later(40))],
    );
    let found = report(&copy);
    assert_eq!(found[1].kind, ConflictKind::Resurrected);
    assert_eq!(found[1].loser, Some(later(30)));
    copy.world.clock.sleep_s(45);
    describe(&copy.world, &a(), "later than the next deletion");
    apply(&mut copy, &[deletion(2, &later(41)), told(&later(41))]);
    let found = report(&copy);
    assert_eq!(found.len(), 3);
    assert_eq!(
        (found[2].kind, &found[2].loser),
        (ConflictKind::Resurrected, &Some(later(41)))
    );
}

#[test]
fn a_clock_that_is_ahead_is_reported() {
    let mut copy = copy();
    let ahead = "20260102031000.000000Z#000000#001#000000";
    apply(&mut copy, &[state(2, &a(), ahead, "ahead"), told(ahead)]);
    assert_eq!(kinds(&copy), [ConflictKind::ClockAhead]);
    assert_eq!(
        copy.world.read(&a(), &["description"]).get("description"),
        ["ahead"]
    );
}

#[test]
fn an_entry_that_cannot_be_stored_is_reported() {
    let mut copy = copy();
    let mut unknown = state(3, &format!("ou=b,{TOP}"), &later(1), "kept");
    if let ContentChange::Entry(entry) = &mut unknown {
        entry.attributes.push(ContentAttribute {
            description: "noSuchType".to_owned(),
            values: vec![b"x".to_vec()],
        });
    }
    apply(&mut copy, &[unknown, told(&later(1))]);
    let found = report(&copy);
    assert_eq!(kinds(&copy), [ConflictKind::Quarantined]);
    assert!(found[0].ldif.contains("noSuchType: x\n"), "{found:?}");
}

#[test]
fn the_report_has_bounds() {
    let mut copy = copy();
    let large = "x".repeat(600 << 10);
    for round in 0..40 {
        copy.world.clock.sleep_s(1);
        describe(&copy.world, &a(), &large);
        copy.world.clock.sleep_s(1);
        // The clock began at 03:04:05.
        let second = 7 + 2 * round;
        let (minute, second) = (4 + second / 60, second % 60);
        let number = format!("2026010203{minute:02}{second:02}.500000Z#000000#001#000000");
        apply(
            &mut copy,
            &[state(2, &a(), &number, "theirs"), told(&number)],
        );
    }
    let found = report(&copy);
    let bytes: usize = found.iter().map(|conflict| conflict.ldif.len()).sum();
    assert!(bytes > 8 << 20 && bytes <= 16 << 20, "{bytes}");
    assert!(found.is_sorted_by_key(|conflict| conflict.time_us));
    copy.world.clock.sleep_s(91 * 24 * 60 * 60);
    describe(&copy.world, &a(), "after a season");
    let number = "20260403030410.000000Z#000000#001#000000";
    apply(&mut copy, &[state(2, &a(), number, "theirs"), told(number)]);
    let left = report(&copy);
    assert!(left.len() <= 1, "the old ones are gone: {}", left.len());
}

/// A server that follows the log has done the deletion, which names the DN. The entry that is here
/// must come back there.
#[test]
fn a_log_tells_an_entry_again_that_its_deletion_may_have_taken() {
    let begin = |copy: &mut Copy| apply(copy, &[unit(1, TOP, 1), unit(2, &a(), 2), reached(2)]);
    let (first, second) = (later(1), later(2));
    let changed = state(2, &a(), &second, "changed");
    let twin = state(3, &a(), &second, "twin");
    for (label, changes) in [
        ("kept", [changed.clone(), deletion(2, &first)]),
        ("back", [deletion(2, &first), changed]),
        ("the name of another", [twin, told(&second)]),
    ] {
        let mut copy = Copy::logging();
        begin(&mut copy);
        apply(&mut copy, &changes);
        let shown = accesslog::records(&copy.world, "(objectClass=auditObject)");
        let newest = shown.last().expect("a record");
        let one = |name| newest.get(name).concat();
        let entry = copy.world.read(&a(), &["*", "+"]);
        assert_eq!(one("reqType"), "add", "{label}: {newest:?}");
        assert_eq!(one("reqDN"), a(), "{label}");
        assert_ne!(one("entryCSN"), second, "{label}: slapd has that number");
        for name in ["description", "entryCSN", "entryUUID", "objectClass", "ou"] {
            for value in entry.get(name) {
                let told = format!("{name}:+ {value}");
                assert!(
                    newest.get("reqMod").contains(&told.as_str()),
                    "{label}: {told}"
                );
            }
        }
    }
}
