//! The rows of docs/incidents.md: what the log, the figures, `fulgurite status` and the overview of
//! the console say.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use fulgurite_client::{Change, Client, PartialAttribute};
use fulgurite_conformance::{TIMEOUT, fulgurite, program};
use fulgurite_testkit::run_bounded;
use rustix::process::Signal;

use crate::rig::{Rig, SETTINGS, write};

const SUFFIX: &str = "dc=example,dc=com";
const ADMIN: &str = "cn=admin,dc=example,dc=com";
const ADMIN_IN_FORMS: &str = "cn%3Dadmin,dc%3Dexample,dc%3Dcom";

/// A script that makes the directory and serves it.
const LOAD_AND_SERVE: &str = "\"$0\" load -q --config fulgurite.toml data.ldif && \
                              exec \"$0\" serve --config fulgurite.toml";

/// A server with a person who is signed in, before something goes wrong.
struct Incident {
    rig: Rig,
    metrics: String,
    /// The header of the session in the console.
    session: String,
}

impl Incident {
    fn new(rig: Rig) -> Incident {
        let line = rig.server.logged("metrics and probes at http://");
        let (_, metrics) = line.rsplit_once("http://").expect("an address");
        write(&rig.folder.path().join("password"), "secret");
        Incident {
            metrics: metrics.trim().to_owned(),
            session: rig.session(ADMIN_IN_FORMS, "secret"),
            rig,
        }
    }

    /// Runs `fulgurite status`. Returns its exit status and its words.
    fn status(&self, more: &[&str]) -> (Option<i32>, String) {
        self.status_at(&format!("ldap://{}", self.rig.server.address), more)
    }

    fn status_at(&self, url: &str, more: &[&str]) -> (Option<i32>, String) {
        let mut status = fulgurite();
        status.args(["status", "-H", url, "-D", ADMIN, "-y"]);
        status.arg(self.rig.folder.path().join("password"));
        let output = status.args(more).output().expect("run the program");
        let words = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&words).into())
    }

    /// Requires words in the status, which asks for a look, and in the overview of the console.
    fn needs_a_look(&self, name: &str, text: &str) {
        let (code, screen) = self.status(&[]);
        assert_eq!(code, Some(1), "{screen}");
        self.shows(&screen, &format!("warning: {name}: "), text);
        let overview = self.rig.get("/overview", &self.session);
        assert!(overview.contains("needs a look") || overview.contains("need a look"));
        self.shows(&overview, &format!("<strong>{name}</strong> "), text);
    }

    /// Requires a line that begins a judgement with a name, and has the text.
    fn shows(&self, page: &str, begin: &str, text: &str) {
        let judgement = page
            .split(begin)
            .nth(1)
            .and_then(|rest| rest.lines().next());
        let judgement = judgement.unwrap_or_else(|| panic!("no {begin:?}: {page}"));
        assert!(judgement.contains(text), "{text:?}: {judgement}");
    }

    /// Asks the listener of figures. Returns the head and the body of the answer.
    fn ask(&self, path: &str) -> (String, String) {
        let answer = Rig::ask_at(&self.metrics, path);
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        (head.to_owned(), body.to_owned())
    }

    /// Returns the sum of the figures of a name, all or those with a label.
    fn figure(&self, name: &str, label: &str) -> f64 {
        let (_, figures) = self.ask("/metrics");
        let name = format!("fulgurite_{name}");
        let ours = figures.lines().filter_map(|line| {
            let rest = line.strip_prefix(&name)?;
            let (labels, value) = rest.rsplit_once(' ')?;
            let is_it = (labels.is_empty() || labels.starts_with('{')) && labels.contains(label);
            is_it.then(|| value.parse::<f64>().expect("a number"))
        });
        let ours: Vec<f64> = ours.collect();
        assert!(!ours.is_empty(), "{name} {label}: {figures}");
        ours.iter().sum()
    }

    fn root(&self) -> Client {
        let mut client = self.rig.server.client();
        let bound = client.bind(ADMIN, b"secret").expect("a bind");
        assert!(bound.is_success(), "{bound:?}");
        client
    }

    /// Changes an entry.
    fn change(&self, client: &mut Client) {
        let text = [b"changed".as_slice()];
        let title = Change::replace("description", &text);
        let changed = client.modify("ou=people,dc=example,dc=com", &[title]);
        assert!(changed.expect("a modify").is_success());
    }

    fn stop(self) {
        self.rig.server.stop();
    }
}

/// Returns settings with figures and others.
fn settings(more: &str) -> String {
    format!("{SETTINGS}\n{more}\n[metrics]\nlisten = \"127.0.0.1:0\"\n")
}

fn seconds_now() -> f64 {
    let now = std::time::SystemTime::now();
    let now = now.duration_since(std::time::UNIX_EPOCH);
    now.expect("after 1970").as_secs_f64()
}

/// Adds an entry of some size. Returns the result code.
fn add(client: &mut Client, name: &str, bytes: usize) -> u32 {
    let text = "x".repeat(bytes);
    let (class, description) = ([b"organizationalRole".as_slice()], [text.as_bytes()]);
    let attributes = [
        PartialAttribute::new("objectClass", &class),
        PartialAttribute::new("description", &description),
    ];
    let added = client.add(&format!("cn={name},{SUFFIX}"), &attributes);
    added.expect("an add").code.number()
}

#[test]
fn a_full_disk() {
    let allowed = Command::new("unshare").args(["-m", "true"]).status();
    if !allowed.is_ok_and(|status| status.success()) {
        println!("skipped: only root may mount a small disk");
        return;
    }
    let settings = settings("").replace("data = \"data\"", "data = \"disk/data\"");
    let script = format!("mkdir disk && mount -t tmpfs -o size=5m none disk && {LOAD_AND_SERVE}");
    let mut serve = Command::new("unshare");
    serve.args(["-m", "sh", "-c", &script]).arg(program());
    let incident = Incident::new(Rig::start_by(&settings, &mut serve));
    let mut client = incident.root();
    let refused = (0..1000).find(|number| add(&mut client, &format!("fill{number}"), 100_000) != 0);
    let refused = refused.expect("there is an end");
    let line = incident.rig.server.logged("are refused: the disk is full");
    assert!(line.contains("ERROR"), "{line}");
    incident.needs_a_look(&format!("Disk of {SUFFIX}"), " % of its disk is free.");
    incident.needs_a_look(
        &format!("Updates of {SUFFIX}"),
        "were refused for lack of room since the start.",
    );
    let refusals = incident.figure("database_updates_refused_total", "reason=\"disk\"");
    assert!(refusals >= 1.0, "{refusals}");
    let free = incident.figure("database_disk_free_bytes", SUFFIX);
    assert!(free < 200_000.0, "{free}");
    let (head, reason) = incident.ask("/readyz");
    assert!(head.starts_with("HTTP/1.1 503 "), "{head}");
    assert!(reason.contains("disk"), "{reason}");
    // Deletions go on, and make room.
    for number in 0..refused {
        let deleted = client.delete(&format!("cn=fill{number},{SUFFIX}"));
        assert!(deleted.expect("a delete").is_success(), "{number}");
    }
    // The pages of a deletion can be used two commits later.
    let again = (0..10).any(|number| add(&mut client, &format!("again{number}"), 10) == 0);
    assert!(again, "there is room again");
    let line = incident.rig.server.logged("succeed again");
    assert!(line.contains("ERROR"), "{line}");
    drop(client);
    incident.stop();
}

#[test]
fn an_expired_certificate() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = rcgen::KeyPair::generate().expect("a key");
    let parameters = rcgen::CertificateParams::new(["localhost".to_owned()]);
    let mut parameters = parameters.expect("a name");
    parameters.not_before = rcgen::date_time_ymd(2020, 1, 1);
    parameters.not_after = rcgen::date_time_ymd(2021, 1, 1);
    let certificate = parameters.self_signed(&key).expect("a certificate");
    let at = |name: &str| folder.path().join(name);
    write(&at("certificate.pem"), &certificate.pem());
    write(&at("key.pem"), &key.serialize_pem());
    let tls = format!(
        "[tls]\ncertificate = {:?}\nkey = {:?}",
        at("certificate.pem"),
        at("key.pem")
    );
    let incident = Incident::new(Rig::start(&settings(&tls)));
    let line = incident.rig.server.logged("has expired");
    assert!(line.contains("ERROR"), "{line}");
    incident.needs_a_look("Certificate", "It has expired, and clients refuse it.");
    let end = incident.figure("certificate_end_seconds", "");
    assert!(end > 1.6e9 && end < seconds_now(), "{end}");
    // Clients in clear go on; those with TLS refuse it.
    let before = incident.figure("tls_failures_total", "");
    let authority = at("certificate.pem").display().to_string();
    let port = incident.rig.server.address.port();
    let by_name = format!("ldap://localhost:{port}");
    let (code, words) = incident.status_at(&by_name, &["-Z", "--tls-ca", &authority]);
    assert_eq!(code, Some(2), "{words}");
    let line = incident.rig.server.logged("TLS");
    assert!(line.contains("WARN"), "{line}");
    assert!(incident.figure("tls_failures_total", "") > before);
    incident.stop();
}

#[test]
fn a_clock_that_jumps() {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, library) = (
        folder.path().join("clock.c"),
        folder.path().join("clock.so"),
    );
    write(&source, include_str!("../scenarios/clock.c"));
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", "-O1", "-o"]);
    let compiled = run_bounded(compile.arg(&library).arg(&source), TIMEOUT);
    assert!(compiled.success(), "{compiled:?}");
    let path: PathBuf = folder.path().join("clock");
    write(&path, "00000000");
    let clock = File::options().write(true).open(&path).expect("the clock");
    let set = |seconds: i64| {
        let written = clock.write_all_at(&seconds.to_ne_bytes(), 0);
        written.expect("set the clock");
    };
    set(0);
    let copied = "[[overlay]]\nname = \"syncprov\"";
    let mut serve = Command::new("sh");
    serve.args(["-c", LOAD_AND_SERVE]).arg(program());
    serve.env("LD_PRELOAD", &library);
    serve.env("FULGURITE_TEST_CLOCK", &path);
    let incident = Incident::new(Rig::start_by(&settings(copied), &mut serve));
    let mut client = incident.root();
    incident.change(&mut client);
    assert!(!incident.status(&[]).1.contains("warning: Clock"));
    // The first look at the clock comes shortly after the start.
    std::thread::sleep(Duration::from_millis(1500));
    set(3600);
    let line = incident.rig.server.logged("has jumped 36");
    assert!(
        line.contains("WARN") && line.contains(" seconds forward"),
        "{line}"
    );
    incident.change(&mut client);
    set(0);
    let line = incident.rig.server.logged("has jumped 36");
    assert!(
        line.contains("WARN") && line.contains(" seconds back"),
        "{line}"
    );
    let line = incident.rig.server.logged("ahead of the clock");
    assert!(line.contains("WARN") && line.contains(SUFFIX), "{line}");
    incident.needs_a_look(
        &format!("Clock of {SUFFIX}"),
        "ahead of the clock. Set the clocks.",
    );
    let newest = incident.figure("database_change_time_seconds", "");
    assert!(newest > seconds_now() + 3000.0, "{newest}");
    // Changes go on, and their numbers ascend.
    incident.change(&mut client);
    assert!(incident.figure("database_change_time_seconds", "") >= newest);
    drop(client);
    incident.stop();
}

#[test]
fn idle_connections_up_to_the_bound() {
    let incident = Incident::new(Rig::start(&settings("[limits]\nconnections = 20")));
    let server = &incident.rig.server;
    let open = || incident.figure("connections", "");
    assert_eq!(incident.figure("connections_limit", ""), 20.0);
    let begun = Instant::now();
    let mut idle = Vec::new();
    // One place is left for the status.
    while open() < 19.0 {
        assert!(begun.elapsed() < TIMEOUT, "{}", open());
        idle.push(server.client());
        idle.last_mut()
            .expect("a client")
            .who_am_i()
            .expect("an answer");
    }
    incident.needs_a_look(
        "Connections",
        " of 20 are open. Further clients are refused",
    );
    while open() < 20.0 {
        assert!(begun.elapsed() < TIMEOUT, "{}", open());
        idle.push(server.client());
        let _ = idle.last_mut().expect("a client").who_am_i();
    }
    let (code, words) = incident.status(&[]);
    assert_eq!(code, Some(2), "{words}");
    assert!(words.contains("too many connections"), "{words}");
    let line = server.logged("too many connections");
    assert!(line.contains("WARN"), "{line}");
    assert!(incident.figure("connections_refused_total", "") >= 1.0);
    assert!(incident.ask("/healthz").0.starts_with("HTTP/1.1 200 "));
    // The console answers the person who has signed in, and those with a connection go on.
    let overview = incident.rig.get("/overview", &incident.session);
    incident.shows(
        &overview,
        "<strong>Connections</strong> ",
        "20 of 20 are open.",
    );
    assert_eq!(
        idle.first_mut()
            .expect("a client")
            .who_am_i()
            .expect("an answer"),
        ""
    );
    drop(idle);
    incident.stop();
}

#[test]
fn a_log_without_room() {
    let incident = Incident::new(Rig::start(&settings("")));
    assert!(!incident.status(&[]).1.contains("warning: Log"));
    let path = incident.rig.folder.path().join("fulgurite.toml");
    let changed = settings("[log]\nfile = \"/dev/full\"\noperations = true");
    write(&path, &changed);
    incident.rig.server.signal(Signal::HUP);
    // Standard error says it once, however many lines are lost.
    incident
        .rig
        .server
        .logged("cannot write the log to /dev/full: ");
    for _ in 0..3 {
        incident.root();
    }
    incident.needs_a_look(
        "Log",
        " lines could not be written to its file since the start.",
    );
    assert!(incident.figure("log_lines_lost_total", "") >= 3.0);
    let last = incident.rig.server.stop();
    assert!(
        !last
            .iter()
            .any(|line| line.contains("cannot write the log")),
        "{last:?}"
    );
}
