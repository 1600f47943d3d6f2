//! Database handles and orders (sections 4 and 5).

use std::cmp::Ordering;
use std::ffi::c_int;

use lmdb::*;

use crate::compare;
use crate::world::{NULL, bytes, say, val};

#[test]
fn database_names_match_lmdb() {
    compare(|world| {
        let path = world.directory("one");
        let env = world.opened_at(&path, 0, 2);
        let txn = world.begin(env, NULL, 0);
        world.dbi(txn, Some("a"), 0);
        let a = world.dbi(txn, Some("a"), MDB_CREATE);
        world.dbi(txn, Some("a"), MDB_CREATE | MDB_DUPSORT);
        world.dbi_flags(txn, a);
        world.dbi(txn, Some(""), 0);
        world.dbi(txn, Some(""), MDB_CREATE);
        world.dbi(txn, Some(&"n".repeat(512)), MDB_CREATE);
        world.dbi(txn, Some("x"), 0x1);
        world.dbi(txn, Some("x"), 0x80);
        let b = world.dbi(
            txn,
            Some(&"n".repeat(511)),
            MDB_CREATE | MDB_DUPSORT | MDB_REVERSEKEY,
        );
        world.dbi_flags(txn, b);
        world.dbi(txn, Some("c"), MDB_CREATE);
        world.dbi(txn, Some("c"), 0);
        let main = world.dbi(txn, None, 0);
        world.put(txn, main, "plain", "value", 0);
        world.commit(txn);
        world.dbi_close(env, b);
        let txn = world.begin(env, NULL, 0);
        world.get(txn, b, "k");
        world.dbi(txn, Some("plain"), 0);
        world.dbi(txn, Some("plain"), MDB_CREATE);
        world.abort(txn);
        world.close(env);
        let env = world.opened_at(&path, 0, 0);
        let txn = world.begin(env, NULL, MDB_RDONLY);
        world.dbi(txn, Some("a"), 0);
        world.dbi(txn, None, 0);
        world.abort(txn);
        world.close(env);
    });
}

#[test]
fn the_life_of_handles_matches_lmdb() {
    compare(|world| {
        let env = world.opened("one", 0);
        let early = world.begin(env, NULL, MDB_RDONLY);
        let txn = world.begin(env, NULL, 0);
        let a = world.dbi(txn, Some("a"), MDB_CREATE);
        let b = world.dbi(txn, Some("b"), MDB_CREATE);
        world.put(txn, a, "k", "a", 0);
        world.put(txn, b, "k", "b", 0);
        world.commit(txn);
        world.get(early, a, "k");
        world.stat(early, a);
        world.abort(early);
        // Opened and aborted.
        let txn = world.begin(env, NULL, 0);
        let c = world.dbi(txn, Some("c"), MDB_CREATE);
        world.put(txn, c, "k", "c", 0);
        world.abort(txn);
        let txn = world.begin(env, NULL, 0);
        world.get(txn, c, "k");
        world.dbi(txn, Some("c"), 0);
        world.abort(txn);
        // Closed under a reader.
        let reader = world.begin(env, NULL, MDB_RDONLY);
        world.get(reader, a, "k");
        world.dbi_close(env, a);
        world.dbi_close(env, a);
        world.get(reader, a, "k");
        world.abort(reader);
        let reader = world.begin(env, NULL, MDB_RDONLY);
        world.get(reader, a, "k");
        world.get(reader, b, "k");
        // The first free handle first.
        world.dbi(reader, Some("a"), 0);
        world.dbi(reader, Some("a"), 0);
        world.get(reader, a, "k");
        world.commit(reader);
        let reader = world.begin(env, NULL, MDB_RDONLY);
        world.get(reader, a, "k");
        world.abort(reader);
        for dbi in [0, 1, 99] {
            world.dbi_close(env, dbi);
        }
        let reader = world.begin(env, NULL, MDB_RDONLY);
        world.get(reader, 1, "a");
        world.get(reader, 99, "k");
        world.stat(reader, 0);
        world.stat(reader, 99);
        world.dbi_flags(reader, 0);
        world.dbi_flags(reader, 99);
        world.get(reader, 0, "k");
        let cursor = world.cursor(reader, 0);
        world.go(cursor, MDB_FIRST);
        world.close_cursor(cursor);
        world.abort(reader);
        let txn = world.begin(env, NULL, 0);
        world.cursor(txn, 0);
        world.put(txn, 0, "k", "v", 0);
        world.abort(txn);
        world.close(env);
    });
}

#[test]
fn handles_of_readers_match_lmdb() {
    compare(|world| {
        let path = world.directory("one");
        let env = world.opened_at(&path, 0, 4);
        let txn = world.begin(env, NULL, 0);
        for name in ["a", "b"] {
            let dbi = world.dbi(txn, Some(name), MDB_CREATE);
            world.put(txn, dbi, "k", name, 0);
        }
        world.commit(txn);
        world.close(env);
        let env = world.opened_at(&path, 0, 4);
        let reader = world.begin(env, NULL, MDB_RDONLY);
        let a = world.dbi(reader, Some("a"), 0);
        world.get(reader, a, "k");
        world.abort(reader);
        let reader = world.begin(env, NULL, MDB_RDONLY);
        world.get(reader, a, "k");
        let a = world.dbi(reader, Some("a"), 0);
        world.reset(reader);
        world.renew(reader);
        world.get(reader, a, "k");
        let b = world.dbi(reader, Some("b"), 0);
        world.get(reader, b, "k");
        world.commit(reader);
        let reader = world.begin(env, NULL, MDB_RDONLY);
        world.get(reader, a, "k");
        world.get(reader, b, "k");
        world.abort(reader);
        world.close(env);
    });
}

#[test]
fn the_main_database_has_flags() {
    compare(|world| {
        let path = world.directory("one");
        let env = world.opened_at(&path, 0, 4);
        let reader = world.begin(env, NULL, MDB_RDONLY);
        let main = world.dbi(reader, None, MDB_DUPSORT);
        world.dbi_flags(reader, main);
        world.abort(reader);
        let txn = world.begin(env, NULL, 0);
        let main = world.dbi(txn, None, MDB_REVERSEKEY | MDB_CREATE);
        world.dbi_flags(txn, main);
        for key in ["ba", "b", "ab", "aab"] {
            world.put(txn, main, key, "v", 0);
        }
        world.list(txn, main);
        world.commit(txn);
        world.close(env);
        let env = world.opened_at(&path, 0, 4);
        let txn = world.begin(env, NULL, 0);
        let main = world.dbi(txn, None, 0);
        world.dbi_flags(txn, main);
        world.list(txn, main);
        world.abort(txn);
        world.close(env);
        let env = world.opened("two", 0);
        let txn = world.begin(env, NULL, 0);
        let main = world.dbi(txn, None, MDB_DUPSORT);
        world.put(txn, main, "k", "2", 0);
        world.put(txn, main, "k", "1", 0);
        world.list(txn, main);
        world.dbi(txn, Some("a"), MDB_CREATE);
        world.dbi(txn, Some("a"), 0);
        world.abort(txn);
        world.close(env);
    });
}

#[test]
fn dropping_databases_matches_lmdb() {
    compare(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        let a = world.dbi(txn, Some("a"), MDB_CREATE | MDB_DUPSORT);
        let b = world.dbi(txn, Some("b"), MDB_CREATE);
        for key in ["1", "2", "3"] {
            world.put(txn, a, key, "v", 0);
            world.put(txn, b, key, "v", 0);
        }
        world.commit(txn);
        let txn = world.begin(env, NULL, 0);
        for (dbi, del) in [(a, 2), (a, -1), (0, 0), (99, 0)] {
            world.drop_dbi(txn, dbi, del);
        }
        let cursor = world.cursor(txn, a);
        world.go(cursor, MDB_FIRST);
        world.drop_dbi(txn, a, 0);
        world.dbi_flags(txn, a);
        world.stat(txn, a);
        world.go(cursor, MDB_GET_CURRENT);
        world.go(cursor, MDB_NEXT);
        world.put(txn, a, "4", "v", 0);
        world.go(cursor, MDB_NEXT);
        world.drop_dbi(txn, b, 1);
        world.get(txn, b, "1");
        world.dbi(txn, Some("b"), 0);
        world.dbi(txn, Some("c"), MDB_CREATE);
        world.commit(txn);
        let txn = world.begin(env, NULL, 0);
        world.drop_dbi(txn, a, 1);
        world.get(txn, a, "4");
        world.abort(txn);
        let txn = world.begin(env, NULL, 0);
        world.get(txn, a, "4");
        let a = world.dbi(txn, Some("a"), 0);
        world.get(txn, a, "4");
        world.drop_dbi(txn, a, 0);
        world.commit(txn);
        world.close(env);
        let env = world.opened("two", 0);
        let txn = world.begin(env, NULL, 0);
        let main = world.dbi(txn, None, 0);
        world.put(txn, main, "k", "v", 0);
        world.drop_dbi(txn, main, 1);
        world.stat(txn, main);
        world.put(txn, main, "k", "w", 0);
        world.list(txn, main);
        world.commit(txn);
        world.close(env);
    });
}

extern "C" fn backwards(a: &MDB_val, b: &MDB_val) -> c_int {
    bytes(b).cmp(bytes(a)) as c_int
}

#[test]
fn orders_match_lmdb() {
    compare(|world| {
        let api = world.api;
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        let lexical = world.dbi(txn, Some("lexical"), MDB_CREATE);
        let reverse = world.dbi(txn, Some("reverse"), MDB_CREATE | MDB_REVERSEKEY);
        let integer = world.dbi(txn, Some("integer"), MDB_CREATE | MDB_INTEGERKEY);
        let dups = world.dbi(txn, Some("dups"), MDB_CREATE | MDB_DUPSORT | MDB_REVERSEDUP);
        let sign = |code: c_int| code.signum();
        let sample: [&[u8]; 6] = [b"a", b"ab", b"ba", b"b", b"aab", b""];
        for a in sample {
            for b in sample {
                let (a, b) = (val(a), val(b));
                let signs = [
                    api.cmp(txn, lexical, &a, &b),
                    api.cmp(txn, reverse, &a, &b),
                    api.dcmp(txn, dups, &a, &b),
                ]
                .map(sign);
                say!(world, "{signs:?}");
            }
        }
        let numbers: [u64; 6] = [0, 1, 255, 256, 65536, u32::MAX as u64];
        for a in numbers {
            for b in numbers {
                let (a, b) = (a.to_ne_bytes(), b.to_ne_bytes());
                let code = api.cmp(txn, integer, &val(&a), &val(&b));
                say!(world, "{}", code.cmp(&0) == Ordering::Less);
            }
        }
        for (what, code) in [
            ("compare", api.set_compare(txn, lexical, Some(backwards))),
            ("dupsort", api.set_dupsort(txn, dups, Some(backwards))),
            (
                "dupsort on plain",
                api.set_dupsort(txn, lexical, Some(backwards)),
            ),
            ("compare unknown", api.set_compare(txn, 99, Some(backwards))),
            ("relfunc", api.set_relfunc(txn, dups, NULL)),
            ("relctx", api.set_relctx(txn, dups, NULL)),
            ("relctx unknown", api.set_relctx(txn, 99, NULL)),
        ] {
            world.code(what, code);
        }
        for key in ["b", "a", "d", "c"] {
            world.put(txn, lexical, key, "v", 0);
            world.put(txn, dups, "k", key, 0);
        }
        // Opening it again keeps the order.
        world.dbi(txn, Some("lexical"), 0);
        world.list(txn, lexical);
        world.list(txn, dups);
        world.get(txn, lexical, "b");
        world.del(txn, lexical, "b", "");
        world.del(txn, dups, "k", "c");
        world.commit(txn);
        let reader = world.begin(env, NULL, MDB_RDONLY);
        world.list(reader, lexical);
        world.list(reader, dups);
        world.get(reader, lexical, "d");
        world.abort(reader);
        world.close(env);
    });
}
