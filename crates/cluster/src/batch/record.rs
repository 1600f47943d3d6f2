//! One change of a batch: the effects of an update on one entry.

use super::bounds::value_bytes_max;
use super::bytes::{Reader, put_number, put_text};
use super::malformed::{Malformed, TooLong};
use super::strings::{StringReader, StringWriter};
use crate::values::Csn;

const HAS_PREVIOUS: u8 = 1;
const HAS_PARENT: u8 = 2;
const IS_UNORDERED: u8 = 4;
const DELETES_OLD_RDN: u8 = 8;
const HAS_SUPERIOR: u8 = 16;
/// The flags of a renaming only.
const OF_RENAMING: u8 = DELETES_OLD_RDN | HAS_SUPERIOR;
const ALL_FLAGS: u8 = HAS_PREVIOUS | HAS_PARENT | IS_UNORDERED | OF_RENAMING;

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// An entry was added.
    Add,
    /// Values of an entry changed.
    Modify,
    /// An entry has a new name.
    Rename,
    /// An entry was deleted.
    Delete,
    /// An entry that only holds a place was added.
    Glue,
    /// The bind state of an entry changed: its operations are all that it has now. The number is
    /// that of the entry, which stays.
    BindState,
}

impl RecordKind {
    pub(super) const ALL: [RecordKind; 6] = [
        RecordKind::Add,
        RecordKind::Modify,
        RecordKind::Rename,
        RecordKind::Delete,
        RecordKind::Glue,
        RecordKind::BindState,
    ];
}

/// The operator of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// Adds values.
    Add,
    /// Removes values, or all of them.
    Delete,
    /// Replaces all values. The attribute becomes the last one.
    Replace,
    /// Replaces all values. The attribute stays at its place.
    Update,
}

impl Operator {
    const ALL: [(Operator, u8); 4] = [
        (Operator::Add, b'+'),
        (Operator::Delete, b'-'),
        (Operator::Replace, b'='),
        (Operator::Update, b'!'),
    ];

    fn code(self) -> u8 {
        match self {
            Operator::Add => b'+',
            Operator::Delete => b'-',
            Operator::Replace => b'=',
            Operator::Update => b'!',
        }
    }
}

/// A value of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// The value itself.
    Inline(Vec<u8>),
    /// A long value, stored before the batch. Parts are numbered in the order of the batch.
    Part {
        /// Length in bytes.
        bytes: u64,
        /// The SHA-256 of the value.
        sha256: [u8; 32],
    },
}

/// A changed attribute, with resolved values: hashes are made, and increments computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The operator.
    pub operator: Operator,
    /// The attribute's description.
    pub attribute: String,
    /// The values.
    pub values: Vec<Value>,
}

/// The new name of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renaming {
    /// The new RDN.
    pub new_rdn: String,
    /// True if the values of the old RDN go.
    pub deletes_old: bool,
    /// The new superior, if it was given.
    pub superior: Option<String>,
}

/// A change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The kind.
    pub kind: RecordKind,
    /// The number of the change.
    pub csn: Csn,
    /// The number of the entry's change before; `None` for a new entry.
    pub previous: Option<Csn>,
    /// The entryUUID.
    pub uuid: [u8; 16],
    /// The entryUUID of the entry above; `None` for the suffix.
    pub parent: Option<[u8; 16]>,
    /// True for a foreign number, which need not be greater than the one before. A modification
    /// without a new number has the one of the entry, and no server hears of it.
    pub is_unordered: bool,
    /// The time at which the operation began, in microseconds since 1970.
    pub begun_us: u64,
    /// The duration of the operation in microseconds.
    pub took_us: u64,
    /// The number of the connection.
    pub session: u64,
    /// The DN of the author; empty if anonymous.
    pub author: String,
    /// The DN of the entry before the change.
    pub dn: String,
    /// The new name, for a renaming only.
    pub renaming: Option<Renaming>,
    /// The changed attributes in their order.
    pub operations: Vec<Operation>,
}

impl Record {
    pub(super) fn encode<'a>(
        &'a self,
        version: u16,
        strings: &mut StringWriter<'a>,
        out: &mut Vec<u8>,
    ) -> Result<(), TooLong> {
        let is_rename = self.kind == RecordKind::Rename;
        assert_eq!(is_rename, self.renaming.is_some(), "renamings have a name");
        out.extend_from_slice(&[self.kind as u8, self.flags()]);
        out.extend_from_slice(self.csn.as_bytes());
        if let Some(previous) = &self.previous {
            out.extend_from_slice(previous.as_bytes());
        }
        out.extend_from_slice(&self.uuid);
        out.extend_from_slice(self.parent.as_ref().map_or(&[][..], |uuid| uuid));
        for number in [self.begun_us, self.took_us, self.session] {
            put_number(out, number);
        }
        strings.put(&self.author, out);
        strings.put(&self.dn, out);
        if let Some(renaming) = &self.renaming {
            put_text(out, &renaming.new_rdn);
            if let Some(superior) = &renaming.superior {
                strings.put(superior, out);
            }
        }
        put_number(out, self.operations.len() as u64);
        let mut operations = self.operations.iter();
        operations.try_for_each(|operation| operation.encode(version, strings, out))
    }

    fn flags(&self) -> u8 {
        let renaming = self.renaming.as_ref();
        let superior = renaming.and_then(|renaming| renaming.superior.as_ref());
        let flags = [
            (self.previous.is_some(), HAS_PREVIOUS),
            (self.parent.is_some(), HAS_PARENT),
            (self.is_unordered, IS_UNORDERED),
            (renaming.is_some_and(|new| new.deletes_old), DELETES_OLD_RDN),
            (superior.is_some(), HAS_SUPERIOR),
        ];
        let set = flags.iter().filter(|(is_set, _)| *is_set);
        set.fold(0, |all, (_, bit)| all | bit)
    }

    pub(super) fn decode<'a>(
        version: u16,
        strings: &mut StringReader<'a>,
        reader: &mut Reader<'a>,
    ) -> Result<Record, Malformed> {
        let [code, flags] = reader.array()?;
        let kind = RecordKind::ALL.get(usize::from(code));
        let kind = *kind.ok_or(Malformed::Kind(code))?;
        let is_rename = kind == RecordKind::Rename;
        if flags & !ALL_FLAGS != 0 || (flags & OF_RENAMING != 0 && !is_rename) {
            return Err(Malformed::RecordFlags { kind: code, flags });
        }
        let has = |flag| flags & flag != 0;
        Ok(Record {
            kind,
            csn: csn(reader)?,
            previous: has(HAS_PREVIOUS).then(|| csn(reader)).transpose()?,
            uuid: reader.array()?,
            parent: has(HAS_PARENT).then(|| reader.array()).transpose()?,
            is_unordered: has(IS_UNORDERED),
            begun_us: reader.number()?,
            took_us: reader.number()?,
            session: reader.number()?,
            author: strings.take(reader)?,
            dn: strings.take(reader)?,
            renaming: match is_rename {
                true => Some(renaming(flags, strings, reader)?),
                false => None,
            },
            operations: {
                let count = reader.count()?;
                let operations = (0..count).map(|_| Operation::decode(version, strings, reader));
                operations.collect::<Result<_, _>>()?
            },
        })
    }
}

fn renaming<'a>(
    flags: u8,
    strings: &mut StringReader<'a>,
    reader: &mut Reader<'a>,
) -> Result<Renaming, Malformed> {
    let new_rdn = reader.text()?.to_owned();
    let superior = match flags & HAS_SUPERIOR {
        0 => None,
        _ => Some(strings.take(reader)?),
    };
    Ok(Renaming {
        new_rdn,
        deletes_old: flags & DELETES_OLD_RDN != 0,
        superior,
    })
}

fn csn(reader: &mut Reader<'_>) -> Result<Csn, Malformed> {
    Csn::from_bytes(reader.array()?).ok_or(Malformed::Csn)
}

impl Operation {
    fn encode<'a>(
        &'a self,
        version: u16,
        strings: &mut StringWriter<'a>,
        out: &mut Vec<u8>,
    ) -> Result<(), TooLong> {
        out.push(self.operator.code());
        strings.put(&self.attribute, out);
        put_number(out, self.values.len() as u64);
        let mut values = self.values.iter();
        values.try_for_each(|value| value.encode(version, out))
    }

    fn decode<'a>(
        version: u16,
        strings: &mut StringReader<'a>,
        reader: &mut Reader<'a>,
    ) -> Result<Operation, Malformed> {
        let code = reader.byte()?;
        let operator = Operator::ALL.iter().find(|(_, of)| *of == code);
        let (operator, _) = *operator.ok_or(Malformed::Operator(code))?;
        let attribute = strings.take(reader)?;
        let count = reader.count()?;
        let values = (0..count).map(|_| Value::decode(version, reader));
        Ok(Operation {
            operator,
            attribute,
            values: values.collect::<Result<_, _>>()?,
        })
    }
}

impl Value {
    /// Appends the length, doubled and with the lowest bit for a part, and then the value.
    fn encode(&self, version: u16, out: &mut Vec<u8>) -> Result<(), TooLong> {
        let most = value_bytes_max(version);
        match self {
            Value::Inline(bytes) if bytes.len() > most => {
                return Err(TooLong::Value { bytes: bytes.len() });
            }
            Value::Inline(bytes) => {
                put_number(out, (bytes.len() as u64) << 1);
                out.extend_from_slice(bytes);
            }
            Value::Part { bytes, sha256 } => {
                let is_long = *bytes > most as u64 && *bytes <= u64::MAX >> 1;
                assert!(is_long, "a part has a length beyond the bound");
                put_number(out, bytes << 1 | 1);
                out.extend_from_slice(sha256);
            }
        }
        Ok(())
    }

    fn decode(version: u16, reader: &mut Reader<'_>) -> Result<Value, Malformed> {
        let number = reader.number()?;
        let (bytes, is_part) = (number >> 1, number & 1 == 1);
        if (bytes > value_bytes_max(version) as u64) != is_part {
            return Err(Malformed::ValueLength(bytes));
        }
        Ok(match is_part {
            true => Value::Part {
                bytes,
                sha256: reader.array()?,
            },
            false => Value::Inline(reader.take(bytes as usize)?.to_vec()),
        })
    }
}

/// Checks that the numbers of ordered changes ascend, and that `first` is the first one.
pub(super) fn check_order(records: &[Record], first: Csn) -> Result<(), Malformed> {
    if records.first().map(|record| record.csn) != Some(first) {
        return Err(Malformed::FirstCsn);
    }
    let ordered = records.iter().filter(|record| !record.is_unordered);
    let ascends = ordered.map(|record| record.csn).is_sorted_by(|a, b| a < b);
    ascends.then_some(()).ok_or(Malformed::CsnOrder)
}

/// Asserts that records can be a batch.
pub(super) fn assert_order(records: &[Record]) {
    let first = records.first().expect("a batch has a record");
    check_order(records, first.csn).expect("ascending change numbers");
}
