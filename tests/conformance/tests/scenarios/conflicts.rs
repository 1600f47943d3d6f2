//! Row 5 of the interop matrix: two providers of each other, a partition, and in it one conflict of
//! each kind.
//!
//! ```text
//!   first change --> server 1 <-- proxies that refuse --> server 2 <-- second change
//! ```
//! Two of our servers are always equal in the end. They meet all conflicts at once, each below
//! another unit. One of ours and slapd are equal, unless two slapds differ as well. A
//! slapd may stop at a change, so each conflict has servers that meet no other one.

use std::time::{Duration, Instant};

use fulgurite_conformance::HeldPort;
use fulgurite_testkit::quick_or_long;

use crate::copies::{INDEXES, PATIENCE, entries, log_of, state, top};
use crate::data::{PASSWORD, ROOT, SUFFIX};
use crate::faulty_copies::{Program, Way, access_log};
use crate::proxy::{Fault, Proxy};
use crate::stage::{Running, Stage, is_ours};

/// The time between the two changes of a conflict with slapd, so that their seconds differ.
const APART: Duration = Duration::from_secs(1);

/// How long servers may need to become equal. Those that differ longer stay so.
const SETTLE: Duration = Duration::from_secs(15);

/// A conflict after which slapd has the stamps of the earlier change, by the log. It does the
/// rename after its own later change, and takes the stamps from the record of the rename.
const RENAMED: &str = "renamed and changed";

/// A conflict after which slapd alone may have the entry, by the log. The change finds no entry, so
/// slapd reads the entries of our server again. These may have it still. slapd does not tell us
/// that it came back, because the change was made here.
const COMES_BACK: &str = "changed and deleted";

/// The attributes that tell the last change of an entry.
const STAMPS: [&str; 3] = ["entryCSN", "modifiersName", "modifyTimestamp"];

/// Two changes that are made without knowledge of each other. `{u}` is the entry above.
struct Conflict {
    label: &'static str,
    first: &'static str,
    second: &'static str,
}

const CONFLICTS: [Conflict; 10] = [
    Conflict {
        label: "different attributes",
        first: "dn: cn=x,{u}\nchangetype: modify\nreplace: title\ntitle: first\n-\n\n",
        second: "dn: cn=x,{u}\nchangetype: modify\nreplace: description\ndescription: second\n-\n\n",
    },
    Conflict {
        label: "values added",
        first: "dn: cn=x,{u}\nchangetype: modify\nadd: seeAlso\nseeAlso: cn=first\n-\n\n",
        second: "dn: cn=x,{u}\nchangetype: modify\nadd: seeAlso\nseeAlso: cn=second\n-\n\n",
    },
    Conflict {
        label: "replaced twice",
        first: "dn: cn=x,{u}\nchangetype: modify\nreplace: sn\nsn: first\n-\n\n",
        second: "dn: cn=x,{u}\nchangetype: modify\nreplace: sn\nsn: second\n-\n\n",
    },
    Conflict {
        label: RENAMED,
        first: "dn: cn=x,{u}\nchangetype: modrdn\nnewrdn: cn=first\ndeleteoldrdn: 1\n\n",
        second: "dn: cn=x,{u}\nchangetype: modify\nreplace: description\ndescription: second\n-\n\n",
    },
    Conflict {
        label: "two new names",
        first: "dn: cn=x,{u}\nchangetype: modrdn\nnewrdn: cn=first\ndeleteoldrdn: 1\n\n",
        second: "dn: cn=x,{u}\nchangetype: modrdn\nnewrdn: cn=second\ndeleteoldrdn: 1\n\n",
    },
    Conflict {
        label: "changed and deleted",
        first: "dn: cn=x,{u}\nchangetype: modify\nreplace: sn\nsn: first\n-\n\n",
        second: "dn: cn=x,{u}\nchangetype: delete\n\n",
    },
    Conflict {
        label: "deleted and changed",
        first: "dn: cn=x,{u}\nchangetype: delete\n\n",
        second: "dn: cn=x,{u}\nchangetype: modify\nreplace: sn\nsn: second\n-\n\n",
    },
    Conflict {
        label: "one name twice",
        first: "dn: cn=new,{u}\nchangetype: add\nobjectClass: person\nsn: first\n\n",
        second: "dn: cn=new,{u}\nchangetype: add\nobjectClass: person\nsn: second\n\n",
    },
    Conflict {
        label: "a child of a deleted parent",
        first: "dn: ou=p,{u}\nchangetype: delete\n\n",
        second: "dn: cn=new,ou=p,{u}\nchangetype: add\nobjectClass: person\nsn: second\n\n",
    },
    Conflict {
        label: "below each other",
        first: "dn: ou=p,{u}\nchangetype: modrdn\nnewrdn: ou=p\ndeleteoldrdn: 0\nnewsuperior: ou=q,{u}\n\n",
        second: "dn: ou=q,{u}\nchangetype: modrdn\nnewrdn: ou=q\ndeleteoldrdn: 0\nnewsuperior: ou=p,{u}\n\n",
    },
];

/// Two servers that are providers of each other.
struct Pair {
    stages: [Stage; 2],
    ports: [HeldPort; 2],
    /// The ways to each server.
    proxies: [Proxy; 2],
}

impl Pair {
    fn new(label: &str, programs: [Program; 2], way: Way, units: usize) -> Pair {
        let stages = [0, 1].map(|at| {
            let stage = programs[at].stage(&format!("{label}-{}", at + 1));
            stage.expect("a program")
        });
        let ports = [0, 1].map(|_| HeldPort::new());
        let proxies = ports.each_ref().map(|port| Proxy::new(port.number()));
        for (at, stage) in stages.iter().enumerate() {
            let other = proxies[1 - at].port;
            let lines = format!(
                "{}{INDEXES}limits * size=unlimited\nsyncrepl rid={} provider=ldap://127.0.0.1:{other} \
                 searchbase=\"{SUFFIX}\" bindmethod=simple binddn=\"{ROOT}\" credentials={PASSWORD} \
                 retry=\"1 +\" {}\nmultiprovider on\noverlay syncprov\n\
                 syncprov-checkpoint 1 1\nsyncprov-sessionlog 1000\n",
                stage.unsynced(),
                at + 10,
                way.words()
            );
            let (log, more) = match way {
                Way::Log => access_log(stage),
                _ => (String::new(), ""),
            };
            let database = stage.database("db", SUFFIX, &(lines + more));
            let number = at + 1;
            stage.configure(&format!(
                "moduleload syncprov.so\nmoduleload accesslog.so\nserverID {number}\n{log}{database}"
            ));
        }
        let entry = |name: &str, class: &str, more: &str| {
            format!("dn: {name}\nobjectClass: {class}\n{more}\n")
        };
        let unit = |number: usize| {
            let unit = unit(number);
            entry(&unit, "organizationalUnit", "")
                + &entry(
                    &format!("cn=x,{unit}"),
                    "inetOrgPerson",
                    "sn: base\ncn: base\n",
                )
                + &entry(&format!("ou=p,{unit}"), "organizationalUnit", "")
                + &entry(&format!("ou=q,{unit}"), "organizationalUnit", "")
        };
        let ldif = top() + &(0..units).map(unit).collect::<String>();
        let file = stages[0].file("top.ldif", &ldif);
        let added = stages[0].tool("a", &["-b", SUFFIX, "-w", "-S", "1", "-l", &file], "");
        added.well();
        Pair {
            stages,
            ports,
            proxies,
        }
    }

    fn start(&self, at: usize) -> Running<'_> {
        self.stages[at].start_at(&[&format!("ldap://127.0.0.1:{}/", self.ports[at])])
    }

    fn set(&self, fault: Fault) {
        for proxy in &self.proxies {
            proxy.set(fault);
            proxy.cut();
        }
    }
}

/// Returns the entries of a server, without values that each computes. Glue is shown with its name
/// and its class: each server gives it other stamps.
fn held(server: &Running<'_>) -> Vec<String> {
    let all = ["-LLL", "-M", "-b", SUFFIX, "(objectClass=*)", "*", "+"];
    // A copy that has not begun has no suffix yet.
    let ran = server.root("ldapsearch", &all, "");
    assert!([0, 32].contains(&ran.status), "{ran:?}");
    let text = ran.out.replace("\n ", "");
    let computed = [
        "contextCSN",
        "hasSubordinates",
        "subschemaSubentry",
        "entryDN",
        // slapd shows the log of a database there.
        "auditContext",
    ];
    let is_shown = |line: &&str| !computed.contains(&line.split(':').next().unwrap_or_default());
    let lines: Vec<&str> = text.lines().filter(is_shown).collect();
    let shown = entries(&lines.join("\n")).into_iter();
    let shown = shown.map(|entry| {
        let is_glue = entry.lines().any(|line| line == "objectClass: glue");
        let is_shown = |line: &str| line.starts_with("dn: ") || line.starts_with("objectClass: ");
        let lines = entry.lines();
        let lines: Vec<&str> = lines.filter(|line| !is_glue || is_shown(line)).collect();
        lines.join("\n")
    });
    shown.collect()
}

/// Leaves out what tells the last change of each entry.
fn without_stamps(entries: Vec<String>) -> Vec<String> {
    let is_kept = |line: &&str| !STAMPS.contains(&line.split(':').next().unwrap_or_default());
    let entries = entries.into_iter();
    let shown = entries.map(|entry| entry.lines().filter(is_kept).collect::<Vec<_>>().join("\n"));
    shown.collect()
}

/// Returns the entry above those of a conflict.
fn unit(number: usize) -> String {
    format!("ou=unit{number},{SUFFIX}")
}

/// Plays conflicts in one partition. Returns the entries that differ in the end, of both servers.
fn play(conflicts: &[Conflict], programs: [Program; 2], way: Way) -> [Vec<String>; 2] {
    let first_label = conflicts.first().map_or("", |conflict| conflict.label);
    let label = format!(
        "conflict-{:?}-{:?}-{way:?}-{first_label}",
        programs[0], programs[1]
    );
    let pair = Pair::new(&label.replace(' ', "-"), programs, way, conflicts.len());
    let (one, two) = (pair.start(0), pair.start(1));
    let begun = Instant::now();
    while held(&one) != held(&two) || state(&one) != state(&two) {
        assert!(
            begun.elapsed() < PATIENCE,
            "{label}: no beginning\n{}\n{}",
            log_of(&pair.stages[0]),
            log_of(&pair.stages[1])
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    pair.set(Fault::Refuse);
    let before = (held(&one), held(&two));
    for (number, conflict) in conflicts.iter().enumerate() {
        for (server, change) in [(&one, conflict.first), (&two, conflict.second)] {
            let change = change.replace("{u}", &unit(number));
            server.root("ldapmodify", &[], &change).well();
            if programs.contains(&Program::Slapd) {
                std::thread::sleep(APART);
            }
        }
    }
    let after = (held(&one), held(&two));
    let is_apart = before.0 != after.0 && before.1 != after.1 && after.0 != after.1;
    assert!(is_apart, "{label}: a partition");
    pair.set(Fault::None);
    let loses_stamps =
        way == Way::Log && first_label == RENAMED && programs.contains(&Program::Slapd);
    let compared = |server: &Running<'_>| match loses_stamps {
        true => without_stamps(held(server)),
        false => held(server),
    };
    let begun = Instant::now();
    let different = loop {
        let (first, second) = (compared(&one), compared(&two));
        if first == second && state(&one) == state(&two) {
            break [Vec::new(), Vec::new()];
        }
        if begun.elapsed() > SETTLE {
            let only = |these: &[String], others: &[String]| {
                let these = these.iter().filter(|entry| !others.contains(entry));
                these.cloned().collect::<Vec<_>>()
            };
            break [only(&first, &second), only(&second, &first)];
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    // A slapd that has taken a change amiss may not end well.
    one.kill();
    two.kill();
    different
}

fn ours_agree(way: Way) {
    if !is_ours() {
        return;
    }
    let programs = [Program::Ours, Program::Ours];
    let equal: [Vec<String>; 2] = [Vec::new(), Vec::new()];
    assert_eq!(play(&CONFLICTS, programs, way), equal);
    for conflict in CONFLICTS.chunks(1).take(quick_or_long(0, CONFLICTS.len())) {
        let label = conflict[0].label;
        assert_eq!(play(conflict, programs, way), equal, "{label}");
    }
}

/// Plays a conflict of ours and slapd, and of two slapds if they differ.
fn agrees_with_slapd(conflict: &[Conflict], programs: [Program; 2], way: Way) {
    let label = conflict[0].label;
    let different = play(conflict, programs, way);
    if different.iter().all(Vec::is_empty) {
        println!("{label}, {programs:?}: equal");
        return;
    }
    let ours_lacks_it = match programs {
        [Program::Ours, _] => different[0].is_empty(),
        _ => different[1].is_empty(),
    };
    if way == Way::Log && label == COMES_BACK && ours_lacks_it {
        println!("{label}, {programs:?}: slapd has it again: {different:#?}");
        return;
    }
    let slapds = play(conflict, [Program::Slapd, Program::Slapd], way);
    println!("{label}: {different:#?}, and two slapds: {slapds:#?}");
    assert!(
        slapds.iter().any(|entries| !entries.is_empty()),
        "{label}: two slapds agree, but ours and slapd do not: {different:#?}"
    );
}

/// Plays each conflict with slapd. They wait more than they work, so all run at once.
fn all_agree_with_slapd(way: Way) {
    if !is_ours() {
        return;
    }
    let ours_first = [Program::Ours, Program::Slapd];
    let slapd_first = [Program::Slapd, Program::Ours];
    for programs in [ours_first, slapd_first] {
        std::thread::scope(|scope| {
            for conflict in CONFLICTS.chunks(1) {
                scope.spawn(move || agrees_with_slapd(conflict, programs, way));
            }
        });
    }
}

#[test]
fn our_server_and_slapd_agree_where_two_slapds_do() {
    all_agree_with_slapd(Way::Persist);
}

#[test]
fn our_server_and_slapd_with_logs_agree_where_two_slapds_do() {
    all_agree_with_slapd(Way::Log);
}

#[test]
fn two_of_our_servers_agree_after_each_conflict() {
    ours_agree(Way::Persist);
}

#[test]
fn two_of_our_servers_with_logs_agree_after_each_conflict() {
    ours_agree(Way::Log);
}
