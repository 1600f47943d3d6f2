//! Ranges of keys that the newest snapshot has lost.

use super::Stage;
use super::accept::{Bounds, Tree};
use super::report::{HOLES_MAX, Hole};
use crate::check::tree::{KeyOrder, Role};

/// What is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lacks {
    /// The value of one key, which is `low` as well as `high`.
    Value,
    /// A leaf, or part of one; or a damaged branch names another page in its place.
    Leaf,
    /// Whatever is below a branch.
    Leaves,
}

/// A hole and the tree that has it.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) tree: Tree,
    pub(super) lacks: Lacks,
    pub(super) told: Hole,
}

impl Open {
    pub(super) fn bounds(&self) -> Bounds<'_> {
        Bounds {
            low: self.told.low.as_deref(),
            high: self.told.high.as_deref(),
        }
    }

    /// The part of the database that has to be looked for elsewhere.
    pub(super) fn filter(&self) -> Filter {
        let told = &self.told;
        let (low, high) = (told.low.clone(), told.high.clone());
        match &told.key {
            None => Filter {
                low,
                high,
                is_point: self.lacks == Lacks::Value,
                values: None,
            },
            Some(key) => Filter {
                low: Some(key.clone()),
                high: Some(key.clone()),
                is_point: true,
                values: (self.lacks != Lacks::Value).then_some(Span { low, high }),
            },
        }
    }
}

/// Which records are wanted.
#[derive(Debug)]
pub(super) struct Filter {
    low: Option<Vec<u8>>,
    high: Option<Vec<u8>>,
    is_point: bool,
    /// Of the key's values, those in this range.
    values: Option<Span>,
}

/// Where something begins, inclusive, and ends, exclusive.
#[derive(Debug)]
struct Span {
    low: Option<Vec<u8>>,
    high: Option<Vec<u8>>,
}

impl Filter {
    pub(super) fn admits(&self, order: KeyOrder, key: &[u8]) -> bool {
        if self.is_point {
            return self.low.as_deref() == Some(key);
        }
        let bounds = Bounds {
            low: self.low.as_deref(),
            high: self.high.as_deref(),
        };
        bounds.admit(order, key)
    }

    pub(super) fn admits_value(&self, order: KeyOrder, value: &[u8]) -> bool {
        self.values.as_ref().is_none_or(|span| {
            let bounds = Bounds {
                low: span.low.as_deref(),
                high: span.high.as_deref(),
            };
            bounds.admit(order, value)
        })
    }

    /// Whether a part of a tree between these separators can have wanted keys.
    pub(super) fn meets(&self, order: KeyOrder, bounds: Bounds<'_>) -> bool {
        let low = self.low.as_deref();
        let begins_before_end = match (bounds.low, self.high.as_deref()) {
            (Some(begin), Some(end)) if self.is_point => !order.ascends(end, begin),
            (Some(begin), Some(end)) => order.ascends(begin, end),
            _ => true,
        };
        let ends_behind_low = match (bounds.high, low) {
            (Some(end), Some(low)) => order.ascends(low, end),
            _ => true,
        };
        begins_before_end && ends_behind_low
    }
}

/// All holes, as many as can be kept.
#[derive(Debug, Default)]
pub(super) struct Holes {
    list: Vec<Open>,
    total: u64,
    /// The hole that records being stored belong to.
    current: Option<usize>,
}

impl Holes {
    /// Notes a hole, and makes it the one that what is stored next belongs to; returns the one it was before.
    pub(super) fn open(
        &mut self,
        tree: &Tree,
        name: Option<&[u8]>,
        page: u64,
        bounds: Bounds<'_>,
        lacks: Lacks,
        reason: String,
    ) -> Option<usize> {
        self.add(tree, name, page, bounds, lacks, reason)
    }

    /// Notes that the value of a key is lost.
    pub(super) fn add_point(
        &mut self,
        tree: &Tree,
        name: Option<&[u8]>,
        page: u64,
        key: &[u8],
        reason: String,
    ) -> Option<usize> {
        let bounds = Bounds {
            low: Some(key),
            high: Some(key),
        };
        self.add(tree, name, page, bounds, Lacks::Value, reason)
    }

    fn add(
        &mut self,
        tree: &Tree,
        name: Option<&[u8]>,
        page: u64,
        bounds: Bounds<'_>,
        lacks: Lacks,
        reason: String,
    ) -> Option<usize> {
        self.total += 1;
        let before = self.current;
        self.current = None;
        if self.list.len() < HOLES_MAX {
            self.current = Some(self.list.len());
            self.list.push(Open {
                tree: tree.clone(),
                lacks,
                told: Hole {
                    database: name.map(<[u8]>::to_vec),
                    key: tree.key.as_deref().map(<[u8]>::to_vec),
                    low: bounds.low.map(<[u8]>::to_vec),
                    high: bounds.high.map(<[u8]>::to_vec),
                    page,
                    reason,
                    kept: 0,
                    from_orphans: 0,
                    from_previous: 0,
                },
            });
        }
        before
    }

    /// Says which hole is being filled.
    pub(super) fn set_current(&mut self, hole: Option<usize>) {
        self.current = hole;
    }

    pub(super) fn current(&self) -> Option<usize> {
        self.current
    }

    /// Counts a record that was stored.
    pub(super) fn count(&mut self, stage: Stage) {
        if let Some(hole) = self.current.and_then(|hole| self.list.get_mut(hole)) {
            match stage {
                Stage::Newest => hole.told.kept += 1,
                Stage::Orphans => hole.told.from_orphans += 1,
                Stage::Previous => hole.told.from_previous += 1,
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn get(&self, hole: usize) -> Option<&Open> {
        self.list.get(hole)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &Open)> {
        self.list.iter().enumerate()
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Those of the main database.
    pub(super) fn in_main(&self) -> impl Iterator<Item = &Open> {
        self.list
            .iter()
            .filter(|hole| hole.tree.role == Role::Main && hole.tree.key.is_none())
    }

    pub(super) fn into_reported(self) -> Vec<Hole> {
        self.list.into_iter().map(|hole| hole.told).collect()
    }
}
