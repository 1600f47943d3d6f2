//! Operational attributes that writes leave behind: who, when, in which order.

use fulgurite_schema::{Entry, ObjectClassIndex, Schema};

use crate::clock::{Entropy, Timestamp};
use crate::csn::Csn;
use crate::known::Known;

/// The marks of one write.
#[derive(Clone, Debug)]
pub(crate) struct Stamp<'s> {
    pub(crate) time: Timestamp,
    pub(crate) csn: Csn,
    /// Name of whoever writes, as shown to people.
    pub(crate) by: &'s str,
}

impl Stamp<'_> {
    /// Marks a new entry. What the entry already has stays: a loaded or replicated entry keeps its history.
    pub(crate) fn create(&self, entry: &mut Entry, known: &Known, entropy: &dyn Entropy) {
        let time = self.time.generalized();
        let mut fill = |description, value: &dyn Fn() -> String| {
            if entry.attribute(description).is_none() {
                entry.set(description, vec![value().into_bytes()]);
            }
        };
        fill(&known.entry_uuid, &|| uuid_v4(entropy));
        fill(&known.entry_csn, &|| self.csn.to_string());
        fill(&known.creators_name, &|| self.by.to_owned());
        fill(&known.create_timestamp, &|| time.clone());
        fill(&known.modifiers_name, &|| self.by.to_owned());
        fill(&known.modify_timestamp, &|| time.clone());
    }

    /// Marks a changed entry.
    pub(crate) fn modify(&self, entry: &mut Entry, known: &Known) {
        entry.set(&known.entry_csn, vec![self.csn.to_string().into_bytes()]);
        entry.set(&known.modifiers_name, vec![self.by.as_bytes().to_vec()]);
        let time = self.time.generalized().into_bytes();
        entry.set(&known.modify_timestamp, vec![time]);
    }
}

/// Writes the structural class into an entry, so that it can be searched.
pub(crate) fn structural_class(
    entry: &mut Entry,
    schema: &Schema,
    known: &Known,
    class: ObjectClassIndex,
) {
    let name = schema.object_class_at(class).name();
    entry.set(
        &known.structural_object_class,
        vec![name.as_bytes().to_vec()],
    );
}

fn uuid_v4(entropy: &dyn Entropy) -> String {
    uuid::Builder::from_random_bytes(entropy.random())
        .into_uuid()
        .to_string()
}
