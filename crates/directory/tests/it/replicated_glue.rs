//! Entries that get a name which glue has, where both have children of the same names.

use fulgurite_ldap::ContentChange;

use crate::replicated::{Copy, reached, unit};
use crate::support::TOP;

/// The entries with equal RDNs below glue and below the newcomer.
#[derive(Clone, Copy, Debug)]
struct Twins {
    /// Numbers of the one below glue, and of the one below the newcomer.
    numbers: (u32, u32),
    /// True if the one has children, and the other.
    have_children: (bool, bool),
}

/// Lets an entry get the name of glue. Returns the names afterwards.
fn replace_glue(twins: Twins) -> Vec<String> {
    let mut copy = Copy::new(|_| {}, true);
    let name = |rdns: &str| format!("{rdns},{TOP}");
    let (below_glue, below_entry) = twins.numbers;
    let mut changes = vec![
        unit(1, TOP, 1),
        unit(2, &name("ou=x,ou=b"), below_glue),
        unit(3, &name("ou=a"), 2),
        unit(4, &name("ou=x,ou=a"), below_entry),
    ];
    if twins.have_children.0 {
        changes.push(unit(5, &name("ou=y,ou=x,ou=b"), 5));
    }
    if twins.have_children.1 {
        changes.push(unit(6, &name("ou=z,ou=x,ou=a"), 6));
    }
    changes.push(reached(20));
    let report = copy.apply(&changes);
    assert_eq!(report.quarantined, 0, "{report:?}");
    let renamed = unit(3, &name("ou=b"), 21);
    let report = copy.apply(&[renamed.clone(), reached(21)]);
    assert_eq!(
        (report.quarantined, report.conflicts),
        (0, 1),
        "{twins:?}: {report:?}"
    );
    let uuid = copy.world.read(&name("ou=x,ou=b"), &["entryUUID"]);
    let winner = if below_glue > below_entry { "02" } else { "04" };
    assert!(
        uuid.get("entryUUID")[0].starts_with(winner),
        "{twins:?}: {uuid:?}"
    );
    let deleted = if below_glue > below_entry { 4 } else { 2 };
    let view = copy.world.store.snapshot().expect("a snapshot");
    let tombstone = view.tombstone([deleted; 16]).expect("a sound store");
    assert!(tombstone.is_some(), "{twins:?}: other servers learn of it");
    let report = fulgurite_store::verify(&view).expect("a sound store");
    assert!(report.is_clean(), "{twins:?}: {:?}", report.problems);
    drop(view);
    let again: [ContentChange; 1] = [renamed];
    copy.apply(&again);
    let mut names = copy.names();
    names.sort();
    names
}

#[test]
fn all_children_of_glue_go_below_the_entry_of_its_name() {
    for numbers in [(11, 12), (12, 11)] {
        for have_children in [(false, false), (true, false), (false, true), (true, true)] {
            let twins = Twins {
                numbers,
                have_children,
            };
            let mut wanted = vec![TOP.to_owned()];
            let mut expect = |rdns: &str| wanted.push(format!("{rdns},{TOP}"));
            expect("ou=b");
            expect("ou=x,ou=b");
            if have_children.0 {
                expect("ou=y,ou=x,ou=b");
            }
            if have_children.1 {
                expect("ou=z,ou=x,ou=b");
            }
            wanted.sort();
            assert_eq!(replace_glue(twins), wanted, "{twins:?}");
        }
    }
}
