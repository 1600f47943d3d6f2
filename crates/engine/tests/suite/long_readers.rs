//! Long readers in other processes, of the original library too: named, asked to end, dead, and
//! cleared by the writer.

use std::time::Duration;

use fulgurite_testkit::{Peer, PeerError, Reply, Scratch, c_peer, python_peer};

use crate::common::assert_sound;
use crate::peer::our_peer;

const LIMIT: Duration = Duration::from_secs(20);

fn open(spawn: fn() -> Peer, scratch: &Scratch, flags: &str) -> Peer {
    let mut peer = spawn();
    peer.must(&format!(
        "open {} nosync mapsize=67108864 {flags}",
        scratch.path().display()
    ));
    peer
}

/// One commit that replaces a few records.
fn commit(writer: &mut Peer, round: usize) -> Reply {
    writer.must("write");
    let filled = writer.ask(&format!("fill - {} 20 900 {round}", round * 7 % 300));
    if filled.is_err() {
        writer.must("abort");
        return filled;
    }
    writer.ask("commit")
}

fn last_page(peer: &mut Peer) -> u64 {
    let info = peer.must("info");
    info.split(' ')
        .nth(1)
        .unwrap_or_default()
        .parse()
        .expect("a page")
}

/// A file in its steady state, without readers.
fn steady(writer: &mut Peer) -> u64 {
    for round in 0..60 {
        commit(writer, round).expect("a commit");
    }
    last_page(writer)
}

fn until_refused(writer: &mut Peer) -> String {
    for round in 0..500 {
        match commit(writer, round) {
            Ok(_) => {}
            Err(PeerError::Refused(why)) => return why,
            Err(other) => panic!("{other:?}"),
        }
    }
    panic!("500 commits without a refusal");
}

#[test]
fn a_refusal_names_the_reader_of_either_library() {
    for (spawn, age) in [
        (our_peer as fn() -> Peer, "aged"),
        (c_peer, "ageless"),
        (python_peer, "ageless"),
    ] {
        let scratch = Scratch::new("refusal");
        let mut writer = open(our_peer, &scratch, "refuse");
        let before = steady(&mut writer);
        let mut reader = open(spawn, &scratch, "");
        reader.must("read 0");
        let seen = reader.must("hash 0 -");
        let why = until_refused(&mut writer);
        let expected = format!("HELD {} {age}", reader.pid());
        assert_eq!(why, expected, "{}", reader.name());
        assert_eq!(last_page(&mut writer), before, "not a page of growth");
        assert_eq!(reader.must("hash 0 -"), seen, "undisturbed");
        reader.must("end 0");
        for round in 0..60 {
            commit(&mut writer, round).expect("the reader has ended");
        }
        assert_eq!(last_page(&mut writer), before);
    }
}

/// A reader that another process asks to end learns it at its next operation. The file does not
/// grow if it obeys.
#[test]
fn a_reader_in_another_process_is_asked_to_end() {
    let scratch = Scratch::new("asked");
    let mut writer = open(our_peer, &scratch, "end=10000 refuse");
    let before = steady(&mut writer);
    let mut reader = open(our_peer, &scratch, "");
    for round in 0..3 {
        reader.must("read 0");
        let mut told = false;
        for number in 0..40 {
            writer.must("write");
            writer.send(&format!("fill - {} 20 900 {round}", number * 7));
            // The writer waits within its operation. The reader ends as soon as it learns of the
            // request.
            while !told {
                match reader.ask("get 0 - 6b") {
                    Err(PeerError::Refused(why)) if why == "NOTFOUND" => {
                        if writer.answer(Duration::from_millis(20)).is_ok() {
                            break;
                        }
                    }
                    Err(PeerError::Refused(why)) => {
                        assert_eq!(why, "ENDED");
                        reader.must("end 0");
                        told = true;
                        writer.answer(LIMIT).expect("the reader has ended");
                    }
                    other => panic!("{other:?}"),
                }
            }
            if told {
                writer.must("commit");
                break;
            }
            writer.send("commit");
            // Saving the free list may ask too.
            while writer.answer(Duration::from_millis(20)).is_err() {
                if reader.ask("get 0 - 6b") == Err(PeerError::Refused("ENDED".into())) {
                    reader.must("end 0");
                    told = true;
                    writer.answer(LIMIT).expect("the reader has ended");
                    break;
                }
            }
            if told {
                break;
            }
        }
        assert!(told, "round {round}: never asked");
        for number in 0..60 {
            commit(&mut writer, number).expect("a commit");
        }
    }
    assert_eq!(last_page(&mut writer), before);
    drop((reader, writer));
    assert_sound(scratch.path(), "after readers were asked to end");
}

/// The original's readers cannot be asked. They read on, and the policy decides whether the file
/// grows.
#[test]
fn readers_of_the_original_are_not_ended() {
    for spawn in [c_peer as fn() -> Peer, python_peer] {
        let scratch = Scratch::new("not-ended");
        let mut writer = open(our_peer, &scratch, "end=0");
        let before = steady(&mut writer);
        let mut reader = open(spawn, &scratch, "");
        reader.must("read 0");
        let seen = reader.must("hash 0 -");
        for round in 0..60 {
            commit(&mut writer, round + 1).expect("it grows");
        }
        assert!(last_page(&mut writer) > before);
        assert_eq!(reader.must("hash 0 -"), seen);
        // Nor is a later reader of the original, in a slot that one of ours had.
        reader.must("renew 0");
        assert_ne!(reader.must("hash 0 -"), seen);
    }
}

/// The writer clears dead readers of either library, killed at once or between operations.
#[test]
fn dead_readers_do_not_pin_pages() {
    for spawn in [our_peer as fn() -> Peer, c_peer, python_peer] {
        let scratch = Scratch::new("dead");
        let mut writer = open(our_peer, &scratch, "refuse");
        let before = steady(&mut writer);
        for round in 0..5 {
            let mut reader = open(spawn, &scratch, "");
            reader.must("read 0");
            if round % 2 == 0 {
                reader.send("hash 0 -");
            }
            reader.kill();
            for number in 0..40 {
                commit(&mut writer, number).expect("the reader is dead");
            }
        }
        assert_eq!(last_page(&mut writer), before, "{:?}", spawn().name());
        assert_eq!(writer.must("check"), "0", "cleared already");
    }
}

/// A table full of the dead is no full table.
#[test]
fn a_table_full_of_dead_readers_has_room() {
    for spawn in [our_peer as fn() -> Peer, c_peer] {
        let scratch = Scratch::new("full-of-dead");
        let mut keeps = open(our_peer, &scratch, "readers=3");
        for _ in 0..8 {
            let mut reader = open(spawn, &scratch, "");
            reader.must("read 0");
            reader.kill();
            // The original clears nothing by itself: one of our processes must have found the table
            // full first.
            keeps.must("read 0");
            keeps.must("read 1");
            keeps.must("read 2");
            for number in 0..3 {
                keeps.must(&format!("end {number}"));
            }
            drop(keeps);
            keeps = open(our_peer, &scratch, "readers=3");
        }
    }
}
