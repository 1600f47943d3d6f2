//! Environments: opening, settings, facts (sections 1.6, 1.7 and 2 of the contract).

use std::ffi::CString;
use std::os::fd::AsRawFd;

use lmdb::*;

use crate::compare;
use crate::world::{NULL, c_text, say};

#[test]
fn texts_of_codes_match_lmdb() {
    compare(|world| {
        for code in (-30799..=-30780).chain([0, 1, 2, 13, 22, 28]) {
            say!(world, "{code} {}", c_text(world.api.strerror(code)));
        }
    });
}

#[test]
fn opening_matches_lmdb() {
    compare(|world| {
        let env = world.create();
        world.flags(env);
        let missing = world.path("missing");
        world.open(env, &missing, 0);
        let path = world.directory("one");
        world.open(env, &path, 0x80);
        world.open(env, &path, 0x200_0000);
        world.close(env);
        let env = world.create();
        world.open(env, &path, MDB_RDONLY);
        say!(world, "lock file left: {}", path.join("lock.mdb").exists());
        world.close(env);
        let env = world.create();
        world.open(env, &path, 0);
        world.open(env, &path, 0);
        world.flags(env);
        world.info(env);
        world.env_stat(env);
        for file in ["data.mdb", "lock.mdb"] {
            say!(
                world,
                "{file} {}",
                path.join(file).metadata().unwrap().len()
            );
        }
        world.close(env);

        let file = world.path("file");
        let env = world.opened_at(&file, MDB_NOSUBDIR | MDB_NOTLS, 0);
        world.flags(env);
        say!(world, "lock {}", world.path("file-lock").exists());
        world.close(env);
        for (path, flags) in [(&file, 0), (&path, MDB_NOSUBDIR)] {
            let env = world.create();
            world.open(env, path, flags);
            world.close(env);
        }
        let path = world.directory("strange");
        std::fs::write(path.join("data.mdb"), vec![7; 9000]).unwrap();
        let env = world.opened_at(&path, 0, 0);
        world.close(env);
        std::fs::write(path.join("data.mdb"), vec![7; 100]).unwrap();
        let env = world.opened_at(&path, 0, 0);
        world.close(env);
        std::fs::write(path.join("data.mdb"), b"").unwrap();
        let env = world.opened_at(&path, 0, 0);
        world.info(env);
        world.close(env);
        world.close(NULL);
    });
}

#[test]
fn read_only_environments_match_lmdb() {
    compare(|world| {
        let path = world.directory("one");
        let env = world.opened_at(&path, 0, 4);
        let txn = world.begin(env, NULL, 0);
        let dbi = world.dbi(txn, None, 0);
        world.put(txn, dbi, "key", "value", 0);
        world.dbi(txn, Some("old"), MDB_CREATE);
        world.commit(txn);
        let txn = world.begin(env, NULL, MDB_RDONLY);
        world.dbi(txn, Some("new"), MDB_CREATE);
        world.dbi(txn, Some("old"), MDB_CREATE);
        world.dbi(txn, Some("key"), MDB_CREATE);
        world.abort(txn);
        world.close(env);
        let env = world.opened_at(&path, MDB_RDONLY | MDB_WRITEMAP, 4);
        world.flags(env);
        world.begin(env, NULL, 0);
        let code = world.api.env_sync(env, 1);
        world.code("env_sync", code);
        world.set_flags(env, MDB_NOSYNC, 1);
        world.flags(env);
        let txn = world.begin(env, NULL, MDB_RDONLY);
        let dbi = world.dbi(txn, None, 0);
        world.get(txn, dbi, "key");
        world.put(txn, dbi, "key", "value", 0);
        world.del(txn, dbi, "key", "value");
        world.drop_dbi(txn, dbi, 0);
        world.dbi(txn, Some("new"), MDB_CREATE);
        world.dbi(txn, Some("old"), MDB_CREATE);
        world.commit(txn);
        world.close(env);
    });
}

#[test]
fn settings_match_lmdb() {
    compare(|world| {
        let api = world.api;
        let env = world.create();
        let path = world.directory("one");
        let (mut fd, mut readers, mut text) = (0, 0, c"x".as_ptr());
        world.code("get_fd", api.env_get_fd(env, &mut fd));
        world.code("get_path", api.env_get_path(env, &mut text));
        say!(world, "{fd} {}", text.is_null());
        world.code("get_maxreaders", api.env_get_maxreaders(env, &mut readers));
        say!(world, "{readers} {}", api.env_get_maxkeysize(env));
        world.code("set_maxreaders 0", api.env_set_maxreaders(env, 0));
        world.code("set_maxreaders", api.env_set_maxreaders(env, 200));
        world.code("sync", api.env_sync(env, 0));
        world.code("reader_check", api.reader_check(env, std::ptr::null_mut()));
        world.set_flags(env, MDB_NOSYNC | MDB_MAPASYNC, 1);
        world.set_flags(env, MDB_NOSYNC | MDB_NOTLS, 0);
        world.set_flags(env, MDB_RDONLY, 1);
        world.flags(env);
        world.set_mapsize(env, 1_234_567);
        world.open(env, &path, MDB_NOMETASYNC);
        world.flags(env);
        world.set_flags(env, MDB_NOSYNC, 0);
        world.set_flags(env, MDB_WRITEMAP, 1);
        world.flags(env);
        world.info(env);
        world.code("get_fd", api.env_get_fd(env, &mut fd));
        world.code("get_path", api.env_get_path(env, &mut text));
        say!(
            world,
            "{} {}",
            fd > 2,
            c_text(text) == path.to_str().unwrap()
        );
        world.code("get_maxreaders", api.env_get_maxreaders(env, &mut readers));
        say!(world, "{readers}");
        world.code("set_maxreaders", api.env_set_maxreaders(env, 20));
        world.code("set_maxdbs", api.env_set_maxdbs(env, 20));
        say!(world, "userctx {}", api.env_get_userctx(env).is_null());
        world.code("set_userctx", api.env_set_userctx(env, env));
        say!(world, "userctx {}", api.env_get_userctx(env) == env);
        world.code("set_assert", api.env_set_assert(env, NULL));
        world.code("sync", api.env_sync(env, 0));
        world.code("sync", api.env_sync(env, 1));
        world.close(env);
    });
}

#[test]
fn map_sizes_match_lmdb() {
    compare(|world| {
        let path = world.directory("one");
        let env = world.opened_at(&path, 0, 4);
        world.set_mapsize(env, 1);
        world.info(env);
        world.set_mapsize(env, 0);
        world.info(env);
        world.set_mapsize(env, 1_234_567);
        world.info(env);
        let txn = world.begin(env, NULL, 0);
        world.set_mapsize(env, 4 << 20);
        let dbi = world.dbi(txn, None, 0);
        world.put(txn, dbi, "key", "value", 0);
        world.commit(txn);
        world.set_mapsize(env, 40960);
        let txn = world.begin(env, NULL, 0);
        let large = vec![b'x'; 5000];
        let mut code = 0;
        for number in 0..20_u32 {
            code = world.put(txn, dbi, &number.to_be_bytes(), large.as_slice(), 0);
            if code != 0 {
                break;
            }
        }
        say!(world, "full: {code}");
        world.get(txn, dbi, "key");
        world.put(txn, dbi, "key", "other", 0);
        world.cursor(txn, dbi);
        world.begin(env, txn, 0);
        world.commit(txn);
        let txn = world.begin(env, NULL, MDB_RDONLY);
        world.get(txn, dbi, "key");
        world.abort(txn);
        world.close(env);
        let env = world.opened_at(&path, 0, 4);
        world.info(env);
        world.close(env);
    });
}

#[test]
fn copies_match_lmdb() {
    compare(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        let dbi = world.dbi(txn, None, 0);
        for number in 0..500_u32 {
            world.put(txn, dbi, &number.to_be_bytes(), "value", 0);
        }
        world.commit(txn);
        let txn = world.begin(env, NULL, 0);
        for number in 100..300_u32 {
            world.del(txn, dbi, &number.to_be_bytes(), "");
        }
        world.commit(txn);
        let (api, missing) = (world.api, world.path("missing"));
        for (name, flags) in [
            ("plain", 0),
            ("compact", MDB_CP_COMPACT),
            ("unknown flag", 0x10),
        ] {
            let path = world.directory(name);
            let text = CString::new(path.to_str().unwrap()).unwrap();
            let code = api.env_copy2(env, text.as_ptr(), flags);
            world.code(name, code);
            let code = api.env_copy2(env, text.as_ptr(), flags);
            world.code("again", code);
            say!(
                world,
                "{} {}",
                path.join("lock.mdb").exists(),
                path.join("data.mdb").metadata().unwrap().len()
            );
            let copy = world.opened_at(&path, MDB_RDONLY, 0);
            world.info(copy);
            world.env_stat(copy);
            world.close(copy);
        }
        let text = CString::new(missing.to_str().unwrap()).unwrap();
        let out = std::fs::File::create(world.path("out")).unwrap();
        world.code("missing", api.env_copy2(env, text.as_ptr(), 0));
        world.code("fd", api.env_copyfd2(env, out.as_raw_fd(), 0));
        world.code("bad fd", api.env_copyfd2(env, 12345, 0));
        say!(world, "{}", out.metadata().unwrap().len());
        let reader = world.begin(env, NULL, MDB_RDONLY);
        let code = api.env_copyfd2(env, out.as_raw_fd(), 0);
        world.code("beside a reader of the thread", code);
        world.abort(reader);
        world.close(env);
    });
}

#[test]
fn reader_tables_match_lmdb() {
    compare(|world| {
        let env = world.opened("one", MDB_NOTLS);
        world.readers(env);
        let first = world.begin(env, NULL, MDB_RDONLY);
        let second = world.begin(env, NULL, MDB_RDONLY);
        world.readers(env);
        world.info(env);
        world.reset(first);
        world.readers(env);
        world.abort(second);
        world.readers(env);
        world.abort(first);
        world.readers(env);
        world.info(env);
        let mut dead = 5;
        let code = world.api.reader_check(env, &mut dead);
        world.code(&format!("reader_check {dead}"), code);
        world.close(env);
        let env = world.opened("two", MDB_NOLOCK);
        world.readers(env);
        let txn = world.begin(env, NULL, MDB_RDONLY);
        world.begin(env, NULL, MDB_RDONLY);
        world.info(env);
        let code = world.api.reader_check(env, &mut dead);
        world.code(&format!("reader_check {dead}"), code);
        world.abort(txn);
        world.close(env);
    });
}
