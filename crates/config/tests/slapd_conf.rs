//! Settings of a slapd.conf.

use std::path::Path;

use fulgurite_config::{
    DatabaseKind, Durability, FeatureSet as _, Layer, Limit, SchemaPart, Settings, VerifyClient,
};

fn settings(text: &str) -> Settings {
    let layer = Layer::from_slapd_conf_text(text, Path::new("slapd.conf"));
    Settings::new(layer.unwrap_or_else(|error| panic!("{error}"))).unwrap()
}

fn refusal(text: &str) -> String {
    let layer = Layer::from_slapd_conf_text(text, Path::new("slapd.conf"));
    layer.map(|_| ()).unwrap_err().to_string()
}

const WHOLE: &str = r#"# A comment
  that goes on
pidfile /run/slapd.pid
argsfile "/run/slapd args"
modulepath /usr/lib/ldap
moduleload back_mdb.la
objectidentifier example 1.3.6.1.4.1.32473
attributetype ( example:1
   NAME 'badge'
   SUP name )
loglevel stats 0x4000
sizelimit 10
timelimit
	33
idletimeout 30
writetimeout 0
threads 0x8
allow bind_v2 bind_anon_dn
disallow tls_authc
require LDAPv3
security ssf=1 tls=5
authz-regexp "uid=([^,]*),cn=.*" "uid=$1,dc=example,dc=com"
authz-policy to
sasl-secprops noanonymous,minssf=5
password-hash {SSHA}
TLSCertificateFile /etc/tls.pem
TLSVerifyClient demand
serverID 3
sockbuf_max_incoming 0x1ffff
readonly off
access to dn.subtree="dc=glob" by * read

database mdb
suffix "dc=example,dc=com"
rootdn  "cn=admin,dc=example,dc=com"
rootpw se\"cret
directory /var/lib/ldap
index default pres,eq
index cn,sn eq,sub,nolang
index uid
access to dn.base="cn=a b"
   by * write
access to * by users read by * none
limits dn.exact="cn=a b,dc=example,dc=com" size.soft=5 time=unlimited size.pr=noEstimate
lastmod off
maxsize 10485760
dbnosync
checkpoint 512 5
restrict add extended=1.3.6.1.1.8
overlay syncprov
syncprov-checkpoint 100 10
overlay valsort

database monitor
database config
rootpw x
"#;

#[test]
fn a_whole_configuration() {
    let settings = settings(WHOLE);
    let global = &settings.global;
    assert_eq!(
        global.args_file.as_deref(),
        Some(Path::new("/run/slapd args"))
    );
    assert_eq!(*global.log_mask, 0x4100);
    assert!(*global.log_operations);
    assert_eq!(global.threads.0, Some(8));
    assert_eq!((*global.idle, *global.write), (Some(30), None));
    assert_eq!(global.allow.words(), ["bind_v2", "bind_anon_dn"]);
    assert_eq!(global.disallow.words(), ["tls_authc"]);
    assert_eq!(
        global.authz_regexp[0].replacement,
        "uid=$1,dc=example,dc=com"
    );
    assert_eq!(*global.sasl_security, ["noanonymous", "minssf=5"]);
    assert_eq!(*global.tls_verify_client, VerifyClient::Demand);
    assert_eq!(global.server_ids[0].id, 3);
    assert_eq!(
        (*global.request_bytes_anonymous, *global.request_bytes),
        (0x1ffff, 16_777_215)
    );
    let [identifier, badge] = global.schema.as_slice() else {
        panic!("{:?}", global.schema);
    };
    assert_eq!(
        identifier.value,
        SchemaPart::ObjectIdentifier("example 1.3.6.1.4.1.32473".into())
    );
    assert_eq!(
        badge.value,
        SchemaPart::AttributeType("( example:1 NAME 'badge' SUP name )".into())
    );
    assert_eq!(badge.origin.to_string(), "slapd.conf, line 10");
    assert_eq!(settings.frontend.time.soft, Some(Limit::At(33)));
    assert_eq!(
        settings.frontend.access[0].value.as_str(),
        "to dn.subtree=\"dc=glob\" by * read"
    );

    let kinds: Vec<_> = settings.databases.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [DatabaseKind::Mdb, DatabaseKind::Monitor]);
    let database = settings.first_store().unwrap();
    assert_eq!(database.suffix().unwrap(), "dc=example,dc=com");
    assert_eq!(database.root_password().unwrap().unwrap(), b"se\"cret");
    assert_eq!(database.directory().unwrap(), Path::new("/var/lib/ldap"));
    let indexes: Vec<_> = database
        .indexes()
        .iter()
        .map(|one| format!("{} {}", one.attribute, one.kinds))
        .collect();
    assert_eq!(
        indexes,
        ["cn eq,sub,nolang", "sn eq,sub,nolang", "uid eq,pres"]
    );
    let policy = &database.policy;
    assert_eq!(
        policy.access[0].value.as_str(),
        "to dn.base=\"cn=a b\" by * write"
    );
    assert_eq!(policy.access[0].origin.to_string(), "slapd.conf, line 42");
    assert_eq!(policy.size.soft, Some(Limit::At(10)));
    assert_eq!(policy.require.words(), ["LDAPv3"]);
    assert_eq!(policy.security.words(), ["ssf=1", "tls=5"]);
    assert_eq!(policy.restrict.words(), ["add", "extended=1.3.6.1.1.8"]);
    assert!(!*policy.last_mod);
    let limits = &policy.limits[0];
    assert_eq!(limits.selector, "dn.exact=cn=a b,dc=example,dc=com");
    assert_eq!(
        (limits.size.soft, limits.size.no_estimate),
        (Some(Limit::At(5)), true)
    );
    assert_eq!(
        (limits.time.soft, limits.time.hard),
        (Some(Limit::Unlimited), Some(Limit::SameAsSoft))
    );
    assert_eq!(*database.storage.durability, Durability::NoSync);
    assert_eq!(*database.storage.map_bytes_max, 10_485_760);
    let line = &database.overlays[0].lines[0].value;
    assert_eq!(line.directive.keyword, "syncprov-checkpoint");
    assert_eq!(line.arguments, ["100", "10"]);
    assert!(settings.config.content.root_password.is_some());

    let warnings: Vec<_> = settings.notes.iter().filter(|note| note.warning).collect();
    assert!(warnings.is_empty(), "{warnings:?}");
    assert!(
        settings
            .notes
            .iter()
            .any(|note| note.text.starts_with("checkpoint: "))
    );
}

#[test]
fn overlays_that_would_change_answers_are_refused() {
    let database = "database mdb\nsuffix dc=x\n";
    let error = refusal(&format!("{database}overlay dds\n"));
    assert_eq!(
        error,
        "slapd.conf: line 3: overlay \"dds\" is not built in: dynamic entries would not expire; \
         fulgurite migrate reports all such parts, and can leave them out"
    );
    assert_eq!(
        refusal(&format!("{database}overlay nosuch\n")),
        "slapd.conf: line 3: overlay \"nosuch\" not found"
    );
    let accepted = settings(&format!("{database}overlay sssvlv\nsssvlv-max 5\n"));
    assert!(accepted.notes.is_empty());
    assert_eq!(
        refusal(&format!("{database}sssvlv-max 5\n")),
        "slapd.conf: line 3: unknown directive <sssvlv-max> inside backend database definition."
    );
}

#[test]
fn unknown_directives_have_a_hint() {
    assert_eq!(
        refusal("sizelimt 5\n"),
        "slapd.conf: line 1: unknown directive <sizelimt> outside backend info and database definitions. Did you mean <sizelimit>?"
    );
}

#[test]
fn files_include_files_and_never_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let (a, b) = (place("a.conf"), place("b.conf"));
    std::fs::write(&a, format!("include {}\nsuffix dc=a\n", b.display())).unwrap();
    std::fs::write(&b, "database mdb\nsizelimit 5\n").unwrap();
    let read = Settings::new(Layer::from_file(&a).unwrap()).unwrap();
    assert_eq!(read.suffix().unwrap(), "dc=a");
    assert_eq!(
        read.databases[0].policy.size.origin.to_string(),
        format!("{}, line 2", b.display())
    );
    std::fs::write(&b, format!("\ninclude {}\n", a.display())).unwrap();
    let error = Layer::from_file(&a).map(|_| ()).unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "{}: line 2: config file \"{}\" includes itself",
            b.display(),
            a.display()
        )
    );
    let missing = place("missing.conf");
    std::fs::write(&a, format!("include {}\n", missing.display())).unwrap();
    let error = Layer::from_file(&a).map(|_| ()).unwrap_err().to_string();
    assert!(
        error.contains(": line 1: could not stat config file"),
        "{error}"
    );
}

#[test]
fn cn_config_has_the_settings_of_the_file() {
    let settings = settings(WHOLE);
    let entries = settings.config_entries(true);
    let names: Vec<_> = entries.iter().map(|entry| entry.dn.as_str()).collect();
    assert_eq!(
        names,
        [
            "cn=config",
            "cn=module{0},cn=config",
            "cn=schema,cn=config",
            "cn={0}slapd,cn=schema,cn=config",
            "olcDatabase={-1}frontend,cn=config",
            "olcDatabase={0}config,cn=config",
            "olcDatabase={1}mdb,cn=config",
            "olcOverlay={0}syncprov,olcDatabase={1}mdb,cn=config",
            "olcOverlay={1}valsort,olcDatabase={1}mdb,cn=config",
            "olcDatabase={2}monitor,cn=config",
        ]
    );
    let value = |entry: usize, name: &str| entries[entry].values(name).join("|");
    assert_eq!(value(0, "olcLogLevel"), "Stats|Sync");
    assert_eq!(
        value(0, "olcAuthzRegexp"),
        "{0}\"uid=([^,]*),cn=.*\" \"uid=$1,dc=example,dc=com\""
    );
    assert_eq!(
        value(6, "olcDbIndex"),
        "default eq,pres|cn eq,sub,nolang|sn eq,sub,nolang|uid eq,pres"
    );
    assert_eq!(
        value(6, "olcAccess"),
        "{0}to dn.base=\"cn=a b\" by * write|{1}to * by users read by * none"
    );
    assert_eq!(value(6, "olcSizeLimit"), "10");
    assert_eq!(value(6, "olcRootPW"), "se\"cret");
    let public = settings.config_entries(false);
    assert!(
        public[6].values("olcRootPW").is_empty(),
        "a password in clear is shown"
    );
}

#[test]
fn a_written_directory_reads_back_as_the_same_tree() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(WHOLE);
    settings.write_config_dir(folder.path()).unwrap();
    let again = Settings::new(Layer::from_file(folder.path()).unwrap()).unwrap();
    assert_eq!(again.config_entries(true), settings.config_entries(true));
    assert!(
        settings.write_config_dir(folder.path()).is_err(),
        "files were overwritten"
    );
}

#[test]
fn a_directory_is_not_written_without_a_schema_file() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        "pidfile /p\ninclude /nowhere/core.schema\ndatabase mdb\nsuffix dc=x\ndirectory /x\n";
    let error = settings(text).write_config_dir(folder.path()).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("2: could not stat config file \"/nowhere/core.schema\""),
        "{error}"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_module_is_loaded_once() {
    let read = |text: &str| Layer::from_slapd_conf_text(text, std::path::Path::new("x.conf"));
    let layer = read("moduleload syncprov\nmoduleload syncprov.la\n").unwrap();
    assert_eq!(layer.modules.len(), 2, "as in slapd, these are two names");
    let error = read("moduleload syncprov\nmoduleload unique\nmoduleload syncprov\n");
    assert_eq!(
        error.unwrap_err().to_string(),
        "x.conf: line 3: module_load: (syncprov) already loaded"
    );
}

#[test]
fn the_database_of_a_log_of_changes_is_not_served() {
    let settings = settings(
        "database mdb\nsuffix \"cn=Log, o=x\"\ndirectory /l\nrootdn cn=l\n\
         database mdb\nsuffix dc=x\ndirectory /x\noverlay accesslog\nlogdb \"CN=log,o = x\"\n",
    );
    let suffixes = |databases: Vec<&fulgurite_config::Database>| -> Vec<String> {
        let suffixes = databases.iter().map(|database| database.suffix());
        suffixes
            .map(|suffix| suffix.expect("one").to_owned())
            .collect()
    };
    assert_eq!(suffixes(settings.served_stores().collect()), ["dc=x"]);
    assert_eq!(suffixes(settings.access_logs().collect()), ["cn=Log, o=x"]);
    assert_eq!(settings.stores().count(), 2);
    let mut notes = settings.notes.iter();
    assert!(notes.any(|note| note.text.contains("is not opened") && !note.warning));
}
