//! The log of changes as entries (slapd's overlay `accesslog`), computed when they are read.
//!
//! ```text
//!   cn=log                                      auditContainer: minCSN, contextCSN
//!    `-- reqStart=20261126141701.000008Z        one entry for each record of the log
//! ```
//!
//! The fraction of `reqStart` is a counter, as in slapd, and no time. It follows from the position
//! of the record. So a name leads to its record without a search.
//!
//! Records come from the logs of changes of some stores, and from one log of other operations.

use std::sync::Arc;

use fulgurite_schema::{AttributeDescription, Dn, Entry, Schema};
use fulgurite_store::{
    ChangeRecord, CsnVector, OperationLog, OperationLogView, OperationPosition, OperationRecord,
    Store, StoreError, View,
};
use uuid::Uuid;

use super::audit_entry::{AuditEntry, logged_kind, modifications, old_values};
use crate::core::clock::Timestamp;
use crate::core::logged_operations::{LoggedKind, LoggedOperations};

/// The values of the counter. Each record has two: of its start, and of its end.
const COUNTER_MAX: u64 = 1_000_000;

/// The logs of some databases as one tree of entries.
pub(crate) struct AccessLog {
    pub(crate) suffix: Dn,
    /// The stores with the logs, in the order of their databases.
    stores: Vec<LoggedStore>,
    /// The log of operations that are no changes, if a database has one.
    operations: Option<Arc<OperationLog>>,
    /// The name of the author of the entries.
    author: Option<String>,
    /// The number of this server.
    server: u16,
}

/// A store whose changes are shown.
pub(crate) struct LoggedStore {
    pub(crate) store: Arc<Store>,
    pub(crate) operations: LoggedOperations,
}

/// The place of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogPosition {
    /// The number of the store.
    pub(crate) store: usize,
    pub(crate) position: u64,
}

impl AccessLog {
    pub(crate) fn new(
        suffix: Dn,
        stores: Vec<LoggedStore>,
        operations: Option<Arc<OperationLog>>,
        (author, server): (Option<String>, u16),
    ) -> AccessLog {
        AccessLog {
            suffix,
            stores,
            operations,
            author,
            server,
        }
    }

    /// Returns snapshots of the stores, in their order.
    pub(crate) fn views(&self) -> Result<Vec<View<'_>>, StoreError> {
        let stores = self.stores.iter();
        stores.map(|logged| logged.store.snapshot()).collect()
    }

    /// Returns a snapshot of the log of operations, if there is one. With `newest`, it has all
    /// operations that have ended.
    pub(crate) fn operations_view(
        &self,
        newest: bool,
    ) -> Result<Option<OperationLogView<'_>>, StoreError> {
        let log = self.operations.as_ref();
        let view = log.map(|log| match newest {
            true => log.read(),
            false => log.snapshot(),
        });
        view.transpose()
    }

    /// Returns the log of operations, if there is one.
    pub(crate) fn operations(&self) -> Option<&Arc<OperationLog>> {
        self.operations.as_ref()
    }

    /// Replaces the log of operations by an open one of the same file, for the age of this one.
    pub(crate) fn share_operations(&mut self, open: &Arc<OperationLog>) {
        if let Some(log) = &mut self.operations
            && log.path() == open.path()
        {
            open.keep(log.age_us_max());
            *log = Arc::clone(open);
        }
    }

    /// Returns the store, if the tree shows the log of one only.
    pub(crate) fn sole_store(&self) -> Option<&Store> {
        match self.stores.as_slice() {
            [logged] => Some(&logged.store),
            _ => None,
        }
    }

    /// Returns the number of logs.
    fn count(&self) -> u64 {
        self.stores.len() as u64 + u64::from(self.operations.is_some())
    }

    /// Returns the entry at the top.
    pub(crate) fn top(&self, schema: &Schema) -> Result<Entry, StoreError> {
        let (mut vector, mut dropped, mut has_records) =
            (CsnVector::default(), CsnVector::default(), false);
        for view in self.views()? {
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
        if let Some(operations) = self.operations_view(false)? {
            has_records |= operations.next(OperationPosition::default())?.is_some();
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
        let Some(kind) =
            logged_kind(record).filter(|kind| self.shows(schema, at, *kind, record.dn))
        else {
            return Ok(None);
        };
        let class = kind.class();
        let start = self.time(at, record, 0);
        let name = format!("reqStart={start},{}", self.suffix.pretty());
        let Ok(dn) = Dn::parse(schema, &name) else {
            return Ok(None);
        };
        let mut entry = AuditEntry::new(schema, dn, class);
        entry.set("structuralObjectClass", class);
        entry.set("reqStart", &start);
        entry.set("reqEnd", &self.time(at, record, 1));
        entry.set("reqType", kind.name());
        entry.set("reqSession", &record.session.to_string());
        entry.set("reqAuthzID", &record.author()?);
        let controls = record.controls()?.into_iter();
        entry.set_all("reqControls", controls.map(<[u8]>::to_vec).collect());
        let controls = record.response_controls()?.into_iter();
        entry.set_all("reqRespControls", controls.map(<[u8]>::to_vec).collect());
        entry.set("reqDN", record.dn);
        entry.set("reqResult", "0");
        entry.set_all("reqMod", modifications(record)?);
        entry.set_all("reqOld", old_values(record)?);
        if let Some(rename) = &record.rename {
            entry.set_rename(schema, record.dn, rename);
        }
        entry.set("reqEntryUUID", &uuid_text(record.uuid));
        let uuid = own_uuid(at, record);
        self.set_stamps(&mut entry, (uuid, record.time_us), &record.csn.text());
        Ok(Some(entry.finish(false)))
    }

    /// Returns the entry of an operation that is no change.
    pub(crate) fn entry_of_operation(
        &self,
        schema: &Schema,
        at: OperationPosition,
        record: &OperationRecord<'_>,
    ) -> Option<Entry> {
        let kind = LoggedKind::of_number(record.kind)?;
        let seconds = Timestamp(at.second.saturating_mul(1_000_000));
        let time = |step| self.counted(seconds, (self.stores.len(), at.serial), step);
        let start = time(0);
        let name = format!("reqStart={start},{}", self.suffix.pretty());
        let dn = Dn::parse(schema, &name).ok()?;
        let mut entry = AuditEntry::new(schema, dn, kind.class());
        entry.set("structuralObjectClass", kind.class());
        entry.set("reqStart", &start);
        entry.set("reqEnd", &time(1));
        entry.set("reqType", kind.name());
        entry.set("reqSession", &record.session.to_string());
        entry.add_fields(record);
        let place = LogPosition {
            store: self.stores.len(),
            position: at.serial,
        };
        let uuid = uuid_of(place, record.start_us);
        let time = Timestamp(record.start_us).generalized_us();
        let csn = format!(
            "{time}#{:06x}#{:03x}#000000",
            at.serial & 0xff_ffff,
            self.server
        );
        self.set_stamps(&mut entry, (uuid, record.start_us), &csn);
        Some(entry.finish(false))
    }

    fn set_stamps(&self, entry: &mut AuditEntry<'_>, (uuid, time_us): ([u8; 16], u64), csn: &str) {
        entry.set("entryUUID", &uuid_text(uuid));
        let created = Timestamp(time_us).generalized();
        let author = self.author.as_deref();
        for (name, value) in [
            ("creatorsName", author),
            ("createTimestamp", Some(created.as_str())),
            ("entryCSN", Some(csn)),
            ("modifiersName", author),
            ("modifyTimestamp", Some(created.as_str())),
        ] {
            if let Some(value) = value {
                entry.set(name, value);
            }
        }
    }

    /// Returns true if the configuration asks for a change of this kind.
    fn shows(&self, schema: &Schema, at: LogPosition, kind: LoggedKind, dn: &str) -> bool {
        let Some(LoggedStore { operations, .. }) = self.stores.get(at.store) else {
            return false;
        };
        if operations.has_everywhere(kind) || operations.below.is_empty() {
            return operations.has_everywhere(kind);
        }
        operations.has(kind, Dn::parse(schema, dn).ok().as_ref())
    }

    /// Returns the entry of a name.
    pub(crate) fn find(&self, schema: &Schema, dn: &Dn) -> Result<Option<Entry>, StoreError> {
        if *dn == self.suffix {
            return self.top(schema).map(Some);
        }
        let Some(counter) = counter_of(dn) else {
            return Ok(None);
        };
        for (number, view) in self.views()?.iter().enumerate() {
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
        self.find_operation(schema, dn, counter)
    }

    /// Returns the entry of an operation that is no change, by its name. It does not commit records
    /// that wait: a client has the name from a search, which has committed the record.
    fn find_operation(
        &self,
        schema: &Schema,
        dn: &Dn,
        counter: u64,
    ) -> Result<Option<Entry>, StoreError> {
        let start = start_of(dn).and_then(Timestamp::parse_generalized);
        let second = start.map(Timestamp::seconds);
        let Some((view, second)) = self.operations_view(false)?.zip(second) else {
            return Ok(None);
        };
        let Some((oldest, newest)) = view.serials_of(second)? else {
            return Ok(None);
        };
        for serial in self.positions(self.stores.len(), counter, oldest, newest) {
            let at = OperationPosition { second, serial };
            if let Some((found, record)) = view.next(at)?
                && found == at
                && let Some(entry) = self.entry_of_operation(schema, at, &record)
                && entry.dn == *dn
            {
                return Ok(Some(entry));
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
        let (count, store, period) = (self.count(), store as u64, COUNTER_MAX / 2);
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
        self.counted(Timestamp(record.time_us), (at.store, at.position), step)
    }

    /// Returns a time whose fraction is the counter of a record: the number of its log, and its
    /// position there.
    fn counted(&self, time: Timestamp, (log, position): (usize, u64), step: u64) -> String {
        let serial = position.wrapping_mul(self.count());
        let serial = serial.wrapping_add(log as u64) % (COUNTER_MAX / 2);
        let seconds = time.generalized();
        let seconds = seconds.trim_end_matches('Z');
        format!("{seconds}.{:06}Z", serial * 2 + step)
    }
}

/// Returns the counter of a name of a record.
fn counter_of(dn: &Dn) -> Option<u64> {
    let text = start_of(dn)?.strip_suffix('Z')?;
    let (_, fraction) = text.split_once(['.', ',']).unwrap_or((text, "0"));
    let digits = fraction.get(..6).unwrap_or(fraction);
    let number: u64 = digits.parse().ok()?;
    let missing = u32::try_from(6 - digits.len()).ok()?;
    number.checked_mul(10_u64.pow(missing))
}

/// Returns the time in a name of a record.
fn start_of(dn: &Dn) -> Option<&str> {
    str::from_utf8(dn.rdn()?.avas().next()?.value).ok()
}

fn uuid_text(uuid: [u8; 16]) -> String {
    Uuid::from_bytes(uuid).hyphenated().to_string()
}

/// Returns an identity of the entry of a record, always the same one (RFC 9562, version 8).
pub(crate) fn own_uuid(at: LogPosition, record: &ChangeRecord<'_>) -> [u8; 16] {
    uuid_of(at, record.time_us)
}

fn uuid_of(at: LogPosition, time_us: u64) -> [u8; 16] {
    let mut uuid = [0; 16];
    let (high, low) = uuid.split_at_mut(8);
    high.copy_from_slice(&(time_us << 12).to_be_bytes());
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
        let log = AccessLog::new(suffix, Vec::new(), None, (None, 0));
        assert_eq!(log.positions(0, 1, 1, 9).count(), 0, "an end is no start");
    }
}
