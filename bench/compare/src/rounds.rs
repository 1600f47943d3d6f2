//! The engine's half: every workload, engines in turn, each turn in a new process.
//!
//! ```text
//!   this process                                       a child
//!   for each workload
//!     templates, made once by each engine    ---->  play --prepare
//!     for each round, for each engine        ---->  play        opens, measures, verifies, prints one line of JSON
//!     digests compared, rounds kept
//! ```

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child as Process, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};

use crate::engines::{ENGINES, Engine, OURS, REFERENCE, library_folders};
use crate::folders::{Folders, bytes_in, copy_files};
use crate::measure::Outcome;
use crate::results::{Half, Missing, Played, Present, Results, Row};
use crate::targets;
use crate::workload::Workload;

/// The plan of a run.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) project: PathBuf,
    pub(crate) workloads: Vec<Workload>,
    /// None for everybody.
    pub(crate) engines: Vec<String>,
    pub(crate) rounds: u64,
    pub(crate) scale: u64,
    /// Where files are in memory, and where on a disk.
    pub(crate) memory: PathBuf,
    pub(crate) disk: PathBuf,
    /// In place of the library that this project builds.
    pub(crate) ours: Option<PathBuf>,
}

/// After this long a process is ended: something hangs.
const PATIENCE: Duration = Duration::from_secs(900);

/// A engine that is there.
struct Ready {
    engine: &'static Engine,
    library: PathBuf,
}

/// A run on its way.
struct Run<'p> {
    plan: &'p Plan,
    ready: Vec<Ready>,
    folders: Folders,
    versions: HashMap<&'static str, String>,
}

/// Runs the plan.
/// # Errors
/// Folders that cannot be made; what a engine does wrong is in the results.
pub(crate) fn run(plan: &Plan) -> anyhow::Result<Results> {
    let mut results = Results {
        title: "Key/value stores".to_owned(),
        stem: "engine".to_owned(),
        reference: REFERENCE.to_owned(),
        ours: OURS.map(str::to_owned).to_vec(),
        half: Half::Engine,
        scale: plan.scale,
        asked: targets::of_engine(),
        size_at_most: targets::STORE_SIZE_AT_MOST,
        ..Results::default()
    };
    let mut ready = Vec::new();
    for engine in ENGINES {
        let is_named = plan.engines.iter().any(|name| name == engine.name);
        if !is_named && (engine.named_only || !plan.engines.is_empty()) {
            continue;
        }
        match plan.library_of(engine) {
            Ok(library) => ready.push(Ready { engine, library }),
            Err(why) => results.missing.push(Missing {
                title: engine.title.to_owned(),
                why,
            }),
        }
    }
    let mut run = Run {
        plan,
        ready,
        folders: Folders::new(&plan.memory, &plan.disk)?,
        versions: HashMap::new(),
    };
    for (index, workload) in plan.workloads.iter().enumerate() {
        let row = run.row(workload)?;
        crate::amounts::progress(&row, REFERENCE, &results.ours);
        results.rows.push(row);
        let rest = plan.workloads.get(index + 1..).unwrap_or_default();
        run.folders.forget(|content, place| {
            rest.iter()
                .any(|row| row.content() == Some(content) && row.medium == place)
        });
    }
    results.engines = run.present();
    Ok(results)
}

impl Plan {
    fn library_of(&self, engine: &Engine) -> Result<PathBuf, String> {
        match &self.ours {
            Some(library) if engine.name == "fulgurite-c" => Ok(library.clone()),
            _ => engine.library(&self.project),
        }
    }
}

impl Run<'_> {
    fn row(&mut self, workload: &Workload) -> anyhow::Result<Row> {
        let mut row = Row {
            name: workload.name.clone(),
            title: workload.title.clone(),
            part: workload.part.title().to_owned(),
            records: workload.records,
            threads: workload.threads,
            figure: workload.figure,
            writes: !workload.only_reads(),
            faults: Vec::new(),
            played: Vec::new(),
            plan: None,
        };
        let mut players: Vec<usize> = (0..self.ready.len())
            .filter(|&index| self.ready[index].engine.plays(workload))
            .collect();
        for &index in &players {
            row.played.push(Played {
                engine: self.ready[index].engine.name.to_owned(),
                rounds: Vec::new(),
            });
        }
        for round in 0..self.plan.rounds {
            let turn = usize::try_from(round)? % players.len().max(1);
            let mut digests = Vec::new();
            for place in (0..players.len()).map(|place| (place + turn) % players.len()) {
                let index = players[place];
                let engine = self.ready[index].engine;
                if !engine.every_round && round % 3 != 0 {
                    continue;
                }
                match self.play(index, workload, round) {
                    Ok(outcome) => {
                        digests.push((engine.name, outcome.digest));
                        row.played[place].rounds.push((round, outcome));
                    }
                    Err(error) => {
                        row.faults
                            .push(format!("{}, round {}: {error:#}", engine.title, round + 1))
                    }
                }
            }
            row.faults.extend(differing(&digests, round));
            // An engine that fails once is not asked again.
            let failed: Vec<bool> = (row.played.iter())
                .map(|played| played.rounds.is_empty() && round == 0)
                .collect();
            let mut at = 0;
            row.played.retain(|_| {
                at += 1;
                !failed[at - 1]
            });
            at = 0;
            players.retain(|_| {
                at += 1;
                !failed[at - 1]
            });
        }
        Ok(row)
    }

    /// One engine's turn.
    fn play(&mut self, index: usize, workload: &Workload, round: u64) -> anyhow::Result<Outcome> {
        let template = self.template(index, workload)?;
        let folder = match template {
            Some(template) if workload.only_reads() => template,
            Some(template) => {
                let folder = self.folders.fresh(workload.medium)?;
                copy_files(&template, &folder, workload.medium)?;
                folder
            }
            None => self.folders.fresh(workload.medium)?,
        };
        let outcome = self.process(index, workload, &folder, round, false);
        let file_bytes = bytes_in(&folder);
        if !workload.only_reads() {
            std::fs::remove_dir_all(&folder)?;
        }
        let outcome = outcome?;
        self.versions
            .insert(self.ready[index].engine.name, outcome.version.clone());
        Ok(Outcome {
            file_bytes,
            ..outcome
        })
    }

    /// The store that a workload begins with. Those whose files are LMDB's all get the original's.
    fn template(&mut self, index: usize, workload: &Workload) -> anyhow::Result<Option<PathBuf>> {
        let Some(content) = workload.content() else {
            return Ok(None);
        };
        let engine = self.ready[index].engine;
        let original = self
            .ready
            .iter()
            .position(|ready| ready.engine.name == REFERENCE);
        let maker = original.filter(|_| engine.lmdb_files).unwrap_or(index);
        let name = self.ready[maker].engine.name;
        let key = (name, content, workload.medium);
        if let Some(folder) = self.folders.template(&key) {
            return Ok(Some(folder));
        }
        let folder = self.folders.fresh(workload.medium)?;
        self.process(maker, workload, &folder, 0, true)
            .with_context(|| format!("{name} cannot make what the workload begins with"))?;
        self.folders.keep(key, folder.clone());
        Ok(Some(folder))
    }

    fn process(
        &mut self,
        index: usize,
        workload: &Workload,
        folder: &Path,
        seed: u64,
        prepare: bool,
    ) -> anyhow::Result<Outcome> {
        let copy = self.folders.fresh(workload.medium)?;
        let ready = &self.ready[index];
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(child_arguments(
                ready.engine.name,
                &ready.library,
                workload,
                self.plan.scale,
            ))
            .args(["--seed", &seed.to_string()])
            .arg("--folder")
            .arg(folder)
            .arg("--copy")
            .arg(&copy)
            .args(prepare.then_some("--prepare"));
        let outcome = speak(&mut command, &self.plan.project);
        std::fs::remove_dir_all(&copy)?;
        outcome
    }

    fn present(&self) -> Vec<Present> {
        let describe = |ready: &Ready| Present {
            name: ready.engine.name.to_owned(),
            title: ready.engine.title.to_owned(),
            version: self
                .versions
                .get(ready.engine.name)
                .cloned()
                .unwrap_or_default(),
            code_bytes: crate::machine::code_bytes(
                ready.engine.name,
                &ready.library,
                &self.plan.project,
            ),
            tuning: ready.engine.tuning.to_owned(),
        };
        self.ready.iter().map(describe).collect()
    }
}

/// The arguments of a child process, without its folders.
pub(crate) fn child_arguments(
    engine: &str,
    library: &Path,
    workload: &Workload,
    scale: u64,
) -> Vec<std::ffi::OsString> {
    let mut arguments: Vec<std::ffi::OsString> =
        vec!["play".into(), "--engine".into(), engine.into()];
    if !library.as_os_str().is_empty() {
        arguments.extend(["--library".into(), library.into()]);
    }
    arguments.extend(["--workload".into(), workload.name.as_str().into()]);
    arguments.extend(["--scale".into(), scale.to_string().into()]);
    arguments
}

/// Runs a process that plays a part, and reads its last line.
pub(crate) fn speak(command: &mut Command, project: &Path) -> anyhow::Result<Outcome> {
    let folders = std::env::join_paths(library_folders(project))?;
    let mut process = command
        .env("LD_LIBRARY_PATH", folders)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    // Reads while the process runs. Otherwise a process that prints more than a pipe holds would
    // wait for ever, as libmdbx did.
    let answer = text_of(process.stdout.take());
    let complaint = text_of(process.stderr.take());
    let status = wait(&mut process)?;
    let unread = |_| anyhow!("what the process said cannot be read");
    let answer = answer.join().map_err(unread)??;
    let complaint = complaint.join().map_err(unread)??;
    if !status.success() {
        bail!(
            "{status}: {}",
            complaint.split_whitespace().collect::<Vec<_>>().join(" ")
        );
    }
    let last = answer.lines().next_back().unwrap_or_default();
    serde_json::from_str(last).with_context(|| format!("no outcome: {last}"))
}

/// Reads to the end, in a separate thread.
fn text_of(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<std::io::Result<String>> {
    std::thread::spawn(move || {
        let mut octets = Vec::new();
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut octets)?;
        }
        Ok(String::from_utf8_lossy(&octets).into_owned())
    })
}

fn wait(process: &mut Process) -> anyhow::Result<std::process::ExitStatus> {
    let begun = Instant::now();
    loop {
        if let Some(status) = process.try_wait()? {
            return Ok(status);
        }
        if begun.elapsed() > PATIENCE {
            process.kill()?;
            process.wait()?;
            bail!("not finished after {} seconds", PATIENCE.as_secs());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Those whose digest is not that of most.
fn differing(digests: &[(&str, u64)], round: u64) -> Vec<String> {
    let count = |digest: u64| digests.iter().filter(|(_, other)| *other == digest).count();
    let Some(usual) = digests
        .iter()
        .map(|(_, digest)| *digest)
        .max_by_key(|&digest| count(digest))
    else {
        return Vec::new();
    };
    let odd = digests.iter().filter(|(_, digest)| *digest != usual);
    odd.map(|(name, _)| format!("{name}, round {}: other answers than the rest", round + 1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{differing, speak};
    use std::path::Path;
    use std::process::Command;

    #[test]
    fn who_complains_at_length_is_heard() {
        let mut command = Command::new("sh");
        command.args(["-c", "head -c 300000 /dev/zero >&2; echo done"]);
        let error = speak(&mut command, Path::new(".")).expect_err("no outcome");
        assert_eq!(error.to_string(), "no outcome: done");
    }

    #[test]
    fn the_odd_one_is_named() {
        assert!(differing(&[("a", 1), ("b", 1)], 0).is_empty());
        let odd = differing(&[("a", 1), ("b", 2), ("c", 1)], 2);
        assert_eq!(odd, ["b, round 3: other answers than the rest"]);
    }
}
