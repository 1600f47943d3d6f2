//! A dynamic list as a requester uses it: its URLs, and the identity whose rights count.
//!
//! By default these are the requester's rights. The list may name another identity, and rules about
//! who may use it. A requester that no rule permits sees the list as it is stored.

use std::ops::Deref;

use fulgurite_access::{Decisions, EntryRights, Rights};
use fulgurite_schema::{
    AttributeDescription, AttributeIndex, AttributeSelector, Dn, Filter, FilterSubject, Truth,
};
use fulgurite_store::{EntryId, EntryView, StoreError, View};

use crate::core::authz_rules::{self, Rule};
use crate::core::dynamic_lists::{DynamicLists, ListSet, ListUrl};
use crate::core::session::{Identity, Name, Session};
use crate::rights::facts::{EntryFacts, EntrySource};
use crate::rights::group_cache::ListEntry;
use crate::rights::requester_rights::RequesterRights;
use crate::rights::visible_entry::visit_searchable;

/// The decisions for the identity whose rights count.
pub(crate) enum ListDecisions<'a> {
    Requester(&'a Decisions<'a>),
    Other(Box<Decisions<'a>>),
}

impl<'a> Deref for ListDecisions<'a> {
    type Target = Decisions<'a>;

    fn deref(&self) -> &Decisions<'a> {
        match self {
            ListDecisions::Requester(decisions) => decisions,
            ListDecisions::Other(decisions) => decisions,
        }
    }
}

impl ListEntry {
    /// Returns true if other lists that the URL of this number finds are left out. As in slapd, it
    /// lists attributes.
    pub(crate) fn hides_lists(&self, number: usize) -> bool {
        let url = self.urls.get(number);
        url.is_some_and(|url| !url.attributes.is_empty())
    }

    /// Reads an entry as a list of a set. `None` for another entry, and for a list that the
    /// requester may not use.
    pub(crate) fn read(
        requester: RequesterRights<'_>,
        view: &View<'_>,
        set: &ListSet,
        entry: &EntryView<'_>,
    ) -> Result<Option<ListEntry>, StoreError> {
        let Some(lists) = &requester.database.lists else {
            return Ok(None);
        };
        let Some(mut list) = ListEntry::read_as_group(requester, view, set, entry)? else {
            return Ok(None);
        };
        list.identity = match identity(lists, view, entry) {
            None => None,
            Some(session) if is_authorized(requester, lists, view, entry)? => {
                Some(Box::new(session))
            }
            Some(_) => return Ok(None),
        };
        Ok(Some(list))
    }

    /// Reads an entry as a group whose members are asked for by the requester. As in slapd, the
    /// identity of the group matters only to the group itself.
    pub(crate) fn read_as_group(
        requester: RequesterRights<'_>,
        view: &View<'_>,
        set: &ListSet,
        entry: &EntryView<'_>,
    ) -> Result<Option<ListEntry>, StoreError> {
        let schema = view.schema();
        if requester.stored_only || !set.is_list(schema, entry) {
            return Ok(None);
        }
        let Some(values) = entry.values(&set.url) else {
            return Ok(None);
        };
        // As in slapd, an entry whose URLs find nothing is a list all the same.
        let mut urls = Vec::new();
        for value in values {
            match ListUrl::parse(schema, value) {
                Some(url) => urls.push(url),
                None => warn_of_url(requester, view, entry, value)?,
            }
        }
        Ok(Some(ListEntry {
            id: entry.id(),
            urls,
            identity: None,
        }))
    }

    /// Returns the decisions for the identity whose rights count.
    pub(crate) fn decisions<'a>(&self, requester: RequesterRights<'a>) -> ListDecisions<'a> {
        match &self.identity {
            None => ListDecisions::Requester(requester.decisions),
            Some(session) => ListDecisions::Other(Box::new(requester.database.decisions(session))),
        }
    }

    /// Returns true if a URL for members finds an entry.
    pub(crate) fn finds(
        &self,
        requester: RequesterRights<'_>,
        view: &View<'_>,
        entry: &EntryView<'_>,
        name: &Dn,
    ) -> Result<bool, StoreError> {
        let mut urls = self.urls.iter();
        if !urls.any(|url| url.finds_members() && url.contains(name)) {
            return Ok(false);
        }
        let decisions = self.decisions(requester);
        let within = self
            .urls
            .iter()
            .filter(|url| url.finds_members() && url.contains(name));
        for url in within {
            if is_found(requester, view, &decisions, entry, &url.filter)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Logs a URL that finds nothing.
fn warn_of_url(
    requester: RequesterRights<'_>,
    view: &View<'_>,
    entry: &EntryView<'_>,
    value: &[u8],
) -> Result<(), StoreError> {
    let name = view.dn(entry.id())?;
    let core = requester.core;
    core.notices
        .warn(&*core.clock, &format!("dynlist {name}"), || {
            let value = String::from_utf8_lossy(value);
            format!(
                "dynlist: {name}: {value:?} is no URL of entries in this database, so it finds none"
            )
        });
    Ok(())
}

/// Returns the identity that a list names. An empty name is anonymous.
fn identity(lists: &DynamicLists, view: &View<'_>, entry: &EntryView<'_>) -> Option<Session> {
    let values = entry.values(lists.identity.as_ref()?)?;
    let name = Dn::parse_bytes(view.schema(), values.iter().next()?).ok()?;
    Some(if name.is_root() {
        Session::new()
    } else {
        Session::of(Identity::User(Name::from(&name)))
    })
}

/// Returns true if the requester may use the identity of a list.
fn is_authorized(
    requester: RequesterRights<'_>,
    lists: &DynamicLists,
    view: &View<'_>,
    entry: &EntryView<'_>,
) -> Result<bool, StoreError> {
    let rules = lists.authorized.as_ref();
    let Some(rules) = rules.and_then(|rules| entry.values(rules)) else {
        return Ok(true);
    };
    if requester.decisions.is_root() {
        return Ok(true);
    }
    let schema = view.schema();
    let Ok(name) = Dn::parse(schema, requester.decisions.requester()) else {
        return Ok(false);
    };
    for rule in rules.iter() {
        let text = std::str::from_utf8(rule).unwrap_or_default();
        if let Some(rule) = authz_rules::parse(schema, text)
            && speaks_of(requester, view, &rule, &name)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns true if a rule speaks of a name. Rules about users need the maps of SASL names, so they
/// speak of none here.
fn speaks_of(
    requester: RequesterRights<'_>,
    view: &View<'_>,
    rule: &Rule,
    name: &Dn,
) -> Result<bool, StoreError> {
    let schema = view.schema();
    let entry_of = |dn: &Dn| match view.find(dn)?.entry() {
        Some(id) => view.entry(id),
        None => Ok(None),
    };
    Ok(match rule {
        Rule::Everybody => !name.is_root(),
        Rule::Dn { style, dn } => style.fits(dn, name),
        Rule::Regex(regex) => regex.is_match(name.normal()) || regex.is_match(name.pretty()),
        Rule::User(_) => false,
        Rule::Group { dn, class, member } => entry_of(dn)?.is_some_and(|group| {
            let url = format!("ldap:///???(objectClass={class})");
            let url = ListUrl::parse(schema, url.as_bytes());
            let is_group = url.is_some_and(|url| url.filter.test(schema, &group).is_true());
            let values = group.values(member);
            let mut values = values.into_iter().flatten();
            is_group
                && values.any(|value| Dn::parse_bytes(schema, value).is_ok_and(|dn| dn == *name))
        }),
        Rule::Url(url) => {
            let url = ListUrl::parse(requester.core.schema.as_ref(), url.to_string().as_bytes());
            let within = url.filter(|url| url.contains(name));
            match (within, entry_of(name)?) {
                (Some(url), Some(entry)) => url.filter.test(schema, &entry).is_true(),
                _ => false,
            }
        }
    })
}

/// Returns true if a search with these rights finds an entry. It may be read, and the filter is
/// true of what may be searched.
pub(crate) fn is_found(
    requester: RequesterRights<'_>,
    view: &View<'_>,
    decisions: &Decisions<'_>,
    entry: &EntryView<'_>,
    filter: &Filter<AttributeSelector>,
) -> Result<bool, StoreError> {
    let (core, schema) = (requester.core, view.schema());
    if core.types.is_referral(entry) || core.types.is_subentry(entry) {
        return Ok(false);
    }
    if decisions.is_root() {
        return Ok(filter.test(schema, entry).is_true());
    }
    let normal = match decisions.uniform() {
        true => String::new(),
        false => view.resolved_dn(entry.id())?.normal().to_owned(),
    };
    let facts = EntryFacts::new(core, view, EntrySource::Stored(*entry));
    let rights = facts.rights(decisions, &normal);
    if !rights.entry().allows(Rights::READ) {
        return Ok(false);
    }
    let seen = SearchableEntry {
        entry,
        rights,
        by_value: decisions.by_value(),
    };
    Ok(filter.test(schema, &seen).is_true())
}

/// Returns true if the requester knows a group: it may search for its class.
pub(crate) fn knows_group(
    requester: RequesterRights<'_>,
    view: &View<'_>,
    group: EntryId,
) -> Result<bool, StoreError> {
    may_search(requester, view, group, &requester.core.types.object_class)
}

/// Returns true if the requester may search an attribute of an entry.
pub(crate) fn may_search(
    requester: RequesterRights<'_>,
    view: &View<'_>,
    id: EntryId,
    attribute: &AttributeDescription,
) -> Result<bool, StoreError> {
    let (core, decisions) = (requester.core, requester.decisions);
    if decisions.is_root() {
        return Ok(true);
    }
    if decisions.uniform() {
        let facts = EntryFacts::new(core, view, EntrySource::Missing);
        let rights = facts.rights(decisions, "").attribute(attribute);
        return Ok(rights.allows(Rights::SEARCH));
    }
    let facts = EntryFacts::of(core, view, id)?;
    let name = view.resolved_dn(id)?;
    let rights = facts.rights(decisions, name.normal()).attribute(attribute);
    Ok(rights.allows(Rights::SEARCH))
}

/// A stored entry with the attributes that may be searched.
struct SearchableEntry<'e> {
    entry: &'e EntryView<'e>,
    rights: EntryRights<'e>,
    by_value: bool,
}

impl SearchableEntry<'_> {
    fn hides(&self, attribute: &AttributeDescription) -> bool {
        !self.rights.attribute(attribute).allows(Rights::SEARCH)
    }
}

impl FilterSubject<AttributeSelector> for SearchableEntry<'_> {
    fn values(
        &self,
        attribute: &AttributeSelector,
        visit: &mut dyn FnMut(&[u8]) -> Truth,
    ) -> Truth {
        if !self.by_value && self.hides(attribute) {
            return Truth::Undefined;
        }
        FilterSubject::<AttributeSelector>::values(self.entry, attribute, &mut |value| {
            let rights = || self.rights.value(attribute, value);
            if self.by_value && !rights().allows(Rights::SEARCH) {
                return Truth::False;
            }
            visit(value)
        })
    }

    fn present(&self, attribute: &AttributeSelector) -> Truth {
        if self.hides(attribute) {
            return Truth::Undefined;
        }
        FilterSubject::<AttributeSelector>::present(self.entry, attribute)
    }

    fn all_values(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8]) -> Truth) -> Truth {
        FilterSubject::<AttributeSelector>::all_values(self.entry, &mut |attribute, value| {
            visit_searchable(&self.rights, attribute, value, visit)
        })
    }

    fn dn_values(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8]) -> Truth) -> Truth {
        FilterSubject::<AttributeSelector>::dn_values(self.entry, &mut |attribute, value| {
            visit_searchable(&self.rights, attribute, value, visit)
        })
    }

    fn number(&self) -> Option<u64> {
        Some(self.entry.id().0)
    }
}
