//! The settings of nodes, which should be equal: a digest for each part.

use std::collections::BTreeMap;

use fulgurite_cluster::NodeId;

use crate::error::EtcdError;
use crate::keys::number_of;
use crate::log::EtcdLog;
use crate::question::{Do, put, range, transaction};

/// The digests of the parts of a node's settings, by their names.
pub type SettingsParts = BTreeMap<String, String>;

/// Returns a sentence for each part that differs. A part that only one of them has is none: another
/// version of the program wrote it.
#[must_use]
pub fn differences(one: (NodeId, &SettingsParts), other: (NodeId, &SettingsParts)) -> Vec<String> {
    let ((first, own), (second, others)) = (one, other);
    let differs = |(name, digest): &(&String, &String)| {
        others.get(*name).is_some_and(|other| other != *digest)
    };
    let parts = own.iter().filter(differs).map(|(name, _)| {
        format!("nodes {first} and {second} differ in {name}: give both the same settings")
    });
    parts.collect()
}

impl EtcdLog {
    /// Writes the digests of a node's settings.
    ///
    /// # Errors
    /// [`EtcdError`].
    pub fn put_settings(&self, node: NodeId, parts: &SettingsParts) -> Result<(), EtcdError> {
        let text = serde_json::to_vec(parts).map_err(|error| EtcdError::Setting(error.to_string()));
        let write = Do::Put(put(&self.keys().settings(node), &text?, 0));
        let (answer, _) = self.ask(&transaction(vec![], vec![write], vec![]));
        answer.map(drop)
    }

    /// Returns the digests of all nodes. Those in another form are left out.
    ///
    /// # Errors
    /// [`EtcdError`].
    pub fn settings(&self) -> Result<Vec<(NodeId, SettingsParts)>, EtcdError> {
        let [from, end] = self.keys().all_settings();
        let reads = vec![Do::Get(range(&from, &end, 0))];
        let (answer, _) = self.ask(&transaction(vec![], reads, vec![]));
        let answer = answer?;
        let items = answer.reads.first().into_iter().flatten();
        let settings = items.filter_map(|item| {
            let node = number_of(&item.key, &from)?;
            Some((node, serde_json::from_slice(&item.value).ok()?))
        });
        Ok(settings.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_both_have_are_compared() {
        let parts = |text: &str| -> SettingsParts { serde_json::from_str(text).expect("JSON") };
        let one = parts(r#"{"schema": "1", "overlays": "2", "new": "3"}"#);
        let other = parts(r#"{"schema": "1", "overlays": "9", "old": "4"}"#);
        let found = differences((NodeId(2), &one), (NodeId(1), &other));
        let text = "nodes 2 and 1 differ in overlays: give both the same settings";
        assert_eq!(found, [text]);
        assert_eq!(differences((NodeId(2), &one), (NodeId(1), &one)), [""; 0]);
    }
}
