//! Certificates of a test, and nodes that use them.

use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use fulgurite_cluster::NodeId;
use fulgurite_cluster_peers::{Frame, LinkSettings, Links, Listener, PeerTrust, TrustFiles};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
};
use tempfile::TempDir;

/// The wait for something that must come.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A folder of certificates.
pub(crate) struct Trust {
    folder: TempDir,
}

impl Trust {
    /// Makes two authorities. `ca` has three nodes and a server for something else, and `other` has
    /// a node of the same name.
    pub(crate) fn new() -> Trust {
        let trust = Trust {
            folder: TempDir::new().expect("a folder"),
        };
        let nodes = [1, 2, 3].map(|node| format!("node-{node}.test.fulgurite"));
        let of_nodes = nodes.iter().zip(["one", "two", "three"]);
        let of_nodes: Vec<(&str, &str)> =
            of_nodes.map(|(host, file)| (file, host.as_str())).collect();
        let web = [("web", "www.example.com")];
        trust.authority("ca", &[&of_nodes[..], &web[..]].concat());
        trust.authority("other", &[("stranger", "node-1.test.fulgurite")]);
        trust
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn authority(&self, name: &str, subjects: &[(&str, &str)]) {
        let mut parameters = CertificateParams::new(Vec::new()).expect("no names");
        parameters.distinguished_name.push(DnType::CommonName, name);
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let own = parameters.self_signed(&key).expect("a certificate");
        std::fs::write(self.path(&format!("{name}.pem")), own.pem()).expect("a file");
        let issuer = Issuer::new(parameters, key);
        for (file, host) in subjects {
            let mut parameters = CertificateParams::new(vec![(*host).to_owned()]).expect("a name");
            parameters.extended_key_usages = vec![
                ExtendedKeyUsagePurpose::ServerAuth,
                ExtendedKeyUsagePurpose::ClientAuth,
            ];
            let key = KeyPair::generate().expect("a key");
            let made = parameters.signed_by(&key, &issuer).expect("a certificate");
            std::fs::write(self.path(&format!("{file}.pem")), made.pem()).expect("a file");
            let key = key.serialize_pem();
            std::fs::write(self.path(&format!("{file}.key")), key).expect("a file");
        }
    }

    pub(crate) fn files(&self, authority: &str, own: &str) -> TrustFiles {
        TrustFiles {
            authorities: self.path(&format!("{authority}.pem")),
            certificate: self.path(&format!("{own}.pem")),
            key: self.path(&format!("{own}.key")),
        }
    }

    /// Returns the trust of a node with the certificate of a file.
    pub(crate) fn node(&self, node: u64, own: &str) -> PeerTrust {
        let authority = if own == "stranger" { "other" } else { "ca" };
        let files = self.files(authority, own);
        PeerTrust::read("test", NodeId(node), &files).expect("sound files")
    }
}

/// Returns short waits.
pub(crate) fn settings() -> LinkSettings {
    LinkSettings {
        pause: Duration::from_millis(20),
        alive: Duration::from_millis(50),
        ..LinkSettings::default()
    }
}

/// Lets a node listen.
pub(crate) fn listen(
    trust: PeerTrust,
    settings: LinkSettings,
) -> (Listener, Receiver<(NodeId, Frame)>) {
    let socket = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listen_at(socket, trust, settings)
}

pub(crate) fn listen_at(
    socket: TcpListener,
    trust: PeerTrust,
    settings: LinkSettings,
) -> (Listener, Receiver<(NodeId, Frame)>) {
    let (sender, frames) = channel();
    let listener = Listener::start(
        socket,
        trust,
        settings,
        move |from, frame| {
            // Signs of life come all the time.
            if !matches!(frame, Frame::Alive(_)) {
                drop(sender.send((from, frame)));
            }
        },
        None,
    );
    (listener.expect("a socket"), frames)
}

/// Opens a way to node 2.
pub(crate) fn open(trust: PeerTrust, address: &str) -> Links {
    let mut links = Links::new(trust, settings(), |_, _| {});
    links.open(NodeId(2), address);
    links
}

pub(crate) fn wait_open(links: &Links) {
    while !links.is_open(NodeId(2)) {
        std::thread::sleep(Duration::from_millis(5));
    }
}
