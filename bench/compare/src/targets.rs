//! The targets of the project's speed, as rows of one table, each with the source of its figure. A
//! row without a target may not be slower than [`AT_LEAST`].

use crate::results::{Half, Wanted};

/// The target of every workload without a special one.
pub(crate) const AT_LEAST: f64 = 0.95;

/// The allowed size of store files, relative to the reference's: half a percent is a page or two.
pub(crate) const STORE_SIZE_AT_MOST: f64 = 1.005;

/// The same for a directory's database, and what would be fine.
pub(crate) const DIRECTORY_SIZE_AT_MOST: f64 = 0.5;
const DIRECTORY_SIZE_HOPED: f64 = 0.35;

/// One target.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) half: Half,
    pub(crate) what: &'static str,
    /// The row that has the figure, or which figure of a whole run it is.
    pub(crate) source: Source,
    pub(crate) asked: f64,
    pub(crate) hoped: Option<f64>,
}

/// Where a target's figure comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source {
    /// A row of the engine's run, of one of ours.
    Store(&'static str, &'static str),
    /// The file that grew most relative to the reference's, of all workloads.
    LargestFile,
    /// The slowest workload of one of ours relative to the reference, among those without a row.
    Slowest(&'static str),
    /// A row of a directory of this many people.
    Directory(&'static str, u64),
    /// The size of its database, as a part of the reference's.
    Database(u64),
}

const C: &str = "fulgurite-c";
const RUST: &str = "fulgurite";
const DIRECTORY: &str = "fulgurite";

const MILLION: u64 = 1_000_000;
/// Of whom a third each is in one city, and in one state.
pub(crate) const THIRDS: u64 = 300_000;
/// The rows of the short run.
pub(crate) const PEOPLE: u64 = 100_000;

const fn store(
    what: &'static str,
    workload: &'static str,
    ours: &'static str,
    asked: f64,
    hoped: Option<f64>,
) -> Target {
    Target {
        half: Half::Engine,
        what,
        source: Source::Store(workload, ours),
        asked,
        hoped,
    }
}

const fn directory(
    what: &'static str,
    row: &'static str,
    people: u64,
    asked: f64,
    hoped: Option<f64>,
) -> Target {
    Target {
        half: Half::Directory,
        what,
        source: Source::Directory(row, people),
        asked,
        hoped,
    }
}

/// All of them, in the order in which they were given.
pub(crate) const TARGETS: &[Target] = &[
    store("random get", "get", C, 1.35, Some(1.5)),
    store(
        "random get, batched (`get_many`), beside mdb_get",
        "get-many",
        RUST,
        2.8,
        Some(3.3),
    ),
    store("sequential next", "scan", C, 2.0, None),
    store(
        "sequential next, Rust iterator",
        "scan",
        RUST,
        2.0,
        Some(3.0),
    ),
    store("range scan of 100", "range-100", C, 1.5, Some(2.0)),
    store(
        "begin + end of a read transaction",
        "begin",
        C,
        4.0,
        Some(8.0),
    ),
    store("renew + reset", "renew", C, 1.2, Some(2.0)),
    store(
        "random put, batches of 1,000",
        "put-scattered",
        C,
        1.5,
        Some(2.0),
    ),
    store("overwrite, batches", "overwrite", C, 1.4, Some(2.0)),
    store(
        "one put per transaction, asynchronous",
        "put-single",
        C,
        1.3,
        Some(2.0),
    ),
    store("append load", "append", C, 1.2, Some(1.5)),
    store("large values, fill", "large-fill", C, 2.0, Some(4.0)),
    store(
        "synchronous commits, 16 threads, by submit",
        "sync-submit-16",
        RUST,
        8.0,
        Some(14.0),
    ),
    store(
        "synchronous commits, one thread",
        "sync-single",
        C,
        1.0,
        Some(1.6),
    ),
    store(
        "puts after a long reader ends",
        "after-reader",
        C,
        5.0,
        Some(10.0),
    ),
    store(
        "large values in a fragmented free list",
        "large-fragmented",
        C,
        5.0,
        Some(10.0),
    ),
    Target {
        half: Half::Engine,
        what: "file size after each workload: the worst",
        source: Source::LargestFile,
        asked: 1.0,
        hoped: None,
    },
    Target {
        half: Half::Engine,
        what: "any other workload of the bench: the slowest",
        source: Source::Slowest(C),
        asked: AT_LEAST,
        hoped: None,
    },
    Target {
        half: Half::Engine,
        what: "the same through the Rust interface",
        source: Source::Slowest(RUST),
        asked: AT_LEAST,
        hoped: None,
    },
    directory(
        "uid search, 16 connections, depth 1: server CPU",
        "uid-16",
        PEOPLE,
        3.5,
        Some(4.0),
    ),
    directory("mail search, the same", "mail-16", PEOPLE, 3.5, Some(4.0)),
    directory("uid search, depth 8", "uid-16x8", PEOPLE, 10.0, Some(14.0)),
    directory(
        "mail search, depth 8",
        "mail-16x8",
        PEOPLE,
        10.0,
        Some(14.0),
    ),
    directory("bind", "bind-16", PEOPLE, 2.2, Some(3.0)),
    directory("compare", "compare-16", PEOPLE, 2.2, Some(3.0)),
    directory("base read", "base-16", PEOPLE, 3.5, Some(4.0)),
    substring("cn=text*, 100k", "substring-initial", PEOPLE),
    substring("cn=*text*, 100k", "substring-any", PEOPLE),
    substring("cn=*text, 100k", "substring-final", PEOPLE),
    substring("cn=*text*, 1M", "substring-any", MILLION),
    directory(
        "`(&(l=A)(st=X))`, 100k of 300k each, 10 results",
        "both",
        THIRDS,
        100.0,
        Some(1000.0),
    ),
    directory(
        "full scan, one client, 100k",
        "scan",
        PEOPLE,
        12.0,
        Some(15.0),
    ),
    directory(
        "16 concurrent scans, CPU per scan",
        "scan-16",
        PEOPLE,
        12.0,
        Some(15.0),
    ),
    directory("load 100k: CPU", "load", PEOPLE, 4.0, Some(10.0)),
    directory(
        "load 100k: on the clock, two cores",
        "load-wall",
        PEOPLE,
        6.0,
        Some(10.0),
    ),
    directory("load 1M: CPU", "load", MILLION, 4.0, Some(10.0)),
    directory(
        "load 1M: on the clock, two cores",
        "load-wall",
        MILLION,
        6.0,
        Some(10.0),
    ),
    database("database size, 100k", PEOPLE),
    database("database size, 1M", MILLION),
    directory("export", "export", PEOPLE, 2.0, Some(5.0)),
    directory("modify, not synchronous", "modify", PEOPLE, 2.5, Some(5.0)),
    directory(
        "modify, synchronous, 16 clients",
        "modify-durable",
        PEOPLE,
        5.0,
        Some(12.0),
    ),
    directory("add, not synchronous", "add", PEOPLE, 5.0, Some(10.0)),
    directory("delete, not synchronous", "delete", PEOPLE, 5.0, Some(10.0)),
    directory(
        "searches while two clients modify",
        "uid-beside-modify",
        PEOPLE,
        3.0,
        Some(4.0),
    ),
    directory(
        "the modifies of these two",
        "modifies-beside",
        PEOPLE,
        3.0,
        None,
    ),
    directory(
        "one member added to a group of 100,000",
        "group-add",
        PEOPLE,
        100.0,
        Some(1000.0),
    ),
    directory(
        "anonymous memory after all of it",
        "memory",
        PEOPLE,
        1.0,
        Some(2.0),
    ),
    directory("start-up on 1M entries", "start", MILLION, 1.0, Some(2.0)),
    directory("start-up on 100k entries", "start", PEOPLE, 1.0, Some(2.0)),
];

/// Substrings of 4 to 12 letters.
const fn substring(what: &'static str, row: &'static str, people: u64) -> Target {
    directory(what, row, people, 4.0, Some(8.0))
}

const fn database(what: &'static str, people: u64) -> Target {
    Target {
        half: Half::Directory,
        what,
        source: Source::Database(people),
        asked: DIRECTORY_SIZE_AT_MOST,
        hoped: Some(DIRECTORY_SIZE_HOPED),
    }
}

/// Targets of single workloads of the engine.
pub(crate) fn of_engine() -> Vec<Wanted> {
    let wanted = TARGETS.iter().filter_map(|target| match target.source {
        Source::Store(workload, ours) => Some(target.wanted(workload, ours)),
        _ => None,
    });
    wanted.collect()
}

/// Targets of rows of the directory, of any size.
pub(crate) fn of_directory() -> Vec<Wanted> {
    let mut lines: Vec<Wanted> = Vec::new();
    for target in TARGETS {
        if let Source::Directory(row, _) = target.source
            && lines.iter().all(|line| line.workload != row)
        {
            lines.push(target.wanted(row, DIRECTORY));
        }
    }
    lines
}

impl Target {
    fn wanted(&self, workload: &str, ours: &str) -> Wanted {
        Wanted {
            workload: workload.to_owned(),
            ours: ours.to_owned(),
            asked: self.asked,
            hoped: self.hoped,
        }
    }

    /// The name of its row, as in `compare list`.
    pub(crate) fn row(&self) -> &'static str {
        match self.source {
            Source::Store(row, _) | Source::Directory(row, _) => row,
            Source::Database(_) => "load",
            Source::LargestFile | Source::Slowest(_) => "-",
        }
    }

    /// Returns true if it is a part of the reference's size, where less is better.
    pub(crate) fn is_size(&self) -> bool {
        matches!(self.source, Source::LargestFile | Source::Database(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_is_hoped_for_than_asked() {
        for target in TARGETS {
            let more = target.hoped.is_none_or(|hoped| match target.is_size() {
                true => hoped < target.asked,
                false => hoped > target.asked,
            });
            assert!(more, "{}", target.what);
        }
    }

    #[test]
    fn a_row_has_one_line_however_many_directories_have_it() {
        let lines = of_directory();
        assert_eq!(
            lines.iter().filter(|line| line.workload == "load").count(),
            1
        );
        assert_eq!(of_engine().len(), 16);
    }
}
