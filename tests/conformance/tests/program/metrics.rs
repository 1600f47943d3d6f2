//! Figures and probes over HTTP: the text, its numbers, its bounds, and those who mean harm.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use fulgurite_client::{Client, PartialAttribute, Scope};
use fulgurite_conformance::{
    LoadedStore, PASSWORD, ROOT, RunningServer, SUFFIX, TIMEOUT, failure, fulgurite,
};
use fulgurite_testkit::{Random, run_bounded, seed};

use crate::open_metrics::OpenMetrics;

/// Returns the address of the figures.
pub(crate) fn address(serving: &RunningServer) -> SocketAddr {
    let line = serving.logged("metrics and probes at http://");
    let (_, address) = line.rsplit_once("http://").expect("an address");
    address.trim().parse().expect("an address")
}

/// Sends bytes and returns the answer; empty if the server closes.
fn ask(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("connect");
    stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    // The server may have closed already.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer
}

/// Returns the status and the body of an answer.
pub(crate) fn get(address: SocketAddr, path: &str, fields: &str) -> (u16, String) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\n{fields}\r\n");
    let answer = String::from_utf8(ask(address, request.as_bytes())).expect("text");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    let len = format!("\r\nContent-Length: {}\r\n", body.len());
    assert!(head.contains(&len), "{head}");
    let status = head.split(' ').nth(1).expect("a status");
    (status.parse().expect("a number"), body.to_owned())
}

pub(crate) fn figures(address: SocketAddr) -> OpenMetrics {
    let (status, body) = get(address, "/metrics", "");
    assert_eq!(status, 200, "{body}");
    OpenMetrics::parse(&body)
}

const ON: [&str; 2] = ["--metrics-listen", "127.0.0.1:0"];

/// Does a known number of operations.
fn work(serving: &RunningServer) -> Client {
    let mut client = serving.root_client();
    for number in 0..20 {
        let filter = format!("(uid=nobody{number})");
        let found = client.search(SUFFIX, Scope::Subtree, &filter, &[]);
        assert!(found.expect("a search").entries.is_empty());
    }
    let found = client.search(SUFFIX, Scope::Base, "(objectClass=*)", &[]);
    assert_eq!(found.expect("a search").entries.len(), 1);
    let missing = format!("cn=missing,{SUFFIX}");
    for _ in 0..3 {
        let found = client.search(&missing, Scope::Base, "(objectClass=*)", &[]);
        assert_eq!(found.expect("a search").result.code.number(), 32);
    }
    for name in ["a", "b", "a"] {
        let dn = format!("cn={name},{SUFFIX}");
        let (class, values): ([&[u8]; 1], [&[u8]; 1]) =
            ([b"organizationalRole"], [name.as_bytes()]);
        let attributes = [
            PartialAttribute::new("objectClass", &class),
            PartialAttribute::new("cn", &values),
        ];
        client.add(&dn, &attributes).expect("an add");
    }
    let wrong = serving.client().bind(ROOT, b"wrong").expect("a bind");
    assert_eq!(wrong.code.number(), 49);
    client
}

#[test]
fn figures_count_what_was_done() {
    let loaded = LoadedStore::generated(50);
    let serving = loaded.serve(&ON);
    let address = address(&serving);
    let before = figures(address);
    let entries = before.one("fulgurite_database_entries");
    let client = work(&serving);
    let figures = figures(address);
    let operations = |operation: &str, result: &str| {
        let labels = [("operation", operation), ("result", result)];
        figures.sum("fulgurite_operations_total", &labels)
    };
    assert_eq!(operations("search", "success"), 21.0);
    assert_eq!(operations("search", "noSuchObject"), 3.0);
    assert_eq!(operations("add", "success"), 2.0);
    assert_eq!(operations("add", "entryAlreadyExists"), 1.0);
    assert_eq!(operations("bind", "success"), 1.0);
    assert_eq!(operations("bind", "invalidCredentials"), 1.0);
    for operation in ["search", "add", "bind"] {
        let labels = [("operation", operation)];
        let ended = figures.sum("fulgurite_operations_total", &labels);
        let timed = figures.sum("fulgurite_operation_duration_seconds_count", &labels);
        let started = figures.sum("fulgurite_operations_started_total", &labels);
        assert_eq!((ended, ended), (timed, started), "{operation}");
        let time = figures.sum("fulgurite_operation_duration_seconds_sum", &labels);
        assert!(
            time > 0.0 && time < TIMEOUT.as_secs_f64(),
            "{operation}: {time}"
        );
    }
    assert_eq!(figures.one("fulgurite_sent_entries_total"), 1.0);
    assert_eq!(figures.one("fulgurite_database_entries"), entries + 2.0);
    // The server may not have seen the end of the other one yet.
    assert!(figures.one("fulgurite_connections") >= 1.0);
    assert!(figures.one("fulgurite_connections_accepted_total") >= 2.0);
    assert!(figures.one("fulgurite_database_commits_total") >= 2.0);
    let flushes = figures.sum("fulgurite_database_flush_duration_seconds_count", &[]);
    assert!(flushes >= 4.0, "{flushes}");
    assert_eq!(
        figures.sum("fulgurite_database_updates_refused_total", &[]),
        0.0
    );
    // An update is answered before it is counted as done.
    let queued = || self::figures(address).one("fulgurite_updates_queued");
    let until = Instant::now() + TIMEOUT;
    while queued() > 0.0 {
        assert!(Instant::now() < until, "an update waits for ever");
    }
    let memory = figures.one("fulgurite_process_resident_memory_bytes");
    assert!(memory > 1e6, "{memory}");
    assert!(figures.one("fulgurite_process_anonymous_memory_bytes") < memory);
    let labels = [("database", SUFFIX)];
    let pages = figures.sum("fulgurite_database_pages", &labels);
    let page = figures.sum("fulgurite_database_page_size_bytes", &labels);
    let file = figures.sum("fulgurite_database_file_bytes", &labels);
    assert!(pages * page <= file && file > 0.0, "{pages} {page} {file}");
    drop(client);
    serving.stop();
}

#[test]
fn every_documented_figure_is_there() {
    let loaded = LoadedStore::generated(5);
    let mut command = loaded.serve_command("ldap://127.0.0.1:0");
    // Without backups there are no figures of them.
    let to = loaded.root.path().join("backups");
    let serving = RunningServer::start(command.args(ON).env("FULGURITE_BACKUP_TO", to));
    let figures = figures(address(&serving));
    // A copy has these, and a database that others copy has the first. A server with TLS has the
    // second.
    let of_others = [
        "fulgurite_database_change_time_seconds",
        "fulgurite_certificate_end_seconds",
    ];
    for name in fulgurite_server::metric_names() {
        let is_of_copies = name.starts_with("fulgurite_replication_");
        let is_of_nodes = name.starts_with("fulgurite_cluster_");
        if !is_of_copies && !is_of_nodes && !of_others.contains(&name.as_str()) {
            assert!(figures.has(&name), "{name}");
        }
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/monitoring.md");
    let page = std::fs::read_to_string(file).expect("the page about monitoring");
    let table = fulgurite_server::metrics_table();
    if std::env::var_os("FULGURITE_BLESS").is_some() && !page.contains(&table) {
        let head = table.lines().next().expect("a head");
        let (before, old) = page.split_once(head).expect("the old table");
        let (_, after) = old.split_once("\n\n").expect("the end of the old table");
        std::fs::write(file, format!("{before}{table}\n{after}")).expect("write the page");
        return;
    }
    assert!(
        page.contains(&table),
        "{file} differs: run this test with FULGURITE_BLESS=1"
    );
    serving.stop();
}

#[test]
fn probes_tell_if_the_server_is_ready() {
    let loaded = LoadedStore::generated(5);
    let serving = loaded.serve(&ON);
    let address = address(&serving);
    let begun = Instant::now();
    while get(address, "/readyz", "").0 != 200 {
        assert!(
            begun.elapsed() < TIMEOUT,
            "{:?}",
            get(address, "/readyz", "")
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(get(address, "/healthz", ""), (200, "ok\n".to_owned()));
    assert_eq!(get(address, "/", "").0, 404);
    let head = ask(address, b"HEAD /healthz HTTP/1.1\r\n\r\n");
    let head = String::from_utf8(head).expect("text");
    assert!(
        head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"),
        "{head}"
    );
    // A client with a search in progress keeps the server from ending at once.
    serving.stop();
    assert!(TcpStream::connect(address).is_err(), "it listens no more");
}

#[test]
fn a_copy_without_its_first_refresh_is_not_ready() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = format!(
        "listen = [\"ldap://127.0.0.1:0\"]\n[metrics]\nlisten = \"127.0.0.1:0\"\n\
         [[database]]\nsuffix = \"{SUFFIX}\"\ndata = {:?}\n[database.root]\ndn = \"{ROOT}\"\n",
        folder.path().join("db"),
    );
    let copy = "[[database]]\nsyncrepl = ['rid=7 provider=ldap://127.0.0.1:9 searchbase=SUFFIX retry=\"60 +\"']";
    let settings = settings.replace("[[database]]", &copy.replace("SUFFIX", SUFFIX));
    let file = folder.path().join("settings.toml");
    std::fs::write(&file, settings).expect("write the settings");
    let serving = RunningServer::start(fulgurite().args(["serve", "--config"]).arg(&file));
    let address = address(&serving);
    let reason = format!("the copy of {SUFFIX} is not complete yet\n");
    let begun = Instant::now();
    while get(address, "/readyz", "") != (503, reason.clone()) {
        assert!(
            begun.elapsed() < TIMEOUT,
            "{:?}",
            get(address, "/readyz", "")
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(get(address, "/healthz", "").0, 200);
    while figures(address).sum("fulgurite_replication_info", &[("rid", "7")]) != 1.0 {
        assert!(begun.elapsed() < TIMEOUT, "the consumer is shown");
        std::thread::sleep(Duration::from_millis(10));
    }
    let figures = figures(address);
    assert_eq!(figures.one("fulgurite_replication_refreshed"), 0.0);
    serving.stop();
}

#[test]
fn a_token_opens_the_figures_and_not_the_probes() {
    let loaded = LoadedStore::generated(5);
    let token = loaded.root.path().join("token");
    let mut command = loaded.serve_command("ldap://127.0.0.1:0");
    command.args(ON).env("FULGURITE_METRICS_TOKEN_FILE", &token);
    let (code, message) = failure(&command.output().expect("run the server"));
    assert_eq!(code, 1, "{message}");
    assert!(
        message.contains("cannot read the token of metrics.token_file"),
        "{message}"
    );
    std::fs::write(&token, "first\n").expect("write the token");
    let serving = RunningServer::start(&mut command);
    let address = address(&serving);
    let status = |fields: &str| get(address, "/metrics", fields).0;
    assert_eq!(status(""), 401);
    assert_eq!(status("Authorization: Bearer second\r\n"), 401);
    assert_eq!(status("Authorization: Bearer first\r\n"), 200);
    assert_eq!(get(address, "/healthz", "").0, 200);
    std::fs::write(&token, "second").expect("write the token");
    assert_eq!(status("Authorization: Bearer first\r\n"), 401);
    assert_eq!(status("authorization: bearer second\r\n"), 200);
    std::fs::remove_file(&token).expect("remove the token");
    assert_eq!(status("Authorization: Bearer second\r\n"), 503);
    serving.stop();
}

#[test]
fn clients_that_mean_harm_change_nothing() {
    let loaded = LoadedStore::generated(5);
    let serving = loaded.serve(&ON);
    let address = address(&serving);
    let mut random = Random::new(seed("clients_that_mean_harm_change_nothing", 21));
    // These stay open and say little.
    let idle: Vec<TcpStream> = (0..8)
        .map(|_| {
            let mut stream = TcpStream::connect(address).expect("connect");
            stream.write_all(b"GET /met").expect("send");
            stream
        })
        .collect();
    let whole = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer x\r\n\r\n";
    for round in 0..300 {
        let mut bytes = whole.to_vec();
        for _ in 0..random.between(1, 4) {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => bytes[at] = random.below(256) as u8,
                1 => bytes.truncate(at.max(1)),
                2 => bytes.insert(at, random.below(256) as u8),
                _ => bytes.extend(std::iter::repeat_n(b'a', random.below(9000))),
            }
        }
        let answer = ask(address, &bytes);
        let is_answer = answer.is_empty() || answer.starts_with(b"HTTP/1.1 ");
        assert!(is_answer, "round {round}: {bytes:?}: {answer:?}");
    }
    drop(idle);
    let endless = vec![b'x'; 1 << 20];
    let answer = ask(address, &endless);
    assert!(
        answer.is_empty() || answer.starts_with(b"HTTP/1.1 4"),
        "{answer:?}"
    );
    let found = figures(address);
    assert_eq!(found.one("fulgurite_connections"), 0.0);
    let mut client = serving.client();
    assert!(
        client
            .bind(ROOT, PASSWORD.as_bytes())
            .expect("a bind")
            .is_success()
    );
    serving.stop();
}

/// Returns all names of figures in a text.
fn named(text: &str) -> Vec<String> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words = text.split(|letter| !is_name(letter));
    let words = words.filter(|word| word.starts_with("fulgurite_"));
    words.map(str::to_owned).collect()
}

#[test]
fn rules_and_dashboard_name_figures_that_exist() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/monitoring");
    let known = fulgurite_server::metric_names();
    let mut used = 0;
    for file in ["alerts.yml", "alerts_test.yml", "dashboard.json"] {
        let text = std::fs::read_to_string(format!("{folder}/{file}")).expect("a file");
        for name in named(&text) {
            let plain = name.strip_suffix("_bucket").unwrap_or(&name);
            assert!(known.iter().any(|known| known == plain), "{file}: {name}");
            used += 1;
        }
    }
    assert!(used > 50, "{used}");
    let dashboard = std::fs::read(format!("{folder}/dashboard.json")).expect("a file");
    let dashboard: serde_json::Value = serde_json::from_slice(&dashboard).expect("JSON");
    for panel in dashboard["panels"].as_array().expect("panels") {
        assert!(panel["targets"][0]["expr"].is_string(), "{panel}");
    }
    // Each alert is explained.
    let alerts = std::fs::read_to_string(format!("{folder}/alerts.yml")).expect("a file");
    let tested = std::fs::read_to_string(format!("{folder}/alerts_test.yml")).expect("a file");
    let page = format!("{folder}/../../docs/monitoring.md");
    let page = std::fs::read_to_string(page).expect("the page about monitoring");
    for alert in alerts
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- alert: "))
    {
        assert!(page.contains(&format!("`{alert}`")), "{alert}");
        // A test of the rules lets it fire, and another does not.
        let begins = format!("alertname: {alert}\n        exp_alerts:");
        let tests: Vec<&str> = tested.split(&begins).skip(1).collect();
        assert!(tests.iter().any(|test| test.starts_with(" []")), "{alert}");
        assert!(tests.iter().any(|test| test.starts_with('\n')), "{alert}");
    }
}

#[test]
fn promtool_accepts_the_rules() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let unpacked = format!("{root}/build/promtool/usr/bin/promtool");
    let program = match std::path::Path::new(&unpacked).exists() {
        true => unpacked,
        false => "promtool".to_owned(),
    };
    let promtool = |arguments: &[&str]| {
        let mut command = std::process::Command::new(&program);
        let outcome = run_bounded(command.args(arguments).current_dir(root), TIMEOUT);
        assert!(outcome.success(), "{arguments:?}: {outcome:?}");
    };
    if std::process::Command::new(&program)
        .arg("--version")
        .output()
        .is_err()
    {
        println!("skipped: promtool is not there");
        return;
    }
    promtool(&["check", "rules", "packaging/monitoring/alerts.yml"]);
    promtool(&["test", "rules", "packaging/monitoring/alerts_test.yml"]);
}
