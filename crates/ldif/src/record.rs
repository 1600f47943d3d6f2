//! Records, their values and changes, borrowed from a reader.

use crate::line::{ControlLine, Line};

/// One record, borrowed from its reader until the next is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Record<'r> {
    pub(crate) text: &'r [u8],
    pub(crate) dn: &'r str,
    pub(crate) line: u64,
    pub(crate) controls: &'r [ControlLine],
    pub(crate) action: Action<'r>,
}

impl<'r> Record<'r> {
    /// Returns the name after `dn:`, as written; its syntax is not checked here.
    pub fn dn(&self) -> &'r str {
        self.dn
    }

    /// Returns the line of `dn:`, counted from one.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Returns the controls of a change record.
    pub fn controls(&self) -> Controls<'r> {
        Controls {
            text: self.text,
            lines: self.controls.iter(),
        }
    }

    /// Returns the action of the record.
    pub fn action(&self) -> Action<'r> {
        self.action
    }
}

/// The action of a record: the entry's content or a change.
#[derive(Clone, Copy, Debug)]
pub enum Action<'r> {
    /// A content record: the entry is this.
    Content(Attributes<'r>),
    /// `changetype: add`.
    Add(Attributes<'r>),
    /// `changetype: delete`.
    Delete,
    /// `changetype: modify`.
    Modify(Modifications<'r>),
    /// `changetype: modrdn` or `moddn`.
    ModifyDn {
        /// The text after `newrdn:`.
        new_rdn: &'r [u8],
        /// True if the old RDN's values leave the entry.
        delete_old_rdn: bool,
        /// The text after `newsuperior:`.
        new_superior: Option<&'r [u8]>,
    },
}

/// One value with its attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute<'r> {
    /// Attribute description, options included, as written.
    pub description: &'r str,
    /// The value, decoded.
    pub value: &'r [u8],
    /// Its line, counted from one.
    pub line: u64,
}

/// Values in the order of the file. Values of one attribute need not be adjacent.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'r> {
    pub(crate) text: &'r [u8],
    pub(crate) lines: &'r [Line],
}

impl Attributes<'_> {
    /// Returns the number of values there are.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns true if there are no values.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

impl<'r> Iterator for Attributes<'r> {
    type Item = Attribute<'r>;

    fn next(&mut self) -> Option<Attribute<'r>> {
        let (line, rest) = self.lines.split_first()?;
        self.lines = rest;
        Some(Attribute {
            description: line.name(self.text),
            value: line.value(self.text),
            line: line.number,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.lines.len(), Some(self.lines.len()))
    }
}

/// The kind of a modification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModificationKind {
    /// Adds values.
    Add,
    /// Deletes values, all of them if none is named.
    Delete,
    /// Replaces all values.
    Replace,
    /// Adds a number to an integer (RFC 4525).
    Increment,
}

/// One part of a modification: its head line and the end of its values, as positions among the
/// record's lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModificationLines {
    pub(crate) kind: ModificationKind,
    pub(crate) head: usize,
    pub(crate) end: usize,
}

/// One part of a modify record.
#[derive(Clone, Copy, Debug)]
pub struct Modification<'r> {
    /// The kind of the modification.
    pub kind: ModificationKind,
    /// To which attribute.
    pub description: &'r str,
    /// With which values.
    pub values: Attributes<'r>,
    /// The line of `add:`, `delete:` ..., counted from one.
    pub line: u64,
}

/// The parts of a modify record, in order.
#[derive(Clone, Copy, Debug)]
pub struct Modifications<'r> {
    pub(crate) text: &'r [u8],
    pub(crate) lines: &'r [Line],
    pub(crate) parts: &'r [ModificationLines],
}

impl<'r> Iterator for Modifications<'r> {
    type Item = Modification<'r>;

    fn next(&mut self) -> Option<Modification<'r>> {
        let (part, rest) = self.parts.split_first()?;
        self.parts = rest;
        let head = self.lines.get(part.head)?;
        let values = self.lines.get(part.head + 1..part.end).unwrap_or_default();
        Some(Modification {
            kind: part.kind,
            // The value of "add: description" names the attribute. The parser has checked it.
            description: std::str::from_utf8(head.value(self.text)).unwrap_or_default(),
            values: Attributes {
                text: self.text,
                lines: values,
            },
            line: head.number,
        })
    }
}

/// A control of a change record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control<'r> {
    /// Its object identifier.
    pub oid: &'r str,
    /// True if the change must fail where the control is not known.
    pub critical: bool,
    /// Its value.
    pub value: Option<&'r [u8]>,
}

/// The controls of a change record, in order.
#[derive(Clone, Debug)]
pub struct Controls<'r> {
    text: &'r [u8],
    lines: std::slice::Iter<'r, ControlLine>,
}

impl<'r> Iterator for Controls<'r> {
    type Item = Control<'r>;

    fn next(&mut self) -> Option<Control<'r>> {
        let line = self.lines.next()?;
        Some(Control {
            oid: line.oid(self.text),
            critical: line.critical,
            value: line.value(self.text),
        })
    }
}
