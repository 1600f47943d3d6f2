//! The console in the browser: its journeys in a real one, and its bounds by plain requests.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fulgurite_conformance::{RunningServer, TIMEOUT, fulgurite};
use fulgurite_testkit::run_bounded;

const DATA: &str = "dn: dc=example,dc=com\nobjectClass: domain\ndc: example\n\n\
    dn: ou=people,dc=example,dc=com\nobjectClass: organizationalUnit\nou: people\n\n\
    dn: uid=ada,ou=people,dc=example,dc=com\nobjectClass: inetOrgPerson\nuid: ada\ncn: Ada Norgaard\n\
    sn: Norgaard\nmail: ada@example.com\nuserPassword: ada-secret\n\n\
    dn: uid=bjorn,ou=people,dc=example,dc=com\nobjectClass: inetOrgPerson\nuid: bjorn\ncn: Bjorn Quist\n\
    sn: Quist\nuserPassword: bjorn-secret\n\n\
    dn: cn=policy,dc=example,dc=com\nobjectClass: device\nobjectClass: pwdPolicy\ncn: policy\n\
    pwdAttribute: userPassword\npwdLockout: TRUE\n";

const SETTINGS: &str = r#"
suffix = "dc=example,dc=com"
data = "data"
listen = ["ldap://127.0.0.1:0"]
monitor = true
root.dn = "cn=admin,dc=example,dc=com"
root.password = "secret"
access = [
    "to attrs=userPassword by self write by * auth",
    "to * by self write by * read",
]
[console]
listen = "127.0.0.1:0"
[[overlay]]
name = "ppolicy"
lines = ["ppolicy_default cn=policy,dc=example,dc=com"]
"#;

/// A running server with a console.
struct Rig {
    _server: RunningServer,
    address: String,
    folder: tempfile::TempDir,
}

impl Rig {
    fn start() -> Rig {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("write a file");
            path
        };
        let settings = file("fulgurite.toml", SETTINGS);
        let data = file("data.ldif", DATA);
        let mut load = fulgurite();
        load.current_dir(folder.path())
            .arg("load")
            .arg("--config")
            .arg(&settings)
            .arg(&data);
        let outcome = run_bounded(&mut load, TIMEOUT);
        assert!(outcome.success(), "{outcome:?}");
        let mut serve = fulgurite();
        serve
            .current_dir(folder.path())
            .arg("serve")
            .arg("--config")
            .arg(&settings);
        let server = RunningServer::start(&mut serve);
        let line = server.logged("console in the browser at ");
        let (_, address) = line.rsplit_once(" at ").expect("an address");
        Rig {
            _server: server,
            address: address.trim().to_owned(),
            folder,
        }
    }

    /// Sends a request as it is, and returns the response.
    fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("connect");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        // The console may close before it has read all.
        let _ = stream.write_all(request.as_bytes());
        let mut response = Vec::new();
        let _ = stream.read_to_end(&mut response);
        String::from_utf8_lossy(&response).into_owned()
    }

    fn get(&self, path: &str, fields: &str) -> String {
        let host = &self.address;
        self.ask(&format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{fields}\r\n"
        ))
    }

    fn post(&self, path: &str, fields: &str, body: &str) -> String {
        let (host, len) = (&self.address, body.len());
        self.ask(&format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {len}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n{fields}\r\n{body}"
        ))
    }

    /// Tries to sign in, with the cookie and the field of a fresh form.
    fn sign_in(&self, name: &str, password: &str) -> String {
        let form = self.get("/login", "");
        let secret = form.split("fulgurite-login=").nth(1).expect("a cookie");
        let secret = &secret[..64];
        let cookie = format!("Cookie: fulgurite-login={secret}\r\n");
        self.post(
            "/login",
            &cookie,
            &format!("form={secret}&name={name}&password={password}"),
        )
    }
}

#[test]
fn requests_that_mean_harm_are_refused() {
    let rig = Rig::start();
    let status = |response: &str| response.split(' ').nth(1).unwrap_or_default().to_owned();
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
    let rebound = rig.ask("GET /login HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    assert_eq!(status(&rebound), "421");
    assert_eq!(
        status(&rig.ask("GET /login HTTP/1.1\r\nConnection: close\r\n\r\n")),
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
            rig.ask("DELETE /me HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
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
    rig.ask("\u{16}\u{3}\u{1}not HTTP\r\n\r\n");
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

/// Returns the first of several programs that is there.
fn program(names: &[&str]) -> Option<PathBuf> {
    let names = names.iter().map(|name| Path::new("/usr/bin").join(name));
    names.into_iter().find(|path| path.exists())
}

#[test]
fn journeys_in_a_browser() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let build = here.join("../../build");
    let python = std::env::var_os("FULGURITE_TEST_BROWSER_PYTHON").map(PathBuf::from);
    let python = python.unwrap_or_else(|| build.join("console/venv/bin/python"));
    let (driver, browser) = (
        program(&["chromedriver"]),
        program(&["chromium", "google-chrome"]),
    );
    let (Some(driver), Some(browser), true) = (driver, browser, python.exists()) else {
        println!("skipped: there is no Chromium with its driver, or no Selenium: scripts/setup.sh");
        return;
    };
    let rig = Rig::start();
    let mut journeys = Command::new(python);
    journeys.arg(here.join("tests/console/journeys.py"));
    journeys
        .arg(format!("http://{}", rig.address))
        .arg(driver)
        .arg(browser);
    let shots = std::env::var_os("FULGURITE_TEST_SHOTS").map(PathBuf::from);
    journeys.arg(shots.unwrap_or_else(|| rig.folder.path().to_owned()));
    let axe = std::env::var_os("FULGURITE_TEST_AXE").map(PathBuf::from);
    let axe = axe.unwrap_or_else(|| build.join("console/axe.min.js"));
    if axe.exists() {
        journeys.arg(axe);
    } else {
        println!("axe-core is not there, so nothing looks at accessibility");
    }
    let outcome = run_bounded(&mut journeys, Duration::from_secs(900));
    assert!(
        outcome.success() && outcome.stdout.ends_with("all is well\n"),
        "{}\n{}",
        outcome.stdout,
        outcome.stderr
    );
}
