//! Changes of a copied content, as a provider tells them (RFC 4533). They outlive their PDU.

use std::fmt;

use crate::control::EntryUuid;
use crate::{ModifyOperation, SearchEntry};

/// One step of a synchronisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentChange {
    /// A refresh begins: no entry has been named yet.
    BeginRefresh,
    /// The state of an entry.
    Entry(ContentEntry),
    /// An entry is gone; `csn` numbers its deletion, if the provider says so.
    Delete {
        /// The entry.
        uuid: EntryUuid,
        /// The change sequence number of the deletion.
        csn: Option<String>,
        /// The greatest number of the states that it ends, if that is another one.
        ends: Option<String>,
    },
    /// Entries that are unchanged.
    Present(Vec<EntryUuid>),
    /// All entries of the content have been named since the refresh began; others are gone.
    DropUnnamed {
        /// The state of the provider.
        state: Vec<String>,
    },
    /// The refresh ends.
    EndRefresh,
    /// The copy has reached a state.
    Reached {
        /// The greatest change sequence number of each server.
        csns: Vec<String>,
        /// True if the state takes the place of a newer one that the provider has lost.
        replaces: bool,
    },
    /// An operation from an access log.
    Operation(LoggedOperation),
}

/// The place of an entry in the tree, as a provider tells it that is a server like this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPlace {
    /// The nearest entry above that is no glue.
    pub above: EntryUuid,
    /// The levels from there to the entry; 1 for a child.
    pub levels: usize,
    /// The number of the last change of the place, if it is later than the entry's.
    pub csn: Option<String>,
}

/// An entry with its attributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentEntry {
    /// The entry's identity.
    pub uuid: EntryUuid,
    /// DN text.
    pub dn: String,
    /// The attributes that the provider sends.
    pub attributes: Vec<ContentAttribute>,
    /// The place; `None` if only the DN tells it.
    pub place: Option<EntryPlace>,
    /// The numbers of its parts, as a server like this one tells them.
    pub stamps: Option<String>,
}

/// An attribute with its values.
#[derive(Clone, PartialEq, Eq)]
pub struct ContentAttribute {
    /// The attribute description.
    pub description: String,
    /// The values.
    pub values: Vec<Vec<u8>>,
}

/// An operation that another server has logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedOperation {
    /// The entry's identity, if the log has it.
    pub uuid: Option<EntryUuid>,
    /// The name before the operation.
    pub dn: String,
    /// The number of the change.
    pub csn: String,
    /// The operation.
    pub kind: LoggedKind,
}

/// The kinds of logged operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoggedKind {
    /// A new entry.
    Add(Vec<ContentAttribute>),
    /// Changes of an entry.
    Modify(Vec<(ModifyOperation, ContentAttribute)>),
    /// A new name, with the stamps of the change.
    Rename {
        /// The new RDN.
        new_rdn: String,
        /// True if the old naming values go.
        delete_old_rdn: bool,
        /// The new parent.
        new_superior: Option<String>,
        /// Changes that come with it.
        changes: Vec<(ModifyOperation, ContentAttribute)>,
    },
    /// The end of an entry.
    Delete,
}

impl ContentEntry {
    /// Copies an entry of a search; `None` if a name in it is no text.
    #[must_use]
    pub fn new(uuid: EntryUuid, entry: &SearchEntry<'_>) -> Option<ContentEntry> {
        let text = |bytes: &[u8]| Some(str::from_utf8(bytes).ok()?.to_owned());
        let attributes = entry.attributes.iter().map(|attribute| {
            Some(ContentAttribute {
                description: text(attribute.description)?,
                values: attribute.values.iter().map(<[u8]>::to_vec).collect(),
            })
        });
        Some(ContentEntry {
            uuid,
            dn: text(entry.dn)?,
            attributes: attributes.collect::<Option<_>>()?,
            place: None,
            stamps: None,
        })
    }

    /// Returns the bytes of names and values, about.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let attributes = self.attributes.iter().map(ContentAttribute::bytes);
        let stamps = self.stamps.as_ref().map_or(0, String::len);
        self.dn.len() + stamps + attributes.sum::<usize>()
    }
}

impl ContentAttribute {
    fn bytes(&self) -> usize {
        self.description.len() + self.values.iter().map(Vec::len).sum::<usize>()
    }
}

impl fmt::Debug for ContentAttribute {
    /// Shows no values, because some are passwords.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} values)", self.description, self.values.len())
    }
}

impl ContentChange {
    /// Returns the bytes of names and values, about.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            ContentChange::Entry(entry) => entry.bytes(),
            ContentChange::Present(uuids) => uuids.len() * size_of::<EntryUuid>(),
            ContentChange::Operation(operation) => {
                let bytes = match &operation.kind {
                    LoggedKind::Add(attributes) => {
                        attributes.iter().map(ContentAttribute::bytes).sum()
                    }
                    LoggedKind::Modify(changes) | LoggedKind::Rename { changes, .. } => {
                        changes.iter().map(|(_, attribute)| attribute.bytes()).sum()
                    }
                    LoggedKind::Delete => 0,
                };
                operation.dn.len() + bytes
            }
            _ => size_of::<EntryUuid>(),
        }
    }
}
