//! Replication: ours among ours next to slapd among slapd, with one provider and up to ten copies.
//!
//! ```text
//!   load -> refresh of an empty copy -> 1 % changed while it is away -> changes with 1 and N copies -> lag
//!   load -> searches that wait, one of which never reads -> memory of the provider
//!   load -> durable changes of a server with and without the overlay
//! ```
//!
//! All servers flush each commit, unless the row says otherwise. Those of a row share the machine
//! with the program that changes entries, so figures are of all processes together.

mod changes;
pub(crate) mod node;
mod waiting;

use std::fmt::Write as _;
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, ensure};

use crate::directory::DataSet;
use crate::folders::Folders;
use crate::workload::Medium;
use changes::{lag, modify};
use node::{Make, Node, Role};
use waiting::{memory, rate};

/// The amounts of a run.
#[derive(Debug, clap::Args)]
pub(crate) struct ReplicationArguments {
    /// How many people there are. 1,000,000 for the long run.
    #[arg(long, default_value_t = 100_000)]
    pub(crate) people: u64,
    /// Copies in the row of many.
    #[arg(long, default_value_t = 10)]
    pub(crate) copies: usize,
    /// Searches that wait.
    #[arg(long, default_value_t = 2_000)]
    pub(crate) searches: usize,
    /// Changes of a row.
    #[arg(long, default_value_t = 10_000)]
    pub(crate) changes: u64,
    /// These pairs only: fulgurite, slapd, slapd-nosync, fulgurite-slapd, slapd-fulgurite.
    #[arg(long)]
    pub(crate) with: Vec<String>,
    /// The first refresh and catching up alone.
    #[arg(long)]
    pub(crate) only_refresh: bool,
    /// Our program.
    #[arg(long, default_value = "target/release/fulgurite")]
    pub(crate) program: PathBuf,
    /// A folder on a disk.
    #[arg(long, default_value = "build/bench")]
    pub(crate) disk: PathBuf,
    /// Where the report goes.
    #[arg(long, default_value = "build/bench")]
    pub(crate) out: PathBuf,
}

/// A provider's program, that of its copies, and if the copies flush.
struct Pair {
    name: &'static str,
    title: &'static str,
    provider: Make,
    copy: Make,
    flushes: bool,
}

const PAIRS: [Pair; 5] = [
    Pair {
        name: "fulgurite",
        title: "Fulgurite from Fulgurite",
        provider: Make::Ours,
        copy: Make::Ours,
        flushes: true,
    },
    Pair {
        name: "slapd",
        title: "slapd from slapd",
        provider: Make::Slapd,
        copy: Make::Slapd,
        flushes: true,
    },
    Pair {
        name: "slapd-nosync",
        title: "slapd from slapd, the copies with dbnosync",
        provider: Make::Slapd,
        copy: Make::Slapd,
        flushes: false,
    },
    Pair {
        name: "fulgurite-slapd",
        title: "slapd from Fulgurite",
        provider: Make::Ours,
        copy: Make::Slapd,
        flushes: true,
    },
    Pair {
        name: "slapd-fulgurite",
        title: "Fulgurite from slapd",
        provider: Make::Slapd,
        copy: Make::Ours,
        flushes: true,
    },
];

/// The table: a row for each measurement, a column for each pair.
struct Table {
    columns: Vec<&'static str>,
    rows: Vec<(String, Vec<Option<String>>)>,
}

impl Table {
    fn put(&mut self, row: &str, column: usize, value: String) {
        println!("{row}: {}: {value}", self.columns[column]);
        let at = match self.rows.iter().position(|(name, _)| name == row) {
            Some(at) => at,
            None => {
                self.rows
                    .push((row.to_owned(), vec![None; self.columns.len()]));
                self.rows.len() - 1
            }
        };
        self.rows[at].1[column] = Some(value);
    }

    fn markdown(&self, circumstances: &[(String, String)]) -> String {
        let mut out = String::from("# Replication\n\n");
        for (name, value) in circumstances {
            let _ = writeln!(out, "- {name}: {value}");
        }
        let _ = writeln!(out, "\n| | {} |", self.columns.join(" | "));
        let _ = writeln!(out, "| --- |{}", " ---: |".repeat(self.columns.len()));
        for (name, values) in &self.rows {
            let values = values.iter().map(|value| value.as_deref().unwrap_or("-"));
            let _ = writeln!(
                out,
                "| {name} | {} |",
                values.collect::<Vec<_>>().join(" | ")
            );
        }
        out
    }
}

struct Run<'a> {
    arguments: &'a ReplicationArguments,
    project: PathBuf,
    folders: Folders,
    ldif: PathBuf,
}

/// Measures all pairs, and writes the table.
/// # Errors
/// Programs that are not there, and servers that do not answer or do not follow.
pub(crate) fn run(arguments: &ReplicationArguments) -> anyhow::Result<()> {
    let known = |name: &String| PAIRS.iter().any(|pair| pair.name == name);
    ensure!(arguments.with.iter().all(known), "--with names a pair");
    let project = std::env::current_dir()?;
    let mut folders = Folders::new(&arguments.disk, &arguments.disk)?;
    let ldif = folders.fresh(Medium::Disk)?.join("people.ldif");
    DataSet::People.write(arguments.people, &mut BufWriter::new(File::create(&ldif)?))?;
    let circumstances = crate::machine::circumstances(&project, &arguments.disk, &arguments.disk);
    let mut run = Run {
        arguments,
        project,
        folders,
        ldif,
    };
    let takes_part = |pair: &&Pair| {
        arguments.with.is_empty() || arguments.with.iter().any(|name| name == pair.name)
    };
    let pairs: Vec<&Pair> = PAIRS.iter().filter(takes_part).collect();
    let mut table = Table {
        columns: pairs.iter().map(|pair| pair.title).collect(),
        rows: Vec::new(),
    };
    for (column, pair) in pairs.iter().enumerate() {
        run.copies(pair, column, &mut table)?;
    }
    for (column, pair) in pairs.iter().enumerate() {
        // The provider alone counts here.
        if pair.provider == pair.copy && pair.flushes && !arguments.only_refresh {
            run.searches(pair, column, &mut table)?;
            run.alone(pair, column, &mut table)?;
        }
    }
    std::fs::create_dir_all(&arguments.out)?;
    let text = table.markdown(&circumstances);
    std::fs::write(arguments.out.join("replication.md"), &text)?;
    println!("{text}");
    Ok(())
}

impl Run<'_> {
    fn node(&mut self, make: Make, role: Role, flushes: bool) -> anyhow::Result<Node> {
        let folder = self.folders.fresh(Medium::Disk)?;
        let programs = (self.arguments.program.as_path(), self.project.as_path());
        Node::new((make, role), programs, folder, flushes)
    }

    fn loaded(&mut self, make: Make, role: Role) -> anyhow::Result<Node> {
        let mut node = self.node(make, role, true)?;
        node.load(&self.ldif)?;
        node.start()?;
        Ok(node)
    }

    /// Copies that begin, come back, and follow.
    fn copies(&mut self, pair: &Pair, column: usize, table: &mut Table) -> anyhow::Result<()> {
        let (people, changes) = (self.arguments.people, self.arguments.changes);
        let provider = self.loaded(pair.provider, Role::Provider)?;
        let role = Role::Consumer(provider.port);
        let mut copy = self.node(pair.copy, role, pair.flushes)?;
        let seconds = |begun: Instant| format!("{:.2} s", begun.elapsed().as_secs_f64());
        let begun = Instant::now();
        copy.start()?;
        copy.follow(&provider)?;
        let row = format!("first refresh of {people} people");
        table.put(&row, column, seconds(begun));
        ensure!(
            copy.entries()? == provider.entries()?,
            "the copy has all entries"
        );
        copy.stop()?;
        modify(&provider, people, people / 100)?;
        let begun = Instant::now();
        copy.start()?;
        copy.follow(&provider)?;
        table.put("catching up with 1 % changed", column, seconds(begun));
        if self.arguments.only_refresh {
            return copy.stop();
        }
        let mut copies = vec![copy];
        for count in [1, self.arguments.copies] {
            if copies.len() < count {
                self.multiply(&mut copies, (pair, role), count)?;
                copies.iter().try_for_each(|copy| copy.follow(&provider))?;
            }
            let begun = Instant::now();
            modify(&provider, people, changes)?;
            copies.iter().try_for_each(|copy| copy.follow(&provider))?;
            let rate = changes as f64 / begun.elapsed().as_secs_f64();
            let row = format!("changes per second until all copies have them, copies: {count}");
            table.put(&row, column, format!("{rate:.0}"));
            let last = &copies[copies.len() - 1];
            let (median, most) = lag((&provider, last), 1_000)?;
            let row = format!("lag at 100 changes per second, median and p99, copies: {count}");
            let text = format!(
                "{:.1} and {:.1} ms",
                median.as_secs_f64() * 1e3,
                most.as_secs_f64() * 1e3
            );
            table.put(&row, column, text);
        }
        copies.iter_mut().try_for_each(Node::stop)?;
        Ok(())
    }

    /// Makes copies of the first copy's files until there are `count`.
    fn multiply(
        &mut self,
        copies: &mut Vec<Node>,
        (pair, role): (&Pair, Role),
        count: usize,
    ) -> anyhow::Result<()> {
        while copies.len() < count {
            copies.push(self.node(pair.copy, role, pair.flushes)?);
        }
        let (first, others) = copies.split_first_mut().context("there is no copy")?;
        first.stop()?;
        for other in &mut *others {
            other.take_files(first)?;
            other.start()?;
        }
        first.start()
    }

    /// Searches that wait.
    fn searches(&mut self, pair: &Pair, column: usize, table: &mut Table) -> anyhow::Result<()> {
        let (people, searches) = (self.arguments.people, self.arguments.searches);
        let provider = self.loaded(pair.provider, Role::Provider)?;
        let used = memory(&provider, (searches, people, self.arguments.changes))?;
        let mebibytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let text = format!(
            "{:.1}, {:.1}, {:.1} MiB",
            mebibytes(used.before),
            mebibytes(used.waiting),
            mebibytes(used.most)
        );
        let row = format!("memory before, with {searches} waiting searches, with changes");
        table.put(&row, column, text);
        Ok(())
    }

    /// A provider without copies, next to a server without the overlay.
    fn alone(&mut self, pair: &Pair, column: usize, table: &mut Table) -> anyhow::Result<()> {
        let (people, changes) = (self.arguments.people, self.arguments.changes);
        for (role, row) in [
            (Role::Alone, "durable changes per second without overlay"),
            (Role::Provider, "the same of a provider without copies"),
        ] {
            let server = self.loaded(pair.provider, role)?;
            let rate = rate(&server, people, changes)?;
            table.put(row, column, format!("{rate:.0}"));
        }
        Ok(())
    }
}
