//! The owner of a handle: a thread, a parent, an environment.

use std::ptr;
use std::sync::mpsc::channel;

use lmdb::*;

use crate::world::*;

/// A handle on its way to another thread.
struct SendHandle<H>(*mut H);
// SAFETY: what other threads may do with handles is what these tests are about.
unsafe impl<H> Send for SendHandle<H> {}

impl<H> Clone for SendHandle<H> {
    fn clone(&self) -> SendHandle<H> {
        *self
    }
}
impl<H> Copy for SendHandle<H> {}

impl<H> SendHandle<H> {
    fn get(self) -> *mut H {
        self.0
    }
}

fn in_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(work).join().unwrap())
}

#[test]
fn a_write_transaction_belongs_to_its_thread() {
    let home = TestEnvironment::new(0);
    let txn = home.writer();
    let cursor = home.cursor(txn);
    assert_eq!(put(txn, home.dbi, b"mine", b"1"), 0);
    let (sent, sent_cursor, env, dbi) = (
        SendHandle(txn),
        SendHandle(cursor),
        SendHandle(home.env),
        home.dbi,
    );
    in_thread(move || {
        let (txn, cursor) = (sent.get(), sent_cursor.get());
        // Those that only look at the handle, or at what it does not own.
        let harmless = [
            "txn_env",
            "txn_id",
            "txn_renew",
            "txn_reset",
            "dbi_flags",
            "cmp",
            "dcmp",
            "set_relfunc",
            "set_relctx",
        ];
        for (name, call) in TXN_CALLS {
            if !harmless.contains(name) {
                assert_eq!(call(txn, dbi), Answer::Code(MDB_BAD_TXN), "{name}");
            }
        }
        for (name, call) in CURSOR_CALLS {
            if !["txn", "dbi"].contains(name) {
                assert_eq!(call(cursor, dbi), Answer::Code(MDB_BAD_TXN), "{name}");
            }
        }
        assert_eq!(child_of(env.get(), txn), Err(MDB_BAD_TXN));
        assert_eq!(c!(mdb_txn_commit(txn)), MDB_BAD_TXN);
        c!(mdb_cursor_close(cursor));
        c!(mdb_txn_abort(txn));
    });
    // It was left alone.
    assert_eq!(step(cursor, MDB_FIRST), 0);
    assert_eq!(put(txn, home.dbi, b"still mine", b"2"), 0);
    assert_eq!(c!(mdb_txn_commit(txn)), 0);
    let reader = home.reader();
    assert_eq!(get(reader, home.dbi, b"mine"), 0);
    c!(mdb_txn_abort(reader));
    home.is_well();
}

#[test]
fn a_read_transaction_is_used_and_ended_by_any_thread() {
    for flags in [0, MDB_NOTLS] {
        let home = TestEnvironment::new(flags);
        let txn = home.reader();
        let cursor = home.cursor(txn);
        let (sent, sent_cursor, dbi) = (SendHandle(txn), SendHandle(cursor), home.dbi);
        in_thread(move || {
            assert_eq!(get(sent.get(), dbi, &[0, 0, 0, 1]), 0);
            assert_eq!(step(sent_cursor.get(), MDB_FIRST), 0);
            c!(mdb_txn_abort(sent.get()));
            assert_eq!(get(sent.get(), dbi, &[0, 0, 0, 1]), MDB_BAD_TXN);
        });
        assert_eq!(get(txn, dbi, &[0, 0, 0, 1]), MDB_BAD_TXN);
        assert_eq!(step(cursor, MDB_NEXT), libc::EINVAL);
        c!(mdb_cursor_close(cursor));
        home.is_well();
    }
}

#[test]
fn a_thread_has_one_writer_and_one_reader() {
    let home = TestEnvironment::new(0);
    let reader = home.reader();
    let mut second = ptr::null_mut();
    let none = ptr::null_mut();
    let busy = c!(mdb_txn_begin(home.env, none, MDB_RDONLY, &mut second));
    assert_eq!(busy, MDB_BAD_RSLOT);
    let writer = home.writer();
    let busy = c!(mdb_txn_begin(home.env, none, 0, &mut second));
    assert_eq!(busy, MDB_BAD_TXN);
    c!(mdb_txn_abort(writer));
    c!(mdb_txn_abort(reader));
    home.is_well();
}

#[test]
fn another_thread_aborts_the_writer_of_an_ended_thread() {
    let home = TestEnvironment::new(0);
    let (env, dbi) = (SendHandle(home.env), home.dbi);
    let left = in_thread(move || {
        let txn = begin(env.get(), 0);
        assert_eq!(put(txn, dbi, b"lost", b"v"), 0);
        let _reader = begin(env.get(), MDB_RDONLY);
        SendHandle(txn)
    });
    assert_eq!(put(left.get(), dbi, b"k", b"v"), MDB_BAD_TXN);
    assert_eq!(c!(mdb_txn_commit(left.get())), MDB_BAD_TXN);
    c!(mdb_txn_abort(left.get()));
    let reader = home.reader();
    assert_eq!(get(reader, dbi, b"lost"), MDB_NOTFOUND);
    c!(mdb_txn_abort(reader));
    home.is_well();
}

#[test]
fn a_parent_refuses_calls_while_its_child_lives() {
    let home = TestEnvironment::new(0);
    let parent = home.writer();
    let cursor = home.cursor(parent);
    let child = child_of(home.env, parent).unwrap();
    let alone = [
        "dbi_open",
        "stat",
        "drop",
        "get",
        "put",
        "del",
        "cursor_open",
        "get_many",
    ];
    for (name, call) in TXN_CALLS {
        if alone.contains(name) {
            assert_eq!(call(parent, home.dbi), Answer::Code(MDB_BAD_TXN), "{name}");
        }
    }
    for (name, call) in CURSOR_CALLS {
        if !["txn", "dbi"].contains(name) {
            assert_eq!(call(cursor, home.dbi), Answer::Code(MDB_BAD_TXN), "{name}");
        }
    }
    assert_eq!(child_of(home.env, parent), Err(MDB_BAD_TXN));
    assert_eq!(put(child, home.dbi, b"of the child", b"v"), 0);
    let inner = home.cursor(child);
    // The end of the parent is that of the child.
    assert_eq!(c!(mdb_txn_commit(parent)), 0);
    for txn in [child, parent] {
        all_refused("an ended one", TXN_CALLS, txn, home.dbi, MDB_BAD_TXN);
        all_refused("an ended one", ENDING_CALLS, txn, home.dbi, MDB_BAD_TXN);
    }
    for cursor in [inner, cursor] {
        all_refused("an ended one", CURSOR_CALLS, cursor, home.dbi, libc::EINVAL);
        c!(mdb_cursor_close(cursor));
    }
    let reader = home.reader();
    assert_eq!(get(reader, home.dbi, b"of the child"), 0);
    c!(mdb_txn_abort(reader));
    home.is_well();
}

#[test]
fn handles_stay_in_their_environment() {
    let (here, there) = (
        TestEnvironment::new(MDB_NOTLS),
        TestEnvironment::new(MDB_NOTLS),
    );
    let (writer, reader) = (here.writer(), here.reader());
    let (other_writer, other_reader) = (there.writer(), there.reader());
    let cursor = here.cursor(reader);
    assert_eq!(child_of(there.env, writer), Err(libc::EINVAL));
    assert_eq!(c!(mdb_cursor_renew(other_reader, cursor)), libc::EINVAL);
    let write_cursor = here.cursor(writer);
    for txn in [reader, other_reader, writer, other_writer] {
        assert_eq!(c!(mdb_cursor_renew(txn, write_cursor)), libc::EINVAL);
    }
    assert_eq!(c!(mdb_cursor_renew(other_writer, cursor)), libc::EINVAL);
    assert_eq!(c!(mdb_cursor_renew(writer, cursor)), libc::EINVAL);
    // A database handle is a number: it means what it means there, if anything.
    let mut more = 0;
    assert_eq!(
        c!(mdb_dbi_open(
            writer,
            c"more".as_ptr(),
            MDB_CREATE,
            &mut more
        )),
        0
    );
    assert_eq!(get(other_writer, more, b"k"), libc::EINVAL);
    assert_eq!(get(other_reader, more, b"k"), libc::EINVAL);
    assert_eq!(get(other_reader, 1000, b"k"), libc::EINVAL);
    for txn in [writer, reader, other_writer, other_reader] {
        c!(mdb_txn_abort(txn));
    }
    c!(mdb_cursor_close(cursor));
    here.is_well();
    there.is_well();
}

#[test]
fn closing_an_environment_ends_its_transactions_and_cursors() {
    let home = TestEnvironment::new(MDB_NOTLS);
    let env = open_at(&home.directory, MDB_NOTLS);
    let readers = [begin(env, MDB_RDONLY), begin(env, MDB_RDONLY)];
    let mut dbi = 0;
    assert_eq!(
        c!(mdb_dbi_open(readers[0], c"things".as_ptr(), 0, &mut dbi)),
        0
    );
    let cursor = home.cursor(readers[0]);
    let reset = begin(env, MDB_RDONLY);
    c!(mdb_txn_reset(reset));
    let orphan = {
        let txn = begin(env, MDB_RDONLY);
        let mut cursor = ptr::null_mut();
        assert_eq!(c!(mdb_cursor_open(txn, 1, &mut cursor)), 0);
        c!(mdb_txn_abort(txn));
        cursor
    };
    let parent = begin(env, 0);
    let child = child_of(env, parent).unwrap();
    let mut write_cursor = ptr::null_mut();
    assert_eq!(c!(mdb_cursor_open(child, 1, &mut write_cursor)), 0);
    assert_eq!(put(child, 1, b"never", b"seen"), 0);
    c!(mdb_env_close(env));
    for txn in [readers[0], readers[1], reset, parent, child] {
        all_refused("a closed one", TXN_CALLS, txn, dbi, MDB_BAD_TXN);
        all_refused("a closed one", ENDING_CALLS, txn, dbi, MDB_BAD_TXN);
    }
    for cursor in [cursor, orphan, write_cursor] {
        all_refused("a closed one", CURSOR_CALLS, cursor, dbi, libc::EINVAL);
        c!(mdb_cursor_close(cursor));
    }
    all_refused("a closed one", ENV_CALLS, env, dbi, libc::EINVAL);
    c!(mdb_env_close(env));
    // Nothing is pinned or locked any more, and nothing was written.
    let mut used = 0_usize;
    extern "C" fn count(line: *const std::ffi::c_char, used: *mut std::ffi::c_void) -> i32 {
        // SAFETY: a line of text, and what is passed below.
        unsafe {
            let line = std::ffi::CStr::from_ptr(line).to_string_lossy();
            *used.cast::<usize>() +=
                usize::from(line.trim().ends_with(|last: char| last.is_ascii_digit()));
        }
        0
    }
    c!(mdb_reader_list(
        home.env,
        Some(count),
        (&raw mut used).cast()
    ));
    assert_eq!(used, 0);
    let reader = home.reader();
    assert_eq!(get(reader, 1, b"never"), MDB_NOTFOUND);
    c!(mdb_txn_abort(reader));
    home.is_well();
}

#[test]
fn closing_an_environment_leaves_the_writer_of_another_thread_alive() {
    let home = TestEnvironment::new(0);
    let env = SendHandle(open_at(&home.directory, 0));
    let (begun, wait_for_begin) = channel();
    let (close, wait_for_close) = channel::<()>();
    std::thread::scope(|scope| {
        let thread = scope.spawn(move || {
            let txn = begin(env.get(), 0);
            begun.send(SendHandle(txn)).unwrap();
            wait_for_close.recv().unwrap();
            assert_eq!(put(txn, 1, b"k", b"v"), MDB_BAD_TXN);
            assert_eq!(get(txn, 1, b"k"), MDB_BAD_TXN);
            assert!(c!(mdb_txn_env(txn)).is_null());
            assert_eq!(c!(mdb_txn_commit(txn)), MDB_BAD_TXN);
            // Now it has ended.
            assert_eq!(c!(mdb_txn_id(txn)), 0);
            c!(mdb_txn_abort(txn));
        });
        let txn = wait_for_begin.recv().unwrap();
        c!(mdb_env_close(env.get()));
        all_refused("a closed one", ENV_CALLS, env.get(), 1, libc::EINVAL);
        c!(mdb_txn_abort(txn.get()));
        close.send(()).unwrap();
        thread.join().unwrap();
    });
    home.is_well();
}

#[test]
fn earlier_transactions_keep_a_closed_database_handle() {
    let home = TestEnvironment::new(MDB_NOTLS);
    let (reader, writer) = (home.reader(), home.writer());
    let cursor = home.cursor(writer);
    assert_eq!(step(cursor, MDB_FIRST), 0);
    c!(mdb_dbi_close(home.env, home.dbi));
    c!(mdb_dbi_close(home.env, home.dbi));
    // Those that began before go on, and nobody else has it.
    assert_eq!(get(reader, home.dbi, &[0, 0, 0, 1]), 0);
    assert_eq!(put(writer, home.dbi, b"k", b"v"), 0);
    assert_eq!(step(cursor, MDB_NEXT), 0);
    let later = home.reader();
    assert_eq!(get(later, home.dbi, &[0, 0, 0, 1]), libc::EINVAL);
    assert_eq!(c!(mdb_txn_commit(writer)), 0);
    for txn in [reader, later] {
        c!(mdb_txn_abort(txn));
    }
}

#[test]
fn the_library_is_unloaded_while_a_thread_lives_that_used_it() {
    let path = std::env::current_exe()
        .unwrap()
        .with_file_name("liblmdb.so");
    // SAFETY: it does nothing when it is loaded.
    let library = unsafe { libloading::Library::new(path) }.unwrap();
    let directory = tempfile::tempdir().unwrap();
    let place = std::ffi::CString::new(directory.path().to_str().unwrap()).unwrap();
    let (used, wait_for_use) = channel::<()>();
    let (unload, wait_for_unload) = channel::<()>();
    type Create = unsafe extern "C" fn(*mut *mut MDB_env) -> i32;
    type Open = unsafe extern "C" fn(*mut MDB_env, *const i8, u32, u32) -> i32;
    type Begin = unsafe extern "C" fn(*mut MDB_env, *mut MDB_txn, u32, *mut *mut MDB_txn) -> i32;
    type End = unsafe extern "C" fn(*mut MDB_txn);
    type Close = unsafe extern "C" fn(*mut MDB_env);
    // SAFETY: the types are those of the header.
    let (create, open, begin, end, close) = unsafe {
        (
            *library.get::<Create>("mdb_env_create").unwrap(),
            *library.get::<Open>("mdb_env_open").unwrap(),
            *library.get::<Begin>("mdb_txn_begin").unwrap(),
            *library.get::<End>("mdb_txn_abort").unwrap(),
            *library.get::<Close>("mdb_env_close").unwrap(),
        )
    };
    let thread = std::thread::spawn(move || {
        let (mut env, mut txn) = (ptr::null_mut(), ptr::null_mut());
        assert_eq!(c!(create(&mut env)), 0);
        assert_eq!(c!(open(env, place.as_ptr(), 0, 0o600)), 0);
        let none = ptr::null_mut();
        assert_eq!(c!(begin(env, none, MDB_RDONLY, &mut txn)), 0);
        c!(end(txn));
        c!(close(env));
        used.send(()).unwrap();
        wait_for_unload.recv().unwrap();
    });
    wait_for_use.recv().unwrap();
    drop(library);
    unload.send(()).unwrap();
    // The library's work at the end of the thread happens here.
    thread.join().unwrap();
}
