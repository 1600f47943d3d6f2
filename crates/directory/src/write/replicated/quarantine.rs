//! Entries that could not be stored: one row for each, which is tried again.

use fulgurite_ldap::control::EntryUuid;
use fulgurite_ldap::{ContentAttribute, ContentEntry, EntryPlace};
use fulgurite_store::{Snapshot, StoreError, View};

use super::applier::Applier;
use super::error::{ContentError, ContentResult};
use super::quarantine_rows::{PREFIX, QuarantineSize, key, quarantined_by, uuid_of};
use super::row_reader::RowReader;

/// Entries that are kept at most. A provider that fills this is not one of our data.
const ROWS_MAX: usize = 10_000;
/// Bytes of all rows at most. A larger entry is kept alone.
const BYTES_MAX: u64 = 64 << 20;
/// The version of a row.
const VERSION: u8 = 3;
/// The version of a row that does not tell the numbers of parts.
const WITHOUT_STAMPS: u8 = 2;
/// The version of a row that does not tell the place.
const WITHOUT_PLACE: u8 = 1;

/// An entry in the quarantine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuarantinedEntry {
    /// The consumer that got it.
    pub rid: u16,
    /// The entry.
    pub entry: ContentEntry,
    /// The reason why it could not be stored.
    pub reason: String,
}

/// Returns the entries of a database in the quarantine.
pub(crate) fn quarantined<T: Snapshot>(
    view: &View<'_, T>,
) -> Result<Vec<QuarantinedEntry>, StoreError> {
    let mut found = Vec::new();
    view.sync_rows(PREFIX, &mut |key, value| {
        found.extend(uuid_of(key).and_then(|uuid| decode(uuid, value)));
        found.len() < ROWS_MAX
    })?;
    Ok(found)
}

impl Applier<'_, '_> {
    /// Keeps an entry for another try by the consumer that got it.
    pub(super) fn quarantine(
        &mut self,
        rid: u16,
        entry: &ContentEntry,
        reason: &str,
    ) -> ContentResult {
        let mut size = match self.quarantine_size {
            Some(size) => size,
            None => QuarantineSize::read(self.writer)?,
        };
        let key = key(&entry.uuid);
        if let Some(before) = self.writer.sync_row(&key)? {
            size.rows = size.rows.saturating_sub(1);
            size.bytes = size.bytes.saturating_sub(before.len() as u64);
        }
        let row = encode(rid, entry, reason);
        let bytes = row.len() as u64;
        let is_full = size.rows >= ROWS_MAX || size.bytes.saturating_add(bytes) > BYTES_MAX;
        if is_full && size.rows > 0 {
            return Err(ContentError::QuarantineFull { rows: size.rows });
        }
        self.writer.put_sync_row(&key, &row)?;
        self.quarantine_size = Some(QuarantineSize {
            rows: size.rows + 1,
            bytes: size.bytes + bytes,
        });
        Ok(())
    }

    /// Forgets an entry that has been stored or deleted.
    pub(super) fn release(&mut self, uuid: &EntryUuid) -> ContentResult {
        let key = key(uuid);
        if self.writer.sync_row(&key)?.is_some() {
            self.quarantine_size = None;
            self.writer.delete_sync_row(&key)?;
        }
        Ok(())
    }

    /// Tries the entries of this consumer in the quarantine again.
    pub(crate) fn retry_quarantined(&mut self) -> ContentResult {
        let view: &View<'_, _> = self.writer;
        for uuid in quarantined_by(view, self.content.rid)? {
            let row = self.writer.sync_row(&key(&uuid))?;
            let Some(row) = row.and_then(|row| decode(uuid, row)) else {
                continue;
            };
            match self.attempt(|applier| applier.entry_state(&row.entry)) {
                Ok(()) | Err(ContentError::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    out.extend(len.to_le_bytes());
    out.extend(bytes.iter().take(len as usize));
}

fn put_count(out: &mut Vec<u8>, count: usize) {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    out.extend(count.to_le_bytes());
}

pub(super) fn encode(rid: u16, entry: &ContentEntry, reason: &str) -> Vec<u8> {
    let mut out = vec![VERSION];
    out.extend(rid.to_le_bytes());
    put(&mut out, reason.as_bytes());
    put(&mut out, entry.dn.as_bytes());
    put_count(&mut out, entry.attributes.len());
    for attribute in &entry.attributes {
        put(&mut out, attribute.description.as_bytes());
        put_count(&mut out, attribute.values.len());
        for value in &attribute.values {
            put(&mut out, value);
        }
    }
    put(
        &mut out,
        entry.stamps.as_deref().unwrap_or_default().as_bytes(),
    );
    if let Some(place) = &entry.place {
        out.extend(place.above);
        put_count(&mut out, place.levels);
        put(
            &mut out,
            place.csn.as_deref().unwrap_or_default().as_bytes(),
        );
    }
    out
}

pub(super) fn decode(uuid: EntryUuid, row: &[u8]) -> Option<QuarantinedEntry> {
    let mut reader = RowReader(row);
    let &[version @ (VERSION | WITHOUT_STAMPS | WITHOUT_PLACE)] = reader.take(1)? else {
        return None;
    };
    let rid = u16::from_le_bytes(reader.take(2)?.try_into().ok()?);
    let (reason, dn) = (reader.text()?, reader.text()?);
    let mut attributes = Vec::new();
    for _ in 0..reader.number()? {
        let description = reader.text()?;
        let mut values = Vec::new();
        for _ in 0..reader.number()? {
            values.push(reader.bytes()?.to_vec());
        }
        attributes.push(ContentAttribute {
            description,
            values,
        });
    }
    let stamps = match version {
        VERSION => Some(reader.text()?).filter(|stamps| !stamps.is_empty()),
        _ => None,
    };
    let place = match reader.0.is_empty() {
        true => None,
        false => Some(EntryPlace {
            above: reader.take(16)?.try_into().ok()?,
            levels: reader.number()?,
            csn: Some(reader.text()?).filter(|csn| !csn.is_empty()),
        }),
    };
    let entry = ContentEntry {
        uuid,
        dn,
        attributes,
        place,
        stamps,
    };
    reader
        .0
        .is_empty()
        .then_some(QuarantinedEntry { rid, entry, reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_and_damaged_ones_do_not() {
        let entry = ContentEntry {
            uuid: [7; 16],
            dn: "cn=x".to_owned(),
            attributes: vec![ContentAttribute {
                description: "cn".to_owned(),
                values: vec![b"x".to_vec(), vec![0, 255]],
            }],
            place: Some(EntryPlace {
                above: [8; 16],
                levels: 1,
                csn: None,
            }),
            stamps: Some("00".to_owned()),
        };
        let row = encode(9, &entry, "a reason");
        let held = decode([7; 16], &row).expect("a row");
        assert_eq!(super::super::waiting_rows::rid_of(&row), Some(9));
        assert_eq!(
            (held.rid, &held.entry, held.reason.as_str()),
            (9, &entry, "a reason")
        );
        let placeless = row.len() - 24;
        let mut cuts = (0..row.len()).filter(|len| *len != placeless);
        assert!(cuts.all(|len| decode([7; 16], &row[..len]).is_none()));
        let stampless = placeless - 6;
        for (version, place) in [
            (WITHOUT_PLACE, &[][..]),
            (WITHOUT_STAMPS, &row[placeless..]),
        ] {
            let old = [&[version], &row[1..stampless], place].concat();
            let old = decode([7; 16], &old).expect("a row of an older release");
            let place = entry.place.clone().filter(|_| !place.is_empty());
            let stamps = None;
            let wanted = ContentEntry {
                place,
                stamps,
                ..entry.clone()
            };
            assert_eq!(old.entry, wanted);
        }
    }
}
