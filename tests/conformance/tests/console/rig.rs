//! A running server with a console, and requests to it.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;

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

/// The settings of people's journeys.
pub(crate) const SETTINGS: &str = r#"
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

/// The settings of a console and of figures over TLS.
const ENCRYPTED: &str = r#"
suffix = "dc=example,dc=com"
data = "data"
listen = ["ldap://127.0.0.1:0"]
monitor = true
root.dn = "cn=admin,dc=example,dc=com"
root.password = "secret"
access = ["to attrs=userPassword by self write by * auth", "to * by * read"]
[tls]
certificate = "certificate.pem"
key = "key.pem"
[console]
listen = "127.0.0.1:0"
tls = true
[metrics]
listen = "127.0.0.1:0"
tls = true
token_file = "token"
[backup]
to = "backups"
every = "1h"
"#;

/// The configuration of administrators' journeys. It becomes a directory.
const SLAPD_CONF: &str = r#"
idletimeout 3600
database config
rootdn cn=admin,dc=example,dc=com
database monitor
rootdn cn=admin,dc=example,dc=com
access to * by * none
database mdb
suffix dc=example,dc=com
directory db
rootdn cn=admin,dc=example,dc=com
rootpw secret
overlay syncprov
index objectClass,uid,cn,mail eq
access to attrs=userPassword by self write by * auth
access to attrs=title by self write by * read
access to * by * read
"#;

/// A running server with a console.
pub(crate) struct Rig {
    pub(crate) server: RunningServer,
    pub(crate) address: String,
    pub(crate) folder: tempfile::TempDir,
}

impl Rig {
    /// Starts a server with a file of settings and some users.
    pub(crate) fn start(settings: &str) -> Rig {
        let folder = tempfile::tempdir().expect("a folder");
        write(&folder.path().join("fulgurite.toml"), settings);
        Rig::load_and_serve(folder, DATA)
    }

    /// Starts a server with a certificate for `localhost`, and with users enough for a slow search.
    pub(crate) fn encrypted() -> Rig {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]);
        let certified = certified.expect("a certificate");
        write(&at("certificate.pem"), &certified.cert.pem());
        write(&at("key.pem"), &certified.signing_key.serialize_pem());
        write(&at("token"), "figures-secret\n");
        write(&at("fulgurite.toml"), ENCRYPTED);
        std::fs::create_dir(at("backups")).expect("make a folder");
        Rig::load_and_serve(folder, &(people() + &crowd()))
    }

    /// Starts a server with a file of settings, and some users in a file, by a command.
    pub(crate) fn start_by(settings: &str, serve: &mut Command) -> Rig {
        let folder = tempfile::tempdir().expect("a folder");
        write(&folder.path().join("fulgurite.toml"), settings);
        write(&folder.path().join("data.ldif"), DATA);
        Rig::serve(folder, serve)
    }

    fn load_and_serve(folder: tempfile::TempDir, entries: &str) -> Rig {
        let data = folder.path().join("data.ldif");
        write(&data, entries);
        let mut load = fulgurite();
        load.current_dir(folder.path())
            .args(["load", "--config", "fulgurite.toml"])
            .arg(&data);
        let outcome = run_bounded(&mut load, TIMEOUT);
        assert!(outcome.success(), "{outcome:?}");
        let mut serve = fulgurite();
        serve.args(["serve", "--config", "fulgurite.toml"]);
        Rig::serve(folder, &mut serve)
    }

    /// Starts a server with a configuration directory.
    pub(crate) fn configured() -> Rig {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in ["db", "slapd.d"] {
            std::fs::create_dir(at(name)).expect("make a folder");
        }
        let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/schema/src/builtin");
        let schema = ["core", "cosine", "inetorgperson"]
            .map(|name| format!("include {}/{name}.schema\n", schema.display()));
        let database = format!("directory {}", at("db").display());
        let configuration = SLAPD_CONF.replace("directory db", &database);
        write(&at("slapd.conf"), &(schema.concat() + &configuration));
        write(&at("data.ldif"), &(people() + &crowd()));
        for arguments in [
            &["slaptest", "-Q", "-u", "-f", "slapd.conf", "-F", "slapd.d"][..],
            &[
                "slapadd",
                "-q",
                "-F",
                "slapd.d",
                "-b",
                "dc=example,dc=com",
                "-l",
                "data.ldif",
            ],
        ] {
            let mut tool = fulgurite();
            let outcome = run_bounded(tool.current_dir(folder.path()).args(arguments), TIMEOUT);
            assert!(outcome.success(), "{outcome:?}");
        }
        let mut serve = fulgurite();
        serve.args(["serve", "--config", "slapd.d"]);
        serve.args(["--listen", "ldap://127.0.0.1:0"]);
        serve.args(["--console-listen", "127.0.0.1:0"]);
        Rig::serve(folder, &mut serve)
    }

    fn serve(folder: tempfile::TempDir, serve: &mut Command) -> Rig {
        let server = RunningServer::start(serve.current_dir(folder.path()));
        let line = server.logged("console in the browser at ");
        let (_, address) = line.rsplit_once("://").expect("an address");
        Rig {
            server,
            address: address.trim().to_owned(),
            folder,
        }
    }

    /// Lets a search look at many entries in vain.
    pub(crate) fn search_slowly(&self) {
        let mut client = self.server.client();
        let base = "dc=example,dc=com";
        let filter = "(employeeType=secret-value)";
        let scope = fulgurite_client::Scope::Subtree;
        let outcome = client
            .search(base, scope, filter, &["1.1"])
            .expect("search");
        assert!(outcome.result.is_success() && outcome.entries.is_empty());
    }

    /// Sends a request as it is, and returns the response.
    pub(crate) fn ask(&self, request: &[u8]) -> String {
        send(&self.address, request)
    }

    /// Asks the listener of figures at an address for a path.
    pub(crate) fn ask_at(address: &str, path: &str) -> String {
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        send(address, request.as_bytes())
    }

    /// Sends bytes, closes its side and returns what comes.
    pub(crate) fn ask_and_close(&self, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("connect");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        let _ = stream.write_all(request);
        let _ = stream.shutdown(Shutdown::Write);
        let mut response = Vec::new();
        let _ = stream.read_to_end(&mut response);
        String::from_utf8_lossy(&response).into_owned()
    }

    pub(crate) fn get(&self, path: &str, fields: &str) -> String {
        let host = &self.address;
        self.ask(
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{fields}\r\n")
                .as_bytes(),
        )
    }

    pub(crate) fn post(&self, path: &str, fields: &str, body: &str) -> String {
        let (host, len) = (&self.address, body.len());
        self.ask(
            format!(
                "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {len}\r\n\
                 Content-Type: application/x-www-form-urlencoded\r\n{fields}\r\n{body}"
            )
            .as_bytes(),
        )
    }

    /// Signs in, and returns the header with the cookie of the session.
    pub(crate) fn session(&self, name: &str, password: &str) -> String {
        let signed_in = self.sign_in(name, password);
        let cookie = signed_in.split("set-cookie: fulgurite-console=").nth(1);
        let cookie = cookie.expect("a session").split(';').next();
        format!(
            "Cookie: fulgurite-console={}\r\n",
            cookie.expect("a cookie")
        )
    }

    /// Tries to sign in, with the cookie and the field of a fresh form.
    pub(crate) fn sign_in(&self, name: &str, password: &str) -> String {
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

/// Sends a request as it is, and returns the response.
fn send(address: &str, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).expect("connect");
    stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    // The other side may close before it has read all.
    let _ = stream.write_all(request);
    let mut response = Vec::new();
    let _ = stream.read_to_end(&mut response);
    String::from_utf8_lossy(&response).into_owned()
}

/// Returns the token of a page's forms.
pub(crate) fn token(page: &str) -> String {
    let token = page.split("name=\"token\" value=\"").nth(1);
    token.expect("a token")[..64].to_owned()
}

/// Returns the first status of a response.
pub(crate) fn status(response: &str) -> String {
    response.split(' ').nth(1).unwrap_or_default().to_owned()
}

/// Returns the users without the policy of passwords, because it needs an overlay.
fn people() -> String {
    let (people, _) = DATA.split_once("dn: cn=policy").expect("the policy");
    people.to_owned()
}

/// Returns entries enough for a search to be slow.
fn crowd() -> String {
    let mut out = String::from("\n");
    for number in 0..1200 {
        let _ = write!(
            out,
            "dn: cn=one {number},ou=people,dc=example,dc=com\nobjectClass: inetOrgPerson\n\
             cn: one {number}\nsn: one\nemployeeType: kind {number}\n\n"
        );
    }
    out
}

pub(crate) fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("write a file");
}

/// Returns the first of several programs that is there.
fn program(names: &[&str]) -> Option<PathBuf> {
    let names = names.iter().map(|name| Path::new("/usr/bin").join(name));
    names.into_iter().find(|path| path.exists())
}

/// Goes the journeys of a script in a browser. Without one there is nothing to do.
pub(crate) fn browse(rig: &Rig, script: &str, url: &str) {
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
    let mut journeys = Command::new(python);
    journeys.env("PYTHONDONTWRITEBYTECODE", "1");
    journeys.arg(here.join("tests/console").join(script));
    journeys.arg(url).arg(driver).arg(browser);
    let shots = std::env::var_os("FULGURITE_TEST_SHOTS").map(PathBuf::from);
    journeys.arg(shots.unwrap_or_else(|| rig.folder.path().to_owned()));
    let axe = std::env::var_os("FULGURITE_TEST_AXE").map(PathBuf::from);
    let axe = axe.unwrap_or_else(|| build.join("console/axe.min.js"));
    if axe.exists() {
        journeys.arg(axe);
    } else {
        println!("axe-core is not there, so nothing looks at accessibility");
    }
    let outcome = run_bounded(&mut journeys, std::time::Duration::from_secs(900));
    assert!(
        outcome.success() && outcome.stdout.ends_with("all is well\n"),
        "{}\n{}",
        outcome.stdout,
        outcome.stderr
    );
}
