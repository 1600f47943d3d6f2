//! The engine's assumptions about files, mappings and shared mutexes.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use fulgurite_os::{
    DataFile, DiskObserver, File, FileRole, LockOutcome, Map, SharedMap, page_size,
};

fn file_of(len: u64) -> File {
    let file = tempfile::tempfile().unwrap();
    file.set_len(len).unwrap();
    File::of(FileRole::Data, file)
}

/// Every write an observer was told of: where, how long, whether synchronous.
#[derive(Default)]
struct Writes(Mutex<Vec<(u64, usize, bool)>>);

impl DiskObserver for Writes {
    fn write(&self, offset: u64, bytes: &[u8], synchronous: bool) {
        let write = (offset, bytes.len(), synchronous);
        self.0.lock().unwrap().push(write);
    }
    fn sync(&self) {}
    fn resize(&self, _: u64) {}
}

#[test]
fn vectored_writes_are_consecutive_and_observed_singly() {
    let writes = Arc::new(Writes::default());
    let file = DataFile::new(file_of(0), None, Some(writes.clone()));
    file.write_vectored_at(3, &[b"abc", b"", b"de"]).unwrap();
    assert_eq!(file.len().unwrap(), 8);
    let mut read = [0xff; 10];
    assert_eq!(file.read_at(0, &mut read).unwrap(), 8, "up to the end only");
    assert_eq!(&read[..8], b"\0\0\0abcde");
    assert_eq!(
        *writes.0.lock().unwrap(),
        [(3, 3, false), (6, 0, false), (6, 2, false)]
    );
}

#[test]
fn copy_range_copies_the_map_and_stops_where_the_file_ends() {
    let page = page_size();
    let file = file_of(4 * page as u64);
    let from = DataFile::new(file, None, None);
    from.write_at(page as u64, &vec![7; 3 * page]).unwrap();
    let map = Map::reserve(from.pages(), 16 * page, page, false).unwrap();
    let to = DataFile::new(file_of(0), None, None);
    assert_eq!(to.copy_range_at(5, &map, page, 2 * page).unwrap(), 2 * page);
    let mut read = vec![0; 3 * page];
    assert_eq!(to.read_at(0, &mut read).unwrap(), 5 + 2 * page);
    assert!(read[5..5 + 2 * page].iter().all(|&byte| byte == 7));
    // Behind the end of the file, and behind that of the map, there is nothing; and no signal.
    assert_eq!(to.copy_range_at(0, &map, 4 * page, page).unwrap(), 0);
    assert_eq!(to.copy_range_at(0, &map, 16 * page, 1).unwrap(), 0);
    from.resize(2 * page as u64).unwrap();
    assert_eq!(to.copy_range_at(0, &map, page, 3 * page).unwrap(), page);
    assert_eq!(to.copy_range_at(0, &map, 2 * page, page).unwrap(), 0);
    assert!(!map.is_lost());
    // An observer sees every write.
    let observed = DataFile::new(file_of(0), None, Some(Arc::new(Writes::default())));
    assert_eq!(observed.copy_range_at(0, &map, page, page).unwrap(), 0);
}

#[test]
fn a_map_lends_what_is_in_its_reservation_and_follows_the_file() {
    let page = page_size();
    let file = file_of(page as u64);
    let map = Map::reserve(&file, 16 * page, page, true).unwrap();
    assert_eq!(map.len(), 16 * page);
    // SAFETY: the file has one page, and no other thread or process knows it.
    let room = unsafe { map.bytes_mut(8, 4) };
    room.unwrap().copy_from_slice(b"here");
    file.resize(2 * page as u64).unwrap();
    // SAFETY: the file has two pages now, and nothing changes them.
    let bytes = unsafe { map.bytes(0, 2 * page) }.unwrap();
    assert_eq!(&bytes[8..12], b"here");
    assert_eq!(bytes[2 * page - 1], 0);
    // SAFETY: nothing is lent outside the reservation.
    assert!(unsafe { map.bytes(15 * page, page + 1) }.is_none());
    // SAFETY: as above.
    assert!(unsafe { map.bytes(usize::MAX, 2) }.is_none());
}

#[test]
fn a_map_for_reading_lends_nothing_to_write() {
    let file = file_of(page_size() as u64);
    let map = Map::reserve(&file, page_size(), page_size(), false).unwrap();
    // SAFETY: nothing is lent from a read-only mapping.
    assert!(unsafe { map.bytes_mut(0, 1) }.is_none());
}

#[test]
fn try_lock_does_not_wait_for_a_held_mutex() {
    let map = SharedMap::new(&file_of(page_size() as u64), page_size()).unwrap();
    // SAFETY: no other thread or process knows the file.
    unsafe { map.mutex(64).initialise() }.unwrap();
    let mutex = map.mutex(64);
    assert_eq!(mutex.lock().unwrap(), LockOutcome::Clean);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| map.mutex(64).try_lock().unwrap());
        assert_eq!(other.join().unwrap(), None);
    });
    mutex.unlock();
    assert_eq!(mutex.try_lock().unwrap(), Some(LockOutcome::Clean));
    mutex.unlock();
    let orphan = orphaned();
    let taken = orphan.mutex(64).try_lock().unwrap();
    assert_eq!(taken, Some(LockOutcome::OwnerDied));
}

/// Makes a page of shared memory with a mutex at byte 64. A thread has taken it and ended.
fn orphaned() -> SharedMap {
    let map = SharedMap::new(&file_of(page_size() as u64), page_size()).unwrap();
    // SAFETY: no other thread or process knows the file.
    unsafe { map.mutex(64).initialise() }.unwrap();
    std::thread::scope(|scope| {
        let holder = scope.spawn(|| map.mutex(64).lock().unwrap());
        assert_eq!(holder.join().unwrap(), LockOutcome::Clean);
    });
    map
}

/// Found by `torture corruption --seed 11` (18225) and `--subjects c --seed 12` (111). The C
/// library looks at a mutex's kind. If the rest does not match the kind, it ends the process or
/// waits for ever.
#[test]
fn locking_a_damaged_mutex_is_an_error() {
    let map = SharedMap::new(&file_of(page_size() as u64), page_size()).unwrap();
    // SAFETY: no other thread or process knows the file.
    unsafe { map.mutex(64).initialise() }.unwrap();
    let kind = map.word32(64 + 16);
    let sound = kind.load(Ordering::SeqCst);
    for wrong in [
        0_u32,
        0x20,
        0x40,
        0x1_0090,
        0x90 | 0x40,
        u32::MAX,
        0x8000_0090,
    ] {
        kind.store(wrong, Ordering::SeqCst);
        let refused = map.mutex(64).lock().unwrap_err();
        assert_eq!(
            refused.kind(),
            std::io::ErrorKind::InvalidInput,
            "{wrong:#x}"
        );
    }
    kind.store(sound, Ordering::SeqCst);
    assert_eq!(map.mutex(64).lock().unwrap(), LockOutcome::Clean);
    map.mutex(64).unlock();
}

#[test]
fn a_mutex_whose_holder_ended_says_so_and_is_clean_once_repaired() {
    let map = orphaned();
    assert_eq!(map.mutex(64).lock().unwrap(), LockOutcome::OwnerDied);
    map.mutex(64).mark_consistent().unwrap();
    map.mutex(64).unlock();
    assert_eq!(map.mutex(64).lock().unwrap(), LockOutcome::Clean);
    map.mutex(64).unlock();
}

#[test]
fn a_mutex_that_was_not_repaired_is_lost_for_good() {
    let map = orphaned();
    assert_eq!(map.mutex(64).lock().unwrap(), LockOutcome::OwnerDied);
    map.mutex(64).unlock();
    let error = map.mutex(64).lock().unwrap_err();
    assert_eq!(error.raw_os_error(), Some(fulgurite_os::NOT_RECOVERABLE));
}

#[test]
fn words_are_shared_by_all_mappings_of_a_file() {
    let file = file_of(page_size() as u64);
    let map = || SharedMap::new(&file, page_size()).unwrap();
    let (one, other) = (map(), map());
    one.word64(48)
        .store(0x0102_0304_0506_0708, Ordering::SeqCst);
    assert_eq!(
        other.word64(48).load(Ordering::SeqCst),
        0x0102_0304_0506_0708
    );
}
