//! Sorting rows that exceed memory.

use std::path::{Path, PathBuf};

use super::error::Failure;
use super::runs::{Run, RunMerge, RunWriter};

/// Receives rows in ascending order of keys, each key once.
pub(crate) type RowSink<'a> = dyn FnMut(&[u8], &[u8]) -> Result<(), Failure> + 'a;

/// Rows in memory. Values of equal keys are joined by concatenation.
pub(crate) trait Buffer: Default {
    /// Returns the memory in use, in bytes.
    fn bytes(&self) -> usize;
    /// Does work that makes the buffer smaller.
    fn spill_if_over_budget(&mut self) {}
    /// Passes all rows to `sink`, sorted, and becomes empty.
    fn drain(&mut self, sink: &mut RowSink<'_>) -> Result<(), Failure>;
}

/// A buffer that becomes a sorted run in a temporary file when it exceeds its budget.
pub(crate) struct ExternalSort<B> {
    pub(crate) buffer: B,
    bytes_max: usize,
    dir: PathBuf,
    runs: Vec<Run>,
}

impl<B: Buffer> ExternalSort<B> {
    pub(crate) fn new(dir: &Path, bytes_max: usize) -> ExternalSort<B> {
        ExternalSort {
            buffer: B::default(),
            bytes_max,
            dir: dir.into(),
            runs: Vec::new(),
        }
    }

    /// Writes the buffer to a run if it is over budget.
    pub(crate) fn spill_if_over_budget(&mut self) -> Result<(), Failure> {
        self.buffer.spill_if_over_budget();
        if self.buffer.bytes() > self.bytes_max {
            self.spill()
        } else {
            Ok(())
        }
    }

    pub(crate) fn run_count(&self) -> usize {
        self.runs.len()
    }

    /// Returns the buffer, if everything has stayed in memory.
    pub(crate) fn in_memory(self) -> Result<B, Self> {
        if self.runs.is_empty() {
            Ok(self.buffer)
        } else {
            Err(self)
        }
    }

    /// Passes all rows to `sink`, sorted.
    pub(crate) fn finish(mut self, sink: &mut RowSink<'_>) -> Result<(), Failure> {
        if self.runs.is_empty() {
            return self.buffer.drain(sink);
        }
        self.spill()?;
        drop(self.buffer);
        let mut merge = RunMerge::new(self.runs).map_err(Failure::Temporary)?;
        let (mut key, mut value) = (Vec::new(), Vec::new());
        while merge
            .next(&mut key, &mut value)
            .map_err(Failure::Temporary)?
        {
            sink(&key, &value)?;
        }
        Ok(())
    }

    fn spill(&mut self) -> Result<(), Failure> {
        let mut run = RunWriter::new(&self.dir).map_err(Failure::Temporary)?;
        self.buffer
            .drain(&mut |key, value| run.push(key, value).map_err(Failure::Temporary))?;
        self.runs.push(run.finish().map_err(Failure::Temporary)?);
        Ok(())
    }
}
