//! Entries whose names meet: one has had the name of the other, or a name above it.
//!
//! The names are a forest, and each has its holders. Entries that meet a given one are at the names
//! above and below its own. A name is climbed through once, and descended through once.

use fulgurite_schema::Dn;
use rustc_hash::FxHashMap;

/// A name that entries have had, or that is above such a name.
#[derive(Debug, Default)]
struct NameNode {
    above: Option<usize>,
    below: Vec<usize>,
    /// The entries that have had this name.
    holders: Vec<usize>,
    is_climbed: bool,
    is_descended: bool,
}

/// The names of entries, which have numbers.
#[derive(Debug, Default)]
pub(super) struct Kinship {
    nodes: Vec<NameNode>,
    by_name: FxHashMap<String, usize>,
    /// The nodes of each entry.
    held: FxHashMap<usize, Vec<usize>>,
}

impl Kinship {
    /// Notes that an entry has had a name.
    pub(super) fn note(&mut self, entry: usize, name: &Dn) {
        let node = self.node(name);
        if let Some(found) = self.nodes.get_mut(node) {
            found.holders.push(entry);
        }
        self.held.entry(entry).or_default().push(node);
    }

    /// Returns the node of a name. It makes those that are missing up to the top.
    fn node(&mut self, name: &Dn) -> usize {
        let (mut wanted, mut below) = (None, None);
        let mut rest = Some(name.clone());
        while let Some(name) = rest {
            let known = self.by_name.get(name.normal()).copied();
            let node = known.unwrap_or(self.nodes.len());
            if known.is_none() {
                self.nodes.push(NameNode::default());
                self.by_name.insert(name.normal().to_owned(), node);
            }
            if let Some(below) = below {
                self.nodes[node].below.push(below);
                self.nodes[below].above = Some(node);
            }
            wanted = wanted.or(Some(node));
            below = Some(node);
            rest = name
                .parent()
                .filter(|parent| known.is_none() && !parent.is_root());
        }
        wanted.unwrap_or_default()
    }

    /// Calls `reach` with each entry that meets one of `pending`, or one that meets such an entry,
    /// and so on. Entries may come twice.
    pub(super) fn spread(mut self, mut pending: Vec<usize>, mut reach: impl FnMut(usize)) {
        while let Some(entry) = pending.pop() {
            reach(entry);
            for node in self.held.remove(&entry).unwrap_or_default() {
                self.climb(node, &mut pending);
                self.descend(node, &mut pending);
            }
        }
    }

    /// Takes the entries at a name and above it.
    fn climb(&mut self, node: usize, pending: &mut Vec<usize>) {
        let mut next = Some(node);
        while let Some(node) = next.and_then(|node| self.nodes.get_mut(node)) {
            if std::mem::replace(&mut node.is_climbed, true) {
                break;
            }
            pending.append(&mut node.holders);
            next = node.above;
        }
    }

    /// Takes the entries below a name.
    fn descend(&mut self, node: usize, pending: &mut Vec<usize>) {
        let mut next = vec![node];
        while let Some(node) = next.pop().and_then(|node| self.nodes.get_mut(node)) {
            if std::mem::replace(&mut node.is_descended, true) {
                continue;
            }
            pending.append(&mut node.holders);
            next.extend(&node.below);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Kinship;
    use fulgurite_schema::{Dn, Schema};
    use fulgurite_testkit::{Random, seed};
    use std::collections::BTreeSet;

    fn reached(names: &[Vec<Dn>], seeds: Vec<usize>) -> BTreeSet<usize> {
        let mut kinship = Kinship::default();
        for (entry, names) in names.iter().enumerate() {
            names.iter().for_each(|name| kinship.note(entry, name));
        }
        let mut found = BTreeSet::new();
        kinship.spread(seeds, |entry| {
            found.insert(entry);
        });
        found
    }

    /// Compares each entry with each other until nothing is added.
    fn reached_slowly(names: &[Vec<Dn>], seeds: Vec<usize>) -> BTreeSet<usize> {
        let meets = |a: usize, b: usize| {
            let mut pairs = names[a]
                .iter()
                .flat_map(|a| names[b].iter().map(move |b| (a, b)));
            pairs.any(|(a, b)| a.is_within(b) || b.is_within(a))
        };
        let mut found = BTreeSet::from_iter(seeds);
        loop {
            let more = (0..names.len()).filter(|at| !found.contains(at));
            let more = more.filter(|at| found.iter().any(|found| meets(*found, *at)));
            let more: Vec<usize> = more.collect();
            if more.is_empty() {
                return found;
            }
            found.extend(more);
        }
    }

    #[test]
    fn the_entries_are_those_of_a_comparison_of_all_pairs() {
        let schema = Schema::standard();
        let mut random = Random::new(seed("kinship", 7));
        for _ in 0..200 {
            let mut name = || {
                let depth = random.below(4) + 1;
                let rdns = (0..depth).map(|_| format!("ou={}", random.below(4)));
                let text = rdns.collect::<Vec<_>>().join(",");
                Dn::parse(&schema, &text).unwrap()
            };
            let mut names = Vec::new();
            for at in 0..8 {
                names.push((0..1 + at % 2).map(|_| name()).collect::<Vec<_>>());
            }
            assert_eq!(
                reached(&names, vec![0, 3]),
                reached_slowly(&names, vec![0, 3]),
                "{names:?}"
            );
        }
    }

    #[test]
    fn a_long_chain_of_names_takes_one_pass() {
        const LEN: usize = 60_000;
        let schema = Schema::standard();
        let name = |at: usize| Dn::parse(&schema, &format!("ou={at},ou=top")).unwrap();
        // Each entry has taken the name that the next one has given up.
        let names: Vec<Vec<Dn>> = (0..LEN).map(|at| vec![name(at), name(at + 1)]).collect();
        assert_eq!(reached(&names, vec![LEN - 1]).len(), LEN);
    }
}
