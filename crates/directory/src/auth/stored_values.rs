//! Stored values that prove an identity: passwords and keys.

use fulgurite_access::Rights;
use fulgurite_schema::{AttributeDescription, Dn};
use fulgurite_store::{StoreError, View};

use super::state::Authenticator;
use crate::core::database::Database;
use crate::core::requester::decide;
use crate::core::session::{Name, Session};
use crate::generated::namespace::NamespaceTarget;
use crate::rights::facts::{EntryFacts, EntrySource};
use crate::rights::snapshots::Snapshots;

/// The values of an entry that authentication may use.
#[derive(Default)]
pub(super) struct AuthValues {
    pub(super) values: Vec<Vec<u8>>,
    /// The entry's name for display; `None` if authentication may not use the entry, or there is
    /// none.
    pub(super) name: Option<String>,
    /// The reason why there are no values, for the log.
    pub(super) absence: Option<&'static str>,
}

impl AuthValues {
    fn absent(reason: &'static str) -> AuthValues {
        AuthValues {
            absence: Some(reason),
            ..AuthValues::default()
        }
    }
}

impl<'d> Authenticator<'d> {
    /// Returns the root's password from the settings. It counts only in the database that the name
    /// belongs to.
    pub(crate) fn configured_password(&self, dn: &Dn, name: &Name) -> Option<Vec<u8>> {
        let root = match self.target(dn) {
            NamespaceTarget::Database(database) => database.root.as_ref(),
            NamespaceTarget::Tree(tree) => tree.root.as_ref(),
            NamespaceTarget::RootDse | NamespaceTarget::Subschema | NamespaceTarget::Outside => {
                None
            }
        };
        root.filter(|root| root.name == *name)?.password.clone()
    }

    /// Returns the values that an unauthenticated session may use for authentication; none for a
    /// missing entry.
    pub(crate) fn values_for_auth(
        &self,
        requester: &Session,
        dn: &Dn,
        attribute: &AttributeDescription,
    ) -> Result<Vec<Vec<u8>>, StoreError> {
        self.values_for_auth_on(&mut Snapshots::default(), requester, dn, attribute)
            .map(|found| found.values)
    }

    pub(super) fn values_for_auth_on(
        &self,
        snapshots: &mut Snapshots<'d>,
        requester: &Session,
        dn: &Dn,
        attribute: &AttributeDescription,
    ) -> Result<AuthValues, StoreError> {
        let NamespaceTarget::Database(database) = self.target(dn) else {
            return Ok(AuthValues::absent("no database has the name"));
        };
        let view = snapshots.take(&database.store)?;
        let values = self.values_for_auth_in(&view, database, requester, dn, attribute);
        snapshots.give(view);
        values
    }

    fn values_for_auth_in(
        &self,
        view: &View<'_>,
        database: &Database,
        requester: &Session,
        dn: &Dn,
        attribute: &AttributeDescription,
    ) -> Result<AuthValues, StoreError> {
        let missing = AuthValues::absent("there is no such entry");
        let Some(id) = view.find(dn)?.entry() else {
            return Ok(missing);
        };
        let Some(entry) = view.entry(id)? else {
            return Ok(missing);
        };
        let decisions = decide(&database.rules, requester, false);
        let facts = EntryFacts::new(self.core, view, EntrySource::Stored(entry));
        let rights = facts.rights(&decisions, dn.normal());
        if !rights.attribute(attribute).allows(Rights::AUTH) {
            return Ok(AuthValues::absent("no rule grants auth to the attribute"));
        }
        let values = entry.values(attribute).into_iter().flatten();
        let values: Vec<Vec<u8>> = values.map(<[u8]>::to_vec).collect();
        let (mut names, mut name) = (view.take_dn_cache(), String::new());
        entry.write_dn(&mut names, &mut name)?;
        view.keep_dn_cache(names);
        Ok(AuthValues {
            absence: values.is_empty().then_some("the entry has no password"),
            values,
            name: Some(name),
        })
    }
}
