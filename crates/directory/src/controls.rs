//! Which controls a request carries (RFC 4511, section 4.1.11): decoded and checked once, for all operations.
//!
//! ```text
//!   Controls (octets)  ---- TABLE: which OID, on which operations, how decoded ---->  RequestControls (typed)
//!                      \--- or the result that refuses the request
//! ```
//!
//! A control has one row in [`TABLE`] and one field in [`RequestControls`]; what the root DSE says follows from the
//! rows. The codec of its value is in `fulgurite_ldap::control`, its meaning in the operations that honour it.
//!
//! Rules, all of them slapd's:
//!
//! | situation | answer |
//! | --- | --- |
//! | critical, no row | 12 "critical extension is not recognized" |
//! | critical, does not fit the operation | 12 "critical extension is unavailable" |
//! | not critical, no row or does not fit | ignored, even when given twice |
//! | given twice | 2 "... control specified multiple times" |
//! | a value that is missing, superfluous or malformed | 2 |
//!
//! Controls are looked at in the order in which they stand; the first that is wrong decides.

use fulgurite_ldap::control::PagedResults;
use fulgurite_ldap::{Control, Controls, Fault, Operation, ResultCode, oid};

use crate::answer::{Answer, refuse};

/// The controls of one request. Controls that are absent, or ignored as the rules above say, leave the default.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestControls<'c> {
    /// Referral objects are meant themselves (RFC 3296).
    pub(crate) manage_dsa_it: bool,
    /// One page of the entries (RFC 2696).
    pub(crate) paged: Option<PagedResults<'c>>,
}

/// What a request asks for, as far as it decides which controls fit.
#[derive(Clone, Copy, Debug)]
enum Asked<'r> {
    Operation(Operation),
    /// An extended operation, by its OID.
    Extended(&'r [u8]),
}

/// One control that the server honours.
struct Row {
    oid: &'static str,
    /// How diagnostics call it.
    name: &'static str,
    /// The operations it may stand on.
    operations: &'static [Operation],
    /// The extended operations it may stand on, by OID.
    extended: &'static [&'static str],
    /// Whether the root DSE names it; slapd keeps some of its own to those who know them.
    listed: bool,
    decode: Decode,
}

/// Puts a control into its field, after a look at criticality and value.
type Decode = for<'c> fn(&mut RequestControls<'c>, &Row, &Control<'c>) -> Answer;

const SEARCH: &[Operation] = &[Operation::Search];
/// Whatever names an entry.
const ON_ENTRIES: &[Operation] = &[
    Operation::Search,
    Operation::Compare,
    Operation::Add,
    Operation::Delete,
    Operation::Modify,
    Operation::ModifyDn,
];

/// Every control that is honoured.
const TABLE: &[Row] = &[
    Row {
        oid: oid::MANAGE_DSA_IT,
        name: "manageDSAit",
        operations: ON_ENTRIES,
        extended: &[],
        listed: true,
        decode: |to, row, control| row.flag(control, &mut to.manage_dsa_it),
    },
    Row {
        oid: oid::PAGED_RESULTS,
        name: "paged results",
        operations: SEARCH,
        extended: &[],
        listed: true,
        decode: |to, row, control| {
            let value = row.value(control)?;
            let decoded = PagedResults::decode(value);
            row.decoded(decoded, &mut to.paged)
        },
    },
];

/// OIDs that the root DSE lists as supported.
pub(crate) fn supported() -> impl Iterator<Item = &'static str> {
    TABLE.iter().filter(|row| row.listed).map(|row| row.oid)
}

impl<'c> RequestControls<'c> {
    /// The controls of any operation but an extended one.
    pub(crate) fn decode(operation: Operation, controls: &Controls<'c>) -> Answer<Self> {
        Self::of(Asked::Operation(operation), controls)
    }

    /// The controls of the extended operation `oid`.
    pub(crate) fn decode_extended(oid: &[u8], controls: &Controls<'c>) -> Answer<Self> {
        Self::of(Asked::Extended(oid), controls)
    }

    fn of(asked: Asked<'_>, controls: &Controls<'c>) -> Answer<Self> {
        let mut decoded = RequestControls::default();
        let mut seen = [false; TABLE.len()];
        for control in controls.iter() {
            let row = TABLE
                .iter()
                .zip(&mut seen)
                .find(|(row, _)| control.is(row.oid));
            match row {
                Some((row, seen)) if row.fits(asked) => {
                    if std::mem::replace(seen, true) {
                        return Err(row.wrong("specified multiple times"));
                    }
                    (row.decode)(&mut decoded, row, &control)?;
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
        decoded.require_compatible()?;
        Ok(decoded)
    }

    /// Refuses controls that each make sense but not together.
    #[allow(
        clippy::unnecessary_wraps,
        reason = "the place for rules about several controls"
    )]
    fn require_compatible(&self) -> Answer {
        Ok(())
    }
}

impl Row {
    fn fits(&self, asked: Asked<'_>) -> bool {
        match asked {
            Asked::Operation(operation) => self.operations.contains(&operation),
            Asked::Extended(oid) => self.extended.iter().any(|fit| fit.as_bytes() == oid),
        }
    }

    /// protocolError about this control.
    fn wrong(&self, what: &str) -> fulgurite_ldap::LdapResult {
        refuse(
            ResultCode::ProtocolError,
            format!("{} control {what}", self.name),
        )
    }

    /// A control that says everything by being there.
    fn flag(&self, control: &Control<'_>, field: &mut bool) -> Answer {
        if control.value.is_some() {
            return Err(self.wrong("value not absent"));
        }
        *field = true;
        Ok(())
    }

    /// The value of a control that must have one, with something in it.
    fn value<'c>(&self, control: &Control<'c>) -> Answer<&'c [u8]> {
        match control.value {
            None => Err(self.wrong("value is absent")),
            Some([]) => Err(self.wrong("value is empty")),
            Some(value) => Ok(value),
        }
    }

    /// Keeps what a codec has made of the value.
    fn decoded<T>(&self, decoded: Result<T, Fault>, field: &mut Option<T>) -> Answer {
        match decoded {
            Ok(value) => {
                *field = Some(value);
                Ok(())
            }
            Err(fault) => Err(self.wrong(&format!("could not be decoded: {fault}"))),
        }
    }
}

fn unavailable(text: &str) -> fulgurite_ldap::LdapResult {
    refuse(ResultCode::UnavailableCriticalExtension, text)
}
