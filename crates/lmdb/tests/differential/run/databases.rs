//! Handles of databases: opening, closing, and when using one is defined at all. A transaction may
//! begin before another one reopens a handle number. It must not use that number: the reference
//! would mix up the two databases.

use super::{Runner, StepResult, name};
use crate::compare::short;
use crate::constants::*;
use crate::step::{BadOpen, WRITERS};

/// A handle that no plan ever opens.
const NO_DBI: u32 = 77;

/// The model of a handle number.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DbiSlot {
    /// Openings so far.
    pub(super) uses: u32,
    /// When it was opened last, and by whom.
    pub(super) era: u64,
    pub(super) family: u64,
    /// In which transaction slot, until that is committed to the top.
    pub(super) level: Option<usize>,
    /// When it was closed, and by whom.
    closed: Option<(u64, u64)>,
    /// Not closed since.
    pub(super) open: bool,
}

impl Runner<'_> {
    /// The handle to use for a database, if using it in this transaction is defined.
    pub(crate) fn dbi(&self, txn: usize, db: usize) -> Option<u32> {
        let txn = self.txns[txn]?;
        if db == 0 {
            return Some(1);
        }
        let Some(dbi) = self.dbis[db] else {
            return Some(NO_DBI);
        };
        let slot = self.slots.get(&dbi).copied().unwrap_or_default();
        if let Some((time, family)) = slot.closed
            && txn.closings < time
            && txn.family != family
        {
            // The reference may answer from what it has read of it, or no longer know its name.
            return None;
        }
        // One that dropped a database itself may know of later openings in ours, though not in the
        // reference.
        let dropped = self.closers.contains(&txn.family);
        let defined =
            slot.family == txn.family || slot.era <= txn.era || slot.uses <= 1 && !dropped;
        defined.then_some(dbi)
    }

    /// Handles opened in a transaction are closed by its abort and handed on by its commit.
    pub(super) fn handles_end(&mut self, txn: usize, family: u64, committed: bool) {
        for slot in self.slots.values_mut().filter(|s| s.family == family) {
            if slot.level.is_some_and(|level| level >= txn) {
                slot.open &= committed;
                slot.level = if txn > 0 && txn < WRITERS {
                    Some(txn - 1)
                } else {
                    None
                };
            }
        }
    }

    /// Returns true if a handle may be opened here: no other transaction has opened one without its
    /// knowledge.
    pub(super) fn may_open(&self, txn: usize) -> bool {
        let Some(txn) = self.txns[txn] else {
            return false;
        };
        txn.era == self.era && self.opener.is_none_or(|family| family == txn.family)
    }

    pub(super) fn opened(&mut self, txn: usize, db: usize, dbi: u32) {
        let Some(family) = self.txns[txn].map(|t| t.family) else {
            return;
        };
        if dbi < 2 {
            return;
        }
        let known = self.slots.entry(dbi).or_default();
        if known.open && self.dbis[db] == Some(dbi) {
            return;
        }
        self.opener = Some(family);
        self.era += 1;
        for txn in self
            .txns
            .iter_mut()
            .flatten()
            .filter(|t| t.family == family)
        {
            txn.era = self.era;
        }
        let uses = known.uses + 1;
        *known = DbiSlot {
            uses,
            era: self.era,
            family,
            level: Some(txn),
            closed: None,
            open: true,
        };
        for (other, slot) in self.dbis.iter_mut().enumerate() {
            if other != db && *slot == Some(dbi) {
                *slot = None;
            }
        }
        self.dbis[db] = Some(dbi);
    }

    pub(super) fn open_database(
        &mut self,
        txn: usize,
        db: usize,
        create: bool,
        flags: Option<u32>,
    ) -> StepResult {
        if !self.may_open(txn) {
            return Ok(());
        }
        let spec = self.spec(db);
        let mut asked = flags.unwrap_or(spec.flags);
        if db == 0 {
            asked = if txn < WRITERS { spec.flags } else { 0 };
        } else if create {
            asked |= CREATE;
        }
        if flags.is_some() && create && db != 0 {
            // Other flags would make another kind of database, unless it is there already.
            let Some(dbi) = self.dbi(txn, db) else {
                return Ok(());
            };
            let there = self.both("mdb_dbi_flags", &format!("{} {dbi}", name(txn)), |s| {
                s.api.dbi_flags(s.txns[txn], dbi)
            })?;
            if there.code != 0 {
                return Ok(());
            }
        }
        let text = match &spec.name {
            Some(bytes) => format!(
                "{} {} {}",
                name(txn),
                short(bytes),
                database_flag_names(asked)
            ),
            None => format!("{} main {}", name(txn), database_flag_names(asked)),
        };
        let outcome = self.both("mdb_dbi_open", &text, |s| {
            s.api.dbi_open(s.txns[txn], spec.name.as_deref(), asked)
        })?;
        let Some(dbi) = outcome.value("dbi") else {
            return Ok(());
        };
        let dbi = dbi as u32;
        self.opened(txn, db, dbi);
        if let Some(order) = spec.key_order {
            self.both(
                "mdb_set_compare",
                &format!("{} {dbi} {order:?}", name(txn)),
                |s| s.api.set_compare(s.txns[txn], dbi, order),
            )?;
        }
        if let Some(order) = spec.value_order {
            self.both(
                "mdb_set_dupsort",
                &format!("{} {dbi} {order:?}", name(txn)),
                |s| s.api.set_dupsort(s.txns[txn], dbi, order),
            )?;
        }
        Ok(())
    }

    pub(super) fn bad_open(&mut self, txn: usize, how: BadOpen) -> StepResult {
        if !self.may_open(txn) {
            return Ok(());
        }
        let extra = self.profile.databases.len();
        let (text, flags) = match how {
            BadOpen::Unknown => (b"unknown".to_vec(), 0),
            BadOpen::UnknownCreate if self.profile.has_named() => (b"extra".to_vec(), CREATE),
            BadOpen::UnknownCreate => return Ok(()),
            BadOpen::EmptyName => (Vec::new(), 0),
            BadOpen::LongName => (vec![b'n'; 512], 0),
            BadOpen::UnknownFlag => (b"db0".to_vec(), 1),
            BadOpen::PlainRecord(key) => (self.spec(0).key(key), 0),
        };
        if text.contains(&0) || matches!(how, BadOpen::PlainRecord(_)) && text.starts_with(b"db") {
            return Ok(());
        }
        let arguments = format!(
            "{} {} {}",
            name(txn),
            short(&text),
            database_flag_names(flags)
        );
        let outcome = self.both("mdb_dbi_open bad", &arguments, |s| {
            s.api.dbi_open(s.txns[txn], Some(&text), flags)
        })?;
        if let Some(dbi) = outcome.value("dbi") {
            self.opened(txn, extra, dbi as u32);
        }
        Ok(())
    }

    pub(super) fn close_database(&mut self, db: usize) -> StepResult {
        let writing = self.txns[0].is_some();
        let used = self.cursors.iter().flatten().any(|c| c.db == db);
        let Some(dbi) = self.dbis[db] else {
            return Ok(());
        };
        if writing || used || self.opener.is_some() {
            return Ok(());
        }
        self.both("mdb_dbi_close", &format!("{dbi}"), |s| {
            s.api.dbi_close(s.env, dbi)
        })?;
        self.handle_closed(dbi, 0);
        Ok(())
    }

    pub(super) fn facts(&mut self, txn: usize, db: usize) -> StepResult {
        let Some(dbi) = self.dbi(txn, db) else {
            return Ok(());
        };
        let arguments = format!("{} {}", name(txn), self.db_name(db));
        self.both("mdb_dbi_flags", &arguments, |s| {
            s.api.dbi_flags(s.txns[txn], dbi)
        })?;
        self.both("mdb_stat", &arguments, |s| s.api.stat(s.txns[txn], dbi))
            .map(drop)
    }

    pub(super) fn drop_database(&mut self, txn: usize, db: usize, del: i32) -> StepResult {
        let Some(dbi) = self.dbi(txn, db) else {
            return Ok(());
        };
        if db == 0 && self.profile.has_named() {
            // The reference would lose the pages of the named ones.
            return Ok(());
        }
        if del == 1 && (1..WRITERS).contains(&txn) {
            // When the child is aborted the reference loses what the parent has in the database.
            return Ok(());
        }
        if del == 1 && !self.may_open(txn) {
            // It closes a handle, and another transaction opens some.
            return Ok(());
        }
        let arguments = format!("{} {} {del}", name(txn), self.db_name(db));
        let outcome = self.both("mdb_drop", &arguments, |s| {
            s.api.drop_db(s.txns[txn], dbi, del)
        })?;
        if outcome.code == 0 && del == 1 && db != 0 {
            let family = self.txns[txn].map_or(0, |t| t.family);
            // Until this is committed nobody else may open handles: to them the database is still
            // there.
            self.era += 1;
            self.opener = Some(family);
            for txn in self.txns.iter_mut().flatten() {
                if txn.family == family {
                    txn.era = self.era;
                }
            }
            self.handle_closed(dbi, family);
            for cursor in self.cursors.iter_mut().flatten() {
                if cursor.db == db && cursor.txn.is_none_or(|t| t < WRITERS) {
                    cursor.dead = true;
                }
            }
        }
        Ok(())
    }

    pub(super) fn handle_closed(&mut self, dbi: u32, family: u64) {
        self.closings += 1;
        self.closers.insert(family);
        if let Some(slot) = self.slots.get_mut(&dbi) {
            slot.open = false;
            slot.closed = Some((self.closings, family));
        }
    }
}
