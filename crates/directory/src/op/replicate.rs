//! Changes of a copied content: a batch in one transaction, with the state that it reaches.

use std::path::Path;

use fulgurite_ldap::ContentChange;
use fulgurite_store::{RoomFor, StoreError, View};

use crate::core::database::Database;
use crate::directory::Directory;
use crate::write::replicated::applier::{Applier, BatchOutcome};
use crate::write::replicated::{
    ContentError, ContentReport, CopiedContent, QuarantineSize, QuarantinedEntry, quarantined,
    quarantined_by, state_of,
};

impl Directory {
    /// Returns the database whose store is at a path.
    #[must_use]
    pub fn database_at(&self, store: &Path) -> Option<&Database> {
        let mut databases = self.databases().iter();
        databases.find(|database| database.store.path() == store)
    }

    /// Applies changes of a copied content in one transaction, and makes them durable.
    ///
    /// It waits for the store's writer lock and for the disk, so a thread of the consumer calls it.
    ///
    /// # Errors
    /// [`ContentError::Store`], and then nothing is changed; [`ContentError::NoDatabase`].
    pub fn apply_content(
        &self,
        store: &Path,
        content: &mut CopiedContent,
        changes: &[ContentChange],
    ) -> Result<ContentReport, ContentError> {
        let database = self.database_at(store).ok_or(ContentError::NoDatabase)?;
        let facts = content.facts();
        let report = self.apply_batch(database, content, changes);
        if report.is_err() {
            content.restore(facts);
        }
        if let Err(ContentError::Store(error)) = &report
            && let Some(shortage) = error.shortage()
        {
            database.store.count_refused(shortage);
            // The log of changes gives its room to the entries: the next try finds it.
            let _ = database.store.make_room(RoomFor::Storing(0));
        }
        let report = report?;
        self.core().changes.committed();
        Ok(report)
    }

    fn apply_batch(
        &self,
        database: &Database,
        content: &mut CopiedContent,
        changes: &[ContentChange],
    ) -> Result<ContentReport, ContentError> {
        let begin = || {
            let mut writer = database.store.write()?;
            if changes.iter().all(is_deletion) {
                writer.use_reserve();
            }
            Ok::<_, StoreError>(writer)
        };
        let facts = content.facts();
        let mut writer = begin()?;
        let applier = Applier::new(self.core(), database, &mut writer, content)?;
        let report = match applier.run(changes)? {
            BatchOutcome::Applied(report) => report,
            BatchOutcome::Spoiled => {
                drop(writer);
                content.restore(facts);
                writer = begin()?;
                let applier = Applier::new(self.core(), database, &mut writer, content)?;
                applier.run_singly(changes)?
            }
        };
        writer.commit()?;
        Ok(report)
    }

    /// Tries the entries in the quarantine of a database again.
    ///
    /// # Errors
    /// As [`apply_content`](Self::apply_content).
    pub fn retry_quarantined(
        &self,
        store: &Path,
        content: &mut CopiedContent,
    ) -> Result<(), ContentError> {
        let database = self.database_at(store).ok_or(ContentError::NoDatabase)?;
        if QuarantineSize::read(&database.store.snapshot()?)?.rows == 0 {
            return Ok(());
        }
        let mut writer = database.store.write()?;
        let facts = content.facts();
        let mut applier = Applier::new(self.core(), database, &mut writer, content)?;
        let tried = applier.retry_quarantined();
        let tried = tried.and_then(|()| Ok(writer.commit()?));
        if tried.is_err() {
            content.restore(facts);
        }
        tried?;
        self.core().changes.committed();
        Ok(())
    }
}

/// Returns true for a change that stores no entry.
fn is_deletion(change: &ContentChange) -> bool {
    !matches!(
        change,
        ContentChange::Entry(_) | ContentChange::Operation(_)
    )
}

impl Database {
    /// Returns the state of the copy: the greatest change sequence number of each server.
    ///
    /// # Errors
    /// [`StoreError`] if the store fails.
    pub fn content_state(&self) -> Result<Vec<String>, StoreError> {
        let view: View<'_> = self.store.snapshot()?;
        state_of(&view)
    }

    /// Returns the number of entries of a consumer that could not be stored.
    ///
    /// # Errors
    /// [`StoreError`] if the store fails.
    pub fn quarantined_count(&self, rid: u16) -> Result<u64, StoreError> {
        Ok(quarantined_by(&self.store.snapshot()?, rid)?.len() as u64)
    }

    /// Returns the entries of a copy that could not be stored.
    ///
    /// # Errors
    /// [`StoreError`] if the store fails.
    pub fn quarantined(&self) -> Result<Vec<QuarantinedEntry>, StoreError> {
        quarantined(&self.store.snapshot()?)
    }
}
