//! Two hundred rounds of kill -9 at random moments of a committing writer.

use std::time::{Duration, Instant};

use fulgurite::Snapshot;
use fulgurite_testkit::{Model, Order, Peer, Random, Scratch, quick_or_long, seed};

use crate::child;
use crate::committer::{self, DATABASE};
use crate::common::{assert_model, assert_sound, open};

#[test]
fn every_acknowledged_transaction_survives_kill_9() {
    let mut random = Random::new(seed("killed", 99));
    let scratch = Scratch::new("killed");
    let mut model = Model::new(Order::Lexical);
    let mut number = 0;
    let started = Instant::now();
    for round in 0..quick_or_long(200, 2000) {
        let acknowledged = one_round(&scratch, &mut random).max(number);
        let context = format!("round {round}, {acknowledged} acknowledged");
        let environment = open(scratch.path());
        let snapshot = environment.read().expect("a reader");
        let found = committer::number(&snapshot);
        // The last commit may have been finished without there being time to say so.
        assert!(
            found == acknowledged || found == acknowledged + 1,
            "{context}, {found} found"
        );
        while number < found {
            number += 1;
            committer::change_model(&mut model, number);
        }
        if number > 0 {
            let db = snapshot
                .open_database(Some(DATABASE))
                .expect("the database");
            assert_model(&snapshot, db, &model, &context);
        }
        drop(snapshot);
        drop(environment);
        assert_sound(scratch.path(), &context);
    }
    println!("{number} transactions committed in {:?}", started.elapsed());
    assert!(
        number > 200,
        "only {number} transactions were committed: the test tests nothing"
    );
}

/// Starts a writer, kills it after a while, and returns the last number it acknowledged (0: none).
fn one_round(scratch: &Scratch, random: &mut Random) -> u64 {
    let sync = random.pick(&["full", "map", "none", "none"]);
    let mut command = child::role("committer");
    let mut writer = Peer::spawn(
        "committing",
        command
            .env(committer::DIR, scratch.path())
            .env(committer::SYNC, sync),
    );
    // Some are killed while still opening, the others somewhere among their commits.
    let mut last = 0;
    if !random.chance(10) {
        last = writer
            .answer(Duration::from_secs(30))
            .expect("a first commit")
            .parse()
            .expect("a number");
        std::thread::sleep(Duration::from_micros(random.below(25_000) as u64));
    } else {
        std::thread::sleep(Duration::from_micros(random.below(6_000) as u64));
    }
    writer.kill();
    while let Ok(word) = writer.answer(Duration::from_secs(10)) {
        last = word.parse().expect("a number");
    }
    last
}
