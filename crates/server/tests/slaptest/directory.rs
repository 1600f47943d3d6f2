//! Directories of `cn=config`: those that slaptest writes, read by us, and ours, read by slaptest.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fulgurite_config::{ConfigEntry, Layer, Settings};

use super::{find_slapd, slaptest_with};

const WHOLE: &str = r#"pidfile /run/slapd.pid
loglevel stats sync
sizelimit 10
timelimit time.soft=20 time.hard=unlimited
threads 5
idletimeout 30
allow bind_v2
disallow tls_authc
security ssf=1 tls=5
require LDAPv3
authz-regexp "uid=([^,]*),cn=.*" "uid=$1,dc=example,dc=com"
authz-policy to
sasl-secprops noplain,minssf=5
referral ldap://elsewhere.example.com
serverID 1
access to dn.subtree="dc=glob" by * read
database mdb
suffix "dc=example,dc=com"
rootdn "cn=admin,dc=example,dc=com"
rootpw {SSHA}c2VjcmV0c2VjcmV0c2VjcmV0c2FsdA==
index cn,sn eq,sub
index uid pres
access to dn.base="cn=a b,dc=example,dc=com" by users read
access to * by self write by users read by * none
limits users size.soft=5 time=unlimited
maxsize 10485760
maxderefdepth 7
lastmod off
restrict delete
database monitor
database config
rootpw secret
"#;

fn configuration(slapd: &Path, data: &Path) -> String {
    let root = slapd.display();
    let text = WHOLE.replace(
        "rootdn \"cn=admin",
        &format!("directory {}\nrootdn \"cn=admin", data.display()),
    );
    format!(
        "include {root}/etc/ldap/schema/core.schema\nmodulepath {root}/usr/lib/ldap\nmoduleload back_mdb.so\n\
         moduleload back_monitor.so\n{text}"
    )
}

/// Attributes whose values mean the same but are not written the same, or that only one of the two
/// has.
const SPELLED_OTHERWISE: &[&str] = &[
    // slapd writes rules in its own spelling: two spaces, "+0" for none, resolved access.
    "olcAccess",
    "olcLimits",
    // Passwords are left out of what is shown, and slapd's own lines for all kinds of defaults are
    // not ours.
    "olcTLSProtocolMin",
    // Without being told, slapd waits for ever, we do not.
    "olcWriteTimeout",
    "objectClass",
    "olcDbMaxReaders",
    "olcSizeLimit",
    "olcTimeLimit",
    // Attributes of the config database that slapd shows although no setting sets them.
    "olcAddContentAcl",
    "olcReadOnly",
    "olcMonitoring",
    "olcMaxDerefDepth",
    // Schema is compared by how many entries there are.
    "olcAttributeTypes",
    "olcObjectClasses",
];

fn by_name(settings: &Settings) -> BTreeMap<String, ConfigEntry> {
    let entries = settings.config_entries(true).into_iter();
    entries.map(|entry| (entry.dn.clone(), entry)).collect()
}

#[test]
fn a_conversion_by_slaptest_equals_its_source() {
    let slapd = find_slapd();
    let folder = tempfile::tempdir().unwrap();
    let (data, directory) = (folder.path().join("data"), folder.path().join("slapd.d"));
    fs::create_dir(&data).unwrap();
    fs::create_dir(&directory).unwrap();
    let file = folder.path().join("slapd.conf");
    fs::write(&file, configuration(&slapd, &data)).unwrap();
    let arguments = [
        "-f".as_ref(),
        file.as_os_str(),
        "-F".as_ref(),
        directory.as_os_str(),
    ];
    let converted = slaptest_with(&slapd, &arguments);
    assert!(directory.join("cn=config.ldif").exists(), "{converted:?}");
    let settings = |path: &Path| Settings::new(Layer::from_file(path).unwrap()).unwrap();
    let (theirs, ours) = (settings(&directory), settings(&file));
    fulgurite_server::check_settings(&theirs).unwrap();
    assert!(
        !theirs.notes.iter().any(|note| note.warning),
        "{:?}",
        theirs.notes
    );
    let (theirs, ours) = (by_name(&theirs), by_name(&ours));
    assert_eq!(
        theirs.keys().collect::<Vec<_>>(),
        ours.keys().collect::<Vec<_>>()
    );
    let mut compared = 0;
    for (name, own) in &ours {
        for (attribute, values) in &own.attributes {
            if SPELLED_OTHERWISE.contains(&attribute.as_str()) {
                continue;
            }
            let sorted = |values: &[String]| {
                let mut values = values.to_vec();
                values.sort();
                values
            };
            let their_values = theirs
                .get(name)
                .map(|entry| sorted(entry.values(attribute)));
            assert_eq!(their_values, Some(sorted(values)), "{attribute} of {name}");
            compared += 1;
        }
    }
    assert!(compared > 60, "{compared}");
}

#[test]
fn slaptest_accepts_written_configurations() {
    let slapd = find_slapd();
    let folder = tempfile::tempdir().unwrap();
    let (data, directory) = (folder.path().join("data"), folder.path().join("slapd.d"));
    fs::create_dir(&data).unwrap();
    fs::create_dir(&directory).unwrap();
    let text = configuration(&slapd, &data);
    let layer = Layer::from_slapd_conf_text(&text, &folder.path().join("slapd.conf")).unwrap();
    let settings = Settings::new(layer).unwrap();
    settings.write_config_dir(&directory).unwrap();
    let taken = slaptest_with(
        &slapd,
        &["-u".as_ref(), "-F".as_ref(), directory.as_os_str()],
    );
    assert!(taken.accepted, "{taken:?}");
}
