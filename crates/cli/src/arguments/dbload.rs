//! Flags of `fulgurite dbload`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Load a dump of Berkeley DB or GDBM into an environment, or write one
///
/// Reads what db5.3_dump and gdbm_dump write, and mdb_dump for plain databases. The first line
/// tells the format. Databases of type btree and hash keep their keys, and duplicates become sorted
/// ones. Records of type recno and queue get integer keys of 32 bits. All records are one
/// transaction. If one is refused, the command names its line and loads nothing.
///
/// With --dump the command writes a database for db5.3_load or gdbm_load instead.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  db5.3_dump old.db | fulgurite dbload /var/lib/new\n  gdbm_dump old.gdbm | fulgurite dbload /var/lib/new --name old\n  fulgurite dbload --dump /var/lib/new | db5.3_load old.db"
)]
pub(crate) struct Dbload {
    /// Directory of the environment, or its data file; the directory is created if missing
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// Dump to read or write [default: standard input or output]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Database [default: that of the dump, else the main one]
    #[arg(long, short = 's', value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Keep records that exist, in place of replacing them
    #[arg(long, short, conflicts_with = "dump")]
    pub(crate) no_overwrite: bool,
    /// PATH is the data file itself, with its lock file next to it
    #[arg(long, conflicts_with = "dump")]
    pub(crate) no_subdir: bool,
    /// Write a dump of the environment; without --name, of all named databases or the main one
    #[arg(long)]
    pub(crate) dump: bool,
    /// Format of a written dump
    #[arg(long, value_enum, default_value_t, requires = "dump")]
    pub(crate) format: Format,
    /// Show no summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// A format of a written dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    /// Berkeley DB, hexadecimal digits
    #[default]
    Bytevalue,
    /// Berkeley DB, printable bytes as they are
    Print,
    /// GDBM, base64
    Gdbm,
}
