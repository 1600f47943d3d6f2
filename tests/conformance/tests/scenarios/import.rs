//! `fulgurite import` reads what Debian's slapd has written; slapcat of both is the same to the
//! octet.

use std::process::Command;

use crate::data::{SUFFIX, UNORDERED};
use crate::stage::{Ran, Stage, ran};

/// Entries that are hard to keep as they are.
fn difficult() -> String {
    let mut ldif = UNORDERED.to_owned();
    let mut add = |record: &str| {
        ldif.push('\n');
        ldif.push_str(record);
    };
    let mut below = SUFFIX.to_owned();
    for level in 0..40 {
        below = format!("ou=level {level},{below}");
        add(&format!(
            "dn: {below}\nobjectClass: organizationalUnit\nou: level {level}\n"
        ));
    }
    let long = "x".repeat(180);
    add(&format!(
        "dn: cn={long},{SUFFIX}\nobjectClass: person\ncn: {long}\nsn: long\n"
    ));
    add(&format!(
        "dn: cn=multi+sn=Valued\\2C yes,{SUFFIX}\nobjectClass: person\ncn: multi\nsn: Valued, yes\n"
    ));
    add("dn:: Y249w4RyZ2VyLGRjPWV4YW1wbGUsZGM9Y29t\nobjectClass: person\ncn:: w4RyZ2Vy\nsn: x\n");
    add(&format!(
        "dn: uid=binary,{SUFFIX}\nobjectClass: inetOrgPerson\nuid: binary\ncn: b\ncn;lang-fr: c\nsn: b\n\
         jpegPhoto:: {}\njpegPhoto:: AAB4\ntitle: b\ntitle: a\n",
        "/9j/AAEC".repeat(3000)
    ));
    let members: String = (0..2000)
        .map(|n| format!("member: uid=u{n},{SUFFIX}\n"))
        .collect();
    add(&format!(
        "dn: cn=many,{SUFFIX}\nobjectClass: groupOfNames\ncn: many\n{members}"
    ));
    ldif
}

fn import(stage: &Stage, to: &str, more: &[&str]) -> Ran {
    import_by(stage, to, ["-f", &stage.text("slapd.conf")], more)
}

/// Imports with the schema and indexes of a configuration.
fn import_by(stage: &Stage, to: &str, configuration: [&str; 2], more: &[&str]) -> Ran {
    let mut command = Command::new(fulgurite_conformance::program());
    command
        .args(["import", "--from"])
        .arg(stage.path("db"))
        .arg("--data")
        .arg(stage.path(to));
    ran(command.args(configuration).args(more), "")
}

/// Our slapcat of an imported store.
fn our_dump(stage: &Stage, data: &str) -> String {
    let conf = std::fs::read_to_string(stage.path("slapd.conf")).expect("slapd.conf");
    let conf = conf.replace(&stage.text("db"), &stage.text(data));
    let conf = stage.file(&format!("{data}.conf"), &conf);
    let mut command = Command::new(fulgurite_conformance::program());
    ran(command.args(["slapcat", "-f", &conf]), "").well()
}

#[track_caller]
fn assert_same(theirs: &str, ours: &str) {
    let different = theirs
        .lines()
        .zip(ours.lines())
        .enumerate()
        .find(|(_, (a, b))| a != b);
    assert_eq!(different, None);
    assert_eq!(theirs.len(), ours.len());
}

#[test]
fn everything_comes_through_as_it_is() {
    for (label, multival) in [("plain", ""), ("multival", "multival default 50,20\n")] {
        let stage = Stage::with_original(&format!("import-{label}"));
        stage.configure(&stage.database("db", SUFFIX, &format!("{multival}index cn,uid eq")));
        stage.add(&difficult()).well();
        let summary = import(&stage, "new", &[]);
        assert_eq!(summary.status, 0, "{summary:?}");
        let theirs = stage.cat();
        let count = theirs
            .lines()
            .filter(|line| line.starts_with("dn:"))
            .count();
        assert!(
            summary.err.contains(&format!(
                "{count} entries found, {count} imported, 0 skipped"
            )),
            "{summary:?}"
        );
        assert_same(&theirs, &our_dump(&stage, "new"));
    }
}

#[test]
fn a_configuration_directory_is_as_good_as_a_file() {
    let stage = Stage::with_original("import-directory");
    let own = "attributetype ( 1.3.6.1.4.1.4203.666.9.9 NAME 'shoeSize' EQUALITY integerMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 )\n\
               objectclass ( 1.3.6.1.4.1.4203.666.9.8 NAME 'shod' SUP top AUXILIARY MAY shoeSize )\n";
    let database = stage.database("db", SUFFIX, "index cn,shoeSize eq");
    stage.configure(&format!("{own}{database}"));
    let shod = format!(
        "\ndn: uid=shod,{SUFFIX}\nobjectClass: account\nobjectClass: shod\nuid: shod\nshoeSize: 44\n"
    );
    stage.add(&format!("{}{shod}", difficult())).well();
    let folder = stage.text("slapd.d");
    std::fs::create_dir(&folder).expect("make the directory");
    stage.tool("t", &["-F", &folder], "").well();
    import_by(&stage, "new", ["-F", &folder], &[]).well();
    assert_same(&stage.cat(), &our_dump(&stage, "new"));
}

#[test]
fn while_its_server_runs() {
    let stage = Stage::with_original("import-running");
    stage.configure(&stage.database("db", SUFFIX, "index cn eq"));
    stage.add(&difficult()).well();
    let server = stage.start();
    // Moved below an entry that is younger: ids are in no order of parents then.
    let alumni = [
        "-s",
        "cn=many,dc=example,dc=com",
        "ou=Alumni,ou=People,dc=example,dc=com",
        "ou=Alumni",
    ];
    server.root("ldapmodrdn", &alumni, "").well();
    let change = "dn: uid=binary,dc=example,dc=com\nchangetype: modify\nreplace: title\ntitle: z\ntitle: y\n";
    server.root("ldapmodify", &[], change).well();
    import(&stage, "new", &["-q"]).well();
    let theirs = stage.cat();
    assert_same(&theirs, &our_dump(&stage, "new"));
    // A later change is in the one, not in the other.
    server
        .root("ldapdelete", &["uid=binary,dc=example,dc=com"], "")
        .well();
    assert_same(&theirs, &our_dump(&stage, "new"));
    server.stop();
}

#[test]
fn what_cannot_be_taken_is_said() {
    let stage = Stage::with_original("import-strict");
    let own = "attributetype ( 1.3.6.1.4.1.4203.666.9.9 NAME 'shoeSize' SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 )\n\
               objectclass ( 1.3.6.1.4.1.4203.666.9.8 NAME 'shod' SUP top AUXILIARY MAY shoeSize )\n";
    stage.configure(&format!("{own}{}", stage.database("db", SUFFIX, "")));
    let shod = format!(
        "\ndn: uid=shod,{SUFFIX}\nobjectClass: account\nobjectClass: shod\nuid: shod\nshoeSize: 44\n"
    );
    stage.add(&format!("{UNORDERED}{shod}")).well();
    let theirs = stage.cat();
    // Without the definitions of that server.
    stage.configure(&stage.database("db", SUFFIX, ""));
    let strict = import(&stage, "strict", &[]).with_status(1);
    assert!(strict.contains("shoeSize"), "{strict}");
    assert!(!stage.path("strict/data.mdb").exists());
    let lenient = import(&stage, "lenient", &["--lenient"]);
    assert_eq!(lenient.status, 0, "{lenient:?}");
    assert!(lenient.err.contains("imported.schema"), "{lenient:?}");
    let definitions = stage.text("lenient/imported.schema");
    stage.configure(&format!(
        "include {definitions}\n{}",
        stage.database("db", SUFFIX, "")
    ));
    assert_same(&theirs, &our_dump(&stage, "lenient"));
    // Entries of an unknown class can be changed.
    let lenient = stage.text("lenient");
    let (definitions, suffix) = (definitions.as_str(), SUFFIX);
    let change = stage.file(
        "shod.ldif",
        &format!("dn: uid=shod,{suffix}\nchangetype: modify\nreplace: shoeSize\nshoeSize: 45\n"),
    );
    let mut modify = Command::new(fulgurite_conformance::program());
    modify.args([
        "modify",
        "--data",
        &lenient,
        "--schema",
        definitions,
        &change,
    ]);
    ran(&mut modify, "").well();
    // A file that is something else, and none at all.
    let mut command = Command::new(fulgurite_conformance::program());
    command
        .args(["import", "--from"])
        .arg(stage.path("lenient"))
        .arg("--data");
    let said = ran(command.arg(stage.path("x")), "").with_status(1);
    assert!(said.contains("none of OpenLDAP's mdb backend"), "{said}");
}

#[test]
fn damaged_files_are_read_as_far_as_they_can_be() {
    let stage = Stage::with_original("import-damaged");
    stage.configure(&stage.database("db", SUFFIX, ""));
    stage.add(&difficult()).well();
    let file = stage.path("db/data.mdb");
    let sound = std::fs::read(&file).expect("data.mdb");
    let mut random = fulgurite_testkit::seed("import-damaged", 7);
    let mut next = move |below: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(random >> 33).unwrap_or(0) % below
    };
    let mut complaints = 0;
    for round in 0..24 {
        let mut damaged = sound.clone();
        for _ in 0..1 + round {
            // The first two pages say what the file is; the rest is what it holds.
            let at = 8192 + next(damaged.len() - 8192);
            damaged[at] ^= u8::try_from(1 + next(255)).unwrap_or(1);
        }
        std::fs::write(&file, &damaged).expect("write the damage");
        let data = format!("round{round}");
        let ran = import(&stage, &data, &["--lenient", "-c"]);
        assert!([0, 1].contains(&ran.status), "{ran:?}");
        complaints += usize::from(ran.status == 1);
        if let Some(summary) = ran
            .err
            .lines()
            .find(|line| line.contains(" entries found, "))
        {
            let numbers: Vec<u64> = summary
                .split(|letter: char| !letter.is_ascii_digit())
                .filter_map(|word| word.parse().ok())
                .collect();
            // Nothing is lost silently; names without entries may come on top.
            assert!(
                numbers[1] + numbers[2] >= numbers[0] || ran.status == 1,
                "{ran:?}"
            );
        }
    }
    assert!(
        complaints > 4,
        "only {complaints} of 24 damaged files were complained about"
    );
}

/// The directory of OpenLDAP's data is no store, and the message says what it is.
#[test]
fn a_database_of_openldap_is_recognized() {
    let stage = Stage::with_original("recognized");
    stage.configure(&stage.database("db", SUFFIX, ""));
    stage.add(UNORDERED).well();
    let mut serve = Command::new(fulgurite_conformance::program());
    serve.args([
        "serve",
        "--suffix",
        SUFFIX,
        "--listen",
        "ldap://127.0.0.1:0",
    ]);
    let said = ran(serve.args(["--data", &stage.text("db")]), "").with_status(1);
    assert!(
        said.contains("this is a database of OpenLDAP") && said.contains("fulgurite migrate --to"),
        "{said}"
    );
    // Its lock file would grow at a server's start.
    let lock = std::fs::metadata(stage.path("db").join("lock.mdb")).expect("slapd's lock file");
    assert_eq!(lock.len(), 8192);
}

/// The configuration and the data escape the comma in different ways.
#[test]
fn a_name_with_an_escaped_comma_chooses_its_database() {
    let stage = Stage::with_original("import-comma");
    let database = |folder: &str, suffix: &str, more: &str| {
        std::fs::create_dir(stage.path(folder)).expect("make the directory");
        let directory = stage.text(folder);
        format!("database mdb\nsuffix \"{suffix}\"\ndirectory {directory}\n{more}")
    };
    let overlay = "rootdn \"cn=root,o=Müller\\\\2C Söhne,c=DE\"\nrootpw secret\noverlay memberof\n";
    let first = database("db", r"o=Müller\\, Söhne,c=DE", overlay);
    let second = database("other", "o=other", "");
    stage.configure(&format!("moduleload memberof.so\n{first}{second}"));
    let name = r"o=Müller\, Söhne,c=DE";
    let ldif = format!(
        "dn: {name}\nobjectClass: organization\no: Müller, Söhne\n\n\
         dn: cn=ann,{name}\nobjectClass: person\ncn: ann\nsn: A\n\
         memberOf: cn=staff,{name}\n"
    );
    let file = stage.file("comma.ldif", &ldif);
    stage.tool("a", &["-b", name, "-l", &file], "").well();
    let said = import(&stage, "new", &[]).with_status(0);
    assert!(
        said.contains(
            "values of memberOf left out: 1, because the server computes them from the groups"
        ),
        "{said}"
    );
    assert!(said.contains("2 entries found, 2 imported"), "{said}");
}
