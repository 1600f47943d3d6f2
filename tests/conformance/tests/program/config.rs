//! `fulgurite config`: what it says of configurations, good and bad.

use std::path::Path;

use fulgurite_conformance::TIMEOUT;
use fulgurite_testkit::{Outcome, run_bounded};

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
