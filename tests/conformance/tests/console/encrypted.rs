//! The console and the figures over TLS.

use std::process::Command;

use fulgurite_conformance::TIMEOUT;
use fulgurite_testkit::run_bounded;

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

#[test]
fn a_browser_over_tls() {
    let rig = Rig::encrypted();
    rig.search_slowly();
    let (_, port) = rig.address.rsplit_once(':').expect("a port");
    browse(&rig, "encrypted.py", &format!("https://localhost:{port}"));
}
