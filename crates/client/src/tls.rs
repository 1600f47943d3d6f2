//! TLS above a socket, in two halves that two threads may use.
//!
//! Only the sending half writes to the socket after the handshake. So records keep their order, and
//! neither half waits for the network with the lock held.

use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use crate::ClientError;
use crate::any_certificate::AnyCertificate;
use crate::socket::Socket;

/// Bytes of one read of the socket.
const READ_OCTETS: usize = 32 << 10;

/// The authorities of the system, where distributions keep them.
const SYSTEM_AUTHORITIES: [&str; 3] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
];

/// The trust in a server's certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsSettings {
    /// The file of authorities, in PEM; absent, those of the system.
    pub authorities: Option<PathBuf>,
    /// False accepts any certificate: encrypted, but with anybody.
    pub verifies: bool,
}

impl Default for TlsSettings {
    fn default() -> Self {
        TlsSettings {
            authorities: None,
            verifies: true,
        }
    }
}

/// A TLS connection that both halves share.
pub(crate) type SharedTls = Arc<Mutex<ClientConnection>>;

/// Performs the handshake on a socket.
pub(crate) fn shake_hands(
    settings: &TlsSettings,
    host: &str,
    socket: &mut Socket,
) -> Result<SharedTls, ClientError> {
    let name = ServerName::try_from(host.to_owned());
    let name = name.map_err(|_| ClientError::Tls(format!("\"{host}\" is no name of a host")))?;
    let connection = ClientConnection::new(Arc::new(config(settings)?), name);
    let mut connection = connection.map_err(|error| ClientError::Tls(error.to_string()))?;
    while connection.is_handshaking() {
        let done = connection.complete_io(socket);
        if done.is_err() {
            // The alert tells the server why.
            while connection.wants_write()
                && connection.write_tls(socket).is_ok_and(|sent| sent > 0)
            {}
        }
        done.map_err(|error| match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => ClientError::Timeout,
            ErrorKind::UnexpectedEof => ClientError::Tls("the server hangs up".to_owned()),
            _ => ClientError::Tls(error.to_string()),
        })?;
    }
    Ok(Arc::new(Mutex::new(connection)))
}

fn config(settings: &TlsSettings) -> Result<ClientConfig, ClientError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let refused = |error: String| ClientError::Tls(error);
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| refused(error.to_string()))?;
    let verifier: Arc<dyn ServerCertVerifier> = if settings.verifies {
        let roots = Arc::new(authorities(settings.authorities.as_deref())?);
        let built = WebPkiServerVerifier::builder_with_provider(roots, provider).build();
        built.map_err(|error| refused(error.to_string()))?
    } else {
        Arc::new(AnyCertificate(provider))
    };
    Ok(builder
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth())
}

/// Reads authorities from a file, or those of the system.
fn authorities(file: Option<&Path>) -> Result<RootCertStore, ClientError> {
    let mut files = SYSTEM_AUTHORITIES.iter().map(Path::new);
    let file = file.or_else(|| files.find(|file| file.exists()));
    let file = file.ok_or_else(|| {
        let text = "the system has no file of authorities: name one, such as that of the server";
        ClientError::Tls(text.to_owned())
    })?;
    let unusable = |reason: String| ClientError::Tls(format!("{}: {reason}", file.display()));
    let certificates = CertificateDer::pem_file_iter(file);
    let certificates = certificates.map_err(|error| unusable(error.to_string()))?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
        // Files of authorities often contain a certificate that the library cannot parse.
        let _ = roots.add(certificate);
    }
    if roots.is_empty() {
        return Err(unusable(
            "there is no certificate of an authority".to_owned(),
        ));
    }
    Ok(roots)
}

fn locked(connection: &SharedTls) -> MutexGuard<'_, ClientConnection> {
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Encrypts `bytes` and writes them to the socket.
pub(crate) fn write(tls: &SharedTls, socket: &mut Socket, bytes: &[u8]) -> io::Result<()> {
    let mut rest = bytes;
    let mut records = Vec::new();
    loop {
        {
            let mut connection = locked(tls);
            let taken = connection.writer().write(rest)?;
            rest = rest.get(taken..).unwrap_or_default();
            while connection.wants_write() {
                connection.write_tls(&mut records)?;
            }
        }
        socket.write_all(&records)?;
        records.clear();
        if rest.is_empty() {
            return Ok(());
        }
    }
}

/// The receiving half.
#[derive(Debug)]
pub(crate) struct TlsReader {
    connection: SharedTls,
    records: Vec<u8>,
    plain: Vec<u8>,
    /// Bytes of `plain` that have been handed out.
    given: usize,
}

impl TlsReader {
    pub(crate) fn new(connection: SharedTls) -> Self {
        TlsReader {
            connection,
            records: vec![0; READ_OCTETS],
            plain: Vec::new(),
            given: 0,
        }
    }

    /// Reads decrypted bytes; zero at the end of the stream.
    pub(crate) fn read(&mut self, socket: &mut Socket, out: &mut [u8]) -> io::Result<usize> {
        while self.given == self.plain.len() {
            let count = socket.read(&mut self.records)?;
            if count == 0 {
                return Ok(0);
            }
            self.decrypt(count)?;
        }
        let held = self.plain.get(self.given..).unwrap_or_default();
        let count = held.len().min(out.len());
        out[..count].copy_from_slice(&held[..count]);
        self.given += count;
        Ok(count)
    }

    fn decrypt(&mut self, count: usize) -> io::Result<()> {
        self.plain.clear();
        self.given = 0;
        let mut records = &self.records[..count];
        let mut connection = locked(&self.connection);
        while !records.is_empty() {
            // Behind the end of the session nothing counts.
            if connection.read_tls(&mut records)? == 0 {
                break;
            }
            let state = connection.process_new_packets();
            let state = state.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
            let held = self.plain.len();
            self.plain.resize(held + state.plaintext_bytes_to_read(), 0);
            connection.reader().read_exact(&mut self.plain[held..])?;
        }
        Ok(())
    }
}
