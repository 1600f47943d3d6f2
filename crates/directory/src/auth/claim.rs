//! The identity that a client claims, and what a right proof of it comes to.

use fulgurite_auth::AuthzId;
use fulgurite_ldap::ResultCode;
use fulgurite_schema::Dn;

use super::identity_map::identity_of;
use super::outcome::BindOutcome;
use super::state::Authenticator;
use crate::core::result::{OpResult, refuse};
use crate::core::session::{Identity, Method, Name, Session};

/// Who somebody is if the proof is right.
pub(crate) struct Claim {
    pub(crate) name: Name,
    pub(crate) dn: Dn,
    pub(crate) method: Method,
    /// Whom to act for, as the client put it; empty for itself.
    pub(crate) authorization_id: String,
    /// The connection's session, before anybody has authenticated.
    pub(crate) session: Session,
}

impl Authenticator<'_> {
    /// What a right proof comes to: whoever it was, or the one they may act for.
    pub(crate) fn conclude(&self, claim: Claim, credentials: Option<Vec<u8>>) -> BindOutcome {
        let identity = if claim.authorization_id.is_empty() {
            Ok(Identity::User(claim.name))
        } else {
            self.authorized_at_bind(&claim)
        };
        match identity {
            Ok(identity) => {
                BindOutcome::success(identity, claim.method).with_credentials(credentials)
            }
            Err(result) => BindOutcome::failure(result),
        }
    }

    /// The identity that a SASL bind ends with, if its client asked for another than its own.
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
