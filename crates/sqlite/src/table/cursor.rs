//! The rows of a plan.

use std::collections::VecDeque;
use std::ffi::c_int;
use std::marker::PhantomData;
use std::ops::Bound;
use std::rc::Rc;

use rusqlite::ffi::sqlite3_vtab_cursor;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::vtab::{Context, Filters, VTabCursor};

use super::affinity::Affinity;
use super::key::{self, kind};
use super::opened::Opened;
use super::plan::{Plan, Source};
use super::row::Values;
use crate::error::{Result, corrupt, misuse};
use crate::range::Range;
use crate::walk::Walk;

/// A scan.
#[repr(C)]
pub(crate) struct TableCursor<'table> {
    /// SQLite's part; it must come first.
    base: sqlite3_vtab_cursor,
    opened: Rc<Opened>,
    source: Source,
    is_backward: bool,
    /// The ranges after the one of `walk`.
    ranges: VecDeque<Range>,
    walk: Option<Walk>,
    /// Rowids in an order that no range gives; used in place of the walk's.
    sorted: Option<VecDeque<i64>>,
    rowid: i64,
    /// The bytes of the current row; empty behind the last one.
    row: Vec<u8>,
    is_at_end: bool,
    /// SQLite closes all cursors before their table.
    table: PhantomData<&'table ()>,
}

impl TableCursor<'_> {
    pub(super) fn new(opened: Rc<Opened>) -> Self {
        TableCursor {
            base: sqlite3_vtab_cursor::default(),
            opened,
            source: Source::All,
            is_backward: false,
            ranges: VecDeque::new(),
            walk: None,
            sorted: None,
            rowid: 0,
            row: Vec::new(),
            is_at_end: true,
            table: PhantomData,
        }
    }

    /// Returns the name of the database that the plan scans.
    fn database(&self) -> Result<&str> {
        database_of(&self.opened, self.source)
    }

    fn walk_over(&self, range: Range) -> Result<Walk> {
        let name = self.database()?;
        let session = Rc::clone(&self.opened.session);
        let database = session.read(|view| view.database(Some(name)))?;
        Walk::begin(session, database, range, self.is_backward)
    }

    /// Goes to the first record of the next range that has one.
    fn next_range(&mut self) -> Result<()> {
        while self.walk.as_ref().is_none_or(Walk::is_at_end) {
            let Some(range) = self.ranges.pop_front() else {
                return Ok(());
            };
            self.walk = Some(self.walk_over(range)?);
        }
        Ok(())
    }

    /// Reads the row of the current position.
    fn arrive(&mut self) -> Result<()> {
        if let Some(sorted) = &mut self.sorted {
            let next = sorted.pop_front();
            self.is_at_end = next.is_none();
            return next.map_or(Ok(()), |rowid| self.fetch(rowid));
        }
        self.next_range()?;
        let walk = self.walk.as_ref().filter(|walk| !walk.is_at_end());
        self.is_at_end = walk.is_none();
        let Some(walk) = walk else {
            return Ok(());
        };
        let rowid = key::rowid(walk.key())?;
        match self.source {
            Source::Index(_) => self.fetch(rowid),
            Source::All | Source::Rowid => {
                self.rowid = rowid;
                self.row.clear();
                self.row.extend_from_slice(walk.value());
                Ok(())
            }
        }
    }

    fn fetch(&mut self, rowid: i64) -> Result<()> {
        let walk = self
            .walk
            .as_ref()
            .ok_or_else(|| misuse("the scan has not begun"))?;
        let (name, row) = (&self.opened.names.rows, &mut self.row);
        row.clear();
        walk.read(|view| {
            let database = view.database(Some(name))?;
            let found = view.get(database, &key::of_rowid(rowid))?;
            row.extend_from_slice(
                found.ok_or_else(|| corrupt("an index names a row that is gone"))?,
            );
            Ok(())
        })?;
        self.rowid = rowid;
        Ok(())
    }

    /// Sorts the rows by the columns behind the first ones, which the ranges do not hold equal.
    fn sort(&mut self, equal: usize) -> Result<()> {
        let mut rows = Vec::new();
        self.next_range()?;
        while let Some(walk) = self.walk.as_mut().filter(|walk| !walk.is_at_end()) {
            let mut rest = walk.key();
            for _ in 0..equal {
                rest = &rest[key::first_len(rest)?.min(rest.len())..];
            }
            rows.push((rest.to_vec(), key::rowid(walk.key())?));
            walk.next()?;
            self.next_range()?;
        }
        rows.sort();
        if self.is_backward {
            rows.reverse();
        }
        self.sorted = Some(rows.into_iter().map(|(_, rowid)| rowid).collect());
        Ok(())
    }
}

// SAFETY: the type is `repr(C)`, and SQLite's part is its first field.
unsafe impl VTabCursor for TableCursor<'_> {
    fn filter(&mut self, _: c_int, plan: Option<&str>, values: &Filters<'_>) -> Result<()> {
        let plan = Plan::from_text(plan.unwrap_or("all:"))?;
        let values: Vec<_> = values.iter().collect();
        (self.walk, self.sorted) = (None, None);
        (self.source, self.is_backward) = (plan.source, plan.is_backward);
        let found = ranges(&self.opened, &plan, &values)?;
        self.ranges = found.ranges.into();
        if self.is_backward {
            self.ranges.make_contiguous().reverse();
        }
        if self.ranges.is_empty() {
            self.is_at_end = true;
            return Ok(());
        }
        // Rowids are in their order whether they are equal to a value or not.
        let is_index = matches!(plan.source, Source::Index(_));
        if is_index && plan.is_ordered && !found.are_equal {
            self.sort(plan.equal())?;
        }
        self.arrive()
    }

    fn next(&mut self) -> Result<()> {
        if self.sorted.is_none()
            && let Some(walk) = &mut self.walk
        {
            walk.next()?;
        }
        self.arrive()
    }

    fn eof(&self) -> bool {
        self.is_at_end
    }

    fn column(&self, context: &mut Context, column: c_int) -> Result<()> {
        let column = usize::try_from(column).unwrap_or(usize::MAX);
        if self.opened.definition.rowid_column == Some(column) {
            return context.set_result(&self.rowid);
        }
        let value = Values::new(&self.row).column(column)?;
        context.set_result(&ToSqlOutput::Borrowed(value))
    }

    fn rowid(&self) -> Result<i64> {
        Ok(self.rowid)
    }
}

/// Returns the name of the database that holds the keys of a plan.
fn database_of(opened: &Opened, source: Source) -> Result<&str> {
    match source {
        Source::All | Source::Rowid => Ok(&opened.names.rows),
        Source::Index(number) => {
            let name = opened.names.indexes.get(number);
            name.map(String::as_str)
                .ok_or_else(|| misuse("the plan's index is gone"))
        }
    }
}

/// Estimates the number of rows that a plan with these values reads.
pub(super) fn estimate(opened: &Opened, plan: &Plan, values: &[ValueRef<'_>]) -> Result<u64> {
    let found = ranges(opened, plan, values)?;
    let name = database_of(opened, plan.source)?;
    opened.session.read(|view| {
        let database = view.database(Some(name))?;
        found.ranges.iter().try_fold(0, |sum: u64, range| {
            Ok(sum.saturating_add(view.estimate(database, range)?))
        })
    })
}

/// The keys of a plan.
struct Ranges {
    ranges: Vec<Range>,
    /// False if a value of an equal column could not be compared as bytes. The ranges hold rows
    /// with other values then, too.
    are_equal: bool,
}

/// Returns the ranges of keys that may hold rows of a plan. SQLite tests each row again.
fn ranges(opened: &Opened, plan: &Plan, values: &[ValueRef<'_>]) -> Result<Ranges> {
    if values.contains(&ValueRef::Null) {
        // Nothing compares with NULL.
        return Ok(Ranges {
            ranges: Vec::new(),
            are_equal: true,
        });
    }
    let mut low = Vec::new();
    let (mut from, mut to) = (None, None);
    let columns = opened.key_columns(plan.source);
    let mut parts = plan.comparisons.iter().zip(values);
    let mut place = 0;
    for (&letter, &value) in &mut parts {
        let affinity = columns.get(place).copied().unwrap_or(Affinity::Integer);
        let bytes = comparable(opened, affinity, value, plan.source)?;
        if letter == b'=' {
            place += 1;
            match bytes {
                Some(bytes) => low.extend_from_slice(&bytes),
                None => return Ok(not_equal(low, affinity, value, plan.source)),
            }
            continue;
        }
        match (letter, bytes) {
            (b'>' | b'G', Some(bytes)) => from = Some(bytes),
            (b'<' | b'L', Some(bytes)) => to = Some((letter, bytes)),
            _ => {}
        }
    }
    let mut range = key::prefix(&low);
    if let Some(bytes) = from {
        range.low = Bound::Included([low.as_slice(), &bytes].concat());
    }
    if let Some((letter, bytes)) = to {
        let bound = [low.as_slice(), &bytes].concat();
        // Behind the value comes the rowid, or another column.
        range.high = match (letter, plan.source) {
            (_, Source::Rowid) => Bound::Included(bound),
            (b'L', _) => key::prefix(&bound).high,
            _ => Bound::Excluded(bound),
        };
    }
    Ok(Ranges {
        ranges: vec![key::shortened(range)],
        are_equal: true,
    })
}

/// Returns a value as the bytes of a key. `None` if its comparison depends on more than its bytes.
fn comparable(
    opened: &Opened,
    affinity: Affinity,
    value: ValueRef<'_>,
    source: Source,
) -> Result<Option<Vec<u8>>> {
    let is_number = matches!(value, ValueRef::Integer(_) | ValueRef::Real(_));
    // A column of numbers on the other side turns our text into numbers first.
    if !affinity.is_numeric() && is_number {
        return Ok(None);
    }
    let value = match affinity.is_numeric() {
        true => opened.conversion.apply(Affinity::Numeric, value)?,
        false => super::affinity::owned(value),
    };
    if source == Source::Rowid {
        return Ok(match value {
            Value::Integer(rowid) => Some(key::of_rowid(rowid).to_vec()),
            _ => None,
        });
    }
    let mut bytes = Vec::new();
    key::push(&mut bytes, ValueRef::from(&value));
    Ok(Some(bytes))
}

/// Returns the ranges for an equal column whose value is a number, though the column is none of
/// numbers. The rows with text may be equal too.
fn not_equal(before: Vec<u8>, affinity: Affinity, value: ValueRef<'_>, source: Source) -> Ranges {
    let between = |low: u8, high: u8| Range {
        low: Bound::Included([before.as_slice(), &[low]].concat()),
        high: Bound::Excluded([before.as_slice(), &[high]].concat()),
    };
    let mut ranges = Vec::new();
    if source == Source::Rowid {
        // A value that is no integer equals no rowid, but perhaps as a real number.
        ranges.push(Range::ALL);
    } else {
        if affinity == Affinity::Blob {
            let mut number = before.clone();
            key::push(&mut number, value);
            ranges.push(key::prefix(&number));
        }
        ranges.push(between(kind::TEXT, kind::BLOB));
    }
    Ranges {
        ranges: ranges.into_iter().map(key::shortened).collect(),
        are_equal: false,
    }
}
