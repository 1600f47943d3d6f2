//! A configuration that comes piece by piece. We make the entries that slapadd makes, and the real
//! slaptest accepts them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use fulgurite_config::{ConfigAddition, Settings};
use fulgurite_server::{check_settings, check_unfinished_settings};

use super::{find_slapd, slapd_tool};

#[test]
fn pieces_make_the_entries_that_slapd_makes() {
    let slapd = find_slapd();
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let (theirs, ours, data) = (place("theirs"), place("ours"), place("data"));
    for made in [&theirs, &ours, &data] {
        fs::create_dir(made).unwrap();
    }
    let root = slapd.display();
    let pieces = [
        "dn: cn=config\nobjectClass: olcGlobal\ncn: config\n".to_owned(),
        format!(
            "dn: cn=module,cn=config\nobjectClass: olcModuleList\ncn: module\n\
             olcModulePath: {root}/usr/lib/ldap\nolcModuleLoad: back_mdb.so\n"
        ),
        // No schema defines dc yet.
        format!(
            "dn: olcDatabase=mdb,cn=config\nobjectClass: olcDatabaseConfig\nobjectClass: olcMdbConfig\n\
             olcDatabase: mdb\nolcSuffix: dc=example,dc=com\nolcRootDN: cn=admin,dc=example,dc=com\n\
             olcDbDirectory: {}\n",
            data.display()
        ),
        format!("include: file://{root}/etc/ldap/schema/core.ldif\n"),
    ];
    for (at, piece) in pieces.iter().enumerate() {
        let file = place("piece.ldif");
        fs::write(&file, piece).unwrap();
        let arguments = [
            "-n0".as_ref(),
            "-F".as_ref(),
            theirs.as_os_str(),
            "-l".as_ref(),
            file.as_os_str(),
        ];
        let outcome = slapd_tool(&slapd, "slapadd", &arguments);
        assert!(outcome.success(), "piece {at}: {outcome:?}");

        let addition = ConfigAddition::read(&ours, piece.clone().into_bytes()).unwrap();
        let settings = Settings::new(addition.layer().unwrap()).unwrap();
        check_unfinished_settings(&settings).unwrap();
        addition.keep().unwrap();
        // slapd makes cn=schema at its next run.
        if at > 0 {
            assert_eq!(files(&ours), files(&theirs), "piece {at}");
        }
    }
    let arguments = ["-u".as_ref(), "-F".as_ref(), ours.as_os_str()];
    let accepted = slapd_tool(&slapd, "slaptest", &arguments);
    assert!(accepted.success(), "{accepted:?}");
    let layer = fulgurite_config::Layer::from_config_dir(&theirs).unwrap();
    check_settings(&Settings::new(layer).unwrap()).unwrap();
}

/// Returns the names of all files below a folder.
fn files(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            let inner = files(&path).into_iter();
            found.extend(inner.map(|file| format!("{name}/{file}")));
        } else {
            found.insert(name);
        }
    }
    found
}
