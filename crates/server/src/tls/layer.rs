//! TLS of one connection: octets of the socket on one side, octets of LDAP on the other.

use std::io::{self, Read, Write};
use std::sync::Arc;

use fulgurite_directory::{ChannelBindings, TlsFacts};
use rustls::{ProtocolVersion, ServerConnection};

use super::context::TlsContext;
use super::{certificate, suites, verifier};

/// Octets of ciphertext that wait for the socket, at which no more are made.
const BUFFER_BYTES: usize = 64 * 1024;

/// Label and length of RFC 9266.
const EXPORTER_LABEL: &[u8] = b"EXPORTER-Channel-Binding";
const EXPORTER_BYTES: usize = 32;

/// The TLS layer of one connection.
pub(crate) struct TlsLayer {
    connection: ServerConnection,
    loaded: Arc<TlsContext>,
    /// The handshake has ended and was told of.
    established: bool,
}

/// What came of octets from the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReceiveOutcome {
    /// Nothing new, or octets of LDAP.
    Octets,
    /// The handshake has just ended.
    Established,
    /// The client has ended its side properly.
    Closed,
}

impl TlsLayer {
    /// A layer whose handshake begins with what the client sends next.
    ///
    /// # Errors
    /// What the library says against its settings; none in practice.
    pub(crate) fn new(loaded: Arc<TlsContext>) -> Result<TlsLayer, rustls::Error> {
        let mut connection = ServerConnection::new(Arc::clone(&loaded.config))?;
        connection.set_buffer_limit(Some(BUFFER_BYTES));
        Ok(TlsLayer {
            connection,
            loaded,
            established: false,
        })
    }

    /// Whether the handshake has ended.
    pub(crate) fn is_established(&self) -> bool {
        self.established
    }

    /// Takes what the socket has given; gives what is in it to `plain`.
    ///
    /// # Errors
    /// The client does not speak TLS, or not as it is asked to. There may be an alert to send.
    pub(crate) fn receive(
        &mut self,
        mut octets: &[u8],
        plain: &mut Vec<u8>,
    ) -> Result<ReceiveOutcome, rustls::Error> {
        let mut outcome = ReceiveOutcome::Octets;
        while !octets.is_empty() {
            if self.connection.read_tls(&mut octets).unwrap_or(0) == 0 {
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
                outcome = ReceiveOutcome::Closed;
                break;
            }
        }
        if !self.established && !self.connection.is_handshaking() {
            self.established = true;
            if outcome == ReceiveOutcome::Octets {
                outcome = ReceiveOutcome::Established;
            }
        }
        Ok(outcome)
    }

    /// Takes octets of LDAP to be sent; how many there is room for.
    pub(crate) fn write(&mut self, plain: &[u8]) -> usize {
        self.connection.writer().write(plain).unwrap_or(0)
    }

    /// Whether there is something for the socket.
    pub(crate) fn wants_write(&self) -> bool {
        self.connection.wants_write()
    }

    /// Gives the socket what there is for it, once.
    ///
    /// # Errors
    /// Those of the socket.
    pub(crate) fn flush(&mut self, socket: &mut dyn Write) -> io::Result<usize> {
        self.connection.write_tls(socket)
    }

    /// Tells the client that nothing more comes.
    pub(crate) fn close(&mut self) {
        self.connection.send_close_notify();
    }

    /// The strength factor of the layer.
    pub(crate) fn strength(&self) -> u32 {
        self.connection
            .negotiated_cipher_suite()
            .map_or(0, |suite| suites::strength(&suite))
    }

    /// What has been settled.
    pub(crate) fn facts(&self) -> TlsFacts {
        let version = match self.connection.protocol_version() {
            Some(ProtocolVersion::TLSv1_2) => "TLSv1.2",
            Some(ProtocolVersion::TLSv1_3) => "TLSv1.3",
            _ => "TLS",
        };
        let suite = self.connection.negotiated_cipher_suite();
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

    /// Subject of the client's certificate, if that was verified.
    fn client_dn(&self) -> Option<String> {
        let chain = self.connection.peer_certificates()?;
        let believed = self
            .loaded
            .strict
            .as_ref()
            .is_none_or(|strict| verifier::is_believed(strict.as_ref(), chain));
        certificate::subject_dn(chain.first()?).filter(|_| believed)
    }

    /// RFC 9266 wants what only TLS 1.3 promises, or TLS 1.2 with the extended master secret, which is not told here.
    fn exporter(&self) -> Option<Vec<u8>> {
        if self.connection.protocol_version() != Some(ProtocolVersion::TLSv1_3) {
            return None;
        }
        let material = vec![0; EXPORTER_BYTES];
        self.connection
            .export_keying_material(material, EXPORTER_LABEL, Some(&[]))
            .ok()
    }
}
