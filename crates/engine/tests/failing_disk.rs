//! A disk that fails at one step of a commit. Earlier commits stay, and no later commit builds on
//! lost pages.

use std::sync::{Arc, Mutex};

use fulgurite::{CompactStep, Compaction, Environment, Error, KeyOrder, Snapshot};
use fulgurite_os::seam::{self, Call, FileRole, Injector, InstalledInjector, Site, Verdict};

/// The error number of a full disk.
const STORAGE_FULL: i32 = 28;

/// Calls of some kinds fail: all, or one of them.
#[derive(Default)]
struct Failing(Mutex<State>);

#[derive(Default)]
struct State {
    calls: &'static [Call],
    /// How many go well before one fails; `None` if all fail.
    spared: Option<u32>,
    made: Vec<Call>,
}

impl Failing {
    fn fail_at(&self, calls: &'static [Call]) {
        let mut state = self.0.lock().unwrap();
        (state.calls, state.spared) = (calls, None);
    }

    fn fail_once(&self, calls: &'static [Call], spared: u32) {
        let mut state = self.0.lock().unwrap();
        (state.calls, state.spared) = (calls, Some(spared));
    }

    fn heal(&self) {
        self.fail_at(&[]);
    }

    fn count(&self, call: Call) -> usize {
        let state = self.0.lock().unwrap();
        state.made.iter().filter(|made| **made == call).count()
    }
}

impl Injector for Failing {
    fn verdict(&self, site: Site, _: usize) -> Verdict {
        let mut state = self.0.lock().unwrap();
        state.made.push(site.call);
        let is_directory = site.role == FileRole::Directory;
        let is_lock_resize = site.role == FileRole::Lock && site.call == Call::Resize;
        let opens_file = site.call == Call::Open && !is_directory;
        if !state.calls.contains(&site.call) || is_lock_resize || opens_file {
            return Verdict::Go;
        }
        match &mut state.spared {
            Some(0) => state.calls = &[],
            Some(spared) => {
                *spared -= 1;
                return Verdict::Go;
            }
            None => {}
        }
        Verdict::Fail(STORAGE_FULL)
    }
}

const PAGES: &[Call] = &[Call::Write, Call::WriteVectored];
const SYNC: &[Call] = &[Call::Sync];
const FLUSH: &[Call] = &[Call::Flush];
const META: &[Call] = &[Call::WriteMeta];
const OPEN_DIRECTORY: &[Call] = &[Call::Open];
const SYNC_AND_RESIZE: &[Call] = &[Call::Sync, Call::Resize];

fn put(environment: &Environment, key: &[u8]) -> Result<(), Error> {
    let mut txn = environment.write()?;
    let things = txn.create_database("things", KeyOrder::Lexical)?;
    txn.put(things, key, &[1; 10_000])?;
    txn.commit()
}

fn has(environment: &Environment, key: &[u8]) -> bool {
    let txn = environment.read().unwrap();
    let things = txn.open_database(Some("things")).unwrap();
    txn.get(things, key).unwrap().is_some()
}

fn disk() -> (Arc<Failing>, InstalledInjector) {
    let disk = Arc::new(Failing::default());
    let installed = seam::install(disk.clone());
    (disk, installed)
}

fn environment() -> (tempfile::TempDir, Environment) {
    let directory = tempfile::tempdir().unwrap();
    let environment = Environment::options().open(directory.path()).unwrap();
    put(&environment, b"before").unwrap();
    (directory, environment)
}

#[test]
fn a_full_disk_loses_the_transaction_and_nothing_else() {
    let (disk, _installed) = disk();
    let (_directory, environment) = environment();
    disk.fail_at(PAGES);
    assert!(matches!(put(&environment, b"lost"), Err(Error::Io { .. })));
    assert!(has(&environment, b"before") && !has(&environment, b"lost"));
    disk.heal();
    put(&environment, b"after").unwrap();
    assert!(has(&environment, b"before") && has(&environment, b"after"));
    assert!(!has(&environment, b"lost"));
}

#[test]
fn reading_makes_no_calls_that_could_fail() {
    let (disk, _installed) = disk();
    let (_directory, environment) = environment();
    assert!(has(&environment, b"before"));
    let calls = || disk.0.lock().unwrap().made.clone();
    let before = calls();
    for _ in 0..10 {
        assert!(has(&environment, b"before"));
    }
    assert_eq!(calls(), before);
}

/// The system reports success for a second flush although pages of the first are lost. So the
/// engine makes none.
#[test]
fn after_a_failed_flush_nothing_is_written_until_the_environment_is_opened_anew() {
    for write_map in [false, true] {
        let (disk, _installed) = disk();
        let directory = tempfile::tempdir().unwrap();
        let open = || {
            let options = Environment::options().write_map(write_map);
            options.open(directory.path()).unwrap()
        };
        let environment = open();
        put(&environment, b"before").unwrap();
        disk.fail_at(if write_map { FLUSH } else { SYNC });
        assert!(matches!(put(&environment, b"lost"), Err(Error::Io { .. })));
        disk.heal();
        let refused = put(&environment, b"later");
        assert!(matches!(refused, Err(Error::FlushFailed)), "{refused:?}");
        assert!(matches!(environment.sync(true), Err(Error::FlushFailed)));
        assert!(has(&environment, b"before") && !has(&environment, b"lost"));
        drop(environment);
        let environment = open();
        put(&environment, b"later").unwrap();
        assert!(has(&environment, b"later") && !has(&environment, b"lost"));
    }
}

/// Spilled pages of the transaction may be lost, and its own flush would not notice.
#[test]
fn a_transaction_learns_of_a_flush_that_failed_meanwhile() {
    let (disk, _installed) = disk();
    let (_directory, environment) = environment();
    let mut txn = environment.write().unwrap();
    let things = txn.create_database("things", KeyOrder::Lexical).unwrap();
    txn.put(things, b"lost", b"").unwrap();
    disk.fail_at(SYNC);
    assert!(matches!(environment.sync(true), Err(Error::Io { .. })));
    disk.heal();
    assert!(matches!(txn.commit(), Err(Error::FlushFailed)));
    assert!(has(&environment, b"before") && !has(&environment, b"lost"));
}

/// A meta page that could not be written is put back: then it is known that nothing was committed.
#[test]
fn a_meta_page_that_fails_once_is_put_back() {
    for write_map in [false, true] {
        let (disk, _installed) = disk();
        let directory = tempfile::tempdir().unwrap();
        let options = Environment::options().write_map(write_map);
        let environment = options.open(directory.path()).unwrap();
        put(&environment, b"before").unwrap();
        // The second flush of a writable map is that of the meta page.
        disk.fail_once(if write_map { FLUSH } else { META }, u32::from(write_map));
        assert!(matches!(put(&environment, b"lost"), Err(Error::Io { .. })));
        assert!(has(&environment, b"before") && !has(&environment, b"lost"));
        assert!(matches!(
            put(&environment, b"later"),
            Err(Error::FlushFailed)
        ));
        let copy = tempfile::tempdir().unwrap();
        let from = directory.path().join("data.mdb");
        std::fs::copy(from, copy.path().join("data.mdb")).unwrap();
        let found = Environment::options().open(copy.path()).unwrap();
        assert!(has(&found, b"before") && !has(&found, b"lost"));
    }
}

/// Going back takes two writes of a meta page. If one of them fails, going back stays possible.
#[test]
fn a_snapshot_that_could_not_be_abandoned_stays() {
    for spared in 0..2 {
        let (disk, _installed) = disk();
        let (directory, environment) = environment();
        put(&environment, b"abandoned").unwrap();
        drop(environment);
        let back = || {
            let options = Environment::options().previous_snapshot(true);
            options.open(directory.path()).unwrap()
        };
        let environment = back();
        disk.fail_once(META, spared);
        assert!(matches!(put(&environment, b"lost"), Err(Error::Io { .. })));
        drop(environment);
        let environment = back();
        assert!(has(&environment, b"before") && !has(&environment, b"abandoned"));
        put(&environment, b"after").unwrap();
        drop(environment);
        let environment = Environment::options().open(directory.path()).unwrap();
        assert!(has(&environment, b"before") && has(&environment, b"after"));
        assert!(!has(&environment, b"abandoned") && !has(&environment, b"lost"));
    }
}

/// Both meta pages could have been lost together with the first commit.
#[test]
fn a_file_that_could_not_be_made_durable_is_made_anew() {
    for (calls, left) in [(SYNC, 0), (OPEN_DIRECTORY, 0)] {
        let (disk, _installed) = disk();
        let directory = tempfile::tempdir().unwrap();
        disk.fail_at(calls);
        assert!(Environment::options().open(directory.path()).is_err());
        let len = std::fs::metadata(directory.path().join("data.mdb"))
            .unwrap()
            .len();
        assert_eq!(len, left, "what could not be made durable was left");
        disk.heal();
        put(
            &Environment::options().open(directory.path()).unwrap(),
            b"a",
        )
        .unwrap();
    }
    // And if it cannot even be removed again, the next opening makes it durable.
    for no_lock in [false, true] {
        let (disk, _installed) = disk();
        let directory = tempfile::tempdir().unwrap();
        let open = || {
            let options = Environment::options().no_lock(no_lock);
            options.open(directory.path())
        };
        disk.fail_at(SYNC_AND_RESIZE);
        assert!(open().is_err());
        disk.heal();
        // The system treats the pages of a failed flush as written: a flush alone would not write
        // them.
        let (syncs, writes) = (disk.count(Call::Sync), disk.count(Call::Write));
        drop(open().unwrap());
        assert_eq!(disk.count(Call::Sync) - syncs, 2, "the file, and its name");
        assert_eq!(disk.count(Call::Write) - writes, 1, "both pages");
    }
}

/// A process that cannot be seen may store through a map beyond the end.
#[test]
fn a_file_is_not_cut_off_when_it_is_unknown_who_maps_it() {
    let (disk, _installed) = disk();
    let directory = tempfile::tempdir().unwrap();
    let environment = Environment::options().open(directory.path()).unwrap();
    for key in [b"a", b"b", b"c"] {
        put(&environment, key).unwrap();
    }
    let mut txn = environment.write().unwrap();
    let things = txn.open_database(Some("things")).unwrap();
    txn.drop_database(things).unwrap();
    txn.commit().unwrap();
    let len = || {
        std::fs::metadata(directory.path().join("data.mdb"))
            .unwrap()
            .len()
    };
    let before = len();
    disk.fail_once(&[Call::AskProcesses], 1);
    let mut compaction = Compaction::new();
    let failed = (0..100).find_map(|_| environment.compact_step(&mut compaction).err());
    assert!(matches!(failed, Some(Error::Io { .. })), "{failed:?}");
    assert_eq!(len(), before);
    disk.heal();
    while environment.compact_step(&mut compaction).unwrap() != CompactStep::Done {}
    assert!(len() < before);
}

/// Opening the lock file again and closing it would drop the locks of this process.
#[test]
fn files_without_identity_are_not_opened_again() {
    let (disk, _installed) = disk();
    let (directory, environment) = environment();
    disk.fail_once(&[Call::Look], 1);
    assert!(Environment::options().open(directory.path()).is_err());
    disk.fail_once(&[Call::Look], 0);
    assert!(Environment::options().open(directory.path()).is_err());
    assert_eq!(
        disk.count(Call::LockTry),
        2,
        "the lock file was opened twice"
    );
    put(&environment, b"after").unwrap();
}

#[test]
fn after_a_failed_meta_page_the_environment_must_be_reopened() {
    let (disk, _installed) = disk();
    let (directory, environment) = environment();
    disk.fail_at(META);
    assert!(matches!(put(&environment, b"lost"), Err(Error::Io { .. })));
    disk.heal();
    assert!(matches!(
        put(&environment, b"later"),
        Err(Error::EnvironmentFailed)
    ));
    assert!(matches!(
        environment.read().map(drop),
        Err(Error::EnvironmentFailed)
    ));
    drop(environment);
    let environment = Environment::options().open(directory.path()).unwrap();
    assert!(has(&environment, b"before") && !has(&environment, b"lost"));
    put(&environment, b"later").unwrap();
    assert!(has(&environment, b"later"));
}

#[test]
fn an_error_in_a_transaction_leaves_only_the_abort() {
    let directory = tempfile::tempdir().unwrap();
    let (disk, _installed) = disk();
    let environment = Environment::options()
        .dirty_bytes_max(64 << 10)
        .open(directory.path())
        .unwrap();
    let mut txn = environment.write().unwrap();
    let things = txn.create_database("things", KeyOrder::Integer).unwrap();
    disk.fail_at(PAGES);
    let failed =
        (0..10_000_u64).find_map(|key| txn.put(things, &key.to_ne_bytes(), &[0; 500]).err());
    assert!(matches!(failed, Some(Error::Io { .. })));
    disk.heal();
    let again = txn.put(things, &1_u64.to_ne_bytes(), b"");
    assert!(matches!(again, Err(Error::TransactionFailed)));
    assert!(matches!(txn.commit(), Err(Error::TransactionFailed)));
    put(&environment, b"after").unwrap();
}

#[test]
fn a_thread_does_not_wait_for_itself() {
    for no_lock in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let environment = Environment::options()
            .no_lock(no_lock)
            .open(directory.path())
            .unwrap();
        let txn = environment.write().unwrap();
        assert!(matches!(
            environment.write().map(drop),
            Err(Error::WriterBusy)
        ));
        std::thread::scope(|scope| {
            let other = scope.spawn(|| environment.write().unwrap().id());
            std::thread::sleep(std::time::Duration::from_millis(20));
            assert!(!other.is_finished(), "two writers at a time");
            txn.abort();
            other.join().unwrap();
        });
    }
}
