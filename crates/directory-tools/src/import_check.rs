//! Compares an imported store with the database of OpenLDAP that it comes from.
//!
//! Entries keep their ids in an import, so each entry is compared with the entry of its id. Names,
//! attributes, and values in their order must be equal. OpenLDAP stores `memberOf`; here the groups
//! decide. So the stored values are compared with the groups.

use std::collections::{BTreeMap, BTreeSet};

use fulgurite_ldap::FilterBuf;
use fulgurite_openldap_mdb::{Attribute, Dump, Entry as SourceEntry};
use fulgurite_schema::{AttributeSelector, Dn, Filter};
use fulgurite_store::{DnCache, EntryId, EntryView, Store, View};

use crate::import_error::ImportError;

/// Sentences about differences, at most.
const EXAMPLES_MAX: usize = 20;

/// Groups whose members have a computed attribute, as slapd's overlay `memberof` defines them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupRule {
    /// The object class of groups.
    pub class: String,
    /// Their attribute with members.
    pub member: String,
    /// The attribute of members that lists groups.
    pub member_of: String,
}

impl Default for GroupRule {
    fn default() -> GroupRule {
        GroupRule {
            class: "groupOfNames".to_owned(),
            member: "member".to_owned(),
            member_of: "memberOf".to_owned(),
        }
    }
}

/// The result of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportCheck {
    /// Entries that are compared.
    pub entries: u64,
    /// Entries among them that the store lacks, or has with another name or other values.
    pub different: u64,
    /// Values of `memberOf` and the like in the source.
    pub stored_groups: u64,
    /// Values that the groups of the store give.
    pub computed_groups: u64,
    /// Values that only one of both has.
    pub different_groups: u64,
    /// Sentences about the first differences.
    pub examples: Vec<String>,
}

/// The normal names of groups, by the attribute that lists them and the normal name of the member.
type Groups = BTreeMap<(String, String), BTreeSet<String>>;

/// Compares a store with the rest of a dump that it was imported from.
///
/// The store may lack the attributes that `groups` compute. Memory grows with the number of
/// memberships.
///
/// # Errors
/// [`ImportError`] if the source or the store cannot be read.
pub(crate) fn compare(
    dump: &mut Dump<'_>,
    store: &Store,
    groups: &[GroupRule],
) -> Result<ImportCheck, ImportError> {
    let mut run = CheckRun {
        view: store.snapshot()?,
        groups,
        check: ImportCheck::default(),
        stored: Groups::new(),
    };
    let mut names = DnCache::new();
    while let Some(entry) = dump.next_entry()? {
        run.compare(&entry, &mut names)?;
    }
    if !groups.is_empty() {
        let computed = run.computed()?;
        run.compare_groups(&computed);
    }
    Ok(run.check)
}

/// The state of a comparison.
struct CheckRun<'s, 'g> {
    view: View<'s>,
    groups: &'g [GroupRule],
    check: ImportCheck,
    /// The groups that the source stores in its members.
    stored: Groups,
}

impl CheckRun<'_, '_> {
    fn compare(&mut self, entry: &SourceEntry, names: &mut DnCache) -> Result<(), ImportError> {
        self.check.entries += 1;
        self.collect_stored(entry);
        let difference = match self.view.entry(EntryId(entry.id))? {
            None => Some("is missing".to_owned()),
            Some(copy) => self.difference(entry, &copy, names)?,
        };
        if let Some(difference) = difference {
            self.check.different += 1;
            self.example(format!("{}: {difference}", entry.name));
        }
        Ok(())
    }

    /// Returns the first difference between an entry and its copy.
    fn difference(
        &self,
        entry: &SourceEntry,
        copy: &EntryView<'_>,
        names: &mut DnCache,
    ) -> Result<Option<String>, ImportError> {
        let mut name = String::new();
        copy.write_dn(names, &mut name)?;
        if self.normal(&entry.name) != self.normal(&name) {
            return Ok(Some(format!("is named {name}")));
        }
        let mut copies = copy.attributes();
        let expected = entry.attributes.iter();
        for attribute in expected.filter(|one| !self.is_computed(one)) {
            let Some(copy) = copies.find(|copy| !self.is_computed_name(&copy.info.text)) else {
                return Ok(Some(format!("lacks {}", attribute.description)));
            };
            let text = &copy.info.text;
            if !text.eq_ignore_ascii_case(&attribute.description) {
                let description = &attribute.description;
                return Ok(Some(format!("has {text} in the place of {description}")));
            }
            let values = attribute.values.iter().map(Vec::as_slice);
            if !values.eq(copy.values) {
                return Ok(Some(format!("has other values of {text}")));
            }
        }
        let rest = copies.find(|copy| !self.is_computed_name(&copy.info.text));
        Ok(rest.map(|copy| format!("has {} in addition", copy.info.text)))
    }

    fn is_computed(&self, attribute: &Attribute) -> bool {
        self.is_computed_name(&attribute.description)
    }

    fn is_computed_name(&self, name: &str) -> bool {
        let mut rules = self.groups.iter();
        rules.any(|rule| rule.member_of.eq_ignore_ascii_case(name))
    }

    /// Notes the groups that an entry of the source lists.
    fn collect_stored(&mut self, entry: &SourceEntry) {
        let lists = entry.attributes.iter();
        let lists: Vec<_> = lists.filter(|one| self.is_computed(one)).collect();
        if lists.is_empty() {
            return;
        }
        let member = self.normal(&entry.name);
        for list in lists {
            let values = list.values.iter();
            let groups: BTreeSet<String> = values
                .map(|value| self.normal(&String::from_utf8_lossy(value)))
                .collect();
            self.check.stored_groups += groups.len() as u64;
            let key = (list.description.to_ascii_lowercase(), member.clone());
            self.stored.insert(key, groups);
        }
    }

    /// Returns the groups of all members that exist.
    fn computed(&mut self) -> Result<Groups, ImportError> {
        let filters: Vec<_> = self.groups.iter().map(|rule| self.filter(rule)).collect();
        let mut groups = Groups::new();
        let mut entries = fulgurite_store::AllEntries::of(&self.view)?;
        let (mut names, mut name) = (DnCache::new(), String::new());
        while let Some(entry) = entries.next()? {
            for (rule, filter) in self.groups.iter().zip(&filters) {
                let is_group = |filter: &Filter<AttributeSelector>| {
                    filter.test(self.view.schema(), &entry).is_true()
                };
                if !filter.as_ref().is_some_and(is_group) {
                    continue;
                }
                name.clear();
                entry.write_dn(&mut names, &mut name)?;
                let group = self.normal(&name);
                let mut attributes = entry.attributes();
                let members =
                    attributes.find(|one| one.info.text.eq_ignore_ascii_case(&rule.member));
                for member in members.into_iter().flat_map(|one| one.values) {
                    let member = self.normal(&String::from_utf8_lossy(member));
                    let key = (rule.member_of.to_ascii_lowercase(), member);
                    groups.entry(key).or_default().insert(group.clone());
                }
            }
        }
        let mut failure = None;
        groups.retain(|(_, member), _| match self.exists(member) {
            Ok(exists) => exists,
            Err(error) => {
                failure = Some(error);
                false
            }
        });
        failure.map_or(Ok(groups), Err)
    }

    fn exists(&self, name: &str) -> Result<bool, ImportError> {
        let Ok(dn) = Dn::parse(self.view.schema(), name) else {
            return Ok(false);
        };
        Ok(self.view.find(&dn)?.entry().is_some())
    }

    fn filter(&self, rule: &GroupRule) -> Option<Filter<AttributeSelector>> {
        let filter = FilterBuf::parse(&format!("(objectClass={})", rule.class)).ok()?;
        Some(Filter::resolve(self.view.schema(), &filter.filter()))
    }

    /// Compares what the source stores with the groups.
    fn compare_groups(&mut self, computed: &Groups) {
        let nothing = BTreeSet::new();
        let stored = std::mem::take(&mut self.stored);
        let keys: BTreeSet<_> = stored.keys().chain(computed.keys()).collect();
        for key in keys {
            let before = stored.get(key).unwrap_or(&nothing);
            let now = computed.get(key).unwrap_or(&nothing);
            let (_, member) = key;
            self.check.computed_groups += now.len() as u64;
            self.check.different_groups += before.symmetric_difference(now).count() as u64;
            for group in before.difference(now) {
                self.example(format!(
                    "{member}: OpenLDAP lists {group}, which does not name it"
                ));
            }
            for group in now.difference(before) {
                self.example(format!("{member}: OpenLDAP does not list {group}"));
            }
        }
    }

    fn example(&mut self, text: String) {
        if self.check.examples.len() < EXAMPLES_MAX {
            self.check.examples.push(text);
        }
    }

    /// Returns the normal form of a name; of a text that is none, the text.
    fn normal(&self, name: &str) -> String {
        let dn = Dn::parse(self.view.schema(), name);
        dn.map_or_else(|_| name.to_owned(), |dn| dn.normal_text(self.view.schema()))
    }
}
