//! The projection of an entry to a search result entry: which attributes, and their bytes.

use std::cell::OnceCell;

use fulgurite_access::{EntryRights, Rights};
use fulgurite_ldap::encode::{self, EntryWriter};
use fulgurite_ldap::{Control, MessageId};
use fulgurite_schema::{Attribute, AttributeDescription, AttributeIndex, Entry, Schema};
use fulgurite_store::{
    AttributeInfo, AttributeView, DnCache, EncodedHeader, EntryView, Shape, StoreError, Values,
    View,
};

use super::value_filter::ValuesFilter;
use crate::core::foundation::Core;
use crate::rights::computed::Computed;
use crate::rights::requester_rights::RequesterRights;
use crate::rights::selection::Selection;

/// The attributes and values that a search returns.
#[derive(Debug)]
pub(crate) struct Projection {
    pub(crate) selection: Selection,
    types_only: bool,
    /// The filter for values; `None` for all values.
    values: Option<ValuesFilter>,
    /// True if values come in the order of the database's settings.
    ordered: bool,
    computed: Vec<(Computed, AttributeIndex)>,
    /// True if it has attributes of bind states, once an entry may have some.
    has_bind_state: OnceCell<bool>,
}

/// A stored entry to write, with the requester's rights.
pub(crate) struct StoredEntry<'e, 's> {
    pub(crate) entry: &'e EntryView<'e>,
    pub(crate) view: &'e View<'s>,
    pub(crate) requester: RequesterRights<'e>,
    pub(crate) rights: EntryRights<'e>,
    /// The controls of the response.
    pub(crate) controls: &'e [Control<'e>],
    /// The name to show instead of the stored one.
    pub(crate) other_name: Option<&'e str>,
}

/// The memory that the entries of one search share.
pub(crate) struct EntryCaches<'c> {
    pub(crate) attribute_rights: &'c mut AttributeRights,
    pub(crate) names: &'c mut DnCache,
}

/// The attributes of one store that a search returns, by their numbers there.
///
/// They hold for every entry of the store, except for rights that differ from entry to entry.
#[derive(Debug, Default)]
pub(crate) struct AttributeRights {
    by_number: Vec<Option<bool>>,
    /// The shapes met last. Most entries have the shape of their neighbour.
    shapes: Vec<ShapeHeaders>,
    /// The shape of the previous entry.
    last: usize,
}

/// A shape of entries.
#[derive(Debug, Default)]
struct ShapeHeaders {
    shape: Vec<u8>,
    /// The encoded header of each attribute, or a mark that hides it.
    heads: Vec<EncodedHeader>,
}

/// The number of shapes whose headers are remembered. People of one class mostly differ in the
/// attributes that they lack.
const SHAPES_MAX: usize = 16;

impl AttributeRights {
    /// Remembers the headers of a shape, in place of an old one. Returns its position.
    fn remember(&mut self, shape: Shape<'_>, heads: Vec<EncodedHeader>) -> usize {
        let new = ShapeHeaders {
            shape: shape.bytes().to_vec(),
            heads,
        };
        if self.shapes.len() < SHAPES_MAX {
            self.shapes.push(new);
            return self.shapes.len() - 1;
        }
        let oldest = (self.last + 1) % SHAPES_MAX;
        if let Some(slot) = self.shapes.get_mut(oldest) {
            *slot = new;
        }
        oldest
    }
}

impl Projection {
    pub(crate) fn new(core: &Core, selection: Selection, types_only: bool) -> Projection {
        let is_user = |attribute: &AttributeIndex| {
            let definition = core.schema.attribute_at(*attribute);
            !definition.is_operational()
        };
        if selection.is_all_user() && !core.membership_types.iter().any(is_user) {
            return Projection {
                selection,
                types_only,
                values: None,
                ordered: false,
                computed: Vec::new(),
                has_bind_state: OnceCell::new(),
            };
        }
        let everywhere = Computed::OPERATIONAL
            .into_iter()
            .filter_map(|computed| Some((computed, computed.attribute(&core.types)?)))
            .filter(|(_, attribute)| selection.all_operational() || selection.names(*attribute));
        let counted = Computed::NumSubordinates
            .attribute(&core.types)
            .filter(|attribute| selection.names(*attribute))
            .map(|attribute| (Computed::NumSubordinates, attribute));
        let context = Computed::ContextCsn
            .attribute(&core.types)
            .filter(|attribute| selection.selects_type(&core.schema, *attribute))
            .map(|attribute| (Computed::ContextCsn, attribute));
        let groups = core.membership_types.iter();
        let groups = groups
            .filter(|attribute| selection.selects_type(&core.schema, **attribute))
            .map(|attribute| (Computed::Groups(*attribute), *attribute));
        let computed = everywhere
            .chain(counted)
            .chain(context)
            .chain(groups)
            .collect();
        Projection {
            selection,
            types_only,
            values: None,
            ordered: false,
            computed,
            has_bind_state: OnceCell::new(),
        }
    }

    /// Leaves out what copies do not take. As in slapd, that is the name of the log.
    pub(crate) fn for_copies(mut self, is_for_copies: bool) -> Projection {
        let is_log = |computed: &Computed| *computed == Computed::AuditContext;
        self.computed
            .retain(|(computed, _)| !is_for_copies || !is_log(computed));
        self
    }

    /// Returns true if it has attributes of bind states.
    fn selects_bind_state(&self, core: &Core) -> bool {
        *self.has_bind_state.get_or_init(|| {
            let (schema, selection) = (&core.schema, &self.selection);
            let is_user =
                |attribute: AttributeIndex| !schema.attribute_at(attribute).is_operational();
            let mut of_binds = core.types.of_binds.iter();
            of_binds.any(|of_binds| {
                let is_possible = !selection.is_all_user() || is_user(*of_binds);
                is_possible && selection.selects_type(schema, *of_binds)
            })
        })
    }

    /// Restricts the projection to matching values, and to attributes that have one.
    pub(crate) fn only(mut self, values: Option<ValuesFilter>) -> Projection {
        self.values = values;
        self
    }

    /// Shows values in the order of the database's settings, or as they are stored.
    pub(crate) fn ordered(mut self, ordered: bool) -> Projection {
        self.ordered = ordered;
        self
    }

    /// Writes the values of one attribute.
    ///
    /// With `asked_by_value` each value is checked. An attribute without a readable value is not
    /// written.
    fn write_values<'v>(
        &self,
        writer: &mut EntryWriter<'_>,
        schema: &Schema,
        (name, description): (&str, &AttributeDescription),
        asked_by_value: Option<EntryRights<'_>>,
        values: impl Iterator<Item = &'v [u8]> + Clone,
    ) {
        let each = asked_by_value;
        if each.is_none() && self.values.is_none() && !self.types_only {
            return writer.whole_attribute(name.as_bytes(), values);
        }
        let mut values = values.filter(|value| {
            each.is_none_or(|rights| rights.value(description, value).allows(Rights::READ))
        });
        writer.attribute(name.as_bytes());
        if self.types_only {
            if each.is_some() && values.next().is_none() {
                writer.drop_attribute_without_values();
            }
            return;
        }
        let Some(filter) = &self.values else {
            values.for_each(|value| writer.value(value));
            if each.is_some() {
                writer.drop_attribute_without_values();
            }
            return;
        };
        values
            .filter(|value| filter.admits(schema, description, value))
            .for_each(|value| writer.value(value));
        writer.drop_attribute_without_values();
    }

    /// Appends a stored entry.
    pub(crate) fn write_stored(
        &self,
        out: &mut Vec<u8>,
        id: MessageId,
        stored: &StoredEntry<'_, '_>,
        caches: &mut EntryCaches<'_>,
    ) -> Result<(), StoreError> {
        if self.reorders(stored) {
            return self.write_expanded(out, id, stored, Vec::new());
        }
        let EntryCaches {
            attribute_rights,
            names,
        } = caches;
        let StoredEntry {
            entry,
            view,
            requester,
            rights,
            controls,
            other_name,
        } = *stored;
        let schema = view.schema();
        let decisions = requester.decisions;
        let has_bind_state = entry.may_have_bind_state()
            && self.selects_bind_state(requester.core)
            && entry.has_bind_state();
        let mut named = Ok(());
        let mut writer = EntryWriter::begin(out, id, |out| match other_name {
            Some(name) => out.extend_from_slice(name.as_bytes()),
            None => named = entry.append_dn(names, out),
        });
        named?;
        let each = decisions.by_value().then_some(rights);
        let as_stored = each.is_none() && self.values.is_none() && !self.types_only;
        if as_stored && decisions.uniform() && !has_bind_state {
            let heads = self.heads(attribute_rights, entry, view, (requester, rights));
            if !writer.encoded_by(|out| entry.append_attributes(heads, out)) {
                for attribute in entry.recorded_attributes() {
                    if heads
                        .get(attribute.position)
                        .is_some_and(|head| !head.is_hidden())
                    {
                        write_whole(&mut writer, attribute.info, &attribute.values);
                    }
                }
            }
        } else {
            let mut write = |attribute: AttributeView<'_>| {
                if !self.shows(attribute_rights, schema, attribute.info, requester, rights) {
                    return;
                }
                if as_stored {
                    return write_whole(&mut writer, attribute.info, &attribute.values);
                }
                let named = (&*attribute.info.text, &attribute.info.description);
                self.write_values(&mut writer, schema, named, each, attribute.values.iter());
            };
            match has_bind_state {
                true => entry.attributes().for_each(&mut write),
                false => entry.recorded_attributes().for_each(&mut write),
            }
        }
        if !self.computed.is_empty() {
            self.write_computed(&mut writer, stored)?;
        }
        writer.finish(controls);
        Ok(())
    }

    /// Returns true if values of the entry may come in another order than the stored one.
    fn reorders(&self, stored: &StoredEntry<'_, '_>) -> bool {
        let orders = &stored.requester.database.value_orders;
        !orders.is_empty() && self.ordered && orders.concern(stored.entry)
    }

    /// Appends a stored entry with the values that a dynamic list adds, in the order of the
    /// database's settings.
    pub(crate) fn write_expanded(
        &self,
        out: &mut Vec<u8>,
        id: MessageId,
        stored: &StoredEntry<'_, '_>,
        added: Vec<Attribute>,
    ) -> Result<(), StoreError> {
        let mut entry = stored.entry.to_entry()?;
        for Attribute {
            description,
            values,
        } in added
        {
            for value in values {
                entry.push(&description, value);
            }
        }
        if self.ordered {
            stored
                .requester
                .database
                .value_orders
                .apply(stored.view.schema(), &mut entry);
        }
        self.write_loose(out, id, stored, &entry)
    }

    /// Appends an entry in place of a stored one, under the other name.
    pub(crate) fn write_loose(
        &self,
        out: &mut Vec<u8>,
        id: MessageId,
        stored: &StoredEntry<'_, '_>,
        entry: &Entry,
    ) -> Result<(), StoreError> {
        let (schema, rights) = (stored.view.schema(), stored.rights);
        let name = stored.other_name.unwrap_or(entry.dn.pretty());
        let mut writer = encode::search_entry(out, id, name.as_bytes());
        for attribute in &entry.attributes {
            let description = &attribute.description;
            if self.selection.selects(schema, description)
                && stored.requester.computed(description).is_none()
            {
                let name = description.text(schema);
                let values = attribute.values.iter().map(Vec::as_slice);
                let named = (&*name, description);
                self.write_values(&mut writer, schema, named, Some(rights), values);
            }
        }
        self.write_computed(&mut writer, stored)?;
        writer.finish(stored.controls);
        Ok(())
    }

    /// Writes the computed attributes of an entry.
    fn write_computed(
        &self,
        writer: &mut EntryWriter<'_>,
        stored: &StoredEntry<'_, '_>,
    ) -> Result<(), StoreError> {
        let StoredEntry {
            entry,
            view,
            requester,
            rights,
            ..
        } = *stored;
        let schema = view.schema();
        let each = requester.decisions.by_value().then_some(rights);
        for &(computed, attribute) in &self.computed {
            let description = AttributeDescription::plain(attribute);
            if !computed.is_visible(requester) {
                continue;
            }
            if each.is_some() || rights.attribute(&description).allows(Rights::READ) {
                let name = schema.attribute_at(attribute).name();
                let values = computed.values(requester, view, entry.id())?;
                let values = values.as_slice().iter().map(Vec::as_slice);
                if values.len() > 0 {
                    self.write_values(writer, schema, (name, &description), each, values);
                }
            }
        }
        Ok(())
    }

    /// Returns the headers of the attributes of an entry. Only for rights that are the same for all
    /// entries.
    fn heads<'r>(
        &self,
        attribute_rights: &'r mut AttributeRights,
        entry: &EntryView<'_>,
        view: &View<'_>,
        (requester, rights): (RequesterRights<'_>, EntryRights<'_>),
    ) -> &'r [EncodedHeader] {
        let shape = entry.shape();
        let is_it = |known: &ShapeHeaders| known.shape == shape.bytes();
        let last = attribute_rights.shapes.get(attribute_rights.last);
        if !last.is_some_and(is_it) {
            let known = attribute_rights.shapes.iter().position(is_it);
            attribute_rights.last = known.unwrap_or_else(|| {
                let heads = self.new_heads(attribute_rights, shape, view, (requester, rights));
                attribute_rights.remember(shape, heads)
            });
        }
        let last = attribute_rights.shapes.get(attribute_rights.last);
        last.map_or(&[][..], |known| &known.heads)
    }

    /// Makes the headers of the attributes of a shape.
    #[inline(never)]
    fn new_heads(
        &self,
        attribute_rights: &mut AttributeRights,
        shape: Shape<'_>,
        view: &View<'_>,
        (requester, rights): (RequesterRights<'_>, EntryRights<'_>),
    ) -> Vec<EncodedHeader> {
        let mut heads = Vec::with_capacity(shape.bytes().len());
        for number in shape.iter() {
            let info = view.attributes().get(number);
            let shown = |info: &&AttributeInfo| {
                self.shows(attribute_rights, view.schema(), info, requester, rights)
            };
            heads.push(match info.filter(shown) {
                Some(info) => EncodedHeader::new(&info.text),
                None => EncodedHeader::HIDDEN,
            });
        }
        // Attributes behind the last visible one are not visited.
        let last = heads.iter().rposition(|head| !head.is_hidden());
        heads.truncate(last.map_or(0, |last| last + 1));
        heads
    }

    /// Appends an entry that no store holds.
    pub(crate) fn write_unstored(
        &self,
        out: &mut Vec<u8>,
        id: MessageId,
        entry: &Entry,
        schema: &Schema,
        rights: EntryRights<'_>,
    ) {
        self.write_unstored_with((out, id), entry, schema, rights, &[]);
    }

    /// Does the same with controls.
    pub(crate) fn write_unstored_with(
        &self,
        (out, id): (&mut Vec<u8>, MessageId),
        entry: &Entry,
        schema: &Schema,
        rights: EntryRights<'_>,
        controls: &[Control<'_>],
    ) {
        let name = entry.dn.pretty().as_bytes();
        let mut writer = encode::search_entry(out, id, name);
        let selected = entry
            .attributes
            .iter()
            .filter(|held| self.selection.selects(schema, &held.description));
        for attribute in selected {
            let description = &attribute.description;
            let values = attribute.values.iter().map(Vec::as_slice);
            let name = description.text(schema);
            let named = (&*name, description);
            self.write_values(&mut writer, schema, named, Some(rights), values);
        }
        writer.finish(controls);
    }

    fn shows(
        &self,
        attribute_rights: &mut AttributeRights,
        schema: &Schema,
        info: &AttributeInfo,
        requester: RequesterRights<'_>,
        rights: EntryRights<'_>,
    ) -> bool {
        let decisions = requester.decisions;
        // If rules decide by value, the right to the whole attribute decides nothing.
        let each = decisions.by_value();
        let readable = || each || rights.attribute(&info.description).allows(Rights::READ);
        let at = usize::from(info.id.0);
        let remembered = &mut attribute_rights.by_number;
        if remembered.len() <= at {
            // Usual stores have fewer attributes.
            remembered.resize((at + 1).max(64), None);
        }
        let Some(slot) = remembered.get_mut(at) else {
            return false;
        };
        let selection = &self.selection;
        let remembered = *slot.get_or_insert_with(|| {
            // Stored values of an attribute that lists groups do not count.
            selection.selects(schema, &info.description)
                && requester.computed(&info.description).is_none()
                && (!decisions.uniform() || readable())
        });
        remembered && (decisions.uniform() || readable())
    }
}

/// Writes one attribute with all its values.
fn write_whole(writer: &mut EntryWriter<'_>, info: &AttributeInfo, values: &Values<'_>) {
    let name = info.text.as_bytes();
    match values.encoded() {
        Some(values) => writer.attribute_of(name, values),
        None => writer.whole_attribute(name, values.iter()),
    }
}
