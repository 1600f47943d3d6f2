//! Group commit: changes submitted by threads are committed together, in order, and each thread
//! learns its own result.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use fulgurite::{Database, DiskObserver, Durability, Environment, Error, Snapshot};
use fulgurite_os::seam::{self, Call, Injector, Site, Verdict};

const MAIN: Database = Database::MAIN;

/// Counts flushes, and blocks a thread that flushes until the test releases it.
#[derive(Default)]
struct Flushes {
    count: AtomicUsize,
    metas: AtomicUsize,
    gate: Mutex<Option<Arc<Barrier>>>,
}

impl DiskObserver for Flushes {
    fn write(&self, _: u64, _: &[u8], synchronous: bool) {
        self.metas
            .fetch_add(usize::from(synchronous), Ordering::SeqCst);
    }

    fn sync(&self) {
        self.count.fetch_add(1, Ordering::SeqCst);
        let gate = self.gate.lock().unwrap().take();
        if let Some(gate) = gate {
            gate.wait();
            gate.wait();
        }
    }

    fn resize(&self, _: u64) {}
}

fn observed(directory: &tempfile::TempDir) -> (Environment, Arc<Flushes>) {
    let flushes = Arc::new(Flushes::default());
    let environment = Environment::options()
        .observer(flushes.clone())
        .open(directory.path())
        .unwrap();
    (environment, flushes)
}

fn entries(environment: &Environment) -> u64 {
    environment.read().unwrap().stat(MAIN).unwrap().entries
}

/// Lets one thread flush, submits the others' work meanwhile, in order, and returns what they got.
fn while_another_commits<T: Send>(
    environment: &Environment,
    flushes: &Flushes,
    works: Vec<Box<dyn FnOnce() -> T + Send + '_>>,
    waiting: impl Fn() -> usize,
) -> Vec<T> {
    let gate = Arc::new(Barrier::new(2));
    *flushes.gate.lock().unwrap() = Some(gate.clone());
    std::thread::scope(|threads| {
        let first = threads.spawn(|| environment.submit(|txn| txn.put(MAIN, b"first", b"")));
        gate.wait();
        let others: Vec<_> = works
            .into_iter()
            .enumerate()
            .map(|(index, work)| {
                let thread = threads.spawn(work);
                while waiting() <= index {
                    std::thread::yield_now();
                }
                thread
            })
            .collect();
        gate.wait();
        first.join().unwrap().unwrap();
        others.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

#[test]
fn waiting_submitters_share_one_pair_of_flushes_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let (environment, flushes) = observed(&directory);
    let before = (
        flushes.count.load(Ordering::SeqCst),
        flushes.metas.load(Ordering::SeqCst),
    );
    let works: Vec<Box<dyn FnOnce() -> usize + Send>> = (0..16)
        .map(|index: usize| {
            let environment = &environment;
            Box::new(move || {
                let place: Result<usize, Error> = environment.submit(|txn| {
                    let place = txn.stat(MAIN)?.entries as usize;
                    txn.put(MAIN, format!("{index:02}").as_bytes(), b"value")?;
                    Ok(place)
                });
                let txn = environment.read().unwrap();
                let stored = txn.get(MAIN, format!("{index:02}").as_bytes()).unwrap();
                assert_eq!(stored, Some(&b"value"[..]), "it is visible on return");
                place.unwrap()
            }) as Box<dyn FnOnce() -> usize + Send>
        })
        .collect();
    let places = while_another_commits(&environment, &flushes, works, || {
        environment.submissions_waiting()
    });
    assert_eq!(
        places,
        (1..17).collect::<Vec<_>>(),
        "each sees those before it"
    );
    let after = (
        flushes.count.load(Ordering::SeqCst),
        flushes.metas.load(Ordering::SeqCst),
    );
    assert_eq!(
        (after.0 - before.0, after.1 - before.1),
        (2, 2),
        "two commits for 17"
    );
    assert_eq!(environment.info().unwrap().last_txnid, 2);
}

#[test]
fn errors_and_panics_reach_their_own_submitter_only() {
    #[derive(Debug)]
    enum Own {
        Engine(#[expect(dead_code, reason = "shown")] Error),
        Refused(#[expect(dead_code, reason = "shown")] u32),
    }
    impl From<Error> for Own {
        fn from(error: Error) -> Own {
            Own::Engine(error)
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let (environment, flushes) = observed(&directory);
    let environment = &environment;
    let works: Vec<Box<dyn FnOnce() -> String + Send>> = vec![
        Box::new(|| {
            let done: Result<u32, Own> = environment.submit(|txn| {
                txn.put(MAIN, b"a", b"")?;
                Ok(7)
            });
            format!("{:?}", done.unwrap())
        }),
        Box::new(|| {
            let done: Result<(), Own> = environment.submit(|txn| {
                txn.put(MAIN, b"b", b"")?;
                txn.delete(MAIN, b"a")?;
                Err(Own::Refused(4))
            });
            format!("{:?}", done.unwrap_err())
        }),
        Box::new(|| {
            let done = catch_unwind(AssertUnwindSafe(|| {
                environment.submit(|txn| -> Result<(), Error> {
                    txn.put(MAIN, b"c", b"")?;
                    std::panic::resume_unwind(Box::new("over"));
                })
            }));
            (*done.unwrap_err().downcast::<&str>().unwrap()).to_owned()
        }),
        Box::new(|| {
            let done: Result<(), Own> = environment.submit(|txn| {
                txn.put(MAIN, b"d", b"")?;
                txn.mark_failed();
                Ok(())
            });
            format!("{:?}", done.unwrap_err())
        }),
        Box::new(|| {
            let done: Result<(), Own> = environment.submit(|txn| {
                assert!(txn.commit_and_release().is_err(), "it is not its to end");
                Ok(())
            });
            format!("{:?}", done.unwrap_err())
        }),
        Box::new(|| {
            let done: Result<bool, Own> =
                environment.submit(|txn| Ok(txn.insert(MAIN, b"e", b"")?));
            format!("{:?}", done.unwrap())
        }),
    ];
    let told = while_another_commits(environment, &flushes, works, || {
        environment.submissions_waiting()
    });
    assert_eq!(
        told,
        [
            "7",
            "Refused(4)",
            "over",
            "Engine(TransactionFailed)",
            "Engine(TransactionFailed)",
            "true"
        ]
    );
    let txn = environment.read().unwrap();
    let keys: Vec<_> = txn
        .range(MAIN, ..)
        .unwrap()
        .map(|record| record.unwrap().0.to_vec())
        .collect();
    assert_eq!(keys, [&b"a"[..], b"e", b"first"]);
    assert_eq!(txn.id().0, 2, "one commit for all that came meanwhile");
}

/// Flushes fail on the threads that have it.
struct NoFlush;

impl Injector for NoFlush {
    fn verdict(&self, site: Site, _: usize) -> Verdict {
        match site.call {
            Call::Sync => Verdict::Fail(5),
            _ => Verdict::Go,
        }
    }
}

#[test]
fn a_failed_commit_fails_for_every_submitter() {
    let directory = tempfile::tempdir().unwrap();
    let (environment, flushes) = observed(&directory);
    let environment = &environment;
    let works: Vec<Box<dyn FnOnce() -> Result<(), Error> + Send>> = (0..4u8)
        .map(|index| {
            Box::new(move || {
                let _installed = seam::install(Arc::new(NoFlush));
                environment.submit(|txn| txn.put(MAIN, &[index], b""))
            }) as Box<dyn FnOnce() -> Result<(), Error> + Send>
        })
        .collect();
    let told = while_another_commits(environment, &flushes, works, || {
        environment.submissions_waiting()
    });
    for result in told {
        let number = match result {
            Err(Error::Io { source, .. }) => source.raw_os_error(),
            other => panic!("{other:?}"),
        };
        assert_eq!(number, Some(5));
    }
    assert_eq!(entries(environment), 1, "what was committed before stays");
    let later = environment.submit(|txn| txn.put(MAIN, b"later", b""));
    assert!(matches!(later, Err(Error::FlushFailed)), "{later:?}");
}

#[test]
fn a_change_that_finds_the_map_full_leaves_room_for_others() {
    let directory = tempfile::tempdir().unwrap();
    let environment = Environment::options()
        .map_size(128 << 10)
        .open(directory.path())
        .unwrap();
    let results: Vec<Result<(), Error>> = std::thread::scope(|threads| {
        let all: Vec<_> = (0..4u8)
            .map(|index| {
                let environment = &environment;
                threads.spawn(move || {
                    environment.submit(|txn| txn.put(MAIN, &[index], &[index; 70 << 10]))
                })
            })
            .collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let stored = results.iter().filter(|result| result.is_ok()).count();
    assert_eq!(stored, 1, "there is room for one: {results:?}");
    for result in results.into_iter().filter(Result::is_err) {
        assert!(matches!(result, Err(Error::MapFull(_))), "{result:?}");
    }
    environment
        .submit(|txn| txn.put(MAIN, b"small", b""))
        .expect("nothing is broken");
    assert_eq!(entries(&environment), 2);
}

#[test]
fn a_writing_thread_that_submits_gets_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let environment = Environment::options().open(directory.path()).unwrap();
    let outer: Result<(), Error> = environment.submit(|txn| {
        let inner: Result<(), Error> = environment.submit(|_| Ok(()));
        assert!(matches!(inner, Err(Error::WriterBusy)));
        txn.put(MAIN, b"key", b"")
    });
    outer.unwrap();
    let txn = environment.write().unwrap();
    let inner: Result<(), Error> = environment.submit(|_| Ok(()));
    assert!(matches!(inner, Err(Error::WriterBusy)));
    drop(txn);
    assert_eq!(entries(&environment), 1);
}

#[test]
fn many_threads_lose_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let environment = Environment::options()
        .durability(Durability::NoSync)
        .open(directory.path())
        .unwrap();
    let each = 200u32;
    std::thread::scope(|threads| {
        for thread in 0..8u32 {
            let environment = &environment;
            threads.spawn(move || {
                for number in 0..each {
                    let key = (thread << 16 | number).to_be_bytes();
                    let done: Result<(), Error> = environment.submit(|txn| {
                        txn.put(MAIN, &key, b"value")?;
                        if number % 10 == 9 {
                            txn.put(MAIN, b"never", b"")?;
                            return Err(Error::Flags);
                        }
                        Ok(())
                    });
                    assert_eq!(done.is_err(), number % 10 == 9);
                }
            });
        }
    });
    assert_eq!(entries(&environment), u64::from(8 * each * 9 / 10));
}
