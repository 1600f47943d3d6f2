//! The slot table, with leftovers of other processes written into it by hand.

use std::process::Command;
use std::sync::atomic::Ordering;

use fulgurite_format::{Txnid, lockfile};

use super::{LockFile, SlotTable};
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
    assert!(matches!(lock.take_slot(), Err(Error::ReadersFull(2))));
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
