//! An entry as readers see it: in the map, not decoded.

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
    surroundings: &'v dyn EntrySurroundings,
    /// False if only the record counts. Either no bind has changed a value of any entry, or the
    /// caller does not want to know.
    may_have_bind_state: bool,
}

/// One attribute of an [`EntryView`].
#[derive(Clone, Copy, Debug)]
pub struct AttributeView<'v> {
    /// Number, text and description.
    pub info: &'v AttributeInfo,
    /// The values, in stored order.
    pub values: Values<'v>,
    /// Its position among the attributes of the entry.
    pub position: usize,
}

/// The values of an attribute that a copy of an entry contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueSelection {
    /// All its values.
    All,
    /// Only the first value, for attributes that are changed value by value.
    First,
    /// No value, which means the stored values: see [`Writer::modify`](crate::Writer::modify).
    None,
}

/// The attributes of an entry and their order. Most entries of a class have the same shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape<'v> {
    bytes: &'v [u8],
}

impl<'v> Shape<'v> {
    /// Returns the numbers.
    pub fn iter(self) -> impl Iterator<Item = AttributeId> + use<'v> {
        ids_of(self.bytes)
    }

    /// Returns the shape as bytes. Two shapes are equal if their bytes are.
    #[must_use]
    pub fn bytes(self) -> &'v [u8] {
        self.bytes
    }
}

/// A state of the store that knows the names of entries, and their bind states.
pub(crate) trait EntrySurroundings {
    /// Returns the bind state of an entry; `None` also if it is damaged.
    fn bind_state(&self, id: EntryId) -> Option<Record<'_>>;

    fn append_dn(
        &self,
        record: &Record<'_>,
        cache: &mut DnCache,
        out: &mut String,
    ) -> Result<(), StoreError>;

    fn append_dn_bytes(
        &self,
        record: &Record<'_>,
        cache: &mut DnCache,
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError>;
}

impl<'v> EntryView<'v> {
    pub(crate) fn new(
        id: EntryId,
        record: Record<'v>,
        attributes: &'v AttributeTable,
        schema: &'v Schema,
        surroundings: &'v dyn EntrySurroundings,
    ) -> EntryView<'v> {
        EntryView {
            id,
            record,
            attributes,
            schema,
            surroundings,
            may_have_bind_state: attributes.has_some_of_binds(),
        }
    }

    /// Returns its id.
    #[must_use]
    pub fn id(&self) -> EntryId {
        self.id
    }

    /// Returns its parent; `None` for a suffix entry.
    #[must_use]
    pub fn parent(&self) -> Option<EntryId> {
        Some(self.record.parent()).filter(|parent| *parent != EntryId::ROOT)
    }

    /// Returns its RDN as the user wrote it; of a suffix entry, the whole name.
    #[must_use]
    pub fn rdn(&self) -> &'v [u8] {
        self.record.rdn()
    }

    /// Returns the normal form of its RDN; of a suffix entry, of the whole name.
    #[must_use]
    pub fn rdn_normal(&self) -> &'v [u8] {
        self.record.rdn_normal()
    }

    /// Appends its name, as users wrote it, to `out`. With a filled cache this is one copy and no
    /// descent.
    /// # Errors
    /// [`StoreError`] if the engine fails or an ancestor's record is damaged.
    pub fn write_dn(&self, cache: &mut DnCache, out: &mut String) -> Result<(), StoreError> {
        self.surroundings.append_dn(&self.record, cache, out)
    }

    /// As [`write_dn`](Self::write_dn), for a response. Only the names above are checked to be
    /// text.
    /// # Errors
    /// As [`write_dn`](Self::write_dn).
    pub fn append_dn(&self, cache: &mut DnCache, out: &mut Vec<u8>) -> Result<(), StoreError> {
        self.surroundings.append_dn_bytes(&self.record, cache, out)
    }

    /// Returns the entry as updates have left it, without its bind state.
    #[must_use]
    pub fn without_bind_state(self) -> EntryView<'v> {
        EntryView {
            may_have_bind_state: false,
            ..self
        }
    }

    /// Returns true if binds have changed values of the entry. Then [`shape`](Self::shape) and
    /// [`append_attributes`](Self::append_attributes) do not know all values.
    #[must_use]
    pub fn has_bind_state(&self) -> bool {
        self.bind_state().is_some()
    }

    /// Returns false if no bind has changed a value of any entry. Most stores have no such values.
    #[must_use]
    #[inline]
    pub fn may_have_bind_state(&self) -> bool {
        self.may_have_bind_state
    }

    #[inline]
    fn bind_state(&self) -> Option<Record<'v>> {
        self.may_have_bind_state
            .then(|| self.surroundings.bind_state(self.id))
            .flatten()
    }

    /// Returns all attributes, user and operational, in stored order. Those of the bind state are
    /// the last ones.
    pub fn attributes(&self) -> impl Iterator<Item = AttributeView<'v>> + use<'v> {
        self.attributes_with(self.bind_state())
    }

    /// Returns the attributes of the record, without the bind state.
    pub fn recorded_attributes(&self) -> impl Iterator<Item = AttributeView<'v>> + use<'v> {
        self.attributes_with(None)
    }

    fn attributes_with(
        &self,
        row: Option<Record<'v>>,
    ) -> impl Iterator<Item = AttributeView<'v>> + use<'v> {
        let (table, len) = (self.attributes, self.record.len());
        let is_recorded = move |(_, (id, _)): &(usize, (AttributeId, Values<'v>))| {
            row.is_none_or(|row| row.values(*id).is_none())
        };
        let recorded = self.record.attributes().enumerate().filter(is_recorded);
        let of_binds = row.into_iter().flat_map(|row| row.attributes());
        let of_binds = of_binds.filter(|(_, values)| !values.is_empty());
        let of_binds = of_binds.enumerate().map(move |(at, held)| (len + at, held));
        recorded
            .chain(of_binds)
            .filter_map(move |(position, (id, values))| {
                Some(AttributeView {
                    info: table.get(id)?,
                    values,
                    position,
                })
            })
    }

    /// Returns the numbers of its attributes, in stored order.
    #[must_use]
    #[inline]
    pub fn shape(&self) -> Shape<'v> {
        Shape {
            bytes: self.record.shape(),
        }
    }

    /// Appends attributes as a search result entry contains them, a PartialAttribute each (RFC
    /// 4511, section 4.5.2). `headers` has one header for each position of [`shape`](Self::shape),
    /// or for the first of them. Returns false, with `out` unchanged, if an attribute cannot be
    /// copied, for instance because of overflow values.
    #[inline]
    #[must_use]
    pub fn append_attributes(&self, heads: &[EncodedHeader], out: &mut Vec<u8>) -> bool {
        record::append(&self.record, heads, out)
    }

    /// Returns true if this is a placeholder for an entry that comes later: it has a name and no
    /// attributes.
    #[must_use]
    pub fn is_placeholder(&self) -> bool {
        self.record.attributes().next().is_none()
    }

    /// Returns the values of exactly this description.
    #[must_use]
    pub fn values(&self, description: &AttributeDescription) -> Option<Values<'v>> {
        self.values_of(self.attributes.find(description)?)
    }

    /// Returns the values of the description of this number.
    #[must_use]
    #[inline]
    pub fn values_of(&self, id: AttributeId) -> Option<Values<'v>> {
        if self.may_have_bind_state
            && self.attributes.is_of_binds(id)
            && let Some(values) = self.bind_state().and_then(|row| row.values(id))
        {
            return Some(values).filter(|values| !values.is_empty());
        }
        self.record.values(id)
    }

    /// Returns the values of a type without options.
    #[must_use]
    pub fn plain_values(&self, attribute: AttributeIndex) -> Option<Values<'v>> {
        self.values(&AttributeDescription::plain(attribute))
    }

    /// Returns a copy that can be changed, with its resolved name.
    /// # Errors
    /// [`StoreError`] if the engine fails or a record is damaged.
    pub fn to_entry(&self) -> Result<Entry, StoreError> {
        let mut text = String::new();
        self.write_dn(&mut DnCache::new(), &mut text)?;
        let dn = Dn::parse(self.schema, &text).map_err(|_| Damage::Record)?;
        self.to_entry_named(&dn, &mut |_, _| ValueSelection::All)
    }

    /// Returns true if some attribute has [overflow values](Values::are_overflow).
    #[must_use]
    pub fn has_overflow_values(&self) -> bool {
        self.record.has_overflow()
    }

    /// As [`to_entry`](Self::to_entry), under the name by which the caller found the entry.
    /// `wanted` selects the values of each attribute.
    /// # Errors
    /// [`StoreError`] if the record is damaged.
    pub fn to_entry_named(
        &self,
        dn: &Dn,
        wanted: &mut dyn FnMut(&AttributeDescription, &Values<'v>) -> ValueSelection,
    ) -> Result<Entry, StoreError> {
        let mut entry = Entry::new(dn.clone());
        entry.attributes.reserve(self.record.len() + 1);
        let is_known = |id| self.attributes.get(id).is_some();
        if !self.record.ids().all(is_known) {
            return Err(Damage::Attribute.into());
        }
        self.attributes()
            .for_each(|AttributeView { info, values, .. }| {
                let values = match wanted(&info.description, &values) {
                    ValueSelection::All => values.iter().map(<[u8]>::to_vec).collect(),
                    ValueSelection::First => values.iter().take(1).map(<[u8]>::to_vec).collect(),
                    ValueSelection::None => Vec::new(),
                };
                entry.attributes.push(Attribute {
                    description: info.description.clone(),
                    values,
                });
            });
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
        for values in ids.iter().filter_map(|id| self.values_of(*id)) {
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
