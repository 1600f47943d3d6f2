//! A walk over the records of a range, in either direction, that survives changes meanwhile.

use std::cmp::Ordering;
use std::ops::Bound;
use std::rc::Rc;

use fulgurite::{Cursor, CursorPosition, Database, DatabaseFlags, Move, Snapshot};

use crate::error::{Result, engine, misuse};
use crate::range::Range;
use crate::session::{Session, SnapshotCell};
use crate::view::View;

/// A position among the records of a database.
pub(crate) struct Walk {
    session: Rc<Session>,
    database: Database,
    range: Range,
    is_backward: bool,
    has_duplicates: bool,
    /// The snapshot that it reads, with its place there. `None` while it reads the state of the
    /// write transaction. It then looks for its place by the key, as changes move the records.
    snapshot: Option<(Rc<SnapshotCell>, CursorPosition)>,
    key: Vec<u8>,
    value: Vec<u8>,
    is_at_end: bool,
}

impl Walk {
    /// Goes to the first record of a range, or to its last.
    pub(crate) fn begin(
        session: Rc<Session>,
        database: Database,
        range: Range,
        is_backward: bool,
    ) -> Result<Walk> {
        let snapshot = session.snapshot()?;
        let mut walk = Walk {
            session,
            database,
            range,
            is_backward,
            has_duplicates: false,
            snapshot: snapshot.map(|cell| (cell, CursorPosition::new(database))),
            key: Vec::new(),
            value: Vec::new(),
            is_at_end: false,
        };
        let flags = walk.read(|view| view.flags(database))?;
        walk.has_duplicates = flags.0 & DatabaseFlags::DUP_SORT != 0;
        if walk.has_duplicates && is_backward {
            return Err(misuse(
                "a database with several values of a key is walked forwards",
            ));
        }
        walk.first()?;
        Ok(walk)
    }

    /// Returns true behind the last record.
    pub(crate) fn is_at_end(&self) -> bool {
        self.is_at_end
    }

    /// Returns the key of the current record.
    pub(crate) fn key(&self) -> &[u8] {
        &self.key
    }

    /// Returns the value of the current record.
    pub(crate) fn value(&self) -> &[u8] {
        &self.value
    }

    /// Lends what the walk reads.
    pub(crate) fn read<T>(&self, work: impl FnOnce(View<'_>) -> Result<T>) -> Result<T> {
        match &self.snapshot {
            Some((cell, _)) => work(View::Snapshot(cell.borrow_dependent())),
            None => self.session.read(work),
        }
    }

    /// Goes to the next record.
    pub(crate) fn next(&mut self) -> Result<()> {
        if self.is_at_end {
            return Ok(());
        }
        let step = match self.is_backward {
            true => Move::Prev,
            false => Move::Next,
        };
        let Walk {
            snapshot,
            key,
            value,
            ..
        } = self;
        let found = match snapshot {
            Some((cell, position)) => {
                let txn = cell.borrow_dependent();
                let record = txn.step(position, step).map_err(engine)?;
                keep(record, key, value)
            }
            None => {
                let (last_key, last_value) = (std::mem::take(key), std::mem::take(value));
                let after = match self.has_duplicates {
                    true => After::Pair(&last_key, &last_value),
                    false => After::Key(&last_key),
                };
                let is_backward = self.is_backward;
                self.session.read(|view| {
                    let mut cursor = view.cursor(self.database)?;
                    let record = after.find(&mut cursor, is_backward)?;
                    Ok(keep(record, key, value))
                })?
            }
        };
        self.arrive(found)
    }

    fn first(&mut self) -> Result<()> {
        let bound = match self.is_backward {
            true => &self.range.high,
            false => &self.range.low,
        };
        let (database, is_backward) = (self.database, self.is_backward);
        let (mut key, mut value) = (Vec::new(), Vec::new());
        let found = match &mut self.snapshot {
            Some((cell, position)) => {
                let txn = cell.borrow_dependent();
                let mut go = |step: Move<'_>| txn.step(position, step).map_err(engine);
                keep(edge(&mut go, bound, is_backward)?, &mut key, &mut value)
            }
            None => self.session.read(|view| {
                let mut cursor = view.cursor(database)?;
                let mut go = |step: Move<'_>| cursor.go(step).map_err(engine);
                let record = edge(&mut go, bound, is_backward)?;
                Ok(keep(record, &mut key, &mut value))
            })?,
        };
        (self.key, self.value) = (key, value);
        self.arrive(found)
    }

    /// Ends the walk if the new record is outside the range.
    fn arrive(&mut self, found: bool) -> Result<()> {
        self.is_at_end = !found || !self.is_inside()?;
        Ok(())
    }

    fn is_inside(&self) -> Result<bool> {
        let far = match self.is_backward {
            true => &self.range.low,
            false => &self.range.high,
        };
        let (bound, may_equal) = match far {
            Bound::Unbounded => return Ok(true),
            Bound::Included(bound) => (bound, true),
            Bound::Excluded(bound) => (bound, false),
        };
        let order = self.read(|view| view.compare(self.database, &self.key, bound))?;
        let order = match self.is_backward {
            true => order.reverse(),
            false => order,
        };
        Ok(order == Ordering::Less || may_equal && order == Ordering::Equal)
    }
}

/// Copies a record. Returns false if there is none.
fn keep(record: Option<fulgurite::Record<'_>>, key: &mut Vec<u8>, value: &mut Vec<u8>) -> bool {
    key.clear();
    value.clear();
    let Some((found, its_value)) = record else {
        return false;
    };
    key.extend_from_slice(found);
    value.extend_from_slice(its_value);
    true
}

/// Goes to the first record behind a bound, or backwards to the last before one.
fn edge<'t>(
    go: &mut impl FnMut(Move<'_>) -> Result<Option<fulgurite::Record<'t>>>,
    bound: &Bound<Vec<u8>>,
    is_backward: bool,
) -> Result<Option<fulgurite::Record<'t>>> {
    let (key, may_equal) = match bound {
        Bound::Unbounded if is_backward => return go(Move::Last),
        Bound::Unbounded => return go(Move::First),
        Bound::Included(key) => (key, true),
        Bound::Excluded(key) => (key, false),
    };
    let found = go(Move::KeyOrAfter(key))?;
    let is_equal = found.is_some_and(|(found, _)| found == key.as_slice());
    match (is_backward, is_equal) {
        (false, true) if !may_equal => go(Move::NextKey),
        (false, _) => Ok(found),
        (true, true) if may_equal => Ok(found),
        (true, _) if found.is_none() => go(Move::Last),
        (true, _) => go(Move::Prev),
    }
}

/// The record that a walk was at.
enum After<'k> {
    Key(&'k [u8]),
    Pair(&'k [u8], &'k [u8]),
}

impl After<'_> {
    /// Goes to the record behind it, whether it is there any more or not.
    fn find<'t>(
        &self,
        cursor: &mut Cursor<'t>,
        is_backward: bool,
    ) -> Result<Option<fulgurite::Record<'t>>> {
        match *self {
            After::Key(key) => {
                let bound = Bound::Excluded(key.to_vec());
                let mut go = |step: Move<'_>| cursor.go(step).map_err(engine);
                edge(&mut go, &bound, is_backward)
            }
            After::Pair(key, value) => {
                match cursor.go(Move::PairOrAfter(key, value)).map_err(engine)? {
                    Some((_, found)) if found == value => cursor.go(Move::Next),
                    Some(found) => Ok(Some(found)),
                    None => match cursor.go(Move::KeyOrAfter(key)).map_err(engine)? {
                        Some((found, _)) if found == key => cursor.go(Move::NextKey),
                        found => Ok(found),
                    },
                }
                .map_err(engine)
            }
        }
    }
}
