//! A configuration of slapd that is written as TOML and read again has the same settings.

use std::path::Path;

use fulgurite_config::{Layer, Settings};
use proptest::prelude::*;

/// Directives of the server and of the frontend.
const GLOBAL: &[&str] = &[
    "sizelimit size.soft=10 size.hard=soft size.unchecked=7",
    "timelimit unlimited",
    "idletimeout 30",
    "writetimeout 0",
    "threads 8",
    "loglevel stats config",
    "require bind authc",
    "allow bind_v2",
    "disallow bind_anon tls_authc",
    "security ssf=1 update_ssf=112 simple_bind=64",
    "restrict add modify",
    "password-hash {SSHA512} {ARGON2}",
    "sasl-secprops noanonymous,minssf=56",
    "authz-regexp \"uid=([^,]*),cn=[^,]*,cn=auth\" \"uid=$1,ou=a \\\"b\\\",dc=x\"",
    "authz-regexp uid=a,.* cn=a",
    "authz-policy to",
    "serverID 1 ldap://a.example.com",
    "serverID 2 ldap://b.example.com",
    "sockbuf_max_incoming 1000",
    "conn_max_pending 7",
    "access to dn.subtree=\"ou=a b,dc=x\" attrs=userPassword by self =xw by * auth",
    "access to * by dn.regex=\"^uid=([^,]+),(.*),dc=x$\" write by * read",
    "attributetype ( 1.3.6.1.4.1.4203.666.1 NAME 'own' DESC 'a \\ and \"quotes\"' SUP name )",
    "objectclass ( 1.3.6.1.4.1.4203.666.2 NAME 'owner' SUP top AUXILIARY MAY own )",
    "objectidentifier ownOID 1.3.6.1.4.1.4203.666.3",
    "attributeoptions x- y",
    "moduleload back_mdb.so",
    "moduleload memberof",
    "TLSCertificateFile /etc/ssl/a.pem",
    "TLSProtocolMin 3.3",
    "TLSVerifyClient try",
    "localSSF 128",
    "pidfile /run/slapd/slapd.pid",
    "referral ldap://other.example.com",
    "sortvals member",
    "reverse-lookup on",
    "tcp-buffer listener=ldap:/// read=65536",
    "logfile \"/var/log/with blank\"",
    "index_intlen 8",
    "defaultsearchbase \"dc=x y\"",
];

/// Directives of a database.
const DATABASE: &[&str] = &[
    "rootpw {SSHA}x\\y\"\"z",
    "maxsize 33554432",
    "dbnosync",
    "envflags nometasync",
    "maxreaders 200",
    "index cn,sn eq,sub",
    "index default pres\nindex uid",
    "readonly on",
    "lastmod off",
    "lastbind on",
    "limits users size=unlimited time.soft=3",
    "limits dn.exact=\"cn=a b,dc=x\" size.soft=1 size.hard=none",
    "access to * by * read",
    "security tls=1",
    "add_content_acl on",
    "maxderefdepth 3",
    "mode 0640",
    "rtxnsize 77",
    "maxentrysize 10000",
    "monitoring off",
    "hidden on",
    "overlay memberof\nmemberof-group-oc groupOfUniqueNames\nmemberof-member-ad uniqueMember\nmemberof-refint on",
    "overlay unique\nunique_uri ldap:///ou=people,dc=x?uid,mail?sub?(objectClass=*)\nunique_uri serialize ldap:///?cn?one",
    "overlay ppolicy\nppolicy_default \"cn=default,ou=a b,dc=x\"\nppolicy_hash_cleartext",
    "overlay constraint\nconstraint_attribute mail regex ^[^@]+@\"x y\"$",
    "overlay refint\nrefint_attributes member owner",
    "overlay syncprov\nsyncprov-checkpoint 100 10",
    "syncrepl rid=001 provider=ldap://a searchbase=\"dc=x\" bindmethod=simple credentials=\"a \\\"b\" retry=\"5 +\"",
];

/// Everything that a server does with settings, as lines.
fn model(settings: &Settings) -> Vec<String> {
    let shown = settings.shown().into_iter();
    let mut lines: Vec<String> = shown
        .map(|line| format!("{}: {} = {}", line.group, line.key, line.value))
        .collect();
    for database in settings.databases.iter().chain([&settings.config]) {
        let password = &database.content.root_password.value;
        lines.push(format!(
            "password {:?}",
            password.as_ref().map(|one| &one.0)
        ));
        for overlay in &database.overlays {
            lines.push(format!("overlay {}", overlay.name));
            let directives = overlay.lines.iter().map(|line| &line.value);
            lines.extend(
                directives.map(|line| format!("{} {:?}", line.directive.keyword, line.arguments)),
            );
        }
    }
    lines.extend(settings.modules.iter().map(|module| module.value.clone()));
    lines.push(format!("slapd {}", settings.slapd));
    lines
}

fn assert_same(text: &str) {
    let Ok(layer) = Layer::from_slapd_conf_text(text, Path::new("slapd.conf")) else {
        return;
    };
    let toml = layer.to_toml();
    let Ok(before) = Settings::new(layer) else {
        return;
    };
    let read = Layer::from_toml(&toml, Path::new("x.toml"));
    let read = read.unwrap_or_else(|error| panic!("{error}\n{text}\n{toml}"));
    let after = Settings::new(read).unwrap_or_else(|error| panic!("{error}\n{text}\n{toml}"));
    let (before, after) = (model(&before), model(&after));
    let lost: Vec<_> = before.iter().filter(|line| !after.contains(line)).collect();
    assert!(before == after, "lost {lost:?}\n{text}\n{toml}");
}

fn database(at: usize, lines: &[&str]) -> String {
    let lines = lines.join("\n");
    format!("database mdb\nsuffix dc=x{at}\nrootdn cn=r,dc=x{at}\ndirectory \"/d {at}\"\n{lines}\n")
}

#[test]
fn each_directive_is_kept() {
    let mut read = 0;
    for line in GLOBAL {
        let text = format!("{line}\n{}", database(1, &[]));
        read += usize::from(Layer::from_slapd_conf_text(&text, Path::new("a")).is_ok());
        assert_same(&text);
        assert_same(&format!("{line}\n"));
    }
    for line in DATABASE {
        let text = database(1, &[line]);
        read += usize::from(Layer::from_slapd_conf_text(&text, Path::new("a")).is_ok());
        assert_same(&text);
    }
    // The test must not pass because nothing is read.
    assert_eq!(read, GLOBAL.len() + DATABASE.len());
}

#[test]
fn limits_of_sorted_searches_go_to_the_first_database() {
    let (first, second) = (database(0, &[]), database(1, &[]));
    let text = format!("overlay sssvlv\nsssvlv-maxkeys 1\n{first}{second}");
    let layer = Layer::from_slapd_conf_text(&text, Path::new("slapd.conf")).unwrap();
    let read = Layer::from_toml(&layer.to_toml(), Path::new("x.toml")).unwrap();
    let settings = Settings::new(read).unwrap();
    let overlays = settings.databases.iter().map(|one| &one.overlays);
    let overlays: Vec<_> = overlays.collect();
    assert_eq!((overlays[0].len(), overlays[1].len()), (1, 0));
    assert_eq!(overlays[0][0].name, "sssvlv");
    assert_eq!(overlays[0][0].lines[0].arguments, ["1"]);
}

/// Returns some of these lines, in their order.
fn some(lines: &'static [&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
    prop::sample::subsequence(lines, 0..lines.len())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_configuration_is_kept(
        global in some(GLOBAL),
        first in some(DATABASE),
        second in some(DATABASE),
    ) {
        let (first, second) = (database(0, &first), database(1, &second));
        let rest = "database monitor\naccess to * by users read\n";
        let config = "database config\nrootpw secret\n";
        assert_same(&format!("{}\n{config}{first}{second}{rest}", global.join("\n")));
    }
}
