//! The log of changes as entries (slapd's overlay `accesslog`), computed when they are read.
//!
//! ```text
//!   cn=log                                      auditContainer: minCSN, contextCSN
//!    `-- reqStart=20261126141701.000008Z        one entry for each record of the log
//! ```
//!
//! The fraction of `reqStart` is a counter, as in slapd, and no time. It follows from the position
//! of the record. So a name leads to its record without a search.

use std::sync::Arc;

use fulgurite_schema::{AttributeDescription, Dn, Entry, Schema};
use fulgurite_store::{ChangeKind, ChangeRecord, CsnVector, NewRename, Store, StoreError};
use uuid::Uuid;

use crate::core::clock::Timestamp;

/// The values of the counter. Each record has two: of its start, and of its end.
const COUNTER_MAX: u64 = 1_000_000;

/// The logs of some databases as one tree of entries.
pub(crate) struct AccessLog {
    pub(crate) suffix: Dn,
    /// The stores with the logs, in the order of their databases.
    stores: Vec<Arc<Store>>,
    /// The name of the author of the entries.
    author: Option<String>,
}

/// The place of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogPosition {
    /// The number of the store.
    pub(crate) store: usize,
    pub(crate) position: u64,
}

impl AccessLog {
    pub(crate) fn new(suffix: Dn, stores: Vec<Arc<Store>>, author: Option<String>) -> AccessLog {
        AccessLog {
            suffix,
            stores,
            author,
        }
    }

    /// Returns the store of a number.
    pub(crate) fn store(&self, number: usize) -> Option<&Store> {
        self.stores.get(number).map(|store| &**store)
    }

    /// Returns the store, if the tree shows the log of one only.
    pub(crate) fn sole_store(&self) -> Option<&Store> {
        match self.stores.as_slice() {
            [store] => Some(store),
            _ => None,
        }
    }

    /// Returns the entry at the top.
    pub(crate) fn top(&self, schema: &Schema) -> Result<Entry, StoreError> {
        let (mut vector, mut dropped, mut has_records) =
            (CsnVector::default(), CsnVector::default(), false);
        for store in &self.stores {
            let view = store.snapshot()?;
            let state = view.changes()?;
            vector.raise_all(&state.vector);
            match view.change(state.oldest)? {
                Some(first) if state.horizon.is_empty() => {
                    dropped.raise(first.csn);
                }
                _ => dropped.raise_all(&state.horizon),
            }
            has_records |= !state.is_empty();
        }
        let texts = |vector: &CsnVector| vector.iter().map(|csn| csn.text().into_bytes()).collect();
        let mut entry = AuditEntry::new(schema, self.suffix.clone(), "auditContainer");
        for ava in self.suffix.rdn().into_iter().flat_map(|rdn| rdn.avas()) {
            let description = AttributeDescription::plain(ava.attribute);
            entry.entry.push(&description, ava.value.to_vec());
        }
        entry.set("structuralObjectClass", "auditContainer");
        entry.set_all("minCSN", texts(&dropped));
        entry.set_all("contextCSN", texts(&vector));
        Ok(entry.finish(has_records))
    }

    /// Returns the entry of a record; `None` for a record that is no change of a client.
    pub(crate) fn entry_of(
        &self,
        schema: &Schema,
        at: LogPosition,
        record: &ChangeRecord<'_>,
    ) -> Result<Option<Entry>, StoreError> {
        let (class, kind) = match record.kind {
            ChangeKind::Add => ("auditAdd", "add"),
            ChangeKind::Modify => ("auditModify", "modify"),
            ChangeKind::Rename => ("auditModRDN", "modrdn"),
            ChangeKind::Delete => ("auditDelete", "delete"),
            ChangeKind::Loaded | ChangeKind::Glue => return Ok(None),
        };
        let start = self.time(at, record, 0);
        let name = format!("reqStart={start},{}", self.suffix.pretty());
        let Ok(dn) = Dn::parse(schema, &name) else {
            return Ok(None);
        };
        let mut entry = AuditEntry::new(schema, dn, class);
        entry.set("structuralObjectClass", class);
        entry.set("reqStart", &start);
        entry.set("reqEnd", &self.time(at, record, 1));
        entry.set("reqType", kind);
        entry.set("reqSession", &record.session.to_string());
        entry.set("reqAuthzID", &record.author()?);
        entry.set("reqDN", record.dn);
        entry.set("reqResult", "0");
        entry.set_all("reqMod", modifications(record)?);
        if let Some(rename) = &record.rename {
            entry.set_rename(schema, record.dn, rename);
        }
        entry.set("reqEntryUUID", &uuid_text(record.uuid));
        entry.set("entryUUID", &uuid_text(own_uuid(at, record)));
        let created = Timestamp(record.time_us).generalized();
        let author = self.author.as_deref();
        for (name, value) in [
            ("creatorsName", author),
            ("createTimestamp", Some(created.as_str())),
            ("entryCSN", Some(record.csn.text().as_str())),
            ("modifiersName", author),
            ("modifyTimestamp", Some(created.as_str())),
        ] {
            if let Some(value) = value {
                entry.set(name, value);
            }
        }
        Ok(Some(entry.finish(false)))
    }

    /// Returns the entry of a name.
    pub(crate) fn find(&self, schema: &Schema, dn: &Dn) -> Result<Option<Entry>, StoreError> {
        if *dn == self.suffix {
            return self.top(schema).map(Some);
        }
        let Some(counter) = counter_of(dn) else {
            return Ok(None);
        };
        for (number, store) in self.stores.iter().enumerate() {
            let view = store.snapshot()?;
            let state = view.changes()?;
            for position in self.positions(number, counter, state.oldest, state.newest) {
                let at = LogPosition {
                    store: number,
                    position,
                };
                let Some(record) = view.change(position)? else {
                    continue;
                };
                if let Some(entry) = self.entry_of(schema, at, &record)?
                    && entry.dn == *dn
                {
                    return Ok(Some(entry));
                }
            }
        }
        Ok(None)
    }

    /// Returns the positions of a store whose start has a value of the counter.
    fn positions(
        &self,
        store: usize,
        counter: u64,
        oldest: u64,
        newest: u64,
    ) -> impl Iterator<Item = u64> {
        let (count, store, period) = (self.stores.len() as u64, store as u64, COUNTER_MAX / 2);
        let first = oldest.saturating_mul(count).saturating_add(store) / period;
        let last = newest.saturating_mul(count).saturating_add(store) / period;
        let is_start = counter.is_multiple_of(2);
        let periods = (first..=last).filter(move |_| is_start);
        periods.filter_map(move |turn| {
            let serial = turn.checked_mul(period)?.checked_add(counter / 2)?;
            let scaled = serial.checked_sub(store)?;
            let position = scaled.is_multiple_of(count).then(|| scaled / count)?;
            (oldest..=newest).contains(&position).then_some(position)
        })
    }

    /// Returns the time of a record with its counter; `step` is 0 for the start and 1 for the end.
    fn time(&self, at: LogPosition, record: &ChangeRecord<'_>, step: u64) -> String {
        let serial = at.position.wrapping_mul(self.stores.len() as u64);
        let serial = serial.wrapping_add(at.store as u64) % (COUNTER_MAX / 2);
        let seconds = Timestamp(record.time_us).generalized();
        let seconds = seconds.trim_end_matches('Z');
        format!("{seconds}.{:06}Z", serial * 2 + step)
    }
}

/// An entry of the tree in the making.
struct AuditEntry<'s> {
    schema: &'s Schema,
    entry: Entry,
}

impl AuditEntry<'_> {
    fn new<'s>(schema: &'s Schema, dn: Dn, class: &str) -> AuditEntry<'s> {
        let mut entry = AuditEntry {
            schema,
            entry: Entry::new(dn),
        };
        entry.set("objectClass", class);
        entry
    }

    fn set(&mut self, name: &str, value: &str) {
        self.set_all(name, vec![value.as_bytes().to_vec()]);
    }

    /// Sets an attribute unless it has no values, or the schema lacks it.
    fn set_all(&mut self, name: &str, values: Vec<Vec<u8>>) {
        if let Some(attribute) = self.schema.attribute(name).filter(|_| !values.is_empty()) {
            let description = AttributeDescription::plain(attribute.index);
            self.entry.set(&description, values);
        }
    }

    fn set_rename(&mut self, schema: &Schema, dn: &str, rename: &NewRename<'_>) {
        self.set("reqNewRDN", rename.new_rdn);
        let deletes = if rename.deletes_old { "TRUE" } else { "FALSE" };
        self.set("reqDeleteOldRDN", deletes);
        let parent = Dn::parse(schema, dn).ok().and_then(|dn| dn.parent());
        let parent = parent.as_ref().map_or("", Dn::pretty);
        if let Some(superior) = rename.superior {
            self.set("reqNewSuperior", superior);
        }
        let new_dn = match rename.superior.unwrap_or(parent) {
            "" => rename.new_rdn.to_owned(),
            above => format!("{},{above}", rename.new_rdn),
        };
        self.set("reqNewDN", &new_dn);
    }

    fn finish(mut self, has_children: bool) -> Entry {
        let name = self.entry.dn.pretty().to_owned();
        self.set("entryDN", &name);
        self.set("subschemaSubentry", "cn=Subschema");
        let has_children = if has_children { "TRUE" } else { "FALSE" };
        self.set("hasSubordinates", has_children);
        self.entry
    }
}

/// Returns the changes of a record in slapd's notation, one value each.
///
/// A colon comes between two changes of the same kind and attribute.
fn modifications(record: &ChangeRecord<'_>) -> Result<Vec<Vec<u8>>, StoreError> {
    let operations = record.operations()?;
    let mut texts = Vec::new();
    let mut before = None;
    for operation in &operations {
        let this = (operation.attribute, operation.operator);
        if before == Some(this) && record.kind == ChangeKind::Modify {
            texts.push(b":".to_vec());
        }
        before = Some(this);
        let mut prefix = operation.attribute.as_bytes().to_vec();
        prefix.extend_from_slice(&[b':', operation.operator]);
        if operation.values.is_empty() {
            texts.push(prefix.clone());
        }
        for value in &operation.values {
            texts.push([prefix.as_slice(), b" ", value].concat());
        }
    }
    Ok(texts)
}

/// Returns the counter of a name of a record.
fn counter_of(dn: &Dn) -> Option<u64> {
    let ava = dn.rdn()?.avas().next()?;
    let text = str::from_utf8(ava.value).ok()?.strip_suffix('Z')?;
    let (_, fraction) = text.split_once(['.', ',']).unwrap_or((text, "0"));
    let digits = fraction.get(..6).unwrap_or(fraction);
    let number: u64 = digits.parse().ok()?;
    let missing = u32::try_from(6 - digits.len()).ok()?;
    number.checked_mul(10_u64.pow(missing))
}

fn uuid_text(uuid: [u8; 16]) -> String {
    Uuid::from_bytes(uuid).hyphenated().to_string()
}

/// Returns an identity of the entry of a record, always the same one (RFC 9562, version 8).
pub(crate) fn own_uuid(at: LogPosition, record: &ChangeRecord<'_>) -> [u8; 16] {
    let mut uuid = [0; 16];
    let (high, low) = uuid.split_at_mut(8);
    high.copy_from_slice(&(record.time_us << 12).to_be_bytes());
    low.copy_from_slice(&(at.position | (at.store as u64) << 56).to_be_bytes());
    uuid[6] = uuid[6] & 0x0f | 0x80;
    uuid[8] = uuid[8] & 0x3f | 0x80;
    uuid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_gives_its_counter() {
        let schema = Schema::standard();
        let counter = |text: &str| counter_of(&Dn::parse(&schema, text).expect("a name"));
        assert_eq!(counter("cn=20260101000000.000042Z,cn=log"), Some(42));
        assert_eq!(counter("cn=20260101000000.1Z,cn=log"), Some(100_000));
        assert_eq!(counter("cn=20260101000000Z,cn=log"), Some(0));
        assert_eq!(counter("cn=x,cn=log"), None);
        assert_eq!(counter("cn=20260101000000.xZ,cn=log"), None);
    }

    #[test]
    fn positions_of_a_counter_are_those_that_lead_to_it() {
        let schema = Schema::standard();
        let suffix = Dn::parse(&schema, "cn=log").expect("a name");
        let log = AccessLog::new(suffix, Vec::new(), None);
        assert_eq!(log.positions(0, 1, 1, 9).count(), 0, "an end is no start");
    }
}
