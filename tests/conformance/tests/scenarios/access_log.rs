//! The overlay accesslog next to Debian's slapd: the same updates, and the same entries of the log.
//! Times, their counters, numbers of changes and identities differ.

use crate::data::SUFFIX;
use crate::stage::{Running, Stage};

const DATA: &str = "\
dn: dc=example,dc=com
objectClass: dcObject
objectClass: organization
dc: example
o: x

dn: ou=p,dc=example,dc=com
objectClass: organizationalUnit
ou: p
";

const UPDATES: &str = "\
dn: cn=a,ou=p,dc=example,dc=com
changetype: add
objectClass: inetOrgPerson
cn: a
sn: a
title: one
title: two
userPassword: secret

dn: cn=a,ou=p,dc=example,dc=com
changetype: modify
add: description
description: one
description: two  x
-
add: description
description: three
-
replace: title
title: q
-
delete: userPassword
-
replace: sn
sn: b
-
replace: l

dn: cn=a,ou=p,dc=example,dc=com
changetype: modify
delete: description
description: one
-
delete: description
description: three

dn: cn=a,ou=p,dc=example,dc=com
changetype: modrdn
newrdn: cn=b
deleteoldrdn: 1
newsuperior: dc=example,dc=com

dn: cn=b,dc=example,dc=com
changetype: modrdn
newrdn: cn=c
deleteoldrdn: 0

dn: cn=c,dc=example,dc=com
changetype: delete
";

/// Attributes whose values differ between servers, or from run to run.
const VOLATILE: [&str; 10] = [
    "reqStart",
    "reqEnd",
    "reqSession",
    "reqEntryUUID",
    "entryUUID",
    "entryCSN",
    "createTimestamp",
    "modifyTimestamp",
    "entryDN",
    "minCSN",
];

/// Returns a line of an entry without what differs from run to run.
fn stable(line: &str) -> Option<String> {
    if line.starts_with("contextCSN:") {
        return None;
    }
    let (name, value) = line.split_once(": ").unwrap_or((line, ""));
    if VOLATILE.contains(&name) {
        return Some(format!("{name}: *"));
    }
    if name == "dn" && value.starts_with("reqStart=") {
        let parent = value.split_once(',').map_or("", |(_, parent)| parent);
        return Some(format!("dn: *,{parent}"));
    }
    let stamp = [
        "entryUUID:",
        "entryCSN:",
        "createTimestamp:",
        "modifyTimestamp:",
    ];
    if name == "reqMod" && stamp.iter().any(|stamp| value.starts_with(stamp)) {
        let operator = value
            .split_once(' ')
            .map_or(value, |(operator, _)| operator);
        return Some(format!("reqMod: {operator} *"));
    }
    Some(line.to_owned())
}

fn found(server: &Running<'_>, options: &[&str]) -> String {
    let base = ["-LLL", "-o", "ldif-wrap=no", "-b", "cn=log"];
    let ran = server.client("ldapsearch", &[&base, options].concat(), "");
    let lines: Vec<String> = ran.out.lines().filter_map(stable).collect();
    format!(
        "{options:?}\n{} {}{}",
        ran.status,
        lines.join("\n"),
        ran.err
    )
}

fn history(stage: &Stage) -> Vec<String> {
    let log = stage
        .database("logdb", "cn=log", "")
        .replace("rootpw secret\n", "");
    let lines = "overlay accesslog\nlogdb cn=log\nlogops writes\nlogsuccess TRUE\n\
        logpurge 07:00 01:00\n";
    let data = stage.database("db", SUFFIX, lines);
    stage.configure(&format!("moduleload accesslog.so\n{log}{data}"));
    let file = stage.file("data.ldif", DATA);
    stage.tool("a", &["-b", SUFFIX, "-l", &file], "").well();
    let server = stage.start();
    server.root("ldapmodify", &[], UPDATES).well();
    let refused = "dn: cn=none,dc=example,dc=com\nchangetype: delete\n";
    assert_eq!(server.root("ldapmodify", &[], refused).status, 32);
    let mut answers = vec![
        found(&server, &["*", "+"]),
        found(&server, &["-s", "base", "*", "+"]),
        found(&server, &["-s", "one", "(reqType=MODIFY)", "reqMod"]),
        found(&server, &["(objectClass=auditWriteObject)", "1.1"]),
        found(
            &server,
            &["(reqDN=CN=a, ou=p,dc=example,dc=com)", "reqType"],
        ),
        found(&server, &["(reqMod=title:= q)", "reqType"]),
        found(&server, &["(reqMod=title*)", "reqType"]),
        found(&server, &["(reqType=mod*)", "reqType"]),
        found(&server, &["(reqStart>=20990101000000Z)", "reqType"]),
        found(&server, &["(reqStart<=20990101000000Z)", "reqType"]),
        found(
            &server,
            &["-s", "one", "-z", "2", "(objectClass=*)", "reqType"],
        ),
    ];
    let bare = [
        "-LLL",
        "-o",
        "ldif-wrap=no",
        "-s",
        "one",
        "-b",
        "cn=log",
        "entryCSN",
    ];
    let names = server.client("ldapsearch", &bare, "").well();
    for entry in names.split("\n\n").filter(|entry| !entry.is_empty()) {
        let value = |name: &str| {
            let mut lines = entry.lines().filter_map(|line| line.split_once(": "));
            let line = lines.find(|(found, _)| *found == name);
            line.map_or("", |(_, value)| value).to_owned()
        };
        let by_name = ["-LLL", "-s", "base", "-b", &value("dn"), "reqType"];
        let ran = server.client("ldapsearch", &by_name, "");
        let lines: Vec<String> = ran.out.lines().filter_map(stable).collect();
        answers.push(lines.join("\n"));
        answers.push(found(
            &server,
            &[&format!("(entryCSN={})", value("entryCSN")), "reqType"],
        ));
    }
    server.stop();
    answers
}

/// Returns an answer without the number of a change in its filter.
fn without_numbers(answer: &str) -> String {
    match answer.split_once('\n') {
        Some((head, rest)) if head.contains("entryCSN=") => rest.to_owned(),
        _ => answer.to_owned(),
    }
}

#[test]
fn the_log_has_the_entries_of_slapd() {
    let ours = history(&Stage::new("accesslog-ours"));
    let theirs = history(&Stage::with_original("accesslog-slapd"));
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(without_numbers(ours), without_numbers(theirs));
    }
    assert_eq!(ours.len(), theirs.len());
}

#[test]
fn rules_of_the_logs_database_hold_and_its_store_stays_closed() {
    let stage = Stage::new("accesslog-rules");
    let log = "overlay syncprov\nsyncprov-nopresent TRUE\nsyncprov-reloadhint TRUE\n\
        access to * by dn.exact=cn=a,dc=example,dc=com read by * none\n";
    let log = stage
        .database("logdb", "cn=log", log)
        .replace("rootpw secret\n", "");
    let lines = "overlay accesslog\nlogdb cn=log\nlogops writes\nlogsuccess TRUE\n";
    let data = stage.database("db", SUFFIX, &format!("access to * by * write\n{lines}"));
    stage.configure(&format!("{log}{data}"));
    let file = stage.file("data.ldif", DATA);
    stage.tool("a", &["-b", SUFFIX, "-l", &file], "").well();
    let server = stage.start();
    let person = "dn: cn=a,dc=example,dc=com\nchangetype: add\nobjectClass: person\ncn: a\nsn: a\n\
        userPassword: secret\n";
    server.root("ldapmodify", &[], person).well();
    let search = ["-LLL", "-b", "cn=log", "(reqType=add)", "reqDN"];
    let anonymous = server.client("ldapsearch", &search, "");
    assert_eq!(anonymous.status, 32, "{anonymous:?}");
    let user = ("cn=a,dc=example,dc=com", "secret");
    let seen = server.client_as(user, "ldapsearch", &search, "").well();
    assert!(seen.contains("reqDN: cn=a,dc=example,dc=com"), "{seen}");
    server.stop();
    let mut files = std::fs::read_dir(stage.path("logdb")).expect("the folder of the log");
    assert!(files.next().is_none(), "the store of the log was made");
}
