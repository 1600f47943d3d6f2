//! TLS of one connection: bytes of the socket on one side, commands on the other.

use std::io::{self, Read as _, Write as _};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};

use crate::error::ServeError;
use crate::options::Tls;

/// Bytes for the socket at which the layer takes no more plain text.
const BUFFER_BYTES: usize = 64 * 1024;

/// Reads the files, and makes the settings of new connections.
pub(super) fn server_config(tls: &Tls) -> Result<Arc<ServerConfig>, ServeError> {
    let unusable = |path: &std::path::Path, reason: String| {
        ServeError::Tls(format!("{}: {reason}", path.display()))
    };
    let chain = CertificateDer::pem_file_iter(&tls.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unusable(&tls.certificate, error.to_string()))?;
    if chain.is_empty() {
        return Err(unusable(&tls.certificate, "no certificate".to_owned()));
    }
    let key = PrivateKeyDer::from_pem_file(&tls.key)
        .map_err(|error| unusable(&tls.key, error.to_string()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| ServeError::Tls(error.to_string()))?;
    Ok(Arc::new(config))
}

/// The TLS layer of one connection.
#[derive(Debug)]
pub(super) struct TlsLayer {
    connection: ServerConnection,
}

impl TlsLayer {
    /// Makes a layer whose handshake begins with the next bytes from the client.
    pub(super) fn new(config: &Arc<ServerConfig>) -> Result<TlsLayer, rustls::Error> {
        let mut connection = ServerConnection::new(Arc::clone(config))?;
        connection.set_buffer_limit(Some(BUFFER_BYTES));
        Ok(TlsLayer { connection })
    }

    /// Takes bytes from the socket and appends the decrypted ones to `plain`. Returns true if the
    /// client has closed its side.
    pub(super) fn receive(&mut self, mut bytes: &[u8], plain: &mut Vec<u8>) -> io::Result<bool> {
        while !bytes.is_empty() {
            if self.connection.read_tls(&mut bytes)? == 0 {
                break;
            }
            let packets = self.connection.process_new_packets();
            let state = packets.map_err(io::Error::other)?;
            let count = state.plaintext_bytes_to_read() as u64;
            self.connection.reader().take(count).read_to_end(plain)?;
            if state.peer_has_closed() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes plain bytes to send. Returns the number of bytes taken.
    pub(super) fn write(&mut self, plain: &[u8]) -> usize {
        if self.connection.is_handshaking() {
            return 0;
        }
        self.connection.writer().write(plain).unwrap_or(0)
    }

    /// Returns true until the handshake has ended.
    pub(super) fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Returns true if there are bytes for the socket.
    pub(super) fn wants_write(&self) -> bool {
        self.connection.wants_write()
    }

    /// Writes to the socket once.
    pub(super) fn flush(&mut self, socket: &mut dyn io::Write) -> io::Result<usize> {
        self.connection.write_tls(socket)
    }

    /// Prepares the notice that no more comes.
    pub(super) fn close(&mut self) {
        self.connection.send_close_notify();
    }
}
