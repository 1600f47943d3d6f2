//! A process of either library dies in the middle of something; the other one goes on.

use std::time::Duration;

use fulgurite_testkit::{Peer, Scratch, c_peer, python_peer};

use crate::common::{assert_sound, data_bytes};
use crate::peer::our_peer;

type Spawn = fn() -> Peer;

/// Victim and survivor, in every mixture that has us in it.
const PAIRS: [(Spawn, Spawn); 5] = [
    (our_peer, c_peer),
    (c_peer, our_peer),
    (our_peer, python_peer),
    (python_peer, our_peer),
    (our_peer, our_peer),
];

fn pair(scratch: &Scratch, (victim, survivor): (Spawn, Spawn)) -> (Peer, Peer) {
    let (mut victim, mut survivor) = (victim(), survivor());
    for peer in [&mut victim, &mut survivor] {
        peer.must(&format!(
            "open {} nosync mapsize=67108864",
            scratch.path().display()
        ));
    }
    survivor.must("write");
    survivor.must("fill - 0 500 100 1");
    survivor.must("commit");
    survivor.must("read 0");
    (victim, survivor)
}

#[test]
fn a_writer_killed_in_its_transaction_is_survived() {
    for spawns in PAIRS {
        let scratch = Scratch::new("killed-writer");
        let (mut victim, mut survivor) = pair(&scratch, spawns);
        let context = format!("{} killed, {} survives", victim.name(), survivor.name());
        let expected = survivor.must("hash 0 -");
        for round in 0..3 {
            victim.must("write");
            victim.must("fill - 100 900 300 9");
            victim.send("die");
            assert!(victim.wait_end(Duration::from_secs(10)), "{context}");
            // The dead process held the mutex. The survivor must get it and see nothing of the
            // unfinished transaction.
            survivor.must("write");
            assert_eq!(
                survivor.must("hash w -"),
                expected,
                "{context}, round {round}"
            );
            survivor.must("abort");
            survivor.must("renew 0");
            assert_eq!(
                survivor.must("hash 0 -"),
                expected,
                "{context}, round {round}"
            );
            victim = spawns.0();
            victim.must(&format!(
                "open {} nosync mapsize=67108864",
                scratch.path().display()
            ));
        }
        survivor.must("write");
        survivor.must("put - 6b 76");
        survivor.must("commit");
        victim.must("read 0");
        assert_eq!(victim.must("get 0 - 6b"), "76", "{context}");
        drop((victim, survivor));
        assert_sound(scratch.path(), &context);
    }
}

#[test]
fn a_killed_reader_pins_nothing_forever() {
    for spawns in PAIRS {
        let scratch = Scratch::new("killed-reader");
        let (mut victim, mut survivor) = pair(&scratch, spawns);
        let context = format!("{} killed, {} survives", victim.name(), survivor.name());
        victim.must("read 0");
        victim.send("die");
        assert!(victim.wait_end(Duration::from_secs(10)), "{context}");
        assert_eq!(
            survivor.must("check"),
            "1",
            "{context}: the slot of the dead is cleared"
        );
        assert_eq!(survivor.must("check"), "0", "{context}");
        survivor.must("end 0");
        churn(&mut survivor, 6);
        let settled = data_bytes(scratch.path());
        churn(&mut survivor, 30);
        assert_eq!(
            data_bytes(scratch.path()),
            settled,
            "{context}: pages are used again"
        );
    }
}

/// Our engine looks for dead readers by itself before it grows the file.
#[test]
fn our_writer_clears_a_dead_reader_when_it_needs_pages() {
    for spawn in [c_peer as Spawn, our_peer] {
        let scratch = Scratch::new("dead-reader");
        let (mut victim, mut survivor) = pair(&scratch, (spawn, our_peer));
        survivor.must("end 0");
        victim.must("read 0");
        victim.kill();
        churn(&mut survivor, 8);
        let settled = data_bytes(scratch.path());
        churn(&mut survivor, 40);
        assert_eq!(
            data_bytes(scratch.path()),
            settled,
            "the file grows under a dead {} reader",
            victim.name()
        );
    }
}

fn churn(peer: &mut Peer, rounds: usize) {
    for round in 0..rounds {
        peer.must("write");
        peer.must(&format!("fill - 0 500 100 {round}"));
        peer.must("commit");
    }
}
