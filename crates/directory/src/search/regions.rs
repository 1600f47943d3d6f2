//! The regions of a search that follows aliases: the base's region, and those that aliases lead to.
//!
//! ```text
//!   region 0: the base and its scope       region 1: the target of an alias in region 0, with the same scope ...
//!        |-- alias ----------------------------^
//! ```
//!
//! Regions may overlap. An entry belongs to the first region that covers it, so the search returns
//! it once. Without aliases there is one region and no extra cost.

use fulgurite_ldap::Scope;
use fulgurite_store::{EntryId, EntryView, StoreError, View};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The number of regions of one search at most.
pub(crate) const REGIONS_MAX: usize = 10_000;

/// A base and a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) base: EntryId,
    pub(crate) scope: Scope,
}

/// The regions of one search, in the order of the search.
#[derive(Debug)]
pub(crate) struct Regions {
    list: SmallVec<[Region; 1]>,
    /// Empty until there is a second region, because most searches have one.
    by_base: FxHashMap<EntryId, Vec<usize>>,
}

impl Regions {
    pub(crate) fn new(base: EntryId, scope: Scope) -> Regions {
        Regions {
            list: SmallVec::from_buf([Region { base, scope }]),
            by_base: FxHashMap::default(),
        }
    }

    /// Makes regions that cover the whole database.
    pub(crate) fn whole(view: &View<'_>) -> Result<Regions, StoreError> {
        let mut regions = Regions {
            list: SmallVec::new(),
            by_base: FxHashMap::default(),
        };
        for suffix in view.store().suffixes() {
            if suffix.is_root() {
                regions.push(Region {
                    base: EntryId::ROOT,
                    scope: Scope::Subtree,
                });
            } else if let Some(base) = view.find(suffix)?.entry() {
                let scope = Scope::Subtree;
                regions.push(Region { base, scope });
            }
        }
        Ok(regions)
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn get(&self, number: usize) -> Option<Region> {
        self.list.get(number).copied()
    }

    /// Adds the target of an alias found in a region of `scope`, unless a region covers it already.
    pub(crate) fn add_target(
        &mut self,
        view: &View<'_>,
        target: EntryId,
        scope: Scope,
    ) -> Result<(), StoreError> {
        let scope = if scope == Scope::One {
            Scope::Base
        } else {
            scope
        };
        let region = Region {
            base: target,
            scope,
        };
        self.note_bases();
        // Like slapd, never search a base twice, even if its scope excludes the base itself.
        let below = scope == Scope::Subtree || scope == Scope::Base;
        if self.by_base.contains_key(&target) || (below && self.covers_tree(view, target, scope)?) {
            return Ok(());
        }
        self.push(region);
        Ok(())
    }

    /// Returns true if a region before number `limit` covers the entry.
    pub(crate) fn covers_before(
        &self,
        view: &View<'_>,
        entry: &EntryView<'_>,
        limit: usize,
    ) -> Result<bool, StoreError> {
        if limit == 0 {
            return Ok(false);
        }
        let mut levels = 0;
        let mut id = entry.id();
        let mut above = entry.parent();
        loop {
            let covered = |number: &usize| {
                *number < limit
                    && self
                        .get(*number)
                        .is_some_and(|region| covers(region.scope, levels))
            };
            if self.by_base.get(&id).into_iter().flatten().any(covered) {
                return Ok(true);
            }
            if id == EntryId::ROOT {
                return Ok(false);
            }
            levels += 1;
            id = above.unwrap_or(EntryId::ROOT);
            above = parent(view, id)?;
        }
    }

    /// Returns true if a region covers all of the scope at `target`.
    fn covers_tree(
        &self,
        view: &View<'_>,
        target: EntryId,
        scope: Scope,
    ) -> Result<bool, StoreError> {
        let mut levels = 0;
        let mut id = target;
        loop {
            let whole = |number: &usize| {
                self.get(*number).is_some_and(|region| {
                    let tree = matches!(region.scope, Scope::Subtree | Scope::Children);
                    covers(region.scope, levels) && (scope == Scope::Base || tree)
                })
            };
            if self.by_base.get(&id).into_iter().flatten().any(whole) {
                return Ok(true);
            }
            if id == EntryId::ROOT {
                return Ok(false);
            }
            levels += 1;
            id = parent(view, id)?.unwrap_or(EntryId::ROOT);
        }
    }

    fn push(&mut self, region: Region) {
        self.list.push(region);
        self.note_bases();
    }

    /// Adds the first and the last region to the map.
    fn note_bases(&mut self) {
        let ends = [self.list.len().min(1), self.list.len()];
        for number in ends.into_iter().filter_map(|end| end.checked_sub(1)) {
            if let Some(region) = self.list.get(number) {
                let numbers = self.by_base.entry(region.base).or_default();
                if !numbers.contains(&number) {
                    numbers.push(number);
                }
            }
        }
    }
}

/// Returns the parent of an entry; `None` for [`EntryId::ROOT`], the empty suffix.
fn parent(view: &View<'_>, id: EntryId) -> Result<Option<EntryId>, StoreError> {
    match id {
        EntryId::ROOT => Ok(None),
        id => view.parent(id),
    }
}

/// Returns true if a scope covers entries that many levels below its base.
fn covers(scope: Scope, levels: usize) -> bool {
    match scope {
        Scope::Base => levels == 0,
        Scope::One => levels == 1,
        Scope::Subtree => true,
        Scope::Children => levels > 0,
    }
}

/// Returns the store's name of a scope.
pub(super) fn store_scope(scope: Scope) -> fulgurite_store::Scope {
    match scope {
        Scope::Base => fulgurite_store::Scope::Base,
        Scope::One => fulgurite_store::Scope::OneLevel,
        Scope::Subtree => fulgurite_store::Scope::Subtree,
        Scope::Children => fulgurite_store::Scope::Subordinates,
    }
}
