//! The tools' options, usage and exit status.

use crate::data::{SUFFIX, UNORDERED, names};
use crate::stage::Stage;

#[test]
fn wrong_calls_get_the_usage_and_status_one() {
    let stage = Stage::usual("usage", "");
    for (mode, arguments) in [
        ("a", &["-z"][..]),
        ("a", &["-n", "x"]),
        ("a", &["-o", "foo=bar"]),
        ("a", &["extra"]),
        ("c", &["-q"]),
        ("i", &["-l", "x"]),
        ("t", &["extra"]),
        ("d", &[]),
        ("m", &["-S", "9999"]),
    ] {
        let said = stage.tool(mode, arguments, "").with_status(1);
        assert!(said.contains("usage: slap"), "{mode} {arguments:?}: {said}");
    }
    let said = stage.tool("x", &[], "").with_status(1);
    assert!(
        said.contains("program name \"slapx\" unrecognized"),
        "{said}"
    );
}

#[test]
fn which_database_is_meant() {
    let stage = Stage::new("choice");
    let first = stage.database("first", SUFFIX, "");
    let second = stage.database("second", "dc=example,dc=org", "").replace(
        "rootdn \"cn=Manager,dc=example,dc=com\"\nrootpw secret\n",
        "",
    );
    stage.configure(&(first + &second));
    stage.add(UNORDERED).well();
    let other = stage.file(
        "other.ldif",
        "dn: dc=example,dc=org\nobjectClass: domain\ndc: example\n",
    );
    stage.tool("a", &["-n", "2", "-l", &other], "").well();
    let dump = |arguments: &[&str]| names(&stage.tool("c", arguments, "").well()).len();
    assert_eq!(dump(&[]), 9);
    assert_eq!(dump(&["-n", "1"]), 9);
    assert_eq!(dump(&["-n", "2"]), 1);
    assert_eq!(dump(&["-b", "dc=example,dc=org"]), 1);
    for (arguments, text) in [
        (["-n", "7"], "Must be in the range 0 to 2"),
        (["-b", "dc=nope"], "slap_init no backend for \"dc=nope\""),
        (["-b", "x,y"], "slap_init invalid suffix (\"x,y\")"),
    ] {
        let said = stage.tool("c", &arguments, "").with_status(1);
        assert!(said.contains(text), "{arguments:?}: {said}");
    }
}

#[test]
fn slapcat_and_its_options() {
    let stage = Stage::loaded("slapcat", "", UNORDERED);
    let dump = |arguments: &[&str]| stage.tool("c", arguments, "").well();
    assert_eq!(names(&dump(&["-a", "(sn=jensen)"])).len(), 2);
    if crate::stage::is_ours() {
        // slapd 2.5's own crashes here.
        let below = dump(&["-s", "ou=People,dc=example,dc=com"]);
        assert_eq!(names(&below).len(), 5);
    }
    let url = "ldap:///ou=People,dc=example,dc=com??one?(objectClass=person)";
    assert_eq!(names(&dump(&["-H", url])).len(), 2);
    let verbose = dump(&["-v"]);
    assert!(
        verbose.starts_with("# id=00000001\ndn: dc=example,dc=com\n"),
        "{verbose}"
    );
    let folded = dump(&[]);
    assert!(
        folded.lines().all(|line| line.len() <= 78) && folded.contains("\n "),
        "{folded}"
    );
    let whole = dump(&["-o", "ldif-wrap=no"]);
    assert!(!whole.contains("\n "), "{whole}");
    assert_eq!(whole, folded.replace("\n ", ""));
    assert!(folded.contains("userPassword:: "), "{folded}");
    let out = stage.text("out.ldif");
    assert_eq!(dump(&["-l", &out]), "");
    assert_eq!(std::fs::read_to_string(&out).expect("the dump"), folded);
    for arguments in [["-a", "x,y"], ["-s", "x,y"], ["-l", "/no/such/place"]] {
        stage.tool("c", &arguments, "").with_status(1);
    }
}

#[test]
fn configurations_are_tested() {
    let stage = Stage::usual("slaptest", "");
    let said = stage.tool("t", &["-u"], "").with_status(0);
    assert_eq!(said, "config file testing succeeded\n");
    assert_eq!(stage.tool("t", &["-u", "-Q"], "").with_status(0), "");
    stage.add(UNORDERED).well();
    stage.tool("t", &[], "").well();
    stage.configure("nonsense yes\n");
    let said = stage.tool("t", &["-u"], "").with_status(1);
    assert!(said.contains("slaptest: bad configuration file!"), "{said}");
    assert!(said.contains("nonsense"), "{said}");
    stage.tool("c", &[], "").with_status(1);
}

#[test]
fn a_configuration_becomes_a_directory() {
    let stage = Stage::loaded("convert", "index cn eq", UNORDERED);
    std::fs::create_dir(stage.path("slapd.d")).expect("make the folder");
    let folder = stage.text("slapd.d");
    stage.tool("t", &["-F", &folder], "").well();
    assert!(stage.path("slapd.d/cn=config.ldif").exists());
    let configuration = stage.tool_by_directory("c", &folder, &["-n", "0"]).well();
    assert!(
        configuration.starts_with("dn: cn=config\n"),
        "{configuration}"
    );
    assert!(
        configuration.contains("olcSuffix: dc=example,dc=com\n"),
        "{configuration}"
    );
    // The directory says the same as the file did.
    let dump = stage.tool_by_directory("c", &folder, &[]).well();
    assert_eq!(dump, stage.cat());
}

#[test]
fn a_conversion_precedes_the_opening_of_databases() {
    let stage = Stage::usual("convert-empty", "");
    let folder = stage.text("slapd.d");
    std::fs::create_dir(&folder).expect("make the folder");
    let said = stage.tool("t", &["-F", &folder], "").with_status(1);
    assert!(said.contains("slap_startup failed"), "{said}");
    stage.tool_by_directory("t", &folder, &["-u"]).well();
}

#[test]
fn a_configuration_without_its_schema_is_shown() {
    let stage = Stage::new("slapcat-unfinished");
    let folder = stage.text("slapd.d");
    for made in [&folder, &stage.text("db")] {
        std::fs::create_dir(made).expect("a folder");
    }
    let (distribution, db) = (stage.distribution(), stage.text("db"));
    let ldif = format!(
        "dn: cn=config\nobjectClass: olcGlobal\ncn: config\n\n\
         dn: cn=module,cn=config\nobjectClass: olcModuleList\ncn: module\n\
         olcModulePath: {distribution}/usr/lib/ldap\nolcModuleLoad: back_mdb.so\n\n\
         dn: olcDatabase=mdb,cn=config\nobjectClass: olcDatabaseConfig\nobjectClass: olcMdbConfig\n\
         olcDatabase: mdb\nolcSuffix: {SUFFIX}\nolcDbDirectory: {db}\n\
         olcAccess: to * by * read\nolcAccess: {{0}}to attrs=entry by * search\n"
    );
    let file = stage.file("config.ldif", &ldif);
    let run = |mode: &str, arguments: &[&str]| stage.tool_by_directory(mode, &folder, arguments);
    run("a", &["-n", "0", "-l", &file]).well();
    // Nothing defines dc yet.
    let shown = run("c", &["-n", "0", "-o", "ldif-wrap=no"]).well();
    assert!(shown.contains(&format!("olcSuffix: {SUFFIX}\n")), "{shown}");
    let rules = "olcAccess: {0}to attrs=entry by * search\nolcAccess: {1}to * by * read\n";
    assert!(shown.contains(rules), "{shown}");
}

#[test]
fn a_configuration_is_made_of_ldif() {
    let stage = Stage::new("slapadd-config");
    let folder = stage.text("slapd.d");
    std::fs::create_dir(&folder).expect("a folder");
    let db = stage.text("db");
    std::fs::create_dir(&db).expect("a folder");
    let distribution = stage.distribution();
    let secret = stage.file("secret", "hush");
    let ldif = format!(
        "dn: cn=config\nobjectClass: olcGlobal\ncn: config\nolcLogLevel: stats\n\n\
         dn: cn=module,cn=config\nobjectClass: olcModuleList\ncn: module\nolcModulePath: {distribution}/usr/lib/ldap\nolcModuleLoad: back_mdb.so\n\n\
         dn: cn=schema,cn=config\nobjectClass: olcSchemaConfig\ncn: schema\n\n\
         include: file://{distribution}/etc/ldap/schema/core.ldif\n\n\
         dn: olcDatabase={{0}}config,cn=config\nobjectClass: olcDatabaseConfig\nolcDatabase: {{0}}config\nolcRootPW:< file://{secret}\n\n\
         dn: olcDatabase=mdb,cn=config\nobjectClass: olcDatabaseConfig\nobjectClass: olcMdbConfig\nolcDatabase: mdb\nolcSuffix: {SUFFIX}\n\
         olcRootDN: cn=Manager,{SUFFIX}\nolcDbDirectory: {db}\nolcDbIndex: cn eq\n"
    );
    let file = stage.file("config.ldif", &ldif);
    let run = |mode: &str, arguments: &[&str]| stage.tool_by_directory(mode, &folder, arguments);
    run("a", &["-n", "0", "-l", &file]).well();
    run("t", &["-u"]).well();
    let shown = names(&run("c", &["-n", "0"]).well());
    for name in [
        "cn={0}core,cn=schema,cn=config",
        "olcDatabase={1}mdb,cn=config",
    ] {
        assert!(shown.iter().any(|dn| dn == name), "{name} in {shown:?}");
    }
    let dumped = run("c", &["-n", "0", "-o", "ldif-wrap=no"]).well();
    assert!(dumped.contains("olcDbIndex: cn eq\n"), "{dumped}");
    a_part_of_a_configuration_is_written(&|arguments| run("c", arguments).well());
    // More later: cosine's classes, from its own file, and data that needs them.
    run(
        "a",
        &[
            "-b",
            "cn=config",
            "-l",
            &format!("{distribution}/etc/ldap/schema/cosine.ldif"),
        ],
    )
    .well();
    let data = stage.file(
        "data.ldif",
        &format!("dn: {SUFFIX}\nobjectClass: domain\ndc: example\n"),
    );
    run("a", &["-l", &data]).well();
    assert_eq!(names(&run("c", &[]).well()), [SUFFIX]);
    // Present entries, entries without a parent and unknown classes leave the rest alone.
    let before = run("c", &["-n", "0"]).well();
    for (wrong, dn) in [
        ("olcDatabase: {1}mdb", "olcDatabase={1}mdb,cn=config"),
        (
            "olcOverlay: syncprov",
            "olcOverlay=syncprov,olcDatabase={7}mdb,cn=config",
        ),
        (
            "cn: bad\nolcAttributeTypes: ( nonsense",
            "cn=bad,cn=schema,cn=config",
        ),
    ] {
        let file = stage.file(
            "wrong.ldif",
            &format!("dn: {dn}\nobjectClass: olcConfig\n{wrong}\n"),
        );
        let ran = run("a", &["-n", "0", "-l", &file]);
        assert_eq!(ran.status, 1, "{dn}: {ran:?}");
    }
    assert_eq!(run("c", &["-n", "0"]).well(), before);
}

/// Asks slapcat for entries of a configuration by filter, subtree and scope.
fn a_part_of_a_configuration_is_written(dump: &dyn Fn(&[&str]) -> String) {
    let chosen = |arguments: &[&str]| names(&dump(&[&["-n", "0"], arguments].concat()));
    let mdb = "olcDatabase={1}mdb,cn=config";
    assert_eq!(chosen(&["-a", "(olcDatabase=mdb)"]), [mdb]);
    assert_eq!(chosen(&["-a", &format!("(olcSuffix={SUFFIX})")]), [mdb]);
    let none: [&str; 0] = [];
    assert_eq!(chosen(&["-a", "(noSuchAttribute=1)"]), none);
    let url = format!("ldap:///{mdb}??sub?(olcDbIndex=*)");
    assert_eq!(chosen(&["-H", &url]), [mdb]);
    assert_eq!(chosen(&["-H", "ldap:///cn=config??base"]), ["cn=config"]);
    let one = chosen(&["-H", "ldap:///cn=config??one"]);
    assert!(
        one.iter().all(|name| name.matches(',').count() == 1),
        "{one:?}"
    );
    assert!(one.iter().any(|name| name == mdb), "{one:?}");
    if crate::stage::is_ours() {
        // slapd 2.5's own crashes here.
        let below = chosen(&["-s", "cn=schema,cn=config", "-a", "(cn={0}core)"]);
        assert_eq!(below, ["cn={0}core,cn=schema,cn=config"]);
    }
    let verbose = dump(&["-n", "0", "-v"]);
    assert!(
        verbose.starts_with("# id=00000001\ndn: cn=config\n"),
        "{verbose}"
    );
}

#[test]
fn entries_that_the_schema_does_not_allow() {
    let stage = Stage::loaded("slapschema", "", UNORDERED);
    assert_eq!(stage.tool("s", &[], "").well(), "");
    let bad = "dn: cn=bad,dc=example,dc=com\nobjectClass: person\ncn: bad\nstructuralObjectClass: person\n";
    let file = stage.file("bad.ldif", bad);
    stage.tool("a", &["-s", "-l", &file], "").well();
    let ran = stage.tool("s", &[], "");
    assert_eq!(ran.status, 65, "{ran:?}");
    assert!(
        ran.out.contains("# (65) Object class violation"),
        "{}",
        ran.out
    );
    assert!(
        ran.out.contains("dn: cn=bad,dc=example,dc=com"),
        "{}",
        ran.out
    );
}

#[test]
fn indexes_are_made_again() {
    let stage = Stage::loaded("slapindex", "", UNORDERED);
    // An attribute without an index is indexed now.
    stage.configure(&stage.database("db", SUFFIX, "index cn,uid pres,eq,sub"));
    stage.tool("i", &["cn"], "").well();
    stage.tool("i", &["-q"], "").well();
    let said = stage.tool("i", &["nosuch"], "").with_status(1);
    assert!(
        said.contains("slap_str2ad(nosuch) failed 17 (Undefined attribute type)"),
        "{said}"
    );
    stage.tool("i", &["-q", "sn"], "").with_status(1);
    let server = stage.start();
    assert_eq!(names(&server.search(&["(cn=*stev*)", "1.1"])).len(), 1);
    assert_eq!(names(&server.search(&["(uid=bjorn)", "1.1"])).len(), 1);
    server.stop();
}
