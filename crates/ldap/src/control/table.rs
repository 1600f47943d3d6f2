//! The controls that this crate knows. A new control is one row here, and its file if it has a
//! value.

use super::assertion::Assert;
use super::kind::ControlKind;
use super::matched_values::MatchedValues;
use super::paged::PagedResults;
use super::read_entry::ReadEntry;
use super::session_tracking::SessionTracking;
use super::sort::{SortRequest, SortResponse};
use super::subentries::Subentries;
use super::vlv::{VlvRequest, VlvResponse};
use crate::oid;

/// ManageDsaIT (RFC 3296).
pub const MANAGE_DSA_IT: ControlKind =
    ControlKind::plain(oid::MANAGE_DSA_IT, "manageDSAit control");
/// Permissive modify, of Active Directory.
pub const PERMISSIVE_MODIFY: ControlKind =
    ControlKind::plain(oid::PERMISSIVE_MODIFY, "permissiveModify control");
/// Relax rules (draft-zeilenga-ldap-relax).
pub const RELAX: ControlKind = ControlKind::plain(oid::RELAX, "relax control");
/// Tree delete (draft-armijo-ldap-treedelete).
pub const TREE_DELETE: ControlKind = ControlKind::plain(oid::TREE_DELETE, "treeDelete control");
/// No-op (draft-zeilenga-ldap-noop).
pub const NO_OP: ControlKind = ControlKind::plain(oid::NO_OP, "noop control");
/// Don't use copy (RFC 6171).
pub const DONT_USE_COPY: ControlKind =
    ControlKind::plain(oid::DONT_USE_COPY, "dontUseCopy control");
/// Domain scope, of Active Directory.
pub const DOMAIN_SCOPE: ControlKind = ControlKind::plain(oid::DOMAIN_SCOPE, "domainScope control");
/// Proxied authorization (RFC 4370). The value is an identity without further structure.
pub const PROXIED_AUTHORIZATION: ControlKind =
    ControlKind::plain(oid::PROXIED_AUTHORIZATION, "proxied authorization control");
/// Transaction specification (RFC 5805). The value is the identifier of the transaction.
pub const TRANSACTION: ControlKind = ControlKind::plain(oid::TRANSACTION, "txnSpec control");

/// Every control of requests and responses that this crate knows. A control that goes both ways has
/// one row.
pub static KINDS: &[ControlKind] = &[
    MANAGE_DSA_IT,
    PagedResults::KIND,
    SortRequest::KIND,
    SortResponse::KIND,
    VlvRequest::KIND,
    VlvResponse::KIND,
    MatchedValues::KIND,
    Subentries::KIND,
    Assert::KIND,
    ReadEntry::PRE,
    ReadEntry::POST,
    PERMISSIVE_MODIFY,
    RELAX,
    TREE_DELETE,
    NO_OP,
    DONT_USE_COPY,
    DOMAIN_SCOPE,
    SessionTracking::KIND,
    PROXIED_AUTHORIZATION,
    TRANSACTION,
];

/// Returns the row of a control.
#[must_use]
pub fn find(oid: &[u8]) -> Option<&'static ControlKind> {
    KINDS.iter().find(|kind| kind.oid.as_bytes() == oid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_control_has_its_own_oid_and_name() {
        for (at, kind) in KINDS.iter().enumerate() {
            let twin = KINDS[..at]
                .iter()
                .find(|other| other.oid == kind.oid || other.name == kind.name);
            assert!(twin.is_none(), "{kind:?} {twin:?}");
            assert_eq!(
                find(kind.oid.as_bytes()).map(|row| row.name),
                Some(kind.name)
            );
        }
        assert!(find(b"1.2.3").is_none());
    }

    #[test]
    fn no_codec_takes_any_value_but_a_complete_one() {
        for kind in KINDS {
            let Some(check) = kind.check else { continue };
            assert!(check(b"").is_err(), "{}", kind.name);
            assert!(check(b"\x30\x05").is_err(), "{}", kind.name);
        }
    }
}
