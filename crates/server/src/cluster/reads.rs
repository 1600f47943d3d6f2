//! Reads at a node: the state that they need, and what a client hears about it.

use std::time::Duration;

use fulgurite_cluster::Position;
use fulgurite_cluster_driver::Freshness;
use fulgurite_directory::{Directory, cluster_position};
use fulgurite_ldap::control::ClusterPosition;
use fulgurite_ldap::{Control, LdapResult, Message, Request, ResultCode, encode, oid};
use fulgurite_policy::ClusterReads;

use super::state::ClusterState;
use crate::session::handler::{ReadGate, StateListener, StateWish};

/// Decides about a read of a server that belongs to no cluster: it sees all that is acknowledged.
pub(crate) fn gate_alone(message: &Message<'_>) -> ReadGate {
    if message.controls.is_empty() {
        return ReadGate::Open;
    }
    match message.controls.find(oid::CLUSTER_POSITION) {
        // The directory refuses a value in another form.
        Some(control) if control.value.is_some_and(is_position) => refused(
            ResultCode::UnwillingToPerform,
            "this server belongs to no cluster, so it knows no position",
        ),
        _ => ReadGate::Open,
    }
}

fn is_position(value: &[u8]) -> bool {
    ClusterPosition::decode(value).is_ok()
}

impl ClusterState {
    /// Decides about a read of this node.
    pub(crate) fn gate(&self, directory: &Directory, message: &Message<'_>) -> ReadGate {
        let settings = self.reads();
        let linearizable = message.controls.find(oid::LINEARIZABLE_READ);
        let position = message.controls.find(oid::CLUSTER_POSITION);
        let always = settings.reads == ClusterReads::Linearizable;
        let is_linearizable = always || linearizable.is_some_and(|asked| asked.value.is_none());
        let is_plain = position.is_none() && !is_linearizable && settings.stale_after.is_none();
        if is_plain && !self.has_stopped() {
            return ReadGate::Open;
        }
        let base = match &message.request {
            Request::Search(search) => search.base,
            Request::Compare(compare) => compare.dn,
            _ => return ReadGate::Open,
        };
        // Other databases, and what the server generates, have no log.
        if !directory.is_ordered(base) {
            return ReadGate::Open;
        }
        if self.has_stopped() {
            let text = "the content of this node differs from the others': ask another node";
            return refused(ResultCode::Unavailable, text);
        }
        if let Some(text) = self.is_stale() {
            return refused(ResultCode::Unavailable, &text);
        }
        let seen = position.and_then(|control| control.value);
        let seen = seen.and_then(|value| ClusterPosition::decode(value).ok());
        if seen.is_some_and(|seen| seen.cluster != settings.cluster) {
            let text = "the position is of another cluster, or of the time before it began anew";
            return refused(ResultCode::UnwillingToPerform, text);
        }
        let tells = position.is_some();
        let seen = seen.map(|seen| seen.position);
        let is_here = |seen: &u64| self.position() >= Position(*seen);
        match seen {
            _ if is_linearizable => ReadGate::Waits(StateWish {
                not_before: None,
                tells,
            }),
            Some(seen) if !is_here(&seen) => ReadGate::Waits(StateWish {
                not_before: Some(seen),
                tells,
            }),
            _ if tells => ReadGate::Tells,
            _ => ReadGate::Open,
        }
    }

    /// Returns the reason why a read would be too old.
    fn is_stale(&self) -> Option<String> {
        let most = self.reads().stale_after?;
        let silence = self.silence_ms().map(Duration::from_millis);
        let is_fresh = silence.is_some_and(|silence| silence <= most);
        (!is_fresh).then(|| match silence {
            Some(silence) => format!(
                "the log of the cluster has not answered for {} s: this node may be behind",
                silence.as_secs()
            ),
            None => "the log of the cluster has not answered yet".to_owned(),
        })
    }

    /// Calls `then` when a state is here, or will not come in time.
    pub(crate) fn await_state(&self, wish: StateWish, then: StateListener) {
        let freshness = match wish.not_before {
            None => Freshness::Linearizable,
            Some(position) => Freshness::NotBefore(Position(position)),
        };
        self.submit_read(freshness, move |position| {
            then(position.map(drop).ok_or_else(|| late(wish)));
        });
    }

    /// Adds the position of the database to the last of the responses since `mark`. The position is
    /// read after the entries, so it is not before theirs.
    pub(crate) fn tell_position(&self, directory: &Directory, out: &mut Vec<u8>, mark: usize) {
        let mut ordered = directory.ordered_databases();
        if let Some(position) = ordered.next().and_then(cluster_position) {
            add_position(&self.reads().cluster, position, out, mark);
        }
    }
}

/// Adds a position of a cluster to the last of the responses since `mark`.
pub(super) fn add_position(cluster: &str, position: Position, out: &mut Vec<u8>, mark: usize) {
    let value = ClusterPosition {
        position: position.0,
        cluster,
    };
    let value = value.encode();
    let control = Control::with_value(oid::CLUSTER_POSITION, false, &value);
    encode::add_control(out, mark, &control);
}

/// Returns the result of a read whose state has not come.
fn late(wish: StateWish) -> LdapResult {
    let text = match wish.not_before {
        None => {
            "the log of the cluster does not answer in time: no read is linearizable now".to_owned()
        }
        Some(position) => {
            format!("this node has not applied batch {position} in time: ask another node")
        }
    };
    LdapResult::with_diagnostic(ResultCode::Unavailable, text)
}

fn refused(code: ResultCode, text: &str) -> ReadGate {
    ReadGate::Refused(LdapResult::with_diagnostic(code, text))
}
