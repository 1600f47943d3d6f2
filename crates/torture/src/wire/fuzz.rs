//! Damaged messages against a running server.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use fulgurite_client::{Client, ClientError, Receiver, SearchRequest};
use fulgurite_ldap::{FilterBuf, Limits, Message, Request, ResultCode, Scope, frame};

use super::mutator::Mutator;

/// Connections at the same time.
const THREADS: u64 = 4;
/// Maximum messages of one connection; most end earlier.
const MESSAGES_PER_CONNECTION: usize = 40;
/// Bytes of a request that servers commonly accept from anonymous clients.
const REQUEST_BYTES_MAX: usize = 262_143;
/// The time that the server has to close a connection whose client has stopped sending.
const PATIENCE: Duration = Duration::from_secs(20);

/// The outcome of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FuzzReport {
    /// Messages that were written to a connection.
    pub messages: u64,
    /// Connections that were made.
    pub connections: u64,
    /// Responses that were received.
    pub responses: u64,
    /// Connections that ended with a notice of disconnection.
    pub notices: u64,
    /// Failures, one sentence each. They are refused or unclosed connections, responses that are
    /// not LDAP, and a failed search at the end.
    pub failures: Vec<String>,
}

impl FuzzReport {
    /// Returns true if there was no failure.
    #[must_use]
    pub const fn passed(&self) -> bool {
        self.failures.is_empty()
    }

    fn merge(&mut self, other: FuzzReport) {
        self.messages += other.messages;
        self.connections += other.connections;
        self.responses += other.responses;
        self.notices += other.notices;
        self.failures.extend(other.failures);
    }
}

/// Sends `messages` mutated messages to the server at `address` over many connections. Then checks
/// that the server still answers a search.
///
/// The messages follow from `seed`; their order on the server depends on the machine.
#[must_use]
pub fn fuzz_server(address: SocketAddr, seed: u64, messages: u64) -> FuzzReport {
    fuzz_server_as(address, seed, messages, None)
}

/// Runs as [`fuzz_server`] does, but binds each connection as `identity` (DN and password) first,
/// so that updates succeed. The server's data will change.
#[must_use]
pub fn fuzz_server_as(
    address: SocketAddr,
    seed: u64,
    messages: u64,
    identity: Option<(&str, &[u8])>,
) -> FuzzReport {
    let left = AtomicU64::new(messages);
    let mut report = FuzzReport::default();
    thread::scope(|scope| {
        let senders: Vec<_> = (0..THREADS)
            .map(|number| {
                let left = &left;
                scope.spawn(move || {
                    send_all(
                        address,
                        seed.wrapping_mul(THREADS).wrapping_add(number),
                        left,
                        identity,
                    )
                })
            })
            .collect();
        for sender_thread in senders {
            match sender_thread.join() {
                Ok(part) => report.merge(part),
                Err(_) => report
                    .failures
                    .push("a thread of the test itself panicked".to_owned()),
            }
        }
    });
    if let Err(problem) = still_answers(address) {
        report
            .failures
            .push(format!("after the attack, a search fails: {problem}"));
    }
    report
}

/// Opens one connection after the other until no message is left.
fn send_all(
    address: SocketAddr,
    seed: u64,
    left: &AtomicU64,
    identity: Option<(&str, &[u8])>,
) -> FuzzReport {
    let mut mutator = Mutator::new(seed);
    let mut report = FuzzReport::default();
    loop {
        let batch = batch(&mut mutator, left);
        if batch.is_empty() {
            return report;
        }
        if let Err(problem) = connection(address, &batch, identity, &mut report) {
            report.failures.push(format!(
                "connection {} of seed {seed}: {problem}",
                report.connections
            ));
            // If the server has ended, every further connection fails in the same way.
            return report;
        }
    }
}

/// Returns the messages of one connection, up to the first that must end it. The server would never
/// decode later ones.
fn batch(mutator: &mut Mutator, left: &AtomicU64) -> Vec<Vec<u8>> {
    let mut shots = Vec::new();
    while shots.len() < MESSAGES_PER_CONNECTION {
        let take = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            left.checked_sub(1)
        });
        if take.is_err() {
            break;
        }
        let shot = mutator.next_message();
        let last = ends_connection(&shot);
        shots.push(shot);
        if last {
            break;
        }
    }
    shots
}

fn ends_connection(shot: &[u8]) -> bool {
    let whole = matches!(frame(shot, REQUEST_BYTES_MAX), Ok(Some(bytes)) if bytes == shot.len());
    !whole
        || match Message::decode(shot, &Limits::default()) {
            Ok(message) => message.request == Request::Unbind,
            Err(error) => error.is_fatal(),
        }
}

fn connection(
    address: SocketAddr,
    shots: &[Vec<u8>],
    identity: Option<(&str, &[u8])>,
    report: &mut FuzzReport,
) -> Result<(), ClientError> {
    let mut client = Client::connect(address)?;
    report.connections += 1;
    client.set_read_timeout(Some(PATIENCE))?;
    client.set_write_timeout(Some(PATIENCE))?;
    if let Some((dn, password)) = identity {
        client.bind(dn, password)?;
    }
    let (mut sender, receiver) = client.split();
    thread::scope(|scope| {
        // Read all the time, because a server that cannot send need not read.
        let reader = scope.spawn(|| read_all(receiver));
        for shot in shots {
            report.messages += 1;
            match sender.send_raw(shot) {
                Ok(()) => {}
                Err(ClientError::Timeout) => return Err(ClientError::Timeout),
                // Closed by the server, which may have its reasons.
                Err(_) => break,
            }
        }
        sender.shut_down();
        let (responses, notices, end) = reader.join().map_err(|_| ClientError::Unexpected)?;
        report.responses += responses;
        report.notices += notices;
        match end {
            // The server closed, or reset what it had not read.
            ClientError::Closed | ClientError::Disconnected(_) | ClientError::Io(_) => Ok(()),
            problem => Err(problem),
        }
    })
}

/// Reads to the end of a connection. Returns the numbers of responses and notices, and the end.
fn read_all(mut receiver: Receiver) -> (u64, u64, ClientError) {
    let (mut responses, mut notices) = (0, 0);
    loop {
        match receiver.receive() {
            Ok(_) => responses += 1,
            Err(ClientError::Disconnected(_)) => notices += 1,
            Err(end) => return (responses, notices, end),
        }
    }
}

/// Reads the root DSE as an ordinary client.
fn still_answers(address: SocketAddr) -> Result<(), String> {
    let problem = |error: ClientError| error.to_string();
    let mut client = Client::connect(address).map_err(problem)?;
    client.set_read_timeout(Some(PATIENCE)).map_err(problem)?;
    let filter = FilterBuf::parse("(objectClass=*)").map_err(|error| error.to_string())?;
    let request = SearchRequest::new("", Scope::Base, filter.filter());
    let outcome = client.search_with(&request, &[]).map_err(problem)?;
    match (outcome.result.code, outcome.entries.len()) {
        (ResultCode::Success, 1) => Ok(()),
        (_, entries) => Err(format!("{entries} entries, {}", outcome.result)),
    }
}
