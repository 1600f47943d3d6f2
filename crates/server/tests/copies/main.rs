//! Copies of a scripted provider: TLS, SASL, and messages that no provider should send.

mod attacks;
mod provider;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fulgurite_config::{Layer, Settings};
use fulgurite_ldap::MessageId;
use fulgurite_server::{Handler as _, Live, open_directory};
use fulgurite_testkit::{Random, quick_or_long, seed};
use provider::{Encryption, PASSWORD, end, entry, numbered_entry, server_config};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server with a copy, without listeners.
struct Copy {
    folder: tempfile::TempDir,
    live: Live<'static>,
}

impl Copy {
    fn new(line: &str) -> Copy {
        Copy::of_database(line, "")
    }

    /// A copy that clients update as well.
    fn of_several_providers(line: &str) -> Copy {
        Copy::of_database(line, "multi_provider = true\n")
    }

    fn of_database(line: &str, more: &str) -> Copy {
        let folder = tempfile::tempdir().expect("a folder");
        let store = folder.path().join("store");
        std::fs::create_dir(&store).expect("a folder");
        // Lines of slapd.conf have no schema without files.
        let text = format!(
            "server_id = [\"7\"]\n[[database]]\nsuffix = \"dc=x\"\nroot.dn = \"cn=r,dc=x\"\ndata = \"{}\"\nsyncrepl = \
             ['rid=1 searchbase=dc=x type=refreshAndPersist retry=\"0 +\" {line}']\n{more}",
            store.display()
        );
        let layer = Layer::from_toml(&text, "a.toml".as_ref()).expect("readable");
        let settings = Settings::new(layer).expect("sound");
        let live = Live::new(open_directory(&settings).expect("a directory"));
        Copy { folder, live }
    }

    /// Runs the consumer until `done` is true of the copy.
    fn run_until(&self, mut done: impl FnMut(&Copy) -> bool) {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let pause = |time: Duration| {
                    std::thread::sleep(time.min(Duration::from_millis(20)));
                    !stop.load(Ordering::SeqCst)
                };
                self.live.background(&pause);
            });
            let begun = Instant::now();
            let mut in_time = true;
            while !done(self) && in_time {
                in_time = begun.elapsed() < PATIENCE;
                std::thread::sleep(Duration::from_millis(5));
            }
            stop.store(true, Ordering::SeqCst);
            assert!(in_time, "{:?} in {:?}", self.names(), self.folder.path());
        });
    }

    fn names(&self) -> BTreeSet<String> {
        let database = &self.live.current().databases()[0];
        let view = database.store().snapshot().expect("a view");
        let mut names = BTreeSet::new();
        let mut id = view
            .next_entry_id(fulgurite_store::EntryId(1))
            .expect("a view");
        while let Some(found) = id {
            names.insert(view.dn(found).expect("a name"));
            let next = fulgurite_store::EntryId(found.0 + 1);
            id = view.next_entry_id(next).expect("a view");
        }
        names
    }
}

/// The content of the provider.
fn content(id: MessageId) -> Vec<Vec<u8>> {
    let top = [
        ("objectClass", "domain"),
        ("dc", "x"),
        ("structuralObjectClass", "domain"),
    ];
    let mut all = vec![entry(id, 1, "dc=x", &top)];
    for (number, name) in ["a", "b", "c"].into_iter().enumerate() {
        let attributes = [
            ("objectClass", "organizationalUnit"),
            ("ou", name),
            ("structuralObjectClass", "organizationalUnit"),
        ];
        let uuid = u8::try_from(number).expect("small") + 2;
        all.push(entry(id, uuid, &format!("ou={name},dc=x"), &attributes));
    }
    all
}

fn names_of_content() -> BTreeSet<String> {
    let names = ["dc=x", "ou=a,dc=x", "ou=b,dc=x", "ou=c,dc=x"];
    names.map(str::to_owned).into()
}

fn whole(number: usize, id: MessageId) -> Vec<Vec<u8>> {
    let mut all = content(id);
    all.push(end(id, number));
    all
}

fn is_whole(copy: &Copy) -> bool {
    copy.names() == names_of_content()
}

/// An authority, and a certificate for `localhost` of it.
fn certificate(folder: &Path, authority: &str) -> PathBuf {
    let mut parameters = CertificateParams::new(Vec::new()).expect("no names");
    parameters
        .distinguished_name
        .push(DnType::CommonName, authority);
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    let own = parameters.self_signed(&key).expect("a certificate");
    std::fs::write(folder.join(authority), own.pem()).expect("a file");
    let issuer = Issuer::new(parameters, key);
    let parameters = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
    let key = KeyPair::generate().expect("a key");
    let made = parameters.signed_by(&key, &issuer).expect("a certificate");
    let path = folder.join(format!("{authority}-server"));
    std::fs::write(&path, made.pem() + &key.serialize_pem()).expect("a file");
    path
}

#[test]
fn connections_are_encrypted_and_both_sides_authenticated() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = server_config(&certificate(folder.path(), "ca"));
    certificate(folder.path(), "other");
    let (ldaps, _) = provider::start(Encryption::FromTheFirstByte(own.clone()), Box::new(whole));
    let (start_tls, _) = provider::start(Encryption::OnRequest(own), Box::new(whole));
    let ca = format!("tls_cacert={}", folder.path().join("ca").display());
    let simple = format!("bindmethod=simple binddn=cn=r credentials={PASSWORD}");
    let scram = format!("bindmethod=sasl saslmech=SCRAM-SHA-256 authcid=r credentials={PASSWORD}");
    for line in [
        format!("provider=ldaps://localhost:{ldaps} {ca} {simple}"),
        format!("provider=ldap://localhost:{start_tls} starttls=critical {ca} {scram}"),
        format!("provider=ldaps://localhost:{ldaps} tls_reqcert=never {scram}"),
    ] {
        println!("{line}");
        Copy::new(&line).run_until(is_whole);
    }
    let other = format!("tls_cacert={}", folder.path().join("other").display());
    for line in [
        format!("provider=ldaps://localhost:{ldaps} {other} {simple}"),
        format!("provider=ldaps://localhost:{ldaps} {simple}"),
        format!("provider=ldap://localhost:{start_tls} starttls=critical {other} {simple}"),
        format!(
            "provider=ldaps://localhost:{ldaps} {ca} bindmethod=simple binddn=cn=r credentials=no"
        ),
        format!(
            "provider=ldaps://localhost:{ldaps} {ca} bindmethod=sasl saslmech=SCRAM-SHA-256 authcid=r credentials=no"
        ),
    ] {
        println!("{line}");
        let copy = Copy::new(&line);
        let begun = Instant::now();
        copy.run_until(|_| begun.elapsed() > Duration::from_millis(300));
        assert!(copy.names().is_empty());
    }
}

#[test]
fn a_hostile_provider_breaks_nothing() {
    let seed = seed("hostile provider", 17);
    let sessions = quick_or_long(150, 5_000);
    let hostile = move |number: usize, id: MessageId| {
        if number >= sessions {
            return whole(number, id);
        }
        let mut random = Random::new(seed + number as u64);
        let mut messages = whole(number, id);
        for _ in 0..random.between(1, 4) {
            disturb(&mut messages, &mut random);
        }
        messages.push(Vec::new());
        messages
    };
    let (port, count) = provider::start(Encryption::None, Box::new(hostile));
    let copy = Copy::new(&format!(
        "provider=ldap://localhost:{port} bindmethod=simple binddn=cn=r credentials={PASSWORD}"
    ));
    copy.run_until(|copy| count.load(Ordering::SeqCst) > sessions && is_whole(copy));
    let database = &copy.live.current().databases()[0];
    let report =
        fulgurite_store::verify(&database.store().snapshot().expect("a view")).expect("readable");
    assert!(report.problems.is_empty(), "{report:?}");
}

/// A provider may have thousands of entries that the schema here does not know. A session with them
/// fails and stores nothing. The next one begins anew.
#[test]
fn a_flood_of_entries_that_cannot_be_stored_passes() {
    let flood = |number: usize, id: MessageId| {
        if number >= 2 {
            return whole(number, id);
        }
        let mut all = content(id);
        for at in 0..10_010_u32 {
            let name = at.to_string();
            let attributes = [
                ("objectClass", "noSuchClass"),
                ("noSuchType", "x"),
                ("ou", &name),
            ];
            let dn = format!("ou={name},dc=x");
            all.push(numbered_entry(id, at, &dn, &attributes));
        }
        all.push(end(id, number));
        all
    };
    let (port, count) = provider::start(Encryption::None, Box::new(flood));
    let copy = Copy::new(&format!(
        "provider=ldap://localhost:{port} bindmethod=simple binddn=cn=r credentials={PASSWORD}"
    ));
    copy.run_until(|copy| count.load(Ordering::SeqCst) > 2 && is_whole(copy));
    let database = &copy.live.current().databases()[0];
    assert_eq!(database.quarantined_count(1).expect("a sound store"), 0);
    assert_eq!(database.content_state().expect("a state").len(), 1);
}

/// Changes messages in a way that no provider should.
fn disturb(messages: &mut Vec<Vec<u8>>, random: &mut Random) {
    let at = random.below(messages.len());
    match random.below(6) {
        0 => {
            messages.remove(at);
        }
        1 => {
            let twice = messages[at].clone();
            messages.insert(random.below(messages.len()), twice);
        }
        2 => {
            let other = random.below(messages.len());
            messages.swap(at, other);
        }
        3 => {
            let keep = random.below(messages[at].len().max(1));
            messages[at].truncate(keep);
        }
        4 => messages[at] = random.bytes(40),
        _ => {
            if !messages[at].is_empty() {
                let place = random.below(messages[at].len());
                messages[at][place] ^= 1 << random.below(8);
            }
        }
    }
    if messages.is_empty() {
        messages.push(Vec::new());
    }
}
