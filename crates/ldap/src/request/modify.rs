//! Modify (RFC 4511 section 4.6, RFC 4525).

use fulgurite_ber::{Reader, Tag, Writer};

use crate::{Fault, PartialAttribute};

/// A request to change an entry's attributes, all changes or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModifyRequest<'a> {
    /// DN text of the entry.
    pub dn: &'a [u8],
    /// The changes, to be applied in this order; may be empty.
    pub changes: Vec<Change<'a>>,
}

/// One change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change<'a> {
    /// The operation on the values.
    pub operation: ModifyOperation,
    /// The attribute and the values; without values, delete and replace mean the whole attribute.
    pub attribute: PartialAttribute<'a>,
}

/// The operation of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModifyOperation {
    /// Add the values.
    Add,
    /// Delete the values, or the attribute.
    Delete,
    /// Put the values in place of all there are.
    Replace,
    /// Add the one value to each integer there is (RFC 4525).
    Increment,
}

impl ModifyOperation {
    /// Returns the number on the wire.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            ModifyOperation::Add => 0,
            ModifyOperation::Delete => 1,
            ModifyOperation::Replace => 2,
            ModifyOperation::Increment => 3,
        }
    }
}

impl<'a> ModifyRequest<'a> {
    pub(super) fn decode(reader: &mut Reader<'a>) -> Result<Self, Fault> {
        let dn = reader.octet_string()?;
        let mut list = reader.nested(Tag::SEQUENCE)?;
        let mut changes = Vec::new();
        while !list.is_empty() {
            changes.push(Change::decode(&mut list)?);
        }
        Ok(ModifyRequest { dn, changes })
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>) {
        writer.octet_string(self.dn);
        writer.container(Tag::SEQUENCE, |writer| {
            for change in &self.changes {
                writer.container(Tag::SEQUENCE, |writer| {
                    writer.enumerated(i64::from(change.operation.number()));
                    change.attribute.encode(writer);
                });
            }
        });
    }
}

impl<'a> Change<'a> {
    /// Adds values.
    #[must_use]
    pub const fn add(description: &'a str, values: &'a [&'a [u8]]) -> Self {
        Self::new(ModifyOperation::Add, description, values)
    }

    /// Deletes values; without any, the attribute.
    #[must_use]
    pub const fn delete(description: &'a str, values: &'a [&'a [u8]]) -> Self {
        Self::new(ModifyOperation::Delete, description, values)
    }

    /// Puts values in place of all there are; without any, deletes the attribute if it exists.
    #[must_use]
    pub const fn replace(description: &'a str, values: &'a [&'a [u8]]) -> Self {
        Self::new(ModifyOperation::Replace, description, values)
    }

    /// Adds a number, the one value, to each value there is.
    #[must_use]
    pub const fn increment(description: &'a str, values: &'a [&'a [u8]]) -> Self {
        Self::new(ModifyOperation::Increment, description, values)
    }

    const fn new(operation: ModifyOperation, description: &'a str, values: &'a [&'a [u8]]) -> Self {
        Change {
            operation,
            attribute: PartialAttribute::new(description, values),
        }
    }

    fn decode(list: &mut Reader<'a>) -> Result<Self, Fault> {
        let mut change = list.nested(Tag::SEQUENCE)?;
        let operation = match change.enumerated()? {
            0 => ModifyOperation::Add,
            1 => ModifyOperation::Delete,
            2 => ModifyOperation::Replace,
            3 => ModifyOperation::Increment,
            value => {
                return Err(Fault::OutOfRange {
                    what: "modify operation",
                    value,
                });
            }
        };
        let attribute = PartialAttribute::decode(&mut change)?;
        change.skip_extensions()?;
        Ok(Change {
            operation,
            attribute,
        })
    }
}
