//! Requests to the console in the browser.

use std::io;
use std::sync::Arc;

use fulgurite_client::ClientError;
use fulgurite_console::{AboutServer, ConsoleOptions, answer_bytes};

/// Bytes of one connection to the console, of a stranger. Each response has the headers that keep a
/// browser safe. It has no header of the request's making, and leads to the console itself.
pub fn console_http(bytes: &[u8]) {
    let options = ConsoleOptions {
        dial: Arc::new(|| Err(ClientError::Io(io::ErrorKind::ConnectionRefused.into()))),
        tls: None,
        hosts: vec!["ldap.example.com".to_owned()],
        about: AboutServer::default(),
    };
    let answered = answer_bytes(options, bytes).expect("the system");
    let text = String::from_utf8_lossy(&answered);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return;
    };
    assert!(head.starts_with("HTTP/1."), "{head:?}");
    let lines: Vec<String> = head.lines().map(str::to_ascii_lowercase).collect();
    let value_of = |name: &str| {
        let mut lines = lines.iter();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    };
    // The parser of HTTP answers what is no request by itself, with an empty body.
    let Some(policy) = value_of("content-security-policy") else {
        assert!(body.is_empty(), "{text}");
        return;
    };
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    assert_eq!(value_of("x-content-type-options"), Some("nosniff"));
    assert!(value_of("x-evil").is_none(), "{head}");
    let location = value_of("location").unwrap_or("/");
    assert!(
        location.starts_with('/') && !location.starts_with("//"),
        "{head}"
    );
    assert!(!body.contains("<script"), "{body}");
}

/// Requests to begin with.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let requests = [
        "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /login?x=%3Cscript%3E HTTP/1.1\r\nHost: [::1]:9390\r\nConnection: close\r\n\r\n",
        "HEAD /style.css HTTP/1.0\r\nHost: ldap.example.com\r\n\r\n",
        "GET /users?q=a%00%0d%0aX-Evil:%201 HTTP/1.1\r\nHost: localhost\r\n\
         Cookie: fulgurite-console=00; fulgurite-login=a\r\n\r\n",
        "POST /login HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n\
         Sec-Fetch-Site: same-origin\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Content-Length: 31\r\n\r\nname=%3Cscript%3E&password=&form",
        "POST /login HTTP/1.1\r\nHost: localhost\r\nCookie: fulgurite-login=a\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n\
         1b\r\nform=a&name=x&password=&x=%\r\n0\r\n\r\n",
        "GET /login HTTP/1.1\r\nHost: localhost\r\n\r\nGET /me HTTP/1.1\r\nHost: evil\r\n\r\n",
        "\u{16}\u{3}\u{1}",
    ];
    requests
        .iter()
        .map(|text| text.as_bytes().to_vec())
        .collect()
}
