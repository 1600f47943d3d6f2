//! The steps that read and change items by key, and walks over all of them.

use super::defined::{may_look_for, may_look_up};
use super::{Runner, StepResult, name};
use crate::api::Arg;
use crate::compare::{Field, Outcome, short};
use crate::constants::*;
use crate::profile::RECORD_BYTES;
use crate::step::{NullArgument, Step, Value};

/// Items of a walk before it is called endless.
const WALK_MAX: usize = 100_000;

impl Runner<'_> {
    /// Runs a step on items.
    pub(crate) fn item_step(&mut self, step: Step) -> StepResult {
        match step {
            Step::Get {
                txn,
                db,
                key,
                missing,
            } => self.get(txn, db, key, missing),
            Step::Put {
                txn,
                db,
                key,
                value,
                flags,
                missing,
            } => self.put(txn, db, key, value, flags, missing),
            Step::Del {
                txn,
                db,
                key,
                value,
                no_key,
            } => self.del(txn, db, key, value, no_key),
            Step::Compare {
                txn,
                db,
                a,
                b,
                values,
            } => self.compare(txn, db, a, b, values),
            Step::Walk {
                txn,
                db,
                op: NEXT_MULTIPLE,
            } => self.walk_blocks(txn, db),
            Step::Walk { txn, db, op } => self.walk(txn, db, op),
            Step::CursorOpen { cursor, txn, db } => self.cursor_open(cursor, txn, db),
            Step::CursorClose { cursor } => self.cursor_close(cursor),
            Step::CursorRenew { cursor, txn } => self.cursor_renew(cursor, txn),
            Step::CursorGet {
                cursor,
                op,
                key,
                value,
                missing,
            } => self.cursor_get(cursor, op, key, value, missing),
            Step::CursorPut {
                cursor,
                key,
                value,
                flags,
                missing,
            } => self.cursor_put(cursor, key, value, flags, missing),
            Step::CursorPutCurrent {
                cursor,
                value,
                flags,
                same_size,
            } => self.cursor_put_current(cursor, value, flags, same_size),
            Step::CursorPutMany {
                cursor,
                key,
                first,
                count,
                flags,
            } => self.cursor_put_many(cursor, key, first, count, flags),
            Step::CursorDel { cursor, flags } => self.cursor_del(cursor, flags),
            Step::CursorCount { cursor } => self.cursor_count(cursor),
            _ => Ok(()),
        }
    }

    fn get(&mut self, txn: usize, db: usize, key: u32, missing: NullArgument) -> StepResult {
        let Some(dbi) = self.dbi(txn, db) else {
            return Ok(());
        };
        let spec = self.spec(db);
        if !may_look_up(spec, key) {
            return Ok(());
        }
        let key = spec.key(key);
        let arguments = format!(
            "{} {} {}",
            name(txn),
            self.db_name(db),
            show(&key, missing, true)
        );
        let masked = self.holds_records(db);
        self.both("mdb_get", &arguments, |s| {
            let (key, data) = arguments_of(&key, Arg::Room, missing);
            mask(masked, s.api.get(s.txns[txn], dbi, key, data))
        })
        .map(drop)
    }

    pub(super) fn put(
        &mut self,
        txn: usize,
        db: usize,
        key: u32,
        value: Value,
        flags: u32,
        missing: NullArgument,
    ) -> StepResult {
        let Some(dbi) = self.dbi(txn, db) else {
            return Ok(());
        };
        let spec = self.spec(db);
        let reserves = flags & RESERVE != 0 && spec.has_duplicates();
        if reserves || !self.may_store(spec, value) {
            return Ok(());
        }
        let (key, value) = (spec.key(key), spec.value(value.id, value.len));
        let arguments = format!(
            "{} {} {} = {}",
            name(txn),
            self.db_name(db),
            show(&key, missing, true),
            show(&value, missing, false)
        );
        let masked = self.holds_records(db);
        self.change_first(txn, db, &key, flags)?;
        let left = self.left_behind(txn, db, &key, None)?;
        let outcome = self.both(
            &format!("mdb_put {}", put_flag_names(flags)),
            &arguments,
            |s| {
                let (key, data) = arguments_of(&key, Arg::Bytes(&value), missing);
                mask(masked, s.api.put(s.txns[txn], dbi, key, data, flags))
            },
        )?;
        self.leave_behind(left, flags, &outcome);
        Ok(())
    }

    fn del(
        &mut self,
        txn: usize,
        db: usize,
        key: u32,
        value: Option<Value>,
        no_key: bool,
    ) -> StepResult {
        let Some(dbi) = self.dbi(txn, db) else {
            return Ok(());
        };
        let spec = self.spec(db);
        if !may_look_up(spec, key) || value.is_some_and(|v| !may_look_for(spec, v)) {
            return Ok(());
        }
        let key = spec.key(key);
        let value = value.map(|v| spec.value(v.id, v.len));
        let missing = if no_key {
            NullArgument::Key
        } else {
            NullArgument::None
        };
        let mut arguments = format!(
            "{} {} {}",
            name(txn),
            self.db_name(db),
            show(&key, missing, true)
        );
        if let Some(value) = &value {
            arguments.push_str(&format!(" = {}", short(value)));
        }
        let function = if value.is_some() {
            "mdb_del"
        } else {
            "mdb_del all"
        };
        let outcome = self.both(function, &arguments, |s| {
            let data = value.as_deref().map_or(Arg::Null, Arg::Bytes);
            let (key, data) = arguments_of(&key, data, missing);
            s.api.del(s.txns[txn], dbi, key, data)
        })?;
        self.deleted(txn, db, None, &outcome)
    }

    fn compare(&mut self, txn: usize, db: usize, a: u32, b: u32, values: bool) -> StepResult {
        let Some(dbi) = self.dbi(txn, db) else {
            return Ok(());
        };
        let spec = self.spec(db);
        // Without a check of the handle the reference would read whatever is in its slot.
        let arguments = format!("{} {}", name(txn), self.db_name(db));
        let open = self.both("mdb_dbi_flags", &arguments, |s| {
            s.api.dbi_flags(s.txns[txn], dbi)
        })?;
        if open.code != 0 || values && !spec.has_duplicates() {
            return Ok(());
        }
        let (a, b) = if values {
            (spec.value(a, 0), spec.value(b, 0))
        } else {
            (spec.key(a), spec.key(b))
        };
        let function = if values { "mdb_dcmp" } else { "mdb_cmp" };
        let arguments = format!("{arguments} {} {}", short(&a), short(&b));
        self.both(function, &arguments, |s| {
            s.api.cmp(s.txns[txn], dbi, &a, &b, values)
        })
        .map(drop)
    }

    /// Every item in one direction, compared as a whole.
    fn walk(&mut self, txn: usize, db: usize, op: u32) -> StepResult {
        let Some(dbi) = self.dbi(txn, db) else {
            return Ok(());
        };
        let masked = self.holds_records(db);
        let arguments = format!("{} {}", name(txn), self.db_name(db));
        self.both(&format!("walk {}", op_name(op)), &arguments, |s| {
            let (opened, cursor) = s.api.cursor_open(s.txns[txn], dbi);
            if opened.code != 0 {
                return opened;
            }
            let mut items = Vec::new();
            let code = loop {
                let outcome = mask(masked, s.api.cursor_get(cursor, Arg::Room, Arg::Room, op));
                if outcome.code != 0 || items.len() > WALK_MAX {
                    break outcome.code;
                }
                let part = |name| outcome.bytes(name).unwrap_or_default().to_vec();
                items.push((part("key"), part("data")));
            };
            s.api.cursor_close(cursor);
            Outcome::of(code).with("items", Field::Items(items))
        })
        .map(drop)
    }

    /// Every key with all its duplicates, read in blocks; where blocks end does not show.
    fn walk_blocks(&mut self, txn: usize, db: usize) -> StepResult {
        let Some(dbi) = self.dbi(txn, db) else {
            return Ok(());
        };
        if self.spec(db).fixed_size().is_none() {
            return Ok(());
        }
        let arguments = format!("{} {}", name(txn), self.db_name(db));
        self.both("walk GET_MULTIPLE|NEXT_MULTIPLE", &arguments, |s| {
            let (opened, cursor) = s.api.cursor_open(s.txns[txn], dbi);
            if opened.code != 0 {
                return opened;
            }
            let get = |op| s.api.cursor_get(cursor, Arg::Room, Arg::Room, op);
            let mut items = Vec::new();
            let code = loop {
                let first = get(NEXT_NODUP);
                if first.code != 0 || items.len() > WALK_MAX {
                    break first.code;
                }
                let mut all = Vec::new();
                let mut block = get(GET_MULTIPLE);
                // A key with one item has no block: the item came with the key.
                let mut bytes = block
                    .bytes("data")
                    .or(first.bytes("data"))
                    .map(<[u8]>::to_vec);
                while let (0, Some(part)) = (block.code, &bytes) {
                    all.extend_from_slice(part);
                    block = get(NEXT_MULTIPLE);
                    bytes = block.bytes("data").map(<[u8]>::to_vec);
                }
                items.push((first.bytes("key").unwrap_or_default().to_vec(), all));
            };
            s.api.cursor_close(cursor);
            Outcome::of(code).with("items", Field::Items(items))
        })
        .map(drop)
    }
}
pub(super) fn arguments_of<'a>(
    key: &'a [u8],
    data: Arg<'a>,
    missing: NullArgument,
) -> (Arg<'a>, Arg<'a>) {
    match missing {
        NullArgument::None => (Arg::Bytes(key), data),
        NullArgument::Key => (Arg::Null, data),
        NullArgument::Data => (Arg::Bytes(key), Arg::Null),
        NullArgument::Both => (Arg::Null, Arg::Null),
    }
}

/// Hides the page numbers in the records of named databases.
pub(super) fn mask(masked: bool, outcome: Outcome) -> Outcome {
    if masked
        && outcome
            .bytes("data")
            .is_some_and(|d| d.len() == RECORD_BYTES as usize)
    {
        return outcome.without("data").number("record", 1);
    }
    outcome
}

pub(super) fn show(bytes: &[u8], missing: NullArgument, key: bool) -> String {
    match (missing, key) {
        (NullArgument::Both, _) | (NullArgument::Key, true) | (NullArgument::Data, false) => {
            "NULL".to_owned()
        }
        _ => short(bytes),
    }
}
