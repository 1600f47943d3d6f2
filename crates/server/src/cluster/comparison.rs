//! The comparison of a node's settings with those of the others, while it runs.

use std::collections::BTreeSet;

use fulgurite_cluster::NodeId;
use fulgurite_etcd::{EtcdLog, SettingsParts, differences};

/// Looks at the nodes between two comparisons: about half a minute.
const LOOKS: u32 = 15;

/// The comparison.
pub(super) struct Comparison {
    node: NodeId,
    parts: SettingsParts,
    is_written: bool,
    looks: u32,
    told: BTreeSet<String>,
}

impl Comparison {
    pub(super) fn new(node: NodeId, parts: SettingsParts) -> Comparison {
        Comparison {
            node,
            parts,
            is_written: false,
            looks: 0,
            told: BTreeSet::new(),
        }
    }

    /// Writes the own digests once, and compares those of others now and then. A log that does not
    /// answer is asked again at the next look.
    pub(super) fn look(&mut self, log: &EtcdLog) {
        if !self.is_written {
            self.is_written = log.put_settings(self.node, &self.parts).is_ok();
        }
        self.looks = self.looks.saturating_sub(1);
        if self.looks > 0 || !self.is_written {
            return;
        }
        let Ok(all) = log.settings() else { return };
        self.looks = LOOKS;
        let others = all.iter().filter(|(node, _)| *node != self.node);
        let found =
            others.flat_map(|(node, parts)| differences((self.node, &self.parts), (*node, parts)));
        let found: BTreeSet<String> = found.collect();
        for difference in found.difference(&self.told) {
            tracing::warn!("cluster: {difference}");
        }
        self.told = found;
    }
}
