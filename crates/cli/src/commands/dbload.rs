//! `fulgurite dbload`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};

use anyhow::Context as _;
use fulgurite_engine_tools::{DumpFormat, DumpLoad, DumpWrite, load_dump, write_dump};

use crate::arguments::dbload::{Dbload, Format};

pub(crate) fn run(command: Dbload) -> anyhow::Result<()> {
    match command.dump {
        true => write(&command),
        false => load(&command),
    }
}

fn load(command: &Dbload) -> anyhow::Result<()> {
    let mut input: Box<dyn BufRead> = match &command.file {
        Some(file) => {
            let opened = File::open(file);
            let opened = opened.with_context(|| format!("cannot open {}", file.display()))?;
            Box::new(BufReader::new(opened))
        }
        None => Box::new(io::stdin().lock()),
    };
    let loaded = load_dump(
        DumpLoad {
            path: &command.path,
            name: command.name.as_deref(),
            keeps: command.no_overwrite,
            no_subdir: command.no_subdir,
        },
        &mut input,
    )?;
    if command.quiet {
        return Ok(());
    }
    for database in loaded {
        let name = match &database.name {
            Some(name) => format!("database {}", String::from_utf8_lossy(name)),
            None => "main database".to_owned(),
        };
        let kept = match database.kept {
            0 => String::new(),
            kept => format!(", {kept} were there and stayed"),
        };
        eprintln!("{name}: {} records loaded{kept}", database.stored);
    }
    Ok(())
}

fn write(command: &Dbload) -> anyhow::Result<()> {
    let mut output: Box<dyn Write> = match &command.file {
        Some(file) => {
            let made = File::create_new(file);
            let made = made.with_context(|| format!("cannot make {}", file.display()))?;
            Box::new(BufWriter::new(made))
        }
        None => Box::new(BufWriter::new(io::stdout().lock())),
    };
    let records = write_dump(
        DumpWrite {
            path: &command.path,
            name: command.name.as_deref(),
            format: match command.format {
                Format::Bytevalue => DumpFormat::ByteValue,
                Format::Print => DumpFormat::Print,
                Format::Gdbm => DumpFormat::Gdbm,
            },
        },
        &mut output,
    )?;
    if !command.quiet {
        eprintln!("{records} records written");
    }
    Ok(())
}
