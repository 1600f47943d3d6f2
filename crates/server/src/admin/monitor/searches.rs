//! Searches that looked at many entries in vain or took long, with the indexes that they lack.

use fulgurite_directory::{SlowSearch, TreeEntry};
use fulgurite_ldap::Scope;

use super::figures::{Monitor, SUFFIX, generalized};

/// The name of the entry above them.
const NAME: &str = "Searches";

impl Monitor {
    /// Returns the entries of the searches if `base` is at one, above or below it. There are none
    /// before the first such search.
    pub(super) fn searches(&self, base: &str) -> Vec<TreeEntry> {
        let above = format!("cn={NAME},{SUFFIX}");
        let own = above.to_ascii_lowercase();
        let list = self.statistics.slow_searches().list();
        if list.is_empty() || !own.ends_with(base) && !base.ends_with(&own) {
            return Vec::new();
        }
        let text =
            "This subsystem contains searches that looked at many entries in vain, or took long.";
        let top = self.entry("monitorContainer", NAME, SUFFIX);
        let mut entries = vec![top.with("description", [text])];
        for (number, search) in list.iter().enumerate() {
            let entry = self.entry("monitoredObject", &format!("Search {number}"), &above);
            entries.push(entry.with("monitoredInfo", facts(search)));
        }
        entries
    }
}

fn facts(search: &SlowSearch) -> Vec<String> {
    let scope = match search.scope {
        Scope::Base => "base",
        Scope::One => "one",
        Scope::Subtree => "sub",
        Scope::Children => "children",
    };
    let missing = search.missing.iter();
    let facts = [
        format!("database: {}", search.suffix),
        format!("scope: {scope}"),
        format!("filter: {}", search.filter),
        format!("plan: {}", search.plan),
        format!("count: {}", search.count),
        format!("looked at: {}", search.examined),
        format!("returned: {}", search.returned),
        format!("time: {} ms", search.work_us / 1000),
        format!("longest: {} ms", search.longest_us / 1000),
        format!("last: {}", generalized(search.last.0 / 1_000_000)),
    ];
    let missing = missing.map(|index| format!("missing index: {index}"));
    facts.into_iter().chain(missing).collect()
}
