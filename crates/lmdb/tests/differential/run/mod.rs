//! Runs the steps of a plan on two libraries at once and stops at the first answer that differs.
//!
//! In addition to the two libraries' handles it keeps a small model. With it the run omits calls
//! that the interface leaves undefined. Those are calls on freed handles, on reopened handles, and
//! on cursors whose position depends on page splits.

mod cursors;
mod databases;
mod defined;
mod environment;
mod items;
mod neighbours;

use databases::DbiSlot;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::api::{Api, Arg, Handle};
use crate::compare::{Difference, Outcome};
use crate::constants::*;
use crate::profile::{Database, MAP_BYTES, Profile, SEQUENCE};
use crate::step::{CURSORS, Step, TXNS, WRITERS};

/// Calls kept for the report.
const TAIL: usize = 24;

/// One library with its environment.
pub(crate) struct Side<'a> {
    /// The library.
    pub(crate) api: &'a Api,
    /// Its environment.
    pub(crate) env: Handle,
    /// Its transactions.
    pub(crate) txns: [Handle; TXNS],
    /// Its cursors.
    pub(crate) cursors: [Handle; CURSORS],
    /// Where its files are.
    pub(crate) dir: PathBuf,
}

/// The model of an open transaction.
#[derive(Debug, Clone, Copy)]
struct Txn {
    /// The top-level transaction it belongs to: a number used once.
    family: u64,
    /// Openings of database handles that it can know of.
    era: u64,
    /// Closings of handles that came before it.
    closings: u64,
    /// Without a snapshot.
    reset: bool,
}

/// The model of an open cursor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor {
    /// Its transaction; `None` after a read transaction ended.
    pub(crate) txn: Option<usize>,
    /// Its database.
    pub(crate) db: usize,
    /// True if its place follows from the interface.
    pub(crate) place: PositionState,
    /// Its handle was closed: nothing but closing makes sense.
    dead: bool,
    /// True if its item may have been deleted, and no move has succeeded since.
    pub(crate) after_delete: bool,
    /// The last call deleted through it.
    pub(crate) just_deleted: bool,
    /// The last move found the end, or went there, and none has succeeded since.
    pub(crate) at_end: bool,
    /// It stored its item where a search had found none. At the end of a page the reference may
    /// still see the end, once the item is deleted.
    pub(crate) stored_after_miss: bool,
    /// It came to the key's duplicates from their first one.
    pub(crate) forward: bool,
    /// The key it is on, if that is known.
    pub(crate) key: Option<u64>,
}

/// How much is known about a cursor's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PositionState {
    /// Everything.
    Exact,
    /// Another cursor changed the duplicates of its key: it may be read and moved. The reference
    /// would count and delete by numbers that are out of date.
    Stale,
    /// Another cursor deleted duplicates: the reference may stay where it is at the next step.
    Unsettled,
    /// Past the last item, after a SET_RANGE.
    PastEnd,
    /// A search missed: only the predecessor is certain.
    Missed,
    /// Nothing.
    Unknown,
}

/// The file that names the library at work, should the process die.
pub(crate) const WITNESS: &str = "witness";
/// The reference is at work.
pub(crate) const IN_REFERENCE: u8 = b'r';
/// The library under test is at work.
const IN_OURS: u8 = b'o';
/// Neither is.
const OUTSIDE: u8 = b'-';

/// Writes down which library is at work.
struct ProgressFile(File);

impl ProgressFile {
    fn new(path: &Path) -> Self {
        Self(File::create(path).expect("create the witness"))
    }

    fn enter(&self, place: u8) {
        self.0.write_all_at(&[place], 0).expect("write the witness");
    }
}

/// Two libraries in step.
pub(crate) struct Runner<'a> {
    /// The reference and the library under test.
    pub(crate) sides: [Side<'a>; 2],
    /// The profile of the seed.
    pub(crate) profile: &'a Profile,
    /// True if one of them is old enough for the differences between versions to matter.
    pub(crate) old: bool,
    /// True if the second library's trees are shuffled, to find out what depends on the layout.
    pub(crate) shuffle: bool,
    /// Calls by name and result.
    pub(crate) counts: BTreeMap<String, u64>,
    /// The last calls.
    pub(crate) tail: VecDeque<String>,
    trace: Option<File>,
    witness: ProgressFile,
    /// The main database has been opened, without which the reference has no order for it.
    settled: bool,
    flags: u32,
    map_bytes: usize,
    txns: [Option<Txn>; TXNS],
    cursors: [Option<Cursor>; CURSORS],
    /// The handle last seen of each database, the extra one at the end.
    dbis: Vec<Option<u32>>,
    slots: BTreeMap<u32, DbiSlot>,
    era: u64,
    /// The openings that a transaction beginning now can know of.
    settled_era: u64,
    /// Closings of handles so far.
    closings: u64,
    /// Families that closed one.
    closers: BTreeSet<u64>,
    families: u64,
    /// The family with handles that are not committed yet.
    opener: Option<u64>,
}

/// A step ends well or with the first difference.
type StepResult = Result<(), Difference>;

impl<'a> Runner<'a> {
    /// Opens both environments in fresh directories under `dir`.
    pub(crate) fn new(
        apis: [&'a Api; 2],
        profile: &'a Profile,
        dir: &Path,
        trace: Option<File>,
        shuffle: bool,
    ) -> Result<Self, Difference> {
        let side = |api, name: &str| Side {
            api,
            env: Handle::NULL,
            txns: [Handle::NULL; TXNS],
            cursors: [Handle::NULL; CURSORS],
            dir: dir.join(name),
        };
        let mut runner = Self {
            sides: [side(apis[0], "reference"), side(apis[1], "ours")],
            profile,
            old: apis.iter().any(|api| api.version < (0, 9, 36)),
            shuffle,
            counts: BTreeMap::new(),
            tail: VecDeque::new(),
            trace,
            witness: ProgressFile::new(&dir.with_file_name(WITNESS)),
            settled: false,
            flags: profile.env_flags,
            map_bytes: MAP_BYTES,
            txns: [None; TXNS],
            cursors: [None; CURSORS],
            dbis: vec![None; profile.databases.len() + 1],
            slots: BTreeMap::new(),
            era: 0,
            settled_era: 0,
            closings: 0,
            closers: BTreeSet::new(),
            families: 0,
            opener: None,
        };
        for side in &runner.sides {
            std::fs::create_dir_all(&side.dir).expect("make a directory for an environment");
        }
        runner.open_environments()?;
        Ok(runner)
    }

    /// Makes one call on both sides; the outcomes must be equal.
    pub(crate) fn both(
        &mut self,
        function: &str,
        arguments: &str,
        call: impl Fn(&mut Side<'a>) -> Outcome,
    ) -> Result<Outcome, Difference> {
        self.note(function, arguments);
        let [reference, ours] = &mut self.sides;
        self.witness.enter(IN_REFERENCE);
        let reference = call(reference);
        self.witness.enter(IN_OURS);
        let ours = call(ours);
        self.witness.enter(OUTSIDE);
        if let Some(last) = self.tail.back_mut() {
            last.push_str(&format!(" -> {reference}"));
        }
        *self
            .counts
            .entry(format!("{function} {}", code_name(reference.code)))
            .or_default() += 1;
        match Difference::between(function, arguments, &reference, &ours) {
            Some(difference) => Err(difference),
            None => Ok(reference),
        }
    }

    /// Remembers a call that is made but not compared.
    pub(crate) fn note_only(&mut self, function: &str, arguments: &str) {
        self.note(function, arguments);
    }

    fn note(&mut self, function: &str, arguments: &str) {
        let text = format!("{function} {arguments}");
        if let Some(trace) = &mut self.trace {
            // Written before the call: if it is the last one, this line says so.
            writeln!(trace, "{text}").expect("write the trace");
        }
        if self.tail.len() == TAIL {
            self.tail.pop_front();
        }
        self.tail.push_back(text);
    }

    /// Runs one step.
    pub(crate) fn step(&mut self, step: Step) -> StepResult {
        match step {
            Step::Begin { txn, read_child } => self.begin(txn, read_child),
            Step::End { txn, commit } => self.end(txn, commit),
            Step::Reset { txn } => self.reset(txn),
            Step::Renew { txn } => self.renew(txn),
            Step::Open {
                txn,
                db,
                create,
                flags,
            } => self.open_database(txn, db, create, flags),
            Step::BadOpen { txn, how } => self.bad_open(txn, how),
            Step::CloseDb { db } => self.close_database(db),
            Step::Facts { txn, db } => self.facts(txn, db),
            Step::Drop { txn, db, del } => self.drop_database(txn, db, del),
            Step::Null { call, db } => self.null(call, db),
            Step::EnvFacts => self.environment_facts(),
            Step::EnvFlags { flags, on } => self
                .both("mdb_env_set_flags", &format!("{flags:#x} {on}"), |s| {
                    s.api.env_flags(s.env, flags, on)
                })
                .map(drop),
            Step::MapSize { grow } => self.map_size(grow),
            Step::Sync { force } => self
                .both("mdb_env_sync", &format!("{force}"), |s| {
                    s.api.env_sync(s.env, force)
                })
                .map(drop),
            Step::ErrorText { code } => {
                if self.old && code < -30780 || code == -1 || code > -30780 && code < 0 {
                    return Ok(());
                }
                self.both("mdb_strerror", &code.to_string(), |s| s.api.strerror(code))
                    .map(drop)
            }
            Step::Reopen { swap, flip } => {
                self.close_all()?;
                if swap {
                    let [a, b] = &mut self.sides;
                    std::mem::swap(&mut a.dir, &mut b.dir);
                }
                self.flags ^= flip;
                self.open_environments()
            }
            _ => self.item_step(step),
        }
    }

    /// Ends everything and compares what is left in the files.
    pub(crate) fn finish(&mut self) -> StepResult {
        self.close_all()
    }

    /// The database's description.
    pub(crate) fn spec(&self, db: usize) -> &'a Database {
        &self.profile.databases[db]
    }

    /// How a database is called in messages.
    pub(crate) fn db_name(&self, db: usize) -> String {
        match &self.spec(db).name {
            Some(name) => String::from_utf8_lossy(name).into_owned(),
            None => "main".to_owned(),
        }
    }

    /// Returns true if the transaction has an open child.
    pub(crate) fn blocked(&self, txn: usize) -> bool {
        txn + 1 < WRITERS && self.txns[txn + 1].is_some()
    }

    /// Returns true if the transaction has been reset.
    pub(crate) fn is_reset(&self, txn: usize) -> bool {
        self.txns[txn].is_some_and(|txn| txn.reset)
    }

    /// Returns true if the transaction is open.
    pub(crate) fn is_open(&self, txn: usize) -> bool {
        self.txns[txn].is_some()
    }

    /// The cursor, if it may be used at all now.
    pub(crate) fn usable_cursor(&self, cursor: usize) -> Option<Cursor> {
        let found = self.cursors[cursor]?;
        let txn = found.txn?;
        (!found.dead && !self.blocked(txn)).then_some(found)
    }

    /// The model of a cursor.
    pub(crate) fn cursor(&self, cursor: usize) -> Option<Cursor> {
        self.cursors[cursor]
    }

    /// Sets the key that a cursor is on.
    pub(crate) fn key_at(&mut self, cursor: usize, key: Option<u64>) {
        if let Some(cursor) = &mut self.cursors[cursor] {
            cursor.key = key;
        }
    }

    /// Notes whether the last call on a cursor deleted.
    pub(crate) fn just_deleted(&mut self, cursor: usize, deleted: bool) {
        if let Some(cursor) = &mut self.cursors[cursor] {
            cursor.just_deleted = deleted;
        }
    }

    /// Notes that a cursor is at the end, or is not.
    pub(crate) fn at_end(&mut self, cursor: usize, at_end: bool) {
        if let Some(cursor) = &mut self.cursors[cursor] {
            cursor.at_end = at_end;
        }
    }

    /// Notes from which end a cursor came to the duplicates.
    pub(crate) fn came_forward(&mut self, cursor: usize, forward: bool) {
        if let Some(cursor) = &mut self.cursors[cursor] {
            cursor.forward = forward;
        }
    }

    /// Notes a deletion through a cursor, or that it moved since.
    pub(crate) fn after_delete(&mut self, cursor: usize, deleted: bool) {
        if let Some(cursor) = &mut self.cursors[cursor] {
            cursor.after_delete = deleted;
        }
    }

    /// Notes that a cursor stored its item after a search that missed, or that it moved since.
    pub(crate) fn stored_after_miss(&mut self, cursor: usize, missed: bool) {
        if let Some(cursor) = &mut self.cursors[cursor] {
            cursor.stored_after_miss = missed;
        }
    }

    /// The slot of a cursor.
    pub(crate) fn cursor_mut(&mut self, cursor: usize) -> &mut Option<Cursor> {
        &mut self.cursors[cursor]
    }

    /// Sets what is known of a cursor's place.
    pub(crate) fn place(&mut self, cursor: usize, place: PositionState) {
        if let Some(cursor) = &mut self.cursors[cursor] {
            cursor.place = place;
        }
    }

    /// Registers a fresh cursor.
    pub(crate) fn cursor_opened(&mut self, cursor: usize, txn: usize, db: usize) {
        self.cursors[cursor] = Some(Cursor {
            txn: Some(txn),
            db,
            place: PositionState::Exact,
            dead: false,
            after_delete: false,
            just_deleted: false,
            at_end: false,
            stored_after_miss: false,
            forward: false,
            key: None,
        });
    }

    // Transactions.

    fn begin(&mut self, txn: usize, read_child: bool) -> StepResult {
        let writer = txn < WRITERS;
        let has_parent = writer && txn > 0;
        if has_parent && self.txns[txn - 1].is_none() {
            return Ok(());
        }
        if self.txns[txn].is_some() && !has_parent {
            return Ok(());
        }
        let taken = self.txns[txn].is_some();
        let flags = if writer && !read_child { 0 } else { RDONLY };
        if read_child && !has_parent {
            return Ok(());
        }
        let function = match (writer, has_parent) {
            (false, _) => "mdb_txn_begin RDONLY",
            (_, true) if read_child => "mdb_txn_begin RDONLY child",
            (_, true) => "mdb_txn_begin child",
            _ => "mdb_txn_begin",
        };
        let shuffle = self.shuffle;
        let outcome = self.both(function, &name(txn), |s| {
            let parent = if has_parent {
                s.txns[txn - 1]
            } else {
                Handle::NULL
            };
            let (outcome, handle) = s.api.txn_begin(s.env, parent, flags);
            if !taken {
                s.txns[txn] = handle;
            } else {
                s.api.txn_abort(handle);
            }
            if shuffle {
                outcome.without("id")
            } else {
                outcome
            }
        })?;
        if outcome.code == 0 && !taken {
            let (family, era) = if has_parent {
                self.txns[txn - 1].map_or((0, 0), |t| (t.family, t.era))
            } else {
                self.families += 1;
                (self.families, self.settled_era)
            };
            self.txns[txn] = Some(Txn {
                family,
                era,
                closings: self.closings,
                reset: false,
            });
            if self.shuffle && txn == 0 && self.settled {
                self.shuffle_second();
            }
        }
        Ok(())
    }

    /// Gives the second library's trees another shape with the same content.
    fn shuffle_second(&mut self) {
        for db in 0..self.profile.databases.len() {
            let Some(dbi) = self.dbi(0, db) else { continue };
            let spec = self.spec(db);
            let side = &self.sides[1];
            let mut added = Vec::new();
            for i in 0..60 {
                let key = spec.key(SEQUENCE - 1000 - i);
                let value = spec.value(i, 40 * (i % 9));
                let put = |flags| {
                    side.api.put(
                        side.txns[0],
                        dbi,
                        Arg::Bytes(&key),
                        Arg::Bytes(&value),
                        flags,
                    )
                };
                if put(NOOVERWRITE).code == 0 {
                    added.push(key);
                }
            }
            for key in added {
                side.api.del(side.txns[0], dbi, Arg::Bytes(&key), Arg::Null);
            }
        }
    }

    fn end(&mut self, txn: usize, commit: bool) -> StepResult {
        let Some(ended) = self.txns[txn] else {
            return Ok(());
        };
        let function = if commit {
            "mdb_txn_commit"
        } else {
            "mdb_txn_abort"
        };
        let outcome = self.both(function, &name(txn), |s| {
            let handle = std::mem::replace(&mut s.txns[txn], Handle::NULL);
            if commit {
                s.api.txn_commit(handle)
            } else {
                s.api.txn_abort(handle)
            }
        })?;
        self.handles_end(txn, ended.family, commit && outcome.code == 0);
        let gone = if txn < WRITERS {
            txn..WRITERS
        } else {
            txn..txn + 1
        };
        for slot in gone.clone() {
            self.txns[slot] = None;
            for side in &mut self.sides {
                side.txns[slot] = Handle::NULL;
            }
        }
        for cursor in 0..CURSORS {
            let Some(known) = &mut self.cursors[cursor] else {
                continue;
            };
            match known.txn {
                Some(of) if of < WRITERS && gone.contains(&of) => {
                    self.cursors[cursor] = None;
                    for side in &mut self.sides {
                        side.cursors[cursor] = Handle::NULL;
                    }
                }
                Some(of) if gone.contains(&of) => known.txn = None,
                _ => {}
            }
        }
        if (txn == 0 || txn >= WRITERS) && self.opener == Some(ended.family) {
            self.opener = None;
            self.settled_era = self.era;
        }
        Ok(())
    }

    fn reset(&mut self, txn: usize) -> StepResult {
        if self.txns[txn].is_none() {
            return Ok(());
        }
        let shuffle = self.shuffle;
        self.both("mdb_txn_reset", &name(txn), |s| {
            let outcome = s.api.txn_reset(s.txns[txn]);
            if shuffle {
                outcome.without("id")
            } else {
                outcome
            }
        })?;
        if txn >= WRITERS
            && let Some(txn) = &mut self.txns[txn]
        {
            txn.reset = true;
        }
        Ok(())
    }

    fn renew(&mut self, txn: usize) -> StepResult {
        if self.txns[txn].is_none() {
            return Ok(());
        }
        let shuffle = self.shuffle;
        let outcome = self.both("mdb_txn_renew", &name(txn), |s| {
            let outcome = s.api.txn_renew(s.txns[txn]);
            if shuffle {
                outcome.without("id")
            } else {
                outcome
            }
        })?;
        if outcome.code == 0 {
            self.families += 1;
            self.txns[txn] = Some(Txn {
                family: self.families,
                era: self.settled_era,
                closings: self.closings,
                reset: false,
            });
            // Cursors that are not renewed too would answer from pages that may be gone.
            for cursor in self.cursors.iter_mut().flatten() {
                if cursor.txn == Some(txn) {
                    cursor.txn = None;
                }
            }
        }
        Ok(())
    }
}

/// The path that an environment is opened by.
pub(crate) fn environment_path(dir: &Path, flags: u32) -> PathBuf {
    if flags & NOSUBDIR != 0 {
        dir.join("data.mdb")
    } else {
        dir.to_owned()
    }
}

/// How a transaction is called in messages.
pub(crate) fn name(txn: usize) -> String {
    if txn < WRITERS {
        format!("w{txn}")
    } else {
        format!("r{}", txn - WRITERS)
    }
}
