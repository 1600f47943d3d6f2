//! Where the log goes: the file that is configured, and the system's log as slapd writes it.

use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use fulgurite_conformance::{SUFFIX, TIMEOUT, fulgurite};
use fulgurite_testkit::{Ended, run_fed};
use rustix::process::{Pid, Signal};
use tempfile::TempDir;

/// A simple bind of nobody.
const BIND: &[u8] = b"\x30\x0c\x02\x01\x01\x60\x07\x02\x01\x03\x04\x00\x80\x00";

/// Runs what follows its first argument with a `/dev` whose `log` is the socket that this names.
const WITH_LOG: &str = r#"set -e
socket=$1; shift
dev=$(mktemp -d)
mount -t tmpfs none "$dev"
for file in null zero random urandom; do : > "$dev/$file"; mount --bind "/dev/$file" "$dev/$file"; done
ln -s "$socket" "$dev/log"
mount --move "$dev" /dev
exec "$@""#;

/// Waits until something is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < TIMEOUT, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_log_file_takes_the_place_of_standard_error_and_may_be_moved_away() {
    let folder = TempDir::new().expect("make a directory");
    let at = |name: &str| folder.path().join(name);
    let settings = format!(
        "suffix = \"{SUFFIX}\"\ndata = {:?}\nlisten = [\"ldapi://{}\"]\npid_file = {:?}\n[log]\nfile = {:?}\noperations = true\n",
        at("db"),
        at("ldapi").display().to_string().replace('/', "%2F"),
        at("pid"),
        at("log"),
    );
    std::fs::write(at("settings.toml"), settings).expect("write the settings");
    let mut child = fulgurite()
        .args(["serve", "--config"])
        .arg(at("settings.toml"))
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("start the server");
    let text = |name| std::fs::read_to_string(at(name)).unwrap_or_default();
    until("the server listens", || at("pid").exists());
    bind(&at("ldapi"));
    until("the bind is logged", || {
        text("log").contains("BIND dn=\"\" method=128")
    });
    std::fs::rename(at("log"), at("log.1")).expect("move the log away");
    let pid = Pid::from_child(&child);
    rustix::process::kill_process(pid, Signal::HUP).expect("send a signal");
    until("the log goes on", || text("log").contains("read again"));
    // Operations are logged or not from the next reload on.
    let quiet = text("settings.toml").replace("operations = true", "operations = false");
    std::fs::write(at("settings.toml"), &quiet).expect("write the settings");
    rustix::process::kill_process(pid, Signal::HUP).expect("send a signal");
    until("the second reload", || {
        text("log").matches("read again").count() == 2
    });
    bind(&at("ldapi"));
    std::fs::write(at("settings.toml"), quiet.replace("/log\"", "/log2\"")).expect("write");
    rustix::process::kill_process(pid, Signal::HUP).expect("send a signal");
    until("the log has another file", || {
        text("log2").contains("read again")
    });
    assert!(!text("log").contains("BIND"), "{}", text("log"));
    rustix::process::kill_process(pid, Signal::TERM).expect("send a signal");
    assert!(child.wait().expect("the end").success());
    let mut said = String::new();
    let output = child.stderr.take();
    output
        .expect("a pipe")
        .read_to_string(&mut said)
        .expect("read it");
    assert_eq!(said, "", "nothing on standard error");
}

fn bind(socket: &Path) {
    let mut stream = UnixStream::connect(socket).expect("connect");
    stream.write_all(BIND).expect("send");
    let mut answer = [0; 14];
    stream.read_exact(&mut answer).expect("an answer");
}

#[test]
fn in_the_background_slapd_writes_to_the_log_of_the_system() {
    let allowed = Command::new("unshare").args(["-m", "true"]).status();
    if !allowed.is_ok_and(|status| status.success()) {
        println!("skipped: only root may have a /dev of its own");
        return;
    }
    let stats = [
        "slapd starting",
        "op=0 BIND dn=\"\" method=128",
        " RESULT tag=97 err=0 ",
    ];
    // Facility 20 (LOCAL4) and severity 7; what is configured counts more than -s.
    assert_lines(&lines("", &[]), "<167>", " slapd[", &stats);
    assert_lines(
        &lines("", &["-l", "LOCAL1", "-n", "mine"]),
        "<143>",
        " mine[",
        &stats,
    );
    let starts = lines("loglevel none\n", &["-s", "256"]);
    assert_lines(&starts, "<167>", " slapd[", &stats[..1]);
    assert!(
        !starts.iter().any(|line| line.contains("BIND")),
        "{starts:?}"
    );
    assert_eq!(lines("", &["-s", "0"]), Vec::<String>::new());
}

#[test]
fn the_level_of_the_systems_log_changes_at_once() {
    let allowed = Command::new("unshare").args(["-m", "true"]).status();
    if !allowed.is_ok_and(|status| status.success()) {
        println!("skipped: only root may have a /dev of its own");
        return;
    }
    let starts = lines_during("loglevel none\n", &[], true, &|socket| {
        bind(socket);
        let socket = socket.display().to_string().replace('/', "%2F");
        let mut modify = Command::new("ldapmodify");
        modify.args(["-x", "-D", "cn=config", "-w", "c", "-H"]);
        let change =
            b"dn: cn=config\nchangetype: modify\nreplace: olcLogLevel\nolcLogLevel: stats\n";
        let modify = modify.arg(format!("ldapi://{socket}"));
        let outcome = run_fed(modify, change.to_vec(), TIMEOUT);
        assert!(matches!(outcome.ended, Ended::Exit(0)), "{outcome:?}");
    });
    let binds = starts.iter().filter(|line| line.contains(" BIND dn="));
    assert_eq!(binds.count(), 1, "{starts:?}");
}

fn assert_lines(lines: &[String], priority: &str, name: &str, texts: &[&str]) {
    for text in texts {
        let line = lines.iter().find(|line| line.contains(text));
        let line = line.unwrap_or_else(|| panic!("{text}: {lines:?}"));
        assert!(
            line.starts_with(priority) && line.contains(name),
            "{line:?}"
        );
    }
}

/// Returns the lines that slapd with these directives and options writes to the system's log during
/// a bind.
fn lines(directives: &str, options: &[&str]) -> Vec<String> {
    lines_during(directives, options, false, &|_| ())
}

/// Returns the lines that slapd writes during a call with its socket and a bind. It reads a
/// configuration directory if `by_directory`.
fn lines_during(
    directives: &str,
    options: &[&str],
    by_directory: bool,
    during: &dyn Fn(&Path),
) -> Vec<String> {
    let folder = TempDir::new().expect("make a directory");
    let at = |name: &str| folder.path().join(name);
    let log = UnixDatagram::bind(at("log")).expect("a socket for the log");
    // The socket holds few lines, and a server waits for room like any other program.
    let reading = std::thread::spawn(move || read_lines(&log));
    std::fs::create_dir(at("db")).expect("make a directory");
    let configuration = format!(
        "pidfile {}\n{directives}database config\nrootpw c\ndatabase mdb\nsuffix cn=x\ndirectory {}\n",
        at("pid").display(),
        at("db").display()
    );
    std::fs::write(at("slapd.conf"), configuration).expect("write the configuration");
    let socket = at("ldapi").display().to_string().replace('/', "%2F");
    let mut configuration = ["-f".into(), at("slapd.conf")];
    if by_directory {
        configuration = ["-F".into(), at("slapd.d")];
        std::fs::create_dir(at("slapd.d")).expect("make a directory");
        let mut convert = fulgurite();
        convert.args(["slaptest", "-Q", "-u", "-f"]);
        let convert = convert.arg(at("slapd.conf")).arg("-F").arg(at("slapd.d"));
        assert!(convert.status().expect("slaptest").success());
    }
    let status = Command::new("unshare")
        .args(["-m", "sh", "-c", WITH_LOG, "sh"])
        .arg(at("log"))
        .arg(fulgurite_conformance::program())
        .arg("slapd")
        .args(configuration)
        .args(["-h", &format!("ldapi://{socket}")])
        .args(options)
        .status();
    assert!(status.expect("unshare").success());
    during(&at("ldapi"));
    bind(&at("ldapi"));
    let pid = std::fs::read_to_string(at("pid")).expect("a process id");
    let pid = pid
        .trim()
        .parse()
        .ok()
        .and_then(Pid::from_raw)
        .expect("a process id");
    rustix::process::kill_process(pid, Signal::TERM).expect("send a signal");
    until("slapd ends", || !at("pid").exists());
    let end = UnixDatagram::unbound().expect("a socket");
    end.send_to(b"", at("log")).expect("send the end");
    reading.join().expect("the lines")
}

/// Reads lines up to an empty one.
fn read_lines(log: &UnixDatagram) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = [0; 4096];
    while let Ok(len @ 1..) = log.recv(&mut line) {
        lines.push(String::from_utf8_lossy(&line[..len]).into_owned());
    }
    lines
}
