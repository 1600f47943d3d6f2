//! Changes of `cn=config` while the server runs. Debian's slapd gets the same ones. Results, texts
//! and entries are compared. slapd reads the directory that ours has written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use crate::data::{PASSWORD, ROOT, SUFFIX};
use crate::stage::{Ran, Running, Stage, is_ours, ran};

/// The root of the configuration.
pub(crate) const ADMIN: (&str, &str) = ("cn=admin,cn=config", "conf");

pub(crate) const DATABASE: &str = "olcDatabase={1}mdb,cn=config";

/// Attributes whose values differ in any case.
const VOLATILE: [&str; 6] = [
    "entryUUID",
    "entryCSN",
    "createTimestamp",
    "modifyTimestamp",
    "creatorsName",
    "modifiersName",
];

/// Makes a configuration directory as slapd's packages do, with slapd. Returns its path.
pub(crate) fn configured(stage: &Stage) -> String {
    let maker = Stage::with_original("configuring-maker");
    let root = stage.distribution();
    let includes: String = ["core", "cosine", "nis", "inetorgperson"]
        .map(|name| format!("include: file://{root}/etc/ldap/schema/{name}.ldif\n\n"))
        .concat();
    for folder in ["slapd.d", "db", "db2"] {
        fs::create_dir_all(stage.path(folder)).expect("make a folder");
    }
    let (db, pid) = (stage.text("db"), stage.text("slapd.pid"));
    let text = format!(
        "dn: cn=config\nobjectClass: olcGlobal\ncn: config\nolcPidFile: {pid}\n\n\
         dn: cn=schema,cn=config\nobjectClass: olcSchemaConfig\ncn: schema\n\n\
         {includes}\
         dn: cn=module{{0}},cn=config\nobjectClass: olcModuleList\ncn: module{{0}}\n\
         olcModulePath: {root}/usr/lib/ldap\nolcModuleLoad: back_mdb\n\n\
         dn: olcDatabase={{-1}}frontend,cn=config\nobjectClass: olcDatabaseConfig\n\
         objectClass: olcFrontendConfig\nolcDatabase: {{-1}}frontend\nolcSizeLimit: 500\n\
         olcAccess: {{0}}to dn.exact=\"\" by * read\n\
         olcAccess: {{1}}to dn.base=\"cn=Subschema\" by * read\n\n\
         dn: olcDatabase={{0}}config,cn=config\nobjectClass: olcDatabaseConfig\n\
         olcDatabase: {{0}}config\nolcAccess: {{0}}to * by dn.exact={ROOT} write\n\
         olcRootDN: {}\nolcRootPW: {}\n\n\
         dn: {DATABASE}\nobjectClass: olcDatabaseConfig\nobjectClass: olcMdbConfig\n\
         olcDatabase: {{1}}mdb\nolcSuffix: {SUFFIX}\nolcDbDirectory: {db}\n\
         olcDbMaxSize: 33554432\nolcRootDN: {ROOT}\nolcRootPW: {PASSWORD}\n\
         olcDbIndex: objectClass eq\nolcAccess: {{0}}to attrs=userPassword by * auth\n\
         olcAccess: {{1}}to * by * read\n",
        ADMIN.0, ADMIN.1
    );
    let file = stage.file("init.ldif", &text);
    let folder = stage.text("slapd.d");
    maker
        .tool_by_directory("a", &folder, &["-n0", "-l", &file])
        .well();
    folder
}

/// A change: its label and its LDIF, in which `@` is the database and `%` a folder of the stage.
pub(crate) type Recipe = (&'static str, &'static str);

pub(crate) const CHANGES: &[Recipe] = &[
    (
        "log level",
        "dn: cn=config\nchangetype: modify\nreplace: olcLogLevel\nolcLogLevel: stats\n",
    ),
    (
        "wrong log level",
        "dn: cn=config\nchangetype: modify\nreplace: olcLogLevel\nolcLogLevel: bogus\n",
    ),
    (
        "idle timeout",
        "dn: cn=config\nchangetype: modify\nadd: olcIdleTimeout\nolcIdleTimeout: 30\n",
    ),
    (
        "wrong idle timeout",
        "dn: cn=config\nchangetype: modify\nreplace: olcIdleTimeout\nolcIdleTimeout: x\n",
    ),
    (
        "wrong server id",
        "dn: cn=config\nchangetype: modify\nreplace: olcServerID\nolcServerID: 9999\n",
    ),
    (
        "size limit",
        "dn: @\nchangetype: modify\nreplace: olcSizeLimit\nolcSizeLimit: 7\n",
    ),
    (
        "wrong size limit",
        "dn: @\nchangetype: modify\nreplace: olcSizeLimit\nolcSizeLimit: many\n",
    ),
    (
        "second size limit",
        "dn: @\nchangetype: modify\nadd: olcSizeLimit\nolcSizeLimit: 8\n",
    ),
    (
        "limits",
        "dn: @\nchangetype: modify\nadd: olcLimits\nolcLimits: users size=5\n",
    ),
    (
        "rule inserted",
        "dn: @\nchangetype: modify\nadd: olcAccess\nolcAccess: {0}to attrs=cn by * read\n",
    ),
    (
        "rule beyond the end",
        "dn: @\nchangetype: modify\ndelete: olcAccess\nolcAccess: {9}\n",
    ),
    (
        "rule deleted by number",
        "dn: @\nchangetype: modify\ndelete: olcAccess\nolcAccess: {1}\n",
    ),
    (
        "rule of another number",
        "dn: @\nchangetype: modify\ndelete: olcAccess\nolcAccess: {0}to * by * read\n",
    ),
    (
        "rule deleted by text",
        "dn: @\nchangetype: modify\ndelete: olcAccess\nolcAccess: to attrs=cn by * read\n",
    ),
    (
        "rule twice",
        "dn: @\nchangetype: modify\nadd: olcAccess\nolcAccess: to * by * read\n",
    ),
    (
        "rule replaced in place",
        "dn: @\nchangetype: modify\ndelete: olcAccess\nolcAccess: {0}\n-\nadd: olcAccess\nolcAccess: {0}to attrs=sn by * read\n",
    ),
    (
        "rules replaced",
        "dn: @\nchangetype: modify\nreplace: olcAccess\nolcAccess: {1}to  *  by *  read\nolcAccess: {0}to attrs=userPassword by * auth\n",
    ),
    (
        "index",
        "dn: @\nchangetype: modify\nadd: olcDbIndex\nolcDbIndex: mail,sn eq,sub\n",
    ),
    (
        "index twice",
        "dn: @\nchangetype: modify\nadd: olcDbIndex\nolcDbIndex: mail pres\n",
    ),
    (
        "index of nothing",
        "dn: @\nchangetype: modify\nadd: olcDbIndex\nolcDbIndex: frog eq\n",
    ),
    (
        "unknown index type",
        "dn: @\nchangetype: modify\nadd: olcDbIndex\nolcDbIndex: title frog\n",
    ),
    (
        "disallowed index",
        "dn: @\nchangetype: modify\nadd: olcDbIndex\nolcDbIndex: jpegPhoto sub\n",
    ),
    (
        "index deleted",
        "dn: @\nchangetype: modify\ndelete: olcDbIndex\nolcDbIndex: mail,sn eq,sub\n",
    ),
    (
        "index deleted twice",
        "dn: @\nchangetype: modify\ndelete: olcDbIndex\nolcDbIndex: mail,sn eq,sub\n",
    ),
    (
        "unknown attribute",
        "dn: @\nchangetype: modify\nadd: olcFoo\nolcFoo: x\n",
    ),
    (
        "attribute of another class",
        "dn: @\nchangetype: modify\nadd: description\ndescription: x\n",
    ),
    (
        "root password",
        "dn: @\nchangetype: modify\nreplace: olcRootPW\nolcRootPW: {SSHA}E7+3I/+1F6jB1t+EHa2uGZwYbAyzrdZu\n",
    ),
    (
        "map size",
        "dn: @\nchangetype: modify\nreplace: olcDbMaxSize\nolcDbMaxSize: 67108864\n",
    ),
    (
        "wrong map size",
        "dn: @\nchangetype: modify\nreplace: olcDbMaxSize\nolcDbMaxSize: many\n",
    ),
    (
        "unknown requirement",
        "dn: @\nchangetype: modify\nreplace: olcRequires\nolcRequires: frog\n",
    ),
    (
        "unknown factor",
        "dn: @\nchangetype: modify\nreplace: olcSecurity\nolcSecurity: frog=1\n",
    ),
    (
        "unknown operation",
        "dn: @\nchangetype: modify\nreplace: olcRestrict\nolcRestrict: frog\n",
    ),
    (
        "wrong truth value",
        "dn: @\nchangetype: modify\nreplace: olcReadOnly\nolcReadOnly: maybe\n",
    ),
    (
        "unknown flag",
        "dn: @\nchangetype: modify\nadd: olcDbEnvFlags\nolcDbEnvFlags: bogus\n",
    ),
    (
        "name changed",
        "dn: @\nchangetype: modify\nreplace: olcDatabase\nolcDatabase: {1}frog\n",
    ),
    (
        "class added",
        "dn: @\nchangetype: modify\nadd: objectClass\nobjectClass: olcConfig\n",
    ),
    (
        "missing database",
        "dn: olcDatabase={7}mdb,cn=config\nchangetype: modify\nreplace: olcSizeLimit\nolcSizeLimit: 7\n",
    ),
    (
        "missing attribute",
        "dn: @\nchangetype: modify\ndelete: olcTimeLimit\n",
    ),
    (
        "kept attribute",
        "dn: @\nchangetype: modify\nreplace: entryUUID\nentryUUID: 95df3e9e-7bf5-1041-83ab-935db6b2c143\n",
    ),
    (
        "hash",
        "dn: olcDatabase={-1}frontend,cn=config\nchangetype: modify\nreplace: olcPasswordHash\nolcPasswordHash: {SSHA}\n",
    ),
    (
        "unknown hash",
        "dn: olcDatabase={-1}frontend,cn=config\nchangetype: modify\nreplace: olcPasswordHash\nolcPasswordHash: {FOO}\n",
    ),
    (
        "mapping",
        "dn: cn=config\nchangetype: modify\nadd: olcAuthzRegexp\nolcAuthzRegexp: uid=([^,]*),cn=auth uid=$1,dc=example,dc=com\n",
    ),
    (
        "part of a modify fails",
        "dn: @\nchangetype: modify\nreplace: olcSizeLimit\nolcSizeLimit: 9\n-\nadd: olcDbIndex\nolcDbIndex: frog eq\n",
    ),
];

pub(crate) const ADDITIONS: &[Recipe] = &[
    (
        "schema",
        "dn: cn=own,cn=schema,cn=config\nchangetype: add\nobjectClass: olcSchemaConfig\ncn: own\n\
      olcAttributeTypes: ( 1.3.6.1.4.1.4203.666.9.9 NAME 'shoeSize' EQUALITY integerMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 )\n\
      olcObjectClasses: ( 1.3.6.1.4.1.4203.666.9.8 NAME 'shod' SUP top AUXILIARY MAY shoeSize )\n",
    ),
    (
        "schema without superior",
        "dn: cn=own2,cn=schema,cn=config\nchangetype: add\nobjectClass: olcSchemaConfig\ncn: own2\n\
      olcAttributeTypes: ( 1.3.6.1.4.1.4203.666.9.10 NAME 'shoeSize2' SUP nosuch )\n",
    ),
    (
        "schema without attribute",
        "dn: cn=own2,cn=schema,cn=config\nchangetype: add\nobjectClass: olcSchemaConfig\ncn: own2\n\
      olcObjectClasses: ( 1.3.6.1.4.1.4203.666.9.18 NAME 'shod2' SUP top AUXILIARY MAY nosuchA )\n",
    ),
    (
        "definition",
        "dn: cn={4}own,cn=schema,cn=config\nchangetype: modify\nadd: olcAttributeTypes\n\
      olcAttributeTypes: ( 1.3.6.1.4.1.4203.666.9.11 NAME 'hatSize' EQUALITY integerMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 )\n",
    ),
    (
        "modules",
        "dn: cn=module{0},cn=config\nchangetype: modify\nadd: olcModuleLoad\nolcModuleLoad: unique\n-\nadd: olcModuleLoad\nolcModuleLoad: refint.la\n",
    ),
    (
        "another list of modules",
        "dn: cn=module,cn=config\nchangetype: add\nobjectClass: olcModuleList\ncn: module\n\
      olcModulePath: %/usr/lib/ldap\nolcModuleLoad: memberof.la\n",
    ),
    (
        "module twice",
        "dn: cn=module{0},cn=config\nchangetype: modify\nadd: olcModuleLoad\nolcModuleLoad: unique\n",
    ),
    (
        "known module in another list",
        "dn: cn=module,cn=config\nchangetype: add\nobjectClass: olcModuleList\ncn: module\n\
      olcModuleLoad: memberof.la\n",
    ),
    (
        "unique",
        "dn: olcOverlay=unique,@\nchangetype: add\nobjectClass: olcOverlayConfig\nobjectClass: olcUniqueConfig\nolcOverlay: unique\nolcUniqueURI: ldap:///?mail?sub\n",
    ),
    (
        "refint",
        "dn: olcOverlay=refint,@\nchangetype: add\nobjectClass: olcOverlayConfig\nobjectClass: olcRefintConfig\nolcOverlay: refint\nolcRefintAttribute: member\n",
    ),
    (
        "memberof before both",
        "dn: olcOverlay={0}memberof,@\nchangetype: add\nobjectClass: olcOverlayConfig\nobjectClass: olcMemberOf\nolcOverlay: {0}memberof\nolcMemberOfRefint: TRUE\n",
    ),
    (
        "overlay twice",
        "dn: olcOverlay=unique,@\nchangetype: add\nobjectClass: olcOverlayConfig\nobjectClass: olcUniqueConfig\nolcOverlay: unique\nolcUniqueURI: ldap:///?mail?sub\n",
    ),
    (
        "overlay changed",
        "dn: olcOverlay={1}unique,@\nchangetype: modify\nadd: olcUniqueURI\nolcUniqueURI: ldap:///?uid?sub\n",
    ),
    (
        "wrong overlay value",
        "dn: olcOverlay={1}unique,@\nchangetype: modify\nadd: olcUniqueURI\nolcUniqueURI: frog\n",
    ),
    (
        "overlay of no database",
        "dn: olcOverlay=unique,olcDatabase={9}mdb,cn=config\nchangetype: add\nobjectClass: olcOverlayConfig\nobjectClass: olcUniqueConfig\nolcOverlay: unique\nolcUniqueURI: ldap:///?mail?sub\n",
    ),
    (
        "database without directory",
        "dn: olcDatabase=mdb,cn=config\nchangetype: add\nobjectClass: olcDatabaseConfig\nobjectClass: olcMdbConfig\nolcDatabase: mdb\nolcSuffix: dc=two\n",
    ),
    (
        "database in a missing directory",
        "dn: olcDatabase=mdb,cn=config\nchangetype: add\nobjectClass: olcDatabaseConfig\nobjectClass: olcMdbConfig\nolcDatabase: mdb\nolcSuffix: dc=two\nolcDbDirectory: /nowhere\n",
    ),
    (
        "database of unknown type",
        "dn: olcDatabase=frog,cn=config\nchangetype: add\nobjectClass: olcDatabaseConfig\nolcDatabase: frog\nolcSuffix: dc=two\n",
    ),
    (
        "database",
        "dn: olcDatabase=mdb,cn=config\nchangetype: add\nobjectClass: olcDatabaseConfig\nobjectClass: olcMdbConfig\nolcDatabase: mdb\nolcSuffix: dc=two\nolcDbDirectory: %/db2\nolcDbMaxSize: 33554432\nolcRootDN: cn=admin,dc=two\nolcRootPW: two\n",
    ),
    (
        "second frontend",
        "dn: olcDatabase=frontend,cn=config\nchangetype: add\nobjectClass: olcDatabaseConfig\nobjectClass: olcFrontendConfig\nolcDatabase: frontend\n",
    ),
    (
        "second configuration",
        "dn: olcDatabase=config,cn=config\nchangetype: add\nobjectClass: olcDatabaseConfig\nolcDatabase: config\n",
    ),
    (
        "unknown backend",
        "dn: olcBackend=bogus,cn=config\nchangetype: add\nobjectClass: olcBackendConfig\nolcBackend: bogus\n",
    ),
    (
        "entry of another class",
        "dn: ou=frog,cn=config\nchangetype: add\nobjectClass: organizationalUnit\nou: frog\n",
    ),
    (
        "second top",
        "dn: cn=frog,cn=config\nchangetype: add\nobjectClass: olcGlobal\ncn: frog\n",
    ),
    (
        "entry below nothing",
        "dn: cn=frog,cn=toad,cn=config\nchangetype: add\nobjectClass: olcGlobal\ncn: frog\n",
    ),
];

const REMOVALS: &[Recipe] = &[
    (
        "overlay moved",
        "dn: olcOverlay={2}refint,@\nchangetype: modrdn\nnewrdn: olcOverlay={1}refint\ndeleteoldrdn: 1\n",
    ),
    (
        "overlay deleted",
        "dn: olcOverlay={0}memberof,@\nchangetype: delete\n",
    ),
    ("database with overlays", "dn: @\nchangetype: delete\n"),
    (
        "database deleted",
        "dn: olcDatabase={2}mdb,cn=config\nchangetype: delete\n",
    ),
    (
        "own database",
        "dn: olcDatabase={0}config,cn=config\nchangetype: delete\n",
    ),
    ("top", "dn: cn=config\nchangetype: delete\n"),
    (
        "type",
        "dn: @\nchangetype: modrdn\nnewrdn: olcDatabase={1}monitor\ndeleteoldrdn: 1\n",
    ),
    (
        "number of another",
        "dn: @\nchangetype: modrdn\nnewrdn: olcDatabase={0}mdb\ndeleteoldrdn: 1\n",
    ),
    (
        "place of definitions",
        "dn: cn={4}own,cn=schema,cn=config\nchangetype: modrdn\nnewrdn: cn={0}own\ndeleteoldrdn: 1\n",
    ),
];

/// Returns the code and the text of an answer.
pub(crate) fn answer(ran: &Ran) -> String {
    let kept = ran
        .err
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("additional info") || line.starts_with("matched DN"));
    let kept: Vec<&str> = kept.collect();
    format!("{} {}", ran.status, kept.join("; "))
}

pub(crate) fn change(stage: &Stage, server: &Running<'_>, text: &str) -> String {
    let text = text
        .replace('@', DATABASE)
        .replace("%/usr", &format!("{}/usr", stage.distribution()))
        .replace("%/", &format!("{}/", stage.path("").display()));
    answer(&server.client_as(ADMIN, "ldapmodify", &[], &text))
}

/// Returns the entries of the configuration without what always differs.
pub(crate) fn tree(stage: &Stage, server: &Running<'_>) -> BTreeMap<String, Vec<String>> {
    let arguments = ["-LLL", "-o", "ldif-wrap=no", "-b", "cn=config", "*"];
    let text = server.client_as(ADMIN, "ldapsearch", &arguments, "").well();
    entries(stage, &text)
}

pub(crate) fn entries(stage: &Stage, text: &str) -> BTreeMap<String, Vec<String>> {
    let own = stage.path("").display().to_string();
    let entries = text.split("\n\n").filter_map(|entry| {
        let mut lines = entry.trim().lines();
        let dn = lines.next()?.to_owned();
        let lines = lines.filter(|line| {
            let name = line.split(':').next().unwrap_or_default();
            !VOLATILE.contains(&name) && name != "structuralObjectClass"
        });
        let mut lines: Vec<String> = lines.map(|line| line.replace(&own, "STAGE/")).collect();
        lines.sort();
        Some((dn, lines))
    });
    // slapd shows its own definitions here, which no file holds.
    let entries = entries.filter(|(dn, _)| dn != "dn: cn=schema,cn=config");
    entries.collect()
}

/// Returns the lines that only one of two trees has.
pub(crate) fn differences(
    ours: &BTreeMap<String, Vec<String>>,
    theirs: &BTreeMap<String, Vec<String>>,
) -> Vec<String> {
    let names: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    let none = Vec::new();
    let lines = names.into_iter().flat_map(|dn| {
        let (a, b) = (
            ours.get(dn).unwrap_or(&none),
            theirs.get(dn).unwrap_or(&none),
        );
        let only = |from: &[String], other: &[String], label: &str| {
            let lines = from.iter().filter(|line| !other.contains(line));
            lines
                .map(|line| format!("{dn}: only {label}: {line}"))
                .collect::<Vec<_>>()
        };
        [only(a, b, "ours"), only(b, a, "slapd")].concat()
    });
    lines.collect()
}

/// A refusal of slapd without a reason: unwillingToPerform.
const SILENT: &str = "53 ";

/// Plays the recipes on both servers and compares.
pub(crate) fn compare(label: &str, parts: &[&[Recipe]]) {
    let (ours, theirs) = (
        Stage::new(&format!("configuring-{label}")),
        Stage::with_original(&format!("configuring-{label}-slapd")),
    );
    let (our_folder, their_folder) = (configured(&ours), configured(&theirs));
    let (our_server, their_server) = (
        ours.start_by_directory(&our_folder),
        theirs.start_by_directory(&their_folder),
    );
    let mut wrong = Vec::new();
    for (label, text) in parts.iter().copied().flatten() {
        let (a, b) = (
            change(&ours, &our_server, text),
            change(&theirs, &their_server, text),
        );
        // slapd gives no reason for some refusals.
        let has_reason = a != b && b == SILENT && a.starts_with(SILENT);
        if a != b && !has_reason {
            wrong.push(format!("{label}\n  ours:  {a}\n  slapd: {b}"));
        }
        let (a, b) = (tree(&ours, &our_server), tree(&theirs, &their_server));
        let different = differences(&a, &b);
        if !different.is_empty() {
            wrong.push(format!("{label}: {}", different.join("\n")));
            break;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let before = tree(&ours, &our_server);
    // Accepted changes are durable, and start again.
    our_server.kill();
    let again = ours.start_by_directory(&our_folder);
    assert_eq!(tree(&ours, &again), before);
    again.stop();
    their_server.stop();
    // slapd reads what ours has written, and shows the same.
    let slapd = Stage::with_original(&format!("configuring-{label}-reader"));
    let read = slapd.tool_by_directory("c", &our_folder, &["-n0", "-o", "ldif-wrap=no"]);
    assert!(!read.err.contains("checksum"), "{}", read.err);
    let mut read = entries(&ours, &read.well());
    let mut before = before;
    // slapcat shows passwords in base64.
    for lines in read.values_mut().chain(before.values_mut()) {
        lines.retain(|line| !line.starts_with("olcRootPW"));
    }
    assert_eq!(differences(&before, &read), [""; 0]);
    slapd
        .tool_by_directory("t", &our_folder, &["-u"])
        .with_status(0);
}

#[test]
fn values_change_as_in_slapd() {
    compare("values", &[CHANGES]);
}

#[test]
fn entries_come_and_go_as_in_slapd() {
    compare("entries", &[ADDITIONS, REMOVALS]);
}

/// The suffix entry and two persons.
pub(crate) fn people(server: &Running<'_>, root: (&str, &str)) {
    let entries = format!(
        "dn: {SUFFIX}\nobjectClass: dcObject\nobjectClass: organization\ndc: example\no: x\n\n\
         dn: cn=a,{SUFFIX}\nobjectClass: inetOrgPerson\ncn: a\nsn: a\nmail: a@example.com\n\n\
         dn: cn=b,{SUFFIX}\nobjectClass: inetOrgPerson\ncn: b\nsn: b\nmail: b@example.com\n"
    );
    server.client_as(root, "ldapadd", &[], &entries).well();
}

#[test]
fn changes_are_in_force_at_once() {
    let stage = Stage::new("configuring-force");
    let folder = configured(&stage);
    let server = stage.start_by_directory(&folder);
    let root = (ROOT, PASSWORD);
    people(&server, root);
    let make = |text: &str| {
        let answer = change(&stage, &server, text);
        assert_eq!(answer, "0 ", "{text}");
    };
    let all = ["-LLL", "-b", SUFFIX, "1.1"];
    // Limits.
    make("dn: @\nchangetype: modify\nreplace: olcSizeLimit\nolcSizeLimit: 1\n");
    server.client("ldapsearch", &all, "").with_status(4);
    make("dn: @\nchangetype: modify\ndelete: olcSizeLimit\n");
    server.client("ldapsearch", &all, "").well();
    // The root's password.
    make("dn: @\nchangetype: modify\nreplace: olcRootPW\nolcRootPW: other\n");
    server
        .client_as(root, "ldapwhoami", &[], "")
        .with_status(49);
    let root = (ROOT, "other");
    server.client_as(root, "ldapwhoami", &[], "").well();
    // Definitions.
    let shod = format!(
        "dn: cn=a,{SUFFIX}\nchangetype: modify\nadd: objectClass\nobjectClass: shod\n-\nadd: shoeSize\nshoeSize: 44\n"
    );
    server
        .client_as(root, "ldapmodify", &[], &shod)
        .with_status(21);
    make(ADDITIONS[0].1);
    server.client_as(root, "ldapmodify", &[], &shod).well();
    // An index.
    make("dn: @\nchangetype: modify\nadd: olcDbIndex\nolcDbIndex: shoeSize eq\n");
    let found = server.search(&["(shoeSize=44)", "shoeSize"]);
    assert!(found.contains("shoeSize: 44"), "{found}");
    // An overlay.
    let addition = |name| {
        let mut additions = ADDITIONS.iter();
        additions.find(|(known, _)| *known == name).expect(name).1
    };
    make(addition("modules"));
    make(addition("unique"));
    let same =
        format!("dn: cn=b,{SUFFIX}\nchangetype: modify\nreplace: mail\nmail: a@example.com\n");
    server
        .client_as(root, "ldapmodify", &[], &same)
        .with_status(19);
    make("dn: olcOverlay={0}unique,@\nchangetype: delete\n");
    server.client_as(root, "ldapmodify", &[], &same).well();
    // A database.
    make(
        "dn: olcDatabase=mdb,cn=config\nchangetype: add\nobjectClass: olcDatabaseConfig\n\
         objectClass: olcMdbConfig\nolcDatabase: mdb\nolcSuffix: dc=two\nolcDbDirectory: %/db2\n\
         olcDbMaxSize: 33554432\nolcRootDN: cn=admin,dc=two\nolcRootPW: two\nolcAccess: to * by * read\n",
    );
    let two = "dn: dc=two\nobjectClass: dcObject\nobjectClass: organization\ndc: two\no: x\n";
    let of_two = ("cn=admin,dc=two", "two");
    server.client_as(of_two, "ldapadd", &[], two).well();
    make("dn: olcDatabase={2}mdb,cn=config\nchangetype: delete\n");
    let gone = ["-LLL", "-b", "dc=two"];
    server.client("ldapsearch", &gone, "").with_status(32);
    // Rules.
    make("dn: @\nchangetype: modify\nreplace: olcAccess\nolcAccess: to * by * none\n");
    server.client("ldapsearch", &all, "").with_status(32);
    server.stop();
    let server = stage.start_by_directory(&folder);
    server.client("ldapsearch", &all, "").with_status(32);
    server.client_as(root, "ldapwhoami", &[], "").well();
    server.stop();
}

#[test]
fn tls_begins_and_ends_without_a_restart() {
    let stage = Stage::new("configuring-tls");
    let folder = configured(&stage);
    let mut certify = Command::new("openssl");
    certify.args([
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30",
    ]);
    certify.args([
        "-subj",
        "/CN=localhost",
        "-keyout",
        "key.pem",
        "-out",
        "own.pem",
    ]);
    ran(certify.current_dir(stage.path(".")), "").well();
    let server = stage.start_by_directory(&folder);
    let secured = || {
        let mut client = Command::new("ldapwhoami");
        client.env("LDAPTLS_REQCERT", "never");
        ran(client.args(["-x", "-ZZ", "-H", &server.url]), "").status
    };
    let modify = |lines: &str| {
        let text = format!("dn: cn=config\nchangetype: modify\n{lines}");
        change(&stage, &server, &text)
    };
    assert_ne!(secured(), 0);
    let missing = modify("add: olcTLSCertificateFile\nolcTLSCertificateFile: /nowhere\n");
    assert!(missing.starts_with("80 "), "{missing}");
    let files = "add: olcTLSCertificateKeyFile\nolcTLSCertificateKeyFile: %/key.pem\n-\n\
                 add: olcTLSCertificateFile\nolcTLSCertificateFile: %/own.pem\n";
    assert_eq!(modify(files), "0 ");
    assert_eq!(secured(), 0);
    if is_ours() {
        assert_eq!(modify("delete: olcTLSCertificateFile\n"), "0 ");
        assert_ne!(secured(), 0);
    }
    server.stop();
}

/// The promises of ours alone.
#[test]
fn nobody_locks_himself_out() {
    if !is_ours() {
        return;
    }
    let stage = Stage::new("configuring-access");
    let folder = configured(&stage);
    let server = stage.start_by_directory(&folder);
    let modify = |who, options: &[&str], text: &str| {
        answer(&server.client_as(who, "ldapmodify", options, text))
    };
    let of_rule = (ROOT, PASSWORD);
    let closing = "dn: olcDatabase={0}config,cn=config\nchangetype: modify\ndelete: olcAccess\n";
    let before = tree(&stage, &server);
    let refused = modify(of_rule, &[], closing);
    assert!(
        refused.starts_with("53 additional info: you could not change cn=config any more"),
        "{refused}"
    );
    // A trial changes nothing.
    let trial = "dn: cn=config\nchangetype: modify\nreplace: olcIdleTimeout\nolcIdleTimeout: 5\n";
    assert_ne!(modify(ADMIN, &["-e", "!noop"], trial), "0 ");
    let wrong = "dn: cn=config\nchangetype: modify\nreplace: olcLogLevel\nolcLogLevel: x\n";
    let wrong = modify(ADMIN, &["-e", "!noop"], wrong);
    assert_eq!(wrong, "80 additional info: <olcLogLevel> unknown level");
    assert_eq!(tree(&stage, &server), before);
    // A closed server opens again.
    for value in ["TRUE", "FALSE"] {
        let text = format!(
            "dn: olcDatabase={{0}}config,cn=config\nchangetype: modify\nreplace: olcReadOnly\nolcReadOnly: {value}\n"
        );
        assert_eq!(modify(ADMIN, &[], &text), "0 ");
    }
    let nobody = server.client("ldapmodify", &[], trial);
    assert_eq!(nobody.status, 8, "{nobody:?}");
    assert_eq!(modify(of_rule, &["-e", "relax"], closing), "0 ");
    assert_eq!(
        answer(&server.client_as(of_rule, "ldapmodify", &[], trial)),
        "50 "
    );
    // A database cannot move.
    let text = format!(
        "dn: {DATABASE}\nchangetype: modify\nreplace: olcDbDirectory\nolcDbDirectory: /tmp\n"
    );
    assert!(modify(ADMIN, &[], &text).starts_with("53 "));
    server.stop();
}

#[test]
fn what_would_be_ignored_is_refused() {
    if !is_ours() {
        return;
    }
    let stage = Stage::new("configuring-ignored");
    let folder = configured(&stage);
    let server = stage.start_by_directory(&folder);
    let before = tree(&stage, &server);
    let idle = "dn: cn=config\nchangetype: modify\nreplace: olcIdleTimeout\nolcIdleTimeout: 5\n";
    let database = "objectClass: olcDatabaseConfig";
    for (text, expected) in [
        (
            "dn: @\nchangetype: modify\nadd: olcAccess;lang-en\nolcAccess;lang-en: to * by * none\n"
                .to_owned(),
            "53 additional info: olcAccess;lang-en: attributes of the configuration",
        ),
        (
            format!(
                "dn: olcDatabase={{5}}frontend,cn=config\nchangetype: add\n{database}\n\
                 objectClass: olcFrontendConfig\nolcDatabase: {{5}}frontend\n"
            ),
            "64 ",
        ),
        (
            format!(
                "dn: olcDatabase={{5}}config,cn=config\nchangetype: add\n{database}\n\
                 olcDatabase: {{5}}config\n"
            ),
            "64 ",
        ),
        (
            "dn: cn=foo,cn=config\nchangetype: add\nobjectClass: olcModuleList\ncn: foo\n\
             olcModuleLoad: unique\n"
                .to_owned(),
            "53 additional info: cn=foo has no meaning here",
        ),
        (
            "dn: cn=include{0},cn=config\nchangetype: add\nobjectClass: olcIncludeFile\n\
             cn: include{0}\nolcInclude: %/x.conf\n"
                .to_owned(),
            "53 additional info: cn=include{0} has no meaning here",
        ),
        (
            "dn: cn=schema,cn=config\nchangetype: modify\nadd: olcAttributeTypes\n\
             olcAttributeTypes: ( 1.3.6.1.4.1.4203.666.9.12 NAME 'x' SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 )\n"
                .to_owned(),
            "53 additional info: built-in definitions cannot change",
        ),
        (
            "dn: cn=config\nchangetype: modify\nreplace: olcPidFile\nolcPidFile: /nowhere/x\n"
                .to_owned(),
            "80 additional info: olcPidFile: the directory /nowhere does not exist",
        ),
    ] {
        let answer = change(&stage, &server, &text);
        assert!(answer.starts_with(expected), "{text}: {answer}");
    }
    // Only a modify returns the entry.
    let add = format!(
        "dn: olcDatabase=mdb,cn=config\nchangetype: add\n{database}\nobjectClass: olcMdbConfig\n\
         olcDatabase: mdb\nolcSuffix: dc=two\nolcDbDirectory: {}\n",
        stage.text("db2")
    );
    let delete = "dn: cn=module{0},cn=config\nchangetype: delete\n".to_owned();
    let rename = format!(
        "dn: {DATABASE}\nchangetype: modrdn\nnewrdn: olcDatabase={{1}}mdb\ndeleteoldrdn: 1\n"
    );
    for text in [add, delete, rename] {
        for control in ["!preread", "!postread=*"] {
            let ran = server.client_as(ADMIN, "ldapmodify", &["-e", control], &text);
            assert_eq!(ran.status, 12, "{control} {text}: {ran:?}");
        }
    }
    assert_eq!(tree(&stage, &server), before);
    let ran = server.client_as(
        ADMIN,
        "ldapmodify",
        &["-e", "!postread=olcIdleTimeout"],
        idle,
    );
    assert!(ran.well().contains("olcIdleTimeout: 5"));
    // An attribute of old that is ignored does not hinder other changes.
    server.stop();
    let file = stage.path("slapd.d/cn=config.ldif");
    let text = fs::read_to_string(&file).expect("read the file");
    fs::write(&file, format!("{}\nolcFrog: x\n", text.trim_end())).expect("write the file");
    let server = stage.start_by_directory(&folder);
    assert_eq!(change(&stage, &server, &idle.replace('5', "6")), "0 ");
    server.stop();
}
