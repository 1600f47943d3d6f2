//! Checks of a control's value that many rows of the table share.

use fulgurite_ldap::control::{ControlKind, ReadEntry, SyncRequest};
use fulgurite_ldap::{Control, Fault, LdapResult, ResultCode};

use crate::core::result::{OpResult, refuse};

/// The attributes to return with the result of an update.
#[derive(Clone, Debug)]
pub(crate) struct ReadEntrySelection<'c> {
    /// True if a name that the schema lacks is an error.
    pub(crate) critical: bool,
    pub(crate) attributes: Vec<&'c [u8]>,
}

/// Returns protocolError about a control.
pub(super) fn wrong(kind: &ControlKind, fault: &str) -> LdapResult {
    refuse(ResultCode::ProtocolError, format!("{} {fault}", kind.name))
}

/// Decodes a control without a value.
pub(super) fn flag(kind: &ControlKind, control: &Control<'_>, field: &mut bool) -> OpResult {
    if control.value.is_some() {
        return Err(wrong(kind, "value not absent"));
    }
    *field = true;
    Ok(())
}

/// Returns the value of a control that must have one.
pub(super) fn required<'c>(kind: &ControlKind, control: &Control<'c>) -> OpResult<&'c [u8]> {
    match control.value {
        None => Err(wrong(kind, "value is absent")),
        Some([]) => Err(wrong(kind, "value is empty")),
        Some(value) => Ok(value),
    }
}

/// Returns a decoded value, or the refusal of a malformed one.
pub(super) fn decoded<T>(kind: &ControlKind, decoded: Result<T, Fault>) -> OpResult<T> {
    decoded.map_err(|fault| wrong(kind, &format!("could not be decoded: {fault}")))
}

/// Decodes a selection of attributes to return with the result.
pub(super) fn selection<'c>(
    kind: &ControlKind,
    control: &Control<'c>,
) -> OpResult<ReadEntrySelection<'c>> {
    let value = required(kind, control)?;
    let ReadEntry { attributes } = decoded(kind, ReadEntry::decode(value))?;
    Ok(ReadEntrySelection {
        critical: control.critical,
        attributes,
    })
}

/// Decodes the state of a consumer's copy, with the errors of slapd.
pub(super) fn sync_request<'c>(kind: &ControlKind, value: &'c [u8]) -> OpResult<SyncRequest<'c>> {
    SyncRequest::decode(value).map_err(|fault| match fault {
        Fault::OutOfRange { .. } => wrong(kind, ": unknown update mode"),
        _ => wrong(kind, ": mode decoding error"),
    })
}
