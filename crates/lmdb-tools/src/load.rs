//! `mdb_load`: databases from text.

use std::cmp::Ordering;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::process::ExitCode;

use fulgurite::{
    CustomOrder, Database, Durability, Environment, Error, OpenOptions, Put, PutFlags, Snapshot,
    WriteCursor, WriteTxn,
};
use fulgurite_terminal::dump_text::Format;
use fulgurite_terminal::getopt::Getopt;

use crate::command::{self, Call, bad_option, one_operand, print_version};
use crate::failure::{Failure, explain, opening, reopening, step, system_text};
use crate::header::{Instructions, Line};

const USAGE: &str = "[-V] [-a] [-f input] [-n] [-s name] [-N] [-Q] [-T] dbpath";

/// Items per transaction.
const BATCH: usize = 100;

/// LMDB's code for an existing key or pair.
const KEY_EXISTS: i32 = -30799;

/// Loads databases from text.
#[must_use]
pub fn main() -> ExitCode {
    command::run(USAGE, load)
}

/// Loads a dump from memory as if it came from standard input; `plain_text` is `-T`. Returns true
/// if it loaded everything. It reports errors on standard error.
#[must_use]
pub fn text(dump: Vec<u8>, path: &Path, plain_text: bool) -> bool {
    let input = Input {
        program: OsString::from("mdb_load"),
        from: Box::new(io::Cursor::new(dump)),
        number: 0,
        line: Vec::new(),
    };
    let chosen = LoadOptions {
        plain_text,
        ..LoadOptions::default()
    };
    load_all(input, &chosen, path).is_ok()
}

/// The options.
#[derive(Debug, Default)]
struct LoadOptions {
    append: bool,
    /// Skip existing items.
    keep: bool,
    /// Without headers: alternating lines of keys and values.
    plain_text: bool,
    no_subdir: bool,
    name: Option<OsString>,
    file: Option<File>,
}

fn load(call: Call) -> Result<(), Failure> {
    let mut options = Getopt::new(call.words, "af:ns:NQTV");
    let mut chosen = LoadOptions::default();
    while let Some(option) = options.next_option().map_err(bad_option)? {
        match option.letter {
            'V' => return print_version(),
            'a' => chosen.append = true,
            'f' => {
                let file = File::open(&option.value);
                chosen.file = Some(file.map_err(|error| reopening(&option.value, &error))?);
            }
            'n' => chosen.no_subdir = true,
            's' => chosen.name = Some(option.value),
            'N' => chosen.keep = true,
            // Loading never waits for the disk before a database is complete, so `-Q` changes
            // nothing.
            'Q' => {}
            'T' => chosen.plain_text = true,
            _ => return Err(Failure::Usage(None)),
        }
    }
    let path = one_operand(options)?;
    let input: Box<dyn BufRead> = match chosen.file.take() {
        Some(file) => Box::new(BufReader::new(file)),
        None => Box::new(BufReader::new(io::stdin())),
    };
    let input = Input {
        program: call.program,
        from: input,
        number: 0,
        line: Vec::new(),
    };
    load_all(input, &chosen, Path::new(&path))
}

/// The lines of the dump.
struct Input {
    /// The program's name for error messages.
    program: OsString,
    from: Box<dyn BufRead>,
    /// The number of the last line, counting from 1.
    number: usize,
    line: Vec<u8>,
}

impl Input {
    /// Reads the next line. Returns false at the end of input.
    fn next(&mut self) -> Result<bool, Failure> {
        self.line.clear();
        let read = self.from.read_until(b'\n', &mut self.line);
        let read = read.map_err(|error| self.complaint(system_text(&error).as_bytes()))?;
        self.number += usize::from(read > 0);
        Ok(read > 0)
    }

    /// Returns the last line without its end; `None` if it has none.
    fn text(&self) -> Option<&[u8]> {
        self.line.strip_suffix(b"\n")
    }

    fn complaint(&self, text: &[u8]) -> Failure {
        Failure::message([format!("line {}: ", self.number).as_bytes(), text].concat())
    }

    /// Reads the header of the next database. Returns false at the end of input.
    fn header(&mut self, instructions: &mut Instructions) -> Result<bool, Failure> {
        instructions.flags.0 = 0;
        let mut has_begun = false;
        while self.next()? {
            has_begun = true;
            let line = self.text().unwrap_or(&self.line);
            match instructions.take(line) {
                Ok(Line::Keyword) => {}
                Ok(Line::End) => return Ok(true),
                Ok(Line::UnknownKeyword) => {
                    let keyword = line.split(|byte| *byte == b'=').next().unwrap_or_default();
                    let text = [b"unrecognized keyword ignored: ", keyword].concat();
                    self.complaint(&text).report(&self.program, USAGE);
                }
                Err(refusal) => return Err(self.complaint(&refusal)),
            }
        }
        Ok(has_begun)
    }

    /// Reads a key or value; `None` after the last item.
    fn item(&mut self, format: Format, plain_text: bool) -> Result<Option<Vec<u8>>, Failure> {
        if !self.next()? || (!plain_text && self.line.starts_with(b"DATA=END")) {
            return Ok(None);
        }
        let text = self.text();
        let text = if plain_text {
            text
        } else {
            text.and_then(|text| text.strip_prefix(b" "))
        };
        match text.and_then(|text| format.read(text)) {
            Some(bytes) => Ok(Some(bytes)),
            None => Err(self.complaint(b"unexpected end of input")),
        }
    }

    /// Reads the value of a key. A missing value is an error.
    fn value(&mut self, format: Format, plain_text: bool) -> Result<Vec<u8>, Failure> {
        let missing = match self.item(format, plain_text) {
            Ok(Some(value)) => return Ok(value),
            Ok(None) => None,
            Err(failure) => Some(failure),
        };
        if let Some(failure) = missing {
            failure.report(&self.program, USAGE);
        }
        Err(self.complaint(b"failed to read key value"))
    }
}

/// Loads all databases of the input.
fn load_all(mut input: Input, chosen: &LoadOptions, path: &Path) -> Result<(), Failure> {
    let name = chosen.name.clone().map(OsString::into_vec);
    let mut instructions = Instructions::new(Format::ByteValue, name);
    if chosen.plain_text {
        instructions.format = Format::Print;
    } else {
        input.header(&mut instructions)?;
    }
    let options = open_options(&instructions, chosen.no_subdir);
    let environment = options.open(path).map_err(|error| opening(&error))?;
    loop {
        load_database(&environment, &mut input, &instructions, chosen)?;
        environment.sync(true).map_err(step("mdb_env_sync"))?;
        if chosen.plain_text || !input.header(&mut instructions)? {
            return Ok(());
        }
    }
}

/// Returns the options for opening the environment, from the first header.
fn open_options(instructions: &Instructions, no_subdir: bool) -> OpenOptions {
    let mut options = Environment::options()
        .no_subdir(no_subdir)
        .databases_max(usize::MAX)
        .durability(Durability::NoSync)
        .fixed_map(instructions.has_fixed_map)
        .map_size(instructions.map_size.unwrap_or(0));
    if let Some(count) = instructions.readers_max.filter(|count| *count > 0) {
        options = options.readers_max(count);
    }
    options
}

/// Loads the items of a database.
fn load_database(
    environment: &Environment,
    input: &mut Input,
    instructions: &Instructions,
    chosen: &LoadOptions,
) -> Result<(), Failure> {
    let mut is_complete = false;
    while !is_complete {
        let mut txn = environment.write().map_err(step("mdb_txn_begin"))?;
        let database = open(&mut txn, instructions).map_err(step("mdb_dbi_open"))?;
        if chosen.append {
            set_input_order(&mut txn, database);
        }
        let mut cursor = txn.cursor_mut(database).map_err(step("mdb_cursor_open"))?;
        is_complete = load_batch(&mut cursor, input, instructions.format, chosen)?;
        drop(cursor);
        if let Err(error) = txn.commit() {
            let text = format!("txn_commit: {}", explain(error.code()));
            return Err(input.complaint(text.as_bytes()));
        }
    }
    Ok(())
}

/// Stores the items of one transaction. Returns true if they were the last of the database.
fn load_batch(
    cursor: &mut WriteCursor<'_, '_>,
    input: &mut Input,
    format: Format,
    chosen: &LoadOptions,
) -> Result<bool, Failure> {
    let flags = if chosen.keep {
        PutFlags::NO_OVERWRITE | PutFlags::NO_DUP_DATA
    } else {
        PutFlags::NONE
    };
    for _ in 0..BATCH {
        let Some(key) = input.item(format, chosen.plain_text)? else {
            return Ok(true);
        };
        let value = input.value(format, chosen.plain_text)?;
        let put = cursor.put_with(&key, &value, flags);
        if matches!(put.map_err(step("mdb_cursor_put"))?, Put::Exists(_)) && !chosen.keep {
            return Err(Failure::Step("mdb_cursor_put", KEY_EXISTS));
        }
    }
    Ok(false)
}

fn open(txn: &mut WriteTxn<'_>, instructions: &Instructions) -> Result<Database, Error> {
    match &instructions.name {
        Some(name) => txn.create_named(name, instructions.flags),
        None => {
            txn.add_main_flags(instructions.flags)?;
            txn.open_database(None)
        }
    }
}

/// Sorts every key and value after all others. This keeps the order of the input, whatever order
/// the database's program uses.
fn set_input_order(txn: &mut WriteTxn<'_>, database: Database) {
    let behind = |_, new: &[u8], old: &[u8]| {
        if new == old {
            Ordering::Equal
        } else {
            Ordering::Greater
        }
    };
    let order = CustomOrder {
        call: behind,
        context: 0,
    };
    txn.set_key_order(database, Some(order));
    txn.set_value_order(database, Some(order));
}
