//! Changes of entries that a start makes, as plain data: once for data, each time for `cn=config`.

use std::path::PathBuf;

use fulgurite_ldif::{Action, ModificationKind, Record};

use crate::seed_entry::NamedValues;
use crate::{Origin, SeedEntry};

/// The changes of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedFile {
    /// The file.
    pub path: PathBuf,
    /// Its text, with the words in braces replaced, and passwords in clear. It is the same at each
    /// start.
    pub text: Vec<u8>,
    /// Its changes, in their order. Additions are entries of the start instead.
    pub changes: Vec<SeedChange>,
}

/// A change of one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedChange {
    /// The name of the entry.
    pub dn: String,
    /// The change.
    pub action: SeedAction,
    /// The place that asks for it.
    pub origin: Origin,
}

/// The kind of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeedAction {
    /// A new entry. Only `cn=config` gets it as a change.
    Add(Vec<NamedValues>),
    /// Other values.
    Modify(Vec<SeedModification>),
    /// An entry less.
    Delete,
    /// Another name.
    Rename {
        /// The new RDN.
        new_rdn: Vec<u8>,
        /// True if the values of the old RDN go.
        delete_old_rdn: bool,
        /// The new superior, if there is one.
        new_superior: Option<Vec<u8>>,
    },
}

/// A change of one attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedModification {
    /// The operation on the values.
    pub operation: SeedOperation,
    /// The attribute description.
    pub attribute: String,
    /// The values.
    pub values: Vec<Vec<u8>>,
}

/// The operation on values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedOperation {
    /// Add the values.
    Add,
    /// Delete the values, or the attribute.
    Delete,
    /// Put the values in place of all.
    Replace,
    /// Add the value to each number.
    Increment,
}

impl SeedChange {
    /// Returns the change of a record; `None` for an addition of data.
    pub(crate) fn of(record: &Record<'_>, origin: Origin) -> Option<SeedChange> {
        let dn = record.dn();
        let action = match record.action() {
            Action::Content(values) | Action::Add(values) if is_configuration(dn) => {
                let mut entry = SeedEntry::new(dn, &[], origin.clone());
                values.for_each(|value| entry.push(value.description, value.value));
                SeedAction::Add(entry.attributes)
            }
            Action::Content(_) | Action::Add(_) => return None,
            Action::Delete => SeedAction::Delete,
            Action::Modify(parts) => SeedAction::Modify(
                parts
                    .map(|part| SeedModification {
                        operation: operation(part.kind),
                        attribute: part.description.to_owned(),
                        values: part.values.map(|value| value.value.to_vec()).collect(),
                    })
                    .collect(),
            ),
            Action::ModifyDn {
                new_rdn,
                delete_old_rdn,
                new_superior,
            } => SeedAction::Rename {
                new_rdn: new_rdn.to_vec(),
                delete_old_rdn,
                new_superior: new_superior.map(<[u8]>::to_vec),
            },
        };
        let dn = dn.to_owned();
        Some(SeedChange { dn, action, origin })
    }
}

/// Returns true for a name of the configuration.
pub(crate) fn is_configuration(dn: &str) -> bool {
    let last = dn.rsplit(',').next().unwrap_or(dn);
    last.trim().eq_ignore_ascii_case("cn=config")
}

const fn operation(kind: ModificationKind) -> SeedOperation {
    match kind {
        ModificationKind::Add => SeedOperation::Add,
        ModificationKind::Delete => SeedOperation::Delete,
        ModificationKind::Replace => SeedOperation::Replace,
        ModificationKind::Increment => SeedOperation::Increment,
    }
}
