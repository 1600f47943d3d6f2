//! Asks an LDAP server for something many times, checks every answer and tells how fast it was.
//!
//! ```text
//!   threads, each:   event loop -> connections -> slots, `depth` each: one outstanding request per slot
//! ```
//!
//! Works against any server, so that ours and others answer the very same requests. The questions
//! come from the loaded LDIF. An answer that does not fit it counts as wrong.

#![forbid(unsafe_code)]

mod connection;
mod process;
mod report;
mod request;
mod run;
mod targets;
mod workload;

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Parser;

use report::Report;
use targets::Targets;
use workload::{Kind, Workload};

/// Measures an LDAP server.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// The kind of question.
    #[arg(value_enum)]
    workload: Kind,
    /// The server, as address and port.
    #[arg(long, default_value = "127.0.0.1:3890")]
    server: String,
    /// The LDIF that was loaded; names and values of its entries with a uid are asked for.
    #[arg(long)]
    ldif: Option<PathBuf>,
    /// Where searches begin.
    #[arg(long, default_value = "dc=example,dc=org")]
    base: String,
    /// The filter of `scan`.
    #[arg(long, default_value = "(objectClass=*)")]
    filter: String,
    /// Entries that each `scan` has to return; whatever the first one returns, if not given.
    #[arg(long)]
    expect_entries: Option<u64>,
    /// Connections at once.
    #[arg(long, default_value_t = 4)]
    connections: usize,
    /// Requests outstanding on each connection.
    #[arg(long, default_value_t = 1)]
    depth: u32,
    /// Requests in all.
    #[arg(long, default_value_t = 100_000)]
    requests: u64,
    /// No new requests after this many seconds.
    #[arg(long)]
    seconds: Option<u64>,
    /// Answers are counted and not looked at: for servers that answer anything.
    #[arg(long)]
    unchecked: bool,
    /// The group that `group-add` adds members to.
    #[arg(long, default_value = "cn=big,ou=groups,dc=example,dc=com")]
    group: String,
    /// Prints the report as JSON.
    #[arg(long)]
    json: bool,
    /// Threads of the load generator.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Binds each connection as this DN first.
    #[arg(long, requires = "password")]
    bind_dn: Option<String>,
    /// Password for --bind-dn, and for the users of the workload `bind`. `{}` is the end of the
    /// uid, behind its last full stop.
    #[arg(long)]
    password: Option<String>,
    /// Process id of the server, to tell the CPU time it took.
    #[arg(long)]
    server_pid: Option<u32>,
    /// Begins the line of the report.
    #[arg(long, default_value = "")]
    label: String,
    /// Seed of the order in which entries are asked for.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let targets = match &arguments.ldif {
        Some(path) => {
            Targets::read(path).with_context(|| format!("cannot read {}", path.display()))?
        }
        None => Targets::default(),
    };
    let workload = Workload::new(&arguments, targets)?;
    let cpu_before = arguments.server_pid.map(process::cpu_time).transpose()?;
    let run = run::run(&arguments, &workload)?;
    let cpu_after = arguments.server_pid.map(process::cpu_time).transpose()?;
    let server_cpu = cpu_before
        .zip(cpu_after)
        .map(|(before, after)| after.saturating_sub(before));
    let report = Report::new(run, server_cpu);
    if arguments.json {
        println!("{}", report.json());
        return Ok(());
    }
    println!(
        "{}{:?} connections={} depth={} {report}",
        arguments.label, arguments.workload, arguments.connections, arguments.depth
    );
    anyhow::ensure!(report.is_clean(), "there were errors or wrong answers");
    Ok(())
}
