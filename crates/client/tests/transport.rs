//! The client over TLS and over a local socket, against a server of a few lines.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use fulgurite_client::{
    Client, ClientError, ConnectOptions, LdapUrl, Response, ResultCode, TlsSettings,
};
use fulgurite_ldap::{
    Assertion, CompareRequest, LdapResult, Limits, Message, Request, encode, frame, oid,
};
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A certificate for localhost that is its own authority, and the server's settings.
fn certificate(folder: &Path) -> (TlsSettings, Arc<ServerConfig>) {
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let key = KeyPair::generate().expect("a key");
    let parameters = CertificateParams::new(names).expect("a subject");
    let own = parameters.self_signed(&key).expect("a certificate");
    let file = folder.join("own.pem");
    std::fs::write(&file, own.pem()).expect("write the certificate");
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![own.der().clone()], key)
        .expect("settings of the server");
    let settings = TlsSettings {
        authorities: Some(file),
        verifies: true,
    };
    (settings, Arc::new(config))
}

/// Reads the next message and appends the answer to it. Returns false at the end, and after the
/// answer to StartTLS.
fn answer(stream: &mut impl Read, held: &mut Vec<u8>, out: &mut Vec<u8>) -> bool {
    let mut chunk = [0; 4096];
    let len = loop {
        if let Ok(Some(len)) = frame(held, 1 << 24) {
            break len;
        }
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return false,
            Ok(count) => held.extend_from_slice(&chunk[..count]),
        }
    };
    let message = Message::decode(&held[..len], &Limits::default()).expect("a request");
    let (id, operation) = (message.id, message.request.operation());
    let success = LdapResult::success();
    let goes_on = match &message.request {
        Request::Extended(extended) if extended.oid == oid::START_TLS.as_bytes() => {
            encode::extended_result(out, id, &success, None, None, &[]);
            false
        }
        Request::Extended(_) => {
            // The value of a password modify response.
            let value: &[u8] = b"\x30\x05\x80\x03abc";
            encode::extended_result(out, id, &success, None, Some(value), &[]);
            true
        }
        // Answers as long as requests fill many records in both directions.
        Request::Compare(compare) => {
            let text = "x".repeat(compare.assertion.value.len());
            let result = LdapResult::with_diagnostic(ResultCode::CompareTrue, text);
            encode::result(out, id, operation, &result, &[]);
            true
        }
        _ => {
            encode::result(out, id, operation, &success, &[]);
            true
        }
    };
    held.drain(..len);
    goes_on
}

fn converse(mut stream: impl Read + Write) {
    let (mut held, mut out) = (Vec::new(), Vec::new());
    while answer(&mut stream, &mut held, &mut out) {
        if stream
            .write_all(&out)
            .and_then(|()| stream.flush())
            .is_err()
        {
            return;
        }
        out.clear();
    }
}

/// Serves one connection; `starts_tls` waits for StartTLS before the handshake.
fn serve_tls(config: Arc<ServerConfig>, starts_tls: bool) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its address").port();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        if starts_tls {
            let (mut held, mut out) = (Vec::new(), Vec::new());
            while answer(&mut stream, &mut held, &mut out) {}
            stream.write_all(&out).expect("answer StartTLS");
        }
        let connection = ServerConnection::new(config).expect("a connection");
        converse(StreamOwned::new(connection, stream));
    });
    port
}

fn options(tls: TlsSettings) -> ConnectOptions {
    ConnectOptions {
        timeout: Some(Duration::from_secs(30)),
        tls,
        start_tls: false,
    }
}

fn url(text: &str) -> LdapUrl {
    LdapUrl::parse(text).expect("a URL")
}

#[test]
fn both_halves_of_a_tls_connection_work_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let (trust, config) = certificate(folder.path());
    let port = serve_tls(config, false);
    let client = Client::open(&url(&format!("ldaps://localhost:{port}")), &options(trust));
    let (mut sender, mut receiver) = client.expect("connect").split();
    let lens = [1_usize, 100, 16_384, 70_000, 1 << 20];
    // The answers do not fit into the buffers of the sockets, so both must go on at the same time.
    let sending = thread::spawn(move || {
        let value = vec![7; 1 << 20];
        for round in 0..20 {
            let assertion = Assertion {
                attribute: b"cn",
                value: &value[..lens[round % lens.len()]],
            };
            let request = Request::Compare(CompareRequest {
                dn: b"cn=x",
                assertion,
            });
            sender.send(&request, &[]).expect("send");
        }
        sender
    });
    for round in 0..20 {
        let message = receiver.receive().expect("an answer");
        let Response::Compare(result) = message.response else {
            panic!("another answer");
        };
        assert_eq!(result.diagnostic.len(), lens[round % lens.len()]);
    }
    sending.join().expect("the sender");
}

#[test]
fn start_tls_encrypts_what_follows() {
    let folder = tempfile::tempdir().expect("a folder");
    let (trust, config) = certificate(folder.path());
    let port = serve_tls(config, true);
    let options = ConnectOptions {
        start_tls: true,
        ..options(trust)
    };
    let client = Client::open(&url(&format!("ldap://127.0.0.1:{port}")), &options);
    let mut client = client.expect("connect");
    assert!(client.bind("cn=x", b"y").expect("bind").is_success());
    assert!(client.bind_external().expect("bind").is_success());
    let (result, password) = client.modify_password("cn=x", None).expect("change");
    assert!(result.is_success());
    assert_eq!(password.as_deref(), Some(&b"abc"[..]));
}

#[test]
fn a_certificate_of_another_authority_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, config) = certificate(folder.path());
    let other = tempfile::tempdir().expect("a folder");
    let (trust, _) = certificate(other.path());
    let port = serve_tls(Arc::clone(&config), false);
    let url = url(&format!("ldaps://localhost:{port}"));
    match Client::open(&url, &options(trust.clone())) {
        Err(ClientError::Tls(reason)) => assert!(reason.contains("certificate"), "{reason}"),
        other => panic!("{other:?}"),
    }
    let lax = TlsSettings {
        verifies: false,
        ..trust
    };
    let port = serve_tls(config, false);
    let url = LdapUrl::parse(&format!("ldaps://localhost:{port}")).expect("a URL");
    let mut client = Client::open(&url, &options(lax)).expect("connect");
    assert!(client.bind("", b"").expect("bind").is_success());
}

#[test]
fn a_local_socket_is_a_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ldapi");
    let listener = UnixListener::bind(&path).expect("a socket");
    thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a client");
        converse(stream);
    });
    let text = path.display().to_string().replace('/', "%2F");
    let options = options(TlsSettings::default());
    let mut client = Client::open(&url(&format!("ldapi://{text}")), &options).expect("connect");
    assert!(client.bind_external().expect("bind").is_success());
    assert!(matches!(
        Client::open(&url("ldapi://"), &options),
        Err(ClientError::Connect(_))
    ));
}
