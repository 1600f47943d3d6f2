//! `mdb_stat`: the status of an environment and its databases.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use fulgurite::{Database, Environment, ReadTxn, Snapshot, Stat};
use fulgurite_terminal::getopt::Getopt;

use crate::command::{
    self, Call, bad_option, named, one_operand, open_to_read, print_version, writing,
};
use crate::failure::{Failure, step};
use crate::spans::FreePages;

const USAGE: &str = "[-V] [-n] [-e] [-r[r]] [-f[f[f]]] [-a|-s subdb] dbpath";

/// Shows the status of an environment.
#[must_use]
pub fn main() -> ExitCode {
    command::run(USAGE, stat)
}

/// The options.
#[derive(Debug, Default)]
struct StatOptions {
    environment: bool,
    /// The number of `-r`; two clear stale readers.
    readers: u32,
    /// The number of `-f`; two list the records, three also their pages.
    free_list: u32,
    all: bool,
    name: Option<OsString>,
    no_subdir: bool,
}

fn stat(call: Call) -> Result<(), Failure> {
    let mut options = Getopt::new(call.words, "Vaefnrs:");
    let mut chosen = StatOptions::default();
    while let Some(option) = options.next_option().map_err(bad_option)? {
        match option.letter {
            'V' => return print_version(),
            'a' if chosen.name.is_none() => chosen.all = true,
            's' if !chosen.all => chosen.name = Some(option.value),
            'e' => chosen.environment = true,
            'f' => chosen.free_list += 1,
            'n' => chosen.no_subdir = true,
            'r' => chosen.readers += 1,
            _ => return Err(Failure::Usage(None)),
        }
    }
    let path = one_operand(options)?;
    let environment = open_to_read(&path, Environment::options().no_subdir(chosen.no_subdir))?;
    let mut out = command::output(None);
    let shown = show(&environment, &chosen, &mut out);
    // Output before a failure is shown too.
    out.flush().map_err(writing)?;
    shown
}

fn show(
    environment: &Environment,
    chosen: &StatOptions,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if chosen.environment {
        show_environment(environment, out)?;
    }
    if chosen.readers > 0 {
        show_readers(environment, chosen.readers > 1, out)?;
        if chosen.free_list == 0 && !chosen.all && chosen.name.is_none() {
            return Ok(());
        }
    }
    let txn = environment.read().map_err(step("mdb_txn_begin"))?;
    if chosen.free_list > 0 {
        show_free_list(&txn, chosen.free_list, out)?;
    }
    let database = match &chosen.name {
        Some(name) => txn.open_named(name.as_bytes()),
        None => txn.open_database(None),
    };
    let database = database.map_err(step("mdb_open"))?;
    let stat = txn.stat(database).map_err(step("mdb_stat"))?;
    let name = chosen
        .name
        .as_deref()
        .map_or(&b"Main DB"[..], OsStrExt::as_bytes);
    show_database(name, &stat, out).map_err(writing)?;
    if chosen.all {
        show_named(&txn, out)?;
    }
    Ok(())
}

fn show_environment(environment: &Environment, out: &mut dyn Write) -> Result<(), Failure> {
    let info = environment.info().map_err(step("mdb_env_info"))?;
    let address = match info.map_address {
        0 => "(nil)".to_owned(),
        address => format!("{address:#x}"),
    };
    let page_size = info.page_size;
    let pages_max = info.map_size / page_size.max(1) as u64;
    let lines = [
        ("Map address", address),
        ("Map size", info.map_size.to_string()),
        ("Page size", page_size.to_string()),
        ("Max pages", pages_max.to_string()),
        ("Number of pages used", (info.last_page + 1).to_string()),
        ("Last transaction ID", info.last_txnid.to_string()),
        ("Max readers", info.readers_max.to_string()),
        ("Number of readers used", info.readers_used.to_string()),
    ];
    let mut text = String::from("Environment Info\n");
    for (name, value) in lines {
        text += &format!("  {name}: {value}\n");
    }
    out.write_all(text.as_bytes()).map_err(writing)
}

fn show_readers(
    environment: &Environment,
    clear: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    writeln!(out, "Reader Table Status").map_err(writing)?;
    list_readers(environment, out).map_err(writing)?;
    if clear {
        let cleared = environment
            .clear_stale_readers()
            .map_err(step("mdb_reader_check"))?;
        writeln!(out, "  {cleared} stale readers cleared.").map_err(writing)?;
        list_readers(environment, out).map_err(writing)?;
    }
    Ok(())
}

fn list_readers(environment: &Environment, out: &mut dyn Write) -> io::Result<()> {
    let Some(readers) = environment.readers() else {
        return writeln!(out, "(no reader locks)");
    };
    if readers.is_empty() {
        return writeln!(out, "(no active readers)");
    }
    writeln!(out, "    pid     thread     txnid")?;
    for reader in readers {
        let (pid, thread) = (reader.pid, reader.thread);
        match reader.snapshot {
            Some(snapshot) => writeln!(out, "{pid:>10} {thread:x} {snapshot}")?,
            None => writeln!(out, "{pid:>10} {thread:x} -")?,
        }
    }
    Ok(())
}

fn show_free_list(txn: &ReadTxn<'_>, detail: u32, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "Freelist Status").map_err(writing)?;
    let stat = txn.stat(Database::FREE_LIST).map_err(step("mdb_stat"))?;
    show_block(&stat, out).map_err(writing)?;
    let mut cursor = txn
        .cursor(Database::FREE_LIST)
        .map_err(step("mdb_cursor_open"))?;
    let mut total = 0;
    while let Some((key, value)) = cursor.next().map_err(step("mdb_cursor_get"))? {
        let pages = FreePages::read(value);
        total += pages.len();
        let txnid = key.first_chunk().map_or(0, |key| u64::from_ne_bytes(*key));
        if detail > 1 {
            pages.summarise(txnid, out).map_err(writing)?;
        }
        if detail > 2 {
            pages.list(out).map_err(writing)?;
        }
    }
    writeln!(out, "  Free pages: {total}").map_err(writing)
}

/// Shows the named databases, in the order of the main one's keys.
fn show_named(txn: &ReadTxn<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    let mut cursor = txn
        .cursor(Database::MAIN)
        .map_err(step("mdb_cursor_open"))?;
    while let Some((name, _)) = cursor.next().map_err(step("mdb_cursor_get"))? {
        let Some(database) = named(txn, name).map_err(step("mdb_open"))? else {
            continue;
        };
        let stat = txn.stat(database).map_err(step("mdb_stat"))?;
        show_database(name, &stat, out).map_err(writing)?;
    }
    Ok(())
}

fn show_database(name: &[u8], stat: &Stat, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&[b"Status of ", name, b"\n"].concat())?;
    show_block(stat, out)
}

fn show_block(stat: &Stat, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  Tree depth: {}", stat.depth)?;
    writeln!(out, "  Branch pages: {}", stat.branch_pages)?;
    writeln!(out, "  Leaf pages: {}", stat.leaf_pages)?;
    writeln!(out, "  Overflow pages: {}", stat.overflow_pages)?;
    writeln!(out, "  Entries: {}", stat.entries)
}
