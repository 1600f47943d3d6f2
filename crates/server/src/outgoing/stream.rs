//! A connection to a provider: plain or encrypted bytes, read as whole messages.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use fulgurite_ldap::frame;
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use rustls::{ClientConnection, StreamOwned};

/// Bytes of a message at most: entries may have large values.
const MESSAGE_BYTES_MAX: usize = 256 << 20;
/// Bytes of one read.
const READ_BYTES: usize = 64 << 10;

/// The socket.
#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// A connection.
pub(crate) struct ProviderStream {
    layer: Layer,
    buffer: Vec<u8>,
    /// Bytes of the buffer that have been handed out.
    taken: usize,
}

enum Layer {
    Plain(Socket),
    Tls(Box<StreamOwned<ClientConnection, Socket>>),
    /// Between the two.
    None,
}

impl Read for Socket {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(socket) => socket.read(out),
            Socket::Unix(socket) => socket.read(out),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(socket) => socket.write(bytes),
            Socket::Unix(socket) => socket.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Socket {
    fn set_timeouts(&self, read: Duration, write: Duration) -> io::Result<()> {
        // A timeout of zero is refused.
        let read = Some(read.max(Duration::from_millis(1)));
        let write = Some(write.max(Duration::from_millis(1)));
        match self {
            Socket::Tcp(socket) => {
                socket.set_read_timeout(read)?;
                socket.set_write_timeout(write)
            }
            Socket::Unix(socket) => {
                socket.set_read_timeout(read)?;
                socket.set_write_timeout(write)
            }
        }
    }

    /// Returns the local end as slapd shows it.
    fn local(&self) -> String {
        match self {
            Socket::Tcp(socket) => socket
                .local_addr()
                .map_or_else(|_| String::new(), |address| format!("IP={address}")),
            Socket::Unix(_) => "PATH=".to_owned(),
        }
    }
}

impl ProviderStream {
    pub(crate) fn new(socket: Socket) -> ProviderStream {
        ProviderStream {
            layer: Layer::Plain(socket),
            buffer: Vec::new(),
            taken: 0,
        }
    }

    fn socket(&self) -> Option<&Socket> {
        match &self.layer {
            Layer::Plain(socket) => Some(socket),
            Layer::Tls(stream) => Some(&stream.sock),
            Layer::None => None,
        }
    }

    pub(crate) fn local(&self) -> String {
        self.socket().map(Socket::local).unwrap_or_default()
    }

    /// Encrypts what follows, and waits for the end of the handshake.
    pub(crate) fn encrypt(
        &mut self,
        connection: ClientConnection,
        timeout: Duration,
    ) -> io::Result<()> {
        // Plain bytes behind the answer to StartTLS would be of another sender.
        if self.taken < self.buffer.len() {
            return Err(io::Error::new(ErrorKind::InvalidData, "bytes before TLS"));
        }
        let Layer::Plain(mut socket) = std::mem::replace(&mut self.layer, Layer::None) else {
            return Err(io::Error::new(ErrorKind::InvalidInput, "TLS within TLS"));
        };
        socket.set_timeouts(timeout, timeout)?;
        let mut connection = connection;
        while connection.is_handshaking() {
            connection.complete_io(&mut socket)?;
        }
        let stream = StreamOwned::new(connection, socket);
        self.layer = Layer::Tls(Box::new(stream));
        Ok(())
    }

    /// Writes all bytes.
    pub(crate) fn send(&mut self, bytes: &[u8], timeout: Duration) -> io::Result<()> {
        if let Some(socket) = self.socket() {
            socket.set_timeouts(timeout, timeout)?;
        }
        match &mut self.layer {
            Layer::Plain(socket) => socket.write_all(bytes),
            Layer::Tls(stream) => {
                stream.write_all(bytes)?;
                stream.flush()
            }
            Layer::None => Err(ErrorKind::NotConnected.into()),
        }
    }

    /// Returns true if the other side has sent nothing, and has not closed the connection.
    pub(crate) fn is_quiet(&self) -> bool {
        self.is_drained() && self.taken == self.buffer.len()
    }

    /// Returns true if a whole message is in the buffer, or the socket has bytes or its end.
    pub(crate) fn has_more(&self) -> bool {
        let held = self.buffer.get(self.taken..).unwrap_or_default();
        matches!(frame(held, MESSAGE_BYTES_MAX), Ok(Some(_))) || !self.is_drained()
    }

    /// Returns true if the socket has no bytes, and the other side may send some.
    fn is_drained(&self) -> bool {
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        let mut byte = [0];
        let received = match self.socket() {
            Some(Socket::Tcp(socket)) => recv(socket, &mut byte, flags),
            Some(Socket::Unix(socket)) => recv(socket, &mut byte, flags),
            None => return false,
        };
        matches!(received, Err(Errno::AGAIN))
    }

    /// Returns the next message; `None` if none comes in time.
    pub(crate) fn receive(&mut self, timeout: Duration) -> io::Result<Option<&[u8]>> {
        let deadline = Instant::now() + timeout;
        loop {
            let held = self.buffer.get(self.taken..).unwrap_or_default();
            let whole = frame(held, MESSAGE_BYTES_MAX);
            let whole =
                whole.map_err(|error| io::Error::new(ErrorKind::InvalidData, error.to_string()))?;
            if let Some(len) = whole {
                let from = self.taken;
                self.taken += len;
                return Ok(self.buffer.get(from..self.taken));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || !self.fill(left)? {
                return Ok(None);
            }
        }
    }

    /// Reads once. Returns false if nothing comes in time.
    fn fill(&mut self, timeout: Duration) -> io::Result<bool> {
        self.buffer.drain(..self.taken);
        self.taken = 0;
        if let Some(socket) = self.socket() {
            socket.set_timeouts(timeout, Duration::from_secs(60))?;
        }
        let held = self.buffer.len();
        self.buffer.resize(held + READ_BYTES, 0);
        let into = self.buffer.get_mut(held..).unwrap_or_default();
        let read = match &mut self.layer {
            Layer::Plain(socket) => socket.read(into),
            Layer::Tls(stream) => stream.read(into),
            Layer::None => Err(ErrorKind::NotConnected.into()),
        };
        let count = *read.as_ref().unwrap_or(&0);
        self.buffer.truncate(held + count);
        match read {
            Ok(0) => Err(io::Error::new(
                ErrorKind::UnexpectedEof,
                "the provider closed the connection",
            )),
            Ok(_) => Ok(true),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => Ok(false),
                _ => Err(error),
            },
        }
    }
}
