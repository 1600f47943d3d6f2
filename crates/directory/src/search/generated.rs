//! Searches of generated entries, which are few. One step examines them all.

use std::borrow::Cow;

use fulgurite_access::{Decisions, EntryRights, Rights};
use fulgurite_ldap::{LdapResult, ResultCode, Scope};
use fulgurite_schema::{Dn, Entry, Filter, Schema};

use super::output::{CompleteOutput, SearchEnd};
use super::query::SearchQuery;
use super::sort_plan::{SortPlan, SortState};
use super::sorted_entries::SortedEntries;
use crate::core::foundation::Core;
use crate::core::result::OpResult;
use crate::core::session::Session;
use crate::directory::Directory;
use crate::generated::namespace::NamespaceTarget;
use crate::generated::root_dse::VENDOR;
use crate::generated::tree::{GeneratedEntry, Tree};
use crate::rights::assertion;
use crate::rights::facts::UnstoredFacts;
use crate::rights::projection::Projection;
use crate::rights::selection::Selection;
use crate::rights::visible_entry::VisibleEntry;

/// A search of generated entries.
pub(super) struct GeneratedSearch<'q> {
    pub(super) directory: &'q Directory,
    pub(super) session: &'q Session,
    pub(super) query: &'q SearchQuery<'q, 'q>,
    pub(super) projection: Projection,
}

impl GeneratedSearch<'_> {
    /// Searches a target that is no database with a store.
    pub(super) fn target(
        &self,
        target: &NamespaceTarget<'_>,
        plan: SortPlan,
    ) -> OpResult<CompleteOutput> {
        let (directory, scope) = (self.directory, self.query.request.scope);
        match target {
            NamespaceTarget::RootDse if scope == Scope::Base => {
                self.entry(&directory.root_dse(self.session), plan)
            }
            NamespaceTarget::Subschema => self.entry(&directory.generated().subschema, plan),
            NamespaceTarget::Tree(tree) => self.tree(tree, plan),
            // The root DSE has no children outside the databases.
            _ => {
                let base = &self.query.base;
                Err(directory.elsewhere(base, Some(scope), ResultCode::NoSuchObject))
            }
        }
    }

    /// Searches the root DSE or the subschema subentry.
    fn entry(&self, entry: &Entry, plan: SortPlan) -> OpResult<CompleteOutput> {
        let (query, core) = (self.query, self.directory.core());
        if query.request.scope != Scope::Base {
            return Err(LdapResult::new(ResultCode::NoSuchObject));
        }
        let decisions = self.directory.generated().decisions(self.session);
        let facts = UnstoredFacts::unstored(core, Some(entry));
        let rights = decisions.at(entry.dn.normal(), &facts);
        require_search(&rights)?;
        let schema = &core.schema;
        if let Some(assert) = &query.controls.assertion {
            let filter = Filter::resolve(schema, &assert.filter);
            assertion::require(schema, rights, entry, &filter)?;
        }
        let mut encoded = Vec::new();
        if self.matches(entry, rights) {
            self.write(&mut encoded, entry, rights);
        }
        let entries = u32::from(!encoded.is_empty());
        let (Some(mut sorted), _slot) = self.sorted_entries(plan) else {
            return Ok(CompleteOutput {
                encoded,
                entries,
                end: SearchEnd::plain(LdapResult::success()),
            });
        };
        if entries > 0 {
            sorted.push(schema, entry, rights, encoded);
        }
        Ok(sorted.finish(None))
    }

    /// Searches the monitor or the configuration.
    fn tree(&self, tree: &Tree, plan: SortPlan) -> OpResult<CompleteOutput> {
        let (query, core) = (self.query, self.directory.core());
        let decisions = tree.decisions(self.session);
        let mut entries = tree.entries(&core.schema, &query.base)?;
        self.require_base(&decisions, &entries)?;
        let (mut sorted, _slot) = self.sorted_entries(plan);
        let size_max = query.limits.size_max;
        let mut encoded = Vec::new();
        let mut sent = 0;
        for generated in &mut entries {
            if !in_scope(&generated.entry.dn, &query.base, query.request.scope) {
                continue;
            }
            generated.count_sent(sent, encoded.len());
            let entry = &generated.entry;
            let facts = UnstoredFacts::unstored(core, Some(entry));
            let rights = decisions.at(entry.dn.normal(), &facts);
            if !self.matches(entry, rights) {
                continue;
            }
            if let Some(sorted) = &mut sorted {
                let mut encoded = Vec::new();
                self.write(&mut encoded, entry, rights);
                sorted.push(&core.schema, entry, rights, encoded);
                continue;
            }
            if size_max.is_some_and(|max| sent >= max) {
                return Ok(CompleteOutput {
                    encoded,
                    entries: sent,
                    end: SearchEnd::plain(LdapResult::new(ResultCode::SizeLimitExceeded)),
                });
            }
            self.write(&mut encoded, entry, rights);
            sent += 1;
        }
        Ok(match sorted {
            Some(sorted) => sorted.finish(size_max),
            None => CompleteOutput {
                encoded,
                entries: sent,
                end: SearchEnd::plain(LdapResult::success()),
            },
        })
    }

    /// Fails unless the base exists and the requester may search from it.
    pub(super) fn require_base(
        &self,
        decisions: &Decisions<'_>,
        entries: &[GeneratedEntry],
    ) -> OpResult {
        let (base, core) = (&*self.query.base, self.directory.core());
        let all = entries.iter().map(|generated| &generated.entry);
        let at_base = all.clone().find(|entry| entry.dn == *base);
        if at_base.is_none() {
            let above = all.filter(|entry| base.is_under(&entry.dn));
            let deepest = above.max_by_key(|entry| entry.dn.depth());
            let shown = deepest.filter(|entry| may_disclose(core, decisions, entry));
            let missing = LdapResult::new(ResultCode::NoSuchObject);
            return Err(match shown {
                Some(entry) => missing.matched(entry.dn.pretty()),
                None => missing,
            });
        }
        let facts = UnstoredFacts::unstored(core, at_base);
        require_search(&decisions.at(base.normal(), &facts))
    }

    /// Returns true if the requester may read the entry and the filter matches it.
    fn matches(&self, entry: &Entry, rights: EntryRights<'_>) -> bool {
        let schema = self.directory.schema();
        let visible = VisibleEntry {
            schema,
            entry,
            rights,
            needed: Rights::SEARCH,
        };
        rights.entry().allows(Rights::READ) && self.query.filter.test(schema, &visible).is_true()
    }

    fn write(&self, out: &mut Vec<u8>, entry: &Entry, rights: EntryRights<'_>) {
        let schema = self.directory.schema();
        let entry = &shown(schema, entry, &self.projection.selection);
        self.projection
            .write_unstored(out, self.query.id, entry, schema, rights);
    }

    /// Returns the sorter of a sorted search, and the state that holds its slot until the search
    /// ends.
    pub(super) fn sorted_entries(&self, plan: SortPlan) -> (Option<SortedEntries>, SortState) {
        let bytes_max = self.directory.search_settings().sssvlv.limits.bytes_max;
        let sorted = match plan.state {
            SortState::Requested { .. } => {
                Some(SortedEntries::new(plan.keys, plan.view, bytes_max))
            }
            SortState::None | SortState::Refused(_) => None,
        };
        (sorted, plan.state)
    }
}

/// Returns an entry as a search shows it: the root DSE without its vendor.
///
/// slapd has no vendor, and clients compare what `+` selects, so ours shows only by name. A vendor
/// of the configuration always shows.
fn shown<'e>(schema: &Schema, entry: &'e Entry, selection: &Selection) -> Cow<'e, Entry> {
    if !entry.dn.is_root() || !selection.all_operational() {
        return Cow::Borrowed(entry);
    }
    let mut shown = entry.clone();
    shown.attributes.retain(|held| {
        let attribute = held.description.attribute;
        let name = schema.attribute_at(attribute).name();
        let own = VENDOR.iter().find(|(vendor, _)| *vendor == name);
        let is_own = own.is_some_and(|(_, value)| held.values == [value.as_bytes()]);
        !is_own || selection.names(attribute)
    });
    Cow::Owned(shown)
}

fn may_disclose(core: &Core, decisions: &Decisions<'_>, entry: &Entry) -> bool {
    let facts = UnstoredFacts::unstored(core, Some(entry));
    let rights = decisions.at(entry.dn.normal(), &facts).entry();
    rights.allows(Rights::DISCLOSE)
}

/// Requires the right to search from a base. A base that may not be disclosed counts as missing.
fn require_search(base: &EntryRights<'_>) -> OpResult {
    let rights = base.entry();
    if rights.allows(Rights::SEARCH) {
        return Ok(());
    }
    Err(LdapResult::new(if rights.allows(Rights::DISCLOSE) {
        ResultCode::InsufficientAccessRights
    } else {
        ResultCode::NoSuchObject
    }))
}

/// Returns true for a name in a scope of a base.
pub(super) fn in_scope(dn: &Dn, base: &Dn, scope: Scope) -> bool {
    match scope {
        Scope::Base => dn == base,
        Scope::One => dn.is_under(base) && dn.depth() == base.depth() + 1,
        Scope::Subtree => dn.is_within(base),
        Scope::Children => dn.is_under(base),
    }
}
