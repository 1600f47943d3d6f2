//! Restrictions of operations by the directory and by the database.
//!
//! ```text
//!   strength of the connection (13) -> updates need a name (8) -> require (8, 53, 1) -> restrict, read-only (53)
//! ```
//!
//! The order and the texts are slapd's. Access rules decide later, because they look at entries.

use fulgurite_ldap::{LdapResult, Operation, ResultCode, oid};
use fulgurite_policy::{Allow, Disallow, Operations, Require, Restrict, Restrictions, Security};
use fulgurite_schema::Dn;

use crate::core::connection::Strength;
use crate::core::database::Database;
use crate::core::databases::Databases;
use crate::core::result::{OpResult, refuse};
use crate::core::session::{Method, Session};
use crate::generated::namespace::NamespaceTarget;

/// The kind of an operation, as restrictions see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperationKind<'a> {
    /// A bind without a name, or with a name and no password, that stays anonymous.
    AnonymousBind,
    /// A simple bind with name and password.
    SimpleBind,
    /// A SASL bind. Its security layer does not exist yet.
    SaslBind,
    /// An extended operation.
    Extended(&'a [u8]),
    /// A password modify operation, which is also an update.
    PasswordModify,
    /// Any other operation.
    Other(Operation),
}

impl OperationKind<'_> {
    fn is_bind(self) -> bool {
        matches!(
            self,
            OperationKind::AnonymousBind | OperationKind::SimpleBind | OperationKind::SaslBind
        )
    }

    fn is_update(self) -> bool {
        match self {
            OperationKind::PasswordModify => true,
            OperationKind::Other(operation) => matches!(
                operation,
                Operation::Add | Operation::Delete | Operation::Modify | Operation::ModifyDn
            ),
            _ => false,
        }
    }

    fn is_start_tls(self) -> bool {
        self == OperationKind::Extended(oid::START_TLS.as_bytes())
    }
}

/// The directory's restrictions, and the features it allows and disallows.
pub(crate) struct OperationPolicy {
    pub(crate) restrictions: Restrictions,
    pub(crate) allow: Allow,
    pub(crate) disallow: Disallow,
}

impl OperationPolicy {
    /// Fails for an operation that the directory or its database refuses; `own` are the database's
    /// restrictions.
    pub(crate) fn permit(
        &self,
        session: &Session,
        own: Option<&Restrictions>,
        kind: OperationKind<'_>,
    ) -> OpResult {
        let places = || [Some(&self.restrictions), own].into_iter().flatten();
        let free = places().all(Restrictions::is_nothing);
        if !free && !kind.is_start_tls() {
            protected(places(), session.connection().strength, kind)?;
        }
        if kind.is_update() && !session.is_authenticated() && !self.allow.update_anon {
            return Err(refuse(
                ResultCode::StrongerAuthRequired,
                "modifications require authentication",
            ));
        }
        if free {
            return Ok(());
        }
        if !kind.is_bind() && !kind.is_start_tls() {
            places().try_for_each(|place| required(place.require, session))?;
        }
        unrestricted(places(), kind)
    }

    /// Fails for an update of the configuration that is refused. It stays possible where databases
    /// are read-only, because it is the way back.
    pub(crate) fn permit_configuration(
        &self,
        session: &Session,
        own: &Restrictions,
        kind: OperationKind<'_>,
    ) -> OpResult {
        let writable = |place: &Restrictions| Restrictions {
            read_only: false,
            restrict: Restrict::default(),
            ..place.clone()
        };
        let policy = OperationPolicy {
            restrictions: writable(&self.restrictions),
            allow: self.allow,
            disallow: self.disallow,
        };
        policy.permit(session, Some(&writable(own)), kind)
    }

    /// Returns the protocol version of a bind if the directory allows it (RFC 4511, section 4.2).
    pub(crate) fn permit_version(&self, version: u8) -> OpResult<u8> {
        match version {
            3 => Ok(3),
            2 if self.allow.bind_v2 => Ok(2),
            2 => Err(refuse(
                ResultCode::ProtocolError,
                "historical protocol version requested, use LDAPv3 instead",
            )),
            _ => Err(refuse(
                ResultCode::ProtocolError,
                "requested protocol version not supported",
            )),
        }
    }

    /// Returns true for an anonymous simple bind (RFC 4513, section 5.1).
    ///
    /// # Errors
    /// The refusal of a bind that is not allowed.
    pub(crate) fn permit_simple_bind<'d>(
        &self,
        session: &Session,
        dn: &Dn,
        password: &[u8],
        own: impl FnOnce() -> Option<&'d Restrictions>,
    ) -> OpResult<bool> {
        match (dn.is_root(), password.is_empty()) {
            (true, true) => {}
            (true, false) if self.allow.bind_anon_cred => {}
            (false, true) if self.allow.bind_anon_dn => {}
            (true, false) => return Err(LdapResult::new(ResultCode::InvalidCredentials)),
            (false, true) => {
                return Err(refuse(
                    ResultCode::UnwillingToPerform,
                    "unauthenticated bind (DN with no password) disallowed",
                ));
            }
            (false, false) => {
                if self.disallow.bind_simple {
                    return Err(refuse(
                        ResultCode::UnwillingToPerform,
                        "unwilling to perform simple authentication",
                    ));
                }
                self.permit(session, own(), OperationKind::SimpleBind)?;
                return Ok(false);
            }
        }
        if self.disallow.bind_anon {
            return Err(refuse(
                ResultCode::InappropriateAuthentication,
                "anonymous bind disallowed",
            ));
        }
        self.permit(session, None, OperationKind::AnonymousBind)?;
        Ok(true)
    }

    /// Fails for a search or compare that the database refuses. Names outside all databases are
    /// always allowed.
    pub(crate) fn permit_reading(
        &self,
        session: &Session,
        target: &NamespaceTarget<'_>,
        operation: Operation,
    ) -> OpResult {
        if matches!(target, NamespaceTarget::Outside) {
            return Ok(());
        }
        if session.must_change_password() && matches!(target, NamespaceTarget::Database(_)) {
            return Err(password_change_required());
        }
        self.permit(
            session,
            target.restrictions(),
            OperationKind::Other(operation),
        )
    }

    /// Fails for an update that the database refuses.
    pub(crate) fn permit_update(
        &self,
        session: &Session,
        database: &Database,
        operation: Operation,
    ) -> OpResult {
        self.permit(
            session,
            Some(&database.restrictions),
            OperationKind::Other(operation),
        )
    }

    /// Fails for an extended operation that is refused. Its database is that of the requester's
    /// name.
    pub(crate) fn permit_extended(
        &self,
        databases: &Databases,
        session: &Session,
        oid: &[u8],
    ) -> OpResult {
        let database = session
            .identity()
            .name()
            .and_then(|name| databases.database_of_normal(name.normal()));
        let own = database.map(|database| &database.restrictions);
        self.permit(session, own, OperationKind::Extended(oid))
    }
}

/// Returns the refusal for a connection that must change its password first.
pub(crate) fn password_change_required() -> LdapResult {
    refuse(
        ResultCode::InsufficientAccessRights,
        "Operations are restricted to bind/unbind/abandon/StartTLS/modify password",
    )
}

/// Checks the strength of each layer, the outer ones first.
fn protected<'r>(
    places: impl Iterator<Item = &'r Restrictions> + Clone,
    has: Strength,
    kind: OperationKind<'_>,
) -> OpResult {
    let need = |pick: fn(&Security) -> u32| {
        places
            .clone()
            .map(|place| pick(&place.security))
            .max()
            .unwrap_or(0)
    };
    layer(has.transport, need(|s| s.transport), "transport ", "")?;
    layer(has.tls, need(|s| s.tls), "TLS ", "")?;
    // The bind may establish the strength that is missing here.
    if kind == OperationKind::AnonymousBind || kind == OperationKind::SaslBind {
        return Ok(());
    }
    layer(has.sasl, need(|s| s.sasl), "SASL ", "")?;
    let mut overall = need(|s| s.ssf);
    if kind == OperationKind::SimpleBind {
        overall = overall.max(need(|s| s.simple_bind));
    }
    layer(has.overall(), overall, "", "")?;
    if kind.is_update() {
        let update = " for update";
        layer(
            has.transport,
            need(|s| s.update_transport),
            "transport ",
            update,
        )?;
        layer(has.tls, need(|s| s.update_tls), "TLS ", update)?;
        layer(has.sasl, need(|s| s.update_sasl), "SASL ", update)?;
        layer(has.overall(), need(|s| s.update_ssf), "", update)?;
    }
    Ok(())
}

fn layer(has: u32, need: u32, layer: &str, update: &str) -> OpResult {
    if has >= need {
        return Ok(());
    }
    let stronger = if has > 0 { "stronger " } else { "" };
    Err(refuse(
        ResultCode::ConfidentialityRequired,
        format!("{stronger}{layer}confidentiality required{update}"),
    ))
}

fn required(require: Require, session: &Session) -> OpResult {
    let refused = |code, text: &str| Err::<(), LdapResult>(refuse(code, text));
    if require.strong && !session.is_authenticated() {
        return refused(
            ResultCode::StrongerAuthRequired,
            "strong(er) authentication required",
        );
    }
    if require.sasl && !matches!(session.method(), Method::Sasl(_)) {
        return refused(
            ResultCode::StrongerAuthRequired,
            "SASL authentication required",
        );
    }
    if require.authentication && !session.is_authenticated() {
        return refused(ResultCode::UnwillingToPerform, "authentication required");
    }
    if require.bind && session.version().is_none() {
        return refused(ResultCode::OperationsError, "BIND required");
    }
    if require.ldap_v3 && session.version().is_some_and(|version| version < 3) {
        return refused(
            ResultCode::OperationsError,
            "operation restricted to LDAPv3 clients",
        );
    }
    Ok(())
}

fn unrestricted<'r>(
    places: impl Iterator<Item = &'r Restrictions> + Clone,
    kind: OperationKind<'_>,
) -> OpResult {
    let refused = |text| Err(refuse(ResultCode::UnwillingToPerform, text));
    let any = |pick: fn(&Operations) -> bool| {
        places.clone().any(|place| pick(&place.restrict.operations))
    };
    let restricted = match kind {
        OperationKind::AnonymousBind | OperationKind::SimpleBind | OperationKind::SaslBind => {
            any(|set| set.bind)
        }
        OperationKind::Extended(_) | OperationKind::PasswordModify => any(|set| set.extended),
        OperationKind::Other(operation) => match operation {
            Operation::Add => any(|set| set.add),
            Operation::Compare => any(|set| set.compare),
            Operation::Delete => any(|set| set.delete),
            Operation::Modify => any(|set| set.modify),
            Operation::ModifyDn => any(|set| set.modify_dn),
            Operation::Search => any(|set| set.search),
            _ => false,
        },
    };
    if restricted {
        let reads_only = places
            .clone()
            .all(|place| place.restrict.operations.is_reads_or_none())
            && any(|set| set.search)
            && any(|set| set.compare);
        return refused(if reads_only {
            "read operations restricted"
        } else {
            "operation restricted"
        });
    }
    let oid = match kind {
        OperationKind::Extended(oid) => Some(oid),
        OperationKind::PasswordModify => Some(oid::PASSWORD_MODIFY.as_bytes()),
        _ => None,
    };
    let mut oids = places
        .clone()
        .flat_map(|place| &place.restrict.extended_oids);
    if oid.is_some_and(|oid| oids.any(|restricted| restricted.as_bytes() == oid)) {
        return refused("extended operation restricted");
    }
    if kind.is_update() && places.clone().any(|place| place.read_only) {
        return refused("operation restricted");
    }
    Ok(())
}
