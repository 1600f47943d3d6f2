//! The one entry that has a value: a plan without the parts that a unique value does not need.

use super::scope::ScopeTest;
use super::search_scope::Scope;
use crate::error::StoreError;
use crate::ids::EntryId;
use crate::index::{self, IndexKind, Sole, equality, key};
use crate::view::{EntryView, View};
use fulgurite_schema::{AttributeSelector, MatchingRule};

/// A value that an entry is looked up by.
#[derive(Clone, Copy, Debug)]
pub struct WantedValue<'a> {
    /// The attribute, without options.
    pub attribute: &'a AttributeSelector,
    /// The rule that compares values.
    pub rule: &'static MatchingRule,
    /// The normal form of the value.
    pub normal: &'a [u8],
}

/// The entries that have a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SoleOwner {
    /// No entry.
    Nobody,
    /// This entry alone.
    Entry(EntryId),
    /// Only a plan can tell: there are several, or no index knows exactly.
    Unknown,
}

impl View<'_> {
    /// Returns the entry that has a value, if an index knows it and there is only one. It may be
    /// outside the scope of a search: see [`is_within`](Self::is_within). `key` is room for a key.
    ///
    /// An exact [plan](Self::plan) of an equality item has the same candidates.
    /// # Errors
    /// [`StoreError`] if the engine fails or the index is damaged.
    pub fn sole_owner(
        &self,
        wanted: WantedValue<'_>,
        key: &mut Vec<u8>,
    ) -> Result<SoleOwner, StoreError> {
        let WantedValue {
            attribute,
            rule,
            normal,
        } = wanted;
        if attribute.options().is_some() || !key::is_literal(normal) {
            return Ok(SoleOwner::Unknown);
        }
        let kind = IndexKind::Equality;
        let index = self.indexes.of(attribute.attribute);
        let Some(index) = index.filter(|index| index.has(kind)) else {
            return Ok(SoleOwner::Unknown);
        };
        let context = self.indexes.context(index, kind);
        let of_type = self.attributes.of_type(attribute.attribute);
        // No index knows the values that binds change.
        let of_binds = of_type.iter().any(|id| self.attributes.is_of_binds(*id));
        if context.classes.is_some() || context.rule != Some(rule) || of_binds {
            return Ok(SoleOwner::Unknown);
        }
        debug_assert!(index.usable, "searches read complete indexes only");
        key::posting(key, context.id, equality::CODE, normal);
        Ok(match index::sole(&self.txn, self.store.dbs.index, key)? {
            Sole::Nothing => SoleOwner::Nobody,
            Sole::Id(id) => SoleOwner::Entry(id),
            Sole::Several => SoleOwner::Unknown,
        })
    }

    /// Returns true if an entry is within the scope of an existing base, which is not the root.
    /// # Errors
    /// [`StoreError`] if the engine fails or a record is damaged.
    pub fn is_within(
        &self,
        entry: &EntryView<'_>,
        base: EntryId,
        scope: Scope,
    ) -> Result<bool, StoreError> {
        debug_assert!(base != EntryId::ROOT, "the root is no base of an index");
        if scope == Scope::Base {
            return Ok(entry.id() == base);
        }
        if scope == Scope::Subtree
            && self.stored_counts(base)?.descendants + 1 >= self.entry_count()?
        {
            return Ok(true);
        }
        ScopeTest::of(base, scope).admits(self, entry.id(), entry.record())
    }
}
