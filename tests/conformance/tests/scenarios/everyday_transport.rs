//! The ways of the commands to a server: a socket, StartTLS and ldaps. Refusals and referrals.

use std::process::Command;

use fulgurite_conformance::HeldPort;

use crate::data::{PASSWORD, ROOT, SUFFIX, UNORDERED};
use crate::identity::certificates;
use crate::stage::{Ran, Stage, ran};

fn program(arguments: &[&str]) -> Command {
    let mut command = fulgurite_conformance::fulgurite();
    for name in ["LDAPURI", "LDAPBASE", "LDAPTLS_CACERT", "LDAPTLS_REQCERT"] {
        command.env_remove(name);
    }
    command.args(arguments);
    command
}

fn run(arguments: &[&str]) -> Ran {
    ran(&mut program(arguments), "")
}

#[test]
fn servers_are_reached_by_each_way() {
    for (stage, name) in [
        (Stage::new("transport-ours"), "ours"),
        (Stage::with_original("transport-slapd"), "slapd"),
    ] {
        println!("at {name}");
        certificates(&stage);
        let folder = stage.text("");
        let folder = folder.trim_end_matches('/');
        let global = format!(
            "TLSCACertificateFile {folder}/ca.crt\nTLSCertificateFile {folder}/server.crt\n\
             TLSCertificateKeyFile {folder}/server.key\n\
             authz-regexp \"gidNumber=.*,cn=peercred,cn=external,cn=auth\" \"{ROOT}\"\n"
        );
        stage.configure(&(global + &stage.database("db", SUFFIX, "")));
        stage.add(UNORDERED).well();
        let password = stage.file("password", PASSWORD);
        let socket = format!("ldapi://{}", stage.text("socket").replace('/', "%2F"));
        let held = HeldPort::new();
        let secure = format!("ldaps://{}", held.address());
        let server = stage.start_at(&[&socket, &secure]);
        let ca = stage.text("ca.crt");

        // At the socket, the user of the system is the root by the mapping.
        run(&["user", "add", "ada", "-H", &socket, "--generate"]).well();
        let external = ["user", "show", "ada", "-H", &socket, "-Y", "external"];
        assert!(run(&external).well().contains("uid=ada"));

        // By TLS, with answers and requests of many records.
        let made = ran(&mut program(&["generate", "--users", "400"]), "").well();
        let made = stage.file("made.ldif", &made);
        let identity = ["-D", ROOT, "-y", &password, "--tls-ca", &ca];
        let load = ["load", "--add", "--continue", &made, "-H", &secure];
        run(&[&load[..], &identity].concat()).well();
        for way in [["-H", &secure, "--page=100"], ["-H", &server.url, "-Z"]] {
            let search = ["search", "(uid=*)", "--ldif"];
            let found = run(&[&search[..], &way, &identity].concat()).well();
            assert!(found.matches("dn: ").count() > 400, "{}", found.len());
        }
        let nobody = run(&[
            "search",
            "-H",
            &secure,
            "-s",
            "base",
            "--tls-insecure",
            "dc",
        ]);
        assert!(nobody.well().contains("example"));

        // The certificate is of another authority.
        let other = stage.text("server.crt");
        let search = ["search", "-H", &secure, "-s", "base"];
        let distrusted = run(&[&search[..], &["--tls-ca", &other]].concat()).with_status(1);
        assert!(
            distrusted.contains("TLS: invalid peer certificate"),
            "{distrusted}"
        );
        let distrusted = run(&search).with_status(1);
        assert!(distrusted.contains("TLS: "), "{distrusted}");

        // Refusals are sentences.
        let wrong = stage.file("wrong", "wrong");
        let wrong = ["user", "list", "-H", &server.url, "-D", ROOT, "-y", &wrong];
        let refused = run(&wrong).with_status(1);
        assert!(
            refused.contains("the bind is refused: invalidCredentials"),
            "{refused}"
        );
        let anonymous = run(&["user", "add", "bob", "-H", &server.url]).with_status(1);
        assert!(
            anonymous.contains("--as DN binds as somebody who may"),
            "{anonymous}"
        );
        let held = HeldPort::new();
        let nowhere = format!("ldap://{}", held.address());
        let nowhere = run(&["user", "list", "-H", &nowhere]).with_status(1);
        assert!(
            nowhere.contains("cannot reach ldap://127.0.0.1"),
            "{nowhere}"
        );
        server.stop();
    }
}

#[test]
fn a_referral_is_an_error_that_names_the_other_server() {
    let stage = Stage::new("transport-referral");
    let held = HeldPort::new();
    let shadow = format!(
        "syncrepl rid=1 provider=ldap://127.0.0.1:{held} searchbase=\"{SUFFIX}\" retry=\"60 +\" \
         bindmethod=simple\nupdateref ldap://master.example.com/\n"
    );
    stage.configure(&stage.database("db", SUFFIX, &shadow));
    stage.add(UNORDERED).well();
    let password = stage.file("password", PASSWORD);
    let server = stage.start();
    let identity = ["-H", &server.url, "-D", ROOT, "-y", &password];
    let told = run(&[&["ou", "add", "x"][..], &identity].concat()).with_status(1);
    assert!(told.contains("referral"), "{told}");
    assert!(told.contains("ask ldap://master.example.com/"), "{told}");
    server.stop();
}

/// Scripts stop a server as soon as they reach it. Its first listener answers here long before its
/// last one is open.
#[test]
fn a_server_ends_well_as_soon_as_it_is_reached() {
    let stage = Stage::new("transport-ended-early");
    stage.configure(&stage.database("db", SUFFIX, ""));
    let folder = stage.text("").replace('/', "%2F");
    let sockets: Vec<_> = (0..400)
        .map(|number| format!("ldapi://{folder}{number}"))
        .collect();
    let sockets: Vec<_> = sockets.iter().map(String::as_str).collect();
    stage.start_at(&sockets).stop();
}
