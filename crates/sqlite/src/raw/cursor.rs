//! A scan of a database: its arguments, its keys, its rows.

use std::ffi::c_int;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::marker::PhantomData;
use std::ops::Bound;
use std::rc::Rc;

use fulgurite::DatabaseFlags;
use rusqlite::ffi::sqlite3_vtab_cursor;
use rusqlite::types::ValueRef;
use rusqlite::vtab::{Context, Filters, VTabCursor};

use super::arguments::Arguments;
use super::column::Column;
use super::form::Form;
use crate::error::{Result, misuse};
use crate::range::Range;
use crate::session::{Access, Session, SharedSessions, SnapshotCell};
use crate::walk::Walk;

/// A scan.
#[repr(C)]
pub(crate) struct RawCursor<'table> {
    /// SQLite's part; it must come first.
    base: sqlite3_vtab_cursor,
    sessions: SharedSessions,
    /// The arguments of the table; `None` for the function, whose calls have theirs.
    fixed: Option<Arguments>,
    shown: Option<Arguments>,
    walk: Option<Walk>,
    /// The session and the snapshot stay until the end of the statement, which may scan again.
    kept: Option<(Rc<Session>, Option<Rc<SnapshotCell>>)>,
    /// SQLite closes all cursors before their table.
    table: PhantomData<&'table ()>,
}

impl RawCursor<'_> {
    pub(super) fn new(sessions: SharedSessions, fixed: Option<Arguments>) -> Self {
        RawCursor {
            base: sqlite3_vtab_cursor::default(),
            sessions,
            fixed,
            shown: None,
            walk: None,
            kept: None,
            table: PhantomData,
        }
    }

    fn current(&self) -> Result<(&Walk, &Arguments)> {
        let both = self.walk.as_ref().zip(self.shown.as_ref());
        both.ok_or_else(|| misuse("the scan has not begun"))
    }
}

// SAFETY: the type is `repr(C)`, and SQLite's part is its first field.
unsafe impl VTabCursor for RawCursor<'_> {
    fn filter(&mut self, _: c_int, plan: Option<&str>, values: &Filters<'_>) -> Result<()> {
        self.walk = None;
        let plan = plan.unwrap_or("");
        let (mut arguments, bounds) = call(self.fixed.as_ref(), plan.bytes().zip(values.iter()))?;
        let session = self.sessions.session(&arguments.directory, Access::Read)?;
        self.kept = Some((Rc::clone(&session), session.snapshot()?));
        let name = arguments.database.as_deref();
        let (database, flags) = session.read(|view| {
            let database = view.database(name)?;
            Ok((database, view.flags(database)?))
        })?;
        arguments.key = arguments.key.of_keys(flags);
        arguments.value = arguments.value.of_values(flags);
        let Some(range) = range(&bounds, &arguments, flags) else {
            self.shown = Some(arguments);
            return Ok(());
        };
        let is_backward = plan.ends_with('-');
        self.walk = Some(Walk::begin(session, database, range, is_backward)?);
        self.shown = Some(arguments);
        Ok(())
    }

    fn next(&mut self) -> Result<()> {
        self.walk.as_mut().map_or(Ok(()), Walk::next)
    }

    fn eof(&self) -> bool {
        self.walk.as_ref().is_none_or(Walk::is_at_end)
    }

    fn column(&self, context: &mut Context, column: c_int) -> Result<()> {
        let (walk, arguments) = self.current()?;
        match Column::numbered(column) {
            Column::Key => context.set_result(&arguments.key.show(walk.key())),
            Column::Value => context.set_result(&arguments.value.show(walk.value())),
            Column::Directory => context.set_result(&arguments.directory.to_string_lossy()),
            Column::Database => context.set_result(&arguments.database),
            Column::KeyForm | Column::ValueForm => Ok(()),
        }
    }

    fn rowid(&self) -> Result<i64> {
        // SQLite tells rows of several scans by it.
        let (walk, _) = self.current()?;
        let mut hasher = DefaultHasher::new();
        (walk.key(), walk.value()).hash(&mut hasher);
        Ok(hasher.finish() as i64)
    }
}

/// A comparison with the key: its letter in the plan, and the value.
type KeyBound<'v> = (u8, ValueRef<'v>);

/// Reads the values of a plan: the arguments, and the comparisons with keys.
pub(super) fn call<'v>(
    fixed: Option<&Arguments>,
    values: impl Iterator<Item = (u8, ValueRef<'v>)>,
) -> Result<(Arguments, Vec<KeyBound<'v>>)> {
    let mut arguments = match fixed {
        Some(fixed) => fixed.clone(),
        None => Arguments::new(""),
    };
    let mut bounds = Vec::new();
    for (letter, value) in values {
        match letter {
            b'd' => arguments.directory = text(value, "path")?.into(),
            b'n' if value == ValueRef::Null => {}
            b'n' => arguments.database = Some(text(value, "name of a database")?.to_owned()),
            b'k' => arguments.key = Form::named(text(value, "form of keys")?)?,
            b'v' => arguments.value = Form::named(text(value, "form of values")?)?,
            _ => bounds.push((letter, value)),
        }
    }
    if arguments.directory.as_os_str().is_empty() {
        return Err(misuse("fulgurite_raw needs the path of an environment"));
    }
    Ok((arguments, bounds))
}

/// Returns the keys that comparisons leave; `None` if no key can be meant.
pub(super) fn range(
    bounds: &[KeyBound<'_>],
    arguments: &Arguments,
    flags: DatabaseFlags,
) -> Option<Range> {
    let mut range = Range::ALL;
    let keeps_order = arguments.key.keeps_order(flags);
    for (letter, value) in bounds {
        // No key compares with NULL.
        if *value == ValueRef::Null {
            return None;
        }
        narrow(&mut range, *letter, *value, arguments.key, keeps_order);
    }
    Some(range)
}

fn text<'v>(value: ValueRef<'v>, role: &str) -> Result<&'v str> {
    value
        .as_str()
        .map_err(|_| misuse(format!("the {role} is text")))
}

/// Narrows a range by a comparison with the key. A bound that the order does not allow is left to
/// SQLite, which tests each row.
fn narrow(range: &mut Range, letter: u8, value: ValueRef<'_>, form: Form, keeps_order: bool) {
    if letter == b'=' {
        let Some(key) = form.bytes(value, 8) else {
            return;
        };
        match form {
            // A key of four bytes or of eight shows it.
            Form::Integer => {}
            // So does the text without its zero byte.
            Form::CString => {
                range.low = Bound::Included(key[..key.len() - 1].to_vec());
                range.high = Bound::Included(key);
            }
            _ => *range = Range::only(key),
        }
        return;
    }
    let Some(key) = form.bytes(value, 8).filter(|_| keeps_order) else {
        return;
    };
    match letter {
        b'>' => range.low = Bound::Excluded(key),
        b'G' => range.low = Bound::Included(key),
        b'<' => range.high = Bound::Excluded(key),
        b'L' => range.high = Bound::Included(key),
        _ => {}
    }
}
