//! The requester that access rules decide about.

use fulgurite_access::{Decisions, Requester, Rules, Strengths, Wire};

use crate::core::session::{Identity, Name, Session};

/// Fixes the requester of an operation, whom the rules decide about.
pub(crate) fn decide<'r>(rules: &'r Rules, session: &Session, is_root: bool) -> Decisions<'r> {
    let connection = session.connection();
    let (mut peer, mut socket) = (String::new(), String::new());
    let (mut url, mut domain) = ("", "");
    // Most rules do not look at addresses, so the operation does not format them.
    if rules.looks_at_wire() {
        peer = connection.peer.to_string();
        socket = connection.socket.to_string();
        url = &connection.listener_url;
        domain = connection.domain.as_deref().unwrap_or_default();
    }
    let strength = &connection.strength;
    let requester = Requester {
        name: name_of(session.identity()),
        real_name: name_of(session.real_identity()),
        root: is_root,
        wire: Wire {
            peer: &peer,
            socket: &socket,
            url,
            domain,
            strength: Strengths {
                overall: strength.overall(),
                transport: strength.transport,
                tls: strength.tls,
                sasl: strength.sasl,
            },
        },
    };
    rules.decide(&requester)
}

fn name_of(identity: &Identity) -> &str {
    identity.name().map_or("", Name::normal)
}
