//! `cn=config` of a server that starts from a slapd.conf.

use std::fs;

use crate::data::SUFFIX;
use crate::stage::{Running, Stage};

#[test]
fn changes_of_a_file_end_with_the_server() {
    let stage = Stage::new("configuring-file");
    let database = stage.database("db", SUFFIX, "");
    stage.configure(&format!("database config\nrootpw conf\n{database}"));
    let root = ("cn=config", "conf");
    let timeout = |server: &Running<'_>| {
        let wanted = ["-LLL", "-s", "base", "-b", "cn=config", "olcIdleTimeout"];
        let ran = server.client_as(root, "ldapsearch", &wanted, "").well();
        ran.contains("olcIdleTimeout: 5")
    };
    let server = stage.start();
    let text = "dn: cn=config\nchangetype: modify\nreplace: olcIdleTimeout\nolcIdleTimeout: 5\n";
    server.client_as(root, "ldapmodify", &[], text).well();
    assert!(timeout(&server));
    let index = "dn: olcDatabase={1}mdb,cn=config\nchangetype: modify\nadd: olcDbIndex\nolcDbIndex: mail eq\n";
    server.client_as(root, "ldapmodify", &[], index).well();
    server.stop();
    let server = stage.start();
    assert!(!timeout(&server));
    server.stop();
}

#[test]
fn a_file_and_an_empty_directory_make_a_configuration_directory() {
    let stage = Stage::new("configuring-both");
    let database = stage.database("db", SUFFIX, "");
    stage.configure(&format!("database config\nrootpw conf\n{database}"));
    let folder = stage.text("slapd.d");
    let missing = stage.slapd(&["-F", &folder, "-h", "ldap://127.0.0.1:1/", "-d", "0"]);
    assert!(missing.with_status(1).contains("invalid config directory"));
    fs::create_dir(&folder).expect("make the directory");
    let both = ["-f", &stage.text("slapd.conf"), "-F", &folder];
    let server = stage.start_with(&both, &[]);
    let text = "dn: cn=config\nchangetype: modify\nreplace: olcIdleTimeout\nolcIdleTimeout: 5\n";
    let root = ("cn=config", "conf");
    server.client_as(root, "ldapmodify", &[], text).well();
    server.stop();
    let file = fs::read_to_string(stage.path("slapd.d/cn=config.ldif")).expect("the file");
    assert!(file.contains("olcIdleTimeout: 5"), "{file}");
    let again = stage.slapd(&["-F", &folder, "-h", "ldap://127.0.0.1:1/", "-d", "0"]);
    let again = again.with_status(1);
    assert!(again.contains("to be empty!"), "{again}");
    let server = stage.start_by_directory(&folder);
    server.stop();
}
