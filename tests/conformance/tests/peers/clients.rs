//! Clients that know nothing of us: ldap-utils, python-ldap and ldap3, unmodified.

use std::path::{Path, PathBuf};
use std::process::Command;

use fulgurite_testkit::{Scratch, require_tool, run_bounded};

use crate::data::{Data, SUFFIX, USER_DN, USER_PASSWORD};
use crate::servers::{PATIENCE, ROOT_DN, ROOT_PASSWORD, Server};

/// A server with its scratch folder, which outlives it.
struct Rig {
    server: Server,
    scratch: Scratch,
}

impl Rig {
    fn start(label: &str) -> Self {
        let scratch = Scratch::new(label);
        let data = Data::make(&scratch, 200, 1);
        Self {
            server: Server::tested(&scratch.join("server"), data.file()),
            scratch,
        }
    }

    fn url(&self) -> String {
        format!("ldap://{}", self.server.address())
    }

    /// Runs one of the ldap-utils with an identity. Returns its status and output, unfolded.
    fn tool(&self, program: &str, who: Option<(&str, &str)>, arguments: &[&str]) -> (i32, String) {
        let mut command = Command::new(program);
        command.args(["-x", "-H", &self.url()]);
        if let Some((dn, password)) = who {
            command.args(["-D", dn, "-w", password]);
        }
        let outcome = run_bounded(command.args(arguments), PATIENCE);
        let fulgurite_testkit::Ended::Exit(status) = outcome.ended else {
            panic!("{program} {arguments:?}: {outcome:?}")
        };
        (
            status,
            format!("{}{}", outcome.stdout, outcome.stderr).replace("\n ", ""),
        )
    }

    fn root(&self, program: &str, arguments: &[&str]) -> (i32, String) {
        self.tool(program, Some((ROOT_DN, ROOT_PASSWORD)), arguments)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.scratch.join(name);
        std::fs::write(&path, text).expect("write a file for a tool");
        path
    }

    fn script(&self, name: &str) {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let python = here.join("../../build/venv/bin/python");
        assert!(
            python.exists(),
            "build/venv is missing: run `make test`, or scripts/setup.sh, which makes it"
        );
        let mut command = Command::new(python);
        command
            .arg(here.join("tests/peers").join(name))
            .arg(self.url());
        command.args([SUFFIX, ROOT_DN, ROOT_PASSWORD, USER_DN, USER_PASSWORD]);
        let outcome = run_bounded(&mut command, PATIENCE);
        assert!(
            outcome.success(),
            "{name}:\n{}\n{}\nserver:\n{}",
            outcome.stdout,
            outcome.stderr,
            self.server.log()
        );
        assert!(
            outcome.stdout.ends_with("all is well\n"),
            "{name} ended early:\n{}",
            outcome.stdout
        );
    }
}

#[test]
fn ldap_utils() {
    require_tool("ldapsearch", "-VV", "ldap-utils");
    let rig = Rig::start("ldap-utils");
    searches(&rig);
    updates(&rig);
    identities(&rig);
}

fn searches(rig: &Rig) {
    let plain = ["-LLL", "-b", SUFFIX];
    let (status, out) = rig.tool(
        "ldapsearch",
        None,
        &[&plain[..], &["(uid=ada)", "mail"]].concat(),
    );
    assert_eq!((status, out.matches("mail: ").count()), (0, 1), "{out}");
    assert!(out.starts_with(&format!("dn: {USER_DN}\n")), "{out}");
    // Sixty pages of four, in one connection.
    let paged = ["-E", "pr=4/noprompt", "(objectClass=*)", "1.1"];
    let (status, out) = rig.root("ldapsearch", &[&plain[..], &paged].concat());
    let entries = out.lines().filter(|line| line.starts_with("dn:")).count();
    assert_eq!(status, 0, "{out}");
    assert!(entries > 250, "{entries} entries");
    let (status, out) = rig.tool(
        "ldapsearch",
        None,
        &["-LLL", "-b", "ou=absent,dc=example,dc=org"],
    );
    assert!(
        status == 32 && out.contains(&format!("Matched DN: {SUFFIX}")),
        "{status}: {out}"
    );
    let (status, out) = rig.tool(
        "ldapsearch",
        None,
        &[&plain[..], &["-z", "2", "(uid=*)", "uid"]].concat(),
    );
    assert!(
        status == 4 && out.contains("Size limit exceeded"),
        "{status}: {out}"
    );
    let (status, out) = rig.tool("ldapsearch", None, &["-LLL", "-b", "", "-s", "base", "+"]);
    assert!(
        status == 0 && out.contains(&format!("namingContexts: {SUFFIX}")),
        "{status}: {out}"
    );
    let (status, out) = rig.tool(
        "ldapsearch",
        None,
        &["-LLL", "-b", "cn=Subschema", "-s", "base", "attributeTypes"],
    );
    assert!(
        status == 0 && out.contains("NAME 'uidNumber'"),
        "{status}: {out}"
    );
    let (status, out) = rig.tool(
        "ldapsearch",
        None,
        &[&plain[..], &["-A", "(uid=ada)", "sn", "uid"]].concat(),
    );
    assert!(
        status == 0 && out.contains("uid:\n") && !out.contains("uid: "),
        "{status}: {out}"
    );
}

fn updates(rig: &Rig) {
    let entry = "dn: uid=tool,dc=example,dc=org\nobjectClass: inetOrgPerson\nuid: tool\ncn: Tool\nsn: Tool\n\
                 description:: w6TDtsO8\nuserPassword: first\n";
    let entry = rig.file("add.ldif", entry);
    let entry = entry.to_string_lossy();
    assert_eq!(rig.root("ldapadd", &["-f", &entry]).0, 0);
    assert_eq!(
        rig.root("ldapadd", &["-f", &entry]).0,
        68,
        "it exists already"
    );
    let changes = "dn: uid=tool,dc=example,dc=org\nchangetype: modify\nreplace: sn\nsn: Hammer\n-\nadd: mail\n\
                   mail: tool@example.org\nmail: hammer@example.org\n-\ndelete: description\n";
    let changes = rig.file("modify.ldif", changes);
    let (status, out) = rig.root("ldapmodify", &["-f", &changes.to_string_lossy()]);
    assert_eq!(status, 0, "{out}");
    let (status, out) = rig.root("ldapmodify", &["-f", &changes.to_string_lossy()]);
    assert_eq!(status, 20, "the addresses are there already: {out}");
    assert_eq!(
        rig.root("ldapcompare", &["uid=tool,dc=example,dc=org", "sn:hammer"])
            .0,
        6
    );
    assert_eq!(
        rig.root("ldapcompare", &["uid=tool,dc=example,dc=org", "sn:Saw"])
            .0,
        5
    );
    let rename = [
        "-r",
        "-s",
        "ou=People,dc=example,dc=org",
        "uid=tool,dc=example,dc=org",
        "uid=hammer",
    ];
    assert_eq!(rig.root("ldapmodrdn", &rename).0, 0);
    let found = rig
        .root(
            "ldapsearch",
            &[
                "-LLL",
                "-M",
                "-b",
                SUFFIX,
                "(mail=hammer@*)",
                "uid",
                "description",
            ],
        )
        .1;
    assert_eq!(
        found.trim_end(),
        "dn: uid=hammer,ou=People,dc=example,dc=org\nuid: hammer"
    );
    let hammer = ("uid=hammer,ou=People,dc=example,dc=org", "first");
    assert_eq!(
        rig.tool("ldapwhoami", Some(hammer), &[]).0,
        0,
        "the password went with the entry"
    );
    assert_eq!(
        rig.root("ldapdelete", &["ou=People,dc=example,dc=org"]).0,
        66
    );
    assert_eq!(rig.root("ldapdelete", &[hammer.0]).0, 0);
    assert_eq!(rig.root("ldapdelete", &[hammer.0]).0, 32);
    assert_eq!(
        rig.tool("ldapdelete", Some((USER_DN, USER_PASSWORD)), &[USER_DN])
            .0,
        50,
        "not for users"
    );
}

fn identities(rig: &Rig) {
    assert_eq!(
        rig.tool("ldapwhoami", None, &[]),
        (0, "anonymous\n".to_owned())
    );
    let who = rig.tool("ldapwhoami", Some((USER_DN, USER_PASSWORD)), &[]);
    assert_eq!(who, (0, format!("dn:{USER_DN}\n")));
    assert_eq!(rig.root("ldapwhoami", &[]).1, format!("dn:{ROOT_DN}\n"));
    assert_eq!(rig.tool("ldapwhoami", Some((USER_DN, "wrong")), &[]).0, 49);
    assert_eq!(
        rig.tool(
            "ldapwhoami",
            Some(("uid=nobody,dc=example,dc=org", "wrong")),
            &[]
        )
        .0,
        49
    );
}

#[test]
fn python_ldap() {
    Rig::start("python-ldap").script("python_ldap_client.py");
}

#[test]
fn ldap3() {
    Rig::start("ldap3").script("ldap3_client.py");
}
