//! The assertion control (RFC 4528): whether its filter is true of an entry, as far as the client may know.

use fulgurite_access::{EntryRights, Rights};
use fulgurite_ldap::{LdapResult, ResultCode};
use fulgurite_schema::{AttributeSelector, Entry, Filter, Schema};

use crate::core::result::OpResult;
use crate::rights::visible_entry::VisibleEntry;

/// Refuses unless the filter is true of the entry, which has its computed attributes.
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
