//! A forked child: every function refuses what it inherited. It closes that without harm, and opens
//! the environment again.
//!
//! One test alone, so that the child is a copy of the only thread that does anything.

#[path = "../misuse/world.rs"]
mod world;

use lmdb::*;
use world::*;

/// Runs work in a forked child; fails unless it comes to its end.
fn in_child(work: impl FnOnce()) {
    // SAFETY: no other thread does anything that could leave a lock taken in the child.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        // SAFETY: ends the child without running the test's own ends.
        unsafe { libc::_exit(i32::from(done.is_err())) };
    }
    let mut status = -1;
    // SAFETY: the child of this process.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!(status, 0, "the child says why");
}

#[test]
fn every_function_refuses_inherited_handles_in_a_forked_child() {
    let home = TestEnvironment::new(0);
    let (reader, writer) = (home.reader(), home.writer());
    let (cursor, write_cursor) = (home.cursor(reader), home.cursor(writer));
    assert_eq!(put(writer, home.dbi, b"parent", b"v"), 0);

    in_child(|| {
        all_refused("an inherited one", ENV_CALLS, home.env, home.dbi, MDB_PANIC);
        for txn in [reader, writer] {
            all_refused("an inherited one", TXN_CALLS, txn, home.dbi, MDB_PANIC);
            all_refused("an inherited one", ENDING_CALLS, txn, home.dbi, MDB_PANIC);
            assert_eq!(child_of(home.env, txn), Err(MDB_PANIC));
        }
        for cursor in [cursor, write_cursor] {
            all_refused(
                "an inherited one",
                CURSOR_CALLS,
                cursor,
                home.dbi,
                MDB_PANIC,
            );
            c!(mdb_cursor_close(cursor));
        }
        // It opens its own environment, before and after it has closed the inherited one.
        let own = open_at(&home.directory, 0);
        let txn = begin(own, MDB_RDONLY);
        assert_eq!(get(txn, 1, b"things"), 0);
        c!(mdb_env_close(home.env));
        all_refused("a closed one", ENV_CALLS, home.env, home.dbi, libc::EINVAL);
        assert_eq!(get(txn, 1, b"nothing"), MDB_NOTFOUND);
        c!(mdb_txn_abort(txn));
        c!(mdb_env_close(own));
    });

    // The parent has all it had.
    assert_eq!(get(reader, home.dbi, &[0, 0, 0, 1]), 0);
    assert_eq!(step(cursor, MDB_FIRST), 0);
    assert_eq!(step(write_cursor, MDB_FIRST), 0);
    assert_eq!(c!(mdb_txn_commit(writer)), 0);
    assert_eq!(get(reader, home.dbi, b"parent"), MDB_NOTFOUND);
    c!(mdb_txn_abort(reader));
    c!(mdb_cursor_close(cursor));

    // And nobody holds the writer's lock.
    in_child(|| {
        let own = open_at(&home.directory, 0);
        let txn = begin(own, 0);
        assert_eq!(put(txn, 1, b"child", b"v"), 0);
        assert_eq!(c!(mdb_txn_commit(txn)), 0);
        c!(mdb_env_close(own));
    });
    home.is_well();
}
