//! Connections that add entries, each with many adds in flight.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, sync_channel};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use fulgurite_client::{Client, LdapResult, Response, ResponseMessage, ResultCode};

use super::order::NewEntry;
use crate::remote::login::Login;

/// Adds in flight of one connection at most. slapd allows 1000, ours too.
const IN_FLIGHT_MAX: usize = 950;

/// Adds in flight of all connections at most. Ours allows an identity 20,000
/// (`limits.pending_identity`).
const IN_FLIGHT_TOTAL: usize = 19_000;

/// Adds in flight that a connection keeps, however busy the server is.
const IN_FLIGHT_MIN: usize = 10;

/// Pause of a connection to which a busy server has nothing to answer.
const BUSY_PAUSE: Duration = Duration::from_millis(50);

/// Times that an entry may find the server busy.
const BUSY_MAX: u32 = 400;

/// The answer to an add, with the key of its entry.
pub(super) enum Outcome {
    Added(String),
    /// The entry is there already.
    Known(String),
    /// The server refuses the entry, for this reason.
    Refused(String, String),
    /// The server refuses the entry for this reason, because something above it is missing.
    Orphan(NewEntry, String),
    /// The connection is of no more use.
    Lost(anyhow::Error),
}

/// Threads with a connection each.
pub(super) struct Workers {
    queues: Vec<SyncSender<NewEntry>>,
    next: usize,
}

impl Workers {
    /// Connects, and begins the threads. They end with the workers.
    pub(super) fn start(
        login: &Login,
        count: usize,
        outcomes: &Sender<Outcome>,
    ) -> anyhow::Result<Workers> {
        let in_flight_max = in_flight_max(count);
        let mut queues = Vec::with_capacity(count);
        for _ in 0..count {
            let client = login.connect()?;
            let (queue, entries) = sync_channel(in_flight_max);
            let outcomes = outcomes.clone();
            thread::Builder::new()
                .name("load".to_owned())
                .spawn(move || {
                    let mut connection = Connection::new(client, in_flight_max);
                    if let Err(error) = connection.run(&entries, &outcomes) {
                        // Without a receiver the command has ended already.
                        let _ = outcomes.send(Outcome::Lost(error));
                    }
                })
                .context("cannot begin a thread")?;
            queues.push(queue);
        }
        Ok(Workers { queues, next: 0 })
    }

    /// Hands an entry to the next connection, and waits until it has room. Returns false if the
    /// connection is lost.
    pub(super) fn send(&mut self, entry: NewEntry) -> bool {
        let queue = self.queues.get(self.next % self.queues.len());
        self.next += 1;
        queue.is_some_and(|queue| queue.send(entry).is_ok())
    }
}

/// A connection with its adds in flight.
struct Connection {
    client: Client,
    /// The entry of each request.
    in_flight: HashMap<u32, NewEntry>,
    in_flight_max: usize,
    /// Entries that a busy server has refused, to be sent again.
    again: Vec<NewEntry>,
}

impl Connection {
    fn new(client: Client, in_flight_max: usize) -> Connection {
        Connection {
            client,
            in_flight: HashMap::new(),
            in_flight_max,
            again: Vec::new(),
        }
    }

    /// Adds entries until there are no more.
    fn run(
        &mut self,
        entries: &Receiver<NewEntry>,
        outcomes: &Sender<Outcome>,
    ) -> anyhow::Result<()> {
        let mut is_open = true;
        while is_open || !self.in_flight.is_empty() || !self.again.is_empty() {
            if self.in_flight.is_empty() && !self.again.is_empty() {
                thread::sleep(BUSY_PAUSE);
            }
            is_open &= self.fill(entries)?;
            if self.in_flight.is_empty() {
                continue;
            }
            // One answer is waited for, those that came with it are taken too.
            loop {
                if let Some(outcome) = self.answer()?
                    && outcomes.send(outcome).is_err()
                {
                    return Ok(());
                }
                if self.in_flight.is_empty() || !self.client.is_ready() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Sends entries while there are some and there is room. Waits for one if nothing is in flight.
    /// Returns false if no more will come.
    fn fill(&mut self, entries: &Receiver<NewEntry>) -> anyhow::Result<bool> {
        let mut is_open = true;
        while self.in_flight.len() < self.in_flight_max {
            if let Some(entry) = self.again.pop() {
                self.queue(entry);
                continue;
            }
            let entry = if self.in_flight.is_empty() {
                entries.recv().map_err(|_| TryRecvError::Disconnected)
            } else {
                entries.try_recv()
            };
            match entry {
                Ok(entry) => self.queue(entry),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    is_open = false;
                    break;
                }
            }
        }
        self.client.flush()?;
        Ok(is_open)
    }

    fn queue(&mut self, entry: NewEntry) {
        let id = self.client.queue(&entry.request());
        self.in_flight.insert(id, entry);
    }

    /// Waits for the next answer. `None` if the server is too busy for the entry, which will be
    /// sent again. Then the connection has less in flight.
    fn answer(&mut self) -> anyhow::Result<Option<Outcome>> {
        loop {
            let ResponseMessage { id, response, .. } = self.client.receive()?;
            let Response::Add(result) = response else {
                continue;
            };
            let Some(mut entry) = self.in_flight.remove(&id) else {
                continue;
            };
            if result.code == ResultCode::Busy && entry.times_busy < BUSY_MAX {
                entry.times_busy += 1;
                self.again.push(entry);
                self.in_flight_max = (self.in_flight_max / 2).max(IN_FLIGHT_MIN);
                return Ok(None);
            }
            return Ok(Some(outcome(entry, &result)));
        }
    }
}

/// Returns the adds in flight of each of some connections.
fn in_flight_max(connections: usize) -> usize {
    IN_FLIGHT_MAX.min(IN_FLIGHT_TOTAL / connections.max(1))
}

fn outcome(entry: NewEntry, result: &LdapResult) -> Outcome {
    let text = || format!("{}: {}: {result}", entry.place, entry.dn());
    match result.code {
        ResultCode::Success => Outcome::Added(entry.key),
        ResultCode::EntryAlreadyExists => Outcome::Known(entry.key),
        ResultCode::NoSuchObject => {
            let text = text();
            Outcome::Orphan(entry, text)
        }
        _ => {
            let text = text();
            Outcome::Refused(entry.key, text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_takes_the_adds_of_any_number_of_connections() {
        for connections in 1..=64 {
            let each = in_flight_max(connections);
            assert!((100..1000).contains(&each), "{connections}: {each}");
            assert!(each * connections < 20_000, "{connections}: {each}");
        }
    }
}
