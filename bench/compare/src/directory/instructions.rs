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
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};
use fulgurite_client::{Change, Client, Response, ResultCode, Scope};
use serde::{Deserialize, Serialize};

use super::callgrind::{CountedServer, Dump, PATIENCE};
use super::contender::Contender;
use super::data_set::DataSet;
use super::patience::Patience;
use super::people::{self, PASSWORD, ROOT_DN, ROOT_PASSWORD, SUFFIX};
use super::pieces::{self, Piece};
use super::server::{Installed, free_port};
use super::table::EVERYTHING;
use crate::count::Count;
use crate::folders::Folders;
use crate::workload::Medium;
use crate::workload::data::scattered;

/// People in the directory.
const PEOPLE: u64 = 10_000;

/// Seconds that another server may take, to load and to start.
const COUNTED_SECONDS: u64 = 60;

/// Pieces of names. Each part of a count has all of them, because their costs differ.
const PIECES: u64 = 200;

/// A kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    /// A search of the whole tree for one uid.
    Uid,
    /// A read of one entry by its name.
    Base,
    /// A search of the whole tree for a uid that nobody has.
    Missing,
    /// Eight searches for one uid each, sent in one write.
    UidPipelined,
    /// A search of the whole tree for six characters of one cn.
    Substring,
    /// A search of the whole tree for a piece of a cn among the staff.
    Pieces,
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
    /// The data set that is asked.
    data: DataSet,
}

const fn ask(name: &'static str, operation: Operation) -> Question {
    Question {
        name,
        operation,
        requests: 500,
        parts: 1,
        data: DataSet::People,
    }
}

/// Requests that are sent in one write.
const PIPELINED: u64 = 8;

const QUESTIONS: &[Question] = &[
    ask("uid", Operation::Uid),
    Question {
        requests: 60,
        parts: PIPELINED,
        ..ask("uid-pipelined", Operation::UidPipelined)
    },
    ask("base", Operation::Base),
    ask("missing", Operation::Missing),
    ask("substring", Operation::Substring),
    Question {
        requests: PIECES,
        data: DataSet::Staff,
        ..ask("substring-pieces", Operation::Pieces)
    },
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
        let mut counts = Vec::new();
        for data in [DataSet::People, DataSet::Staff] {
            let is_asked = |question: &&Question| {
                let is_named = self.only.iter().any(|one| one == question.name);
                question.data == data && (self.only.is_empty() || is_named)
            };
            let questions: Vec<&Question> = QUESTIONS.iter().filter(is_asked).collect();
            if !questions.is_empty() {
                let folder = folders.fresh(Medium::Memory)?;
                counts.extend(self.count_in(data, &questions, &folder)?);
            }
        }
        Ok(counts)
    }

    /// Counts questions to a server with one data set.
    fn count_in(
        &self,
        data: DataSet,
        questions: &[&Question],
        folder: &Path,
    ) -> anyhow::Result<Vec<Count>> {
        let ldif = folder.join("people.ldif");
        data.write(PEOPLE, &mut BufWriter::new(File::create(&ldif)?))?;
        self.load(folder, &ldif)?;
        let mut server = self.serve(folder)?;
        let mut counts = Vec::new();
        for question in questions {
            let instructions = question.instructions(&mut server);
            counts.push(Count {
                workload: question.name.to_owned(),
                instructions: instructions.with_context(|| question.name)?,
            });
        }
        server.stop()?;
        if let Some(keep) = &self.keep {
            let keep = keep.join(data.stem());
            fs::create_dir_all(&keep)?;
            server.keep(&keep)?;
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
        let mut command = Command::new(&self.server);
        command
            .args(["serve", "--threads", "1", "--size-limit", "unlimited"])
            .args(["--log-level", "error", "--suffix", SUFFIX])
            .args(["--listen", &format!("ldap://127.0.0.1:{port}")])
            .args(["--root-dn", ROOT_DN, "--root-password-file"])
            .arg(&password)
            .arg("--data")
            .arg(folder.join("data"));
        CountedServer::start(&command, port, folder)
    }
}

impl Question {
    /// Returns the instructions of one operation.
    fn instructions(&self, server: &mut CountedServer) -> anyhow::Result<f64> {
        let (fewer, more) = self.counts(server)?;
        self.price(fewer.total()?, more.total()?)
    }

    /// Asks; returns the counts of N requests and of twice as many.
    fn counts(&self, server: &mut CountedServer) -> anyhow::Result<(Dump, Dump)> {
        let mut client = Client::connect(("127.0.0.1", server.port))?;
        client.set_read_timeout(Some(PATIENCE))?;
        if self.operation == Operation::Modify {
            let bound = client.bind(ROOT_DN, ROOT_PASSWORD.as_bytes())?;
            ensure!(bound.is_success(), "cannot bind: {bound:?}");
        }
        let requests = self.requests;
        let pieces = match self.operation {
            Operation::Pieces => pieces::pieces(PEOPLE, usize::try_from(requests)?),
            _ => Vec::new(),
        };
        let mut counted = |requests: std::ops::Range<u64>| {
            for number in requests {
                match self.operation {
                    Operation::Pieces => find_piece(&mut client, &pieces, number)?,
                    operation => operation.ask(&mut client, number)?,
                }
            }
            server.counted()
        };
        counted(0..requests)?;
        Ok((
            counted(requests..2 * requests)?,
            counted(2 * requests..4 * requests)?,
        ))
    }

    /// The instructions of one operation, from two counts.
    fn price(&self, fewer: u64, more: u64) -> anyhow::Result<f64> {
        let difference = more
            .checked_sub(fewer)
            .context("more requests were cheaper")?;
        ensure!(difference > 0, "nothing was counted");
        Ok(difference as f64 / (self.requests * self.parts) as f64)
    }
}

/// The price of a question to a server.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Price {
    pub(crate) question: String,
    pub(crate) instructions: f64,
    /// Of them, those of the key/value store below the server; none if the server is one object
    /// with it.
    pub(crate) in_store: Option<f64>,
}

/// Counts two questions to any server.
/// # Errors
/// Fails if a program is missing, if the server stops, or if an answer is wrong.
pub(crate) fn prices(name: &str, project: &Path, memory: &Path) -> anyhow::Result<Vec<Price>> {
    let contender = Contender::named(name).with_context(|| format!("there is no server {name}"))?;
    let mut folders = Folders::new(memory, memory)?;
    let folder = folders.fresh(Medium::Memory)?;
    let ldif = folder.join("people.ldif");
    people::write(PEOPLE, false, &mut BufWriter::new(File::create(&ldif)?))?;
    let own = Installed::new(
        contender,
        project,
        folder.clone(),
        (DataSet::People, PEOPLE),
        Patience::new(COUNTED_SECONDS, PEOPLE),
    )?;
    if let Some(why) = own.missing() {
        bail!(why);
    }
    own.configure()?;
    own.load(&ldif)?;
    let mut server = CountedServer::start(&own.start_command(), own.port, &folder)?;
    // The same requests again and again: caches have all of them.
    let scan = QUESTIONS
        .iter()
        .find(|one| one.operation == Operation::Scan);
    let uid = Question {
        requests: 40,
        ..ask("uid", Operation::Uid)
    };
    let prices = scan.copied().into_iter().chain([uid]).map(|question| {
        question.counts(&mut server)?;
        let (fewer, more) = question.counts(&mut server)?;
        let in_store = match (fewer.of_store(), more.of_store()) {
            (Some(fewer), Some(more)) => Some(question.price(fewer, more)?),
            _ => None,
        };
        Ok(Price {
            question: question.name.to_owned(),
            instructions: question.price(fewer.total()?, more.total()?)?,
            in_store,
        })
    });
    let prices = prices.collect::<anyhow::Result<Vec<_>>>()?;
    server.stop()?;
    Ok(prices)
}

impl Operation {
    /// Asks the request of a number, and verifies the answer.
    fn ask(self, client: &mut Client, number: u64) -> anyhow::Result<()> {
        let person = scattered(number, PEOPLE);
        let dn = people::dn(person);
        let code = match self {
            Operation::Uid => return find(client, &format!("(uid=user.{person})"), &dn),
            Operation::UidPipelined => return find_pipelined(client, number),
            Operation::Pieces => bail!("pieces are asked one by one"),
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

/// Searches for the piece of a request.
fn find_piece(client: &mut Client, pieces: &[Piece], number: u64) -> anyhow::Result<()> {
    let at = usize::try_from(number)? % pieces.len().max(1);
    let piece = pieces.get(at).context("there is no piece")?;
    let filter = format!("(cn=*{}*)", escaped(&piece.text));
    let found = client.search(SUFFIX, Scope::Subtree, &filter, &[])?;
    ensure!(
        found.entries.len() == piece.matches,
        "{filter} finds {} entries instead of {}: {:?}",
        found.entries.len(),
        piece.matches,
        found.result
    );
    Ok(())
}

/// Writes a text as a part of a filter (RFC 4515).
fn escaped(text: &str) -> String {
    text.replace('(', "\\28").replace(')', "\\29")
}

/// Sends several searches for one uid each in one write, and takes all answers.
fn find_pipelined(client: &mut Client, number: u64) -> anyhow::Result<()> {
    let numbers = (0..PIPELINED).map(|at| number * PIPELINED + at);
    let people: Vec<u64> = numbers.map(|number| scattered(number, PEOPLE)).collect();
    let filters: Vec<String> = people
        .iter()
        .map(|person| format!("(uid=user.{person})"))
        .collect();
    let ids = client.send_searches(SUFFIX, &filters)?;
    for (id, person) in ids.into_iter().zip(people) {
        let message = client.receive_for(id)?;
        let dn = people::dn(person);
        let is_right =
            matches!(&message.response, Response::SearchEntry(entry) if entry.dn == dn.as_bytes());
        ensure!(is_right, "{dn}: {:?}", message.response);
        let message = client.receive_for(id)?;
        let is_end =
            matches!(&message.response, Response::SearchDone(result) if result.is_success());
        ensure!(is_end, "{dn}: {:?}", message.response);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_have_distinct_names() {
        let names: std::collections::HashSet<_> =
            QUESTIONS.iter().map(|question| question.name).collect();
        assert_eq!(names.len(), questions());
    }
}
