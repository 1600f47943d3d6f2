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
            return Ok(AuthValues::default());
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
        let Some(id) = view.find(dn)?.entry() else {
            return Ok(AuthValues::default());
        };
        let Some(entry) = view.entry(id)? else {
            return Ok(AuthValues::default());
        };
        let decisions = decide(&database.rules, requester, false);
        let facts = EntryFacts::new(self.core, view, EntrySource::Stored(entry));
        let rights = facts.rights(&decisions, dn.normal());
        if !rights.attribute(attribute).allows(Rights::AUTH) {
            return Ok(AuthValues::default());
        }
        let values = entry.values(attribute).into_iter().flatten();
        let (mut names, mut name) = (view.take_dn_cache(), String::new());
        entry.write_dn(&mut names, &mut name)?;
        view.keep_dn_cache(names);
        Ok(AuthValues {
            values: values.map(<[u8]>::to_vec).collect(),
            name: Some(name),
        })
    }
}
