//! A session and its socket.

use std::io::{self, Read as _, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fulgurite_directory::{Connection as ConnectionFacts, EndPoint};
use fulgurite_net::Socket;
use mio::event::Event;

use super::proxy_header::ProxyHeader;
use super::settings::ServerSettings;
use crate::session::handler::Handler;
use crate::session::job::Turn;
use crate::session::protocol::Session;
use crate::statistics::Meter;
use crate::tls::failure;
use crate::tls::layer::{ReceiveOutcome, TlsLayer};
use crate::tls::reload::Tls;

/// The time that a client has to close after a notice of disconnection. If the server closed first,
/// a reset could destroy the notice on its way.
const LINGER: Duration = Duration::from_secs(1);

/// The reason to close a connection without a header of the PROXY protocol.
pub(super) const NO_HEADER: &str = "no header of the PROXY protocol";

/// The news that the bytes of one read have brought.
#[derive(Debug, Default)]
pub(super) struct ReadNews {
    /// The load balancer whose header has named the client.
    pub(super) proxy: Option<EndPoint>,
    /// True if a TLS handshake has ended.
    pub(super) is_secured: bool,
}

pub(super) struct Connection<'h, H: Handler> {
    pub(super) session: Session<'h, H>,
    pub(super) stream: Socket,
    tls: Option<Box<TlsLayer>>,
    /// The start of the TLS handshake in progress.
    handshake_since: Option<Instant>,
    /// The header of the PROXY protocol that has to come, and the time since when.
    header: Option<(Box<ProxyHeader>, Instant)>,
    facts: Arc<ConnectionFacts>,
    /// True while the connection is in the worker's run queue.
    pub(super) queued: bool,
    readable: bool,
    writable: bool,
    /// True if the client has closed its side or the connection is broken. The worker reads until
    /// it sees that.
    read_closed: bool,
    /// The last time that the client took or sent bytes.
    active_at: Instant,
    /// The time since which the client has not taken waiting bytes.
    stalled_since: Option<Instant>,
    lingering_since: Option<Instant>,
    meter: Meter,
}

/// The next step of a connection after its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextStep {
    /// Another turn, after the other connections.
    Again,
    /// Wait for an event.
    Event,
    /// Close, for this reason.
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
            handshake_since: None,
            header: None,
            facts,
            queued: false,
            // Assumed until the socket reports otherwise, because the first request may have
            // arrived.
            readable: true,
            writable: true,
            read_closed: false,
            active_at: now,
            stalled_since: None,
            lingering_since: None,
            meter,
        }
    }

    pub(super) fn record_event(&mut self, event: &Event) {
        self.readable |= event.is_readable() || event.is_read_closed() || event.is_error();
        self.writable |= event.is_writable() || event.is_error();
        self.read_closed |= event.is_read_closed() || event.is_error();
    }

    /// Puts TLS below the session as soon as all earlier output has been sent.
    pub(super) fn begin_tls(&mut self, tls: Option<&Tls>, now: Instant) -> io::Result<()> {
        if self.tls.is_some() || !self.session.unsent().is_empty() {
            return Ok(());
        }
        let refused = || io::Error::other("TLS is not set up");
        let loaded = tls.ok_or_else(refused)?.loaded();
        let layer = TlsLayer::new(loaded).map_err(io::Error::other)?;
        self.tls = Some(Box::new(layer));
        self.handshake_since = Some(now);
        // The client may have begun already.
        self.readable = true;
        Ok(())
    }

    /// Expects a header of the PROXY protocol before everything else.
    pub(super) fn await_header(&mut self, now: Instant) {
        self.header = Some((Box::default(), now));
    }

    /// Returns true while the header of the PROXY protocol has not come.
    pub(super) fn awaits_header(&self) -> bool {
        self.header.is_some()
    }

    /// Describes a connection that a load balancer has passed on, for the log.
    pub(super) fn describe_arrival(&self, proxy: &EndPoint) -> [String; 2] {
        let ConnectionFacts {
            id, peer, socket, ..
        } = &*self.facts;
        [
            format!("conn={id} PROXY via {proxy}"),
            format!("conn={id} ACCEPT from {peer} ({socket})"),
        ]
    }

    /// Returns true while a TLS handshake is in progress.
    pub(super) fn is_handshaking(&self) -> bool {
        self.handshake_since.is_some()
    }

    /// Describes the parameters of TLS for the log.
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
        self.awaits_header() || self.is_handshaking() || self.session.wants_input()
    }

    /// Reads once if the session wants input.
    pub(super) fn read(&mut self, scratch: &mut [u8], now: Instant) -> io::Result<ReadNews> {
        if !self.readable || !self.wants_input() {
            return Ok(ReadNews::default());
        }
        match self.stream.read(scratch) {
            Ok(0) => {
                self.readable = false;
                self.session.end_of_input();
            }
            Ok(count) => {
                self.active_at = now;
                self.meter.read();
                // A short read means that the socket is empty, which saves another read.
                self.readable = count == scratch.len() || self.read_closed;
                let bytes = scratch.get(..count).unwrap_or_default();
                return match self.awaits_header() {
                    true => self.receive_header(bytes),
                    false => self.receive(bytes),
                };
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.readable = false,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(ReadNews::default())
    }

    /// Receives bytes that begin with the header of the PROXY protocol, or with a part of it.
    fn receive_header(&mut self, bytes: &[u8]) -> io::Result<ReadNews> {
        let Some((header, _)) = &mut self.header else {
            return Ok(ReadNews::default());
        };
        let taken = header.take(bytes).map_err(|reason| {
            tracing::warn!("conn={} proxyp: {reason}", self.facts.id);
            io::Error::other(reason)
        })?;
        let Some(introduction) = taken else {
            return Ok(ReadNews::default());
        };
        self.header = None;
        let mut facts = ConnectionFacts::clone(&self.facts);
        let proxy = facts.peer.clone();
        if let Some(client) = introduction.client {
            facts.peer = EndPoint::Ip(client);
        }
        self.facts = Arc::new(facts);
        self.meter.introduced(Arc::clone(&self.facts));
        self.session.introduced(Arc::clone(&self.facts));
        let news = match introduction.rest.as_slice() {
            [] => ReadNews::default(),
            rest => self.receive(rest)?,
        };
        Ok(ReadNews {
            proxy: Some(proxy),
            ..news
        })
    }

    fn receive(&mut self, bytes: &[u8]) -> io::Result<ReadNews> {
        let mut news = ReadNews::default();
        if self.tls.is_some() {
            news.is_secured = self.receive_protected(bytes)?;
        } else {
            self.session.receive(bytes);
        }
        Ok(news)
    }

    /// Receives bytes of the TLS layer. Returns true if that completed its handshake.
    fn receive_protected(&mut self, bytes: &[u8]) -> io::Result<bool> {
        let Some(layer) = &mut self.tls else {
            return Ok(false);
        };
        let mut plain = Vec::new();
        let received = match layer.receive(bytes, &mut plain) {
            Ok(received) => received,
            Err(error) => {
                // The alert reports the error to the client.
                let _ = layer.flush(&mut self.stream);
                let reason = failure::reason(&error, bytes);
                self.meter.tls_failed();
                tracing::warn!("conn={} TLS negotiation failure: {reason}", self.facts.id);
                return Err(io::Error::other(error));
            }
        };
        let secured = layer.is_established() && self.handshake_since.take().is_some();
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

    /// Writes output as far as the socket takes it.
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

    /// The layer buffers a bounded amount. The rest stays in the session, which then reports that
    /// its output is full.
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

    /// Returns the next step after a turn and the write behind it.
    pub(super) fn next(&mut self, turn: Turn, scratch: &mut [u8], now: Instant) -> NextStep {
        match turn {
            // No notice can be sent before the handshake has ended.
            Turn::Closing if self.awaits_header() => NextStep::Close(NO_HEADER),
            Turn::Closing if self.is_handshaking() => NextStep::Close("TLS negotiation failure"),
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

    /// Sends the close notification of TLS, which proves to the client that the output is complete.
    fn close_layer(&mut self) {
        if let Some(layer) = &mut self.tls {
            layer.close();
            let _ = layer.flush(&mut self.stream);
        }
    }

    /// Waits for the client to close after a notice: reads and drops its bytes.
    fn linger(&mut self, scratch: &mut [u8], now: Instant) -> NextStep {
        if self.lingering_since.is_none() {
            self.close_layer();
        }
        if !self.session.sent_notice() {
            return NextStep::Close("done");
        }
        if self.lingering_since.is_none() {
            self.lingering_since = Some(now);
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

    /// Publishes the operations for administrators. Returns true if there is a response to send.
    pub(super) fn publish_operations(&mut self) -> bool {
        self.session.publish_operations()
    }

    /// Returns the reason if the connection has exceeded a time limit, or an administrator has
    /// closed it.
    pub(super) fn overdue(&self, settings: &ServerSettings, now: Instant) -> Option<&'static str> {
        let limits = self.session.limits();
        let exceeded = |since: Option<Instant>, limit: Option<Duration>| {
            since
                .zip(limit)
                .is_some_and(|(since, limit)| now.duration_since(since) >= limit)
        };
        let header_since = self.header.as_ref().map(|(_, since)| *since);
        if self.meter.is_unwanted() {
            Some("by an administrator")
        } else if exceeded(self.lingering_since, Some(LINGER)) {
            Some("disconnected")
        } else if exceeded(header_since, Some(settings.handshake_timeout)) {
            Some(NO_HEADER)
        } else if exceeded(self.handshake_since, Some(settings.handshake_timeout)) {
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
