//! `mdb_dump`: the contents of databases as text.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use fulgurite::{Database, Environment, Error, Info, Move, ReadTxn, Snapshot};
use fulgurite_terminal::dump_text::Format;
use fulgurite_terminal::getopt::Getopt;

use crate::command::{self, Call, bad_option, named, one_operand, open_to_read, print_version};
use crate::failure::{Failure, explain, reopening, step, system_text};
use crate::header::Header;

const USAGE: &str = "[-V] [-f output] [-l] [-n] [-p] [-a|-s subdb] dbpath";

/// Writes the contents of databases as text.
#[must_use]
pub fn main() -> ExitCode {
    command::run(USAGE, dump)
}

/// The options.
#[derive(Debug)]
struct DumpOptions {
    format: Format,
    /// Write all named databases instead of the main one.
    all: bool,
    /// Write their names only.
    list: bool,
    name: Option<OsString>,
    no_subdir: bool,
    file: Option<File>,
}

/// Why dumping stopped.
#[derive(Debug, thiserror::Error)]
enum DumpError {
    #[error(transparent)]
    Engine(#[from] Error),
    #[error(transparent)]
    Output(#[from] io::Error),
}

fn dump(call: Call) -> Result<(), Failure> {
    let mut options = Getopt::new(call.words, "af:lnps:V");
    let mut chosen = DumpOptions {
        format: Format::ByteValue,
        all: false,
        list: false,
        name: None,
        no_subdir: false,
        file: None,
    };
    while let Some(option) = options.next_option().map_err(bad_option)? {
        match option.letter {
            'V' => return print_version(),
            'l' if chosen.name.is_none() => (chosen.list, chosen.all) = (true, true),
            'a' if chosen.name.is_none() => chosen.all = true,
            's' if !chosen.all => chosen.name = Some(option.value),
            'f' => chosen.file = Some(create(&option.value)?),
            'n' => chosen.no_subdir = true,
            'p' => chosen.format = Format::Print,
            _ => return Err(Failure::Usage(None)),
        }
    }
    let path = one_operand(options)?;
    let environment = open_to_read(&path, Environment::options().no_subdir(chosen.no_subdir))?;
    let txn = environment.read().map_err(step("mdb_txn_begin"))?;
    let database = match &chosen.name {
        Some(name) => txn.open_named(name.as_bytes()),
        None => txn.open_database(None),
    };
    let database = database.map_err(step("mdb_open"))?;
    let mut out = command::output(chosen.file.take());
    let written = write(&environment, &txn, database, &chosen, &mut out);
    let written =
        written.and_then(|option| out.flush().map(|()| option).map_err(DumpError::Output));
    let path = path.as_bytes();
    let stopped = |why: String| Failure::message([path, b": ", why.as_bytes()].concat());
    match written {
        Ok(true) => Ok(()),
        Ok(false) => Err(Failure::message(
            [path, b" does not contain multiple databases"].concat(),
        )),
        Err(DumpError::Engine(error)) => Err(stopped(explain(error.code()))),
        Err(DumpError::Output(error)) => Err(stopped(system_text(&error))),
    }
}

fn create(file: &OsStr) -> Result<File, Failure> {
    File::create(file).map_err(|error| reopening(file, &error))
}

/// Writes the chosen databases. Returns false if the environment has none of them.
fn write(
    environment: &Environment,
    txn: &ReadTxn<'_>,
    database: Database,
    chosen: &DumpOptions,
    out: &mut dyn Write,
) -> Result<bool, DumpError> {
    let info = environment.info()?;
    if !chosen.all {
        let name = chosen.name.as_deref().map(OsStrExt::as_bytes);
        write_database(txn, database, name, &info, chosen.format, out)?;
        return Ok(true);
    }
    let mut has_names = false;
    let mut cursor = txn.cursor(database)?;
    while let Some((name, _)) = cursor.go(Move::NextKey)? {
        if name.contains(&0) {
            continue;
        }
        // A plain record could be a name. Then the environment counts as having names, though
        // nothing is written.
        has_names = true;
        match named(txn, name)? {
            Some(_) if chosen.list => out.write_all(&[name, b"\n"].concat())?,
            Some(database) => {
                write_database(txn, database, Some(name), &info, chosen.format, out)?;
            }
            None => {}
        }
    }
    Ok(has_names)
}

fn write_database(
    txn: &ReadTxn<'_>,
    database: Database,
    name: Option<&[u8]>,
    info: &Info,
    format: Format,
    out: &mut dyn Write,
) -> Result<(), DumpError> {
    let header = Header {
        format,
        name,
        flags: txn.flags(database)?,
        map_size: info.map_size,
        map_address: info.map_address,
        readers_max: info.readers_max,
        page_size: info.page_size,
    };
    header.write(out)?;
    let mut cursor = txn.cursor(database)?;
    while let Some((key, value)) = cursor.next()? {
        for bytes in [key, value] {
            out.write_all(b" ")?;
            format.write(bytes, out)?;
            out.write_all(b"\n")?;
        }
    }
    out.write_all(b"DATA=END\n")?;
    Ok(())
}
