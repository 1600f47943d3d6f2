//! An open environment.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use fulgurite::{Database, Durability, Snapshot as _};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors;
use crate::snapshot::Snapshot;
use crate::transaction::Transaction;

/// An open environment, until it is closed.
#[pyclass(frozen, module = "fulgurite")]
pub(crate) struct Environment {
    path: PathBuf,
    open: Mutex<Option<Arc<fulgurite::Environment>>>,
}

/// Opens an environment.
#[pyfunction]
#[pyo3(signature = (path, *, create = false, read_only = false, durability = "full",
    max_bytes = None, readers = None, databases = 128, no_subdir = false))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn open(
    py: Python<'_>,
    path: PathBuf,
    create: bool,
    read_only: bool,
    durability: &str,
    max_bytes: Option<u64>,
    readers: Option<u32>,
    databases: usize,
    no_subdir: bool,
) -> PyResult<Environment> {
    let durability = match durability {
        "full" => Durability::Full,
        "meta" => Durability::NoMetaSync,
        "none" => Durability::NoSync,
        other => {
            let text = format!("durability is full, meta or none, not {other:?}");
            return Err(PyValueError::new_err(text));
        }
    };
    let file = if no_subdir {
        path.clone()
    } else {
        path.join("data.mdb")
    };
    if create && !no_subdir {
        std::fs::create_dir_all(&path)?;
    } else if !create && !file.exists() {
        let text = format!("{} is missing; create=True makes it", file.display());
        return Err(errors::Error::new_err(text));
    }
    let mut options = fulgurite::Environment::options()
        .read_only(read_only)
        .durability(durability)
        .databases_max(databases)
        .no_subdir(no_subdir);
    if let Some(bytes) = max_bytes {
        options = options.map_bytes_max(bytes);
    }
    if let Some(readers) = readers {
        options = options.readers_max(readers);
    }
    let opened = py.detach(|| options.open(&path));
    let opened = Arc::new(opened.map_err(errors::opening)?);
    Ok(Environment {
        path,
        open: Mutex::new(Some(opened)),
    })
}

impl Environment {
    fn get(&self) -> PyResult<Arc<fulgurite::Environment>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.clone().ok_or_else(|| errors::closed("environment"))
    }
}

#[pymethods]
impl Environment {
    fn snapshot(&self) -> PyResult<Snapshot> {
        Snapshot::begin(self.get()?)
    }

    fn write(&self, py: Python<'_>) -> PyResult<Transaction> {
        Transaction::begin(py, self.get()?)
    }

    #[pyo3(signature = (changes, db = None))]
    fn submit(
        &self,
        py: Python<'_>,
        changes: &Bound<'_, PyAny>,
        db: Option<String>,
    ) -> PyResult<()> {
        let environment = self.get()?;
        let mut owned: Vec<(Vec<u8>, Option<Vec<u8>>)> = Vec::new();
        for change in changes.try_iter()? {
            let (key, value): (Bound<'_, PyBytes>, Option<Bound<'_, PyBytes>>) =
                change?.extract()?;
            owned.push((
                key.as_bytes().to_vec(),
                value.map(|value| value.as_bytes().to_vec()),
            ));
        }
        let done = py.detach(|| {
            environment.submit(|txn| {
                let database = match &db {
                    None => Database::MAIN,
                    Some(name) => txn.open_database(Some(name))?,
                };
                owned.iter().try_for_each(|(key, value)| match value {
                    Some(value) => txn.put(database, key, value),
                    None => txn.delete(database, key).map(|_| ()),
                })
            })
        });
        done.map_err(errors::engine)
    }

    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        let environment = self.get()?;
        py.detach(|| environment.sync(true)).map_err(errors::engine)
    }

    #[pyo3(signature = (path, *, compact = false))]
    fn copy(&self, py: Python<'_>, path: PathBuf, compact: bool) -> PyResult<()> {
        let environment = self.get()?;
        let done = py.detach(|| environment.copy_to_path(&path, compact));
        done.map_err(errors::engine)
    }

    fn close(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    #[getter]
    fn path(&self) -> String {
        self.path.display().to_string()
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __exit__(
        &self,
        _kind: &Bound<'_, PyAny>,
        _error: &Bound<'_, PyAny>,
        _trace: &Bound<'_, PyAny>,
    ) {
        self.close();
    }
}
