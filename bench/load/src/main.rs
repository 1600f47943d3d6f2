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
mod options;
mod pieces;
mod process;
mod records;
mod report;
mod request;
mod run;
mod targets;
mod workload;

use anyhow::Context as _;
use clap::Parser;

use options::Arguments;
use report::Report;
use targets::Targets;
use workload::Workload;

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let targets = match &arguments.ldif {
        Some(path) => {
            Targets::read(path).with_context(|| format!("cannot read {}", path.display()))?
        }
        None => Targets::default(),
    };
    let workload = Workload::new(&arguments, targets)?;
    if arguments.show {
        println!("{}", workload.filter_text(0).unwrap_or_default());
        return Ok(());
    }
    let cpu_before = arguments.server_pid.map(process::cpu_time).transpose()?;
    let run = run::run(&arguments, &workload)?;
    let cpu_after = arguments.server_pid.map(process::cpu_time).transpose()?;
    let server_cpu = cpu_before
        .zip(cpu_after)
        .map(|(before, after)| after.saturating_sub(before));
    let report = Report::new(run, server_cpu, workload.rejected());
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
