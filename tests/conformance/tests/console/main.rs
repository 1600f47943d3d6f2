//! The console in the browser: its journeys in a real one, and its bounds by plain requests.

mod encrypted;
mod hostile;
mod rig;

use rig::{Rig, SETTINGS, browse, status};

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
    assert_eq!(
        status(&rig.ask(b"GET /login HTTP/1.1\r\nConnection: close\r\n\r\n")),
        "421"
    );
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
    for _ in 0..5 {
        rig.sign_in("bjorn", "wrong");
    }
    assert_eq!(status(&rig.sign_in("bjorn", "bjorn-secret")), "429");
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
