//! The load generator as a process, and its figures.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, bail, ensure};
use serde::Deserialize;

use super::contender::Make;
use super::patience::{self, Patience};
use super::people;
use super::plan::Plan;
use super::server::{Installed, on_core};
use super::table::Question;
use crate::measure::{Latencies, Outcome};

/// The output of the load generator.
#[derive(Debug, Deserialize)]
struct Answered {
    requests: u64,
    entries: u64,
    errors: u64,
    wrong: u64,
    wall_us: u64,
    p50_us: u64,
    p99_us: u64,
    max_us: u64,
    server_cpu_us: Option<u64>,
}

/// The load generator, next to this program.
pub(super) fn program() -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    own.with_file_name("fulgurite-bench")
}

/// The load generator of a run, and the people that it asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Generator<'r> {
    pub(super) plan: &'r Plan,
    pub(super) ldif: &'r Path,
}

impl Generator<'_> {
    /// Returns the command that asks one server one kind of question.
    pub(super) fn command(self, server: &Installed, question: &Question, round: u64) -> Command {
        let mut command = Command::new(program());
        command.arg(question.kind).arg("--json");
        let mut set = |name: &str, value: String| {
            command.arg(name).arg(value);
        };
        set("--server", format!("127.0.0.1:{}", server.port));
        set("--base", self.plan.data.suffix().to_owned());
        set("--ldif", self.ldif.display().to_string());
        set("--connections", question.connections.to_string());
        set("--depth", question.depth.to_string());
        set("--requests", self.plan.requests(question).to_string());
        if question.may_end_early() {
            set("--seconds", self.plan.patience().seconds.to_string());
        }
        set("--seed", (self.plan.seed + round).to_string());
        if let Some(pid) = server.pid() {
            set("--server-pid", pid.to_string());
        }
        if let Some((filter, expected)) = question.filter {
            set("--filter", filter.to_owned());
            set(
                "--expect-entries",
                expected(self.plan.data, self.plan.people).to_string(),
            );
        }
        if question.kind == "bind" {
            set("--password", people::PASSWORD.to_owned());
        } else if question.as_root {
            set("--bind-dn", people::ROOT_DN.to_owned());
            set("--password", people::ROOT_PASSWORD.to_owned());
        }
        if server.make() == Make::Echo {
            command.arg("--unchecked");
        }
        on_core(1, &command)
    }

    /// Returns the plan of a question's first search, in the words of `fulgurite explain`.
    pub(super) fn plan_of(self, server: &Installed, question: &Question) -> Option<String> {
        let mut generator = self.command(server, question, 0);
        let output = generator
            .arg("--show")
            .stdout(Stdio::piped())
            .output()
            .ok()?;
        let filter = String::from_utf8(output.stdout).ok()?;
        let filter = filter.trim();
        let text = server.explain(filter).filter(|_| !filter.is_empty())?;
        let line = text
            .lines()
            .find_map(|line| line.trim().strip_prefix("plan: "))?;
        Some(format!("`{filter}`: {line}"))
    }
}

pub(super) fn start(command: &mut Command) -> anyhow::Result<Child> {
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().context("cannot start the load generator")
}

/// Returns the load generator's figures, if all answers were right.
/// # Errors
/// Fails with [`patience::Late`] if the server has not answered in time, and with other errors if
/// an answer was wrong.
pub(super) fn answer(
    mut generator: Child,
    make: Make,
    patience: Patience,
) -> anyhow::Result<Outcome> {
    patience::wait(&mut generator, "answered", patience.answer)?;
    let output = generator.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let answered: Answered =
        serde_json::from_str(text.trim()).context("the load generator's answer")?;
    let is_checked = make != Make::Echo;
    if is_checked {
        ensure!(
            answered.errors == 0 && answered.wrong == 0,
            "{} errors and {} wrong answers in {}",
            answered.errors,
            answered.wrong,
            answered.requests
        );
    }
    Ok(Outcome {
        operations: answered.requests,
        wall_ns: answered.wall_us * 1000,
        cpu_ns: answered
            .server_cpu_us
            .context("no CPU time of the server")?
            * 1000,
        digest: answered.entries,
        latencies: Some(Latencies {
            p50_ns: answered.p50_us * 1000,
            p99_ns: answered.p99_us * 1000,
            max_ns: answered.max_us * 1000,
        }),
        beside: 0,
        file_bytes: 0,
        errors: answered.errors,
        wrong: if is_checked { answered.wrong } else { 0 },
        version: String::new(),
    })
}
