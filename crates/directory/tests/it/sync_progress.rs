//! The part of the log that a refresh holds.

use fulgurite_directory::{Progress, Quantum};
use fulgurite_ldap::ModifyOperation;
use fulgurite_ldap::control::SyncMode;

use crate::support::*;
use crate::sync_consumer::*;

#[test]
fn a_refresh_by_the_log_holds_a_few_changes_at_a_time() {
    let world = world();
    let root = world.root();
    let mut consumer = Consumer::new(&EVERYTHING);
    refresh(&world, &EVERYTHING, &mut consumer);
    let name = |number: usize| format!("cn={number},{TOP}");
    for number in 0..600 {
        world.add(&root, &name(number), &[("objectClass", "device")]);
    }
    for parks in [false, true] {
        let mut late = Consumer::new(&EVERYTHING);
        (late.copies, late.cookie) = (consumer.copies.clone(), consumer.cookie.clone());
        let mut task = begin(&world, &EVERYTHING, &mut late, SyncMode::RefreshOnly);
        let small = Quantum {
            candidates_max: 50,
            ..Quantum::default()
        };
        let mut out = Vec::new();
        assert_eq!(task.advance(&mut out, small), Progress::More);
        late.take(&mut out);
        // The last entry changes before its batch is read.
        describe(&world, &name(599), &format!("{parks}"));
        if parks {
            task.park();
        }
        assert_eq!(run(&mut task, &mut late, small), Progress::Done);
        assert_equal(&world, &EVERYTHING, &late, "after");
        let told = late.seen.iter().filter(|seen| seen.ends_with(&name(599)));
        assert_eq!(told.count(), 1, "{:?}", late.seen);
        let told = late.seen.iter().filter(|seen| seen.ends_with(TOP));
        assert_eq!(told.count(), 600, "each entry once");
    }
}

/// A refresh by the log reads all records at once if names have moved. So it may not be long.
#[test]
fn moved_names_behind_many_changes_come_by_index() {
    let world = world();
    let (root, mut consumer) = (world.root(), Consumer::new(&EVERYTHING));
    for (count, is_first) in [(1_u32, false), (65_536, true)] {
        let dn = format!("cn=n,{TOP}");
        world.add(&root, &dn, &[("objectClass", "device")]);
        refresh(&world, &EVERYTHING, &mut consumer);
        for values in (0..count).collect::<Vec<u32>>().chunks(1_024) {
            let updates = values.iter().map(|value| {
                let value = format!("{count} {value}");
                let changes = [(ModifyOperation::Replace, "description", &[&*value][..])];
                write_request(&root, &modify_pdu(JANE, &changes))
            });
            let replies = world.directory.apply(&updates.collect::<Vec<_>>());
            assert!(replies.iter().all(|reply| reply.result.is_success()));
        }
        rename(&world, &dn, "cn=m", None);
        world.delete(&root, &format!("cn=m,{TOP}"));
        refresh(&world, &EVERYTHING, &mut consumer);
        assert_equal(&world, &EVERYTHING, &consumer, "refreshed");
        // The log has its order. Otherwise deletions come first.
        let place = consumer
            .seen
            .iter()
            .position(|text| text.starts_with("Delete"));
        assert_eq!(place == Some(0), is_first, "{count}: {:?}", consumer.seen);
    }
}
