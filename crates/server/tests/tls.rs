//! TLS over real sockets: listeners of ldaps, StartTLS, clients that are slow, silent or speak
//! something else.

mod common;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::stub::Stub;
use common::{bind, extended, search, take_responses, unbind, who_am_i};
use fulgurite_config::ListenUrl;
use fulgurite_directory::{Connection, EndPoint};
use fulgurite_ldap::oid;
use fulgurite_server::{Server, ServerSettings, StopHandle, TlsOptions, TlsVersion, VerifyClient};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// An authority with a certificate for a server, one for a client, and a client's certificate of
/// another authority.
struct Certificates {
    folder: tempfile::TempDir,
}

impl Certificates {
    fn new() -> Certificates {
        let folder = tempfile::tempdir().unwrap();
        let made = Certificates { folder };
        made.authority("ca", &["server", "client"]);
        made.authority("other-ca", &["stranger"]);
        made
    }

    fn authority(&self, name: &str, subjects: &[&str]) {
        let mut parameters = CertificateParams::new(Vec::new()).unwrap();
        parameters.distinguished_name.push(DnType::CommonName, name);
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let own = parameters.self_signed(&key).unwrap();
        std::fs::write(self.path(name), own.pem()).unwrap();
        let issuer = Issuer::new(parameters, key);
        for subject in subjects {
            let mut parameters = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
            parameters
                .distinguished_name
                .push(DnType::CommonName, *subject);
            parameters
                .distinguished_name
                .push(DnType::OrganizationName, "Test");
            let key = KeyPair::generate().unwrap();
            let made = parameters.signed_by(&key, &issuer).unwrap();
            std::fs::write(self.path(subject), made.pem() + &key.serialize_pem()).unwrap();
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn settings(&self, verify_client: VerifyClient) -> ServerSettings {
        ServerSettings {
            workers: 1,
            tls: TlsOptions {
                certificate_file: Some(self.path("server")),
                ca_file: Some(self.path("ca")),
                verify_client,
                ..TlsOptions::default()
            },
            handshake_timeout: Duration::from_millis(800),
            ..ServerSettings::default()
        }
    }

    fn client(&self, certificate: Option<&str>) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_file(self.path("ca")).unwrap())
            .unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        Arc::new(match certificate {
            None => builder.with_no_client_auth(),
            Some(name) => {
                let chain = vec![CertificateDer::from_pem_file(self.path(name)).unwrap()];
                let key = PrivateKeyDer::from_pem_file(self.path(name)).unwrap();
                builder.with_client_auth_cert(chain, key).unwrap()
            }
        })
    }
}

/// Stops the server at the end of a test, also of one that fails.
struct Stopper(StopHandle);

impl Drop for Stopper {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Runs a server with a plain listener and one of TLS.
fn with_server(stub: &Stub, settings: ServerSettings, test: impl FnOnce(SocketAddr, SocketAddr)) {
    let urls = ListenUrl::parse_list("ldap://127.0.0.1:0 ldaps://127.0.0.1:0").unwrap();
    let server = Server::bind(&urls, settings).unwrap();
    let addresses = server.addresses();
    std::thread::scope(|scope| {
        let stop = Stopper(server.stop_handle());
        let served = scope.spawn(|| server.run(stub));
        test(addresses[0], addresses[1]);
        drop(stop);
        served.join().unwrap().unwrap();
    });
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    let patience = Some(Duration::from_secs(5));
    stream.set_read_timeout(patience).unwrap();
    stream.set_write_timeout(patience).unwrap();
    stream
}

/// A client on whatever carries it.
struct Client<S> {
    stream: S,
    received: Vec<u8>,
}

impl<S: Read + Write> Client<S> {
    fn new(stream: S) -> Client<S> {
        let received = Vec::new();
        Client { stream, received }
    }

    fn send(&mut self, requests: &[Vec<u8>]) -> std::io::Result<()> {
        self.stream.write_all(&requests.concat())?;
        self.stream.flush()
    }

    /// Reads until there are `count` responses, or to the end.
    fn responses(&mut self, count: usize) -> std::io::Result<Vec<String>> {
        let mut responses = Vec::new();
        let mut buffer = [0; 65536];
        while responses.len() < count {
            let bytes = self.stream.read(&mut buffer)?;
            if bytes == 0 {
                break;
            }
            self.received.extend_from_slice(&buffer[..bytes]);
            responses.extend(take_responses(&mut self.received));
        }
        Ok(responses)
    }

    fn talk(&mut self, requests: &[Vec<u8>], count: usize) -> std::io::Result<Vec<String>> {
        self.send(requests)?;
        self.responses(count)
    }
}

type Protected = Client<StreamOwned<ClientConnection, TcpStream>>;

fn protect(stream: TcpStream, config: &Arc<ClientConfig>) -> Protected {
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::clone(config), name).unwrap();
    Client::new(StreamOwned::new(connection, stream))
}

fn secured(stub: &Stub) -> Vec<Arc<Connection>> {
    stub.secured.lock().unwrap().clone()
}

#[test]
fn ldaps_protects_from_the_first_byte() {
    let (stub, certificates) = (Stub::default(), Certificates::new());
    with_server(
        &stub,
        certificates.settings(VerifyClient::Never),
        |_, tls| {
            let mut client = protect(connect(tls), &certificates.client(None));
            let said = client
                .talk(&[bind(1, "slow", "right"), who_am_i(2)], 2)
                .unwrap();
            assert_eq!(said, ["1 bind 0", "2 whoami slow"]);
            // More than the layer holds at once.
            let said = client.talk(&[search(3, "300/10000")], 301).unwrap();
            assert_eq!(said.len(), 301);
            assert_eq!(said.last().map(String::as_str), Some("3 search 0"));
            client.send(&[unbind(4)]).unwrap();
            // A proper end: rustls calls any other an error.
            assert_eq!(client.stream.read(&mut [0; 10]).unwrap(), 0);
        },
    );
    let secured = secured(&stub);
    let [facts] = secured.as_slice() else {
        panic!("{secured:?}")
    };
    let tls = facts.tls.as_ref().unwrap();
    assert_eq!(tls.version, "TLSv1.3");
    assert_eq!(tls.client_dn, None);
    assert!(matches!(facts.strength.tls, 128 | 256));
    assert_eq!(
        tls.channel_bindings.exporter.as_ref().map(Vec::len),
        Some(32)
    );
    assert_eq!(
        tls.channel_bindings.server_end_point.as_ref().map(Vec::len),
        Some(32)
    );
    assert_eq!(facts.listener_url, "ldaps://127.0.0.1:0");
}

#[test]
fn start_tls_protects_an_open_connection() {
    let (stub, certificates) = (Stub::default(), Certificates::new());
    let start = |id| extended(id, oid::START_TLS, None);
    with_server(
        &stub,
        certificates.settings(VerifyClient::Never),
        |plain, _| {
            let mut client = Client::new(connect(plain));
            assert_eq!(
                client.talk(&[bind(1, "ada", "right")], 1).unwrap(),
                ["1 bind 0"]
            );
            assert_eq!(client.talk(&[start(2)], 1).unwrap(), ["2 extended 0"]);
            let mut client = protect(client.stream, &certificates.client(None));
            assert_eq!(client.talk(&[who_am_i(3)], 1).unwrap(), ["3 whoami ada"]);

            // Bytes from before the handshake must not count as protected.
            let mut client = Client::new(connect(plain));
            let said = client.talk(&[[start(1), who_am_i(2)].concat()], 2).unwrap();
            assert_eq!(said, ["1 extended 1", "2 whoami "]);
            let said = client.talk(&[search(3, "1000000"), start(4)], 2).unwrap();
            assert!(
                said.contains(&"4 extended 1".to_owned())
                    || client
                        .responses(100_000)
                        .unwrap()
                        .contains(&"4 extended 1".to_owned())
            );

            // Plain bytes where a handshake should be.
            let mut client = Client::new(connect(plain));
            assert_eq!(client.talk(&[start(1)], 1).unwrap(), ["1 extended 0"]);
            client.send(&[who_am_i(2)]).unwrap();
            let mut rest = Vec::new();
            let _ = client.stream.read_to_end(&mut rest);
            assert!(
                !rest.starts_with(&[0x30]),
                "an answer in the clear: {rest:?}"
            );
        },
    );
    assert_eq!(secured(&stub).len(), 1);
}

#[test]
fn without_a_certificate_there_is_no_tls() {
    let urls = ListenUrl::parse_list("ldaps://127.0.0.1:0").unwrap();
    let error = Server::bind(&urls, ServerSettings::default()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("ldaps://127.0.0.1:0 needs a certificate"),
        "{error}"
    );
}

#[test]
fn certificates_of_clients_are_verified_as_configured() {
    let certificates = Certificates::new();
    let own = Some("o=Test,cn=client".to_owned());
    for (asked, shown, expected) in [
        (VerifyClient::Never, Some("client"), Ok(None)),
        (VerifyClient::Allow, None, Ok(None)),
        (VerifyClient::Allow, Some("client"), Ok(own.clone())),
        (VerifyClient::Allow, Some("stranger"), Ok(None)),
        (VerifyClient::Try, None, Ok(None)),
        (VerifyClient::Try, Some("client"), Ok(own.clone())),
        (VerifyClient::Try, Some("stranger"), Err(())),
        (VerifyClient::Demand, None, Err(())),
        (VerifyClient::Demand, Some("client"), Ok(own)),
        (VerifyClient::Demand, Some("stranger"), Err(())),
    ] {
        let stub = Stub::default();
        let mut answered = Err(());
        with_server(&stub, certificates.settings(asked), |_, tls| {
            let mut client = protect(connect(tls), &certificates.client(shown));
            let said = client.talk(&[who_am_i(1)], 1);
            answered = match said {
                Ok(said) if said == ["1 whoami "] => Ok(()),
                _ => Err(()),
            };
        });
        let dn = |facts: &Arc<Connection>| facts.tls.as_ref().unwrap().client_dn.clone();
        let found = answered.map(|()| secured(&stub).first().and_then(dn));
        assert_eq!(found, expected, "{asked:?} {shown:?}");
    }
}

#[test]
fn only_configured_versions_and_suites_are_negotiated() {
    let (stub, certificates) = (Stub::default(), Certificates::new());
    let mut settings = certificates.settings(VerifyClient::Never);
    settings.tls.cipher_suite = Some("ECDHE-ECDSA-AES128-GCM-SHA256:!TLSv1.3".to_owned());
    with_server(&stub, settings, |_, tls| {
        let mut client = protect(connect(tls), &certificates.client(None));
        assert_eq!(client.talk(&[who_am_i(1)], 1).unwrap(), ["1 whoami "]);
    });
    let facts = secured(&stub)[0].clone();
    let tls = facts.tls.as_ref().unwrap();
    assert_eq!((tls.version.as_str(), facts.strength.tls), ("TLSv1.2", 128));
    assert_eq!(tls.cipher, "ECDHE-ECDSA-AES128-GCM-SHA256");

    let mut settings = certificates.settings(VerifyClient::Never);
    settings.tls.version_min = TlsVersion::Tls13;
    with_server(&stub, settings, |_, tls| {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let old = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS12])
            .unwrap()
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        let mut client = protect(connect(tls), &Arc::new(old));
        assert!(client.talk(&[who_am_i(1)], 1).is_err());
    });
}

/// How long a client in good order has to wait for an answer.
fn waits(address: SocketAddr, config: &Arc<ClientConfig>) -> Duration {
    let started = Instant::now();
    let mut client = protect(connect(address), config);
    assert_eq!(client.talk(&[who_am_i(1)], 1).unwrap(), ["1 whoami "]);
    started.elapsed()
}

#[test]
fn failed_handshakes_do_not_block_other_clients() {
    let (stub, certificates) = (Stub::default(), Certificates::new());
    with_server(
        &stub,
        certificates.settings(VerifyClient::Never),
        |_, tls| {
            let config = certificates.client(None);
            let silent: Vec<TcpStream> = (0..50).map(|_| connect(tls)).collect();
            // The beginning of a handshake, and nothing more.
            let mut halves: Vec<TcpStream> = (0..50).map(|_| connect(tls)).collect();
            for half in &mut halves {
                half.write_all(&[0x16, 3, 1, 2, 0, 1, 0]).unwrap();
            }
            let mut liars: Vec<TcpStream> = (0..20).map(|_| connect(tls)).collect();
            for (liar, words) in liars.iter_mut().zip(
                [
                    &b"GET / HTTP/1.0\r\n\r\n"[..],
                    &[0x30, 5, 2, 1, 1, 0x42, 0],
                    &[0xff; 4096],
                ]
                .into_iter()
                .cycle(),
            ) {
                liar.write_all(words).unwrap();
            }
            let waited = waits(tls, &config);
            assert!(waited < Duration::from_secs(2), "{waited:?}");
            for mut liar in liars {
                let mut rest = Vec::new();
                let _ = liar.read_to_end(&mut rest);
                assert!(rest.len() < 100, "an alert at most: {rest:?}");
            }
            // All that have not come further are closed when their time is over.
            for mut stream in silent.into_iter().chain(halves) {
                let closed = matches!(stream.read(&mut [0; 100]), Ok(0) | Err(_));
                assert!(closed);
            }
        },
    );
}

/// Gives its bytes one at a time.
struct Drop1(TcpStream);

impl Read for Drop1 {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Drop1 {
    fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
        self.0.write(&buffer[..buffer.len().min(1)])
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

#[test]
fn a_slow_client_is_served() {
    let (stub, certificates) = (Stub::default(), Certificates::new());
    with_server(
        &stub,
        certificates.settings(VerifyClient::Never),
        |_, tls| {
            let stream = connect(tls);
            stream.set_nodelay(true).unwrap();
            let name = ServerName::try_from("localhost").unwrap();
            let connection = ClientConnection::new(certificates.client(None), name).unwrap();
            let mut client = Client::new(StreamOwned::new(connection, Drop1(stream)));
            assert_eq!(client.talk(&[who_am_i(1)], 1).unwrap(), ["1 whoami "]);
        },
    );
}

#[test]
fn a_unix_socket_gives_the_credentials_of_its_peer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ldapi");
    let escaped = path.display().to_string().replace('/', "%2F");
    let urls = ListenUrl::parse_list(&format!("ldapi://{escaped}/????x-mod=0700")).unwrap();
    let certificates = Certificates::new();
    let server = Server::bind(&urls, certificates.settings(VerifyClient::Never)).unwrap();
    let stub = Stub::default();
    std::thread::scope(|scope| {
        let stop = Stopper(server.stop_handle());
        let served = scope.spawn(|| server.run(&stub));
        let mut client = Client::new(UnixStream::connect(&path).unwrap());
        let start = extended(2, oid::START_TLS, None);
        assert_eq!(client.talk(&[who_am_i(1)], 1).unwrap(), ["1 whoami "]);
        assert_eq!(client.talk(&[start], 1).unwrap(), ["2 extended 0"]);
        let name = ServerName::try_from("localhost").unwrap();
        let connection = ClientConnection::new(certificates.client(None), name).unwrap();
        let mut client = Client::new(StreamOwned::new(connection, client.stream));
        assert_eq!(client.talk(&[who_am_i(3)], 1).unwrap(), ["3 whoami "]);
        drop(stop);
        served.join().unwrap().unwrap();
    });
    let facts = secured(&stub)[0].clone();
    let credentials = facts.peer_credentials.unwrap();
    let own = std::fs::metadata(Path::new("/proc/self")).unwrap();
    assert_eq!(credentials.uid, std::os::unix::fs::MetadataExt::uid(&own));
    assert_eq!(facts.peer, EndPoint::Path(path.display().to_string()));
    assert_eq!(facts.strength.transport, 71);
    assert!(!path.exists(), "the socket goes with the server");
}
