//! Updates and replies are read back from their bytes, and from no others.

use std::path::Path;
use std::sync::Arc;

use fulgurite_auth::Mechanism;
use fulgurite_ldap::control::{PasswordError, PasswordPolicyResponse};
use fulgurite_ldap::{
    Control, DeleteRequest, LdapResult, Limits, Message, ModifyOperation, Request, ResultCode,
    UpdateBuf, encode,
};
use fulgurite_schema::{Attribute, Dn, Schema};

use super::OrderedReply;
use crate::core::connection::{
    ChannelBindings, Connection, EndPoint, PeerCredentials, Strength, TlsFacts,
};
use crate::core::session::{Identity, Method, Name, Session, SessionParts};
use crate::features::auditlog::AuditText;
use crate::features::password_policy::bind_verdict::BindVerdict;
use crate::features::password_policy::change_rules::Comparisons;
use crate::request::change::Change;
use crate::write::request::{
    BindAttempt, PasswordExchange, PasswordUpdate, WriteReply, WriteRequest, WriteWork,
};

fn session() -> Session {
    Session::restored(SessionParts {
        identity: Identity::User(Name::restored("cn=a,dc=b", "CN=A,DC=B")),
        real: Some(Identity::User(Name::restored("cn=c", "cn=C"))),
        method: Method::Sasl(Mechanism::External.name()),
        version: Some(3),
        is_restricted: true,
        connection: Arc::new(Connection {
            id: 77,
            peer: EndPoint::Ip("[::1]:4711".parse().expect("an address")),
            socket: EndPoint::Path("/run/ldapi".to_owned()),
            listener_url: "ldap://:389/".to_owned(),
            domain: Some("host.example".to_owned()),
            strength: Strength {
                transport: 71,
                tls: 256,
                sasl: 1,
            },
            offers_tls: false,
            tls: Some(TlsFacts {
                version: "TLSv1.3".to_owned(),
                cipher: "x".to_owned(),
                client_dn: Some("cn=client".to_owned()),
                channel_bindings: ChannelBindings::default(),
            }),
            peer_credentials: Some(PeerCredentials { uid: 0, gid: 1000 }),
        }),
    })
}

fn update() -> UpdateBuf {
    let mut bytes = Vec::new();
    let request = Request::Delete(DeleteRequest { dn: b"cn=x,dc=b" });
    let control = Control::new("1.3.6.1.1.12", true);
    encode::request(&mut bytes, 5, &request, &[control]);
    let message = Message::decode(&bytes, &Limits::default()).expect("a message");
    UpdateBuf::new(&message).expect("an update")
}

fn works(schema: &Schema) -> Vec<WriteWork> {
    let dn = || Dn::parse(schema, "cn=x,dc=b").expect("a name");
    let change = |name: &[u8], value: &[u8]| Change {
        operation: ModifyOperation::Replace,
        attribute: Attribute {
            description: schema.describe(name).expect("standard"),
            values: vec![value.to_vec()],
        },
    };
    vec![
        WriteWork::Update(update()),
        WriteWork::Transaction(9, vec![update(), update()]),
        WriteWork::Password(Box::new(PasswordUpdate {
            id: 4,
            dn: dn(),
            changes: vec![change(b"userPassword", b"{SSHA}x")],
            derived: vec![change(b"description;lang-de", b"y")],
            value: Some(b"made".to_vec()),
            exchange: PasswordExchange {
                new: b"sesame".to_vec(),
                has_old: true,
                compared: Comparisons::from_pairs(vec![(b"{SSHA}x".to_vec(), true)]),
            },
            wants_policy: true,
        })),
        WriteWork::Bind(dn()),
        WriteWork::Attempt(Arc::new(BindAttempt::new(dn(), true, false))),
    ]
}

#[test]
fn updates_are_read_back_and_no_others() {
    let schema = Schema::standard();
    for work in works(&schema) {
        for session in [Session::new(), session()] {
            let work = work.clone();
            let request = WriteRequest::of(&session, work);
            let bytes = request.to_wire(&schema);
            let read = WriteRequest::from_wire(&schema, &bytes).expect("an update");
            assert_eq!(format!("{read:?}"), format!("{request:?}"));
            assert_eq!(read.to_wire(&schema), bytes);
            assert_eq!(
                read.session.must_change_password(),
                request.session.must_change_password()
            );
            for len in 0..bytes.len() {
                assert!(WriteRequest::from_wire(&schema, &bytes[..len]).is_err());
            }
            let longer = [&bytes[..], b"0"].concat();
            assert!(WriteRequest::from_wire(&schema, &longer).is_err());
            // A changed byte is an error or another update, and never a panic.
            for at in 0..bytes.len() {
                let mut other = bytes.clone();
                other[at] ^= 0x81;
                drop(WriteRequest::from_wire(&schema, &other));
            }
        }
    }
}

#[test]
fn an_attribute_that_the_sequencer_does_not_know_is_refused() {
    let schema = Schema::standard();
    let work = works(&schema).swap_remove(2);
    let session = Session::new();
    let bytes = WriteRequest::of(&session, work).to_wire(&schema);
    let at = bytes.windows(11).position(|part| part == b"description");
    let mut other = bytes;
    other[at.expect("the name is there")] = b'x';
    let read = WriteRequest::from_wire(&schema, &other);
    let text = read.expect_err("unknown").to_string();
    assert!(text.contains("an attribute is unknown"), "{text}");
}

#[test]
fn a_reply_frees_the_session_and_judges_the_bind_at_the_node_of_the_client() {
    let schema = Schema::standard();
    let work = works(&schema).swap_remove(4);
    let client = WriteRequest::of(&session(), work);
    let at_sequencer = WriteRequest::from_wire(&schema, &client.to_wire(&schema));
    let at_sequencer = at_sequencer.expect("an update");
    let reply = WriteReply {
        result: LdapResult {
            code: ResultCode::Success,
            matched_dn: "dc=b".to_owned(),
            diagnostic: "text".to_owned(),
            referrals: vec!["ldap://a".to_owned()],
        },
        bytes: b"0".to_vec(),
        audit: Some(AuditText {
            file: Path::new("/log").into(),
            nonblocking: true,
            durable: false,
            text: b"dn: x".to_vec(),
        }),
    };
    let ordered = OrderedReply::new(reply.clone(), &at_sequencer);
    // The commit comes after the reply is made.
    at_sequencer.session.password_has_changed();
    let WriteWork::Attempt(attempt) = &at_sequencer.work else {
        panic!("an attempt");
    };
    attempt.set_verdict(BindVerdict {
        must_change: true,
        is_allowed: true,
        response: PasswordPolicyResponse::of_error(PasswordError::ChangeAfterReset),
        ..BindVerdict::default()
    });
    let bytes = ordered.to_wire();
    let read = OrderedReply::from_wire(&bytes).expect("a reply");
    assert_eq!(read.to_wire(), bytes);
    for len in 0..bytes.len() {
        assert!(OrderedReply::from_wire(&bytes[..len]).is_err());
    }
    assert!(client.session.must_change_password());
    assert_eq!(read.for_client(&client), reply);
    assert!(!client.session.must_change_password());
    let WriteWork::Attempt(attempt) = &client.work else {
        panic!("an attempt");
    };
    let verdict = attempt.verdict().expect("the sequencer has judged");
    assert!(verdict.must_change && verdict.is_allowed && !verdict.is_locked);
}
