//! Requests to the address of figures and probes.

use fulgurite_server::answer_metrics_bytes;

/// Bytes of one connection to that address, of a stranger. Each response is whole and of a known
/// kind, and shows no figures without a token.
pub fn metrics_http(bytes: &[u8]) {
    let answered = answer_metrics_bytes(bytes);
    if answered.is_empty() {
        return;
    }
    let text = String::from_utf8(answered).expect("a response is text");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.strip_prefix("HTTP/1.1 "));
    let status = status.and_then(|rest| rest.get(..3)).expect("a status");
    let is_known = ["200", "400", "401", "404", "405", "408", "431", "503"].contains(&status);
    assert!(is_known, "{head}");
    let fields: Vec<_> = lines
        .map(|line| line.split_once(": ").expect("a field"))
        .collect();
    let value_of = |name: &str| {
        let mut fields = fields.iter();
        fields.find_map(|(own, value)| (*own == name).then_some(*value))
    };
    assert_eq!(value_of("Connection"), Some("close"), "{head}");
    assert_eq!(value_of("X-Content-Type-Options"), Some("nosniff"));
    let len: usize = value_of("Content-Length")
        .and_then(|len| len.parse().ok())
        .expect("a length");
    assert!(body.len() == len || body.is_empty(), "{text}");
    assert!(!text.contains("fulgurite_"), "{text}");
}

/// Requests to begin with.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let requests = [
        "GET /metrics HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer secret\r\n\r\n",
        "GET /metrics HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \r\n\r\n",
        "HEAD /healthz HTTP/1.0\r\n\r\n",
        "GET http://a/readyz?x=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
        "POST /metrics HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET /metrics HTTP/1.1\nHost: a\n\n",
        "GET / HTTP/1.1\r\n X: folded\r\n\r\n",
        "\u{16}\u{3}\u{1}",
    ];
    requests
        .iter()
        .map(|text| text.as_bytes().to_vec())
        .collect()
}
