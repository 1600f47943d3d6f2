//! Lock files that seem to be in use: any bytes, with the marks of a lock file or without.
//!
//! Nobody believes a lock file that no other process has open: the first opener writes it anew. So
//! the parent lets a third process hold the lock, by which others see that the file is in use.

use std::io;
use std::path::{Path, PathBuf};

use fulgurite_format::lockfile;
use fulgurite_testkit::{Peer, Random, c_peer};

/// The offset of the kind in a mutex of glibc, and the kind in lock files: robust and
/// process-shared.
const MUTEX_KIND_AT: usize = 16;
const MUTEX_KIND: u32 = 0x90;

/// Octets for a lock file.
///
/// The mutexes are unlocked, whatever kind they claim. A locked one would make the writer wait for
/// an owner that does not exist, which is allowed.
pub(super) fn draw(random: &mut Random) -> Vec<u8> {
    let slots = random.between(0, 140);
    let len = match random.below(6) {
        0 => random.below(600),
        1 => lockfile::len_for(slots as u32) + random.below(64),
        _ => lockfile::len_for(126),
    };
    let mut lock = vec![0; len];
    put(
        &mut lock,
        lockfile::MAGIC_AT,
        &lockfile::MAGIC.to_le_bytes(),
    );
    put(
        &mut lock,
        lockfile::FORMAT_AT,
        &lockfile::FORMAT.to_le_bytes(),
    );
    if random.chance(8) {
        // Behind magic and format the first mutex begins.
        let at = random.below(5);
        put(&mut lock, at, &random.bytes(4));
    }
    for mutex in [lockfile::READER_MUTEX_AT, lockfile::WRITER_MUTEX_AT] {
        let kind = if random.chance(8) {
            random.bits() as u32
        } else {
            MUTEX_KIND
        };
        put(&mut lock, mutex + MUTEX_KIND_AT, &kind.to_le_bytes());
    }
    let id = txnid(random);
    put(&mut lock, lockfile::LAST_TXNID_AT, &id.to_le_bytes());
    let used = *random.pick(&[0, 1, 2, 60, 126, 127, 1 << 20, u32::MAX]);
    put(&mut lock, lockfile::USED_SLOTS_AT, &used.to_le_bytes());
    for index in 0..random.below(130) as u32 {
        let at = lockfile::slot_at(index);
        let pid = *random.pick(&[
            0,
            0,
            1,
            2,
            300,
            99_999,
            u32::MAX,
            1 << 31,
            std::process::id(),
        ]);
        let id = txnid(random);
        put(&mut lock, at + lockfile::SLOT_TXNID_AT, &id.to_le_bytes());
        put(&mut lock, at + lockfile::SLOT_PID_AT, &pid.to_le_bytes());
        put(&mut lock, at + lockfile::SLOT_THREAD_AT, &random.bytes(8));
    }
    lock
}

/// The id of the last commit is more often one that the bases have.
fn txnid(random: &mut Random) -> u64 {
    match random.below(3) {
        0 => random.below(8) as u64,
        1 => *random.pick(&[0, 1, 5, u64::MAX, u64::MAX - 1, 1 << 63]),
        _ => 5,
    }
}

fn put(lock: &mut [u8], at: usize, octets: &[u8]) {
    for (to, from) in lock.iter_mut().skip(at).zip(octets) {
        *to = *from;
    }
}

/// A process that has an environment open, whose lock file is then rewritten behind its back.
#[derive(Debug)]
pub(super) struct Holder {
    _peer: Peer,
    lock_file: PathBuf,
}

impl Holder {
    /// Starts a process in a new environment inside `dir`.
    pub(super) fn start(dir: &Path) -> io::Result<Holder> {
        let dir = dir.join("holder");
        std::fs::create_dir_all(&dir)?;
        let mut peer = c_peer();
        peer.must(&format!("open {}", dir.display()));
        Ok(Holder {
            _peer: peer,
            lock_file: dir.join("lock.mdb"),
        })
    }

    /// Makes its lock file that of the environment in `dir`, with these octets.
    pub(super) fn lend(&self, dir: &Path, octets: &[u8]) -> io::Result<()> {
        std::fs::write(&self.lock_file, octets)?;
        std::fs::hard_link(&self.lock_file, dir.join("lock.mdb"))
    }
}
