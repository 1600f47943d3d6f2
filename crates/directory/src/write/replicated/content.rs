//! The content that a consumer copies: where it is, and which attributes it has.

use fulgurite_ldap::FilterBuf;
use fulgurite_policy::{SyncScope, Syncrepl};
use fulgurite_schema::{AttributeDescription, AttributeSelector, Dn, Filter, Schema};
use fulgurite_store::{CsnVector, EntryId, Scope};

use super::named_entries::NamedEntries;
use crate::rights::selection::Selection;

/// The options of a copied content.
#[derive(Clone, Copy, Debug)]
pub struct ContentOptions<'o> {
    /// The settings of the consumer.
    pub settings: &'o Syncrepl,
    /// True if clients may update the copy.
    pub multi_provider: bool,
}

/// The content of one consumer, with what its present refresh has named.
#[derive(Debug)]
pub struct CopiedContent {
    /// The number of the consumer.
    pub(super) rid: u16,
    /// The name at the top at the provider.
    pub(super) remote_base: Dn,
    /// The name at the top here.
    pub(super) local_base: Dn,
    pub(super) scope: Scope,
    pub(super) filter: Filter<AttributeSelector>,
    pub(super) selection: CopiedAttributes,
    pub(super) is_checked: bool,
    pub(super) multi_provider: bool,
    pub(super) named: NamedEntries,
    /// True between the begin and the end of a refresh.
    pub(super) is_refreshing: bool,
    /// True if an entry without its parent cannot be part of the content.
    pub(super) is_whole: bool,
    /// Entries that became glue in the present refresh, because they had children.
    pub(super) glued: Vec<EntryId>,
    /// Entries that gave their name to another one, and wait for their own.
    pub(super) parked: Vec<EntryId>,
    /// True if the provider has told deletions without numbers of entries that are not here, or may
    /// know of some. Where others update the copy too, their copies may have such entries.
    pub(super) lacks_deletions: bool,
    /// The state that the provider has told last.
    pub(super) told: CsnVector,
    /// True if the provider tells whole entries, without the numbers of their parts.
    pub(super) tells_whole: Option<bool>,
}

/// The facts that a dropped transaction must not have changed.
///
/// The entries that a refresh has named are not among them: another refresh begins.
#[derive(Clone, Debug)]
pub(crate) struct TransactionFacts {
    is_refreshing: bool,
    lacks_deletions: bool,
    glued: Vec<EntryId>,
    parked: Vec<EntryId>,
    told: CsnVector,
}

/// The attributes that a consumer copies.
#[derive(Debug)]
pub(super) struct CopiedAttributes {
    selected: Selection,
    excluded: Selection,
}

impl CopiedContent {
    /// Resolves names and filter; `None` if the schema does not know them.
    #[must_use]
    pub fn new(schema: &Schema, options: ContentOptions<'_>) -> Option<CopiedContent> {
        let settings = options.settings;
        let filter = FilterBuf::parse(&settings.filter).ok()?;
        Some(CopiedContent {
            rid: settings.rid,
            remote_base: Dn::parse(schema, &settings.search_base).ok()?,
            local_base: Dn::parse(schema, settings.local_base()).ok()?,
            scope: match settings.scope {
                SyncScope::Subtree => Scope::Subtree,
                SyncScope::Base => Scope::Base,
                SyncScope::One => Scope::OneLevel,
                SyncScope::Subordinate => Scope::Subordinates,
            },
            filter: Filter::resolve(schema, &filter.filter()),
            selection: CopiedAttributes::new(schema, settings),
            is_checked: settings.schema_checking,
            multi_provider: options.multi_provider,
            named: NamedEntries::default(),
            is_refreshing: false,
            is_whole: is_everything(&settings.filter) && settings.scope == SyncScope::Subtree,
            glued: Vec::new(),
            parked: Vec::new(),
            lacks_deletions: false,
            told: CsnVector::default(),
            tells_whole: None,
        })
    }

    /// Returns the content of a whole database, for changes of a log.
    #[must_use]
    pub fn everything(schema: &Schema) -> CopiedContent {
        let filter = Filter::resolve(schema, &fulgurite_ldap::Filter::Present(b"objectClass"));
        CopiedContent {
            rid: 0,
            remote_base: Dn::root(),
            local_base: Dn::root(),
            scope: Scope::Subtree,
            filter,
            selection: CopiedAttributes {
                selected: Selection::parse(schema, &[&b"*"[..], &b"+"[..]]),
                excluded: Selection::default(),
            },
            is_checked: false,
            multi_provider: false,
            named: NamedEntries::default(),
            is_refreshing: false,
            is_whole: true,
            glued: Vec::new(),
            parked: Vec::new(),
            lacks_deletions: false,
            tells_whole: None,
            told: CsnVector::default(),
        }
    }

    /// Returns the facts as they are before a transaction.
    pub(crate) fn facts(&self) -> TransactionFacts {
        TransactionFacts {
            is_refreshing: self.is_refreshing,
            lacks_deletions: self.lacks_deletions,
            glued: self.glued.clone(),
            parked: self.parked.clone(),
            told: self.told.clone(),
        }
    }

    /// Goes back to the facts from before a transaction that was dropped.
    pub(crate) fn restore(&mut self, facts: TransactionFacts) {
        self.is_refreshing = facts.is_refreshing;
        self.lacks_deletions = facts.lacks_deletions;
        self.glued = facts.glued;
        self.parked = facts.parked;
        self.told = facts.told;
    }

    /// Notes that a refresh begins, which has named no entry yet.
    pub(super) fn begin_refresh(&mut self) {
        self.named.clear();
        self.glued.clear();
        self.lacks_deletions = false;
        self.is_refreshing = true;
    }

    /// Returns a name of the provider as it is here, and a name of another part as it is.
    pub(super) fn local_name(&self, dn: &Dn) -> Dn {
        if self.remote_base == self.local_base || !dn.is_within(&self.remote_base) {
            return dn.clone();
        }
        let below = dn.depth() - self.remote_base.depth();
        let rdns = (1..=below).map(|level| dn.ancestor(self.remote_base.depth() + level));
        let leaves = rdns.filter_map(|ancestor| ancestor?.leaf());
        leaves.fold(self.local_base.clone(), |above, leaf| above.child(&leaf))
    }

    /// Returns true if names differ here.
    pub(super) fn is_massaged(&self) -> bool {
        self.remote_base != self.local_base
    }
}

/// Returns true for the filter that every entry matches.
fn is_everything(filter: &str) -> bool {
    filter.eq_ignore_ascii_case("(objectclass=*)")
}

impl CopiedAttributes {
    fn new(schema: &Schema, settings: &Syncrepl) -> CopiedAttributes {
        let list = |names: &[String]| {
            let names: Vec<&[u8]> = names.iter().map(String::as_bytes).collect();
            Selection::parse(schema, &names)
        };
        CopiedAttributes {
            selected: list(&settings.copied_attributes()),
            excluded: match settings.excluded.is_empty() {
                true => Selection::default(),
                false => list(&settings.excluded),
            },
        }
    }

    /// Returns true if the attribute of the copy is that of the provider.
    pub(super) fn has(&self, schema: &Schema, description: &AttributeDescription) -> bool {
        self.selected.selects(schema, description) && !self.excluded.selects(schema, description)
    }
}
