//! Rows 1 to 4 of the interop matrix under faults: each server is the provider of each other one.
//!
//! ```text
//!   provider (ours, slapd 2.5, slapd 2.4) <-- proxy <-- consumer (ours, slapd 2.5, slapd 2.4)
//!      ^ random updates, kills, clock        ^ cuts, delays, repeats, silence       ^ kills, clock
//! ```
//! In the end the dumps are equal, with UUIDs, stamps and the state of the suffix.

use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use fulgurite_conformance::HeldPort;
use fulgurite_testkit::{Random, quick_or_long, seed};

use crate::copies::{INDEXES, Provider, Updates, assert_equal_dumps, log_of, top, wait_for};
use crate::data::{PASSWORD, ROOT, SUFFIX};
use crate::proxy::{Fault, Proxy};
use crate::stage::{Stage, is_ours};

/// How long a fault lasts.
const FAULT: Duration = Duration::from_millis(700);

/// The time after which slapd 2.4 may be started again. It numbers the records of its access log
/// anew from its start, within the second. It loses a record whose name is taken already, and logs
/// "accesslog_response: got result 0x44".
const NEXT_SECOND: Duration = Duration::from_millis(1100);

/// A server program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    Ours,
    /// slapd 2.5.
    Slapd,
    /// slapd 2.4.
    Older,
}

impl Program {
    /// Returns an empty stage, if the program is there.
    pub(crate) fn stage(self, label: &str) -> Option<Stage> {
        match self {
            Program::Ours => Some(Stage::new(label)),
            Program::Slapd => Some(Stage::with_original(label)),
            Program::Older => Stage::with_older(label),
        }
    }
}

/// The way by which changes come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Persist,
    Poll,
    /// Operations of the access log.
    Log,
}

impl Way {
    const ALL: [Way; 3] = [Way::Persist, Way::Poll, Way::Log];

    pub(crate) fn words(self) -> &'static str {
        match self {
            Way::Persist => "type=refreshAndPersist",
            Way::Poll => "type=refreshOnly interval=00:00:00:01",
            Way::Log => {
                "type=refreshAndPersist syncdata=accesslog logbase=cn=log \
                 logfilter=\"(&(objectClass=auditWriteObject)(reqResult=0))\""
            }
        }
    }
}

/// Returns the database of an access log, and the lines of the database that writes it.
pub(crate) fn access_log(stage: &Stage) -> (String, &'static str) {
    let lines = "index entryCSN,reqStart,reqResult eq\nlimits * size=unlimited\n\
        overlay syncprov\nsyncprov-nopresent TRUE\nsyncprov-reloadhint TRUE\n";
    let log = stage.database("logdb", "cn=log", lines);
    let overlay = "overlay accesslog\nlogdb cn=log\nlogops writes\nlogsuccess TRUE\n";
    (log.replace("rootpw secret\n", ""), overlay)
}

/// Configures a provider, with the lines of its overlay, and loads the top of the tree.
pub(crate) fn provider(label: &str, program: Program, way: Way, overlay: &str) -> Option<Provider> {
    let stage = program.stage(&format!("{label}-provider"))?;
    let modules = "moduleload syncprov.so\nmoduleload accesslog.so\n";
    let mut lines = format!(
        "{INDEXES}limits * size=unlimited\noverlay syncprov\nsyncprov-checkpoint 1 1\n{overlay}"
    );
    let mut log = String::new();
    if way == Way::Log || overlay.contains("cn=log") {
        let (database, overlay) = access_log(&stage);
        log = database;
        lines += overlay;
    }
    let data = stage.database("db", SUFFIX, &lines);
    stage.configure(&format!("{modules}serverID 1\n{log}{data}"));
    let port = HeldPort::new();
    let file = stage.file("top.ldif", &top());
    let added = stage.tool("a", &["-b", SUFFIX, "-l", &file], "");
    added.well();
    Some(Provider { stage, port })
}

/// Configures a consumer of the provider behind a port.
pub(crate) fn consumer(label: &str, program: Program, way: Way, port: u16) -> Option<Stage> {
    let stage = program.stage(&format!("{label}-consumer"))?;
    let lines = format!(
        "{}{INDEXES}syncrepl rid=7 provider=ldap://127.0.0.1:{port} searchbase=\"{SUFFIX}\" \
         bindmethod=simple binddn=\"{ROOT}\" credentials={PASSWORD} retry=\"1 +\" {}\n",
        stage.unsynced(),
        way.words()
    );
    stage.configure(&stage.database("db", SUFFIX, &lines));
    Some(stage)
}

/// Something that goes wrong.
#[derive(Clone, Copy, Debug)]
enum Event {
    Cut,
    Network(Fault),
    KillProvider,
    KillConsumer,
}

const EVENTS: [Event; 7] = [
    Event::Cut,
    Event::Network(Fault::Delay),
    Event::Network(Fault::Duplicate),
    Event::Network(Fault::HalfOpen),
    Event::Network(Fault::Refuse),
    Event::KillProvider,
    Event::KillConsumer,
];

/// Returns all events, in an order by chance.
fn shuffled(random: &mut Random) -> Vec<Event> {
    let mut events = EVENTS.to_vec();
    for at in (1..events.len()).rev() {
        events.swap(at, random.below(at + 1));
    }
    events
}

pub(crate) fn dump(stage: &Stage) -> String {
    stage.tool("c", &["-b", SUFFIX], "").well()
}

/// Lets a copy follow through all faults. Does nothing if a program is not there.
fn follow(programs: (Program, Program), way: Way, overlay: &str) {
    let seed = seed("faulty copies", 4533);
    let label = format!(
        "faults-{:?}-{:?}-{way:?}-{}",
        programs.0,
        programs.1,
        overlay.len()
    );
    println!("seed {seed}, {label}");
    let Some(provider) = provider(&label, programs.0, way, overlay) else {
        return println!("{label}: slapd 2.4 is not unpacked");
    };
    let proxy = Proxy::new(provider.port.number());
    let Some(copy) = consumer(&label, programs.1, way, proxy.port) else {
        return println!("{label}: slapd 2.4 is not unpacked");
    };
    let mut random = Random::new(seed);
    let mut theirs = provider.start();
    let mut updates = Updates::new(&provider, Random::new(seed));
    updates.run(30);
    let mut ours = copy.start();
    let mut refused = Vec::new();
    let mut note = |stage: &Stage| {
        let log = stage.log();
        let lines = log.lines().filter(|line| line.contains("err=53"));
        refused.extend(lines.map(str::to_owned));
    };
    for _ in 0..quick_or_long(1, 10) {
        for event in shuffled(&mut random) {
            updates.run(random.between(1, 15));
            match event {
                Event::Cut => proxy.cut(),
                Event::Network(fault) => {
                    proxy.set(fault);
                    updates.run(15);
                    std::thread::sleep(FAULT);
                    proxy.set(Fault::None);
                }
                Event::KillProvider => {
                    note(&provider.stage);
                    theirs.kill();
                    if programs.0 == Program::Older {
                        std::thread::sleep(NEXT_SECOND);
                    }
                    theirs = provider.start();
                    updates.reconnect(&provider);
                }
                Event::KillConsumer => {
                    ours.kill();
                    updates.run(10);
                    ours = copy.start();
                }
            }
            updates.run(5);
            if random.chance(30) {
                wait_for(&theirs, &ours, &copy);
            }
        }
    }
    wait_for(&theirs, &ours, &copy);
    note(&provider.stage);
    drop(updates);
    ours.stop();
    theirs.stop();
    assert_equal_dumps(&dump(&provider.stage), &dump(&copy), &copy);
    assert!(proxy.entries() > 30, "changes have come through the proxy");
    if programs.0 == Program::Ours {
        assert_eq!(refused, [""; 0], "our provider knows its own past");
    }
}

/// Lets copies follow by each way. They wait more than they work, so they do so at once.
fn follow_all(programs: (Program, Program)) {
    if !is_ours() {
        return;
    }
    std::thread::scope(|scope| {
        for way in Way::ALL {
            scope.spawn(move || follow(programs, way, ""));
        }
    });
}

#[test]
fn slapd_follows_our_server_through_faults() {
    follow_all((Program::Ours, Program::Slapd));
}

#[test]
fn our_server_follows_slapd_through_faults() {
    follow_all((Program::Slapd, Program::Ours));
}

#[test]
fn our_server_follows_the_session_log_of_slapd_through_faults() {
    let programs = (Program::Slapd, Program::Ours);
    follow(programs, Way::Persist, "syncprov-sessionlog 1000\n");
}

#[test]
fn our_server_follows_the_log_source_of_slapd_through_faults() {
    let programs = (Program::Slapd, Program::Ours);
    follow(
        programs,
        Way::Persist,
        "syncprov-sessionlog-source cn=log\n",
    );
}

#[test]
fn older_slapd_follows_our_server_through_faults() {
    follow_all((Program::Ours, Program::Older));
}

#[test]
fn our_server_follows_older_slapd_through_faults() {
    follow_all((Program::Older, Program::Ours));
}

#[test]
fn our_server_follows_our_server_through_faults() {
    follow_all((Program::Ours, Program::Ours));
}

/// The clock of a server, which a test moves.
struct TestClock {
    file: std::fs::File,
}

impl TestClock {
    /// Puts a clock in front of a server's.
    fn before(stage: &mut Stage) -> TestClock {
        let source = stage.file("clock.c", include_str!("clock.c"));
        let library: PathBuf = stage.path("clock.so");
        let mut compile = Command::new("cc");
        compile
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(&library);
        let status = compile.arg(source).status().expect("run cc");
        assert!(status.success(), "cc: {status}");
        let path = stage.path("clock");
        let options = std::fs::File::options()
            .create(true)
            .truncate(true)
            .write(true)
            .open(&path);
        let clock = TestClock {
            file: options.expect("a file"),
        };
        clock.set(0);
        stage.set("LD_PRELOAD", library);
        stage.set("FULGURITE_TEST_CLOCK", path);
        clock
    }

    /// Sets by how many seconds the clock is wrong.
    fn set(&self, seconds: i64) {
        let written = self.file.write_all_at(&seconds.to_ne_bytes(), 0);
        written.expect("write the clock");
    }
}

/// Lets the clocks of both sides jump, an hour ahead and an hour back.
fn jump(programs: (Program, Program), way: Way) {
    let seed = seed("jumping clocks", 4533);
    let label = format!("clocks-{:?}-{:?}-{way:?}", programs.0, programs.1);
    println!("seed {seed}, {label}");
    let provider = provider(&label, programs.0, way, "");
    let mut provider = provider.expect("a program");
    let mut copy = consumer(&label, programs.1, way, provider.port.number()).expect("a program");
    let clocks = [
        TestClock::before(&mut provider.stage),
        TestClock::before(&mut copy),
    ];
    let mut theirs = provider.start();
    let mut updates = Updates::new(&provider, Random::new(seed));
    let mut ours = copy.start();
    for (at, seconds) in [(0, 3600), (1, -3600), (0, 0), (1, 7200), (0, -3600), (1, 0)] {
        updates.run(10);
        clocks[at].set(seconds);
        updates.run(10);
        wait_for(&theirs, &ours, &copy);
        if at == 1 {
            ours.kill();
            updates.run(10);
            ours = copy.start();
        } else if programs.0 == Program::Ours {
            // slapd would number the next changes by its clock alone.
            theirs.kill();
            theirs = provider.start();
            updates.reconnect(&provider);
            updates.run(10);
        }
    }
    wait_for(&theirs, &ours, &copy);
    let shown = log_of(&copy);
    drop(updates);
    ours.stop();
    theirs.stop();
    let ahead = dump(&provider.stage);
    assert_equal_dumps(&ahead, &dump(&copy), &copy);
    assert!(has_hour_ahead(&ahead), "the clock has moved: {shown}");
}

/// Returns true if the dump has a number that is later than now.
fn has_hour_ahead(dump: &str) -> bool {
    let now = Command::new("date").args(["-u", "+%Y%m%d%H%M%S"]).output();
    let now = String::from_utf8(now.expect("run date").stdout).expect("digits");
    let numbers = dump
        .lines()
        .filter_map(|line| line.strip_prefix("entryCSN: "));
    numbers.max().is_some_and(|newest| newest > now.trim())
}

#[test]
fn copies_are_equal_after_clocks_have_jumped() {
    if !is_ours() {
        return;
    }
    // slapd as a consumer plans its next attempt by the clock, an hour away if that jumps. As a
    // provider it gives changes of a clock that was set back numbers that its copies have passed.
    jump((Program::Ours, Program::Ours), Way::Persist);
}
