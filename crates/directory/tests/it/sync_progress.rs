//! The part of the log that a refresh holds.

use fulgurite_directory::{Progress, Quantum};
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
