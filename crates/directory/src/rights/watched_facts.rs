//! Facts that remember what rules have looked at, and who may know the outcome.
//!
//! An explanation tells whether a rule matches. So it tells about a group, or another entry that
//! the rule looks at. Only those learn it who may read the same by a search.

use std::cell::RefCell;

use fulgurite_access::{EntryRef, Facts, Rights, RuleSearch};
use fulgurite_schema::{AttributeDescription, AttributeSelector, Dn, Filter};

use crate::core::foundation::Core;
use crate::core::session::Session;
use crate::rights::facts::EntryFacts;

/// One look of a rule at an entry.
struct Look {
    /// The name in normal form; `None` for the target of the decision.
    entry: Option<String>,
    /// The attributes; `None` for entries and attributes that only the outcome tells.
    attributes: Option<Vec<AttributeDescription>>,
}

/// Facts that remember the looks.
pub(crate) struct WatchedFacts<'f> {
    facts: &'f dyn Facts,
    looks: RefCell<Vec<Look>>,
}

/// The requester of an explanation.
#[derive(Clone, Copy)]
pub(crate) struct Asker<'d> {
    pub(crate) core: &'d Core,
    pub(crate) session: &'d Session,
}

impl<'f> WatchedFacts<'f> {
    pub(crate) fn new(facts: &'f dyn Facts) -> WatchedFacts<'f> {
        WatchedFacts {
            facts,
            looks: RefCell::default(),
        }
    }

    /// Returns true if the asker may read all that rules have looked at.
    pub(crate) fn is_known_to(&self, asker: Asker<'_>, target: &str) -> bool {
        let looks = self.looks.borrow();
        looks.iter().all(|look| {
            let entry = look.entry.as_deref().unwrap_or(target);
            match &look.attributes {
                Some(attributes) => asker.may_read(entry, attributes),
                None => asker.is_root_of(entry),
            }
        })
    }

    fn note(&self, of: EntryRef<'_>, attributes: Option<Vec<AttributeDescription>>) {
        let entry = match of {
            EntryRef::Target => None,
            EntryRef::Entry(name) => Some(name.to_owned()),
        };
        self.looks.borrow_mut().push(Look { entry, attributes });
    }
}

impl Facts for WatchedFacts<'_> {
    fn values(
        &self,
        of: EntryRef<'_>,
        attribute: &AttributeDescription,
        visit: &mut dyn FnMut(&[u8]),
    ) {
        self.note(of, Some(vec![attribute.clone()]));
        self.facts.values(of, attribute, visit);
    }

    fn lists(&self, of: EntryRef<'_>, attribute: &AttributeDescription, name: &str) -> bool {
        self.note(of, Some(vec![attribute.clone()]));
        self.facts.lists(of, attribute, name)
    }

    fn matches(&self, of: EntryRef<'_>, filter: &Filter<AttributeSelector>) -> bool {
        self.note(of, attributes_of(filter));
        self.facts.matches(of, filter)
    }

    fn search(&self, search: &RuleSearch<'_>, visit: &mut dyn FnMut(&[u8])) {
        self.note(EntryRef::Entry(search.base), None);
        self.facts.search(search, visit);
    }
}

/// Returns the attributes of a filter; `None` if it looks at any.
fn attributes_of(filter: &Filter<AttributeSelector>) -> Option<Vec<AttributeDescription>> {
    if looks_at_any(filter) {
        return None;
    }
    let mut attributes = Vec::new();
    let _ = filter
        .clone()
        .map(&mut |attribute| attributes.push(attribute));
    Some(attributes)
}

fn looks_at_any(filter: &Filter<AttributeSelector>) -> bool {
    match filter {
        Filter::And(items) | Filter::Or(items) => items.iter().any(looks_at_any),
        Filter::Not(item) => looks_at_any(item),
        Filter::Extensible { attribute, .. } => attribute.is_none(),
        _ => false,
    }
}

impl Asker<'_> {
    /// Returns true if the asker may read an entry as such. The name is in normal form.
    pub(crate) fn may_see(self, entry: &str) -> bool {
        self.may_read(entry, &[])
    }

    /// Returns true if the asker may read attributes of an entry, if it is there or not. A name
    /// that no database holds tells nothing.
    fn may_read(self, entry: &str, attributes: &[AttributeDescription]) -> bool {
        let Ok(dn) = Dn::parse(&self.core.schema, entry) else {
            return true;
        };
        let Some(database) = self.core.databases.database_of(&dn) else {
            return true;
        };
        let Ok(view) = database.store.snapshot() else {
            return false;
        };
        let decisions = database.decisions(self.session);
        let Ok(facts) = EntryFacts::named(self.core, &view, &dn) else {
            return false;
        };
        let rights = facts.rights(&decisions, dn.normal());
        let is_readable = |attribute| {
            let rights = rights.attribute(attribute);
            rights.allows(Rights::READ)
        };
        // Rules about single values may hide one that the attribute as a whole does not.
        rights.entry().allows(Rights::READ)
            && attributes.iter().all(is_readable)
            && (attributes.is_empty() || !decisions.by_value())
    }

    /// Returns true if no rule of the entry's database applies to the asker.
    fn is_root_of(self, entry: &str) -> bool {
        let dn = Dn::parse(&self.core.schema, entry).ok();
        let database = dn.and_then(|dn| self.core.databases.database_of(&dn));
        database.is_some_and(|database| database.decisions(self.session).is_root())
    }
}
