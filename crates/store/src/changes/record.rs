//! The bytes of a record of the log.
//!
//! ```text
//!   version  kind  flags  CSN  [previous CSN]  [back]  UUID  entry  time  session  [author]  DN  [new RDN [superior]]
//!   number of operations, each: operator, attribute, number of values, values
//! ```
//! Lengths and numbers are LEB128. The author is left out if an operation sets modifiersName to it.
//! `back` is the distance to the record before in the chain, or 0.

use super::csn::PackedCsn;
use crate::bytes::{number, put_bytes, put_number, take};
use crate::error::{Damage, StoreError};
use crate::ids::EntryId;

const VERSION: u8 = 1;

const HAS_PREVIOUS: u8 = 1;
const IS_UNORDERED: u8 = 2;
const DELETES_OLD_RDN: u8 = 4;
const HAS_SUPERIOR: u8 = 8;
const AUTHOR_IS_MODIFIER: u8 = 16;
const IS_CHAINED: u8 = 32;

/// The operator of values from before the change, which change nothing.
pub const OLD_VALUES: u8 = b'o';

/// The operator of the texts of the request's controls, which change nothing. It has no attribute.
pub const CONTROLS: u8 = b'c';

/// The operator of the texts of the response's controls. It has no attribute either.
pub const RESPONSE_CONTROLS: u8 = b'r';

/// The operator of values that an announced entry has, which change nothing.
pub const ANNOUNCED: u8 = b'a';

/// The attribute that names the author.
const MODIFIERS_NAME: &str = "modifiersName";

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// An entry was added.
    Add,
    /// Values of an entry changed.
    Modify,
    /// An entry has a new name.
    Rename,
    /// An entry was deleted.
    Delete,
    /// A bulk load, which is no single change.
    Loaded,
    /// An entry that only holds a place was added.
    Glue,
}

impl ChangeKind {
    const ALL: [ChangeKind; 6] = [
        ChangeKind::Add,
        ChangeKind::Modify,
        ChangeKind::Rename,
        ChangeKind::Delete,
        ChangeKind::Loaded,
        ChangeKind::Glue,
    ];
}

/// A change to be recorded.
#[derive(Clone, Debug)]
pub struct NewChange<'a> {
    /// The kind.
    pub kind: ChangeKind,
    /// The number of the change.
    pub csn: PackedCsn,
    /// The number of the entry's change before; `None` for a new entry.
    pub previous: Option<PackedCsn>,
    /// The entryUUID.
    pub uuid: [u8; 16],
    /// The entry.
    pub entry: EntryId,
    /// The time in microseconds since 1970.
    pub time_us: u64,
    /// The number of the connection.
    pub session: u64,
    /// The DN of the author; empty if anonymous.
    pub author: &'a str,
    /// The DN of the entry before the change.
    pub dn: &'a str,
    /// The new name of a rename.
    pub rename: Option<NewRename<'a>>,
    /// The changed attributes in their order.
    pub operations: &'a [NewOperation<'a>],
    /// True if other changes up to its number may follow, so that no state can end with it.
    pub is_unordered: bool,
}

/// The new name of an entry, as requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewRename<'a> {
    /// The new RDN.
    pub new_rdn: &'a str,
    /// True if the values of the old RDN go.
    pub deletes_old: bool,
    /// The new superior, if it was given.
    pub superior: Option<&'a str>,
}

/// A changed attribute.
#[derive(Clone, Debug)]
pub struct NewOperation<'a> {
    /// The operator: `+`, `-`, `=` or `#`. Those of facts that change nothing are [`OLD_VALUES`],
    /// [`CONTROLS`], [`RESPONSE_CONTROLS`] and [`ANNOUNCED`].
    pub operator: u8,
    /// The attribute's description.
    pub attribute: std::borrow::Cow<'a, str>,
    /// The values.
    pub values: &'a [Vec<u8>],
}

/// A record of the log, borrowed from the map.
#[derive(Clone, Copy, Debug)]
pub struct ChangeRecord<'a> {
    /// The kind.
    pub kind: ChangeKind,
    /// The number of the change.
    pub csn: PackedCsn,
    /// The number of the entry's change before.
    pub previous: Option<PackedCsn>,
    /// The entryUUID.
    pub uuid: [u8; 16],
    /// The entry at that time. Another entry may have the id now.
    pub entry: EntryId,
    /// The time in microseconds since 1970.
    pub time_us: u64,
    /// The number of the connection.
    pub session: u64,
    author: Option<&'a str>,
    /// The DN of the entry before the change.
    pub dn: &'a str,
    /// The new name of a rename.
    pub rename: Option<NewRename<'a>>,
    /// True if other changes up to its number may follow, so that no state can end with it.
    pub is_unordered: bool,
    /// The distance to the record before in the chain, or 0; `None` in no chain.
    pub(crate) back: Option<u64>,
    operations: &'a [u8],
    operation_count: u64,
}

/// A changed attribute of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeOperation<'a> {
    /// The operator: `+`, `-`, `=` or `#`.
    pub operator: u8,
    /// The attribute's description.
    pub attribute: &'a str,
    /// The values.
    pub values: Vec<&'a [u8]>,
}

impl NewChange<'_> {
    /// Appends the record, with the distance to the one before in the chain if it is in one.
    pub(crate) fn encode(&self, back: Option<u64>, out: &mut Vec<u8>) {
        let is_modifier = self.operations.iter().any(|operation| {
            operation.attribute == MODIFIERS_NAME
                && !is_note(operation.operator)
                && operation.values.first().map(Vec::as_slice) == Some(self.author.as_bytes())
        });
        let rename = self.rename.as_ref();
        let flags = [
            (self.previous.is_some(), HAS_PREVIOUS),
            (self.is_unordered, IS_UNORDERED),
            (
                rename.is_some_and(|rename| rename.deletes_old),
                DELETES_OLD_RDN,
            ),
            (
                rename.is_some_and(|rename| rename.superior.is_some()),
                HAS_SUPERIOR,
            ),
            (is_modifier, AUTHOR_IS_MODIFIER),
            (back.is_some(), IS_CHAINED),
        ];
        let flags = flags.iter().filter(|(set, _)| *set);
        let flags = flags.fold(0, |all, (_, bit)| all | bit);
        out.extend_from_slice(&[VERSION, self.kind as u8, flags]);
        out.extend_from_slice(self.csn.as_bytes());
        if let Some(previous) = &self.previous {
            out.extend_from_slice(previous.as_bytes());
        }
        if let Some(back) = back {
            put_number(out, back);
        }
        out.extend_from_slice(&self.uuid);
        put_number(out, self.entry.0);
        put_number(out, self.time_us);
        put_number(out, self.session);
        if !is_modifier {
            put_bytes(out, self.author.as_bytes());
        }
        put_bytes(out, self.dn.as_bytes());
        if let Some(rename) = rename {
            put_bytes(out, rename.new_rdn.as_bytes());
            if let Some(superior) = rename.superior {
                put_bytes(out, superior.as_bytes());
            }
        }
        put_number(out, self.operations.len() as u64);
        for operation in self.operations {
            out.push(operation.operator);
            put_bytes(out, operation.attribute.as_bytes());
            put_number(out, operation.values.len() as u64);
            let values = operation.values.iter();
            values.for_each(|value| put_bytes(out, value));
        }
    }
}

impl<'a> ChangeRecord<'a> {
    /// Reads a record; `None` if it is damaged.
    pub(crate) fn decode(mut bytes: &'a [u8]) -> Option<ChangeRecord<'a>> {
        let bytes = &mut bytes;
        let &[VERSION, kind, flags] = take(bytes, 3)? else {
            return None;
        };
        let kind = *ChangeKind::ALL.get(usize::from(kind))?;
        let csn = PackedCsn::from_bytes(take(bytes, PackedCsn::LEN)?)?;
        let previous = match flags & HAS_PREVIOUS {
            0 => None,
            _ => Some(PackedCsn::from_bytes(take(bytes, PackedCsn::LEN)?)?),
        };
        let back = match flags & IS_CHAINED {
            0 => None,
            _ => Some(number(bytes)?),
        };
        let uuid = take(bytes, 16)?.try_into().ok()?;
        let (entry, time_us, session) = (number(bytes)?, number(bytes)?, number(bytes)?);
        let author = match flags & AUTHOR_IS_MODIFIER {
            0 => Some(text(bytes)?),
            _ => None,
        };
        let dn = text(bytes)?;
        let rename = match kind {
            ChangeKind::Rename => Some(NewRename {
                new_rdn: text(bytes)?,
                deletes_old: flags & DELETES_OLD_RDN != 0,
                superior: match flags & HAS_SUPERIOR {
                    0 => None,
                    _ => Some(text(bytes)?),
                },
            }),
            _ => None,
        };
        Some(ChangeRecord {
            kind,
            csn,
            previous,
            uuid,
            entry: EntryId(entry),
            time_us,
            session,
            author,
            dn,
            rename,
            is_unordered: flags & IS_UNORDERED != 0,
            back,
            operation_count: number(bytes)?,
            operations: bytes,
        })
    }

    /// Returns the changed attributes in their order.
    ///
    /// # Errors
    /// [`StoreError::Damaged`].
    pub fn operations(&self) -> Result<Vec<ChangeOperation<'a>>, StoreError> {
        let mut operations = self.all_operations()?;
        operations.retain(|operation| !is_note(operation.operator));
        Ok(operations)
    }

    /// Returns the texts of the request's controls, if the change was logged with them.
    ///
    /// # Errors
    /// [`StoreError::Damaged`].
    pub fn controls(&self) -> Result<Vec<&'a [u8]>, StoreError> {
        self.texts(CONTROLS)
    }

    /// Returns the texts of the response's controls, if the change was logged with them.
    ///
    /// # Errors
    /// [`StoreError::Damaged`].
    pub fn response_controls(&self) -> Result<Vec<&'a [u8]>, StoreError> {
        self.texts(RESPONSE_CONTROLS)
    }

    fn texts(&self, operator: u8) -> Result<Vec<&'a [u8]>, StoreError> {
        let texts = self.notes(operator)?;
        let texts = texts.into_iter().flat_map(|noted| noted.values);
        Ok(texts.collect())
    }

    /// Returns attributes from before the change, if the change was logged with them.
    ///
    /// # Errors
    /// [`StoreError::Damaged`].
    pub fn old_values(&self) -> Result<Vec<ChangeOperation<'a>>, StoreError> {
        self.notes(OLD_VALUES)
    }

    /// Returns true if the record has the attributes of an entry that was announced.
    pub fn is_announcement(&self) -> bool {
        self.operation_count > 0 && self.operations.first() == Some(&ANNOUNCED)
    }

    /// Returns the attributes of an entry that was announced, if the record has them.
    ///
    /// # Errors
    /// [`StoreError::Damaged`].
    pub fn announced(&self) -> Result<Vec<ChangeOperation<'a>>, StoreError> {
        self.notes(ANNOUNCED)
    }

    fn notes(&self, operator: u8) -> Result<Vec<ChangeOperation<'a>>, StoreError> {
        let mut operations = self.all_operations()?;
        operations.retain(|operation| operation.operator == operator);
        Ok(operations)
    }

    fn all_operations(&self) -> Result<Vec<ChangeOperation<'a>>, StoreError> {
        let mut bytes = self.operations;
        let mut operations = Vec::new();
        for _ in 0..self.operation_count {
            operations.push(operation(&mut bytes).ok_or(Damage::Changes)?);
        }
        if bytes.is_empty() {
            return Ok(operations);
        }
        Err(Damage::Changes.into())
    }

    /// Returns the DN of the author; empty if anonymous.
    ///
    /// # Errors
    /// [`StoreError::Damaged`].
    pub fn author(&self) -> Result<String, StoreError> {
        if let Some(author) = self.author {
            return Ok(author.to_owned());
        }
        let operations = self.operations()?;
        let mut names = operations
            .iter()
            .filter(|op| op.attribute == MODIFIERS_NAME);
        let name = names.find_map(|operation| operation.values.first());
        let name = name.and_then(|name| str::from_utf8(name).ok());
        Ok(name.ok_or(Damage::Changes)?.to_owned())
    }
}

/// Returns true for the operator of facts that change nothing.
fn is_note(operator: u8) -> bool {
    matches!(
        operator,
        OLD_VALUES | CONTROLS | RESPONSE_CONTROLS | ANNOUNCED
    )
}

fn operation<'a>(bytes: &mut &'a [u8]) -> Option<ChangeOperation<'a>> {
    let &[operator] = take(bytes, 1)? else {
        return None;
    };
    let attribute = text(bytes)?;
    let count = number(bytes)?;
    let mut values = Vec::new();
    for _ in 0..count {
        let len = usize::try_from(number(bytes)?).ok()?;
        values.push(take(bytes, len)?);
    }
    Some(ChangeOperation {
        operator,
        attribute,
        values,
    })
}

fn text<'a>(bytes: &mut &'a [u8]) -> Option<&'a str> {
    let len = usize::try_from(number(bytes)?).ok()?;
    str::from_utf8(take(bytes, len)?).ok()
}
