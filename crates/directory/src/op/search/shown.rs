//! From an entry to a search result entry: which attributes, and the octets of them.

use fulgurite_access::{Decisions, EntryRights, Level};
use fulgurite_ldap::MessageId;
use fulgurite_ldap::encode::EntryWriter;
use fulgurite_schema::{AttributeIndex, Entry, Schema};
use fulgurite_store::{AttributeInfo, EntryView, StoreError, View};

use crate::computed::Computed;
use crate::known::Known;
use crate::selection::Selection;

/// What of an entry is returned.
#[derive(Debug)]
pub(crate) struct Shown {
    selection: Selection,
    types_only: bool,
    computed: Vec<(Computed, AttributeIndex)>,
    /// Verdicts by attribute number of the store. They hold for every entry as far as they do not depend on rights
    /// that differ from entry to entry.
    remembered: Vec<Option<bool>>,
}

impl Shown {
    pub(crate) fn new(known: &Known, selection: Selection, types_only: bool) -> Shown {
        let everywhere = Computed::OPERATIONAL
            .into_iter()
            .filter_map(|computed| Some((computed, computed.attribute(known)?)))
            .filter(|(_, attribute)| selection.all_operational() || selection.names(*attribute));
        let counted = Computed::NumSubordinates
            .attribute(known)
            .filter(|attribute| selection.names(*attribute))
            .map(|attribute| (Computed::NumSubordinates, attribute));
        let computed = everywhere.chain(counted).collect();
        Shown {
            selection,
            types_only,
            computed,
            remembered: Vec::new(),
        }
    }

    /// Appends a stored entry.
    pub(crate) fn write_stored(
        &mut self,
        out: &mut Vec<u8>,
        id: MessageId,
        entry: &EntryView<'_>,
        view: &View<'_>,
        name: &str,
        (decisions, rights): (&Decisions<'_>, EntryRights<'_>),
    ) -> Result<(), StoreError> {
        let schema = view.schema();
        let mut writer = EntryWriter::begin(out, id, |out| out.extend_from_slice(name.as_bytes()));
        for attribute in entry.attributes() {
            if !self.shows(schema, attribute.info, decisions, rights) {
                continue;
            }
            writer.attribute(attribute.info.text.as_bytes());
            if !self.types_only {
                attribute
                    .values
                    .iter()
                    .for_each(|value| writer.value(value));
            }
        }
        for &(computed, attribute) in &self.computed {
            if rights.attribute(attribute) >= Level::Read {
                writer.attribute(schema.attribute_at(attribute).name().as_bytes());
                if !self.types_only {
                    writer.value(&computed.value(view, entry.id())?);
                }
            }
        }
        writer.finish(&[]);
        Ok(())
    }

    /// Appends an entry that is in no store.
    pub(crate) fn write_owned(
        &self,
        out: &mut Vec<u8>,
        id: MessageId,
        entry: &Entry,
        schema: &Schema,
        rights: EntryRights<'_>,
    ) {
        let name = entry.dn.pretty().as_bytes();
        let mut writer = EntryWriter::begin(out, id, |out| out.extend_from_slice(name));
        let shown = entry.attributes.iter().filter(|held| {
            self.selection.selects(schema, &held.description)
                && rights.attribute(held.description.attribute) >= Level::Read
        });
        for attribute in shown {
            writer.attribute(attribute.description.text(schema).as_bytes());
            if !self.types_only {
                attribute
                    .values
                    .iter()
                    .for_each(|value| writer.value(value));
            }
        }
        writer.finish(&[]);
    }

    fn shows(
        &mut self,
        schema: &Schema,
        info: &AttributeInfo,
        decisions: &Decisions<'_>,
        rights: EntryRights<'_>,
    ) -> bool {
        let readable = || rights.attribute(info.description.attribute) >= Level::Read;
        let at = usize::from(info.id.0);
        if self.remembered.len() <= at {
            self.remembered.resize(at + 1, None);
        }
        let Some(slot) = self.remembered.get_mut(at) else {
            return false;
        };
        let selection = &self.selection;
        let remembered = *slot.get_or_insert_with(|| {
            selection.selects(schema, &info.description) && (!decisions.uniform() || readable())
        });
        remembered && (decisions.uniform() || readable())
    }
}
