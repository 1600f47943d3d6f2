//! Messages between the nodes of a cluster, as a hostile peer may send them.

use fulgurite_cluster::{NodeId, Outcome, Position};
use fulgurite_cluster_peers::{ForwardedUpdate, Frame, SessionFacts, Wire as _};

/// Reads a message, and the update in it.
///
/// # Panics
/// If a message or an update that can be read has a second form.
pub fn cluster_frame(bytes: &[u8]) {
    if let Ok(frame) = Frame::decode(bytes) {
        assert_eq!(frame.encode(), bytes, "a frame has one form");
        if let Frame::Forward { update, .. } = frame {
            read_update(&update);
        }
    }
    read_update(bytes);
}

fn read_update(bytes: &[u8]) {
    if let Ok(update) = ForwardedUpdate::from_bytes(bytes) {
        assert_eq!(update.to_bytes(), bytes, "an update has one form");
    }
}

/// Frames of each kind, and an update.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let update = ForwardedUpdate {
        message: b"\x30\x0c\x02\x01\x02\x4a\x07cn=a,c=".to_vec(),
        session: SessionFacts {
            bound_as: "cn=admin,dc=example".to_owned(),
            acts_as: "cn=other,dc=example".to_owned(),
            method: Some("simple".to_owned()),
            peer: "IP=127.0.0.1:4711".to_owned(),
            socket: "IP=127.0.0.1:389".to_owned(),
            listener_url: "ldap://:389/".to_owned(),
            domain: Some("host.example".to_owned()),
            strength: [0, 256, 0],
            tls: Some(["TLSv1.3".to_owned(), "TLS13_AES_256_GCM_SHA384".to_owned()]),
            client_dn: Some("cn=client".to_owned()),
            credentials: Some([0, 0]),
            connection: 1000,
        },
    };
    let hello = Frame::Hello {
        cluster: "6f2c1a52-1b7e-4c39-9a0e-2f1f3f0d9a11".to_owned(),
        node: NodeId(1),
        to: NodeId(2),
    };
    let forward = Frame::Forward {
        number: 7,
        update: update.to_bytes(),
    };
    let done = Outcome::Settled(Position(9), b"\x30\x0c".to_vec());
    let outcomes = [done, Outcome::Busy, Outcome::TooLong, Outcome::Unknown];
    let outcomes = outcomes.map(|outcome| Frame::Outcome { number: 7, outcome });
    let frames = [hello, forward, Frame::Alive(Position(3))];
    let frames = frames.iter().chain(&outcomes).map(Frame::encode);
    frames.chain([update.to_bytes()]).collect()
}
