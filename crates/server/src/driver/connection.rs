//! A session and the socket under it.

use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::time::{Duration, Instant};

use mio::event::Event;
use mio::net::TcpStream;

use crate::handler::Handler;
use crate::session::{Session, SessionLimits, Turn};
use crate::statistics::Meter;

/// How long a client that was told to go may take to close: closing first would reset the connection
/// and could take the notice with it.
const LINGER: Duration = Duration::from_secs(1);

pub(super) struct Connection<'h, H: Handler> {
    pub(super) session: Session<'h, H>,
    pub(super) stream: TcpStream,
    /// Stands in the worker's ready queue.
    pub(super) queued: bool,
    readable: bool,
    writable: bool,
    /// The client has ended its side, or the connection is broken: read until that is seen.
    read_closed: bool,
    /// When the client last took or sent anything.
    active_at: Instant,
    /// Since when it has taken nothing of what there is.
    stalled_since: Option<Instant>,
    lingers_since: Option<Instant>,
    meter: Meter,
}

/// What a connection needs after it has been served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// To be served again, after others.
    Again,
    /// An event.
    Event,
    /// To be forgotten, and why.
    Close(&'static str),
}

impl<'h, H: Handler> Connection<'h, H> {
    pub(super) fn new(
        session: Session<'h, H>,
        stream: TcpStream,
        meter: Meter,
        now: Instant,
    ) -> Self {
        Connection {
            session,
            stream,
            queued: false,
            // Assumed until the socket says otherwise: the first request may be there already.
            readable: true,
            writable: true,
            read_closed: false,
            active_at: now,
            stalled_since: None,
            lingers_since: None,
            meter,
        }
    }

    pub(super) fn note(&mut self, event: &Event) {
        self.readable |= event.is_readable() || event.is_read_closed() || event.is_error();
        self.writable |= event.is_writable() || event.is_error();
        self.read_closed |= event.is_read_closed() || event.is_error();
    }

    /// Reads once, if the session wants it.
    pub(super) fn read(&mut self, scratch: &mut [u8], now: Instant) -> io::Result<()> {
        if !self.readable || !self.session.wants_input() {
            return Ok(());
        }
        match self.stream.read(scratch) {
            Ok(0) => {
                self.readable = false;
                self.session.end_of_input();
            }
            Ok(count) => {
                self.active_at = now;
                self.meter.read();
                // Less than asked for means that there is no more: saves the read that says so.
                self.readable = count == scratch.len() || self.read_closed;
                self.session
                    .receive(scratch.get(..count).unwrap_or_default());
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.readable = false,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Writes what there is, as far as the socket takes it.
    pub(super) fn write(&mut self, now: Instant) -> io::Result<()> {
        while self.writable && !self.session.unsent().is_empty() {
            match self.stream.write(self.session.unsent()) {
                Ok(count) => {
                    self.session.sent(count);
                    self.meter.sent(count, false);
                    self.active_at = now;
                    self.stalled_since = None;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.writable = false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if !self.session.unsent().is_empty() {
            self.stalled_since.get_or_insert(now);
            self.meter.sent(0, true);
        }
        Ok(())
    }

    /// What to do after a turn that ended with `turn`, and after writing.
    pub(super) fn next(&mut self, turn: Turn, scratch: &mut [u8], now: Instant) -> Next {
        match turn {
            Turn::Closing if self.session.unsent().is_empty() => self.linger(scratch, now),
            Turn::Closing => Next::Event,
            Turn::More | Turn::OutputFull if self.session.output_is_full() => {
                self.session.park();
                Next::Event
            }
            Turn::More | Turn::OutputFull => Next::Again,
            Turn::Waits if self.readable && self.session.wants_input() => Next::Again,
            Turn::Waits => Next::Event,
        }
    }

    /// Waits for the client to close, if it was told to: reads and forgets.
    fn linger(&mut self, scratch: &mut [u8], now: Instant) -> Next {
        if !self.session.sent_notice() {
            return Next::Close("done");
        }
        if self.lingers_since.is_none() {
            self.lingers_since = Some(now);
            if self.stream.shutdown(Shutdown::Write).is_err() {
                return Next::Close("lost");
            }
        }
        loop {
            match self.stream.read(scratch) {
                Ok(0) => return Next::Close("disconnected"),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Next::Event,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Next::Close("lost"),
            }
        }
    }

    /// Whether the connection has outlived a time limit, and which.
    pub(super) fn overdue(&self, limits: &SessionLimits, now: Instant) -> Option<&'static str> {
        let exceeded = |since: Option<Instant>, limit: Option<Duration>| {
            since
                .zip(limit)
                .is_some_and(|(since, limit)| now.duration_since(since) >= limit)
        };
        if exceeded(self.lingers_since, Some(LINGER)) {
            Some("disconnected")
        } else if exceeded(self.stalled_since, limits.write_timeout) {
            Some("the client does not read")
        } else if self.session.is_idle() && exceeded(Some(self.active_at), limits.idle_timeout) {
            Some("idle")
        } else {
            None
        }
    }
}
