//! The databases that can be the content of a cluster.

use fulgurite_store::StoreError;

use super::end;
use crate::core::database::Database;

/// The reason why a database is no content of a cluster.
#[derive(Debug, thiserror::Error)]
pub enum Unsuitable {
    /// Entries have no numbers.
    #[error("a cluster needs the setting lastmod: entries are compared by entryCSN")]
    LastMod,
    /// It has a provider.
    #[error("a database of a cluster has no syncrepl: the log of the cluster is its only source")]
    Consumer,
    /// It is a copy whose clients are referred.
    #[error("a database of a cluster has no updateref: its sequencer takes all updates")]
    Shadow,
    /// It has never been in a cluster.
    #[error("the database belongs to no cluster: begin one with it, or copy it from another node")]
    NoMember,
    /// Its log of changes has other records than after its last batch.
    #[error("the database was changed outside the cluster: copy it from another node")]
    ChangedOutside,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Checks the settings of a database.
pub(super) fn check_settings(database: &Database) -> Result<(), Unsuitable> {
    if !database.last_mod {
        return Err(Unsuitable::LastMod);
    }
    if !database.consumers().is_empty() || database.is_multi_provider() {
        return Err(Unsuitable::Consumer);
    }
    if database.replication.is_shadow() {
        return Err(Unsuitable::Shadow);
    }
    Ok(())
}

/// Returns the end of what a database has applied.
pub(super) fn stored_end(database: &Database) -> Result<end::StoredEnd, Unsuitable> {
    let view = database.store.snapshot()?;
    let stored = end::read(&view)?.ok_or(Unsuitable::NoMember)?;
    if view.changes()?.newest != stored.changes {
        return Err(Unsuitable::ChangedOutside);
    }
    Ok(stored)
}
