//! Rules of the merge, broken on purpose: the model has to notice.

use fulgurite_replica::ContentChange;

use crate::node::Node;

/// Octets of a stored number.
const CSN_LEN: usize = 18;

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
    /// Single values have no numbers: the greater entryCSN decides about whole entries.
    WholeEntries,
    /// Removed values are not remembered.
    NoRemovedValues,
}

impl BrokenRule {
    pub(crate) const ALL: [BrokenRule; 6] = [
        BrokenRule::NoTombstones,
        BrokenRule::WrongTie,
        BrokenRule::VectorAhead,
        BrokenRule::NoVector,
        BrokenRule::WholeEntries,
        BrokenRule::NoRemovedValues,
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
            BrokenRule::WholeEntries | BrokenRule::NoRemovedValues => {
                let break_stamps = |mut change: ContentChange| {
                    if let ContentChange::Entry(entry) = &mut change {
                        entry.stamps = match self {
                            BrokenRule::WholeEntries => None,
                            _ => entry.stamps.take().map(|text| forget_removed(&text)),
                        };
                    }
                    change
                };
                vec![changes.into_iter().map(break_stamps).collect()]
            }
            BrokenRule::NoVector => {
                let rest = changes.into_iter().filter(|change| !is_reached(change));
                vec![rest.collect()]
            }
        }
    }
}

/// Returns the numbers of an entry's parts without those of removed values.
fn forget_removed(text: &str) -> String {
    // One change has written the whole entry.
    if text == "-" {
        return text.to_owned();
    }
    let bytes: Vec<u8> = text.as_bytes().chunks(2).filter_map(octet).collect();
    let mut out = Vec::new();
    let mut rest = bytes.as_slice();
    let mut take = |out: &mut Vec<u8>, len: usize| {
        let (taken, behind) = rest.split_at(len);
        out.extend_from_slice(taken);
        rest = behind;
        taken.to_vec()
    };
    let count = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four octets")) as usize;
    take(&mut out, 1);
    let csn = |take: &mut dyn FnMut(&mut Vec<u8>, usize) -> Vec<u8>, out: &mut Vec<u8>| {
        if take(out, 1) == [1] {
            take(out, CSN_LEN);
        }
    };
    for _ in 0..4 {
        csn(&mut take, &mut out);
    }
    for _ in 0..count(&take(&mut out, 4)) {
        let len = count(&take(&mut out, 4));
        take(&mut out, len);
        csn(&mut take, &mut out);
        let values = count(&take(&mut Vec::new(), 4));
        let mut kept = Vec::new();
        for _ in 0..values {
            let mut value = Vec::new();
            take(&mut value, 16 + CSN_LEN + 1);
            kept.extend((value.last() == Some(&1)).then_some(value));
        }
        out.extend_from_slice(&(kept.len() as u32).to_le_bytes());
        out.extend(kept.concat());
    }
    out.iter().map(|octet| format!("{octet:02x}")).collect()
}

fn octet(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}
