//! The size of a file: bounds that hold for any writes, and several processes that let it grow at
//! once.

use std::thread;

use fulgurite::{Database, Durability, Environment, Error, KeyOrder, Snapshot, WriteTxn};
use fulgurite_testkit::{Peer, Random, Scratch, c_peer, quick_or_long, seed};

use crate::common::{assert_sound, data_bytes, open};
use crate::peer::our_peer;

/// Pages that a transaction takes and frees again: those it merges, and above all its free list.
const SLACK: u64 = 16;

/// Pages in use by a snapshot: of its trees and of the free list.
fn live_pages(environment: &Environment, databases: &[Database]) -> u64 {
    let txn = environment.read().expect("a reader");
    let all = databases.iter().copied();
    all.chain([Database::MAIN, Database::FREE_LIST])
        .map(|database| {
            let stat = txn.stat(database).expect("statistics");
            stat.branch_pages + stat.leaf_pages + stat.overflow_pages
        })
        .sum()
}

/// Pages that the newest transaction freed.
fn freed_by_newest(environment: &Environment) -> u64 {
    let txn = environment.read().expect("a reader");
    let free = txn.free_pages().expect("the free list");
    let newest = free.records().iter().filter(|(id, _)| *id >= txn.id());
    newest.map(|(_, pages)| pages).sum()
}

fn change(txn: &mut WriteTxn<'_>, things: Database, random: &mut Random) -> Result<(), Error> {
    if random.chance(2) {
        return txn.clear_database(things);
    }
    for _ in 0..random.between(1, 60) {
        let key = (random.below(3_000) as u64).to_ne_bytes();
        if random.chance(45) {
            txn.delete(things, &key)?;
        } else {
            let len = random.between(1, 1_500);
            txn.put(things, &key, &vec![1; len])?;
        }
    }
    Ok(())
}

/// Bounds the growth without readers and with values that fit their leaves. A file grows only when
/// nothing else is free. The bound is the largest sum so far of pages in use, recently freed pages,
/// and two meta pages.
#[test]
fn a_file_without_long_readers_keeps_within_its_bound() {
    let mut random = Random::new(seed("growth", 5));
    let scratch = Scratch::new("bound");
    let environment = open(scratch.path());
    let mut txn = environment.write().expect("the writer");
    let things = txn
        .create_database("things", KeyOrder::Integer)
        .expect("create");
    txn.commit().expect("commit");
    let (mut bound, mut freed_before, mut reached) = (0, 0, 0);
    for round in 0..quick_or_long(1_500, 20_000) {
        let mut txn = environment.write().expect("the writer");
        change(&mut txn, things, &mut random).expect("a change");
        txn.commit().expect("commit");
        let freed = freed_by_newest(&environment);
        let sum = live_pages(&environment, &[things]) + freed + freed_before + 2;
        freed_before = freed;
        bound = bound.max(sum);
        let pages = environment.info().expect("info").last_page + 1;
        assert!(
            pages <= bound + SLACK,
            "round {round}: {pages} pages, bound {bound}"
        );
        reached = pages;
    }
    assert!(
        reached * 10 > bound * 9,
        "the bound of {bound} is not near {reached} pages"
    );
    assert!(data_bytes(scratch.path()) <= (bound + SLACK) * 4096);
}

/// With a reader, what was freed since its snapshot comes on top, and nothing else.
#[test]
fn a_reader_costs_the_pages_freed_since() {
    let mut random = Random::new(seed("growth-held", 6));
    let scratch = Scratch::new("bound-held");
    let environment = open(scratch.path());
    let mut txn = environment.write().expect("the writer");
    let things = txn
        .create_database("things", KeyOrder::Integer)
        .expect("create");
    txn.commit().expect("commit");
    for _ in 0..200 {
        let mut txn = environment.write().expect("the writer");
        change(&mut txn, things, &mut random).expect("a change");
        txn.commit().expect("commit");
    }
    let start = environment.info().expect("info").last_page + 1;
    let held = environment.read().expect("a reader");
    for round in 0..quick_or_long(300, 3_000) {
        let mut txn = environment.write().expect("the writer");
        change(&mut txn, things, &mut random).expect("a change");
        txn.commit().expect("commit");
        let txn = environment.read().expect("a reader");
        let since = txn.free_pages().expect("the free list");
        let since: u64 = since
            .records()
            .iter()
            .filter(|(id, _)| *id >= held.id())
            .map(|(_, pages)| pages)
            .sum();
        let bound = start.max(live_pages(&environment, &[things]) + since + 2) + since;
        let pages = environment.info().expect("info").last_page + 1;
        assert!(
            pages <= bound,
            "round {round}: {pages} pages, bound {bound}"
        );
    }
}

/// Processes of both libraries let one file grow at the same time. Readers of the old, smaller map
/// go on.
#[test]
fn several_processes_grow_one_file_at_once() {
    let scratch = Scratch::new("growers");
    let spawn: [fn() -> Peer; 4] = [our_peer, our_peer, our_peer, c_peer];
    let mut peers: Vec<Peer> = spawn.iter().map(|spawn| spawn()).collect();
    for peer in &mut peers {
        peer.must(&format!(
            "open {} nosync mapsize=1048576",
            scratch.path().display()
        ));
    }
    peers[0].must("write");
    peers[0].must("fill - 0 100 1000 1");
    peers[0].must("commit");
    for peer in &mut peers {
        peer.must("read 1");
    }
    let old = peers[0].must("hash 1 -");
    // Beyond the map of the original.
    peers[0].must("write");
    peers[0].must("fill - 100 2000 1000 1");
    peers[0].must("commit");
    let growing: Vec<_> = peers
        .into_iter()
        .enumerate()
        .map(|(number, mut peer)| thread::spawn(move || (grow(number, &mut peer), peer)))
        .collect();
    let mut peers: Vec<Peer> = Vec::new();
    let mut adopted = 0;
    for one in growing {
        let (told, peer) = one.join().expect("a process that grows the file");
        adopted += told;
        peers.push(peer);
    }
    for peer in &mut peers {
        let name = peer.name().to_owned();
        if name == "our" {
            assert_eq!(peer.must("hash 1 -"), old, "a reader in the old map");
        }
        peer.ask("setmap 0").expect("the size of the others");
        peer.must("read 2");
        let now = peer.must("hash 2 -");
        assert!(
            now.starts_with(&format!("{} ", 2100 + 4 * 30 * 40)),
            "{name}: {now}"
        );
    }
    assert!(adopted > 0, "the original was never told of a larger map");
    drop(peers);
    assert_sound(scratch.path(), "after four processes");
}

/// Thirty commits; returns how often the process was told that the others had grown the map.
fn grow(number: usize, peer: &mut Peer) -> u32 {
    let mut told = 0;
    for round in 0..30 {
        loop {
            // Others may let it grow again between being asked for the size and beginning.
            while peer.ask("write").is_err() {
                told += 1;
                assert!(told < 10_000, "never caught up with the others");
                let _ = peer.ask("end 1");
                peer.must("setmap 0");
            }
            let first = 1_000_000 * (number + 1) + round * 40;
            let filled = peer.ask(&format!("fill - {first} 40 1000 3"));
            if filled.is_ok() && peer.ask("commit").is_ok() {
                break;
            }
            // The original's map is full, for the records or for the free list after them. It sets
            // a larger size.
            let _ = peer.ask("abort");
            let _ = peer.ask("end 1");
            peer.must(&format!("setmap {}", 64 << 20));
        }
    }
    told
}

/// The bound that a program sets holds, and what is full can be read.
#[test]
fn a_set_bound_is_kept() {
    let scratch = Scratch::new("set-bound");
    let environment = Environment::options()
        .durability(Durability::NoSync)
        .map_bytes_max(3 << 20)
        .open(scratch.path())
        .expect("open");
    let mut full = false;
    for key in 0..2_000_u32 {
        let mut txn = environment.write().expect("the writer");
        let put = txn.put(Database::MAIN, &key.to_be_bytes(), &[1; 2_000]);
        match put.and_then(|()| txn.commit()) {
            Ok(()) => {}
            Err(Error::MapFull(_)) => full = true,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(full && data_bytes(scratch.path()) <= 3 << 20);
    let reader = environment.read().expect("a reader");
    let entries = reader.stat(Database::MAIN).expect("statistics").entries;
    let seen = reader.range(Database::MAIN, ..).expect("a range").count();
    assert_eq!(seen as u64, entries);
}
