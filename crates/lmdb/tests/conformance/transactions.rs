//! Transactions (section 3).

use lmdb::*;

use crate::compare;
use crate::world::{NULL, say};

#[test]
fn the_life_of_transactions_matches_lmdb() {
    compare(|world| {
        let api = world.api;
        let env = world.opened("one", 0);
        say!(world, "id of NULL {}", api.txn_id(NULL));
        say!(world, "env of NULL {}", api.txn_env(NULL).is_null());
        let txn = world.begin(env, NULL, 0x1 | MDB_NOSYNC);
        say!(world, "id {}", api.txn_id(txn));
        world.commit(txn);
        let txn = world.begin(env, NULL, 0);
        let (id, owner) = (api.txn_id(txn), api.txn_env(txn));
        say!(world, "id {id} {}", owner == env);
        let dbi = world.dbi(txn, None, 0);
        world.put(txn, dbi, "key", "value", 0);
        world.reset(txn);
        world.renew(txn);
        world.get(txn, dbi, "key");
        let reader = world.begin(env, NULL, MDB_RDONLY);
        world.begin(env, NULL, MDB_RDONLY);
        world.get(reader, dbi, "key");
        world.commit(txn);
        world.get(reader, dbi, "key");
        world.renew(reader);
        world.reset(reader);
        world.reset(reader);
        say!(world, "id {}", api.txn_id(reader));
        world.get(reader, dbi, "key");
        world.cursor(reader, dbi);
        world.dbi(reader, None, 0);
        world.dbi_flags(reader, dbi);
        world.stat(reader, dbi);
        world.renew(reader);
        world.renew(reader);
        world.get(reader, dbi, "key");
        say!(world, "id {}", api.txn_id(reader));
        world.reset(reader);
        world.commit(reader);
        world.begin(env, NULL, MDB_RDONLY);
        world.renew(NULL);
        world.reset(NULL);
        world.abort(NULL);
        world.commit(NULL);
        world.close(env);
    });
}

#[test]
fn nested_transactions_match_lmdb() {
    compare(|world| {
        let env = world.opened("one", 0);
        let parent = world.begin(env, NULL, 0);
        let dbi = world.dbi(parent, None, 0);
        for key in ["a", "b", "c"] {
            world.put(parent, dbi, key, "parent", 0);
        }
        let cursor = world.cursor(parent, dbi);
        world.seek(cursor, MDB_SET_KEY, "b", b"");
        let child = world.begin(env, parent, 0);
        world.begin(env, parent, 0);
        world.get(parent, dbi, "a");
        world.put(parent, dbi, "a", "x", 0);
        world.del(parent, dbi, "a", "x");
        world.cursor(parent, dbi);
        world.dbi(parent, None, 0);
        world.stat(parent, dbi);
        world.drop_dbi(parent, dbi, 0);
        world.put(child, dbi, "b", "child", 0);
        world.put(child, dbi, "d", "child", 0);
        let grandchild = world.begin(env, child, 0);
        world.del(grandchild, dbi, "a", "");
        world.list(grandchild, dbi);
        world.commit(grandchild);
        world.list(child, dbi);
        let new = world.dbi(child, Some("new"), MDB_CREATE);
        world.put(child, new, "k", "v", 0);
        world.abort(child);
        world.get(parent, new, "k");
        world.go(cursor, MDB_GET_CURRENT);
        world.list(parent, dbi);
        let child = world.begin(env, parent, 0);
        let new = world.dbi(child, Some("new"), MDB_CREATE);
        world.put(child, new, "k", "v", 0);
        world.del(child, dbi, "b", "");
        world.commit(child);
        world.get(parent, new, "k");
        world.go(cursor, MDB_GET_CURRENT);
        let child = world.begin(env, parent, 0);
        world.put(child, dbi, "z", "committed with its parent", 0);
        world.commit(parent);
        let reader = world.begin(env, NULL, MDB_RDONLY);
        world.begin(env, reader, 0);
        world.begin(env, reader, MDB_RDONLY);
        world.get(reader, dbi, "z");
        world.get(reader, new, "k");
        world.abort(reader);
        let parent = world.begin(env, NULL, 0);
        world.begin(env, parent, MDB_RDONLY);
        let child = world.begin(env, parent, 0);
        world.put(child, dbi, "y", "gone with its parent", 0);
        world.abort(parent);
        let reader = world.begin(env, NULL, MDB_RDONLY);
        world.get(reader, dbi, "y");
        world.abort(reader);
        world.close(env);

        let env = world.opened("two", MDB_WRITEMAP);
        let parent = world.begin(env, NULL, 0);
        world.begin(env, parent, 0);
        world.abort(parent);
        world.close(env);
    });
}

#[test]
fn failed_transactions_match_lmdb() {
    compare(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        let main = world.dbi(txn, None, 0);
        let named = world.dbi(txn, Some("named"), MDB_CREATE);
        world.put(txn, named, "k", "v", 0);
        world.put(txn, main, "named", "v", 0);
        world.put(txn, main, "named", "v", MDB_NOOVERWRITE);
        world.put(txn, named, "k", "v", 0x1);
        world.put(txn, named, "", "v", 0);
        world.get(txn, named, "k");
        world.commit(txn);
        let txn = world.begin(env, NULL, 0);
        world.get(txn, named, "k");
        world.del(txn, main, "named", "");
        world.get(txn, named, "k");
        world.put(txn, named, "k", "v", 0);
        world.cursor(txn, named);
        world.begin(env, txn, 0);
        world.commit(txn);
        let txn = world.begin(env, NULL, 0);
        let cursor = world.cursor(txn, main);
        world.seek(cursor, MDB_SET, "named", b"");
        world.cursor_del(cursor, 0);
        world.go(cursor, MDB_FIRST);
        world.abort(txn);
        let txn = world.begin(env, NULL, 0);
        world.get(txn, named, "k");
        world.abort(txn);
        world.close(env);
    });
}

#[test]
fn commits_without_changes_match_lmdb() {
    compare(|world| {
        let env = world.opened("one", 0);
        let steps: [fn(&mut crate::world::World<'_>, crate::api::Handle); 7] = [
            |world, txn| {
                world.dbi(txn, Some("d"), MDB_CREATE);
            },
            |world, txn| {
                world.put(txn, 2, "k", "v", 0);
            },
            |world, txn| {
                world.put(txn, 2, "k", "v", 0);
            },
            |world, txn| {
                world.put(txn, 2, "k", "v", MDB_NOOVERWRITE);
            },
            |world, txn| {
                world.del(txn, 2, "absent", "");
            },
            |world, txn| {
                world.del(txn, 2, "k", "");
            },
            |world, txn| world.drop_dbi(txn, 2, 0),
        ];
        for step in steps {
            let txn = world.begin(env, NULL, 0);
            step(world, txn);
            world.commit(txn);
            let reader = world.begin(env, NULL, MDB_RDONLY);
            let id = world.api.txn_id(reader);
            say!(world, "id {id}");
            world.abort(reader);
        }
        world.close(env);
    });
}
