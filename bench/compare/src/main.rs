//! Measures Fulgurite next to its peers, and counts the instructions of its operations.
//!
//! ```text
//!   workload (rows of data)  x  engine (adapters)  ->  action (generic work, in a child process)  ->  measure
//!        |                                                                                                |
//!        '-- asked --------------------->  report: Markdown, JSON, HTML with plots  <---- results --------'
//! ```
//!
//! It is no load generator for directories; that is `bench/load`.

#![deny(unsafe_code)]

mod action;
mod amounts;
mod cluster;
mod costs;
mod count;
mod directory;
#[allow(unsafe_code, reason = "libraries of C are called")]
mod engines;
mod folders;
mod founding;
mod limits;
mod machine;
mod measure;
mod memcache;
mod names;
mod replication;
mod report;
mod results;
mod rounds;
mod shared;
mod store;
mod targets;
mod workload;

use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use clap::{Args, Parser, Subcommand};

use action::Child;
use engines::Engine;
use results::{Piece, Results};
use rounds::Plan;
use store::Setup;
use workload::{Tier, Workload, table};

/// Measures Fulgurite next to its peers.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Measures key/value stores.
    Engine(EngineArguments),
    /// Measures LDAP servers.
    Directory(DirectoryArguments),
    /// Measures replication: ours among ours next to slapd among slapd.
    Replication(replication::ReplicationArguments),
    /// Measures a cluster: next to etcd, a single server, and slapd's providers.
    Cluster(cluster::ClusterArguments),
    /// Measures again what the papers on LMDB and back-mdb measured.
    Founding(FoundingArguments),
    /// Counts instructions of operations.
    Count(CountArguments),
    /// Counts instructions of our server's operations.
    CountServer(CountServerArguments),
    /// Names of workloads and engines.
    List,
    /// Measures what the machine allows: memory, kernel, disk, sockets.
    Limits {
        /// A folder in memory.
        #[arg(long, default_value = "/dev/shm")]
        memory: PathBuf,
        /// A folder on a disk.
        #[arg(long, default_value = "build/bench")]
        disk: PathBuf,
        /// Where the report goes.
        #[arg(long, default_value = "build/bench")]
        out: PathBuf,
    },
    /// Counts stores of readers to memory that they share.
    Shared {
        /// Another build of our C library.
        #[arg(long)]
        ours: Option<PathBuf>,
        /// Fails if ours have any.
        #[arg(long)]
        check: bool,
        /// Where the report goes.
        #[arg(long, default_value = "build/bench")]
        out: PathBuf,
    },
    /// Makes one report of everything that was measured: report.md and report.html. The page of the
    /// founding tables is made again, if the folder has parts of it.
    Report {
        /// The folder that has the runs' JSON, and gets the report.
        #[arg(default_value = "build/bench")]
        folder: PathBuf,
        /// Prints the table of what was asked and measured, and writes nothing.
        #[arg(long)]
        summary: bool,
    },
    /// Plays one part; what the others start.
    #[command(hide = true)]
    Play(PlayArguments),
    /// Serves a store with memcached's protocol; what the founding tables ask.
    #[command(hide = true)]
    Memcache(MemcacheArguments),
}

#[derive(Debug, Args)]
struct EngineArguments {
    /// These workloads only; a name that ends with - selects all that begin so.
    #[arg(long)]
    only: Vec<String>,
    /// These engines only.
    #[arg(long)]
    with: Vec<String>,
    /// How often each of ours and the original is run; the others take part in every third round.
    #[arg(long, default_value_t = 5)]
    rounds: u64,
    /// Divides all sizes.
    #[arg(long, default_value_t = 1)]
    scale: u64,
    /// All workloads, not only those of the short run.
    #[arg(long)]
    full: bool,
    /// A folder in memory.
    #[arg(long, default_value = "/dev/shm")]
    memory: PathBuf,
    /// A folder on a disk.
    #[arg(long, default_value = "build/bench")]
    disk: PathBuf,
    /// Another build of our C library.
    #[arg(long)]
    ours: Option<PathBuf>,
    /// Where the report goes.
    #[arg(long, default_value = "build/bench")]
    out: PathBuf,
}

#[derive(Debug, Args)]
struct DirectoryArguments {
    /// How many people there are.
    #[arg(long, default_value_t = 100_000)]
    people: u64,
    /// The people in the directory.
    #[arg(long, value_enum, default_value_t = directory::DataSet::People)]
    data: directory::DataSet,
    /// Seed of what is asked for; without it, another one each time. The report names it.
    #[arg(long)]
    seed: Option<u64>,
    /// These rows only.
    #[arg(long)]
    only: Vec<String>,
    /// How often everything is done.
    #[arg(long, default_value_t = 3)]
    rounds: u64,
    /// All rows, not only those of the short run.
    #[arg(long)]
    full: bool,
    /// A question ends after this many seconds, with the answers until then. After three times as
    /// long its figure is missing.
    #[arg(long, default_value_t = 60)]
    limit: u64,
    /// These servers only.
    #[arg(long)]
    with: Vec<String>,
    /// A folder in memory.
    #[arg(long, default_value = "/dev/shm")]
    memory: PathBuf,
    /// A folder on a disk.
    #[arg(long, default_value = "build/bench")]
    disk: PathBuf,
    /// Where the report goes.
    #[arg(long, default_value = "build/bench")]
    out: PathBuf,
}

#[derive(Debug, Args)]
struct FoundingArguments {
    /// The amount of work.
    #[arg(long, value_enum, default_value_t = founding::Size::Short)]
    size: founding::Size,
    /// These parts only: engine, environment, file-systems, people, unstamped, logged,
    /// accounts, databases, memcache, instructions. The page keeps the others.
    #[arg(long)]
    only: Vec<String>,
    /// How many people there are, in place of the size's number.
    #[arg(long)]
    people: Option<u64>,
    /// How often everything is done.
    #[arg(long, default_value_t = 1)]
    rounds: u64,
    /// Seed of what is asked for; without it, another one each time.
    #[arg(long)]
    seed: Option<u64>,
    /// A folder in memory.
    #[arg(long, default_value = "/dev/shm")]
    memory: PathBuf,
    /// A folder on a disk.
    #[arg(long, default_value = "build/bench")]
    disk: PathBuf,
    /// Where the page goes.
    #[arg(long, default_value = "build/bench/founding")]
    out: PathBuf,
}

#[derive(Debug, Args)]
struct CountArguments {
    /// These workloads only.
    #[arg(long)]
    only: Vec<String>,
    /// Divides all sizes.
    #[arg(long, default_value_t = count::SCALE)]
    scale: u64,
    /// A folder in memory.
    #[arg(long, default_value = "/dev/shm")]
    memory: PathBuf,
    /// Another build of our C library.
    #[arg(long)]
    ours: Option<PathBuf>,
    /// Compares our C library's counts with the bounds in this file, in place of showing a table.
    #[arg(long)]
    check: Option<PathBuf>,
    /// Writes them there.
    #[arg(long, conflicts_with = "check")]
    update: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct CountServerArguments {
    /// The server's program; several are shown side by side.
    #[arg(long, default_value = "target/release/fulgurite")]
    server: Vec<PathBuf>,
    /// These operations only.
    #[arg(long)]
    only: Vec<String>,
    /// A folder in memory.
    #[arg(long, default_value = "/dev/shm")]
    memory: PathBuf,
    /// Keeps callgrind's files there, for callgrind_annotate: three for each operation.
    #[arg(long)]
    keep: Option<PathBuf>,
    /// Compares the counts with the bounds in this file, in place of showing a table.
    #[arg(long)]
    check: Option<PathBuf>,
    /// Writes them there.
    #[arg(long, conflicts_with = "check")]
    update: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct PlayArguments {
    #[arg(long)]
    engine: String,
    /// Not for what is compiled in.
    #[arg(long)]
    library: Option<PathBuf>,
    #[arg(long)]
    workload: String,
    #[arg(long)]
    scale: u64,
    #[arg(long)]
    seed: u64,
    #[arg(long)]
    folder: PathBuf,
    #[arg(long)]
    copy: PathBuf,
    #[arg(long)]
    prepare: bool,
    #[arg(long)]
    trace: bool,
}

#[derive(Debug, Args)]
struct MemcacheArguments {
    #[arg(long)]
    engine: String,
    /// Not for what is compiled in.
    #[arg(long)]
    library: Option<PathBuf>,
    #[arg(long)]
    folder: PathBuf,
    #[arg(long)]
    connections: u64,
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Task::Engine(arguments) => measure_engine(arguments),
        Task::Directory(arguments) => measure_directory(arguments),
        Task::Cluster(arguments) => cluster::run(&arguments),
        Task::Replication(arguments) => replication::run(&arguments),
        Task::Founding(arguments) => measure_founding(arguments),
        Task::Count(arguments) => count_instructions(arguments),
        Task::CountServer(arguments) => count_server(&arguments),
        Task::List => {
            names::print(&table());
            Ok(())
        }
        Task::Limits { memory, disk, out } => measure_limits(&memory, &disk, &out),
        Task::Shared { ours, check, out } => count_shared(ours, check, &out),
        Task::Report { folder, summary } => {
            report::whole(&folder, summary)?;
            if summary {
                return Ok(());
            }
            founding::rewrite(&std::env::current_dir()?, &folder)
        }
        Task::Play(arguments) => play(arguments),
        Task::Memcache(arguments) => serve_memcache(arguments),
    }
}

fn measure_engine(arguments: EngineArguments) -> anyhow::Result<()> {
    let selected = |workload: &Workload| {
        let tier = if arguments.full {
            Tier::Full
        } else {
            Tier::Short
        };
        if arguments.only.is_empty() {
            return workload.tier <= tier;
        }
        arguments.only.iter().any(|name| {
            *name == workload.name || name.ends_with('-') && workload.name.starts_with(name)
        })
    };
    let workloads: Vec<Workload> = table()
        .into_iter()
        .filter(selected)
        .map(|workload| workload.scaled(arguments.scale))
        .collect();
    ensure!(
        !workloads.is_empty(),
        "there is no such workload; `compare list` names all"
    );
    for name in &arguments.with {
        ensure!(
            Engine::named(name).is_some(),
            "there is no engine {name}; `compare list` names all"
        );
    }
    let project = std::env::current_dir()?;
    let circumstances = machine::circumstances(&project, &arguments.memory, &project);
    let plan = Plan {
        project,
        workloads,
        engines: arguments.with,
        rounds: arguments.rounds.max(1),
        scale: arguments.scale,
        memory: arguments.memory,
        disk: arguments.disk,
        ours: arguments.ours,
    };
    finish(rounds::run(&plan)?, circumstances, &arguments.out)
}

fn measure_directory(arguments: DirectoryArguments) -> anyhow::Result<()> {
    let project = std::env::current_dir()?;
    ensure!(
        directory::is_there(),
        "the load generator is missing; `scripts/bench.sh directory` builds it"
    );
    let circumstances = machine::circumstances(&project, &arguments.memory, &project);
    let plan = directory::Plan {
        project,
        people: arguments.people,
        data: arguments.data,
        seed: arguments.seed.unwrap_or_else(fresh_seed),
        rounds: arguments.rounds.max(1),
        scale: 1,
        full: arguments.full,
        with: arguments.with,
        limit: arguments.limit,
        partial: &[],
        only: arguments.only,
        memory: arguments.memory,
        disk: arguments.disk,
    };
    finish(directory::run(&plan)?, circumstances, &arguments.out)
}

fn measure_founding(arguments: FoundingArguments) -> anyhow::Result<()> {
    let project = std::env::current_dir()?;
    ensure!(
        directory::is_there(),
        "the load generator is missing; `scripts/bench.sh founding` builds it"
    );
    let plan = founding::Plan {
        project,
        size: arguments.size,
        only: arguments.only,
        people: arguments.people,
        rounds: arguments.rounds.max(1),
        seed: arguments.seed.unwrap_or_else(fresh_seed),
        memory: arguments.memory,
        disk: arguments.disk,
        out: arguments.out,
    };
    founding::run(&plan)
}

/// A short number from the clock, to be given again.
fn fresh_seed() -> u64 {
    let now = std::time::SystemTime::now();
    let since = now.duration_since(std::time::UNIX_EPOCH);
    since.map_or(1, |since| since.as_secs() % 1_000_000)
}

/// Writes the report; faults in it are a failure.
fn finish(
    mut results: Results,
    circumstances: Vec<(String, String)>,
    out: &std::path::Path,
) -> anyhow::Result<()> {
    results.circumstances.splice(0..0, circumstances);
    let faults: usize = results.rows.iter().map(|row| row.faults.len()).sum();
    report::write_piece(&Piece::Run(results), out)?;
    ensure!(
        faults == 0,
        "{faults} faults, listed in the report: a figure of wrong answers is none"
    );
    Ok(())
}

fn measure_limits(
    memory: &std::path::Path,
    disk: &std::path::Path,
    out: &std::path::Path,
) -> anyhow::Result<()> {
    let project = std::env::current_dir()?;
    let circumstances = machine::circumstances(&project, memory, &project);
    let lines = limits::measure(memory, disk)?;
    let limits = limits::Limits {
        circumstances,
        lines,
    };
    report::write_piece(&Piece::Limits(limits), out)
}

fn count_shared(ours: Option<PathBuf>, check: bool, out: &std::path::Path) -> anyhow::Result<()> {
    if !count::can_count() {
        println!("shared stores are not counted: there is no valgrind");
        return Ok(());
    }
    let project = std::env::current_dir()?;
    let workload = table()
        .into_iter()
        .find(|workload| workload.name == "get")
        .context("no such workload")?
        .scaled(count::SCALE);
    let counting = count::Counting {
        project,
        workloads: vec![workload],
        scale: count::SCALE,
        memory: PathBuf::from("/dev/shm"),
        ours,
    };
    let names = if check {
        engines::OURS.to_vec()
    } else {
        [engines::OURS.as_slice(), &[engines::REFERENCE]].concat()
    };
    let mut lines = Vec::new();
    for name in names {
        let engine = Engine::named(name).context("no such engine")?;
        lines.push(counting.shared(engine)?);
    }
    let of_ours: u64 = lines
        .iter()
        .take(engines::OURS.len())
        .map(|line| line.shared_stores)
        .sum();
    if !check {
        return report::write_piece(&Piece::Shared(lines), out);
    }
    ensure!(
        of_ours == 0,
        "readers store {of_ours} times to what other readers touch: {lines:?}"
    );
    println!("shared stores: none");
    Ok(())
}

fn count_instructions(arguments: CountArguments) -> anyhow::Result<()> {
    let selected = |workload: &Workload| match arguments.only.as_slice() {
        [] => count::is_counted(workload),
        only => only.contains(&workload.name),
    };
    let counting = count::Counting {
        project: std::env::current_dir()?,
        workloads: table()
            .into_iter()
            .filter(selected)
            .map(|workload| workload.scaled(arguments.scale))
            .collect(),
        scale: arguments.scale,
        memory: arguments.memory,
        ours: arguments.ours,
    };
    if !count::can_count() {
        println!("instructions are not counted: there is no valgrind");
        println!(
            "counts: 0 passed, 0 failed, {} skipped",
            counting.workloads.len()
        );
        return Ok(());
    }
    match (arguments.check, arguments.update) {
        (Some(bounds), _) => report::check_counts(&count_ours(&counting)?, &bounds),
        (_, Some(bounds)) => {
            let text = count::write_bounds(count::OF_LIBRARY, &count_ours(&counting)?);
            Ok(std::fs::write(bounds, text)?)
        }
        _ => report::show_counts(&counting),
    }
}

fn count_ours(counting: &count::Counting) -> anyhow::Result<Vec<count::Count>> {
    counting.count(Engine::named("fulgurite-c").context("no such engine")?)
}

fn count_server(arguments: &CountServerArguments) -> anyhow::Result<()> {
    if !count::can_count() {
        let skipped = directory::instructions::questions();
        println!("instructions of the server are not counted: there is no valgrind");
        println!("counts: 0 passed, 0 failed, {skipped} skipped");
        return Ok(());
    }
    let builds = arguments.server.iter().enumerate().map(|(number, server)| {
        let counting = directory::instructions::ServerCounting {
            server: server.clone(),
            only: arguments.only.clone(),
            memory: arguments.memory.clone(),
            keep: arguments
                .keep
                .as_ref()
                .map(|keep| keep.join(number.to_string())),
        };
        let counts = counting
            .count()
            .with_context(|| server.display().to_string())?;
        Ok((server.display().to_string(), counts))
    });
    let builds = builds.collect::<anyhow::Result<Vec<_>>>()?;
    let (_, counts) = builds.first().context("no server")?;
    match (&arguments.check, &arguments.update) {
        (Some(bounds), _) => report::check_counts(counts, bounds),
        (_, Some(bounds)) => Ok(std::fs::write(
            bounds,
            count::write_bounds(count::OF_SERVER, counts),
        )?),
        _ => {
            report::show_server_counts(&builds);
            Ok(())
        }
    }
}

fn serve_memcache(arguments: MemcacheArguments) -> anyhow::Result<()> {
    let engine = Engine::named(&arguments.engine).context("no such engine")?;
    engine.run(&memcache::Front {
        setup: Setup {
            folder: arguments.folder,
            library: arguments.library.unwrap_or_default(),
            durability: store::Durability::Asynchronous,
            duplicates: false,
        },
        connections: arguments.connections,
        one_writer: !engine.has_writers(),
    })
}

fn play(arguments: PlayArguments) -> anyhow::Result<()> {
    let engine = Engine::named(&arguments.engine).context("no such engine")?;
    let workload = table()
        .into_iter()
        .find(|workload| workload.name == arguments.workload)
        .context("no such workload")?
        .scaled(arguments.scale);
    let durability = if arguments.prepare {
        store::Durability::Asynchronous
    } else {
        workload.durability
    };
    let outcome = engine.run(&Child {
        workload: &workload,
        setup: Setup {
            folder: arguments.folder,
            library: arguments.library.unwrap_or_default(),
            durability,
            duplicates: workload.has_duplicates(),
        },
        seed: arguments.seed,
        prepare: arguments.prepare,
        trace: arguments.trace,
        copy: arguments.copy,
    })?;
    println!("{}", serde_json::to_string(&outcome)?);
    Ok(())
}
