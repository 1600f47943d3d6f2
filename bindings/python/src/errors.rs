//! The engine's errors as exceptions.

use pyo3::exceptions::{PyException, PyValueError};
use pyo3::{PyErr, create_exception};

create_exception!(fulgurite, Error, PyException);
create_exception!(fulgurite, CorruptedError, Error);

/// Converts an error of the engine.
pub(crate) fn engine(error: fulgurite::Error) -> PyErr {
    let text = error.to_string();
    match error {
        fulgurite::Error::Corrupted { .. } | fulgurite::Error::BeyondEnd(_) => {
            CorruptedError::new_err(text)
        }
        fulgurite::Error::KeyLength { .. } | fulgurite::Error::ValueLength(_) => {
            PyValueError::new_err(text)
        }
        _ => Error::new_err(text),
    }
}

/// Converts an error of opening.
pub(crate) fn opening(error: fulgurite::OpenError) -> PyErr {
    match error {
        fulgurite::OpenError::Damaged { .. } => CorruptedError::new_err(error.to_string()),
        _ => Error::new_err(error.to_string()),
    }
}

/// Returns the error of an object that has ended.
pub(crate) fn closed(name: &str) -> PyErr {
    Error::new_err(format!("the {name} is closed"))
}
