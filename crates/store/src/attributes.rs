//! Persistent numbers of attribute descriptions.
//!
//! Records and index keys contain these numbers. A number never changes, so the order of schema
//! files does not matter. The table only grows, so a newer table serves an older snapshot too.
//! Every view has its own reference.

use rustc_hash::FxHashMap;

use crate::bind_state;
use crate::error::{Damage, StoreError};
use crate::ids::AttributeId;
use fulgurite::{Database, Snapshot};
use fulgurite_schema::{AttributeDescription, AttributeIndex, AttributeSelector, Schema};

/// An attribute description of a store.
#[derive(Clone, Debug)]
pub struct AttributeInfo {
    /// Its number in this store.
    pub id: AttributeId,
    /// Canonical text, `cn;lang-de`.
    pub text: Box<str>,
    /// Type and options.
    pub description: AttributeDescription,
    /// True if `+` selects it rather than `*`.
    pub operational: bool,
}

/// All attribute descriptions of a store, by number and by description.
#[derive(Clone, Debug, Default)]
pub struct AttributeTable {
    infos: Vec<AttributeInfo>,
    by_description: FxHashMap<AttributeDescription, AttributeId>,
    /// By attribute type: the descriptions of it and its subtypes, with any options.
    by_type: FxHashMap<AttributeIndex, Vec<AttributeId>>,
    /// The descriptions of which binds change the values.
    of_binds: Vec<AttributeId>,
}

/// Why a table cannot be read.
pub(crate) enum TableError {
    Store(StoreError),
    /// The schema does not define this description.
    Undefined(String),
}

impl<E: Into<StoreError>> From<E> for TableError {
    fn from(error: E) -> TableError {
        TableError::Store(error.into())
    }
}

impl AttributeTable {
    pub(crate) fn load(
        txn: &impl Snapshot,
        db: Database,
        schema: &Schema,
    ) -> Result<AttributeTable, TableError> {
        let mut table = AttributeTable::default();
        let mut cursor = txn.cursor(db)?;
        let mut row = cursor.first()?;
        while let Some((key, text)) = row {
            let description = schema
                .describe(text)
                .map_err(|_| TableError::Undefined(String::from_utf8_lossy(text).into_owned()))?;
            if AttributeId::from_key(key) != Some(table.push(schema, description)?) {
                return Err(Damage::Description.into());
            }
            row = cursor.next()?;
        }
        Ok(table)
    }

    /// Returns the number of descriptions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.infos.len()
    }

    /// Returns true if the store knows no description yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.infos.is_empty()
    }

    /// Returns the description of a number.
    #[must_use]
    #[inline]
    pub fn get(&self, id: AttributeId) -> Option<&AttributeInfo> {
        self.infos.get(usize::from(id.0).checked_sub(1)?)
    }

    /// Returns the number of exactly this description.
    #[must_use]
    pub fn find(&self, description: &AttributeDescription) -> Option<AttributeId> {
        self.by_description.get(description).copied()
    }

    /// Returns the numbers of all descriptions that a selector covers, ascending. It covers
    /// subtypes and forms with more options too.
    #[must_use]
    pub fn covered(&self, schema: &Schema, selector: &AttributeSelector) -> Box<[AttributeId]> {
        let of_type = self.of_type(selector.attribute);
        if selector.options().is_none() {
            return of_type.into();
        }
        let covers = |id: &AttributeId| {
            self.get(*id)
                .is_some_and(|info| selector.covers(schema, &info.description))
        };
        of_type.iter().copied().filter(covers).collect()
    }

    /// Returns true if the selector covers no description of the store but its own, without
    /// options.
    #[must_use]
    pub fn covers_itself(&self, selector: &AttributeSelector) -> bool {
        let of_type = self.of_type(selector.attribute);
        let own = |id: &AttributeId| {
            let info = self.get(*id);
            info.is_some_and(|info| info.description == *selector)
        };
        selector.options().is_none() && of_type.iter().all(own)
    }

    /// Returns the numbers of all descriptions of a type and its subtypes.
    pub(crate) fn of_type(&self, attribute: AttributeIndex) -> &[AttributeId] {
        self.by_type.get(&attribute).map_or(&[], Vec::as_slice)
    }

    /// Returns true if binds change the values of this description. Most stores have none.
    #[inline]
    pub(crate) fn is_of_binds(&self, id: AttributeId) -> bool {
        self.of_binds.contains(&id)
    }

    /// Returns true if binds change the values of some description.
    #[inline]
    pub(crate) fn has_some_of_binds(&self) -> bool {
        !self.of_binds.is_empty()
    }

    /// Returns all descriptions in order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &AttributeInfo> {
        self.infos.iter()
    }

    /// Gives a new description its number.
    pub(crate) fn push(
        &mut self,
        schema: &Schema,
        description: AttributeDescription,
    ) -> Result<AttributeId, StoreError> {
        let id = u16::try_from(self.infos.len() + 1).map_err(|_| StoreError::TooManyAttributes)?;
        let id = AttributeId(id);
        self.by_description.insert(description.clone(), id);
        let mut above = Some(description.attribute);
        while let Some(attribute) = above {
            self.by_type.entry(attribute).or_default().push(id);
            above = schema.attribute_at(attribute).superior;
        }
        if bind_state::holds(schema, &description) {
            self.of_binds.push(id);
        }
        let text = description.text(schema).into();
        let operational = schema.attribute_at(description.attribute).is_operational();
        self.infos.push(AttributeInfo {
            id,
            text,
            description,
            operational,
        });
        Ok(id)
    }
}
