//! The assertion control (RFC 4528): tests its filter against what the client may search of an
//! entry.

use fulgurite_access::{EntryRights, Rights};
use fulgurite_ldap::{LdapResult, ResultCode};
use fulgurite_schema::{AttributeSelector, Entry, Filter, Schema};

use crate::core::result::OpResult;
use crate::rights::visible_entry::VisibleEntry;

/// Fails unless the filter is true of the entry, which holds its computed attributes.
pub(crate) fn require(
    schema: &Schema,
    rights: EntryRights<'_>,
    entry: &Entry,
    filter: &Filter<AttributeSelector>,
) -> OpResult {
    let judged = VisibleEntry {
        schema,
        entry,
        rights,
        needed: Rights::SEARCH,
    };
    if filter.test(schema, &judged).is_true() {
        Ok(())
    } else {
        Err(LdapResult::new(ResultCode::AssertionFailed))
    }
}
