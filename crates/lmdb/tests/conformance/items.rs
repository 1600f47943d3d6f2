//! Items by key (section 6) and the limits of 1.7.

use lmdb::*;

use crate::compare;
use crate::world::{NULL, say, text, val};

const FLAGS: [u32; 9] = [
    0,
    MDB_NOOVERWRITE,
    MDB_NODUPDATA,
    MDB_NOOVERWRITE | MDB_NODUPDATA,
    MDB_APPEND,
    MDB_APPEND | MDB_NOOVERWRITE,
    MDB_APPENDDUP,
    MDB_APPEND | MDB_APPENDDUP,
    MDB_APPENDDUP | MDB_NOOVERWRITE,
];

#[test]
fn put_flags_match_lmdb() {
    compare(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        for (name, kind) in [("plain", 0), ("dups", MDB_DUPSORT)] {
            for flags in FLAGS {
                let dbi = world.dbi(txn, Some(name), MDB_CREATE | kind);
                world.drop_dbi(txn, dbi, 0);
                for (key, data) in [("b", "2"), ("d", "4"), ("d", "6")] {
                    world.put(txn, dbi, key, data, 0);
                }
                for (key, data) in [
                    ("d", "6"),
                    ("d", "5"),
                    ("d", "7"),
                    ("a", "1"),
                    ("b", "2"),
                    ("e", "1"),
                    ("c", "9"),
                ] {
                    world.put(txn, dbi, key, data, flags);
                }
                world.list(txn, dbi);
            }
        }
        let dbi = world.dbi(txn, Some("plain"), 0);
        for flags in [MDB_CURRENT, MDB_MULTIPLE, 0x1, 0x8000] {
            world.put(txn, dbi, "k", "v", flags);
        }
        world.commit(txn);
        world.close(env);
    });
}

#[test]
fn reserving_matches_lmdb() {
    compare(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        let dbi = world.dbi(txn, None, 0);
        for (key, size, flags) in [
            ("a", 5, 0),
            ("b", 5000, 0),
            ("a", 7, MDB_NOOVERWRITE),
            ("c", 0, 0),
            ("c", 9, MDB_APPEND),
        ] {
            let mut data = MDB_val {
                mv_size: size,
                mv_data: NULL,
            };
            let code = world.api.put(
                txn,
                dbi,
                &mut val(key.as_bytes()),
                &mut data,
                flags | MDB_RESERVE,
            );
            world.code(key, code);
            if code == 0 {
                // SAFETY: the room just reserved.
                unsafe { data.mv_data.write_bytes(b'x', data.mv_size) };
            } else if flags == MDB_NOOVERWRITE {
                let shown = text(&data);
                say!(world, "there is {shown}");
            }
        }
        world.list(txn, dbi);
        world.commit(txn);
        world.close(env);
    });
}

#[test]
fn limits_of_keys_and_values_match_lmdb() {
    compare(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        let plain = world.dbi(txn, Some("plain"), MDB_CREATE);
        let dups = world.dbi(txn, Some("dups"), MDB_CREATE | MDB_DUPSORT);
        let long = vec![b'k'; 600];
        for len in [0, 1, 511, 512, 600] {
            world.put(txn, plain, &long[..len], "v", 0);
            world.get(txn, plain, &long[..len]);
            world.del(txn, plain, &long[..len], "");
            world.put(txn, plain, "k", &long[..len], 0);
            world.get(txn, plain, "k");
            if len != 0 {
                // 0.9.24 took an empty first value.
                world.put(txn, dups, "k", &long[..len], 0);
                world.del(txn, dups, "k", &long[..len]);
            }
        }
        let huge = MDB_val {
            mv_size: 1 << 32,
            mv_data: long.as_ptr().cast_mut().cast(),
        };
        let code = world.api.put(txn, plain, &mut val(b"k"), &mut { huge }, 0);
        world.code("2^32 bytes", code);
        let large = vec![b'v'; 100_000];
        for len in [2000, 2026, 2027, 4000, 4096, 100_000] {
            world.put(txn, plain, "large", &large[..len], 0);
            world.get(txn, plain, "large");
            world.stat(txn, plain);
        }
        world.commit(txn);
        world.close(env);
    });
}

#[test]
fn deleting_matches_lmdb() {
    compare(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        let plain = world.dbi(txn, Some("plain"), MDB_CREATE);
        let dups = world.dbi(txn, Some("dups"), MDB_CREATE | MDB_DUPSORT);
        for dbi in [plain, dups] {
            for (key, data) in [("a", "1"), ("b", "1"), ("b", "2"), ("b", "3")] {
                world.put(txn, dbi, key, data, 0);
            }
            for (key, data) in [("a", "other"), ("b", "2"), ("b", "9"), ("c", "1")] {
                world.del(txn, dbi, key, data);
            }
            world.list(txn, dbi);
            world.del(txn, dbi, "b", crate::world::Arg::Null);
            world.list(txn, dbi);
        }
        world.commit(txn);
        world.close(env);
    });
}

/// A value of this length: an integer of four bytes, and one byte again and again.
fn leading(integer: u32, rest: u8, len: usize) -> Vec<u8> {
    let mut value = integer.to_ne_bytes().to_vec();
    value.resize(len, rest);
    value
}

#[test]
fn integer_duplicates_have_any_length() {
    compare(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        let plain = MDB_CREATE | MDB_DUPSORT | MDB_INTEGERDUP;
        // Without MDB_DUPFIXED the original compares pairs of bytes, and in branches the first four
        // bytes alone. So there it misses values of a tree.
        let kinds = [
            (plain, [2, 6, 12, 16], &[1, 3][..]),
            (plain | MDB_DUPFIXED, [5, 6, 12, 16], &[1, 3, 600]),
        ];
        for (kind, lens, counts) in kinds {
            for len in lens {
                // One value, a sub-page, and a tree.
                for &values in counts {
                    let dbi = world.dbi(txn, Some(&format!("{kind:x}")), kind);
                    world.drop_dbi(txn, dbi, 0);
                    for integer in (1..=values).rev() {
                        world.put(txn, dbi, "k", &leading(10 * integer, b'a', len), 0);
                    }
                    let (old, new) = (leading(10, b'b', len), leading(5, b'b', len));
                    let cursor = world.cursor(txn, dbi);
                    world.seek(cursor, MDB_GET_BOTH, "k", &old);
                    world.seek(cursor, MDB_GET_BOTH, "k", &leading(10, b'a', len));
                    world.seek(cursor, MDB_GET_BOTH_RANGE, "k", &leading(5, b'a', len));
                    world.close_cursor(cursor);
                    world.put(txn, dbi, "k", &old, MDB_NODUPDATA);
                    world.list(txn, dbi);
                    world.put(txn, dbi, "k", &old, 0);
                    world.put(txn, dbi, "k", &new, 0);
                    world.put(txn, dbi, "k", &leading(9999, b'b', len), MDB_APPENDDUP);
                    world.list(txn, dbi);
                    world.del(txn, dbi, "k", &leading(10, b'c', len));
                    world.list(txn, dbi);
                    world.stat(txn, dbi);
                }
            }
        }
        world.commit(txn);
        world.close(env);
    });
}

#[test]
fn a_value_of_another_length_finds_the_same_integer() {
    compare(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        let kind = MDB_CREATE | MDB_DUPSORT | MDB_DUPFIXED | MDB_INTEGERDUP;
        let dbi = world.dbi(txn, Some("fixed"), kind);
        for values in [1, 3, 600] {
            world.drop_dbi(txn, dbi, 0);
            for integer in 1..=values {
                world.put(txn, dbi, "k", &leading(10 * integer, b'a', 12), 0);
            }
            let cursor = world.cursor(txn, dbi);
            for len in [4, 8, 16] {
                world.seek(cursor, MDB_GET_BOTH, "k", &leading(10, b'b', len));
                world.seek(cursor, MDB_GET_BOTH_RANGE, "k", &leading(5, b'b', len));
                world.seek(cursor, MDB_GET_BOTH_RANGE, "k", &leading(9999, b'b', len));
            }
            world.close_cursor(cursor);
            world.put(txn, dbi, "k", &leading(10, b'b', 16), 0);
            world.del(txn, dbi, "k", &leading(10, b'b', 4));
            world.list(txn, dbi);
        }
        world.commit(txn);
        world.close(env);
    });
}
