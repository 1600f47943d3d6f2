//! Strangers, and nodes that break the rules.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use fulgurite_cluster::NodeId;
use fulgurite_cluster_peers::{Frame, LinkSettings};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::trust::{LONG, Trust, listen, open, settings, wait_open};

/// A connection of node 1 whose bytes the test makes.
fn connect(trust: &Trust, address: SocketAddr) -> StreamOwned<ClientConnection, TcpStream> {
    let files = trust.files("ca", "one");
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_file(&files.authorities).expect("a certificate");
    roots.add(authority).expect("an authority");
    let own = CertificateDer::from_pem_file(&files.certificate).expect("a certificate");
    let key = PrivateKeyDer::from_pem_file(&files.key).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_client_auth_cert(vec![own], key)
        .expect("a key that fits");
    let name = ServerName::try_from("node-2.test.fulgurite").expect("a name");
    let tls = ClientConnection::new(Arc::new(config), name).expect("settings");
    let socket = TcpStream::connect(address).expect("a socket");
    socket.set_read_timeout(Some(LONG)).expect("a timeout");
    StreamOwned::new(tls, socket)
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let len = u32::try_from(bytes.len()).expect("short");
    [&len.to_be_bytes()[..], bytes].concat()
}

fn hello(cluster: &str, node: u64, to: u64) -> Vec<u8> {
    let frame = Frame::Hello {
        cluster: cluster.to_owned(),
        node: NodeId(node),
        to: NodeId(to),
    };
    packed(&frame.encode())
}

#[test]
fn strangers_are_not_heard() {
    let trust = Trust::new();
    let (listener, frames) = listen(trust.node(2, "two"), settings());
    let address = listener.address().to_string();
    // Another authority, a certificate for something else, and the certificate of another node.
    let strangers = ["stranger", "web", "three"];
    let strangers = strangers.map(|own| (own, open(trust.node(1, own), &address)));
    // A server that is no node is not told anything.
    let (impostor, heard) = listen(trust.node(2, "web"), settings());
    let misled = open(trust.node(1, "one"), &impostor.address().to_string());
    let honest = open(trust.node(1, "one"), &address);
    wait_open(&honest);
    std::thread::sleep(settings().pause * 20);
    for (own, links) in &strangers {
        assert!(!links.is_open(NodeId(2)), "{own}");
    }
    assert!(!misled.is_open(NodeId(2)));
    assert!(frames.try_recv().is_err() && heard.try_recv().is_err());
}

#[test]
fn a_node_that_breaks_a_rule_is_not_heard_any_more() {
    let trust = Trust::new();
    let (listener, frames) = listen(trust.node(2, "two"), settings());
    let first = hello("test", 1, 2);
    let update = Frame::Forward {
        number: 1,
        epoch: None,
        update: b"u".to_vec(),
    };
    let update = packed(&update.encode());
    let wrong = [
        // No first frame, one of another cluster, for another node, and of another node.
        update.clone(),
        hello("prod", 1, 2),
        hello("test", 1, 3),
        hello("test", 3, 2),
        // A first frame that is too long, and later ones that are too long or no frames.
        packed(&[0; 5000]),
        [&first[..], &[0xff; 8]].concat(),
        [&first[..], &packed(&[9, 9])].concat(),
        [&first[..], &packed(&[])].concat(),
        [&first[..], &first[..]].concat(),
    ];
    for bytes in wrong {
        let mut stream = connect(&trust, listener.address());
        let sent = stream.write_all(&[&bytes[..], &update[..]].concat());
        drop(sent.and_then(|()| stream.flush()));
        // The other side ends the connection. It may have answered the first frame.
        drop(stream.read_to_end(&mut Vec::new()));
        assert!(frames.try_recv().is_err(), "{bytes:?}");
    }
    let mut stream = connect(&trust, listener.address());
    stream
        .write_all(&[&first[..], &update[..]].concat())
        .expect("sent");
    stream.flush().expect("sent");
    let (from, _) = frames.recv_timeout(LONG).expect("a frame");
    assert_eq!(from, NodeId(1));
}

#[test]
fn slow_and_silent_peers_leave_room_for_nodes() {
    let trust = Trust::new();
    let settings = LinkSettings {
        connect: Duration::from_millis(400),
        strangers_max: 2,
        connections_max: 1,
        ..settings()
    };
    let (listener, _frames) = listen(trust.node(2, "two"), settings);
    let silent = TcpStream::connect(listener.address()).expect("a socket");
    let mut slow = TcpStream::connect(listener.address()).expect("a socket");
    // The third one finds no room.
    let mut third = TcpStream::connect(listener.address()).expect("a socket");
    third.set_read_timeout(Some(LONG)).expect("a timeout");
    assert_eq!(third.read(&mut [0]).unwrap_or(0), 0);
    // A byte from time to time does not move the end. These are the first of a TLS record.
    for byte in [0x16, 0x03, 0x01, 0x10, 0x00].into_iter().cycle() {
        if slow.write_all(&[byte]).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let honest = open(trust.node(1, "one"), &listener.address().to_string());
    wait_open(&honest);
    drop(silent);
}

#[test]
fn noise_is_no_tls() {
    let trust = Trust::new();
    let (listener, frames) = listen(trust.node(2, "two"), settings());
    for noise in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &[0; 5000],
        &hello("test", 1, 2),
    ] {
        let mut socket = TcpStream::connect(listener.address()).expect("a socket");
        socket.set_read_timeout(Some(LONG)).expect("a timeout");
        drop(socket.write_all(noise));
        drop(socket.read_to_end(&mut Vec::new()));
    }
    assert!(frames.try_recv().is_err());
}
