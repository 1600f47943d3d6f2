//! Clients that do one thing after another, and the times that these take.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use fulgurite_client::{Change, Client, ResultCode};

use super::node::SUFFIX;

/// The length of a value in etcd, in base64: about that of a batch with one change.
const VALUE_LEN: usize = 532;

/// The result of one run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    /// Done in a second.
    pub(super) rate: f64,
    pub(super) p50: Duration,
    pub(super) p99: Duration,
}

/// Returns the value that this part of all values keeps below.
pub(super) fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let at = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(at).copied().unwrap_or_default()
}

/// Lets `count` clients work at the same time. `make` makes the work of each.
pub(super) fn measure<W>(
    count: usize,
    time: Duration,
    make: impl Fn(usize) -> anyhow::Result<W>,
) -> anyhow::Result<Measured>
where
    W: FnMut() -> anyhow::Result<()> + Send,
{
    let works: Vec<W> = (0..count).map(make).collect::<Result<_, _>>()?;
    let start = Barrier::new(count + 1);
    let (took, times) = thread::scope(|scope| {
        let start = &start;
        let threads = works.into_iter().map(|mut work| {
            scope.spawn(move || -> anyhow::Result<Vec<Duration>> {
                start.wait();
                let begun = Instant::now();
                let mut times = Vec::new();
                while begun.elapsed() < time {
                    let at = Instant::now();
                    work()?;
                    times.push(at.elapsed());
                }
                Ok(times)
            })
        });
        let threads: Vec<_> = threads.collect();
        start.wait();
        let begun = Instant::now();
        let times = threads.into_iter().map(|thread| match thread.join() {
            Ok(times) => times,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        let times: anyhow::Result<Vec<_>> = times.collect();
        (begun.elapsed(), times)
    });
    let mut times: Vec<Duration> = times?.into_iter().flatten().collect();
    times.sort_unstable();
    ensure!(!times.is_empty(), "nothing was done");
    Ok(Measured {
        rate: times.len() as f64 / took.as_secs_f64(),
        p50: percentile(&times, 50),
        p99: percentile(&times, 99),
    })
}

/// Replaces the description of a person. Returns the code of the answer.
pub(super) fn describe(client: &mut Client, person: u64, text: &str) -> anyhow::Result<ResultCode> {
    let dn = format!("uid=user.{person},ou=people,{SUFFIX}");
    let values = [text.as_bytes()];
    Ok(client
        .modify(&dn, &[Change::replace("description", &values)])?
        .code)
}

/// Returns the work of a client that changes one person after another.
pub(super) fn updates(
    mut client: Client,
    number: usize,
    people: u64,
) -> impl FnMut() -> anyhow::Result<()> + Send {
    let mut step = number as u64 * 104_729;
    move || {
        step += 7_919;
        let text = format!("change {step}");
        loop {
            match describe(&mut client, step % people, &text)? {
                ResultCode::Success => return Ok(()),
                // There is no sequencer for a moment. The time counts.
                ResultCode::Busy => thread::sleep(Duration::from_millis(5)),
                code => bail!("an update: {}", code.name()),
            }
        }
    }
}

/// Returns the work of a client of etcd that puts one value after another.
pub(super) fn puts(
    url: &str,
    number: usize,
) -> anyhow::Result<impl FnMut() -> anyhow::Result<()> + Send + use<>> {
    let address = url.strip_prefix("http://").context("a URL without TLS")?;
    let socket = TcpStream::connect(address)?;
    socket.set_nodelay(true)?;
    let mut answers = BufReader::new(socket.try_clone()?);
    let mut socket = socket;
    let value = "A".repeat(VALUE_LEN);
    let mut step = 0;
    Ok(move || {
        step += 1;
        // Eight digits are base64 of a key of six bytes.
        let key = number * 1_000_000 + step;
        let body = format!(r#"{{"key":"{key:08}","value":"{value}"}}"#);
        let len = body.len();
        let question =
            format!("POST /v3/kv/put HTTP/1.1\r\nHost: x\r\nContent-Length: {len}\r\n\r\n{body}");
        socket.write_all(question.as_bytes())?;
        read_answer(&mut answers)
    })
}

fn read_answer(answers: &mut BufReader<TcpStream>) -> anyhow::Result<()> {
    let (mut len, mut line, mut status) = (None, String::new(), String::new());
    loop {
        line.clear();
        ensure!(
            answers.read_line(&mut line)? > 0,
            "etcd closed the connection"
        );
        if status.is_empty() {
            status.clone_from(&line);
        }
        if line == "\r\n" {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            len = Some(value.trim().parse::<usize>()?);
        }
    }
    let Some(len) = len else {
        bail!("an answer of etcd without a length");
    };
    let mut body = vec![0; len];
    answers.read_exact(&mut body)?;
    ensure!(status.contains(" 200 "), "etcd: {}", status.trim());
    Ok(())
}
