//! The rows of a file, as `db5.3_dump` prints them.
//!
//! ```text
//!   VERSION=3, format=bytevalue, type=btree, ..., HEADER=END
//!   a blank and the key in hexadecimal digits, then a line with the value, ...
//!   DATA=END
//! ```

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;

use crate::error::BdbError;

/// The names of the program: Debian's, and that of other systems.
const PROGRAMS: [&str; 2] = ["db5.3_dump", "db_dump"];

/// Bytes of an error text, at most.
const ERROR_BYTES_MAX: u64 = 4096;

/// A key with a value.
pub(super) type Row = (Vec<u8>, Vec<u8>);

/// The rows of a file in their order.
#[derive(Debug)]
pub(super) struct Rows {
    path: PathBuf,
    child: Child,
    output: BufReader<ChildStdout>,
    errors: Option<JoinHandle<String>>,
    line: Vec<u8>,
    has_ended: bool,
}

impl Rows {
    /// Begins to read a file.
    pub(super) fn of(path: &Path) -> Result<Rows, BdbError> {
        let mut child = start(path)?;
        let no_pipe = || failed(path, "it has no output".to_owned());
        let output = child.stdout.take().ok_or_else(no_pipe)?;
        let stderr = child.stderr.take().ok_or_else(no_pipe)?;
        // Without a reader, a long text would stop the program.
        let errors = std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = stderr.take(ERROR_BYTES_MAX).read_to_end(&mut text);
            String::from_utf8_lossy(&text).trim().replace('\n', "; ")
        });
        let mut rows = Rows {
            path: path.to_owned(),
            child,
            output: BufReader::new(output),
            errors: Some(errors),
            line: Vec::new(),
            has_ended: false,
        };
        rows.read_header()?;
        Ok(rows)
    }

    /// Returns the next row; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Row>, BdbError> {
        if self.has_ended {
            return Ok(None);
        }
        let row = self.read_row();
        self.has_ended = !matches!(row, Ok(Some(_)));
        row
    }

    /// Returns the error for a row that hdb and bdb do not write.
    pub(super) fn unknown_row(&mut self) -> BdbError {
        self.failed("a row of it is unknown")
    }

    fn read_row(&mut self) -> Result<Option<Row>, BdbError> {
        self.read_line()?;
        if self.line == b"DATA=END" {
            return self.finish();
        }
        let key = self.value()?;
        self.read_line()?;
        Ok(Some((key, self.value()?)))
    }

    fn read_header(&mut self) -> Result<(), BdbError> {
        let (mut is_hex, mut is_tree) = (false, false);
        loop {
            self.read_line()?;
            match self.line.as_slice() {
                b"format=bytevalue" => is_hex = true,
                b"type=btree" => is_tree = true,
                b"HEADER=END" if is_hex && is_tree => return Ok(()),
                b"HEADER=END" => return Err(self.failed("the file is no tree of hdb or bdb")),
                line if line.contains(&b'=') => {}
                _ => return Err(self.failed("the head of its output is unknown")),
            }
        }
    }

    fn read_line(&mut self) -> Result<(), BdbError> {
        self.line.clear();
        let read = self.output.read_until(b'\n', &mut self.line);
        let read = read.map_err(|error| self.failed(&error.to_string()))?;
        if read == 0 || self.line.pop() != Some(b'\n') {
            return Err(self.failed("its output ends early"));
        }
        Ok(())
    }

    /// Returns the bytes of the line.
    fn value(&self) -> Result<Vec<u8>, BdbError> {
        let digits = self.line.strip_prefix(b" ");
        let bytes = digits.and_then(|digits| {
            let (pairs, rest) = digits.as_chunks::<2>();
            let bytes = pairs.iter().map(|[high, low]| {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                u8::try_from(digit(*high)? << 4 | digit(*low)?).ok()
            });
            rest.is_empty()
                .then(|| bytes.collect::<Option<Vec<u8>>>())?
        });
        bytes.ok_or_else(|| failed(&self.path, "a line is no row".to_owned()))
    }

    /// Waits for the end of the program, which must be without an error.
    fn finish(&mut self) -> Result<Option<Row>, BdbError> {
        let _ = std::io::copy(&mut self.output, &mut std::io::sink());
        let status = self.child.wait();
        match status.is_ok_and(|status| status.success()) {
            true => Ok(None),
            false => Err(self.failed("it ends with an error")),
        }
    }

    /// Returns the error with the words of the program, if there are any.
    fn failed(&mut self, reason: &str) -> BdbError {
        let _ = self.child.kill();
        let said = self.errors.take().and_then(|errors| errors.join().ok());
        let said = said.filter(|text| !text.is_empty());
        failed(&self.path, said.unwrap_or_else(|| reason.to_owned()))
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn failed(path: &Path, reason: String) -> BdbError {
    BdbError::Dump {
        path: path.to_owned(),
        reason,
    }
}

fn start(path: &Path) -> Result<Child, BdbError> {
    for program in PROGRAMS {
        let mut command = Command::new(program);
        command.arg(path).stdin(Stdio::null());
        match command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
        {
            Ok(child) => return Ok(child),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => {
                return Err(BdbError::System {
                    path: program.into(),
                    source,
                });
            }
        }
    }
    Err(BdbError::NoReader {
        path: path.parent().unwrap_or(path).to_owned(),
    })
}
