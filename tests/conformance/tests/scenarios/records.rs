//! The overlays `auditlog` and `lastbind` next to Debian's slapd. The same requests give the same
//! log of changes, but for times and numbers, and the same entries.

use std::time::{Duration, Instant};

use crate::data::SUFFIX;
use crate::overlays::overlay_lines;
use crate::stage::{PATIENCE, Running, Stage, is_ours};

const DATA: &str = "\
dn: dc=example,dc=com
objectClass: dcObject
objectClass: organization
dc: example
o: x

dn: ou=p,dc=example,dc=com
objectClass: organizationalUnit
ou: p

dn: uid=a,ou=p,dc=example,dc=com
objectClass: inetOrgPerson
uid: a
cn: Ann
sn: A
userPassword: secret
authzTo: {0}dn:*

dn: uid=b,ou=p,dc=example,dc=com
objectClass: inetOrgPerson
uid: b
cn: Bob
sn: B
manager: uid=a,ou=p,dc=example,dc=com
userPassword: secret
";

const ANN: (&str, &str) = ("uid=a,ou=p,dc=example,dc=com", "secret");

/// Starts a stage with these lines for its database.
fn stage(label: &str, lines: &str, is_original: bool) -> Stage {
    let stage = match is_original {
        false => Stage::new(&format!("{label}-ours")),
        true => Stage::with_original(&format!("{label}-slapd")),
    };
    let modules = ["auditlog", "refint", "lastbind"];
    let modules: String = modules
        .map(|name| format!("moduleload {name}.so\n"))
        .concat();
    let lines = lines.replace("LOG", &stage.text("changes"));
    let database = stage.database("db", SUFFIX, &lines);
    stage.configure(&format!(
        "{modules}authz-policy to\nallow update_anon\npassword-hash {{CLEARTEXT}}\n{database}"
    ));
    stage.add(DATA).well();
    stage
}

/// Returns a line without time, numbers and address.
fn without_numbers(line: &str) -> String {
    let volatile = [
        "entryCSN",
        "entryUUID",
        "createTimestamp",
        "modifyTimestamp",
        "pwdLastSuccess",
        "authTimestamp",
    ];
    let name = line.split_once(": ").map(|(name, _)| name);
    if let Some(name) = name.filter(|name| volatile.contains(name)) {
        return format!("{name}: ...");
    }
    if !line.starts_with("# ") {
        return line.to_owned();
    }
    let words = line.split(' ').map(|word| {
        let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        match word {
            _ if is_number => "SECONDS",
            "conn=-1" => word,
            _ if word.starts_with("conn=") => "conn=N",
            _ if word.starts_with("IP=127.0.0.1:") => "IP=CLIENT",
            _ => word,
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the log of changes.
fn log(stage: &Stage) -> Vec<String> {
    let text = std::fs::read_to_string(stage.path("changes")).expect("the log of changes");
    text.lines().map(without_numbers).collect()
}

fn change(server: &Running<'_>, identity: Option<(&str, &str)>, options: &[&str], text: &str) {
    let outcome = match identity {
        Some(identity) => server.client_as(identity, "ldapmodify", options, text),
        None => server.client("ldapmodify", options, text),
    };
    assert_eq!(outcome.status, 0, "{text}{outcome:?}");
}

/// Follows a log change by change. slapd's refint works behind the answer, and its records may come
/// before the one of the change or after it.
struct Follower<'f> {
    stage: &'f Stage,
    /// The records after each change, if they are known.
    expected: &'f [usize],
    /// The number of records after each change so far.
    counts: Vec<usize>,
    /// The records of each change in one order.
    records: Vec<Vec<String>>,
}

impl<'f> Follower<'f> {
    fn new(stage: &'f Stage, expected: &'f [usize]) -> Follower<'f> {
        Follower {
            stage,
            expected,
            counts: Vec::new(),
            records: Vec::new(),
        }
    }

    /// Waits for the records of the next change.
    fn follow(&mut self) {
        let before = self.counts.last().copied().unwrap_or_default();
        let expected = self.expected.get(self.counts.len()).copied();
        let begun = Instant::now();
        let all = loop {
            let all = records(self.stage);
            if expected.is_none_or(|count| all.len() >= count) || begun.elapsed() > PATIENCE {
                break all;
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        self.counts.push(all.len());
        let mut new = all.get(before..).unwrap_or_default().to_vec();
        new.sort();
        self.records.push(new);
    }
}

/// Returns the complete records of a log.
fn records(stage: &Stage) -> Vec<String> {
    let mut records = vec![String::new()];
    for line in log(stage) {
        let is_end = line.starts_with("# end ");
        if let Some(record) = records.last_mut() {
            *record += &(line + "\n");
        }
        if is_end {
            records.push(String::new());
        }
    }
    records.pop();
    records
}

/// Makes every kind of change, and follows the log.
fn all_changes<'f>(stage: &'f Stage, expected: &'f [usize]) -> Follower<'f> {
    let server = stage.start();
    let mut follower = Follower::new(stage, expected);
    let root = Some((crate::data::ROOT, crate::data::PASSWORD));
    let long = "long ".repeat(40);
    let added = format!(
        "dn: uid=x,ou=P, {SUFFIX}\nchangetype: add\nobjectClass: inetOrgPerson\n\
         objectClass: posixAccount\nuidNumber: 5\ngidNumber: 6\nhomeDirectory: /x\n\
         description: {long}\ndescription: {}\ndescription:: IGJsYW5r\ndescription:: OmNvbG9u\n\
         description: t\u{e4}st\ndescription:: PHVybA==\ncn;lang-de: q\ncn: x\nsn: x\n\
         userPassword: foo\njpegPhoto:: AAECAwQ=\nmanager: CN=x,  DC=y\n",
        "y".repeat(200)
    );
    change(&server, root, &[], &added);
    follower.follow();
    let modified = format!(
        "dn: uid=X,ou=p,{SUFFIX}\nchangetype: modify\nadd: title\ntitle: one\ntitle: two\n-\n\
         delete: description\n-\ndelete: cn\ncn: X\n-\nadd: cn\ncn: Y\n-\nreplace: mail\n\
         mail: a@b\nmail: c@d\n-\nreplace: mobile\n-\nincrement: uidNumber\nuidNumber: 3\n-\n\
         replace: userPassword\nuserPassword: {{SSHA}}abc\n-\n"
    );
    change(&server, root, &[], &modified);
    follower.follow();
    let renamed = |dn: &str, more: &str| format!("dn: {dn},{SUFFIX}\nchangetype: modrdn\n{more}\n");
    let moved = format!("newrdn: cn=Z  z\ndeleteoldrdn: 0\nnewsuperior: {SUFFIX}");
    change(&server, root, &[], &renamed("uid=x,ou=p", &moved));
    follower.follow();
    change(
        &server,
        root,
        &[],
        &renamed("cn=z z", "newrdn: cn=\u{c4}\ndeleteoldrdn: 1"),
    );
    follower.follow();
    change(
        &server,
        root,
        &[],
        &format!("dn: cn=\u{c4},{SUFFIX}\nchangetype: delete\n"),
    );
    follower.follow();
    // The author differs from the name that has authenticated.
    let title = |text: &str| {
        format!("dn: uid=b,ou=p,{SUFFIX}\nchangetype: modify\nreplace: title\ntitle: {text}\n")
    };
    let acting = ["-e", "!authzid=dn:uid=b,ou=p,dc=example,dc=com"];
    change(&server, Some(ANN), &acting, &title("acting"));
    follower.follow();
    change(&server, None, &[], &title("anonymous"));
    follower.follow();
    let relaxed = format!(
        "dn: uid=b,ou=p,{SUFFIX}\nchangetype: modify\nreplace: modifiersName\n\
         modifiersName: cn=foo\n"
    );
    change(&server, root, &["-e", "!relax"], &relaxed);
    follower.follow();
    for old in [&[][..], &["-a", "secret"]] {
        let arguments = [old, &["-s", "secret", ANN.0]].concat();
        server.root("ldappasswd", &arguments, "").well();
        follower.follow();
    }
    change(
        &server,
        root,
        &[],
        &renamed("uid=a,ou=p", "newrdn: uid=a2\ndeleteoldrdn: 1"),
    );
    follower.follow();
    let delete = format!("dn: uid=a2,ou=p,{SUFFIX}\nchangetype: delete\n");
    change(&server, None, &[], &delete);
    follower.follow();
    server.stop();
    // Nothing may follow the last change.
    follower.follow();
    follower
}

fn assert_same_logs(label: &str, lines: &str) {
    let stages = [false, true].map(|is_original| stage(label, lines, is_original));
    let ours = all_changes(&stages[0], &[]);
    let theirs = all_changes(&stages[1], &ours.counts);
    for (at, (ours, theirs)) in ours.records.iter().zip(&theirs.records).enumerate() {
        assert_eq!(ours, theirs, "change {at}");
    }
    assert_eq!(ours.counts, theirs.counts);
    assert!(ours.counts.last() > Some(&10), "changes are logged");
}

#[test]
fn the_log_of_changes_is_that_of_slapd() {
    let access = "access to * by * manage\n";
    let refint = "overlay refint\nrefint_attributes manager\n";
    let log = "overlay auditlog\nauditlog LOG\n";
    assert_same_logs("audit", &format!("{log}{access}"));
    assert_same_logs("audit-refint", &format!("{log}{refint}{access}"));
    assert_same_logs("audit-bare", &format!("{refint}{log}lastmod off\n{access}"));
}

/// In slapd, such a bind is a modify, which the log has.
#[test]
fn the_log_has_no_binds() {
    if !is_ours() {
        return;
    }
    let lines = "lastbind on\noverlay auditlog\nauditlog LOG\n";
    let stage = stage("audit-bind", lines, false);
    let server = stage.start();
    server.client_as(ANN, "ldapwhoami", &[], "").well();
    let title = format!(
        "dn: {}\nchangetype: modify\nreplace: title\ntitle: x\n",
        ANN.0
    );
    let root = Some((crate::data::ROOT, crate::data::PASSWORD));
    change(&server, root, &[], &title);
    server.stop();
    let records = log(&stage);
    let records = records.iter().filter(|line| line.starts_with("# modify "));
    assert_eq!(records.count(), 1);
}

#[test]
fn the_log_is_for_its_owner_and_may_be_moved_away() {
    use std::os::unix::fs::PermissionsExt;
    if !is_ours() {
        return;
    }
    let stage = stage("audit-file", "overlay auditlog\nauditlog LOG\n", false);
    let server = stage.start();
    let root = Some((crate::data::ROOT, crate::data::PASSWORD));
    let title = |text: &str| {
        format!("dn: uid=b,ou=p,{SUFFIX}\nchangetype: modify\nreplace: title\ntitle: {text}\n")
    };
    change(&server, root, &[], &title("one"));
    let mode = std::fs::metadata(stage.path("changes"))
        .expect("the log")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    std::fs::rename(stage.path("changes"), stage.path("changes.1")).expect("a rename");
    change(&server, root, &[], &title("two"));
    let titles: Vec<String> = log(&stage)
        .into_iter()
        .filter(|l| l.starts_with("title:"))
        .collect();
    assert_eq!(titles, ["title: two"]);
    // A log that cannot be written refuses nothing.
    std::fs::remove_file(stage.path("changes")).expect("a file");
    std::fs::create_dir(stage.path("changes")).expect("a folder");
    change(&server, root, &[], &title("three"));
    server.stop();
    assert!(
        stage.log().contains("changes go unrecorded"),
        "{}",
        stage.log()
    );
}

/// Binds as Ann, and returns her times. A search right behind a bind sees them.
fn bound(stage: &Stage) -> Vec<String> {
    let server = stage.start();
    let mut states = Vec::new();
    let binds = [("wrong", 49), ("secret", 0), ("secret", 0)];
    for (password, status) in binds {
        let ran = server.client_as((ANN.0, password), "ldapwhoami", &[], "");
        assert_eq!(ran.status, status, "{ran:?}");
        let names = ["pwdLastSuccess", "authTimestamp"];
        let arguments = [&["-LLL", "-b", ANN.0, "-s", "base"][..], &names].concat();
        let found = server.root("ldapsearch", &arguments, "").well();
        // In slapd, the order of the two times depends on whether a new second has begun.
        let mut state: Vec<String> = found.lines().map(without_numbers).collect();
        state.sort_unstable();
        states.extend(state);
    }
    server.stop();
    states
}

#[test]
fn binds_are_recorded_as_in_slapd() {
    for (label, lines) in [
        ("bind-off", ""),
        ("bind", "lastbind on\n"),
        ("bind-overlay", "overlay lastbind\n"),
        (
            "bind-both",
            "lastbind on\noverlay lastbind\nlastbind-precision 5\n",
        ),
    ] {
        let ours = bound(&stage(label, lines, false));
        assert_eq!(ours, bound(&stage(label, lines, true)), "{label}");
    }
}

#[test]
fn the_configuration_directory_has_the_log() {
    let mut converted = Vec::new();
    for is_original in [false, true] {
        let lines = "lastbind on\noverlay auditlog\nauditlog /tmp/log\n\
            overlay lastbind\nlastbind-precision 5\nlastbind_forward_updates FALSE\n";
        let stage = stage("audit-olc", lines, is_original);
        let folder = stage.text("slapd.d");
        std::fs::create_dir(&folder).expect("a folder");
        stage.tool("t", &["-F", &folder], "").well();
        converted.push(overlay_lines(&stage, "slapd.d"));
        stage.tool_by_directory("t", &folder, &[]).well();
    }
    assert_eq!(converted[0], converted[1]);
}
