//! The console and the figures over TLS.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use fulgurite_conformance::TIMEOUT;
use fulgurite_testkit::run_bounded;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::rig::{Rig, browse};

/// Asks by curl, which trusts the certificate of the rig alone.
fn curl(rig: &Rig, arguments: &[&str], url: &str) -> (bool, String) {
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--show-error", "--include", "--cacert"])
        .arg(rig.folder.path().join("certificate.pem"))
        .args(arguments)
        .arg(url);
    let outcome = run_bounded(&mut curl, TIMEOUT);
    (outcome.success(), outcome.stdout)
}

#[test]
fn console_and_figures_speak_tls() {
    let rig = Rig::encrypted();
    let line = rig.server.logged("metrics and probes at https://");
    let (_, metrics) = line.rsplit_once(':').expect("a port");
    let (_, console) = rig.address.rsplit_once(':').expect("a port");
    let (console, metrics) = (
        format!("https://localhost:{console}"),
        format!("https://localhost:{}", metrics.trim()),
    );
    let (is_done, page) = curl(&rig, &[], &format!("{console}/login"));
    assert!(is_done && page.starts_with("HTTP/1.1 200"), "{page}");
    assert!(
        page.contains("__Host-fulgurite-login=") && page.contains("; Secure"),
        "{page}"
    );
    // Plain HTTP gets no page.
    let plain = console.replace("https", "http");
    let (_, page) = curl(&rig, &[], &format!("{plain}/login"));
    assert!(!page.contains("HTTP/1.1 200"), "{page}");
    let (_, old) = curl(&rig, &["--tls-max", "1.1"], &format!("{console}/login"));
    assert!(!old.contains("HTTP/"), "{old}");
    let figures = format!("{metrics}/metrics");
    let (_, page) = curl(&rig, &[], &figures);
    assert!(page.starts_with("HTTP/1.1 401"), "{page}");
    let bearer = ["-H", "Authorization: Bearer figures-secret"];
    let (is_done, page) = curl(&rig, &bearer, &figures);
    assert!(
        is_done && page.contains("fulgurite_operations_total"),
        "{page}"
    );
    let (_, page) = curl(&rig, &bearer, &figures.replace("https", "http"));
    assert!(!page.contains("fulgurite_operations_total"), "{page}");
}

/// Asks for a path over TLS, as a client that trusts the certificates of a file.
fn ask(address: &str, trusted: &Path, request: &str) -> io::Result<String> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(trusted).expect("a file") {
        roots.add(certificate.expect("PEM")).expect("a certificate");
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").expect("a name");
    let connection = ClientConnection::new(Arc::new(config), name).expect("a connection");
    let socket = TcpStream::connect(address)?;
    socket.set_read_timeout(Some(TIMEOUT))?;
    let mut stream = StreamOwned::new(connection, socket);
    stream.write_all(request.as_bytes())?;
    let mut response = String::new();
    // An end without the alert of TLS would be an error here.
    stream.read_to_string(&mut response)?;
    Ok(response)
}

#[test]
fn a_client_gets_figures_over_tls_with_the_token_of_now() {
    let rig = Rig::encrypted();
    let line = rig.server.logged("metrics and probes at https://");
    let (_, address) = line.rsplit_once("://").expect("an address");
    let at = |name: &str| rig.folder.path().join(name);
    let get = |path: &str, token: &str| {
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {token}\r\n\r\n");
        ask(address.trim(), &at("certificate.pem"), &request).expect("an answer")
    };
    let metrics = get("/metrics", "Bearer figures-secret");
    assert!(metrics.starts_with("HTTP/1.1 200 OK\r\n"), "{metrics}");
    assert!(metrics.ends_with("# EOF\n"), "{metrics}");
    assert!(
        metrics.contains("\nfulgurite_certificate_end_seconds "),
        "{metrics}"
    );
    for wrong in [
        "Bearer figures-secre",
        "Bearer figures-secret2",
        "Basic figures-secret",
        "Bearer ",
    ] {
        let refused = get("/metrics", wrong);
        assert!(refused.starts_with("HTTP/1.1 401 "), "{wrong}: {refused}");
        assert!(
            refused.contains("WWW-Authenticate: Bearer\r\n"),
            "{refused}"
        );
        assert!(!refused.contains("fulgurite_"), "{refused}");
    }
    assert!(get("/healthz", "none").starts_with("HTTP/1.1 200 "));
    // Each request reads the token, so a new one counts at once.
    std::fs::write(at("token"), "another\n").expect("write the token");
    assert!(get("/metrics", "Bearer figures-secret").starts_with("HTTP/1.1 401 "));
    assert!(get("/metrics", "Bearer another").starts_with("HTTP/1.1 200 "));
    // A client that trusts another authority ends the handshake.
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]);
    std::fs::write(at("other.pem"), other.expect("a certificate").cert.pem()).expect("write");
    let request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let refused = ask(address.trim(), &at("other.pem"), request).expect_err("no trust");
    assert!(refused.to_string().contains("certificate"), "{refused}");
}

#[test]
fn a_browser_over_tls() {
    let rig = Rig::encrypted();
    rig.search_slowly();
    let (_, port) = rig.address.rsplit_once(':').expect("a port");
    browse(&rig, "encrypted.py", &format!("https://localhost:{port}"));
}
