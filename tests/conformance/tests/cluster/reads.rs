//! Reads with the controls of a cluster, at nodes that may be behind.

use fulgurite_client::{
    Change, Client, Control, OwnedControl, Reply, Request, ResultCode, Scope, SearchOutcome,
    SearchRequest,
};
use fulgurite_conformance::SUFFIX;
use fulgurite_ldap::{ExtendedRequest, FilterBuf, ModifyRequest, oid};

use crate::nodes::Node;

/// Updates whose effects other nodes must show.
const ROUNDS: usize = 60;

/// Replaces the description of the suffix, and returns the position of the update.
fn describe(client: &mut Client, text: &str) -> Vec<u8> {
    let text = [text.as_bytes()];
    let request = Request::Modify(ModifyRequest {
        dn: SUFFIX.as_bytes(),
        changes: vec![Change::replace("description", &text)],
    });
    let asks = [Control::new(oid::CLUSTER_POSITION, true)];
    let reply = client.request(&request, &asks).expect("an answer");
    assert_eq!(reply.result.code, ResultCode::Success, "{:?}", reply.result);
    position(&reply.controls).expect("the position")
}

/// Returns an element of BER with a length below 128.
fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let len = u8::try_from(content.len()).expect("a short element");
    assert!(len < 0x80, "a short element");
    [&[tag, len], content].concat()
}

/// Sends an extended operation that asks for the position of its update.
fn extended(client: &mut Client, oid: &str, value: &[u8]) -> Reply {
    let request = Request::Extended(ExtendedRequest {
        oid: oid.as_bytes(),
        value: Some(value),
    });
    let asks = [Control::new(oid::CLUSTER_POSITION, true)];
    let reply = client.request(&request, &asks).expect("an answer");
    assert_eq!(reply.result.code, ResultCode::Success, "{:?}", reply.result);
    reply
}

/// A password modify and a transaction tell their positions, and another node reads from there.
fn extended_operations_tell_their_positions(nodes: &[Node; 3]) {
    let mut client = nodes[1].server().root_client();
    let mut other = nodes[2].server().root_client();
    let before = describe(&mut client, "before");
    let names = [
        element(0x80, format!("uid=u2,{SUFFIX}").as_bytes()),
        element(0x82, b"changed"),
    ];
    let value = element(0x30, &names.concat());
    let reply = extended(&mut client, oid::PASSWORD_MODIFY, &value);
    let changed = position(&reply.controls).expect("the position");
    let begun = client.extended(oid::START_TRANSACTION, None);
    let name = begun.expect("an answer").value.expect("a name");
    let text: [&[u8]; 1] = [b"by a transaction"];
    let request = Request::Modify(ModifyRequest {
        dn: SUFFIX.as_bytes(),
        changes: vec![Change::replace("description", &text)],
    });
    let part = [Control::with_value(oid::TRANSACTION, true, &name)];
    let reply = client.request(&request, &part).expect("an answer");
    assert_eq!(reply.result.code, ResultCode::Success, "{:?}", reply.result);
    let value = element(0x30, &element(0x04, &name));
    let reply = extended(&mut client, oid::END_TRANSACTION, &value);
    let done = position(&reply.controls).expect("the position");
    let number = |position: &[u8]| -> u64 {
        let text = String::from_utf8_lossy(position);
        let (number, _) = text.split_once('@').expect("a position and a name");
        number.parse().expect("a number")
    };
    assert!(number(&before) < number(&changed) && number(&changed) < number(&done));
    let session = [Control::with_value(oid::CLUSTER_POSITION, true, &done)];
    let found = read(&mut other, &session);
    assert_eq!(description(&found).as_deref(), Some("by a transaction"));
}

/// Returns the value of the control with the position.
fn position(controls: &[OwnedControl]) -> Option<Vec<u8>> {
    let mut controls = controls.iter();
    let control = controls.find(|control| control.oid == oid::CLUSTER_POSITION)?;
    control.value.clone()
}

/// Reads the suffix with controls.
pub(crate) fn read(client: &mut Client, controls: &[Control<'_>]) -> SearchOutcome {
    let filter = FilterBuf::parse("(objectClass=*)").expect("a filter");
    let request = SearchRequest::new(SUFFIX, Scope::Base, filter.filter());
    client.search_with(&request, controls).expect("an answer")
}

fn description(found: &SearchOutcome) -> Option<String> {
    found.entries.first()?.first("description")
}

/// Reads see what their controls ask for, at all nodes.
pub(crate) fn reads_see_what_they_ask_for(nodes: &[Node; 3]) {
    let mut clients = nodes.each_ref().map(|node| node.server().root_client());
    let mut old = 0;
    for round in 0..ROUNDS {
        let text = format!("round {round}");
        let seen = describe(&mut clients[round % 3], &text);
        let other = &mut clients[(round + 1) % 3];
        // This one may be old.
        old += usize::from(description(&read(other, &[])).as_deref() != Some(&text));
        // A session goes on at another node.
        let session = [Control::with_value(oid::CLUSTER_POSITION, true, &seen)];
        let found = read(other, &session);
        assert_eq!(description(&found).as_deref(), Some(&*text), "{found:?}");
        assert_eq!(position(&found.controls), Some(seen));
        // A third client has seen nothing.
        let linearizable = [Control::new(oid::LINEARIZABLE_READ, true)];
        let found = read(&mut clients[(round + 2) % 3], &linearizable);
        assert_eq!(description(&found).as_deref(), Some(&*text), "{found:?}");
        assert_eq!(position(&found.controls), None);
    }
    println!("{old} of {ROUNDS} local reads were old");
    extended_operations_tell_their_positions(nodes);
    let client = &mut clients[1];
    let seen = describe(client, "last");
    let seen = String::from_utf8(seen).expect("text");
    let (_, cluster) = seen.split_once('@').expect("a position and a name");
    for (value, code) in [
        (format!("99999999@{cluster}"), ResultCode::Unavailable),
        ("1@another".to_owned(), ResultCode::UnwillingToPerform),
        ("nonsense".to_owned(), ResultCode::ProtocolError),
    ] {
        let control = Control::with_value(oid::CLUSTER_POSITION, true, value.as_bytes());
        let found = read(client, &[control]);
        assert_eq!(found.result.code, code, "{value}: {found:?}");
        assert!(found.entries.is_empty());
    }
    let dse = client.search("", Scope::Base, "(objectClass=*)", &["supportedControl"]);
    let entries = dse.expect("the root DSE").entries;
    let values = entries[0].attributes.iter().flat_map(|(_, values)| values);
    let listed: Vec<_> = values.map(|value| String::from_utf8_lossy(value)).collect();
    for oid in [oid::LINEARIZABLE_READ, oid::CLUSTER_POSITION] {
        assert!(listed.iter().any(|value| value == oid), "{oid}: {listed:?}");
    }
}
