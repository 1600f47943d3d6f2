//! A forked child. It cannot use its parent's environment, can drop it harmlessly, and can open its
//! own.
//!
//! There is one test, so the child is a copy of the only working thread.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use fulgurite::{Database, Environment, Error, SlotPolicy, Snapshot};

fn expect(holds: bool, what: &'static str) -> io::Result<()> {
    if holds {
        Ok(())
    } else {
        Err(io::Error::other(what))
    }
}

/// Runs `work` in a forked child; its error, if it has one.
fn in_child(work: impl FnMut() -> io::Result<()> + Send + Sync + 'static) -> io::Result<()> {
    let mut command = Command::new("true");
    // SAFETY: `pre_exec` requires that `work` is sound in a forked child, where only this thread
    // exists. This program has one test and one thread. So no other thread holds a lock of the
    // allocator when it forks.
    unsafe { command.pre_exec(work) };
    command.spawn()?.wait().map(drop)
}

#[test]
fn a_forked_child_opens_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_owned();
    let open = || {
        let policy = SlotPolicy::PerThread;
        Environment::options().slots(policy).open(&path).unwrap()
    };
    let environment: &'static Environment = Box::leak(Box::new(open()));
    let reader: &'static mut _ = Box::leak(Box::new(environment.read().unwrap()));
    let reader = &*reader;
    let mut txn = environment.write().unwrap();
    txn.put(Database::MAIN, b"key", b"parent").unwrap();

    in_child(move || {
        let forked = |result| matches!(result, Err(Error::Forked));
        expect(forked(environment.read().map(drop)), "read")?;
        expect(forked(environment.write().map(drop)), "write")?;
        expect(forked(environment.sync(true)), "sync")?;
        expect(forked(environment.set_map_size(1 << 30)), "set_map_size")?;
        expect(
            forked(environment.clear_stale_readers().map(drop)),
            "clear_stale_readers",
        )
    })
    .unwrap();
    assert_eq!(reader.id().0, 0);
    assert_eq!(environment.readers().unwrap().len(), 1);
    txn.commit().unwrap();

    // The child's handle is its own. Dropping the inherited one does not affect it.
    let mut inherited = Some(open());
    let child_path = path.clone();
    in_child(move || {
        let policy = SlotPolicy::PerThread;
        let own = Environment::options().slots(policy).open(&child_path);
        let own = own.map_err(|_| io::Error::other("open"))?;
        let reader = own.read().map_err(|_| io::Error::other("own read"))?;
        drop(inherited.take());
        let pid = std::process::id();
        let readers = own.readers().unwrap_or_default();
        expect(readers.iter().any(|reader| reader.pid == pid), "own slot")?;
        expect(
            readers.iter().any(|reader| reader.pid != pid),
            "the parent's slot",
        )?;
        let found = reader.get(Database::MAIN, b"key");
        expect(matches!(found, Ok(Some(b"parent"))), "get")?;
        drop(reader);
        let mut txn = own.write().map_err(|_| io::Error::other("own write"))?;
        txn.put(Database::MAIN, b"key", b"child")
            .and_then(|()| txn.commit())
            .map_err(|_| io::Error::other("commit"))?;
        drop(own);
        Ok(())
    })
    .unwrap();
    assert_eq!(environment.clear_stale_readers().unwrap(), 0);
    assert_eq!(environment.readers().unwrap().len(), 1);
    std::thread::spawn(move || {
        let reader = environment.read().unwrap();
        let found = reader.get(Database::MAIN, b"key").unwrap();
        assert_eq!(found, Some(&b"child"[..]));
    })
    .join()
    .unwrap();
}
