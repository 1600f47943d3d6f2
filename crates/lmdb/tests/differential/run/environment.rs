//! Calls on the environment as a whole, calls with NULL, opening and closing.

use super::{Runner, StepResult, environment_path};
use crate::api::{Arg, EnvOpen, Handle, Order};
use crate::compare::Outcome;
use crate::constants::*;
use crate::dump;
use crate::profile::SEQUENCE;
use crate::step::{CURSORS, NullCall, TXNS, WRITERS};

impl Runner<'_> {
    pub(super) fn environment_facts(&mut self) -> StepResult {
        let shuffle = self.shuffle;
        self.both("mdb_env_info", "", |s| {
            let outcome = s.api.env_info(s.env);
            if shuffle {
                outcome.without("txnid")
            } else {
                outcome
            }
        })?;
        self.both("mdb_env_stat", "", |s| s.api.env_stat(s.env))?;
        self.both("mdb_env_set_maxreaders", "and others", |s| {
            s.api.env_limits(s.env)
        })?;
        self.both("mdb_reader_check", "", |s| s.api.reader_check(s.env))
            .map(drop)
    }

    pub(super) fn map_size(&mut self, grow: usize) -> StepResult {
        let reading = self.txns[WRITERS..].iter().any(Option::is_some);
        if reading {
            return Ok(());
        }
        let bytes = if grow == 0 { 0 } else { self.map_bytes + grow };
        let outcome = self.both("mdb_env_set_mapsize", &bytes.to_string(), |s| {
            s.api.env_set_mapsize(s.env, bytes)
        })?;
        if outcome.code == 0 && bytes != 0 {
            self.map_bytes = bytes;
        }
        Ok(())
    }

    pub(super) fn null(&mut self, call: NullCall, db: usize) -> StepResult {
        match call {
            NullCall::Environment => self
                .both("null environment", "", |s| s.api.null_environment())
                .map(drop),
            NullCall::Transaction => self.null_transaction(self.dbis[db].unwrap_or(1)),
            NullCall::Cursor => self.null_cursor(),
        }
    }

    pub(super) fn null_transaction(&mut self, dbi: u32) -> StepResult {
        let none = Handle::NULL;
        let (k, d) = (Arg::Bytes(b"k"), Arg::Bytes(b"d"));
        self.both("mdb_get", "NULL", |s| s.api.get(none, dbi, k, Arg::Room))?;
        self.both("mdb_put", "NULL", |s| s.api.put(none, dbi, k, d, 0))?;
        self.both("mdb_del", "NULL", |s| s.api.del(none, dbi, k, Arg::Null))?;
        self.both("mdb_stat", "NULL", |s| s.api.stat(none, dbi))?;
        self.both("mdb_drop", "NULL", |s| s.api.drop_db(none, dbi, 0))?;
        self.both("mdb_dbi_flags", "NULL", |s| s.api.dbi_flags(none, dbi))?;
        let order = Order::Descending;
        self.both("mdb_set_compare", "NULL", |s| {
            s.api.set_compare(none, dbi, order)
        })?;
        self.both("mdb_set_dupsort", "NULL", |s| {
            s.api.set_dupsort(none, dbi, order)
        })?;
        self.both("mdb_cursor_open", "NULL", |s| {
            s.api.cursor_open(none, dbi).0
        })?;
        self.both("mdb_cursor_renew", "NULL", |s| {
            s.api.cursor_renew(none, none)
        })?;
        self.both("mdb_txn_commit", "NULL", |s| s.api.txn_commit(none))?;
        self.both("mdb_txn_renew", "NULL", |s| s.api.txn_renew(none))?;
        self.both("mdb_txn_reset", "NULL", |s| s.api.txn_reset(none))?;
        self.both("mdb_txn_abort", "NULL", |s| s.api.txn_abort(none))
            .map(drop)
    }

    pub(super) fn null_cursor(&mut self) -> StepResult {
        let none = Handle::NULL;
        let (k, d) = (Arg::Bytes(b"k"), Arg::Bytes(b"d"));
        self.both("mdb_cursor_get", "NULL", |s| {
            s.api.cursor_get(none, Arg::Room, Arg::Room, FIRST)
        })?;
        self.both("mdb_cursor_put", "NULL", |s| {
            s.api.cursor_put(none, k, d, 0)
        })?;
        self.both("mdb_cursor_count", "NULL", |s| s.api.cursor_count(none))?;
        self.both("mdb_cursor_close", "NULL", |s| s.api.cursor_close(none))
            .map(drop)
    }

    /// Opens both environments and the main database, with one record so that its flags are stored.
    pub(super) fn open_environments(&mut self) -> StepResult {
        let flags = self.flags;
        let (map_bytes, databases) = (self.map_bytes, self.profile.databases_max);
        let readers = self.profile.readers_max;
        let arguments = format!("flags={flags:#x} maxdbs={databases} maxreaders={readers}");
        self.both("mdb_env_open", &arguments, |s| {
            let path = environment_path(&s.dir, flags);
            let open = EnvOpen {
                path: &path,
                flags,
                map_bytes,
                databases,
                readers,
            };
            let (outcome, env) = s.api.env_open(&open);
            s.env = env;
            outcome
        })?;
        self.dbis.fill(None);
        self.slots.clear();
        self.opener = None;
        self.settled_era = self.era;
        self.settled = false;
        self.begin(0, false)?;
        self.open_database(0, 0, false, None)?;
        let spec = self.spec(0);
        let (key, value) = (spec.key(SEQUENCE), spec.value(SEQUENCE, 3));
        self.both("mdb_put NOOVERWRITE", "w0 main first record", |s| {
            s.api.put(
                s.txns[0],
                1,
                Arg::Bytes(&key),
                Arg::Bytes(&value),
                NOOVERWRITE,
            )
        })?;
        self.settled = true;
        self.end(0, true)
    }

    /// Closes everything, then compares the files by all that can read them.
    pub(super) fn close_all(&mut self) -> StepResult {
        for cursor in 0..CURSORS {
            if self.cursors[cursor].take().is_some() {
                self.both("mdb_cursor_close", &format!("c{cursor}"), |s| {
                    let handle = std::mem::replace(&mut s.cursors[cursor], Handle::NULL);
                    s.api.cursor_close(handle)
                })?;
            }
        }
        for txn in (0..TXNS).rev() {
            self.end(txn, false)?;
        }
        self.both("mdb_env_close", "", |s| {
            s.api.env_close(std::mem::replace(&mut s.env, Handle::NULL));
            Outcome::of(0)
        })?;
        dump::compare_files(self)
    }

    /// The flags of the open environments.
    pub(crate) fn env_flags(&self) -> u32 {
        self.flags
    }
}
