//! The deletion of a generated entry that shows an activity: it ends the activity.
//!
//! So an administrator closes a connection by deleting its entry of `cn=Monitor`. A requester
//! without the right `write` to the entry gets the answer that all updates there get.

use fulgurite_access::Rights;
use fulgurite_ldap::{LdapResult, Message, Operation, Request, ResultCode};
use fulgurite_schema::{Dn, Entry};

use crate::core::result::{self, OpResult};
use crate::core::session::Session;
use crate::directory::Directory;
use crate::generated::namespace::NamespaceTarget;
use crate::generated::tree::Tree;
use crate::request::controls::RequestKind;
use crate::request::modifiers::Modifiers;
use crate::request::restrictions::OperationKind;
use crate::rights::assertion;
use crate::rights::facts::UnstoredFacts;

impl Directory {
    /// Ends the activity of an entry. Returns `None` if the request is no deletion of such an
    /// entry, or the requester lacks the right.
    pub(crate) fn end_activity(
        &self,
        session: &Session,
        message: &Message<'_>,
    ) -> Option<LdapResult> {
        let Request::Delete(request) = &message.request else {
            return None;
        };
        let dn = result::dn(self.schema(), request.dn).ok()?;
        let NamespaceTarget::Tree(tree) = self.target(&dn) else {
            return None;
        };
        if !tree.end(&dn, true) {
            return None;
        }
        let code = match self.ended(session, message, (tree, &dn)) {
            Ok(code) => code?,
            Err(result) => return Some(result),
        };
        Some(LdapResult::new(code))
    }

    /// Returns the result of a deletion; `None` without the right to it. Nothing else may be looked
    /// at before: another answer would tell that there is such an entry.
    fn ended(
        &self,
        session: &Session,
        message: &Message<'_>,
        (tree, dn): (&Tree, &Dn),
    ) -> OpResult<Option<ResultCode>> {
        let Some(entry) = tree.entry(self.schema(), dn)? else {
            return Ok(None);
        };
        let kind = RequestKind::Operation(Operation::Delete);
        let (controls, acting) = match self.controls_of(session, kind, &message.controls) {
            Ok(taken) => taken,
            Err(refusal) if self.may_end(session, tree, &entry) => return Err(refusal),
            Err(_) => return Ok(None),
        };
        let session = acting.as_ref().unwrap_or(session);
        if !self.may_end(session, tree, &entry) {
            return Ok(None);
        }
        let kind = OperationKind::Other(Operation::Delete);
        self.policy()
            .permit(session, Some(&tree.restrictions), kind)?;
        let modifiers = Modifiers::resolve(self.schema(), &controls)?;
        if let Some(filter) = &modifiers.assertion {
            let decisions = tree.decisions(session);
            let facts = UnstoredFacts::unstored(self.core(), Some(&entry));
            let rights = decisions.at(entry.dn.normal(), &facts);
            assertion::require(self.schema(), rights, &entry, filter)?;
        }
        Ok(Some(match tree.end(dn, modifiers.no_op) {
            false => ResultCode::NoSuchObject,
            true if modifiers.no_op => ResultCode::NoOperation,
            true => ResultCode::Success,
        }))
    }

    fn may_end(&self, session: &Session, tree: &Tree, entry: &Entry) -> bool {
        let decisions = tree.decisions(session);
        let facts = UnstoredFacts::unstored(self.core(), Some(entry));
        let rights = decisions.at(entry.dn.normal(), &facts);
        !session.must_change_password() && rights.entry().allows(Rights::DELETE)
    }
}
