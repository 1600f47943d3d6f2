//! Our server as a provider, and Debian's slapd as its consumer. Their dumps are equal after random
//! changes, and after our server was killed among them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, Instant};

use fulgurite_conformance::HeldPort;
use fulgurite_testkit::{Random, quick_or_long, seed};

use crate::data::{PASSWORD, ROOT, SUFFIX};
use crate::stage::{Running, Stage, is_ours, ran};

/// The time after which two servers that are not equal never will be.
const PATIENCE: Duration = Duration::from_secs(40);

const TOP: &str = "dn: dc=example,dc=com
objectClass: dcObject
objectClass: organization
dc: example
o: Example

dn: ou=a,dc=example,dc=com
objectClass: organizationalUnit
ou: a
";

/// A dump: the lines of each entry, sorted, by its name.
type Dump = BTreeMap<String, BTreeSet<String>>;

fn dump(stage: &Stage) -> Dump {
    let text = stage.tool("c", &["-o", "ldif-wrap=no"], "").well();
    let entries = text.split("\n\n").filter(|entry| !entry.trim().is_empty());
    let entries = entries.map(|entry| {
        let lines: BTreeSet<String> = entry.lines().map(str::to_owned).collect();
        let name = lines.iter().find(|line| line.starts_with("dn:"));
        (name.expect("a name").clone(), lines)
    });
    entries.collect()
}

/// Waits until both have the same dump.
#[track_caller]
fn wait_until_equal(provider: &Stage, consumer: &Stage, label: &str) {
    let begun = Instant::now();
    loop {
        let (expected, found) = (dump(provider), dump(consumer));
        if expected == found {
            return;
        }
        if begun.elapsed() > PATIENCE {
            let names = expected.keys().chain(found.keys());
            let wrong = names.filter(|name| expected.get(*name) != found.get(*name));
            let wrong: BTreeSet<&String> = wrong.collect();
            let wrong = wrong.into_iter().take(5);
            let wrong: Vec<_> = wrong
                .map(|name| (expected.get(name), found.get(name)))
                .collect();
            panic!("{label}: {wrong:#?}\nconsumer:\n{}", consumer.log());
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn provider(label: &str) -> Stage {
    let stage = Stage::new(&format!("{label}-provider"));
    let module = stage.distribution();
    let database = stage.database(
        "db",
        SUFFIX,
        "index entryUUID,entryCSN eq\noverlay syncprov\n",
    );
    stage.configure(&format!(
        "modulepath {module}/usr/lib/ldap\nmoduleload syncprov.so\nserverID 1\n{database}"
    ));
    stage.add(TOP).well();
    stage
}

fn consumer(label: &str, url: &str, more: &str) -> Stage {
    let stage = Stage::with_original(&format!("{label}-consumer"));
    let lines = format!(
        "{}index entryUUID,entryCSN eq\nsyncrepl rid=007 provider={url} bindmethod=simple \
         binddn=\"{ROOT}\" credentials={PASSWORD} searchbase=\"{SUFFIX}\" retry=\"1 +\" {more}\n",
        stage.unsynced()
    );
    stage.configure(&stage.database("db", SUFFIX, &lines));
    stage
}

/// The names that the changes so far may have made.
struct History {
    random: Random,
    names: Vec<String>,
    round: usize,
}

impl History {
    fn parent(&mut self) -> String {
        let units = self.names.iter().filter(|name| name.starts_with("ou="));
        let units: Vec<&String> = units.collect();
        match units.is_empty() || self.random.chance(30) {
            true => SUFFIX.to_owned(),
            false => (*self.random.pick(&units)).clone(),
        }
    }

    /// Random changes as LDIF. Some of them fail.
    fn changes(&mut self, count: usize) -> String {
        let mut text = String::new();
        for _ in 0..count {
            self.round += 1;
            let parent = self.parent();
            let unit = format!("ou={}", self.random.pick(&["a", "b", "c", "d"]));
            let leaf = format!("cn={}", self.random.below(6));
            let known = match self.names.is_empty() {
                true => parent.clone(),
                false => self.random.pick(&self.names).clone(),
            };
            let value = format!("{} {}", self.round, "long ".repeat(self.random.below(300)));
            match self.random.below(10) {
                0 | 1 => {
                    let name = format!("{unit},{parent}");
                    text += &format!(
                        "dn: {name}\nchangetype: add\nobjectClass: organizationalUnit\n\n"
                    );
                    self.names.push(name);
                }
                2 | 3 => {
                    let name = format!("{leaf},{parent}");
                    text += &format!(
                        "dn: {name}\nchangetype: add\nobjectClass: inetOrgPerson\nsn: x\n\
                         description: {value}x\njpegPhoto:: AAECA/8K\n\n"
                    );
                    self.names.push(name);
                }
                4 | 5 => {
                    text += &format!(
                        "dn: {known}\nchangetype: modify\nreplace: description\ndescription: {value}x\n-\n\
                         add: seeAlso\nseeAlso: cn={}\n-\n\n",
                        self.round
                    );
                }
                6 => text += &format!("dn: {known}\nchangetype: delete\n\n"),
                number => {
                    let rdn = if known.starts_with("ou=") { unit } else { leaf };
                    let above = known.split_once(',').map_or("", |(_, above)| above);
                    let above = above.to_owned();
                    text += &format!(
                        "dn: {known}\nchangetype: modrdn\nnewrdn: {rdn}\ndeleteoldrdn: 1\n"
                    );
                    if number > 7 {
                        text += &format!("newsuperior: {parent}\n");
                        self.names.push(format!("{rdn},{parent}"));
                    } else {
                        self.names.push(format!("{rdn},{above}"));
                    }
                    text.push('\n');
                }
            }
        }
        text
    }
}

fn change(server: &Running<'_>, history: &mut History) {
    let changes = history.changes(25);
    server.root("ldapmodify", &["-c"], &changes);
}

fn histories(label: &str, mode: &str) {
    if is_ours() {
        follow(&provider(label), label, mode);
    }
}

/// Lets slapd follow a provider through random changes.
fn follow(provider: &Stage, label: &str, mode: &str) {
    let port = HeldPort::new();
    let url = format!("ldap://{}/", port.address());
    let consumer = consumer(label, &url, mode);
    let mut history = History {
        random: Random::new(seed(label, 7)),
        names: vec![format!("ou=a,{SUFFIX}")],
        round: 0,
    };
    let mut ours = Some(provider.start_at(&[&url]));
    let slapd = consumer.start();
    wait_until_equal(provider, &consumer, "first");
    for round in 0..quick_or_long(6, 60) {
        let server = ours.take().unwrap_or_else(|| provider.start_at(&[&url]));
        change(&server, &mut history);
        if round % 2 == 1 {
            server.kill();
        } else {
            wait_until_equal(provider, &consumer, &format!("{label}, round {round}"));
            ours = Some(server);
        }
    }
    let server = ours.take().unwrap_or_else(|| provider.start_at(&[&url]));
    wait_until_equal(provider, &consumer, label);
    // A consumer that was away.
    slapd.stop();
    change(&server, &mut history);
    change(&server, &mut history);
    let slapd = consumer.start();
    wait_until_equal(provider, &consumer, &format!("{label}, away"));
    slapd.stop();
    server.stop();
}

#[test]
fn slapd_follows_our_server_in_the_persist_stage() {
    histories("persist", "type=refreshAndPersist");
}

#[test]
fn slapd_follows_our_server_by_polling() {
    histories("refresh", "type=refreshOnly interval=00:00:00:01");
}

#[test]
fn a_provider_shows_its_copies() {
    if !is_ours() {
        return;
    }
    let provider = Stage::new("shown-provider");
    let database = provider.database("db", SUFFIX, "overlay syncprov\n");
    let monitor = format!("database monitor\nrootdn \"{ROOT}\"\n");
    let lines = format!("moduleload syncprov.so\nserverID 1\n{database}{monitor}");
    provider.configure(&lines);
    provider.add(TOP).well();
    let port = HeldPort::new();
    let url = format!("ldap://{}/", port.address());
    let server = provider.start_at(&[&url]);
    let search = ["-LLL", "-b", "cn=Monitor", "(cn=Copy *)", "monitoredInfo"];
    let shown = || server.root("ldapsearch", &search, "").well();
    assert_eq!(shown(), "");
    let stage = consumer("shown", &url, "type=refreshAndPersist");
    let slapd = stage.start();
    wait_until_equal(&provider, &stage, "the first refresh");
    let password = provider.file("password", PASSWORD);
    let status = || {
        let mut status = std::process::Command::new(fulgurite_conformance::program());
        status.args(["replication", "status", "--url", &server.url, "--as", ROOT]);
        ran(status.args(["--password-file", &password]), "").well()
    };
    let begun = Instant::now();
    loop {
        let facts = shown();
        if facts.contains("phase: Persist") && facts.contains("behind: 0") {
            let status = status();
            for fact in ["rid=007", "phase            Persist", "lag              0"] {
                assert!(status.contains(fact), "{fact}: {status}");
            }
            assert_eq!(facts.matches("copy: rid=007 ").count(), 1, "{facts}");
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "{facts}");
        std::thread::sleep(Duration::from_millis(50));
    }
    slapd.stop();
    let begun = Instant::now();
    while !shown().is_empty() {
        assert!(begun.elapsed() < PATIENCE, "{}", shown());
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(status(), "no database is a copy\n");
    server.stop();
}

/// Returns a provider that shows its log to consumers.
fn delta_provider(label: &str) -> Stage {
    let stage = Stage::new(&format!("{label}-provider"));
    let module = stage.distribution();
    let folder = stage.path("logdb");
    fs::create_dir_all(&folder).expect("make the log's folder");
    let log = format!(
        "database mdb\nsuffix cn=log\nrootdn \"{ROOT}\"\ndirectory {}\n\
         overlay syncprov\nsyncprov-nopresent TRUE\nsyncprov-reloadhint TRUE\n",
        folder.display()
    );
    let lines = "index entryUUID,entryCSN eq\noverlay syncprov\noverlay accesslog\n\
        logdb cn=log\nlogops writes\nlogsuccess TRUE\n";
    let data = stage.database("db", SUFFIX, lines);
    stage.configure(&format!(
        "modulepath {module}/usr/lib/ldap\nmoduleload syncprov.so\nmoduleload accesslog.so\n\
         serverID 1\n{data}{log}"
    ));
    stage.add(TOP).well();
    stage
}

#[test]
fn slapd_repeats_the_operations_of_our_log() {
    if is_ours() {
        let mode = "type=refreshAndPersist syncdata=accesslog logbase=\"cn=log\" \
            logfilter=\"(&(objectClass=auditWriteObject)(reqResult=0))\"";
        follow(&delta_provider("delta"), "delta", mode);
    }
}

#[test]
fn ldapsearch_shows_the_messages_of_a_refresh() {
    let stage = provider("probe");
    let server = stage.start();
    let usual = ["-b", SUFFIX, "-o", "ldif-wrap=no"];
    let probe = |extension: &str| {
        let arguments = [
            &usual[..],
            &["-E", extension, "(objectClass=*)", "entryCSN"],
        ]
        .concat();
        server.root("ldapsearch", &arguments, "").well()
    };
    let first = probe("!sync=ro");
    assert_eq!(
        first.matches("# SyncState control, UUID ").count(),
        2,
        "{first}"
    );
    assert_eq!(first.matches(" added").count(), 2, "{first}");
    let context = server.root(
        "ldapsearch",
        &["-LLL", "-s", "base", "-b", SUFFIX, "contextCSN"],
        "",
    );
    let context = context.well();
    let csn = context
        .lines()
        .find_map(|line| line.strip_prefix("contextCSN: "));
    let csn = csn.expect("a state").to_owned();
    assert!(first.contains(&format!("csn={csn}")), "{first}\n{context}");
    server
        .root("ldapdelete", &["ou=a,dc=example,dc=com"], "")
        .well();
    let then = probe(&format!("!sync=ro/rid=001,csn={csn}"));
    assert!(
        then.contains("# following UUIDs no longer match the search"),
        "{then}"
    );
    server.stop();
}

/// A consumer of the log asks for entries first. Its provider may be empty at that time.
#[test]
fn an_empty_provider_answers_as_slapd_does() {
    let csn = "20260101000000.000000Z#000000#001#000000";
    let seen = [
        Stage::new("empty-ours"),
        Stage::with_original("empty-slapd"),
    ]
    .map(|stage| {
        let database = stage.database("db", SUFFIX, "overlay syncprov\n");
        stage.configure(&format!("moduleload syncprov.so\nserverID 1\n{database}"));
        let server = stage.start();
        let below = format!("ou=a,{SUFFIX}");
        let with_state = format!("!sync=ro/rid=001,csn={csn}");
        let mut answers = Vec::new();
        for (base, extension) in [
            (SUFFIX, "!sync=ro"),
            (SUFFIX, "!sync=ro/rid=001"),
            (&below, "!sync=ro/rid=001"),
            (SUFFIX, &with_state),
            (SUFFIX, "!sync=rp/rid=001"),
        ] {
            let search = ["-M", "-b", base, "-E", extension];
            let ran = server.root("ldapsearch", &search, "");
            let lines = ran.out.lines().filter(|line| !line.starts_with("# base"));
            let lines: Vec<String> = lines.map(str::to_owned).collect();
            answers.push((ran.status, lines, ran.err));
        }
        server.stop();
        answers
    });
    let [ours, theirs] = seen;
    assert_eq!(ours, theirs);
    assert_eq!(ours[1].0, 0, "a refresh of nothing succeeds");
}
