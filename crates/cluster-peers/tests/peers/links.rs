//! Frames of sound nodes, and connections that end.

use std::net::TcpListener;
use std::sync::mpsc::channel;
use std::time::Duration;

use fulgurite_cluster::{NodeId, Outcome, Position};
use fulgurite_cluster_peers::{FRAME_BYTES_MAX, Frame, Links};

use crate::trust::{LONG, Trust, listen, listen_at, open, settings, wait_open};

fn forward(number: u64, len: usize) -> Frame {
    Frame::Forward {
        number,
        epoch: None,
        update: vec![b'u'; len],
    }
}

#[test]
fn frames_arrive_in_their_order() {
    let trust = Trust::new();
    let (listener, frames) = listen(trust.node(2, "two"), settings());
    let address = listener.address().to_string();
    let [one, three] =
        [(1, "one"), (3, "three")].map(|(n, file)| open(trust.node(n, file), &address));
    wait_open(&one);
    for number in 0..20 {
        assert!(one.send(NodeId(2), forward(number, 100_000)));
    }
    for number in 0..20 {
        let (from, frame) = frames.recv_timeout(LONG).expect("a frame");
        assert_eq!((from, frame), (NodeId(1), forward(number, 100_000)));
    }
    wait_open(&three);
    assert!(three.send(NodeId(2), forward(7, FRAME_BYTES_MAX - 13)));
    let (from, frame) = frames.recv_timeout(LONG).expect("a frame");
    assert_eq!((from, frame), (NodeId(3), forward(7, FRAME_BYTES_MAX - 13)));
    // Nobody is there.
    assert!(!one.send(NodeId(3), forward(1, 1)));
}

#[test]
fn a_frame_that_is_not_sent_is_told() {
    let trust = Trust::new();
    let (listener, frames) = listen(trust.node(2, "two"), settings());
    let (sender, unsent) = channel();
    let mut links = Links::new(trust.node(1, "one"), settings(), move |_, frame| {
        drop(sender.send(frame));
    });
    links.open(NodeId(2), &listener.address().to_string());
    wait_open(&links);
    // A frame that is too long is for nobody, and the connection goes on.
    assert!(links.send(NodeId(2), forward(1, FRAME_BYTES_MAX)));
    assert_eq!(unsent.recv_timeout(LONG), Ok(forward(1, FRAME_BYTES_MAX)));
    assert!(links.send(NodeId(2), forward(2, 1)));
    let (_, frame) = frames.recv_timeout(LONG).expect("a frame");
    assert_eq!(frame, forward(2, 1));
    drop(listener);
    while links.is_open(NodeId(2)) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!links.send(NodeId(2), forward(3, 1)));
}

#[test]
fn an_outcome_waits_for_the_next_connection() {
    let trust = Trust::new();
    let (listener, _frames) = listen(trust.node(2, "two"), settings());
    let address = listener.address();
    let links = open(trust.node(1, "one"), &address.to_string());
    wait_open(&links);
    drop(listener);
    while links.is_open(NodeId(2)) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let outcome = Frame::Outcome {
        number: 4,
        outcome: Outcome::Settled(Position(9), b"done".to_vec()),
    };
    assert!(links.send(NodeId(2), outcome.clone()));
    let socket = TcpListener::bind(address).expect("the port is free again");
    let (_listener, frames) = listen_at(socket, trust.node(2, "two"), settings());
    assert_eq!(frames.recv_timeout(LONG), Ok((NodeId(1), outcome)));
}
