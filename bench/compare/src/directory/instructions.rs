//! Instructions of each operation of our server, counted by callgrind.
//!
//! ```text
//!   people.ldif -> load -> serve under callgrind
//!   each question, over one connection:   N requests to warm up | N requests | 2 N requests
//!                                         after each part callgrind writes its count and begins anew
//! ```
//!
//! The last count less the second is the price of N requests. The costs of the connection and of
//! the pauses are in both counts. The data and the requests are always the same.

use std::fs::{self, File};
use std::io::BufWriter;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use fulgurite_client::{Change, Client, ResultCode, Scope};

use super::people::{self, PASSWORD, ROOT_DN, ROOT_PASSWORD, SUFFIX};
use super::table::EVERYTHING;
use crate::count::Count;
use crate::folders::Folders;
use crate::workload::Medium;
use crate::workload::data::scattered;

/// People in the directory.
const PEOPLE: u64 = 10_000;

/// The longest wait for the server, which is about fifty times slower under callgrind.
const PATIENCE: Duration = Duration::from_secs(120);

/// A kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    /// A search of the whole tree for one uid.
    Uid,
    /// A read of one entry by its name.
    Base,
    /// A search of the whole tree for a uid that nobody has.
    Missing,
    /// A search of the whole tree for six characters of one cn.
    Substring,
    /// A comparison of a mail address with the stored one.
    Compare,
    /// A bind as one of the people.
    Bind,
    /// A search for all entries.
    Scan,
    /// A new description of one of the people.
    Modify,
}

/// One kind of request, and how it is counted.
#[derive(Debug, Clone, Copy)]
struct Question {
    name: &'static str,
    operation: Operation,
    /// Requests in the shorter of the two counted parts.
    requests: u64,
    /// Divides the price of a request: the entries of a scan.
    parts: u64,
}

const fn ask(name: &'static str, operation: Operation) -> Question {
    Question {
        name,
        operation,
        requests: 500,
        parts: 1,
    }
}

const QUESTIONS: &[Question] = &[
    ask("uid", Operation::Uid),
    ask("base", Operation::Base),
    ask("missing", Operation::Missing),
    ask("substring", Operation::Substring),
    ask("compare", Operation::Compare),
    ask("bind", Operation::Bind),
    Question {
        requests: 1,
        parts: people::entries(PEOPLE),
        ..ask("scan-entry", Operation::Scan)
    },
    ask("modify", Operation::Modify),
];

/// The programs and folders of a count.
pub(crate) struct ServerCounting {
    /// The server's program.
    pub(crate) server: PathBuf,
    /// Names of questions; none for all.
    pub(crate) only: Vec<String>,
    /// Where files are in memory.
    pub(crate) memory: PathBuf,
    /// Where callgrind's files go; they are removed if there is none.
    pub(crate) keep: Option<PathBuf>,
}

/// A server under callgrind.
struct CountedServer {
    process: Child,
    port: u16,
    /// Prefix of callgrind's files; each has a number behind it.
    counts: PathBuf,
    /// Files so far.
    written: u32,
}

/// The number of operations that are counted.
pub(crate) fn questions() -> usize {
    QUESTIONS.len()
}

impl ServerCounting {
    /// Counts every question.
    /// # Errors
    /// Fails if a program is missing, if the server stops, or if an answer is wrong.
    pub(crate) fn count(&self) -> anyhow::Result<Vec<Count>> {
        ensure!(
            self.server.exists(),
            "there is no {}",
            self.server.display()
        );
        for name in &self.only {
            let is_known = QUESTIONS.iter().any(|question| question.name == name);
            ensure!(is_known, "there is no operation {name} of the server");
        }
        let mut folders = Folders::new(&self.memory, &self.memory)?;
        let folder = folders.fresh(Medium::Memory)?;
        let ldif = folder.join("people.ldif");
        people::write(PEOPLE, false, &mut BufWriter::new(File::create(&ldif)?))?;
        self.load(&folder, &ldif)?;
        let mut server = self.serve(&folder)?;
        let counts = QUESTIONS
            .iter()
            .filter(|question| {
                self.only.is_empty() || self.only.iter().any(|one| one == question.name)
            })
            .map(|question| {
                let instructions = server
                    .instructions(question)
                    .with_context(|| question.name)?;
                Ok(Count {
                    workload: question.name.to_owned(),
                    instructions,
                })
            })
            .collect::<anyhow::Result<Vec<_>>>()?;
        server.stop()?;
        if let Some(keep) = &self.keep {
            fs::create_dir_all(keep)?;
            server.keep(keep)?;
        }
        Ok(counts)
    }

    fn load(&self, folder: &Path, ldif: &Path) -> anyhow::Result<()> {
        let output = Command::new(&self.server)
            .args(["load", "--quiet", "--suffix", SUFFIX, "--data"])
            .arg(folder.join("data"))
            .arg(ldif)
            .output()
            .context("cannot run the server's program")?;
        ensure!(
            output.status.success(),
            "cannot load: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
        Ok(())
    }

    /// Starts the server with one worker, and waits until it answers.
    fn serve(&self, folder: &Path) -> anyhow::Result<CountedServer> {
        let password = folder.join("password");
        fs::write(&password, ROOT_PASSWORD)?;
        let port = free_port()?;
        let counts = folder.join("callgrind.out");
        let process = Command::new("valgrind")
            .args(["--tool=callgrind", "--quiet"])
            .arg(format!("--callgrind-out-file={}", counts.display()))
            .arg(&self.server)
            .args(["serve", "--threads", "1", "--size-limit", "unlimited"])
            .args(["--log-level", "error", "--suffix", SUFFIX])
            .args(["--listen", &format!("ldap://127.0.0.1:{port}")])
            .args(["--root-dn", ROOT_DN, "--root-password-file"])
            .arg(&password)
            .arg("--data")
            .arg(folder.join("data"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(folder.join("log"))?)
            .spawn()
            .context("cannot start valgrind")?;
        let mut server = CountedServer {
            process,
            port,
            counts,
            written: 0,
        };
        let begun = Instant::now();
        while !server.answers() {
            let log = || fs::read_to_string(folder.join("log")).unwrap_or_default();
            if server.process.try_wait()?.is_some() {
                bail!("the server did not start: {}", log().trim());
            }
            ensure!(
                begun.elapsed() < PATIENCE,
                "the server does not answer: {}",
                log().trim()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(server)
    }
}

impl CountedServer {
    /// Returns the instructions of one operation.
    fn instructions(&mut self, question: &Question) -> anyhow::Result<f64> {
        let mut client = Client::connect(("127.0.0.1", self.port))?;
        client.set_read_timeout(Some(PATIENCE))?;
        if question.operation == Operation::Modify {
            let bound = client.bind(ROOT_DN, ROOT_PASSWORD.as_bytes())?;
            ensure!(bound.is_success(), "cannot bind: {bound:?}");
        }
        let mut counted = |requests: std::ops::Range<u64>| {
            for number in requests {
                question.operation.ask(&mut client, number)?;
            }
            self.counted()
        };
        let requests = question.requests;
        counted(0..requests)?;
        let fewer = counted(requests..2 * requests)?;
        let more = counted(2 * requests..4 * requests)?;
        let difference = more
            .checked_sub(fewer)
            .context("more requests were cheaper")?;
        ensure!(difference > 0, "nothing was counted");
        Ok(difference as f64 / (requests * question.parts) as f64)
    }

    /// Returns true if the server answers an anonymous bind.
    fn answers(&self) -> bool {
        let client = Client::connect(("127.0.0.1", self.port));
        client.is_ok_and(|mut client| client.bind("", b"").is_ok_and(|result| result.is_success()))
    }

    /// Returns the instructions since the last call.
    fn counted(&mut self) -> anyhow::Result<u64> {
        let output = Command::new("vgdb")
            .args([&format!("--pid={}", self.process.id()), "dump"])
            .output()
            .context("cannot run vgdb, a part of valgrind")?;
        ensure!(
            output.status.success(),
            "vgdb: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
        self.written += 1;
        let file = self.counts.with_extension(format!("out.{}", self.written));
        let text = fs::read_to_string(&file).context("callgrind has left no count")?;
        total(&text).context("callgrind's file has no total")
    }

    /// Ends the server as administrators do.
    fn stop(&mut self) -> anyhow::Result<()> {
        Command::new("kill")
            .arg(self.process.id().to_string())
            .status()?;
        self.process.wait()?;
        Ok(())
    }

    /// Copies callgrind's files: for each question three, in the order of the counts.
    fn keep(&self, folder: &Path) -> anyhow::Result<()> {
        for number in 1..=self.written {
            let name = format!("callgrind.out.{number}");
            fs::copy(self.counts.with_file_name(&name), folder.join(&name))?;
        }
        Ok(())
    }
}

impl Drop for CountedServer {
    fn drop(&mut self) {
        // After `stop` both fail, and nothing is left to end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Operation {
    /// Asks the request of a number, and verifies the answer.
    fn ask(self, client: &mut Client, number: u64) -> anyhow::Result<()> {
        let person = scattered(number, PEOPLE);
        let dn = people::dn(person);
        let code = match self {
            Operation::Uid => return find(client, &format!("(uid=user.{person})"), &dn),
            Operation::Substring => {
                return find(client, &format!("(cn=*{}*)", people::word(person)), &dn);
            }
            Operation::Base => {
                let found = client.search(&dn, Scope::Base, EVERYTHING, &[])?;
                ensure!(found.entries.len() == 1, "{dn}: {:?}", found.result);
                found.result.code
            }
            Operation::Missing => {
                let filter = format!("(uid=nobody.{person})");
                let found = client.search(SUFFIX, Scope::Subtree, &filter, &[])?;
                ensure!(found.entries.is_empty(), "an entry matches {filter}");
                found.result.code
            }
            Operation::Scan => {
                let found = client.search(SUFFIX, Scope::Subtree, EVERYTHING, &[])?;
                let entries = found.entries.len() as u64;
                ensure!(entries == people::entries(PEOPLE), "{entries} entries");
                found.result.code
            }
            Operation::Compare => {
                let mail = people::mail(person);
                let result = client.compare(&dn, "mail", mail.as_bytes())?;
                ensure!(result.code == ResultCode::CompareTrue, "{dn}: {result:?}");
                return Ok(());
            }
            Operation::Bind => client.bind(&dn, PASSWORD.as_bytes())?.code,
            Operation::Modify => {
                let value = format!("changed by request {number}");
                let values = [value.as_bytes()];
                let change = Change::replace("description", &values);
                client.modify(&dn, &[change])?.code
            }
        };
        ensure!(code == ResultCode::Success, "{dn}: {code:?}");
        Ok(())
    }
}

/// Searches the whole tree for one entry.
fn find(client: &mut Client, filter: &str, dn: &str) -> anyhow::Result<()> {
    let found = client.search(SUFFIX, Scope::Subtree, filter, &[])?;
    let is_right = matches!(&found.entries[..], [entry] if entry.dn == dn);
    ensure!(
        is_right,
        "{filter} does not find {dn} alone: {:?}",
        found.result
    );
    Ok(())
}

/// The total of one of callgrind's files.
fn total(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("totals: "))?;
    line.trim().parse().ok()
}

/// A port that no program listens on.
fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("no port is free")?;
    Ok(listener.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_total_counts() {
        let text = "events: Ir\nfn=(1) main\n10 5\n\ntotals: 12\ntotals: 4711\n";
        assert_eq!(total(text), Some(4711));
        assert_eq!(total("events: Ir\n"), None);
        assert_eq!(total("totals: much\n"), None);
    }

    #[test]
    fn questions_have_distinct_names() {
        let names: std::collections::HashSet<_> =
            QUESTIONS.iter().map(|question| question.name).collect();
        assert_eq!(names.len(), questions());
    }
}
