//! Reads with the controls of a cluster, at nodes that may be behind.

use fulgurite_client::{
    Change, Client, Control, OwnedControl, Request, ResultCode, Scope, SearchOutcome, SearchRequest,
};
use fulgurite_conformance::SUFFIX;
use fulgurite_ldap::{FilterBuf, ModifyRequest, oid};

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
