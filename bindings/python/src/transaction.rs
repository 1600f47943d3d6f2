//! The write transaction.

use std::sync::Arc;
use std::time::Duration;

use fulgurite::{Database, Environment, Error, KeyOrder, Snapshot as _, WriteTxn};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use self_cell::self_cell;

use crate::errors;

/// Pause between two attempts to become the writer.
const PAUSE: Duration = Duration::from_micros(200);

self_cell!(
    /// A write transaction together with its environment.
    struct WriterCell {
        owner: Arc<Environment>,
        #[not_covariant]
        dependent: WriteTxn,
    }
);

/// The write transaction, until it ends.
#[pyclass(unsendable, module = "fulgurite")]
pub(crate) struct Transaction {
    cell: Option<WriterCell>,
}

impl Transaction {
    pub(crate) fn begin(py: Python<'_>, environment: Arc<Environment>) -> PyResult<Transaction> {
        loop {
            // `None` is the transaction of another thread or process.
            let tried = WriterCell::try_new(Arc::clone(&environment), |environment| {
                environment.try_write().map_err(Some)?.ok_or(None)
            });
            match tried {
                Ok(cell) => return Ok(Transaction { cell: Some(cell) }),
                Err(Some(error)) => return Err(errors::engine(error)),
                // The transaction stays in this thread, so this thread waits, and lets others run.
                Err(None) => {
                    py.check_signals()?;
                    py.detach(|| std::thread::sleep(PAUSE));
                }
            }
        }
    }

    fn with<T>(
        &mut self,
        db: Option<&str>,
        work: impl FnOnce(&mut WriteTxn<'_>, Database) -> Result<T, Error>,
    ) -> PyResult<T> {
        let cell = self.cell.as_mut();
        let cell = cell.ok_or_else(|| errors::closed("transaction"))?;
        cell.with_dependent_mut(|_, txn| {
            let database = match db {
                None => Database::MAIN,
                Some(name) => txn.open_database(Some(name))?,
            };
            work(txn, database)
        })
        .map_err(errors::engine)
    }
}

#[pymethods]
impl Transaction {
    #[pyo3(signature = (key, db = None))]
    fn get<'py>(
        &mut self,
        py: Python<'py>,
        key: &[u8],
        db: Option<&str>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        self.with(db, |txn, database| {
            let value = txn.get(database, key)?;
            Ok(value.map(|value| PyBytes::new(py, value)))
        })
    }

    #[pyo3(signature = (key, value, db = None))]
    fn put(&mut self, key: &[u8], value: &[u8], db: Option<&str>) -> PyResult<()> {
        self.with(db, |txn, database| txn.put(database, key, value))
    }

    #[pyo3(signature = (key, value, db = None))]
    fn insert(&mut self, key: &[u8], value: &[u8], db: Option<&str>) -> PyResult<bool> {
        self.with(db, |txn, database| txn.insert(database, key, value))
    }

    #[pyo3(signature = (items, db = None))]
    fn put_many(&mut self, items: &Bound<'_, PyAny>, db: Option<&str>) -> PyResult<u64> {
        let mut pairs: Vec<(Bound<'_, PyBytes>, Bound<'_, PyBytes>)> = Vec::new();
        for item in items.try_iter()? {
            pairs.push(item?.extract()?);
        }
        self.with(db, |txn, database| {
            pairs.iter().try_fold(0, |count, (key, value)| {
                txn.put(database, key.as_bytes(), value.as_bytes())?;
                Ok(count + 1)
            })
        })
    }

    #[pyo3(signature = (key, db = None))]
    fn delete(&mut self, key: &[u8], db: Option<&str>) -> PyResult<bool> {
        self.with(db, |txn, database| txn.delete(database, key))
    }

    #[pyo3(signature = (name, order = "lexical"))]
    fn create_database(&mut self, name: &str, order: &str) -> PyResult<()> {
        let order = match order {
            "lexical" => KeyOrder::Lexical,
            "reverse" => KeyOrder::Reverse,
            "integer" => KeyOrder::Integer,
            other => {
                let text = format!("an order is lexical, reverse or integer, not {other:?}");
                return Err(PyValueError::new_err(text));
            }
        };
        self.with(None, |txn, _| txn.create_database(name, order).map(|_| ()))
    }

    fn drop_database(&mut self, name: &str) -> PyResult<()> {
        self.with(Some(name), |txn, database| txn.drop_database(database))
    }

    fn commit(&mut self) -> PyResult<()> {
        self.with(None, |txn, _| txn.commit_and_release())?;
        self.cell = None;
        Ok(())
    }

    fn abort(&mut self) {
        self.cell = None;
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __exit__(
        &mut self,
        kind: &Bound<'_, PyAny>,
        _error: &Bound<'_, PyAny>,
        _trace: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        if self.cell.is_some() && kind.is_none() {
            return self.commit();
        }
        self.abort();
        Ok(())
    }
}
