//! Certificates as values: kept as they are, found by serial number and issuer.

use std::process::Command;

use crate::data::{BABS, SUFFIX, UNORDERED, names};
use crate::stage::{Stage, ran};

/// A self-signed certificate with this serial number, in base64.
fn certificate(stage: &Stage, serial: &str) -> String {
    let mut command = Command::new("openssl");
    let asked = [
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-keyout", "key.pem",
    ];
    let subject = [
        "-subj",
        "/O=Test/CN=Own",
        "-set_serial",
        serial,
        "-out",
        "own.pem",
    ];
    let command = command.args(asked).args(subject);
    ran(command.current_dir(stage.path(".")), "").well();
    let text = std::fs::read_to_string(stage.path("own.pem")).expect("the certificate");
    let lines = text.lines().filter(|line| !line.starts_with("-----"));
    lines.collect()
}

#[test]
fn certificates_are_values() {
    let stage = Stage::loaded("certificates", "index userCertificate eq", UNORDERED);
    let (first, second) = (certificate(&stage, "4660"), certificate(&stage, "4661"));
    let server = stage.start();
    let change = |how: &str, value: &str| {
        let text = format!(
            "dn: {BABS}\nchangetype: modify\n{how}: userCertificate;binary\nuserCertificate;binary:{value}\n"
        );
        server.root("ldapmodify", &[], &text).status
    };
    let found = |filter: &str| names(&server.search(&[filter, "1.1"])).len();
    let assertion = |serial: &str, issuer: &str| {
        format!("{{ serialNumber {serial}, issuer rdnSequence:\"{issuer}\" }}")
    };
    let own = "cn=Own,o=Test";
    let exact = |serial: &str, issuer: &str| {
        found(&format!("(userCertificate={})", assertion(serial, issuer)))
    };
    assert_eq!(exact("4660", own), 0);
    assert_eq!(change("add", &format!(": {first}")), 0);
    assert_eq!(change("add", &format!(": {first}")), 20);
    assert_eq!(change("add", " no certificate"), 21);
    assert_eq!(exact("4660", own), 1);
    assert_eq!(exact("4660", "CN=own, O=test"), 1);
    assert_eq!(
        (exact("4661", own), exact("4660", "cn=Other,o=Test")),
        (0, 0)
    );
    assert_eq!(found(&format!("(userCertificate=4660${own})")), 1);
    assert_eq!(found("(userCertificate=nonsense)"), 0);
    assert_eq!(found("(userCertificate=*)"), 1);
    assert_eq!(change("add", &format!(": {second}")), 0);
    let shown = server.search(&["-o", "ldif-wrap=no", "(uid=bjensen)", "userCertificate"]);
    for value in [&first, &second] {
        assert!(
            shown.contains(&format!("userCertificate;binary:: {value}\n")),
            "{shown}"
        );
    }
    // The option is part of how it is sent, and must be there.
    let without = format!(
        "dn: cn=x,{SUFFIX}\nchangetype: add\nobjectClass: inetOrgPerson\ncn: x\nsn: x\nuserCertificate:: {first}\n"
    );
    server.root("ldapmodify", &[], &without).with_status(17);
    // The assertion form of a value is for searches; a change names the whole value.
    assert_eq!(
        change("delete", &format!(" {}", assertion("4660", own))),
        21
    );
    assert_eq!(change("delete", &format!(": {first}")), 0);
    assert_eq!(change("delete", &format!(": {first}")), 16);
    assert_eq!(change("delete", &format!(": {second}")), 0);
    assert_eq!(found("(userCertificate=*)"), 0);
    server.stop();
}
