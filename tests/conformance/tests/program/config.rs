//! `fulgurite config`: what it says of configurations, good and bad.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use fulgurite_conformance::TIMEOUT;
use fulgurite_testkit::{Outcome, run_bounded, run_fed};

fn fulgurite(arguments: &[&str], file: Option<&Path>) -> Outcome {
    let mut command = fulgurite_conformance::fulgurite();
    command.args(arguments);
    command.args(file);
    run_bounded(&mut command, TIMEOUT)
}

#[test]
fn check_names_line_and_hint() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let check = |path: &Path| fulgurite(&["config", "check"], Some(path));

    let toml = write("a.toml", "suffix = \"dc=x\"\n[limits]\nsizes = 3\n");
    let outcome = check(&toml);
    assert!(!outcome.success());
    let place = toml.display();
    assert_eq!(
        outcome.stderr.trim(),
        format!(
            "fulgurite: {place}, line 3, column 1: there is no setting \"limits.sizes\"; did you mean \"limits.size\"?"
        )
    );

    let conf = write("b.conf", "# slapd's\nsizelimt 5\n");
    let outcome = check(&conf);
    assert!(!outcome.success());
    assert!(
        outcome
            .stderr
            .contains("b.conf: line 2: unknown directive <sizelimt>"),
        "{outcome:?}"
    );

    let rule = write(
        "c.conf",
        "database mdb\nsuffix \"\"\naccess to * by nobody read\n",
    );
    let outcome = check(&rule);
    assert!(!outcome.success());
    assert!(
        outcome.stderr.contains("c.conf: line 3: access rule"),
        "{outcome:?}"
    );

    let key = write(
        "e.toml",
        "suffix = \"dc=x\"\n[tls]\ncertificate = \"/nowhere/a.pem\"\nkey = \"/nowhere/a.key\"\n",
    );
    let outcome = check(&key);
    assert!(!outcome.success());
    assert!(
        outcome.stderr.contains("cannot read the certificate")
            && outcome.stderr.contains("/nowhere/a.pem"),
        "{outcome:?}"
    );

    let password = write(
        "d.toml",
        "suffix = \"dc=x\"\ndata = \"d\"\n[root]\ndn = \"cn=a\"\npassword = \"{NOSUCH}x\"\n",
    );
    let outcome = check(&password);
    assert!(!outcome.success());
    assert!(
        outcome
            .stderr
            .contains("d.toml, line 5, column 12: no login as cn=a"),
        "{outcome:?}"
    );

    let data = folder.path().display();
    let good = write(
        "e.conf",
        &format!("database mdb\nsuffix \"\"\ndirectory {data}\ncheckpoint 1 2\n"),
    );
    let outcome = check(&good);
    assert!(outcome.success(), "{outcome:?}");
    assert!(
        outcome
            .stdout
            .contains("e.conf, line 4: note: checkpoint: "),
        "{outcome:?}"
    );
    assert!(
        outcome.stdout.ends_with("the configuration is valid\n"),
        "{outcome:?}"
    );

    let missing = check(&folder.path().join("nosuch.toml"));
    assert!(!missing.success());
}

/// A file that `serve` takes is valid, and one that it refuses is not.
#[test]
fn a_store_names_the_suffix_that_a_file_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let (data, ldif) = (folder.path().join("data"), folder.path().join("x.ldif"));
    let file = folder.path().join("fulgurite.toml");
    std::fs::write(&ldif, "dn: dc=x\nobjectClass: domain\ndc: x\n").unwrap();
    std::fs::write(&file, format!("data = {:?}\n", data.to_str().unwrap())).unwrap();
    let before = fulgurite(&["config", "check"], Some(&file));
    assert!(
        before.stderr.contains("the suffix is not set"),
        "{before:?}"
    );
    let place = data.to_str().unwrap();
    let load = ["load", "--suffix", "dc=x", "--data", place];
    let loaded = fulgurite(&load, Some(&ldif));
    assert!(loaded.success(), "{loaded:?}");
    let checked = fulgurite(&["config", "check"], Some(&file));
    assert!(checked.success(), "{checked:?}");
    let alone = fulgurite(&["config", "check", "--no-stores"], Some(&file));
    assert!(alone.success(), "the store may name it: {alone:?}");
}

/// The example has every setting with its default value. None of them deserves a note.
#[test]
fn the_example_is_checked_without_notes_about_its_lines() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    let example = include_str!("../../../../examples/fulgurite.toml");
    let password = folder.path().join("root-password");
    std::fs::write(&password, "secret\n").unwrap();
    std::fs::set_permissions(&password, PermissionsExt::from_mode(0o600)).unwrap();
    let file = folder.path().join("fulgurite.toml");
    let text = example
        .replace("/etc/fulgurite/root-password", password.to_str().unwrap())
        .replace("/var/lib/fulgurite", &format!("{place}/data"));
    std::fs::write(&file, text).unwrap();
    let outcome = fulgurite(&["config", "check"], Some(&file));
    assert!(outcome.success(), "{outcome:?}");
    let said = format!("{}{}", outcome.stdout, outcome.stderr);
    let notes = said.lines().filter(|line| line.starts_with("note:"));
    let other: Vec<_> = notes
        .filter(|line| !line.contains("no store exists"))
        .collect();
    assert!(other.is_empty(), "{said}");
}

#[test]
fn show_says_where_each_value_comes_from() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.toml");
    std::fs::write(
        &path,
        "suffix = \"dc=x\"\nthreads = 3\n[root]\ndn = \"cn=a\"\npassword = \"opensesame\"\n",
    )
    .unwrap();
    let said = fulgurite(&["config", "show"], Some(&path));
    assert!(said.success(), "{said:?}");
    let place = path.display();
    assert!(
        said.stdout
            .contains(&format!("threads = 3    # {place}, line 2, column 11")),
        "{said:?}"
    );
    assert!(said.stdout.contains("root.password = (hidden)"), "{said:?}");
    assert!(
        !said.stdout.contains("opensesame") && !said.stdout.contains("# default"),
        "{said:?}"
    );
    let all = fulgurite(&["config", "show", "--resolved"], Some(&path));
    assert!(
        all.stdout
            .contains("limits.connections = 10000    # default"),
        "{all:?}"
    );
    assert!(
        all.stdout.contains("index = uid:eq,pres,sub    # default"),
        "{all:?}"
    );
}

/// Returns the entries of a configuration directory, without the attributes that each run sets.
fn entries(folder: &Path) -> Vec<String> {
    let folder = folder.display().to_string();
    let cat = ["slapcat", "-n0", "-o", "ldif-wrap=no", "-F", &folder];
    let written = fulgurite(&cat, None);
    assert!(written.success(), "{written:?}");
    let is_stamp = |line: &&str| {
        let names = ["entryUUID", "entryCSN", "create", "creators", "modif"];
        names.iter().any(|name| line.starts_with(name))
    };
    let lines = written.stdout.lines().filter(|line| !is_stamp(line));
    lines.map(str::to_owned).collect()
}

/// Makes a change that moves entries of the configuration, and kills the program at forty moments.
#[test]
fn a_killed_change_leaves_the_old_configuration_or_the_new_one() {
    const MOMENTS: u32 = 40;
    let scratch = tempfile::tempdir().unwrap();
    let path = |name: &str| scratch.path().join(name);
    for name in ["slapd.d", "one", "two"] {
        std::fs::create_dir(path(name)).unwrap();
    }
    let text = |path: PathBuf| path.display().to_string();
    let (one, two) = (text(path("one")), text(path("two")));
    std::fs::write(
        path("slapd.conf"),
        format!(
            "database mdb\nsuffix cn=one\nrootdn cn=r,cn=one\ndirectory {one}\n\
             overlay unique\nunique_uri ldap:///?cn?sub\noverlay refint\nrefint_attributes seeAlso\n"
        ),
    )
    .unwrap();
    let (file, folder) = (text(path("slapd.conf")), text(path("slapd.d")));
    // The status is 1, because there is no data yet.
    fulgurite(&["slaptest", "-f", &file, "-F", &folder], None);
    let change = format!(
        "dn: olcDatabase={{1}}mdb,cn=config\nchangetype: add\nobjectClass: olcDatabaseConfig\n\
         objectClass: olcMdbConfig\nolcDatabase: {{1}}mdb\nolcSuffix: cn=two\nolcDbDirectory: {two}\n"
    );
    let fresh = |name: &str| {
        let mut copy = Command::new("cp");
        copy.arg("-r").arg(path("slapd.d")).arg(path(name));
        assert!(run_bounded(&mut copy, TIMEOUT).success());
        path(name)
    };
    let apply = |folder: &Path| {
        let mut command = fulgurite_conformance::fulgurite();
        command.args(["config", "apply", "-F"]).arg(folder).arg("-");
        command
    };
    let old = entries(&path("slapd.d"));
    let whole = fresh("whole");
    let begun = Instant::now();
    let changed = run_fed(&mut apply(&whole), change.clone().into(), TIMEOUT);
    let took = begun.elapsed();
    let new = entries(&whole);
    assert!(
        old != new && new.join("\n").contains("cn=two"),
        "{changed:?}"
    );
    std::fs::write(path("change.ldif"), &change).unwrap();
    for moment in 0..MOMENTS {
        let folder = fresh(&format!("killed-{moment}"));
        let input = std::fs::File::open(path("change.ldif")).unwrap();
        let mut command = apply(&folder);
        command
            .stdin(input)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(took * moment / MOMENTS);
        child.kill().unwrap();
        child.wait().unwrap();
        let left = entries(&folder);
        assert!(left == old || left == new, "{moment}: {left:#?}");
        // The next change succeeds, and the one after it finds nothing to do.
        let again = run_fed(&mut apply(&folder), change.clone().into(), TIMEOUT);
        let is_made = entries(&folder).join("\n").matches("cn=two").count();
        assert!(is_made >= 1, "{moment}: {again:?}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
