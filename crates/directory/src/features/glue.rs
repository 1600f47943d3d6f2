//! Glue (slapd's overlay `glue`): a search in a superior database continues in its subordinate
//! databases.

use fulgurite_ldap::Scope;
use fulgurite_policy::Subordinate;
use fulgurite_schema::Dn;

use crate::core::database::Database;
use crate::core::databases::Databases;

/// The part of a search within one database.
#[derive(Clone, Debug)]
pub(crate) struct SearchPart<'d> {
    pub(crate) database: &'d Database,
    pub(crate) base: Dn,
    pub(crate) scope: Scope,
}

/// Returns the parts of a search: the one in the base's database, then those glued below.
pub(crate) fn parts<'d>(
    databases: &'d Databases,
    database: &'d Database,
    base: &Dn,
    scope: Scope,
) -> Vec<SearchPart<'d>> {
    let own = SearchPart {
        database,
        base: base.clone(),
        scope,
    };
    let mut parts = glued_parts(databases, database, base, scope);
    debug_assert!(
        parts.iter().all(|part| part.base.is_under(base)),
        "glued databases are below the base"
    );
    parts.insert(0, own);
    parts
}

/// Returns the parts of a search in databases glued below the base.
pub(crate) fn glued_parts<'d>(
    databases: &'d Databases,
    database: &'d Database,
    base: &Dn,
    scope: Scope,
) -> Vec<SearchPart<'d>> {
    let mut parts = Vec::new();
    if scope == Scope::Base {
        return parts;
    }
    let glued = databases.iter().filter(|other| {
        other.subordinate != Subordinate::No && !other.hidden && !std::ptr::eq(*other, database)
    });
    for database in glued {
        for suffix in database
            .suffixes()
            .iter()
            .filter(|suffix| suffix.is_under(base))
        {
            let scope = match scope {
                Scope::One if suffix.depth() == base.depth() + 1 => Scope::Base,
                Scope::One | Scope::Base => continue,
                Scope::Subtree | Scope::Children => Scope::Subtree,
            };
            // A database in between that is not glued hides the databases glued below it.
            if !is_glued_to(databases, suffix, base) {
                continue;
            }
            parts.push(SearchPart {
                database,
                base: suffix.clone(),
                scope,
            });
        }
    }
    parts
}

/// Returns true if every database between a suffix and a base above it is glued.
fn is_glued_to(databases: &Databases, suffix: &Dn, base: &Dn) -> bool {
    let standing = databases
        .iter()
        .filter(|other| other.subordinate == Subordinate::No && !other.hidden);
    let mut suffixes = standing.flat_map(Database::suffixes);
    !suffixes.any(|between| suffix.is_under(between) && between.is_under(base))
}
