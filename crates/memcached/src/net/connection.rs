//! A client's socket, its TLS layer and its session.

use std::io::{self, Read as _, Write as _};
use std::time::{Duration, Instant};

use fulgurite_net::{Socket, TlsStream};
use mio::event::Event;

use crate::command::Session;
use crate::statistics::Counters;

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) socket: Socket,
    tls: Option<Box<TlsStream>>,
    /// `None` while the writer has it.
    pub(super) session: Option<Session>,
    readable: bool,
    writable: bool,
    /// True if the client sends no more.
    pub(super) has_ended: bool,
    /// True while the connection waits for its turn.
    pub(super) is_queued: bool,
    /// The last time that the client took or sent bytes.
    active_at: Instant,
    /// The time at which the connection began.
    began_at: Instant,
}

impl Connection {
    pub(super) fn new(socket: Socket, tls: Option<TlsStream>, now: Instant) -> Connection {
        Connection {
            socket,
            tls: tls.map(Box::new),
            session: Some(Session::default()),
            // Assumed until the socket says otherwise.
            readable: true,
            writable: true,
            has_ended: false,
            is_queued: false,
            active_at: now,
            began_at: now,
        }
    }

    pub(super) fn record_event(&mut self, event: &Event) {
        self.readable |= event.is_readable() || event.is_read_closed() || event.is_error();
        self.writable |= event.is_writable() || event.is_error();
    }

    /// Returns true if a read may bring something.
    pub(super) fn is_readable(&self) -> bool {
        self.readable && !self.has_ended
    }

    /// Returns true if a handshake has not ended within a time.
    pub(super) fn is_stuck(&self, now: Instant, limit: Duration) -> bool {
        let is_handshaking = self.tls.as_ref().is_some_and(|tls| tls.is_handshaking());
        is_handshaking && now.duration_since(self.began_at) >= limit
    }

    /// Returns true if the client took and sent nothing for a time, and no commit is under way.
    pub(super) fn is_idle(&self, now: Instant, limit: Duration) -> bool {
        self.session.is_some() && now.duration_since(self.active_at) >= limit
    }

    /// Reads once into the session.
    pub(super) fn read(&mut self, scratch: &mut [u8], counters: &Counters) -> io::Result<()> {
        let Some(session) = &mut self.session else {
            return Ok(());
        };
        // A client sends more commands after it has taken the answers to others.
        if !self.readable || self.has_ended || session.has_commands() {
            return Ok(());
        }
        match self.socket.read(scratch) {
            Ok(0) => self.has_ended = true,
            Ok(count) => {
                // A short read means that the socket is empty, which saves another read. The end of
                // input is an event too.
                self.readable = count == scratch.len();
                self.active_at = Instant::now();
                counters.bytes_read.add(count as u64);
                let bytes = scratch.get(..count).unwrap_or_default();
                match &mut self.tls {
                    None => session.receive(bytes),
                    Some(layer) => {
                        let mut plain = Vec::new();
                        let received = layer.receive(bytes, &mut plain);
                        self.has_ended = received.map_err(io::Error::other)?;
                        session.receive(&plain);
                    }
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.readable = false,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Writes output as far as the socket takes it.
    pub(super) fn write(&mut self, counters: &Counters) -> io::Result<()> {
        let Some(session) = &mut self.session else {
            return Ok(());
        };
        loop {
            if let Some(layer) = &mut self.tls
                && !session.unsent().is_empty()
            {
                let taken = layer.write(session.unsent());
                session.sent(taken);
            }
            let waits = match &self.tls {
                Some(layer) => layer.wants_write(),
                None => !session.unsent().is_empty(),
            };
            if !self.writable || !waits {
                return Ok(());
            }
            let written = match &mut self.tls {
                Some(layer) => layer.flush(&mut self.socket),
                None => self.socket.write(session.unsent()),
            };
            match written {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    self.active_at = Instant::now();
                    counters.bytes_written.add(count as u64);
                    if self.tls.is_none() {
                        session.sent(count);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.writable = false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns true if bytes wait for the client.
    pub(super) fn has_unsent(&self) -> bool {
        let session = self.session.as_ref();
        session.is_some_and(|session| !session.unsent().is_empty())
            || self.tls.as_ref().is_some_and(|layer| layer.wants_write())
    }

    /// Tells the client of TLS that no more comes.
    pub(super) fn close_layer(&mut self) {
        if let Some(layer) = &mut self.tls {
            layer.close();
            let _ = layer.flush(&mut self.socket);
        }
    }
}
