//! The thorough judge: a disk state is written to a file, opened, read, checked, and written to.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use fulgurite::check::{CheckOptions, Checker, Fault, Finding};
use fulgurite::{Durability, Environment, Error};
use tempfile::TempDir;

use super::content::{self, DatabaseKind};
use super::cut::{Cut, DiskState};
use super::disk::Disk;
use super::history::Committed;
use super::sectors::{ContentId, PAGE, PageIds, SECTORS, Sectors, ZERO_PAGE};

/// The result of opening a disk state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It is a new, empty environment.
    Fresh,
    /// It holds just what this snapshot held, and the check finds nothing.
    Snapshot(usize),
    /// Opening it was refused.
    Refused(String),
    /// It was opened, and reading it said that it is damaged.
    Damaged(String),
    /// It was opened and read, and holds what this snapshot held; but the check, or writing, says
    /// what is wrong.
    Latent(usize, String),
    /// It was opened and read without an error, but no such content was ever committed.
    Wrong(String),
    /// The library panicked.
    Panicked,
}

/// The rest of a state of an environment with checkpoints.
#[derive(Debug)]
pub(super) struct Start<'d> {
    /// The boot id of the system that opens it.
    pub(super) boot: &'d [u8],
    /// The file that describes the checkpoint, if there is one.
    pub(super) description: Option<&'d [u8]>,
}

/// The distance of the ids of transactions before and after a power loss, with checkpoints.
const LOST_IDS_MAX: u64 = 1 << 40;
/// A sector whose content on the file is unknown.
const UNKNOWN: ContentId = ContentId::MAX;

/// Has a directory in memory where states are laid out, one after the other.
#[derive(Debug)]
pub(super) struct Inspector {
    directory: TempDir,
    checker: Checker,
    /// The present content of the file.
    on_file: Vec<PageIds>,
    /// True if there is a file with that content.
    is_there: bool,
}

impl Inspector {
    pub(super) fn new() -> anyhow::Result<Inspector> {
        Ok(Inspector {
            directory: memory_directory()?,
            checker: Checker::new(CheckOptions::default().previous(false)),
            on_file: Vec::new(),
            is_there: false,
        })
    }

    /// Opens a state, reads and checks it, and if so asked commits something on top and checks
    /// again.
    pub(super) fn inspect(
        &mut self,
        (cut, disk, sectors): (&Cut, &Disk, &Sectors),
        state: &DiskState,
        (snapshots, start): (&[Committed], Option<&Start<'_>>),
        writes: bool,
    ) -> anyhow::Result<Outcome> {
        self.lay_out(cut, disk, sectors, state)?;
        let description = self.directory.path().join("checkpoint.mdb");
        match start.and_then(|start| start.description) {
            Some(bytes) => fs::write(&description, bytes)?,
            None => remove(&description)?,
        }
        // The library must not panic whatever the disk holds; if it does, the state is named like
        // any other.
        let (path, checker) = (self.directory.path(), &mut self.checker);
        let opened = panic::catch_unwind(AssertUnwindSafe(|| {
            examine(path, (snapshots, start), writes, checker)
        }));
        // With checkpoints, opening and closing it may have changed it.
        if writes || start.is_some() || !matches!(opened, Ok(Outcome::Snapshot(_))) {
            self.is_there = false;
        }
        Ok(opened.unwrap_or(Outcome::Panicked))
    }

    /// Copies the file as it was last laid out.
    pub(super) fn keep(&self, path: &Path) -> anyhow::Result<()> {
        fs::copy(self.data(), path).context("keeping the disk state")?;
        Ok(())
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data.mdb")
    }

    /// Makes the file hold what the state says, writing what differs from what it held before.
    pub(super) fn lay_out(
        &mut self,
        cut: &Cut,
        disk: &Disk,
        sectors: &Sectors,
        state: &DiskState,
    ) -> anyhow::Result<()> {
        let Some(len) = state.len else {
            self.is_there = false;
            return remove(&self.data());
        };
        if !self.is_there {
            remove(&self.data())?;
            self.on_file.clear();
            self.is_there = true;
        }
        let file = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(false)
            .open(self.data())?;
        let pages = len.div_ceil(PAGE as u64) as usize;
        // Cut to whole pages first, so that the bytes behind the end are zeros if the file grows
        // again.
        if self.on_file.len() > pages {
            file.set_len(len)?;
        }
        self.on_file.resize(pages, ZERO_PAGE);
        file.set_len((pages * PAGE) as u64)?;
        let mut undecided = cut.undecided.iter().zip(&state.ids).enumerate().peekable();
        for page in 0..pages {
            let mut ids = disk.durable.get(page).copied().unwrap_or(ZERO_PAGE);
            let mut torn = [None; SECTORS];
            while let Some((at, (sector, id))) = undecided.next_if(|(_, (s, _))| s.page == page) {
                ids[sector.sector] = *id;
                let found = state.torn.iter().find(|(other, _)| *other == at);
                torn[sector.sector] = found.map(|(_, octets)| octets);
            }
            let is_torn = torn.iter().any(Option::is_some);
            if self.on_file[page] == ids && !is_torn {
                continue;
            }
            let mut octets = [0; PAGE];
            let parts = octets.as_chunks_mut().0.iter_mut();
            for ((part, id), torn) in parts.zip(&ids).zip(torn) {
                *part = *torn.map_or(sectors.octets(*id), |octets| octets);
            }
            file.write_all_at(&octets, (page * PAGE) as u64)?;
            self.on_file[page] = if is_torn { [UNKNOWN; SECTORS] } else { ids };
        }
        if len % PAGE as u64 != 0 {
            file.set_len(len)?;
            if let Some(last) = self.on_file.last_mut() {
                *last = [UNKNOWN; SECTORS];
            }
        }
        Ok(())
    }
}

/// A directory in memory if there is such a file system, as these files need no disk.
pub(super) fn memory_directory() -> anyhow::Result<TempDir> {
    let builder = || {
        let mut builder = tempfile::Builder::new();
        builder.prefix("fulgurite-power-");
        builder
    };
    let in_memory = builder().tempdir_in("/dev/shm");
    in_memory
        .or_else(|_| builder().tempdir())
        .context("making a directory for disk states")
}

fn remove(path: &Path) -> anyhow::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).context("removing a disk state")
        }
        _ => Ok(()),
    }
}

fn examine(
    path: &Path,
    (snapshots, start): (&[Committed], Option<&Start<'_>>),
    writes: bool,
    checker: &mut Checker,
) -> Outcome {
    let data = path.join("data.mdb");
    // Empty, or a new file's length of zeros.
    let is_unmade = fs::metadata(&data).map_or(true, |metadata| {
        metadata.len() <= 2 * PAGE as u64
            && fs::read(&data).is_ok_and(|octets| octets.iter().all(|octet| *octet == 0))
    });
    let options = Environment::options().durability(Durability::NoSync);
    let options = match start {
        Some(start) => options.checkpoints(true).boot_id(start.boot),
        None => options,
    };
    let environment = match options.map_bytes_max(1 << 30).open(path) {
        Ok(environment) => environment,
        Err(error) => return Outcome::Refused(error.to_string()),
    };
    let read = || -> Result<(u64, u64), Error> {
        let txn = environment.read()?;
        Ok((txn.id().0, content::found(&txn)?))
    };
    let (txnid, found) = match read() {
        Ok(found) => found,
        Err(error) => return Outcome::Damaged(format!("read: {error}")),
    };
    let is_it = |snapshot: &Committed| snapshot.content == found;
    // A power loss adds to the id of a checkpoint. Histories are shorter than that.
    let id_before = txnid % LOST_IDS_MAX;
    let same_id = |snapshot: &Committed| snapshot.txnid == id_before && is_it(snapshot);
    let known = snapshots.iter().position(same_id);
    let snapshot = match known.or_else(|| snapshots.iter().rposition(is_it)) {
        _ if is_unmade && txnid == 0 && found == 0 => return Outcome::Fresh,
        Some(snapshot) => snapshot,
        None => return Outcome::Wrong(format!("transaction {txnid} never held this")),
    };
    let checked = check(checker, &data, txnid).and_then(|()| {
        if writes {
            write_on_top(&environment).map_err(|error| format!("write: {error}"))?;
            drop(environment);
            check(checker, &data, txnid + 2).map_err(|fault| format!("after writing: {fault}"))?;
        }
        Ok(())
    });
    match checked {
        Ok(()) => Outcome::Snapshot(snapshot),
        Err(fault) => Outcome::Latent(snapshot, fault),
    }
}

/// Returns the faults that the check finds in a snapshot. The other meta page does not count,
/// because its sector may be torn.
fn check(checker: &mut Checker, data: &Path, txnid: u64) -> Result<(), String> {
    let report = checker
        .check_file(data)
        .map_err(|error| error.to_string())?;
    let of_other = |finding: &Finding| {
        matches!(finding.fault, Fault::Meta(_)) && finding.pgno == (txnid + 1) % 2
    };
    if report.findings.iter().all(of_other) {
        Ok(())
    } else {
        Err(report.to_string())
    }
}

/// Two transactions that use what is free, and more.
fn write_on_top(environment: &Environment) -> Result<(), Error> {
    for round in 0..2u64 {
        let mut txn = environment.write()?;
        for place in DatabaseKind::ALL {
            let database = place.create(&mut txn)?;
            for number in 0..6u64 {
                txn.put(database, &(number * 3).to_ne_bytes(), &[round as u8; 8])?;
            }
        }
        let database = DatabaseKind::Plain.create(&mut txn)?;
        txn.put(database, b"on top", &[7; 9_000])?;
        txn.commit()?;
    }
    Ok(())
}
