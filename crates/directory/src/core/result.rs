//! LDAP results for errors: the one place that chooses result codes for the errors of the crates
//! below.

use fulgurite_ldap::{LdapResult, ResultCode};
use fulgurite_schema::{AttributeDescription, Dn, DnError, Schema, SchemaViolation, ViolationKind};
use fulgurite_store::StoreError;

/// The value of an operation, or the result that refuses it.
pub(crate) type OpResult<T = ()> = Result<T, LdapResult>;

/// Returns a refusal with a diagnostic text.
pub(crate) fn refuse(code: ResultCode, text: impl Into<String>) -> LdapResult {
    LdapResult::with_diagnostic(code, text)
}

/// Fails with insufficientAccessRights unless the access is allowed.
pub(crate) fn require(allowed: bool, text: &str) -> OpResult {
    if allowed {
        return Ok(());
    }
    Err(refuse(ResultCode::InsufficientAccessRights, text))
}

/// Returns the refusal of a name outside every naming context.
pub(crate) fn no_global_superior() -> LdapResult {
    refuse(
        ResultCode::UnwillingToPerform,
        "no global superior knowledge",
    )
}

/// Parses a name of a request.
pub(crate) fn dn(schema: &Schema, text: &[u8]) -> OpResult<Dn> {
    dn_by(text, |text| Dn::parse(schema, text))
}

/// Parses a name of a request with a parser of names.
pub(crate) fn dn_by(text: &[u8], parse: impl FnOnce(&str) -> Result<Dn, DnError>) -> OpResult<Dn> {
    std::str::from_utf8(text)
        .ok()
        .and_then(|text| parse(text).ok())
        // The empty text is the name of the root, but blanks alone are no name.
        .filter(|dn| text.is_empty() || !dn.is_root())
        .ok_or_else(|| refuse(ResultCode::InvalidDnSyntax, "invalid DN"))
}

/// Parses the attribute description of a compare, which may be a language range.
pub(crate) fn asked(schema: &Schema, text: &[u8]) -> OpResult<AttributeDescription> {
    schema
        .describe(text)
        .map_err(|error| refuse(ResultCode::UndefinedAttributeType, error.to_string()))
}

/// Parses the attribute description of an update.
pub(crate) fn description(schema: &Schema, text: &[u8]) -> OpResult<AttributeDescription> {
    schema
        .describe_one(text)
        .map_err(|error| refuse(ResultCode::UndefinedAttributeType, error.to_string()))
}

/// Returns the result of a schema violation (RFC 4511, appendix A).
pub(crate) fn violation(violation: SchemaViolation) -> LdapResult {
    let code = match violation.kind {
        ViolationKind::ObjectClass => ResultCode::ObjectClassViolation,
        ViolationKind::UndefinedAttributeType => ResultCode::UndefinedAttributeType,
        ViolationKind::InvalidSyntax => ResultCode::InvalidAttributeSyntax,
        ViolationKind::ValueExists => ResultCode::AttributeOrValueExists,
        ViolationKind::Constraint => ResultCode::ConstraintViolation,
        ViolationKind::Naming => ResultCode::NamingViolation,
        ViolationKind::ObjectClassMods => ResultCode::ObjectClassModsProhibited,
    };
    refuse(code, violation.text)
}

/// Returns the result of a store error.
///
/// The operations check most of these situations themselves before the store does.
pub(crate) fn store(error: &StoreError) -> LdapResult {
    if error.is_full() {
        let text = format!("the database cannot grow any more: {error}");
        return refuse(ResultCode::UnwillingToPerform, text);
    }
    if let StoreError::EntryTooBig { .. } = error {
        return refuse(ResultCode::AdminLimitExceeded, "entry too big");
    }
    let code = match error {
        StoreError::EntryExists(_) => ResultCode::EntryAlreadyExists,
        StoreError::NoSuchEntry(_) | StoreError::NoSuchParent(_) => ResultCode::NoSuchObject,
        StoreError::NotLeaf(_) => ResultCode::NotAllowedOnNonLeaf,
        StoreError::CannotMove(_) | StoreError::OutsideSuffix(_) => ResultCode::UnwillingToPerform,
        StoreError::EntryTooLarge
        | StoreError::EntryTooBig { .. }
        | StoreError::TooManyAttributes => ResultCode::AdminLimitExceeded,
        StoreError::Engine(_) | StoreError::Damaged(_) | StoreError::Poisoned => ResultCode::Other,
    };
    refuse(code, error.to_string())
}
