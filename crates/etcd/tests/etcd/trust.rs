//! TLS with certificates of both sides, and roles.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fulgurite_cluster::{AppendOutcome, ChangeLog as _};
use fulgurite_etcd::{EtcdError, EtcdLog, EtcdSettings, TlsFiles};
use fulgurite_testkit::{Etcd, has_etcd};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
};

use crate::{append, head, lead, settings_of};

/// Makes an authority with a certificate for some subjects: `NAME.pem` and `NAME.key`.
fn authority(folder: &Path, name: &str, subjects: &[&str]) {
    let mut parameters = CertificateParams::new(Vec::new()).expect("no names");
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    let own = parameters.self_signed(&key).expect("a certificate");
    std::fs::write(folder.join(format!("{name}.pem")), own.pem()).expect("a file");
    let issuer = Issuer::new(parameters, key);
    for subject in subjects {
        let names = vec!["127.0.0.1".to_owned()];
        let mut parameters = CertificateParams::new(names).expect("an address");
        let name = &mut parameters.distinguished_name;
        name.push(DnType::CommonName, *subject);
        // The gateway asks its member as a client, with the member's certificate.
        parameters.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        let key = KeyPair::generate().expect("a key");
        let made = parameters.signed_by(&key, &issuer).expect("a certificate");
        std::fs::write(folder.join(format!("{subject}.pem")), made.pem()).expect("a file");
        let key = key.serialize_pem();
        std::fs::write(folder.join(format!("{subject}.key")), key).expect("a file");
    }
}

#[test]
fn both_sides_show_certificates() {
    if !has_etcd() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    authority(folder.path(), "ca", &["member", "node"]);
    authority(folder.path(), "other", &["stranger"]);
    let path = |name: &str| folder.path().join(name);
    let text = |name: &str| path(name).display().to_string();
    let arguments = [
        ["--cert-file".to_owned(), text("member.pem")],
        ["--key-file".to_owned(), text("member.key")],
        ["--trusted-ca-file".to_owned(), text("ca.pem")],
    ];
    let mut arguments = arguments.concat();
    arguments.push("--client-cert-auth".to_owned());
    let etcd = Etcd::start(1, "https", &arguments);
    let settings = |authority: PathBuf, own: Option<&str>| EtcdSettings {
        tls: Some(TlsFiles {
            authorities: authority,
            certificate: own.map(|own| (path(&format!("{own}.pem")), path(&format!("{own}.key")))),
        }),
        ..settings_of(&etcd)
    };
    let sound = settings(path("ca.pem"), Some("node"));
    let log = EtcdLog::new(&sound).expect("settings");
    let begun = Instant::now();
    while log.end().is_err() {
        let is_early = begun.elapsed() < Duration::from_secs(60);
        assert!(is_early, "etcd does not answer");
    }
    let (_, epoch) = lead(&log, 1);
    assert_eq!(append(&log, epoch, 1), AppendOutcome::Appended);
    // No certificate, a stranger's, and a member whose authority is another one.
    for (authority, own) in [
        ("ca.pem", None),
        ("ca.pem", Some("stranger")),
        ("other.pem", Some("node")),
    ] {
        let mut settings = settings(path(authority), own);
        settings.call_ms = 100;
        let log = EtcdLog::new(&settings).expect("settings");
        assert!(log.end().is_err(), "{authority} {own:?}");
    }
    assert_eq!(log.end(), Ok(head(1)));
    let missing = EtcdLog::new(&settings(path("none.pem"), None));
    assert!(matches!(missing, Err(EtcdError::Setting(_))));
}

#[test]
fn a_role_opens_the_keys_of_the_cluster() {
    if !has_etcd() {
        return;
    }
    let etcd = Etcd::plain(1, &[]);
    let etcdctl = |arguments: &[&str]| {
        let mut command = Etcd::program("etcdctl");
        let command = command.env("ETCDCTL_API", "3").args(arguments);
        let done = command.args(["--endpoints", &etcd.urls[0]]).output();
        let done = done.expect("etcdctl of Debian's etcd-client runs");
        let errors = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{arguments:?}: {errors}");
    };
    etcdctl(&["user", "add", "root:top"]);
    etcdctl(&["user", "grant-role", "root", "root"]);
    etcdctl(&["user", "add", "node:secret"]);
    etcdctl(&["user", "add", "guest:guest"]);
    etcdctl(&["role", "add", "fulgurite"]);
    let grant = ["role", "grant-permission", "--prefix=true", "fulgurite"];
    etcdctl(&[&grant[..], &["readwrite", "/fulgurite/test/"]].concat());
    etcdctl(&["user", "grant-role", "node", "fulgurite"]);
    etcdctl(&["auth", "enable"]);
    let log = |user: Option<(&str, &str)>| {
        let mut settings = settings_of(&etcd);
        settings.call_ms = 100;
        settings.user = user.map(|(name, password)| (name.to_owned(), password.to_owned()));
        settings.sends_password_in_clear = true;
        EtcdLog::new(&settings).expect("settings")
    };
    let node = log(Some(("node", "secret")));
    let (_, epoch) = lead(&node, 1);
    assert_eq!(append(&node, epoch, 1), AppendOutcome::Appended);
    assert_eq!(node.end(), Ok(head(1)));
    for other in [None, Some(("guest", "guest")), Some(("node", "wrong"))] {
        assert!(log(other).end().is_err(), "{other:?}");
    }
    // The role ends at the prefix.
    let mut settings = settings_of(&etcd);
    settings.user = Some(("node".to_owned(), "secret".to_owned()));
    settings.sends_password_in_clear = true;
    settings.cluster = "other".to_owned();
    assert!(EtcdLog::new(&settings).expect("settings").end().is_err());
}
