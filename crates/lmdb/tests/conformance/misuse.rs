//! NULL and misuse: the results of LMDB where it has one. Calls that crash LMDB, or corrupt its
//! data, go to this library alone.

use std::ptr;

use lmdb::*;

use crate::world::{Arg, NULL, val};
use crate::{alone, compare};

#[test]
fn null_is_refused() {
    compare(|world| {
        let api = world.api;
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        let dbi = world.dbi(txn, None, 0);
        world.put(NULL, dbi, "k", "v", 0);
        world.put(txn, dbi, Arg::Null, "v", 0);
        world.put(txn, dbi, "k", Arg::Null, 0);
        world.get(NULL, dbi, "k");
        world.get(txn, dbi, Arg::Null);
        world.del(NULL, dbi, "k", "v");
        world.del(txn, dbi, Arg::Null, "v");
        world.stat(NULL, dbi);
        world.drop_dbi(NULL, dbi, 0);
        world.dbi_flags(NULL, dbi);
        world.cursor(NULL, dbi);
        let cursor = world.cursor(txn, dbi);
        world.go(NULL, MDB_NEXT);
        world.go(cursor, 19);
        world.go(cursor, u32::MAX);
        world.cursor_put(NULL, "k", "v", 0);
        world.cursor_put(cursor, Arg::Null, "v", 0);
        world.count(NULL);
        world.env_stat(NULL);
        world.info(NULL);
        world.flags(NULL);
        world.set_mapsize(env, 1 << 20);
        world.code("get", api.get(txn, dbi, &mut val(b"k"), ptr::null_mut()));
        world.code("stat", api.stat(txn, dbi, ptr::null_mut()));
        world.code("env_stat", api.env_stat(env, ptr::null_mut()));
        world.code("env_info", api.env_info(env, ptr::null_mut()));
        world.code("get_flags", api.env_get_flags(env, ptr::null_mut()));
        world.code("get_path", api.env_get_path(env, ptr::null_mut()));
        world.code("get_fd", api.env_get_fd(env, ptr::null_mut()));
        world.code(
            "get_maxreaders",
            api.env_get_maxreaders(env, ptr::null_mut()),
        );
        world.code("count", api.cursor_count(cursor, ptr::null_mut()));
        world.code("set_compare", api.set_compare(NULL, dbi, None));
        world.code("set_dupsort", api.set_dupsort(NULL, dbi, None));
        world.code("set_relfunc", api.set_relfunc(NULL, dbi, NULL));
        world.code("set_relctx", api.set_relctx(NULL, dbi, NULL));
        world.code("set_userctx", api.env_set_userctx(NULL, NULL));
        world.code("set_assert", api.env_set_assert(NULL, NULL));
        world.code("reader_check", api.reader_check(NULL, ptr::null_mut()));
        world.code("reader_list", api.reader_list(NULL, None, NULL));
        world.code("reader_list", api.reader_list(env, None, NULL));
        world.code("cursor_renew", api.cursor_renew(txn, NULL));
        let none = api.cursor_txn(NULL).is_null() && api.env_get_userctx(NULL).is_null();
        world.line(&format!("{none}"));
        world.abort(txn);
        world.close(env);
    });
}

/// Lines of a transcript that do not end with this code.
fn others(transcript: &str, code: i32) -> Vec<String> {
    let ending = format!("-> {code} ");
    let is_other = |line: &&str| line.contains("->") && !line.contains(&ending);
    transcript
        .lines()
        .filter(is_other)
        .map(str::to_owned)
        .collect()
}

#[test]
fn calls_that_crash_lmdb_are_invalid() {
    let transcript = alone(|world| {
        let api = world.api;
        let env = world.create();
        world.line("unopened:");
        world.begin(env, NULL, 0);
        world.begin(env, NULL, MDB_RDONLY);
        world.begin(NULL, NULL, 0);
        world.env_stat(env);
        world.info(env);
        world.code("create", api.env_create(ptr::null_mut()));
        world.code(
            "dbi_open",
            api.dbi_open(NULL, ptr::null(), 0, ptr::null_mut()),
        );
        world.code("cursor_del", api.cursor_del(NULL, 0));
        world.code("env_open", api.env_open(env, ptr::null(), 0, 0));
        world.code("env_open", api.env_open(NULL, c"x".as_ptr(), 0, 0));
        world.code("copy", api.env_copy2(env, c"x".as_ptr(), 0));
        world.code("txn_begin", api.txn_begin(env, NULL, 0, ptr::null_mut()));
        assert_eq!(api.cursor_dbi(NULL), 0);
        assert_eq!(api.cmp(NULL, 1, ptr::null(), ptr::null()), 0);
        api.dbi_close(NULL, 2);
        world.close(env);
    });
    assert_eq!(
        others(&transcript, libc::EINVAL),
        ["env_create -> 0 Successful return"]
    );
}

#[test]
fn a_main_database_works_without_being_opened() {
    let transcript = alone(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        world.put(txn, 1, "a", "1", 0);
        world.put(txn, 1, "b", "2", 0);
        world.get(txn, 1, "a");
        world.commit(txn);
        world.close(env);
    });
    assert_eq!(others(&transcript, 0), Vec::<String>::new(), "{transcript}");
}

#[test]
fn current_keeps_the_order() {
    let transcript = alone(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        let plain = world.dbi(txn, Some("plain"), MDB_CREATE);
        world.put(txn, plain, "a", "1", 0);
        world.put(txn, plain, "b", "2", 0);
        let cursor = world.cursor(txn, plain);
        world.go(cursor, MDB_FIRST);
        world.line("--");
        world.cursor_put(cursor, "z", "9", MDB_CURRENT);
        world.cursor_put(cursor, "a", "9", MDB_CURRENT | MDB_NODUPDATA);
        world.line("--");
        let dups = world.dbi(txn, Some("dups"), MDB_CREATE | MDB_DUPSORT);
        for value in ["1", "3", "5"] {
            world.put(txn, dups, "k", value, 0);
        }
        let cursor = world.cursor(txn, dups);
        world.go(cursor, MDB_FIRST);
        world.cursor_put(cursor, "k", "44", MDB_CURRENT);
        world.go(cursor, MDB_GET_CURRENT);
        world.go(cursor, MDB_PREV);
        world.line("--");
        world.cursor_put(cursor, "k", "5", MDB_CURRENT);
        world.line("--");
        world.list(txn, dups);
        world.commit(txn);
        world.close(env);
    });
    let parts: Vec<&str> = transcript.split("--\n").collect();
    assert_eq!(others(parts[1], libc::EINVAL), Vec::<String>::new());
    assert_eq!(others(parts[2], 0), Vec::<String>::new());
    assert!(
        parts[2].contains("= k 44 ->") && parts[2].contains("= k 3 ->"),
        "{}",
        parts[2]
    );
    assert_eq!(others(parts[3], MDB_KEYEXIST), Vec::<String>::new());
    let listed: Vec<&str> = parts[4]
        .lines()
        .filter(|line| line.contains("= k"))
        .collect();
    assert_eq!(listed.len(), 3, "{}", parts[4]);
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    let transcript = alone(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        let keys = world.dbi(txn, Some("keys"), MDB_CREATE | MDB_INTEGERKEY);
        let fixed = world.dbi(txn, Some("fixed"), MDB_CREATE | MDB_DUPSORT | MDB_DUPFIXED);
        let integers = MDB_CREATE | MDB_DUPSORT | MDB_DUPFIXED | MDB_INTEGERDUP;
        let integers = world.dbi(txn, Some("integers"), integers);
        let dups = world.dbi(txn, Some("dups"), MDB_CREATE | MDB_DUPSORT);
        world.put(txn, keys, &1_u32.to_ne_bytes(), "v", 0);
        world.put(txn, fixed, "k", "aaaa", 0);
        world.put(txn, integers, "k", &1_u32.to_ne_bytes(), 0);
        world.put(txn, dups, "k", "v", 0);
        world.line("--");
        world.put(txn, keys, b"abc", "v", 0);
        world.put(txn, keys, &1_u64.to_ne_bytes(), "v", 0);
        world.put(txn, fixed, "k", "aaaaaaaa", 0);
        world.put(txn, fixed, "k", "aa", 0);
        world.put(txn, integers, "k", &1_u64.to_ne_bytes(), 0);
        world.put(txn, integers, "k", b"abcdefghijkl", 0);
        world.put(txn, dups, "new", "", 0);
        let cursor = world.cursor(txn, fixed);
        let mut data = [
            MDB_val {
                mv_size: 8,
                mv_data: b"x".as_ptr().cast_mut().cast(),
            },
            MDB_val {
                mv_size: 1 << 61,
                mv_data: NULL,
            },
        ];
        let code = world
            .api
            .cursor_put(cursor, &mut val(b"k"), data.as_mut_ptr(), MDB_MULTIPLE);
        world.code("multiple", code);
        world.line("--");
        // Looking for another size finds nothing.
        world.del(txn, fixed, "k", "aa");
        world.line("--");
        world.put(txn, dups, "r", "12345", MDB_RESERVE);
        world.put(txn, dups, "r", "12345", MDB_RESERVE);
        world.line("--");
        world.dbi(txn, Some("f"), MDB_CREATE | MDB_DUPFIXED);
        world.dbi(txn, Some("f"), MDB_CREATE | MDB_INTEGERDUP);
        world.dbi(txn, Some("f"), MDB_CREATE | MDB_REVERSEDUP);
        world.line("--");
        world.commit(txn);
        world.close(env);
    });
    let parts: Vec<&str> = transcript.split("--\n").collect();
    let mut sizes = others(parts[1], MDB_BAD_VALSIZE);
    sizes.retain(|line| !line.starts_with("cursor_open"));
    assert_eq!(sizes, Vec::<String>::new());
    assert_eq!(others(parts[2], MDB_NOTFOUND), Vec::<String>::new());
    assert_eq!(others(parts[3], MDB_INCOMPATIBLE), Vec::<String>::new());
    assert_eq!(others(parts[4], libc::EINVAL), Vec::<String>::new());
    assert_eq!(others(parts[5], 0), Vec::<String>::new());
}

#[test]
fn a_reused_handle_is_bad_at_once() {
    let transcript = alone(|world| {
        let env = world.opened("one", MDB_NOTLS);
        let txn = world.begin(env, NULL, 0);
        let a = world.dbi(txn, Some("a"), MDB_CREATE);
        world.dbi(txn, Some("b"), MDB_CREATE);
        world.put(txn, a, "k", "v", 0);
        world.commit(txn);
        world.dbi_close(env, 3);
        let writer = world.begin(env, NULL, 0);
        world.put(writer, a, "k", "w", 0);
        world.dbi_close(env, a);
        let reader = world.begin(env, NULL, MDB_RDONLY);
        assert_eq!(world.dbi(reader, Some("b"), 0), a);
        world.commit(reader);
        world.line("--");
        world.put(writer, a, "k", "x", 0);
        world.get(writer, a, "k");
        world.cursor(writer, a);
        world.drop_dbi(writer, a, 0);
        world.line("--");
        world.abort(writer);
        world.close(env);
    });
    let parts: Vec<&str> = transcript.split("--\n").collect();
    assert_eq!(others(parts[1], MDB_BAD_DBI), Vec::<String>::new());
}

#[test]
fn emptying_the_main_database_deletes_the_named_ones() {
    let transcript = alone(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        let named = world.dbi(txn, Some("named"), MDB_CREATE);
        for number in 0..1000_u32 {
            world.put(
                txn,
                named,
                &number.to_be_bytes(),
                "a value of some length",
                0,
            );
        }
        world.commit(txn);
        let txn = world.begin(env, NULL, 0);
        world.drop_dbi(txn, 1, 0);
        world.line("--");
        world.get(txn, named, "k");
        world.line("--");
        world.commit(txn);
        let txn = world.begin(env, NULL, 0);
        world.get(txn, named, "k");
        world.line("--");
        // Its pages are free.
        world.stat(txn, 0);
        world.abort(txn);
        world.close(env);
    });
    let parts: Vec<&str> = transcript.split("--\n").collect();
    assert_eq!(others(parts[0], 0), Vec::<String>::new());
    assert_eq!(others(parts[1], libc::EINVAL), Vec::<String>::new());
    assert!(parts[2].contains("-> 22 "), "{}", parts[2]);
    assert!(!parts[3].contains("= 0 entries"), "{}", parts[3]);
}

#[test]
fn a_cursor_without_a_transaction_reads_nothing() {
    let transcript = alone(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        world.put(txn, 1, "k", "v", 0);
        world.commit(txn);
        let reader = world.begin(env, NULL, MDB_RDONLY);
        let cursor = world.cursor(reader, 1);
        world.go(cursor, MDB_FIRST);
        world.line("--");
        world.abort(reader);
        world.go(cursor, MDB_FIRST);
        world.count(cursor);
        world.line("--");
        world.close_cursor(cursor);
        world.close(env);
    });
    let parts: Vec<&str> = transcript.split("--\n").collect();
    assert_eq!(others(parts[1], libc::EINVAL), Vec::<String>::new());
}

#[test]
fn a_second_handle_of_an_environment_shares_the_first() {
    let transcript = alone(|world| {
        let path = world.directory("one");
        let first = world.opened_at(&path, MDB_NOTLS, 2);
        let second = world.opened_at(&path, MDB_NOTLS, 2);
        let txn = world.begin(first, NULL, 0);
        let named = world.dbi(txn, Some("named"), MDB_CREATE);
        world.put(txn, named, "k", "v", 0);
        world.commit(txn);
        let reader = world.begin(second, NULL, MDB_RDONLY);
        let named = world.dbi(reader, Some("named"), 0);
        world.close(first);
        // The locks are still there, and so is the snapshot.
        world.get(reader, named, "k");
        let txn = world.begin(second, NULL, 0);
        world.put(txn, 1, "other", "v", 0);
        world.commit(txn);
        world.get(reader, named, "k");
        world.commit(reader);
        world.close(second);
    });
    assert_eq!(others(&transcript, 0), Vec::<String>::new(), "{transcript}");
}

#[test]
fn a_second_writer_of_the_thread_is_refused() {
    let transcript = alone(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        world.line("--");
        world.begin(env, NULL, 0);
        world.line("--");
        world.abort(txn);
        world.close(env);
    });
    let parts: Vec<&str> = transcript.split("--\n").collect();
    assert_eq!(others(parts[1], MDB_BAD_TXN), Vec::<String>::new());
}
