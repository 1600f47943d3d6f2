//! Sorted rows in temporary files, and merging them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

const BUFFER_LEN: usize = 256 << 10;

/// Writes one run: rows in ascending order of their keys.
pub(crate) struct RunWriter {
    file: BufWriter<File>,
}

impl RunWriter {
    pub(crate) fn new(dir: &Path) -> io::Result<RunWriter> {
        Ok(RunWriter {
            file: BufWriter::with_capacity(BUFFER_LEN, tempfile::tempfile_in(dir)?),
        })
    }

    pub(crate) fn push(&mut self, key: &[u8], value: &[u8]) -> io::Result<()> {
        for bytes in [key, value] {
            let len = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
            self.file.write_all(&len.to_le_bytes())?;
            self.file.write_all(bytes)?;
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> io::Result<Run> {
        let mut file = self
            .file
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(Run { file })
    }
}

/// A finished run.
pub(crate) struct Run {
    file: File,
}

struct Reader {
    file: BufReader<File>,
    value: Vec<u8>,
}

impl Reader {
    /// Reads the next row. It returns the key and keeps the value.
    fn advance(&mut self) -> io::Result<Option<Vec<u8>>> {
        if self.file.fill_buf_is_empty()? {
            return Ok(None);
        }
        let mut key = Vec::new();
        read_block(&mut self.file, &mut key)?;
        read_block(&mut self.file, &mut self.value)?;
        Ok(Some(key))
    }
}

trait FillBuf {
    fn fill_buf_is_empty(&mut self) -> io::Result<bool>;
}

impl FillBuf for BufReader<File> {
    fn fill_buf_is_empty(&mut self) -> io::Result<bool> {
        Ok(io::BufRead::fill_buf(self)?.is_empty())
    }
}

fn read_block(file: &mut impl Read, out: &mut Vec<u8>) -> io::Result<()> {
    let mut len = [0; 4];
    file.read_exact(&mut len)?;
    out.resize(u32::from_le_bytes(len) as usize, 0);
    file.read_exact(out)
}

/// Merges runs. All rows ascend, and the values of equal keys are joined in the order of the runs.
pub(crate) struct RunMerge {
    readers: Vec<Reader>,
    heads: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
}

impl RunMerge {
    pub(crate) fn new(runs: Vec<Run>) -> io::Result<RunMerge> {
        let mut merge = RunMerge {
            readers: Vec::new(),
            heads: BinaryHeap::new(),
        };
        for (number, run) in runs.into_iter().enumerate() {
            merge.readers.push(Reader {
                file: BufReader::with_capacity(BUFFER_LEN, run.file),
                value: Vec::new(),
            });
            merge.refill(number)?;
        }
        Ok(merge)
    }

    /// Replaces `key` and `value` by the next row. Returns false at the end.
    pub(crate) fn next(&mut self, key: &mut Vec<u8>, value: &mut Vec<u8>) -> io::Result<bool> {
        let Some(Reverse((lowest, number))) = self.heads.pop() else {
            return Ok(false);
        };
        *key = lowest;
        value.clear();
        self.take(number, value)?;
        while self
            .heads
            .peek()
            .is_some_and(|Reverse((next, _))| next == key)
        {
            let Some(Reverse((_, number))) = self.heads.pop() else {
                break;
            };
            self.take(number, value)?;
        }
        Ok(true)
    }

    fn take(&mut self, number: usize, value: &mut Vec<u8>) -> io::Result<()> {
        if let Some(reader) = self.readers.get(number) {
            value.extend_from_slice(&reader.value);
        }
        self.refill(number)
    }

    fn refill(&mut self, number: usize) -> io::Result<()> {
        if let Some(reader) = self.readers.get_mut(number)
            && let Some(key) = reader.advance()?
        {
            self.heads.push(Reverse((key, number)));
        }
        Ok(())
    }
}
