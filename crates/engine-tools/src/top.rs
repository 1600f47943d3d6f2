//! A live view of an environment: its readers, its writer, its growth.

use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use fulgurite::{Environment, Error};

use crate::readers::{Readers, process_name, readers, short_bytes, table};
use crate::{ToolError, data_file, options_for};

/// Options of the view.
#[derive(Debug, Clone, Copy)]
pub struct TopOptions {
    /// The time between two samples.
    pub interval: Duration,
    /// Take one sample only. Rates are those of one interval.
    pub once: bool,
    /// True if the output is a terminal, where each sample replaces the one before.
    pub is_terminal: bool,
}

/// Shows the environment at `path` until the output is closed or the process ends. It changes
/// nothing.
///
/// For each sample it takes a reader slot while it reads the free list. If the reader table is
/// full, the pages that readers pin are unknown.
/// # Errors
/// [`ToolError`].
pub fn top(path: &Path, options: &TopOptions, output: &mut dyn Write) -> Result<(), ToolError> {
    let environment = options_for(path)
        .read_only(true)
        .slots(fulgurite::SlotPolicy::PerTransaction)
        .open(path)
        .map_err(|source| ToolError::Open {
            path: path.to_owned(),
            source,
        })?;
    let mut before = Sample::take(&environment)?;
    if !options.once {
        show(&environment, None, &before, options, output)?;
    }
    loop {
        thread::sleep(options.interval);
        let now = Sample::take(&environment)?;
        show(&environment, Some(&before), &now, options, output)?;
        if options.once {
            return Ok(());
        }
        before = now;
    }
}

/// The facts of one moment.
#[derive(Debug)]
struct Sample {
    at: Instant,
    last_txnid: u64,
    pages: u64,
    file_bytes: u64,
    page_size: usize,
    map_size: u64,
    /// All free pages, and the usable ones; `None` if there was no reader slot to read the list
    /// with.
    free: Option<(u64, u64)>,
    readers: Readers,
    writer: Option<u32>,
}

impl Sample {
    fn take(environment: &Environment) -> Result<Sample, ToolError> {
        let writer = environment.current_writer();
        let mut readers = readers(environment)?;
        let free = match environment.read().and_then(|txn| txn.free_pages()) {
            Ok(free) => {
                readers.measure(&free);
                Some((free.total(), free.reusable(readers.oldest())))
            }
            Err(Error::ReadersFull(_) | Error::ReaderEnded) => None,
            Err(error) => return Err(error.into()),
        };
        let info = environment.info()?;
        Ok(Sample {
            at: Instant::now(),
            last_txnid: info.last_txnid,
            pages: info.last_page + 1,
            file_bytes: data_file(environment)?.metadata()?.len(),
            page_size: info.page_size,
            map_size: info.map_size,
            free,
            readers,
            writer,
        })
    }
}

fn show(
    environment: &Environment,
    before: Option<&Sample>,
    now: &Sample,
    options: &TopOptions,
    output: &mut dyn Write,
) -> Result<(), ToolError> {
    let mut text = String::new();
    if options.is_terminal && !options.once {
        // Moves the cursor to the upper left corner and clears the screen after it.
        text += "\x1b[H\x1b[2J";
    }
    let rates = before.map_or_else(String::new, |before| rates(before, now));
    text += &format!(
        "{}  transaction {}{rates}\n",
        environment.path().display(),
        now.last_txnid
    );
    let bytes = |pages: u64| short_bytes(pages.saturating_mul(now.page_size as u64));
    let free = now.free.map_or("unknown".to_owned(), |(all, usable)| {
        format!("{all} ({}), usable {usable}", bytes(all))
    });
    text += &format!(
        "pages {} ({})  file {}  map {}  free {free}\n",
        now.pages,
        bytes(now.pages),
        short_bytes(now.file_bytes),
        short_bytes(now.map_size)
    );
    let writer = now.writer.map_or("none".to_owned(), |thread| {
        format!("thread {thread} {}", process_name(thread))
    });
    let list = &now.readers.list;
    let dead = list.iter().filter(|facts| facts.is_dead).count();
    let busy = list
        .iter()
        .filter(|facts| facts.reader.snapshot.is_some())
        .count();
    text += &format!(
        "writer {}  readers {busy}, idle {}, dead {dead}\n",
        writer.trim_end(),
        list.len() - busy
    );
    if !list.is_empty() {
        text += &table(list);
    }
    if !options.is_terminal && !options.once {
        text += "\n";
    }
    output.write_all(text.as_bytes())?;
    output.flush()?;
    Ok(())
}

/// Formats the changes between two samples per second.
fn rates(before: &Sample, now: &Sample) -> String {
    let seconds = now.at.duration_since(before.at).as_secs_f64().max(1e-9);
    let commits = now.last_txnid.saturating_sub(before.last_txnid) as f64 / seconds;
    let grown = now.file_bytes as f64 - before.file_bytes as f64;
    let sign = if grown < 0.0 { "-" } else { "+" };
    let growth = short_bytes((grown.abs() / seconds) as u64);
    format!("  {commits:.1} commits/s  {sign}{growth}/s")
}
