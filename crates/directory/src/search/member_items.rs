//! Filter items about groups, such as `(memberOf=cn=staff,...)`, before the search is planned.
//!
//! ```text
//!   (memberOf=g)     few candidates remain without it:   each candidate is tested
//!                    otherwise:                          the members of g become a set of entries
//!   (memberOf=*)     the same with the members of all groups
//! ```
//!
//! No index lists the members of a group by their ids. So the values of a group are read, and each
//! costs as much as the test of some candidates. The items with the fewest members come first, and
//! each may leave too few candidates for the next one.

use std::collections::HashSet;
use std::sync::Arc;

use fulgurite_schema::{
    Assertion, AttributeDescription, AttributeIndex, AttributeSelector, Filter, Schema,
};
use fulgurite_store::{EntryId, EntryView, Scope, StoreError, ValuesPosition, View};

use crate::core::membership::{Membership, Memberships};
use crate::rights::group_cache::ListEntry;
use crate::rights::list_entry::knows_group;
use crate::rights::list_scan::{ListScan, ListStep, members_region};
use crate::rights::requester_rights::RequesterRights;

/// The members that take as long to read as one candidate takes to test.
const MEMBERS_PER_CANDIDATE: u64 = 4;

/// The number of candidates that are always tested.
const TESTED_MAX: u64 = 16;

/// The items of a filter up to which each group is followed by a new plan.
const PLANNED_ITEMS_MAX: usize = 64;

/// The items about groups of one filter.
#[derive(Debug)]
pub(crate) struct MemberItems {
    /// The state of the store that all members are read in.
    state: u64,
    /// The number of times that the state has changed meanwhile.
    repeated: u32,
    /// The items to read in each state.
    keys: Vec<ItemKey>,
    /// The items to read, the largest group first.
    waiting: Vec<MemberItem>,
    current: Option<MemberScan>,
    found: Vec<FoundMembers>,
}

/// An attribute and the name of a group in normal form; `None` for all groups.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ItemKey {
    attribute: AttributeIndex,
    normal: Option<Box<[u8]>>,
}

/// An item, its groups, and the attributes with their members.
#[derive(Debug)]
struct MemberItem {
    key: ItemKey,
    groups: Vec<GroupMembers>,
    members: u64,
}

/// A source of the members of a group.
#[derive(Clone, Debug)]
enum GroupMembers {
    /// The values of an attribute.
    Values(EntryId, AttributeDescription),
    /// The entries that a URL of the group finds, by its number.
    Url(Arc<ListEntry>, usize),
}

/// An item whose members are being read.
#[derive(Debug)]
struct MemberScan {
    item: MemberItem,
    /// The number of groups that are done.
    groups_done: usize,
    /// The position in the values of the current group.
    position: ValuesPosition,
    /// The search of the URL of the current group.
    scan: Option<ListScan>,
    members: Vec<u64>,
    /// The members that were asked for being groups; `None` if groups within groups do not count.
    opened: Option<HashSet<u64>>,
}

/// The ids of the members of an item, ascending.
#[derive(Debug)]
struct FoundMembers {
    key: ItemKey,
    members: Arc<[u64]>,
}

/// The number of items whose members are read at most. With more of them in a filter, each
/// candidate is tested.
const ITEMS_MAX: usize = 64;

/// The number of times that all groups are read again, because the state has changed meanwhile.
/// Then each candidate is tested.
const REPEATS_MAX: u32 = 3;

/// The number of groups that are counted for `(memberOf=*)`. With more, each candidate is tested.
const GROUPS_MAX: u64 = 4096;

impl MemberItems {
    /// Returns the items of a filter; `None` if it has none about groups. Without `reads`, each
    /// candidate is tested.
    pub(crate) fn of(
        requester: RequesterRights<'_>,
        filter: &Filter<AttributeSelector>,
        view: &View<'_>,
        reads: bool,
    ) -> Result<Option<MemberItems>, StoreError> {
        let memberships = &requester.database.memberships;
        if memberships.is_empty() || !mentions(memberships, filter) {
            return Ok(None);
        }
        let mut keys = Vec::new();
        if reads {
            collect(memberships, filter, &mut keys);
        }
        if keys.len() > ITEMS_MAX {
            keys.clear();
        }
        Ok(Some(MemberItems {
            state: view.state(),
            repeated: 0,
            waiting: largest_first(requester, &keys, view)?,
            keys,
            current: None,
            found: Vec::new(),
        }))
    }

    /// Reads members until `left` is used up. Returns true once all worthwhile groups are read in
    /// this state, and some of `left` remains to plan in it.
    pub(crate) fn step(
        &mut self,
        requester: RequesterRights<'_>,
        filter: &Filter<AttributeSelector>,
        view: &View<'_>,
        left: &mut usize,
    ) -> Result<bool, StoreError> {
        let memberships = &requester.database.memberships;
        if *left > 0 && view.state() != self.state {
            self.begin_anew(requester, view)?;
        }
        while *left > 0 {
            if let Some(scan) = &mut self.current {
                if !scan.step(requester, view, left)? {
                    return Ok(false);
                }
                self.found
                    .extend(self.current.take().map(MemberScan::found));
                continue;
            }
            let Some(item) = self.waiting.pop() else {
                return Ok(true);
            };
            if item.members > 0 {
                let rest = self.planned(memberships, filter, view.schema());
                let candidates = candidates(view, &rest)?;
                *left = left.saturating_sub(1);
                if candidates <= TESTED_MAX || item.members / MEMBERS_PER_CANDIDATE > candidates {
                    self.waiting.clear();
                    continue;
                }
            }
            self.current = Some(MemberScan {
                opened: item.nests(requester).then(HashSet::new),
                item,
                groups_done: 0,
                position: ValuesPosition::default(),
                scan: None,
                members: Vec::new(),
            });
        }
        Ok(false)
    }

    /// Reads all groups again in another state.
    ///
    /// A plan leaves out what the sets lack, or have under `Not`. With sets of several states, an
    /// entry that moves from one group to another could be in neither.
    fn begin_anew(
        &mut self,
        requester: RequesterRights<'_>,
        view: &View<'_>,
    ) -> Result<(), StoreError> {
        self.state = view.state();
        self.repeated += 1;
        if self.repeated > REPEATS_MAX {
            self.keys.clear();
        }
        self.current = None;
        self.found.clear();
        self.waiting = largest_first(requester, &self.keys, view)?;
        Ok(())
    }

    /// Returns a filter to plan with. Items that are not read stay open, because no index of their
    /// attribute counts.
    pub(crate) fn planned(
        &self,
        memberships: &Memberships,
        filter: &Filter<AttributeSelector>,
        schema: &Schema,
    ) -> Filter<AttributeSelector> {
        let replaced = |item: &Filter<AttributeSelector>| {
            let attribute = attribute_of(memberships, item)?;
            self.set_of(memberships, item)
                .or_else(|| open(schema, attribute))
        };
        rewritten(filter, &replaced)
    }

    /// Returns a filter to test with, for requesters that may search the attributes.
    pub(crate) fn tested(
        &self,
        memberships: &Memberships,
        filter: &Filter<AttributeSelector>,
        may_search: impl Fn(&AttributeDescription) -> bool,
    ) -> Filter<AttributeSelector> {
        let replaced = |item: &Filter<AttributeSelector>| {
            let attribute = attribute_of(memberships, item)?;
            let set = self.set_of(memberships, item);
            set.filter(|_| may_search(attribute))
        };
        rewritten(filter, &replaced)
    }

    /// Returns the members that an item means, if they were read.
    fn set_of(
        &self,
        memberships: &Memberships,
        item: &Filter<AttributeSelector>,
    ) -> Option<Filter<AttributeSelector>> {
        let key = key_of(memberships, item)?;
        let found = self.found.iter().find(|found| found.key == key)?;
        Some(Filter::Entries(Arc::clone(&found.members)))
    }
}

impl MemberItem {
    fn of(
        requester: RequesterRights<'_>,
        key: ItemKey,
        view: &View<'_>,
    ) -> Result<MemberItem, StoreError> {
        let mut item = MemberItem {
            key,
            groups: Vec::new(),
            members: 0,
        };
        match item.key.normal.clone() {
            Some(normal) => item.add_group(requester, &normal, view)?,
            None => item.add_groups(requester, view)?,
        }
        Ok(item)
    }

    /// Adds the group of a name.
    fn add_group(
        &mut self,
        requester: RequesterRights<'_>,
        normal: &[u8],
        view: &View<'_>,
    ) -> Result<(), StoreError> {
        let Ok(name) = std::str::from_utf8(normal) else {
            return Ok(());
        };
        let Some(id) = view.find_normal(name)?.entry() else {
            return Ok(());
        };
        let Some(entry) = view.entry(id)? else {
            return Ok(());
        };
        self.add_sources(requester, view, &entry, |_| true)
    }

    /// Adds the sources of members of an entry, if it is a group.
    fn add_sources(
        &mut self,
        requester: RequesterRights<'_>,
        view: &View<'_>,
        entry: &EntryView<'_>,
        counts: impl Fn(&Membership) -> bool,
    ) -> Result<(), StoreError> {
        let memberships = requester.database.memberships.of(self.key.attribute);
        for membership in memberships.filter(|membership| counts(membership)) {
            if membership.is_group(view.schema(), entry) {
                self.add(requester, view, entry, membership)?;
            }
        }
        Ok(())
    }

    /// Returns true if members of groups within groups count for one group.
    fn nests(&self, requester: RequesterRights<'_>) -> bool {
        let mut memberships = requester.database.memberships.of(self.key.attribute);
        self.key.normal.is_some() && memberships.any(is_nested)
    }

    /// Adds all groups. With too many of them, the item counts as too large to read.
    fn add_groups(
        &mut self,
        requester: RequesterRights<'_>,
        view: &View<'_>,
    ) -> Result<(), StoreError> {
        for membership in requester.database.memberships.of(self.key.attribute) {
            let mut groups = view.plan(EntryId::ROOT, Scope::Subtree, &membership.group)?;
            if groups.count_max() > GROUPS_MAX {
                self.members = u64::MAX;
                return Ok(());
            }
            while let Some(entry) = groups.next_entry(view)? {
                if membership.is_group(view.schema(), &entry) {
                    self.add(requester, view, &entry, membership)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the sources of members of a group, if the requester knows it.
    fn add(
        &mut self,
        requester: RequesterRights<'_>,
        view: &View<'_>,
        group: &EntryView<'_>,
        membership: &Membership,
    ) -> Result<(), StoreError> {
        if let Some(listed) = membership.listed {
            if requester.stored_only || !knows_group(requester, view, group.id())? {
                return Ok(());
            }
            if let Some(set) = listed.set {
                return self.add_urls(requester, view, group, set);
            }
        }
        let values = group.values(&membership.member);
        self.members += values.map_or(0, |values| values.len() as u64);
        let member = membership.member.clone();
        self.groups.push(GroupMembers::Values(group.id(), member));
        Ok(())
    }

    /// Adds the URLs of a group.
    fn add_urls(
        &mut self,
        requester: RequesterRights<'_>,
        view: &View<'_>,
        group: &EntryView<'_>,
        set: usize,
    ) -> Result<(), StoreError> {
        let sets = requester.database.lists.as_ref().map(|lists| &lists.sets);
        let Some(set) = sets.and_then(|sets| sets.get(set)) else {
            return Ok(());
        };
        let Some(list) = ListEntry::read_as_group(requester, view, set, group)? else {
            return Ok(());
        };
        let list = Arc::new(list);
        for (number, url) in list.urls.iter().enumerate() {
            let region = members_region(requester.database, view, url)?;
            if let Some((base, scope)) = region.filter(|_| url.finds_members()) {
                let planned = view.plan(base, scope, &url.filter)?;
                self.members = self.members.saturating_add(planned.count_max());
                self.groups
                    .push(GroupMembers::Url(Arc::clone(&list), number));
            }
        }
        Ok(())
    }
}

fn is_nested(membership: &Membership) -> bool {
    membership.listed.is_some_and(|listed| listed.nested)
}

impl MemberScan {
    /// Reads members. Returns true at the end.
    fn step(
        &mut self,
        requester: RequesterRights<'_>,
        view: &View<'_>,
        left: &mut usize,
    ) -> Result<bool, StoreError> {
        while let Some(source) = self.item.groups.get(self.groups_done) {
            let ended = match source.clone() {
                GroupMembers::Values(group, attribute) => {
                    self.read_values(requester, view, (group, &attribute), left)?
                }
                GroupMembers::Url(list, number) => {
                    self.read_found(requester, view, (&list, number), left)?
                }
            };
            if !ended {
                return Ok(false);
            }
            // A group without members costs something too.
            *left = left.saturating_sub(1);
            self.groups_done += 1;
            self.position = ValuesPosition::default();
        }
        Ok(true)
    }

    /// Reads the values of a group. Returns true at the end.
    fn read_values(
        &mut self,
        requester: RequesterRights<'_>,
        view: &View<'_>,
        (group, attribute): (EntryId, &AttributeDescription),
        left: &mut usize,
    ) -> Result<bool, StoreError> {
        let entry = view.entry(group)?;
        let values = entry.and_then(|entry| entry.values(attribute));
        let mut values = values.map(|values| values.iter_from(self.position));
        while let Some(values) = &mut values {
            if *left == 0 {
                return Ok(false);
            }
            let Some(value) = values.next() else {
                break;
            };
            *left -= 1;
            self.position = values.resume_position();
            let normal = view.schema().normal_value(attribute.attribute, value);
            if let Some(Ok(name)) = normal.as_deref().map(std::str::from_utf8)
                && let Some(member) = view.find_normal(name)?.entry()
            {
                self.members.push(member.0);
                self.open(requester, view, member)?;
            }
        }
        Ok(true)
    }

    /// Reads the entries that a URL finds. Returns true at the end.
    fn read_found(
        &mut self,
        requester: RequesterRights<'_>,
        view: &View<'_>,
        (list, number): (&ListEntry, usize),
        left: &mut usize,
    ) -> Result<bool, StoreError> {
        let Some(url) = list.urls.get(number) else {
            return Ok(true);
        };
        let scan = match self.scan.take() {
            Some(scan) => Some(scan),
            None => members_region(requester.database, view, url)?
                .map(|region| ListScan::begin_in(view, region, url.filter.clone())),
        };
        let Some(mut scan) = scan else {
            return Ok(true);
        };
        let decisions = list.decisions(requester);
        loop {
            match scan.next(requester, view, &decisions, left)? {
                ListStep::Done => return Ok(true),
                ListStep::Pause => {
                    self.scan = Some(scan);
                    return Ok(false);
                }
                ListStep::Entry(found) => {
                    self.members.push(found.id().0);
                    self.open(requester, view, found.id())?;
                }
            }
        }
    }

    /// Adds the groups of a member that is a group itself.
    fn open(
        &mut self,
        requester: RequesterRights<'_>,
        view: &View<'_>,
        member: EntryId,
    ) -> Result<(), StoreError> {
        let Some(opened) = &mut self.opened else {
            return Ok(());
        };
        if !opened.insert(member.0) {
            return Ok(());
        }
        match view.entry(member)? {
            Some(entry) => self.item.add_sources(requester, view, &entry, is_nested),
            None => Ok(()),
        }
    }

    fn found(mut self) -> FoundMembers {
        self.members.sort_unstable();
        self.members.dedup();
        FoundMembers {
            key: self.item.key,
            members: self.members.into(),
        }
    }
}

/// Returns the items to read, the largest group first.
fn largest_first(
    requester: RequesterRights<'_>,
    keys: &[ItemKey],
    view: &View<'_>,
) -> Result<Vec<MemberItem>, StoreError> {
    let items = keys.iter().cloned();
    let items = items.map(|key| MemberItem::of(requester, key, view));
    let mut waiting = items.collect::<Result<Vec<_>, _>>()?;
    waiting.sort_by_key(|item| std::cmp::Reverse(item.members));
    Ok(waiting)
}

/// Returns an upper bound of the candidates of a filter in the whole database.
fn candidates(view: &View<'_>, filter: &Filter<AttributeSelector>) -> Result<u64, StoreError> {
    if filter.weight() > PLANNED_ITEMS_MAX {
        return view.entry_count();
    }
    let planned = view.plan(EntryId::ROOT, Scope::Subtree, filter)?;
    Ok(planned.count_max())
}

/// Returns true if an item of a filter is about an attribute that lists groups.
fn mentions(memberships: &Memberships, filter: &Filter<AttributeSelector>) -> bool {
    match filter {
        Filter::And(items) | Filter::Or(items) => {
            items.iter().any(|item| mentions(memberships, item))
        }
        Filter::Not(item) => mentions(memberships, item),
        item => attribute_of(memberships, item).is_some(),
    }
}

/// Returns the number of items about groups.
pub(super) fn count(memberships: &Memberships, filter: &Filter<AttributeSelector>) -> usize {
    if memberships.is_empty() {
        return 0;
    }
    match filter {
        Filter::And(items) | Filter::Or(items) => {
            items.iter().map(|item| count(memberships, item)).sum()
        }
        Filter::Not(item) => count(memberships, item),
        item => attribute_of(memberships, item).is_some().into(),
    }
}

/// Collects the keys of items, each once.
fn collect(memberships: &Memberships, filter: &Filter<AttributeSelector>, keys: &mut Vec<ItemKey>) {
    match filter {
        Filter::And(items) | Filter::Or(items) => {
            items
                .iter()
                .for_each(|item| collect(memberships, item, keys));
        }
        Filter::Not(item) => collect(memberships, item, keys),
        item => {
            if keys.len() > ITEMS_MAX {
                return;
            }
            let key = key_of(memberships, item);
            keys.extend(key.filter(|key| !keys.contains(key)));
        }
    }
}

/// Returns the group that an equality item names, or all of them for presence.
fn key_of(memberships: &Memberships, item: &Filter<AttributeSelector>) -> Option<ItemKey> {
    let attribute = attribute_of(memberships, item)?.attribute;
    let normal = match item {
        Filter::Equality(assertion) => Some(assertion.normal.clone()),
        Filter::Present(_) => None,
        _ => return None,
    };
    Some(ItemKey { attribute, normal })
}

/// Returns the attribute of an item, if it lists groups.
fn attribute_of<'f>(
    memberships: &Memberships,
    item: &'f Filter<AttributeSelector>,
) -> Option<&'f AttributeDescription> {
    let attribute = match item {
        Filter::Equality(assertion)
        | Filter::GreaterOrEqual(assertion)
        | Filter::LessOrEqual(assertion) => &assertion.attribute,
        Filter::Present(attribute)
        | Filter::Approximate { attribute, .. }
        | Filter::Substrings { attribute, .. }
        | Filter::Extensible {
            attribute: Some(attribute),
            ..
        } => attribute,
        _ => return None,
    };
    let lists = attribute.options().is_none() && memberships.compute(attribute.attribute);
    lists.then_some(attribute)
}

/// Returns an item about an attribute that no index answers.
fn open(schema: &Schema, attribute: &AttributeDescription) -> Option<Filter<AttributeSelector>> {
    let rule = schema.attribute_at(attribute.attribute).equality?;
    Some(Filter::InChain {
        assertion: Assertion {
            attribute: attribute.clone(),
            rule,
            normal: Box::default(),
        },
        attribute_type: attribute.attribute,
    })
}

/// Returns a copy of a filter in which some items are replaced.
pub(super) fn rewritten(
    filter: &Filter<AttributeSelector>,
    replaced: &dyn Fn(&Filter<AttributeSelector>) -> Option<Filter<AttributeSelector>>,
) -> Filter<AttributeSelector> {
    let all = |items: &[Filter<AttributeSelector>]| {
        items.iter().map(|item| rewritten(item, replaced)).collect()
    };
    match filter {
        Filter::And(items) => Filter::And(all(items)),
        Filter::Or(items) => Filter::Or(all(items)),
        Filter::Not(item) => Filter::Not(Box::new(rewritten(item, replaced))),
        item => replaced(item).unwrap_or_else(|| item.clone()),
    }
}
