//! Entries that came before their parents, in a temporary file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const BUFFER_LEN: usize = 1 << 20;

/// Blocks of bytes, written one behind the other and read back at any offset.
pub(crate) struct Spool {
    dir: PathBuf,
    file: Option<File>,
    written: u64,
    buffer: Vec<u8>,
}

/// The position of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpoolBlock {
    at: u64,
    len: usize,
}

impl Spool {
    pub(crate) fn new(dir: &Path) -> Spool {
        Spool {
            dir: dir.into(),
            file: None,
            written: 0,
            buffer: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, block: &[u8]) -> io::Result<SpoolBlock> {
        if self.buffer.len() + block.len() > BUFFER_LEN && !self.buffer.is_empty() {
            self.flush()?;
        }
        let at = self.written + self.buffer.len() as u64;
        self.buffer.extend_from_slice(block);
        Ok(SpoolBlock {
            at,
            len: block.len(),
        })
    }

    pub(crate) fn read(&self, block: SpoolBlock) -> io::Result<Vec<u8>> {
        let mut out = vec![0; block.len];
        match (block.at.checked_sub(self.written), &self.file) {
            (Some(at), _) => {
                let at = usize::try_from(at).map_err(io::Error::other)?;
                let held = self
                    .buffer
                    .get(at..at + block.len)
                    .ok_or(io::ErrorKind::UnexpectedEof)?;
                out.copy_from_slice(held);
            }
            (None, Some(file)) => file.read_exact_at(&mut out, block.at)?,
            (None, None) => return Err(io::ErrorKind::UnexpectedEof.into()),
        }
        Ok(out)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.file.is_none() {
            self.file = Some(tempfile::tempfile_in(&self.dir)?);
        }
        if let Some(file) = &self.file {
            file.write_all_at(&self.buffer, self.written)?;
        }
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back_from_file_and_buffer() {
        let mut spool = Spool::new(&std::env::temp_dir());
        let block = |n: usize| vec![n as u8; 1 + n * 99_991 % 300_000];
        let blocks: Vec<SpoolBlock> = (0..40).map(|n| spool.push(&block(n)).unwrap()).collect();
        assert!(spool.written > 0 && !spool.buffer.is_empty());
        for (n, at) in blocks.into_iter().enumerate().rev() {
            assert_eq!(spool.read(at).unwrap(), block(n));
        }
    }
}
