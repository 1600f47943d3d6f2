//! The table of controls: one row for each control that the server honours, and its field.
//!
//! A row refers to the control's [`ControlKind`] for OID, name and codec. The root DSE, cn=Monitor,
//! the decoder, the fuzz target and the tests read the rows.

use fulgurite_ldap::control::{
    AccountUsability, Assert, ClusterPosition, ControlKind, Dereference, MatchedValues,
    PagedResults, PasswordPolicyResponse, ReadEntry, SearchOptions, SessionTracking, SortRequest,
    SortResponse, Subentries, SyncDone, SyncRequest, ValueOrderRequest, VlvRequest, VlvResponse,
};
use fulgurite_ldap::{Control, Limits, Operation, ResultCode, oid};

use super::value::{self, ReadEntrySelection};
use crate::core::result::{OpResult, refuse};

/// The controls of one request. Absent and ignored controls have the default value.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestControls<'c> {
    /// The operation works on referral objects themselves (RFC 3296).
    pub(crate) manage_dsa_it: bool,
    /// One page of the entries (RFC 2696).
    pub(crate) paged: Option<PagedResults<'c>>,
    /// The state of a consumer's copy (RFC 4533).
    pub(crate) sync: Option<SyncRequest<'c>>,
    pub(crate) sync_critical: bool,
    /// The order of the entries (RFC 2891).
    pub(crate) sort: Option<SortRequest<'c>>,
    pub(crate) sort_critical: bool,
    /// The part of the ordered entries to return.
    pub(crate) vlv: Option<VlvRequest<'c>>,
    /// The values to return (RFC 3876).
    pub(crate) matched_values: Option<MatchedValues<'c>>,
    /// Only subentries, or none (RFC 3672).
    pub(crate) subentries: Option<Subentries>,
    /// The attributes whose values name entries, and what to return of those.
    pub(crate) dereference: Option<Dereference<'c>>,
    /// Values come in their stored form and order.
    pub(crate) stored_values: bool,
    /// The client wants to know which accounts can be used.
    pub(crate) account_usability: bool,
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
    /// The read sees everything that a cluster has acknowledged. The server waits before it begins.
    pub(crate) linearizable: bool,
    /// The server returns no referrals.
    pub(crate) domain_scope: bool,
    /// The identity of the client's own client. The server's log reads it separately.
    pub(crate) session_tracking: Option<SessionTracking<'c>>,
    /// The identity that the operation is done for (RFC 4370).
    pub(crate) proxied: Option<&'c [u8]>,
    pub(crate) proxied_critical: bool,
    /// The client wants to know what a password policy says.
    pub(crate) password_policy: bool,
    pub(crate) password_policy_critical: bool,
    /// The client wants to know the position of the update in the log of a cluster.
    pub(crate) position: bool,
    /// The transaction of the update (RFC 5805).
    pub(crate) transaction: Option<&'c [u8]>,
}

/// The kind of request, which decides which controls fit.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RequestKind<'r> {
    Operation(Operation),
    /// An extended operation with its OID.
    Extended(&'r [u8]),
}

/// One control that the server honours.
#[derive(Clone, Copy, Debug)]
pub struct ControlRow {
    /// The control of requests.
    pub(super) kind: ControlKind,
    /// The control of responses, if it has another OID.
    response: Option<ControlKind>,
    /// The operations it fits.
    operations: &'static [Operation],
    /// The OIDs of the extended operations it fits.
    extended: &'static [&'static str],
    /// True if the root DSE lists it. slapd hides some of its controls.
    listed: bool,
    /// True if cn=Monitor lists it with the backend of databases.
    of_backend: bool,
    pub(super) decode: Decode,
}

/// Checks criticality and value of a control and sets its field.
type Decode = for<'c> fn(&mut RequestControls<'c>, &ControlKind, &Control<'c>) -> OpResult;

impl ControlRow {
    /// Returns the row of a control that no list shows.
    const fn on(operations: &'static [Operation], kind: ControlKind, decode: Decode) -> ControlRow {
        ControlRow {
            kind,
            response: None,
            operations,
            extended: &[],
            listed: false,
            of_backend: false,
            decode,
        }
    }

    /// Adds the extended operations that the control fits.
    const fn and_extended(mut self, extended: &'static [&'static str]) -> ControlRow {
        self.extended = extended;
        self
    }

    /// Adds the control of the response.
    const fn answered_by(mut self, response: ControlKind) -> ControlRow {
        self.response = Some(response);
        self
    }

    /// Lists the control in the root DSE.
    const fn listed(mut self) -> ControlRow {
        self.listed = true;
        self
    }

    /// Lists the control with the backend in cn=Monitor.
    const fn of_backend(mut self) -> ControlRow {
        self.of_backend = true;
        self
    }

    /// Returns the object identifier.
    #[must_use]
    pub const fn oid(&self) -> &'static str {
        self.kind.oid
    }

    /// Returns true if the root DSE lists the control.
    #[must_use]
    pub const fn is_listed(&self) -> bool {
        self.listed
    }

    /// Returns true if cn=Monitor lists the control with the backend of databases.
    #[must_use]
    pub const fn is_of_backend(&self) -> bool {
        self.of_backend
    }

    /// Returns the constants of the control, and of its response control if that is another one.
    pub fn kinds(&self) -> impl Iterator<Item = &ControlKind> {
        std::iter::once(&self.kind).chain(&self.response)
    }

    /// Returns true if the control fits a request.
    pub(super) fn fits(&self, kind: RequestKind<'_>) -> bool {
        match kind {
            RequestKind::Operation(operation) => self.operations.contains(&operation),
            RequestKind::Extended(oid) => self.extended.iter().any(|fit| fit.as_bytes() == oid),
        }
    }
}

const SEARCH: &[Operation] = &[Operation::Search];
/// Operations that a password policy judges.
const WITH_PASSWORDS: &[Operation] = &[Operation::Bind, Operation::Add, Operation::Modify];
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

/// Every control that the server honours.
pub const CONTROLS: &[ControlRow] = &[
    ControlRow::on(
        ON_ENTRIES,
        ControlKind::plain(oid::MANAGE_DSA_IT, "manageDSAit control"),
        |to, kind, control| value::flag(kind, control, &mut to.manage_dsa_it),
    )
    .listed()
    .of_backend(),
    ControlRow::on(SEARCH, PagedResults::KIND, |to, kind, control| {
        let value = value::required(kind, control)?;
        to.paged = Some(value::decoded(kind, PagedResults::decode(value))?);
        Ok(())
    })
    .listed()
    .of_backend(),
    // The root DSE lists it if a database has a provider.
    ControlRow::on(SEARCH, SyncRequest::KIND, |to, kind, control| {
        let value = control
            .value
            .ok_or_else(|| value::wrong(kind, "value is absent"))?;
        to.sync_critical = control.critical;
        to.sync = Some(value::sync_request(kind, value)?);
        Ok(())
    })
    .answered_by(SyncDone::KIND),
    ControlRow::on(SEARCH, SortRequest::KIND, |to, kind, control| {
        let value = value::required(kind, control)?;
        to.sort_critical = control.critical;
        to.sort = Some(value::decoded(kind, SortRequest::decode(value))?);
        Ok(())
    })
    .answered_by(SortResponse::KIND)
    .listed(),
    ControlRow::on(SEARCH, VlvRequest::KIND, |to, kind, control| {
        let value = value::required(kind, control)?;
        to.vlv = Some(value::decoded(kind, VlvRequest::decode(value))?);
        Ok(())
    })
    .answered_by(VlvResponse::KIND)
    .listed(),
    ControlRow::on(SEARCH, MatchedValues::KIND, |to, kind, control| {
        let value = value::required(kind, control)?;
        let decoded = MatchedValues::decode(value, &Limits::default());
        if decoded.is_ok() || control.critical {
            to.matched_values = Some(value::decoded(kind, decoded)?);
        }
        Ok(())
    })
    .listed()
    .of_backend(),
    ControlRow::on(SEARCH, Subentries::KIND, |to, kind, control| {
        let value = control.value.unwrap_or_default();
        to.subentries = Some(value::decoded(kind, Subentries::decode(value))?);
        Ok(())
    })
    .listed()
    .of_backend(),
    ControlRow::on(SEARCH, Dereference::KIND, |to, kind, control| {
        let value = value::required(kind, control)?;
        to.dereference = Some(value::decoded(kind, Dereference::decode(value))?);
        Ok(())
    })
    .listed(),
    // slapd hides it, too.
    ControlRow::on(SEARCH, ValueOrderRequest::KIND, |to, kind, control| {
        let value = value::required(kind, control)?;
        let decoded = ValueOrderRequest::decode(value).map_err(|_| {
            let text = "valSort control: flag decoding error";
            refuse(ResultCode::ProtocolError, text)
        });
        to.stored_values = decoded?.stored;
        Ok(())
    }),
    ControlRow::on(ON_ENTRIES, Assert::KIND, |to, kind, control| {
        let value = value::required(kind, control)?;
        to.assertion = Some(value::decoded(kind, Assert::decode(value))?);
        Ok(())
    })
    .listed()
    .of_backend(),
    ControlRow::on(FROM_ENTRIES, ReadEntry::PRE, |to, kind, control| {
        to.pre_read = Some(value::selection(kind, control)?);
        Ok(())
    })
    .listed()
    .of_backend(),
    ControlRow::on(TO_ENTRIES, ReadEntry::POST, |to, kind, control| {
        to.post_read = Some(value::selection(kind, control)?);
        Ok(())
    })
    .listed()
    .of_backend(),
    ControlRow::on(
        MODIFY,
        ControlKind::plain(oid::PERMISSIVE_MODIFY, "permissiveModify control"),
        |to, kind, control| value::flag(kind, control, &mut to.permissive_modify),
    )
    .of_backend(),
    ControlRow::on(
        UPDATES,
        ControlKind::plain(oid::RELAX, "relax control"),
        |to, kind, control| value::flag(kind, control, &mut to.relax),
    ),
    // slapd does not list treeDelete because it does not implement it. This server does.
    ControlRow::on(
        DELETE,
        ControlKind::plain(oid::TREE_DELETE, "treeDelete control"),
        |to, kind, control| value::flag(kind, control, &mut to.tree_delete),
    )
    .listed(),
    ControlRow::on(
        ON_ENTRIES,
        ControlKind::plain(oid::NO_OP, "noop control"),
        |to, kind, control| {
            if control.value.is_some() {
                return Err(value::wrong(kind, "value not empty"));
            }
            to.no_op = true;
            Ok(())
        },
    )
    .of_backend(),
    ControlRow::on(
        READS,
        ControlKind::plain(oid::DONT_USE_COPY, "dontUseCopy control"),
        |to, kind, control| value::flag(kind, control, &mut to.dont_use_copy),
    )
    .listed(),
    // The root DSE of a cluster's node lists these two.
    ControlRow::on(
        READS,
        ControlKind::plain(oid::LINEARIZABLE_READ, "linearizableRead control"),
        |to, kind, control| value::flag(kind, control, &mut to.linearizable),
    ),
    ControlRow::on(ON_ENTRIES, ClusterPosition::KIND, |to, kind, control| {
        to.position = true;
        let position = control.value.map(ClusterPosition::decode);
        position.map_or(Ok(()), |decoded| value::decoded(kind, decoded).map(drop))
    })
    .and_extended(&[oid::PASSWORD_MODIFY, oid::END_TRANSACTION]),
    ControlRow::on(
        SEARCH,
        ControlKind::plain(oid::DOMAIN_SCOPE, "domainScope control"),
        |to, kind, control| {
            if to.domain_scope {
                return Err(value::wrong(kind, "specified multiple times"));
            }
            value::flag(kind, control, &mut to.domain_scope)
        },
    ),
    // slapd knows the flag of the domain scope only, and refuses it next to that control.
    ControlRow::on(SEARCH, SearchOptions::KIND, |to, kind, control| {
        let value = value::required(kind, control)?;
        let options = value::decoded(kind, SearchOptions::decode(value))?;
        if options.exceeds(SearchOptions::DOMAIN_SCOPE) {
            if control.critical {
                let text = "searchOptions contained unrecognized flag";
                return Err(refuse(ResultCode::UnwillingToPerform, text));
            }
        } else if options.contains(SearchOptions::DOMAIN_SCOPE) {
            if to.domain_scope {
                let text = "specified multiple times or with domainScope control";
                return Err(value::wrong(kind, text));
            }
            to.domain_scope = true;
        }
        Ok(())
    }),
    ControlRow::on(TRACKED, SessionTracking::KIND, |to, kind, control| {
        if control.critical {
            let text = "sessionTracking criticality is TRUE";
            return Err(refuse(ResultCode::ProtocolError, text));
        }
        let value = value::required(kind, control)?;
        to.session_tracking = Some(value::decoded(kind, SessionTracking::decode(value))?);
        Ok(())
    })
    .and_extended(&[oid::WHO_AM_I, oid::PASSWORD_MODIFY]),
    // The root DSE lists it if a database has a password policy.
    ControlRow::on(
        WITH_PASSWORDS,
        PasswordPolicyResponse::KIND,
        |to, kind, control| {
            to.password_policy_critical |= control.critical;
            value::flag(kind, control, &mut to.password_policy)
        },
    )
    .and_extended(&[oid::PASSWORD_MODIFY]),
    // The root DSE lists it in the same case.
    ControlRow::on(SEARCH, AccountUsability::KIND, |to, kind, control| {
        to.password_policy_critical |= control.critical;
        value::flag(kind, control, &mut to.account_usability)
    }),
    // The value is an identity without further structure.
    ControlRow::on(
        ON_ENTRIES,
        ControlKind::plain(oid::PROXIED_AUTHORIZATION, "proxied authorization control"),
        |to, kind, control| {
            let identity = control.value;
            to.proxied = Some(identity.ok_or_else(|| value::wrong(kind, "value absent"))?);
            to.proxied_critical = control.critical;
            Ok(())
        },
    )
    .and_extended(&[oid::WHO_AM_I, oid::PASSWORD_MODIFY])
    .listed(),
    // The value is the identifier of the transaction.
    ControlRow::on(
        UPDATES,
        ControlKind::plain(oid::TRANSACTION, "txnSpec control"),
        |to, kind, control| {
            if !control.critical {
                return Err(value::wrong(kind, "must be marked critical"));
            }
            let missing = "no transaction identifier provided";
            let identifier = control
                .value
                .ok_or_else(|| refuse(ResultCode::ProtocolError, missing))?;
            to.transaction = Some(identifier);
            Ok(())
        },
    )
    .listed(),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_control_has_its_own_oid_and_name() {
        let kinds: Vec<&ControlKind> = CONTROLS.iter().flat_map(ControlRow::kinds).collect();
        for (at, kind) in kinds.iter().enumerate() {
            let twin = kinds[..at]
                .iter()
                .find(|other| other.oid == kind.oid || other.name == kind.name);
            assert!(twin.is_none(), "{kind:?} {twin:?}");
        }
    }

    #[test]
    fn no_codec_takes_any_value_but_a_complete_one() {
        for kind in CONTROLS.iter().flat_map(ControlRow::kinds) {
            let Some(check) = kind.check else { continue };
            assert!(check(b"").is_err(), "{}", kind.name);
            assert!(check(b"\x30\x05").is_err(), "{}", kind.name);
        }
    }

    #[test]
    fn every_control_fits_a_request() {
        for row in CONTROLS {
            let fits = !row.operations.is_empty() || !row.extended.is_empty();
            assert!(fits, "{}", row.kind.name);
        }
    }
}
