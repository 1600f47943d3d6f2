//! The lines of the log: reasons of failed binds, other protocols, references, JSON.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use fulgurite_client::Scope;
use fulgurite_conformance::{LoadedStore, ROOT, RunningServer, SUFFIX};

const PEOPLE: &str = "dn: dc=example,dc=com\nobjectClass: domain\ndc: example\n\n\
    dn: uid=ada,dc=example,dc=com\nobjectClass: inetOrgPerson\nuid: ada\ncn: Ada\nsn: A\n\
    userPassword: right\n\n\
    dn: uid=bo,dc=example,dc=com\nobjectClass: inetOrgPerson\nuid: bo\ncn: Bo\nsn: B\n\n\
    dn: ou=far,dc=example,dc=com\nobjectClass: referral\nobjectClass: extensibleObject\nou: far\n\
    ref: ldap://elsewhere/ou=far\n";

fn serve(more: &[&str]) -> (LoadedStore, RunningServer) {
    let loaded = LoadedStore::from_ldif(PEOPLE.as_bytes());
    let serving = loaded.serve(&[&["--log-operations"], more].concat());
    (loaded, serving)
}

#[test]
fn a_failed_bind_has_its_reason_in_the_log() {
    let (_loaded, serving) = serve(&[]);
    let ada = format!("uid=ada,{SUFFIX}");
    let cases = [
        (ada.clone(), "wrong", "the password is wrong"),
        (format!("uid=bo,{SUFFIX}"), "x", "the entry has no password"),
        (format!("uid=cy,{SUFFIX}"), "x", "there is no such entry"),
        (
            "cn=x,o=elsewhere".to_owned(),
            "x",
            "no database has the name",
        ),
        (ROOT.to_owned(), "wrong", "the password is wrong"),
    ];
    for (name, password, reason) in &cases {
        let result = serving.client().bind(name, password.as_bytes());
        let result = result.expect("a bind");
        assert_eq!((result.code.number(), result.diagnostic.as_str()), (49, ""));
        let line = serving.logged("BIND ");
        let end = format!(" text=\"\" reason=\"{reason}\"");
        assert!(
            line.contains(name.as_str()) && line.ends_with(&end),
            "{line}"
        );
    }
    assert!(
        serving
            .client()
            .bind(&ada, b"right")
            .expect("a bind")
            .is_success()
    );
    let line = serving.logged("BIND ");
    assert!(line.ends_with("text=\"\""), "{line}");
    serving.stop();
}

#[test]
fn other_protocols_on_a_plain_port_are_named() {
    let (_loaded, serving) = serve(&[]);
    for (bytes, words) in [
        (
            &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
            "looks like TLS",
        ),
        (b"GET / HTTP/1.1\r\n\r\n", "looks like HTTP"),
    ] {
        let mut stream = TcpStream::connect(serving.address).expect("connect");
        stream.write_all(bytes).expect("send");
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let line = serving.logged(words);
        assert!(line.contains("WARN") && line.contains("conn="), "{line}");
    }
    serving.stop();
}

#[test]
fn references_are_no_entries() {
    let (_loaded, serving) = serve(&[]);
    let mut client = serving.client();
    for (filter, entries) in [("(cn=nothing)", 0), ("(objectClass=*)", 3)] {
        client
            .search(SUFFIX, Scope::Subtree, filter, &[])
            .expect("a search");
        let line = serving.logged("SRCH ");
        assert!(line.contains(&format!(" nentries={entries} ")), "{line}");
    }
    serving.stop();
}

#[test]
fn lines_of_json_are_objects() {
    // The lines with addresses are JSON too.
    let (loaded, serving) = serve(&["--log-format", "json"]);
    let mut client = serving.client();
    client.bind(ROOT, b"wrong").expect("a bind");
    client
        .search(SUFFIX, Scope::Subtree, "(cn=A\\28*)", &["cn"])
        .expect("a search");
    drop(client);
    let mut found = 0;
    for line in serving.stop() {
        let object: serde_json::Value = serde_json::from_str(&line).expect(&line);
        assert!(
            object["time"].as_str().expect(&line).ends_with('Z'),
            "{line}"
        );
        assert!(
            object["message"].is_string() && object["level"].is_string(),
            "{line}"
        );
        if object["request"] == "BIND" {
            assert_eq!((&object["err"], &object["dn"]), (&49.into(), &ROOT.into()));
            assert_eq!(object["reason"], "the password is wrong");
            found += 1;
        }
        if object["request"] == "SRCH" {
            assert_eq!(object["type"], "operation");
            assert_eq!(object["filter"], "(cn=A\\28*)");
            assert!(object["etime"].is_number(), "{line}");
            found += 1;
        }
    }
    assert_eq!(found, 2);
    drop(loaded);
}
