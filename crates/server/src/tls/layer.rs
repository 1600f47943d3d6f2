//! TLS of one connection: bytes of the socket on one side, bytes of LDAP on the other.

use std::io::{self, Write};
use std::sync::Arc;

use fulgurite_directory::{ChannelBindings, TlsFacts};
use fulgurite_net::TlsStream;
use rustls::{ProtocolVersion, ServerConnection};

use super::context::TlsContext;
use super::{certificate, suites, verifier};

/// Label and length of RFC 9266.
const EXPORTER_LABEL: &[u8] = b"EXPORTER-Channel-Binding";
const EXPORTER_BYTES: usize = 32;

/// The TLS layer of one connection.
pub(crate) struct TlsLayer {
    stream: TlsStream,
    loaded: Arc<TlsContext>,
    /// True after the handshake has ended and has been reported.
    established: bool,
}

/// The outcome of bytes from the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReceiveOutcome {
    /// Bytes of LDAP, or nothing.
    Bytes,
    /// The handshake has just ended.
    Established,
    /// The client has closed its side properly.
    Closed,
}

impl TlsLayer {
    /// Makes a layer whose handshake begins with the next bytes from the client.
    ///
    /// # Errors
    /// The library rejects its settings, which does not happen in practice.
    pub(crate) fn new(loaded: Arc<TlsContext>) -> Result<TlsLayer, rustls::Error> {
        Ok(TlsLayer {
            stream: TlsStream::new(Arc::clone(&loaded.config))?,
            loaded,
            established: false,
        })
    }

    /// Returns true after the handshake has ended.
    pub(crate) fn is_established(&self) -> bool {
        self.established
    }

    /// Takes bytes from the socket and appends the decrypted ones to `plain`.
    ///
    /// # Errors
    /// The client violates TLS or the settings. There may be an alert to send.
    pub(crate) fn receive(
        &mut self,
        bytes: &[u8],
        plain: &mut Vec<u8>,
    ) -> Result<ReceiveOutcome, rustls::Error> {
        let mut outcome = match self.stream.receive(bytes, plain)? {
            true => ReceiveOutcome::Closed,
            false => ReceiveOutcome::Bytes,
        };
        if !self.established && !self.stream.is_handshaking() {
            self.established = true;
            if outcome == ReceiveOutcome::Bytes {
                outcome = ReceiveOutcome::Established;
            }
        }
        Ok(outcome)
    }

    /// Takes bytes of LDAP to send. Returns the number of bytes taken.
    pub(crate) fn write(&mut self, plain: &[u8]) -> usize {
        self.stream.write(plain)
    }

    /// Returns true if there are bytes for the socket.
    pub(crate) fn wants_write(&self) -> bool {
        self.stream.wants_write()
    }

    /// Writes to the socket once.
    ///
    /// # Errors
    /// Those of the socket.
    pub(crate) fn flush(&mut self, socket: &mut dyn Write) -> io::Result<usize> {
        self.stream.flush(socket)
    }

    /// Sends the close notification to the client.
    pub(crate) fn close(&mut self) {
        self.stream.close();
    }

    fn connection(&self) -> &ServerConnection {
        self.stream.connection()
    }

    /// Returns the strength factor of the layer.
    pub(crate) fn strength(&self) -> u32 {
        self.connection()
            .negotiated_cipher_suite()
            .map_or(0, |suite| suites::strength(&suite))
    }

    /// Returns the negotiated parameters.
    pub(crate) fn facts(&self) -> TlsFacts {
        let version = match self.connection().protocol_version() {
            Some(ProtocolVersion::TLSv1_2) => "TLSv1.2",
            Some(ProtocolVersion::TLSv1_3) => "TLSv1.3",
            _ => "TLS",
        };
        let suite = self.connection().negotiated_cipher_suite();
        TlsFacts {
            version: version.to_owned(),
            cipher: suite.map_or(String::new(), |suite| suites::openssl_name(&suite)),
            client_dn: self.client_dn(),
            channel_bindings: ChannelBindings {
                server_end_point: self.loaded.end_point.clone(),
                exporter: self.exporter(),
            },
        }
    }

    /// Returns the subject of the client's certificate if it was verified.
    fn client_dn(&self) -> Option<String> {
        let chain = self.connection().peer_certificates()?;
        let believed = self
            .loaded
            .strict
            .as_ref()
            .is_none_or(|strict| verifier::is_trusted(strict.as_ref(), chain));
        certificate::subject_dn(chain.first()?).filter(|_| believed)
    }

    /// Returns the exporter of RFC 9266. It is safe with TLS 1.3, or with TLS 1.2 and the extended
    /// master secret. The library does not report that extension, so this supports TLS 1.3 only.
    fn exporter(&self) -> Option<Vec<u8>> {
        if self.connection().protocol_version() != Some(ProtocolVersion::TLSv1_3) {
            return None;
        }
        let material = vec![0; EXPORTER_BYTES];
        self.connection()
            .export_keying_material(material, EXPORTER_LABEL, Some(&[]))
            .ok()
    }
}
