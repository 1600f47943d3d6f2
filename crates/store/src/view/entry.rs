//! An entry as readers see it: in the map, undecoded.

use crate::attributes::{AttributeInfo, AttributeTable};
use crate::error::{Damage, StoreError};
use crate::ids::{AttributeId, EntryId};
use crate::index::{TypedRecord, ValueSource};
use crate::names::DnCache;
use crate::record::{self, EncodedHeader, Record, Values, ids_of};
use fulgurite_schema::{Attribute, AttributeDescription, AttributeIndex, Dn, Entry, Schema, Truth};

/// One entry. Copying it copies references only.
#[derive(Clone, Copy)]
pub struct EntryView<'v> {
    pub(super) id: EntryId,
    pub(super) record: Record<'v>,
    pub(super) attributes: &'v AttributeTable,
    pub(super) schema: &'v Schema,
    names: &'v dyn NameSource,
}

/// One attribute of an [`EntryView`].
#[derive(Clone, Copy, Debug)]
pub struct AttributeView<'v> {
    /// Number, text and description.
    pub info: &'v AttributeInfo,
    /// The values, in the order in which they were stored.
    pub values: Values<'v>,
    /// Its place among all attributes of the entry.
    pub position: usize,
}

/// How much of an attribute a copy of an entry is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueSelection {
    /// All its values.
    All,
    /// The first value in place of all: for attributes that are changed value by value.
    First,
    /// No value, which stands for whatever the entry has: see [`Writer::modify`](crate::Writer::modify).
    None,
}

/// Which attributes an entry has, in which order: the same for most entries of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape<'v> {
    bytes: &'v [u8],
}

impl<'v> Shape<'v> {
    /// The numbers.
    pub fn iter(self) -> impl Iterator<Item = AttributeId> + use<'v> {
        ids_of(self.bytes)
    }

    /// Bytes by which it can be remembered: two shapes are the same if these are.
    #[must_use]
    pub fn bytes(self) -> &'v [u8] {
        self.bytes
    }
}

/// Who can climb from a record to its name.
pub(crate) trait NameSource {
    fn append_dn(
        &self,
        record: &Record<'_>,
        cache: &mut DnCache,
        out: &mut String,
    ) -> Result<(), StoreError>;
}

impl<'v> EntryView<'v> {
    pub(crate) fn new(
        id: EntryId,
        record: Record<'v>,
        attributes: &'v AttributeTable,
        schema: &'v Schema,
        names: &'v dyn NameSource,
    ) -> EntryView<'v> {
        EntryView {
            id,
            record,
            attributes,
            schema,
            names,
        }
    }

    /// Its number.
    #[must_use]
    pub fn id(&self) -> EntryId {
        self.id
    }

    /// Its parent; `None` for a suffix entry.
    #[must_use]
    pub fn parent(&self) -> Option<EntryId> {
        Some(self.record.parent()).filter(|parent| *parent != EntryId::ROOT)
    }

    /// Its RDN as the user wrote it; of a suffix entry, the whole name.
    #[must_use]
    pub fn rdn(&self) -> &'v [u8] {
        self.record.rdn()
    }

    /// Normal form of its RDN; of a suffix entry, of the whole name.
    #[must_use]
    pub fn rdn_normal(&self) -> &'v [u8] {
        self.record.rdn_normal()
    }

    /// Appends its name, as users wrote it, to `out`. With a warm cache one copy, no descent.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails or an ancestor's record is damaged.
    pub fn write_dn(&self, cache: &mut DnCache, out: &mut String) -> Result<(), StoreError> {
        self.names.append_dn(&self.record, cache, out)
    }

    /// All attributes, user and operational, in the order in which they were stored.
    pub fn attributes(&self) -> impl Iterator<Item = AttributeView<'v>> + use<'v> {
        let table = self.attributes;
        let attributes = self.record.attributes().enumerate();
        attributes.filter_map(move |(position, (id, values))| {
            Some(AttributeView {
                info: table.get(id)?,
                values,
                position,
            })
        })
    }

    /// The numbers of its attributes, in the order in which they were stored.
    #[must_use]
    #[inline]
    pub fn shape(&self) -> Shape<'v> {
        Shape {
            bytes: self.record.shape(),
        }
    }

    /// Appends attributes as they stand in the list of a search result entry, each a PartialAttribute (RFC 4511, section
    /// 4.5.2), behind their heads: one for each place in [`shape`](Self::shape), or for the first of them. False, and `out`
    /// as it was, where one is not to be had so, for instance because its values lie apart.
    #[inline]
    #[must_use]
    pub fn append_attributes(&self, heads: &[EncodedHeader], out: &mut Vec<u8>) -> bool {
        record::append(&self.record, heads, out)
    }

    /// Whether this is only the place of an entry that is to come: it has a name and no attributes.
    #[must_use]
    pub fn is_placeholder(&self) -> bool {
        self.record.attributes().next().is_none()
    }

    /// Values of exactly this description.
    #[must_use]
    pub fn values(&self, description: &AttributeDescription) -> Option<Values<'v>> {
        self.record.values(self.attributes.find(description)?)
    }

    /// Values of the description of this number.
    #[must_use]
    pub fn values_of(&self, id: AttributeId) -> Option<Values<'v>> {
        self.record.values(id)
    }

    /// Values of a type without options.
    #[must_use]
    pub fn plain_values(&self, attribute: AttributeIndex) -> Option<Values<'v>> {
        self.values(&AttributeDescription::plain(attribute))
    }

    /// A copy that can be changed, with its resolved name.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails or a record is damaged.
    pub fn to_entry(&self) -> Result<Entry, StoreError> {
        let mut text = String::new();
        self.write_dn(&mut DnCache::new(), &mut text)?;
        let dn = Dn::parse(self.schema, &text).map_err(|_| Damage::Record)?;
        self.to_entry_named(&dn, &mut |_, _| ValueSelection::All)
    }

    /// Whether the values of some attribute [lie apart](Values::are_overflow).
    #[must_use]
    pub fn has_overflow_values(&self) -> bool {
        self.record.has_overflow()
    }

    /// As [`to_entry`](Self::to_entry), under the name by which it was found, however that is spelled, with as much of
    /// each attribute as is `wanted`.
    ///
    /// # Errors
    /// [`StoreError`] when the record is damaged.
    pub fn to_entry_named(
        &self,
        dn: &Dn,
        wanted: &mut dyn FnMut(&AttributeDescription, &Values<'v>) -> ValueSelection,
    ) -> Result<Entry, StoreError> {
        let mut entry = Entry::new(dn.clone());
        entry.attributes.reserve(self.record.len() + 1);
        for (id, values) in self.record.attributes() {
            let info = self.attributes.get(id).ok_or(Damage::Attribute)?;
            let some = match wanted(&info.description, &values) {
                ValueSelection::All => usize::MAX,
                ValueSelection::First => 1,
                ValueSelection::None => 0,
            };
            let values = values.iter().take(some).map(<[u8]>::to_vec).collect();
            entry.attributes.push(Attribute {
                description: info.description.clone(),
                values,
            });
        }
        Ok(entry)
    }

    pub(crate) fn record(&self) -> &Record<'v> {
        &self.record
    }

    pub(super) fn visit(
        &self,
        ids: &[AttributeId],
        visit: &mut dyn FnMut(&[u8]) -> Truth,
    ) -> Truth {
        let mut truth = Truth::False;
        for values in ids.iter().filter_map(|id| self.record.values(*id)) {
            for value in values {
                truth = truth.or(visit(value));
                if truth.is_true() {
                    return truth;
                }
            }
        }
        truth
    }
}

impl ValueSource for EntryView<'_> {
    fn each(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8])) {
        TypedRecord {
            record: self.record,
            table: self.attributes,
        }
        .each(visit);
    }
}

impl std::fmt::Debug for EntryView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let attributes: Vec<&str> = self.attributes().map(|a| &*a.info.text).collect();
        f.debug_struct("EntryView")
            .field("id", &self.id)
            .field("attributes", &attributes)
            .finish_non_exhaustive()
    }
}
