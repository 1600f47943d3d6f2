//! Threads and processes (section 3.2), and who has which reader slot.

use lmdb::*;

use crate::api::Handle;
use crate::world::{NULL, World, say};
use crate::{alone, compare};

/// Runs steps in a thread that then ends.
fn in_thread(world: &mut World<'_>, env: Handle, steps: fn(&mut World<'_>, Handle)) {
    let env = env as usize;
    std::thread::scope(|scope| {
        let thread = scope.spawn(move || steps(world, env as Handle));
        // The scope's own end would not wait for what the thread does when it ends.
        thread.join().unwrap();
    });
}

fn read_something(world: &mut World<'_>, env: Handle) {
    let txn = world.begin(env, NULL, MDB_RDONLY);
    let dbi = world.dbi(txn, None, 0);
    world.get(txn, dbi, "k");
    world.readers(env);
    world.abort(txn);
}

#[test]
fn a_slot_belongs_to_a_thread_until_it_ends() {
    compare(|world| {
        let env = world.opened("one", 0);
        for _ in 0..3 {
            in_thread(world, env, read_something);
            world.readers(env);
        }
        world.info(env);
        let txn = world.begin(env, NULL, MDB_RDONLY);
        in_thread(world, env, read_something);
        world.info(env);
        world.abort(txn);
        world.close(env);
    });
}

#[test]
fn a_writer_sees_its_changes_while_its_thread_has_a_reader() {
    compare(|world| {
        let env = world.opened("one", 0);
        let writer = world.begin(env, NULL, 0);
        let dbi = world.dbi(writer, None, 0);
        world.put(writer, dbi, "k", "v", 0);
        let reader = world.begin(env, NULL, MDB_RDONLY);
        world.get(reader, dbi, "k");
        in_thread(world, env, read_something);
        world.commit(writer);
        world.get(reader, dbi, "k");
        in_thread(world, env, read_something);
        world.abort(reader);
        world.close(env);
    });
}

#[test]
fn a_thread_that_ends_with_its_writer_leaves_the_environment_broken() {
    compare(|world| {
        let env = world.opened("one", 0);
        in_thread(world, env, |world, env| {
            let txn = world.begin(env, NULL, 0);
            world.dbi(txn, None, 0);
        });
        world.begin(env, NULL, 0);
        world.begin(env, NULL, 0);
    });
}

#[test]
fn full_reader_tables_match_lmdb() {
    compare(|world| {
        let env = world.create();
        let code = world.api.env_set_maxreaders(env, 2);
        world.code("set_maxreaders", code);
        let path = world.directory("one");
        world.open(env, &path, MDB_NOTLS);
        let lock = path.join("lock.mdb").metadata().unwrap().len();
        let mut readers = 0;
        world.api.env_get_maxreaders(env, &mut readers);
        say!(world, "lock file of {lock}, {readers} readers");
        let txns: Vec<Handle> = (0..readers)
            .map(|_| world.begin(env, NULL, MDB_RDONLY))
            .collect();
        world.begin(env, NULL, MDB_RDONLY);
        for txn in txns {
            world.abort(txn);
        }
        world.begin(env, NULL, MDB_RDONLY);
        world.close(env);
    });
}

#[test]
fn a_forked_child_gets_panic_codes() {
    let transcript = alone(|world| {
        let env = world.opened("one", 0);
        let txn = world.begin(env, NULL, 0);
        world.put(txn, 1, "k", "v", 0);
        world.commit(txn);
        let mut ignored = NULL;
        // SAFETY: the child calls the library and ends. Other threads could hold no lock that it
        // needs except that of the allocator, and fork handles that.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let (read, write) = (
                world.api.txn_begin(env, NULL, MDB_RDONLY, &mut ignored),
                world.api.txn_begin(env, NULL, 0, &mut ignored),
            );
            let refused = read == MDB_PANIC && write == MDB_PANIC;
            // SAFETY: ends the child without running the test's own ends.
            unsafe { libc::_exit(i32::from(!refused)) };
        }
        let mut status = -1;
        // SAFETY: the child of this process.
        unsafe { libc::waitpid(child, &mut status, 0) };
        say!(world, "child ended with {status}");
        let txn = world.begin(env, NULL, 0);
        world.get(txn, 1, "k");
        world.abort(txn);
        world.close(env);
    });
    assert!(transcript.contains("child ended with 0\n"), "{transcript}");
    assert!(
        transcript.ends_with("get = v -> 0 Successful return\n"),
        "{transcript}"
    );
}
