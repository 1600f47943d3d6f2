//! Changes that a copy refuses, in the middle of a full batch.

use fulgurite_ldap::ContentChange;

use crate::filled::fill;
use crate::replicated::{Copy, attribute, reached, unit};
use crate::support::TOP;
use crate::sync_consumer::{EVERYTHING, content};

/// Changes of a batch, as many as the server gathers.
const CHANGES: u32 = 512;

/// Every so often a change is refused.
const EVERY: u32 = 16;

/// The largest entry that the copy accepts, in bytes.
const ENTRY_BYTES_MAX: u64 = 2_000;

fn numbered(number: u32, dn: &str) -> ContentChange {
    let mut state = unit(1, dn, number);
    if let ContentChange::Entry(entry) = &mut state {
        entry.uuid[..4].copy_from_slice(&number.to_be_bytes());
    }
    state
}

fn with(mut change: ContentChange, name: &str, value: &str) -> ContentChange {
    if let ContentChange::Entry(entry) = &mut change {
        entry.attributes.push(attribute(name, &[value]));
    }
    change
}

fn name(number: u32) -> String {
    format!("ou={number},{TOP}")
}

/// Returns a change that no copy of this schema and size can store.
fn refused(number: u32) -> ContentChange {
    let free = name(number);
    match number / EVERY % 6 {
        0 => with(numbered(number, &free), "noSuchType", "x"),
        1 => with(numbered(number, &free), "sn", "x"),
        2 => with(numbered(number, &free), "description", &"x".repeat(3_000)),
        3 => numbered(number, "dc=elsewhere"),
        // It takes the name of another entry before it is refused.
        4 => with(numbered(number, &name(number - 1)), "sn", "x"),
        // It would make glue first.
        _ => with(
            numbered(number, &format!("ou=x,ou=glue{number},{TOP}")),
            "description",
            &"x".repeat(3_000),
        ),
    }
}

/// Returns a batch, and how many of its changes are refused.
fn batch() -> (Vec<ContentChange>, u64) {
    let mut refusals = 0;
    let change = |number: u32| {
        if number.is_multiple_of(EVERY) {
            refusals += 1;
            return refused(number);
        }
        match number % 5 {
            // Entries that are there already.
            0 if !(number - 4).is_multiple_of(EVERY) => {
                with(numbered(number - 4, &name(number - 4)), "description", "y")
            }
            // The entry above may have been refused.
            1 if number > EVERY => {
                numbered(number, &format!("ou=x,{}", name(number / EVERY * EVERY)))
            }
            _ => numbered(number, &name(number)),
        }
    };
    let mut changes: Vec<_> = (2..CHANGES).map(change).collect();
    changes.push(reached(CHANGES));
    (changes, refusals)
}

fn empty_copy(multi_provider: bool) -> Copy {
    Copy::with_store(
        |settings| settings.schema_checking = true,
        multi_provider,
        |options| options.entry_bytes_max = Some(ENTRY_BYTES_MAX),
    )
}

fn new_copy(multi_provider: bool) -> Copy {
    let mut copy = empty_copy(multi_provider);
    copy.apply(&[unit(1, TOP, 1), reached(1)]);
    copy
}

fn assert_same(one: &Copy, other: &Copy, refusals: u64) {
    assert_eq!(
        content(&one.world, &EVERYTHING),
        content(&other.world, &EVERYTHING)
    );
    // How often the server itself numbers a place depends on the batches.
    let told = |copy: &Copy| {
        let state = copy.state().into_iter();
        state
            .filter(|csn| csn.contains("#001#"))
            .collect::<Vec<_>>()
    };
    assert_eq!(told(one), told(other));
    for copy in [one, other] {
        let count = copy.world.directory.databases()[0].quarantined_count(1);
        assert_eq!(count.expect("a sound store"), refusals);
        let view = copy.world.store.snapshot().expect("a snapshot");
        let report = fulgurite_store::verify(&view).expect("a sound store");
        assert!(report.is_clean(), "{report:?}");
    }
}

#[test]
fn refused_changes_of_a_batch_cost_no_other() {
    for multi_provider in [false, true] {
        let (changes, refusals) = batch();
        let mut together = new_copy(multi_provider);
        let report = together.apply(&changes);
        assert_eq!(report.quarantined, refusals, "{report:?}");
        assert_eq!(report.applied, changes.len() as u64 - refusals);
        assert_eq!(report.state, Some(together.state()));
        let mut singly = new_copy(multi_provider);
        for change in &changes {
            singly.apply(std::slice::from_ref(change));
        }
        assert_same(&together, &singly, refusals);
        // The copy does not get stuck: the next batch is stored, and ends the wait of one entry.
        let more = [numbered(EVERY, &name(EVERY)), reached(CHANGES + 1)];
        for copy in [&mut together, &mut singly] {
            copy.apply(&more);
        }
        assert_same(&together, &singly, refusals - 1);
    }
}

#[test]
fn refused_changes_of_a_first_refresh_cost_no_other() {
    for multi_provider in [false, true] {
        let (mut changes, refusals) = batch();
        changes.splice(0..0, [ContentChange::BeginRefresh, unit(1, TOP, 1)]);
        let [mut filled, mut together] = [(); 2].map(|()| empty_copy(multi_provider));
        fill(&mut filled, &[changes.clone()]);
        together.apply(&changes);
        assert_same(&filled, &together, refusals);
    }
}
