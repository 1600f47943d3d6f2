//! The replication of a database: the providers it is copied from, and who may update it.

use std::sync::Arc;

use fulgurite_policy::{ProviderLink, Syncrepl};
use fulgurite_schema::{Dn, Schema};

use crate::core::error::OpenError;
use crate::core::forwarded_bind::ForwardedBinds;
use crate::core::session::{Identity, Name, Session};

/// The options of a database that is a copy.
#[derive(Clone, Debug, Default)]
pub struct ReplicationOptions {
    /// The providers.
    pub consumers: Vec<Syncrepl>,
    /// URLs of a server that takes updates of the database.
    pub update_refs: Vec<String>,
    /// The identity that a provider's updates come from.
    pub update_dn: Option<String>,
    /// True if clients may update the copy.
    pub multi_provider: bool,
    /// The servers that clients' updates of the copy go to, if they are forwarded.
    pub forwarding: Option<Forwarding>,
}

/// The forwarding of updates of a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forwarding {
    /// The servers to ask, in this order, until one of them can be reached.
    pub links: Vec<ProviderLink>,
    /// Answer with the other server's error. Otherwise the client gets the referral for it.
    pub return_error: bool,
}

/// The replication of an open database.
#[derive(Debug, Default)]
pub(crate) struct Replication {
    pub(crate) consumers: Vec<Syncrepl>,
    pub(crate) update_refs: Vec<String>,
    update_dn: Option<Name>,
    pub(crate) multi_provider: bool,
    pub(crate) forwarding: Option<Forwarding>,
    /// Shared by the changes of binds that are on their way to another server.
    forwarded_binds: Arc<ForwardedBinds>,
}

/// Changes of binds that are on their way to another server, at most. It bounds their memory while
/// that server cannot be reached.
const FORWARDED_BINDS_MAX: usize = 4096;

impl Replication {
    pub(crate) fn open(
        schema: &Schema,
        options: ReplicationOptions,
    ) -> Result<Replication, OpenError> {
        let update_dn = options.update_dn.map(|dn| {
            let parsed = Dn::parse(schema, &dn);
            parsed
                .map(|dn| Name::from(&dn))
                .map_err(|source| OpenError::RootDn { dn, source })
        });
        Ok(Replication {
            consumers: options.consumers,
            update_refs: options.update_refs,
            update_dn: update_dn.transpose()?,
            multi_provider: options.multi_provider,
            forwarding: options.forwarding,
            forwarded_binds: Arc::default(),
        })
    }

    /// Returns true if another server may learn of binds.
    pub(crate) fn forwards_binds(&self) -> bool {
        self.is_shadow() && self.forwarding.is_some()
    }

    /// Returns the place of one more bind on its way to another server; `None` if there are too
    /// many.
    pub(crate) fn forwarded_bind(&self) -> Option<Arc<ForwardedBinds>> {
        let place = Arc::clone(&self.forwarded_binds);
        (Arc::strong_count(&place) <= FORWARDED_BINDS_MAX + 1).then_some(place)
    }

    /// Returns true if the database takes no updates of clients.
    pub(crate) fn is_shadow(&self) -> bool {
        !self.multi_provider && (!self.consumers.is_empty() || self.update_dn.is_some())
    }

    /// Returns true if the database takes updates of this identity.
    pub(crate) fn takes_updates_of(&self, session: &Session) -> bool {
        if !self.is_shadow() {
            return true;
        }
        match (&self.update_dn, session.identity()) {
            (Some(name), Identity::User(user)) => name == user,
            _ => false,
        }
    }
}
