//! The writers of a server, one for each database, so that databases wait for the disk at the same
//! time. The first update of a database starts its writer.

use std::sync::Mutex;

use rustc_hash::FxHashMap;

use super::error::ServerError;
use super::writer::WriterHandle;
use crate::statistics::lock;

/// Starts the writer with a number.
type Start<'s, U> = dyn Fn(usize) -> Result<WriterHandle<U>, ServerError> + Send + Sync + 's;

/// The writers that have started, by their numbers. All end when the last worker drops this value
/// and its handles.
pub(super) struct Writers<'s, U> {
    start: Box<Start<'s, U>>,
    first: WriterHandle<U>,
    others: Mutex<FxHashMap<usize, WriterHandle<U>>>,
}

impl<'s, U> Writers<'s, U> {
    /// Starts the first writer. `start` starts the others too.
    pub(super) fn new(start: Box<Start<'s, U>>) -> Result<Writers<'s, U>, ServerError> {
        Ok(Writers {
            first: start(0)?,
            start,
            others: Mutex::default(),
        })
    }

    /// Returns the handle of a writer. If it cannot start, the first one takes its updates.
    pub(super) fn handle(&self, number: usize) -> WriterHandle<U> {
        if number == 0 {
            return self.first.clone();
        }
        let mut others = lock(&self.others);
        if let Some(handle) = others.get(&number) {
            return handle.clone();
        }
        match (self.start)(number) {
            Ok(handle) => {
                others.insert(number, handle.clone());
                handle
            }
            Err(error) => {
                tracing::error!("{error}");
                self.first.clone()
            }
        }
    }
}
