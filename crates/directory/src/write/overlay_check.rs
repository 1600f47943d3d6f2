//! The check of stored entries by overlays. Offline tools do not ask these, and entries are older.

use fulgurite_ldap::ModifyOperation;
use fulgurite_schema::{Dn, Entry};
use fulgurite_store::{AllEntries, EntryId, StoreError, View};

use crate::core::database::Database;
use crate::directory::Directory;
use crate::features::guard_question::{GuardContext, GuardRefusal, GuardedUpdate};
use crate::features::guards::Guard;
use crate::request::change::Change;

impl Directory {
    /// Asks the overlays `unique` and `constraint` about all entries, as if a modify stored their
    /// values anew. Reports each refusal with the name of the entry, and returns their number.
    ///
    /// It changes nothing, and updates wait meanwhile.
    ///
    /// # Errors
    /// [`StoreError`] if a store cannot be read.
    pub fn check_by_overlays(&self, report: &mut dyn FnMut(&Dn, &str)) -> Result<u64, StoreError> {
        let mut refused = 0;
        for database in self.databases() {
            let guards = self.features_of(database).guards.iter();
            let guards: Vec<&Guard> = guards.filter(|guard| guard.judges_values()).collect();
            if !guards.is_empty() {
                refused += self.check_database(database, &guards, report)?;
            }
        }
        Ok(refused)
    }

    fn check_database(
        &self,
        database: &Database,
        guards: &[&Guard],
        report: &mut dyn FnMut(&Dn, &str),
    ) -> Result<u64, StoreError> {
        let mut writer = database.store().write()?;
        let mut refused = 0;
        for id in entry_ids(&writer)? {
            let Some(entry) = writer.entry(id)?.map(|entry| entry.to_entry()) else {
                continue;
            };
            let entry = entry?;
            let changes = values_of(&entry);
            let update = GuardedUpdate {
                operation: "the entry",
                is_rename: false,
                dn: &entry.dn,
                before: Some(id),
                changes: &changes,
                after: &entry,
            };
            for guard in guards {
                let mut context = GuardContext {
                    core: self.core(),
                    database,
                    writer: &mut writer,
                    user: "",
                    short: false,
                };
                if let Err(GuardRefusal::Result(result)) = guard.check(&mut context, &update) {
                    refused += 1;
                    report(&entry.dn, &result.diagnostic);
                }
            }
        }
        Ok(refused)
    }
}

/// Returns the numbers of all entries.
fn entry_ids(view: &View<'_, impl fulgurite_store::Snapshot>) -> Result<Vec<EntryId>, StoreError> {
    let mut ids = Vec::new();
    let mut entries = AllEntries::of(view)?;
    while let Some(entry) = entries.next()? {
        if !entry.is_placeholder() {
            ids.push(entry.id());
        }
    }
    Ok(ids)
}

/// Returns the attributes of an entry as additions.
fn values_of(entry: &Entry) -> Vec<Change> {
    let attributes = entry.attributes.iter().cloned();
    let added = attributes.map(|attribute| Change {
        operation: ModifyOperation::Add,
        attribute,
    });
    added.collect()
}
