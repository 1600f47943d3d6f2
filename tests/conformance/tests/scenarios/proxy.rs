//! A network between two servers that cuts, delays, repeats and falls silent.
//!
//! It listens in place of a provider. Requests pass as they are. Responses pass message by message:
//! each can be held, told twice, or broken off in the middle.

use std::collections::{BTreeSet, HashMap};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fulgurite_ldap::{Response, ResponseMessage, SearchEntry};

/// How often a thread looks at the state of the network.
const TICK: Duration = Duration::from_millis(10);
/// How long a message is held by [`Fault::Delay`].
const DELAY: Duration = Duration::from_millis(30);
/// More octets than any message has.
const MESSAGE_MAX: usize = 1 << 24;

/// The state of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Fault {
    /// Nothing is wrong.
    None,
    /// Each response is late.
    Delay,
    /// Each entry comes twice.
    Duplicate,
    /// The provider's end of a connection is closed, the consumer's is open and silent.
    HalfOpen,
    /// Connections are refused.
    Refuse,
}

impl Fault {
    fn of(number: u8) -> Fault {
        let all = [Fault::None, Fault::Delay, Fault::Duplicate, Fault::HalfOpen];
        let found = all.into_iter().find(|fault| *fault as u8 == number);
        found.unwrap_or(Fault::Refuse)
    }
}

#[derive(Debug, Default)]
struct Network {
    fault: AtomicU8,
    /// Counts the cuts: a connection ends if it is older than the last one.
    cuts: AtomicU64,
    is_over: AtomicBool,
    entries: AtomicU64,
    /// The number of entries after which the way breaks once.
    breaks_after: AtomicU64,
    /// The values of `cn` that each entry had when it passed last, by its UUID.
    names: Mutex<HashMap<String, BTreeSet<String>>>,
}

impl Network {
    fn fault(&self) -> Fault {
        Fault::of(self.fault.load(Ordering::Relaxed))
    }

    /// Notes the values of `cn` of an entry that passes with its UUID.
    fn note_names(&self, entry: &SearchEntry<'_>) {
        let values = |wanted: &str| -> BTreeSet<String> {
            let attributes = entry.attributes.iter();
            let wanted = attributes
                .filter(|found| found.description.eq_ignore_ascii_case(wanted.as_bytes()));
            let values = wanted.flat_map(|attribute| attribute.values.iter());
            values
                .map(|value| String::from_utf8_lossy(value).into_owned())
                .collect()
        };
        if let Some(uuid) = values("entryUUID").pop_first() {
            let names = self.names.lock();
            let mut names = names.unwrap_or_else(PoisonError::into_inner);
            names.insert(uuid, values("cn"));
        }
    }

    /// Refuses connections from now on, and cuts all, if enough entries have passed.
    fn break_if_due(&self) {
        if self.entries.load(Ordering::Relaxed) >= self.breaks_after.load(Ordering::Relaxed) {
            self.fault.store(Fault::Refuse as u8, Ordering::Relaxed);
            self.cuts.fetch_add(1, Ordering::Relaxed);
            self.breaks_after.store(u64::MAX, Ordering::Relaxed);
        }
    }

    fn is_cut(&self, begun: u64) -> bool {
        self.is_over.load(Ordering::Relaxed) || self.cuts.load(Ordering::Relaxed) != begun
    }
}

/// The way to one provider.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) port: u16,
    network: Arc<Network>,
}

impl Proxy {
    /// Listens, and leads to a port of this machine.
    pub(crate) fn new(target: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("its number").port();
        listener.set_nonblocking(true).expect("a listener");
        let network = Network::default();
        network.breaks_after.store(u64::MAX, Ordering::Relaxed);
        let network = Arc::new(network);
        let held = Arc::clone(&network);
        std::thread::spawn(move || accept(&listener, target, &held));
        Proxy { port, network }
    }

    /// Sets the state of the network. A change ends what [`Fault::HalfOpen`] has left open.
    pub(crate) fn set(&self, fault: Fault) {
        let before = self.network.fault.swap(fault as u8, Ordering::Relaxed);
        if before == Fault::HalfOpen as u8 {
            self.cut();
        }
    }

    /// Cuts all connections, each in the middle of the next message.
    pub(crate) fn cut(&self) {
        self.network.cuts.fetch_add(1, Ordering::Relaxed);
    }

    /// Lets the way break once this many entries have passed: see [`Fault::Refuse`].
    pub(crate) fn refuse_after(&self, entries: u64) {
        let at = self.entries() + entries;
        self.network.breaks_after.store(at, Ordering::Relaxed);
    }

    /// Returns true if the way does not break any more, or has not been asked to.
    pub(crate) fn has_broken(&self) -> bool {
        self.network.breaks_after.load(Ordering::Relaxed) == u64::MAX
    }

    /// Returns the values of `cn` with which an entry passed last.
    pub(crate) fn names(&self, uuid: &str) -> BTreeSet<String> {
        let names = self.network.names.lock();
        let names = names.unwrap_or_else(PoisonError::into_inner);
        names.get(uuid).cloned().unwrap_or_default()
    }

    /// Returns how many entries have passed.
    pub(crate) fn entries(&self) -> u64 {
        self.network.entries.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.network.is_over.store(true, Ordering::Relaxed);
    }
}

fn accept(listener: &TcpListener, target: u16, network: &Arc<Network>) {
    while !network.is_over.load(Ordering::Relaxed) {
        let Ok((consumer, _)) = listener.accept() else {
            std::thread::sleep(TICK);
            continue;
        };
        if matches!(network.fault(), Fault::Refuse | Fault::HalfOpen) {
            continue;
        }
        let Ok(provider) = TcpStream::connect(("127.0.0.1", target)) else {
            continue;
        };
        let begun = network.cuts.load(Ordering::Relaxed);
        for stream in [&consumer, &provider] {
            stream.set_nonblocking(false).expect("a stream");
            stream.set_read_timeout(Some(TICK)).expect("a timeout");
        }
        let ends = (consumer.try_clone(), provider.try_clone());
        let (Ok(to_consumer), Ok(to_provider)) = ends else {
            continue;
        };
        let held = Arc::clone(network);
        std::thread::spawn(move || requests(consumer, to_provider, &held, begun));
        let held = Arc::clone(network);
        std::thread::spawn(move || responses(provider, to_consumer, &held, begun));
    }
}

/// Reads what there is. `None` at the end of a stream.
fn read(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<()> {
    let mut buffer = [0; 16 * 1024];
    match stream.read(&mut buffer) {
        Ok(0) => None,
        Ok(count) => {
            bytes.extend_from_slice(buffer.get(..count)?);
            Some(())
        }
        Err(error) => matches!(
            error.kind(),
            ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
        )
        .then_some(()),
    }
}

fn requests(mut consumer: TcpStream, mut provider: TcpStream, network: &Network, begun: u64) {
    let mut bytes = Vec::new();
    while !network.is_cut(begun) && read(&mut consumer, &mut bytes).is_some() {
        let is_silent = network.fault() == Fault::HalfOpen;
        if !is_silent && provider.write_all(&bytes).is_err() {
            break;
        }
        bytes.clear();
    }
    let _ = provider.shutdown(Shutdown::Both);
    let _ = consumer.shutdown(Shutdown::Both);
}

fn responses(mut provider: TcpStream, mut consumer: TcpStream, network: &Network, begun: u64) {
    let mut bytes = Vec::new();
    while !network.is_cut(begun) {
        if network.fault() == Fault::HalfOpen {
            let _ = provider.shutdown(Shutdown::Both);
            std::thread::sleep(TICK);
            continue;
        }
        let is_open = read(&mut provider, &mut bytes).is_some();
        if pass(&mut bytes, &mut consumer, network, begun).is_err() {
            break;
        }
        // The other thread leaves a consumer's end open that has fallen silent.
        if !is_open && network.fault() != Fault::HalfOpen {
            break;
        }
    }
    // The consumer gets the first half of a message.
    let half = bytes.get(..bytes.len() / 2).unwrap_or_default();
    let _ = consumer.write_all(half);
    let _ = consumer.shutdown(Shutdown::Both);
    let _ = provider.shutdown(Shutdown::Both);
}

/// Passes whole messages on.
fn pass(
    bytes: &mut Vec<u8>,
    consumer: &mut TcpStream,
    network: &Network,
    begun: u64,
) -> std::io::Result<()> {
    while let Ok(Some(len)) = fulgurite_ldap::frame(bytes, MESSAGE_MAX) {
        let fault = network.fault();
        if fault == Fault::Delay {
            std::thread::sleep(DELAY);
        }
        if network.is_cut(begun) || fault == Fault::HalfOpen {
            return Ok(());
        }
        let message: Vec<u8> = bytes.drain(..len).collect();
        let decoded = ResponseMessage::decode(&message).map(|decoded| decoded.response);
        let entry = match &decoded {
            Ok(Response::SearchEntry(entry)) => Some(entry),
            _ => None,
        };
        let is_entry = entry.is_some();
        network
            .entries
            .fetch_add(u64::from(is_entry), Ordering::Relaxed);
        consumer.write_all(&message)?;
        if let Some(entry) = entry {
            network.note_names(entry);
        }
        network.break_if_due();
        if is_entry && fault == Fault::Duplicate {
            consumer.write_all(&message)?;
        }
    }
    Ok(())
}
