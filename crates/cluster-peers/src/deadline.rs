//! A socket whose reads and writes end at a time. A timeout of the system begins anew with each
//! byte, so a slow peer would hold a thread for ever.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A socket with a deadline.
#[derive(Debug)]
pub(crate) struct Deadline {
    socket: TcpStream,
    end: Instant,
}

impl Deadline {
    pub(crate) fn new(socket: TcpStream, wait: Duration) -> Deadline {
        Deadline {
            socket,
            end: Instant::now() + wait,
        }
    }

    /// Moves the deadline.
    pub(crate) fn extend(&mut self, wait: Duration) {
        self.end = Instant::now() + wait;
    }

    /// Returns true if the peer has closed its side, or says something. A peer that only listens
    /// says no more than that it is about to close.
    pub(crate) fn is_closed(&self) -> bool {
        let peek = || {
            self.socket.set_nonblocking(true)?;
            let peeked = self.socket.peek(&mut [0]);
            self.socket.set_nonblocking(false)?;
            peeked
        };
        match peek() {
            Ok(_) => true,
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        }
    }

    fn rest(&self) -> io::Result<Duration> {
        let rest = self.end.saturating_duration_since(Instant::now());
        match rest.is_zero() {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => Ok(rest),
        }
    }
}

impl Read for Deadline {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.set_read_timeout(Some(self.rest()?))?;
        self.socket.read(buffer)
    }
}

impl Write for Deadline {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.set_write_timeout(Some(self.rest()?))?;
        self.socket.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}
