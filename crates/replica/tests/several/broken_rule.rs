//! Rules of the merge, broken on purpose: the model has to notice.

use fulgurite_replica::ContentChange;

use crate::node::Node;

/// A rule that a consumer breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BrokenRule {
    /// Deletions are not remembered.
    NoTombstones,
    /// The older of two changes of an entry wins.
    WrongTie,
    /// The state is stored before the changes that it covers, and a crash comes in between.
    VectorAhead,
    /// The state is not stored with the changes.
    NoVector,
}

impl BrokenRule {
    pub(crate) const ALL: [BrokenRule; 4] = [
        BrokenRule::NoTombstones,
        BrokenRule::WrongTie,
        BrokenRule::VectorAhead,
        BrokenRule::NoVector,
    ];

    /// Returns what a consumer with this rule stores in place of `changes`.
    pub(crate) fn batches(
        self,
        node: &Node<'_>,
        changes: Vec<ContentChange>,
    ) -> Vec<Vec<ContentChange>> {
        let is_reached = |change: &ContentChange| matches!(change, ContentChange::Reached { .. });
        match self {
            // The world cuts the memory of deletions, too.
            BrokenRule::NoTombstones => {
                let held = node.entries();
                let is_known = |change: &ContentChange| match change {
                    ContentChange::Delete { uuid, .. } => {
                        held.contains_key(&uuid::Uuid::from_bytes(*uuid).to_string())
                    }
                    _ => true,
                };
                vec![changes.into_iter().filter(is_known).collect()]
            }
            BrokenRule::WrongTie => {
                let held = node.entries();
                let is_older = |change: &ContentChange| match change {
                    ContentChange::Entry(entry) => {
                        let uuid = uuid::Uuid::from_bytes(entry.uuid).to_string();
                        let held = held.get(&uuid).map(|held| held.first("entryCSN"));
                        let own = format!("#{:03x}#", node.server);
                        // Its own change stays in the place of a later one of another server.
                        held.is_none_or(|held| !held.contains(&own))
                    }
                    _ => true,
                };
                vec![changes.into_iter().filter(is_older).collect()]
            }
            BrokenRule::VectorAhead => {
                let (state, rest): (Vec<_>, Vec<_>) = changes.into_iter().partition(is_reached);
                // A crash after the first transaction, each third time.
                match node.newest_position() % 3 {
                    0 => vec![state],
                    _ => vec![state, rest],
                }
            }
            BrokenRule::NoVector => {
                let rest = changes.into_iter().filter(|change| !is_reached(change));
                vec![rest.collect()]
            }
        }
    }
}
