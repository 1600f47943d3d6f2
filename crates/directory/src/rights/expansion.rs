//! The expansion of a dynamic list: the values of the entries that its URLs find, collected step by
//! step.
//!
//! ```text
//!   URLs of the list ----> entries ----> names, or attributes, that the entry does not have yet
//!                                          |  nested groups only
//!                                          v
//!                            members that are groups: their values and URLs
//! ```

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use fulgurite_access::Rights;
use fulgurite_schema::{Attribute, AttributeDescription, AttributeIndex};
use fulgurite_store::{EntryId, EntryView, StoreError, ValuesPosition, View};

use crate::core::dynamic_lists::{ListUrl, ListValues};
use crate::core::membership::Membership;
use crate::rights::facts::{EntryFacts, EntrySource};
use crate::rights::group_cache::ListEntry;
use crate::rights::list_entry::knows_group;
use crate::rights::list_scan::{ListScan, ListStep};
use crate::rights::requester_rights::RequesterRights;
use crate::rights::selection::Selection;

/// Tells if an attribute of the list is wanted.
pub(crate) type Wants<'w> = &'w dyn Fn(&AttributeDescription) -> bool;

/// An expansion in progress.
#[derive(Debug)]
pub(crate) struct Expansion {
    added: AddedValues,
    /// The sources still to read.
    sources: VecDeque<Source>,
    scan: Option<(UrlSource, ListScan)>,
    /// Present if members of groups within groups count.
    nested: Option<NestedMembers>,
}

/// Values to add.
#[derive(Debug, Default)]
struct AddedValues {
    attributes: Vec<Attribute>,
    /// The values of the list and the added ones, in normal form.
    known: HashSet<(AttributeDescription, Box<[u8]>)>,
    /// The attributes whose stored values are in `known`.
    read: HashSet<AttributeDescription>,
    left: usize,
    exceeded: bool,
}

/// Members that may be groups.
#[derive(Debug)]
struct NestedMembers {
    /// The attribute that lists groups.
    attribute: AttributeIndex,
    /// The attribute with all members.
    member: AttributeDescription,
    waiting: Vec<EntryId>,
    visited: HashSet<EntryId>,
}

#[derive(Debug)]
enum Source {
    Url(UrlSource),
    /// The values of a group that name members.
    Values(EntryId, AttributeDescription, ValuesPosition),
}

/// A URL of a list, by its number.
#[derive(Clone, Debug)]
struct UrlSource {
    list: Arc<ListEntry>,
    number: usize,
    shown: ShownValues,
}

#[derive(Clone, Debug)]
enum ShownValues {
    Names(Arc<[AttributeDescription]>),
    /// The attributes of a URL, and pairs of which the second is shown as the first.
    Attributes(Arc<Selection>, Arc<[(AttributeIndex, AttributeIndex)]>),
}

impl Expansion {
    /// Begins the expansion of an entry; `None` if it shows what is stored.
    pub(crate) fn begin(
        requester: RequesterRights<'_>,
        view: &View<'_>,
        entry: &EntryView<'_>,
        wants: Wants<'_>,
    ) -> Result<Option<Expansion>, StoreError> {
        let Some(lists) = &requester.database.lists else {
            return Ok(None);
        };
        let mut sources = VecDeque::new();
        for set in &lists.sets {
            if let Some(list) = ListEntry::read(requester, view, set, entry)? {
                let urls = url_sources(view, &set.values, Arc::new(list), wants);
                sources.extend(urls.into_iter().map(Source::Url));
            }
        }
        let nested = nested_members(requester, view, entry, wants)?;
        if let Some(nested) = &nested {
            sources.extend(values_of_group(requester, view, entry, nested.attribute)?);
        }
        if sources.is_empty() {
            return Ok(None);
        }
        Ok(Some(Expansion {
            added: AddedValues {
                left: requester.database.expanded_max,
                ..AddedValues::default()
            },
            sources,
            scan: None,
            nested,
        }))
    }

    /// Works until `left` is used up. Returns true at the end.
    pub(crate) fn step(
        &mut self,
        requester: RequesterRights<'_>,
        view: &View<'_>,
        (entry, wants): (&EntryView<'_>, Wants<'_>),
        left: &mut usize,
    ) -> Result<bool, StoreError> {
        while *left > 0 {
            if self.added.exceeded {
                return Ok(true);
            }
            if self.scan.is_some() {
                self.step_scan(requester, view, (entry, wants), left)?;
                continue;
            }
            match self.sources.pop_front() {
                Some(Source::Url(source)) => {
                    *left -= 1;
                    if let Some(url) = source.url() {
                        let scan = ListScan::begin(view, url, url.filter.clone())?;
                        self.scan = scan.map(|scan| (source, scan));
                    }
                }
                Some(Source::Values(group, attribute, position)) => {
                    let rest =
                        self.read_values(view, entry, (group, &attribute, position), left)?;
                    if let Some(position) = rest {
                        let source = Source::Values(group, attribute, position);
                        self.sources.push_front(source);
                    }
                }
                None => {
                    *left -= 1;
                    let Some(nested) = &mut self.nested else {
                        return Ok(true);
                    };
                    let Some(member) = nested.waiting.pop() else {
                        return Ok(true);
                    };
                    let attribute = nested.attribute;
                    if let Some(group) = view.entry(member)? {
                        self.open_group(requester, view, &group, attribute)?;
                    }
                }
            }
        }
        Ok(false)
    }

    /// Does the whole work.
    pub(crate) fn run(
        &mut self,
        requester: RequesterRights<'_>,
        view: &View<'_>,
        entry: &EntryView<'_>,
        wants: Wants<'_>,
    ) -> Result<(), StoreError> {
        loop {
            let mut left = usize::MAX;
            if self.step(requester, view, (entry, wants), &mut left)? {
                return Ok(());
            }
        }
    }

    /// Returns true if there are more values than an entry may show.
    pub(crate) fn exceeds(&self) -> bool {
        self.added.exceeded
    }

    /// Returns the values to add to the list.
    pub(crate) fn into_attributes(self) -> Vec<Attribute> {
        self.added.attributes
    }

    fn step_scan(
        &mut self,
        requester: RequesterRights<'_>,
        view: &View<'_>,
        (entry, wants): (&EntryView<'_>, Wants<'_>),
        left: &mut usize,
    ) -> Result<(), StoreError> {
        let Some((source, scan)) = &mut self.scan else {
            return Ok(());
        };
        let decisions = source.list.decisions(requester);
        while *left > 0 && !self.added.exceeded {
            let found = match scan.next(requester, view, &decisions, left)? {
                ListStep::Entry(found) => found,
                ListStep::Pause => return Ok(()),
                ListStep::Done => {
                    self.scan = None;
                    return Ok(());
                }
            };
            match &source.shown {
                ShownValues::Names(shown) => {
                    let name = view.dn(found.id())?.into_bytes();
                    for attribute in shown.iter() {
                        self.added.add(view, entry, attribute, &name);
                    }
                    if let Some(nested) = &mut self.nested {
                        nested.meet(found.id());
                    }
                }
                ShownValues::Attributes(..)
                    if source.list.hides_lists(source.number)
                        && is_list(requester, view, &found) => {}
                ShownValues::Attributes(selection, pairs) => {
                    let normal = view.resolved_dn(found.id())?;
                    let facts = EntryFacts::new(requester.core, view, EntrySource::Stored(found));
                    let rights = facts.rights(&decisions, normal.normal());
                    let readable = |description: &AttributeDescription, value: &[u8]| {
                        rights.value(description, value).allows(Rights::READ)
                    };
                    let merge = Merge {
                        selection,
                        pairs,
                        wants,
                        readable: &readable,
                    };
                    self.added.merge(view, entry, &found, &merge);
                }
            }
        }
        Ok(())
    }

    /// Adds the values of a group that name members. Returns the position to go on at.
    fn read_values(
        &mut self,
        view: &View<'_>,
        entry: &EntryView<'_>,
        (group, attribute, position): (EntryId, &AttributeDescription, ValuesPosition),
        left: &mut usize,
    ) -> Result<Option<ValuesPosition>, StoreError> {
        let Some(nested) = &mut self.nested else {
            return Ok(None);
        };
        let group = view.entry(group)?;
        let Some(values) = group.and_then(|group| group.values(attribute)) else {
            *left = left.saturating_sub(1);
            return Ok(None);
        };
        let mut values = values.iter_from(position);
        while *left > 0 && !self.added.exceeded {
            let Some(value) = values.next() else {
                return Ok(None);
            };
            *left -= 1;
            self.added.add(view, entry, &nested.member, value);
            let normal = view.schema().normal_value(attribute.attribute, value);
            if let Some(Ok(name)) = normal.as_deref().map(std::str::from_utf8)
                && let Some(member) = view.find_normal(name)?.entry()
            {
                nested.meet(member);
            }
        }
        Ok(Some(values.resume_position()))
    }

    /// Adds the sources of a member that is a group.
    fn open_group(
        &mut self,
        requester: RequesterRights<'_>,
        view: &View<'_>,
        group: &EntryView<'_>,
        attribute: AttributeIndex,
    ) -> Result<(), StoreError> {
        let (Some(nested), Some(lists)) = (&self.nested, &requester.database.lists) else {
            return Ok(());
        };
        let values = values_of_group(requester, view, group, attribute)?;
        self.sources.extend(values);
        for membership in nested_of(requester, attribute) {
            let set = membership.listed.and_then(|listed| listed.set);
            let Some(set) = set.and_then(|set| lists.sets.get(set)) else {
                continue;
            };
            if let Some(list) = ListEntry::read_as_group(requester, view, set, group)?
                && knows_group(requester, view, group.id())?
            {
                let shown = [nested.member.clone()];
                let shown = ShownValues::Names(shown.into());
                let sources = member_sources(&Arc::new(list), &shown);
                self.sources.extend(sources.into_iter().map(Source::Url));
            }
        }
        Ok(())
    }
}

impl UrlSource {
    fn url(&self) -> Option<&ListUrl> {
        self.list.urls.get(self.number)
    }
}

impl NestedMembers {
    /// Notes a member to open, once.
    fn meet(&mut self, member: EntryId) {
        if self.visited.insert(member) {
            self.waiting.push(member);
        }
    }
}

/// The attributes to merge from an entry found.
struct Merge<'m> {
    selection: &'m Selection,
    pairs: &'m [(AttributeIndex, AttributeIndex)],
    wants: Wants<'m>,
    readable: &'m dyn Fn(&AttributeDescription, &[u8]) -> bool,
}

impl AddedValues {
    /// Adds the values of an entry found.
    fn merge(
        &mut self,
        view: &View<'_>,
        list: &EntryView<'_>,
        found: &EntryView<'_>,
        merge: &Merge<'_>,
    ) {
        let schema = view.schema();
        let class = schema.object_class_attribute();
        for attribute in found.attributes() {
            let description = &attribute.info.description;
            if description.attribute == class || !merge.selection.selects(schema, description) {
                continue;
            }
            let mut pairs = merge.pairs.iter();
            let pair = pairs.find(|(_, source)| *source == description.attribute);
            let shown = match pair {
                Some((shown, _)) => AttributeDescription::plain(*shown),
                None => description.clone(),
            };
            if !(merge.wants)(&shown) {
                continue;
            }
            for value in attribute.values {
                if (merge.readable)(description, value) {
                    self.add(view, list, &shown, value);
                }
            }
        }
    }

    /// Adds a value that the list does not have yet. A single-valued attribute keeps its value.
    fn add(
        &mut self,
        view: &View<'_>,
        list: &EntryView<'_>,
        attribute: &AttributeDescription,
        value: &[u8],
    ) {
        let schema = view.schema();
        let normal = |value: &[u8]| -> Box<[u8]> {
            let normal = schema.normal_value(attribute.attribute, value);
            normal.map_or_else(|| value.into(), |normal| normal.as_ref().into())
        };
        if self.read.insert(attribute.clone()) {
            for stored in list.values(attribute).into_iter().flatten() {
                self.known.insert((attribute.clone(), normal(stored)));
            }
        }
        let place = self
            .attributes
            .iter()
            .position(|added| added.description == *attribute);
        if schema.attribute_at(attribute.attribute).single_value
            && (place.is_some() || list.values(attribute).is_some())
        {
            return;
        }
        if !self.known.insert((attribute.clone(), normal(value))) {
            return;
        }
        if self.left == 0 {
            self.exceeded = true;
            return;
        }
        self.left -= 1;
        match place.and_then(|place| self.attributes.get_mut(place)) {
            Some(added) => added.values.push(value.to_vec()),
            None => self.attributes.push(Attribute {
                description: attribute.clone(),
                values: vec![value.to_vec()],
            }),
        }
    }
}

/// Returns true if an entry found is a list itself.
fn is_list(requester: RequesterRights<'_>, view: &View<'_>, found: &EntryView<'_>) -> bool {
    let lists = requester.database.lists.as_ref();
    lists.is_some_and(|lists| lists.is_list(view.schema(), found))
}

/// Returns the URLs of a list that show something wanted.
fn url_sources(
    view: &View<'_>,
    values: &ListValues,
    list: Arc<ListEntry>,
    wants: Wants<'_>,
) -> Vec<UrlSource> {
    let pairs: Arc<[_]> = match values {
        ListValues::Names(shown) => {
            let shown = shown.iter().filter(|shown| wants(shown));
            let shown: Arc<[_]> = shown.cloned().collect();
            if shown.is_empty() {
                return Vec::new();
            }
            return member_sources(&list, &ShownValues::Names(shown));
        }
        ListValues::Attributes(pairs) => pairs.as_slice().into(),
    };
    // As in slapd, a list that names attributes is expanded only for one of these.
    let mut named = pairs.iter();
    if !pairs.is_empty() && !named.any(|(shown, _)| wants(&AttributeDescription::plain(*shown))) {
        return Vec::new();
    }
    let urls = list.urls.iter().enumerate();
    let urls = urls.filter(|(_, url)| shows_wanted(view, url, &pairs, wants));
    let sources = urls.map(|(number, url)| {
        let names: Vec<&[u8]> = url.attributes.iter().map(String::as_bytes).collect();
        let selection = Arc::new(Selection::parse(view.schema(), &names));
        UrlSource {
            list: Arc::clone(&list),
            number,
            shown: ShownValues::Attributes(selection, Arc::clone(&pairs)),
        }
    });
    sources.collect()
}

/// Returns the URLs of a list that find members.
fn member_sources(list: &Arc<ListEntry>, shown: &ShownValues) -> Vec<UrlSource> {
    let urls = list.urls.iter().enumerate();
    let urls = urls.filter(|(_, url)| url.finds_members());
    let sources = urls.map(|(number, _)| UrlSource {
        list: Arc::clone(list),
        number,
        shown: shown.clone(),
    });
    sources.collect()
}

/// Returns true if an attribute that a URL lists is wanted.
fn shows_wanted(
    view: &View<'_>,
    url: &ListUrl,
    pairs: &[(AttributeIndex, AttributeIndex)],
    wants: Wants<'_>,
) -> bool {
    let schema = view.schema();
    url.attributes.is_empty()
        || url.attributes.iter().any(|name| {
            let Ok(description) = schema.describe(name.as_bytes()) else {
                return name.starts_with(['*', '+', '@']);
            };
            let mut pairs = pairs.iter();
            let pair = pairs.find(|(_, source)| *source == description.attribute);
            let subtypes = &schema.attribute_at(description.attribute).subtypes;
            match pair {
                Some((shown, _)) => wants(&AttributeDescription::plain(*shown)),
                None => {
                    wants(&description)
                        || subtypes
                            .iter()
                            .any(|one| wants(&AttributeDescription::plain(*one)))
                }
            }
        })
}

/// Returns the memberships of an attribute whose groups may have groups as members.
fn nested_of<'a>(
    requester: RequesterRights<'a>,
    attribute: AttributeIndex,
) -> impl Iterator<Item = &'a Membership> {
    let memberships = requester.database.memberships.of(attribute);
    memberships.filter(|membership| membership.listed.is_some_and(|listed| listed.nested))
}

/// Returns the search for members of members, if an entry is a group and both attributes are
/// wanted. As in slapd, it depends on the attribute that lists groups too.
fn nested_members(
    requester: RequesterRights<'_>,
    view: &View<'_>,
    entry: &EntryView<'_>,
    wants: Wants<'_>,
) -> Result<Option<NestedMembers>, StoreError> {
    if requester.stored_only {
        return Ok(None);
    }
    let memberships = &requester.database.memberships;
    for attribute in memberships.attributes() {
        for membership in nested_of(requester, attribute.attribute) {
            if wants(&membership.attribute)
                && wants(&membership.member)
                && membership.is_group(view.schema(), entry)
            {
                return Ok(Some(NestedMembers {
                    attribute: attribute.attribute,
                    member: membership.member.clone(),
                    waiting: Vec::new(),
                    visited: HashSet::new(),
                }));
            }
        }
    }
    Ok(None)
}

/// Returns the values of a group that name members.
fn values_of_group(
    requester: RequesterRights<'_>,
    view: &View<'_>,
    group: &EntryView<'_>,
    attribute: AttributeIndex,
) -> Result<Vec<Source>, StoreError> {
    let mut sources = Vec::new();
    for membership in nested_of(requester, attribute) {
        let by_values = membership.listed.is_some_and(|listed| listed.set.is_none());
        if by_values
            && membership.is_group(view.schema(), group)
            && knows_group(requester, view, group.id())?
        {
            let member = membership.member.clone();
            sources.push(Source::Values(
                group.id(),
                member,
                ValuesPosition::default(),
            ));
        }
    }
    Ok(sources)
}
