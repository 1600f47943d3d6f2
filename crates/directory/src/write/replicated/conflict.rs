//! The report of conflicts: what the merge of several providers did not keep.
//!
//! ```text
//!   conflict/ time, number   -> kind, numbers of winner and loser, entryUUID, DN, LDIF of the loser
//!   conflicts                -> bytes of all rows, next number
//! ```
//!
//! A row is part of the commit of the change that won. The oldest rows go first: behind 90 days,
//! and beyond 16 MiB. Only the server of a change knows which others it had. So the report
//! compares with the state that the provider has last told. It may name a change that was known.

use std::fmt;

use fulgurite_ldap::ContentEntry;
use fulgurite_ldap::control::EntryUuid;
use fulgurite_ldif::Writer as LdifWriter;
use fulgurite_schema::{Entry, Schema};
use fulgurite_store::{CsnVector, PackedCsn, Store, StoreError, View};

use super::applier::Applier;
use super::error::ContentResult;
use crate::core::csn::Csn;
use crate::core::foundation::Core;

/// The prefix of the rows.
const PREFIX: &[u8] = b"conflict/";
/// The key of the totals.
const TOTALS: &[u8] = b"conflicts";
/// The prefix of the states that providers have told.
const TOLD: &[u8] = b"told/";
/// Bytes of all rows at most.
const BYTES_MAX: u64 = 16 << 20;
/// Bytes of the LDIF of one row at most.
const LDIF_BYTES_MAX: usize = 1 << 20;
/// Age of rows in microseconds.
const AGE_US_MAX: u64 = 90 * 24 * 60 * 60 * 1_000_000;
/// Microseconds that the clock of another server may be ahead.
const AHEAD_US_MAX: u64 = 60 * 1_000_000;
/// The version of a row.
const VERSION: u8 = 1;
/// Bytes of the key behind the prefix.
const KEY_LEN: usize = 16;

/// The kind of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictKind {
    /// A change of an entry lost to a later one.
    Overwritten,
    /// An entry lost its name to another one, and left.
    NameTaken,
    /// A deletion lost to a later change: the entry stays, or comes back.
    Resurrected,
    /// A change lost to a later deletion.
    DeletedOverChange,
    /// The clock of the server that made a change is ahead. The change was stored.
    ClockAhead,
    /// An entry could not be stored, and waits in the quarantine.
    Quarantined,
    /// Two changes of an entry were made without each other. The entry has parts of both.
    Merged,
}

impl ConflictKind {
    const ALL: [ConflictKind; 7] = [
        ConflictKind::Overwritten,
        ConflictKind::NameTaken,
        ConflictKind::Resurrected,
        ConflictKind::DeletedOverChange,
        ConflictKind::ClockAhead,
        ConflictKind::Quarantined,
        ConflictKind::Merged,
    ];

    /// Returns the words that people see.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            ConflictKind::Overwritten => "overwritten",
            ConflictKind::NameTaken => "name taken",
            ConflictKind::Resurrected => "resurrected",
            ConflictKind::DeletedOverChange => "deleted over a change",
            ConflictKind::ClockAhead => "clock ahead",
            ConflictKind::Quarantined => "quarantined",
            ConflictKind::Merged => "merged",
        }
    }
}

impl fmt::Display for ConflictKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A row of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The number of the row. None comes again.
    pub id: u64,
    /// The time of the merge, in microseconds since 1970.
    pub time_us: u64,
    /// The kind.
    pub kind: ConflictKind,
    /// The entry.
    pub uuid: EntryUuid,
    /// Its name.
    pub dn: String,
    /// The change sequence number that won.
    pub winner: Option<String>,
    /// The change sequence number that lost.
    pub loser: Option<String>,
    /// The entry that lost, as LDIF; empty if the loser has no values.
    pub ldif: String,
}

/// A conflict to be reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewConflict<'c> {
    pub(super) kind: ConflictKind,
    pub(super) uuid: EntryUuid,
    pub(super) dn: &'c str,
    pub(super) winner: Option<PackedCsn>,
    pub(super) loser: Option<PackedCsn>,
    /// The values that lost.
    pub(super) values: Option<&'c Entry>,
}

/// Passes the rows of a store to `visit`, oldest first, until it returns false.
///
/// # Errors
/// [`StoreError`] if the store fails. A damaged row is passed over.
pub fn conflicts(store: &Store, visit: &mut dyn FnMut(Conflict) -> bool) -> Result<(), StoreError> {
    let view: View<'_> = store.snapshot()?;
    view.sync_rows(PREFIX, &mut |key, row| match decode(key, row) {
        Some(conflict) => visit(conflict),
        None => true,
    })
}

impl Applier<'_, '_> {
    /// Reports a conflict. The commit of the change stores it.
    pub(super) fn report_conflict(&mut self, conflict: &NewConflict<'_>) -> ContentResult {
        let ldif = conflict.values.map(|entry| ldif(&self.core.schema, entry));
        self.add_row(conflict, &ldif.unwrap_or_default())
    }

    /// Reports an entry that cannot be stored.
    pub(super) fn report_quarantined(&mut self, given: &ContentEntry) -> ContentResult {
        let mut numbers = given.attributes.iter();
        let number = numbers.find(|held| held.description.eq_ignore_ascii_case("entryCSN"));
        let number = number.and_then(|held| PackedCsn::parse(held.values.first()?));
        let attributes = given.attributes.iter();
        let attributes = attributes.map(|held| (held.description.as_str(), &held.values));
        let ldif = record(
            &given.dn,
            attributes.map(|(name, values)| (name.to_owned(), values)),
        );
        let conflict = NewConflict {
            kind: ConflictKind::Quarantined,
            uuid: given.uuid,
            dn: &given.dn,
            winner: None,
            loser: number,
            values: None,
        };
        self.add_row(&conflict, &ldif)
    }

    fn add_row(&mut self, conflict: &NewConflict<'_>, ldif: &[u8]) -> ContentResult {
        let now_us = self.core.clock.now().0;
        let row = encode(conflict, ldif);
        let (mut bytes, number) = self.conflict_totals()?;
        let added = (row.len() + KEY_LEN) as u64;
        let mut due = Vec::new();
        self.writer.sync_rows(PREFIX, &mut |key, row| {
            let time_us = time_of(key).unwrap_or(0);
            let is_due = bytes + added > BYTES_MAX || now_us.saturating_sub(time_us) > AGE_US_MAX;
            if is_due {
                bytes = bytes.saturating_sub((row.len() + KEY_LEN) as u64);
                due.push(key.to_vec());
            }
            is_due
        })?;
        for key in due {
            self.writer.delete_sync_row(&key)?;
        }
        let key = [PREFIX, &now_us.to_be_bytes(), &number.to_be_bytes()].concat();
        self.writer.put_sync_row(&key, &row)?;
        let totals = [(bytes + added).to_le_bytes(), (number + 1).to_le_bytes()].concat();
        self.writer.put_sync_row(TOTALS, &totals)?;
        self.report.conflicts += 1;
        Ok(())
    }

    /// Returns the bytes of all rows, and the number of the next.
    fn conflict_totals(&self) -> ContentResult<(u64, u64)> {
        let row = self.writer.sync_row(TOTALS)?.unwrap_or_default();
        let number = |at: usize| {
            let bytes = row.get(at..at + 8)?.try_into().ok()?;
            Some(u64::from_le_bytes(bytes))
        };
        Ok((number(0).unwrap_or(0), number(8).unwrap_or(0)))
    }

    /// Returns true if the provider may have made its change without knowledge of `held`.
    pub(super) fn is_unknown_to_provider(
        &self,
        held: Option<PackedCsn>,
        incoming: Option<PackedCsn>,
    ) -> bool {
        held.zip(incoming).is_some_and(|(held, incoming)| {
            held.server() != incoming.server() && !self.content.told.covers(held)
        })
    }

    /// Returns true if a change that loses is news: the state here does not cover it.
    pub(super) fn is_news(&self, csn: Option<PackedCsn>) -> bool {
        csn.is_some_and(|csn| !self.vector.covers(csn))
    }

    /// Returns true if the clock of the server that gave a number is ahead.
    pub(super) fn is_ahead(&self, csn: Option<PackedCsn>) -> bool {
        is_ahead(self.core, csn)
    }

    /// Reads the state that the provider has told before.
    pub(super) fn read_told(&mut self) -> ContentResult {
        if !self.content.told.is_empty() {
            return Ok(());
        }
        let row = self.writer.sync_row(&told_key(self.content.rid))?;
        let numbers = row.unwrap_or_default().chunks(PackedCsn::LEN);
        self.content.told = numbers.filter_map(PackedCsn::from_bytes).collect();
        Ok(())
    }

    /// Keeps the state that the provider tells.
    pub(super) fn keep_told(&mut self, numbers: &CsnVector) -> ContentResult {
        if self.content.told.covers_all(numbers) {
            return Ok(());
        }
        self.content.told.raise_all(numbers);
        let numbers = self.content.told.iter().map(|csn| *csn.as_bytes());
        let row: Vec<u8> = numbers.flatten().collect();
        Ok(self
            .writer
            .put_sync_row(&told_key(self.content.rid), &row)?)
    }
}

/// Returns true if a number is ahead of this server's clock.
pub(super) fn is_ahead(core: &Core, csn: Option<PackedCsn>) -> bool {
    let time = csn.and_then(|csn| Csn::parse(&csn.text()));
    let now_us = core.clock.now().0;
    time.is_some_and(|csn| csn.time().0 > now_us.saturating_add(AHEAD_US_MAX))
}

fn told_key(rid: u16) -> Vec<u8> {
    [TOLD, &rid.to_be_bytes()].concat()
}

fn time_of(key: &[u8]) -> Option<u64> {
    let time = key.get(PREFIX.len()..PREFIX.len() + 8)?.try_into().ok()?;
    Some(u64::from_be_bytes(time))
}

/// Returns an entry as LDIF.
fn ldif(schema: &Schema, entry: &Entry) -> Vec<u8> {
    let attributes = entry.attributes.iter();
    let attributes = attributes.map(|held| {
        let name = held.description.text(schema).into_owned();
        (name, &held.values)
    });
    record(entry.dn.pretty(), attributes)
}

/// Returns a record of LDIF. One that is too large has its name alone. A provider may have sent a
/// description that is none, which is left out. It could begin another record.
fn record<'v>(dn: &str, attributes: impl Iterator<Item = (String, &'v Vec<Vec<u8>>)>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = LdifWriter::new(&mut out);
    let mut is_small = writer.name(dn).is_ok();
    let mut bytes = 0;
    for (name, values) in attributes.filter(|(name, _)| is_description(name)) {
        for value in values {
            bytes += name.len() + value.len();
            is_small &= bytes <= LDIF_BYTES_MAX && writer.value(&name, value).is_ok();
        }
    }
    let is_written = writer.end().is_ok();
    if is_small && is_written {
        return out;
    }
    let mut out = b"# the values are too large for the report\n".to_vec();
    let mut writer = LdifWriter::new(&mut out);
    let named = writer.name(dn).and_then(|()| writer.end());
    debug_assert!(named.is_ok(), "memory takes everything");
    out
}

fn is_description(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b".;-".contains(&byte);
    !name.is_empty() && name.bytes().all(is_part)
}

fn encode(conflict: &NewConflict<'_>, ldif: &[u8]) -> Vec<u8> {
    let kind = ConflictKind::ALL
        .iter()
        .position(|kind| *kind == conflict.kind);
    let kind = u8::try_from(kind.unwrap_or_default()).unwrap_or_default();
    let mut row = vec![VERSION, kind];
    for csn in [conflict.winner, conflict.loser] {
        row.push(u8::from(csn.is_some()));
        row.extend(csn.iter().flat_map(|csn| *csn.as_bytes()));
    }
    row.extend(conflict.uuid);
    let len = u32::try_from(conflict.dn.len()).unwrap_or(u32::MAX);
    row.extend(len.to_le_bytes());
    row.extend(conflict.dn.bytes().take(len as usize));
    row.extend(ldif);
    row
}

fn decode(key: &[u8], row: &[u8]) -> Option<Conflict> {
    let (&[VERSION, kind], mut rest) = row.split_first_chunk::<2>()? else {
        return None;
    };
    let mut csn = || -> Option<Option<String>> {
        let (has, behind) = rest.split_first()?;
        rest = behind;
        if *has == 0 {
            return Some(None);
        }
        let (csn, behind) = rest.split_at_checked(PackedCsn::LEN)?;
        rest = behind;
        Some(Some(PackedCsn::from_bytes(csn)?.text()))
    };
    let (winner, loser) = (csn()?, csn()?);
    let (uuid, rest) = rest.split_first_chunk::<16>()?;
    let (len, rest) = rest.split_first_chunk::<4>()?;
    let len = usize::try_from(u32::from_le_bytes(*len)).ok()?;
    let (dn, ldif) = rest.split_at_checked(len)?;
    let id = key.get(PREFIX.len() + 8..)?.try_into().ok()?;
    Some(Conflict {
        id: u64::from_be_bytes(id),
        time_us: time_of(key)?,
        kind: *ConflictKind::ALL.get(usize::from(kind))?,
        uuid: *uuid,
        dn: String::from_utf8_lossy(dn).into_owned(),
        winner,
        loser,
        ldif: String::from_utf8_lossy(ldif).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_no_lines_of_a_provider() {
        let large = vec![vec![b'x'; LDIF_BYTES_MAX]];
        let small = vec![b"x".to_vec()];
        for values in [&large, &small] {
            let name = |text: &str| (text.to_owned(), values);
            let names = [name("cn"), name("cn: x\n\ndn"), name("")];
            let text = record("cn=x\n\ndn: cn=y", names.into_iter());
            let text = String::from_utf8(text).expect("a text");
            assert!(text.contains("dn:: "), "{text:.99}");
            assert!(
                !text.contains("\ndn: ") && text.ends_with('\n'),
                "{text:.99}"
            );
            assert_eq!(text.matches("\n\n").count(), 1, "{text:.99}");
            assert_eq!(
                text.contains("cn: x"),
                values.len() == 1 && values[0].len() == 1
            );
        }
    }

    #[test]
    fn rows_come_back_and_damaged_ones_do_not() {
        let csn = PackedCsn::parse(b"20260131235959.123456Z#000000#001#000000");
        for kind in ConflictKind::ALL {
            let conflict = NewConflict {
                kind,
                uuid: [7; 16],
                dn: "cn=x",
                winner: csn,
                loser: None,
                values: None,
            };
            let row = encode(&conflict, b"dn: cn=x\n");
            let key = [PREFIX, &9_u64.to_be_bytes(), &1_u64.to_be_bytes()].concat();
            let held = decode(&key, &row).expect("a row");
            assert_eq!((held.kind, held.time_us, held.id), (kind, 9, 1));
            assert_eq!(
                (held.dn.as_str(), held.ldif.as_str()),
                ("cn=x", "dn: cn=x\n")
            );
            assert_eq!(held.winner, csn.map(|csn| csn.text()));
            let shortest = row.len() - b"dn: cn=x\n".len();
            assert!((0..shortest).all(|len| decode(&key, &row[..len]).is_none()));
        }
    }
}
