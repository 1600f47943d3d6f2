//! The store's description of itself: its layout and its suffixes.

use super::databases::{Databases, open_entries, open_meta};
use crate::changes::LogState;
use crate::error::{Damage, StoreError};
use fulgurite::{Database, Environment, Snapshot, WriteTxn};
use fulgurite_schema::Dn;

/// Layout of this release. It may change until the first release of the project.
pub(crate) const LAYOUT: &str = "fulgurite-store 8";
/// The layout with a log of changes whose records may have no chains.
pub(crate) const LAYOUT_UNCHAINED: &str = "fulgurite-store 7";
/// The layout before that, which lacks the log of changes.
pub(crate) const LAYOUT_WITHOUT_LOG: &str = "fulgurite-store 6";
pub(crate) const KEY_LAYOUT: &[u8] = b"layout";
const KEY_SUFFIXES: &[u8] = b"suffixes";

/// The description as stored.
pub(crate) struct Description {
    pub(crate) layout: String,
    pub(crate) suffixes: Vec<String>,
}

impl Description {
    /// Reads the description; `None` if the environment holds no store.
    pub(crate) fn read(env: &Environment) -> Result<Option<Description>, StoreError> {
        let txn = env.read()?;
        let Some(meta) = open_meta(&txn)? else {
            return Ok(None);
        };
        let text = |key: &[u8]| -> Result<String, StoreError> {
            let bytes = txn.get(meta, key)?.ok_or(Damage::Description)?;
            Ok(std::str::from_utf8(bytes)
                .map_err(|_| Damage::Description)?
                .to_owned())
        };
        Ok(Some(Description {
            layout: text(KEY_LAYOUT)?,
            suffixes: text(KEY_SUFFIXES)?.split('\n').map(str::to_owned).collect(),
        }))
    }

    /// Writes the description of a new store of this layout.
    pub(crate) fn write_new(
        txn: &mut WriteTxn<'_>,
        meta: Database,
        suffixes: &[Dn],
    ) -> Result<(), StoreError> {
        txn.put(meta, KEY_LAYOUT, LAYOUT.as_bytes())?;
        Description::write_suffixes(txn, meta, suffixes)
    }

    fn write_suffixes(
        txn: &mut WriteTxn<'_>,
        meta: Database,
        suffixes: &[Dn],
    ) -> Result<(), StoreError> {
        let suffixes: Vec<&str> = suffixes.iter().map(Dn::pretty).collect();
        Ok(txn.put(meta, KEY_SUFFIXES, suffixes.join("\n").as_bytes())?)
    }
}

/// Gives a store other suffixes. Returns false for a store with entries, which stays as it is.
pub(crate) fn renew_suffixes(env: &Environment, suffixes: &[Dn]) -> Result<bool, StoreError> {
    let mut txn = env.write()?;
    let meta = open_meta(&txn)?.ok_or(Damage::Description)?;
    let entries = open_entries(&txn)?.ok_or(Damage::Description)?;
    if txn.cursor(entries)?.first()?.is_some() {
        return Ok(false);
    }
    Description::write_suffixes(&mut txn, meta, suffixes)?;
    txn.commit()?;
    Ok(true)
}

/// Begins the log anew in a store with entries and no state of the log. A dump of the named
/// databases alone leaves it so. The vector follows from the entries.
pub(crate) fn recover_log(env: &Environment, dbs: &Databases) -> Result<(), StoreError> {
    let txn = env.read()?;
    let is_new = txn.cursor(dbs.entries)?.first()?.is_none();
    if is_new || LogState::read(&txn, dbs.meta)?.is_some() {
        return Ok(());
    }
    drop(txn);
    let mut txn = env.write()?;
    // Another process may have done it meanwhile.
    if LogState::read(&txn, dbs.meta)?.is_some() {
        return Ok(());
    }
    for database in [dbs.changes, dbs.change_csn] {
        txn.clear_database(database)?;
    }
    LogState::write_pending(&mut txn, dbs.meta)?;
    Ok(txn.commit()?)
}

/// Brings a store of an older layout to this one. If it lacks a log, the log is empty, and the
/// vector follows from the entries.
///
/// A log without chains stays: its records are found by their rows. A log with both kinds of state
/// was changed by two releases, of which one did not know the other's. It begins anew.
pub(crate) fn renew_layout(env: &Environment) -> Result<(), StoreError> {
    let mut txn = env.write()?;
    let meta = open_meta(&txn)?.ok_or(Damage::Description)?;
    let layout = txn.get(meta, KEY_LAYOUT)?.map(<[u8]>::to_vec);
    match layout.as_deref() {
        Some(found) if found == LAYOUT_WITHOUT_LOG.as_bytes() => {
            Databases::create_missing(&mut txn)?;
            LogState::write_pending(&mut txn, meta)?;
        }
        Some(found) if found == LAYOUT_UNCHAINED.as_bytes() => {
            if LogState::is_ambiguous(&txn, meta)? {
                Databases::clear_log(&mut txn)?;
                LogState::write_anew(&mut txn, meta)?;
            } else if let Some(state) = LogState::read(&txn, meta)? {
                state.write(&mut txn, meta)?;
            }
        }
        // Another process may have done it meanwhile.
        _ => return Ok(()),
    }
    txn.put(meta, KEY_LAYOUT, LAYOUT.as_bytes())?;
    Ok(txn.commit()?)
}
