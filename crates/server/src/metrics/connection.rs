//! One connection: a request within bounds of bytes and time, its response, the end.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, TryLockError};
use std::time::{Duration, Instant};

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::collect::collect;
use super::health::Health;
use super::http::{HEAD_BYTES_MAX, Request, Response};
use super::token::TokenFile;
use crate::statistics::Statistics;

/// The time for a whole request and its response.
const TIME_MAX: Duration = Duration::from_secs(5);

/// The time that a read or write waits before it looks if the server ends.
const STEP: Duration = Duration::from_millis(200);

/// The type of the figures' text.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The source of all responses.
#[derive(Debug)]
pub(super) struct Answers {
    pub(super) health: Arc<Health>,
    pub(super) statistics: Arc<Statistics>,
    pub(super) token: Option<TokenFile>,
    /// Held while figures are collected: some cost a look at many pages.
    pub(super) collecting: Mutex<()>,
}

/// A socket that gives up at a point in time, or when the server ends.
struct TimedSocket<'s> {
    stream: TcpStream,
    deadline: Instant,
    stop: &'s AtomicBool,
}

impl TimedSocket<'_> {
    /// Repeats an action that waits for a short time until it has waited for long enough.
    fn within(
        &mut self,
        mut action: impl FnMut(&mut TcpStream) -> io::Result<usize>,
    ) -> io::Result<usize> {
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || self.stop.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let step = Some(left.min(STEP));
            self.stream.set_read_timeout(step)?;
            self.stream.set_write_timeout(step)?;
            match action(&mut self.stream) {
                Err(error) if is_short(&error) => {}
                done => return done,
            }
        }
    }
}

/// Returns true if an action has only waited too short.
fn is_short(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

impl Read for TimedSocket<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.within(|stream| stream.read(buffer))
    }
}

impl Write for TimedSocket<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.within(|stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Answers one request and closes. Errors of the client need no report.
///
/// It calls `arrived` once the head of the request is complete or refused.
pub(super) fn serve(
    stream: TcpStream,
    tls: Option<Arc<ServerConfig>>,
    answers: &Answers,
    stop: &AtomicBool,
    arrived: &dyn Fn(),
) {
    let socket = TimedSocket {
        stream,
        deadline: Instant::now() + TIME_MAX,
        stop,
    };
    let served = match tls {
        None => serve_on(socket, answers, arrived),
        Some(config) => serve_protected(socket, config, answers, arrived),
    };
    if let Err(error) = served {
        tracing::debug!("metrics: a connection failed: {error}");
    }
}

fn serve_protected(
    socket: TimedSocket<'_>,
    config: Arc<ServerConfig>,
    answers: &Answers,
    arrived: &dyn Fn(),
) -> io::Result<()> {
    let connection = ServerConnection::new(config).map_err(io::Error::other)?;
    let mut stream = StreamOwned::new(connection, socket);
    answer(&mut stream, answers, arrived)?;
    stream.conn.send_close_notify();
    stream.flush()?;
    linger(&mut stream.sock)
}

fn serve_on(mut socket: TimedSocket<'_>, answers: &Answers, arrived: &dyn Fn()) -> io::Result<()> {
    answer(&mut socket, answers, arrived)?;
    linger(&mut socket)
}

/// Waits for the client to close. If the server closed first with unread bytes, a reset could
/// destroy the response on its way.
fn linger(socket: &mut TimedSocket<'_>) -> io::Result<()> {
    socket.stream.shutdown(Shutdown::Write)?;
    socket.deadline = socket.deadline.min(Instant::now() + STEP);
    let mut rest = [0; 1024];
    while socket.read(&mut rest)? > 0 {}
    Ok(())
}

fn answer(
    stream: &mut (impl Read + Write),
    answers: &Answers,
    arrived: &dyn Fn(),
) -> io::Result<()> {
    let request = read_request(stream);
    arrived();
    let (response, has_body) = match request {
        Ok(Some(request)) => (answers.response(&request), !request.is_head),
        // The client has closed without a word.
        Ok(None) => return Ok(()),
        Err(refusal) => (refusal, true),
    };
    stream.write_all(&response.bytes(has_body))?;
    stream.flush()
}

/// Returns the answers of a server without stores to the bytes of one connection, for tests with
/// hostile bytes. The figures demand a token that is not there.
#[must_use]
pub fn answer_metrics_bytes(bytes: &[u8]) -> Vec<u8> {
    struct Exchange<'b>(&'b [u8], Vec<u8>);
    impl Read for Exchange<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.0.read(out)
        }
    }
    impl Write for Exchange<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1.write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let answers = Answers {
        health: Arc::default(),
        statistics: Arc::default(),
        token: Some(TokenFile(PathBuf::new())),
        collecting: Mutex::default(),
    };
    let mut exchange = Exchange(bytes, Vec::new());
    // Writing to memory does not fail.
    let _ = answer(&mut exchange, &answers, &|| {});
    exchange.1
}

/// Reads a request; `None` if the client closes before.
fn read_request(stream: &mut impl Read) -> Result<Option<Request>, Response> {
    let mut bytes = vec![0; HEAD_BYTES_MAX];
    let mut len = 0;
    loop {
        let room = bytes.get_mut(len..).unwrap_or_default();
        match stream.read(room) {
            Ok(0) if len == 0 => return Ok(None),
            Ok(0) => return Err(Response::plain(400, "the request ends before its head")),
            Ok(count) => len += count,
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                return Err(Response::plain(408, "the request takes too long"));
            }
            // Nobody would read a response.
            Err(_) => return Ok(None),
        }
        let request = Request::parse(bytes.get(..len).unwrap_or_default())?;
        if request.is_some() {
            return Ok(request);
        }
    }
}

impl Answers {
    fn response(&self, request: &Request) -> Response {
        let probe = |trouble: Option<String>| match trouble {
            None => Response::plain(200, "ok"),
            Some(reason) => Response::plain(503, reason),
        };
        match request.path.as_str() {
            "/metrics" => self.metrics(request),
            "/healthz" => probe(self.health.is_stuck(&self.statistics)),
            "/readyz" => probe(self.health.is_unready(&self.statistics)),
            _ => Response::plain(404, "ask for /metrics, /healthz or /readyz"),
        }
    }

    fn metrics(&self, request: &Request) -> Response {
        if let Some(token) = &self.token {
            match token.admits(request.authorization.as_deref()) {
                Ok(true) => {}
                Ok(false) => return Response::plain(401, "the token is missing or wrong"),
                Err(error) => {
                    let file = token.0.display();
                    tracing::warn!("metrics: nobody gets them, because of {file}: {error}");
                    return Response::plain(503, "the server has no token to compare with");
                }
            }
        }
        // Nobody waits, because connections that wait would keep the probes out.
        let _one_at_a_time = match self.collecting.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Response::plain(503, "busy: another client is getting the figures");
            }
        };
        match collect(&self.health, &self.statistics) {
            Ok(body) => Response {
                status: 200,
                content_type: OPEN_METRICS,
                body,
            },
            Err(error) => Response::plain(500, error),
        }
    }
}
