//! Hostile requests: random bytes, and pages asked for in random ways by a user who is signed in.

use fulgurite_testkit::{Random, quick_or_long, seed};

use crate::rig::{Rig, SETTINGS, status, token};

/// The pages of the console, and addresses that are none.
const PATHS: [&str; 26] = [
    "/",
    "/me",
    "/me/password",
    "/users",
    "/users/new",
    "/user",
    "/groups",
    "/groups/new",
    "/group",
    "/tree",
    "/entry",
    "/entry/new",
    "/entry/rename",
    "/entry/delete",
    "/schema",
    "/overview",
    "/clients",
    "/searches",
    "/access",
    "/copies",
    "/settings",
    "/login",
    "/logout",
    "/style.css",
    "/..%2f..%2fetc/passwd",
    "//evil.example/",
];

/// The parameters and fields that pages read.
const NAMES: [&str; 19] = [
    "dn", "q", "kind", "name", "class", "parent", "who", "part", "entry", "access", "rdn", "do",
    "address", "ssf", "member", "index", "database", "v.sn", "keep",
];

/// Values that mean something to HTML, HTTP, LDAP, or the console.
const VALUES: [&str; 18] = [
    "",
    "%00",
    "%0d%0aX-Evil:%201",
    "%3Cscript%3Ealert(1)%3C/script%3E",
    "%22%3E%3Cimg%20src%3Dx%3E",
    "*)(uid=*",
    "%28%29%28",
    "uid%3Dada%2Cou%3Dpeople%2Cdc%3Dexample%2Cdc%3Dcom",
    "%ff%fe",
    "%",
    "dc%3D",
    "%5C",
    "cn%3Dconfig",
    "cn%3DMonitor",
    "classes",
    "write",
    "2.5.4.3",
    "\u{fd}",
];

/// Makes a query or a form.
fn pairs(random: &mut Random) -> String {
    let pairs = (0..random.below(5)).map(|_| {
        let (name, value) = (random.pick(&NAMES), random.pick(&VALUES));
        let value = match random.below(20) {
            0 => "a".repeat(random.below(9000)),
            1 => value.repeat(30),
            _ => (*value).to_owned(),
        };
        format!("{name}={value}")
    });
    pairs.collect::<Vec<_>>().join("&")
}

/// Fails if a response has a header or an element that the request smuggled in.
fn assert_harmless(request: &str, response: &str) {
    let status = status(response);
    assert!(
        !status.starts_with('5') && !status.is_empty() || status == "503",
        "{request}\n{response}"
    );
    let (head, body) = response.split_once("\r\n\r\n").expect("a head");
    assert!(
        !head.to_lowercase().contains("\r\nx-evil"),
        "{request}\n{head}"
    );
    let has_policy = head
        .to_lowercase()
        .contains("content-security-policy: default-src 'none'");
    assert!(has_policy, "{request}\n{head}");
    for element in ["<script", "<img", "onerror="] {
        assert!(!body.contains(element), "{request}\n{body}");
    }
    let location = head
        .lines()
        .find_map(|line| line.strip_prefix("location: "));
    let is_here = location.is_none_or(|to| to.starts_with('/') && !to.starts_with("//"));
    assert!(is_here, "{request}\n{head}");
}

#[test]
fn random_requests_of_a_user_do_no_harm() {
    let rig = Rig::start(SETTINGS);
    let mut random = Random::new(seed("hostile requests", 4711));
    let fields = rig.session("ada", "ada-secret");
    let token = token(&rig.get("/me", &fields));
    for _ in 0..quick_or_long(400, 100_000) {
        let (path, query) = (random.pick(&PATHS), pairs(&mut random));
        // The session has to go on, and its password to stay.
        let is_safe = !["/logout", "/me/password"].contains(path);
        let (request, response) = match random.below(3) {
            0 if is_safe => {
                let body = format!("token={token}&{}", pairs(&mut random));
                let response = rig.post(&format!("{path}?{query}"), &fields, &body);
                (format!("POST {path}?{query} {body}"), response)
            }
            1 => {
                let response = rig.post(&format!("{path}?{query}"), &fields, "token=x");
                (format!("POST {path}?{query} without a token"), response)
            }
            _ => {
                let response = rig.get(&format!("{path}?{query}"), &fields);
                (format!("GET {path}?{query}"), response)
            }
        };
        // The parser of HTTP refuses bytes beyond ASCII and large heads by itself.
        let is_page = response.contains("</html>");
        if is_page || !["400", "431"].contains(&status(&response).as_str()) {
            assert_harmless(&request, &response);
        }
    }
    assert_eq!(
        status(&rig.get("/me", &fields)),
        "200",
        "the session goes on"
    );
}

#[test]
fn random_bytes_do_no_harm() {
    let rig = Rig::start(SETTINGS);
    let mut random = Random::new(seed("hostile requests", 4711));
    let host = format!("Host: {}\r\n", rig.address);
    let parts: [&[u8]; 14] = [
        b"GET ",
        b"POST /login",
        b" HTTP/1.1\r\n",
        b"\r\n",
        host.as_bytes(),
        b"\0",
        b": ",
        b"\n",
        b"Content-Length: 18446744073709551616\r\n",
        b"Content-Length: -1\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"fffffffffffffffff\r\n",
        b"Connection: close\r\n",
        b"Content-Type: application/x-www-form-urlencoded\r\n",
    ];
    for _ in 0..quick_or_long(300, 100_000) {
        let mut request = Vec::new();
        for _ in 0..random.below(12) {
            match random.below(4) {
                0 => request.extend(random.bytes(40)),
                _ => request.extend_from_slice(random.pick::<&[u8]>(&parts)),
            }
        }
        let response = rig.ask_and_close(&request);
        let status = status(&response);
        assert!(
            response.is_empty() || !status.starts_with('5'),
            "{request:?}\n{response}"
        );
    }
    assert_eq!(status(&rig.get("/login", "")), "200", "the console lives");
}
