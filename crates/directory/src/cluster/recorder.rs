//! The records of an update: all that it has changed in the store.
//!
//! ```text
//!   touched entries, before and after ---.
//!                                        +--> a record for each change of the log of changes
//!   records of the log of changes -------'    a modification without a number for each other entry
//!                                             a bind state for each that binds have changed
//! ```
//!
//! A record has the operations of the log if they lead to the new state byte by byte. Otherwise it
//! has those that do. So a record has a computed sum, and the values that the server has dropped.

use std::ops::Range;

use fulgurite_cluster::{Csn, Operation, Operator, Record, RecordKind, Renaming, Value};
use fulgurite_ldap::ResultCode;
use fulgurite_schema::{Attribute, AttributeDescription, Schema};
use fulgurite_store::{
    ChangeKind, ChangeRecord, ChangedValues, EntryContent, EntryId, PackedCsn, Snapshot,
    StoreError, TouchedEntry, ValueChange, View, Writer,
};

use super::replay::{Effect, difference, replay};
use crate::core::entry_identity::{EntryIdentity, parse_uuid};
use crate::core::foundation::Core;
use crate::core::result::refuse;
use crate::core::well_known_types::WellKnownTypes;
use crate::op::ordered::{EffectSink, Untold};

/// Makes records of the effects of updates.
pub(super) struct Recorder<'d> {
    core: &'d Core,
    pub(super) records: Vec<Record>,
}

/// An entry that an update has changed.
struct ChangedEntry {
    id: EntryId,
    before: Option<EntryContent>,
    after: Option<EntryContent>,
    /// The attributes whose values both leave out, and the operations on these.
    left_out: Vec<AttributeDescription>,
    values: Vec<Effect>,
    /// True if a record tells about its attributes.
    is_told: bool,
}

impl<'d> EffectSink<'d> for Recorder<'d> {
    fn clear(&mut self) {
        self.records.clear();
    }

    fn take(&mut self, writer: &mut Writer<'d>, positions: Range<u64>) -> Result<(), Untold> {
        let touched = writer.take_touched();
        let mut changed = changed_entries(writer, touched)?;
        for position in positions {
            let missing = || StoreError::Damaged(fulgurite_store::Damage::Changes);
            let row = writer.change(position)?.ok_or_else(missing)?;
            let record = self.numbered(writer, &row, &mut changed)?;
            self.records.push(record);
        }
        for entry in &changed {
            self.unnumbered(writer, entry)?;
        }
        Ok(())
    }
}

impl<'d> Recorder<'d> {
    pub(super) fn new(core: &'d Core) -> Recorder<'d> {
        Recorder {
            core,
            records: Vec::new(),
        }
    }

    /// Makes the record of a change with a number.
    fn numbered<T: Snapshot>(
        &self,
        view: &View<'_, T>,
        row: &ChangeRecord<'_>,
        changed: &mut [ChangedEntry],
    ) -> Result<Record, Untold> {
        let types = &self.core.types;
        let parents = changed.iter().map(|entry| {
            let content = entry.after.as_ref().or(entry.before.as_ref());
            (entry.id, content.and_then(|held| identity(types, held)))
        });
        let parents: Vec<(EntryId, Option<EntryIdentity>)> = parents.collect();
        let entry = changed.iter_mut().find(|entry| entry.id == row.entry);
        let entry = entry.filter(|entry| !entry.is_told);
        let entry = entry.ok_or_else(|| untold(row.dn, "it changes twice"))?;
        let (kind, effects) = self.effects_of(row, entry)?;
        entry.is_told = true;
        let held = entry.before.as_ref().or(entry.after.as_ref());
        let parent = held.map_or(EntryId::ROOT, |held| held.parent);
        Ok(Record {
            kind,
            csn: number(row.csn),
            previous: row.previous.map(number),
            uuid: row.uuid,
            parent: self.parent_uuid(view, parent, &parents)?,
            is_unordered: row.is_unordered,
            begun_us: row.time_us,
            took_us: 0,
            session: row.session,
            author: row.author()?,
            dn: row.dn.to_owned(),
            renaming: row.rename.map(|rename| Renaming {
                new_rdn: rename.new_rdn.to_owned(),
                deletes_old: rename.deletes_old,
                superior: rename.superior.map(str::to_owned),
            }),
            operations: operations(&self.core.schema, effects),
        })
    }

    /// Returns the kind of a change, and the operations that lead to its outcome.
    fn effects_of(
        &self,
        row: &ChangeRecord<'_>,
        entry: &ChangedEntry,
    ) -> Result<(RecordKind, Vec<Effect>), Untold> {
        let unlike = || untold(row.dn, "its log does not fit its entry");
        let (before, after) = (entry.before.as_ref(), entry.after.as_ref());
        match (row.kind, before, after) {
            (ChangeKind::Add, None, Some(after)) => {
                Ok((RecordKind::Add, difference(&[], &after.attributes)))
            }
            (ChangeKind::Delete, Some(_), None) => Ok((RecordKind::Delete, Vec::new())),
            (ChangeKind::Modify, Some(before), Some(after)) => {
                let is_moved = before.parent != after.parent || before.rdn != after.rdn;
                let logged = self.logged(row)?;
                let logged = logged.filter(|effects| entry.is_reached_by(before, after, effects));
                match logged {
                    _ if is_moved => Err(unlike()),
                    Some(effects) => Ok((RecordKind::Modify, effects)),
                    None => {
                        let effects = entry.difference(before, after);
                        Ok((RecordKind::Modify, effects.ok_or_else(unlike)?))
                    }
                }
            }
            (ChangeKind::Rename, Some(before), Some(after)) => {
                let effects = difference(&before.attributes, &after.attributes);
                Ok((RecordKind::Rename, effects))
            }
            _ => Err(unlike()),
        }
    }

    /// Returns the operations of the log; `None` if it has one that only a request can have.
    fn logged(&self, row: &ChangeRecord<'_>) -> Result<Option<Vec<Effect>>, StoreError> {
        let schema = &self.core.schema;
        let operations = row.operations()?.into_iter();
        let effects = operations.map(|operation| {
            let description = schema.describe(operation.attribute.as_bytes()).ok()?;
            Some(Effect {
                operator: match operation.operator {
                    b'+' => Operator::Add,
                    b'-' => Operator::Delete,
                    b'=' => Operator::Replace,
                    _ => return None,
                },
                attribute: Attribute {
                    description,
                    values: operation.values.into_iter().map(<[u8]>::to_vec).collect(),
                },
            })
        });
        Ok(effects.collect())
    }

    /// Makes the records of changes of an entry that leave its number.
    fn unnumbered<T: Snapshot>(
        &mut self,
        view: &View<'_, T>,
        entry: &ChangedEntry,
    ) -> Result<(), Untold> {
        let (before, after) = match (&entry.before, &entry.after) {
            (_, None) if entry.is_told => return Ok(()),
            (Some(before), Some(after)) => (Some(before), after),
            (None, Some(after)) if entry.is_told => (None, after),
            (held, after) => {
                let held = held.as_ref().or(after.as_ref());
                let rdn = held.map(|held| String::from_utf8_lossy(&held.rdn).into_owned());
                return Err(untold(&rdn.unwrap_or_default(), "it has no entryUUID"));
            }
        };
        let dn = view.dn(entry.id)?;
        let no_uuid = || untold(&dn, "it has no entryUUID");
        let identity = identity(&self.core.types, after).ok_or_else(no_uuid)?;
        let held = |part: fn(&EntryContent) -> &[Attribute]| before.map_or(&[][..], part);
        if !entry.is_told {
            let is_moved = before
                .is_some_and(|before| before.parent != after.parent || before.rdn != after.rdn);
            let old = before.and_then(|before| self::identity(&self.core.types, before));
            if is_moved || old != Some(identity) {
                return Err(untold(&dn, "its change has no number"));
            }
            let effects = before.and_then(|before| entry.difference(before, after));
            let effects = effects.ok_or_else(|| untold(&dn, "its values move"))?;
            if !effects.is_empty() {
                self.push(RecordKind::Modify, identity, &dn, effects);
            }
        }
        if held(|held| &held.bind_state) != after.bind_state {
            let row = after.bind_state.iter().map(|attribute| Effect {
                operator: Operator::Replace,
                attribute: attribute.clone(),
            });
            self.push(RecordKind::BindState, identity, &dn, row.collect());
        }
        Ok(())
    }

    /// Appends a record that leaves the number of its entry.
    fn push(&mut self, kind: RecordKind, identity: EntryIdentity, dn: &str, effects: Vec<Effect>) {
        let csn = identity.csn.map(number);
        self.records.push(Record {
            kind,
            csn: csn.unwrap_or_default(),
            previous: csn,
            uuid: identity.uuid,
            parent: None,
            is_unordered: true,
            begun_us: 0,
            took_us: 0,
            session: 0,
            author: String::new(),
            dn: dn.to_owned(),
            renaming: None,
            operations: operations(&self.core.schema, effects),
        });
    }

    /// Returns the UUID of a parent. It may be gone by the same update.
    fn parent_uuid<T: Snapshot>(
        &self,
        view: &View<'_, T>,
        parent: EntryId,
        changed: &[(EntryId, Option<EntryIdentity>)],
    ) -> Result<Option<[u8; 16]>, StoreError> {
        if let Some((_, identity)) = changed.iter().find(|(id, _)| *id == parent) {
            return Ok(identity.map(|identity| identity.uuid));
        }
        let entry = view.entry(parent)?;
        let identity = entry.and_then(|entry| EntryIdentity::of(&self.core.types, &entry));
        Ok(identity.map(|identity| identity.uuid))
    }
}

/// Returns the entries that are other than before.
fn changed_entries<T: Snapshot>(
    view: &View<'_, T>,
    touched: Vec<TouchedEntry>,
) -> Result<Vec<ChangedEntry>, Untold> {
    let mut changed = Vec::with_capacity(touched.len());
    for touched in touched {
        let TouchedEntry { id, before, .. } = touched;
        if touched.is_partial {
            return Err(untold(&view.dn(id)?, "it changes in two ways"));
        }
        let after = view.content_without(id, &touched.left_out)?;
        let values: Vec<Effect> = touched.values.into_iter().flat_map(of_values).collect();
        if before != after || !values.is_empty() {
            changed.push(ChangedEntry {
                id,
                before,
                after,
                left_out: touched.left_out,
                values,
                is_told: false,
            });
        }
    }
    Ok(changed)
}

/// Returns the operations that change single values.
fn of_values(values: ChangedValues) -> impl Iterator<Item = Effect> {
    let ValueChange {
        description,
        removed,
        added,
    } = values.change;
    let effect = |operator, values| Effect {
        operator,
        attribute: Attribute {
            description: description.clone(),
            values,
        },
    };
    // Without any of the values of before, the attribute stays at its place.
    let effects = match values.is_whole && !added.is_empty() {
        true => vec![effect(Operator::Update, added)],
        false => vec![
            effect(Operator::Delete, removed),
            effect(Operator::Add, added),
        ],
    };
    let effects = effects.into_iter();
    effects.filter(|effect| !effect.attribute.values.is_empty())
}

impl ChangedEntry {
    fn leaves_out(&self, effect: &Effect) -> bool {
        self.left_out.contains(&effect.attribute.description)
    }

    /// Returns true if operations lead from one state to the other.
    fn is_reached_by(
        &self,
        before: &EntryContent,
        after: &EntryContent,
        effects: &[Effect],
    ) -> bool {
        let all = effects.iter().cloned();
        let (values, others): (Vec<Effect>, Vec<Effect>) =
            all.partition(|effect| self.leaves_out(effect));
        let mut replayed = before.attributes.clone();
        values == self.values
            && replay(&mut replayed, &others).is_some()
            && replayed == after.attributes
    }

    /// Returns the operations that lead from one state to the other. Returns `None` if an attribute
    /// whose values are left out has another place.
    fn difference(&self, before: &EntryContent, after: &EntryContent) -> Option<Vec<Effect>> {
        let mut effects = difference(&before.attributes, &after.attributes);
        let moves =
            |effect: &Effect| self.leaves_out(effect) && effect.operator != Operator::Delete;
        if effects.iter().any(moves) {
            return None;
        }
        let stays = |effect: &&Effect| {
            let description = &effect.attribute.description;
            let mut attributes = after.attributes.iter();
            attributes.any(|held| held.description == *description)
        };
        effects.extend(self.values.iter().filter(stays).cloned());
        Some(effects)
    }
}

/// Returns the identity of an entry; `None` without a UUID.
pub(super) fn identity(types: &WellKnownTypes, entry: &EntryContent) -> Option<EntryIdentity> {
    let first = |description: &AttributeDescription| {
        let mut attributes = entry.attributes.iter();
        let held = attributes.find(|held| held.description == *description)?;
        held.values.first()
    };
    Some(EntryIdentity {
        uuid: parse_uuid(first(&types.entry_uuid)?)?,
        csn: first(&types.entry_csn).and_then(|csn| PackedCsn::parse(csn)),
    })
}

/// Returns a number of the store as one of the cluster.
pub(super) fn number(csn: PackedCsn) -> Csn {
    Csn::from_bytes(*csn.as_bytes()).expect("both have one form")
}

fn operations(schema: &Schema, effects: Vec<Effect>) -> Vec<Operation> {
    let operations = effects.into_iter().map(|effect| Operation {
        operator: effect.operator,
        attribute: effect.attribute.description.text(schema).into_owned(),
        values: effect
            .attribute
            .values
            .into_iter()
            .map(Value::Inline)
            .collect(),
    });
    operations.collect()
}

/// Returns the refusal of an update that no record can tell.
fn untold(dn: &str, reason: &str) -> Untold {
    let text = format!("the cluster cannot be told the change of {dn}: {reason}");
    Untold::Refused(refuse(ResultCode::UnwillingToPerform, text))
}
