//! The file of lost pages: records without a place, in the format of `mdb_dump`. A person can read
//! them and `mdb_load` can load them.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use fulgurite_os::{Access, File, FileRole};

use super::report::SalvageError;

/// Writes lost records, page by page. The first one makes the file.
pub(super) struct LostPagesFile {
    path: PathBuf,
    file: Option<BufWriter<File>>,
    /// True while a page is being listed.
    is_open: bool,
    pages: u64,
    records: u64,
}

/// The contents of the file.
pub(super) struct LostPagesSummary {
    pub(super) pages: u64,
    pub(super) records: u64,
    pub(super) path: Option<PathBuf>,
}

impl LostPagesFile {
    pub(super) fn new(output: &Path) -> Self {
        Self {
            path: output.join("lost+found.dump"),
            file: None,
            is_open: false,
            pages: 0,
            records: 0,
        }
    }

    /// Begins the records of a page.
    pub(super) fn page(&mut self, pgno: u64) -> Result<(), SalvageError> {
        self.pages += 1;
        self.begin(&format!("page-{pgno}"))
    }

    /// Lists a record.
    pub(super) fn record(&mut self, key: &[u8], value: &[u8]) -> Result<(), SalvageError> {
        self.records += 1;
        self.write(&format!(" {}\n {}\n", hex::encode(key), hex::encode(value)))
    }

    /// Lists a record that the new environment cannot take.
    pub(super) fn refused(
        &mut self,
        database: &str,
        key: &[u8],
        value: &[u8],
    ) -> Result<(), SalvageError> {
        self.begin(&format!("refused-{database}"))?;
        self.write(&format!(" {}\n {}\n", hex::encode(key), hex::encode(value)))
    }

    pub(super) fn finish(&mut self) -> Result<LostPagesSummary, SalvageError> {
        self.end()?;
        let path = self.path.clone();
        let fail = |source| SalvageError::Output { path, source };
        let file = self.file.take();
        if let Some(mut file) = file {
            file.flush()
                .and_then(|()| file.get_ref().sync_all())
                .map_err(fail)?;
            return Ok(self.summary(Some(self.path.clone())));
        }
        Ok(self.summary(None))
    }

    fn summary(&self, path: Option<PathBuf>) -> LostPagesSummary {
        LostPagesSummary {
            pages: self.pages,
            records: self.records,
            path,
        }
    }

    fn begin(&mut self, database: &str) -> Result<(), SalvageError> {
        self.end()?;
        self.is_open = true;
        let name = database.replace('\n', " ");
        self.write(&format!(
            "VERSION=3\nformat=bytevalue\ndatabase={name}\ntype=btree\nHEADER=END\n"
        ))
    }

    fn end(&mut self) -> Result<(), SalvageError> {
        match std::mem::take(&mut self.is_open) {
            true => self.write("DATA=END\n"),
            false => Ok(()),
        }
    }

    fn write(&mut self, text: &str) -> Result<(), SalvageError> {
        let fail = |source: io::Error| SalvageError::Output {
            path: self.path.clone(),
            source,
        };
        let file = match self.file.take() {
            Some(file) => file,
            None => File::open(FileRole::Copy, &self.path, Access::MakeNew)
                .map(BufWriter::new)
                .map_err(fail)?,
        };
        self.file
            .insert(file)
            .write_all(text.as_bytes())
            .map_err(fail)
    }
}
