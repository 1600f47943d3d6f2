//! A writer dies at each step of a commit while another process, of either library, has the
//! environment open.
//!
//! The lock file is not re-initialised then. The survivor has to find the dead process's mutex,
//! learn the last transaction from the meta pages, and go on. No other process can interrupt
//! between the write of the meta page and its publication in the lock file. So the dying process
//! performs that write itself before it dies.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use fulgurite::{DiskObserver, Environment, Snapshot};
use fulgurite_testkit::{Ended, Peer, Scratch, c_peer, run_bounded};

use crate::child;
use crate::common::assert_sound;
use crate::peer::our_peer;

const DIR: &str = "FULGURITE_TEST_DIR";
const STEP: &str = "FULGURITE_TEST_STEP";
/// Set if the step at which the process dies is still done.
const DONE: &str = "FULGURITE_TEST_STEP_DONE";
/// Commits have fewer steps than this.
const STEPS_MAX: i64 = 100;

struct Killer {
    data: PathBuf,
    left: AtomicI64,
    done: bool,
}

impl Killer {
    /// Dies at the chosen step, after doing it if so asked.
    fn step(&self, act: impl FnOnce(&Path)) {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 0 {
            if self.done {
                act(&self.data);
            }
            child::die();
        }
    }
}

impl DiskObserver for Killer {
    fn write(&self, offset: u64, bytes: &[u8], _: bool) {
        self.step(|data| {
            let file = OpenOptions::new()
                .write(true)
                .open(data)
                .expect("open the data file");
            file.write_all_at(bytes, offset)
                .expect("write in the engine's place");
        });
    }

    fn sync(&self) {
        self.step(|_| {});
    }

    fn resize(&self, _: u64) {
        self.step(|_| {});
    }
}

/// Commits one transaction and dies at the chosen step of it.
pub(crate) fn child() {
    let dir = PathBuf::from(child::parameter(DIR));
    let step: i64 = child::parameter(STEP).parse().expect("a number");
    let killer = Killer {
        data: dir.join("data.mdb"),
        left: AtomicI64::new(step),
        done: child::parameter(DONE) == "yes",
    };
    let environment = Environment::options()
        .observer(Arc::new(killer))
        .open(&dir)
        .expect("open");
    let mut txn = environment.write().expect("the writer");
    let db = txn.open_database(None).expect("the main database");
    for i in 0..200 {
        txn.put(db, format!("k{i:08}").as_bytes(), b"new")
            .expect("put");
    }
    txn.commit().expect("commit");
}

/// Kills at one step. The survivor must see the old or the new state as a whole. `None` when the
/// commit has fewer steps.
fn kill_at(survivor: fn() -> Peer, step: i64, done: bool) -> Option<bool> {
    let scratch = Scratch::new("crash-points");
    let mut survivor = survivor();
    survivor.must(&format!(
        "open {} mapsize=67108864",
        scratch.path().display()
    ));
    survivor.must("write");
    survivor.must("fill - 0 300 100 1");
    survivor.must("commit");
    survivor.must("read 0");
    let old = survivor.must("hash 0 -");
    let mut command = child::role("crash");
    command.env(DIR, scratch.path()).env(STEP, step.to_string());
    let outcome = run_bounded(
        command.env(DONE, if done { "yes" } else { "no" }),
        Duration::from_secs(20),
    );
    if outcome.ended == Ended::Exit(0) {
        return None;
    }
    let context = format!("{} survives, step {step}, done: {done}", survivor.name());
    assert_eq!(outcome.ended, Ended::Signal(9), "{context}: {outcome:?}");
    assert_eq!(
        survivor.must("hash 0 -"),
        old,
        "{context}: the snapshot held meanwhile"
    );
    let id: u64 = survivor.must("write").parse().expect("an id");
    let value = survivor.must("get w - 6b3030303030303030");
    let is_new = value == "6e6577";
    assert_eq!(
        survivor.must("hash w -") == old,
        !is_new,
        "{context}: all of it or nothing"
    );
    assert_eq!(id, if is_new { 3 } else { 2 }, "{context}");
    survivor.must("fill - 100 300 50 2");
    survivor.must("commit");
    survivor.must("renew 0");
    assert!(survivor.must("hash 0 -").starts_with("400 "), "{context}");
    drop(survivor);
    assert_sound(scratch.path(), &context);
    Some(is_new)
}

#[test]
fn a_commit_that_dies_at_any_step_is_there_whole_or_not_at_all() {
    for survivor in [our_peer as fn() -> Peer, c_peer] {
        for done in [false, true] {
            let states: Vec<bool> = (0..STEPS_MAX)
                .map_while(|step| kill_at(survivor, step, done))
                .collect();
            // The meta page is the last step; only when it was written the transaction is there.
            assert!(states.len() > 3, "{} steps", states.len());
            let expected: Vec<bool> = (1..=states.len())
                .map(|step| done && step == states.len())
                .collect();
            assert_eq!(states, expected);
        }
    }
}
