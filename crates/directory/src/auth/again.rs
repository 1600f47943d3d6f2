//! A look ahead: may the requester of a session authenticate once more in the same way?

use fulgurite_schema::Dn;

use super::exchange::external_name;
use crate::core::session::{Method, Session};
use crate::directory::Directory;
use crate::request::restrictions::OperationKind;

/// The name of the mechanism that takes identities from the layers below.
const EXTERNAL: &str = "EXTERNAL";

/// The attribute of passwords.
const PASSWORD: &[u8] = b"userPassword";

impl Directory {
    /// Returns true if the requester could get the same identity with a new bind of the same kind.
    ///
    /// The value of a password is not compared, because a requester who changes it knows the new
    /// one. Mechanisms that ask for a user's name count as possible.
    pub(crate) fn could_bind_again(&self, session: &Session) -> bool {
        let Some(name) = session.real_identity().name() else {
            return true;
        };
        let Ok(dn) = Dn::parse(self.schema(), name.pretty()) else {
            return false;
        };
        match session.method() {
            Method::Simple => self.could_bind_by_password(session, &dn),
            Method::Sasl(EXTERNAL) => {
                let mapped = external_name(session.connection())
                    .map(|external| self.authenticator().external_dn(session, &external));
                mapped.is_none_or(|mapped| mapped.is_ok_and(|mapped| mapped == dn))
            }
            Method::Sasl(_) | Method::None => true,
        }
    }

    fn could_bind_by_password(&self, session: &Session, dn: &Dn) -> bool {
        let policy = self.policy();
        let own = self.target(dn).restrictions();
        let permitted = policy.permit(session, own, OperationKind::SimpleBind);
        if policy.disallow.bind_simple || permitted.is_err() {
            return false;
        }
        let authenticator = self.authenticator();
        if authenticator.configured_password(dn, &dn.into()).is_some() {
            return true;
        }
        let nobody = Session::on(session.connection().clone());
        let attribute = self.schema().describe(PASSWORD);
        attribute.is_ok_and(|attribute| {
            let values = authenticator.values_for_auth(&nobody, dn, &attribute);
            // A store that cannot be read is no reason to refuse a change.
            values.map_or(true, |values| !values.is_empty())
        })
    }
}
