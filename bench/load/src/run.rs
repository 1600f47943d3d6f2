//! Threads with connections, until all requests are answered.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use fulgurite_ldap::{BindRequest, Request, ResponseMessage, encode, frame};
use mio::{Events, Interest, Poll, Token};

use crate::connection::{Connection, Numbers};
use crate::options::Arguments;
use crate::report::{Run, Tally};
use crate::workload::Workload;

/// How long to wait for any answer at all.
const PATIENCE: Duration = Duration::from_secs(120);

/// One counter for all threads, so that none runs out before the others.
struct Counter<'c> {
    next: &'c AtomicU64,
    end: u64,
    /// No more after this.
    until: Option<Instant>,
}

impl Numbers for Counter<'_> {
    fn next(&mut self) -> Option<u64> {
        if self.until.is_some_and(|until| Instant::now() >= until) {
            return None;
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        (number < self.end).then_some(number)
    }
}

/// Connects, then asks until all requests are answered; the time counts from the first request.
pub(crate) fn run(arguments: &Arguments, workload: &Workload) -> anyhow::Result<Run> {
    let address = arguments
        .server
        .to_socket_addrs()
        .ok()
        .and_then(|mut addresses| addresses.next())
        .with_context(|| format!("--server {} is not an address and port", arguments.server))?;
    let threads = arguments.threads.clamp(1, arguments.connections.max(1));
    let next = AtomicU64::new(0);
    let connected = Barrier::new(threads + 1);
    let (elapsed, tallies) = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|index| {
                let count = (arguments.connections.max(1) + index) / threads;
                let (connected, next) = (&connected, &next);
                scope.spawn(move || {
                    let connections = connect_all(address, count, arguments);
                    connected.wait();
                    let counter = Counter {
                        next,
                        end: workload.requests_max(arguments.requests),
                        until: arguments
                            .seconds
                            .map(|seconds| Instant::now() + Duration::from_secs(seconds)),
                    };
                    ask(connections?, workload, counter)
                })
            })
            .collect();
        connected.wait();
        let begun = Instant::now();
        let tallies: Vec<_> = workers
            .into_iter()
            .map(thread::ScopedJoinHandle::join)
            .collect();
        (begun.elapsed(), tallies)
    });
    let mut run = Run {
        elapsed,
        tally: Tally::default(),
    };
    for tally in tallies {
        match tally {
            Ok(tally) => run.tally.merge(tally?),
            Err(_) => bail!("a thread of the load generator panicked"),
        }
    }
    Ok(run)
}

fn connect_all(
    address: SocketAddr,
    count: usize,
    arguments: &Arguments,
) -> anyhow::Result<Vec<Connection>> {
    (0..count)
        .map(|_| {
            let mut stream =
                TcpStream::connect(address).with_context(|| format!("connecting to {address}"))?;
            stream.set_nodelay(true)?;
            if let (Some(dn), Some(password)) = (&arguments.bind_dn, &arguments.password) {
                bind(&mut stream, dn, password)?;
            }
            stream.set_nonblocking(true)?;
            let stream = mio::net::TcpStream::from_std(stream);
            Ok(Connection::new(stream, arguments.depth, Instant::now()))
        })
        .collect()
}

fn bind(stream: &mut TcpStream, dn: &str, password: &str) -> anyhow::Result<()> {
    let mut request = Vec::new();
    encode::request(
        &mut request,
        1,
        &Request::Bind(BindRequest::simple(dn, password.as_bytes())),
        &[],
    );
    stream.write_all(&request)?;
    let mut response = Vec::new();
    while frame(&response, usize::MAX)?.is_none() {
        let mut octet = [0];
        stream
            .read_exact(&mut octet)
            .context("the server closed during the bind")?;
        response.extend_from_slice(&octet);
    }
    let message = ResponseMessage::decode(&response)?;
    let bound = message
        .response
        .result()
        .is_some_and(fulgurite_ldap::LdapResult::is_success);
    ensure!(bound, "cannot bind as {dn}: {:?}", message.response);
    Ok(())
}

fn ask(
    mut connections: Vec<Connection>,
    workload: &Workload,
    mut numbers: Counter<'_>,
) -> anyhow::Result<Tally> {
    let mut poll = Poll::new()?;
    for (index, connection) in connections.iter_mut().enumerate() {
        poll.registry().register(
            &mut connection.stream,
            Token(index),
            Interest::READABLE | Interest::WRITABLE,
        )?;
    }
    let mut tally = Tally::default();
    let mut scratch = vec![0; 256 * 1024];
    let mut events = Events::with_capacity(256);
    for connection in &mut connections {
        connection.begin(workload, &mut numbers)?;
    }
    while !connections.iter().all(Connection::is_done) {
        poll.poll(&mut events, Some(PATIENCE))?;
        ensure!(
            !events.is_empty(),
            "no answer for {} seconds",
            PATIENCE.as_secs()
        );
        for event in &events {
            if let Some(connection) = connections.get_mut(event.token().0) {
                connection.serve(&mut scratch, workload, &mut numbers, &mut tally)?;
            }
        }
    }
    Ok(tally)
}
