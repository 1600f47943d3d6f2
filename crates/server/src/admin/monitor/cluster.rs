//! The node of a cluster that the server is.

use fulgurite_directory::TreeEntry;

use super::figures::{Monitor, SUFFIX};

/// The name of the entry.
const NAME: &str = "Cluster";

impl Monitor {
    /// Returns the entry of the cluster if `base` is at it, above or below it. There is none for a
    /// server that is alone.
    pub(super) fn cluster(&self, base: &str) -> Option<TreeEntry> {
        let own = format!("cn={},{}", NAME, SUFFIX).to_ascii_lowercase();
        if !own.ends_with(base) && !base.ends_with(&own) {
            return None;
        }
        let figures = self.statistics.cluster()?;
        let leader = figures
            .leader
            .map_or("none".to_owned(), |node| node.to_string());
        let facts = [
            format!("cluster: {}", figures.cluster),
            format!("node: {}", figures.node),
            format!("sequencer: {leader}"),
            format!("position: {}", figures.position),
            format!("durable: {}", figures.durable),
            format!("waiting: {}", figures.waiting),
        ];
        let optional = [
            figures.epoch.map(|epoch| format!("leadership: {epoch}")),
            figures
                .silence_ms
                .map(|silence| format!("silence: {} ms", silence)),
            figures.trouble.map(|text| format!("trouble: {text}")),
            figures.unready.map(|text| format!("unready: {text}")),
        ];
        Some(
            self.entry("monitoredObject", NAME, SUFFIX)
                .with(
                    "description",
                    ["This object contains information about the node of a cluster."],
                )
                .with(
                    "monitoredInfo",
                    facts.into_iter().chain(optional.into_iter().flatten()),
                ),
        )
    }
}
