//! Calls from within the program's own functions that the library calls.

use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use lmdb::*;

use crate::world::*;

/// The calls that the comparison function makes the next time it runs.
type Attempt = Box<dyn FnOnce()>;

thread_local! {
    static ATTEMPT: RefCell<Option<Attempt>> = const { RefCell::new(None) };
}

extern "C" fn order(a: *const MDB_val, b: *const MDB_val) -> c_int {
    if let Some(attempt) = ATTEMPT.take() {
        attempt();
    }
    // SAFETY: the library passes two values with their bytes.
    let [a, b] = [a, b].map(|value| unsafe {
        std::slice::from_raw_parts((*value).mv_data.cast::<u8>(), (*value).mv_size)
    });
    a.cmp(b) as c_int
}

/// Makes a call during which the order tries something; fails unless it was asked.
fn during(call: impl FnOnce() -> c_int, attempt: impl FnOnce() + 'static) -> c_int {
    ATTEMPT.set(Some(Box::new(attempt)));
    let answer = call();
    assert!(ATTEMPT.take().is_none(), "the order was not asked");
    answer
}

fn ordered(txn: *mut MDB_txn, dbi: MDB_dbi) {
    assert_eq!(c!(mdb_set_compare(txn, dbi, Some(order))), 0);
}

/// Everything that a busy transaction and its cursor refuse.
fn all_busy(env: *mut MDB_env, txn: *mut MDB_txn, cursor: *mut MDB_cursor, dbi: MDB_dbi) {
    for (name, call) in TXN_CALLS {
        let expected = match *name {
            "txn_env" | "txn_id" | "txn_reset" => continue,
            "txn_renew" => libc::EINVAL,
            _ => MDB_BAD_TXN,
        };
        let answer = call(txn, dbi);
        let refused = answer == Answer::Code(expected) || answer == Answer::Nothing(true);
        assert!(refused, "{name}: {answer:?}");
    }
    for (name, call) in CURSOR_CALLS {
        let answer = call(cursor, dbi);
        let refused = match *name {
            "txn" | "dbi" => true,
            // A reader refuses writes before it checks anything else.
            "put" | "del" => [MDB_BAD_TXN, libc::EACCES]
                .map(Answer::Code)
                .contains(&answer),
            _ => answer == Answer::Code(MDB_BAD_TXN),
        };
        assert!(refused, "{name}: {answer:?}");
    }
    c!(mdb_cursor_close(cursor));
    assert_eq!(c!(mdb_cursor_renew(txn, cursor)), MDB_BAD_TXN);
    assert!(child_of(env, txn).is_err());
    assert_eq!(c!(mdb_txn_commit(txn)), MDB_BAD_TXN);
    c!(mdb_txn_abort(txn));
}

#[test]
fn a_transaction_is_busy_while_a_comparison_function_runs() {
    let home = TestEnvironment::new(MDB_NOTLS);
    for flags in [0, MDB_RDONLY] {
        let txn = begin(home.env, flags);
        ordered(txn, home.dbi);
        let cursor = home.cursor(txn);
        let (env, dbi) = (home.env, home.dbi);
        let busy = move || all_busy(env, txn, cursor, dbi);
        assert_eq!(during(|| get(txn, dbi, &[0, 0, 0, 1]), busy), 0);
        assert_eq!(during(|| step(cursor, MDB_SET_RANGE), busy), 0);
        if flags == 0 {
            assert_eq!(during(|| put(txn, dbi, &[0, 0, 0, 9], b"w"), busy), 0);
            let delete = || c!(mdb_del(txn, dbi, &mut val(&[0, 0, 0, 9]), ptr::null_mut()));
            assert_eq!(during(delete, busy), 0);
        }
        // It is as it was.
        assert_eq!(step(cursor, MDB_FIRST), 0);
        assert_eq!(get(txn, dbi, &[0, 0, 0, 1]), 0);
        c!(mdb_cursor_close(cursor));
        assert_eq!(c!(mdb_txn_commit(txn)), 0);
    }
    home.is_well();
}

#[test]
fn other_transactions_can_be_used_while_one_is_busy() {
    let home = TestEnvironment::new(MDB_NOTLS);
    let (txn, other) = (home.reader(), home.reader());
    ordered(txn, home.dbi);
    let dbi = home.dbi;
    let answer = during(
        || get(txn, dbi, &[0, 0, 0, 1]),
        move || {
            assert_eq!(get(other, dbi, &[0, 0, 0, 2]), 0);
            c!(mdb_txn_abort(other));
        },
    );
    assert_eq!(answer, 0);
    c!(mdb_txn_abort(txn));
    home.is_well();
}

#[test]
fn a_parent_and_its_child_are_busy_together() {
    let home = TestEnvironment::new(0);
    let parent = home.writer();
    ordered(parent, home.dbi);
    let child = child_of(home.env, parent).unwrap();
    let dbi = home.dbi;
    let answer = during(
        || put(child, dbi, &[0, 0, 0, 1], b"x"),
        move || {
            assert_eq!(c!(mdb_txn_commit(parent)), MDB_BAD_TXN);
            c!(mdb_txn_abort(parent));
        },
    );
    assert_eq!(answer, 0);
    assert_eq!(c!(mdb_txn_commit(parent)), 0);
    home.is_well();
}

#[test]
fn an_environment_closed_within_a_call_lives_until_its_transaction_ends() {
    for flags in [0, MDB_RDONLY] {
        let home = TestEnvironment::new(0);
        let env = open_at(&home.directory, 0);
        let txn = begin(env, flags);
        let mut dbi = 0;
        assert_eq!(c!(mdb_dbi_open(txn, c"things".as_ptr(), 0, &mut dbi)), 0);
        ordered(txn, dbi);
        let cursor = home.cursor(txn);
        let answer = during(
            || step(cursor, MDB_SET_RANGE),
            move || c!(mdb_env_close(env)),
        );
        assert_eq!(answer, 0);
        all_refused("a closed one", ENV_CALLS, env, dbi, libc::EINVAL);
        assert_eq!(get(txn, dbi, b"k"), MDB_BAD_TXN);
        assert_eq!(step(cursor, MDB_NEXT), MDB_BAD_TXN);
        c!(mdb_txn_abort(txn));
        assert_eq!(get(txn, dbi, b"k"), MDB_BAD_TXN);
        home.is_well();
    }
}

#[test]
fn the_function_that_lists_readers_may_close_the_environment() {
    let home = TestEnvironment::new(0);
    let env = open_at(&home.directory, 0);
    let reader = begin(env, MDB_RDONLY);
    extern "C" fn close(_: *const c_char, env: *mut c_void) -> c_int {
        c!(mdb_env_close(env.cast()));
        0
    }
    assert_eq!(c!(mdb_reader_list(env, Some(close), env.cast())), 0);
    assert_eq!(get(reader, 1, b"k"), MDB_BAD_TXN);
    home.is_well();
}
