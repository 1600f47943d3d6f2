//! `fulgurite setup` and `fulgurite doctor`: from nothing to a directory that answers, and the
//! findings when parts of it are broken.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use fulgurite_client::Scope;
use fulgurite_conformance::{RunningServer, TIMEOUT, failure, fulgurite, run};
use fulgurite_testkit::{Ended, run_bounded};
use tempfile::TempDir;

/// A folder with an installation that needs no rights of root.
struct Installation {
    folder: TempDir,
}

impl Installation {
    fn new() -> Installation {
        let folder = TempDir::new().expect("make a directory");
        fs::write(folder.path().join("password"), "sesame\n").expect("write the password");
        Installation { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn mode(&self, name: &str) -> u32 {
        let data = fs::metadata(self.path(name));
        data.unwrap_or_else(|error| panic!("{name}: {error}"))
            .permissions()
            .mode()
            & 0o7777
    }

    /// Runs `setup` with the paths of this folder and returns its output.
    fn setup(&self, more: &[&str]) -> String {
        let mut command = fulgurite();
        command.args(["setup", "--yes", "--no-service", "--config"]);
        command.arg(self.path("fulgurite.toml")).args(more);
        let outcome = run_bounded(&mut command, TIMEOUT);
        assert!(outcome.success(), "{outcome:?}");
        outcome.stdout
    }

    /// Makes the installation that most tests use.
    fn made(more: &[&str]) -> Installation {
        let own = Installation::new();
        let (data, password) = (own.path("db"), own.path("password"));
        let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
        let (data, password) = (text(&data), text(&password));
        let mut all = vec!["--suffix", "example.org", "--organisation", "Example Ltd"];
        all.extend(["--data", &data, "--root-password-file", &password]);
        all.extend(["--listen", "ldap://127.0.0.1:0"]);
        all.extend(more);
        own.setup(&all);
        own
    }

    fn serve(&self) -> RunningServer {
        let mut command = fulgurite();
        command
            .args(["serve", "--config"])
            .arg(self.path("fulgurite.toml"));
        RunningServer::start(&mut command)
    }

    /// Runs the doctor and returns its exit code and its findings, one text each.
    fn doctor(&self) -> (i32, Vec<String>) {
        let config = self.path("fulgurite.toml");
        let output = run(&[
            "doctor",
            "--json",
            "--config",
            config.to_str().expect("UTF-8"),
        ]);
        let report: serde_json::Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        let findings = report["findings"].as_array().expect("a list");
        let texts = findings.iter().map(|one| {
            let part = |name: &str| one[name].as_str().expect("a text").to_owned();
            format!("{} {}: {}", part("severity"), part("check"), part("text"))
        });
        (output.status.code().expect("an exit"), texts.collect())
    }

    /// Returns the failures that the doctor finds. The room of the test's disk does not count.
    fn failures(&self) -> Vec<String> {
        let (code, findings) = self.doctor();
        let failures: Vec<String> = findings
            .into_iter()
            .filter(|one| one.starts_with("fail ") && !one.starts_with("fail disk"))
            .collect();
        assert!(failures.is_empty() || code == 2, "{code}: {failures:?}");
        failures
    }
}

/// The root with its password.
const ADMIN: (&str, &str) = ("cn=admin,dc=example,dc=org", "sesame");

/// Runs a client of OpenLDAP that trusts the own authority.
fn client(
    own: &Installation,
    server: &RunningServer,
    (name, password): (&str, &str),
    words: &[&str],
) -> (i32, String) {
    let [program, more @ ..] = words else {
        panic!("no program");
    };
    let mut command = Command::new(program);
    command.env("LDAPTLS_CACERT", own.path("tls/ca.pem"));
    command.env("LDAPTLS_REQCERT", "demand");
    let url = format!("ldap://localhost:{}", server.address.port());
    command.args(["-x", "-H", &url, "-D", name, "-w", password]);
    let outcome = run_bounded(command.args(more), TIMEOUT);
    let Ended::Exit(code) = outcome.ended else {
        panic!("{outcome:?}");
    };
    (code, outcome.stdout + &outcome.stderr)
}

#[test]
fn the_first_login_works_over_tls_and_not_in_clear() {
    let own = Installation::made(&["--host", "ldap.example.org"]);
    assert!(own.text("root-password").starts_with("{ARGON2}$argon2id$"));
    assert_eq!((own.mode("root-password"), own.mode("db")), (0o600, 0o700));
    for key in ["tls/ca-key.pem", "tls/server-key.pem"] {
        assert_eq!(own.mode(key), 0o600, "{key}");
        assert!(own.text(key).starts_with("-----BEGIN PRIVATE KEY-----"));
    }
    let server = own.serve();
    let asked = |who, words: &[&str]| client(&own, &server, who, words);
    let (code, said) = asked(ADMIN, &["ldapwhoami", "-ZZ"]);
    assert_eq!((code, said.trim()), (0, "dn:cn=admin,dc=example,dc=org"));
    let top = [
        "ldapsearch",
        "-ZZ",
        "-LLL",
        "-s",
        "base",
        "-b",
        "dc=example,dc=org",
        "o",
    ];
    let (code, said) = asked(ADMIN, &top);
    assert_eq!(
        (code, said.trim()),
        (0, "dn: dc=example,dc=org\no: Example Ltd")
    );
    // A password in clear is stored as a hash.
    let person = own.path("person.ldif");
    let text = "dn: uid=ada,dc=example,dc=org\nobjectClass: inetOrgPerson\nuid: ada\ncn: Ada\n\
                sn: N\nuserPassword: choose-one\n";
    fs::write(&person, text).expect("write LDIF");
    let file = person.to_str().expect("UTF-8");
    let (code, said) = asked(ADMIN, &["ldapadd", "-ZZ", "-f", file]);
    assert_eq!(code, 0, "{said}");
    let stored = [
        "ldapsearch",
        "-ZZ",
        "-b",
        "dc=example,dc=org",
        "(uid=ada)",
        "userPassword",
    ];
    let (code, said) = asked(ADMIN, &stored);
    // The value begins with {ARGON2}.
    assert!(
        code == 0 && said.contains("userPassword:: e0FSR09OMn0"),
        "{said}"
    );
    let ada = ("uid=ada,dc=example,dc=org", "choose-one");
    let (code, said) = asked(ada, &["ldapwhoami", "-ZZ"]);
    assert_eq!((code, said.trim()), (0, "dn:uid=ada,dc=example,dc=org"));
    let (code, said) = asked(ada, &["ldapsearch", "-ZZ", "-b", "cn=Monitor"]);
    assert_eq!(code, 32, "the figures are for the root: {said}");
    let (code, said) = asked(ADMIN, &["ldapwhoami"]);
    assert_eq!(code, 13, "a password in clear is refused: {said}");
    let log = server.stop();
    assert!(!log.iter().any(|line| line.contains("WARN")), "{log:?}");
}

/// Runs a command of everyday work as the root, with TLS. Returns its exit code and its words.
fn everyday(own: &Installation, server: &RunningServer, words: &[&str]) -> (i32, String) {
    let url = format!("ldap://localhost:{}", server.address.port());
    let mut command = fulgurite();
    command.args(words).args(["-H", &url, "-Z", "-D", ADMIN.0]);
    command.arg("-y").arg(own.path("password"));
    command.arg("--tls-ca").arg(own.path("tls/ca.pem"));
    let outcome = run_bounded(&mut command, TIMEOUT);
    let Ended::Exit(code) = outcome.ended else {
        panic!("{outcome:?}");
    };
    (code, outcome.stdout + &outcome.stderr)
}

#[test]
fn a_new_directory_is_well_and_locks_its_users() {
    let own = Installation::made(&["--host", "ldap.example.org"]);
    let server = own.serve();
    let asked = |words: &[&str]| everyday(&own, &server, words);
    let (code, said) = asked(&["status"]);
    // The disk of the test may be nearly full. All else is well.
    let is_about_disk = |line: &str| !line.contains("cn=Monitor") && line.contains("Disk");
    assert!(
        code == 0 || said.lines().any(is_about_disk),
        "{code} {said}"
    );
    assert!(said.contains("dc=example,dc=org"), "{said}");
    fs::write(own.path("new"), "choose-one\n").expect("write a password");
    let new = own.path("new");
    let new = new.to_str().expect("UTF-8");
    let add = ["user", "add", "ada", "--first", "Ada", "--last", "N"];
    let (code, said) = asked(&[&add[..], &["--new-password-file", new]].concat());
    assert_eq!(code, 0, "{said}");
    let ada = ("uid=ada,ou=people,dc=example,dc=org", "choose-one");
    let bind = || client(&own, &server, ada, &["ldapwhoami", "-ZZ"]).0;
    assert_eq!(bind(), 0);
    let (code, said) = asked(&["user", "lock", "ada"]);
    assert_eq!((code, said.lines().count()), (0, 1), "no warning: {said}");
    assert_eq!(bind(), 49, "locked");
    assert_eq!(asked(&["user", "unlock", "ada"]).0, 0);
    assert_eq!(bind(), 0, "unlocked");
}

#[test]
fn the_certificates_name_the_host_and_are_of_version_3() {
    let own = Installation::made(&["--host", "ldap.example.org", "--host", "192.0.2.7"]);
    let shown = |name: &str| {
        let mut command = Command::new("openssl");
        command
            .args(["x509", "-noout", "-text", "-in"])
            .arg(own.path(name));
        run_bounded(&mut command, TIMEOUT).stdout
    };
    let server = shown("tls/server.pem");
    for part in [
        "Version: 3",
        "DNS:ldap.example.org",
        "IP Address:192.0.2.7",
        "DNS:localhost",
        "IP Address:127.0.0.1",
        "CA:FALSE",
        "TLS Web Server Authentication",
    ] {
        assert!(server.contains(part), "{part}: {server}");
    }
    let authority = shown("tls/ca.pem");
    for part in ["CA:TRUE, pathlen:0", "Certificate Sign", "ldap.example.org"] {
        assert!(authority.contains(part), "{part}: {authority}");
    }
    let verified = Command::new("openssl")
        .args(["verify", "-purpose", "sslserver", "-CAfile"])
        .args([own.path("tls/ca.pem"), own.path("tls/server.pem")])
        .output()
        .expect("run openssl");
    assert!(verified.status.success(), "{verified:?}");
    // A new certificate is of the same authority.
    let (before, authority) = (own.text("tls/server.pem"), own.text("tls/ca.pem"));
    own.setup(&["--renew", "--host", "new.example.org"]);
    assert_ne!(own.text("tls/server.pem"), before);
    assert_eq!(own.text("tls/server.pem.old"), before);
    assert_eq!(own.text("tls/ca.pem"), authority);
    assert!(shown("tls/server.pem").contains("DNS:new.example.org"));
    assert!(own.failures().is_empty(), "{:?}", own.failures());
}

#[test]
fn a_second_setup_changes_nothing_and_keeps_edited_files() {
    let own = Installation::made(&[]);
    let names = [
        "fulgurite.toml",
        "root-password",
        "tls/ca.pem",
        "tls/server-key.pem",
    ];
    let texts = || names.map(|name| own.text(name));
    let before = texts();
    // The answers are those of the first setup.
    let said = own.setup(&[]);
    assert!(said.contains("Nothing has changed"), "{said}");
    assert!(said.contains("suffix        dc=example,dc=org"), "{said}");
    assert_eq!(texts(), before);
    let edited = before[0].replace("Example Ltd", "Other Ltd");
    let edited = edited.replace("[limits]\n", "[limits]\nsize = 10\n");
    fs::write(own.path("fulgurite.toml"), &edited).expect("edit the settings");
    let said = own.setup(&[]);
    assert!(said.contains("kept (edited)"), "{said}");
    assert!(said.contains("organisation  Other Ltd"), "{said}");
    assert_eq!(own.text("fulgurite.toml"), edited);
    own.setup(&["--force", "--tls", "none"]);
    assert!(!own.text("fulgurite.toml").contains("size = 10"));
    assert_eq!(own.text("fulgurite.toml.old"), edited);
    assert_eq!(own.text("root-password"), before[1], "secrets stay");
    own.setup(&["--force", "--organisation", "Third Ltd", "--tls", "none"]);
    assert_eq!(own.text("fulgurite.toml.old"), edited, "and the first copy");
}

#[test]
fn answers_that_cannot_be_used_are_refused_before_anything_is_written() {
    let own = Installation::new();
    let config = own.path("x/fulgurite.toml");
    let config = config.to_str().expect("UTF-8");
    for (more, part) in [
        (&["--suffix", "example"][..], "write dc=example,dc=org"),
        (&["--suffix", "dc=x", "--tls", "files"], "--tls-certificate"),
        (
            &["--suffix", "dc=x", "--tls", "none", "--listen", "ldaps://"],
            "needs a certificate",
        ),
        (
            &["--suffix", "dc=x", "--root-password-file", "/no/such/file"],
            "cannot read /no/such/file",
        ),
    ] {
        let base = ["setup", "--yes", "--no-service", "--config", config];
        let (code, message) = failure(&run(&[&base, more].concat()));
        assert_eq!(code, 1, "{message}");
        assert!(message.contains(part), "{message}");
    }
    let (_, message) = failure(&run(&["setup", "--config", config]));
    assert!(message.contains("there is no terminal"), "{message}");
    assert!(!own.path("x").exists());
}

#[test]
fn another_root_gets_the_files_of_a_service() {
    let root = TempDir::new().expect("make a directory");
    let place = root.path().to_str().expect("UTF-8");
    let setup = || {
        let output = run(&[
            "setup",
            "--yes",
            "--suffix",
            "dc=example,dc=org",
            "--root",
            place,
        ]);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let said = setup();
    assert!(said.contains("The root's password is "), "{said}");
    let text = |name: &str| {
        fs::read_to_string(root.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let settings = text("etc/fulgurite/fulgurite.toml");
    for line in [
        "data = \"/var/lib/fulgurite\"",
        "listen = [\"ldap:///\", \"ldaps:///\", \"ldapi://%2Frun%2Ffulgurite%2Fldapi\"]",
        "key = \"/etc/fulgurite/tls/server-key.pem\"",
    ] {
        assert!(
            settings.lines().any(|one| one == line),
            "{line}: {settings}"
        );
    }
    let unit = text("etc/systemd/system/fulgurite.service");
    for line in [
        "Type=notify",
        "WatchdogSec=60",
        "User=fulgurite",
        "ProtectSystem=strict",
        "ExecStart=/usr/bin/fulgurite serve --config /etc/fulgurite/fulgurite.toml",
    ] {
        assert!(unit.lines().any(|one| one == line), "{line}: {unit}");
    }
    assert!(text("etc/sysusers.d/fulgurite.conf").contains("u fulgurite - "));
    assert!(text("etc/tmpfiles.d/fulgurite.conf").contains("d /var/lib/fulgurite 0700 fulgurite"));
    assert!(root.path().join("var/lib/fulgurite").is_dir());
    assert!(setup().contains("Nothing has changed"));
    // The units of a package need no copy.
    let packaged = TempDir::new().expect("make a directory");
    let unit_place = packaged.path().join("usr/lib/systemd/system");
    fs::create_dir_all(&unit_place).expect("make a directory");
    fs::write(unit_place.join("fulgurite.service"), unit).expect("write the unit");
    let place = packaged.path().to_str().expect("UTF-8");
    let output = run(&["setup", "--yes", "--root", place]);
    assert!(output.status.success(), "{output:?}");
    assert!(!packaged.path().join("etc/systemd").exists());
}

#[test]
fn the_doctor_is_content_with_a_new_installation_and_a_running_one() {
    let own = Installation::made(&["--tls", "none"]);
    assert!(own.failures().is_empty(), "{:?}", own.failures());
    let (_, findings) = own.doctor();
    assert!(
        findings
            .iter()
            .any(|one| one == "note server: the server does not run")
    );
    // A fixed port, which the doctor asks at.
    let server = own.serve();
    let port = server.address.port();
    let settings = own.text("fulgurite.toml");
    let settings = settings.replace("127.0.0.1:0", &format!("127.0.0.1:{port}"));
    fs::write(own.path("fulgurite.toml"), settings).expect("write the settings");
    let (_, findings) = own.doctor();
    let has = |text: &str| findings.iter().any(|one| one.contains(text));
    let answers = format!("ok address: ldap://127.0.0.1:{port} answers");
    assert!(
        has(&answers) && has("has 1 entry") && has("ok indexes: all "),
        "{findings:?}"
    );
    assert!(own.failures().is_empty(), "{:?}", own.failures());
    let config = own.path("fulgurite.toml");
    let answers = [
        "doctor",
        "--answers",
        "--config",
        config.to_str().expect("UTF-8"),
    ];
    assert_eq!(run(&answers).status.code(), Some(0));
    let url = format!("ldap://127.0.0.1:{port}");
    assert_eq!(run(&["doctor", "--url", &url]).status.code(), Some(0));
    server.stop();
    assert_eq!(run(&["doctor", "--url", &url]).status.code(), Some(2));
}

#[test]
fn the_doctor_finds_what_is_broken() {
    let own = Installation::made(&[]);
    let is_found = |part: &str| {
        let failures = own.failures();
        assert!(
            failures.iter().any(|one| one.contains(part)),
            "{part}: {failures:?}"
        );
    };
    let set_mode = |name: &str, mode: u32| {
        fs::set_permissions(own.path(name), fs::Permissions::from_mode(mode)).expect("chmod");
    };
    set_mode("tls/server-key.pem", 0o644);
    is_found("other users can read");
    set_mode("tls/server-key.pem", 0o600);
    let key = own.text("tls/server-key.pem");
    fs::write(own.path("tls/server-key.pem"), own.text("tls/ca-key.pem")).expect("another key");
    is_found("does not match the certificate");
    fs::write(own.path("tls/server-key.pem"), key).expect("its key");
    assert!(own.failures().is_empty(), "{:?}", own.failures());
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("take a port");
    let port = taken.local_addr().expect("its address").port();
    let settings = own.text("fulgurite.toml");
    let listening = settings.replace("127.0.0.1:0", &format!("127.0.0.1:{port}"));
    fs::write(own.path("fulgurite.toml"), listening).expect("write the settings");
    drop(taken);
    assert!(own.failures().is_empty(), "{:?}", own.failures());
    fs::write(own.path("fulgurite.toml"), settings + "\nnonsense = 1\n").expect("write");
    is_found("nonsense");
    let missing = run(&["doctor", "--config", "/no/such/file"]);
    assert_eq!(missing.status.code(), Some(2), "{missing:?}");
    let text = String::from_utf8_lossy(&missing.stdout);
    assert!(text.starts_with("fail  settings: "), "{text}");
}

#[test]
fn a_store_names_its_suffix_and_tls_has_flags() {
    let own = Installation::made(&[]);
    own.serve().stop();
    let mut command = fulgurite();
    command.args(["serve", "--listen", "ldap://127.0.0.1:0"]);
    command.arg("--data").arg(own.path("db"));
    command
        .arg("--tls-certificate")
        .arg(own.path("tls/server.pem"));
    command.arg("--tls-key").arg(own.path("tls/server-key.pem"));
    let server = RunningServer::start(&mut command);
    let mut client = server.client();
    let found = client.search("", Scope::Base, "(objectClass=*)", &["namingContexts"]);
    let found = found.expect("an answer");
    let contexts = found.entries[0].first("namingContexts");
    assert_eq!(contexts.as_deref(), Some("dc=example,dc=org"));
    let extensions = client.search("", Scope::Base, "(objectClass=*)", &["supportedExtension"]);
    let extensions = extensions.expect("an answer");
    let start_tls = b"1.3.6.1.4.1.1466.20037".to_vec();
    assert!(
        extensions.entries[0]
            .values("supportedExtension")
            .contains(&start_tls)
    );
    server.stop();
    // A listener of TLS without a certificate names both spellings of the setting.
    let data = own.path("new");
    let data = data.to_str().expect("UTF-8");
    let refused = run(&[
        "serve",
        "--suffix",
        "dc=x",
        "--data",
        data,
        "--listen",
        "ldaps://127.0.0.1:0",
    ]);
    let message = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{message}");
    let part = "needs a certificate: tls.certificate";
    assert!(message.contains(part), "{message}");
}
