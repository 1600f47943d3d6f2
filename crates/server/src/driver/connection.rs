//! A session and the socket under it.

use std::io::{self, Read as _, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fulgurite_directory::Connection as ConnectionFacts;
use mio::event::Event;

use super::settings::ServerSettings;
use super::socket::Socket;
use crate::session::handler::Handler;
use crate::session::job::Turn;
use crate::session::protocol::Session;
use crate::statistics::Meter;
use crate::tls::layer::{ReceiveOutcome, TlsLayer};
use crate::tls::reload::Tls;

/// How long a client that was told to go may take to close: closing first would reset the connection
/// and could take the notice with it.
const LINGER: Duration = Duration::from_secs(1);

pub(super) struct Connection<'h, H: Handler> {
    pub(super) session: Session<'h, H>,
    pub(super) stream: Socket,
    tls: Option<Box<TlsLayer>>,
    /// Since when a TLS handshake goes on.
    shakes_since: Option<Instant>,
    facts: Arc<ConnectionFacts>,
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
pub(super) enum NextStep {
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
        stream: Socket,
        facts: Arc<ConnectionFacts>,
        meter: Meter,
        now: Instant,
    ) -> Self {
        Connection {
            session,
            stream,
            tls: None,
            shakes_since: None,
            facts,
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

    /// Puts TLS below the session, once everything before it has been sent.
    pub(super) fn begin_tls(&mut self, tls: Option<&Tls>, now: Instant) -> io::Result<()> {
        if self.tls.is_some() || !self.session.unsent().is_empty() {
            return Ok(());
        }
        let refused = || io::Error::other("TLS is not set up");
        let loaded = tls.ok_or_else(refused)?.loaded();
        let layer = TlsLayer::new(loaded).map_err(io::Error::other)?;
        self.tls = Some(Box::new(layer));
        self.shakes_since = Some(now);
        // The client may have begun already.
        self.readable = true;
        Ok(())
    }

    /// Whether a TLS handshake has begun and not ended.
    pub(super) fn is_shaking_hands(&self) -> bool {
        self.shakes_since.is_some()
    }

    /// What TLS has settled, for the log.
    pub(super) fn describe_tls(&self) -> String {
        let facts = &self.facts;
        let tls = facts.tls.clone().unwrap_or_default();
        format!(
            "conn={} TLS established tls_ssf={} ssf={} tls_proto={} tls_cipher={}",
            facts.id,
            facts.strength.tls,
            facts.strength.overall(),
            tls.version,
            tls.cipher
        )
    }

    fn wants_input(&self) -> bool {
        self.is_shaking_hands() || self.session.wants_input()
    }

    /// Reads once, if the session wants it; tells whether that has completed a TLS handshake.
    pub(super) fn read(&mut self, scratch: &mut [u8], now: Instant) -> io::Result<bool> {
        if !self.readable || !self.wants_input() {
            return Ok(false);
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
                let octets = scratch.get(..count).unwrap_or_default();
                if self.tls.is_some() {
                    return self.receive_protected(octets);
                }
                self.session.receive(octets);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.readable = false,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(false)
    }

    fn receive_protected(&mut self, octets: &[u8]) -> io::Result<bool> {
        let Some(layer) = &mut self.tls else {
            return Ok(false);
        };
        let mut plain = Vec::new();
        let received = match layer.receive(octets, &mut plain) {
            Ok(received) => received,
            Err(error) => {
                // The alert tells the client what was wrong, if it still listens.
                let _ = layer.flush(&mut self.stream);
                tracing::debug!("conn={} TLS: {error}", self.facts.id);
                return Err(io::Error::other(error));
            }
        };
        let secured = layer.is_established() && self.shakes_since.take().is_some();
        if secured {
            let mut facts = ConnectionFacts::clone(&self.facts);
            facts.strength.tls = layer.strength();
            facts.tls = Some(layer.facts());
            self.facts = Arc::new(facts);
            self.meter.secured(Arc::clone(&self.facts));
            self.session.secured(Arc::clone(&self.facts));
        }
        if !plain.is_empty() {
            self.session.receive(&plain);
        }
        if received == ReceiveOutcome::Closed {
            self.session.end_of_input();
        }
        Ok(secured)
    }

    /// Writes what there is, as far as the socket takes it.
    pub(super) fn write(&mut self, now: Instant) -> io::Result<()> {
        if self.tls.is_some() {
            self.write_protected(now)?;
        } else {
            self.write_plain(now)?;
        }
        if self.has_unsent() {
            self.stalled_since.get_or_insert(now);
            self.meter.sent(0, true);
        }
        Ok(())
    }

    fn has_unsent(&self) -> bool {
        let wants = self.tls.as_ref().is_some_and(|layer| layer.wants_write());
        wants || !self.session.unsent().is_empty()
    }

    fn write_plain(&mut self, now: Instant) -> io::Result<()> {
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
        Ok(())
    }

    /// The layer holds a bounded amount; what is beyond stays with the session, which then knows that it is full.
    fn write_protected(&mut self, now: Instant) -> io::Result<()> {
        let Some(layer) = &mut self.tls else {
            return Ok(());
        };
        loop {
            if layer.is_established() && !self.session.unsent().is_empty() {
                let count = layer.write(self.session.unsent());
                self.session.sent(count);
                self.meter.sent(count, false);
            }
            if !self.writable || !layer.wants_write() {
                return Ok(());
            }
            match layer.flush(&mut self.stream) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(_) => {
                    self.active_at = now;
                    self.stalled_since = None;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.writable = false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// What to do after a turn that ended with `turn`, and after writing.
    pub(super) fn next(&mut self, turn: Turn, scratch: &mut [u8], now: Instant) -> NextStep {
        match turn {
            // Nobody can be told anything before the handshake has ended.
            Turn::Closing if self.is_shaking_hands() => NextStep::Close("TLS negotiation failure"),
            Turn::Closing if !self.has_unsent() => self.linger(scratch, now),
            Turn::Closing => NextStep::Event,
            Turn::More | Turn::OutputFull if self.session.output_is_full() => {
                self.session.park();
                NextStep::Event
            }
            Turn::More | Turn::OutputFull => NextStep::Again,
            Turn::Waits if self.readable && self.wants_input() => NextStep::Again,
            Turn::Waits => NextStep::Event,
        }
    }

    /// Tells the client that nothing more comes, as TLS wants it: so it knows that nobody has cut the end off.
    fn close_layer(&mut self) {
        if let Some(layer) = &mut self.tls {
            layer.close();
            let _ = layer.flush(&mut self.stream);
        }
    }

    /// Waits for the client to close, if it was told to: reads and forgets.
    fn linger(&mut self, scratch: &mut [u8], now: Instant) -> NextStep {
        if self.lingers_since.is_none() {
            self.close_layer();
        }
        if !self.session.sent_notice() {
            return NextStep::Close("done");
        }
        if self.lingers_since.is_none() {
            self.lingers_since = Some(now);
            if self.stream.shutdown_write().is_err() {
                return NextStep::Close("lost");
            }
        }
        loop {
            match self.stream.read(scratch) {
                Ok(0) => return NextStep::Close("disconnected"),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return NextStep::Event,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return NextStep::Close("lost"),
            }
        }
    }

    /// Whether the connection has outlived a time limit, and which.
    pub(super) fn overdue(&self, settings: &ServerSettings, now: Instant) -> Option<&'static str> {
        let limits = &settings.session;
        let exceeded = |since: Option<Instant>, limit: Option<Duration>| {
            since
                .zip(limit)
                .is_some_and(|(since, limit)| now.duration_since(since) >= limit)
        };
        if exceeded(self.lingers_since, Some(LINGER)) {
            Some("disconnected")
        } else if exceeded(self.shakes_since, Some(settings.handshake_timeout)) {
            Some("TLS negotiation takes too long")
        } else if exceeded(self.stalled_since, limits.write_timeout) {
            Some("the client does not read")
        } else if self.session.is_idle() && exceeded(Some(self.active_at), limits.idle_timeout) {
            Some("idle")
        } else {
            None
        }
    }
}
