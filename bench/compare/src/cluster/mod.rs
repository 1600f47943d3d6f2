//! A cluster of three nodes on three members of etcd.
//!
//! ```text
//!   load -> join -> updates, in turn with etcd's puts -> reads, in turn with a single server
//!        -> kills of the sequencer -> kills of each node, and of slapd's providers
//!        -> updates of nodes with checkpoints, and of nodes in memory
//! ```
//!
//! All processes share the machine and its disk. So ratios come from runs in turn, and times are
//! those of this machine.

mod clients;
mod kills;
mod node;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use fulgurite_client::ResultCode;
use fulgurite_testkit::Etcd;
use serde_json::Value;

use crate::directory::{DataSet, free_port};
use crate::folders::Folders;
use crate::replication::node as peers;
use crate::workload::Medium;
use clients::{Measured, describe, measure, percentile, puts, updates};
use kills::{Fate, Trio};
use node::{Node, SUFFIX};

/// The amounts of a run.
#[derive(Debug, clap::Args)]
pub(crate) struct ClusterArguments {
    /// How many people there are. 1,000,000 for the long run.
    #[arg(long, default_value_t = 100_000)]
    pub(crate) people: u64,
    /// Seconds of each run.
    #[arg(long, default_value_t = 5)]
    pub(crate) seconds: u64,
    /// Runs of each kind, in turn.
    #[arg(long, default_value_t = 3)]
    pub(crate) rounds: usize,
    /// Kills of each kind.
    #[arg(long, default_value_t = 9)]
    pub(crate) kills: usize,
    /// Lost disks of each kind, next to the kills.
    #[arg(long, default_value_t = 3)]
    pub(crate) lost_disks: usize,
    /// The time between two checkpoints.
    #[arg(long, default_value = "30s")]
    pub(crate) checkpoint_every: String,
    /// These parts only: join, updates, reads, failover, kills, checkpoints, memory, slapd,
    /// slapd-log.
    #[arg(long)]
    pub(crate) with: Vec<String>,
    /// Our program.
    #[arg(long, default_value = "target/release/fulgurite")]
    pub(crate) program: PathBuf,
    /// A folder on a disk.
    #[arg(long, default_value = "build/bench")]
    pub(crate) disk: PathBuf,
    /// A folder in memory.
    #[arg(long, default_value = "/dev/shm")]
    pub(crate) memory: PathBuf,
    /// Where the report goes.
    #[arg(long, default_value = "build/bench")]
    pub(crate) out: PathBuf,
}

/// The parts whose nodes have their stores on the disk.
const ON_DISK: [&str; 6] = [
    "join",
    "updates",
    "reads",
    "failover",
    "kills",
    "checkpoints",
];

/// All other parts.
const OTHERS: [&str; 3] = ["memory", "slapd", "slapd-log"];

/// Clients of the rows of updates.
const CLIENTS: [usize; 3] = [1, 16, 64];
/// Connections of readers.
const READERS: &str = "4";

struct Run<'a> {
    arguments: &'a ClusterArguments,
    folders: Folders,
    rows: Vec<(String, String)>,
}

/// Measures a cluster, and writes the table.
/// # Errors
/// Programs that are not there, and servers that do not answer.
pub(crate) fn run(arguments: &ClusterArguments) -> anyhow::Result<()> {
    let known = |name: &String| ON_DISK.iter().chain(&OTHERS).any(|part| part == name);
    ensure!(arguments.with.iter().all(known), "--with names a part");
    ensure!(arguments.program.exists(), "there is no program of ours");
    let project = std::env::current_dir()?;
    let folders = Folders::new(&arguments.memory, &arguments.disk)?;
    let mut circumstances =
        crate::machine::circumstances(&project, &arguments.memory, &arguments.disk);
    circumstances.push(("etcd".to_owned(), etcd_version()?));
    let slapd = crate::machine::server_version("slapd", &project);
    circumstances.push(("slapd".to_owned(), slapd));
    let mut run = Run {
        arguments,
        folders,
        rows: Vec::new(),
    };
    run.ours()?;
    for (part, with_log) in [("slapd", false), ("slapd-log", true)] {
        if run.wants(part) {
            run.slapd(&project, with_log)?;
        }
    }
    let mut text = String::from("# Cluster\n\n");
    for (name, value) in &circumstances {
        let _ = writeln!(text, "- {name}: {value}");
    }
    text += "\n| | |\n| --- | ---: |\n";
    for (name, value) in &run.rows {
        let _ = writeln!(text, "| {name} | {value} |");
    }
    fs::create_dir_all(&arguments.out)?;
    fs::write(arguments.out.join("cluster.md"), &text)?;
    println!("{text}");
    Ok(())
}

fn etcd_version() -> anyhow::Result<String> {
    let output = Etcd::program("etcd").arg("--version").output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().next().context("etcd names its version")?;
    Ok(line.replace("etcd Version: ", ""))
}

/// Returns the one in the middle.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// Returns the medians of several runs: the rate, and the two times.
fn middle_of(runs: &[Measured]) -> String {
    let middle = |of: fn(&Measured) -> f64| median(runs.iter().map(of).collect());
    format!(
        "{:.0} /s, {:.1} and {:.1} ms",
        middle(|run| run.rate),
        middle(|run| milliseconds(run.p50)),
        middle(|run| milliseconds(run.p99)),
    )
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

impl Run<'_> {
    fn wants(&self, part: &str) -> bool {
        let with = &self.arguments.with;
        with.is_empty() || with.iter().any(|name| name == part)
    }

    fn put(&mut self, row: impl Into<String>, value: String) {
        let row = row.into();
        println!("{row}: {value}");
        self.rows.push((row, value));
    }

    fn node(&mut self, medium: Medium) -> anyhow::Result<Node> {
        Node::new(&self.arguments.program, self.folders.fresh(medium)?)
    }

    /// Measures three nodes of ours.
    fn ours(&mut self) -> anyhow::Result<()> {
        let (on_disk, in_memory) = (
            ON_DISK.iter().any(|part| self.wants(part)),
            self.wants("memory"),
        );
        if !on_disk && !in_memory {
            return Ok(());
        }
        let people = self.arguments.people;
        let ldif = self.folders.fresh(Medium::Disk)?.join("people.ldif");
        DataSet::People.write(people, &mut BufWriter::new(File::create(&ldif)?))?;
        if on_disk {
            self.on_disk(&ldif)?;
        }
        if in_memory {
            let etcd = Etcd::plain(3, &[]);
            let nodes = self.three(&etcd, &ldif, Medium::Memory)?;
            self.updates("stores in memory", &nodes, &etcd)?;
        }
        Ok(())
    }

    fn on_disk(&mut self, ldif: &Path) -> anyhow::Result<()> {
        let etcd = Etcd::plain(3, &[]);
        let mut nodes = self.three(&etcd, ldif, Medium::Disk)?;
        if self.wants("updates") {
            self.updates("a flush of each batch", &nodes, &etcd)?;
        }
        if self.wants("reads") {
            self.reads(&nodes, ldif)?;
        }
        if self.wants("failover") {
            self.failover(&mut nodes)?;
        }
        if self.wants("kills") {
            self.losses("Fulgurite, three nodes", &mut nodes)?;
        }
        if self.wants("checkpoints") {
            for node in &mut nodes {
                node.kill()?;
                node.make_checkpoints(&self.arguments.checkpoint_every)?;
            }
            for node in &mut nodes {
                node.start()?;
            }
            // The lease of the sequencer that was killed has to end.
            for node in &nodes {
                updates(node.connect()?, 0, self.arguments.people)()?;
            }
            let kind = format!("a checkpoint every {}", self.arguments.checkpoint_every);
            self.updates(&kind, &nodes, &etcd)?;
        }
        Ok(())
    }

    /// Makes a cluster of three nodes.
    fn three(&mut self, etcd: &Etcd, ldif: &Path, medium: Medium) -> anyhow::Result<[Node; 3]> {
        let people = self.arguments.people;
        let mut nodes = [self.node(medium)?, self.node(medium)?, self.node(medium)?];
        nodes[0].load(ldif)?;
        nodes[0].init(&etcd.urls)?;
        nodes[0].start()?;
        for number in 1..3 {
            let begun = Instant::now();
            let (first, others) = nodes.split_at_mut(1);
            let other = &mut others[number - 1];
            first[0].admit(other)?;
            other.start()?;
            if medium == Medium::Disk {
                let row = format!("join of {people} people until ready, node {}", number + 1);
                self.put(row, format!("{:.2} s", begun.elapsed().as_secs_f64()));
            }
        }
        Ok(nodes)
    }

    /// Measures updates, in turn with puts into the same etcd. `kind` tells how nodes keep them.
    fn updates(&mut self, kind: &str, nodes: &[Node; 3], etcd: &Etcd) -> anyhow::Result<()> {
        let time = Duration::from_secs(self.arguments.seconds);
        let people = self.arguments.people;
        for count in CLIENTS {
            let mut pairs: Vec<(Measured, Measured)> = Vec::new();
            for _ in 0..self.arguments.rounds {
                let ours = measure(count, time, |number| {
                    Ok(updates(nodes[number % 3].connect()?, number, people))
                })?;
                let theirs = measure(count, time, |number| puts(&etcd.urls[number % 3], number))?;
                println!("{kind}, {count} clients: {ours:?} {theirs:?}");
                pairs.push((ours, theirs));
            }
            let row = |what: &str| format!("{kind}, clients: {count}, {what}");
            let (ours, theirs): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
            self.put(row("updates, median and p99"), middle_of(&ours));
            self.put(row("puts into the same etcd"), middle_of(&theirs));
            let ratios = pairs.iter().map(|(ours, theirs)| ours.rate / theirs.rate);
            let text = format!("{:.2}", median(ratios.collect()));
            self.put(row("ratio of the rates"), text);
        }
        Ok(())
    }

    /// Reads at a node that follows, in turn with a single server of the same data.
    fn reads(&mut self, nodes: &[Node; 3], ldif: &Path) -> anyhow::Result<()> {
        let mut single = self.node(Medium::Disk)?;
        single.load(ldif)?;
        single.start()?;
        let follower = nodes.iter().find(|node| !node.leads());
        let follower = follower.context("a node follows")?;
        let (mut by_time, mut by_cpu, mut rates) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..2 * self.arguments.rounds {
            let (node, alone) = if round % 2 == 0 {
                let node = self.read(follower, ldif)?;
                (node, self.read(&single, ldif)?)
            } else {
                let alone = self.read(&single, ldif)?;
                (self.read(follower, ldif)?, alone)
            };
            println!("reads: {node:?} {alone:?}");
            by_time.push(node.0 / alone.0);
            by_cpu.push(node.1 / alone.1);
            rates.push((node.0, alone.0));
        }
        let of = |of: fn(&(f64, f64)) -> f64| median(rates.iter().map(of).collect());
        let text = format!("{:.0} /s", of(|pair| pair.0));
        self.put("reads at a node that follows", text);
        let text = format!("{:.0} /s", of(|pair| pair.1));
        self.put("reads at a single server", text);
        self.put(
            "ratio of these, median of pairs",
            format!("{:.3}", median(by_time)),
        );
        let row = "ratio of reads in a second of processor time";
        self.put(row, format!("{:.3}", median(by_cpu)));
        Ok(())
    }

    /// Returns reads in a second, and in a second of processor time.
    fn read(&self, node: &Node, ldif: &Path) -> anyhow::Result<(f64, f64)> {
        let program = std::env::current_exe()?.with_file_name("fulgurite-bench");
        let mut command = Command::new(program);
        command.args(["uid", "--json", "--base", SUFFIX, "--connections", READERS]);
        command.args(["--requests", "100000000", "--seconds"]);
        command.arg(self.arguments.seconds.to_string());
        command.args(["--server", &format!("127.0.0.1:{}", node.port)]);
        command.args(["--server-pid", &node.pid()?.to_string(), "--ldif"]);
        let output = command.arg(ldif).output()?;
        let text = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "the load generator: {text}");
        let answer: Value = serde_json::from_slice(&output.stdout)?;
        let of = |name: &str| answer[name].as_f64().context("a figure");
        ensure!(of("errors")? == 0.0 && of("wrong")? == 0.0, "{answer}");
        let requests = of("requests")?;
        let (wall, cpu) = (of("wall_us")? / 1e6, of("server_cpu_us")? / 1e6);
        Ok((requests / wall, requests / cpu))
    }

    /// Kills the sequencer again and again, while a client of another node writes.
    fn failover(&mut self, nodes: &mut [Node; 3]) -> anyhow::Result<()> {
        let mut pauses = Vec::new();
        for _ in 0..self.arguments.kills {
            let leader = nodes.iter().position(Node::leads);
            let leader = leader.context("no node leads")?;
            let mut client = nodes[(leader + 1) % 3].connect()?;
            let is_over = AtomicBool::new(false);
            let (killed, answers) = thread::scope(|scope| {
                let is_over = &is_over;
                let writer = scope.spawn(move || {
                    let mut answers = Vec::new();
                    for step in 0_u64.. {
                        if is_over.load(Ordering::Relaxed) {
                            break;
                        }
                        let text = format!("step {step}");
                        if describe(&mut client, step % 1_000, &text)? == ResultCode::Success {
                            answers.push(Instant::now());
                        } else {
                            thread::sleep(Duration::from_millis(5));
                        }
                    }
                    anyhow::Ok(answers)
                });
                thread::sleep(Duration::from_secs(1));
                let killed = nodes[leader].kill().map(|()| Instant::now());
                // Longer than a lease, and than the wait for an unknown outcome.
                thread::sleep(Duration::from_secs(16));
                is_over.store(true, Ordering::Relaxed);
                match writer.join() {
                    Ok(answers) => (killed, answers),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            });
            let (killed, answers) = (killed?, answers?);
            let before = answers.iter().rposition(|at| *at < killed).unwrap_or(0);
            let gaps = answers[before..].windows(2).map(|pair| pair[1] - pair[0]);
            pauses.push(gaps.max().context("no update after the kill")?);
            println!("pause: {:?}", pauses.last());
            nodes[leader].start()?;
        }
        pauses.sort_unstable();
        let text = format!(
            "{:.1} and {:.1} s",
            percentile(&pauses, 50).as_secs_f64(),
            percentile(&pauses, 99).as_secs_f64()
        );
        let row = format!(
            "pause of a client of another node when the sequencer is killed, median and most of {}",
            pauses.len()
        );
        self.put(row, text);
        Ok(())
    }

    /// Kills providers of slapd as the nodes of ours.
    fn slapd(&mut self, project: &Path, with_log: bool) -> anyhow::Result<()> {
        let ports = [free_port()?, free_port()?, free_port()?];
        let ldif = self.folders.fresh(Medium::Disk)?.join("top.ldif");
        let mut file = File::create(&ldif)?;
        writeln!(
            file,
            "dn: {SUFFIX}\nobjectClass: organization\nobjectClass: dcObject\no: x\ndc: example\n"
        )?;
        let mut servers = Vec::new();
        for number in 0..3 {
            let make = (
                peers::Make::Slapd,
                peers::Role::Peer(number, ports, with_log),
            );
            let programs = (self.arguments.program.as_path(), project);
            let folder = self.folders.fresh(Medium::Disk)?;
            servers.push(peers::Node::new(make, programs, folder, true)?);
        }
        servers[0].load(&ldif)?;
        for server in &mut servers {
            server.start()?;
        }
        for server in &servers[1..] {
            server.follow(&servers[0])?;
        }
        let servers: Result<[peers::Node; 3], _> = servers.try_into();
        let mut servers = servers.ok().context("three servers")?;
        let name = match with_log {
            true => "slapd, three providers with access logs",
            false => "slapd, three providers",
        };
        self.losses(name, &mut servers)
    }

    /// Counts the updates that are lost by kills, and by lost disks.
    fn losses(&mut self, name: &str, trio: &mut dyn Trio) -> anyhow::Result<()> {
        for (fate, count, what) in [
            (Fate::Killed, self.arguments.kills, "kills of a server"),
            (
                Fate::DiskLost,
                self.arguments.lost_disks,
                "lost disks of a server",
            ),
        ] {
            if count == 0 {
                continue;
            }
            let losses = kills::losses(trio, count, fate)?;
            let text = format!(
                "{} of {} while it was away, {} once it was back, {} at all servers",
                losses.without, losses.acknowledged, losses.after, losses.gone
            );
            let row =
                format!("acknowledged updates that a server lacks after {count} {what}: {name}");
            self.put(row, text);
        }
        Ok(())
    }
}
