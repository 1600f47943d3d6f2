//! A batch of changes on the writer.

use std::collections::HashMap;

use fulgurite_ldap::control::EntryUuid;
use fulgurite_ldap::{ContentChange, LoggedOperation};
use fulgurite_schema::{Assertion, AttributeSelector, Filter};
use fulgurite_store::{CsnVector, EntryId, Scope, StoreError, Writer};

use super::content::CopiedContent;
use super::error::{ContentError, ContentResult};
use super::numbers::Deletion;
use super::quarantine_rows::QuarantineSize;
use super::state::{texts_of, vector_of};
use super::waiting_rows::WaitingSummary;
use crate::core::database::Database;
use crate::core::foundation::Core;

/// The outcome of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentReport {
    /// Changes that have been stored.
    pub applied: u64,
    /// Entries that were put into the quarantine.
    pub quarantined: u64,
    /// Conflicts that were reported.
    pub conflicts: u64,
    /// The state that is stored now, if it has moved.
    pub state: Option<Vec<String>>,
    /// The reason why the rest of the batch was not applied: the log does not fit the copy.
    pub lost_sync: Option<String>,
    /// Sentences for the log.
    pub warnings: Vec<String>,
}

/// The outcome of a batch on the writer.
#[derive(Debug)]
pub(crate) enum BatchOutcome {
    Applied(ContentReport),
    /// A refused change has stored a part of itself. The batch has to be undone, and its changes
    /// [applied singly](Applier::run_singly).
    Spoiled,
}

/// The application of one batch.
pub(crate) struct Applier<'a, 'd> {
    pub(super) core: &'d Core,
    pub(super) database: &'d Database,
    pub(super) writer: &'a mut Writer<'d>,
    pub(super) content: &'a mut CopiedContent,
    /// The vector of the store.
    pub(super) vector: CsnVector,
    pub(super) has_reached: bool,
    /// The state that the copy has right after the present change, if the next one says so.
    pub(super) reached_next: CsnVector,
    /// The state that the batch reaches, as far as it tells.
    pub(super) reached_last: CsnVector,
    /// Entries of the batch: the look-up before the first change, and what the batch did to them.
    pub(super) known: HashMap<EntryUuid, Option<EntryId>>,
    /// Entries whose name another entry has.
    pub(super) waiting: WaitingSummary,
    /// Waiting entries that have given their names away. They are decided next.
    pub(super) freed: Vec<EntryUuid>,
    /// The size of the quarantine, once it is known.
    pub(super) quarantine_size: Option<QuarantineSize>,
    /// The operation of a log that is being done.
    pub(super) operation: Option<LoggedOperation>,
    pub(super) report: ContentReport,
}

impl<'a, 'd> Applier<'a, 'd> {
    /// Reads the state of the copy.
    ///
    /// # Errors
    /// [`StoreError`] if the store fails.
    pub(crate) fn new(
        core: &'d Core,
        database: &'d Database,
        writer: &'a mut Writer<'d>,
        content: &'a mut CopiedContent,
    ) -> Result<Applier<'a, 'd>, StoreError> {
        let waiting = WaitingSummary::read(writer, content.rid)?;
        // The transaction that noted it may have been dropped.
        content.tells_whole = None;
        Ok(Applier {
            vector: writer.log_state()?.vector.clone(),
            has_reached: false,
            reached_next: CsnVector::default(),
            reached_last: CsnVector::default(),
            core,
            database,
            writer,
            content,
            known: HashMap::new(),
            waiting,
            freed: Vec::new(),
            quarantine_size: None,
            operation: None,
            report: ContentReport::default(),
        })
    }

    /// Applies the changes in their order. The caller commits.
    ///
    /// # Errors
    /// [`ContentError::Store`], after which the transaction must not be committed.
    pub(crate) fn run(mut self, changes: &[ContentChange]) -> Result<BatchOutcome, ContentError> {
        self.look_up(changes)?;
        self.prepare(changes)?;
        for (at, change) in changes.iter().enumerate() {
            self.look_ahead(changes, at);
            let before = self.writer.changes_made();
            let applied = self.apply(change);
            let is_partial = self.writer.changes_made() != before;
            match applied {
                Err(ContentError::Refused(_) | ContentError::LostSync(_)) if is_partial => {
                    return Ok(BatchOutcome::Spoiled);
                }
                applied => match self.settle_change(change, applied)? {
                    true => {}
                    false => break,
                },
            }
        }
        Ok(BatchOutcome::Applied(self.finish()))
    }

    /// As [`run`](Self::run), but undoes what a refused change has stored of itself.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(crate) fn run_singly(
        mut self,
        changes: &[ContentChange],
    ) -> Result<ContentReport, ContentError> {
        self.prepare(changes)?;
        for (at, change) in changes.iter().enumerate() {
            self.look_ahead(changes, at);
            let applied = self.attempt(|applier| applier.apply(change));
            if !self.settle_change(change, applied)? {
                break;
            }
        }
        Ok(self.finish())
    }

    fn prepare(&mut self, changes: &[ContentChange]) -> ContentResult {
        if self.content.multi_provider {
            self.read_told()?;
        }
        self.reached_last = reached_by(changes);
        Ok(())
    }

    fn look_ahead(&mut self, changes: &[ContentChange], at: usize) {
        self.reached_next = match changes.get(at + 1) {
            Some(ContentChange::Reached { csns, .. }) => vector_of(csns),
            _ => CsnVector::default(),
        };
    }

    /// Notes the outcome of a change. Returns true if the next one follows.
    fn settle_change(
        &mut self,
        change: &ContentChange,
        applied: ContentResult,
    ) -> ContentResult<bool> {
        match applied {
            Ok(()) => self.report.applied += 1,
            Err(ContentError::Refused(reason)) => self.refuse(change, &reason)?,
            Err(ContentError::LostSync(reason)) => {
                self.report.lost_sync = Some(reason);
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
        Ok(true)
    }

    fn finish(mut self) -> ContentReport {
        if self.has_reached {
            self.report.state = Some(texts_of(&self.vector));
        }
        self.report
    }

    /// Does something. If it is refused, all of it is undone.
    ///
    /// The ids that a refresh has named stay. Those of undone entries are not given again.
    pub(super) fn attempt(
        &mut self,
        action: impl FnOnce(&mut Self) -> ContentResult,
    ) -> ContentResult {
        let savepoint = self.writer.savepoint()?;
        let facts = self.content.facts();
        let (vector, has_reached) = (self.vector.clone(), self.has_reached);
        let (waiting, freed) = (self.waiting.clone(), self.freed.len());
        let report = &self.report;
        let counts = (report.quarantined, report.conflicts, report.warnings.len());
        let done = action(self);
        match &done {
            Ok(()) => self.writer.keep(savepoint)?,
            Err(ContentError::Refused(_) | ContentError::LostSync(_)) => {
                self.writer.undo(savepoint);
                self.content.restore(facts);
                self.content.tells_whole = None;
                (self.vector, self.has_reached) = (vector, has_reached);
                (self.report.quarantined, self.report.conflicts) = (counts.0, counts.1);
                self.report.warnings.truncate(counts.2);
                self.known.clear();
                self.operation = None;
                self.waiting = waiting;
                self.freed.truncate(freed);
                self.quarantine_size = None;
            }
            Err(_) => {}
        }
        done
    }

    fn apply(&mut self, change: &ContentChange) -> ContentResult {
        match change {
            ContentChange::BeginRefresh => {
                self.content.begin_refresh();
                Ok(())
            }
            ContentChange::Entry(entry) => self.entry_state(entry),
            ContentChange::Delete { uuid, csn, ends } => {
                self.delete(uuid, Deletion::told(csn.as_deref(), ends.as_deref()))
            }
            ContentChange::Present(uuids) => self.name_present(uuids),
            ContentChange::DropUnnamed { state } => self.drop_unnamed(state),
            ContentChange::EndRefresh => {
                self.content.is_refreshing = false;
                self.retry_quarantined()?;
                self.drop_parked()?;
                self.drop_below_glue()
            }
            ContentChange::Reached { csns, replaces } => self.reach(csns, *replaces),
            ContentChange::Operation(operation) => self.logged(operation),
        }
    }

    /// Puts what cannot be stored into the quarantine.
    fn refuse(&mut self, change: &ContentChange, reason: &str) -> ContentResult {
        let ContentChange::Entry(entry) = change else {
            self.report.warnings.push(reason.to_owned());
            return Ok(());
        };
        let warning = format!(
            "{} cannot be stored and waits in the quarantine: {reason}",
            entry.dn
        );
        self.report.warnings.push(warning);
        self.report.quarantined += 1;
        // An older state of it stays, and belongs to the content.
        if let Some(id) = self.entry_of(&entry.uuid)? {
            self.content.named.insert(id);
        }
        self.quarantine(self.content.rid, entry, reason)?;
        match self.content.multi_provider {
            true => self.report_quarantined(entry),
            false => Ok(()),
        }
    }

    /// Looks all UUIDs of a batch up before the first change. Later each look-up would write the
    /// collected postings.
    fn look_up(&mut self, changes: &[ContentChange]) -> ContentResult {
        for change in changes {
            match change {
                ContentChange::Entry(entry) => {
                    self.entry_of(&entry.uuid)?;
                    if let Some(place) = &entry.place {
                        self.entry_of(&place.above)?;
                    }
                }
                ContentChange::Delete { uuid, .. } => drop(self.entry_of(uuid)?),
                ContentChange::Present(uuids) => {
                    for uuid in uuids {
                        self.entry_of(uuid)?;
                    }
                }
                ContentChange::Operation(operation) => {
                    if let Some(uuid) = &operation.uuid {
                        self.entry_of(uuid)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the entry with a UUID.
    pub(super) fn entry_of(&mut self, uuid: &EntryUuid) -> ContentResult<Option<EntryId>> {
        if let Some(known) = self.known.get(uuid) {
            return Ok(*known);
        }
        let found = self.search(uuid)?;
        self.known.insert(*uuid, found);
        Ok(found)
    }

    fn search(&mut self, uuid: &EntryUuid) -> ContentResult<Option<EntryId>> {
        let schema = &self.core.schema;
        let description = &self.core.types.entry_uuid;
        let Some(rule) = schema.attribute_at(description.attribute).equality else {
            return Err(ContentError::Refused(
                "entryUUID has no equality rule".to_owned(),
            ));
        };
        let text = uuid::Uuid::from_bytes(*uuid).hyphenated().to_string();
        let Ok(normal) = rule.normalise(&**schema, text.as_bytes()) else {
            return Ok(None);
        };
        let filter = Filter::Equality(Assertion {
            attribute: AttributeSelector::from(description.clone()),
            rule,
            normal: normal.into(),
        });
        let mut candidates = self.writer.plan(EntryId::ROOT, Scope::Subtree, &filter)?;
        while let Some(entry) = candidates.next_entry(&**self.writer)? {
            let values = entry.plain_values(description.attribute);
            if values.is_some_and(|values| values.iter().any(|held| held == text.as_bytes())) {
                return Ok(Some(entry.id()));
            }
        }
        Ok(None)
    }

    /// Marks entries as part of the content.
    fn name_present(&mut self, uuids: &[EntryUuid]) -> ContentResult {
        for uuid in uuids {
            if let Some(id) = self.entry_of(uuid)? {
                self.content.named.insert(id);
            }
        }
        Ok(())
    }
}

/// Returns the state that a batch reaches, or that its provider has.
fn reached_by(changes: &[ContentChange]) -> CsnVector {
    let told = changes.iter().filter_map(|change| match change {
        ContentChange::Reached { csns, .. } => Some(csns),
        ContentChange::DropUnnamed { state } => Some(state),
        _ => None,
    });
    let mut reached = CsnVector::default();
    told.for_each(|csns| reached.raise_all(&vector_of(csns)));
    reached
}
