//! A first refresh into an empty store.
//!
//! ```text
//!   entries --> ContentFill --- the entry above is here ----> bulk writer: one transaction
//!                   |---------- it has not come yet --------> waits for it
//!                   |---------- refused, deleted, moved ----> kept for the applier
//!                   `---------- anything else --------------> the end: names and indexes are
//!                                              written, the applier takes the rest, one commit
//! ```
//!
//! Nothing is visible before the commit. So a crash leaves an empty store, and the next refresh
//! begins anew. The log gets no record of the entries: who reads it reads the entries instead.

use std::path::Path;

use fulgurite_ldap::control::EntryUuid;
use fulgurite_ldap::{ContentChange, ContentEntry};
use fulgurite_schema::{CheckedEntry, Dn};
use fulgurite_store::{
    BulkAddOutcome, BulkWriter, CsnVector, EntryId, LoadOptions, PackedCsn, View,
};
use rustc_hash::FxHashMap;

use super::applier::{Applier, BatchOutcome, ContentReport};
use super::conflict::is_ahead;
use super::content::CopiedContent;
use super::error::{ContentError, ContentResult};
use super::incoming::IncomingReader;
use super::quarantine_rows::QuarantineSize;
use super::stamps::EntryStamps;
use super::waiting_rows::has_waiting;
use crate::core::database::Database;
use crate::core::foundation::Core;
use crate::directory::Directory;

/// Memory for sorting names and postings, in bytes.
const SORTING_BYTES: usize = 128 << 20;

/// Bytes of changes that are kept at most, about.
const KEPT_BYTES_MAX: usize = 64 << 20;

/// The writing of a first refresh. It holds the writer of the store.
pub struct ContentFill<'d> {
    core: &'d Core,
    database: &'d Database,
    writer: BulkWriter<'d>,
    /// The entries that have come. Those that are kept have no id.
    known: FxHashMap<EntryUuid, Option<EntryId>>,
    /// Entries by the normal name of the one above them.
    orphans: FxHashMap<String, Vec<NumberedEntry>>,
    /// Changes for the applier, each with its number in their order.
    later: Vec<(u64, ContentChange)>,
    kept_bytes: usize,
    next_number: u64,
    /// The greatest number of each server among the entries.
    filled: CsnVector,
    /// True if entries come without the numbers of their parts; `None` before the first.
    tells_whole: Option<bool>,
}

/// An entry with its number in the order of changes.
type NumberedEntry = (u64, ContentEntry);

/// The outcome of some changes.
#[derive(Debug)]
pub enum FillStep {
    /// All have been taken.
    Continues,
    /// Only [`ContentFill::finish`] can take these.
    Ends(Vec<ContentChange>),
}

/// The outcome of one entry.
enum Taken {
    /// The fill goes on.
    Goes,
    /// The fill ends behind it.
    Ends,
    /// The fill ends before it.
    Not(ContentEntry),
}

/// The way of one entry.
enum EntryStep {
    Added(Dn),
    /// The entry above has not come.
    Orphan(Dn),
    /// The applier takes it later.
    Kept,
    /// The applier takes it, and all changes behind it: its name is taken.
    Ends,
}

impl Directory {
    /// Begins to fill a copy. `None` if its store has or had any content. Waits for other writers.
    ///
    /// # Errors
    /// [`ContentError`].
    pub fn begin_fill(&self, store: &Path) -> Result<Option<ContentFill<'_>>, ContentError> {
        let database = self.database_at(store).ok_or(ContentError::NoDatabase)?;
        if !is_new(&database.store.snapshot()?)? {
            return Ok(None);
        }
        let options = LoadOptions {
            memory_bytes: SORTING_BYTES,
            ..LoadOptions::default()
        };
        let writer = database.store.bulk_writer(&options)?;
        // Another consumer may have come first.
        if !is_new(&database.store.snapshot()?)? {
            return Ok(None);
        }
        Ok(writer.map(|writer| ContentFill {
            core: self.core(),
            database,
            writer,
            known: FxHashMap::default(),
            orphans: FxHashMap::default(),
            later: Vec::new(),
            kept_bytes: 0,
            next_number: 0,
            filled: CsnVector::default(),
            tells_whole: None,
        }))
    }
}

/// Returns true for a store without entries, and without any memory of some.
fn is_new(view: &View<'_>) -> ContentResult<bool> {
    let log = view.changes()?;
    let has_content = view.entry_count()? > 0 || log.newest > 0 || !log.vector.is_empty();
    Ok(!has_content && !has_waiting(view)? && QuarantineSize::read(view)?.rows == 0)
}

impl ContentFill<'_> {
    /// Returns true if nothing has come yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty() && self.later.is_empty()
    }

    /// Takes changes in their order, up to the first one that ends the fill.
    ///
    /// # Errors
    /// [`ContentError`]. The fill must be dropped then, and the store stays empty.
    pub fn take(
        &mut self,
        content: &mut CopiedContent,
        changes: Vec<ContentChange>,
    ) -> Result<FillStep, ContentError> {
        let mut changes = changes.into_iter();
        while let Some(change) = changes.next() {
            let own_end = match change {
                ContentChange::BeginRefresh if self.is_empty() => {
                    content.begin_refresh();
                    continue;
                }
                ContentChange::Entry(given) if !self.known.contains_key(&given.uuid) => {
                    match self.entry(content, given)? {
                        Taken::Goes => continue,
                        Taken::Ends => None,
                        Taken::Not(given) => Some(ContentChange::Entry(given)),
                    }
                }
                // A deletion before an older state of its entry is remembered. Nothing else
                // depends on it.
                ContentChange::Delete {
                    uuid, csn: Some(_), ..
                } if content.multi_provider && !self.known.contains_key(&uuid) => {
                    self.keep(uuid, change);
                    continue;
                }
                ContentChange::Present(ref uuids) if self.knows_all(uuids) => continue,
                other => Some(other),
            };
            let rest = own_end.into_iter().chain(changes).collect();
            return Ok(FillStep::Ends(rest));
        }
        match self.kept_bytes > KEPT_BYTES_MAX {
            true => Ok(FillStep::Ends(Vec::new())),
            false => Ok(FillStep::Continues),
        }
    }

    /// Returns true if all entries of a set are named when they are stored.
    fn knows_all(&self, uuids: &[EntryUuid]) -> bool {
        uuids.iter().all(|uuid| self.known.contains_key(uuid))
    }

    fn entry(&mut self, content: &mut CopiedContent, given: ContentEntry) -> ContentResult<Taken> {
        let mut names = match self.add(content, &given)? {
            EntryStep::Added(name) => vec![name],
            EntryStep::Orphan(above) => {
                self.keep_orphan(&above, given);
                return Ok(Taken::Goes);
            }
            EntryStep::Kept => {
                self.keep(given.uuid, ContentChange::Entry(given));
                return Ok(Taken::Goes);
            }
            EntryStep::Ends => return Ok(Taken::Not(given)),
        };
        let mut taken = Taken::Goes;
        while let Some(name) = names.pop().filter(|_| !self.orphans.is_empty()) {
            for (number, orphan) in self.orphans.remove(name.normal()).unwrap_or_default() {
                match self.add(content, &orphan)? {
                    EntryStep::Added(name) => {
                        names.push(name);
                        continue;
                    }
                    EntryStep::Ends => taken = Taken::Ends,
                    EntryStep::Orphan(_) | EntryStep::Kept => {}
                }
                self.later.push((number, ContentChange::Entry(orphan)));
            }
        }
        Ok(taken)
    }

    fn keep_orphan(&mut self, above: &Dn, given: ContentEntry) {
        self.known.insert(given.uuid, None);
        let number = self.number();
        self.kept_bytes += given.bytes();
        let siblings = self.orphans.entry(above.normal().to_owned());
        siblings.or_default().push((number, given));
    }

    fn keep(&mut self, uuid: EntryUuid, change: ContentChange) {
        self.known.insert(uuid, None);
        let number = self.number();
        self.kept_bytes += change.bytes() + size_of::<ContentChange>();
        self.later.push((number, change));
    }

    /// Returns the next number in the order of changes.
    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    /// Adds an entry if nothing about it needs a decision.
    fn add(
        &mut self,
        content: &mut CopiedContent,
        given: &ContentEntry,
    ) -> ContentResult<EntryStep> {
        let reader = IncomingReader {
            core: self.core,
            database: self.database,
            content,
        };
        let entry = reader.incoming(given);
        let entry = entry.and_then(|entry| reader.admitted(entry));
        let checked = match entry.and_then(|entry| reader.checked(entry)) {
            Ok(checked) => checked,
            Err(ContentError::Refused(_)) => return Ok(EntryStep::Kept),
            Err(error) => return Err(error),
        };
        let number = self.number_of(&checked);
        if content.multi_provider && self.is_special(given, &checked, number) {
            return Ok(EntryStep::Kept);
        }
        let id = match self.writer.add(&checked).map_err(ContentError::from) {
            Ok(BulkAddOutcome::Added(id)) => id,
            Ok(BulkAddOutcome::OutOfOrder) => {
                let above = checked.entry().dn.parent();
                return Ok(above.map_or(EntryStep::Kept, EntryStep::Orphan));
            }
            Ok(BulkAddOutcome::Exists) => return Ok(EntryStep::Ends),
            Err(ContentError::Refused(_)) => return Ok(EntryStep::Kept),
            Err(error) => return Err(error),
        };
        self.known.insert(given.uuid, Some(id));
        self.tells_whole = Some(given.stamps.is_none());
        content.named.insert(id);
        if let Some(csn) = number {
            self.filled.raise(csn);
        }
        Ok(EntryStep::Added(checked.into_entry().dn))
    }

    fn number_of(&self, entry: &CheckedEntry) -> Option<PackedCsn> {
        let types = &self.core.types;
        let csn = entry.entry().values(types.entry_csn.attribute).first()?;
        PackedCsn::parse(csn)
    }

    /// Returns true if the merge has to look at an entry: at its stamps, its place, or its time.
    fn is_special(
        &self,
        given: &ContentEntry,
        entry: &CheckedEntry,
        number: Option<PackedCsn>,
    ) -> bool {
        let stamps = given.stamps.as_deref();
        let stamps = stamps.and_then(|text| EntryStamps::of_text(text, number));
        if stamps.is_some_and(|stamps| stamps != EntryStamps::whole(number)) {
            return true;
        }
        let Some(place) = &given.place else {
            return is_ahead(self.core, number);
        };
        let moved = place.csn.as_ref();
        let moved = moved.and_then(|csn| PackedCsn::parse(csn.as_bytes()));
        let above = self.known.get(&place.above).copied().flatten();
        let is_usual = place.levels == 1 && moved <= number;
        // An entry whose parent has not come waits for it first.
        let here = self.writer.above(&entry.entry().dn);
        !is_usual || here.is_some_and(|here| above != Some(here)) || is_ahead(self.core, number)
    }

    /// Ends the fill: stores what was kept and `rest`, and makes everything durable.
    ///
    /// # Errors
    /// [`ContentError`], and then the store stays empty.
    pub fn finish(
        self,
        content: &mut CopiedContent,
        rest: Vec<ContentChange>,
    ) -> Result<ContentReport, ContentError> {
        let ContentFill {
            core,
            database,
            writer,
            orphans,
            later,
            filled,
            tells_whole,
            ..
        } = self;
        let added = writer.entries();
        let mut kept = later;
        let orphans = orphans.into_values().flatten();
        kept.extend(orphans.map(|(number, entry)| (number, ContentChange::Entry(entry))));
        kept.sort_unstable_by_key(|(number, _)| *number);
        let kept = kept.into_iter().map(|(_, change)| change);
        let changes: Vec<ContentChange> = kept.chain(rest).collect();
        let facts = content.facts();
        let stored = || {
            let mut writer = writer.into_writer()?;
            writer.expect_vector(&filled)?;
            let tells_whole = tells_whole.filter(|_| content.multi_provider);
            if let Some(tells_whole) = tells_whole {
                let mut applier = Applier::new(core, database, &mut writer, content)?;
                applier.note_form(tells_whole)?;
            }
            let savepoint = writer.savepoint()?;
            let outcome = Applier::new(core, database, &mut writer, content)?.run(&changes)?;
            let mut report = match outcome {
                BatchOutcome::Applied(report) => {
                    writer.keep(savepoint)?;
                    report
                }
                BatchOutcome::Spoiled => {
                    writer.undo(savepoint);
                    content.restore(facts.clone());
                    Applier::new(core, database, &mut writer, content)?.run_singly(&changes)?
                }
            };
            report.applied += added;
            writer.commit()?;
            Ok(report)
        };
        let report = stored();
        if report.is_err() {
            content.restore(facts);
        }
        if let Err(ContentError::Store(error)) = &report
            && let Some(shortage) = error.shortage()
        {
            database.store.count_refused(shortage);
        }
        let report = report?;
        core.changes.committed();
        Ok(report)
    }
}

impl std::fmt::Debug for ContentFill<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ContentFill")
            .field("entries", &self.writer.entries())
            .finish_non_exhaustive()
    }
}
