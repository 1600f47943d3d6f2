//! Effects of a changed configuration on limits, the log and definitions. Changes without a server,
//! their undo, and the configuration as TOML.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::net::TcpStream;
use std::process::Command;

use crate::configuring::{
    ADMIN, DATABASE, answer, change, configured, differences, entries, people, tree,
};
use crate::data::{PASSWORD, ROOT, SUFFIX};
use crate::stage::{PATIENCE, Running, Stage, is_ours, ran};

/// Settings that many servers read only at their start.
#[test]
fn limits_and_the_log_follow_at_once() {
    let stage = Stage::new("configuring-limits");
    let folder = configured(&stage);
    let server = stage.start_by_directory(&folder);
    let root = (ROOT, PASSWORD);
    people(&server, root);
    let make = |text: &str| {
        let answer = change(&stage, &server, text);
        assert_eq!(answer, "0 ", "{text}");
    };
    let global = |change: &str| make(&format!("dn: cn=config\nchangetype: modify\n{change}"));
    // The size of requests.
    let long = format!("(cn={})", "x".repeat(5000));
    let search = |filter: &str| {
        let ran = server.client("ldapsearch", &["-LLL", "-b", SUFFIX, filter], "");
        ran.status
    };
    assert_eq!(search(&long), 0);
    global("replace: olcSockbufMaxIncoming\nolcSockbufMaxIncoming: 4000\n");
    assert_ne!(search(&long), 0);
    assert_eq!(search("(cn=a)"), 0);
    global("replace: olcSockbufMaxIncoming\nolcSockbufMaxIncoming: 262143\n");
    // The file of the log.
    global("replace: olcLogFile\nolcLogFile: %/own.log\n");
    assert_eq!(search("(cn=logged)"), 0);
    let log = fs::read_to_string(stage.path("own.log")).expect("the log");
    assert!(log.contains("(cn=logged)"), "{log}");
    if is_ours() {
        let nowhere = "dn: cn=config\nchangetype: modify\nreplace: olcLogFile\nolcLogFile: /\n";
        let refused = change(&stage, &server, nowhere);
        let begin = "80 additional info: olcLogFile: cannot open /";
        assert!(refused.starts_with(begin), "{refused}");
    }
    // The size of the data.
    let add = |name: &str| {
        let photo = "A".repeat(200_000);
        let text = format!(
            "dn: cn={name},{SUFFIX}\nobjectClass: inetOrgPerson\ncn: {name}\nsn: a\njpegPhoto:: {photo}\n"
        );
        server.client_as(root, "ldapadd", &[], &text).status
    };
    make("dn: @\nchangetype: modify\nreplace: olcDbMaxSize\nolcDbMaxSize: 1048576\n");
    let fits = (0..20).take_while(|at| add(&format!("p{at}")) == 0).count();
    assert!(fits < 20, "the size has no bound");
    make("dn: @\nchangetype: modify\nreplace: olcDbMaxSize\nolcDbMaxSize: 67108864\n");
    let name = format!("p{fits}");
    assert_eq!(add(&name), 0, "{}", stage.log());
    make("dn: @\nchangetype: modify\nreplace: olcDbNoSync\nolcDbNoSync: TRUE\n");
    make("dn: @\nchangetype: modify\ndelete: olcDbNoSync\n");
    // Idle connections that were there before.
    let address = server
        .url
        .trim_start_matches("ldap://")
        .trim_end_matches('/');
    let mut idle = TcpStream::connect(address).expect("connect");
    idle.set_read_timeout(Some(PATIENCE)).expect("a bound");
    global("replace: olcIdleTimeout\nolcIdleTimeout: 1\n");
    let mut rest = Vec::new();
    idle.read_to_end(&mut rest)
        .expect("the server ends the connection");
    global("replace: olcIdleTimeout\nolcIdleTimeout: 0\n");
    assert!(
        !stage.log().contains("at the next start"),
        "{}",
        stage.log()
    );
    server.stop();
}

/// The recipe of CentOS: the empty database of the package gets the name of the company.
#[test]
fn an_empty_database_takes_another_suffix() {
    let suffix = "dn: @\nchangetype: modify\nreplace: olcSuffix\nolcSuffix: dc=srv,dc=world\n";
    let root =
        "dn: @\nchangetype: modify\nreplace: olcRootDN\nolcRootDN: cn=Manager,dc=srv,dc=world\n";
    let password = "dn: @\nchangetype: modify\nadd: olcRootPW\nolcRootPW: secret\n";
    let recipe = [
        "dn: @\nchangetype: modify\ndelete: olcRootPW\n",
        suffix,
        root,
        password,
        "dn: @\nchangetype: modify\nreplace: olcAccess\nolcAccess: {0}to * by * read\n",
        // Once more, as such scripts are.
        suffix,
        root,
        password,
    ];
    let stages = [
        (Stage::new("configuring-suffix"), is_ours()),
        (Stage::with_original("configuring-suffix-slapd"), false),
    ];
    let seen = stages.map(|(stage, is_ours)| {
        let folder = configured(&stage);
        let server = stage.start_by_directory(&folder);
        let mut seen: Vec<String> = recipe.map(|text| change(&stage, &server, text)).into();
        let manager = ("cn=Manager,dc=srv,dc=world", "secret");
        let top = "dn: dc=srv,dc=world\nobjectClass: dcObject\nobjectClass: organization\ndc: srv\no: a\n";
        seen.push(answer(&server.client_as(manager, "ldapadd", &[], top)));
        let finds = |server: &Running<'_>, base: &str, scope: &str| {
            let arguments = ["-LLL", "-s", scope, "-b", base, "namingContexts"];
            let found = server.client_as(manager, "ldapsearch", &arguments, "");
            format!("{} {}", found.status, found.out)
        };
        let names = |server: &Running<'_>| {
            let bases = [("", "base"), ("dc=srv,dc=world", "sub"), (SUFFIX, "sub")];
            bases.map(|(base, scope)| finds(server, base, scope))
        };
        seen.extend(names(&server));
        server.stop();
        // The next start finds the same.
        let server = stage.start_by_directory(&folder);
        seen.extend(names(&server));
        if is_ours {
            // slapd would hide the entries.
            let other = "dn: @\nchangetype: modify\nreplace: olcSuffix\nolcSuffix: dc=other\n-\ndelete: olcRootPW\n";
            let refused = change(&stage, &server, other);
            let begin = "53 additional info: olcSuffix of a database with entries cannot change";
            assert!(refused.starts_with(begin), "{refused}");
            assert!(!stage.log().contains("at the next start"), "{}", stage.log());
        }
        server.stop();
        seen
    });
    assert_eq!(seen[0], seen[1]);
    assert!(
        seen[0][8..]
            .concat()
            .contains("namingContexts: dc=srv,dc=world")
    );
}

/// The requester keeps the way in which he has bound.
#[test]
fn nobody_locks_himself_out_of_a_new_bind() {
    if !is_ours() {
        return;
    }
    let stage = Stage::new("configuring-again");
    let folder = configured(&stage);
    let socket = stage.text("ldapi").replace('/', "%2F");
    let url = format!("ldapi://{socket}");
    let server = stage.start_by(["-F", &folder], &[&url]);
    let by_password = |options: &[&str], text: &str| {
        answer(&server.client_as(ADMIN, "ldapmodify", options, text))
    };
    let by_socket = |text: &str| {
        let mut modify = Command::new("ldapmodify");
        modify.args(["-Q", "-Y", "EXTERNAL", "-H", &url]);
        answer(&ran(&mut modify, text))
    };
    let locked_out = |answer: &str| {
        let begin = "53 additional info: you could not change cn=config any more";
        answer.starts_with(begin)
    };
    let no_simple =
        "dn: cn=config\nchangetype: modify\nreplace: olcDisallows\nolcDisallows: bind_simple\n";
    let no_password =
        "dn: olcDatabase={0}config,cn=config\nchangetype: modify\ndelete: olcRootPW\n";
    let other_password = "dn: olcDatabase={0}config,cn=config\nchangetype: modify\nreplace: olcRootPW\nolcRootPW: conf\n";
    let no_peer = "dn: cn=config\nchangetype: modify\nreplace: olcAuthzRegexp\nolcAuthzRegexp: gidNumber=0.* cn=nobody\n";
    for change in [no_simple, no_password] {
        let refused = by_password(&[], change);
        assert!(locked_out(&refused), "{change}: {refused}");
    }
    assert_eq!(by_password(&[], other_password), "0 ");
    let grant = "dn: olcDatabase={0}config,cn=config\nchangetype: modify\nreplace: olcAccess\n\
        olcAccess: to * by dn.exact=gidNumber=0+uidNumber=0,cn=peercred,cn=external,cn=auth manage by * break\n";
    assert_eq!(by_password(&[], grant), "0 ");
    if rustix::process::geteuid().is_root() {
        let refused = by_socket(no_peer);
        assert!(locked_out(&refused), "{refused}");
        // He came by another way, which stays open.
        assert_eq!(by_socket(no_simple), "0 ");
        let back = "dn: cn=config\nchangetype: modify\ndelete: olcDisallows\n";
        assert_eq!(by_socket(back), "0 ");
    }
    assert_eq!(by_password(&[], no_peer), "0 ");
    assert_eq!(by_password(&["-e", "relax"], no_simple), "0 ");
    server.stop();
}

/// An update and the deletion of its definitions, at the same time: one of them is refused.
#[test]
fn values_never_outlive_their_definitions() {
    if !is_ours() {
        return;
    }
    let stage = Stage::new("configuring-definitions");
    let folder = configured(&stage);
    let server = stage.start_by_directory(&folder);
    let two = "dn: olcDatabase=mdb,cn=config\nchangetype: add\nobjectClass: olcDatabaseConfig\n\
         objectClass: olcMdbConfig\nolcDatabase: mdb\nolcSuffix: dc=two\nolcDbDirectory: %/db2\n\
         olcDbMaxSize: 33554432\nolcRootDN: cn=admin,dc=two\nolcRootPW: two\n";
    assert_eq!(change(&stage, &server, two), "0 ");
    let person = ("cn=admin,dc=two", "two");
    let top = "dn: dc=two\nobjectClass: dcObject\nobjectClass: organization\ndc: two\no: x\n";
    server.client_as(person, "ldapadd", &[], top).well();
    let mut outcomes = BTreeSet::new();
    for round in 0..40 {
        let oid = format!("1.3.6.1.4.1.4203.666.77.{round}");
        let definitions = format!(
            "dn: cn=race{round},cn=schema,cn=config\nchangetype: add\nobjectClass: olcSchemaConfig\n\
             cn: race{round}\nolcAttributeTypes: ( {oid}.1 NAME 'race{round}' SUP name )\n\
             olcObjectClasses: ( {oid}.2 NAME 'racing{round}' AUXILIARY MAY race{round} )\n"
        );
        assert_eq!(change(&stage, &server, &definitions), "0 ");
        let number = tree(&stage, &server);
        let dn = number
            .keys()
            .find(|dn| dn.contains(&format!("race{round},")));
        let dn = dn
            .expect("the new entry")
            .trim_start_matches("dn: ")
            .to_owned();
        let (deleted, added) = std::thread::scope(|scope| {
            // Both programs take about the same time to start.
            let adding = scope.spawn(|| {
                let entry = format!(
                    "dn: ou=race{round},dc=two\nobjectClass: organizationalUnit\n\
                     objectClass: racing{round}\nou: race{round}\nrace{round}: value\n"
                );
                server.client_as(person, "ldapadd", &[], &entry).status
            });
            let deleted = server.client_as(ADMIN, "ldapdelete", &[&dn], "").status;
            (deleted, adding.join().expect("the other thread"))
        });
        assert!(deleted != 0 || added != 0, "both in round {round}");
        outcomes.insert(added == 0);
    }
    println!("values were stored: {outcomes:?}");
    server.kill();
    stage.start_by_directory(&folder).stop();
}

/// Changes of a directory without a server, and the way back.
#[test]
fn changes_without_a_server() {
    if !is_ours() {
        return;
    }
    let stage = Stage::new("configuring-offline");
    let folder = configured(&stage);
    let texts = || {
        let cat = stage.tool_by_directory("c", &folder, &["-n0", "-o", "ldif-wrap=no"]);
        entries(&stage, &cat.well())
    };
    let config = |arguments: &[&str], input: &str| {
        let mut command = fulgurite_conformance::fulgurite();
        command
            .arg("config")
            .arg(arguments[0])
            .args(["-F", &folder]);
        ran(command.args(&arguments[1..]), input)
    };
    let changes = format!(
        "dn: {DATABASE}\nchangetype: modify\nadd: olcDbIndex\nolcDbIndex: sn eq\n\n\
         dn: cn=config\nchangetype: modify\nreplace: olcThreads\nolcThreads: 3\n\n\
         dn: cn=config\nchangetype: modify\nreplace: olcLogLevel\nolcLogLevel: x\n\n\
         dn: cn=own,cn=schema,cn=config\nchangetype: add\nobjectClass: olcSchemaConfig\ncn: own\n\
         olcAttributeTypes: ( 1.3.6.1.4.1.4203.666.88.1 NAME 'offline' SUP name )\n"
    );
    let before = texts();
    let trial = config(&["apply", "--dry-run", "-"], &changes);
    let said = trial.with_status(1);
    for line in [
        "olcDatabase={1}mdb,cn=config: at once",
        "cn=config: at the next start: threads (\"3\" instead of",
        "line 11: cn=config: refused: other (80)",
        "<olcLogLevel> unknown level",
        "cn={4}own,cn=schema,cn=config: at once",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert_eq!(texts(), before);
    // The first refusal ends it.
    config(&["apply", "-"], &changes).with_status(1);
    let two = texts();
    let changed = differences(&two, &before);
    assert_eq!(changed.len(), 2, "{changed:?}");
    let modify = stage.file(
        "modify.ldif",
        "dn: cn=config\nchangetype: modify\nreplace: olcIdleTimeout\nolcIdleTimeout: 9\n",
    );
    let three = stage.tool_by_directory("m", &folder, &["-n0", "-l", &modify]);
    three.well();
    // A server has the directory for itself.
    let server = stage.start_by_directory(&folder);
    assert!(tree(&stage, &server)["dn: cn=config"].contains(&"olcIdleTimeout: 9".to_owned()));
    let refused = config(&["undo"], "").with_status(1);
    assert!(
        refused.contains("is in use") && refused.contains("stop it, undo, and start it again"),
        "{refused}"
    );
    let refused = config(&["apply", &modify], "").with_status(1);
    let advice = format!("ldapmodify -Y EXTERNAL -H ldapi:/// -f {modify} (with -e '!noop'");
    assert!(refused.contains(&advice), "{refused}");
    config(&["apply", "--dry-run", &modify], "").well();
    change(
        &stage,
        &server,
        "dn: cn=config\nchangetype: modify\nreplace: olcIdleTimeout\nolcIdleTimeout: 8\n",
    );
    server.kill();
    let listed = config(&["undo", "--list"], "").well();
    assert_eq!(listed.lines().count(), 4, "{listed}");
    for _ in 0..2 {
        let undone = config(&["undo"], "").well();
        assert_eq!(undone, "cn=config: as before\n");
    }
    assert_eq!(texts(), two);
    config(&["undo"], "").well();
    config(&["undo"], "").well();
    assert_eq!(texts(), before);
    let none = config(&["undo"], "").with_status(1);
    assert!(none.contains("no earlier state"), "{none}");
    stage.start_by_directory(&folder).stop();
    let slapd = Stage::with_original("configuring-offline-reader");
    slapd
        .tool_by_directory("t", &folder, &["-u"])
        .with_status(0);
}

/// A configuration as TOML serves the same tree of settings.
#[test]
fn a_directory_becomes_a_file() {
    if !is_ours() {
        return;
    }
    let stage = Stage::new("configuring-convert");
    let folder = configured(&stage);
    let mut convert = fulgurite_conformance::fulgurite();
    let toml = ran(convert.args(["config", "convert", "-F", &folder]), "").well();
    let file = stage.file("converted.toml", &toml);
    let shown = |arguments: &[&str]| {
        let mut show = fulgurite_conformance::fulgurite();
        let text = ran(show.args(["config", "show"]).args(arguments), "").well();
        let lines = text.lines().map(|line| {
            let value = line.split("    # ").next().unwrap_or(line);
            value.to_owned()
        });
        lines.collect::<BTreeSet<_>>()
    };
    let (before, after) = (
        shown(&["--resolved", "-F", &folder]),
        shown(&["--resolved", &file]),
    );
    let lost: Vec<_> = before.symmetric_difference(&after).collect();
    assert!(lost.is_empty(), "{lost:?}");
    assert!(
        toml.contains("# ") && toml.contains("[[database]]"),
        "{toml}"
    );
}
