//! A neighbour process. It proves that no lock is left held, makes files grow, and dies on request.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::{Context, bail};
use fulgurite::{Environment, KeyOrder, Snapshot};

/// The database that the neighbour writes to.
pub(super) const DATABASE: &str = "neighbour";
/// How long it may take; far longer than it takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// The process, driven line by line.
#[derive(Debug)]
pub(super) struct Neighbour {
    program: PathBuf,
    child: Child,
    orders: ChildStdin,
    answers: Receiver<String>,
}

impl Neighbour {
    pub(super) fn start() -> anyhow::Result<Neighbour> {
        let program = std::env::current_exe().context("where this program is")?;
        let mut child = Command::new(&program)
            .args(["fault-injection", "--neighbour"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("start the neighbour")?;
        let (Some(orders), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("the neighbour has no pipes");
        };
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Neighbour {
            program,
            child,
            orders,
            answers,
        })
    }

    /// Commits `records` records of a kilooctet; their keys begin at `from`.
    pub(super) fn write(
        &mut self,
        directory: &Path,
        from: u32,
        records: u32,
    ) -> anyhow::Result<()> {
        self.order(&format!("{from} {records} {}", directory.display()))
    }

    /// Opens an environment and keeps it open, or closes the one it has open.
    pub(super) fn hold(&mut self, directory: Option<&PathBuf>) -> anyhow::Result<()> {
        let directory = directory.map(|directory| directory.display().to_string());
        self.order(&format!("hold 0 {}", directory.unwrap_or_default()))
    }

    fn order(&mut self, order: &str) -> anyhow::Result<()> {
        writeln!(self.orders, "{order}")?;
        match self.answers.recv_timeout(PATIENCE) {
            Ok(answer) if answer == "ok" => Ok(()),
            Ok(answer) => bail!("another process is refused: {answer}"),
            Err(_) => {
                self.child.kill()?;
                bail!("another process waits for the writer lock for ever")
            }
        }
    }

    /// Another process takes a reader slot, or the writer lock, and dies with it.
    pub(super) fn die(&self, directory: &Path, writing: bool) -> anyhow::Result<()> {
        let how = if writing {
            "--die-writing"
        } else {
            "--die-reading"
        };
        let ended = Command::new(&self.program)
            .args(["fault-injection", how])
            .arg(directory)
            .status()
            .context("start a process that dies")?;
        if ended.code() != Some(DEAD) {
            bail!("the process should have died by itself, but ended with {ended}");
        }
        Ok(())
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How a process that died on purpose ends.
const DEAD: i32 = 71;

fn open(directory: &Path) -> anyhow::Result<Environment> {
    Ok(Environment::options()
        .databases_max(8)
        .readers_max(12)
        .durability(fulgurite::Durability::NoSync)
        .map_bytes_max(64 << 20)
        .open(directory)?)
}

/// The key of a record of the neighbour's.
pub(super) fn key(number: u32) -> Vec<u8> {
    format!("neighbour{number:06}").into_bytes()
}

/// The value of each of its records.
pub(super) fn value() -> Vec<u8> {
    vec![0x6e; 1000]
}

/// The neighbour's own side: obeys until its orders end.
pub(super) fn serve() -> anyhow::Result<()> {
    let mut held = None;
    for order in std::io::stdin().lock().lines() {
        let order = order?;
        let obeyed = match order.strip_prefix("hold 0 ") {
            Some("") => {
                held = None;
                Ok(())
            }
            Some(directory) => open(Path::new(directory)).map(|opened| held = Some(opened)),
            None => obey(&order),
        };
        match obeyed {
            Ok(()) => println!("ok"),
            Err(error) => println!("{error:#}"),
        }
    }
    drop(held);
    Ok(())
}

fn obey(order: &str) -> anyhow::Result<()> {
    let mut words = order.splitn(3, ' ');
    let (Some(from), Some(records), Some(directory)) = (words.next(), words.next(), words.next())
    else {
        bail!("an order that nobody gives: {order}");
    };
    let (from, records): (u32, u32) = (from.parse()?, records.parse()?);
    let environment = open(Path::new(directory))?;
    let mut txn = environment.write()?;
    let database = txn.create_database(DATABASE, KeyOrder::Lexical)?;
    for number in from..from + records {
        txn.put(database, &key(number), &value())?;
    }
    txn.commit()?;
    Ok(())
}

/// Takes a reader slot or the writer lock, and ends without giving anything back.
pub(super) fn die(directory: &Path, writing: bool) -> anyhow::Result<()> {
    let environment = open(directory)?;
    if writing {
        std::mem::forget(environment.write()?);
    } else {
        let snapshot = environment.read()?;
        let _ = snapshot.open_database(None)?;
        std::mem::forget(snapshot);
    }
    std::process::exit(DEAD)
}
