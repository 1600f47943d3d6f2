//! The controls of a request (RFC 4511, section 4.1.11), decoded and checked once for all
//! operations.
//!
//! ```text
//!   Controls (bytes)   ---- CONTROLS: OID, operations, decoder ---->  RequestControls (typed)
//!                      \--- or the result that refuses the request
//! ```
//!
//! A control has one row in [`CONTROLS`] and one field in [`RequestControls`]. The root DSE lists
//! the rows. The codec of a control's value is in `fulgurite_ldap::control`; the operations
//! implement its meaning.
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

use std::ops::Deref;
use std::sync::LazyLock;

use fulgurite_ldap::control::{
    Assert, MatchedValues, PagedResults, ReadEntry, SessionTracking, SortRequest, Subentries,
    VlvRequest,
};
use fulgurite_ldap::{Control, Controls, Fault, LdapResult, Limits, Operation, ResultCode, oid};

use crate::core::result::{OpResult, refuse};

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

/// The controls of one request. Absent and ignored controls have the default value.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestControls<'c> {
    /// The operation works on referral objects themselves (RFC 3296).
    pub(crate) manage_dsa_it: bool,
    /// One page of the entries (RFC 2696).
    pub(crate) paged: Option<PagedResults<'c>>,
    /// The order of the entries (RFC 2891).
    pub(crate) sort: Option<SortRequest<'c>>,
    pub(crate) sort_critical: bool,
    /// The part of the ordered entries to return.
    pub(crate) vlv: Option<VlvRequest<'c>>,
    /// The values to return (RFC 3876).
    pub(crate) matched_values: Option<MatchedValues<'c>>,
    /// Only subentries, or none (RFC 3672).
    pub(crate) subentries: Option<Subentries>,
    /// The filter that must be true of the entry (RFC 4528).
    pub(crate) assertion: Option<Assert<'c>>,
    /// The entry as it was before the update (RFC 4527).
    pub(crate) pre_read: Option<ReadEntrySelection<'c>>,
    /// The entry as it is after the update (RFC 4527).
    pub(crate) post_read: Option<ReadEntrySelection<'c>>,
    /// Adding a value that exists or deleting one that is missing succeeds.
    pub(crate) permissive_modify: bool,
    /// A requester with the right `manage` sets attributes that the server maintains.
    pub(crate) relax: bool,
    /// A delete removes the whole subtree.
    pub(crate) tree_delete: bool,
    /// The operation checks everything and changes nothing.
    pub(crate) no_op: bool,
    /// The server must not answer from a copy (RFC 6171). It never does.
    pub(crate) dont_use_copy: bool,
    /// The server returns no referrals.
    pub(crate) domain_scope: bool,
    /// The identity of the client's own client. The server's log reads it separately.
    pub(crate) session_tracking: Option<SessionTracking<'c>>,
    /// The identity that the operation is done for (RFC 4370).
    pub(crate) proxied: Option<&'c [u8]>,
    pub(crate) proxied_critical: bool,
    /// The transaction of the update (RFC 5805).
    pub(crate) transaction: Option<&'c [u8]>,
}

/// The attributes to return with the result of an update.
#[derive(Clone, Debug)]
pub(crate) struct ReadEntrySelection<'c> {
    /// True if a name that the schema lacks is an error.
    pub(crate) critical: bool,
    pub(crate) attributes: Vec<&'c [u8]>,
}

/// The kind of request, which decides which controls fit.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RequestKind<'r> {
    Operation(Operation),
    /// An extended operation with its OID.
    Extended(&'r [u8]),
}

/// One control that the server honours.
pub struct ControlRow {
    oid: &'static str,
    /// The name in diagnostics.
    name: &'static str,
    /// The operations it fits.
    operations: &'static [Operation],
    /// The OIDs of the extended operations it fits.
    extended: &'static [&'static str],
    /// True if the root DSE lists it. slapd hides some of its controls.
    listed: bool,
    decode: Decode,
}

/// Checks criticality and value of a control and sets its field.
type Decode = for<'c> fn(&mut RequestControls<'c>, &ControlRow, &Control<'c>) -> OpResult;

const SEARCH: &[Operation] = &[Operation::Search];
/// Operations that name an entry.
const ON_ENTRIES: &[Operation] = &[
    Operation::Search,
    Operation::Compare,
    Operation::Add,
    Operation::Delete,
    Operation::Modify,
    Operation::ModifyDn,
];

/// Operations that change an entry.
const UPDATES: &[Operation] = &[
    Operation::Add,
    Operation::Delete,
    Operation::Modify,
    Operation::ModifyDn,
];
const MODIFY: &[Operation] = &[Operation::Modify];
const DELETE: &[Operation] = &[Operation::Delete];
const READS: &[Operation] = &[Operation::Search, Operation::Compare];
/// Updates of an existing entry.
const FROM_ENTRIES: &[Operation] = &[Operation::Delete, Operation::Modify, Operation::ModifyDn];
/// Updates after which there is an entry.
const TO_ENTRIES: &[Operation] = &[Operation::Add, Operation::Modify, Operation::ModifyDn];
const TRACKED: &[Operation] = &[
    Operation::Bind,
    Operation::Search,
    Operation::Compare,
    Operation::Add,
    Operation::Delete,
    Operation::Modify,
    Operation::ModifyDn,
];

/// Every control that the server honours. Decoding, the root DSE, fuzzing and tests read this
/// table.
pub const CONTROLS: &[ControlRow] = &[
    ControlRow {
        oid: oid::MANAGE_DSA_IT,
        name: "manageDSAit control",
        operations: ON_ENTRIES,
        extended: &[],
        listed: true,
        decode: |to, row, control| row.flag(control, &mut to.manage_dsa_it),
    },
    ControlRow {
        oid: oid::PAGED_RESULTS,
        name: "paged results control",
        operations: SEARCH,
        extended: &[],
        listed: true,
        decode: |to, row, control| {
            let value = row.value(control)?;
            let decoded = PagedResults::decode(value);
            row.decoded(decoded, &mut to.paged)
        },
    },
    ControlRow {
        oid: oid::SORT_REQUEST,
        name: "sorted results control",
        operations: SEARCH,
        extended: &[],
        listed: true,
        decode: |to, row, control| {
            let value = row.value(control)?;
            to.sort_critical = control.critical;
            row.decoded(SortRequest::decode(value), &mut to.sort)
        },
    },
    ControlRow {
        oid: oid::VLV_REQUEST,
        name: "vlv control",
        operations: SEARCH,
        extended: &[],
        listed: true,
        decode: |to, row, control| {
            let value = row.value(control)?;
            row.decoded(VlvRequest::decode(value), &mut to.vlv)
        },
    },
    ControlRow {
        oid: oid::MATCHED_VALUES,
        name: "valuesReturnFilter control",
        operations: SEARCH,
        extended: &[],
        listed: true,
        decode: |to, row, control| {
            let value = row.value(control)?;
            let decoded = MatchedValues::decode(value, &Limits::default());
            if decoded.is_err() && !control.critical {
                return Ok(());
            }
            row.decoded(decoded, &mut to.matched_values)
        },
    },
    ControlRow {
        oid: oid::SUBENTRIES,
        name: "subentries control",
        operations: SEARCH,
        extended: &[],
        listed: true,
        decode: |to, row, control| {
            let value = control.value.unwrap_or_default();
            row.decoded(Subentries::decode(value), &mut to.subentries)
        },
    },
    ControlRow {
        oid: oid::ASSERTION,
        name: "assert control",
        operations: ON_ENTRIES,
        extended: &[],
        listed: true,
        decode: |to, row, control| {
            let value = row.value(control)?;
            row.decoded(Assert::decode(value), &mut to.assertion)
        },
    },
    ControlRow {
        oid: oid::PRE_READ,
        name: "preread control:",
        operations: FROM_ENTRIES,
        extended: &[],
        listed: true,
        decode: |to, row, control| row.reading(control, &mut to.pre_read),
    },
    ControlRow {
        oid: oid::POST_READ,
        name: "postread control:",
        operations: TO_ENTRIES,
        extended: &[],
        listed: true,
        decode: |to, row, control| row.reading(control, &mut to.post_read),
    },
    ControlRow {
        oid: oid::PERMISSIVE_MODIFY,
        name: "permissiveModify control",
        operations: MODIFY,
        extended: &[],
        listed: false,
        decode: |to, row, control| row.flag(control, &mut to.permissive_modify),
    },
    ControlRow {
        oid: oid::RELAX,
        name: "relax control",
        operations: UPDATES,
        extended: &[],
        listed: false,
        decode: |to, row, control| row.flag(control, &mut to.relax),
    },
    // slapd does not list treeDelete because it does not implement it. This server does.
    ControlRow {
        oid: oid::TREE_DELETE,
        name: "treeDelete control",
        operations: DELETE,
        extended: &[],
        listed: true,
        decode: |to, row, control| row.flag(control, &mut to.tree_delete),
    },
    ControlRow {
        oid: oid::NO_OP,
        name: "noop control",
        operations: ON_ENTRIES,
        extended: &[],
        listed: false,
        decode: |to, row, control| {
            if control.value.is_some() {
                return Err(row.wrong("value not empty"));
            }
            row.flag(control, &mut to.no_op)
        },
    },
    ControlRow {
        oid: oid::DONT_USE_COPY,
        name: "dontUseCopy control",
        operations: READS,
        extended: &[],
        listed: true,
        decode: |to, row, control| row.flag(control, &mut to.dont_use_copy),
    },
    ControlRow {
        oid: oid::DOMAIN_SCOPE,
        name: "domainScope control",
        operations: SEARCH,
        extended: &[],
        listed: false,
        decode: |to, row, control| row.flag(control, &mut to.domain_scope),
    },
    ControlRow {
        oid: oid::SESSION_TRACKING,
        name: "sessionTracking control",
        operations: TRACKED,
        extended: &[oid::WHO_AM_I, oid::PASSWORD_MODIFY],
        listed: false,
        decode: |to, row, control| {
            if control.critical {
                let text = "sessionTracking criticality is TRUE";
                return Err(refuse(ResultCode::ProtocolError, text));
            }
            let value = row.value(control)?;
            row.decoded(SessionTracking::decode(value), &mut to.session_tracking)
        },
    },
    ControlRow {
        oid: oid::PROXIED_AUTHORIZATION,
        name: "proxied authorization control",
        operations: ON_ENTRIES,
        extended: &[oid::WHO_AM_I, oid::PASSWORD_MODIFY],
        listed: true,
        decode: |to, _, control| {
            let missing = "proxied authorization control value absent";
            let identity = control
                .value
                .ok_or_else(|| refuse(ResultCode::ProtocolError, missing))?;
            to.proxied = Some(identity);
            to.proxied_critical = control.critical;
            Ok(())
        },
    },
    ControlRow {
        oid: oid::TRANSACTION,
        name: "txnSpec control",
        operations: UPDATES,
        extended: &[],
        listed: true,
        decode: |to, row, control| {
            if !control.critical {
                return Err(row.wrong("must be marked critical"));
            }
            let missing = "no transaction identifier provided";
            let identifier = control
                .value
                .ok_or_else(|| refuse(ResultCode::ProtocolError, missing))?;
            to.transaction = Some(identifier);
            Ok(())
        },
    },
];

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
                .find(|(row, _)| control.is(row.oid));
            match row {
                Some((row, seen)) if row.fits(kind) => {
                    if std::mem::replace(seen, true) {
                        return Err(row.wrong("specified multiple times"));
                    }
                    (row.decode)(self, row, &control)?;
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

impl ControlRow {
    /// Returns the object identifier.
    #[must_use]
    pub const fn oid(&self) -> &'static str {
        self.oid
    }

    /// Returns true if the root DSE lists the control.
    #[must_use]
    pub const fn is_listed(&self) -> bool {
        self.listed
    }

    fn fits(&self, kind: RequestKind<'_>) -> bool {
        match kind {
            RequestKind::Operation(operation) => self.operations.contains(&operation),
            RequestKind::Extended(oid) => self.extended.iter().any(|fit| fit.as_bytes() == oid),
        }
    }

    /// Returns protocolError about this control.
    fn wrong(&self, what: &str) -> LdapResult {
        refuse(ResultCode::ProtocolError, format!("{} {what}", self.name))
    }

    /// Decodes a control without a value.
    fn flag(&self, control: &Control<'_>, field: &mut bool) -> OpResult {
        if control.value.is_some() {
            return Err(self.wrong("value not absent"));
        }
        *field = true;
        Ok(())
    }

    /// Returns the value of a control that must have one.
    fn value<'c>(&self, control: &Control<'c>) -> OpResult<&'c [u8]> {
        match control.value {
            None => Err(self.wrong("value is absent")),
            Some([]) => Err(self.wrong("value is empty")),
            Some(value) => Ok(value),
        }
    }

    /// Decodes a selection of attributes to return with the result.
    fn reading<'c>(
        &self,
        control: &Control<'c>,
        field: &mut Option<ReadEntrySelection<'c>>,
    ) -> OpResult {
        let value = self.value(control)?;
        let mut decoded = None;
        self.decoded(ReadEntry::decode(value), &mut decoded)?;
        *field = decoded.map(|decoded| ReadEntrySelection {
            critical: control.critical,
            attributes: decoded.attributes,
        });
        Ok(())
    }

    /// Stores a decoded value.
    fn decoded<T>(&self, decoded: Result<T, Fault>, field: &mut Option<T>) -> OpResult {
        match decoded {
            Ok(value) => {
                *field = Some(value);
                Ok(())
            }
            Err(fault) => Err(self.wrong(&format!("could not be decoded: {fault}"))),
        }
    }
}

fn unavailable(text: &str) -> LdapResult {
    refuse(ResultCode::UnavailableCriticalExtension, text)
}
