//! LDAP_MATCHING_RULE_IN_CHAIN: membership in groups of groups, computed before the search is
//! planned.
//!
//! ```text
//!   (member:1.2.840.113556.1.4.1941:=uid=jane,...)     up:    jane <- staff <- all    all groups of jane
//!   (memberOf:1.2.840.113556.1.4.1941:=cn=all,...)     down:  all -> staff -> jane    all members of the group
//! ```
//!
//! Upwards, each step looks one name up in the index of the attribute. Downwards is for an
//! attribute that the database computes from groups, and for `memberOf` if no entry stores it. The
//! walk follows the values that name members; without an overlay, `member` and `uniqueMember`. A
//! walk visits each entry once, so circles end. It also follows the URLs of dynamic groups, both
//! ways. It fails beyond [`FOUND_MAX`] entries. It passes
//! through no entry whose attribute the requester may not search.

use std::collections::BTreeSet;
use std::sync::Arc;

use fulgurite_access::{Decisions, Rights};
use fulgurite_schema::{
    Assertion, AttributeDescription, AttributeIndex, AttributeSelector, Filter, FilterSubject,
    Schema,
};
use fulgurite_store::{EntryId, EntryView, EntryWalk, Scope, StoreError, View};

use super::candidates::{CandidateScan, ScanSource, ScanStep};
use super::regions::Regions;
use crate::core::database::Database;
use crate::core::foundation::Core;
use crate::rights::facts::{EntryFacts, EntrySource};
use crate::rights::group_cache::ListEntry;
use crate::rights::list_entry::may_search;
use crate::rights::list_scan::{ListScan, ListStep};
use crate::rights::requester_rights::RequesterRights;
use crate::search::normal_names::NormalNames;

/// The number of entries that one walk may find.
const FOUND_MAX: usize = 1_000_000;

/// Entry ids, ascending.
type Numbers = Arc<[u64]>;

/// The snapshot and the rights that walks use.
pub(crate) struct ChainContext<'a, 'd> {
    pub(crate) core: &'a Core,
    pub(crate) database: &'a Database,
    pub(crate) view: &'a View<'d>,
    pub(crate) decisions: &'a Decisions<'d>,
    /// True if dynamic lists show what is stored.
    pub(crate) stored_only: bool,
}

/// The result of a step.
pub(crate) enum ChainProgress {
    /// The permitted work is used up.
    Pause,
    /// All walks are done; their results are in the order of the items.
    Done(Vec<Numbers>),
    /// A walk found too many entries.
    TooMany,
}

/// The walks of all in-chain items of a filter, in their order.
#[derive(Debug)]
pub(crate) struct Chains {
    items: std::vec::IntoIter<(Assertion<AttributeSelector>, AttributeIndex)>,
    walk: Option<Walk>,
    done: Vec<Numbers>,
    names: NormalNames,
}

#[derive(Debug)]
enum Walk {
    Up(Up),
    Down(Down),
}

/// A walk from a name to the entries that have it as a value, repeated for their names.
#[derive(Debug)]
struct Up {
    assertion: Assertion<AttributeSelector>,
    /// The names still to look up.
    names: Vec<Box<[u8]>>,
    /// The scan for the current name.
    now: Option<(Arc<Filter<AttributeSelector>>, CandidateScan)>,
    regions: Regions,
    /// The dynamic groups whose members the attribute shows; `None` until they are read.
    lists: Option<Vec<ListEntry>>,
    found: BTreeSet<u64>,
}

/// A walk from an entry to those that its values name, repeated for them.
#[derive(Debug)]
struct Down {
    attributes: Vec<MemberAttribute>,
    entries: Vec<EntryId>,
    /// The current entry, and the number of its values that are done.
    now: Option<(EntryId, usize)>,
    /// The URLs of dynamic groups still to follow.
    urls: Vec<UrlWalk>,
    /// The entries whose URLs are known.
    opened: BTreeSet<EntryId>,
    found: BTreeSet<u64>,
}

/// A URL of a dynamic group, by its number, and its search once it has begun.
#[derive(Debug)]
struct UrlWalk {
    list: Arc<ListEntry>,
    number: usize,
    scan: Option<ListScan>,
}

/// An attribute whose values name members.
#[derive(Debug)]
struct MemberAttribute {
    description: AttributeDescription,
    /// Matches groups; `None` if every entry is one.
    group: Option<Filter<AttributeSelector>>,
    /// The number of the set whose URLs find members instead of values.
    set: Option<usize>,
}

impl Chains {
    /// Returns the walks that a filter needs; `None` if it needs none.
    pub(crate) fn of(filter: &Filter<AttributeSelector>) -> Option<Chains> {
        let mut items = Vec::new();
        collect(filter, &mut items);
        (!items.is_empty()).then(|| Chains {
            items: items.into_iter(),
            walk: None,
            done: Vec::new(),
            names: NormalNames::default(),
        })
    }

    /// Continues the walks until `left` is used up.
    pub(crate) fn step(
        &mut self,
        context: &ChainContext<'_, '_>,
        left: &mut usize,
    ) -> Result<ChainProgress, StoreError> {
        // The names belong to a state of the store that may be gone.
        self.names.clear();
        while *left > 0 {
            let Some(walk) = &mut self.walk else {
                match self.items.next() {
                    Some((assertion, kind)) => {
                        self.walk = Some(Walk::begin(context, assertion, kind)?);
                        continue;
                    }
                    None => return Ok(ChainProgress::Done(std::mem::take(&mut self.done))),
                }
            };
            let (ended, found) = match walk {
                Walk::Up(up) => (up.step(context, &mut self.names, left)?, &up.found),
                Walk::Down(down) => (down.step(context, &mut self.names, left)?, &down.found),
            };
            if found.len() > FOUND_MAX {
                return Ok(ChainProgress::TooMany);
            }
            if ended {
                self.done.push(found.iter().copied().collect());
                self.walk = None;
            }
        }
        Ok(ChainProgress::Pause)
    }
}

fn collect(
    filter: &Filter<AttributeSelector>,
    items: &mut Vec<(Assertion<AttributeSelector>, AttributeIndex)>,
) {
    match filter {
        Filter::And(list) | Filter::Or(list) => list.iter().for_each(|part| collect(part, items)),
        Filter::Not(part) => collect(part, items),
        Filter::InChain {
            assertion,
            attribute_type,
        } => items.push((assertion.clone(), *attribute_type)),
        _ => {}
    }
}

impl Walk {
    fn begin(
        context: &ChainContext<'_, '_>,
        assertion: Assertion<AttributeSelector>,
        kind: AttributeIndex,
    ) -> Result<Walk, StoreError> {
        let view = context.view;
        let attributes = member_attributes(context, kind);
        if attributes.is_empty() {
            return Ok(Walk::Up(Up {
                names: vec![assertion.normal.clone()],
                assertion,
                now: None,
                regions: Regions::whole(view)?,
                lists: None,
                found: BTreeSet::new(),
            }));
        }
        let start = std::str::from_utf8(&assertion.normal)
            .ok()
            .map(|name| view.find_normal(name))
            .transpose()?
            .and_then(|found| found.entry());
        Ok(Walk::Down(Down {
            attributes,
            entries: start.into_iter().collect(),
            now: None,
            urls: Vec::new(),
            opened: BTreeSet::new(),
            found: BTreeSet::new(),
        }))
    }
}

/// Returns the attributes that a walk downwards follows; none for a walk upwards.
fn member_attributes(
    context: &ChainContext<'_, '_>,
    attribute: AttributeIndex,
) -> Vec<MemberAttribute> {
    let (view, schema) = (context.view, context.view.schema());
    let memberships = &context.database.memberships;
    if memberships.compute(attribute) {
        let memberships = memberships.of(attribute);
        let attributes = memberships.map(|membership| MemberAttribute {
            description: membership.member.clone(),
            group: Some(membership.group.clone()),
            set: membership.listed.and_then(|listed| listed.set),
        });
        return attributes.collect();
    }
    let name = schema.attribute_at(attribute).name();
    let plain = AttributeDescription::plain(attribute);
    let is_stored = !view.attributes().covered(schema, &plain).is_empty();
    if !name.eq_ignore_ascii_case("memberOf") || is_stored {
        return Vec::new();
    }
    let kinds = ["member", "uniqueMember"].into_iter();
    let kinds = kinds.filter_map(|name| schema.attribute(name));
    let attributes = kinds.map(|kind| MemberAttribute {
        description: AttributeDescription::plain(kind.index),
        group: None,
        set: None,
    });
    attributes.collect()
}

impl Up {
    /// Does one step. Returns true at the end of the walk.
    fn step(
        &mut self,
        context: &ChainContext<'_, '_>,
        names: &mut NormalNames,
        left: &mut usize,
    ) -> Result<bool, StoreError> {
        let Some((filter, scan)) = &mut self.now else {
            let Some(normal) = self.names.pop() else {
                return Ok(true);
            };
            if context.database.lists.is_some() {
                self.add_lists(context, &normal, left)?;
            }
            let direct = Assertion {
                normal,
                ..self.assertion.clone()
            };
            self.now = Some((Arc::new(Filter::Equality(direct)), CandidateScan::default()));
            return Ok(false);
        };
        let walk = &mut EntryWalk::new();
        let source = ScanSource {
            regions: &self.regions,
            filter,
            cost: 1,
        };
        match scan.next(context.view, walk, source, left)? {
            ScanStep::Pause => {}
            ScanStep::Exhausted => self.now = None,
            ScanStep::Entry(entry) if self.found.contains(&entry.id().0) => {}
            ScanStep::Entry(entry) => {
                let schema = context.view.schema();
                let matches = filter
                    .test::<dyn FilterSubject<_>>(schema, &entry)
                    .is_true();
                let attribute = &self.assertion.attribute;
                let mut name = String::new();
                if matches && context.may_search(&entry, attribute, names, &mut name)? {
                    self.found.insert(entry.id().0);
                    self.names.push(name.into_bytes().into());
                }
            }
        }
        Ok(false)
    }

    /// Adds the dynamic groups that find the entry of a name.
    fn add_lists(
        &mut self,
        context: &ChainContext<'_, '_>,
        normal: &[u8],
        left: &mut usize,
    ) -> Result<(), StoreError> {
        let (view, requester) = (context.view, context.requester());
        let attribute = &self.assertion.attribute;
        if self.lists.is_none() {
            self.lists = Some(context.groups_that_show(attribute)?);
        }
        let id = std::str::from_utf8(normal)
            .ok()
            .map(|name| view.find_normal(name));
        let Some(id) = id.transpose()?.and_then(|found| found.entry()) else {
            return Ok(());
        };
        let (Some(entry), name) = (view.entry(id)?, view.resolved_dn(id)?) else {
            return Ok(());
        };
        for list in self.lists.iter().flatten() {
            *left = left.saturating_sub(1);
            if !self.found.contains(&list.id.0)
                && list.finds(requester, view, &entry, &name)?
                && may_search(requester, view, list.id, attribute)?
            {
                self.found.insert(list.id.0);
                let name = view.resolved_dn(list.id)?;
                self.names.push(name.normal().as_bytes().into());
            }
        }
        Ok(())
    }
}

impl Down {
    /// Does one step. Returns true at the end of the walk.
    fn step(
        &mut self,
        context: &ChainContext<'_, '_>,
        names: &mut NormalNames,
        left: &mut usize,
    ) -> Result<bool, StoreError> {
        if let Some(walk) = self.urls.pop() {
            self.follow_url(context, walk, left)?;
            return Ok(false);
        }
        let Some((id, followed)) = self.now.take() else {
            self.now = self.entries.pop().map(|id| (id, 0));
            return Ok(self.now.is_none());
        };
        let Some(entry) = context.view.entry(id)? else {
            return Ok(false);
        };
        let schema = context.view.schema();
        let mut at = 0;
        let opens = context.database.lists.is_some() && self.opened.insert(id);
        for MemberAttribute {
            description,
            group,
            set,
        } in &self.attributes
        {
            if let Some(set) = set {
                if opens && let Some(list) = context.list(*set, &entry)? {
                    let list = Arc::new(list);
                    let walks = (0..list.urls.len()).map(|number| UrlWalk {
                        list: Arc::clone(&list),
                        number,
                        scan: None,
                    });
                    self.urls.extend(walks);
                }
                continue;
            }
            let is_group = group
                .as_ref()
                .is_none_or(|group| group.test::<dyn FilterSubject<_>>(schema, &entry).is_true());
            let attribute = description;
            if !is_group || !context.may_search(&entry, attribute, names, &mut String::new())? {
                continue;
            }
            let values = entry.values(attribute);
            for value in values.iter().flat_map(|values| values.iter()) {
                at += 1;
                if at <= followed {
                    continue;
                }
                if *left == 0 {
                    self.now = Some((id, at - 1));
                    return Ok(false);
                }
                *left -= 1;
                if let Some(named) = named(context.view, schema, attribute, value)?
                    && self.found.insert(named.0)
                {
                    self.entries.push(named);
                }
            }
        }
        Ok(false)
    }

    /// Follows a URL until `left` is used up.
    fn follow_url(
        &mut self,
        context: &ChainContext<'_, '_>,
        mut walk: UrlWalk,
        left: &mut usize,
    ) -> Result<(), StoreError> {
        let (view, requester) = (context.view, context.requester());
        let url = walk.list.urls.get(walk.number);
        let Some(url) = url.filter(|url| url.finds_members()) else {
            return Ok(());
        };
        let scan = match walk.scan.take() {
            Some(scan) => Some(scan),
            None => ListScan::begin(view, url, url.filter.clone())?,
        };
        let Some(mut scan) = scan else {
            return Ok(());
        };
        let list = Arc::clone(&walk.list);
        let decisions = list.decisions(requester);
        loop {
            match scan.next(requester, view, &decisions, left)? {
                ListStep::Done => return Ok(()),
                ListStep::Pause => {
                    walk.scan = Some(scan);
                    self.urls.push(walk);
                    return Ok(());
                }
                ListStep::Entry(found) => {
                    if self.found.insert(found.id().0) {
                        self.entries.push(found.id());
                    }
                }
            }
        }
    }
}

/// Returns the entry that a value names.
fn named(
    view: &View<'_>,
    schema: &Schema,
    attribute: &AttributeDescription,
    value: &[u8],
) -> Result<Option<EntryId>, StoreError> {
    let rule = schema.attribute_at(attribute.attribute).equality;
    let normal = rule.and_then(|rule| rule.normalise(schema, value).ok());
    match normal.as_deref().map(std::str::from_utf8) {
        Some(Ok(name)) => Ok(view.find_normal(name)?.entry()),
        _ => Ok(None),
    }
}

impl ChainContext<'_, '_> {
    fn requester(&self) -> RequesterRights<'_> {
        RequesterRights {
            stored_only: self.stored_only,
            ..RequesterRights::new(self.core, self.database, self.decisions)
        }
    }

    /// Reads an entry as a dynamic group of a set.
    fn list(&self, set: usize, entry: &EntryView<'_>) -> Result<Option<ListEntry>, StoreError> {
        let lists = self.database.lists.as_ref();
        match lists.and_then(|lists| lists.sets.get(set)) {
            Some(set) => ListEntry::read_as_group(self.requester(), self.view, set, entry),
            None => Ok(None),
        }
    }

    /// Reads the dynamic groups whose members an attribute shows.
    fn groups_that_show(
        &self,
        attribute: &AttributeDescription,
    ) -> Result<Vec<ListEntry>, StoreError> {
        let sets = self.database.lists.iter().flat_map(|lists| &lists.sets);
        let mut groups = Vec::new();
        for set in sets.filter(|set| set.shows_names_in(attribute.attribute)) {
            let mut candidates = self.view.plan(EntryId::ROOT, Scope::Subtree, &set.class)?;
            while let Some(entry) = candidates.next_entry(self.view)? {
                groups.extend(ListEntry::read(self.requester(), self.view, set, &entry)?);
            }
        }
        Ok(groups)
    }

    /// Returns true if the requester may search the attribute of an entry, and writes the entry's
    /// normal form to `name`.
    fn may_search(
        &self,
        entry: &EntryView<'_>,
        attribute: &AttributeDescription,
        names: &mut NormalNames,
        name: &mut String,
    ) -> Result<bool, StoreError> {
        names.write(self.view, entry, name)?;
        let facts = EntryFacts::new(self.core, self.view, EntrySource::Stored(*entry));
        let rights = facts.rights(self.decisions, name);
        Ok(rights.attribute(attribute).allows(Rights::SEARCH))
    }
}
