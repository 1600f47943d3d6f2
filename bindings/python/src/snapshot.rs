//! A snapshot, and the records of a range of it.

use std::cmp::Ordering;
use std::ops::Bound as Edge;
use std::sync::Arc;

use fulgurite::{CursorPosition, Database, Environment, Move, ReadTxn, Snapshot as _};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use self_cell::self_cell;

use crate::errors;

/// Records that an iterator reads ahead.
const BATCH: usize = 128;

self_cell!(
    /// A read transaction together with its environment.
    struct SnapshotCell {
        owner: Arc<Environment>,
        #[covariant]
        dependent: ReadTxn,
    }
);

/// A snapshot, until it is closed.
#[pyclass(unsendable, module = "fulgurite")]
pub(crate) struct Snapshot {
    cell: Option<SnapshotCell>,
}

impl Snapshot {
    pub(crate) fn begin(environment: Arc<Environment>) -> PyResult<Snapshot> {
        let cell = SnapshotCell::try_new(environment, |environment| environment.read());
        Ok(Snapshot {
            cell: Some(cell.map_err(errors::engine)?),
        })
    }

    fn txn(&self) -> PyResult<&ReadTxn<'_>> {
        let cell = self.cell.as_ref();
        cell.map(SnapshotCell::borrow_dependent)
            .ok_or_else(|| errors::closed("snapshot"))
    }

    fn database(&self, name: Option<&str>) -> PyResult<(&ReadTxn<'_>, Database)> {
        let txn = self.txn()?;
        let database = match name {
            None => Database::MAIN,
            Some(name) => txn.open_database(Some(name)).map_err(errors::engine)?,
        };
        Ok((txn, database))
    }
}

/// Returns the edges of a range that begins at `low` and ends before `high`.
fn edges<'b>(low: Option<&'b [u8]>, high: Option<&'b [u8]>) -> (Edge<&'b [u8]>, Edge<&'b [u8]>) {
    (
        low.map_or(Edge::Unbounded, Edge::Included),
        high.map_or(Edge::Unbounded, Edge::Excluded),
    )
}

#[pymethods]
impl Snapshot {
    #[pyo3(signature = (key, db = None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        key: &[u8],
        db: Option<&str>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let (txn, database) = self.database(db)?;
        let value = txn.get(database, key).map_err(errors::engine)?;
        Ok(value.map(|value| PyBytes::new(py, value)))
    }

    #[pyo3(signature = (keys, db = None))]
    fn get_many<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        db: Option<&str>,
    ) -> PyResult<Bound<'py, PyList>> {
        let (txn, database) = self.database(db)?;
        let keys: Vec<Bound<'py, PyBytes>> = keys
            .try_iter()?
            .map(|key| Ok(key?.cast_into::<PyBytes>()?))
            .collect::<PyResult<_>>()?;
        let bytes: Vec<&[u8]> = keys.iter().map(|key| key.as_bytes()).collect();
        let mut values = Vec::with_capacity(bytes.len());
        txn.get_many(database, &bytes, &mut values)
            .map_err(errors::engine)?;
        let values = values
            .into_iter()
            .map(|value| value.map(|value| PyBytes::new(py, value)));
        PyList::new(py, values.collect::<Vec<_>>())
    }

    #[pyo3(signature = (low = None, high = None, *, prefix = None, reverse = false, db = None))]
    fn range(
        slf: Bound<'_, Self>,
        low: Option<Vec<u8>>,
        high: Option<Vec<u8>>,
        prefix: Option<Vec<u8>>,
        reverse: bool,
        db: Option<&str>,
    ) -> PyResult<Records> {
        let (_, database) = slf.borrow().database(db)?;
        let (low, high) = match prefix {
            None => (low, high),
            Some(prefix) => (
                later(low, Some(prefix.clone())),
                earlier(high, behind(prefix)),
            ),
        };
        Ok(Records {
            snapshot: slf.unbind(),
            position: CursorPosition::new(database),
            low,
            high,
            reverse,
            has_begun: false,
            is_over: false,
            batch: Vec::new(),
        })
    }

    #[pyo3(signature = (low = None, high = None, db = None))]
    fn count(&self, low: Option<&[u8]>, high: Option<&[u8]>, db: Option<&str>) -> PyResult<u64> {
        let (txn, database) = self.database(db)?;
        txn.count_range(database, edges(low, high))
            .map_err(errors::engine)
    }

    #[pyo3(signature = (low = None, high = None, db = None))]
    fn estimate(&self, low: Option<&[u8]>, high: Option<&[u8]>, db: Option<&str>) -> PyResult<u64> {
        let (txn, database) = self.database(db)?;
        txn.estimate_range(database, edges(low, high))
            .map_err(errors::engine)
    }

    fn databases(&self) -> PyResult<Vec<String>> {
        let (txn, _) = self.database(None)?;
        let mut names = Vec::new();
        let mut cursor = txn.cursor(Database::MAIN).map_err(errors::engine)?;
        let mut record = cursor.first().map_err(errors::engine)?;
        while let Some((key, _)) = record {
            if let Ok(name) = std::str::from_utf8(key)
                && txn.open_database(Some(name)).is_ok()
            {
                names.push(name.to_owned());
            }
            record = cursor.next().map_err(errors::engine)?;
        }
        Ok(names)
    }

    fn close(&mut self) {
        self.cell = None;
    }

    #[getter]
    fn id(&self) -> PyResult<u64> {
        Ok(self.txn()?.id().0)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __exit__(
        &mut self,
        _kind: &Bound<'_, PyAny>,
        _error: &Bound<'_, PyAny>,
        _trace: &Bound<'_, PyAny>,
    ) {
        self.close();
    }
}

/// Returns the first key behind all those with a prefix; `None` if there is none.
fn behind(mut prefix: Vec<u8>) -> Option<Vec<u8>> {
    while let Some(last) = prefix.pop() {
        if last < u8::MAX {
            prefix.push(last + 1);
            return Some(prefix);
        }
    }
    None
}

fn later(a: Option<Vec<u8>>, b: Option<Vec<u8>>) -> Option<Vec<u8>> {
    // `None`, the beginning, is less than any key.
    a.max(b)
}

fn earlier(a: Option<Vec<u8>>, b: Option<Vec<u8>>) -> Option<Vec<u8>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// A record as Python has it.
type Pair = (Py<PyBytes>, Py<PyBytes>);

/// The records of a range.
#[pyclass(unsendable, module = "fulgurite")]
pub(crate) struct Records {
    snapshot: Py<Snapshot>,
    position: CursorPosition,
    low: Option<Vec<u8>>,
    high: Option<Vec<u8>>,
    reverse: bool,
    has_begun: bool,
    is_over: bool,
    /// Records read ahead, the next one last.
    batch: Vec<Pair>,
}

impl Records {
    /// Reads at most this number of records.
    fn read(&mut self, py: Python<'_>, count: usize) -> PyResult<Vec<Pair>> {
        let snapshot = self.snapshot.borrow(py);
        let txn = snapshot.txn()?;
        let database = self.position.database();
        let mut pairs = Vec::new();
        while pairs.len() < count && !self.is_over {
            let step = match (self.has_begun, self.reverse) {
                (true, false) => Move::Next,
                (true, true) => Move::Prev,
                (false, false) => match &self.low {
                    Some(low) => Move::KeyOrAfter(low),
                    None => Move::First,
                },
                (false, true) => match &self.high {
                    Some(high) => Move::KeyOrAfter(high),
                    None => Move::Last,
                },
            };
            let mut record = txn.step(&mut self.position, step).map_err(errors::engine)?;
            if !self.has_begun && self.reverse && self.high.is_some() {
                // The last record before the bound.
                let step = if record.is_some() {
                    Move::Prev
                } else {
                    Move::Last
                };
                record = txn.step(&mut self.position, step).map_err(errors::engine)?;
            }
            self.has_begun = true;
            let edge = if self.reverse { &self.low } else { &self.high };
            let is_inside = |key: &[u8]| -> PyResult<bool> {
                let Some(edge) = edge else {
                    return Ok(true);
                };
                let order = txn
                    .compare_keys(database, key, edge)
                    .map_err(errors::engine)?;
                Ok(match self.reverse {
                    true => order != Ordering::Less,
                    false => order == Ordering::Less,
                })
            };
            match record {
                Some((key, value)) if is_inside(key)? => {
                    pairs.push((
                        PyBytes::new(py, key).unbind(),
                        PyBytes::new(py, value).unbind(),
                    ));
                }
                _ => self.is_over = true,
            }
        }
        Ok(pairs)
    }
}

#[pymethods]
impl Records {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Pair>> {
        if self.batch.is_empty() {
            self.batch = self.read(py, BATCH)?;
            self.batch.reverse();
        }
        Ok(self.batch.pop())
    }

    fn take(&mut self, py: Python<'_>, count: usize) -> PyResult<Vec<Pair>> {
        let ahead = self.batch.len().saturating_sub(count);
        let mut taken = self.batch.split_off(ahead);
        taken.reverse();
        let rest = self.read(py, count - taken.len())?;
        taken.extend(rest);
        Ok(taken)
    }
}
