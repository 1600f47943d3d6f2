//! Everyday work without LDIF: `fulgurite user`, `group`, `ou`, `search` and `apply`. They are
//! ordinary clients, so each history runs at our server and at Debian's slapd.

use std::process::Command;

use crate::data::{PASSWORD, ROOT, SUFFIX};
use crate::stage::{Ran, Running, Stage, ran};

/// A policy that obeys locks, and the modules that slapd needs for it.
const POLICY: &str = "overlay ppolicy\nppolicy_default cn=policy,dc=example,dc=com\n";

/// Runs a history at each server, at a directory that is empty.
fn at_both(label: &str, more: &str, history: impl Fn(&Desk<'_>)) {
    for (stage, name) in [
        (Stage::new(&format!("{label}-ours")), "ours"),
        (Stage::with_original(&format!("{label}-slapd")), "slapd"),
    ] {
        let modules = match more {
            "" => "",
            _ => "moduleload ppolicy.so\n",
        };
        let database = stage.database("db", SUFFIX, &format!("index uid eq\n{more}"));
        stage.configure(&format!("{modules}{database}"));
        stage.file("password", &format!("{PASSWORD}\n"));
        let server = stage.start();
        println!("at {name}");
        history(&Desk {
            stage: &stage,
            server: &server,
        });
        server.stop();
    }
}

/// An administrator's desk.
struct Desk<'s> {
    stage: &'s Stage,
    server: &'s Running<'s>,
}

impl Desk<'_> {
    /// Runs a command as the root.
    fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, "")
    }

    fn run_with(&self, arguments: &[&str], input: &str) -> Ran {
        let password = self.stage.text("password");
        let mut command = program();
        command.args(arguments);
        command.args(["--url", &self.server.url, "-D", ROOT, "-y", &password]);
        ran(&mut command, input)
    }

    /// Returns true if a name can bind with a password.
    fn binds(&self, dn: &str, password: &str) -> bool {
        let identity = (dn, password);
        self.server
            .client_as(identity, "ldapwhoami", &[], "")
            .status
            == 0
    }
}

fn program() -> Command {
    let mut command = fulgurite_conformance::fulgurite();
    for name in ["LDAPURI", "LDAPBASE", "LDAPTLS_CACERT", "LDAPTLS_REQCERT"] {
        command.env_remove(name);
    }
    command
}

#[test]
fn users_need_no_ldif() {
    at_both("users", "", |desk| {
        let made = desk.run(&[
            "user",
            "add",
            "ada",
            "--first",
            "Ada",
            "--last",
            "Lovelace",
            "--mail",
            "ada@x.org",
            "--mail",
            "al@x.org",
            "--posix",
            "--set",
            "title=Countess, of Lovelace",
            "--generate",
        ]);
        let generated = made.out.trim().to_owned();
        let told = made.err.clone();
        made.well();
        for line in [
            "dc=example,dc=com is made",
            "ou=people,dc=example,dc=com is made",
            "ada is made: uid=ada,ou=people,dc=example,dc=com",
        ] {
            assert!(told.contains(line), "{told}");
        }
        let ada = "uid=ada,ou=people,dc=example,dc=com";
        assert!(
            generated.len() >= 16 && desk.binds(ada, &generated),
            "{generated}"
        );
        let again = desk.run(&["user", "add", "ada", "--generate"]);
        assert!(again.err.contains("ada is there already"), "{again:?}");
        assert_eq!((again.status, again.out.as_str()), (0, ""));
        assert!(desk.binds(ada, &generated), "the password stays");

        // The next number is free, and a name with special characters is one name.
        let bob = desk.run(&["user", "add", "bob+x,y", "--cn", "Bob B", "--posix"]);
        assert!(bob.with_status(0).contains("has no password yet"));
        let shown = desk.run(&["user", "show", "bob+x,y", "--json"]).well();
        assert!(shown.contains("\"uid\":[\"bob+x,y\"]"), "{shown}");
        assert!(shown.contains("\"uidNumber\":[\"10001\"]"), "{shown}");
        assert!(shown.contains("\"sn\":[\"B\"]"), "{shown}");

        let shown = desk.run(&["user", "show", ada]).well();
        assert!(shown.contains("Countess, of Lovelace"), "{shown}");
        assert!(!shown.contains("userPassword"), "{shown}");
        let table = desk.run(&["user", "list"]).well();
        assert!(table.starts_with("UID"), "{table}");
        assert_eq!(table.lines().count(), 3, "{table}");
        let csv = desk.run(&["user", "list", "lovel", "--csv"]).well();
        let row = "ada,Ada Lovelace,ada@x.org|al@x.org,,\"uid=ada,ou=people,dc=example,dc=com\"";
        assert_eq!(csv.lines().nth(1), Some(row), "{csv}");

        let file = desk.stage.file("new", "another secret\n");
        let set = desk.run(&["user", "passwd", "ada", "--new-password-file", &file]);
        set.well();
        assert!(desk.binds(ada, "another secret") && !desk.binds(ada, &generated));

        desk.run(&["group", "add", "staff", "-m", "ada", "-m", "bob+x,y"])
            .well();
        assert!(
            desk.run(&["user", "show", "ada"])
                .well()
                .contains("cn=staff")
        );
        let gone = desk.run(&["user", "delete", "ada"]).with_status(0);
        assert!(gone.contains("no longer in cn=staff"), "{gone}");
        let members = desk.run(&["group", "members", "staff"]).well();
        assert_eq!(members.lines().count(), 1, "{members}");
        let missing = desk.run(&["user", "show", "ada"]).with_status(3);
        assert!(missing.contains("there is no user ada"), "{missing}");
        desk.run(&["user", "delete", "ada"]).with_status(3);
    });
}

#[test]
fn users_are_locked_where_a_policy_obeys() {
    at_both("locks", POLICY, |desk| {
        desk.run(&["user", "add", "ada", "--generate"]).well();
        let file = desk.stage.file("new", "a secret of ada\n");
        desk.run(&["user", "passwd", "ada", "--new-password-file", &file])
            .well();
        let policy = "dn: cn=policy,dc=example,dc=com\nobjectClass: device\n\
                      objectClass: pwdPolicy\npwdAttribute: userPassword\n";
        let before = desk.run(&["user", "lock", "ada"]).with_status(0);
        assert!(
            before.contains("no policy with pwdLockout TRUE"),
            "{before}"
        );
        desk.run(&["user", "unlock", "ada"]).well();
        let yes = format!("{policy}pwdLockout: TRUE\n");
        desk.run_with(&["apply", "-"], &yes).well();
        let ada = "uid=ada,ou=people,dc=example,dc=com";
        assert!(desk.binds(ada, "a secret of ada"));
        let locked = desk.run(&["user", "lock", "ada"]).with_status(0);
        assert!(!locked.contains("no policy"), "{locked}");
        assert!(!desk.binds(ada, "a secret of ada"));
        let again = desk.run(&["user", "lock", "ada"]).with_status(0);
        assert!(again.contains("is locked already"), "{again}");
        assert!(desk.run(&["user", "list"]).well().contains("000001010000Z"));
        desk.run(&["user", "unlock", "ada"]).well();
        assert!(desk.binds(ada, "a secret of ada"));
        let again = desk.run(&["user", "unlock", "ada"]).with_status(0);
        assert!(again.contains("is not locked"), "{again}");
    });
    at_both("no-locks", "", |desk| {
        desk.run(&["user", "add", "ada"]).well();
        let refused = desk.run(&["user", "lock", "ada"]).with_status(1);
        assert!(refused.contains("has no password policy"), "{refused}");
    });
}

#[test]
fn groups_have_members_of_each_form() {
    at_both("groups", "", |desk| {
        for name in ["ada", "bob", "chloe"] {
            desk.run(&["user", "add", name]).well();
        }
        let nobody = desk.run(&["group", "add", "staff"]).with_status(1);
        assert!(nobody.contains("needs a member"), "{nobody}");
        desk.run(&["group", "add", "staff", "-m", "ada"]).well();
        desk.run(&["group", "add", "crew", "-m", "ada", "--unique"])
            .well();
        desk.run(&["group", "add", "unix", "--posix", "--description", "a, b"])
            .well();
        let again = desk
            .run(&["group", "add", "unix", "--posix"])
            .with_status(0);
        assert!(again.contains("is there already"), "{again}");
        for group in ["staff", "crew", "unix"] {
            desk.run(&["group", "members", group, "--add", "ada", "--add", "bob"])
                .well();
            let change = ["group", "members", group, "--add", "bob", "--remove", "ada"];
            let told = desk.run(&change).with_status(0);
            assert!(
                told.contains("already") && told.contains("no longer"),
                "{told}"
            );
            let told = desk.run(&change).with_status(0);
            assert!(
                told.contains("already") && told.contains("is not in"),
                "{told}"
            );
            let members = desk.run(&["group", "members", group]).well();
            let one = match group {
                "unix" => "bob\n",
                _ => "uid=bob,ou=people,dc=example,dc=com\n",
            };
            assert_eq!(members, one);
        }
        let last = desk
            .run(&["group", "members", "staff", "-r", "bob"])
            .with_status(1);
        assert!(last.contains("keeps one member"), "{last}");
        let missing = desk
            .run(&["group", "members", "staff", "-a", "nobody"])
            .with_status(3);
        assert!(missing.contains("there is no user nobody"), "{missing}");
        let list = desk.run(&["group", "list", "--json"]).well();
        assert_eq!(list.lines().count(), 3, "{list}");
        assert!(list.contains("\"gidNumber\":[\"10000\"]"), "{list}");
        assert!(desk.run(&["group", "show", "unix"]).well().contains("a, b"));
        desk.run(&["group", "delete", "crew"]).well();
        desk.run(&["group", "delete", "crew"]).with_status(3);

        desk.run(&["ou", "add", "Ships, big", "--description", "x"])
            .well();
        let again = desk.run(&["ou", "add", "Ships, big"]).with_status(0);
        assert!(again.contains("is there already"), "{again}");
        assert!(
            desk.run(&["ou", "list", "ships"])
                .well()
                .contains("Ships, big")
        );
        let full = desk.run(&["ou", "delete", "people"]).with_status(1);
        assert!(full.contains("has entries below it"), "{full}");
        desk.run(&["ou", "delete", "Ships, big"]).well();
    });
}

#[test]
fn searches_show_what_is_asked() {
    at_both("searches", "", |desk| {
        for number in 0..12 {
            let name = format!("user{number:02}");
            desk.run(&["user", "add", &name, "--last", "Ö"]).well();
        }
        // More than one page, each form.
        let paged = ["search", "(uid=user*)", "uid", "--page", "5"];
        let table = desk.run(&paged).well();
        assert_eq!(table.lines().count(), 13, "{table}");
        assert!(table.starts_with("DN "), "{table}");
        let json = desk.run(&[&paged[..], &["--json"]].concat()).well();
        assert_eq!(json.lines().count(), 12, "{json}");
        assert!(
            json.contains("\"attributes\":{\"uid\":[\"user00\"]}"),
            "{json}"
        );
        let csv = desk.run(&[&paged[..], &["--csv"]].concat()).well();
        assert_eq!(csv.lines().next(), Some("dn,uid"));
        let ldif = desk.run(&["search", "(uid=user03)", "sn", "--ldif"]).well();
        assert_eq!(
            ldif,
            "dn: uid=user03,ou=people,dc=example,dc=com\nsn:: w5Y=\n\n"
        );
        let all = desk.run(&["search", "(uid=user03)"]).well();
        assert!(all.contains("objectClass  inetOrgPerson"), "{all}");
        let base = ["search", "-s", "base", "-b", SUFFIX, "dc"];
        assert!(desk.run(&base).well().contains("example"));
        let few = desk.run(&["search", "-z", "3", "(uid=*)", "uid"]);
        assert!(few.err.contains("sizeLimitExceeded"), "{few:?}");
        assert_eq!((few.status, few.out.lines().count()), (1, 4), "{}", few.out);
        let wrong = desk.run(&["search", "(uid=*"]).with_status(1);
        assert!(wrong.contains("parenthesis"), "{wrong}");
        let gone = desk
            .run(&["search", "-b", "dc=none", "(uid=*)"])
            .with_status(1);
        assert!(gone.contains("noSuchObject"), "{gone}");
    });
}

const YAML: &str = "\
- dn: uid=ada,ou=People, dc=example,dc=com
  objectClass: [inetOrgPerson, posixAccount]
  cn: Ada Lovelace
  sn: Lovelace
  mail: [ada@example.com, al@example.com]
  uidNumber: 0100
  gidNumber: 100
  homeDirectory: /home/ada
  manager: UID=Bob,ou=people,dc=example,dc=com
  title: null
  userPassword: a secret of ada
- dn: ou=people,dc=example,dc=com
  objectClass: organizationalUnit
- dn: uid=bob,ou=people,dc=example,dc=com
  objectClass: inetOrgPerson
  cn: Bob
  sn: B
- dn: dc=example,dc=com
  objectClass: [organization, dcObject]
  o: Example
";

#[test]
fn a_file_is_applied_once() {
    at_both("apply", "", |desk| {
        let yaml = YAML.replace("0100", "100");
        let file = desk.stage.file("people.yaml", &yaml);
        let shown = desk.run(&["apply", &file, "--dry-run"]).well();
        assert!(shown.contains("changetype: add\n"), "{shown}");
        desk.run(&["search", "-b", SUFFIX, "(uid=*)"])
            .with_status(1);
        let told = desk.run(&["apply", &file]).with_status(0);
        assert!(told.contains("4 added"), "{told}");
        assert!(desk.binds("uid=ada,ou=people,dc=example,dc=com", "a secret of ada"));
        let told = desk.run(&["apply", &file]).with_status(0);
        assert_eq!(told, "nothing to do\n");

        // Differences are changed, and other attributes stay.
        let more = "dn: uid=ada,ou=people,dc=example,dc=com\nmail: ada@example.com\ntitle: Countess\n\
                    objectClass: person\n";
        let told = desk.run_with(&["apply", "-"], more).with_status(0);
        assert!(told.contains("1 changed"), "{told}");
        let ldif = desk
            .run(&["search", "(uid=ada)", "mail", "title", "cn", "--json"])
            .well();
        assert!(ldif.contains("\"mail\":[\"ada@example.com\"]"), "{ldif}");
        assert!(
            ldif.contains("Countess") && ldif.contains("Ada Lovelace"),
            "{ldif}"
        );
        let told = desk.run(&["apply", &file, "--dry-run"]).well();
        assert!(told.contains("delete: title\n"), "{told}");
        assert!(told.contains("replace: mail\n"), "{told}");

        // Changes are applied by their effect.
        let changes = "dn: uid=bob,ou=people,dc=example,dc=com\nchangetype: modify\nadd: mail\nmail: b@x.org\n\
                       -\nreplace: sn\nsn: Bee\n-\ndelete: title\n-\n\n\
                       dn: uid=bob,ou=people,dc=example,dc=com\nchangetype: modrdn\nnewrdn: uid=bobby\n\
                       deleteoldrdn: 1\n\n\
                       dn: cn=none,dc=example,dc=com\nchangetype: delete\n\n";
        let changes = desk.stage.file("changes.ldif", changes);
        let told = desk.run(&["apply", &changes]).with_status(0);
        assert!(told.contains("1 changed, 1 renamed"), "{told}");
        let renamed = desk
            .run(&["search", "(uid=bobby)", "mail", "sn", "--csv"])
            .well();
        assert!(renamed.contains("b@x.org,Bee"), "{renamed}");

        let told = desk.run(&["apply", &changes]).with_status(0);
        assert_eq!(told, "nothing to do\n");
        apply_follows_renames(desk);

        let gone = "- dn: uid=bobby,ou=people,dc=example,dc=com\n  state: absent\n";
        let gone = desk.stage.file("gone.yml", gone);
        let kept = desk.run(&["apply", &gone]).with_status(0);
        assert!(kept.contains("--delete is not given"), "{kept}");
        let told = desk.run(&["apply", &gone, "--delete"]).with_status(0);
        assert!(told.contains("1 deleted"), "{told}");
        let told = desk.run(&["apply", &gone, "--delete"]).with_status(0);
        assert_eq!(told, "nothing to do\n");
        let refused = "- dn: uid=x,ou=people,dc=example,dc=com\n  objectClass: inetOrgPerson\n";
        let refused = desk.stage.file("refused.yaml", refused);
        let told = desk.run(&["apply", &refused]).with_status(1);
        assert!(
            told.contains("line 1") && told.contains("objectClassViolation"),
            "{told}"
        );
    });
}

/// Entries below a renamed one are found by their new names, and a second run changes nothing.
fn apply_follows_renames(desk: &Desk<'_>) {
    let rename = |old: &str, new: &str| {
        format!(
            "dn: ou={old},{SUFFIX}\nchangetype: modrdn\nnewrdn: ou={new}\ndeleteoldrdn: 1\n\n\
             dn: cn=eve,ou={new},{SUFFIX}\nchangetype: modify\nreplace: description\n\
             description: below {new}\n-\n\n"
        )
    };
    let added = format!(
        "dn: ou=old,{SUFFIX}\nchangetype: add\nobjectClass: organizationalUnit\nou: old\n\n\
         dn: cn=eve,ou=old,{SUFFIX}\nchangetype: add\nobjectClass: organizationalRole\ncn: eve\n\
         description: first\n\n"
    );
    for (text, counts) in [
        (rename("old", "new"), None),
        (
            added + &rename("old", "new"),
            Some("2 added, 1 changed, 1 renamed"),
        ),
        (
            rename("new", "newer") + &rename("newer", "newest"),
            Some("2 changed, 2 renamed"),
        ),
    ] {
        let file = desk.stage.file("renames.ldif", &text);
        let Some(counts) = counts else {
            desk.run(&["apply", &file]).with_status(3);
            continue;
        };
        let told = desk.run(&["apply", &file]).with_status(0);
        assert!(told.contains(counts), "{told}");
    }
    let text = rename("new", "newer") + &rename("newer", "newest");
    let again = text.split_inclusive("\n\n").enumerate();
    let last: String = again
        .filter(|(at, _)| *at != 1)
        .map(|(_, part)| part)
        .collect();
    let file = desk.stage.file("renames.ldif", &last);
    let told = desk.run(&["apply", &file]).with_status(0);
    assert_eq!(told, "nothing to do\n");
}

#[test]
fn many_entries_are_added_beside_a_server() {
    at_both("bulk", "", |desk| {
        let made = ran(program().args(["generate", "--users", "1500"]), "").well();
        let file = desk.stage.file("all.ldif", &made);
        let in_clear =
            made.matches("\nuserPassword: ").count() + made.matches("\nuserPassword:: ").count();
        let entries = made.matches("\ndn: ").count() + usize::from(made.starts_with("dn: "));
        let told = desk
            .run(&["load", "--add", &file, "--parallel", "3"])
            .with_status(0);
        assert!(told.contains(&format!("{entries} entries added")), "{told}");
        assert!(
            told.contains(&format!("passwords in clear: {in_clear};")),
            "{told}"
        );
        let told = desk.run(&["load", "--add", &file]).with_status(0);
        assert!(told.contains("0 entries added"), "{told}");
        assert!(
            told.contains(&format!("{entries} were there already")),
            "{told}"
        );

        // A child follows its parent at once, one entry is refused, and one below it too.
        let more = format!(
            "dn: ou=more,{SUFFIX}\nobjectClass: organizationalUnit\nou: more\n\n\
             dn: cn=a,ou=more,{SUFFIX}\nobjectClass: device\ncn: a\n\n\
             dn: ou=bad,{SUFFIX}\nobjectClass: organizationalUnit\nou: bad\nnonsense: x\n\n\
             dn: cn=b,ou=bad,{SUFFIX}\nobjectClass: device\ncn: b\n\n\
             dn: ou=last,{SUFFIX}\nobjectClass: organizationalUnit\nou: last\nentryUUID: x\n"
        );
        let more = desk.stage.file("more.ldif", &more);
        let told = desk
            .run(&["load", "--add", &more, "--continue"])
            .with_status(1);
        assert!(told.contains("more.ldif, line 9: ou=bad"), "{told}");
        assert!(told.contains("undefinedAttributeType"), "{told}");
        assert!(
            told.contains("operational attributes are left out"),
            "{told}"
        );
        let told = desk
            .run(&["load", "--add", &more, "--continue"])
            .with_status(1);
        assert!(
            told.contains("2 refused") && told.contains("3 were there"),
            "{told}"
        );
        // Children may come before their parents, in other transactions than these.
        let mut backwards: Vec<String> = (0..700)
            .map(|number| {
                format!("dn: cn=d{number},ou=late,{SUFFIX}\nobjectClass: device\ncn: d{number}\n")
            })
            .collect();
        backwards.push(format!(
            "dn: ou=late,{SUFFIX}\nobjectClass: organizationalUnit\nou: late\n"
        ));
        let backwards = desk.stage.file("backwards.ldif", &backwards.join("\n"));
        let told = desk.run(&["load", "--add", &backwards]).with_status(0);
        assert!(told.contains("701 entries added"), "{told}");
        let told = desk
            .run(&["load", "--add", "--data", "/tmp/x", &more])
            .with_status(1);
        assert!(told.contains("has its own --data"), "{told}");
    });
}
