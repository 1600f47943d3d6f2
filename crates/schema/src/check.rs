//! The whole-entry check: an [`Entry`] goes in, a [`CheckedEntry`] or the reason against it comes out.

use thiserror::Error;

use crate::entry::Entry;
use crate::registry::{ObjectClassIndex, Schema};

/// What a violation is, as the directory answers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViolationKind {
    /// objectClassViolation (65).
    ObjectClass,
    /// undefinedAttributeType (17).
    UndefinedAttributeType,
    /// invalidAttributeSyntax (21).
    InvalidSyntax,
    /// attributeOrValueExists (20).
    ValueExists,
    /// constraintViolation (19).
    Constraint,
    /// namingViolation (64).
    Naming,
    /// objectClassModsProhibited (69).
    ObjectClassMods,
}

/// Why an entry is refused; `text` is the diagnostic message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text}")]
pub struct SchemaViolation {
    /// Which result it becomes.
    pub kind: ViolationKind,
    /// Names the attribute or class, and the value's number where one value is at fault.
    pub text: String,
}

/// How strict [`Schema::check`] is.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// The entry's present structural class; a different one is objectClassModsProhibited.
    pub structural_class: Option<ObjectClassIndex>,
    /// Trust that values have their syntaxes and differ from each other (entries read from our own store).
    pub skip_values: bool,
}

/// An entry that obeys the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedEntry {
    entry: Entry,
    structural_class: ObjectClassIndex,
}

impl CheckedEntry {
    /// The entry.
    #[must_use]
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Its most derived structural class.
    #[must_use]
    pub fn structural_class(&self) -> ObjectClassIndex {
        self.structural_class
    }

    /// Takes the entry out, for changing; it has to be checked again.
    #[must_use]
    pub fn into_entry(self) -> Entry {
        self.entry
    }
}

pub(crate) fn check(
    _schema: &Schema,
    _entry: Entry,
    _options: &CheckOptions,
) -> Result<CheckedEntry, SchemaViolation> {
    todo!()
}
