//! `fulgurite load --add`: many entries into a running server.
//!
//! ```text
//!   LDIF --> Order: children behind parents --> Workers: a connection each, many adds in flight
//!                       ^                                            |
//!                       +----------------- outcomes <----------------+
//! ```
//!
//! The server commits together what has come together, so hundreds of entries share one flush.
//! Connections overtake each other. So an entry waits here until its parent is added, also if the
//! parent comes later in the file.

mod order;
mod tally;
mod worker;

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use anyhow::{Context as _, bail};
use fulgurite_ldif::{Action, Reader, ReaderOptions, Record};

use crate::arguments::Load;
use crate::remote::entries::is_of_server;
use crate::remote::login::Login;
use order::{NewEntry, Order};
use tally::Tally;
use worker::{Outcome, Workers};

/// Bytes of entries in memory whose parents have not come, at most.
const ORPHAN_BYTES_MAX: usize = 256 << 20;

/// Bytes of one read.
const BUFFER_BYTES: usize = 1 << 18;

pub(super) fn run(command: &Load) -> anyhow::Result<()> {
    let login = Login::new(&command.server)?;
    let (results, outcomes) = mpsc::channel();
    let mut run = Run {
        workers: Workers::start(&login, command.parallel, &results)?,
        outcomes,
        order: Order::default(),
        tally: Tally::new(command.quiet, total(&command.files)),
        goes_on: command.continue_on_error,
        is_stopped: false,
        is_lost: false,
    };
    // The workers have clones. When all have ended, so have the outcomes.
    drop(results);
    let read = command.files.iter().try_for_each(|file| run.file(file));
    let settled = run.settle();
    let refused = run.tally.finish(command.quiet);
    read?;
    settled?;
    match refused {
        0 => Ok(()),
        1 if !run.goes_on => bail!("stopped at a refusal; --continue goes on behind it"),
        count => bail!("{count} entries are refused"),
    }
}

/// Returns the bytes of all files; `None` if one is a stream.
fn total(files: &[PathBuf]) -> Option<u64> {
    let lens = files.iter().map(|file| {
        let metadata = std::fs::metadata(file).ok()?;
        metadata.is_file().then_some(metadata.len())
    });
    lens.sum()
}

/// A run of the command.
struct Run {
    workers: Workers,
    outcomes: mpsc::Receiver<Outcome>,
    order: Order,
    tally: Tally,
    goes_on: bool,
    /// True after a refusal that ends the run.
    is_stopped: bool,
    /// True if a connection failed, so that some answers will never come.
    is_lost: bool,
}

impl Run {
    /// Sends the entries of a file.
    fn file(&mut self, file: &Path) -> anyhow::Result<()> {
        if file == Path::new("-") {
            return self.input(io::stdin().lock(), "standard input");
        }
        let name = file.display().to_string();
        let input = File::open(file).with_context(|| format!("cannot read {name}"))?;
        self.input(BufReader::with_capacity(BUFFER_BYTES, input), &name)
    }

    fn input(&mut self, input: impl BufRead, name: &str) -> anyhow::Result<()> {
        let options = ReaderOptions {
            file: Some(name.to_owned()),
            file_urls: true,
            ..ReaderOptions::default()
        };
        let mut reader = Reader::with_options(input, options);
        let before = self.tally.bytes;
        while !self.is_stopped
            && let Some(record) = reader.next_record()?
        {
            let entry = entry(&record, name, &mut self.tally)?;
            if let Some(ready) = self.order.take(entry) {
                self.send(ready)?;
            }
            self.tally.bytes = before + reader.bytes_read();
            while let Ok(outcome) = self.outcomes.try_recv() {
                self.outcome(outcome)?;
            }
            while self.order.is_full() {
                self.next_outcome()?;
            }
        }
        Ok(())
    }

    fn send(&mut self, entry: NewEntry) -> anyhow::Result<()> {
        if self.workers.send(entry) {
            return Ok(());
        }
        // The connection has told its reason before it ended.
        self.is_lost = true;
        loop {
            match self.outcomes.try_recv() {
                Ok(Outcome::Lost(error)) => return Err(error),
                Ok(Outcome::Added(_)) => self.tally.added += 1,
                Ok(_) => {}
                Err(_) => bail!("a connection is lost"),
            }
        }
    }

    /// Waits for all entries that are under way.
    fn settle(&mut self) -> anyhow::Result<()> {
        while self.order.under_way() > 0 && !self.is_lost {
            if self.is_stopped {
                self.order.drop_waiting();
            }
            if self.order.under_way() > 0 {
                self.next_outcome()?;
            }
        }
        // Their parents are not in the files.
        for text in self.order.refusals() {
            if self.is_stopped {
                break;
            }
            self.tally.refuse(&text);
            self.is_stopped |= !self.goes_on;
        }
        Ok(())
    }

    fn next_outcome(&mut self) -> anyhow::Result<()> {
        let outcome = self.outcomes.recv();
        self.outcome(outcome.context("all connections are lost")?)
    }

    fn outcome(&mut self, outcome: Outcome) -> anyhow::Result<()> {
        let ready = match outcome {
            Outcome::Added(key) => {
                self.tally.added += 1;
                self.order.added(&key)
            }
            Outcome::Known(key) => {
                self.tally.known += 1;
                self.order.added(&key)
            }
            Outcome::Refused(key, text) => self.refused(&key, &text),
            Outcome::Orphan(entry, text) => self.orphan(entry, text)?,
            Outcome::Lost(error) => {
                self.is_lost = true;
                return Err(error);
            }
        };
        self.tally.show();
        for ready in ready {
            self.send(ready)?;
        }
        Ok(())
    }

    /// Holds an entry back whose parent the server lacks. Returns the entries to be sent now.
    fn orphan(&mut self, entry: NewEntry, refusal: String) -> anyhow::Result<Vec<NewEntry>> {
        let place = entry.place.clone();
        let ready = match self.order.orphan(entry, refusal) {
            Ok(ready) => ready,
            Err((key, text)) => self.refused(&key, &text),
        };
        if self.order.orphan_bytes() > ORPHAN_BYTES_MAX {
            let mib = ORPHAN_BYTES_MAX >> 20;
            bail!(
                "{place}: entries without a parent take more than {mib} MiB; \
                 put parents before their children, and repeat the command"
            );
        }
        Ok(ready)
    }

    /// Counts a refusal. Returns the entries that waited for the refused one. The server refuses
    /// those below it, each with its own sentence.
    fn refused(&mut self, key: &str, text: &str) -> Vec<NewEntry> {
        self.tally.refuse(text);
        self.is_stopped |= !self.goes_on;
        self.order.done(key)
    }
}

/// Returns the entry of a record.
fn entry(record: &Record<'_>, file: &str, tally: &mut Tally) -> anyhow::Result<NewEntry> {
    let (dn, line) = (record.dn(), record.line());
    let (Action::Content(values) | Action::Add(values)) = record.action() else {
        bail!("{file}, line {line}: {dn}: only entries can be loaded; `apply` makes changes");
    };
    let mut attributes: Vec<(&str, Vec<&[u8]>)> = Vec::new();
    for value in values {
        let name = value.description;
        if is_of_server(name) {
            tally.has_left_out = true;
            continue;
        }
        let is_password = name.eq_ignore_ascii_case("userPassword");
        if is_password && fulgurite_auth::clear_text(value.value).is_some() {
            tally.passwords_in_clear += 1;
        }
        let mut known = attributes.iter_mut();
        match known.find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            Some((_, values)) => values.push(value.value),
            None => attributes.push((name, vec![value.value])),
        }
    }
    let place = format!("{file}, line {line}");
    Ok(NewEntry::new(dn, &attributes, place))
}
