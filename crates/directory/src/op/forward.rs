//! Updates of a copy that go to another server in the name of the client (RFC 4370).
//!
//! ```text
//!   update -> the checks of any update -> refused: answered
//!                                      -> a referral: the update itself goes where it points to
//! ```

use std::sync::Arc;

use fulgurite_ldap::{
    Controls, ExtendedRequest, LdapResult, Message, MessageId, ResultCode, UpdateBuf,
};
use fulgurite_schema::Dn;

use crate::core::database::Database;
use crate::core::replication::Forwarding;
use crate::core::result;
use crate::core::session::Session;
use crate::core::transaction_queue::unknown_transaction;
use crate::directory::Directory;
use crate::op::password_modify;
use crate::op::update::name_of;
use crate::request::controls::RequestKind;
use crate::write::forwarded::{ForwardedControl, ForwardedRequest, ForwardedUpdate, is_passed_on};
use crate::write::request::WriteRequest;

impl Directory {
    /// Returns the next step of an update of a copy that forwards updates: the update to forward,
    /// or its refusal. `None` for all other updates.
    pub(crate) fn forward(
        &self,
        session: &Session,
        message: &Message<'_>,
        update: &UpdateBuf,
    ) -> Option<Result<WriteRequest, LdapResult>> {
        if !self.forwards() {
            return None;
        }
        let name = name_of(&message.request)?;
        let dn = result::dn(self.schema(), name).ok()?;
        let (database, _) = self.forwarding(session, &dn)?;
        let kind = RequestKind::Operation(message.request.operation());
        let referral = match self.resolve_update(session, message, (None, false)).err()? {
            referral if referral.code == ResultCode::Referral => referral,
            refusal => return Some(Err(refusal)),
        };
        let client = self.client(session, kind, &message.controls)?;
        let request = ForwardedRequest::Update(update.clone());
        let forwarded = forwarded(database, message.id, request, (client, referral));
        Some(Ok(WriteRequest::forward(session, forwarded)))
    }

    /// Returns the result of an update within a transaction that is refused. As in slapd, another
    /// server would not know the transaction. So its error takes the place of the referral.
    pub(crate) fn refused_in_transaction(
        &self,
        session: &Session,
        message: &Message<'_>,
        result: LdapResult,
    ) -> LdapResult {
        if !self.forwards() || result.code != ResultCode::Referral {
            return result;
        }
        let kind = RequestKind::Operation(message.request.operation());
        let dn = name_of(&message.request).and_then(|name| result::dn(self.schema(), name).ok());
        let forwarding = dn.and_then(|dn| Some(self.forwarding(session, &dn)?.1));
        let client = self.client(session, kind, &message.controls);
        match forwarding.zip(client) {
            Some((forwarding, _)) if forwarding.return_error => unknown_transaction(),
            _ => result,
        }
    }

    /// Returns the request to forward a password modify that would be answered with a referral.
    pub(crate) fn forward_password(
        &self,
        session: &Session,
        id: MessageId,
        request: &ExtendedRequest<'_>,
        (controls, referral): (&Controls<'_>, &LdapResult),
    ) -> Option<WriteRequest> {
        if !self.forwards() || referral.code != ResultCode::Referral {
            return None;
        }
        let kind = RequestKind::Extended(request.oid);
        let acting = self.controls_of(session, kind, controls).ok()?.1;
        let acting = acting.as_ref().unwrap_or(session);
        let dn = password_modify::target(self, acting, request.value)?;
        let (database, _) = self.forwarding(session, &dn)?;
        let client = self.client(session, kind, controls)?;
        let passed_on = controls.iter().filter(is_passed_on);
        let passed_on = passed_on.map(|control| ForwardedControl::new(&control));
        let request = ForwardedRequest::PasswordModify(
            request.value.map(<[u8]>::to_vec),
            passed_on.collect(),
        );
        let forwarded = forwarded(database, id, request, (client, referral.clone()));
        Some(WriteRequest::forward(session, forwarded))
    }

    /// Returns true if a database forwards updates.
    fn forwards(&self) -> bool {
        let mut databases = self.databases().iter();
        databases.any(|database| database.forwarding().is_some())
    }

    /// Returns the database of a name if updates of this session there go to another server.
    fn forwarding(&self, session: &Session, dn: &Dn) -> Option<(&Database, &Forwarding)> {
        let database = self.core().databases.database_of(dn)?;
        let forwarding = database.forwarding()?;
        let is_own = database.replication.takes_updates_of(session);
        (!is_own && !session.must_change_password()).then_some((database, forwarding))
    }

    /// Returns the name that a request is made for.
    fn client(
        &self,
        session: &Session,
        kind: RequestKind<'_>,
        controls: &Controls<'_>,
    ) -> Option<String> {
        let acting = self.controls_of(session, kind, controls).ok()?.1;
        let name = acting.as_ref().unwrap_or(session).name();
        (!name.is_empty()).then(|| name.to_owned())
    }
}

fn forwarded(
    database: &Database,
    id: MessageId,
    request: ForwardedRequest,
    (client, referral): (String, LdapResult),
) -> Arc<ForwardedUpdate> {
    Arc::new(ForwardedUpdate {
        id,
        request,
        client,
        referral,
        store: database.store().path().to_owned(),
        writer: database.forwarder,
    })
}
