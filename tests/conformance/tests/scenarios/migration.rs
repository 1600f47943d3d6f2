//! `fulgurite migrate` takes over what Debian's slapd has: its configuration with overlays, and its
//! data. The answers of both servers are the same.

use std::path::Path;
use std::process::Command;

use crate::data::{PASSWORD, ROOT, SUFFIX};
use crate::stage::{Ran, Running, Stage, ran};

const BASE: &str = "dn: dc=example,dc=com\nobjectClass: dcObject\nobjectClass: organization\ndc: example\n\
    o: x\n";

const OVERLAYS: &str = "overlay memberof\nmemberof-refint TRUE\n\
    overlay refint\nrefint_attributes manager\n\
    overlay unique\nunique_uri ldap:///?uid?sub\n\
    overlay ppolicy\nppolicy_default cn=default,dc=example,dc=com\n";

const MODULES: &str = "moduleload memberof.so\nmoduleload refint.so\nmoduleload unique.so\n\
    moduleload ppolicy.so\n";

const POLICY: &str = "dn: cn=default,dc=example,dc=com\nobjectClass: device\nobjectClass: pwdPolicy\n\
    cn: default\npwdAttribute: userPassword\npwdLockout: TRUE\npwdMaxFailure: 5\n";

const PEOPLE: &str = "dn: uid=ann,dc=example,dc=com\nobjectClass: inetOrgPerson\nuid: ann\ncn: Ann\nsn: A\n\
    userPassword: secret of ann\n\n\
    dn: uid=bob,dc=example,dc=com\nobjectClass: inetOrgPerson\nuid: bob\ncn: Bob\nsn: B\n\
    manager: uid=ann,dc=example,dc=com\n\n\
    dn: cn=staff,dc=example,dc=com\nobjectClass: groupOfNames\ncn: staff\n\
    member: uid=ann,dc=example,dc=com\nmember: uid=bob,dc=example,dc=com\n";

fn migrate(arguments: &[&str]) -> Ran {
    let mut command = Command::new(fulgurite_conformance::program());
    ran(command.arg("migrate").args(arguments), "")
}

/// Asks what an application asks.
fn answers(server: &Running<'_>) -> Vec<String> {
    let ask = |filter: &str, names: &[&str]| {
        let found = server.search(&[&[filter][..], names].concat());
        let mut lines: Vec<&str> = found.lines().collect();
        lines.sort_unstable();
        lines.join("\n")
    };
    let ann = ("uid=ann,dc=example,dc=com", "secret of ann");
    let whoami = server.client_as(ann, "ldapwhoami", &[], "");
    vec![
        ask("(objectClass=*)", &[]),
        ask("(uid=ann)", &["memberOf", "pwdChangedTime"]),
        ask("(memberOf=cn=staff,dc=example,dc=com)", &["memberOf"]),
        whoami.out,
    ]
}

#[test]
fn a_server_with_overlays_is_taken_over() {
    let stage = Stage::with_original("migration");
    let database = stage.database("db", SUFFIX, &format!("index uid,cn eq\n{OVERLAYS}"));
    stage.configure(&format!("{MODULES}{database}"));
    stage.add(BASE).well();
    let server = stage.start();
    let added = format!("{POLICY}\n{PEOPLE}");
    server.root("ldapadd", &[], &added).well();
    let wrong = ("uid=bob,dc=example,dc=com", "guess");
    server
        .client_as(wrong, "ldapwhoami", &[], "")
        .with_status(49);
    let before = answers(&server);
    server.stop();
    let folder = stage.text("slapd.d");
    std::fs::create_dir(&folder).expect("make the directory");
    stage.tool("t", &["-F", &folder], "").well();

    let said = migrate(&["-F", &folder]).well();
    for line in [
        "works     database dc=example,dc=com in ",
        "differs   overlay memberof of dc=example,dc=com: ",
        "differs   overlay ppolicy of dc=example,dc=com: ",
    ] {
        assert!(said.contains(line), "{line} in {said}");
    }
    assert!(
        !said.contains("left out") && !said.contains("missing"),
        "{said}"
    );
    let new = stage.text("new");
    let said = migrate(&["-F", &folder, "--to", &new]).well();
    let entries = stage.cat().matches("\ndn:").count() + 1;
    assert!(
        said.contains(&format!("{entries} entries copied and compared, 0 differ")),
        "{said}"
    );
    assert!(
        said.contains("values of memberOf: 2 in OpenLDAP, 2 from the groups, 0 differ"),
        "{said}"
    );
    let ours = Stage::new("migrated");
    let configuration = format!("{new}/slapd.d");
    let server = ours.start_by(["-F", &configuration], &[]);
    assert_eq!(answers(&server), before);
    // Overlays work on: a name in use is refused, references follow.
    let twin =
        "dn: cn=twin,dc=example,dc=com\nobjectClass: inetOrgPerson\nuid: ann\ncn: twin\nsn: T\n";
    server.root("ldapadd", &[], twin).with_status(19);
    let rename = ["uid=ann,dc=example,dc=com", "uid=anna"];
    server
        .root("ldapmodrdn", &[&["-r"][..], &rename].concat(), "")
        .well();
    let staff = server.search(&["(cn=staff)", "member"]);
    assert!(
        staff.contains("uid=anna,") && !staff.contains("uid=ann,"),
        "{staff}"
    );
    server.stop();
    // A second run changes nothing, also without that folder.
    let said = migrate(&["-F", &folder, "--to", &new]).with_status(1);
    assert!(said.contains("exists already"), "{said}");
    std::fs::rename(stage.path("new/slapd.d"), stage.path("kept")).expect("move a folder");
    let said = migrate(&["-F", &folder, "--to", &new]).with_status(1);
    assert!(said.contains("db1 exists already"), "{said}");
    assert!(stage.path("new/db1/data.mdb").exists());
    assert!(!stage.path("new/slapd.d").exists());
    // Nor does it touch OpenLDAP's own data.
    let theirs = stage.cat();
    std::fs::rename(stage.path("db"), stage.path("db1")).expect("move the data");
    let here = stage.text("");
    let from = stage.text("db1");
    let arguments = ["-F", &folder, "--from", &from, "--to", &here];
    migrate(&arguments).with_status(1);
    std::fs::rename(stage.path("db1"), stage.path("db")).expect("move the data back");
    assert_eq!(stage.cat(), theirs);
}

/// Takes a stopped server over. Returns the folder of the new configuration.
fn taken_over(stage: &Stage, configuration: [&str; 2]) -> String {
    let new = stage.text("new");
    let said = migrate(&configuration).well();
    assert!(!said.contains("missing"), "{said}");
    let said = migrate(&[&configuration[..], &["--to", &new]].concat()).well();
    assert!(said.contains("copied and compared, 0 differ"), "{said}");
    format!("{new}/slapd.d")
}

/// The configuration that Debian's package installs, filled by LDAP.
#[test]
fn debians_own_configuration_is_taken_over() {
    let stage = Stage::with_original("migration-debian");
    let distribution = stage.distribution();
    let init = format!("{distribution}/usr/share/slapd/slapd.init.ldif");
    let init = std::fs::read_to_string(init).expect("Debian's file");
    let words = [
        (
            "file:///etc/ldap",
            format!("file://{distribution}/etc/ldap"),
        ),
        ("/usr/lib/ldap", format!("{distribution}/usr/lib/ldap")),
        ("/var/lib/ldap", stage.text("db")),
        ("/var/run/slapd", stage.text("")),
        ("@SUFFIX@", SUFFIX.to_owned()),
        ("@PASSWORD@", PASSWORD.to_owned()),
    ];
    let text = words
        .iter()
        .fold(init, |text, (word, value)| text.replace(word, value));
    let file = stage.file("init.ldif", &text);
    let folder = stage.text("slapd.d");
    for path in [&folder, &stage.text("db")] {
        std::fs::create_dir(path).expect("make the directory");
    }
    stage
        .tool_by_directory("a", &folder, &["-n", "0", "-l", &file])
        .well();
    let root = ("cn=admin,dc=example,dc=com", PASSWORD);
    let asked = |server: &Running<'_>| {
        let everything = ["-LLL", "-b", SUFFIX, "*", "+"];
        let whole = server.client_as(root, "ldapsearch", &everything, "").well();
        let mut lines: Vec<&str> = whole.lines().collect();
        lines.sort_unstable();
        let change = "dn: uid=bob,dc=example,dc=com\nchangetype: delete\n";
        let ann = ("uid=ann,dc=example,dc=com", "secret of ann");
        let refused = server.client_as(ann, "ldapmodify", &[], change).status;
        (lines.join("\n"), answers(server), refused)
    };
    let server = stage.start_by_directory(&folder);
    let people = format!("{BASE}\n{PEOPLE}");
    server.client_as(root, "ldapadd", &[], &people).well();
    let before = asked(&server);
    assert!(
        before.0.contains("userPassword") && before.2 == 50,
        "{before:?}"
    );
    server.stop();
    let configuration = taken_over(&stage, ["-F", &folder]);
    // Scripts find the values as they were, such as "cn,uid eq", and slapd reads them.
    let print = |folder: &str| {
        stage
            .tool_by_directory("c", folder, &["-n", "0", "-o", "ldif-wrap=no"])
            .well()
    };
    let (old, new) = (stage.path("db"), stage.path("new/db1"));
    let new = new.canonicalize().expect("the path of the copy");
    let directory = |path: &Path| format!("olcDbDirectory: {}\n", path.display());
    let printed = print(&folder);
    assert!(printed.contains("olcDbIndex: cn,uid eq\n"), "{printed}");
    let printed = printed.replace(&directory(&old), &directory(&new));
    assert_eq!(print(&configuration), printed);
    let ours = Stage::new("migrated-debian");
    let server = ours.start_by_directory(&configuration);
    assert_eq!(asked(&server), before);
    server.stop();
}

/// A slapd.conf with five overlays and two databases.
#[test]
fn a_file_with_overlays_and_two_databases_is_taken_over() {
    let stage = Stage::with_original("migration-file");
    let overlays = format!("{OVERLAYS}overlay constraint\nconstraint_attribute title size 5\n");
    let first = stage.database("db", SUFFIX, &format!("index uid,cn,member eq\n{overlays}"));
    let second = stage.database("partner", "o=partner", "").replace(
        &format!("rootdn \"{ROOT}\""),
        "rootdn \"cn=Manager,o=partner\"",
    );
    let modules = format!("{MODULES}moduleload constraint.so\n");
    stage.configure(&format!("{modules}{first}{second}"));
    stage.add(BASE).well();
    let partner = "dn: o=partner\nobjectClass: organization\no: partner\n";
    let file = stage.file("partner.ldif", partner);
    stage
        .tool("a", &["-b", "o=partner", "-l", &file], "")
        .well();
    let server = stage.start();
    let added = format!("{POLICY}\n{PEOPLE}");
    server.root("ldapadd", &[], &added).well();
    let long =
        "dn: uid=bob,dc=example,dc=com\nchangetype: modify\nreplace: title\ntitle: too long\n";
    let asked = |server: &Running<'_>| {
        let partner = server.client("ldapsearch", &["-LLL", "-b", "o=partner"], "");
        let refused = server.root("ldapmodify", &[], long);
        (answers(server), partner.out, refused.status)
    };
    let before = asked(&server);
    assert!(
        before.1.contains("o: partner") && before.2 == 19,
        "{before:?}"
    );
    server.stop();
    let file = stage.text("slapd.conf");
    let configuration = taken_over(&stage, ["-f", &file]);
    let ours = Stage::new("migrated-file");
    let server = ours.start_by_directory(&configuration);
    assert_eq!(asked(&server), before);
    server.stop();
}

/// The server shows its own log, so the old entries would never be seen.
#[test]
fn entries_of_slapds_log_are_left_out() {
    let stage = Stage::with_original("migration-log");
    let overlay = "overlay accesslog\nlogdb cn=log\nlogops writes\nlogsuccess TRUE\n";
    let log = stage.database("changes", "cn=log", "");
    let log = log.replace(&format!("rootpw {PASSWORD}\n"), "");
    let database = stage.database("db", SUFFIX, &format!("index uid eq\n{overlay}"));
    stage.configure(&format!("moduleload accesslog.so\n{log}{database}"));
    let base = stage.file("base.ldif", BASE);
    stage.tool("a", &["-b", SUFFIX, "-l", &base], "").well();
    let server = stage.start();
    server.root("ldapadd", &[], PEOPLE).well();
    server.stop();
    let file = stage.text("slapd.conf");
    let new = stage.text("new");
    let said = migrate(&["-f", &file, "--to", &new]).well();
    for line in [
        "left out  database cn=log: shows the log of changes, and slapd's own entries are not copied",
        "differs   overlay accesslog of dc=example,dc=com: ",
        "db2: dc=example,dc=com: 4 entries copied and compared, 0 differ",
    ] {
        assert!(said.contains(line), "{line} in {said}");
    }
    assert!(!said.contains("db1:"), "{said}");
    let ours = Stage::new("migrated-log");
    let server = ours.start_by_directory(&format!("{new}/slapd.d"));
    let logged = |server: &Running<'_>| {
        let found = server.root("ldapsearch", &["-LLL", "-b", "cn=log", "reqDN"], "");
        found.well().matches("reqDN:").count()
    };
    assert_eq!(logged(&server), 0);
    let deletion = "uid=bob,dc=example,dc=com";
    server.root("ldapdelete", &[deletion], "").well();
    assert_eq!(logged(&server), 1);
    server.stop();
}

#[test]
fn one_run_lists_everything_that_is_missing() {
    let stage = Stage::with_original("migration-missing");
    let database = stage.database("db", SUFFIX, "");
    stage.configure(&database);
    stage.add(&format!("{BASE}\n{PEOPLE}")).well();
    let more = "overlay dds\ndds-max-ttl 90000\n\
        overlay translucent\nsizelimit few\n";
    stage.configure(&format!("moduleload nothing.so\n{database}{more}"));
    let file = stage.text("slapd.conf");
    let said = migrate(&["-f", &file]).with_status(1);
    let lines = |begin: &str| said.lines().filter(|line| line.starts_with(begin)).count();
    assert_eq!((lines("missing"), lines("left out")), (3, 1), "{said}");
    assert!(said.contains("dynamic entries would not expire"), "{said}");
    assert!(said.contains("--leave-out-missing"), "{said}");
    let new = stage.text("new");
    migrate(&["-f", &file, "--to", &new]).with_status(1);
    assert!(!stage.path("new").exists());
    let said = migrate(&["-f", &file, "--to", &new, "--leave-out-missing"]).well();
    assert!(said.contains(" 0 differ"), "{said}");
    // slapd stored no memberOf, and the group names two.
    let ours = Stage::new("migrated-missing");
    let configuration = format!("{new}/slapd.d");
    ours.start_by(["-F", &configuration], &[]).stop();
}

#[test]
fn a_stale_member_of_is_reported() {
    let stage = Stage::with_original("migration-stale");
    let database = stage.database("db", SUFFIX, "");
    stage.configure(&format!(
        "moduleload memberof.so\n{database}overlay memberof\n"
    ));
    stage.add(BASE).well();
    let server = stage.start();
    server.root("ldapadd", &[], PEOPLE).well();
    server.stop();
    // Without the overlay, slapd lets the group change and the members stay.
    stage.configure(&database);
    let server = stage.start();
    let change = "dn: cn=staff,dc=example,dc=com\nchangetype: modify\ndelete: member\n\
        member: uid=bob,dc=example,dc=com\n";
    server.root("ldapmodify", &[], change).well();
    server.stop();
    stage.configure(&format!(
        "moduleload memberof.so\n{database}overlay memberof\n"
    ));
    let new = stage.text("new");
    let said = migrate(&["-f", &stage.text("slapd.conf"), "--to", &new]).well();
    assert!(
        said.contains("values of memberOf: 2 in OpenLDAP, 1 from the groups, 1 differ"),
        "{said}"
    );
    assert!(
        said.contains("uid=bob,dc=example,dc=com: OpenLDAP lists cn=staff,dc=example,dc=com"),
        "{said}"
    );
}

#[test]
fn without_the_overlay_stored_values_are_kept() {
    let stage = Stage::with_original("migration-kept");
    let database = stage.database("db", SUFFIX, "");
    stage.configure(&format!(
        "moduleload memberof.so\n{database}overlay memberof\n"
    ));
    stage.add(BASE).well();
    let server = stage.start();
    server.root("ldapadd", &[], PEOPLE).well();
    server.stop();
    stage.configure(&database);
    let new = stage.text("new");
    let said = migrate(&["-f", &stage.text("slapd.conf"), "--to", &new]).well();
    assert!(!said.contains("values of memberOf"), "{said}");
    let ours = Stage::new("migrated-kept");
    let configuration = format!("{new}/slapd.d");
    let server = ours.start_by(["-F", &configuration], &[]);
    let ann = server.search(&["(uid=ann)", "memberOf"]);
    assert!(ann.contains("memberOf: cn=staff,"), "{ann}");
    server.stop();
}
