//! Holes: ranges of keys that the newest snapshot has lost.

use super::page_check::DamagedTree;
use super::report::{HOLES_MAX, Hole};
use super::source_stage::Stage;
use crate::maintain::image::order::KeyBounds;
use crate::maintain::image::order::RecordedOrder;
use crate::maintain::walk::TreeRole;

/// The missing part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MissingPart {
    /// The value of one key, which is both `low` and `high`.
    Value,
    /// A leaf or a part of it. Or a damaged branch refers to another page instead.
    Leaf,
    /// Everything below a branch.
    Leaves,
}

/// A range of keys that a damaged page has lost.
pub(super) struct LostRange<'a> {
    pub(super) page: u64,
    pub(super) bounds: KeyBounds<'a>,
    pub(super) missing: MissingPart,
    pub(super) reason: String,
}

/// A hole and its tree.
#[derive(Debug)]
pub(super) struct HoleState {
    pub(super) tree: DamagedTree,
    pub(super) missing: MissingPart,
    pub(super) report: Hole,
}

impl HoleState {
    pub(super) fn bounds(&self) -> KeyBounds<'_> {
        KeyBounds {
            low: self.report.low.as_deref(),
            high: self.report.high.as_deref(),
        }
    }

    /// Returns the records to look for in other sources.
    pub(super) fn filter(&self) -> KeyFilter {
        let report = &self.report;
        let (low, high) = (report.low.clone(), report.high.clone());
        match &report.key {
            None => KeyFilter {
                low,
                high,
                is_point: self.missing == MissingPart::Value,
                values: None,
            },
            Some(key) => KeyFilter {
                low: Some(key.clone()),
                high: Some(key.clone()),
                is_point: true,
                values: (self.missing != MissingPart::Value).then_some(KeySpan { low, high }),
            },
        }
    }
}

/// The wanted records.
#[derive(Debug)]
pub(super) struct KeyFilter {
    low: Option<Vec<u8>>,
    high: Option<Vec<u8>>,
    is_point: bool,
    /// The wanted values of the key.
    values: Option<KeySpan>,
}

/// A range with its lower bound, without its upper bound.
#[derive(Debug)]
struct KeySpan {
    low: Option<Vec<u8>>,
    high: Option<Vec<u8>>,
}

impl KeyFilter {
    pub(super) fn admits(&self, order: RecordedOrder, key: &[u8]) -> bool {
        if self.is_point {
            return self.low.as_deref() == Some(key);
        }
        let bounds = KeyBounds {
            low: self.low.as_deref(),
            high: self.high.as_deref(),
        };
        bounds.admit(order, key)
    }

    pub(super) fn admits_value(&self, order: RecordedOrder, value: &[u8]) -> bool {
        self.values.as_ref().is_none_or(|span| {
            let bounds = KeyBounds {
                low: span.low.as_deref(),
                high: span.high.as_deref(),
            };
            bounds.admit(order, value)
        })
    }

    /// Returns true if a subtree between these separators can have wanted keys.
    pub(super) fn meets(&self, order: RecordedOrder, bounds: KeyBounds<'_>) -> bool {
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

/// The holes, up to a maximum.
#[derive(Debug, Default)]
pub(super) struct Holes {
    list: Vec<HoleState>,
    total: u64,
    /// The hole that the next records belong to.
    current: Option<usize>,
}

impl Holes {
    /// Adds a hole and makes it current. Returns the hole that was current before.
    pub(super) fn add(
        &mut self,
        tree: &DamagedTree,
        name: Option<&[u8]>,
        lost: LostRange<'_>,
    ) -> Option<usize> {
        self.total += 1;
        let before = self.current;
        self.current = None;
        if self.list.len() < HOLES_MAX {
            self.current = Some(self.list.len());
            self.list.push(HoleState {
                tree: tree.clone(),
                missing: lost.missing,
                report: Hole {
                    database: name.map(<[u8]>::to_vec),
                    key: tree.key.as_deref().map(<[u8]>::to_vec),
                    low: lost.bounds.low.map(<[u8]>::to_vec),
                    high: lost.bounds.high.map(<[u8]>::to_vec),
                    page: lost.page,
                    reason: lost.reason,
                    kept: 0,
                    from_orphans: 0,
                    from_previous: 0,
                },
            });
        }
        before
    }

    /// Sets the hole that is being filled.
    pub(super) fn set_current(&mut self, hole: Option<usize>) {
        self.current = hole;
    }

    pub(super) fn current(&self) -> Option<usize> {
        self.current
    }

    /// Counts a stored record.
    pub(super) fn count(&mut self, stage: Stage) {
        if let Some(hole) = self.current.and_then(|hole| self.list.get_mut(hole)) {
            match stage {
                Stage::Newest => hole.report.kept += 1,
                Stage::Orphans => hole.report.from_orphans += 1,
                Stage::Previous => hole.report.from_previous += 1,
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn get(&self, hole: usize) -> Option<&HoleState> {
        self.list.get(hole)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &HoleState)> {
        self.list.iter().enumerate()
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Iterates over the holes of the main database.
    pub(super) fn in_main(&self) -> impl Iterator<Item = &HoleState> {
        self.list
            .iter()
            .filter(|hole| hole.tree.role == TreeRole::Main && hole.tree.key.is_none())
    }

    pub(super) fn into_reported(self) -> Vec<Hole> {
        self.list.into_iter().map(|hole| hole.report).collect()
    }
}
