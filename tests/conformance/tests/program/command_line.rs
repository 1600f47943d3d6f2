//! The program's words to people: help, mistakes, and the precedence of settings.

use std::net::TcpListener;
use std::process::Stdio;

use fulgurite_conformance::{
    LoadedStore, ROOT, RunningServer, SUFFIX, failure, fulgurite, path, run,
};

#[test]
fn help_and_version() {
    let version = run(&["--version"]);
    assert!(version.status.success());
    assert!(version.stdout.starts_with(b"fulgurite "), "{version:?}");
    for command in [
        "load",
        "serve",
        "export",
        "generate",
        "check",
        "env",
        "index",
        "modify",
        "import",
        "passwd",
        "schema-check",
        "explain",
    ] {
        let help = run(&[command, "--help"]);
        assert!(
            help.status.success() && help.stdout.len() > 500,
            "{command}: {help:?}"
        );
        assert!(
            run(&["--help"])
                .stdout
                .windows(command.len())
                .any(|text| text == command.as_bytes())
        );
    }
}

#[test]
fn a_search_is_explained() {
    let loaded = LoadedStore::generated(300);
    let explained = |filter: &str| {
        let shown = run(&["explain", "--data", loaded.data_str(), filter]);
        assert!(shown.status.success(), "{shown:?}");
        String::from_utf8(shown.stdout).expect("text")
    };
    let numbers = |line: &str| -> Vec<u64> {
        let words = line.split_whitespace().take(3);
        words.map(|word| word.parse().expect(line)).collect()
    };
    let shown = explained("(&(uid=user.7)(employeeNumber=7)(!(title=x)))");
    let lines: Vec<&str> = shown.lines().filter(|line| line.contains("(")).collect();
    // The index says which entry it is, so the rest of the filter is tested on that one only.
    assert_eq!(numbers(lines[1]), [1, 1, 1], "{shown}");
    let words: Vec<&str> = lines[1].split_whitespace().collect();
    let is_time = |at: usize| words[at].parse::<f64>().is_ok() && words[at + 1] == "ms";
    assert!(is_time(3) && is_time(5), "{shown}");
    assert!(
        shown.contains("plan: 1 entry by index; at most 1; each is tested"),
        "{shown}"
    );
    let part = |text: &str| {
        let mut lines = shown.lines();
        let line = lines.find(|line| line.trim_end().ends_with(text));
        numbers(line.expect(text))
    };
    assert_eq!(part("  (uid=user.7)"), [1, 1, 1], "{shown}");
    let [expected, candidates, found] = part("  (employeeNumber=7)")[..] else {
        panic!("{shown}");
    };
    assert!(expected > 300 && candidates > 300, "{shown}");
    assert_eq!(found, 1, "{shown}");
    for index in ["employeeNumber:eq", "title:eq"] {
        assert!(
            shown.contains(&format!("missing index {index}:")),
            "{shown}"
        );
    }
    assert!(!explained("(uid=user.7)").contains("missing"));
    let (status, sentence) = failure(&run(&["explain", "--data", loaded.data_str(), "(uid="]));
    assert_eq!(status, 1, "{sentence}");
}

/// Runs `fulgurite explain` and returns the table.
fn explained(data: &str, more: &[&str]) -> String {
    let words = ["explain", "--data", data];
    let shown = run(&[words.as_slice(), more].concat());
    assert!(shown.status.success(), "{shown:?}");
    String::from_utf8(shown.stdout).expect("text")
}

#[test]
fn a_search_below_the_empty_name_is_explained() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = |name: &str| path(&folder.path().join(name));
    let (conf, data, ldif) = (file("slapd.conf"), file("data"), file("all.ldif"));
    let schema = "attributetype ( 2.5.4.11 NAME 'ou' SUP name )\n\
        objectclass ( 2.5.6.5 NAME 'organizationalUnit' SUP top STRUCTURAL MUST ou )\n";
    let settings = format!("{schema}database mdb\nsuffix \"\"\ndirectory {data}\n");
    std::fs::write(conf, settings).unwrap();
    let unit = "objectClass: organizationalUnit\nou: ";
    let text = format!("dn: ou=a\n{unit}a\n\ndn: ou=b\n{unit}b\n\ndn: ou=c,ou=a\n{unit}c\n");
    std::fs::write(ldif, text).unwrap();
    let load = run(&["load", "--quiet", "--config", conf, ldif]);
    assert!(load.status.success(), "{load:?}");
    let numbers = |more: &[&str]| {
        let shown = explained(data, &[more, &["(ou=*)"]].concat());
        let line = shown.lines().nth(1).expect("a line").to_owned();
        line.split_whitespace().nth(2).map(str::to_owned)
    };
    for base in [vec![], vec!["-b", ""]] {
        assert_eq!(numbers(&base).as_deref(), Some("3"));
        let one = [base.as_slice(), &["-s", "one"]].concat();
        assert_eq!(numbers(&one).as_deref(), Some("2"));
        let children = [base.as_slice(), &["-s", "children"]].concat();
        assert_eq!(numbers(&children).as_deref(), Some("3"));
    }
    let words = ["explain", "--data", data, "-b", "", "-s", "base", "(ou=*)"];
    let (status, sentence) = failure(&run(&words));
    assert_eq!(status, 1, "{sentence}");
    assert!(sentence.contains("root DSE"), "{sentence}");
}

#[test]
fn a_default_search_base_is_explained() {
    let loaded = LoadedStore::generated(30);
    let words = [
        "explain",
        "--data",
        loaded.data_str(),
        "-b",
        "",
        "(uid=user.7)",
    ];
    let (_, sentence) = failure(&run(&words));
    assert!(sentence.contains("there is no entry \"\""), "{sentence}");
    let file = loaded.root.path().join("fulgurite.toml");
    std::fs::write(&file, format!("default_search_base = {SUFFIX:?}\n")).unwrap();
    let words = ["--config", path(&file), "-b", "", "(uid=user.7)"];
    let shown = explained(loaded.data_str(), &words);
    assert!(shown.contains("plan: "), "{shown}");
}

#[test]
fn a_plan_uses_the_index_of_sounds() {
    let top = format!("dn: {SUFFIX}\nobjectClass: organization\nobjectClass: dcObject\no: x\n\n");
    let people = ["Smith", "Smyth", "Jones", "Miller"].map(|name| {
        format!("dn: cn={name},{SUFFIX}\nobjectClass: person\ncn: {name}\nsn: {name}\n\n")
    });
    let loaded = LoadedStore::from_ldif(format!("{top}{}", people.concat()).as_bytes());
    let filter = "(sn~=Smyth)";
    let before = explained(loaded.data_str(), &[filter]);
    assert!(
        before.contains("plan: all entries") && before.contains("missing index sn:approx:"),
        "{before}"
    );
    let words = ["index", "--data", loaded.data_str(), "--add", "sn:approx"];
    let added = run(&words);
    assert!(added.status.success(), "{added:?}");
    let shown = explained(loaded.data_str(), &[filter]);
    let line = shown.lines().nth(1).expect("a line");
    let numbers: Vec<&str> = line.split_whitespace().take(3).collect();
    assert_eq!(numbers, ["2", "2", "2"], "{shown}");
    assert!(!shown.contains("missing index"), "{shown}");
}

#[test]
fn mistakes_are_one_sentence() {
    for (arguments, status, sentence) in [
        (
            vec!["serve", "--no-such"],
            2,
            "fulgurite: unexpected argument '--no-such' found; see --help",
        ),
        (
            vec!["unload"],
            2,
            "fulgurite: unrecognized subcommand 'unload'",
        ),
        (
            vec!["serve", "--listen", "http://x"],
            2,
            "fulgurite: invalid value 'http://x' for '--listen <URL>'",
        ),
        (
            vec!["load", "--index", "mail:fast", "x.ldif"],
            2,
            "fulgurite: invalid value 'mail:fast' for '--index",
        ),
        (
            vec!["serve", "--config", "/no/such.toml"],
            1,
            "fulgurite: cannot read configuration file /no/such.toml",
        ),
        (
            vec!["serve", "--suffix", SUFFIX],
            1,
            "fulgurite: the data directory is not set",
        ),
        (
            vec!["serve", "--data", "/dev/null/such", "--suffix", SUFFIX],
            1,
            "fulgurite: cannot create the directory /dev/null/such",
        ),
        (
            vec!["export", "--data", "/no/such"],
            1,
            "fulgurite: /no/such",
        ),
        (
            vec!["generate", "--suffix", "uid=x"],
            1,
            "fulgurite: no entry can be made for the suffix",
        ),
    ] {
        let (code, text) = failure(&run(&arguments));
        assert!(
            code == status && text.starts_with(sentence),
            "{arguments:?}: {code} {text}"
        );
    }
}

#[test]
fn a_start_without_a_suffix_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let (code, text) = failure(&run(&["serve", "--data", path(&data)]));
    assert!(code == 1 && text.contains("suffix"), "{text}");
    assert!(!text.contains("was created") && !data.exists(), "{text}");
}

#[test]
fn a_failed_load_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let load = |file: &str| {
        failure(&run(&[
            "load",
            "-q",
            "--data",
            path(&data),
            "--suffix",
            SUFFIX,
            file,
        ]))
    };
    let (code, text) = load("/no/such.ldif");
    assert!(code == 1 && text.contains("/no/such.ldif"), "{text}");
    assert!(!data.exists());
    let wrong = directory.path().join("wrong.ldif");
    let ldif = "dn: dc=example,dc=com\nobjectClass: dcObject\nobjectClass: organization\ndc: example\no: x\n\n\
                dn: cn=x,dc=example,dc=com\nobjectClass: person\ncn: x\n";
    std::fs::write(&wrong, ldif).unwrap();
    let (code, text) = load(path(&wrong));
    assert_eq!(code, 1);
    assert!(
        text.contains("wrong.ldif, line 7: cn=x,dc=example,dc=com"),
        "{text}"
    );
    assert!(!data.exists());
    let schema = directory.path().join("wrong.schema");
    std::fs::write(&schema, "attributetype ( nonsense").unwrap();
    let arguments = [
        "load",
        "-q",
        "--schema",
        path(&schema),
        "--data",
        path(&data),
        "--suffix",
        SUFFIX,
    ];
    let (code, text) = failure(&run(&[arguments.as_slice(), &[path(&wrong)]].concat()));
    assert!(code == 1 && text.contains("wrong.schema"), "{text}");
}

#[test]
fn tools_of_our_own_do_what_slapds_do() {
    let loaded = LoadedStore::generated(20);
    let data = ["--data", loaded.data_str()];
    let tool = |arguments: &[&str]| {
        let output = run(arguments);
        let text = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let index = |arguments: &[&str]| tool(&[&["index"], &data[..], arguments].concat());
    assert_eq!(
        index(&["-q", "--add", "title:eq,sub", "--remove", "givenName"]).0,
        Some(0)
    );
    let (_, status, _) = index(&["--status"]);
    assert!(
        status.contains("title:eq,sub  complete\n") && !status.contains("givenName"),
        "{status}"
    );
    assert_eq!(index(&["-q", "--rebuild"]).0, Some(0));
    assert_eq!(index(&["--status"]).1, status);
    assert_eq!(index(&["--add", "nosuch:eq"]).0, Some(1));
    assert_eq!(index(&[]).0, Some(1));
    let changes = loaded.root.path().join("changes.ldif");
    let first =
        "dn: dc=example,dc=com\nchangetype: modify\nadd: description\ndescription: changed\n-\n\n";
    let second = "dn: dc=example,dc=com\nchangetype: modify\nadd: nosuch\nnosuch: x\n-\n";
    std::fs::write(&changes, [first, second].concat()).unwrap();
    let (code, _, said) = tool(&["modify", data[0], data[1], path(&changes)]);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("changes.ldif, line 7: dc=example,dc=com: undefinedAttributeType"),
        "{said}"
    );
    let export = run(&["export", data[0], data[1]]);
    assert!(String::from_utf8_lossy(&export.stdout).contains("description: changed\n"));
    assert_eq!(tool(&["schema-check", data[0], data[1]]).0, Some(0));
    let (_, forms, _) = tool(&["dn", "OU=A , DC=Example"]);
    assert_eq!(
        forms,
        "OU=A , DC=Example\n  normal  ou=a,dc=example\n  pretty  ou=A,dc=Example\n"
    );
    assert_eq!(tool(&["dn", "bad"]).0, Some(1));
    let (_, made, _) = tool(&["passwd", "--generate"]);
    assert!(
        made.lines()
            .nth(1)
            .is_some_and(|hash| hash.starts_with("{ARGON2}$argon2id$")),
        "{made}"
    );
}

#[test]
fn a_port_in_use_is_said_to_be() {
    let loaded = LoadedStore::generated(1);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ldap://{}", taken.local_addr().unwrap());
    let output = loaded
        .serve_command(&url)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let expected =
        format!("fulgurite: cannot listen on {url}: the address is in use by another program");
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.lines().last(), Some(expected.as_str()));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn one_server_or_load_per_directory() {
    let loaded = LoadedStore::generated(5);
    let serving = loaded.serve(&[]);
    let in_use = format!(
        "fulgurite: {} is in use by another server or load of fulgurite",
        loaded.data_str()
    );
    let second = loaded.serve_command("ldap://127.0.0.1:0").output().unwrap();
    assert_eq!(failure(&second), (1, in_use.clone()));
    let ldif = path(&loaded.root.path().join("all.ldif"));
    let load = run(&[
        "load",
        "-q",
        "--data",
        loaded.data_str(),
        "--suffix",
        SUFFIX,
        ldif,
    ]);
    assert_eq!(failure(&load), (1, in_use));
    let export = run(&["export", "--data", loaded.data_str()]);
    assert!(
        export.status.success(),
        "an export works beside a server: {export:?}"
    );
    serving.stop();
    loaded.serve(&[]).stop();
}

#[test]
fn what_was_loaded_is_exported_and_can_be_loaded_again() {
    let loaded = LoadedStore::generated(300);
    let export = run(&["export", "--data", loaded.data_str()]);
    assert!(export.status.success(), "{export:?}");
    let again = LoadedStore::from_ldif(&export.stdout);
    let second = run(&["export", "--data", again.data_str()]);
    assert_eq!(export.stdout, second.stdout);
    let entries = String::from_utf8(second.stdout)
        .unwrap()
        .matches("\ndn:")
        .count();
    assert!(entries >= 300, "{entries} entries");
}

#[test]
fn many_entries_wait_for_a_busy_server() {
    let top = format!("dn: {SUFFIX}\nobjectClass: organization\nobjectClass: dcObject\no: x\n\n");
    let loaded = LoadedStore::from_ldif(top.as_bytes());
    let mut command = loaded.serve_command("ldap://127.0.0.1:0");
    let serving = RunningServer::start(command.env("FULGURITE_LIMITS_PENDING_IDENTITY", "40"));
    let made = run(&["generate", "--users", "600"]);
    let (file, password) = ("people.ldif", "password");
    let [file, password] = [file, password].map(|name| loaded.root.path().join(name));
    std::fs::write(&file, made.stdout).unwrap();
    let url = format!("ldap://{}", serving.address);
    let login = ["-H", &url, "-D", ROOT, "-y", path(&password)];
    let added = run(&[
        &["load", "--add", "--parallel", "3", path(&file)],
        &login[..],
    ]
    .concat());
    assert!(added.status.success(), "{added:?}");
    serving.stop();
}

#[test]
fn an_export_into_a_closed_pipe_is_no_error() {
    let loaded = LoadedStore::generated(2000);
    let mut child = fulgurite()
        .args(["export", "--data", loaded.data_str()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
}

#[test]
fn generated_directories_are_the_same_everywhere() {
    let first = run(&["generate", "--users", "50", "--seed", "7"]);
    assert_eq!(
        first.stdout,
        run(&["generate", "--users", "50", "--seed", "7"]).stdout
    );
    assert_ne!(
        first.stdout,
        run(&["generate", "--users", "50", "--seed", "8"]).stdout
    );
}

#[test]
fn flags_win_over_the_file_and_the_file_over_the_environment() {
    let loaded = LoadedStore::generated(20);
    let file = loaded.root.path().join("fulgurite.toml");
    let text = format!(
        "data = \"{}\"\nlisten = [\"ldap://127.0.0.1:0\"]\n[root]\ndn = \"{ROOT}\"\npassword = \"file\"\n\
         [limits]\nsize = 3\n",
        loaded.data_str()
    );
    std::fs::write(&file, text).unwrap();
    let serve = |flags: &[&str]| {
        let mut command = fulgurite();
        command.args(["serve", "--config", path(&file)]).args(flags);
        command
            .env("FULGURITE_SUFFIX", SUFFIX)
            .env("FULGURITE_LIMITS_SIZE", "5");
        fulgurite_conformance::RunningServer::start(&mut command)
    };
    let found = |serving: &fulgurite_conformance::RunningServer| {
        let mut client = serving.client();
        let people = client
            .search(
                SUFFIX,
                fulgurite_client::Scope::Subtree,
                "(uid=*)",
                &["1.1"],
            )
            .unwrap();
        people.entries.len()
    };
    let serving = serve(&[]);
    assert_eq!(found(&serving), 3);
    let bound = serving.client().bind(ROOT, b"file").unwrap();
    assert!(bound.is_success(), "{bound:?}");
    serving.stop();
    let serving = serve(&["--size-limit", "4"]);
    assert_eq!(found(&serving), 4);
    serving.stop();
}
