//! The controls of a request (RFC 4511, section 4.1.11), decoded and checked once for all
//! operations.
//!
//! ```text
//!   Controls (bytes)   ---- CONTROLS: OID, operations, decoder ---->  RequestControls (typed)
//!                      \--- or the result that refuses the request
//! ```
//!
//! A control has one row in [`CONTROLS`] and one field in [`RequestControls`]. Both are in `table`.
//! The codec is in `fulgurite_ldap::control`. The operations implement its meaning.
//!
//! The rules are slapd's:
//!
//! | situation | answer |
//! | --- | --- |
//! | critical, no row | 12 "critical extension is not recognized" |
//! | critical, does not fit the operation | 12 "critical extension is unavailable" |
//! | not critical, no row or does not fit | ignored, even when given twice |
//! | given twice | 2 "... control specified multiple times" |
//! | a value that is missing, superfluous or malformed | 2 |
//!
//! Controls are decoded in their order. The first error decides.

mod table;
mod value;

use std::ops::Deref;
use std::sync::LazyLock;

use fulgurite_ldap::{Controls, LdapResult, Operation, ResultCode};

use crate::core::result::{OpResult, refuse};

pub use table::{CONTROLS, ControlRow};
pub(crate) use table::{RequestControls, RequestKind};
pub(crate) use value::ReadEntrySelection;

/// The controls of one request; no allocation for a request without controls.
#[derive(Debug)]
pub(crate) struct OptionalControls<'c>(Option<Box<RequestControls<'c>>>);

static NO_CONTROLS: LazyLock<RequestControls<'static>> = LazyLock::new(RequestControls::default);

impl<'c> Deref for OptionalControls<'c> {
    type Target = RequestControls<'c>;

    fn deref(&self) -> &RequestControls<'c> {
        self.0.as_deref().unwrap_or(&NO_CONTROLS)
    }
}

/// Returns the OIDs that the root DSE lists.
pub(crate) fn supported() -> impl Iterator<Item = &'static str> {
    let listed = CONTROLS.iter().filter(|row| row.is_listed());
    listed.map(ControlRow::oid)
}

impl<'c> RequestControls<'c> {
    /// Decodes the controls of an operation that is not extended.
    pub(crate) fn decode(operation: Operation, controls: &Controls<'c>) -> OpResult<Self> {
        Self::of(RequestKind::Operation(operation), controls)
    }

    /// Decodes the controls of the extended operation `oid`.
    pub(crate) fn decode_extended(oid: &[u8], controls: &Controls<'c>) -> OpResult<Self> {
        Self::of(RequestKind::Extended(oid), controls)
    }

    fn of(kind: RequestKind<'_>, controls: &Controls<'c>) -> OpResult<Self> {
        let mut decoded = RequestControls::default();
        decoded.decode_all(kind, controls)?;
        Ok(decoded)
    }

    /// Decodes the controls up to the first error.
    fn decode_all(&mut self, kind: RequestKind<'_>, controls: &Controls<'c>) -> OpResult {
        let mut seen = [false; CONTROLS.len()];
        for control in controls.iter() {
            let row = CONTROLS
                .iter()
                .zip(&mut seen)
                .find(|(row, _)| control.is(row.oid()));
            match row {
                Some((row, seen)) if row.fits(kind) => {
                    if std::mem::replace(seen, true) {
                        return Err(value::wrong(&row.kind, "specified multiple times"));
                    }
                    (row.decode)(self, &row.kind, &control)?;
                }
                Some(_) if control.critical => {
                    return Err(unavailable("critical extension is unavailable"));
                }
                None if control.critical => {
                    return Err(unavailable("critical extension is not recognized"));
                }
                _ => {}
            }
        }
        self.require_compatible()
    }

    /// Fails for controls that exclude each other.
    fn require_compatible(&self) -> OpResult {
        if self.vlv.is_some() && self.paged.is_some() {
            let text = "VLV incompatible with PagedResults";
            return Err(refuse(ResultCode::UnwillingToPerform, text));
        }
        Ok(())
    }
}

impl<'c> OptionalControls<'c> {
    /// Decodes the controls of a request. With an error it returns the controls before the wrong
    /// one.
    pub(crate) fn decode(
        kind: RequestKind<'_>,
        controls: &Controls<'c>,
    ) -> (OptionalControls<'c>, OpResult) {
        if controls.is_empty() {
            return (OptionalControls(None), Ok(()));
        }
        let mut decoded = Box::<RequestControls<'c>>::default();
        let outcome = decoded.decode_all(kind, controls);
        (OptionalControls(Some(decoded)), outcome)
    }
}

fn unavailable(text: &str) -> LdapResult {
    refuse(ResultCode::UnavailableCriticalExtension, text)
}
