//! The constants of a control: its OID, its name, the codec of its value.

use crate::Fault;

/// Decodes a control value. Returns the fault of a malformed one.
pub type CheckValue = fn(&[u8]) -> Result<(), Fault>;

/// A control, for the table of the directory.
#[derive(Clone, Copy, Debug)]
pub struct ControlKind {
    /// OID as it travels.
    pub oid: &'static str,
    /// Name in diagnostic messages, the same as slapd's.
    pub name: &'static str,
    /// Checks a value by decoding it; `None` if the control has no value with a structure.
    pub check: Option<CheckValue>,
}

impl ControlKind {
    /// Returns a control without a value that this crate decodes.
    #[must_use]
    pub const fn plain(oid: &'static str, name: &'static str) -> ControlKind {
        ControlKind {
            oid,
            name,
            check: None,
        }
    }

    /// Returns a control whose value has a codec.
    #[must_use]
    pub const fn with_value(
        oid: &'static str,
        name: &'static str,
        check: CheckValue,
    ) -> ControlKind {
        ControlKind {
            oid,
            name,
            check: Some(check),
        }
    }
}
