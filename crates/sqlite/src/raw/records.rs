//! The function `fulgurite_raw(PATH, DATABASE)`, and tables made with its name.

use std::borrow::Cow;
use std::ffi::{CStr, CString};
use std::rc::Rc;

use fulgurite::{Database, DatabaseFlags, KeyOrder, Snapshot, WriteTxn};
use rusqlite::ffi::{self, sqlite3_vtab};
use rusqlite::types::{Value, ValueRef};
use rusqlite::vtab::{
    ConflictMode, CreateVTab, IndexConstraintOp, IndexInfo, Inserts, TransactionVTab, UpdateVTab,
    Updates, VTab, VTabConfig, VTabConnection, VTabKind,
};

use super::arguments::Arguments;
use super::column::Column;
use super::cursor::{RawCursor, call, range};
use crate::error::{Result, engine, failure, misuse};
use crate::planned_values;
use crate::savepoints::HasSession;
use crate::session::{Access, Session, SharedSessions};

/// The function, or a table.
#[repr(C)]
pub(crate) struct RawTable {
    /// SQLite's part; it must come first.
    base: sqlite3_vtab,
    sessions: SharedSessions,
    /// The arguments of a table; `None` for the function.
    fixed: Option<Arguments>,
    /// A table's environment stays open as long as the table is.
    session: Option<Rc<Session>>,
    connection: *mut ffi::sqlite3,
}

impl RawTable {
    fn function(sessions: &SharedSessions) -> (CString, RawTable) {
        let columns = c"CREATE TABLE x(key, value, directory HIDDEN, database HIDDEN, \
                        key_form HIDDEN, value_form HIDDEN)";
        (columns.to_owned(), RawTable::new(sessions, None, None))
    }

    fn new(
        sessions: &SharedSessions,
        fixed: Option<Arguments>,
        session: Option<Rc<Session>>,
    ) -> RawTable {
        RawTable {
            base: sqlite3_vtab::default(),
            sessions: sessions.clone(),
            fixed,
            session,
            connection: std::ptr::null_mut(),
        }
    }

    fn table(sessions: &SharedSessions, arguments: Arguments) -> Result<(CString, RawTable)> {
        let session = sessions.session(&arguments.directory, arguments.access)?;
        if arguments.access == Access::Create {
            make_database(&session, arguments.database.as_deref())?;
        }
        let name = arguments.database.as_deref();
        let flags = session.read(|view| view.flags(view.database(name)?))?;
        let (key, value) = (
            arguments.key.of_keys(flags).declared(),
            arguments.value.of_values(flags).declared(),
        );
        let has_duplicates = flags.0 & DatabaseFlags::DUP_SORT != 0;
        let columns = match arguments.access {
            Access::Read => format!("CREATE TABLE x(key {key}, value {value})"),
            _ if has_duplicates => {
                return Err(misuse(
                    "a database with several values of a key cannot be written as a table",
                ));
            }
            _ => format!(
                "CREATE TABLE x(key {key} PRIMARY KEY NOT NULL, value {value}) WITHOUT ROWID"
            ),
        };
        let columns = CString::new(columns).expect("no zero bytes");
        let table = RawTable::new(sessions, Some(arguments), Some(session));
        Ok((columns, table))
    }

    /// Makes a change of the database.
    fn change<T>(
        &self,
        work: impl FnOnce(&mut WriteTxn<'_>, Database, &Arguments, usize) -> Result<T>,
    ) -> Result<T> {
        let both = self.fixed.as_ref().zip(self.session.as_ref());
        let both = both.filter(|(arguments, _)| arguments.access != Access::Read);
        let Some((arguments, session)) = both else {
            let text = "this table only reads; create one with writable=on";
            return Err(failure(ffi::SQLITE_READONLY, text));
        };
        session.write(|txn| {
            let name = arguments.database.as_deref();
            let database = txn.open_database(name).map_err(engine)?;
            let flags = txn.flags(database).map_err(engine)?;
            let mut arguments = arguments.clone();
            arguments.key = arguments.key.of_keys(flags);
            arguments.value = arguments.value.of_values(flags);
            let width = key_width(txn, database, flags)?;
            work(txn, database, &arguments, width)
        })
    }
}

/// Returns the width of integer keys; a new database gets that of a machine word.
fn key_width(txn: &WriteTxn<'_>, database: Database, flags: DatabaseFlags) -> Result<usize> {
    if flags.0 & DatabaseFlags::INTEGER_KEY == 0 {
        return Ok(8);
    }
    let mut cursor = txn.cursor(database).map_err(engine)?;
    let first = cursor.first().map_err(engine)?;
    Ok(first.map_or(8, |(key, _)| key.len()))
}

fn make_database(session: &Session, name: Option<&str>) -> Result<()> {
    let Some(name) = name else {
        return Ok(());
    };
    if session.read(|view| view.database(Some(name))).is_ok() {
        return Ok(());
    }
    let begins = session.change_whole(|txn| {
        let made = txn.create_database(name, KeyOrder::Lexical);
        made.map(|_| ()).map_err(engine)
    })?;
    match begins {
        true => session.commit(),
        false => Ok(()),
    }
}

// SAFETY: the type is `repr(C)`, and SQLite's part is its first field.
unsafe impl<'table> VTab<'table> for RawTable {
    type Aux = SharedSessions;
    type Cursor = RawCursor<'table>;

    fn connect(
        db: &mut VTabConnection,
        sessions: Option<&Self::Aux>,
        _: &[u8],
        _: &[u8],
        _: &[u8],
        arguments: &[&[u8]],
    ) -> Result<(Cow<'static, CStr>, Self)> {
        let sessions = sessions.expect("the module has sessions");
        // Files must not be read because a view or trigger of a strange database says so.
        db.config(VTabConfig::DirectOnly)?;
        let (columns, mut table) = match arguments {
            [] => RawTable::function(sessions),
            _ => RawTable::table(sessions, Arguments::parse(arguments)?)?,
        };
        if table.fixed.is_some() {
            db.config(VTabConfig::ConstraintSupport)?;
        }
        // SAFETY: the table uses the handle only to ask for the conflict mode, while SQLite calls
        // it.
        table.connection = unsafe { db.handle() };
        Ok((Cow::Owned(columns), table))
    }

    fn best_index(&self, info: &mut IndexInfo) -> Result<bool> {
        let mut plan = String::new();
        let (mut has_path, mut asks_path) = (self.fixed.is_some(), false);
        let mut letters = Vec::new();
        for (at, constraint) in info.constraints().enumerate() {
            let column = Column::numbered(constraint.column());
            let is_binary = info.collation(at).is_ok_and(|name| name == "BINARY");
            let letter = letter(column, &constraint.operator())
                .filter(|_| column != Column::Key || is_binary);
            asks_path |= letter == Some('d');
            if constraint.column() >= 0
                && constraint.is_usable()
                && let Some(letter) = letter
                && (column == Column::Key || self.fixed.is_none())
            {
                has_path |= letter == 'd';
                letters.push((at, letter));
            }
        }
        if !has_path && asks_path {
            return Ok(false);
        }
        if !has_path {
            // Each other plan is better. Without one, the scan says what is missing.
            info.set_estimated_cost(f64::MAX);
            info.set_idx_str("");
            return Ok(true);
        }
        for (place, (at, letter)) in (1..).zip(&letters) {
            let mut usage = info.constraint_usage(*at);
            usage.set_argv_index(place);
            // SQLite tests comparisons of keys again; the arguments of the function are none.
            usage.set_omit(letter.is_ascii_lowercase());
            plan.push(*letter);
        }
        let known = letters
            .iter()
            .map(|(at, _)| planned_values::value(info, *at));
        let cost = self.cost(&plan, &known.collect::<Vec<_>>());
        info.set_estimated_rows(cost);
        info.set_estimated_cost(cost as f64);
        self.consume_order(info, &mut plan)?;
        info.set_idx_str(&plan);
        Ok(true)
    }

    fn open(&'table mut self) -> Result<Self::Cursor> {
        Ok(RawCursor::new(self.sessions.clone(), self.fixed.clone()))
    }
}

impl RawTable {
    /// Estimates the number of rows of a plan, of whose values some are known.
    fn cost(&self, plan: &str, values: &[Option<Value>]) -> i64 {
        let all_known = values.iter().all(Option::is_some);
        let known = plan.bytes().zip(values);
        let known =
            known.filter_map(|(letter, value)| Some((letter, ValueRef::from(value.as_ref()?))));
        // A call that must fail is reported when it runs.
        let counted = self.count(known, all_known).ok();
        let all = counted.unwrap_or(1_000_000);
        let all = i64::try_from(all).unwrap_or(i64::MAX).max(1);
        match plan {
            _ if all_known && counted.is_some() => all,
            plan if plan.contains('=') => 1,
            plan if plan.contains(['>', 'G']) && plan.contains(['<', 'L']) => all / 16 + 1,
            plan if plan.contains(['>', 'G', '<', 'L']) => all / 4 + 1,
            _ => all,
        }
    }

    /// Counts the records of a call by the engine's estimate: those of its range, or all of the
    /// database.
    fn count<'v>(
        &self,
        known: impl Iterator<Item = (u8, ValueRef<'v>)>,
        has_range: bool,
    ) -> Result<u64> {
        let (mut arguments, bounds) = call(self.fixed.as_ref(), known)?;
        let session = match &self.session {
            Some(session) => Rc::clone(session),
            None => self.sessions.session(&arguments.directory, Access::Read)?,
        };
        session.read(|view| {
            let database = view.database(arguments.database.as_deref())?;
            let flags = view.flags(database)?;
            arguments.key = arguments.key.of_keys(flags);
            if !has_range {
                return Ok(view.stat(database)?.entries);
            }
            match range(&bounds, &arguments, flags) {
                Some(range) => view.estimate(database, &range),
                None => Ok(0),
            }
        })
    }

    /// Promises the order of the keys, where the bytes have it.
    fn consume_order(&self, info: &mut IndexInfo, plan: &mut String) -> Result<()> {
        let order: Vec<_> = info
            .order_bys()
            .map(|order| (order.column(), order.is_order_by_desc()))
            .collect();
        let [(0, is_backward)] = order[..] else {
            return Ok(());
        };
        let (Some(arguments), Some(session)) = (&self.fixed, &self.session) else {
            return Ok(());
        };
        let name = arguments.database.as_deref();
        let flags = session.read(|view| view.flags(view.database(name)?))?;
        let has_duplicates = flags.0 & DatabaseFlags::DUP_SORT != 0;
        if arguments.key.of_keys(flags).keeps_order(flags) && !(has_duplicates && is_backward) {
            info.set_order_by_consumed(true);
            if is_backward {
                plan.push('-');
            }
        }
        Ok(())
    }
}

/// Returns the letter of a comparison in a plan.
fn letter(column: Column, operator: &IndexConstraintOp) -> Option<char> {
    use IndexConstraintOp as Op;
    match (column, operator) {
        (Column::Directory, Op::SQLITE_INDEX_CONSTRAINT_EQ) => Some('d'),
        (Column::Database, Op::SQLITE_INDEX_CONSTRAINT_EQ) => Some('n'),
        (Column::KeyForm, Op::SQLITE_INDEX_CONSTRAINT_EQ) => Some('k'),
        (Column::ValueForm, Op::SQLITE_INDEX_CONSTRAINT_EQ) => Some('v'),
        (Column::Key, Op::SQLITE_INDEX_CONSTRAINT_EQ) => Some('='),
        (Column::Key, Op::SQLITE_INDEX_CONSTRAINT_GT) => Some('>'),
        (Column::Key, Op::SQLITE_INDEX_CONSTRAINT_GE) => Some('G'),
        (Column::Key, Op::SQLITE_INDEX_CONSTRAINT_LT) => Some('<'),
        (Column::Key, Op::SQLITE_INDEX_CONSTRAINT_LE) => Some('L'),
        _ => None,
    }
}

impl CreateVTab<'_> for RawTable {
    const KIND: VTabKind = VTabKind::Eponymous;
}

/// Reads an argument of a change.
fn argument<'a>(values: &'a rusqlite::vtab::Values<'a>, at: usize) -> Result<ValueRef<'a>> {
    values
        .iter()
        .nth(at)
        .ok_or_else(|| misuse("SQLite gave too few values"))
}

impl UpdateVTab<'_> for RawTable {
    fn delete(&mut self, key: ValueRef<'_>) -> Result<()> {
        self.change(|txn, database, arguments, width| {
            let key = arguments.key.store(key, width, "key")?;
            match txn.delete(database, &key).map_err(engine)? {
                true => Ok(()),
                false => Err(other_form()),
            }
        })
    }

    fn insert(&mut self, values: &Inserts<'_>) -> Result<i64> {
        // SAFETY: SQLite calls this function, so its handle is alive.
        let mode = unsafe { values.on_conflict(self.connection) };
        let replaces = mode == ConflictMode::Replace;
        self.change(|txn, database, arguments, width| {
            let key = arguments.key.store(argument(values, 2)?, width, "key")?;
            let value = arguments.value.store(argument(values, 3)?, 8, "value")?;
            if replaces {
                txn.put(database, &key, &value).map_err(engine)?;
            } else if !txn.insert(database, &key, &value).map_err(engine)? {
                return Err(key_exists());
            }
            Ok(0)
        })
    }

    fn update(&mut self, values: &Updates<'_>) -> Result<()> {
        // SAFETY: SQLite calls this function, so its handle is alive.
        let mode = unsafe { values.on_conflict(self.connection) };
        let replaces = mode == ConflictMode::Replace;
        self.change(|txn, database, arguments, width| {
            let old = arguments.key.store(argument(values, 0)?, width, "key")?;
            let key = arguments.key.store(argument(values, 2)?, width, "key")?;
            let value = arguments.value.store(argument(values, 3)?, 8, "value")?;
            if old != key {
                let is_taken = txn.get(database, &key).map_err(engine)?.is_some();
                if is_taken && !replaces {
                    return Err(key_exists());
                }
            }
            if !txn.delete(database, &old).map_err(engine)? {
                return Err(other_form());
            }
            txn.put(database, &key, &value).map_err(engine)
        })
    }
}

/// A key that is shown as another one is stored, such as one of `cstring` without its zero byte.
fn other_form() -> rusqlite::Error {
    let text = "no key is stored in this form; a table with key=blob shows it";
    failure(ffi::SQLITE_MISMATCH, text)
}

fn key_exists() -> rusqlite::Error {
    failure(ffi::SQLITE_CONSTRAINT_PRIMARYKEY, "the key exists already")
}

impl TransactionVTab<'_> for RawTable {
    fn begin(&mut self) -> Result<()> {
        self.session().map_or(Ok(()), |session| session.begin())
    }

    // SQLite hears of an error here, and no more in `commit`.
    fn sync(&mut self) -> Result<()> {
        self.session().map_or(Ok(()), |session| session.commit())
    }

    fn rollback(&mut self) -> Result<()> {
        self.session().map_or(Ok(()), |session| session.rollback())
    }
}

impl HasSession for RawTable {
    fn session(&self) -> Option<&Session> {
        self.session.as_deref()
    }
}
