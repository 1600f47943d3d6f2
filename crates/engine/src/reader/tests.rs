//! The slot table, with leftovers of other processes written into it by hand.

use std::process::Command;
use std::sync::atomic::Ordering;

use fulgurite_format::{Txnid, lockfile};

use super::stamp::ask_to_end;
use super::{EndMark, LockFile, Slot, SlotTable};
use crate::Error;

fn open(slots: u32) -> (tempfile::TempDir, LockFile) {
    let directory = tempfile::tempdir().unwrap();
    let lock = LockFile::open(&directory.path().join("lock.mdb"), slots, 0o600).unwrap();
    lock.settle(Txnid(7)).unwrap();
    (directory, lock)
}

/// Puts a slot into the table as another process would.
fn plant(lock: &LockFile, index: u32, pid: u32, id: u64) {
    let at = lockfile::slot_at(index);
    lock.map
        .word64(at + lockfile::SLOT_TXNID_AT)
        .store(id, Ordering::SeqCst);
    lock.set_slot_pid(index, pid);
    lock.map
        .word32(lockfile::USED_SLOTS_AT)
        .fetch_max(index + 1, Ordering::SeqCst);
}

fn dead_pid() -> u32 {
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    child.id()
}

#[test]
fn a_slot_is_used_again_by_its_process() {
    let (_directory, lock) = open(4);
    let first = lock.take_slot().unwrap();
    assert_eq!(lock.pin(first), Txnid(7));
    lock.give_back(first);
    assert_eq!(lock.take_slot().unwrap(), first);
    let second = lock.take_slot().unwrap();
    assert_ne!(second, first);
    assert_eq!(lock.used_slots(), 2);
}

#[test]
fn the_oldest_snapshot_counts_and_idle_slots_do_not() {
    let (_directory, lock) = open(4);
    let old = lock.take_slot().unwrap();
    lock.pin(old);
    lock.store_last_txnid(Txnid(9));
    let new = lock.take_slot().unwrap();
    assert_eq!(lock.pin(new), Txnid(9));
    assert_eq!(lock.oldest_reader(Txnid(9)), Txnid(7));
    lock.unpin(old);
    assert_eq!(lock.oldest_reader(Txnid(9)), Txnid(9));
    assert_eq!(lock.oldest_reader(Txnid(8)), Txnid(8));
}

#[test]
fn slots_of_the_dead_are_freed_when_the_table_is_full() {
    let (_directory, lock) = open(2);
    let dead = dead_pid();
    plant(&lock, 0, dead, 3);
    plant(&lock, 1, dead, 5);
    assert_eq!(lock.oldest_reader(Txnid(7)), Txnid(3));
    let slot = lock.take_slot().unwrap();
    assert_eq!(lock.pin(slot), Txnid(7));
    assert_eq!(lock.oldest_reader(Txnid(7)), Txnid(7));
}

#[test]
fn a_full_table_is_an_error_and_not_a_wait() {
    let (_directory, lock) = open(2);
    let slots = [lock.take_slot().unwrap(), lock.take_slot().unwrap()];
    assert!(matches!(
        lock.take_slot().map_err(Error::from),
        Err(Error::ReadersFull(2))
    ));
    lock.give_back(slots[1]);
    assert_eq!(lock.take_slot().unwrap(), slots[1]);
}

/// A dead process may have had the id that this one has now: its slot is neither used nor kept.
#[test]
fn leftovers_under_our_own_process_id_go() {
    let (_directory, lock) = open(4);
    plant(&lock, 0, std::process::id(), 2);
    plant(&lock, 1, std::process::id(), 3);
    let slot = lock.take_slot().unwrap();
    assert_eq!(lock.pin(slot), Txnid(7));
    assert_eq!(lock.oldest_reader(Txnid(7)), Txnid(7));
}

#[test]
fn a_live_file_keeps_its_number_of_slots() {
    let (directory, lock) = open(10);
    drop(lock);
    let path = directory.path().join("lock.mdb");
    let again = LockFile::open(&path, 2, 0o600).unwrap();
    assert_eq!(again.slots(), 10);
    assert_eq!(again.used_slots(), 0);
}

/// Writes the padding of a slot as an earlier user, or a writer, left it.
fn leave(lock: &LockFile, index: u32, stamped: u64, stamp: u64, mark: u64) {
    lock.stamp_txnid_word(index)
        .store(stamped, Ordering::SeqCst);
    lock.stamp_word(index).store(stamp, Ordering::SeqCst);
    lock.end_word(index).store(mark, Ordering::SeqCst);
}

/// Stamps a slot as its reader does.
fn stamp(lock: &LockFile, slot: Slot, id: Txnid) {
    let slot_cache = lock.slot_cache(slot).unwrap();
    slot_cache.stamp(slot_cache.stamp_of_now(), id);
}

/// The original leaves the padding unchanged. Its contents count only for the slot's snapshot and
/// process.
#[test]
fn a_stamp_left_over_by_another_is_no_age() {
    let (_directory, lock) = open(4);
    let age = || lock.readers().first().expect("a reader").age;
    let pid = 4_000_000;
    plant(&lock, 0, pid, 5);
    assert_eq!(age(), None);
    let now = lockfile::stamp(fulgurite_os::coarse_clock_ns(), pid);
    leave(&lock, 0, 5, now, 0);
    assert!(age().is_some());
    leave(&lock, 0, 4, now, 0);
    assert_eq!(age(), None, "for another snapshot");
    let of_another = lockfile::stamp(fulgurite_os::coarse_clock_ns(), pid - 1);
    leave(&lock, 0, 5, of_another, 0);
    assert_eq!(age(), None, "of another process");
    leave(&lock, 0, 5, 0, 0);
    assert_eq!(age(), None, "never stamped");
}

#[test]
fn a_slot_that_is_taken_is_without_the_notes_of_its_last_user() {
    let (_directory, lock) = open(4);
    plant(&lock, 0, 0, 7);
    let now = lockfile::stamp(fulgurite_os::coarse_clock_ns(), std::process::id());
    leave(&lock, 0, 7, now, 8);
    let slot = lock.take_slot().unwrap();
    assert_eq!(lock.pin(slot), Txnid(7));
    let reader = lock.readers()[0];
    assert_eq!((reader.age, reader.is_asked_to_end), (None, false));
    assert!(!lock.slot_cache(slot).unwrap().end_mark().is_set());
    stamp(&lock, slot, Txnid(7));
    assert!(lock.readers()[0].age.is_some());
}

#[test]
fn a_mark_stops_the_reader_of_its_snapshot_and_no_other() {
    let (_directory, lock) = open(4);
    let slot = lock.take_slot().unwrap();
    lock.pin(slot);
    stamp(&lock, slot, Txnid(7));
    assert!(lock.slot_cache(slot).unwrap().end_mark().check().is_ok());
    // A writer that was slow: the reader it meant has begun anew.
    ask_to_end(lock.end_word(0), Txnid(6));
    assert!(lock.slot_cache(slot).unwrap().end_mark().is_set());
    assert!(lock.slot_cache(slot).unwrap().end_mark().check().is_ok());
    assert!(
        !lock.slot_cache(slot).unwrap().end_mark().is_set(),
        "taken away"
    );
    ask_to_end(lock.end_word(0), Txnid(7));
    for _ in 0..2 {
        assert!(matches!(
            lock.slot_cache(slot)
                .unwrap()
                .end_mark()
                .check()
                .map_err(Error::from),
            Err(Error::ReaderEnded)
        ));
    }
    assert!(lock.readers()[0].is_asked_to_end);
    lock.store_last_txnid(Txnid(8));
    lock.pin(slot);
    stamp(&lock, slot, Txnid(8));
    assert!(!lock.slot_cache(slot).unwrap().end_mark().is_set());
    assert!(EndMark::never().check().is_ok());
    assert!(matches!(
        EndMark::always().check().map_err(Error::from),
        Err(Error::TransactionFailed)
    ));
}

/// In an environment without commits, readers have snapshot 0. Its mark differs from the empty
/// mark.
#[test]
fn the_first_snapshot_of_all_can_be_asked_to_end() {
    let (_directory, lock) = open(4);
    lock.store_last_txnid(Txnid(0));
    let slot = lock.take_slot().unwrap();
    lock.pin(slot);
    ask_to_end(lock.end_word(0), Txnid(0));
    assert!(matches!(
        lock.slot_cache(slot)
            .unwrap()
            .end_mark()
            .check()
            .map_err(Error::from),
        Err(Error::ReaderEnded)
    ));
}

#[test]
fn sole_opener_repairs_the_length_of_a_lock_file() {
    let (dir, lock) = open(4);
    let path = dir.path().join("lock.mdb");
    let same = || std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    drop(lock);
    same().set_len(1 << 40).unwrap();
    let again = LockFile::open(&path, 4, 0o600).unwrap();
    assert_eq!(again.slots(), 4);
    assert!(path.metadata().unwrap().len() < 1000);
}
