//! Filter items about values that dynamic lists show, resolved before the search is planned.
//!
//! ```text
//!   (member=uid=jane,...)   ->  (|(member=uid=jane,...)(the dynamic groups that find jane))
//!   (mail=a@x.org)          ->  (|(mail=a@x.org)(the lists that find an entry with this mail))
//! ```
//!
//! Each list of the database is asked once for each item. A group is asked about the one entry. A
//! list needs a search of its URLs, up to the first entry found. As for the stored values, the
//! requester must be allowed to search the attribute of the list.

use std::sync::Arc;

use fulgurite_schema::{AttributeDescription, AttributeSelector, Filter, Schema};
use fulgurite_store::{EntryId, Scope, StoreError, View};

use super::member_items::rewritten;
use crate::core::dynamic_lists::{DynamicLists, ListSet, ListUrl, ListValues};
use crate::rights::group_cache::ListEntry;
use crate::rights::list_entry::{is_found, may_search};
use crate::rights::list_scan::{ListScan, ListStep};
use crate::rights::requester_rights::RequesterRights;
use crate::rights::selection::Selection;

/// The number of items that lists are asked about at most. With more of them in a filter, only
/// stored values count.
const ITEMS_MAX: usize = 64;

/// The items of one filter.
#[derive(Debug)]
pub(crate) struct ListItems {
    items: Vec<ListItem>,
    /// The lists of the database, each with the number of its set; `None` until they are read.
    lists: Option<Vec<(usize, ListEntry)>>,
    /// The only entry that the search can return.
    only: Option<EntryId>,
    /// The numbers of the current item, list and URL.
    item: usize,
    list: usize,
    url: usize,
    scan: Option<ListScan>,
}

/// An item, and the lists that match it.
#[derive(Debug)]
struct ListItem {
    filter: Filter<AttributeSelector>,
    attribute: AttributeDescription,
    found: Vec<u64>,
}

/// The way to answer an item for one URL.
enum Question {
    /// The URL finds the entry of this name.
    Finds(Box<[u8]>),
    /// The URL finds an entry that also matches this filter, if there is one.
    FindsAny(Option<Filter<AttributeSelector>>),
}

impl ListItems {
    /// Returns the items of a filter that lists may match; `None` if there are none. With `only`
    /// the search can return just that entry.
    pub(crate) fn of(
        lists: &DynamicLists,
        schema: &Schema,
        filter: &Filter<AttributeSelector>,
        only: Option<EntryId>,
    ) -> Option<ListItems> {
        let mut items = Vec::new();
        collect(lists, schema, filter, &mut items);
        (1..=ITEMS_MAX).contains(&items.len()).then_some(ListItems {
            items,
            lists: None,
            only,
            item: 0,
            list: 0,
            url: 0,
            scan: None,
        })
    }

    /// Asks lists until `left` is used up. Returns true at the end.
    pub(crate) fn step(
        &mut self,
        requester: RequesterRights<'_>,
        view: &View<'_>,
        left: &mut usize,
    ) -> Result<bool, StoreError> {
        let Some(dynamic) = &requester.database.lists else {
            return Ok(true);
        };
        let sets = &dynamic.sets;
        let lists = match self.lists.take() {
            Some(lists) => lists,
            None => read_lists(requester, view, sets, self.only, left)?,
        };
        let ended = self.ask(requester, view, (dynamic, &lists), left);
        self.lists = Some(lists);
        ended
    }

    fn ask(
        &mut self,
        requester: RequesterRights<'_>,
        view: &View<'_>,
        (dynamic, lists): (&DynamicLists, &[(usize, ListEntry)]),
        left: &mut usize,
    ) -> Result<bool, StoreError> {
        while *left > 0 {
            let Some(item) = self.items.get_mut(self.item) else {
                return Ok(true);
            };
            let current = lists.get(self.list);
            let set_of = |set: &usize| dynamic.sets.get(*set);
            let Some((list, set)) = current.and_then(|(set, list)| Some((list, set_of(set)?)))
            else {
                (self.item, self.list, self.url) = (self.item + 1, 0, 0);
                continue;
            };
            if let Some(scan) = &mut self.scan {
                match scan.next(requester, view, &list.decisions(requester), left)? {
                    ListStep::Pause => return Ok(false),
                    ListStep::Done => (self.scan, self.url) = (None, self.url + 1),
                    ListStep::Entry(found)
                        if !set.shows_names_in(item.attribute.attribute)
                            && list.hides_lists(self.url)
                            && dynamic.is_list(view.schema(), &found) => {}
                    ListStep::Entry(_) => {
                        item.found.push(list.id.0);
                        (self.scan, self.list, self.url) = (None, self.list + 1, 0);
                    }
                }
                continue;
            }
            *left -= 1;
            let asked = self.url > 0 || may_search(requester, view, list.id, &item.attribute)?;
            let Some(url) = list.urls.get(self.url).filter(|_| asked) else {
                (self.list, self.url) = (self.list + 1, 0);
                continue;
            };
            match item.question(view.schema(), set, url) {
                Some(Question::Finds(name)) if finds(requester, view, list, url, &name)? => {
                    item.found.push(list.id.0);
                    (self.list, self.url) = (self.list + 1, 0);
                }
                Some(Question::FindsAny(more)) => {
                    let filter = match more {
                        Some(more) => Filter::And(vec![more, url.filter.clone()]),
                        None => url.filter.clone(),
                    };
                    self.scan = ListScan::begin(view, url, filter)?;
                    self.url += usize::from(self.scan.is_none());
                }
                _ => self.url += 1,
            }
        }
        Ok(false)
    }

    /// Returns the filter with the lists that match its items.
    pub(crate) fn resolved(
        mut self,
        filter: &Filter<AttributeSelector>,
    ) -> Filter<AttributeSelector> {
        for item in &mut self.items {
            item.found.sort_unstable();
            item.found.dedup();
        }
        let replaced = |part: &Filter<AttributeSelector>| {
            let item = self.items.iter().find(|item| item.filter == *part)?;
            let found: Arc<[u64]> = item.found.as_slice().into();
            let lists = (!found.is_empty()).then_some(Filter::Entries(found))?;
            Some(Filter::Or(vec![part.clone(), lists]))
        };
        rewritten(filter, &replaced)
    }
}

impl ListItem {
    /// Returns the question for a URL; `None` if the item does not ask for what it shows.
    fn question(&self, schema: &Schema, set: &ListSet, url: &ListUrl) -> Option<Question> {
        let attribute = self.attribute.attribute;
        if let ListValues::Names(_) = &set.values {
            if !set.shows_names_in(attribute) || !url.finds_members() {
                return None;
            }
            return match &self.filter {
                Filter::Present(_) => Some(Question::FindsAny(None)),
                Filter::Equality(assertion) => Some(Question::Finds(assertion.normal.clone())),
                Filter::Extensible { normal, .. } => Some(Question::Finds(normal.clone())),
                _ => None,
            };
        }
        let source = set.source_of(attribute)?;
        let names: Vec<&[u8]> = url.attributes.iter().map(String::as_bytes).collect();
        if !Selection::parse(schema, &names).selects_type(schema, source) {
            return None;
        }
        let source = AttributeDescription::plain(source);
        let more = self.filter.clone().map(&mut |_| source.clone());
        Some(Question::FindsAny(Some(more)))
    }
}

/// Returns true if a URL finds the entry of a name. Its base is an entry of the database, as for
/// the values that the list shows.
fn finds(
    requester: RequesterRights<'_>,
    view: &View<'_>,
    list: &ListEntry,
    url: &ListUrl,
    normal: &[u8],
) -> Result<bool, StoreError> {
    let Ok(name) = std::str::from_utf8(normal) else {
        return Ok(false);
    };
    let Some(id) = view.find_normal(name)?.entry() else {
        return Ok(false);
    };
    let Some(entry) = view.entry(id)? else {
        return Ok(false);
    };
    let decisions = list.decisions(requester);
    Ok(view.find_base(url.base.normal())?.is_some()
        && url.contains(&view.resolved_dn(id)?)
        && is_found(requester, view, &decisions, &entry, &url.filter)?)
}

/// Reads the lists of the database, or the one entry if it is a list.
fn read_lists(
    requester: RequesterRights<'_>,
    view: &View<'_>,
    sets: &[ListSet],
    only: Option<EntryId>,
    left: &mut usize,
) -> Result<Vec<(usize, ListEntry)>, StoreError> {
    let mut lists = Vec::new();
    for (number, set) in sets.iter().enumerate() {
        let (base, scope) = match only {
            Some(only) => (only, Scope::Base),
            None => (EntryId::ROOT, Scope::Subtree),
        };
        let mut candidates = view.plan(base, scope, &set.class)?;
        while let Some(entry) = candidates.next_entry(view)? {
            *left = left.saturating_sub(1);
            let list = ListEntry::read(requester, view, set, &entry)?;
            lists.extend(list.map(|list| (number, list)));
        }
    }
    Ok(lists)
}

/// Collects the items that lists may match, each once.
fn collect(
    lists: &DynamicLists,
    schema: &Schema,
    filter: &Filter<AttributeSelector>,
    items: &mut Vec<ListItem>,
) {
    match filter {
        Filter::And(parts) | Filter::Or(parts) => {
            let parts = parts.iter();
            parts.for_each(|part| collect(lists, schema, part, items));
        }
        Filter::Not(part) => collect(lists, schema, part, items),
        part => {
            let Some(attribute) = asked_of_lists(lists, schema, part) else {
                return;
            };
            if items.len() <= ITEMS_MAX && !items.iter().any(|item| item.filter == *part) {
                items.push(ListItem {
                    filter: part.clone(),
                    attribute: attribute.clone(),
                    found: Vec::new(),
                });
            }
        }
    }
}

/// Returns the attribute of an item that lists may match.
fn asked_of_lists<'f>(
    lists: &DynamicLists,
    schema: &Schema,
    item: &'f Filter<AttributeSelector>,
) -> Option<&'f AttributeDescription> {
    let (attribute, by_name) = match item {
        Filter::Equality(assertion) => (&assertion.attribute, true),
        Filter::Present(attribute) => (attribute, true),
        Filter::GreaterOrEqual(assertion) | Filter::LessOrEqual(assertion) => {
            (&assertion.attribute, false)
        }
        Filter::Approximate { attribute, .. } | Filter::Substrings { attribute, .. } => {
            (attribute, false)
        }
        Filter::Extensible {
            attribute: Some(attribute),
            rule,
            dn_attributes: false,
            ..
        } => {
            let own = schema.attribute_at(attribute.attribute).equality;
            (attribute, own.is_some_and(|own| own.oid == rule.oid))
        }
        _ => return None,
    };
    let definition = schema.attribute_at(attribute.attribute);
    if attribute.options().is_some() || definition.is_operational() {
        return None;
    }
    let mut sets = lists.sets.iter();
    let asked = sets.any(|set| match &set.values {
        ListValues::Names(_) => by_name && set.shows_names_in(attribute.attribute),
        ListValues::Attributes(_) => {
            attribute.attribute != schema.object_class_attribute()
                && set.source_of(attribute.attribute).is_some()
        }
    });
    asked.then_some(attribute)
}
