//! Online compaction: the file becomes nearly as short as its contents, and other processes see
//! only its length change.

use std::path::Path;
use std::time::{Duration, Instant};

use fulgurite::{
    CompactReport, CompactStep, Compaction, Database, Environment, KeyOrder, Snapshot, ValueKind,
    WriteTxn,
};
use fulgurite_testkit::{
    Model, Order, Peer, Random, Scratch, c_peer, hex, python_peer, quick_or_long, seed,
};

use crate::common::{assert_model, assert_sound, data_bytes, open};
use crate::peer::our_peer;
use crate::real_tools;

const PAGE: u64 = 4096;
const STEPS_MAX: usize = 100_000;

/// Takes steps until there is nothing more to do.
fn compact(environment: &Environment, mut compaction: Compaction) -> CompactReport {
    for _ in 0..STEPS_MAX {
        match environment.compact_step(&mut compaction).expect("a step") {
            CompactStep::Working => {}
            CompactStep::Waiting(oldest) => panic!("nobody reads snapshot {oldest:?}"),
            CompactStep::Done => return compaction.report(),
        }
    }
    panic!("compaction comes to no end: {:?}", compaction.report());
}

/// One database of each kind that has its own pages.
struct Kinds {
    plain: Database,
    values: Database,
    many: Database,
    fixed: Database,
}

fn create(txn: &mut WriteTxn<'_>) -> Kinds {
    let multimap = |txn: &mut WriteTxn<'_>, name, kind| {
        let map = txn.create_multimap(name, KeyOrder::Lexical, kind);
        map.expect("create a multimap").database()
    };
    Kinds {
        plain: txn
            .create_database("plain", KeyOrder::Lexical)
            .expect("create"),
        values: txn
            .create_database("values", KeyOrder::Reverse)
            .expect("create"),
        many: multimap(txn, "many", ValueKind::Any(KeyOrder::Lexical)),
        fixed: multimap(txn, "fixed", ValueKind::Fixed(KeyOrder::Lexical)),
    }
}

/// Much, most of which is deleted again, here and there.
fn fill_and_thin_out(environment: &Environment, random: &mut Random, records: usize) {
    let mut txn = environment.write().expect("the writer");
    let kinds = create(&mut txn);
    for i in 0..records {
        let key = format!("key{i:06}");
        let long = random.between(1, 20_000);
        txn.put(kinds.plain, key.as_bytes(), &[i as u8; 150])
            .expect("put");
        if i % 10 == 0 {
            txn.put(kinds.values, key.as_bytes(), &random.bytes(long))
                .expect("put");
        }
        for (name, octets) in [(kinds.many, random.between(1, 60)), (kinds.fixed, 8)] {
            let key = format!("{}", i % 7);
            txn.put(
                name,
                key.as_bytes(),
                &[&random.bytes(octets)[..], &i.to_le_bytes()].concat(),
            )
            .expect("put");
        }
    }
    txn.commit().expect("commit");
    let mut txn = environment.write().expect("the writer");
    for i in 0..records {
        if random.chance(75) {
            let key = format!("key{i:06}");
            txn.delete(kinds.plain, key.as_bytes()).expect("delete");
            txn.delete(kinds.values, key.as_bytes()).expect("delete");
        }
    }
    for name in [kinds.many, kinds.fixed] {
        txn.delete(name, b"0").expect("delete");
        txn.delete(name, b"3").expect("delete");
    }
    txn.commit().expect("commit");
}

fn everything(environment: &Environment) -> Vec<fulgurite_testkit::Listing> {
    let txn = environment.read().expect("read");
    ["plain", "values", "many", "fixed"]
        .map(|name| {
            let db = txn.open_database(Some(name)).expect("open");
            crate::common::list(&txn, db).expect("list")
        })
        .into()
}

fn live_bytes(dir: &Path) -> u64 {
    let report = fulgurite::check::check_file(&dir.join("data.mdb")).expect("check");
    (report.last_pgno + 1 - report.free_pages) * PAGE
}

#[test]
fn the_file_becomes_nearly_as_short_as_its_contents() {
    let scratch = Scratch::new("compaction");
    let mut random = Random::new(seed("compaction", 1));
    let environment = open(scratch.path());
    fill_and_thin_out(&environment, &mut random, quick_or_long(20_000, 300_000));
    let before = data_bytes(scratch.path());
    let expected = everything(&environment);
    let report = compact(&environment, Compaction::new());
    let (after, live) = (data_bytes(scratch.path()), live_bytes(scratch.path()));
    println!("{report:?}, live {live}");
    assert_eq!((report.bytes_before, report.bytes_after), (before, after));
    assert!(after < before / 2, "{before} -> {after}, live {live}");
    assert!(
        after <= live + live / 8 + 80 * PAGE,
        "{before} -> {after}, live {live}"
    );
    assert_eq!(report.kept_length, None);
    assert_eq!(everything(&environment), expected);
    assert_sound(scratch.path(), "after compaction");
    drop(environment);
    real_tools::accept(scratch.path());
    // And it can grow again.
    let environment = open(scratch.path());
    fill_and_thin_out(&environment, &mut random, 3000);
    assert_sound(scratch.path(), "after new growth");
}

/// A program's own order is not written in the file, so places must be found without it.
#[test]
fn databases_in_a_custom_order_are_moved_too() {
    let scratch = Scratch::new("compaction-order");
    let environment = open(scratch.path());
    let by_last = fulgurite::CustomOrder {
        call: |_, a, b| a.iter().rev().cmp(b.iter().rev()),
        context: 0,
    };
    let mut txn = environment.write().expect("the writer");
    let db = txn
        .create_database("own", KeyOrder::Lexical)
        .expect("create");
    txn.set_key_order(db, Some(by_last));
    for i in 0..20_000u32 {
        txn.put(db, &i.to_le_bytes(), &[7; 100]).expect("put");
    }
    for i in 0..18_000u32 {
        txn.delete(db, &i.to_le_bytes()).expect("delete");
    }
    txn.commit().expect("commit");
    drop(environment);
    let environment = open(scratch.path());
    let before = data_bytes(scratch.path());
    compact(&environment, Compaction::new());
    assert!(data_bytes(scratch.path()) < before / 4);
    let mut txn = environment.write().expect("the writer");
    let db = txn.open_database(Some("own")).expect("open");
    txn.set_key_order(db, Some(by_last));
    for i in 18_000..20_000u32 {
        assert!(txn.get(db, &i.to_le_bytes()).expect("get").is_some(), "{i}");
    }
}

#[test]
fn compaction_stops_at_a_set_size() {
    let scratch = Scratch::new("compaction-until");
    let environment = open(scratch.path());
    fill_and_thin_out(&environment, &mut Random::new(2), 10_000);
    let before = data_bytes(scratch.path());
    let until = before / 2;
    compact(&environment, Compaction::new().until_bytes(until));
    let after = data_bytes(scratch.path());
    assert!(
        after >= until && after <= until + until / 32,
        "{before} -> {after}, wanted {until}"
    );
    assert_sound(scratch.path(), "after compaction");
}

/// A reader of an old snapshot keeps it, and compaction waits for its end only.
#[test]
fn a_reader_is_waited_for_and_keeps_its_snapshot() {
    for mut reader in [our_peer(), c_peer(), python_peer()] {
        let scratch = Scratch::new("compaction-reader");
        let environment = open(scratch.path());
        fill_and_thin_out(&environment, &mut Random::new(3), 10_000);
        reader.must(&format!(
            "open {} nosync mapsize=100000000",
            scratch.path().display()
        ));
        for name in ["plain", "values", "many", "fixed"] {
            reader.must(&format!("use {name}"));
        }
        reader.must("read 0");
        let hash = |peer: &mut Peer| {
            ["plain", "values", "many", "fixed"].map(|name| peer.must(&format!("hash 0 {name}")))
        };
        let seen = hash(&mut reader);
        let before = data_bytes(scratch.path());
        let mut compaction = Compaction::new();
        let mut waited = 0;
        while waited < 20 {
            match environment.compact_step(&mut compaction).expect("a step") {
                CompactStep::Working => {}
                CompactStep::Waiting(_) => waited += 1,
                CompactStep::Done => panic!("{} is not waited for", reader.name()),
            }
            // Others go on meanwhile.
            let mut txn = environment.write().expect("the writer");
            let db = txn
                .create_database("plain", KeyOrder::Lexical)
                .expect("open");
            txn.put(db, b"key000001", &[waited as u8; 150])
                .expect("put");
            txn.commit().expect("commit");
        }
        assert_eq!(hash(&mut reader), seen, "{}", reader.name());
        assert!(data_bytes(scratch.path()) >= before);
        assert_sound(scratch.path(), "while a reader holds its snapshot");
        reader.must("end 0");
        let report = compact(&environment, compaction);
        let after = data_bytes(scratch.path());
        assert!(
            after < before / 2,
            "{}: {before} -> {after}, {report:?}",
            reader.name()
        );
        reader.must("read 0");
        assert_eq!(hash(&mut reader)[1..], seen[1..], "{}", reader.name());
        assert_sound(scratch.path(), "afterwards");
    }
}

/// Writers of all libraries change the environment between the steps of an endless compaction. The
/// old snapshots that they pin stay as they are.
#[test]
fn writers_of_the_original_go_on_while_the_file_shrinks_below_them() {
    let mut random = Random::new(seed("compaction-peers", 11));
    let scratch = Scratch::new("compaction-peers");
    let mut peers = vec![our_peer(), c_peer(), python_peer()];
    for peer in &mut peers {
        peer.must(&format!(
            "open {} nosync mapsize=200000000",
            scratch.path().display()
        ));
    }
    let mut model = Model::new(Order::Lexical);
    peers[0].must("write");
    peers[0].must("create d lexical");
    peers[0].must("commit");
    let environment = open(scratch.path());
    for peer in &mut peers {
        peer.must("use d");
    }
    let mut compaction = Compaction::new();
    let mut held: Option<(usize, String)> = None;
    let (mut shrunk, mut longest) = (0, 0);
    for turn in 0..quick_or_long(600, 20_000) {
        let at = random.below(peers.len());
        let writer = &mut peers[at];
        writer.must("write");
        // Times of growth take turns with times of deletion.
        let grows = turn / 60 % 2 == 0;
        for _ in 0..random.between(1, 30) {
            let key = format!("key{:05}", random.below(4000)).into_bytes();
            if random.chance(if grows { 85 } else { 8 }) {
                let len = if random.chance(20) {
                    random.between(2000, 20_000)
                } else {
                    300
                };
                let value = random.bytes(len);
                writer.must(&format!("put d {} {}", hex(&key), hex(&value)));
                model.put(&key, &value);
            } else {
                for number in 0..40 {
                    let key = format!("key{:05}", random.below(4000) / 40 * 40 + number);
                    if model.delete(key.as_bytes()) {
                        writer.must(&format!("del d {}", hex(key.as_bytes())));
                    }
                }
            }
        }
        writer.must("commit");
        longest = longest.max(data_bytes(scratch.path()));
        for _ in 0..random.below(6) {
            let before = data_bytes(scratch.path());
            if environment.compact_step(&mut compaction).expect("a step") == CompactStep::Done {
                compaction = Compaction::new();
            }
            shrunk += usize::from(data_bytes(scratch.path()) < before);
        }
        match held.take() {
            None if turn % 20 == 3 => {
                peers[at].must("read 0");
                held = Some((at, model.hash()));
            }
            Some((holder, hash)) if turn % 20 == 10 => {
                assert_eq!(peers[holder].must("hash 0 d"), hash, "turn {turn}");
                peers[holder].must("end 0");
            }
            other => held = other,
        }
        if turn % 50 == 0 {
            for peer in &mut peers {
                peer.must("read 1");
                assert_eq!(
                    peer.must("hash 1 d"),
                    model.hash(),
                    "turn {turn}: {}",
                    peer.name()
                );
                peer.must("end 1");
            }
            assert_sound(scratch.path(), &format!("turn {turn}"));
        }
    }
    if let Some((holder, _)) = held {
        peers[holder].must("end 0");
    }
    assert!(shrunk >= 3, "the file became shorter {shrunk} times");
    let txn = environment.read().expect("read");
    let db = txn.open_database(Some("d")).expect("open");
    assert_model(&txn, db, &model, "at the end");
    drop(txn);
    compact(&environment, compaction);
    assert_sound(scratch.path(), "at the end");
    println!(
        "shrunk {shrunk} times from {longest}, at the end {}",
        data_bytes(scratch.path())
    );
    drop(peers);
    real_tools::accept(scratch.path());
}

/// A process that stores through a map beyond the file's end would die. So the file keeps its
/// length.
#[test]
fn a_file_with_a_writable_map_keeps_its_length() {
    for mut other in [c_peer(), python_peer(), our_peer()] {
        let scratch = Scratch::new("compaction-writemap");
        let environment = open(scratch.path());
        fill_and_thin_out(&environment, &mut Random::new(4), 10_000);
        let map = 64 << 20;
        other.must(&format!(
            "open {} writemap nosync mapsize={map}",
            scratch.path().display()
        ));
        let before = data_bytes(scratch.path());
        let blocks = disk_bytes(scratch.path());
        let report = compact(&environment, Compaction::new().punch_free_pages(true));
        assert_eq!(report.kept_length, Some(other.pid()), "{}", other.name());
        assert_eq!(data_bytes(scratch.path()), before);
        assert!(report.bytes_punched > 0);
        assert!(
            disk_bytes(scratch.path()) < blocks / 2,
            "{blocks} -> {}",
            disk_bytes(scratch.path())
        );
        // Its last page is far lower now, and all behind it is a hole below its map.
        other.must("use plain");
        other.must("write");
        other.must("fill plain 0 20000 300 1");
        other.must("commit");
        other.must("read 0");
        assert!(other.must("hash 0 plain").starts_with("2"));
        assert_sound(scratch.path(), other.name());
        other.must("end 0");
        other.send("quit");
        assert!(other.wait_end(Duration::from_secs(10)));
        // With it gone nothing is in the way.
        let mut txn = environment.write().expect("the writer");
        let db = txn.open_database(Some("plain")).expect("open");
        txn.clear_database(db).expect("clear");
        txn.commit().expect("commit");
        let before = data_bytes(scratch.path());
        let report = compact(&environment, Compaction::new());
        assert_eq!(report.kept_length, None);
        assert!(
            data_bytes(scratch.path()) < before * 3 / 4,
            "{before}: {report:?}"
        );
        assert_sound(scratch.path(), other.name());
    }
}

#[test]
fn free_pages_inside_become_holes_if_wanted() {
    let scratch = Scratch::new("compaction-punch");
    let environment = open(scratch.path());
    fill_and_thin_out(&environment, &mut Random::new(5), 10_000);
    let expected = everything(&environment);
    let blocks = disk_bytes(scratch.path());
    let mut compaction = Compaction::new().punch_free_pages(true);
    assert!(compaction.stop_moving());
    let report = compact(&environment, compaction);
    assert_eq!(report.pages_moved, 0);
    assert!(disk_bytes(scratch.path()) < blocks * 3 / 4);
    assert_eq!(everything(&environment), expected);
    assert_sound(scratch.path(), "with holes");
    fill_and_thin_out(&environment, &mut Random::new(6), 4_000);
    assert_sound(scratch.path(), "with holes filled again");
}

/// Returns the bytes that the file takes on the disk.
fn disk_bytes(dir: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::metadata(dir.join("data.mdb")).expect("the data file");
    found.blocks() * 512
}

/// A process that does nothing but compact, until it is killed.
pub(crate) fn child() {
    let environment = open(Path::new(&crate::child::parameter("FULGURITE_TEST_DIR")));
    loop {
        let mut compaction = Compaction::new();
        // While others write there is always something to do.
        for _ in 0..200 {
            let step = environment.compact_step(&mut compaction).expect("a step");
            if step != CompactStep::Working {
                std::thread::sleep(Duration::from_millis(1));
            }
            if step == CompactStep::Done {
                break;
            }
        }
    }
}

/// A killed compaction leaves a sound file behind, and the next one finishes the work.
#[test]
fn a_killed_compaction_does_no_harm() {
    let mut random = Random::new(seed("compaction-killed", 21));
    let scratch = Scratch::new("compaction-killed");
    let environment = open(scratch.path());
    let mut model = Model::new(Order::Lexical);
    let mut shorter = 0;
    for round in 0..quick_or_long(12, 500) {
        let mut command = crate::child::role("compaction");
        command.env("FULGURITE_TEST_DIR", scratch.path());
        let mut child = command
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("spawn");
        let until = Instant::now() + Duration::from_millis(random.between(60, 250) as u64);
        while Instant::now() < until {
            let before = data_bytes(scratch.path());
            change(&environment, &mut model, &mut random, round % 2 == 0);
            shorter += usize::from(data_bytes(scratch.path()) < before);
        }
        child.kill().expect("kill");
        child.wait().expect("wait");
        assert_sound(scratch.path(), &format!("round {round}"));
        let txn = environment.read().expect("read");
        assert_model(&txn, Database::MAIN, &model, &format!("round {round}"));
    }
    println!("it became shorter {shorter} times");
    assert!(shorter > 0);
    compact(&environment, Compaction::new());
    let (after, live) = (data_bytes(scratch.path()), live_bytes(scratch.path()));
    assert!(after <= live + live / 8 + 80 * PAGE, "{after}, live {live}");
    assert_sound(scratch.path(), "at the end");
}

/// One transaction: mostly puts, or mostly deletions.
fn change(environment: &Environment, model: &mut Model, random: &mut Random, grows: bool) {
    let mut txn = environment.write().expect("the writer");
    for _ in 0..random.between(1, 60) {
        let key = format!("key{:05}", random.below(3000)).into_bytes();
        if random.chance(if grows { 90 } else { 20 }) {
            let len = if random.chance(10) {
                random.between(2000, 15_000)
            } else {
                200
            };
            let value = random.bytes(len);
            txn.put(Database::MAIN, &key, &value).expect("put");
            model.put(&key, &value);
        } else {
            let found = txn.delete(Database::MAIN, &key).expect("delete");
            assert_eq!(found, model.delete(&key));
        }
    }
    txn.commit().expect("commit");
}

/// Every sound file of the real library, of all page sizes and versions, after growth and deletion.
#[test]
fn files_of_the_original_are_compacted() {
    let scratch = Scratch::new("compaction-fixtures");
    for fixture in fulgurite_testkit::sound_fixtures() {
        let dir = fixture.copy_to(&scratch);
        let reached = |environment: &Environment| {
            let txn = environment.read().expect("read");
            let stat = txn.stat(Database::MAIN).expect("stat").entries;
            (stat, txn.reached_pages().expect("a sound file").len())
        };
        let environment = open(&dir);
        let before = reached(&environment);
        let report = compact(&environment, Compaction::new());
        assert_eq!(
            reached(&environment).0,
            before.0,
            "{}: {report:?}",
            fixture.name
        );
        drop(environment);
        assert_sound(&dir, &fixture.name);
        crate::fixtures::assert_lists(&fixture, &dir);
    }
}

/// Damage is an error, or is not met; it comes to an end either way, and nothing is taken down.
#[test]
fn compactions_of_damaged_files_end() {
    let scratch = Scratch::new("compaction-damaged");
    let mut errors = 0;
    for case in fulgurite_testkit::corrupt_cases().0 {
        let dir = case.copy_to(&scratch);
        let options = Environment::options().durability(fulgurite::Durability::NoSync);
        let Ok(environment) = options.open(&dir) else {
            continue;
        };
        let mut compaction = Compaction::new().punch_free_pages(true);
        let mut steps = 0;
        loop {
            steps += 1;
            assert!(steps < 1000, "{}: no end", case.name);
            match environment.compact_step(&mut compaction) {
                Ok(CompactStep::Working) => {}
                Ok(_) => break,
                Err(_) => {
                    errors += 1;
                    break;
                }
            }
        }
    }
    println!("{errors} damaged files were noticed");
    assert!(errors > 0);
}

/// A process that has the environment open without a map may be opening it. It may store where the
/// file ends.
#[test]
fn a_process_whose_maps_are_unknown_keeps_the_file_as_long_as_it_is() {
    let scratch = Scratch::new("compaction-unknown");
    let environment = open(scratch.path());
    fill_and_thin_out(&environment, &mut Random::new(7), 5_000);
    let mut other = std::process::Command::new("python3")
        .args(["-c", LOCK_AND_WAIT])
        .arg(scratch.join("lock.mdb"))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("python3");
    let mut line = String::new();
    let mut output = std::io::BufReader::new(other.stdout.take().expect("its output"));
    std::io::BufRead::read_line(&mut output, &mut line).expect("it has the lock");
    let before = data_bytes(scratch.path());
    let report = compact(&environment, Compaction::new());
    assert_eq!(report.kept_length, Some(other.id()));
    assert_eq!(data_bytes(scratch.path()), before);
    other.kill().expect("kill");
    other.wait().expect("wait");
    compact(&environment, Compaction::new());
    assert!(data_bytes(scratch.path()) < before);
    assert_sound(scratch.path(), "afterwards");
}

const LOCK_AND_WAIT: &str = "import fcntl, sys
file = open(sys.argv[1], 'r+b')
fcntl.lockf(file, fcntl.LOCK_SH, 1, 0)
print('locked', flush=True)
sys.stdin.read()
";
