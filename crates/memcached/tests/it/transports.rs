//! Sockets, TLS, users and the refusal of the binary protocol.

use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use fulgurite_memcached::{Address, Options, ServeError, Server, Tls};
use fulgurite_testkit::Scratch;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::world::{Client, Running, options, wait_until};

#[test]
fn a_unix_socket_serves_and_ends_with_the_server() {
    let scratch = Scratch::new("memcached");
    let path = scratch.join("socket");
    let server = Running::start(&Options {
        listen: vec![Address::Unix(path.clone())],
        ..options(&scratch.join("data"))
    });
    let mut client = Client::unix(&path);
    assert_eq!(client.ask("set a 0 0 1\r\nx\r\n"), "STORED\r\n");
    drop(server);
    assert!(!path.exists());
}

/// Makes the files of TLS for `localhost`. Returns the certificate too.
fn self_signed(scratch: &Scratch) -> (Tls, CertificateDer<'static>) {
    let signed =
        rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let (certificate, key) = (scratch.join("cert.pem"), scratch.join("key.pem"));
    std::fs::write(&certificate, signed.cert.pem()).expect("a file");
    std::fs::write(&key, signed.signing_key.serialize_pem()).expect("a file");
    (Tls { certificate, key }, signed.cert.der().clone())
}

#[test]
fn tls_protects_tcp() {
    let scratch = Scratch::new("memcached");
    let (tls, certificate) = self_signed(&scratch);
    let server = Running::start(&Options {
        tls: Some(tls),
        ..options(&scratch.join("data"))
    });
    let mut roots = RootCertStore::empty();
    roots.add(certificate).expect("a root");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").expect("a name");
    let connection = ClientConnection::new(Arc::new(config), name).expect("a client");
    let stream = TcpStream::connect(("127.0.0.1", server.port())).expect("a connection");
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .expect("a timeout");
    let mut client = Client::over(StreamOwned::new(connection, stream));
    let value = "x".repeat(500_000);
    assert_eq!(
        client.ask(format!("set a 0 0 500000\r\n{value}\r\n")),
        "STORED\r\n"
    );
    assert_eq!(
        client.ask("get a\r\n"),
        format!("VALUE a 0 500000\r\n{value}\r\nEND\r\n")
    );
    // A client without TLS gets no answer of the protocol.
    let mut plain = server.client();
    plain.send(b"version\r\nversion\r\n");
    let answer = plain.rest();
    assert!(!answer.starts_with(b"VERSION"), "{answer:?}");
}

#[test]
fn a_handshake_has_a_bound() {
    let scratch = Scratch::new("memcached");
    let socket = scratch.join("socket");
    let mut settings = options(&scratch.join("data"));
    settings.listen.push(Address::Unix(socket.clone()));
    settings.tls = Some(self_signed(&scratch).0);
    settings.handshake_timeout_s = 1;
    let server = Running::start(&settings);
    let mut client = Client::unix(&socket);
    let mut silent = server.client();
    let mut slow = server.client();
    // The beginning of a record, whose end does not come.
    slow.send(&[22, 3, 1, 2, 0, 1]);
    wait_until(|| client.figure("total_connections") == 3);
    wait_until(|| client.figure("curr_connections") == 1);
    // No more than the alert of an end.
    const ALERT: u8 = 21;
    for client in [&mut silent, &mut slow] {
        let answer = client.rest();
        assert!(
            answer.first().is_none_or(|first| *first == ALERT),
            "{answer:?}"
        );
    }
}

#[test]
fn a_silent_connection_ends_after_its_time() {
    let scratch = Scratch::new("memcached");
    let server = Running::start(&Options {
        idle_timeout_s: 1,
        ..options(scratch.path())
    });
    let mut client = server.client();
    let mut silent = server.client();
    assert_eq!(silent.ask("get a\r\n"), "END\r\n");
    // This client is not silent.
    wait_until(|| client.figure("idle_kicks") == 1);
    assert_eq!(client.figure("curr_connections"), 1);
    assert!(silent.rest().is_empty());
}

#[test]
fn unusable_settings_are_reported() {
    let scratch = Scratch::new("memcached");
    let missing = scratch.join("missing.pem");
    let tls = Options {
        tls: Some(Tls {
            certificate: missing.clone(),
            key: missing.clone(),
        }),
        ..options(&scratch.join("data"))
    };
    assert!(matches!(Server::open(&tls), Err(ServeError::Tls(_))));
    let users = Options {
        auth_file: Some(missing),
        ..options(&scratch.join("data"))
    };
    assert!(matches!(
        Server::open(&users),
        Err(ServeError::Users { .. })
    ));
    // An environment of another program stays as it is.
    let folder = scratch.join("foreign");
    std::fs::create_dir(&folder).expect("a folder");
    let environment = fulgurite::Environment::options()
        .open(&folder)
        .expect("an environment");
    let mut txn = environment.write().expect("a transaction");
    txn.put(fulgurite::Database::MAIN, b"a", b"b")
        .expect("a put");
    txn.commit().expect("a commit");
    drop(environment);
    assert!(matches!(
        Server::open(&options(&folder)),
        Err(ServeError::Foreign(_))
    ));
}

#[test]
fn users_begin_with_their_token() {
    let scratch = Scratch::new("memcached");
    let file = scratch.join("users");
    std::fs::write(&file, "kari:secret\nola:pass word\n").expect("a file");
    let server = Running::start(&Options {
        auth_file: Some(file),
        ..options(&scratch.join("data"))
    });
    let mut client = server.client();
    let unknown = "CLIENT_ERROR unauthenticated\r\n";
    client.send(b"get a\r\nset x 0 0 9\r\nkari wron\r\nset x 0 0 11\r\nkari secret\r\n");
    let expected = format!("{unknown}CLIENT_ERROR authentication failure\r\nSTORED\r\n");
    assert_eq!(
        client.ask("set a 0 0 1\r\nx\r\n"),
        format!("{expected}STORED\r\n")
    );
    let mut other = server.client();
    assert_eq!(
        other.ask("set x 0 0 13\r\nola pass word\r\nget a\r\n"),
        "STORED\r\nVALUE a 0 1\r\nx\r\nEND\r\n"
    );
}

#[test]
fn the_binary_protocol_is_refused_in_its_own_words() {
    let scratch = Scratch::new("memcached");
    let server = Running::start(&options(scratch.path()));
    let mut client = server.client();
    let mut request = vec![0x80, 0x0b];
    request.resize(24, 0);
    request[12..16].copy_from_slice(b"opaq");
    client.send(&request);
    let answer = client.rest();
    assert_eq!(answer[..2], [0x81, 0x0b]);
    assert_eq!(answer[6..8], [0, 0x83]);
    assert_eq!(&answer[12..16], b"opaq");
    assert!(answer.ends_with(b"use the text or meta commands"));
}

#[test]
fn connections_have_a_bound() {
    let scratch = Scratch::new("memcached");
    let server = Running::start(&Options {
        connections_max: 2,
        ..options(scratch.path())
    });
    let mut first = server.client();
    first.ask("");
    let mut second = server.client();
    second.ask("");
    let mut third = server.client();
    assert_eq!(third.rest(), b"ERROR Too many open connections\r\n");
    assert_eq!(first.ask("get a\r\n"), "END\r\n");
}
