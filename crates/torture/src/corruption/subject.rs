//! Whom a mutated file is given to: a library in a child process, asked one question at a time.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use fulgurite_testkit::Ended;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::tally::Fate;

/// Processor time that no walk of a base can take, in the slowest of builds.
const CPU_MAX: Duration = Duration::from_secs(10);
/// Time after which a process that waits for something waits for ever.
const WAIT_MAX: Duration = Duration::from_secs(120);

/// A library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// Our engine by its own interface; the program that serves as its child process.
    Rust(PathBuf),
    /// A `liblmdb.so`, by the C interface: the program that walks, and the library.
    C {
        /// The program.
        program: PathBuf,
        /// The library.
        library: PathBuf,
        /// True if the subject must leave sound files sound.
        is_ours: bool,
    },
}

impl Subject {
    fn command(&self, dir: &Path) -> Command {
        let mut command;
        match self {
            Subject::Rust(program) => {
                command = Command::new(program);
                command.args(["corruption", "--child"]).arg(dir);
            }
            Subject::C {
                program, library, ..
            } => {
                command = Command::new(program);
                command.arg(library).arg(dir);
            }
        }
        command
    }
}

/// A running subject with a separate environment directory.
#[derive(Debug)]
pub(super) struct Walker {
    subject: Subject,
    dir: PathBuf,
    process: Option<Process>,
    /// The version that the last process reported.
    pub(super) said: String,
}

/// The answer of a walk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer {
    pub(super) fate: Fate,
    pub(super) calls: u64,
    /// Processor time.
    pub(super) took: Duration,
}

#[derive(Debug)]
struct Process {
    child: Child,
    questions: ChildStdin,
    answers: ChildStdout,
    said: Vec<u8>,
}

impl Walker {
    /// A subject that walks through `dir`.
    pub(super) fn new(subject: Subject, dir: &Path) -> Walker {
        Walker {
            subject,
            dir: dir.to_owned(),
            process: None,
            said: String::new(),
        }
    }

    /// Requests one walk through the present content of the directory.
    pub(super) fn ask(&mut self, number: u64, seed: u64) -> anyhow::Result<Answer> {
        let is_judged = matches!(self.subject, Subject::C { is_ours: true, .. });
        // A lock file in use may lead to the other snapshot, of which nothing is known.
        let was_sound = is_judged && !self.dir.join("lock.mdb").exists() && self.is_sound();
        let mut answer = self.ask_process(number, seed)?;
        if was_sound && answer.fate == Fate::Clean && !self.is_sound() {
            answer.fate = Fate::Spoilt;
        }
        Ok(answer)
    }

    fn is_sound(&self) -> bool {
        let data = self.dir.join("data.mdb");
        fulgurite::check::check_file(&data).is_ok_and(|report| report.is_sound())
    }

    fn ask_process(&mut self, number: u64, seed: u64) -> anyhow::Result<Answer> {
        let mut process = match self.process.take() {
            Some(process) => process,
            None => self.start()?,
        };
        let before = cpu_time(process.child.id());
        let sent = writeln!(process.questions, "{number} {seed}");
        let line = match sent {
            Ok(()) => process.line(before)?,
            Err(_) => Line::Ended,
        };
        let took = cpu_time(process.child.id()).saturating_sub(before);
        let (fate, calls) = match line {
            Line::Said(line) => {
                self.process = Some(process);
                understand(&line, number)?
            }
            Line::Ended => (Fate::Crash(process.end()?), 0),
            Line::Late => {
                process.child.kill()?;
                process.end()?;
                (Fate::Hang, 0)
            }
        };
        Ok(Answer { fate, calls, took })
    }

    fn start(&mut self) -> anyhow::Result<Process> {
        let mut command = self.subject.command(&self.dir);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Panic messages and assertions by the thousand are of no use; a replay can show them.
            .stderr(if std::env::var_os("TORTURE_STDERR").is_some() {
                Stdio::inherit()
            } else {
                Stdio::null()
            })
            .spawn()
            .with_context(|| format!("start {command:?}"))?;
        let questions = child.stdin.take().context("a piped standard input")?;
        let answers = child.stdout.take().context("a piped standard output")?;
        let mut process = Process {
            child,
            questions,
            answers,
            said: Vec::new(),
        };
        match process.line(Duration::ZERO)? {
            Line::Said(line) => self.said = line.trim_start_matches("ready ").to_owned(),
            Line::Ended | Line::Late => {
                anyhow::bail!("{command:?} does not begin: {:?}", process.end()?)
            }
        }
        if let Subject::C { library, .. } = &self.subject {
            let real = fs::canonicalize(library)?;
            let is_it = self.said.starts_with(&*real.to_string_lossy());
            ensure!(is_it, "{} was not loaded but {}", real.display(), self.said);
        }
        Ok(process)
    }
}

enum Line {
    Said(String),
    /// The process ended without a word.
    Ended,
    /// It takes longer than it may.
    Late,
}

impl Process {
    /// The next line it says; `before` is the processor time it had used when it was asked.
    fn line(&mut self, before: Duration) -> anyhow::Result<Line> {
        let asked = Instant::now();
        loop {
            if let Some(end) = self.said.iter().position(|octet| *octet == b'\n') {
                let rest = self.said.split_off(end + 1);
                let line = std::mem::replace(&mut self.said, rest);
                return Ok(Line::Said(String::from_utf8_lossy(&line).trim().to_owned()));
            }
            let wait = Timespec {
                tv_sec: 0,
                tv_nsec: 200_000_000,
            };
            let ready = poll(
                &mut [PollFd::new(&self.answers, PollFlags::IN)],
                Some(&wait),
            )?;
            if ready == 0 {
                let used = cpu_time(self.child.id()).saturating_sub(before);
                if used > CPU_MAX || asked.elapsed() > WAIT_MAX {
                    return Ok(Line::Late);
                }
                continue;
            }
            let mut room = [0; 4096];
            match self.answers.read(&mut room)? {
                0 => return Ok(Line::Ended),
                len => self
                    .said
                    .extend_from_slice(room.get(..len).unwrap_or_default()),
            }
        }
    }

    fn end(mut self) -> anyhow::Result<Ended> {
        drop(self.questions);
        let status = self.child.wait()?;
        Ok(match (status.code(), status.signal()) {
            (Some(code), _) => Ended::Exit(code),
            (None, signal) => Ended::Signal(signal.unwrap_or_default()),
        })
    }
}

impl Drop for Walker {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.child.kill();
            let _ = process.child.wait();
        }
    }
}

/// `NUMBER CALLS ERRORS REFUSED [SPOILT]`
fn understand(line: &str, number: u64) -> anyhow::Result<(Fate, u64)> {
    let words: Vec<u64> = line
        .split(' ')
        .map_while(|word| word.parse().ok())
        .collect();
    let (calls, errors, refused, spoilt) = match words[..] {
        [n, calls, errors, refused] if n == number => (calls, errors, refused, 0),
        [n, calls, errors, refused, spoilt] if n == number => (calls, errors, refused, spoilt),
        _ => anyhow::bail!("not an answer to question {number}: {line}"),
    };
    let fate = match (spoilt, refused, errors) {
        (1.., _, _) => Fate::Spoilt,
        (0, 1.., _) => Fate::Refused,
        (0, 0, 1..) => Fate::Errors,
        (0, 0, 0) => Fate::Clean,
    };
    Ok((fate, calls))
}

/// Processor time a process has used, at the resolution of the system's clock ticks; nothing once
/// it is gone.
fn cpu_time(pid: u32) -> Duration {
    const TICKS_PER_SECOND: u64 = 100;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name in parentheses may hold anything; the times are the 12th and 13th fields behind it.
    let behind_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks: u64 = behind_name
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND)
}
