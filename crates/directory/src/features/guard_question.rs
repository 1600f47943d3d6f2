//! The question to a guard, and its answer. A guard refuses an update before it changes anything.
//!
//! A guard sees the request, the entry before and the entry after. It looks at other entries in the
//! writer's own state. So earlier updates of the transaction count, and no other update comes
//! between.

use fulgurite_ldap::{LdapResult, ResultCode};
use fulgurite_schema::{AttributeSelector, Dn, Entry, Filter};
use fulgurite_store::{EntryId, Scope, StoreError, View, Writer};

use super::region::Region;
use crate::core::database::Database;
use crate::core::foundation::Core;
use crate::core::result::{self, refuse};
use crate::request::change::Change;

/// The number of candidates that a guard tests at most for a short update. Other clients of the
/// worker thread wait.
const SHORT_CANDIDATES_MAX: usize = 64;

/// The update that guards are asked about.
pub(crate) struct GuardedUpdate<'u> {
    /// The operation in diagnostic texts: `add` or `modify`.
    pub(crate) operation: &'static str,
    /// True for a new name, whose values are in the order of their attributes' names.
    pub(crate) is_rename: bool,
    /// The name before the update.
    pub(crate) dn: &'u Dn,
    /// The entry before the update; `None` for an add.
    pub(crate) before: Option<EntryId>,
    /// The changes that the client requests. The values of an add, and those of a new RDN, are
    /// additions.
    pub(crate) changes: &'u [Change],
    /// The entry after the update. Attributes that no guard needs may be incomplete.
    pub(crate) after: &'u Entry,
}

/// The state that guards look at.
pub(crate) struct GuardContext<'g, 'd> {
    pub(crate) core: &'g Core,
    pub(crate) database: &'g Database,
    pub(crate) writer: &'g mut Writer<'d>,
    /// The requester's name in normal form; empty for an anonymous one.
    pub(crate) user: &'g str,
    /// True if the update may do a little work only.
    pub(crate) short: bool,
}

/// The reason why a guard lets an update not pass.
#[derive(Debug)]
pub(crate) enum GuardRefusal {
    Result(LdapResult),
    /// The check is too much work for a short update.
    TooLong,
}

impl GuardContext<'_, '_> {
    /// Returns true if an entry of this database, other than `except`, is in a region and matches a
    /// filter.
    pub(crate) fn finds(
        &mut self,
        region: &Region,
        filter: &Filter<AttributeSelector>,
        except: Option<EntryId>,
    ) -> Result<bool, GuardRefusal> {
        for base in &region.bases {
            let Some(id) = self.writer.find_base(base.normal())? else {
                continue;
            };
            if self.finds_below(id, region.scope, filter, except)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn finds_below(
        &mut self,
        base: EntryId,
        scope: Scope,
        filter: &Filter<AttributeSelector>,
        except: Option<EntryId>,
    ) -> Result<bool, GuardRefusal> {
        let mut candidates = self.writer.plan(base, scope, filter)?;
        let view: &View<'_, _> = self.writer;
        let mut tested = 0;
        while let Some(entry) = candidates.next_entry(view)? {
            if Some(entry.id()) != except && filter.test(view.schema(), &entry).is_true() {
                return Ok(true);
            }
            tested += 1;
            if self.short && tested > SHORT_CANDIDATES_MAX {
                return Err(GuardRefusal::TooLong);
            }
        }
        Ok(false)
    }
}

impl GuardRefusal {
    /// Returns the refusal of a value with constraintViolation.
    pub(crate) fn violation(text: impl Into<String>) -> GuardRefusal {
        GuardRefusal::Result(refuse(ResultCode::ConstraintViolation, text))
    }
}

impl From<StoreError> for GuardRefusal {
    fn from(error: StoreError) -> GuardRefusal {
        GuardRefusal::Result(result::store(&error))
    }
}
