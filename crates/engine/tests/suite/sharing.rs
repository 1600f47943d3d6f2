//! One live environment, three processes: Debian's liblmdb in C, PyPI's in Python, and ours.

use fulgurite_testkit::{
    Model, Order, Peer, PeerError, Random, Scratch, c_peer, hex, python_peer, quick_or_long, seed,
};

use crate::common::assert_sound;
use crate::peer::our_peer;
use crate::real_tools;

const MAP_BYTES: usize = 64 << 20;

fn open_all(dir: &Scratch, flags: &str) -> Vec<Peer> {
    let mut peers = vec![our_peer(), c_peer(), python_peer()];
    for peer in &mut peers {
        peer.must(&format!("open {} {flags}", dir.path().display()));
    }
    peers
}

/// Each process in turn commits a transaction. The others read it, and earlier snapshots stay as
/// they were.
#[test]
fn three_processes_take_turns_writing() {
    take_turns("", quick_or_long(1000, 20_000), 7);
}

/// The same with every process changing pages in its map.
#[test]
fn three_processes_take_turns_writing_in_their_maps() {
    take_turns("writemap ", quick_or_long(300, 5_000), 8);
}

fn take_turns(flags: &str, turns: usize, default_seed: u64) {
    let mut random = Random::new(seed("sharing", default_seed));
    let scratch = Scratch::new("sharing");
    let mut peers = open_all(&scratch, &format!("{flags}nosync mapsize={MAP_BYTES}"));
    let mut models = [
        ("lexical", Model::new(Order::Lexical)),
        ("reverse", Model::new(Order::Reverse)),
        ("integer", Model::new(Order::Integer)),
    ];
    create(&mut peers[0], &models);
    // The process that pins an old snapshot, and its expected contents.
    let mut held: Vec<(usize, String)> = Vec::new();
    for peer in &mut peers {
        for (name, _) in &models {
            peer.must(&format!("use {name}"));
        }
        peer.must("read 0");
    }
    for turn in 0..turns {
        let writer = random.below(peers.len());
        write(&mut peers[writer], &mut models, &mut random);
        let reader = random.below(peers.len());
        peers[reader].must("renew 0");
        let (name, model) = &models[random.below(models.len())];
        assert_eq!(
            peers[reader].must(&format!("hash 0 {name}")),
            model.hash(),
            "turn {turn}: {} reads what {} wrote",
            peers[reader].name(),
            peers[writer].name()
        );
        if turn % 25 == 0 && held.iter().all(|(holder, _)| *holder != reader) {
            peers[reader].must("read 1");
            held.push((reader, models[0].1.hash()));
        }
        if turn % 40 == 39 && !held.is_empty() {
            let (holder, hash) = held.remove(0);
            assert_eq!(
                peers[holder].must("hash 1 lexical"),
                hash,
                "turn {turn}: a snapshot held by {}",
                peers[holder].name()
            );
            peers[holder].must("end 1");
        }
    }
    for peer in &mut peers {
        peer.must("renew 0");
        for (name, model) in &models {
            assert_eq!(
                peer.must(&format!("hash 0 {name}")),
                model.hash(),
                "{} at the end",
                peer.name()
            );
        }
    }
    drop(peers);
    assert_sound(scratch.path(), "after sharing");
    real_tools::accept(scratch.path());
}

fn create(peer: &mut Peer, models: &[(&str, Model)]) {
    peer.must("write");
    for (name, model) in models {
        peer.must(&format!("create {name} {}", model.order().word()));
    }
    peer.must("commit");
}

/// One transaction of a few operations; one in ten is aborted.
fn write(peer: &mut Peer, models: &mut [(&str, Model)], random: &mut Random) {
    let before = models
        .iter()
        .map(|(_, model)| model.clone())
        .collect::<Vec<_>>();
    peer.must("write");
    for _ in 0..random.between(1, 8) {
        let at = random.below(models.len());
        let (name, model) = &mut models[at];
        let key = match model.order() {
            Order::Integer => (random.below(300) as u64).to_le_bytes().to_vec(),
            _ => format!("{}key{}", random.below(10), random.below(40)).into_bytes(),
        };
        if random.chance(60) {
            let size = if random.chance(5) {
                random.between(2_000, 12_000)
            } else {
                random.between(0, 120)
            };
            let value = random.bytes(size);
            peer.must(&format!("put {name} {} {}", hex(&key), hex(&value)));
            model.put(&key, &value);
        } else {
            let deleted = peer.ask(&format!("del {name} {}", hex(&key)));
            let expected = if model.delete(&key) {
                Ok(String::new())
            } else {
                Err(PeerError::Refused("NOTFOUND".into()))
            };
            assert_eq!(deleted, expected, "{} deletes", peer.name());
        }
    }
    if random.chance(10) {
        peer.must("abort");
        for ((_, model), old) in models.iter_mut().zip(before) {
            *model = old;
        }
    } else {
        peer.must("commit");
    }
}

/// We grow the file past the map of the others. They get an error, adopt the new size, and go on.
#[test]
fn growth_past_the_others_map_is_noticed() {
    let scratch = Scratch::new("growth");
    let mut peers = open_all(&scratch, "nosync mapsize=1048576");
    peers[0].must("write");
    peers[0].must("fill - 0 3000 1000 1");
    peers[0].must("commit");
    peers[0].must("read 0");
    let expected = peers[0].must("hash 0 -");
    assert!(expected.starts_with("3000 "), "{expected}");
    for peer in &mut peers[1..] {
        assert_eq!(
            peer.ask("read 0"),
            Err(PeerError::Refused("MAP_RESIZED".into())),
            "{}",
            peer.name()
        );
        peer.must("setmap 0");
        peer.must("read 0");
        assert_eq!(peer.must("hash 0 -"), expected, "{}", peer.name());
    }
    // And the other way round: the others grow the file, we follow without being asked.
    peers[1].must(&format!("setmap {MAP_BYTES}"));
    peers[1].must("write");
    peers[1].must("fill - 3000 9000 1000 1");
    peers[1].must("commit");
    peers[1].must("renew 0");
    peers[0].must("renew 0");
    assert_eq!(peers[0].must("hash 0 -"), peers[1].must("hash 0 -"));
    drop(peers);
    assert_sound(scratch.path(), "after growing");
}

/// A writer waits for the writer of the other library, and not for ever.
#[test]
fn writers_of_both_libraries_exclude_each_other() {
    let scratch = Scratch::new("exclusion");
    let mut peers = open_all(&scratch, "nosync mapsize=1048576");
    for (first, second) in [(0, 1), (1, 0), (0, 2)] {
        peers[first].must("write");
        peers[second].send("write");
        let early = peers[second].answer(std::time::Duration::from_millis(100));
        assert_eq!(
            early,
            Err(PeerError::Silent),
            "{} did not wait for {}",
            peers[second].name(),
            peers[first].name()
        );
        peers[first].must("put - 61 62");
        peers[first].must("commit");
        peers[second]
            .answer(std::time::Duration::from_secs(20))
            .expect("the writer's turn");
        assert_eq!(peers[second].must("get w - 61"), "62");
        peers[second].must("abort");
    }
}
