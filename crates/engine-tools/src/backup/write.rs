//! Writing a backup file: under a temporary name, then durable, then under its own name.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::BackupError;
use super::format::{
    Digest, FRAME_PAGES, FRAMES_AT, Header, LZ4, META_LEN, PLAIN, Trailer, digest_of,
};
use super::set::PART_SUFFIX;

/// A backup file that is being written.
pub(super) struct Writer {
    path: PathBuf,
    to: BufWriter<File>,
    hash: blake3::Hasher,
    at: u64,
    frame: Vec<u8>,
    frame_pages: usize,
    packed: Vec<u8>,
    table: Vec<u8>,
    table_hash: blake3::Hasher,
    table_file: Option<BufWriter<File>>,
    pages: u64,
}

/// The end of the name of a file that holds a table temporarily.
const TABLE_SUFFIX: &str = "table.part";

/// Bytes of the table kept in memory. A longer table goes through a file without a name.
const TABLE_MAX: usize = 16 << 20;

impl Writer {
    /// Begins a file in `directory`.
    pub(super) fn begin(
        directory: &Path,
        name: &str,
        header: &Header,
        metas: &[Vec<u8>; 2],
    ) -> Result<Writer, BackupError> {
        let path = directory.join(format!(".{name}{PART_SUFFIX}"));
        let file = File::create(&path).map_err(BackupError::io("making", &path))?;
        let mut writer = Writer {
            to: BufWriter::with_capacity(1 << 20, file),
            path,
            hash: blake3::Hasher::new(),
            at: 0,
            frame: Vec::new(),
            frame_pages: 0,
            packed: Vec::new(),
            table: Vec::new(),
            table_hash: blake3::Hasher::new(),
            table_file: None,
            pages: 0,
        };
        writer.put(&header.to_bytes())?;
        for meta in metas {
            writer.put(meta.get(..META_LEN).unwrap_or_default())?;
        }
        debug_assert_eq!(writer.at, FRAMES_AT);
        Ok(writer)
    }

    /// Adds a page. Numbers must ascend.
    pub(super) fn page(
        &mut self,
        pgno: u64,
        page: &[u8],
        digest: &Digest,
    ) -> Result<(), BackupError> {
        debug_assert_eq!(*digest, digest_of(page));
        self.frame.extend_from_slice(page);
        self.frame_pages += 1;
        self.pages += 1;
        self.table.extend(pgno.to_le_bytes());
        self.table.extend(digest);
        if self.table.len() >= TABLE_MAX {
            self.spill_table()?;
        }
        if self.frame_pages == FRAME_PAGES {
            self.end_frame()?;
        }
        Ok(())
    }

    pub(super) const fn pages(&self) -> u64 {
        self.pages
    }

    /// Ends the file, makes it durable, and gives it its name. Returns its length in bytes.
    pub(super) fn finish(mut self, directory: &Path, name: &str) -> Result<u64, BackupError> {
        if self.frame_pages > 0 {
            self.end_frame()?;
        }
        self.put(&[0; super::format::FRAME_HEADER_LEN])?;
        let table_at = self.at;
        self.put_table()?;
        let table = *self.table_hash.finalize().as_bytes();
        self.put(&Trailer::hashed_bytes(table_at, self.pages, &table))?;
        let digest = *self.hash.finalize().as_bytes();
        self.put(&digest)?;
        let (file, part, len) = (self.to.into_inner(), self.path, self.at);
        let file = file.map_err(|error| BackupError::io("writing", &part)(error.into_error()))?;
        file.sync_all()
            .map_err(BackupError::io("making durable", &part))?;
        let path = directory.join(name);
        fs::rename(&part, &path).map_err(BackupError::io("naming", &path))?;
        sync_directory(directory)?;
        Ok(len)
    }

    /// Removes the unfinished file.
    pub(super) fn abandon(self) {
        // If it cannot be removed, the next backup tries again.
        let _ = fs::remove_file(&self.path);
    }

    fn end_frame(&mut self) -> Result<(), BackupError> {
        let mut packed = std::mem::take(&mut self.packed);
        packed.resize(
            lz4_flex::block::get_maximum_output_size(self.frame.len()),
            0,
        );
        let len = lz4_flex::block::compress_into(&self.frame, &mut packed);
        let frame = std::mem::take(&mut self.frame);
        let (kind, body) = match len {
            Ok(len) if len < frame.len() => (LZ4, packed.get(..len).unwrap_or_default()),
            _ => (PLAIN, &frame[..]),
        };
        for number in [self.frame_pages as u32, body.len() as u32, kind] {
            self.put(&number.to_le_bytes())?;
        }
        self.put(body)?;
        self.packed = packed;
        self.frame = frame;
        self.frame.clear();
        self.frame_pages = 0;
        Ok(())
    }

    /// Moves the table from memory to the file.
    fn spill_table(&mut self) -> Result<(), BackupError> {
        let failed = || BackupError::io("writing next to", &self.path);
        if self.table_file.is_none() {
            let path = self.path.with_extension(TABLE_SUFFIX);
            let mut options = File::options();
            let opened = options
                .read(true)
                .write(true)
                .create(true)
                .truncate(true)
                .open(&path);
            let file = opened.map_err(failed())?;
            // The open descriptor is enough.
            let _ = fs::remove_file(&path);
            self.table_file = Some(BufWriter::new(file));
        }
        if let Some(file) = &mut self.table_file {
            file.write_all(&self.table).map_err(failed())?;
        }
        self.table.clear();
        Ok(())
    }

    fn put_table(&mut self) -> Result<(), BackupError> {
        if let Some(file) = self.table_file.take() {
            use std::io::{Read as _, Seek as _};
            let failed = || BackupError::io("reading next to", &self.path);
            let mut file = file
                .into_inner()
                .map_err(|error| failed()(error.into_error()))?;
            file.rewind().map_err(failed())?;
            let mut buffer = vec![0; 1 << 20];
            loop {
                let len = file
                    .read(&mut buffer)
                    .map_err(BackupError::io("reading next to", &self.path))?;
                let part = buffer.get(..len).unwrap_or_default();
                if part.is_empty() {
                    break;
                }
                self.table_hash.update(part);
                self.put(part)?;
            }
        }
        let table = std::mem::take(&mut self.table);
        self.table_hash.update(&table);
        self.put(&table)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), BackupError> {
        self.hash.update(bytes);
        self.at += bytes.len() as u64;
        self.to
            .write_all(bytes)
            .map_err(BackupError::io("writing", &self.path))
    }
}

/// Makes the names in a directory durable.
pub(super) fn sync_directory(directory: &Path) -> Result<(), BackupError> {
    File::open(directory)
        .and_then(|opened| opened.sync_all())
        .map_err(BackupError::io("making durable", directory))
}
