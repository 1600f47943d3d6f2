//! The variables of container images: what a server with them serves, at the first start and later.

use std::process::Command;

use fulgurite_conformance::{RunningServer, TIMEOUT, fulgurite};
use fulgurite_testkit::{Ended, run_bounded, run_fed};
use tempfile::TempDir;

/// Starts a server with these variables alone.
fn start(data: &TempDir, variables: &[(&str, &str)]) -> RunningServer {
    let mut command = fulgurite();
    command.env_clear().envs(variables.iter().copied());
    command.args(["serve", "--listen", "ldap://127.0.0.1:0", "--data"]);
    RunningServer::start(command.arg(data.path().join("db")))
}

/// Returns the output of a search.
fn search(server: &RunningServer, who: (&str, &str), arguments: &[&str]) -> String {
    let mut command = Command::new("ldapsearch");
    let url = format!("ldap://{}", server.address);
    command.args(["-x", "-LLL", "-o", "ldif-wrap=no", "-H", &url]);
    command.args(["-D", who.0, "-w", who.1]).args(arguments);
    let outcome = run_bounded(&mut command, TIMEOUT);
    assert!(outcome.success(), "{outcome:?}");
    outcome.stdout
}

#[test]
fn the_databases_of_bitnami_have_their_numbers() {
    let data = TempDir::new().expect("make a directory");
    let mut variables = vec![
        ("LDAP_ROOT", "dc=example,dc=org"),
        ("LDAP_ADMIN_PASSWORD", "one"),
        ("LDAP_CONFIG_ADMIN_ENABLED", "yes"),
        ("LDAP_CONFIG_ADMIN_PASSWORD", "conf"),
        ("LDAP_USERS", "ada,bob"),
        ("LDAP_PASSWORDS", "a,b"),
        ("LDAP_CONFIGURE_PPOLICY", "yes"),
        ("LDAP_PPOLICY_HASH_CLEARTEXT", "yes"),
        ("LDAP_ENABLE_ACCESSLOG", "yes"),
        ("LDAP_ACCESSLOG_ADMIN_PASSWORD", "log"),
    ];
    let config = ("cn=admin,cn=config", "conf");
    let names = ["-b", "cn=config", "(olcDatabase=*)", "1.1"];
    let server = start(&data, &variables);
    let found = search(&server, config, &names);
    for dn in ["{1}monitor,cn=config", "{2}mdb,cn=config"] {
        assert!(found.contains(&format!("dn: olcDatabase={dn}")), "{found}");
    }
    let overlays = search(&server, config, &["-b", "cn=config", "(olcOverlay=*)"]);
    assert!(
        overlays.contains("{0}ppolicy,olcDatabase={2}mdb") && overlays.contains("Cleartext: TRUE"),
        "{overlays}"
    );
    let all = ["-b", "dc=example,dc=org", "(objectClass=*)", "1.1"];
    let before = search(&server, ("cn=admin,dc=example,dc=org", "one"), &all);
    assert!(before.contains("dn: cn=readers,ou=groups,"), "{before}");
    search(
        &server,
        ("cn=bob,ou=users,dc=example,dc=org", "b"),
        &["-b", "", "-s", "base"],
    );
    // The log of changes, for its own root and that of the data.
    let log = ["-b", "cn=accesslog", "-s", "base", "1.1"];
    for who in [
        ("cn=admin,cn=accesslog", "log"),
        ("cn=admin,dc=example,dc=org", "one"),
    ] {
        let found = search(&server, who, &log);
        assert!(found.contains("dn: cn=accesslog"), "{found}");
    }
    server.stop();
    // The second start adds nothing; the new password counts.
    variables[1].1 = "two";
    let server = start(&data, &variables);
    let root = ("cn=admin,dc=example,dc=org", "two");
    assert_eq!(search(&server, root, &all), before);
    let monitor = search(&server, root, &["-b", "cn=Monitor", "-s", "base", "1.1"]);
    assert!(monitor.contains("dn: cn=Monitor"), "{monitor}");
    let log = server.stop();
    assert!(
        !log.iter().any(|line| line.contains("have been added")),
        "{log:?}"
    );
}

#[test]
fn changes_of_files_are_made_once() {
    let data = TempDir::new().expect("make a directory");
    let ldif = data.path().join("ldif");
    std::fs::create_dir_all(&ldif).expect("make a directory");
    let write = |name: &str, text: &str| std::fs::write(ldif.join(name), text).expect("write");
    let folder = ldif.display().to_string();
    let variables = [
        ("LDAP_DOMAIN", "example.org"),
        ("LDAP_ADMIN_PASSWORD", "one"),
        ("LDAP_SEED_INTERNAL_LDIF_PATH", folder.as_str()),
    ];
    let root = ("cn=admin,dc=example,dc=org", "one");
    let title = ["-b", "dc=example,dc=org", "(ou=team)", "description"];
    write(
        "10.ldif",
        "dn: ou=team,{{ LDAP_BASE_DN }}\nchangetype: add\nobjectClass: organizationalUnit\nou: team\n\n\
         dn: ou=nobody,{{ LDAP_BASE_DN }}\nchangetype: modify\nreplace: description\ndescription: x\n\n\
         dn: ou=team,{{ LDAP_BASE_DN }}\nchangetype: modify\nreplace: description\ndescription: first\n-\n",
    );
    let server = start(&data, &variables);
    let found = search(&server, root, &title);
    assert!(found.contains("description: first"), "{found}");
    // A change by a client stays, although the file has another value.
    let change = "dn: ou=team,dc=example,dc=org\nchangetype: modify\nreplace: description\n\
                  description: by hand\n";
    let mut command = Command::new("ldapmodify");
    let url = format!("ldap://{}", server.address);
    command.args(["-x", "-H", &url, "-D", root.0, "-w", root.1]);
    let changed = run_fed(&mut command, change.into(), TIMEOUT);
    assert_eq!(changed.ended, Ended::Exit(0), "{changed:?}");
    server.stop();
    let server = start(&data, &variables);
    assert!(search(&server, root, &title).contains("by hand"));
    server.stop();
    write(
        "10.ldif",
        "dn: ou=team,{{ LDAP_BASE_DN }}\nchangetype: modify\nreplace: description\ndescription: second\n",
    );
    let server = start(&data, &variables);
    assert!(search(&server, root, &title).contains("description: second"));
    server.stop();
    write(
        "20.ldif",
        "dn: olcDatabase={1}mdb,cn=config\nchangetype: delete\n",
    );
    let mut command = fulgurite();
    command
        .env_clear()
        .envs(variables)
        .args(["serve", "--listen", "ldap://127.0.0.1:0"]);
    command.arg("--data").arg(data.path().join("db"));
    let refused = run_bounded(&mut command, TIMEOUT);
    assert!(!refused.success(), "{refused:?}");
    assert!(refused.stderr.contains("20.ldif: line 1"), "{refused:?}");
}

#[test]
fn files_of_osixia_have_words_in_braces() {
    let data = TempDir::new().expect("make a directory");
    let ldif = data.path().join("ldif");
    std::fs::create_dir_all(ldif.join("custom")).expect("make directories");
    let write = |name: &str, text: &str| std::fs::write(ldif.join(name), text).expect("write");
    write(
        "10.ldif",
        "dn: ou=groups,{{ LDAP_BASE_DN }}\nobjectClass: organizationalUnit\nou: groups\n",
    );
    write(
        "custom/20.ldif",
        "dn: cn=team,ou=groups,{{LDAP_BASE_DN}}\nobjectClass: groupOfUniqueNames\ncn: team\n\
         uniqueMember: cn=reader,{{ LDAP_BASE_DN }}\n\n\
         dn: cn=app,ou=groups,{{ LDAP_BASE_DN }}\nobjectClass: simpleSecurityObject\n\
         objectClass: organizationalRole\ncn: app\n\
         userPassword: {{ LDAP_READONLY_USER_PASSWORD_ENCRYPTED }}\n",
    );
    let folder = ldif.display().to_string();
    let variables = [
        ("LDAP_DOMAIN", "example.org"),
        ("LDAP_ADMIN_PASSWORD", "one"),
        ("LDAP_READONLY_USER", "true"),
        ("LDAP_READONLY_USER_USERNAME", "reader"),
        ("LDAP_READONLY_USER_PASSWORD", "opensesame"),
        ("LDAP_SEED_INTERNAL_LDIF_PATH", folder.as_str()),
    ];
    let reader = ("cn=reader,dc=example,dc=org", "opensesame");
    let whole = [
        "-b",
        "dc=example,dc=org",
        "(objectClass=*)",
        "*",
        "memberOf",
    ];
    let server = start(&data, &variables);
    let before = search(&server, reader, &whole);
    assert!(
        before.contains("memberOf: cn=team,ou=groups,dc=example,dc=org"),
        "{before}"
    );
    let app = ("cn=app,ou=groups,dc=example,dc=org", "opensesame");
    search(&server, app, &["-b", "", "-s", "base"]);
    server.stop();
    let server = start(&data, &variables);
    assert_eq!(search(&server, reader, &whole), before);
    let logged = server.stop();
    // The image's `refint` has its indexes, though nobody has named them.
    let slow = logged
        .iter()
        .find(|line| line.contains("reads all entries"));
    assert_eq!(slow, None);
    let mut index = fulgurite();
    index.args(["index", "--status", "--data"]);
    let kept = run_bounded(index.arg(data.path().join("db")), TIMEOUT);
    for line in ["owner:eq  complete", "manager:eq  complete"] {
        assert!(kept.stdout.contains(line), "{kept:?}");
    }
}

/// Returns the command of a server with these variables that is expected to end by itself.
fn refused(data: &TempDir, variables: &[(&str, &str)]) -> String {
    let mut command = fulgurite();
    command.env_clear().envs(variables.iter().copied());
    command.args(["serve", "--listen", "ldap://127.0.0.1:0", "--data"]);
    let outcome = run_bounded(command.arg(data.path().join("db")), TIMEOUT);
    assert!(!outcome.success(), "{outcome:?}");
    outcome.stderr
}

/// The records of the guides for both images: module, overlay and policy, indexes, rules, limits,
/// definitions.
const RECORDS: &str = "dn: cn=module{0},cn=config
changetype: modify
add: olcModuleLoad
olcModuleLoad: memberof.la
-
add: olcModuleLoad
olcModuleLoad: ppolicy.la

dn: olcOverlay=memberof,olcDatabase={2}mdb,cn=config
changetype: add
objectClass: olcOverlayConfig
objectClass: olcMemberOf
olcOverlay: memberof
olcMemberOfDangling: ignore
olcMemberOfRefInt: TRUE
olcMemberOfGroupOC: groupOfNames
olcMemberOfMemberAD: member
olcMemberOfMemberOfAD: memberOf

dn: olcOverlay=refint,olcDatabase={2}mdb,cn=config
objectClass: olcOverlayConfig
objectClass: olcRefintConfig
olcOverlay: refint
olcRefintAttribute: memberOf member manager owner

dn: olcOverlay=ppolicy,olcDatabase={2}mdb,cn=config
objectClass: olcOverlayConfig
objectClass: olcPPolicyConfig
olcOverlay: ppolicy
olcPPolicyDefault: cn=default,ou=policies,dc=example,dc=org
olcPPolicyUseLockout: TRUE

dn: cn=phones,cn=schema,cn=config
objectClass: olcSchemaConfig
cn: phones
olcAttributeTypes: ( 1.3.6.1.4.1.99999.2.1 NAME 'phoneModel' SUP name )
olcObjectClasses: ( 1.3.6.1.4.1.99999.2.2 NAME 'phoneOwner' AUXILIARY MAY phoneModel )

dn: cn=config
changetype: modify
replace: olcLogLevel
olcLogLevel: stats
-
replace: olcIdleTimeout
olcIdleTimeout: 600

dn: olcDatabase={-1}frontend,cn=config
changetype: modify
replace: olcSizeLimit
olcSizeLimit: size.soft=3 size.hard=unlimited

dn: olcDatabase={2}mdb,cn=config
changetype: modify
add: olcDbIndex
olcDbIndex: phoneModel eq,sub
-
replace: olcAccess
olcAccess: {0}to attrs=userPassword
  by self write
  by anonymous auth
  by * none
olcAccess: {1}to attrs=mail by * none
olcAccess: {2}to * by * read
";

/// Entries that need what the records bring.
const ENTRIES: &str = "dn: ou=policies,dc=example,dc=org
objectClass: organizationalUnit
ou: policies

dn: cn=default,ou=policies,dc=example,dc=org
objectClass: device
objectClass: pwdPolicy
cn: default
pwdAttribute: userPassword
pwdLockout: TRUE
pwdMaxFailure: 2

dn: cn=ada,dc=example,dc=org
objectClass: inetOrgPerson
objectClass: phoneOwner
cn: ada
sn: ada
mail: ada@example.org
phoneModel: T 65
userPassword: lovelace

dn: cn=team,dc=example,dc=org
objectClass: groupOfNames
cn: team
member: cn=ada,dc=example,dc=org
";

#[test]
fn records_of_the_configuration_hold_at_every_start() {
    for (variable, value) in [
        ("LDAP_DOMAIN", "example.org"),
        ("LDAP_ROOT", "dc=example,dc=org"),
    ] {
        let data = TempDir::new().expect("make a directory");
        let ldif = data.path().join("ldif");
        std::fs::create_dir_all(ldif.join("custom")).expect("make directories");
        let write = |name: &str, text: &str| std::fs::write(ldif.join(name), text).expect("write");
        write("custom/10-config.ldif", RECORDS);
        write("custom/20-entries.ldif", ENTRIES);
        let folder = ldif.display().to_string();
        let variables = [
            (variable, value),
            ("LDAP_ADMIN_PASSWORD", "one"),
            ("LDAP_CONFIG_ADMIN_ENABLED", "yes"),
            ("LDAP_CONFIG_ADMIN_PASSWORD", "conf"),
            ("LDAP_CONFIG_PASSWORD", "conf"),
            ("LDAP_CUSTOM_LDIF_DIR", folder.as_str()),
        ];
        let ada = ("cn=ada,dc=example,dc=org", "lovelace");
        let config = ("cn=admin,cn=config", "conf");
        let wanted = [
            "-b",
            "dc=example,dc=org",
            "(phoneModel=t 65)",
            "*",
            "memberOf",
        ];
        let overlays = ["-b", "cn=config", "(|(olcOverlay=*)(olcAccess=*))"];
        let mut seen = Vec::new();
        for start_number in 0..2 {
            let server = start(&data, &variables);
            let found = search(&server, ada, &wanted);
            assert!(
                found.contains("memberOf: cn=team,dc=example,dc=org"),
                "{found}"
            );
            assert!(!found.contains("mail:"), "{found}");
            seen.push(search(&server, config, &overlays));
            // The bound of all databases.
            let mut command = Command::new("ldapsearch");
            let url = format!("ldap://{}", server.address);
            command.args(["-x", "-LLL", "-H", &url, "-b", "dc=example,dc=org", "1.1"]);
            let outcome = run_bounded(&mut command, TIMEOUT);
            assert_eq!(outcome.ended, Ended::Exit(4), "{outcome:?}");
            if start_number == 1 {
                // The policy locks her out.
                for _ in 0..3 {
                    let mut command = Command::new("ldapwhoami");
                    command.args(["-x", "-H", &url, "-D", ada.0, "-w", "wrong"]);
                    assert!(!run_bounded(&mut command, TIMEOUT).success());
                }
                let mut command = Command::new("ldapwhoami");
                command.args(["-x", "-H", &url, "-D", ada.0, "-w", ada.1]);
                assert!(!run_bounded(&mut command, TIMEOUT).success());
            }
            server.stop();
        }
        assert_eq!(seen[0], seen[1]);
        assert!(
            seen[0].contains("olcPPolicyDefault: cn=default,"),
            "{}",
            seen[0]
        );
        assert!(
            seen[0].contains("{1}to attrs=mail by * none"),
            "{}",
            seen[0]
        );
        write(
            "custom/30-wrong.ldif",
            "\ndn: olcDatabase={1}mdb,cn=config\nchangetype: modify\nadd: olcSizeLimit\n\
             olcSizeLimit: many\n",
        );
        let text = refused(&data, &variables);
        assert!(text.contains("30-wrong.ldif: line 2: "), "{text}");
        assert!(
            text.contains("<olcSizeLimit> unable to parse limit"),
            "{text}"
        );
    }
}
