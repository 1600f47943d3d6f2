//! `mdb_dump`: the contents of databases as text.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use fulgurite::{Database, Environment, Error, Info, Move, ReadTxn, Snapshot};
use fulgurite_terminal::getopt::Getopt;

use crate::command::{self, Call, bad_option, named, one_operand, open_to_read, print_version};
use crate::escape::Format;
use crate::failure::{Failure, explain, reopening, step, system_text};
use crate::header::Header;

const USAGE: &str = "[-V] [-f output] [-l] [-n] [-p] [-a|-s subdb] dbpath";

/// Writes the contents of databases as text.
#[must_use]
pub fn main() -> ExitCode {
    command::run(USAGE, dump)
}

/// What is to be written.
#[derive(Debug)]
struct Wish {
    format: Format,
    /// All named databases, not the main one.
    all: bool,
    /// Of these only their names.
    list: bool,
    name: Option<OsString>,
    no_subdir: bool,
    file: Option<File>,
}

/// Why dumping stopped.
#[derive(Debug, thiserror::Error)]
enum Stop {
    #[error(transparent)]
    Engine(#[from] Error),
    #[error(transparent)]
    Output(#[from] io::Error),
}

fn dump(call: Call) -> Result<(), Failure> {
    let mut options = Getopt::new(call.words, "af:lnps:V");
    let mut wish = Wish {
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
            'l' if wish.name.is_none() => (wish.list, wish.all) = (true, true),
            'a' if wish.name.is_none() => wish.all = true,
            's' if !wish.all => wish.name = Some(option.value),
            'f' => wish.file = Some(create(&option.value)?),
            'n' => wish.no_subdir = true,
            'p' => wish.format = Format::Print,
            _ => return Err(Failure::Usage(None)),
        }
    }
    let path = one_operand(options)?;
    let environment = open_to_read(&path, Environment::options().no_subdir(wish.no_subdir))?;
    let txn = environment.read().map_err(step("mdb_txn_begin"))?;
    let database = match &wish.name {
        Some(name) => txn.open_named(name.as_bytes()),
        None => txn.open_database(None),
    };
    let database = database.map_err(step("mdb_open"))?;
    let mut out = command::output(wish.file.take());
    let written = write(&environment, &txn, database, &wish, &mut out);
    let written = written.and_then(|option| out.flush().map(|()| option).map_err(Stop::Output));
    let path = path.as_bytes();
    let stopped = |why: String| Failure::said([path, b": ", why.as_bytes()].concat());
    match written {
        Ok(true) => Ok(()),
        Ok(false) => Err(Failure::said(
            [path, b" does not contain multiple databases"].concat(),
        )),
        Err(Stop::Engine(error)) => Err(stopped(explain(error.code()))),
        Err(Stop::Output(error)) => Err(stopped(system_text(&error))),
    }
}

fn create(file: &OsStr) -> Result<File, Failure> {
    File::create(file).map_err(|error| reopening(file, &error))
}

/// Writes what is wished for; `false` if the environment has none of it.
fn write(
    environment: &Environment,
    txn: &ReadTxn<'_>,
    database: Database,
    wish: &Wish,
    out: &mut dyn Write,
) -> Result<bool, Stop> {
    let info = environment.info()?;
    if !wish.all {
        let name = wish.name.as_deref().map(OsStrExt::as_bytes);
        write_database(txn, database, name, &info, wish.format, out)?;
        return Ok(true);
    }
    let mut has_names = false;
    let mut cursor = txn.cursor(database)?;
    while let Some((name, _)) = cursor.go(Move::NextKey)? {
        if name.contains(&0) {
            continue;
        }
        // A plain record could be a name: then the environment is not said to have none, though nothing is written.
        has_names = true;
        match named(txn, name)? {
            Some(_) if wish.list => out.write_all(&[name, b"\n"].concat())?,
            Some(database) => {
                write_database(txn, database, Some(name), &info, wish.format, out)?;
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
) -> Result<(), Stop> {
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
        for octets in [key, value] {
            out.write_all(b" ")?;
            format.write(octets, out)?;
            out.write_all(b"\n")?;
        }
    }
    out.write_all(b"DATA=END\n")?;
    Ok(())
}
