//! The engine's own interface for Python: environments, snapshots, transactions, group commit.
//!
//! ```text
//!   environment   open, snapshot, write, submit
//!     snapshot    get, get_many, range; with `Records`, an iterator
//!     transaction put, delete; commits at the end of a `with` block
//!   errors        the engine's errors as exceptions
//! ```
//!
//! Keys and values are copied into Python's objects, so none of them outlives its page. Calls that
//! may wait for the disk or for another writer let other threads run.

#![forbid(unsafe_code)]

mod environment;
mod errors;
mod snapshot;
mod transaction;

use pyo3::prelude::*;

/// The module.
#[pymodule]
fn _fulgurite(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(environment::open, module)?)?;
    module.add_class::<environment::Environment>()?;
    module.add_class::<snapshot::Snapshot>()?;
    module.add_class::<snapshot::Records>()?;
    module.add_class::<transaction::Transaction>()?;
    let py = module.py();
    module.add("Error", py.get_type::<errors::Error>())?;
    module.add("CorruptedError", py.get_type::<errors::CorruptedError>())
}
