//! The types between threads, and paths.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::io::{Error, ErrorKind, Write};
use super::path::Path;
use super::sync::{Condvar, Mutex, Once, OnceLock, TryLockError};
use super::time::{Duration, Instant};

const THREADS: usize = 4;
const ROUNDS: usize = 10_000;

#[test]
fn a_mutex_lets_one_thread_in() {
    let mutex = Mutex::new(0);
    std::thread::scope(|threads| {
        for _ in 0..THREADS {
            threads.spawn(|| (0..ROUNDS).for_each(|_| *mutex.lock().unwrap() += 1));
        }
    });
    assert_eq!(*mutex.lock().unwrap(), THREADS * ROUNDS);
    let held = mutex.lock().unwrap();
    assert!(matches!(mutex.try_lock(), Err(TryLockError::WouldBlock)));
    drop(held);
    assert!(mutex.try_lock().is_ok());
}

#[test]
fn a_condition_wakes_all_that_wait() {
    let (turn, told) = (Mutex::new(0), Condvar::new());
    std::thread::scope(|threads| {
        for own in 0..THREADS {
            let (turn, told) = (&turn, &told);
            threads.spawn(move || {
                let mut now = turn.lock().unwrap();
                while *now != own {
                    now = told.wait(now).unwrap();
                }
                *now += 1;
                drop(now);
                told.notify_all();
            });
        }
    });
    assert_eq!(*turn.lock().unwrap(), THREADS);
}

#[test]
fn a_value_is_made_once_and_dropped_once() {
    let made = AtomicUsize::new(0);
    let value = OnceLock::new();
    let counted = Arc::new(());
    assert!(value.get().is_none());
    std::thread::scope(|threads| {
        for _ in 0..THREADS {
            threads.spawn(|| {
                value.get_or_init(|| {
                    made.fetch_add(1, Ordering::Relaxed);
                    Arc::clone(&counted)
                });
            });
        }
    });
    assert_eq!(made.load(Ordering::Relaxed), 1);
    assert!(value.set(Arc::clone(&counted)).is_err(), "it has a value");
    assert_eq!(Arc::strong_count(&counted), 2);
    drop(value);
    assert_eq!(Arc::strong_count(&counted), 1);
    let (once, ran) = (Once::new(), Cell::new(0));
    for _ in 0..3 {
        once.call_once(|| ran.set(ran.get() + 1));
    }
    assert_eq!(ran.get(), 1);
}

#[test]
fn each_thread_has_a_value_until_it_ends() {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::SeqCst);
            assert_eq!(NUMBER.try_with(Cell::get).unwrap_or(0), 0, "another key");
        }
    }
    crate::light_thread_local! {
        static NUMBER: Cell<u32> = const { Cell::new(0) };
        static VALUES: RefCell<Vec<Counted>> = const { RefCell::new(Vec::new()) };
    }
    for _ in 0..THREADS {
        let thread = std::thread::spawn(|| {
            assert_eq!(NUMBER.replace(7), 0);
            assert_eq!(NUMBER.get(), 7);
            NUMBER.set(0);
            VALUES.with_borrow_mut(|values| values.push(Counted));
            VALUES.with_borrow_mut(|values| assert_eq!(values.len(), 1));
        });
        thread.join().unwrap();
    }
    assert_eq!(DROPPED.load(Ordering::SeqCst), THREADS);
}

#[test]
fn paths_are_bytes() {
    let shown = |path: &str, name| Path::new(path).join(name).display();
    assert_eq!(shown("a/b", "data.mdb"), "a/b/data.mdb");
    assert_eq!(shown("/", "data.mdb"), "/data.mdb");
    assert_eq!(shown("", "data.mdb"), "data.mdb");
}

#[test]
fn a_write_goes_on_after_a_part_and_a_signal() {
    struct Slow(Vec<u8>, bool);
    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> super::io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(Error::from_raw_os_error(libc::EINTR));
            }
            let part = &bytes[..bytes.len().min(2)];
            self.0.extend_from_slice(part);
            Ok(part.len())
        }

        fn flush(&mut self) -> super::io::Result<()> {
            Ok(())
        }
    }
    let mut slow = Slow(Vec::new(), false);
    slow.write_all(b"seven..").unwrap();
    assert_eq!(slow.0, b"seven..");
    let missing = Error::from_raw_os_error(libc::ENOENT);
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    assert_eq!(missing.raw_os_error(), Some(libc::ENOENT));
}

#[test]
fn time_goes_forward() {
    let begun = Instant::now();
    super::thread::sleep(Duration::from_millis(2));
    assert!(begun.elapsed() >= Duration::from_millis(2));
}
