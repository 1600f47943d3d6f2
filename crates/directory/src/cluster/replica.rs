//! The follower's part: each record is done on the entry that it names, or the node stops.
//!
//! Nothing is merged, and nothing is left out. An entry with another UUID or another number is a
//! sign that the contents differ.

use std::sync::Arc;

use fulgurite_cluster::{Csn, Operator, Record, RecordKind, Value};
use fulgurite_schema::{Attribute, AttributeDescription, CheckedEntry, Dn, Entry};
use fulgurite_store::{
    ChangeKind, EntryContent, EntryId, NewChange, NewOperation, NewRename, PackedCsn, StoreError,
    ValueChange, Writer,
};

use super::recorder::{identity, number};
use super::replay::{Effect, replay};
use crate::core::database::Database;
use crate::core::foundation::Core;

/// The reason why a batch is not applied.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unapplied {
    /// The content is not what the batch was made for.
    #[error("{dn}: {reason}")]
    Differs { dn: String, reason: &'static str },
    #[error(transparent)]
    Store(StoreError),
}

impl From<StoreError> for Unapplied {
    fn from(error: StoreError) -> Unapplied {
        match error {
            StoreError::Engine(_) | StoreError::Damaged(_) | StoreError::Poisoned => {
                Unapplied::Store(error)
            }
            refusal => Unapplied::Differs {
                dn: refusal.to_string(),
                reason: "the store refuses the change",
            },
        }
    }
}

/// Applies records in a transaction, which the caller commits.
pub(super) struct Replica<'a, 'd> {
    pub(super) core: &'d Core,
    pub(super) database: &'d Database,
    pub(super) writer: &'a mut Writer<'d>,
}

impl Replica<'_, '_> {
    /// Applies a record.
    pub(super) fn apply(&mut self, record: &Record) -> Result<(), Unapplied> {
        let schema = &self.core.schema;
        let dn = Dn::parse(schema, &record.dn).map_err(|_| differs(record, "it is no name"))?;
        let effects = self.effects(record)?;
        let id = match record.kind {
            RecordKind::Add => self.add(record, dn, &effects)?,
            RecordKind::Glue => return Err(differs(record, "a cluster has no glue")),
            _ => self.change(record, dn, &effects)?,
        };
        if is_numbered(record) {
            self.log(record, id, &effects)?;
        }
        Ok(())
    }

    fn add(&mut self, record: &Record, dn: Dn, effects: &[Effect]) -> Result<EntryId, Unapplied> {
        if self.writer.find(&dn)?.entry().is_some() {
            return Err(differs(record, "the new entry is here"));
        }
        let parent = match self.database.store.is_top(&dn) {
            true => EntryId::ROOT,
            false => self.find(record, &dn.parent().unwrap_or_else(Dn::root))?,
        };
        let above = self.writer.content_of(parent)?;
        let above = above.and_then(|above| identity(&self.core.types, &above));
        if above.map(|above| above.uuid) != record.parent {
            return Err(differs(record, "its parent is another one"));
        }
        let mut entry = Entry::new(dn);
        self.replay(record, &mut entry.attributes, effects)?;
        let checked = CheckedEntry::on_trust(entry, &self.core.schema);
        Ok(self.writer.add_shared(parent, &Arc::new(checked))?)
    }

    /// Changes the entry, which must be as the record says.
    fn change(
        &mut self,
        record: &Record,
        dn: Dn,
        effects: &[Effect],
    ) -> Result<EntryId, Unapplied> {
        let id = self.find(record, &dn)?;
        let large = match record.kind {
            RecordKind::Modify => self.by_value(record, id, effects)?,
            _ => Vec::new(),
        };
        let left_out: Vec<_> = large
            .iter()
            .map(|change| change.description.clone())
            .collect();
        let held = self.writer.content_without(id, &left_out)?;
        let held = held.ok_or_else(|| differs(record, "it is not here"))?;
        let here = identity(&self.core.types, &held);
        let here = here.ok_or_else(|| differs(record, "it has no entryUUID"))?;
        if here.uuid != record.uuid {
            return Err(differs(record, "it is another entry"));
        }
        if here.csn.map(number) != record.previous {
            return Err(differs(record, "it is in another state"));
        }
        match record.kind {
            RecordKind::Delete => self.writer.delete(id)?,
            RecordKind::Rename => self.rename(record, (id, dn), (held, effects))?,
            RecordKind::BindState => {
                let row = effects.iter().map(|effect| effect.attribute.clone());
                let row: Vec<Attribute> = row.collect();
                self.writer.replace_bind_state(id, &row)?;
            }
            _ if large.is_empty() => {
                let entry = self.changed(record, dn, (held, effects))?;
                self.writer.modify(id, &entry)?;
            }
            _ => {
                let effects = effects.iter();
                let others =
                    effects.filter(|effect| !left_out.contains(&effect.attribute.description));
                let others: Vec<Effect> = others.cloned().collect();
                let entry = self.changed(record, dn, (held, &others))?;
                self.writer.modify_values(id, &entry, &large)?;
            }
        }
        Ok(id)
    }

    /// Returns the changes of attributes with many values that change value by value, or not at
    /// all. The cost does not grow with the others.
    fn by_value(
        &self,
        record: &Record,
        id: EntryId,
        effects: &[Effect],
    ) -> Result<Vec<ValueChange>, Unapplied> {
        let Some(entry) = self.writer.entry(id)? else {
            return Ok(Vec::new());
        };
        let mut changes = Vec::new();
        for held in entry.recorded_attributes() {
            if !held.values.are_overflow() {
                continue;
            }
            let description = &held.info.description;
            let own = effects.iter();
            let own = own.filter(|effect| effect.attribute.description == *description);
            let Some(change) = value_change(description, own, held.values.len()) else {
                continue;
            };
            for (values, is_held) in [(&change.removed, true), (&change.added, false)] {
                for value in values {
                    if self.writer.holds_value(id, description, value)? != is_held {
                        return Err(differs(record, "its values are other ones"));
                    }
                }
            }
            changes.push(change);
        }
        Ok(changes)
    }

    fn rename(
        &mut self,
        record: &Record,
        (id, dn): (EntryId, Dn),
        state: (EntryContent, &[Effect]),
    ) -> Result<(), Unapplied> {
        let schema = &self.core.schema;
        let renaming = record.renaming.as_ref();
        let renaming = renaming.ok_or_else(|| differs(record, "it has no new name"))?;
        let name = |text: &str| Dn::parse(schema, text).ok();
        let superior = match &renaming.superior {
            Some(superior) => name(superior),
            None => Some(dn.parent().unwrap_or_else(Dn::root)),
        };
        let names = superior.zip(name(&renaming.new_rdn));
        let (superior, rdn) = names.ok_or_else(|| differs(record, "its new name is none"))?;
        let parent = match superior.is_root() && self.database.store.holds_everything() {
            true => EntryId::ROOT,
            false => self.find(record, &superior)?,
        };
        let entry = self.changed(record, superior.child(&rdn), state)?;
        Ok(self.writer.rename(id, parent, &entry)?)
    }

    fn changed(
        &self,
        record: &Record,
        dn: Dn,
        (held, effects): (EntryContent, &[Effect]),
    ) -> Result<CheckedEntry, Unapplied> {
        let mut entry = Entry::new(dn);
        entry.attributes = held.attributes;
        self.replay(record, &mut entry.attributes, effects)?;
        Ok(CheckedEntry::on_trust(entry, &self.core.schema))
    }

    fn replay(
        &self,
        record: &Record,
        attributes: &mut Vec<Attribute>,
        effects: &[Effect],
    ) -> Result<(), Unapplied> {
        replay(attributes, effects).ok_or_else(|| differs(record, "its values are other ones"))
    }

    fn find(&self, record: &Record, dn: &Dn) -> Result<EntryId, Unapplied> {
        let found = self.writer.find(dn)?.entry();
        found.ok_or_else(|| differs(record, "it is not here"))
    }

    fn effects(&self, record: &Record) -> Result<Vec<Effect>, Unapplied> {
        let effects = record.operations.iter().map(|operation| {
            let schema = &self.core.schema;
            let description = schema.describe(operation.attribute.as_bytes());
            let description = description.map_err(|_| differs(record, "a type is unknown here"))?;
            let values = operation.values.iter().map(|value| match value {
                Value::Inline(bytes) => Ok(bytes.clone()),
                Value::Part { .. } => Err(differs(record, "it has a part")),
            });
            Ok(Effect {
                operator: operation.operator,
                attribute: Attribute {
                    description,
                    values: values.collect::<Result<_, Unapplied>>()?,
                },
            })
        });
        effects.collect()
    }

    /// Logs a change as its sequencer has done.
    fn log(&mut self, record: &Record, id: EntryId, effects: &[Effect]) -> Result<(), Unapplied> {
        let schema = &self.core.schema;
        let is_rename = record.kind == RecordKind::Rename;
        let is_logged = |effect: &&Effect| {
            // The log of a new name has no values that follow from it.
            !is_rename || self.core.types.is_stamp(&effect.attribute.description)
        };
        let operations = effects.iter().filter(is_logged).map(|effect| NewOperation {
            operator: match effect.operator {
                Operator::Add => b'+',
                Operator::Delete => b'-',
                Operator::Replace | Operator::Update => b'=',
            },
            attribute: effect.attribute.description.text(schema),
            values: &effect.attribute.values,
        });
        let operations: Vec<NewOperation<'_>> = operations.collect();
        let csn = packed(record.csn);
        let change = NewChange {
            kind: match record.kind {
                RecordKind::Add => ChangeKind::Add,
                RecordKind::Rename => ChangeKind::Rename,
                RecordKind::Delete => ChangeKind::Delete,
                _ => ChangeKind::Modify,
            },
            csn,
            previous: record.previous.map(packed),
            uuid: record.uuid,
            entry: id,
            time_us: record.begun_us,
            session: record.session,
            author: &record.author,
            dn: &record.dn,
            rename: record.renaming.as_ref().map(|renaming| NewRename {
                new_rdn: &renaming.new_rdn,
                deletes_old: renaming.deletes_old,
                superior: renaming.superior.as_deref(),
            }),
            operations: &operations,
            is_unordered: record.is_unordered,
        };
        self.writer.log_change(&change)?;
        if !record.is_unordered {
            self.writer.raise_vector(csn)?;
        }
        Ok(())
    }
}

/// Returns one change of single values for some operations; `None` if they need all values.
fn value_change<'e>(
    description: &AttributeDescription,
    effects: impl Iterator<Item = &'e Effect>,
    len: usize,
) -> Option<ValueChange> {
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    for effect in effects {
        let values = &effect.attribute.values;
        match effect.operator {
            Operator::Delete if !values.is_empty() && added.is_empty() => {
                removed.extend_from_slice(values);
            }
            Operator::Add if !values.is_empty() => added.extend_from_slice(values),
            _ => return None,
        }
    }
    // A whole attribute goes with its place.
    (removed.len() < len).then(|| ValueChange {
        description: description.clone(),
        removed,
        added,
    })
}

/// Returns true if a record has a number that its entry has not had before.
fn is_numbered(record: &Record) -> bool {
    match record.kind {
        RecordKind::BindState => false,
        RecordKind::Modify => record.csn != record.previous.unwrap_or_default(),
        _ => true,
    }
}

/// Returns a number of the cluster as one of the store.
pub(super) fn packed(csn: Csn) -> PackedCsn {
    PackedCsn::from_bytes(csn.as_bytes()).expect("both have one form")
}

fn differs(record: &Record, reason: &'static str) -> Unapplied {
    Unapplied::Differs {
        dn: record.dn.clone(),
        reason,
    }
}
