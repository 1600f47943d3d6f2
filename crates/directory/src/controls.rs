//! Which controls an operation takes part in (RFC 4511, section 4.1.11).

use fulgurite_ldap::control::PagedResults;
use fulgurite_ldap::{Controls, Operation, ResultCode, oid};

use crate::answer::{Answer, refuse};

/// Controls the server acts on, with the operations they fit.
pub(crate) const SUPPORTED: [&str; 2] = [oid::MANAGE_DSA_IT, oid::PAGED_RESULTS];

/// Refuses what cannot be honoured: controls given twice, critical ones that are unknown or do not fit.
pub(crate) fn check(operation: Operation, controls: &Controls<'_>) -> Answer {
    if let Some(oid) = controls.duplicate() {
        let oid = String::from_utf8_lossy(oid);
        let text = format!("control {oid} specified multiple times");
        return Err(refuse(ResultCode::ProtocolError, text));
    }
    for control in controls.iter().filter(|control| control.critical) {
        if !SUPPORTED.iter().any(|oid| control.is(oid)) {
            return Err(refuse(
                ResultCode::UnavailableCriticalExtension,
                "critical extension is not recognized",
            ));
        }
        if control.is(oid::PAGED_RESULTS) && operation != Operation::Search {
            return Err(refuse(
                ResultCode::UnavailableCriticalExtension,
                "critical control unavailable in context",
            ));
        }
    }
    if let Some(control) = controls.find(oid::MANAGE_DSA_IT)
        && control.value.is_some()
    {
        return Err(refuse(
            ResultCode::ProtocolError,
            "manageDSAit control value not absent",
        ));
    }
    Ok(())
}

/// The paged results control of a search.
pub(crate) fn paged<'c>(controls: &Controls<'c>) -> Answer<Option<PagedResults<'c>>> {
    let Some(control) = controls.find(oid::PAGED_RESULTS) else {
        return Ok(None);
    };
    let value = control.value.ok_or_else(|| {
        refuse(
            ResultCode::ProtocolError,
            "paged results control value is absent",
        )
    })?;
    PagedResults::decode(value).map(Some).map_err(|fault| {
        let text = format!("paged results control could not be decoded: {fault}");
        refuse(ResultCode::ProtocolError, text)
    })
}
