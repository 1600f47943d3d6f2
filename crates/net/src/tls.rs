//! TLS of one connection: bytes of the socket on one side, plain bytes on the other.

use std::io::{self, Read as _, Write as _};
use std::sync::Arc;

use rustls::{ServerConfig, ServerConnection};

/// Bytes of ciphertext waiting for the socket at which the stream takes no more plain text.
const BUFFER_BYTES: usize = 64 * 1024;

/// The TLS of one connection. It reads no socket; its user hands the bytes over.
#[derive(Debug)]
pub struct TlsStream {
    connection: ServerConnection,
}

impl TlsStream {
    /// Makes a stream whose handshake begins with the next bytes from the client.
    ///
    /// # Errors
    /// The library rejects its settings, which does not happen in practice.
    pub fn new(config: Arc<ServerConfig>) -> Result<TlsStream, rustls::Error> {
        let mut connection = ServerConnection::new(config)?;
        connection.set_buffer_limit(Some(BUFFER_BYTES));
        Ok(TlsStream { connection })
    }

    /// Takes bytes from the socket and appends the decrypted ones to `plain`. Returns true if the
    /// client has closed its side.
    ///
    /// # Errors
    /// The client violates TLS or the settings. There may be an alert to send.
    pub fn receive(
        &mut self,
        mut bytes: &[u8],
        plain: &mut Vec<u8>,
    ) -> Result<bool, rustls::Error> {
        while !bytes.is_empty() {
            if self.connection.read_tls(&mut bytes).unwrap_or(0) == 0 {
                break;
            }
            let state = self.connection.process_new_packets()?;
            let count = state.plaintext_bytes_to_read();
            let start = plain.len();
            plain.resize(start + count, 0);
            let into = plain.get_mut(start..).unwrap_or_default();
            let read = self.connection.reader().read(into).unwrap_or(0);
            plain.truncate(start + read);
            if state.peer_has_closed() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes plain bytes to send. Returns the number of bytes taken.
    pub fn write(&mut self, plain: &[u8]) -> usize {
        self.connection.writer().write(plain).unwrap_or(0)
    }

    /// Returns true until the handshake has ended.
    #[must_use]
    pub fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Returns true if there are bytes for the socket.
    #[must_use]
    pub fn wants_write(&self) -> bool {
        self.connection.wants_write()
    }

    /// Writes to the socket once.
    ///
    /// # Errors
    /// Those of the socket.
    pub fn flush(&mut self, socket: &mut dyn io::Write) -> io::Result<usize> {
        self.connection.write_tls(socket)
    }

    /// Prepares the notice that no more comes.
    pub fn close(&mut self) {
        self.connection.send_close_notify();
    }

    /// Returns the library's connection, for its negotiated parameters.
    #[must_use]
    pub fn connection(&self) -> &ServerConnection {
        &self.connection
    }
}
