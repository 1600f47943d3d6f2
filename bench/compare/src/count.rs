//! Instructions of each operation, counted by callgrind: figures that do not depend on what else
//! the machine does.
//!
//! The process that plays a part is run as it is, under valgrind, which counts inside
//! `bench_measured` alone. All code outside this program counts, which is that of shared libraries.
//! So the figure does not depend on how this program was compiled.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};

use crate::costs::{own_costs, touched_code};
use crate::engines::{Engine, REFERENCE};
use crate::folders::{Folders, copy_files};
use crate::rounds::{child_arguments, speak};
use crate::workload::{Medium, Workload};

/// The workloads counted by default: each operation of the library, in a store that is quickly
/// made.
const COUNTED: &[&str] = &[
    "scan",
    "scan-back",
    "get",
    "get-missing",
    "range-100",
    "begin",
    "renew",
    "put-sequential",
    "put-scattered",
    "append",
    "overwrite",
    "put-single",
    "delete",
    "dup-put",
    "dup-scan",
    "large-fill",
    "large-get",
    "churn",
];

/// Workloads whose touched code is counted too. Each has the name of that figure, and a divisor.
/// Code counts if it runs once in that many operations.
const CODE: &[(&str, &str, u64)] = &[
    ("get", "code-get", 10),
    ("scan", "code-next", 10),
    ("put-scattered", "code-put", 100),
];

/// How the files of the libraries that are counted begin.
const LIBRARY: &str = "liblmdb";

/// Divides the sizes of what is counted.
pub(crate) const SCALE: u64 = 100;

/// The operations that the bounds of the C library are for.
pub(crate) const OF_LIBRARY: &str = "our C library, in stores of 10,000 records";

/// The operations that the bounds of the server are for.
pub(crate) const OF_SERVER: &str = "our server, among 10,000 people";

/// How much dearer than its bound an operation may be: compilers and C libraries differ a little.
const SLACK: f64 = 1.03;

/// The engine and workload whose instructions are counted.
pub(crate) struct Counting {
    pub(crate) project: PathBuf,
    pub(crate) workloads: Vec<Workload>,
    pub(crate) scale: u64,
    /// Where files are in memory.
    pub(crate) memory: PathBuf,
    pub(crate) ours: Option<PathBuf>,
}

/// One operation's count: of instructions, or of the bytes of code that it touches.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Count {
    pub(crate) workload: String,
    pub(crate) instructions: f64,
}

impl Count {
    /// Returns true if it counts bytes of code.
    fn is_code(&self) -> bool {
        CODE.iter().any(|(_, name, _)| *name == self.workload)
    }
}

/// Returns true if a workload is counted when none is named.
pub(crate) fn is_counted(workload: &Workload) -> bool {
    COUNTED.contains(&workload.name.as_str())
}

/// Returns true if valgrind is installed.
pub(crate) fn can_count() -> bool {
    let found = Command::new("valgrind").arg("--version").output();
    found.is_ok_and(|output| output.status.success())
}

impl Counting {
    /// Counts with a engine whose library is there.
    /// # Errors
    /// Fails if a library is missing, or with valgrind's or the engine's message.
    pub(crate) fn count(&self, engine: &Engine) -> anyhow::Result<Vec<Count>> {
        let mut folders = Folders::new(&self.memory, &self.memory)?;
        let (mut counts, mut code) = (Vec::new(), Vec::new());
        let played = self.workloads.iter();
        for workload in played.filter(|workload| engine.plays(workload)) {
            let (instructions, touched) = self
                .run(engine, workload, &mut folders)
                .with_context(|| format!("{} of {}", workload.name, engine.title))?;
            counts.push(Count {
                workload: workload.name.clone(),
                instructions,
            });
            code.extend(touched);
        }
        counts.append(&mut code);
        Ok(counts)
    }

    fn library(&self, engine: &Engine) -> anyhow::Result<PathBuf> {
        match &self.ours {
            Some(library) if engine.name == "fulgurite-c" => Ok(library.clone()),
            _ => engine.library(&self.project).map_err(anyhow::Error::msg),
        }
    }

    /// Counts the stores of readers to what they share, in the first of the workloads' stores.
    /// # Errors
    /// Fails if a library is missing, or with valgrind's or the engine's message.
    pub(crate) fn shared(&self, engine: &Engine) -> anyhow::Result<crate::shared::Shared> {
        let workload = self.workloads.first().context("no workload")?;
        let mut folders = Folders::new(&self.memory, &self.memory)?;
        let (folder, copy) = (
            folders.fresh(Medium::Memory)?,
            folders.fresh(Medium::Memory)?,
        );
        let program = std::env::current_exe()?;
        let library = self.library(engine)?;
        self.prepare(&program, workload, &mut folders, &folder)?;
        let mut command = Command::new(&program);
        command
            .args(child_arguments(engine.name, &library, workload, self.scale))
            .args(["--seed", "1", "--trace", "--folder"])
            .arg(&folder)
            .arg("--copy")
            .arg(&copy);
        crate::shared::count(engine.title, &command, &self.project)
    }

    /// Counts the instructions of an operation, and the code that it touches if that is asked.
    fn run(
        &self,
        engine: &Engine,
        workload: &Workload,
        folders: &mut Folders,
    ) -> anyhow::Result<(f64, Option<Count>)> {
        let library = self.library(engine)?;
        let program = std::env::current_exe()?;
        let folder = folders.fresh(Medium::Memory)?;
        let copy = folders.fresh(Medium::Memory)?;
        let mut arguments = child_arguments(engine.name, &library, workload, self.scale);
        arguments.extend([
            "--seed".into(),
            "1".into(),
            "--folder".into(),
            folder.clone().into(),
        ]);
        arguments.extend(["--copy".into(), copy.clone().into()]);
        if workload.content().is_some() {
            self.prepare(&program, workload, folders, &folder)?;
        }
        let counted = copy.join("callgrind.out");
        let mut command = Command::new("valgrind");
        command
            .args(["--tool=callgrind", "--toggle-collect=*bench_measured*"])
            .args(["--dump-instr=yes", "--dump-line=no", "--compress-pos=no"])
            .arg(format!("--callgrind-out-file={}", counted.display()))
            .arg(&program)
            .args(&arguments);
        let outcome = speak(&mut command, &self.project)?;
        let file = std::fs::read_to_string(&counted).context("valgrind has left no counts")?;
        let own = if library.as_os_str().is_empty() {
            None
        } else {
            Some(program.as_path())
        };
        let total = instructions_outside(&file, own);
        ensure!(total > 0, "nothing was counted");
        let operations = outcome.operations.max(1);
        let code = CODE.iter().find(|(name, ..)| *name == workload.name);
        let code = code.map(|(_, name, share)| Count {
            workload: (*name).to_owned(),
            instructions: touched_code(&file, LIBRARY, operations.div_ceil(*share)) as f64,
        });
        std::fs::remove_dir_all(&folder)?;
        std::fs::remove_dir_all(&copy)?;
        Ok((total as f64 / operations as f64, code))
    }

    /// The first content of a workload, as LMDB makes it.
    fn prepare(
        &self,
        program: &Path,
        workload: &Workload,
        folders: &mut Folders,
        folder: &Path,
    ) -> anyhow::Result<()> {
        let content = workload.content().context("nothing to prepare")?;
        let key = (REFERENCE, content, Medium::Memory);
        let template = match folders.template(&key) {
            Some(template) => template,
            None => {
                let template = folders.fresh(Medium::Memory)?;
                let original = Engine::named(REFERENCE).context("no original")?;
                let mut command = Command::new(program);
                command
                    .args(child_arguments(
                        original.name,
                        &self.library(original)?,
                        workload,
                        self.scale,
                    ))
                    .args(["--seed", "0", "--prepare", "--folder"])
                    .arg(&template)
                    .arg("--copy")
                    .arg(&template);
                speak(&mut command, &self.project)?;
                folders.keep(key, template.clone());
                template
            }
        };
        copy_files(&template, folder, Medium::Memory)
    }
}

/// The sum of callgrind's costs, those of one program's own code left out.
fn instructions_outside(file: &str, program: Option<&Path>) -> u64 {
    let program = program.map(|path| path.to_string_lossy());
    own_costs(file)
        .filter(|(place, _)| {
            program
                .as_ref()
                .is_none_or(|program| program != place.object)
        })
        .map(|(_, cost)| cost)
        .sum()
}

/// A table of counts, as it is kept: a name and a number to a line, comments behind #.
/// # Errors
/// A line that is not of this form.
pub(crate) fn read_bounds(text: &str) -> anyhow::Result<Vec<Count>> {
    let lines = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or(""));
    lines
        .filter(|line| !line.trim().is_empty())
        .map(
            |line| match line.split_whitespace().collect::<Vec<_>>()[..] {
                [workload, number] => Ok(Count {
                    workload: workload.to_owned(),
                    instructions: number.parse().context("a bound is a number")?,
                }),
                _ => bail!("a bound is a name and a number, not \"{line}\""),
            },
        )
        .collect()
}

/// Writes such a table. Its first line tells the operations that it bounds.
pub(crate) fn write_bounds(operations: &str, counts: &[Count]) -> String {
    let mut out = format!(
        "# Instructions of each operation of {operations}: bounds that may be exceeded by 3 %.\n\
         # `scripts/instructions.sh --update` writes this file; a number that rises needs a reason in the commit.\n",
    );
    if counts.iter().any(Count::is_code) {
        out.push_str(
            "# Rows that begin with \"code\" have the bytes of code that an operation touches.\n",
        );
    }
    for count in counts {
        let _ = writeln!(out, "{:16} {:.0}", count.workload, count.instructions);
    }
    out
}

/// Returns operations that got dearer, are unbounded or were not counted. Then those that got
/// cheaper by more than the slack.
pub(crate) fn judge(counts: &[Count], bounds: &[Count]) -> (Vec<String>, Vec<String>) {
    let (mut faults, mut news) = (Vec::new(), Vec::new());
    for bound in bounds {
        let Some(count) = counts.iter().find(|count| count.workload == bound.workload) else {
            faults.push(format!(
                "{} has a bound and was not counted",
                bound.workload
            ));
            continue;
        };
        let unit = if bound.is_code() {
            "bytes"
        } else {
            "instructions"
        };
        let change = format!(
            "{}: {:.0} {unit}, {:.0} before",
            bound.workload, count.instructions, bound.instructions
        );
        if count.instructions > bound.instructions * SLACK {
            faults.push(format!(
                "{change}: dearer by {:.1} %",
                percent(count, bound)
            ));
        } else if count.instructions * SLACK < bound.instructions {
            news.push(format!(
                "{change}: cheaper by {:.1} %",
                -percent(count, bound)
            ));
        }
    }
    let unbounded = counts
        .iter()
        .filter(|count| bounds.iter().all(|bound| bound.workload != count.workload));
    faults.extend(unbounded.map(|count| format!("{} has no bound", count.workload)));
    (faults, news)
}

fn percent(count: &Count, bound: &Count) -> f64 {
    (count.instructions / bound.instructions - 1.0) * 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(workload: &str, instructions: f64) -> Count {
        Count {
            workload: workload.to_owned(),
            instructions,
        }
    }

    #[test]
    fn costs_of_the_program_itself_are_left_out() {
        let file = "positions: line\nevents: Ir\n\nob=(1) /bin/compare\nfn=(1) main\n10 5\n+2 7\ncob=(2) /lib/liblmdb.so\n\
                    cfn=(2) mdb_get\ncalls=3 0\n12 900\n\nob=(2)\nfn=(2)\n3 800\n* 50\n\nob=(1)\nfn=(3) other\n-4 1000\n";
        assert_eq!(
            instructions_outside(file, Some(Path::new("/bin/compare"))),
            850
        );
        assert_eq!(instructions_outside(file, None), 850 + 12 + 1000);
    }

    #[test]
    fn bounds_are_read_as_they_are_written() {
        let counts = [count("get", 1272.0), count("scan", 113.0)];
        assert_eq!(
            read_bounds(&write_bounds("a test", &counts)).unwrap(),
            counts
        );
        assert!(read_bounds("get").is_err());
        assert!(read_bounds("get much").is_err());
    }

    #[test]
    fn what_got_dearer_is_a_fault() {
        let bounds = [
            count("get", 1000.0),
            count("scan", 100.0),
            count("put", 50.0),
        ];
        let counts = [
            count("get", 1029.0),
            count("scan", 104.0),
            count("put", 40.0),
        ];
        let (faults, news) = judge(&counts, &bounds);
        assert_eq!(
            faults,
            ["scan: 104 instructions, 100 before: dearer by 4.0 %"]
        );
        assert_eq!(news, ["put: 40 instructions, 50 before: cheaper by 20.0 %"]);
    }

    #[test]
    fn code_that_grew_is_a_fault_too() {
        let bounds = [count("code-put", 1024.0)];
        let (faults, _) = judge(&[count("code-put", 1088.0)], &bounds);
        assert_eq!(
            faults,
            ["code-put: 1088 bytes, 1024 before: dearer by 6.2 %"]
        );
        assert!(write_bounds("a test", &bounds).contains("bytes of code"));
        assert!(!write_bounds("a test", &[count("get", 1.0)]).contains("bytes of code"));
    }

    #[test]
    fn nothing_is_passed_by_not_being_counted() {
        let (faults, _) = judge(&[count("new", 1.0)], &[count("get", 1.0)]);
        assert_eq!(
            faults,
            ["get has a bound and was not counted", "new has no bound"]
        );
    }
}
