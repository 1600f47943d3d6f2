//! Messages between the nodes of a cluster, as a hostile peer may send them.

use std::sync::{Arc, OnceLock};

use fulgurite_cluster::{Epoch, NodeId, Outcome, Position};
use fulgurite_cluster_peers::Frame;
use fulgurite_directory::{OrderedReply, Session, WriteRequest};
use fulgurite_ldap::{DeleteRequest, Limits, Message, Request, encode};
use fulgurite_schema::Schema;

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

/// Reads an update, and the same from its own bytes.
fn read_update(bytes: &[u8]) {
    let schema = schema();
    if let Ok(update) = WriteRequest::from_wire(schema, bytes) {
        let written = update.to_wire(schema);
        let again = WriteRequest::from_wire(schema, &written);
        let again = again.expect("its own bytes are read");
        assert_eq!(again.to_wire(schema), written, "an update has one form");
    }
    let _ = OrderedReply::from_wire(bytes);
}

fn schema() -> &'static Schema {
    static SCHEMA: OnceLock<Arc<Schema>> = OnceLock::new();
    SCHEMA.get_or_init(Schema::standard)
}

/// Frames of each kind, and an update.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let mut message = Vec::new();
    let request = Request::Delete(DeleteRequest { dn: b"cn=a,c=DE" });
    encode::request(&mut message, 2, &request, &[]);
    let message = Message::decode(&message, &Limits::default()).expect("a message");
    let update = WriteRequest::new(&Session::new(), &message).expect("an update");
    let update = update.to_wire(schema());
    let hello = Frame::Hello {
        cluster: "6f2c1a52-1b7e-4c39-9a0e-2f1f3f0d9a11".to_owned(),
        node: NodeId(1),
        to: NodeId(2),
    };
    let forward = |epoch| Frame::Forward {
        number: 7,
        epoch,
        update: update.clone(),
    };
    let inquire = Frame::Inquire {
        number: 7,
        epoch: Epoch(40),
    };
    let absent = Frame::Absent {
        number: 7,
        upto: Position(9),
    };
    let done = Outcome::Settled(Position(9), b"\x30\x0c".to_vec());
    let outcomes = [done, Outcome::Busy, Outcome::TooLong, Outcome::Unknown];
    let outcomes = outcomes.map(|outcome| Frame::Outcome { number: 7, outcome });
    let fetch = Frame::Fetch {
        copy: [7; 16],
        offset: 4096,
    };
    let copy = Frame::Copy {
        copy: [7; 16],
        bytes: 8192,
        digest: [9; 32],
    };
    let part = Frame::Part(b"page".to_vec());
    let [old, new] = [forward(None), forward(Some(Epoch(40)))];
    let alive = Frame::Alive(Position(3));
    let frames = [hello, old, new, inquire, absent, alive, fetch, copy, part];
    let frames = frames.iter().chain(&outcomes).map(Frame::encode);
    frames.chain([update]).collect()
}
