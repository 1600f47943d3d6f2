//! One transaction for several sessions.

use std::time::{SystemTime, UNIX_EPOCH};

use fulgurite::Error;

use crate::cache::Cache;
use crate::cache::changes::Changes;
use crate::command::{Context, ItemAccess, Mark, Pause, ServerFacts, Session};
use crate::statistics::Counters;

/// Expired items that leave with each transaction, besides two for each change.
const EXPIRED_MAX: usize = 8;

/// Items that the walk after a flush looks at with each transaction.
const FLUSHED_MAX: usize = 32;

/// The reasons of refused changes, for clients.
const NO_ROOM: &str = "out of memory storing object";
const NO_WRITES: &str = "the cache cannot be written; see the server's log";

/// The parts of a server that a commit needs.
#[derive(Clone, Copy)]
pub(super) struct Committer<'c> {
    pub(super) cache: &'c Cache,
    pub(super) server: &'c ServerFacts,
    pub(super) counters: &'c Counters,
}

/// Returns the seconds since 1970.
pub(super) fn seconds_now() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs() as u32)
}

impl<'c> Committer<'c> {
    /// Runs the commands of sessions and commits their changes. After a failure each session has a
    /// transaction for itself. If that fails too, its changes are refused.
    pub(super) fn commit(&self, sessions: &mut [Session]) {
        let marks: Vec<Mark> = sessions.iter().map(Session::mark).collect();
        let Err(mut error) = self.attempt(sessions) else {
            return;
        };
        for (session, mark) in sessions.iter_mut().zip(&marks) {
            session.go_back(*mark);
        }
        let is_alone = sessions.len() == 1;
        for session in sessions {
            let mark = session.mark();
            if is_full(&error) && self.cache.evicts() {
                self.make_room();
            }
            if !is_alone || is_full(&error) {
                match self.attempt(std::slice::from_mut(session)) {
                    Ok(()) => continue,
                    Err(again) => error = again,
                }
                session.go_back(mark);
            }
            self.counters.failed_commits.up();
            tracing::error!("changes of a client are refused: {error}");
            self.refuse(session, if is_full(&error) { NO_ROOM } else { NO_WRITES });
        }
    }

    fn attempt(&self, sessions: &mut [Session]) -> Result<(), Error> {
        let now_s = seconds_now();
        let mut changes = Changes::begin(self.cache, self.server.value_max, now_s)?;
        changes.flush_if_due()?;
        for session in sessions {
            let mut context = self.context(ItemAccess::Write(&mut changes), now_s);
            if let Pause::Failed(error) = session.run(&mut context) {
                return Err(error);
            }
        }
        let expired_max = EXPIRED_MAX + 2 * changes.count;
        let expired = changes.sweep_expired(expired_max)?;
        changes.sweep_flushed(FLUSHED_MAX)?;
        let evicted = changes.evict()?;
        changes.commit()?;
        self.counters.commits.up();
        self.counters.reclaimed.add(expired as u64);
        self.counters.evictions.add(evicted);
        Ok(())
    }

    fn context<'a>(&'a self, access: ItemAccess<'a, 'c>, now_s: u32) -> Context<'a, 'c> {
        Context {
            cache: self.cache,
            server: self.server,
            counters: self.counters,
            access,
            now_s,
        }
    }

    /// Evicts some items, for a file that cannot grow. If that fails, nothing changes. Pages that
    /// one commit freed are free for the second one after it, so there are two.
    fn make_room(&self) {
        self.evict_some();
        self.evict_some();
    }

    fn evict_some(&self) {
        let evict = || -> Result<u64, Error> {
            let mut changes = Changes::begin(self.cache, self.server.value_max, seconds_now())?;
            changes.use_reserve();
            let evicted = changes.evict_some()?;
            changes.commit()?;
            Ok(evicted)
        };
        match evict() {
            Ok(evicted) => self.counters.evictions.add(evicted),
            Err(error) => tracing::warn!("cannot make room in the cache: {error}"),
        }
    }

    /// Answers a session's commands, and refuses each that writes.
    fn refuse(&self, session: &mut Session, reason: &'static str) {
        match self.cache.read() {
            Ok(txn) => {
                let access = ItemAccess::Refused(&txn, reason);
                let pause = session.run(&mut self.context(access, seconds_now()));
                if let Pause::Failed(error) = pause {
                    tracing::error!("a client's connection ends: {error}");
                    session.fail();
                }
            }
            Err(error) => {
                tracing::error!("a client's connection ends: {error}");
                session.fail();
            }
        }
    }
}

/// Returns true if the file cannot grow.
fn is_full(error: &Error) -> bool {
    match error {
        Error::MapFull(_) => true,
        Error::Io { source, .. } => source.kind() == std::io::ErrorKind::StorageFull,
        _ => false,
    }
}
