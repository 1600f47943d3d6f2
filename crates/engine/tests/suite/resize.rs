//! Map sizes between processes: one sets a larger size. The others get an error, and follow when
//! they ask to.

use std::time::Duration;

use fulgurite_testkit::{Peer, PeerError, Reply, Scratch, c_peer, python_peer};

use crate::common::assert_sound;
use crate::peer::our_peer;

type Spawn = fn() -> Peer;

/// The process that sets the size, and the one that follows.
const PAIRS: [(Spawn, Spawn); 5] = [
    (our_peer, c_peer),
    (c_peer, our_peer),
    (our_peer, python_peer),
    (python_peer, our_peer),
    (our_peer, our_peer),
];

/// A peer with a map size that is set, as the original has it.
fn open(spawn: Spawn, scratch: &Scratch, octets: usize) -> Peer {
    let mut peer = spawn();
    let word = if peer.name() == "our" {
        "exact"
    } else {
        "mapsize"
    };
    let path = scratch.path().display();
    peer.must(&format!("open {path} nosync {word}={octets}"));
    peer
}

fn map_size(peer: &mut Peer) -> String {
    let info = peer.must("info");
    info.split(' ').next().unwrap_or_default().to_owned()
}

#[test]
fn a_process_with_a_smaller_map_gets_an_error() {
    for (grows, follows) in PAIRS {
        let scratch = Scratch::new("resize");
        let mut grows = open(grows, &scratch, 1 << 20);
        let mut follows = open(follows, &scratch, 1 << 20);
        let context = format!("{} grows, {} follows", grows.name(), follows.name());
        let resized: Reply = Err(PeerError::Refused("MAP_RESIZED".into()));
        grows.must("write");
        grows.must("fill - 0 500 1000 1");
        grows.must("commit");
        // A reader that is there already goes on reading what it reads.
        let keeps_reading = follows.name() == "our";
        if keeps_reading {
            follows.must("read 1");
        }
        for (round, octets) in [4 << 20, 40 << 20, 3_000_000_000_usize]
            .into_iter()
            .enumerate()
        {
            grows.must(&format!("setmap {octets}"));
            // The file does not say so before something is committed.
            follows.must("read 0");
            follows.must("end 0");
            grows.must("write");
            let count = [1_500, 4_000, 1_000][round];
            grows.must(&format!("fill - {} {count} 1000 2", 10_000 * round));
            grows.must("commit");
            grows.must("read 0");
            let expected = grows.must("hash 0 -");
            grows.must("end 0");
            if round < 2 {
                assert_eq!(
                    follows.ask("read 0").map(drop),
                    resized.clone().map(drop),
                    "{context}"
                );
                assert_eq!(follows.ask("write"), resized, "{context}");
            }
            follows.must("setmap 0");
            assert_eq!(map_size(&mut follows), octets.to_string(), "{context}");
            follows.must("read 0");
            assert_eq!(follows.must("hash 0 -"), expected, "{context}");
            follows.must("end 0");
            if keeps_reading {
                assert!(follows.must("hash 1 -").starts_with("500 "), "{context}");
            }
        }
        follows.must("write");
        follows.must("put - 61 62");
        follows.must("commit");
        grows.must("read 0");
        assert_eq!(grows.must("get 0 - 61"), "62", "{context}");
        drop((grows, follows));
        assert_sound(scratch.path(), &context);
    }
}

#[test]
fn both_libraries_are_full_at_the_same_size() {
    let mut sizes = Vec::new();
    for spawn in [our_peer as Spawn, c_peer] {
        let scratch = Scratch::new("full-size");
        let mut peer = open(spawn, &scratch, 1_234_567);
        let full: Reply = Err(PeerError::Refused("MAP_FULL".into()));
        peer.must("write");
        assert_eq!(peer.ask("fill - 0 2000 1000 1"), full, "{}", peer.name());
        peer.must("abort");
        peer.must("write");
        peer.must("fill - 0 800 1000 1");
        peer.must("commit");
        sizes.push(map_size(&mut peer));
    }
    assert_eq!(sizes, ["1234567", "1234567"]);
}

/// Only the writer looks for dead readers. Even a full map does not stop it from finding the pages
/// they pinned.
#[test]
fn a_killed_reader_does_not_fill_a_small_map() {
    for spawn in [c_peer as Spawn, our_peer] {
        let scratch = Scratch::new("dead-and-full");
        let mut writer = open(our_peer, &scratch, 1 << 20);
        // Six tenths of the map are in use for good.
        writer.must("write");
        writer.must("fill - 0 560 1000 1");
        writer.must("commit");
        let mut victim = open(spawn, &scratch, 1 << 20);
        victim.must("read 0");
        victim.send("die");
        assert!(victim.wait_end(Duration::from_secs(10)));
        for round in 0..200 {
            writer.must("write");
            writer.must(&format!("fill - {} 20 1000 {round}", round * 20 % 560));
            writer
                .ask("commit")
                .unwrap_or_else(|error| panic!("{}, round {round}: {error:?}", victim.name()));
        }
        assert_eq!(writer.must("check"), "0", "cleared already");
        drop(writer);
        assert_sound(scratch.path(), "after 200 commits");
    }
}
