//! The state that a file describes, entry by entry.

use fulgurite_client::ModifyOperation;

use crate::remote::entries::NamedValues;

/// A wish about one entry.
#[derive(Debug, PartialEq)]
pub(super) struct Wish {
    pub(super) dn: String,
    /// The file and line it comes from.
    pub(super) place: String,
    pub(super) state: WantedState,
}

/// The state of an entry.
#[derive(Debug, PartialEq)]
pub(super) enum WantedState {
    /// The attributes have exactly these values; an attribute without values is absent.
    Present(Vec<NamedValues>),
    Absent,
    /// The effect of these modifications.
    Modified(Vec<Modification>),
    Renamed(NewName),
}

/// One modification.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Modification {
    pub(super) operation: ModifyOperation,
    pub(super) name: String,
    pub(super) values: Vec<Vec<u8>>,
}

/// Another name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NewName {
    pub(super) rdn: String,
    pub(super) deletes_old_rdn: bool,
    pub(super) superior: Option<String>,
}
