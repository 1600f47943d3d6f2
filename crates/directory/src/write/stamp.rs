//! The stamps of a write: operational attributes with author, time and order.

use fulgurite_schema::{AttributeDescription, CheckedEntry, Entry, Schema};

use crate::core::clock::{Entropy, Timestamp};
use crate::core::csn::Csn;
use crate::core::well_known_types::WellKnownTypes;

/// The stamp of one write.
#[derive(Clone, Debug)]
pub(crate) struct Stamp<'s> {
    pub(crate) time: Timestamp,
    pub(crate) csn: Csn,
    /// The author's name in the form for display.
    pub(crate) by: &'s str,
    /// True if the database records author and time.
    pub(crate) kept: bool,
}

impl Stamp<'_> {
    /// Stamps a new entry. Attributes that it has already stay, so a loaded entry keeps its
    /// history.
    ///
    /// As in slapd, attributes that only the RDN `implied` follow the structural class.
    pub(crate) fn create(
        &self,
        entry: &mut CheckedEntry,
        schema: &Schema,
        types: &WellKnownTypes,
        entropy: &dyn Entropy,
        implied: &[AttributeDescription],
    ) {
        let class = schema.object_class_at(entry.structural_class()).name();
        let class = vec![class.as_bytes().to_vec()];
        let held = entry.entry().attribute(&types.structural_object_class);
        // A loaded entry keeps the order of its attributes.
        if held.is_none_or(|held| held.values != class) {
            entry.set_operational(schema, &types.structural_object_class, class);
            implied
                .iter()
                .for_each(|description| entry.move_to_end(description));
        }
        if !self.kept {
            return;
        }
        let time = self.time.generalized();
        let mut fill = |description, value: &dyn Fn() -> String| {
            if entry.entry().attribute(description).is_none() {
                let values = vec![value().into_bytes()];
                entry.set_operational(schema, description, values);
            }
        };
        // A load without a root DN has no author. The empty name would be that of the root DSE.
        let is_somebody = !self.by.is_empty();
        // In slapd's order.
        fill(&types.entry_uuid, &|| uuid_v4(entropy));
        if is_somebody {
            fill(&types.creators_name, &|| self.by.to_owned());
        }
        fill(&types.create_timestamp, &|| time.clone());
        fill(&types.entry_csn, &|| self.csn.text());
        if is_somebody {
            fill(&types.modifiers_name, &|| self.by.to_owned());
        }
        fill(&types.modify_timestamp, &|| time.clone());
        for stamped in [&types.entry_uuid, &types.entry_csn, &types.create_timestamp] {
            let stamped = entry.entry().attribute(stamped);
            debug_assert!(
                stamped.is_some(),
                "consumers identify entries by their stamps"
            );
        }
    }

    /// Stamps a changed entry, except for attributes that the client has set.
    pub(crate) fn modify(
        &self,
        entry: &mut Entry,
        types: &WellKnownTypes,
        except: &[&AttributeDescription],
    ) {
        if !self.kept {
            return;
        }
        let stamps = [
            (&types.entry_csn, self.csn.text()),
            (&types.modifiers_name, self.by.to_owned()),
            (&types.modify_timestamp, self.time.generalized()),
        ];
        for (description, value) in stamps {
            if !except.contains(&description) {
                entry.set(description, vec![value.into_bytes()]);
            }
        }
    }
}

/// Makes a UUID.
pub(crate) fn uuid_v4(entropy: &dyn Entropy) -> String {
    let uuid = uuid::Builder::from_random_bytes(entropy.random()).into_uuid();
    let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
    debug_assert_eq!(uuid.get_version_num(), 4, "the builder sets the version");
    uuid.hyphenated().encode_lower(&mut text).to_owned()
}
