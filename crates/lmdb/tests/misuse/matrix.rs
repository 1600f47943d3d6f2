//! Pointers that are no handle, a handle of another kind, or one that has ended.

use std::collections::HashSet;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lmdb::*;

use crate::world::*;

/// Addresses that are no handles: of nothing, of mapped and of unmapped memory, and near a handle.
fn strangers<H>(beside: *mut H) -> Vec<*mut H> {
    static CONSTANT: [u64; 512] = [7; 512];
    let heap: &'static mut [u64; 512] = Box::leak(Box::new([u64::MAX; 512]));
    let mut found: Vec<*mut H> = [
        0,
        1,
        7,
        8,
        4096,
        0xdead_beef,
        1 << 40,
        usize::MAX,
        usize::MAX - 7,
    ]
    .map(ptr::without_provenance_mut)
    .to_vec();
    found.push((&raw const CONSTANT[3]).cast_mut().cast());
    found.push((&raw mut heap[3]).cast());
    found.push((&raw const found).cast_mut().cast());
    // A neighbour that was never used.
    found.push(beside.wrapping_byte_add(1 << 21));
    found
}

/// Addresses within the slot of a handle, other than the handle.
fn near_misses<H>(handle: *mut H) -> [*mut H; 4] {
    [1, 8, 24, 16].map(|bytes| {
        let to = handle.addr() & !63;
        handle.with_addr(if handle.addr() == to + bytes {
            to
        } else {
            to + bytes
        })
    })
}

#[test]
fn all_functions_refuse_pointers_that_are_no_environment() {
    let home = TestEnvironment::new(0);
    let (txn, dbi) = (home.reader(), home.dbi);
    let cursor = home.cursor(txn);
    let closed = open_at(&tempfile::tempdir().unwrap(), 0);
    c!(mdb_env_close(closed));
    let mut wrong = strangers(home.env);
    wrong.extend(near_misses(home.env));
    wrong.extend([txn.cast(), cursor.cast(), closed]);
    let mut cells = 0;
    for env in wrong {
        let what = format!("{env:p}");
        cells += all_refused(&what, ENV_CALLS, env, dbi, libc::EINVAL);
        c!(mdb_env_close(env));
        cells += 1;
    }
    assert!(cells >= 400, "{cells}");
    c!(mdb_cursor_close(cursor));
    c!(mdb_txn_abort(txn));
    home.is_well();
}

#[test]
fn all_functions_refuse_pointers_that_are_no_transaction() {
    let home = TestEnvironment::new(MDB_NOTLS);
    let txn = home.reader();
    let cursor = home.cursor(txn);
    let dead: Vec<*mut MDB_txn> = [MDB_RDONLY, 0]
        .into_iter()
        .flat_map(|flags| ENDING_CALLS.iter().map(move |ending| (flags, ending)))
        .map(|(flags, (_, end))| {
            let txn = begin(home.env, flags);
            end(txn, home.dbi);
            txn
        })
        .collect();
    let strange = strangers(txn).into_iter();
    let strange = strange.chain([home.env.cast(), cursor.cast()]);
    let strange = strange.map(|txn| (txn, libc::EINVAL));
    let ended = dead.into_iter().chain(near_misses(txn));
    let ended = ended.map(|txn| (txn, MDB_BAD_TXN));
    let mut cells = 0;
    for (txn, code) in strange.chain(ended) {
        let what = format!("{txn:p}");
        cells += all_refused(&what, TXN_CALLS, txn, home.dbi, code);
        cells += all_refused(&what, ENDING_CALLS, txn, home.dbi, code);
        assert_eq!(c!(mdb_cursor_renew(txn, cursor)), code);
        // NULL is no parent at all.
        if !txn.is_null() {
            assert_eq!(child_of(home.env, txn), Err(code), "a child of {what}");
        }
        cells += 2;
    }
    assert!(cells >= 450, "{cells}");
    assert_eq!(step(cursor, MDB_FIRST), 0);
    c!(mdb_cursor_close(cursor));
    assert_eq!(c!(mdb_txn_commit(txn)), 0);
    home.is_well();
}

#[test]
fn all_functions_refuse_pointers_that_are_no_cursor() {
    let home = TestEnvironment::new(MDB_NOTLS);
    let txn = home.reader();
    let cursor = home.cursor(txn);
    let closed = home.cursor(txn);
    c!(mdb_cursor_close(closed));
    let writer = home.writer();
    let ended = home.cursor(writer);
    c!(mdb_txn_abort(writer));
    let mut wrong = strangers(cursor);
    wrong.extend(near_misses(cursor));
    wrong.extend([home.env.cast(), txn.cast(), closed, ended]);
    let mut cells = 0;
    for cursor in wrong {
        let what = format!("{cursor:p}");
        cells += all_refused(&what, CURSOR_CALLS, cursor, home.dbi, libc::EINVAL);
        assert_eq!(c!(mdb_cursor_renew(txn, cursor)), libc::EINVAL, "{what}");
        c!(mdb_cursor_close(cursor));
        cells += 2;
    }
    assert!(cells >= 250, "{cells}");
    assert_eq!(step(cursor, MDB_FIRST), 0);
    c!(mdb_cursor_close(cursor));
    c!(mdb_txn_abort(txn));
    home.is_well();
}

#[test]
fn an_unopened_environment_accepts_settings_only() {
    let mut env = ptr::null_mut();
    assert_eq!(c!(mdb_env_create(&mut env)), 0);
    let works = [
        "env_set_flags",
        "env_get_flags",
        "env_get_path",
        "env_get_fd",
        "env_set_mapsize",
        "env_set_maxreaders",
        "env_get_maxreaders",
        "env_set_maxdbs",
        "env_set_userctx",
        "env_set_assert",
        "reader_check",
        "env_set_growth",
    ];
    for (name, call) in ENV_CALLS {
        let expected = match *name {
            "env_open" => Answer::Code(libc::ENOENT),
            "env_sync" => Answer::Code(libc::EBADF),
            name if works.contains(&name) => Answer::Code(0),
            _ => Answer::Code(libc::EINVAL),
        };
        let answer = call(env, 2);
        let is_nothing = matches!(answer, Answer::Nothing(true));
        assert!(answer == expected || is_nothing, "{name}: {answer:?}");
    }
    c!(mdb_env_close(env));
}

#[test]
fn an_environment_is_opened_once() {
    let home = TestEnvironment::new(0);
    let other = tempfile::tempdir().unwrap();
    let path = std::ffi::CString::new(other.path().to_str().unwrap()).unwrap();
    let again = c!(mdb_env_open(home.env, path.as_ptr(), 0, 0o600));
    assert_eq!(again, libc::EINVAL);
    // Opening the same files through another handle shares them.
    let second = open_at(&home.directory, 0);
    let txn = begin(second, MDB_RDONLY);
    let mut dbi = 0;
    assert_eq!(c!(mdb_dbi_open(txn, c"things".as_ptr(), 0, &mut dbi)), 0);
    assert_eq!(get(txn, dbi, &[0, 0, 0, 1]), 0);
    c!(mdb_txn_abort(txn));
    c!(mdb_env_close(second));
    home.is_well();
}

/// Number of other handles after which an ended transaction or cursor is still recognised.
const OTHERS: usize = 50_000;

#[test]
fn a_stale_transaction_is_recognised_long_after_its_end() {
    for flags in [MDB_RDONLY, 0] {
        let home = TestEnvironment::new(MDB_NOSYNC);
        let mut slots = HashSet::new();
        let stale: Vec<*mut MDB_txn> = (0..5)
            .map(|_| {
                let txn = begin(home.env, flags);
                c!(mdb_txn_abort(txn));
                txn
            })
            .collect();
        for number in 0..OTHERS {
            let txn = begin(home.env, flags);
            assert!(!stale.contains(&txn), "{number}");
            slots.insert(txn.addr() / 1024);
            if number % 1000 == 0 {
                for stale in &stale {
                    assert_eq!(get(*stale, home.dbi, b"k"), MDB_BAD_TXN);
                    assert_eq!(c!(mdb_txn_commit(*stale)), MDB_BAD_TXN);
                    c!(mdb_txn_abort(*stale));
                }
            }
            c!(mdb_txn_abort(txn));
        }
        // All of this takes a bounded number of slots.
        assert!(slots.len() < 1100, "{}", slots.len());
        home.is_well();
    }
}

/// Keeps tests that take or count thousands of handles from each other. All share one memory.
fn alone_with_slots() -> MutexGuard<'static, ()> {
    static SLOTS: Mutex<()> = Mutex::new(());
    SLOTS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn a_stale_cursor_is_recognised_long_after_its_end() {
    let _alone = alone_with_slots();
    for flags in [MDB_RDONLY, 0] {
        let home = TestEnvironment::new(MDB_NOSYNC);
        let txn = begin(home.env, flags);
        let mut slots = HashSet::new();
        let stale = home.cursor(txn);
        c!(mdb_cursor_close(stale));
        for number in 0..OTHERS {
            let cursor = home.cursor(txn);
            assert_ne!(cursor, stale, "{number}");
            slots.insert(cursor.addr() / 512);
            if number % 1000 == 0 {
                assert_eq!(step(stale, MDB_NEXT), libc::EINVAL);
                c!(mdb_cursor_close(stale));
            }
            c!(mdb_cursor_close(cursor));
        }
        assert!(slots.len() < 1100, "{}", slots.len());
        c!(mdb_txn_abort(txn));
        home.is_well();
    }
}

#[test]
fn many_handles_live_at_a_time() {
    let _alone = alone_with_slots();
    let home = TestEnvironment::new(0);
    let txn = home.reader();
    // More than the first region has room for.
    let cursors: Vec<*mut MDB_cursor> = (0..20_000).map(|_| home.cursor(txn)).collect();
    let different: HashSet<_> = cursors.iter().collect();
    assert_eq!(different.len(), cursors.len());
    for cursor in &cursors {
        assert_eq!(step(*cursor, MDB_NEXT), 0);
    }
    for cursor in &cursors {
        c!(mdb_cursor_close(*cursor));
        assert_eq!(step(*cursor, MDB_NEXT), libc::EINVAL);
    }
    c!(mdb_txn_abort(txn));
    home.is_well();
}
