//! A server under callgrind, and the files that callgrind leaves.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use fulgurite_client::Client;

use crate::costs::{CodePlace, own_costs};

/// The longest wait for the server, which is about fifty times slower under callgrind.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

/// A server under callgrind.
pub(super) struct CountedServer {
    process: Child,
    pub(super) port: u16,
    /// Prefix of callgrind's files; each has a number behind it.
    counts: PathBuf,
    /// Files so far.
    written: u32,
}

/// One of callgrind's files.
pub(super) struct Dump(String);

impl CountedServer {
    /// Runs a command under callgrind, and waits until the server answers.
    pub(super) fn start(command: &Command, port: u16, folder: &Path) -> anyhow::Result<Self> {
        let counts = folder.join("callgrind.out");
        let mut counted = Command::new("valgrind");
        counted
            .args(["--tool=callgrind", "--quiet"])
            .arg(format!("--callgrind-out-file={}", counts.display()))
            .arg(command.get_program())
            .args(command.get_args())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(folder.join("log"))?);
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                counted.env(name, value);
            }
        }
        let process = counted.spawn().context("cannot start valgrind")?;
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

    /// Returns true if the server answers an anonymous bind.
    fn answers(&self) -> bool {
        let client = Client::connect(("127.0.0.1", self.port));
        client.is_ok_and(|mut client| client.bind("", b"").is_ok_and(|result| result.is_success()))
    }

    /// Returns what was counted since the last call.
    pub(super) fn counted(&mut self) -> anyhow::Result<Dump> {
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
        Ok(Dump(text))
    }

    /// Ends the server as administrators do.
    pub(super) fn stop(&mut self) -> anyhow::Result<()> {
        Command::new("kill")
            .arg(self.process.id().to_string())
            .status()?;
        self.process.wait()?;
        Ok(())
    }

    /// Copies callgrind's files: for each question three, in the order of the counts.
    pub(super) fn keep(&self, folder: &Path) -> anyhow::Result<()> {
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

impl Dump {
    /// The total.
    pub(super) fn total(&self) -> anyhow::Result<u64> {
        let mut lines = self.0.lines().rev();
        let total = lines.find_map(|line| line.strip_prefix("totals: "));
        total
            .and_then(|total| total.trim().parse().ok())
            .context("callgrind's file has no total")
    }

    /// The part of the key/value store: Berkeley DB's library, or the crates of our engine. None
    /// if there is neither, because back-mdb is one object with its store.
    pub(super) fn of_store(&self) -> Option<u64> {
        let mut found = None;
        for (place, cost) in own_costs(&self.0) {
            if is_store(place) {
                *found.get_or_insert(0) += cost;
            }
        }
        found
    }
}

fn is_store(place: CodePlace<'_>) -> bool {
    let crates = ["fulgurite::", "fulgurite_format::", "fulgurite_os::"];
    place.object.contains("/libdb-5")
        || crates.iter().any(|name| {
            let function = place.function.trim_start_matches(['<', '&', '(']);
            function.starts_with(name)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_total_counts() {
        let text = "events: Ir\nfn=(1) main\n10 5\n\ntotals: 12\ntotals: 4711\n";
        assert_eq!(Dump(text.to_owned()).total().ok(), Some(4711));
        assert!(Dump("events: Ir\n".to_owned()).total().is_err());
        assert!(Dump("totals: much\n".to_owned()).total().is_err());
    }

    #[test]
    fn the_store_has_its_own_instructions() {
        let text = "ob=(1) /usr/sbin/slapd\nfn=(1) main\n10 5\ncob=(2) /lib/libdb-5.3.so\ncfn=(2) get\ncalls=1 0\n11 700\n+1 6\n\n\
                    ob=(2)\nfn=(2)\n0 700\n\ntotals: 711\n";
        assert_eq!(Dump(text.to_owned()).of_store(), Some(700));
        let text = "ob=(1) fulgurite\nfn=(1) <fulgurite::txn::ReadTxn>::get\n10 5\n* 2\nfn=(2) fulgurite_store::get\n1 9\n";
        assert_eq!(Dump(text.to_owned()).of_store(), Some(7));
        assert_eq!(Dump("ob=(1) slapd\n1 9\n".to_owned()).of_store(), None);
    }
}
