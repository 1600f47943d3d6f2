//! Clients of memcached's text protocol: each waits for an answer before it sends the next request.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, anyhow, ensure};

use crate::measure::{Outcome, Stopwatch};
use crate::workload::data::{Values, mix, scattered};

/// Clients at once, each with its own connection and thread.
pub(super) const CLIENTS: u64 = 4;

/// Bytes of each value.
const VALUE_BYTES: usize = 100;

/// The longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The request of all clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Set,
    Get,
}

/// Lets all clients ask for their share of the records. The outcome's time on the clock is the sum
/// of all waits. A part of it is therefore a mean latency.
/// # Errors
/// Fails if a server does not answer, or answers anything else than it has to.
pub(super) fn ask(
    port: u16,
    operation: Operation,
    records: u64,
    seed: u64,
) -> anyhow::Result<Outcome> {
    let watches = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| scope.spawn(move || ask_as(client, port, operation, records, seed)))
            .collect();
        let watches = clients
            .into_iter()
            .map(|client| client.join().map_err(|_| anyhow!("a client panicked"))?);
        watches.collect::<anyhow::Result<Vec<Stopwatch>>>()
    })?;
    let mut all = Stopwatch::new(true);
    watches.into_iter().for_each(|watch| all.merge(watch));
    Ok(Outcome {
        operations: records / CLIENTS * CLIENTS,
        wall_ns: all.sum_ns(),
        cpu_ns: 0,
        digest: 0,
        latencies: all.latencies(),
        beside: 0,
        file_bytes: 0,
        errors: 0,
        wrong: 0,
        version: String::new(),
    })
}

fn ask_as(
    client: u64,
    port: u16,
    operation: Operation,
    records: u64,
    seed: u64,
) -> anyhow::Result<Stopwatch> {
    let stream = TcpStream::connect(("127.0.0.1", port)).context("cannot connect")?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut input = BufReader::new(&stream);
    let mut watch = Stopwatch::new(true);
    let mut values = Values::new(VALUE_BYTES);
    let mut request = Vec::new();
    let mut expected = Vec::new();
    let mut answer = Vec::new();
    for at in 0..records / CLIENTS {
        // Each record once; reads in another order than writes.
        let position = at * CLIENTS + client;
        let number = match operation {
            Operation::Set => scattered(position, records),
            Operation::Get => scattered((position + mix(seed) % records) % records, records),
        };
        let value = values.of(number, 0);
        request.clear();
        expected.clear();
        match operation {
            Operation::Set => {
                write!(request, "set key.{number:012} 0 0 {VALUE_BYTES}\r\n")?;
                request.extend_from_slice(value);
                request.extend_from_slice(b"\r\n");
                expected.extend_from_slice(b"STORED\r\n");
            }
            Operation::Get => {
                write!(request, "get key.{number:012}\r\n")?;
                write!(expected, "VALUE key.{number:012} 0 {VALUE_BYTES}\r\n")?;
                expected.extend_from_slice(value);
                expected.extend_from_slice(b"\r\nEND\r\n");
            }
        }
        answer.resize(expected.len(), 0);
        watch.time(|| {
            (&stream).write_all(&request)?;
            // An answer that is shorter and wrong would be waited for in vain.
            let first = input.fill_buf()?;
            let length = first.len().min(expected.len());
            ensure!(
                first[..length] == expected[..length],
                "wrong answer to record {number}: {:?}",
                String::from_utf8_lossy(&first[..length])
            );
            Ok(input.read_exact(&mut answer)?)
        })?;
        ensure!(answer == expected, "wrong answer to record {number}");
    }
    Ok(watch)
}
