use std::fs;

use fulgurite_config::{DatabaseKind, Limit};
use tempfile::TempDir;

use super::*;

/// The variables of osixia's image, and those of Bitnami's.
const OSIXIA: (&str, &str) = ("LDAP_DOMAIN", "example.org");
const BITNAMI: (&str, &str) = ("LDAP_ROOT", "dc=example,dc=org");

/// Returns the settings of a start with these variables and these files of LDIF.
fn start(variable: (&str, &str), files: &[(&str, &str)]) -> Result<Settings, String> {
    let folder = TempDir::new().unwrap();
    let ldif = folder.path().join("ldif");
    fs::create_dir_all(ldif.join("custom")).unwrap();
    for (name, text) in files {
        fs::write(ldif.join(name), text).unwrap();
    }
    let data = folder.path().join("data").display().to_string();
    let ldif = ldif.display().to_string();
    let variables = [
        variable,
        ("LDAP_ADMIN_PASSWORD", "one"),
        ("FULGURITE_DATA", &data),
        ("FULGURITE_SEED_LDIF_DIR", &ldif),
        ("FULGURITE_LIMITS_BIND_DELAY", "4"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let settings = Layer::from_environment(variables).and_then(Settings::new);
    let first = with_seed_configuration(settings.unwrap()).map_err(|error| error.to_string())?;
    assert_eq!(*first.global.bind_delay, 4);
    assert!(first.files.is_none());
    Ok(first)
}

fn data(settings: &Settings) -> &fulgurite_config::Database {
    settings.stores().next().unwrap()
}

fn overlays(settings: &Settings) -> Vec<String> {
    let overlays = data(settings).overlays.iter();
    let shown = overlays.map(|overlay| {
        let group = overlay.last("memberof-group-oc").unwrap_or_default();
        format!("{} {group}", overlay.name).trim().to_owned()
    });
    shown.collect()
}

/// The overlay for groups that applications use, as guides write it.
const MEMBEROF: &str = "dn: cn=module{0},cn=config\nchangetype: modify\nadd: olcModuleLoad\n\
    olcModuleLoad: memberof\n\n\
    dn: olcOverlay={0}memberof,olcDatabase={1}{{ LDAP_BACKEND }},cn=config\nchangetype: add\n\
    objectClass: olcOverlayConfig\nobjectClass: olcMemberOf\nolcOverlay: {0}memberof\n\
    olcMemberOfDangling: ignore\nolcMemberOfRefInt: TRUE\nolcMemberOfGroupOC: groupOfNames\n\
    olcMemberOfMemberAD: member\nolcMemberOfMemberOfAD: memberOf\n";

#[test]
fn an_overlay_of_the_folder_replaces_that_of_the_image() {
    let own = start(OSIXIA, &[("03-memberOf.ldif", MEMBEROF)]).unwrap();
    assert_eq!(overlays(&own), ["memberof groupOfNames", "refint"]);
    let custom = start(OSIXIA, &[("custom/03-memberOf.ldif", MEMBEROF)]).unwrap();
    assert_eq!(
        overlays(&custom),
        [
            "memberof groupOfNames",
            "memberof groupOfUniqueNames",
            "refint"
        ]
    );
}

#[test]
fn both_numbers_of_the_database_mean_the_only_one() {
    for variables in [OSIXIA, BITNAMI] {
        for name in ["{1}mdb", "{2}mdb", "{1}hdb", "mdb"] {
            let text = format!(
                "dn: olcDatabase={name},cn=config\nchangetype: modify\nreplace: olcSizeLimit\n\
                 olcSizeLimit: unlimited\n-\nadd: olcDbIndex\nolcDbIndex: uid,mail eq,sub\n\n\
                 dn: olcOverlay=ppolicy,olcDatabase={name},cn=config\n\
                 objectClass: olcOverlayConfig\nobjectClass: olcPPolicyConfig\nolcOverlay: ppolicy\n\
                 olcPPolicyDefault: cn=default,ou=policies,dc=example,dc=org\n\
                 olcPPolicyHashCleartext: TRUE\n"
            );
            let settings = start(variables, &[("10.ldif", &text)]).unwrap();
            let database = data(&settings);
            assert_eq!(database.policy.size.soft, Some(Limit::Unlimited), "{name}");
            let indexes = database.indexes();
            let uid = indexes.iter().find(|index| index.attribute == "uid");
            assert_eq!(uid.unwrap().kinds.to_string(), "eq,sub");
            assert!(indexes.iter().any(|index| index.attribute == "member"));
            let policy = database.overlays.last().unwrap();
            assert_eq!((policy.name.as_str(), policy.lines.len()), ("ppolicy", 2));
        }
    }
}

#[test]
fn rules_are_replaced_and_deleted_by_their_numbers() {
    let text = "# rules\ndn: olcDatabase={1}mdb,cn=config\nchangetype: modify\ndelete: olcAccess\n-\n\
        add: olcAccess\nolcAccess: to attrs=userPassword by self write\n  by anonymous auth\n\
        olcAccess: to * by * read\n\n\
        dn: olcDatabase={1}mdb,cn=config\nchangetype: modify\nadd: olcAccess\n\
        olcAccess: {1}to attrs=mail by users read\n";
    let settings = start(OSIXIA, &[("custom/acl.ldif", text)]).unwrap();
    let rules = data(&settings).policy.access.iter();
    let rules: Vec<&str> = rules.map(|rule| rule.value.as_str()).collect();
    assert_eq!(
        rules,
        [
            "to attrs=userPassword by self write by anonymous auth",
            "to attrs=mail by users read",
            "to * by * read"
        ]
    );
    let last = "dn: olcDatabase={1}mdb,cn=config\nchangetype: modify\ndelete: olcAccess\n\
        olcAccess: {2}\n-\nadd: olcAccess\nolcAccess: {2}to * by users read\n";
    let settings = start(OSIXIA, &[("acl.ldif", last)]).unwrap();
    let rules = &data(&settings).policy.access;
    assert_eq!((rules.len(), rules[2].as_str()), (3, "to * by users read"));
}

#[test]
fn definitions_levels_and_databases_are_changed() {
    let text = "dn: cn=own,cn=schema,cn=config\nobjectClass: olcSchemaConfig\ncn: own\n\
        olcAttributeTypes: ( 1.3.6.1.4.1.99999.1 NAME 'shoeSize' EQUALITY integerMatch\n \
        \x20SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 )\n\n\
        dn: cn=config\nchangetype: modify\nreplace: olcLogLevel\nolcLogLevel: stats\n-\n\
        replace: olcIdleTimeout\nolcIdleTimeout: 30\n-\ndelete: olcTLSCACertificateFile\n\n\
        dn: olcDatabase={-1}frontend,cn=config\nchangetype: modify\nadd: olcRequires\n\
        olcRequires: authc\n-\nreplace: olcSizeLimit\nolcSizeLimit: 77\n\n\
        dn: olcDatabase={1}mdb,cn=config\nchangetype: modify\nadd: olcDbIndex\n\
        olcDbIndex: shoeSize eq\n\n\
        dn: olcDatabase=monitor,cn=config\nobjectClass: olcDatabaseConfig\nolcDatabase: monitor\n";
    let settings = start(OSIXIA, &[("10.ldif", text)]).unwrap();
    let database = data(&settings);
    assert_eq!(*settings.global.idle, Some(30));
    assert!(*settings.global.log_operations);
    assert_eq!(database.policy.size.soft, Some(Limit::At(77)));
    let schema = crate::schema(&settings).unwrap();
    assert!(schema.attribute("shoeSize").is_some());
    let kinds = settings.databases.iter().map(|database| database.kind);
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        [DatabaseKind::Mdb, DatabaseKind::Monitor]
    );
}

#[test]
fn a_refused_record_names_its_line_and_the_reason() {
    for (text, line, reason) in [
        (
            "dn: cn=config\nchangetype: modify\nreplace: olcLogLevel\nolcLogLevel: loud\n",
            1,
            "<olcLogLevel> unknown level",
        ),
        (
            "\ndn: olcDatabase={1}mdb,cn=config\nchangetype: modify\nadd: olcAccess\n\
             olcAccess: to * by nobody-knows write\n",
            2,
            "access rule, character 9: expected",
        ),
        (
            "dn: olcDatabase={1}mdb,cn=config\nchangetype: modify\nadd: olcNothing\n\
             olcNothing: x\n",
            1,
            "olcNothing: attribute type undefined",
        ),
        (
            "dn: olcOverlay=nothing,olcDatabase={1}mdb,cn=config\nobjectClass: olcOverlayConfig\n\
             olcOverlay: nothing\n",
            1,
            "nothing",
        ),
        (
            "dn: olcDatabase={1}mdb,cn=config\nchangetype: modify\nreplace: olcRootDN\n\
             olcRootDN: cn={{ LDAP_NOBODY }}\n",
            1,
            "the word {{ LDAP_NOBODY }} has no value",
        ),
    ] {
        let error = start(OSIXIA, &[("10.ldif", text)]).unwrap_err();
        assert!(
            error.contains(&format!("10.ldif: line {line}: ")),
            "{error}"
        );
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn modules_and_settings_that_are_there_are_no_errors() {
    let text = "dn: cn=module{0},cn=config\nchangetype: modify\nadd: olcModuleLoad\n\
        olcModuleLoad: back_mdb\n\n\
        dn: cn=module{0},cn=config\nchangetype: modify\nadd: olcModuleLoad\n\
        olcModuleLoad: ppolicy.la\n-\nadd: olcModuleLoad\nolcModuleLoad: unique\n\n\
        dn: cn=module,cn=config\ncn: module\nobjectClass: olcModuleList\n\
        olcModulePath: /usr/lib/ldap\nolcModuleLoad: refint.la\n\n\
        dn: olcDatabase={1}mdb,cn=config\nchangetype: modify\ndelete: olcDbIndex\n-\n\
        add: olcDbIndex\nolcDbIndex: cn eq\n";
    let settings = start(OSIXIA, &[("10.ldif", text)]).unwrap();
    let modules = settings.modules.iter().map(|module| module.value.as_str());
    assert_eq!(
        modules.collect::<Vec<_>>(),
        ["back_mdb", "ppolicy.la", "unique", "refint.la"]
    );
}

#[test]
fn a_configuration_directory_with_records_says_that_it_takes_no_changes() {
    let folder = TempDir::new().unwrap();
    let [slapd, ldif] = ["slapd.d", "ldif"].map(|name| folder.path().join(name));
    fs::create_dir(&slapd).unwrap();
    fs::create_dir(&ldif).unwrap();
    let text = format!(
        "database mdb\nsuffix cn=x\ndirectory {}\n",
        folder.path().display()
    );
    let layer = Layer::from_slapd_conf_text(&text, Path::new("slapd.conf"));
    let settings = layer.and_then(Settings::new).unwrap();
    settings.write_config_dir(&slapd).unwrap();
    let start = || {
        let mut layer = Layer::from_config_dir(&slapd).unwrap();
        let ldif = ldif.to_str().unwrap();
        layer
            .set_flag("--test", "start.ldif_directory", ldif)
            .unwrap();
        with_seed_configuration(Settings::new(layer).unwrap()).unwrap()
    };
    let without = start();
    assert!(without.files.is_some());
    assert!(!without.notes.iter().any(|note| note.warning));
    let record = "\ndn: olcDatabase={1}mdb,cn=config\nchangetype: modify\n\
        replace: olcSizeLimit\nolcSizeLimit: 5\n";
    fs::write(ldif.join("10.ldif"), record).unwrap();
    let with = start();
    assert!(with.files.is_none());
    let mut notes = with.notes.iter();
    let note = notes.find(|note| note.warning).unwrap();
    let said = format!("{}: {}", note.origin, note.text);
    assert!(
        said.contains("10.ldif, line 2: records of cn=config"),
        "{said}"
    );
}
