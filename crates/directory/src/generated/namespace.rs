//! The part of the directory that a name belongs to.

use std::sync::Arc;

use fulgurite_access::{Decisions, Rules};
use fulgurite_ldap::Scope;
use fulgurite_policy::Restrictions;
use fulgurite_schema::{Dn, Entry, Schema};
use fulgurite_store::OperationLog;

use crate::core::connection::Connection;
use crate::core::database::Database;
use crate::core::databases::Databases;
use crate::core::error::OpenError;
use crate::core::requester::decide;
use crate::core::session::Session;
use crate::core::well_known_types::{SUBSCHEMA, WellKnownTypes};
use crate::generated::access_log::AccessLog;
use crate::generated::root_dse::{self, GeneratedContent};
use crate::generated::subschema;
use crate::generated::tree::Tree;

/// The entries that no store holds.
pub(crate) struct Generated {
    pub(crate) root_dse: Entry,
    pub(crate) subschema: Entry,
    /// The monitor and the configuration.
    pub(crate) trees: Vec<Tree>,
    /// The rules for the root DSE and the subschema subentry.
    rules: Rules,
}

/// The part of the directory that a name belongs to, decided without a look at entries.
pub(crate) enum NamespaceTarget<'d> {
    RootDse,
    Subschema,
    /// A database with a store.
    Database(&'d Database),
    /// A database of generated entries.
    Tree(&'d Tree),
    /// No database has a suffix above the name.
    Outside,
}

impl Generated {
    pub(crate) fn new(
        schema: &Schema,
        types: &WellKnownTypes,
        content: &GeneratedContent<'_>,
        trees: Vec<Tree>,
        rules: Rules,
    ) -> Result<Generated, OpenError> {
        let subschema_dn =
            Dn::parse(schema, SUBSCHEMA).map_err(|_| OpenError::SchemaLacks("cn"))?;
        Ok(Generated {
            root_dse: root_dse::root_dse(schema, types, content),
            subschema: subschema::subschema(schema, types, subschema_dn, content.started),
            trees,
            rules,
        })
    }

    /// Returns the part of the directory that a name belongs to.
    pub(crate) fn target<'d>(&'d self, databases: &'d Databases, dn: &Dn) -> NamespaceTarget<'d> {
        if dn.is_root() {
            NamespaceTarget::RootDse
        } else if *dn == self.subschema.dn {
            NamespaceTarget::Subschema
        } else if let Some(tree) = self.trees.iter().find(|tree| dn.is_within(&tree.suffix)) {
            NamespaceTarget::Tree(tree)
        } else {
            let database = databases.database_of(dn);
            database.map_or(NamespaceTarget::Outside, NamespaceTarget::Database)
        }
    }

    /// Returns the part of the directory that a search begins in.
    ///
    /// A search below the empty name belongs to the database that has it as its suffix.
    pub(crate) fn target_of_search<'d>(
        &'d self,
        databases: &'d Databases,
        base: &Dn,
        scope: Scope,
    ) -> NamespaceTarget<'d> {
        if base.is_root()
            && scope != Scope::Base
            && let Some(database) = databases.database_of(base)
        {
            return NamespaceTarget::Database(database);
        }
        self.target(databases, base)
    }

    /// Returns the logs of operations that are no changes.
    pub(crate) fn operation_logs(&self) -> impl Iterator<Item = &Arc<OperationLog>> {
        let logs = self.trees.iter().filter_map(Tree::log);
        logs.filter_map(AccessLog::operations)
    }

    /// Lets a tree use an open log of operations instead of another one of the same file.
    pub(crate) fn share_operations(&mut self, open: &Arc<OperationLog>) {
        for tree in &mut self.trees {
            tree.share_operations(open);
        }
    }

    /// Returns the root DSE that a connection reads.
    pub(crate) fn root_dse_of(
        &self,
        schema: &Schema,
        connection: &Connection,
        mechanisms: Vec<&'static str>,
    ) -> Entry {
        root_dse::root_dse_of(schema, &self.root_dse, connection, mechanisms)
    }

    /// Decides what a session may do with the root DSE and the subschema subentry.
    pub(crate) fn decisions(&self, session: &Session) -> Decisions<'_> {
        decide(&self.rules, session, false)
    }
}

impl<'d> NamespaceTarget<'d> {
    /// Returns the restrictions of the database, if the name belongs to one.
    pub(crate) fn restrictions(&self) -> Option<&'d Restrictions> {
        match self {
            NamespaceTarget::Database(database) => Some(&database.restrictions),
            NamespaceTarget::Tree(tree) => Some(&tree.restrictions),
            NamespaceTarget::RootDse | NamespaceTarget::Subschema | NamespaceTarget::Outside => {
                None
            }
        }
    }
}
