//! Identities: binds, passwords, TLS.

use std::io::{self, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

use fulgurite_conformance::HeldPort;

use crate::data::{BABS, PASSWORD, ROOT, SUFFIX, UNORDERED};
use crate::stage::{Stage, is_ours, ran};

#[test]
fn who_am_i() {
    let stage = Stage::loaded("whoami", "", UNORDERED);
    let server = stage.start();
    assert_eq!(server.client("ldapwhoami", &[], "").well(), "anonymous\n");
    let babs = server
        .client_as((BABS, "bjensen"), "ldapwhoami", &[], "")
        .well();
    assert_eq!(babs.to_lowercase(), format!("dn:{}\n", BABS.to_lowercase()));
    server.root("ldapwhoami", &[], "").well();
    server
        .client_as((BABS, "wrong"), "ldapwhoami", &[], "")
        .with_status(49);
    server
        .client_as(("cn=nobody,dc=example,dc=com", "x"), "ldapwhoami", &[], "")
        .with_status(49);
    let acting = ["-e", &format!("!authzid=dn:{BABS}")];
    let acting = server.root("ldapwhoami", &acting, "").well();
    assert_eq!(
        acting.to_lowercase(),
        format!("dn:{}\n", BABS.to_lowercase())
    );
    let not_allowed = ["-e", &format!("!authzid=dn:{ROOT}")];
    let refused = server.client_as((BABS, "bjensen"), "ldapwhoami", &not_allowed, "");
    assert_ne!(refused.status, 0);
    assert!(refused.err.contains("(123)"), "{refused:?}");
    server.stop();
}

/// The header of a load balancer (PROXY protocol, version 2) about the client 192.0.2.7:4711.
const HEADER: [u8; 28] =
    *b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x07\xc6\x33\x64\x01\x12\x67\x01\x85";

/// Passes connections on to a port, behind a header. Returns its own port.
fn load_balancer(to: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its number").port();
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let Ok(mut server) = TcpStream::connect(("127.0.0.1", to)) else {
                continue;
            };
            server.write_all(&HEADER).expect("the header");
            let pairs = [
                (client.try_clone(), server.try_clone()),
                (Ok(server), Ok(client)),
            ];
            for (from, to) in pairs {
                let (mut from, mut to) = (from.expect("a socket"), to.expect("a socket"));
                std::thread::spawn(move || {
                    let _ = io::copy(&mut from, &mut to);
                    let _ = to.shutdown(std::net::Shutdown::Write);
                });
            }
        }
    });
    port
}

#[test]
fn a_load_balancer_names_the_client() {
    let rules = "access to * by peername.ip=192.0.2.7 read by * none";
    let stage = Stage::loaded("proxied", rules, UNORDERED);
    let held = HeldPort::new();
    let port = held.number();
    let server = stage.start_at(&[&format!("pldap://127.0.0.1:{port}/")]);
    let count = |url: &str| {
        let mut command = Command::new("ldapsearch");
        command.args(["-x", "-LLL", "-H", url, "-b", SUFFIX, "(sn=jensen)", "1.1"]);
        let found = ran(&mut command, "");
        (found.status, found.out.matches("dn: ").count())
    };
    assert_eq!(
        count(&format!("ldap://127.0.0.1:{}", load_balancer(port))),
        (0, 2)
    );
    assert_eq!(count(&server.url), (32, 0));
    // A client that does not speak of another one is refused.
    assert_ne!(count(&format!("ldap://127.0.0.1:{port}")).0, 0);
    server.stop();
    let log = stage.log();
    for line in [
        format!("ACCEPT from IP=192.0.2.7:4711 (IP=127.0.0.1:{port})"),
        "invalid header signature".to_owned(),
    ] {
        assert!(log.contains(&line), "{line} in {log}");
    }
}

#[test]
fn passwords_are_changed_and_made() {
    let rules = "access to attrs=userPassword by self write by anonymous auth by * none\naccess to * by * read";
    let stage = Stage::loaded("passwd", rules, UNORDERED);
    let server = stage.start();
    let babs = (BABS, "bjensen");
    server
        .client_as(babs, "ldappasswd", &["-s", "new one", BABS], "")
        .well();
    server
        .client_as(babs, "ldapwhoami", &[], "")
        .with_status(49);
    let babs = (BABS, "new one");
    server.client_as(babs, "ldapwhoami", &[], "").well();
    let made = server.client_as(babs, "ldappasswd", &[], "").well();
    let made = made
        .trim()
        .strip_prefix("New password: ")
        .expect("a new password")
        .to_owned();
    server
        .client_as((BABS, &made), "ldapwhoami", &[], "")
        .well();
    server.root("ldappasswd", &["-s", "third", BABS], "").well();
    server
        .client_as((BABS, "third"), "ldapwhoami", &[], "")
        .well();
    server.stop();
    // The stored value is a hash.
    let dump = stage.cat();
    assert!(!dump.contains("third"));
    let hash = stage
        .tool("passwd", &["-h", "{SSHA}", "-s", "fourth"], "")
        .well();
    assert!(hash.starts_with("{SSHA}") && hash.ends_with('\n'), "{hash}");
    let change =
        format!("dn: {BABS}\nchangetype: modify\nreplace: userPassword\nuserPassword: {hash}\n");
    let file = stage.file("password.ldif", &change);
    stage.tool("m", &["-l", &file], "").well();
    let server = stage.start();
    server
        .client_as((BABS, "fourth"), "ldapwhoami", &[], "")
        .well();
    server.stop();
}

#[test]
fn slappasswd_and_its_options() {
    let stage = Stage::usual("slappasswd", "");
    let made = |arguments: &[&str]| stage.tool("passwd", arguments, "");
    assert!(made(&["-s", "x"]).well().starts_with("{SSHA}"));
    assert_eq!(made(&["-h", "{CLEARTEXT}", "-n", "-s", "x"]).well(), "x");
    assert_eq!(
        made(&["-h", "{MD5}", "-s", "x"]).well(),
        "{MD5}ndTkYSaMgDT1yFZOFVxnpg==\n"
    );
    assert!(
        made(&["-h", "{CRYPT}", "-c", "$6$%.8s", "-s", "x"])
            .well()
            .starts_with("{CRYPT}$6$")
    );
    assert!(made(&["-g"]).well().trim().len() >= 8);
    let file = stage.file("password", "abc");
    assert_eq!(made(&["-h", "{CLEARTEXT}", "-T", &file]).well(), "abc\n");
    let said = made(&["-h", "{NONE}", "-s", "x"]).with_status(1);
    assert!(
        said.contains("Password generation failed for scheme {NONE}"),
        "{said}"
    );
    made(&["-s", "x", "-g"]).with_status(1);
    made(&["-s", "x", "more"]).with_status(1);
}

#[test]
fn slapauth_maps_identities() {
    let mapping = "authz-regexp uid=([^,]*),cn=.*,cn=auth uid=$1,ou=People,dc=example,dc=com\nauthz-policy to\n";
    let stage = Stage::new("slapauth");
    stage.configure(&format!("{mapping}{}", stage.database("db", SUFFIX, "")));
    let people = "dn: dc=example,dc=com\nobjectClass: domain\ndc: example\n\n\
                  dn: ou=People,dc=example,dc=com\nobjectClass: organizationalUnit\nou: People\n\n\
                  dn: uid=foo,ou=People,dc=example,dc=com\nobjectClass: account\nuid: foo\n\
                  authzTo: dn:uid=bar,ou=People,dc=example,dc=com\n\n\
                  dn: uid=bar,ou=People,dc=example,dc=com\nobjectClass: account\nuid: bar\n";
    stage.add(people).well();
    let said = |arguments: &[&str]| stage.tool("auth", arguments, "").with_status(0);
    assert_eq!(
        said(&["-M", "PLAIN", "-U", "foo"]),
        "ID: <foo> check succeeded\nauthcID:     <uid=foo,ou=people,dc=example,dc=com>\n"
    );
    let foo = "authcDN: <uid=foo,ou=people,dc=example,dc=com>\n";
    let bar = "authzDN: <uid=bar,ou=people,dc=example,dc=com>\n";
    assert_eq!(
        said(&["-M", "PLAIN", "-U", "foo", "-X", "u:bar"]),
        format!("ID:      <foo>\n{foo}{bar}authorization OK\n")
    );
    assert!(said(&["-M", "PLAIN", "-U", "bar", "-X", "u:foo"]).ends_with("authorization failed\n"));
    assert!(said(&["foo", "bar"]).contains("authcID:     <uid=bar,cn=auth>\n"));
    stage.tool("auth", &["-X", "u:bar"], "").with_status(1);
    let wrong = stage.tool("auth", &["-M", "PLAIN", "-U", "foo", "-X", "dn:bad"], "");
    assert!(
        wrong
            .with_status(1)
            .contains("authzID: <dn:bad> check failed 21")
    );
}

/// Makes an authority, a server's and a client's certificate in the stage's folder.
pub(crate) fn certificates(stage: &Stage) {
    let openssl = |arguments: &[&str]| {
        let mut command = Command::new("openssl");
        ran(command.args(arguments).current_dir(stage.path(".")), "").well();
    };
    openssl(&[
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        "ca.key",
        "-out",
        "ca.crt",
        "-days",
        "30",
        "-subj",
        "/O=Test/CN=Authority",
    ]);
    for (name, subject) in [
        ("server", "/O=Test/CN=localhost"),
        ("client", "/DC=com/DC=example/OU=People/CN=Barbara Jensen"),
    ] {
        let (key, request, certificate) = (
            format!("{name}.key"),
            format!("{name}.csr"),
            format!("{name}.crt"),
        );
        stage.file("extensions", "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
        openssl(&[
            "req", "-newkey", "rsa:2048", "-nodes", "-keyout", &key, "-out", &request, "-subj",
            subject,
        ]);
        openssl(&[
            "x509",
            "-req",
            "-in",
            &request,
            "-CA",
            "ca.crt",
            "-CAkey",
            "ca.key",
            "-CAcreateserial",
            "-days",
            "30",
            "-extfile",
            "extensions",
            "-out",
            &certificate,
        ]);
    }
}

#[test]
fn tls_and_client_certificates() {
    let stage = Stage::new("tls");
    certificates(&stage);
    let folder = stage.text("");
    let folder = folder.trim_end_matches('/');
    let tls = format!(
        "TLSCACertificateFile {folder}/ca.crt\nTLSCertificateFile {folder}/server.crt\n\
         TLSCertificateKeyFile {folder}/server.key\nTLSVerifyClient try\n\
         authz-regexp \"^cn=barbara jensen,ou=people,dc=example,dc=com$\" \"cn=Barbara Jensen,ou=People,dc=example,dc=com\"\n"
    );
    stage.configure(&(tls + &stage.database("db", SUFFIX, "")));
    stage.add(UNORDERED).well();
    let socket = format!("ldapi://{}", stage.text("socket").replace('/', "%2F"));
    let server = stage.start_at(&[&socket]);
    let port = server
        .url
        .trim_end_matches('/')
        .rsplit(':')
        .next()
        .unwrap_or_default();
    let url = format!("ldap://localhost:{port}/");
    let whoami = |url: &str, more: &[&str], client: bool| {
        let mut command = Command::new("ldapwhoami");
        command
            .args(["-H", url])
            .args(more)
            .env("LDAPTLS_CACERT", stage.path("ca.crt"))
            // The client asks for the name of the machine even when given localhost.
            .env("LDAPTLS_REQCERT", "allow");
        if client {
            command.env("LDAPTLS_CERT", stage.path("client.crt"));
            command.env("LDAPTLS_KEY", stage.path("client.key"));
        }
        ran(&mut command, "")
    };
    assert_eq!(whoami(&url, &["-x", "-ZZ"], false).well(), "anonymous\n");
    let simple = ["-x", "-ZZ", "-D", ROOT, "-w", PASSWORD];
    whoami(&url, &simple, false).well();
    let external = ["-Q", "-ZZ", "-Y", "EXTERNAL"];
    let babs = whoami(&url, &external, true).well();
    assert_eq!(babs.to_lowercase(), format!("dn:{}\n", BABS.to_lowercase()));
    assert_ne!(whoami(&url, &external, false).status, 0);
    // The peer of a UNIX socket.
    let peer = whoami(&socket, &["-Q", "-Y", "EXTERNAL"], false).well();
    assert!(peer.contains("cn=peercred,cn=external,cn=auth"), "{peer}");
    let log = stage.log();
    server.stop();
    if is_ours() {
        let bound = format!("BIND dn={BABS:?} method=163 mech=\"EXTERNAL\"");
        let (log, bound) = (log.to_lowercase(), bound.to_lowercase());
        assert!(log.contains(&bound), "{log}");
    }
}

/// slapd takes such a certificate for an identity.
#[test]
fn a_certificate_of_version_1_is_no_identity() {
    if !is_ours() {
        return;
    }
    for (verify, succeeds) in [("allow", true), ("try", false)] {
        let stage = Stage::new("tls-version-1");
        certificates(&stage);
        let folder = stage.text("");
        let folder = folder.trim_end_matches('/');
        let mut command = Command::new("openssl");
        command.current_dir(folder).args(["x509", "-req"]);
        command.args(["-in", "client.csr", "-CA", "ca.crt", "-CAkey", "ca.key"]);
        command.args(["-CAcreateserial", "-days", "30", "-out", "client.crt"]);
        ran(&mut command, "").well();
        let tls = format!(
            "TLSCACertificateFile {folder}/ca.crt\nTLSCertificateFile {folder}/server.crt\n\
             TLSCertificateKeyFile {folder}/server.key\nTLSVerifyClient {verify}\n"
        );
        stage.configure(&(tls + &stage.database("db", SUFFIX, "")));
        stage.add(UNORDERED).well();
        let server = stage.start();
        let mut command = Command::new("ldapwhoami");
        let simple = ["-x", "-ZZ", "-D", ROOT, "-w", PASSWORD];
        command.args(["-H", &server.url]).args(simple);
        command.env("LDAPTLS_CACERT", stage.path("ca.crt"));
        command.env("LDAPTLS_REQCERT", "allow");
        command.env("LDAPTLS_CERT", stage.path("client.crt"));
        command.env("LDAPTLS_KEY", stage.path("client.key"));
        let answer = ran(&mut command, "");
        let log = stage.log();
        server.stop();
        assert_eq!(answer.status == 0, succeeds, "{verify}: {answer:?}\n{log}");
        let reason = "TLS negotiation failure: the client's certificate is not of X.509 version 3";
        assert_eq!(log.contains(reason), !succeeds, "{log}");
    }
}
