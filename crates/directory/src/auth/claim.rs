//! The identity that a client claims, and the outcome of a right proof.

use fulgurite_auth::AuthzId;
use fulgurite_ldap::ResultCode;
use fulgurite_schema::Dn;

use super::identity_map::identity_of;
use super::outcome::BindOutcome;
use super::state::Authenticator;
use crate::core::result::{OpResult, refuse};
use crate::core::session::{Identity, Method, Name, Session};

/// The identity that a right proof establishes.
pub(crate) struct Claim {
    pub(crate) name: Name,
    pub(crate) dn: Dn,
    pub(crate) method: Method,
    /// The authorization identity as the client sent it; empty for the client's own.
    pub(crate) authorization_id: String,
    /// The session before authentication.
    pub(crate) session: Session,
}

impl Authenticator<'_> {
    /// Returns the outcome of a right proof: the claimed identity, or the one that it may act for.
    pub(crate) fn conclude(&self, claim: Claim, credentials: Option<Vec<u8>>) -> BindOutcome {
        let identity = if claim.authorization_id.is_empty() {
            Ok(Identity::User(claim.name))
        } else {
            self.authorized_at_bind(&claim)
        };
        match identity {
            Ok(identity) => {
                let outcome = BindOutcome::success(identity, claim.method);
                outcome.with_credentials(credentials).of_name(claim.dn)
            }
            Err(result) => BindOutcome::failure(result),
        }
    }

    /// Returns the authorization identity of a SASL bind, if it is not the client's own.
    fn authorized_at_bind(&self, claim: &Claim) -> OpResult<Identity> {
        let denied = |text: &str| {
            let text = format!("SASL(-14): authorization failure: {text}");
            refuse(ResultCode::InsufficientAccessRights, text)
        };
        let Some(id) = AuthzId::parse(&claim.authorization_id) else {
            return Err(denied("unable to canonify authorization ID"));
        };
        let mechanism = match claim.method {
            Method::Sasl(name) => Some(name),
            Method::None | Method::Simple => None,
        };
        let target = self
            .authorization_identity(&claim.session, &id, mechanism)
            .map_err(|_| denied("not authorized"))?;
        if self.may_act_for(&claim.session, &claim.dn, &target) {
            Ok(identity_of(&target))
        } else {
            Err(denied("not authorized"))
        }
    }
}
