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

/// Clients at once whose values are waited for.
pub(super) const DURABLE_CLIENTS: u64 = 64;

/// Requests that a client sends before it reads their answers, where it does so.
const BATCH: u64 = 50;

/// Bytes of each value.
const VALUE_BYTES: usize = 100;

/// The longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The request of all clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Set,
    Get,
    /// Several requests before their answers are read.
    GetBatches,
}

/// The words of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    Memcached,
    Redis,
}

/// A server to ask, and the way to ask it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question {
    pub(super) port: u16,
    pub(super) protocol: Protocol,
    pub(super) operation: Operation,
    pub(super) clients: u64,
    pub(super) records: u64,
    pub(super) seed: u64,
}

/// Lets all clients ask for their share of the records. The outcome's time on the clock is the sum
/// of all waits. A part of it is therefore a mean latency.
/// # Errors
/// Fails if a server does not answer, or answers anything else than it has to.
pub(super) fn ask(question: Question) -> anyhow::Result<Outcome> {
    let watches = thread::scope(|scope| {
        let clients: Vec<_> = (0..question.clients)
            .map(|client| scope.spawn(move || ask_as(client, question)))
            .collect();
        let watches = clients
            .into_iter()
            .map(|client| client.join().map_err(|_| anyhow!("a client panicked"))?);
        watches.collect::<anyhow::Result<Vec<Stopwatch>>>()
    })?;
    let mut all = Stopwatch::new(true);
    watches.into_iter().for_each(|watch| all.merge(watch));
    Ok(Outcome {
        operations: question.operations(),
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

impl Question {
    /// The requests of one client.
    fn share(&self) -> u64 {
        match self.operation {
            Operation::GetBatches => self.records / self.clients / BATCH * BATCH,
            _ => self.records / self.clients,
        }
    }

    fn operations(&self) -> u64 {
        self.share() * self.clients
    }

    /// The record of a request. Each record comes once; reads come in another order than writes.
    fn number(&self, position: u64) -> u64 {
        let records = self.records;
        match self.operation {
            Operation::Set => scattered(position, records),
            _ => scattered((position + mix(self.seed) % records) % records, records),
        }
    }

    /// Appends a request, and the answer that it has to have.
    fn write(
        &self,
        number: u64,
        value: &[u8],
        request: &mut Vec<u8>,
        expected: &mut Vec<u8>,
    ) -> anyhow::Result<()> {
        match (self.protocol, self.operation) {
            (Protocol::Redis, Operation::Set) => {
                write!(request, "*3\r\n$3\r\nSET\r\n$16\r\nkey.{number:012}\r\n")?;
                write!(request, "${VALUE_BYTES}\r\n")?;
                request.extend_from_slice(value);
                request.extend_from_slice(b"\r\n");
                expected.extend_from_slice(b"+OK\r\n");
            }
            (Protocol::Memcached, Operation::Set) => {
                write!(request, "set key.{number:012} 0 0 {VALUE_BYTES}\r\n")?;
                request.extend_from_slice(value);
                request.extend_from_slice(b"\r\n");
                expected.extend_from_slice(b"STORED\r\n");
            }
            (Protocol::Redis, _) => {
                write!(request, "*2\r\n$3\r\nGET\r\n$16\r\nkey.{number:012}\r\n")?;
                write!(expected, "${VALUE_BYTES}\r\n")?;
                expected.extend_from_slice(value);
                expected.extend_from_slice(b"\r\n");
            }
            (Protocol::Memcached, _) => {
                write!(request, "get key.{number:012}\r\n")?;
                write!(expected, "VALUE key.{number:012} 0 {VALUE_BYTES}\r\n")?;
                expected.extend_from_slice(value);
                expected.extend_from_slice(b"\r\nEND\r\n");
            }
        }
        Ok(())
    }
}

fn ask_as(client: u64, question: Question) -> anyhow::Result<Stopwatch> {
    let stream = TcpStream::connect(("127.0.0.1", question.port)).context("cannot connect")?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut input = BufReader::new(&stream);
    let mut watch = Stopwatch::new(true);
    let mut values = Values::new(VALUE_BYTES);
    let mut request = Vec::new();
    let mut expected = Vec::new();
    let mut answer = Vec::new();
    let at_once = match question.operation {
        Operation::GetBatches => BATCH,
        _ => 1,
    };
    for first in (0..question.share()).step_by(at_once as usize) {
        request.clear();
        expected.clear();
        for at in first..first + at_once {
            let number = question.number(at * question.clients + client);
            let value = values.of(number, 0);
            question.write(number, value, &mut request, &mut expected)?;
        }
        answer.resize(expected.len(), 0);
        watch.time(|| {
            (&stream).write_all(&request)?;
            // An answer that is shorter and wrong would be waited for in vain.
            let begin = input.fill_buf()?;
            let length = begin.len().min(expected.len());
            ensure!(
                begin[..length] == expected[..length],
                "wrong answer to request {first}: {:?}",
                String::from_utf8_lossy(&begin[..length])
            );
            Ok(input.read_exact(&mut answer)?)
        })?;
        ensure!(answer == expected, "wrong answer to request {first}");
    }
    Ok(watch)
}
