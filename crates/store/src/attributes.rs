//! Persistent numbers for attribute descriptions.
//!
//! Records and index keys name attributes by small numbers that never change, whatever order schema files
//! are read in. The table only grows, so one that is too new does no harm; every view holds its own reference.

use rustc_hash::FxHashMap;

use crate::error::{Damage, StoreError};
use crate::ids::AttributeId;
use fulgurite::{Database, Snapshot};
use fulgurite_schema::{AttributeDescription, AttributeIndex, AttributeSelector, Schema};

/// What a store knows about one of its attribute descriptions.
#[derive(Clone, Debug)]
pub struct AttributeInfo {
    /// Its number in this store.
    pub id: AttributeId,
    /// Canonical text, `cn;lang-de`.
    pub text: Box<str>,
    /// Type and options.
    pub description: AttributeDescription,
    /// Whether it is returned for `+` rather than for `*`.
    pub operational: bool,
}

/// All attribute descriptions of a store, by number and by description.
#[derive(Clone, Debug, Default)]
pub struct AttributeTable {
    infos: Vec<AttributeInfo>,
    by_description: FxHashMap<AttributeDescription, AttributeId>,
    /// By attribute type: the descriptions of it and its subtypes, with whatever options.
    by_type: FxHashMap<AttributeIndex, Vec<AttributeId>>,
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

    /// Number of descriptions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.infos.len()
    }

    /// Whether the store knows no description yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.infos.is_empty()
    }

    /// What is behind a number.
    #[must_use]
    #[inline]
    pub fn get(&self, id: AttributeId) -> Option<&AttributeInfo> {
        self.infos.get(usize::from(id.0).checked_sub(1)?)
    }

    /// The number of exactly this description.
    #[must_use]
    pub fn find(&self, description: &AttributeDescription) -> Option<AttributeId> {
        self.by_description.get(description).copied()
    }

    /// The numbers of all descriptions that a selector covers: subtypes and forms with more options
    /// too. Ascending.
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

    /// Whether there is nothing in the store that a selector covers but its own description, without options.
    #[must_use]
    pub fn covers_itself(&self, selector: &AttributeSelector) -> bool {
        let of_type = self.of_type(selector.attribute);
        let own = |id: &AttributeId| {
            let info = self.get(*id);
            info.is_some_and(|info| info.description == *selector)
        };
        selector.options().is_none() && of_type.iter().all(own)
    }

    /// The numbers of all descriptions of a type and its subtypes.
    pub(crate) fn of_type(&self, attribute: AttributeIndex) -> &[AttributeId] {
        self.by_type.get(&attribute).map_or(&[], Vec::as_slice)
    }

    /// All descriptions in order of their numbers.
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
