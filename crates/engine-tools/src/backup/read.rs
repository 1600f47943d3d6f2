//! Reading a backup file. A digest covers every byte before it is used.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::BackupError;
use super::format::{
    Digest, ENTRY_LEN, FRAME_HEADER_LEN, FRAME_PAGES, FRAMES_AT, HEADER_LEN, Header, LZ4, META_LEN,
    PLAIN, TRAILER_LEN, Trailer, digest_at, digest_of, u32_at, u64_at,
};

/// A backup file, with its header and its trailer.
#[derive(Debug)]
pub(super) struct BackupFile {
    pub(super) path: PathBuf,
    pub(super) header: Header,
    pub(super) trailer: Trailer,
    pub(super) len: u64,
    pub(super) metas: [[u8; META_LEN]; 2],
    file: File,
}

impl BackupFile {
    /// Opens a file and reads its ends.
    pub(super) fn open(path: &Path) -> Result<BackupFile, BackupError> {
        let opening = || BackupError::io("reading", path);
        let file = File::open(path).map_err(opening())?;
        let len = file.metadata().map_err(opening())?.len();
        let mut head = [0; HEADER_LEN];
        let read = read_at_most(&file, 0, &mut head).map_err(opening())?;
        if read < HEADER_LEN && head.starts_with(b"fulgurite backup") || read == 0 {
            return Err(BackupError::CutOff(path.to_owned()));
        }
        let header = Header::read(&head, path)?;
        if len < FRAMES_AT + (FRAME_HEADER_LEN + TRAILER_LEN) as u64 {
            return Err(BackupError::CutOff(path.to_owned()));
        }
        let mut tail = [0; TRAILER_LEN];
        file.read_exact_at(&mut tail, len - TRAILER_LEN as u64)
            .map_err(opening())?;
        let trailer = Trailer::read(&tail, len, path)?;
        let mut metas = [[0; META_LEN]; 2];
        for (meta, index) in metas.iter_mut().zip(0..) {
            let at = HEADER_LEN as u64 + index * META_LEN as u64;
            file.read_exact_at(meta, at).map_err(opening())?;
        }
        Ok(BackupFile {
            path: path.to_owned(),
            header,
            trailer,
            len,
            metas,
            file,
        })
    }

    /// Reads the whole file and compares it with its digest.
    pub(super) fn check_whole(&self) -> Result<(), BackupError> {
        let mut reader = self.reader_at(0, self.len - 32);
        let mut hash = blake3::Hasher::new();
        let mut buffer = vec![0; 1 << 20];
        loop {
            let len = reader
                .read(&mut buffer)
                .map_err(BackupError::io("reading", &self.path))?;
            if len == 0 {
                break;
            }
            hash.update(buffer.get(..len).unwrap_or_default());
        }
        if *hash.finalize().as_bytes() == self.trailer.file {
            Ok(())
        } else {
            Err(BackupError::damaged(&self.path, "something in it"))
        }
    }

    /// Returns the table, from its first entry on.
    pub(super) fn table(&self) -> Result<Table<'_>, BackupError> {
        let len = self.trailer.pages * ENTRY_LEN as u64;
        Ok(Table {
            of: self,
            reader: self.reader_at(self.trailer.table_at, len),
            left: self.trailer.pages,
            before: 0,
            hash: blake3::Hasher::new(),
        })
    }

    /// Calls a function with every page of the file, ascending, after comparing the page with its
    /// digest.
    pub(super) fn pages(
        &self,
        mut visit: impl FnMut(u64, &[u8]) -> Result<(), BackupError>,
    ) -> Result<(), BackupError> {
        let mut table = self.table()?;
        let mut frames = self.reader_at(FRAMES_AT, self.trailer.table_at - FRAMES_AT);
        let page_size = self.header.page_size as usize;
        let mut body = Vec::new();
        let mut pages = Vec::new();
        loop {
            let mut head = [0; FRAME_HEADER_LEN];
            self.fill(&mut frames, &mut head)?;
            let count = u32_at(&head, 0) as usize;
            if count == 0 {
                break;
            }
            let (len, kind) = (u32_at(&head, 4) as usize, u32_at(&head, 8));
            let unpacked = count * page_size;
            if count > FRAME_PAGES || len > unpacked {
                return Err(BackupError::damaged(&self.path, "a frame"));
            }
            body.resize(len, 0);
            self.fill(&mut frames, &mut body)?;
            match kind {
                PLAIN if len == unpacked => std::mem::swap(&mut body, &mut pages),
                LZ4 => {
                    pages.resize(unpacked, 0);
                    let done = lz4_flex::block::decompress_into(&body, &mut pages);
                    if done.ok() != Some(unpacked) {
                        return Err(BackupError::damaged(&self.path, "a frame"));
                    }
                }
                _ => return Err(BackupError::damaged(&self.path, "a frame")),
            }
            for page in pages.chunks_exact(page_size) {
                let entry = table.entry()?;
                match entry {
                    Some((pgno, digest)) if digest == digest_of(page) => visit(pgno, page)?,
                    Some((pgno, _)) => {
                        return Err(BackupError::damaged(&self.path, format!("page {pgno}")));
                    }
                    None => return Err(BackupError::damaged(&self.path, "its table")),
                }
            }
        }
        match table.entry()? {
            None => Ok(()),
            Some(_) => Err(BackupError::damaged(&self.path, "its table")),
        }
    }

    fn fill(&self, reader: &mut impl Read, buffer: &mut [u8]) -> Result<(), BackupError> {
        reader
            .read_exact(buffer)
            .map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => BackupError::damaged(&self.path, "a frame"),
                _ => BackupError::io("reading", &self.path)(error),
            })
    }

    fn reader_at(&self, at: u64, len: u64) -> BufReader<Part<'_>> {
        let part = Part {
            file: &self.file,
            at,
            end: at + len,
        };
        BufReader::with_capacity(1 << 17, part)
    }
}

/// A part of a file, with its own position.
struct Part<'f> {
    file: &'f File,
    at: u64,
    end: u64,
}

impl Read for Part<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let wanted = left.min(buffer.len());
        let buffer = buffer.get_mut(..wanted).unwrap_or_default();
        let len = self.file.read_at(buffer, self.at)?;
        self.at += len as u64;
        Ok(len)
    }
}

/// The entries of a table. Its digest is compared after the last.
pub(super) struct Table<'f> {
    of: &'f BackupFile,
    reader: BufReader<Part<'f>>,
    left: u64,
    before: u64,
    hash: blake3::Hasher,
}

impl Table<'_> {
    /// Returns the next entry; `None` after the last, once the digest fits.
    pub(super) fn entry(&mut self) -> Result<Option<(u64, Digest)>, BackupError> {
        let path = &self.of.path;
        if self.left == 0 {
            let is_sound = *self.hash.finalize().as_bytes() == self.of.trailer.table;
            return match is_sound {
                true => Ok(None),
                false => Err(BackupError::damaged(path, "its table")),
            };
        }
        self.left -= 1;
        let mut entry = [0; ENTRY_LEN];
        self.reader
            .read_exact(&mut entry)
            .map_err(BackupError::io("reading", path))?;
        self.hash.update(&entry);
        let pgno = u64_at(&entry, 0);
        if pgno < 2 || pgno <= self.before || pgno > self.of.header.last {
            return Err(BackupError::damaged(path, "its table"));
        }
        self.before = pgno;
        Ok(Some((pgno, digest_at(&entry, 8))))
    }
}

fn read_at_most(file: &File, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let mut done = 0;
    while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, at + done as u64)? {
            0 => break,
            count => done += count,
        }
    }
    Ok(done)
}
