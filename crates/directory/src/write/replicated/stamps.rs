//! The numbers of single attributes and values, where several providers change an entry.
//!
//! ```text
//!   stamps/ entryUUID   -> entryCSN, base, leaf, [deleted], attributes
//!     attribute:  description, [cleared], values
//!     value:      hash of the normal form, number, here or gone
//! ```
//!
//! *Base* is the number of all that has no other: the whole entry was written by that change. An
//! attribute that was replaced is *cleared* by that change: older values are gone, and the others
//! have its number. A value that was added or removed alone has another number. The *leaf* is
//! the RDN; its values are [shown](super::join) in the entry, and not part of the attribute.
//! *Deleted* is the greatest deletion that the entry has outlived. *Announced* is the greatest
//! number by which a server has told the entry once more. It is news, so each server passes it on.
//! A row has it as the clearing of an attribute without a description. So older releases pass it
//! on, too.
//!
//! An entry without a row was written as a whole by its entryCSN. So was one whose row has another
//! entryCSN: something has changed it that keeps no numbers.

use std::collections::BTreeMap;

use fulgurite_ldap::ModifyOperation;
use fulgurite_ldap::control::EntryUuid;
use fulgurite_schema::{AttributeIndex, Dn, Schema};
use fulgurite_store::{CsnVector, PackedCsn, Snapshot, StoreError, View, Writer};
use sha2::{Digest, Sha256};

use crate::request::change::Change;
use crate::write::audit::RecordedRename;

use super::row_reader::RowReader;

/// The prefix of the rows.
const PREFIX: &[u8] = b"stamps/";
/// The version of a row.
const VERSION: u8 = 1;
/// The text of the numbers of an entry that one change has written.
pub(super) const WHOLE: &str = "-";
/// The description in whose place a row has the number of the announcement.
const ANNOUNCED: &str = "";
/// Values with a separate number, in one attribute at most. One more makes the attribute as a
/// whole new.
const VALUES_MAX: usize = 512;

/// The hash of a value's normal form.
pub(super) type ValueKey = [u8; 16];

/// The numbers of the parts of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EntryStamps {
    /// The entryCSN of the entry that the numbers belong to.
    pub(super) of: Option<PackedCsn>,
    pub(super) base: Option<PackedCsn>,
    pub(super) leaf: Option<PackedCsn>,
    pub(super) deleted: Option<PackedCsn>,
    pub(super) announced: Option<PackedCsn>,
    pub(super) attributes: BTreeMap<String, AttributeStamps>,
}

/// The numbers of an attribute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AttributeStamps {
    pub(super) cleared: Option<PackedCsn>,
    pub(super) values: BTreeMap<ValueKey, ValueStamp>,
}

/// The last change of a single value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ValueStamp {
    pub(super) csn: PackedCsn,
    pub(super) is_here: bool,
}

fn key(uuid: &EntryUuid) -> Vec<u8> {
    [PREFIX, uuid].concat()
}

/// Returns the key of a value.
pub(super) fn value_key(schema: &Schema, attribute: AttributeIndex, value: &[u8]) -> ValueKey {
    let normal = schema.normal_value(attribute, value);
    let hash: [u8; 32] = Sha256::digest(normal.as_deref().unwrap_or(value)).into();
    let mut key = ValueKey::default();
    key.copy_from_slice(&hash[..16]);
    key
}

/// Returns true if values of an attribute are added and removed one by one.
pub(super) fn has_single_values(schema: &Schema, attribute: AttributeIndex) -> bool {
    let kind = schema.attribute_at(attribute);
    kind.equality.is_some() && !kind.single_value && !kind.has_ordered_values()
}

/// Returns the numbers of an entry that is stored with this entryCSN.
pub(crate) fn stamps_of<T: Snapshot>(
    view: &View<'_, T>,
    uuid: &EntryUuid,
    csn: Option<PackedCsn>,
) -> Result<EntryStamps, StoreError> {
    let row = view.sync_row(&key(uuid))?.and_then(EntryStamps::decode);
    Ok(match row {
        Some(row) if row.of == csn => row,
        row => EntryStamps {
            deleted: row.as_ref().and_then(|row| row.deleted),
            announced: row.and_then(|row| row.announced),
            ..EntryStamps::whole(csn)
        },
    })
}

/// Stores the numbers of an entry. Those of an entry that was written as a whole need no row.
pub(crate) fn put_stamps(
    writer: &mut Writer<'_>,
    uuid: &EntryUuid,
    stamps: &EntryStamps,
) -> Result<(), StoreError> {
    match *stamps == EntryStamps::whole(stamps.of) {
        true => writer.delete_sync_row(&key(uuid)),
        false => writer.put_sync_row(&key(uuid), &stamps.encode()),
    }
}

/// Forgets the numbers of an entry that is gone.
pub(crate) fn forget_stamps(writer: &mut Writer<'_>, uuid: &EntryUuid) -> Result<(), StoreError> {
    writer.delete_sync_row(&key(uuid))
}

impl EntryStamps {
    /// Returns the numbers of an entry that one change has written.
    pub(crate) fn whole(csn: Option<PackedCsn>) -> EntryStamps {
        EntryStamps {
            of: csn,
            base: csn,
            leaf: csn,
            deleted: None,
            announced: None,
            attributes: BTreeMap::new(),
        }
    }

    /// Returns true if one change has written the entry, whatever others were told of it.
    pub(super) fn are_whole(&self) -> bool {
        let whole = EntryStamps::whole(self.of);
        let announced = self.announced;
        *self == EntryStamps { announced, ..whole }
    }

    /// Returns the number of the last change of all values of an attribute.
    pub(super) fn cleared(&self, name: &str) -> Option<PackedCsn> {
        let held = self.attributes.get(name);
        held.and_then(|held| held.cleared).max(self.base)
    }

    /// Returns the last change of a single value.
    pub(super) fn value(&self, name: &str, key: &ValueKey) -> Option<ValueStamp> {
        self.attributes.get(name)?.values.get(key).copied()
    }

    /// Leaves out what a greater number covers.
    pub(super) fn tidy(&mut self) {
        self.leaf = self.leaf.max(self.base);
        let base = self.base;
        self.attributes.retain(|_, held| {
            held.cleared = held.cleared.max(base);
            let cleared = held.cleared;
            held.values.retain(|_, value| {
                let number = Some(value.csn);
                number > cleared || (number == cleared && value.is_here)
            });
            held.cleared > base || !held.values.is_empty()
        });
    }

    /// Returns true if a vector covers all changes whose numbers these are. An entry that has
    /// outlived a deletion may have lost some at other servers.
    pub(crate) fn are_covered(&self, vector: &CsnVector) -> bool {
        let covers = |csn: Option<PackedCsn>| csn.is_none_or(|csn| vector.covers(csn));
        let mut attributes = self.attributes.values();
        self.deleted.is_none()
            && covers(self.base)
            && covers(self.leaf)
            && covers(self.announced)
            && attributes.all(|held| {
                let mut values = held.values.values();
                covers(held.cleared) && values.all(|value| vector.covers(value.csn))
            })
    }

    /// Returns all numbers.
    pub(super) fn numbers(&self) -> Vec<PackedCsn> {
        let whole = [self.of, self.base, self.leaf, self.announced];
        let attributes = self.attributes.values();
        let attributes = attributes.flat_map(|held| {
            let values = held.values.values().map(|value| value.csn);
            held.cleared.into_iter().chain(values)
        });
        whole.into_iter().flatten().chain(attributes).collect()
    }

    /// Notes the changes of a client's modify.
    pub(crate) fn note_modify<'c>(
        &mut self,
        schema: &Schema,
        changes: impl Iterator<Item = &'c Change>,
        csn: PackedCsn,
    ) {
        for change in changes {
            let attribute = &change.attribute;
            let kind = attribute.description.attribute;
            let is_by_value = has_single_values(schema, kind)
                && !attribute.values.is_empty()
                && matches!(
                    change.operation,
                    ModifyOperation::Add | ModifyOperation::Delete
                );
            let held = self.attribute(attribute.description.text(schema).as_ref());
            // Values that follow in the same change have its number, too.
            let is_cleared = held.cleared == Some(csn);
            if !is_by_value || is_cleared || held.values.len() >= VALUES_MAX {
                held.clear(csn);
                continue;
            }
            let is_here = change.operation == ModifyOperation::Add;
            for value in &attribute.values {
                let stamp = ValueStamp { csn, is_here };
                held.values.insert(value_key(schema, kind, value), stamp);
            }
        }
        self.of = Some(csn);
        self.tidy();
    }

    /// Notes a client's new RDN.
    pub(crate) fn note_rename(
        &mut self,
        schema: &Schema,
        rename: &RecordedRename<'_>,
        csn: PackedCsn,
    ) {
        let (old, new, deletes_old) = (rename.dn, rename.new_rdn, rename.delete_old_rdn);
        self.of = Some(csn);
        let keys = |dn: &Dn| -> Vec<(AttributeIndex, ValueKey)> {
            let avas = dn.rdn().into_iter().flat_map(|rdn| rdn.avas());
            avas.map(|ava| {
                let key = value_key(schema, ava.attribute, ava.value);
                (ava.attribute, key)
            })
            .collect()
        };
        let (before, after) = (keys(old), keys(new));
        let name_of = |kind: AttributeIndex| schema.attribute_at(kind).name().to_owned();
        for (kind, key) in before.iter().filter(|named| !after.contains(named)) {
            let held = self.attribute(&name_of(*kind));
            if has_single_values(schema, *kind) {
                let is_here = !deletes_old;
                held.values.insert(*key, ValueStamp { csn, is_here });
            } else {
                held.clear(csn);
            }
        }
        let avas = new.rdn().into_iter().flat_map(|rdn| rdn.avas());
        for ava in avas.filter(|ava| rename.held.contains(&ava.attribute)) {
            let key = value_key(schema, ava.attribute, ava.value);
            let name = name_of(ava.attribute);
            let cleared = self.cleared(&name);
            if before.contains(&(ava.attribute, key)) || self.value(&name, &key).is_some() {
                continue;
            }
            // It is a value of the entry, and not the name's alone.
            if let Some(csn) = cleared {
                let stamp = ValueStamp { csn, is_here: true };
                self.attribute(&name).values.insert(key, stamp);
            }
        }
        if before != after {
            self.leaf = Some(csn);
        }
        self.tidy();
    }

    fn attribute(&mut self, name: &str) -> &mut AttributeStamps {
        if !self.attributes.contains_key(name) {
            let stamps = AttributeStamps {
                cleared: self.base,
                values: BTreeMap::new(),
            };
            self.attributes.insert(name.to_owned(), stamps);
        }
        self.attributes.entry(name.to_owned()).or_default()
    }

    /// Reads the text in a cookie. It is that of an entry with this entryCSN.
    pub(super) fn of_text(text: &str, csn: Option<PackedCsn>) -> Option<EntryStamps> {
        if text == WHOLE {
            return Some(EntryStamps::whole(csn));
        }
        let stamps = EntryStamps::decode(&hex::decode(text).ok()?)?;
        Some(match stamps.of == csn {
            true => stamps,
            false => EntryStamps::whole(csn),
        })
    }

    /// Returns the text for a cookie.
    pub(crate) fn text(&self) -> String {
        match *self == EntryStamps::whole(self.of) {
            true => WHOLE.to_owned(),
            false => hex::encode(self.encode()),
        }
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        for csn in [self.of, self.base, self.leaf, self.deleted] {
            put_csn(&mut out, csn);
        }
        let announced = self.announced.map(|csn| AttributeStamps {
            cleared: Some(csn),
            values: BTreeMap::new(),
        });
        let announced = announced.as_ref();
        put_len(
            &mut out,
            self.attributes.len() + usize::from(announced.is_some()),
        );
        let attributes = self.attributes.iter();
        let attributes = attributes.map(|(name, held)| (name.as_str(), held));
        let announced = announced.into_iter().map(|held| (ANNOUNCED, held));
        for (name, held) in announced.chain(attributes) {
            put_len(&mut out, name.len());
            out.extend_from_slice(name.as_bytes());
            put_csn(&mut out, held.cleared);
            put_len(&mut out, held.values.len());
            for (key, value) in &held.values {
                out.extend_from_slice(key);
                out.extend_from_slice(value.csn.as_bytes());
                out.push(u8::from(value.is_here));
            }
        }
        out
    }

    fn decode(row: &[u8]) -> Option<EntryStamps> {
        let mut reader = RowReader(row);
        if reader.take(1)? != [VERSION] {
            return None;
        }
        let mut stamps = EntryStamps {
            of: reader.csn()?,
            base: reader.csn()?,
            leaf: reader.csn()?,
            deleted: reader.csn()?,
            announced: None,
            attributes: BTreeMap::new(),
        };
        for _ in 0..reader.number()? {
            let len = reader.number()?;
            let name = str::from_utf8(reader.take(len)?).ok()?.to_owned();
            let mut held = AttributeStamps {
                cleared: reader.csn()?,
                values: BTreeMap::new(),
            };
            for _ in 0..reader.number()? {
                let key = reader.take(16)?.try_into().ok()?;
                let csn = PackedCsn::from_bytes(reader.take(PackedCsn::LEN)?)?;
                let is_here = match reader.take(1)? {
                    [0] => false,
                    [1] => true,
                    _ => return None,
                };
                held.values.insert(key, ValueStamp { csn, is_here });
            }
            match name.as_str() {
                ANNOUNCED => stamps.announced = held.cleared,
                _ => drop(stamps.attributes.insert(name, held)),
            }
        }
        reader.0.is_empty().then_some(stamps)
    }
}

impl AttributeStamps {
    fn clear(&mut self, csn: PackedCsn) {
        self.cleared = Some(csn);
        self.values.clear();
    }
}

fn put_csn(out: &mut Vec<u8>, csn: Option<PackedCsn>) {
    out.push(u8::from(csn.is_some()));
    out.extend(csn.iter().flat_map(|csn| *csn.as_bytes()));
}

fn put_len(out: &mut Vec<u8>, len: usize) {
    let len = u32::try_from(len).unwrap_or(u32::MAX);
    out.extend_from_slice(&len.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csn(second: u8, server: u8) -> PackedCsn {
        let text = format!("202601020304{second:02}.000000Z#000000#00{server}#000000");
        PackedCsn::parse(text.as_bytes()).expect("a number")
    }

    fn stamps() -> EntryStamps {
        let value = |second, is_here| ValueStamp {
            csn: csn(second, 2),
            is_here,
        };
        let held = AttributeStamps {
            cleared: Some(csn(2, 1)),
            values: [([7; 16], value(3, true)), ([8; 16], value(4, false))].into(),
        };
        EntryStamps {
            leaf: Some(csn(2, 1)),
            deleted: Some(csn(3, 3)),
            announced: Some(csn(5, 3)),
            of: Some(csn(4, 2)),
            attributes: [("description".to_owned(), held)].into(),
            ..EntryStamps::whole(Some(csn(1, 1)))
        }
    }

    #[test]
    fn rows_come_back_and_damaged_ones_do_not() {
        let row = stamps().encode();
        assert_eq!(EntryStamps::decode(&row), Some(stamps()));
        assert!((0..row.len()).all(|len| EntryStamps::decode(&row[..len]).is_none()));
        let text = stamps().text();
        let of = stamps().of;
        assert_eq!(EntryStamps::of_text(&text, of), Some(stamps()));
        let other = Some(csn(9, 1));
        let whole = EntryStamps::whole(other);
        assert_eq!(EntryStamps::of_text(&text, other), Some(whole.clone()));
        assert_eq!(EntryStamps::of_text(&whole.text(), other), Some(whole));
        assert!(
            ["", "zz", "00", "010"]
                .iter()
                .all(|text| { EntryStamps::of_text(text, of).is_none() })
        );
    }

    #[test]
    fn an_attribute_with_many_changed_values_is_new_as_a_whole() {
        let schema = Schema::standard();
        let description = schema.describe(b"telephoneNumber").expect("a type");
        let mut stamps = EntryStamps::whole(Some(csn(1, 1)));
        let add = |number: usize| Change {
            operation: ModifyOperation::Add,
            attribute: fulgurite_schema::Attribute {
                description: description.clone(),
                values: vec![number.to_string().into_bytes()],
            },
        };
        for number in 0..VALUES_MAX {
            stamps.note_modify(&schema, [add(number)].iter(), csn(2, 1));
        }
        assert_eq!(
            stamps.attributes["telephoneNumber"].values.len(),
            VALUES_MAX
        );
        stamps.note_modify(&schema, [add(VALUES_MAX)].iter(), csn(3, 1));
        assert_eq!(stamps.cleared("telephoneNumber"), Some(csn(3, 1)));
        assert_eq!(stamps.attributes["telephoneNumber"].values.len(), 0);
    }
}
