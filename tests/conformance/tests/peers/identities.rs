//! Identities: ldap-utils with TLS and SASL against ours and slapd, from the same slapd.conf.

use std::path::{Path, PathBuf};
use std::process::Command;

use fulgurite_testkit::{Ended, Scratch, require_tool, run_bounded};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

use crate::data::SUFFIX;
use crate::servers::{Doors, PATIENCE, ROOT_DN, ROOT_PASSWORD, Server};

const JANE: &str = "uid=jane,ou=people,dc=example,dc=org";
const JOHN: &str = "uid=john,ou=people,dc=example,dc=org";
const MARY: &str = "uid=mary,ou=people,dc=example,dc=org";

/// An authority with a server and a client.
struct Certificates(PathBuf);

impl Certificates {
    fn make(folder: &Path) -> Certificates {
        let made = Certificates(folder.to_owned());
        let mut parameters = CertificateParams::new(Vec::new()).expect("an authority");
        parameters
            .distinguished_name
            .push(DnType::CommonName, "Test CA");
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let own = parameters.self_signed(&key).expect("a certificate");
        made.write("ca.crt", &own.pem());
        let issuer = Issuer::new(parameters, key);
        for subject in ["server", "client"] {
            let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
            let mut parameters = CertificateParams::new(names).expect("a subject");
            parameters.distinguished_name = rcgen::DistinguishedName::new();
            parameters
                .distinguished_name
                .push(DnType::OrganizationName, "t");
            parameters
                .distinguished_name
                .push(DnType::CommonName, subject);
            let key = KeyPair::generate().expect("a key");
            let signed = parameters.signed_by(&key, &issuer).expect("a certificate");
            made.write(&format!("{subject}.crt"), &signed.pem());
            made.write(&format!("{subject}.key"), &key.serialize_pem());
        }
        made
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).expect("write a certificate");
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

fn configuration(certificates: &Certificates) -> String {
    let path = |name| certificates.path(name);
    format!(
        "TLSCertificateFile {}\nTLSCertificateKeyFile {}\nTLSCACertificateFile {}\nTLSVerifyClient try\n\
         authz-regexp \"^cn=client,o=t$\" \"{JANE}\"\n\
         authz-regexp \"^uid=(several),cn=[^,]*,cn=auth$\" \"ldap:///{SUFFIX}??sub?(objectClass=inetOrgPerson)\"\n\
         authz-regexp \"^uid=([^,]*),cn=[^,]*,cn=auth$\" \"ldap:///{SUFFIX}??sub?(uid=$1)\"\n\
         authz-policy to\n\
         access to attrs=userPassword by * auth\naccess to * by * read\n",
        path("server.crt"),
        path("server.key"),
        path("ca.crt"),
    )
}

const LDIF: &str = "dn: dc=example,dc=org
objectClass: dcObject
objectClass: organization
o: Example
dc: example

dn: ou=people,dc=example,dc=org
objectClass: organizationalUnit
ou: people

dn: uid=jane,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
uid: jane
cn: Jane
sn: Doe
userPassword: jane secret
authzTo: dn:uid=john,ou=people,dc=example,dc=org
authzTo: u:mary

dn: uid=john,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
uid: john
cn: John
sn: Doe
userPassword: {SSHA}HyfjoHK05TGtgHJGFR1uPTfwW9FRBi7d

dn: uid=mary,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
uid: mary
cn: Mary
sn: Mary
userPassword: mary secret
";

/// The listener by which a client connects.
#[derive(Clone, Copy, Debug)]
enum Way {
    Plain,
    Ldaps,
    /// The same, with a certificate of the client.
    Certified,
    StartTls,
    Socket,
}

struct Rig {
    _server: Server,
    doors: Doors,
}

impl Rig {
    fn start(ours: bool, folder: &Path, certificates: &Certificates) -> Rig {
        std::fs::create_dir_all(folder).expect("make a folder");
        let ldif = folder.join("data.ldif");
        std::fs::write(&ldif, LDIF).expect("write the data");
        let (server, doors) = Server::with_doors(ours, folder, &ldif, &configuration(certificates));
        Rig {
            _server: server,
            doors,
        }
    }

    /// The result of ldapwhoami: the name, or the number of the error.
    fn who_am_i(&self, certificates: &Certificates, way: Way, arguments: &[&str]) -> String {
        self.run(Command::new("ldapwhoami"), certificates, way, arguments)
    }

    /// The same over ldaps, bound to the server's certificate.
    fn bound_who_am_i(&self, certificates: &Certificates, arguments: &[&str]) -> String {
        let mut command = Command::new("ldapwhoami");
        command.env("LDAPSASL_CBINDING", "tls-endpoint");
        self.run(command, certificates, Way::Ldaps, arguments)
    }

    fn run(
        &self,
        mut command: Command,
        certificates: &Certificates,
        way: Way,
        arguments: &[&str],
    ) -> String {
        command.env("LDAPCONF", "/dev/null");
        command.env("LDAPTLS_CACERT", certificates.path("ca.crt"));
        command.env("LDAPTLS_REQCERT", "demand");
        if matches!(way, Way::Certified) {
            command.env("LDAPTLS_CERT", certificates.path("client.crt"));
            command.env("LDAPTLS_KEY", certificates.path("client.key"));
        }
        let url = match way {
            Way::Plain | Way::StartTls => &self.doors.plain,
            Way::Ldaps | Way::Certified => &self.doors.tls,
            Way::Socket => &self.doors.socket,
        };
        command.args(["-H", url]);
        if matches!(way, Way::StartTls) {
            command.arg("-ZZ");
        }
        let outcome = run_bounded(command.args(arguments), PATIENCE);
        let said = format!("{}{}", outcome.stdout, outcome.stderr);
        match outcome.ended {
            Ended::Exit(0) => outcome.stdout.trim().to_owned(),
            _ => {
                let code = said
                    .split_once('(')
                    .and_then(|(_, rest)| rest.split_once(')'));
                code.map_or_else(|| said.clone(), |(code, _)| code.to_owned())
            }
        }
    }
}

#[test]
#[allow(clippy::too_many_lines, reason = "one table")]
fn tls_and_sasl_as_ldap_utils_and_slapd_know_them() {
    require_tool("ldapwhoami", "-VV", "ldap-utils");
    let scratch = Scratch::new("identities");
    let certificates = Certificates::make(&scratch.join(""));
    let ours = Rig::start(true, &scratch.join("ours"), &certificates);
    let slapd = Rig::start(false, &scratch.join("slapd"), &certificates);
    let dn = |name: &str| format!("dn:{name}");
    let (jane, john, mary) = (dn(JANE), dn(JOHN), dn(MARY));
    let (simple, secret) = (["-x", "-D", JANE, "-w"], "jane secret");
    let simple = |more: &[&'static str]| [&simple[..], &[secret], more].concat();
    let root = |more: &[&'static str]| [&["-x", "-D", ROOT_DN, "-w", ROOT_PASSWORD], more].concat();
    let sasl = |mechanism: &'static str,
                user: &'static str,
                password: &'static str,
                more: &[&'static str]| {
        [&["-Q", "-Y", mechanism, "-U", user, "-w", password], more].concat()
    };
    let local = {
        let of = |flag| {
            run_bounded(Command::new("id").arg(flag), PATIENCE)
                .stdout
                .trim()
                .to_owned()
        };
        format!(
            "dn:gidNumber={}+uidNumber={},cn=peercred,cn=external,cn=auth",
            of("-g"),
            of("-u")
        )
    };
    let mut table: Vec<(Way, Vec<&str>, &str)> = vec![
        (Way::Plain, vec!["-x"], "anonymous"),
        (Way::Ldaps, vec!["-x"], "anonymous"),
        (Way::StartTls, vec!["-x"], "anonymous"),
        (Way::Socket, vec!["-x"], "anonymous"),
        (Way::Ldaps, vec!["-x", "-ZZ"], "1"),
        (Way::StartTls, simple(&[]), &jane),
        (Way::Socket, vec!["-Q", "-Y", "EXTERNAL"], &local),
        (Way::Certified, vec!["-Q", "-Y", "EXTERNAL"], &jane),
        (
            Way::Certified,
            vec!["-Q", "-Y", "EXTERNAL", "-X", "u:john"],
            &john,
        ),
        (
            Way::Certified,
            vec!["-Q", "-Y", "EXTERNAL", "-X", "dn:cn=nobody"],
            "50",
        ),
        (Way::Ldaps, sasl("PLAIN", "jane", "jane secret", &[]), &jane),
        (
            Way::StartTls,
            sasl("PLAIN", "jane", "jane secret", &[]),
            &jane,
        ),
        (
            Way::Socket,
            sasl("PLAIN", "jane", "jane secret", &[]),
            &jane,
        ),
        (Way::Plain, sasl("PLAIN", "jane", "jane secret", &[]), "-6"),
        (Way::Ldaps, sasl("PLAIN", "jane", "wrong", &[]), "49"),
        (Way::Ldaps, sasl("PLAIN", "nobody", "wrong", &[]), "49"),
        (
            Way::Ldaps,
            sasl("PLAIN", "several", "jane secret", &[]),
            "49",
        ),
        (
            Way::Ldaps,
            sasl("PLAIN", "jane", "jane secret", &["-X", "u:mary"]),
            &mary,
        ),
        (
            Way::Ldaps,
            sasl("PLAIN", "jane", "jane secret", &["-X", "u:nobody"]),
            "50",
        ),
        (
            Way::Ldaps,
            sasl("PLAIN", "jane", "jane secret", &["-X", "john"]),
            "50",
        ),
        (Way::Plain, simple(&["-e", "!authzid=u:john"]), "123"),
        (
            Way::Plain,
            simple(&["-e", "!authzid=dn:uid=john,ou=people,dc=example,dc=org"]),
            &john,
        ),
        (
            Way::Plain,
            simple(&["-e", "!authzid=dn:uid=mary,ou=people,dc=example,dc=org"]),
            &mary,
        ),
        (
            Way::Plain,
            simple(&["-e", "!authzid=dn:uid=mary,cn=plain,cn=auth"]),
            &mary,
        ),
        (Way::Plain, simple(&["-e", "!authzid="]), "anonymous"),
        (Way::Plain, simple(&["-e", "!authzid=dn:bad"]), "123"),
        (Way::Plain, simple(&["-e", "!authzid=x:y"]), "123"),
        (Way::Plain, vec!["-x", "-e", "!authzid="], "123"),
        (
            Way::Plain,
            root(&["-e", "!authzid=dn:uid=john,ou=people,dc=example,dc=org"]),
            &john,
        ),
        (
            Way::Plain,
            root(&["-e", "!authzid=dn:cn=x,dc=elsewhere"]),
            "123",
        ),
    ];
    for mechanism in ["SCRAM-SHA-1", "SCRAM-SHA-256", "SCRAM-SHA-512"] {
        for way in [Way::Plain, Way::StartTls] {
            table.push((way, sasl(mechanism, "jane", "jane secret", &[]), &jane));
        }
        table.push((Way::Plain, sasl(mechanism, "jane", "wrong", &[]), "49"));
        table.push((Way::Plain, sasl(mechanism, "nobody", "wrong", &[]), "49"));
        table.push((
            Way::Plain,
            sasl(mechanism, "john", "correct horse", &[]),
            "49",
        ));
        table.push((
            Way::Plain,
            sasl(mechanism, "jane", "jane secret", &["-X", "u:john"]),
            &john,
        ));
        table.push((
            Way::Plain,
            sasl(mechanism, "jane", "jane secret", &["-X", "u:nobody"]),
            "50",
        ));
    }
    for (way, arguments, expected) in table {
        let answer = ours.who_am_i(&certificates, way, &arguments);
        assert_eq!(answer, expected, "ours, {way:?} {arguments:?}");
        let judged = slapd.who_am_i(&certificates, way, &arguments);
        assert_eq!(judged, expected, "slapd, {way:?} {arguments:?}");
    }
    // Two tests are for ours alone. slapd takes a proof bound to the TLS layer only if configured
    // to. It cannot check a hashed password for PLAIN.
    let bound = sasl("SCRAM-SHA-256-PLUS", "jane", "jane secret", &[]);
    assert_eq!(ours.bound_who_am_i(&certificates, &bound), jane);
    let wrong = sasl("SCRAM-SHA-256-PLUS", "jane", "wrong", &[]);
    assert_eq!(ours.bound_who_am_i(&certificates, &wrong), "49");
    let hashed = sasl("PLAIN", "john", "correct horse", &[]);
    assert_eq!(ours.who_am_i(&certificates, Way::Ldaps, &hashed), john);
}
