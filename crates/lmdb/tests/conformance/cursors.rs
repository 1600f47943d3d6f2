//! Cursors (sections 7 to 10).

use lmdb::*;

use crate::compare;
use crate::world::{Arg, NULL, World, say};

const PLAIN_OPS: [u32; 9] = [
    MDB_FIRST,
    MDB_LAST,
    MDB_NEXT,
    MDB_PREV,
    MDB_NEXT_NODUP,
    MDB_PREV_NODUP,
    MDB_NEXT_DUP,
    MDB_PREV_DUP,
    MDB_GET_CURRENT,
];

/// A database of this kind with three keys, the middle one with three values if it may.
fn filled(world: &mut World<'_>, txn: crate::api::Handle, kind: u32) -> MDB_dbi {
    let dbi = world.dbi(txn, Some(&format!("kind {kind:x}")), MDB_CREATE | kind);
    for (key, data) in [("a", "1"), ("b", "1"), ("b", "2"), ("b", "3"), ("c", "1")] {
        world.put(txn, dbi, key, data, 0);
    }
    dbi
}

#[test]
fn moves_match_lmdb() {
    compare(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        for kind in [0, MDB_DUPSORT, MDB_DUPSORT | MDB_DUPFIXED] {
            let dbi = filled(world, txn, kind);
            for first in PLAIN_OPS {
                for second in PLAIN_OPS {
                    if kind != 0 && (first == MDB_PREV_DUP || second == MDB_PREV_DUP) {
                        // On an unset cursor 0.9.24 differs.
                        continue;
                    }
                    let cursor = world.cursor(txn, dbi);
                    world.go(cursor, first);
                    world.go(cursor, second);
                    world.go(cursor, second);
                    world.go(cursor, first);
                    world.close_cursor(cursor);
                }
            }
        }
        world.abort(txn);
        world.close(env);
    });
}

#[test]
fn a_refused_append_with_reserve_leaves_the_cursor_at_the_end() {
    compare(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        let dbi = filled(world, txn, 0);
        for flags in [MDB_APPEND, MDB_APPEND | MDB_RESERVE] {
            let cursor = world.cursor(txn, dbi);
            world.go(cursor, MDB_FIRST);
            world.cursor_put(cursor, "b", "4", flags);
            world.put(txn, dbi, "d", "1", 0);
            world.go(cursor, MDB_NEXT);
            world.go(cursor, MDB_GET_CURRENT);
            world.del(txn, dbi, "d", Arg::Null);
            world.close_cursor(cursor);
        }
        world.abort(txn);
        world.close(env);
    });
}

#[test]
fn a_cleared_database_keeps_what_a_deletion_left() {
    compare(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        for kind in [0, MDB_DUPSORT] {
            for op in [MDB_NEXT_DUP, MDB_NEXT, MDB_NEXT_NODUP, MDB_PREV] {
                let dbi = filled(world, txn, kind);
                let cursor = world.cursor(txn, dbi);
                world.go(cursor, MDB_FIRST);
                world.cursor_del(cursor, 0);
                world.drop_dbi(txn, dbi, 0);
                world.put(txn, dbi, "d", "1", 0);
                world.go(cursor, op);
                world.go(cursor, op);
                world.close_cursor(cursor);
            }
        }
        world.abort(txn);
        world.close(env);
    });
}

#[test]
fn searches_match_lmdb() {
    compare(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        for kind in [0, MDB_DUPSORT, MDB_DUPSORT | MDB_DUPFIXED] {
            let dbi = filled(world, txn, kind);
            for op in [
                MDB_SET,
                MDB_SET_KEY,
                MDB_SET_RANGE,
                MDB_GET_BOTH,
                MDB_GET_BOTH_RANGE,
            ] {
                for (key, data) in [
                    ("a", "1"),
                    ("b", "2"),
                    ("b", "0"),
                    ("b", "4"),
                    ("bb", "1"),
                    ("0", "1"),
                    ("d", "1"),
                    ("", "1"),
                ] {
                    let cursor = world.cursor(txn, dbi);
                    world.seek(cursor, op, key, data);
                    let both = op == MDB_GET_BOTH || op == MDB_GET_BOTH_RANGE;
                    if !both {
                        world.go(cursor, MDB_GET_CURRENT);
                        world.go(cursor, MDB_NEXT);
                        world.go(cursor, MDB_PREV);
                    }
                    world.close_cursor(cursor);
                }
                let cursor = world.cursor(txn, dbi);
                world.seek(cursor, op, Arg::Null, "1");
                world.close_cursor(cursor);
            }
        }
        world.abort(txn);
        world.close(env);
    });
}

#[test]
fn values_of_a_key_match_lmdb() {
    compare(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        for kind in [0, MDB_DUPSORT, MDB_DUPSORT | MDB_DUPFIXED] {
            let dbi = filled(world, txn, kind);
            for op in [MDB_FIRST_DUP, MDB_LAST_DUP] {
                for key in ["a", "b"] {
                    let cursor = world.cursor(txn, dbi);
                    world.go(cursor, op);
                    world.count(cursor);
                    world.seek(cursor, MDB_SET, key, "");
                    world.seek(cursor, op, "", "");
                    world.seek(cursor, op, "", Arg::Null);
                    world.count(cursor);
                    world.close_cursor(cursor);
                }
            }
        }
        world.abort(txn);
        world.close(env);
    });
}

#[test]
fn pages_of_fixed_size_values_match_lmdb() {
    compare(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        let dbi = world.dbi(txn, Some("fixed"), MDB_CREATE | MDB_DUPSORT | MDB_DUPFIXED);
        let dups = filled(world, txn, MDB_DUPSORT);
        let plain = filled(world, txn, 0);
        world.put(txn, dbi, "a", b"12345678", 0);
        for number in 0..1500_u64 {
            world.put(txn, dbi, "b", &number.to_be_bytes(), 0);
        }
        for number in 0..3_u64 {
            world.put(txn, dbi, "c", &number.to_be_bytes(), 0);
        }
        for dbi in [dbi, dups, plain] {
            for op in [MDB_GET_MULTIPLE, MDB_NEXT_MULTIPLE, MDB_PREV_MULTIPLE] {
                if op == MDB_PREV_MULTIPLE && dbi != plain {
                    continue;
                }
                let cursor = world.cursor(txn, dbi);
                world.go(cursor, op);
                world.seek(cursor, op, "", Arg::Null);
                world.close_cursor(cursor);
            }
        }
        // How values are divided into pages is each library's own business; here only one page has
        // them.
        for key in ["a", "c"] {
            let cursor = world.cursor(txn, dbi);
            world.seek(cursor, MDB_SET, key, "");
            world.go(cursor, MDB_GET_MULTIPLE);
            while world.go(cursor, MDB_NEXT_MULTIPLE) == 0 {}
            world.go(cursor, MDB_GET_CURRENT);
            world.close_cursor(cursor);
        }
        let cursor = world.cursor(txn, dbi);
        world.seek(cursor, MDB_SET, "b", "");
        let all = world.blocks(cursor, MDB_GET_MULTIPLE);
        say!(world, "{all} bytes in pages");
        world.close_cursor(cursor);
        let cursor = world.cursor(txn, dbi);
        world.go(cursor, MDB_LAST);
        world.go(cursor, MDB_GET_MULTIPLE);
        world.close_cursor(cursor);
        world.abort(txn);
        world.close(env);
    });
}

#[test]
fn blocks_of_readers_match_lmdb_behind_the_last_value() {
    compare(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        let kinds = [0, MDB_DUPSORT, MDB_DUPSORT | MDB_DUPFIXED];
        let databases = kinds.map(|kind| filled(world, txn, kind));
        world.commit(txn);
        let txn = world.begin(env, NULL, MDB_RDONLY);
        for dbi in databases {
            for first in [MDB_FIRST, MDB_LAST, MDB_NEXT_NODUP] {
                let cursor = world.cursor(txn, dbi);
                world.go(cursor, first);
                world.go(cursor, MDB_NEXT_MULTIPLE);
                world.close_cursor(cursor);
            }
        }
        world.abort(txn);
        world.close(env);
    });
}

#[test]
fn many_items_match_lmdb() {
    compare(|world| {
        let env = world.opened("one", 0);
        let kind = MDB_CREATE | MDB_DUPSORT | MDB_DUPFIXED;
        for flags in [0, MDB_NODUPDATA, MDB_NOOVERWRITE, MDB_APPEND, MDB_APPENDDUP] {
            let txn = world.begin(env, NULL, 0);
            let dbi = world.dbi(txn, Some("fixed"), kind);
            for items in [
                &["1111", "2222"][..],
                &["3333", "4444"],
                &["1111", "2222"],
                &["1111", "5555", "6666"],
                &["7777", "7777"],
                &["8888"],
            ] {
                let cursor = world.cursor(txn, dbi);
                world.put_items(cursor, "key", items, flags);
                world.go(cursor, MDB_GET_CURRENT);
                world.count(cursor);
                world.close_cursor(cursor);
            }
            world.list(txn, dbi);
            world.abort(txn);
        }
        world.close(env);
    });
}

#[test]
fn storing_matches_lmdb() {
    compare(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        for kind in [0, MDB_DUPSORT] {
            let dbi = filled(world, txn, kind);
            let cursor = world.cursor(txn, dbi);
            world.cursor_put(cursor, "b", "2", MDB_CURRENT);
            for flags in [
                0,
                MDB_NOOVERWRITE,
                MDB_NODUPDATA,
                MDB_APPEND,
                MDB_APPENDDUP,
                0x1,
            ] {
                for (key, data) in [("b", "2"), ("bb", "1"), ("z", "1")] {
                    world.cursor_put(cursor, key, data, flags);
                    world.go(cursor, MDB_GET_CURRENT);
                }
            }
            world.seek(cursor, MDB_SET, "a", "");
            world.cursor_put(cursor, "a", "new value", MDB_CURRENT);
            world.go(cursor, MDB_GET_CURRENT);
            world.cursor_put(cursor, "a", "9", MDB_CURRENT);
            world.list(txn, dbi);
        }
        world.abort(txn);
        world.close(env);
    });
}

#[test]
fn storing_many_items_matches_lmdb() {
    compare(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        let fixed = world.dbi(txn, Some("fixed"), MDB_CREATE | MDB_DUPSORT | MDB_DUPFIXED);
        let dups = filled(world, txn, MDB_DUPSORT);
        let items = *b"0001000300050002";
        for (dbi, flags) in [
            (fixed, 0),
            (fixed, 0),
            (fixed, MDB_NODUPDATA),
            (fixed, MDB_APPENDDUP),
            (dups, 0),
        ] {
            let cursor = world.cursor(txn, dbi);
            let mut data = [
                MDB_val {
                    mv_size: 4,
                    mv_data: items.as_ptr().cast_mut().cast(),
                },
                MDB_val {
                    mv_size: 4,
                    mv_data: NULL,
                },
            ];
            let mut key = crate::world::val(b"many");
            let code =
                world
                    .api
                    .cursor_put(cursor, &mut key, data.as_mut_ptr(), flags | MDB_MULTIPLE);
            world.code("multiple", code);
            let at = data[0].mv_data as usize - items.as_ptr() as usize;
            say!(world, "stored {} at {at}", data[1].mv_size);
            if code == 0 {
                world.go(cursor, MDB_GET_CURRENT);
            }
            world.close_cursor(cursor);
        }
        world.list(txn, fixed);
        world.abort(txn);
        world.close(env);
    });
}

#[test]
fn deleting_matches_lmdb() {
    compare(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        for kind in [0, MDB_DUPSORT] {
            for flags in [0, MDB_NODUPDATA, 0x1] {
                for key in ["a", "b", "c"] {
                    for after in [
                        MDB_NEXT,
                        MDB_PREV,
                        MDB_GET_CURRENT,
                        MDB_NEXT_DUP,
                        MDB_NEXT_NODUP,
                    ] {
                        let dbi = filled(world, txn, kind);
                        let cursor = world.cursor(txn, dbi);
                        world.cursor_del(cursor, flags);
                        world.seek(cursor, MDB_SET, key, "");
                        world.cursor_del(cursor, flags);
                        world.go(cursor, after);
                        world.go(cursor, MDB_NEXT);
                        world.cursor_del(cursor, flags);
                        world.close_cursor(cursor);
                        world.list(txn, dbi);
                    }
                }
            }
            let dbi = filled(world, txn, kind);
            let cursor = world.cursor(txn, dbi);
            world.go(cursor, MDB_FIRST);
            while world.cursor_del(cursor, 0) == 0 {}
            world.go(cursor, MDB_GET_CURRENT);
            world.go(cursor, MDB_NEXT);
            world.stat(txn, dbi);
        }
        world.abort(txn);
        world.close(env);
    });
}

#[test]
fn the_life_of_cursors_matches_lmdb() {
    compare(|world| {
        let env = world.opened("one", MDB_NOTLS);
        let txn = world.begin(env, NULL, 0);
        let dbi = filled(world, txn, MDB_DUPSORT);
        let cursor = world.cursor(txn, dbi);
        let (owner, number) = (world.api.cursor_txn(cursor), world.api.cursor_dbi(cursor));
        say!(world, "{} {number}", owner == txn);
        world.renew_cursor(txn, cursor);
        world.cursor(txn, 99);
        world.commit(txn);
        let first = world.begin(env, NULL, MDB_RDONLY);
        let cursor = world.cursor(first, dbi);
        world.go(cursor, MDB_FIRST);
        world.cursor_put(cursor, "k", "v", 0);
        world.cursor_del(cursor, 0);
        world.renew_cursor(first, cursor);
        world.go(cursor, MDB_GET_CURRENT);
        world.go(cursor, MDB_NEXT);
        let second = world.begin(env, NULL, MDB_RDONLY);
        world.renew_cursor(second, cursor);
        world.go(cursor, MDB_NEXT);
        world.abort(first);
        world.go(cursor, MDB_NEXT);
        world.reset(second);
        world.go(cursor, MDB_NEXT);
        world.renew_cursor(second, cursor);
        world.renew(second);
        world.renew_cursor(second, cursor);
        world.go(cursor, MDB_NEXT);
        let writer = world.begin(env, NULL, 0);
        world.renew_cursor(writer, cursor);
        world.abort(writer);
        world.commit(second);
        world.close_cursor(cursor);
        world.close_cursor(NULL);
        world.close(env);
    });
}

#[test]
fn cursors_follow_changes_as_in_lmdb() {
    compare(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        for kind in [0, MDB_DUPSORT] {
            let dbi = filled(world, txn, kind);
            let (one, other) = (world.cursor(txn, dbi), world.cursor(txn, dbi));
            world.seek(one, MDB_SET, "b", "");
            world.seek(other, MDB_SET, "b", "");
            for key in ["aa", "ab", "ac"] {
                world.put(txn, dbi, key, "new", 0);
            }
            world.go(one, MDB_GET_CURRENT);
            world.cursor_del(other, 0);
            world.go(one, MDB_GET_CURRENT);
            world.del(txn, dbi, "b", Arg::Null);
            world.go(one, MDB_GET_CURRENT);
            world.go(other, MDB_GET_CURRENT);
            world.close_cursor(one);
            world.close_cursor(other);
        }
        world.abort(txn);
        world.close(env);
    });
}

#[test]
fn blocks_of_the_next_key_match_lmdb() {
    compare(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        let dbi = filled(world, txn, MDB_DUPSORT | MDB_DUPFIXED);
        world.put(txn, dbi, "c", "2", 0);
        for step in [MDB_NEXT, MDB_NEXT_NODUP] {
            let cursor = world.cursor(txn, dbi);
            // It is refused, and leaves the cursor at the last value.
            world.cursor_put(cursor, "b", "1", MDB_APPENDDUP);
            world.go(cursor, step);
            world.go(cursor, MDB_GET_MULTIPLE);
            world.seek(cursor, MDB_SET, "b", "");
            world.go(cursor, MDB_LAST_DUP);
            world.go(cursor, step);
            world.go(cursor, MDB_GET_MULTIPLE);
            world.close_cursor(cursor);
        }
        world.abort(txn);
        world.close(env);
    });
}

#[test]
fn a_cursor_of_an_emptied_database_begins_anew() {
    compare(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        for kind in [0, MDB_DUPSORT] {
            let dbi = world.dbi(txn, Some(&format!("kind {kind:x}")), MDB_CREATE | kind);
            let cursor = world.cursor(txn, dbi);
            world.cursor_put(cursor, "a", "1", 0);
            world.cursor_del(cursor, 0);
            world.put(txn, dbi, "b", "1", 0);
            world.go(cursor, MDB_NEXT_DUP);
            world.go(cursor, MDB_NEXT_DUP);
            world.close_cursor(cursor);
        }
        world.abort(txn);
        world.close(env);
    });
}

#[test]
fn a_refused_step_back_does_not_skip_a_value() {
    compare(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        for step in [MDB_NEXT, MDB_NEXT_DUP] {
            let dbi = filled(world, txn, MDB_DUPSORT);
            let cursor = world.cursor(txn, dbi);
            // The only value of the first key, then the first of three.
            for _ in 0..2 {
                world.go(cursor, MDB_FIRST);
                world.cursor_del(cursor, 0);
                world.go(cursor, MDB_PREV_NODUP);
                world.go(cursor, step);
            }
            world.close_cursor(cursor);
        }
        world.abort(txn);
        world.close(env);
    });
}
