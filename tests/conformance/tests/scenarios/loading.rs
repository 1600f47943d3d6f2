//! Starting, loading and dumping: what comes in comes out.

use crate::data::{SUFFIX, UNORDERED, names, records, user_records};
use crate::stage::{Stage, ran};

#[test]
fn the_root_dse_of_an_empty_server() {
    let stage = Stage::usual("root-dse", "");
    let server = stage.start();
    let base = ["-LLL", "-b", "", "-s", "base"];
    let plain = server.client("ldapsearch", &base, "").well();
    assert!(plain.contains("objectClass: top"), "{plain}");
    let all = server
        .client("ldapsearch", &[&base[..], &["+"]].concat(), "")
        .well();
    for line in [
        "namingContexts: dc=example,dc=com",
        "supportedLDAPVersion: 3",
        "subschemaSubentry: cn=Subschema",
        "supportedControl: 2.16.840.1.113730.3.4.2",
        "supportedControl: 1.2.840.113556.1.4.319",
        "supportedExtension: 1.3.6.1.4.1.4203.1.11.3",
        "supportedFeatures: 1.3.6.1.4.1.4203.1.5.1",
    ] {
        assert!(all.lines().any(|found| found == line), "{line} in {all}");
    }
    let schema = ["-LLL", "-b", "cn=Subschema", "-s", "base", "objectClasses"];
    let schema = server.client("ldapsearch", &schema, "").well();
    assert!(schema.contains("NAME 'inetOrgPerson'"), "{schema}");
    // The suffix is there, its entry is not.
    server
        .client("ldapsearch", &["-b", SUFFIX], "")
        .with_status(32);
    let pid = std::fs::read_to_string(stage.path("slapd.pid")).expect("the pid file");
    assert!(pid.trim().parse::<u32>().is_ok(), "{pid}");
    assert!(stage.path("slapd.args").exists());
    server.stop();
}

#[test]
fn slapadd_and_slapcat_in_any_order() {
    let stage = Stage::usual("slapadd", "index cn,sn,uid pres,eq,sub");
    stage.add(UNORDERED).well();
    let dump = stage.cat();
    assert_eq!(user_records(&dump), records(UNORDERED));
    for record in records(&dump) {
        for name in [
            "structuralObjectClass: ",
            "entryUUID: ",
            "creatorsName: cn=Manager,",
            "createTimestamp: ",
            "entryCSN: ",
            "modifiersName: cn=Manager,",
            "modifyTimestamp: ",
        ] {
            assert!(
                record.lines().any(|line| line.starts_with(name)),
                "{name} in {record}"
            );
        }
    }
    // Parents got their ids before the children that named them.
    let first = dump.lines().next().unwrap_or_default();
    assert_eq!(first, "dn: dc=example,dc=com");
    // The dump loads again, and stays what it is.
    let again = Stage::usual("slapadd-again", "");
    again.add(&dump).well();
    assert_eq!(again.cat(), dump);
    // A server shows the same.
    let server = stage.start();
    let shown = server
        .root("ldapsearch", &["-LLL", "-b", SUFFIX, "*", "+"], "")
        .well();
    let served = shown.replace("\n ", "");
    let computed = ["entryDN: ", "subschemaSubentry: ", "hasSubordinates: "];
    let stored: Vec<&str> = served
        .lines()
        .filter(|line| !computed.iter().any(|name| line.starts_with(name)))
        .collect();
    assert_eq!(records(&stored.join("\n")), records(&dump));
    assert_eq!(stage.cat(), dump, "slapcat beside a server");
    server.stop();
}

#[test]
fn a_load_records_nothing_where_lastmod_is_off() {
    let stage = Stage::usual("lastmod-off", "lastmod off");
    stage.add(UNORDERED).well();
    let dump = stage.cat();
    assert!(dump.contains("structuralObjectClass: "), "{dump}");
    for name in [
        "entryUUID: ",
        "entryCSN: ",
        "creatorsName: ",
        "modifyTimestamp: ",
    ] {
        assert!(!dump.contains(name), "{name} in {dump}");
    }
}

#[test]
fn parents_may_come_in_a_later_run() {
    let stage = Stage::usual("missing-parents", "");
    let child = "dn: ou=b,ou=a,dc=example,dc=com\nobjectClass: organizationalUnit\nou: b\n";
    let said = stage.add(child).with_status(1);
    assert!(said.contains("entries missing"), "{said}");
    assert!(said.contains("ou=a,dc=example,dc=com"), "{said}");
    let parents = "dn: dc=example,dc=com\nobjectClass: domain\ndc: example\n\n\
                   dn: ou=a,dc=example,dc=com\nobjectClass: organizationalUnit\nou: a\n";
    stage.add(parents).well();
    let dump = stage.cat();
    let order: Vec<&str> = dump
        .lines()
        .filter(|line| line.starts_with("dn: "))
        .collect();
    assert_eq!(
        order,
        [
            "dn: dc=example,dc=com",
            "dn: ou=a,dc=example,dc=com",
            "dn: ou=b,ou=a,dc=example,dc=com"
        ]
    );
}

#[test]
fn change_numbers_name_their_server() {
    let stage = Stage::usual("context", "");
    let file = stage.file("all.ldif", UNORDERED);
    stage.tool("a", &["-w", "-S", "5", "-l", &file], "").well();
    let dump = stage.cat();
    let numbers = |name: &str| -> Vec<&str> {
        let lines = dump.lines().filter_map(|line| line.strip_prefix(name));
        let mut numbers: Vec<&str> = lines.collect();
        numbers.sort_unstable();
        numbers
    };
    let entries = numbers("entryCSN: ");
    assert_eq!(entries.len(), 9);
    assert!(
        entries.iter().all(|csn| csn.contains("#005#")),
        "{entries:?}"
    );
    assert_eq!(numbers("contextCSN: "), entries[8..]);
}

#[test]
fn records_that_cannot_be_added() {
    let stage = Stage::usual("refused", "");
    let good = "dn: dc=example,dc=com\nobjectClass: domain\ndc: example\n\n";
    let bad = "dn: cn=x,dc=example,dc=com\nobjectClass: person\ncn: x\n\n";
    let after = "dn: ou=a,dc=example,dc=com\nobjectClass: organizationalUnit\nou: a\n";
    let said = stage.add(&[good, bad, after].concat()).with_status(1);
    assert!(
        said.contains("slapadd: dn=\"cn=x,dc=example,dc=com\" (line=5): (65) "),
        "{said}"
    );
    assert_eq!(names(&stage.cat()), ["dc=example,dc=com"]);
    let unknown = "dn: cn=y,dc=example,dc=com\nobjectClass: person\nnosuch: x\n\n";
    let file = stage.file("c.ldif", &[unknown, after].concat());
    let ran = stage.tool("a", &["-c", "-l", &file], "");
    // slapd's own forgets with -c that a record could not be read.
    assert!([0, 1].contains(&ran.status), "{ran:?}");
    let text = "slapadd: could not parse entry (line=1)";
    assert!(ran.err.contains(text), "{ran:?}");
    assert_eq!(names(&stage.cat()).len(), 2);
    let twice = stage.add(after).with_status(1);
    assert!(
        twice.contains("slapadd: could not add entry dn=\"ou=a,dc=example,dc=com\" (line=1): "),
        "{twice}"
    );
    let elsewhere = "dn: dc=org\nobjectClass: domain\ndc: org\n";
    stage.add(elsewhere).with_status(1);
    // Nothing of a dry run stays; what is before -j is passed over.
    let more = "dn: ou=b,dc=example,dc=com\nobjectClass: organizationalUnit\nou: b\n";
    let file = stage.file("d.ldif", &[bad, more].concat());
    stage.tool("a", &["-u", "-j", "4", "-l", &file], "").well();
    assert_eq!(names(&stage.cat()).len(), 2);
    stage.tool("a", &["-j", "4", "-l", &file], "").well();
    assert_eq!(names(&stage.cat()).len(), 3);
}

#[test]
fn values_that_are_named_twice() {
    let stage = Stage::usual("repeated", "");
    let twice = "dn: dc=example,dc=com\nobjectClass: domain\ndc: example\ndescription: a\ndescription:  A\n";
    let file = stage.file("twice.ldif", twice);
    let said = stage
        .tool("a", &["-o", "value-check=yes", "-l", &file], "")
        .with_status(1);
    assert!(
        said.contains("(20) description: value #0 provided more than once"),
        "{said}"
    );
    // Without the check slapd keeps both; an attribute is a set.
    stage.tool("a", &["-l", &file], "").well();
    let dump = stage.cat();
    assert!(dump.contains("\ndescription: a\n"), "{dump}");
    if crate::stage::is_ours() {
        assert!(!dump.contains("\ndescription: A\n"), "{dump}");
    }
}

#[test]
fn populated_by_a_client() {
    let stage = Stage::usual("populate", "");
    let server = stage.start();
    let ordered = records(UNORDERED);
    let mut ordered: Vec<&String> = ordered.iter().collect();
    ordered.sort_by_key(|record| {
        record
            .lines()
            .next()
            .map_or(0, |dn| dn.matches(',').count())
    });
    let ldif: Vec<&str> = ordered.iter().map(|record| record.as_str()).collect();
    let input = ldif.join("\n\n") + "\n";
    server.client("ldapadd", &[], &input).with_status(8);
    server.root("ldapadd", &[], &input).well();
    let shown = server
        .root("ldapsearch", &["-LLL", "-b", SUFFIX], "")
        .well();
    assert_eq!(records(&shown), records(UNORDERED));
    server.root("ldapadd", &[], &input).with_status(68);
    server.stop();
    assert_eq!(user_records(&stage.cat()), records(UNORDERED));
}

#[test]
fn many_clients_at_once() {
    let stage = Stage::loaded("concurrency", "index cn,uid eq", UNORDERED);
    let server = stage.start();
    let changes = |client: usize| -> String {
        let change = |n: usize| {
            format!(
                "dn: cn=c{client}-{n},ou=People,dc=example,dc=com\nchangetype: add\nobjectClass: person\n\
                 cn: c{client}-{n}\nsn: {n}\n\n\
                 dn: cn=c{client}-{n},ou=People,dc=example,dc=com\nchangetype: modify\nadd: description\n\
                 description: d{n}\n-\n\n"
            )
        };
        (0..20).map(change).collect()
    };
    std::thread::scope(|scope| {
        for client in 0..4 {
            let (server, changes) = (&server, changes(client));
            scope.spawn(move || server.root("ldapmodify", &[], &changes).well());
            scope.spawn(move || {
                for _ in 0..5 {
                    let found = server.search(&["(sn=Jensen)", "cn"]);
                    assert_eq!(names(&found).len(), 2);
                }
            });
        }
    });
    let found = server.search(&["(description=d7)", "1.1"]);
    assert_eq!(names(&found).len(), 4);
    server.stop();
    let dump = stage.cat();
    assert_eq!(names(&dump).len(), names(UNORDERED).len() + 80);
}

#[test]
fn into_the_background() {
    let stage = Stage::loaded("background", "", UNORDERED);
    let port = stage.start_in_background();
    let url = format!("ldap://{}/", port.address());
    let whoami = || {
        ran(
            std::process::Command::new("ldapwhoami").args(["-x", "-H", &url]),
            "",
        )
    };
    // slapd's own may come back before it listens.
    for _ in 0..200 {
        if whoami().status == 0 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(whoami().well(), "anonymous\n");
    stage.stop_in_background();
    // The call reports a setting that cannot be served before it ends.
    stage.configure("nonsense\n");
    let slapd = stage.slapd(&["-h", &url]);
    assert_eq!(slapd.status, 1, "{slapd:?}");
    let version = stage.slapd(&["-VV"]);
    assert_eq!(version.status, 0, "{version:?}");
}
