//! The walk of a tree that goes on beside damage.

use fulgurite_format::DEPTH_MAX;

use super::accept::{self, Bounds, Fault, Tree};
use super::holes::Lacks;
use super::report::SalvageError;
use super::{Salvage, Stage};
use crate::check::layout::{Entries, Header};
use crate::check::meta::Snapshot;
use crate::check::tree::Role;

/// A page that does not fit the place it was met at.
#[derive(Debug, Clone)]
pub(super) struct Misplaced {
    hole: Option<usize>,
    tree: Tree,
    pgno: u64,
    level: u16,
}

/// How a damaged page is dealt with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Damage {
    /// It leaves a hole, and what it still has is taken.
    Hole,
    /// It is passed over: the place itself is doubtful, or only a second source.
    Skip,
}

impl Salvage<'_, '_> {
    /// All trees of the newest snapshot.
    pub(super) fn trees(&mut self, snapshot: &Snapshot) -> Result<(), SalvageError> {
        self.sink.main(&snapshot.main)?;
        let judged = self.sink.judges_order_of(0);
        let main = Tree::database(0, Role::Main, snapshot.main, judged);
        self.tree(&main, snapshot.pgno, Damage::Hole)?;
        let free = Tree::database(0, Role::Free, snapshot.free, true);
        self.tree(&free, snapshot.pgno, Damage::Hole)?;
        self.free_is_whole = self.free_records == snapshot.free.entries;
        self.misplaced_pages()
    }

    /// A whole tree, whose record stands on page `at`.
    pub(super) fn tree(
        &mut self,
        tree: &Tree,
        at: u64,
        damage: Damage,
    ) -> Result<(), SalvageError> {
        let root = tree.record.root;
        if root.is_none() {
            if tree.record.entries > 0 && damage == Damage::Hole {
                let reason = "its database has records and no root".to_owned();
                self.hole(tree, 0, at, Bounds::default(), reason);
                self.holes.set_current(None);
            }
            return Ok(());
        }
        let depth = self.depth_of(tree);
        let mut tree = tree.clone();
        tree.record.depth = depth;
        self.page(&tree, root.0, 1, Bounds::default(), damage)?;
        Ok(())
    }

    /// The levels a tree has: what its record says, unless two ways down agree on something else.
    fn depth_of(&mut self, tree: &Tree) -> u16 {
        let recorded = tree.record.depth;
        let first = self.levels_below(tree.record.root.0, false);
        match first {
            Some(levels) if levels == recorded => recorded,
            Some(levels) if self.levels_below(tree.record.root.0, true) == Some(levels) => levels,
            _ => recorded,
        }
    }

    /// Levels from a page down to a leaf, by way of each branch's first or last entry.
    fn levels_below(&mut self, pgno: u64, last: bool) -> Option<u16> {
        let mut pgno = pgno;
        for level in 1..=DEPTH_MAX {
            if !self.in_range(pgno) {
                return None;
            }
            let next = self.with_page(pgno, |_, bytes| {
                let header = Header::parse(bytes).filter(|header| header.pgno == pgno)?;
                if !header.is_branch() {
                    return (header.flags & fulgurite_format::PageFlags::LEAF != 0).then_some(None);
                }
                let entries = Entries::parse(bytes, &header).ok()?;
                let index = match last {
                    true => entries.len().checked_sub(1)?,
                    false => 0,
                };
                Some(Some(entries.get(index)?.child))
            });
            match next.ok()?? {
                None => return Some(level),
                Some(child) => pgno = child,
            }
        }
        None
    }

    /// A page at its place; says whether it was what the place calls for.
    pub(super) fn page(
        &mut self,
        tree: &Tree,
        pgno: u64,
        level: u16,
        bounds: Bounds<'_>,
        damage: Damage,
    ) -> Result<bool, SalvageError> {
        if self.stage == Stage::Previous {
            if self.budget == 0 || self.claimed.has(pgno) {
                return Ok(false);
            }
            self.budget -= 1;
        }
        let fault = if !self.in_range(pgno) {
            "there is no such page".to_owned()
        } else if self.claimed.has(pgno) {
            "the page belongs elsewhere too".to_owned()
        } else if level > DEPTH_MAX {
            "it lies too deep".to_owned()
        } else {
            match self.with_page(pgno, |salvage, bytes| {
                salvage.contents(tree, pgno, level, bounds, damage, bytes)
            }) {
                Ok(accepted) => return accepted,
                Err(fault) => fault,
            }
        };
        if damage == Damage::Hole {
            self.hole(tree, level, pgno, bounds, fault);
            self.holes.set_current(None);
        }
        Ok(false)
    }

    fn contents(
        &mut self,
        tree: &Tree,
        pgno: u64,
        level: u16,
        bounds: Bounds<'_>,
        damage: Damage,
        bytes: &[u8],
    ) -> Result<bool, SalvageError> {
        let found = accept::examine(bytes, pgno, tree, level, bounds, &mut self.tiling);
        let is_branch = level < tree.record.depth;
        match (found.fault, found.entries) {
            (None, Some(entries)) => {
                self.take(pgno);
                if is_branch {
                    self.branch(tree, &entries, level, bounds, damage)?;
                } else {
                    self.leaf(tree, pgno, &entries, 0..entries.len())?;
                }
                Ok(true)
            }
            _ if damage == Damage::Skip => Ok(false),
            (Some(Fault::Place(fault)), entries) => {
                let before = self.hole(tree, level, pgno, bounds, fault);
                let partly_here = entries.is_some_and(|entries| {
                    let keys = entries.iter().skip(usize::from(is_branch));
                    keys.map(|item| item.key)
                        .any(|key| bounds.admit(tree.order, key))
                });
                if partly_here {
                    self.misplaced.push(Misplaced {
                        hole: self.holes.current(),
                        tree: tree.clone(),
                        pgno,
                        level,
                    });
                }
                self.holes.set_current(before);
                Ok(false)
            }
            (fault, entries) => {
                let fault = match fault {
                    Some(Fault::Contents(fault) | Fault::Place(fault)) => fault,
                    None => "it cannot be read".to_owned(),
                };
                let before = self.hole(tree, level, pgno, bounds, fault);
                if let Some(entries) = entries {
                    self.take(pgno);
                    self.rest_of(tree, pgno, level, bounds, bytes, &entries)?;
                }
                self.holes.set_current(before);
                Ok(false)
            }
        }
    }

    /// Pages some of whose keys contradict the separators above them, but which no other place has laid claim to since: it
    /// is a separator that is damaged.
    fn misplaced_pages(&mut self) -> Result<(), SalvageError> {
        // More may turn up below these.
        let mut next = 0;
        while let Some(misplaced) = self.misplaced.get(next).cloned() {
            next += 1;
            let Misplaced {
                hole,
                tree,
                pgno,
                level,
            } = misplaced;
            if self.free.has(pgno) {
                continue;
            }
            self.holes.set_current(hole);
            self.page(&tree, pgno, level, Bounds::default(), Damage::Skip)?;
            self.holes.set_current(None);
        }
        Ok(())
    }

    /// What a damaged page still gives.
    fn rest_of(
        &mut self,
        tree: &Tree,
        pgno: u64,
        level: u16,
        bounds: Bounds<'_>,
        bytes: &[u8],
        entries: &Entries<'_>,
    ) -> Result<(), SalvageError> {
        if level >= tree.record.depth {
            let good = accept::believable(bytes.len(), entries, tree, bounds);
            return self.leaf(tree, pgno, entries, good);
        }
        // The separators cannot be believed, but a child that fits the hole behind its siblings can.
        let mut above: Option<Vec<u8>> = None;
        for item in entries.iter() {
            let child_bounds = Bounds {
                low: above.as_deref().or(bounds.low),
                high: bounds.high,
            };
            if self.page(tree, item.child, level + 1, child_bounds, Damage::Skip)? {
                above = Some(self.last_key.clone());
            }
        }
        Ok(())
    }

    fn branch(
        &mut self,
        tree: &Tree,
        entries: &Entries<'_>,
        level: u16,
        bounds: Bounds<'_>,
        damage: Damage,
    ) -> Result<(), SalvageError> {
        let mut low = bounds.low;
        for index in 0..entries.len() {
            let Some(item) = entries.get(index) else {
                continue;
            };
            let high = entries.get(index + 1).map(|next| next.key).or(bounds.high);
            let child = Bounds { low, high };
            low = high;
            if tree.key.is_none()
                && let Some(filter) = &self.filter
                && !filter.meets(tree.order, child)
            {
                continue;
            }
            self.page(tree, item.child, level + 1, child, damage)?;
        }
        Ok(())
    }

    /// Notes that a page has found its place.
    pub(super) fn take(&mut self, pgno: u64) {
        match self.stage {
            // Two holes may need the same page of the previous snapshot. A leaf is noted once all of it was wanted.
            Stage::Previous => {}
            Stage::Newest | Stage::Orphans => self.claim(pgno),
        }
    }

    /// Notes a hole; records stored from now on belong to it.
    pub(super) fn hole(
        &mut self,
        tree: &Tree,
        level: u16,
        pgno: u64,
        bounds: Bounds<'_>,
        reason: String,
    ) -> Option<usize> {
        self.totals.pages_lost += 1;
        if tree.role == Role::Free {
            self.totals
                .note(format!("free list, page {pgno}: {reason}"));
            return None;
        }
        let lacks = match level < tree.record.depth {
            true => Lacks::Leaves,
            false => Lacks::Leaf,
        };
        let name = self.sink.name(tree.database);
        self.holes.open(tree, name, pgno, bounds, lacks, reason)
    }
}
