//! The names that new and renamed entries have, at one point of the log.
//!
//! Each level of a name is an edge. So a rename moves all names below it by one edge.

use fulgurite_schema::Dn;
use rustc_hash::FxHashMap;

const TOP: usize = 0;

/// The names of entries, which have numbers.
#[derive(Debug)]
pub(super) struct NameTree {
    /// The entry of each node, if one has that name.
    nodes: Vec<Option<usize>>,
    /// By a node and the RDN below it in normal form.
    edges: FxHashMap<(usize, String), usize>,
}

impl Default for NameTree {
    fn default() -> NameTree {
        NameTree {
            nodes: vec![None],
            edges: FxHashMap::default(),
        }
    }
}

impl NameTree {
    /// Returns the nearest entry above a name, and the levels between them, the lowest first.
    pub(super) fn nearest_above(&self, name: &Dn) -> Option<(usize, Vec<Dn>)> {
        let levels = levels(name);
        let (mut node, mut nearest) = (TOP, None);
        for (depth, level) in levels.iter().enumerate().rev() {
            if let Some(entry) = self.nodes.get(node).copied().flatten() {
                nearest = Some((entry, depth + 1));
            }
            let Some(next) = self.edge(node, level) else {
                break;
            };
            node = next;
        }
        let (entry, len) = nearest?;
        Some((entry, levels.into_iter().take(len).collect()))
    }

    /// Gives a name to an entry.
    pub(super) fn insert(&mut self, name: &Dn, entry: usize) {
        let node = self.make(name);
        if let Some(held) = self.nodes.get_mut(node) {
            *held = Some(entry);
        }
    }

    /// Takes a name from an entry that has it.
    pub(super) fn remove(&mut self, name: &Dn, entry: usize) {
        let node = self.find(name);
        if let Some(held) = node.and_then(|node| self.nodes.get_mut(node)) {
            held.take_if(|held| *held == entry);
        }
    }

    /// Moves the names below `before` to `after`. An entry that has `before` itself keeps it.
    pub(super) fn move_below(&mut self, before: &Dn, after: &Dn) {
        let Some((parent, rdn)) = before.parent().zip(before.leaf()) else {
            return;
        };
        let parent = match parent.is_root() {
            true => Some(TOP),
            false => self.find(&parent),
        };
        let Some(key) = parent.map(|parent| (parent, rdn.normal().to_owned())) else {
            return;
        };
        let Some(node) = self.edges.remove(&key) else {
            return;
        };
        if let Some(entry) = self.nodes.get_mut(node).and_then(Option::take) {
            self.nodes.push(Some(entry));
            self.edges.insert(key, self.nodes.len() - 1);
        }
        let (Some(parent), Some(rdn)) = (after.parent(), after.leaf()) else {
            return;
        };
        let parent = self.make(&parent);
        self.edges.insert((parent, rdn.normal().to_owned()), node);
    }

    fn edge(&self, node: usize, level: &Dn) -> Option<usize> {
        self.edges.get(&(node, level.normal().to_owned())).copied()
    }

    fn find(&self, name: &Dn) -> Option<usize> {
        let levels = levels(name);
        let mut levels = levels.iter().rev();
        levels.try_fold(TOP, |node, level| self.edge(node, level))
    }

    fn make(&mut self, name: &Dn) -> usize {
        levels(name).iter().rev().fold(TOP, |node, level| {
            let next = self.nodes.len();
            let edge = self.edges.entry((node, level.normal().to_owned()));
            let found = *edge.or_insert(next);
            if found == next {
                self.nodes.push(None);
            }
            found
        })
    }
}

/// Returns the levels of a name, the lowest first.
fn levels(name: &Dn) -> Vec<Dn> {
    let first = Some(name.clone()).filter(|name| !name.is_root());
    let names = std::iter::successors(first, |name| {
        name.parent().filter(|parent| !parent.is_root())
    });
    names.filter_map(|name| name.leaf()).collect()
}

#[cfg(test)]
mod tests {
    use super::NameTree;
    use fulgurite_schema::{Dn, Schema};

    #[test]
    fn names_follow_a_rename_above_them() {
        let schema = Schema::standard();
        let dn = |text: &str| Dn::parse(&schema, text).unwrap();
        let mut tree = NameTree::default();
        tree.insert(&dn("ou=a,dc=x"), 1);
        tree.insert(&dn("ou=c,ou=b,ou=a,dc=x"), 2);
        let nearest = |tree: &NameTree, name: &str| {
            let (entry, below) = tree.nearest_above(&dn(name))?;
            let below: Vec<String> = below.iter().map(|dn| dn.pretty().to_owned()).collect();
            Some((entry, below.join(",")))
        };
        let found = |entry, below: &str| Some((entry, below.to_owned()));
        assert_eq!(nearest(&tree, "ou=d,ou=b,ou=a,dc=x"), found(1, "ou=d,ou=b"));
        assert_eq!(nearest(&tree, "ou=d,ou=c,ou=b,ou=a,dc=x"), found(2, "ou=d"));
        assert_eq!(nearest(&tree, "ou=a,dc=x"), None);
        tree.remove(&dn("ou=a,dc=x"), 1);
        tree.move_below(&dn("ou=a,dc=x"), &dn("ou=z,ou=y"));
        tree.insert(&dn("ou=z,ou=y"), 1);
        assert_eq!(nearest(&tree, "ou=d,ou=c,ou=b,ou=a,dc=x"), None);
        assert_eq!(nearest(&tree, "ou=d,ou=c,ou=b,ou=z,ou=y"), found(2, "ou=d"));
        assert_eq!(nearest(&tree, "ou=d,ou=z,ou=y"), found(1, "ou=d"));
        // Another entry holds the name that is moved.
        tree.move_below(&dn("ou=z,ou=y"), &dn("ou=q"));
        assert_eq!(nearest(&tree, "ou=d,ou=z,ou=y"), found(1, "ou=d"));
        assert_eq!(nearest(&tree, "ou=d,ou=c,ou=b,ou=q"), found(2, "ou=d"));
    }

    #[test]
    fn many_renames_above_many_names_take_a_step_each() {
        let schema = Schema::standard();
        let dn = |text: String| Dn::parse(&schema, &text).unwrap();
        let mut tree = NameTree::default();
        for at in 0..30_000 {
            tree.insert(&dn(format!("cn={at},ou=0,dc=x")), at);
        }
        for at in 0..30_000 {
            let after = dn(format!("ou={},dc=x", at + 1));
            tree.move_below(&dn(format!("ou={at},dc=x")), &after);
        }
        let below = dn("cn=e,cn=7,ou=30000,dc=x".to_owned());
        assert_eq!(tree.nearest_above(&below).map(|(entry, _)| entry), Some(7));
    }
}
