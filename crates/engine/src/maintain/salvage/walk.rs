//! The walk of a tree that continues past damage.
//!
//! It has its own loop, because it trusts neither depth nor separators nor claims. It may read a
//! page again at another position, and it stores records while it walks.

use fulgurite_format::DEPTH_MAX;

use super::holes::{LostRange, MissingPart};
use super::page_check::{self, DamagedTree, PageFault};
use super::report::SalvageError;
use super::source_stage::Stage;
use super::state::{DamagePolicy, MisplacedPage, Salvage};
use crate::maintain::image::layout::{Entries, Header};
use crate::maintain::image::meta::Snapshot;
use crate::maintain::image::order::{KeyBounds, PagePosition};
use crate::maintain::walk::TreeRole;

impl Salvage<'_, '_> {
    /// Walks all trees of the newest snapshot.
    pub(super) fn trees(&mut self, snapshot: &Snapshot) -> Result<(), SalvageError> {
        self.writer.main(&snapshot.main)?;
        let checks_order = self.writer.checks_order_of(0);
        let main = DamagedTree::database(0, TreeRole::Main, snapshot.main, checks_order);
        self.tree(&main, snapshot.pgno, DamagePolicy::Hole)?;
        let free = DamagedTree::database(0, TreeRole::FreeList, snapshot.free, true);
        self.tree(&free, snapshot.pgno, DamagePolicy::Hole)?;
        self.free_is_whole = self.free_records == snapshot.free.entries;
        self.misplaced_pages()
    }

    /// Walks a whole tree, whose record is on page `at`.
    pub(super) fn tree(
        &mut self,
        tree: &DamagedTree,
        at: u64,
        damage: DamagePolicy,
    ) -> Result<(), SalvageError> {
        let root = tree.record.root;
        if root.is_none() {
            if tree.record.entries > 0 && damage == DamagePolicy::Hole {
                let reason = "its database has records and no root".to_owned();
                self.hole(tree, whole(at, 0), reason);
                self.holes.set_current(None);
            }
            return Ok(());
        }
        let depth = self.depth_of(tree);
        let mut tree = tree.clone();
        tree.record.depth = depth;
        self.page(&tree, whole(root.0, 1), damage)?;
        Ok(())
    }

    /// Returns the levels of a tree: its recorded depth, unless two descents agree on another.
    fn depth_of(&mut self, tree: &DamagedTree) -> u16 {
        let recorded = tree.record.depth;
        let first = self.levels_below(tree.record.root.0, false);
        match first {
            Some(levels) if levels == recorded => recorded,
            Some(levels) if self.levels_below(tree.record.root.0, true) == Some(levels) => levels,
            _ => recorded,
        }
    }

    /// Returns the levels from a page down to a leaf, along each branch's first or last entry.
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

    /// Walks a page at a position. Returns true if it fits.
    pub(super) fn page(
        &mut self,
        tree: &DamagedTree,
        position: PagePosition<'_>,
        damage: DamagePolicy,
    ) -> Result<bool, SalvageError> {
        let PagePosition { pgno, level, .. } = position;
        if self.stage == Stage::Previous {
            if self.budget == 0 || self.claimed.contains(pgno) {
                return Ok(false);
            }
            self.budget -= 1;
        }
        let fault = if !self.in_range(pgno) {
            "there is no such page".to_owned()
        } else if self.claimed.contains(pgno) {
            "the page belongs elsewhere too".to_owned()
        } else if level > DEPTH_MAX {
            "it is too deep".to_owned()
        } else {
            match self.with_page(pgno, |salvage, bytes| {
                salvage.contents(tree, position, damage, bytes)
            }) {
                Ok(accepted) => return accepted,
                Err(fault) => fault,
            }
        };
        if damage == DamagePolicy::Hole {
            self.hole(tree, position, fault);
            self.holes.set_current(None);
        }
        Ok(false)
    }

    fn contents(
        &mut self,
        tree: &DamagedTree,
        position: PagePosition<'_>,
        damage: DamagePolicy,
        bytes: &[u8],
    ) -> Result<bool, SalvageError> {
        let PagePosition {
            pgno,
            level,
            bounds,
        } = position;
        let found = page_check::check_page(bytes, tree, position, &mut self.tiling);
        let is_branch = level < tree.record.depth;
        match (found.fault, found.entries) {
            (None, Some(entries)) => {
                self.take(pgno);
                if is_branch {
                    self.branch(tree, &entries, position, damage)?;
                } else {
                    self.leaf(tree, pgno, &entries, 0..entries.len())?;
                }
                Ok(true)
            }
            _ if damage == DamagePolicy::Skip => Ok(false),
            (Some(PageFault::Place(fault)), entries) => {
                let before = self.hole(tree, position, fault);
                let partly_here = entries.is_some_and(|entries| {
                    let keys = entries.iter().skip(usize::from(is_branch));
                    keys.map(|item| item.key)
                        .any(|key| bounds.admit(tree.order, key))
                });
                if partly_here {
                    self.misplaced.push(MisplacedPage {
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
                    Some(PageFault::Contents(fault) | PageFault::Place(fault)) => fault,
                    None => "it cannot be read".to_owned(),
                };
                let before = self.hole(tree, position, fault);
                if let Some(entries) = entries {
                    self.take(pgno);
                    self.rest_of(tree, position, bytes, &entries)?;
                }
                self.holes.set_current(before);
                Ok(false)
            }
        }
    }

    /// Reads pages again whose keys partly contradict the separators above them. If no other
    /// position has claimed them, a separator is damaged.
    fn misplaced_pages(&mut self) -> Result<(), SalvageError> {
        // The list grows while pages below these are read.
        let mut next = 0;
        while let Some(misplaced) = self.misplaced.get(next).cloned() {
            next += 1;
            let MisplacedPage {
                hole,
                tree,
                pgno,
                level,
            } = misplaced;
            if self.free.contains(pgno) {
                continue;
            }
            self.holes.set_current(hole);
            self.page(&tree, whole(pgno, level), DamagePolicy::Skip)?;
            self.holes.set_current(None);
        }
        Ok(())
    }

    /// Stores the sound parts of a damaged page.
    fn rest_of(
        &mut self,
        tree: &DamagedTree,
        position: PagePosition<'_>,
        bytes: &[u8],
        entries: &Entries<'_>,
    ) -> Result<(), SalvageError> {
        let PagePosition {
            pgno,
            level,
            bounds,
        } = position;
        if level >= tree.record.depth {
            let good = page_check::believable(bytes.len(), entries, tree, bounds);
            return self.leaf(tree, pgno, entries, good);
        }
        // The separators are not credible, but a child that fits the rest of the hole is.
        let mut above: Option<Vec<u8>> = None;
        for item in entries.iter() {
            let child = PagePosition {
                pgno: item.child,
                level: level + 1,
                bounds: KeyBounds {
                    low: above.as_deref().or(bounds.low),
                    high: bounds.high,
                },
            };
            if self.page(tree, child, DamagePolicy::Skip)? {
                above = Some(self.last_key.clone());
            }
        }
        Ok(())
    }

    fn branch(
        &mut self,
        tree: &DamagedTree,
        entries: &Entries<'_>,
        position: PagePosition<'_>,
        damage: DamagePolicy,
    ) -> Result<(), SalvageError> {
        let PagePosition { level, bounds, .. } = position;
        let mut low = bounds.low;
        for index in 0..entries.len() {
            let Some(item) = entries.get(index) else {
                continue;
            };
            let high = entries.get(index + 1).map(|next| next.key).or(bounds.high);
            let child = KeyBounds { low, high };
            low = high;
            if tree.key.is_none()
                && let Some(filter) = &self.filter
                && !filter.meets(tree.order, child)
            {
                continue;
            }
            let position = PagePosition {
                pgno: item.child,
                level: level + 1,
                bounds: child,
            };
            self.page(tree, position, damage)?;
        }
        Ok(())
    }

    /// Claims a page that fits its position.
    pub(super) fn take(&mut self, pgno: u64) {
        match self.stage {
            // Two holes may need the same page of the previous snapshot. `leaf` marks a leaf once
            // all of it was wanted.
            Stage::Previous => {}
            Stage::Newest | Stage::Orphans => self.claim(pgno),
        }
    }

    /// Opens a hole; the next records belong to it.
    pub(super) fn hole(
        &mut self,
        tree: &DamagedTree,
        position: PagePosition<'_>,
        reason: String,
    ) -> Option<usize> {
        let PagePosition {
            pgno,
            level,
            bounds,
        } = position;
        self.totals.pages_lost += 1;
        if tree.role == TreeRole::FreeList {
            self.totals
                .note(format!("free list, page {pgno}: {reason}"));
            return None;
        }
        let missing = match level < tree.record.depth {
            true => MissingPart::Leaves,
            false => MissingPart::Leaf,
        };
        let name = self.writer.name(tree.database);
        let lost = LostRange {
            page: pgno,
            bounds,
            missing,
            reason,
        };
        self.holes.add(tree, name, lost)
    }
}

/// Returns a position that is for all keys of a tree.
fn whole(pgno: u64, level: u16) -> PagePosition<'static> {
    PagePosition {
        pgno,
        level,
        bounds: KeyBounds::default(),
    }
}
