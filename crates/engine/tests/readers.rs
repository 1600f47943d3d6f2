//! Readers as other processes see them: their age, the pages they pin, and the writer's policy.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use fulgurite::{
    Database, Durability, Environment, Error, LongReader, Move, ReadTxn, Reader, ReaderPolicy,
    Snapshot, Txnid,
};

fn open(directory: &tempfile::TempDir) -> Environment {
    Environment::options()
        .durability(Durability::NoSync)
        .open(directory.path())
        .unwrap()
}

/// Fills a database with records of about a quarter of a page, so that each leaf has few.
fn filled(records: u32) -> (tempfile::TempDir, Environment) {
    let directory = tempfile::tempdir().unwrap();
    let environment = open(&directory);
    let mut txn = environment.write().unwrap();
    for key in 0..records {
        txn.put(Database::MAIN, &key.to_be_bytes(), &[1; 900])
            .unwrap();
    }
    txn.commit().unwrap();
    (directory, environment)
}

/// Overwrites one record in its own transaction.
fn overwrite(environment: &Environment, key: u32, with: u8) -> Result<(), Error> {
    let mut txn = environment.write()?;
    txn.put(Database::MAIN, &key.to_be_bytes(), &[with; 900])?;
    txn.commit()
}

fn last_page(environment: &Environment) -> u64 {
    environment.info().unwrap().last_page
}

fn only_reader(environment: &Environment) -> Reader {
    let readers = environment.readers().unwrap();
    let [reader] = readers[..] else {
        panic!("{readers:?}")
    };
    reader
}

#[test]
fn a_reader_ages_and_begins_anew_when_it_is_refreshed() {
    let (_directory, environment) = filled(10);
    let mut reader = environment.read().unwrap();
    let born = Instant::now();
    thread::sleep(Duration::from_millis(60));
    overwrite(&environment, 1, 2).unwrap();
    overwrite(&environment, 1, 3).unwrap();
    let seen = only_reader(&environment);
    assert_eq!(seen.snapshot, Some(reader.id()));
    assert_eq!(seen.pid, std::process::id());
    assert_eq!(seen.lag, 2);
    let age = seen.age.expect("an age");
    let real = born.elapsed();
    let off = Duration::from_millis(20);
    assert!(age + off > real && age < real + off, "{age:?}, {real:?}");
    assert!(!seen.is_asked_to_end);

    reader.refresh().unwrap();
    let seen = only_reader(&environment);
    assert_eq!((seen.lag, seen.snapshot), (0, Some(reader.id())));
    assert!(seen.age.unwrap() < Duration::from_millis(40));
    // Nothing was committed: the snapshot is the same, and yet it is had anew.
    thread::sleep(Duration::from_millis(60));
    assert!(only_reader(&environment).age.unwrap() > Duration::from_millis(40));
    reader.refresh().unwrap();
    assert!(only_reader(&environment).age.unwrap() < Duration::from_millis(40));
    reader.reset();
    thread::sleep(Duration::from_millis(60));
    let idle = only_reader(&environment);
    assert_eq!((idle.snapshot, idle.age, idle.lag), (None, None, 0));
    reader.renew().unwrap();
    assert!(only_reader(&environment).age.unwrap() < Duration::from_millis(40));
}

/// Pages pinned by one reader alone become usable when it ends. Its other pages become usable when
/// all others have ended too.
#[test]
fn held_pages_are_those_that_become_usable() {
    let (_directory, environment) = filled(400);
    let mut readers: Vec<Option<ReadTxn<'_>>> = Vec::new();
    for round in 0..12_u32 {
        for key in 0..7 {
            overwrite(&environment, (round * 31 + key * 50) % 400, round as u8).unwrap();
        }
        if round % 3 == 0 {
            readers.push(Some(environment.read().unwrap()));
            readers.push(Some(environment.read().unwrap()));
        }
    }
    let usable = |environment: &Environment| {
        let oldest = environment.readers().unwrap();
        let oldest = oldest.iter().filter_map(|reader| reader.snapshot).min();
        let txn = environment.read().unwrap();
        txn.free_pages().unwrap().reusable(oldest)
    };
    // Ended from the newest to the oldest and from the oldest to the newest, in turns.
    while readers.iter().any(Option::is_some) {
        let listed = environment.readers_with_pages().unwrap().unwrap();
        let live: Vec<_> = listed
            .iter()
            .filter(|(r, _)| r.snapshot.is_some())
            .collect();
        let before = usable(&environment);
        let place = if live.len() % 4 < 2 {
            readers.iter().position(Option::is_some)
        } else {
            readers.iter().rposition(Option::is_some)
        };
        let ended = readers[place.unwrap()].take().unwrap();
        let id = ended.id();
        let (_, pages) = live.iter().find(|(r, _)| r.snapshot == Some(id)).unwrap();
        drop(ended);
        let after = usable(&environment);
        assert_eq!(after - before, pages.freed_by_its_end, "{listed:?}");
        assert!(pages.held >= pages.freed_by_its_end);
        if live.len() == 1 {
            assert_eq!(pages.held, pages.freed_by_its_end);
            assert!(pages.held > 0);
        }
    }
    let txn = environment.read().unwrap();
    let free = txn.free_pages().unwrap();
    let newest: u64 = free
        .records()
        .iter()
        .filter(|(id, _)| *id == txn.id())
        .map(|(_, pages)| pages)
        .sum();
    assert_eq!(free.total(), free.reusable(None) + newest);
}

fn refusing() -> ReaderPolicy {
    ReaderPolicy::new().refuse_growth()
}

#[test]
fn growth_caused_by_a_reader_is_refused_until_it_ends() {
    let (directory, environment) = filled(300);
    for key in 0..100 {
        overwrite(&environment, key * 3, 2).unwrap();
    }
    environment.set_reader_policy(Some(refusing()));
    let reader = environment.read().unwrap();
    let before = last_page(&environment);
    let mut done = 0;
    let error = loop {
        match overwrite(&environment, done * 7 % 300, 3) {
            Ok(()) => done += 1,
            Err(error) => break error,
        }
        assert!(done < 1000, "never refused");
    };
    // Pages that were free before the reader came are used first.
    assert!(done > 0);
    assert_eq!(last_page(&environment), before, "not a page of growth");
    let Error::HeldByReader(long) = &error else {
        panic!("{error}");
    };
    assert_eq!(long.reader.pid, std::process::id());
    assert_eq!(long.reader.snapshot, Some(reader.id()));
    assert_eq!(long.reader.lag, u64::from(done));
    assert!(long.held_pages > 0 && long.reader.age.is_some());
    assert_eq!(error.code(), -30792, "MDB_MAP_FULL");
    let text = error.to_string();
    assert!(
        text.contains(&format!("of process {} ", std::process::id())) && text.contains("since "),
        "{text}"
    );
    // It stays so, and nobody is disturbed by it.
    assert!(overwrite(&environment, 1, 4).is_err());
    assert_eq!(
        reader.get(Database::MAIN, &[0, 0, 0, 1]).unwrap(),
        Some(&[1; 900][..])
    );
    drop(reader);
    for key in 0..300 {
        overwrite(&environment, key, 5).unwrap();
    }
    assert_eq!(last_page(&environment), before);
    drop(environment);
    let report = fulgurite::check::check_file(&directory.path().join("data.mdb")).unwrap();
    assert!(report.is_sound(), "{report}");
}

/// A file that would grow anyway is nobody's fault.
#[test]
fn growth_that_no_reader_causes_is_not_refused() {
    let (_directory, environment) = filled(10);
    environment.set_reader_policy(Some(refusing()));
    let reader = environment.read().unwrap();
    let mut txn = environment.write().unwrap();
    for key in 100..500_u32 {
        txn.put(Database::MAIN, &key.to_be_bytes(), &[1; 900])
            .unwrap();
    }
    txn.commit().unwrap();
    assert_eq!(reader.stat(Database::MAIN).unwrap().entries, 10);
    // A reader of the newest snapshot holds nothing back that anybody could use.
    drop(reader);
    let reader = environment.read().unwrap();
    let mut txn = environment.write().unwrap();
    for key in 500..900_u32 {
        txn.put(Database::MAIN, &key.to_be_bytes(), &[1; 900])
            .unwrap();
    }
    txn.commit().unwrap();
    drop(reader);
}

#[test]
fn limits_distinguish_long_readers_from_others() {
    let long = Duration::from_secs(3600);
    for (policy, refused) in [
        (refusing().lag_max(1_000_000), false),
        (refusing().age_max(long), false),
        (refusing().held_pages_max(1_000_000), false),
        (refusing().lag_max(20), true),
        (refusing().age_max(Duration::ZERO), true),
        (refusing().held_pages_max(20), true),
        (refusing().age_max(long).held_pages_max(20), true),
    ] {
        let (_directory, environment) = filled(300);
        environment.set_reader_policy(Some(policy.clone()));
        let reader = environment.read().unwrap();
        thread::sleep(Duration::from_millis(12));
        let failed = (0..200).find_map(|key| overwrite(&environment, key, 2).err());
        assert_eq!(failed.is_some(), refused, "{policy:?}, {failed:?}");
        if let Some(Error::HeldByReader(found)) = failed {
            let limit = policy.clone().lag_max(0);
            assert!(found.reader.lag > 0 && format!("{limit:?}") != format!("{policy:?}"));
        }
        drop(reader);
    }
}

#[test]
fn the_program_is_notified_once_of_each_snapshot() {
    let (_directory, environment) = filled(300);
    let told: Arc<Mutex<Vec<LongReader>>> = Arc::default();
    let list = Arc::clone(&told);
    environment.set_reader_policy(Some(
        ReaderPolicy::new()
            .lag_max(10)
            .warn(move |long| list.lock().unwrap().push(*long)),
    ));
    let churn = |count: u32| {
        for key in 0..count {
            overwrite(&environment, key % 300, 2).unwrap();
        }
    };
    churn(30);
    assert!(told.lock().unwrap().is_empty(), "there is no reader");
    let mut reader = environment.read().unwrap();
    let first = reader.id();
    churn(100);
    let other = environment.read().unwrap();
    churn(100);
    reader.refresh().unwrap();
    churn(300);
    drop(other);
    churn(300);
    let told: Vec<_> = told.lock().unwrap().clone();
    let ids: Vec<Option<Txnid>> = told.iter().map(|long| long.reader.snapshot).collect();
    assert_eq!(ids.len(), 3, "{told:?}");
    assert_eq!(ids[0], Some(first));
    assert_eq!(ids[2], Some(reader.id()));
    assert!(
        told.iter()
            .all(|long| long.held_pages > 0 && long.reader.lag > 10)
    );
    // A hook alone refuses nothing: the file has grown.
}

/// A reader in its own thread that ends when asked, at the time the test sets.
struct Obedient {
    look: std::sync::mpsc::Sender<()>,
    thread: thread::JoinHandle<Error>,
}

fn obedient(environment: &Arc<Environment>) -> Obedient {
    let (look, told) = std::sync::mpsc::channel();
    let (ready, begun) = std::sync::mpsc::channel();
    let environment = Arc::clone(environment);
    let thread = thread::spawn(move || {
        let reader = environment.read().unwrap();
        ready.send(()).unwrap();
        told.recv().unwrap();
        loop {
            match reader.get(Database::MAIN, &[0, 0, 0, 1]) {
                Ok(_) => thread::sleep(Duration::from_millis(1)),
                Err(error) => return error,
            }
        }
    });
    begun.recv().unwrap();
    Obedient { look, thread }
}

#[test]
fn a_reader_that_ends_when_asked_keeps_the_file_from_growing() {
    let (_directory, environment) = filled(300);
    let environment = Arc::new(environment);
    for key in 0..100 {
        overwrite(&environment, key * 3, 2).unwrap();
    }
    environment.set_reader_policy(Some(
        ReaderPolicy::new()
            .end_oldest(Duration::from_secs(20))
            .refuse_growth(),
    ));
    let before = last_page(&environment);
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let reader = obedient(&environment);
            overwrite(&environment, 1, 1).unwrap();
            reader.look.send(()).unwrap();
            reader
        })
        .collect();
    for key in 0..300 {
        overwrite(&environment, key, 3).unwrap();
    }
    assert_eq!(last_page(&environment), before);
    for reader in readers {
        assert!(matches!(reader.thread.join().unwrap(), Error::ReaderEnded));
    }
}

/// The writer waits once for a reader that does not end when asked. Values lent to it stay, and its
/// calls fail.
#[test]
fn a_reader_asked_to_end_keeps_what_it_was_lent_and_gets_nothing_new() {
    let (_directory, environment) = filled(300);
    let grace = Duration::from_millis(150);
    environment.set_reader_policy(Some(ReaderPolicy::new().end_oldest(grace)));
    let mut reader = environment.read().unwrap();
    let before = last_page(&environment);
    {
        let lent: Vec<&[u8]> = (0..300_u32)
            .map(|key| {
                reader
                    .get(Database::MAIN, &key.to_be_bytes())
                    .unwrap()
                    .unwrap()
            })
            .collect();
        let mut cursor = reader.cursor(Database::MAIN).unwrap();
        cursor.first().unwrap();
        let mut range = reader.range(Database::MAIN, ..).unwrap();
        range.next().unwrap().unwrap();
        let mut back = reader.range(Database::MAIN, ..).unwrap().rev();
        back.next().unwrap().unwrap();

        let started = Instant::now();
        let mut slow = 0;
        for key in 0..300 {
            let one = Instant::now();
            overwrite(&environment, key, 3).unwrap();
            slow += u32::from(one.elapsed() >= grace);
        }
        assert_eq!(slow, 1, "waited once");
        assert!(started.elapsed() >= grace);
        assert!(last_page(&environment) > before, "it goes on growing");
        let seen = only_reader(&environment);
        assert!(seen.is_asked_to_end && seen.snapshot == Some(reader.id()));

        assert!(lent.iter().all(|value| *value == [1; 900]), "lent before");
        let ended = |result: Result<(), Error>| match result {
            Err(Error::ReaderEnded) => {}
            other => panic!("{other:?}"),
        };
        ended(reader.get(Database::MAIN, b"any").map(drop));
        ended(reader.open_database(Some("any")).map(drop));
        ended(reader.stat(Database::MAIN).map(drop));
        ended(reader.range(Database::MAIN, ..).map(drop));
        ended(reader.prefix(Database::MAIN, b"").map(drop));
        ended(reader.values(Database::MAIN, b"any").map(drop));
        ended(reader.cursor(Database::MAIN).map(drop));
        ended(reader.count_range(Database::MAIN, ..).map(drop));
        ended(reader.estimate_range(Database::MAIN, ..).map(drop));
        ended(reader.free_pages().map(drop));
        ended(reader.get_many(Database::MAIN, &[b"any"], &mut Vec::new()));
        ended(reader.check_readable());
        ended(cursor.go(Move::Next).map(drop));
        ended(cursor.seek(&[0, 0, 0, 7]).map(drop));
        ended(cursor.current().map(drop));
        // A walk goes at most to the end of its leaf, and a leaf has four of these records.
        let walked = |mut next: Box<dyn FnMut() -> Option<Result<(), Error>> + '_>| {
            let results: Vec<_> = std::iter::from_fn(&mut next).take(400).collect();
            assert!(results.len() <= 5, "{}", results.len());
            let last = results.into_iter().next_back().expect("an error");
            ended(last);
        };
        walked(Box::new(move || range.next().map(|r| r.map(drop))));
        walked(Box::new(move || back.next().map(|r| r.map(drop))));
        let mut steps = 0;
        let error = loop {
            match cursor.next() {
                Ok(Some(_)) => steps += 1,
                Ok(None) => panic!("the cursor came to the end"),
                Err(error) => break error,
            }
        };
        assert!(steps <= 4);
        ended(Err(error));
    }
    assert_eq!(reader.id(), reader.id(), "the id stays to be asked for");
    reader.refresh().unwrap();
    assert_eq!(
        reader.get(Database::MAIN, &[0, 0, 0, 9]).unwrap(),
        Some(&[3; 900][..])
    );
    assert!(!only_reader(&environment).is_asked_to_end);
}

/// A copy is a reader like any other.
#[test]
fn copies_end_when_asked() {
    struct Slow<'a> {
        environment: &'a Environment,
        written: u64,
    }
    impl std::io::Write for Slow<'_> {
        fn write(&mut self, octets: &[u8]) -> std::io::Result<usize> {
            // Others write while the copy is under way.
            for key in 0..20 {
                overwrite(self.environment, key, 7).map_err(std::io::Error::other)?;
            }
            self.written += octets.len() as u64;
            Ok(octets.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for compact in [false, true] {
        let (_directory, environment) = filled(6000);
        let copy = |environment: &Environment| {
            let mut slow = Slow {
                environment,
                written: 0,
            };
            let copied = environment.copy_to(&mut slow, compact);
            (copied, slow.written)
        };
        let (copied, all) = copy(&environment);
        copied.unwrap();
        let policy = ReaderPolicy::new().lag_max(5).end_oldest(Duration::ZERO);
        environment.set_reader_policy(Some(policy));
        let (copied, part) = copy(&environment);
        assert!(matches!(copied, Err(Error::ReaderEnded)), "{copied:?}");
        assert!(part < all, "{part} of {all} octets");
    }
}

/// Slots are used again; a mark that was for another snapshot means nothing.
#[test]
fn a_mark_is_for_one_snapshot() {
    let (_directory, environment) = filled(300);
    environment.set_reader_policy(Some(ReaderPolicy::new().end_oldest(Duration::ZERO)));
    for round in 0..5 {
        let reader = environment.read().unwrap();
        // More in each round: what was held back in the one before is enough for as many.
        for key in 0..100 + 20 * u32::from(round) {
            overwrite(&environment, key, round).unwrap();
        }
        assert!(matches!(
            reader.get(Database::MAIN, b"any"),
            Err(Error::ReaderEnded)
        ));
        drop(reader);
        let next = environment.read().unwrap();
        assert_eq!(
            next.get(Database::MAIN, &[0; 4]).unwrap(),
            Some(&[round; 900][..])
        );
    }
}

/// A thread's cache of its last snapshot serves only the same snapshot of the same environment.
#[test]
fn a_reader_that_begins_after_another_sees_the_newest_snapshot() {
    let (_first, one) = filled(10);
    let (second, two) = filled(20);
    let entries = |environment: &Environment| {
        let txn = environment.read().unwrap();
        let found = txn.stat(Database::MAIN).unwrap().entries;
        (txn.id(), found)
    };
    for _ in 0..3 {
        assert_eq!(entries(&one), entries(&one));
        assert_eq!(entries(&one), (Txnid(1), 10));
        assert_eq!(entries(&two), (Txnid(1), 20));
        assert_eq!(entries(&two), (Txnid(1), 20));
    }
    // Named databases are of the snapshot too.
    let mut txn = two.write().unwrap();
    let named = txn
        .create_database("named", fulgurite::KeyOrder::Lexical)
        .unwrap();
    txn.put(named, b"key", b"value").unwrap();
    txn.commit().unwrap();
    let value = |environment: &Environment| {
        let txn = environment.read().unwrap();
        let value = txn
            .get(named, b"key")
            .map(|value| value.map(<[u8]>::to_vec));
        value.unwrap()
    };
    for new in [&b"other"[..], b"third"] {
        assert!(value(&two).is_some());
        let mut txn = two.write().unwrap();
        txn.put(named, b"key", new).unwrap();
        txn.commit().unwrap();
        assert_eq!(value(&two).as_deref(), Some(new));
        assert_eq!(value(&two).as_deref(), Some(new));
    }
    // Ended by another thread, and while one lives.
    let held = two.read().unwrap();
    let id = held.id();
    overwrite(&two, 3, 7).unwrap();
    assert_eq!(entries(&two).0, Txnid(id.0 + 1));
    thread::scope(|scope| {
        scope.spawn(move || drop(held));
    });
    assert_eq!(entries(&two).0, Txnid(id.0 + 1));
    // The same path, and another environment.
    drop(two);
    std::fs::remove_file(second.path().join("data.mdb")).unwrap();
    let two = open(&second);
    for number in 0..=id.0 {
        overwrite(&two, number as u32, 1).unwrap();
    }
    assert_eq!(entries(&two), (Txnid(id.0 + 1), id.0 + 1));
}
