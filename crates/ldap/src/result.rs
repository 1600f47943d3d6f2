//! Results and their codes (RFC 4511 section 4.1.9 and appendix A).

use std::fmt;

use fulgurite_ber::{Reader, Tag, Writer};

use crate::{Fault, Values};

macro_rules! result_codes {
    ($($(#[$doc:meta])* $variant:ident = $number:literal, $name:literal;)*) => {
        /// A result code, named as its RFC names it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ResultCode {
            $($(#[$doc])* $variant,)*
            /// A number without a name here.
            Unassigned(u32),
        }

        impl ResultCode {
            /// Every named code.
            pub const NAMED: &'static [ResultCode] = &[$(ResultCode::$variant),*];

            /// Returns the number on the wire.
            #[must_use]
            pub const fn number(self) -> u32 {
                match self {
                    $(ResultCode::$variant => $number,)*
                    ResultCode::Unassigned(number) => number,
                }
            }

            /// Returns the code of a number from the wire.
            #[must_use]
            pub const fn from_number(number: u32) -> ResultCode {
                match number {
                    $($number => ResultCode::$variant,)*
                    number => ResultCode::Unassigned(number),
                }
            }

            /// Returns the name in its RFC, `unassigned` if there is none.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(ResultCode::$variant => $name,)*
                    ResultCode::Unassigned(_) => "unassigned",
                }
            }
        }
    };
}

result_codes! {
    /// The operation succeeded.
    Success = 0, "success";
    /// Wrong order of operations, or an internal failure.
    OperationsError = 1, "operationsError";
    /// Malformed or unexpected data.
    ProtocolError = 2, "protocolError";
    /// The time limit passed.
    TimeLimitExceeded = 3, "timeLimitExceeded";
    /// More entries than the size limit.
    SizeLimitExceeded = 4, "sizeLimitExceeded";
    /// Compare: no value equals the assertion.
    CompareFalse = 5, "compareFalse";
    /// Compare: a value equals the assertion.
    CompareTrue = 6, "compareTrue";
    /// The authentication method is not supported.
    AuthMethodNotSupported = 7, "authMethodNotSupported";
    /// A stronger authentication is required.
    StrongerAuthRequired = 8, "strongerAuthRequired";
    /// Ask elsewhere.
    Referral = 10, "referral";
    /// An administrative limit was exceeded.
    AdminLimitExceeded = 11, "adminLimitExceeded";
    /// A critical control is unknown or out of place.
    UnavailableCriticalExtension = 12, "unavailableCriticalExtension";
    /// The connection has to be protected first.
    ConfidentialityRequired = 13, "confidentialityRequired";
    /// The SASL bind goes on.
    SaslBindInProgress = 14, "saslBindInProgress";
    /// The entry has no such attribute or value.
    NoSuchAttribute = 16, "noSuchAttribute";
    /// The schema has no such attribute type.
    UndefinedAttributeType = 17, "undefinedAttributeType";
    /// The matching rule does not fit the attribute.
    InappropriateMatching = 18, "inappropriateMatching";
    /// A value violates a constraint.
    ConstraintViolation = 19, "constraintViolation";
    /// The attribute or value is there already.
    AttributeOrValueExists = 20, "attributeOrValueExists";
    /// A value does not fit its syntax.
    InvalidAttributeSyntax = 21, "invalidAttributeSyntax";
    /// No such entry.
    NoSuchObject = 32, "noSuchObject";
    /// An alias points nowhere, or to an alias.
    AliasProblem = 33, "aliasProblem";
    /// A DN that cannot be parsed.
    InvalidDnSyntax = 34, "invalidDNSyntax";
    /// An alias could not be dereferenced.
    AliasDereferencingProblem = 36, "aliasDereferencingProblem";
    /// The authentication does not fit the entry.
    InappropriateAuthentication = 48, "inappropriateAuthentication";
    /// Wrong name or password.
    InvalidCredentials = 49, "invalidCredentials";
    /// The client may not do this.
    InsufficientAccessRights = 50, "insufficientAccessRights";
    /// The server is too busy.
    Busy = 51, "busy";
    /// The server is shutting down or broken.
    Unavailable = 52, "unavailable";
    /// The server refuses.
    UnwillingToPerform = 53, "unwillingToPerform";
    /// A loop was detected.
    LoopDetect = 54, "loopDetect";
    /// The name does not fit the entry.
    NamingViolation = 64, "namingViolation";
    /// The entry does not fit its object classes.
    ObjectClassViolation = 65, "objectClassViolation";
    /// The entry has children.
    NotAllowedOnNonLeaf = 66, "notAllowedOnNonLeaf";
    /// The value is part of the entry's name.
    NotAllowedOnRdn = 67, "notAllowedOnRDN";
    /// The entry exists.
    EntryAlreadyExists = 68, "entryAlreadyExists";
    /// The structural object class cannot change.
    ObjectClassModsProhibited = 69, "objectClassModsProhibited";
    /// The operation spans servers or databases.
    AffectsMultipleDsas = 71, "affectsMultipleDSAs";
    /// Any other failure.
    Other = 80, "other";
    /// The operation was cancelled (RFC 3909).
    Canceled = 118, "canceled";
    /// Nothing to cancel (RFC 3909).
    NoSuchOperation = 119, "noSuchOperation";
    /// Too late to cancel (RFC 3909).
    TooLate = 120, "tooLate";
    /// The operation cannot be cancelled (RFC 3909).
    CannotCancel = 121, "cannotCancel";
    /// The assertion control's filter is not true (RFC 4528).
    AssertionFailed = 122, "assertionFailed";
    /// The proxied identity may not be assumed (RFC 4370).
    AuthorizationDenied = 123, "authorizationDenied";
    /// The synchronisation has to start afresh (RFC 4533).
    ESyncRefreshRequired = 4096, "e-syncRefreshRequired";
    /// There is no such transaction (RFC 5805).
    TransactionIdInvalid = 0x4121, "txnIDInvalid";
    /// The no-op control kept the operation from happening (draft-zeilenga-ldap-noop).
    NoOperation = 0x410e, "noOperation";
}

impl fmt::Display for ResultCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), self.number())
    }
}

/// The outcome of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LdapResult {
    /// The outcome.
    pub code: ResultCode,
    /// The deepest existing ancestor, where the code calls for one; otherwise empty.
    pub matched_dn: String,
    /// A sentence for humans, or empty.
    pub diagnostic: String,
    /// Where else to ask: LDAP URLs, with [`ResultCode::Referral`].
    pub referrals: Vec<String>,
}

const REFERRAL: Tag = Tag::context(3).constructed();

impl LdapResult {
    /// Returns a result of nothing but a code; allocates nothing.
    #[must_use]
    pub const fn new(code: ResultCode) -> Self {
        LdapResult {
            code,
            matched_dn: String::new(),
            diagnostic: String::new(),
            referrals: Vec::new(),
        }
    }

    /// Success.
    #[must_use]
    pub const fn success() -> Self {
        Self::new(ResultCode::Success)
    }

    /// Returns a result with a sentence.
    #[must_use]
    pub fn with_diagnostic(code: ResultCode, diagnostic: impl Into<String>) -> Self {
        LdapResult {
            diagnostic: diagnostic.into(),
            ..Self::new(code)
        }
    }

    /// Returns the same result with a matched DN.
    #[must_use]
    pub fn matched(mut self, dn: impl Into<String>) -> Self {
        self.matched_dn = dn.into();
        self
    }

    /// Returns true if the code is [`ResultCode::Success`].
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.code == ResultCode::Success
    }

    /// Writes the components, without a container.
    pub(crate) fn encode(&self, writer: &mut Writer<'_>) {
        writer.enumerated(i64::from(self.code.number()));
        writer.octet_string(self.matched_dn.as_bytes());
        writer.octet_string(self.diagnostic.as_bytes());
        if !self.referrals.is_empty() {
            writer.container(REFERRAL, |writer| {
                for url in &self.referrals {
                    writer.octet_string(url.as_bytes());
                }
            });
        }
    }

    /// Reads the components; what follows them is left in `reader`.
    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        let number = reader.enumerated()?;
        let code = u32::try_from(number)
            .map(ResultCode::from_number)
            .map_err(|_| Fault::OutOfRange {
                what: "resultCode",
                value: number,
            })?;
        let matched_dn = utf8(reader.octet_string()?, "matchedDN")?;
        let diagnostic = utf8(reader.octet_string()?, "diagnosticMessage")?;
        let mut referrals = Vec::new();
        if reader.peek() == Some(REFERRAL) {
            for url in Values::decode(reader.nested(REFERRAL)?, Tag::OCTET_STRING)? {
                referrals.push(utf8(url, "referral")?);
            }
        }
        Ok(LdapResult {
            code,
            matched_dn,
            diagnostic,
            referrals,
        })
    }
}

impl fmt::Display for LdapResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.code)?;
        if !self.diagnostic.is_empty() {
            write!(f, ": {}", self.diagnostic)?;
        }
        if !self.matched_dn.is_empty() {
            write!(f, ", matched {:?}", self.matched_dn)?;
        }
        Ok(())
    }
}

fn utf8(bytes: &[u8], what: &'static str) -> Result<String, Fault> {
    std::str::from_utf8(bytes)
        .map(str::to_owned)
        .map_err(|_| Fault::NotUtf8(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_agree() {
        for &code in ResultCode::NAMED {
            assert_eq!(ResultCode::from_number(code.number()), code);
        }
        assert_eq!(ResultCode::from_number(9), ResultCode::Unassigned(9));
        assert_eq!(ResultCode::NoSuchObject.to_string(), "noSuchObject (32)");
    }
}
