//! The walk from an entry to the groups that an attribute lists. The requester must know those of
//! `dynlist`.
//!
//! ```text
//!   jane  --member of-->  staff, boss   --nested: groups that name these-->  all ...     each group once
//! ```
//!
//! Groups with values come from the index of their attribute. A group with URLs is asked about the
//! one entry, so no search runs. A search keeps what it learns in a [`GroupCache`].

use std::collections::BTreeSet;
use std::sync::Arc;

use fulgurite_schema::AttributeIndex;
use fulgurite_store::{EntryId, Scope, StoreError, View};

use crate::core::membership::{ListedGroups, names_of};
use crate::rights::group_cache::{GroupCache, ListEntry, UrlGroup};
use crate::rights::list_entry::knows_group;
use crate::rights::requester_rights::RequesterRights;

/// The groups to look for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    All,
    /// Groups whose members may be groups.
    Nested,
}

/// Returns the names of the groups that an attribute of an entry lists, in the order of their ids.
pub(crate) fn names(
    requester: RequesterRights<'_>,
    view: &View<'_>,
    attribute: AttributeIndex,
    id: EntryId,
) -> Result<Vec<Vec<u8>>, StoreError> {
    let fresh = GroupCache::default();
    let cache = requester.cache.unwrap_or(&fresh);
    let walk = Walk {
        requester,
        view,
        attribute,
        cache,
    };
    let groups = walk.groups(id)?;
    names_of(view, groups.into_iter().collect())
}

/// A walk upwards.
struct Walk<'a, 's> {
    requester: RequesterRights<'a>,
    view: &'a View<'s>,
    attribute: AttributeIndex,
    cache: &'a GroupCache,
}

impl Walk<'_, '_> {
    fn groups(&self, id: EntryId) -> Result<BTreeSet<EntryId>, StoreError> {
        self.cache.enter(self.view.state());
        let max = self.requester.database.expanded_max;
        let mut memberships = self.requester.database.memberships.of(self.attribute);
        let is_nested = |listed: Option<ListedGroups>| listed.is_some_and(|listed| listed.nested);
        let nested = memberships.any(|membership| is_nested(membership.listed));
        let mut found = BTreeSet::new();
        let mut waiting = self.direct(id, Wanted::All)?;
        while let Some(group) = waiting.pop() {
            if !found.insert(group) {
                continue;
            }
            if found.len() > max {
                found.remove(&group);
                self.cache.exceeded.set(true);
                break;
            }
            if nested {
                let above = self.above(group)?;
                waiting.extend(above.iter().filter(|above| !found.contains(above)));
            }
        }
        Ok(found)
    }

    /// Returns the groups that name a group, if these may have groups as members.
    fn above(&self, group: EntryId) -> Result<Arc<[EntryId]>, StoreError> {
        let key = (self.attribute, group);
        if let Some(known) = self.cache.known.borrow().above.get(&key) {
            return Ok(Arc::clone(known));
        }
        let found: Arc<[EntryId]> = self.direct(group, Wanted::Nested)?.into();
        let mut known = self.cache.known.borrow_mut();
        known.above.insert(key, Arc::clone(&found));
        Ok(found)
    }

    /// Returns the groups that name an entry or find it.
    fn direct(&self, id: EntryId, wanted: Wanted) -> Result<Vec<EntryId>, StoreError> {
        let (requester, view) = (self.requester, self.view);
        let name = view.resolved_dn(id)?;
        let mut groups = Vec::new();
        let mut asks_urls = false;
        for membership in requester.database.memberships.of(self.attribute) {
            match membership.listed {
                None if wanted == Wanted::All => membership.add_groups(view, &name, &mut groups)?,
                None => {}
                Some(_) if requester.stored_only => {}
                Some(listed) if wanted == Wanted::Nested && !listed.nested => {}
                Some(ListedGroups { set: Some(_), .. }) => asks_urls = true,
                Some(_) => {
                    let mut known = Vec::new();
                    membership.add_groups(view, &name, &mut known)?;
                    for group in known {
                        if knows_group(requester, view, group)? {
                            groups.push(group);
                        }
                    }
                }
            }
        }
        if asks_urls && let Some(entry) = view.entry(id)? {
            for group in self.with_urls()?.iter() {
                if (group.nested || wanted == Wanted::All)
                    && group.list.finds(requester, view, &entry, &name)?
                {
                    groups.push(group.list.id);
                }
            }
        }
        Ok(groups)
    }

    /// Returns the groups with URLs that the requester knows.
    fn with_urls(&self) -> Result<Arc<[UrlGroup]>, StoreError> {
        let is_it = |(known, _): &&(AttributeIndex, _)| *known == self.attribute;
        if let Some((_, groups)) = self.cache.known.borrow().with_urls.iter().find(is_it) {
            return Ok(Arc::clone(groups));
        }
        let (requester, view) = (self.requester, self.view);
        let sets = requester.database.lists.iter().map(|lists| &lists.sets);
        let sets = sets.flatten().collect::<Vec<_>>();
        let mut groups = Vec::new();
        for membership in requester.database.memberships.of(self.attribute) {
            let Some(listed) = membership.listed else {
                continue;
            };
            let Some(set) = listed.set.and_then(|set| sets.get(set)) else {
                continue;
            };
            let mut candidates = view.plan(EntryId::ROOT, Scope::Subtree, &set.class)?;
            while let Some(entry) = candidates.next_entry(view)? {
                if let Some(list) = ListEntry::read_as_group(requester, view, set, &entry)?
                    && knows_group(requester, view, entry.id())?
                {
                    let nested = listed.nested;
                    groups.push(UrlGroup { nested, list });
                }
            }
        }
        let groups: Arc<[UrlGroup]> = groups.into();
        let mut known = self.cache.known.borrow_mut();
        known.with_urls.push((self.attribute, Arc::clone(&groups)));
        Ok(groups)
    }
}
