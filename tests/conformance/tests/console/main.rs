//! The console in the browser: its journeys in a real one, and its bounds by plain requests.

mod attacks;
mod encrypted;
mod hostile;
mod incidents;
mod rig;

use std::time::{Duration, Instant};

use fulgurite_client::{
    Change, PartialAttribute, Request, Response, ResultCode, Scope, SearchRequest,
};
use fulgurite_conformance::TIMEOUT;
use fulgurite_ldap::control::{SyncMode, SyncRequest};
use fulgurite_ldap::{Control, FilterBuf, oid};

use rig::{Rig, SETTINGS, browse, status, token};

#[test]
fn requests_that_mean_harm_are_refused() {
    let rig = Rig::start(SETTINGS);
    let page = rig.get("/login", "").to_ascii_lowercase();
    for field in [
        "default-src 'none'",
        "x-frame-options: deny",
        "httponly; samesite=strict",
        "cache-control: no-store",
    ] {
        assert!(page.contains(field), "{field}: {page}");
    }
    assert!(
        !page.contains("<script") && !page.contains(" style="),
        "{page}"
    );
    let rebound =
        rig.ask(b"GET /login HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    assert_eq!(status(&rebound), "421");
    for begin in [
        "GET /login HTTP/1.1",
        "GET /login HTTP/1.1\r\nHost: localhost\r\nHost: evil.example",
        "GET http://evil.example/login HTTP/1.1\r\nHost: localhost",
    ] {
        let request = format!("{begin}\r\nConnection: close\r\n\r\n");
        assert_eq!(status(&rig.ask(request.as_bytes())), "421", "{begin}");
    }
    assert_eq!(
        status(&rig.post("/login", "Origin: http://evil.example\r\n", "")),
        "403"
    );
    assert_eq!(
        status(&rig.post("/login", "", "name=ada&password=ada-secret")),
        "403"
    );
    for (request, expected) in [
        (rig.get("/users", ""), "303"),
        (rig.get("/me", "Cookie: fulgurite-console=x\r\n"), "401"),
        (rig.post("/logout", "", ""), "303"),
        (
            rig.post("/login", "Cookie: x\r\n", &"a".repeat(2 << 20)),
            "413",
        ),
        (
            rig.ask(b"DELETE /me HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
            "405",
        ),
        (rig.get(&format!("/{}", "a".repeat(9000)), ""), "414"),
    ] {
        assert_eq!(status(&request), expected, "{request}");
    }
    assert!(
        rig.get("/", &format!("X: {}\r\n", "a".repeat(40_000)))
            .starts_with("HTTP/1.1 431")
    );
    rig.ask(b"\x16\x03\x01not HTTP\r\n\r\n");
    let known = rig.sign_in("ada", "wrong");
    let unknown = rig.sign_in("nobody", "wrong");
    let words = |page: &str| {
        page.split("role=\"alert\">")
            .nth(1)
            .map(|text| text[..40].to_owned())
    };
    assert_eq!(words(&known), words(&unknown));
    assert_eq!(
        (status(&known), status(&unknown)),
        ("403".to_owned(), "403".to_owned())
    );
    // Metacharacters of filters and names are text.
    for name in ["*", "a)(uid=*", "%5C"] {
        assert_eq!(status(&rig.sign_in(name, "ada-secret")), "403", "{name}");
    }
    assert_eq!(status(&rig.sign_in("ada", "ada-secret")), "303");
    // Each way to name an account counts for it.
    for spelling in [
        "bjorn",
        "BJORN",
        "uid%3Dbjorn,ou%3Dpeople,dc%3Dexample,dc%3Dcom",
        "0.9.2342.19200300.100.1.1%3D%5C62jorn,+OU%3DPeople,dc%3Dexample,dc%3Dcom",
        "userid%3DBjorn,ou%3D+people+,dc%3Dexample,dc%3Dcom",
    ] {
        assert_eq!(status(&rig.sign_in(spelling, "wrong")), "403", "{spelling}");
    }
    assert_eq!(status(&rig.sign_in("bjorn", "bjorn-secret")), "429");
}

#[test]
fn a_wrong_password_does_not_lead_a_name_to_another_account() {
    let hidden = r#"'to dn.base="" by * read', "to * by * auth""#;
    let hidden = SETTINGS.replace(r#""to * by self write by * read""#, hidden);
    let rig = Rig::start(&hidden);
    let mut root = rig.server.client();
    let bound = root.bind("cn=admin,dc=example,dc=com", b"secret");
    assert!(bound.expect("bind").is_success());
    let other = "cn=bjorn,dc=example,dc=com";
    let added = root.add(
        other,
        &[
            PartialAttribute::new("objectClass", &[b"person".as_slice()]),
            PartialAttribute::new("sn", &[b"Quist".as_slice()]),
            PartialAttribute::new("userPassword", &[b"other-secret".as_slice()]),
        ],
    );
    assert!(added.expect("add").is_success());
    let failures_max = [b"100".as_slice()];
    let bound = Change::replace("pwdMaxFailure", &failures_max);
    let modified = root.modify("cn=policy,dc=example,dc=com", &[bound]);
    assert!(modified.expect("modify").is_success());
    let mut failures = || {
        let bjorn = "uid=bjorn,ou=people,dc=example,dc=com";
        let found = root.search(bjorn, Scope::Base, "(objectClass=*)", &["pwdFailureTime"]);
        let found = found.expect("search").entries.remove(0);
        found.values("pwdFailureTime").len()
    };
    // Both accounts are tried at first; then the console knows the one of this name.
    assert_eq!(status(&rig.sign_in("bjorn", "other-secret")), "303");
    assert_eq!(failures(), 1);
    for _ in 0..3 {
        assert_eq!(status(&rig.sign_in("bjorn", "wrong")), "403");
    }
    assert_eq!(failures(), 1);
}

#[test]
fn an_administrator_cancels_one_operation() {
    let rig = Rig::configured();
    let mut client = rig.server.client();
    let bound = client.bind("cn=admin,dc=example,dc=com", b"secret");
    assert!(bound.expect("bind").is_success());
    let sync = SyncRequest {
        mode: SyncMode::RefreshAndPersist,
        cookie: None,
        reload_hint: false,
    };
    let filter = FilterBuf::parse("(sn=secret-name)").expect("a filter");
    let search = SearchRequest::new("dc=example,dc=com", Scope::Subtree, filter.filter());
    let sync = sync.encode();
    let control = Control::with_value(oid::SYNC_REQUEST, true, &sync);
    let lasting = client.send(&Request::Search(search), &[control]);
    let lasting = lasting.expect("send");
    let fields = rig.session("cn%3Dadmin,dc%3Dexample,dc%3Dcom", "secret");
    let begun = Instant::now();
    let page = loop {
        let page = rig.get("/clients", &fields);
        if page.contains("waits for changes") {
            break page;
        }
        assert!(begun.elapsed() < TIMEOUT, "{page}");
        std::thread::sleep(Duration::from_millis(50));
    };
    assert!(!page.contains("secret-name"), "{page}");
    let name = page.split("value=\"cn=Operation ").nth(1).expect("a form");
    let name = name.split('"').next().expect("a name");
    let entry = format!("cn%3DOperation {name}").replace('=', "%3D");
    let form = format!("token={}&entry={}", token(&page), entry.replace(' ', "+"));
    let answer = rig.post("/clients", &fields, &form);
    assert_eq!(status(&answer), "303", "{answer}");
    let code = loop {
        match client.receive_for(lasting).expect("an answer").response {
            Response::SearchDone(result) => break result.code,
            other => drop(other),
        }
    };
    assert_eq!(code, ResultCode::Canceled);
    // The connection serves on.
    assert!(
        client
            .who_am_i()
            .expect("an answer")
            .starts_with("dn:cn=admin")
    );
}

#[test]
fn people_in_a_browser() {
    let rig = Rig::start(SETTINGS);
    browse(&rig, "journeys.py", &format!("http://{}", rig.address));
}

#[test]
fn administrators_in_a_browser() {
    let rig = Rig::configured();
    let mut client = rig.server.client();
    let bound = client.bind("uid=ada,ou=people,dc=example,dc=com", b"ada-secret");
    assert!(bound.expect("bind").is_success());
    rig.search_slowly();
    browse(
        &rig,
        "administration.py",
        &format!("http://{}", rig.address),
    );
}
