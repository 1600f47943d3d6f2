//! A database of OpenLDAP's mdb backend into a store: without LDIF, without loss, and with every
//! entry's id.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use crate::import_check::{GroupRule, ImportCheck, compare};
use crate::import_error::ImportError;
use fulgurite_openldap_mdb::{Attribute, Dump, Entry as SourceEntry, Source};
use fulgurite_schema::{AttributeDescription, CheckOptions, CheckedEntry, Dn, Entry, Schema};
use fulgurite_store::{
    BulkAddOutcome, BulkWriteError, BulkWriter, EntryId, LoadOptions, Store, StoreError, Writer,
};

/// How to import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Entries that the schema does not allow are taken as they are.
    pub lenient: bool,
    /// Entries that cannot be read or added are left out and reported, with everything below them.
    pub continue_on_error: bool,
    /// Attributes that are left out, such as `memberOf`, whose values OpenLDAP's overlay computed
    /// from the groups. Taken values would stay as they are when groups change.
    pub leave_out: Vec<String>,
}

/// The counts of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportSummary {
    /// Entries that the database says it has.
    pub found: u64,
    /// Entries taken.
    pub taken: u64,
    /// Entries left out.
    pub left_out: u64,
    /// Values of [`ImportOptions::leave_out`].
    pub values_left_out: u64,
}

/// An event of an import.
#[derive(Debug)]
pub enum ImportEvent {
    /// Entries processed so far, and entries in all.
    Progress(u64, u64),
    /// An entry is left out.
    LeftOut(ImportError),
}

/// Returns the names of the topmost entries of a database: its suffixes.
///
/// # Errors
/// [`ImportError`].
pub fn suffixes_of(from: &Path) -> Result<Vec<String>, ImportError> {
    Ok(Source::open(from)?.dump()?.suffixes()?)
}

/// Copies all entries of a database, as they are at one moment, into an empty store, in one
/// transaction.
///
/// # Errors
/// [`ImportError`]; the store stays empty then.
pub fn import_openldap(
    from: &Path,
    store: &Store,
    options: &ImportOptions,
    report: &mut dyn FnMut(ImportEvent),
) -> Result<ImportSummary, ImportError> {
    let source = Source::open(from)?;
    import_dump(&mut source.dump()?, store, options, report)
}

/// Imports as [`import_openldap`] does, and compares the store with the same state of the database.
///
/// # Errors
/// [`ImportError`]. The store stays empty if the import fails.
pub fn import_and_check(
    from: &Path,
    store: &Store,
    options: &ImportOptions,
    groups: &[GroupRule],
    report: &mut dyn FnMut(ImportEvent),
) -> Result<(ImportSummary, ImportCheck), ImportError> {
    let source = Source::open(from)?;
    let mut dump = source.dump()?;
    let summary = import_dump(&mut dump, store, options, report)?;
    dump.rewind();
    let check = compare(&mut dump, store, groups)?;
    Ok((summary, check))
}

fn import_dump(
    dump: &mut Dump<'_>,
    store: &Store,
    options: &ImportOptions,
    report: &mut dyn FnMut(ImportEvent),
) -> Result<ImportSummary, ImportError> {
    let bulk_writer = store.bulk_writer(&LoadOptions::default())?;
    let mut bulk_writer = bulk_writer.ok_or(ImportError::NotEmpty)?;
    let mut run = ImportRun {
        schema: Arc::clone(store.schema()),
        descriptions: HashMap::new(),
        options,
        summary: ImportSummary {
            found: dump.len()?,
            ..ImportSummary::default()
        },
        parents: HashMap::new(),
    };
    while run.next(dump, &mut bulk_writer, report)? {}
    let mut writer = bulk_writer.into_settled_writer()?;
    run.check_parents(&mut writer, report)?;
    let summary = run.summary;
    writer.commit()?;
    Ok(summary)
}

/// The state of an import.
struct ImportRun<'o> {
    schema: Arc<Schema>,
    descriptions: HashMap<String, AttributeDescription>,
    options: &'o ImportOptions,
    summary: ImportSummary,
    /// Parents of the entries taken: each with one child, for a message, until it is seen to be
    /// there.
    parents: HashMap<u64, (u64, String)>,
}

/// Entries between two words of progress.
const PROGRESS_EVERY: u64 = 1_000;

impl ImportRun<'_> {
    /// Takes one entry; whether there may be more.
    fn next(
        &mut self,
        dump: &mut Dump<'_>,
        bulk_writer: &mut BulkWriter<'_>,
        report: &mut dyn FnMut(ImportEvent),
    ) -> Result<bool, ImportError> {
        let taken = match dump.next_entry() {
            Ok(None) => return Ok(false),
            Ok(Some(foreign)) => self.take(bulk_writer, foreign),
            Err(error) => Err(error.into()),
        };
        match taken {
            Ok(()) => self.summary.taken += 1,
            Err(error @ (ImportError::Store(_) | ImportError::Temporary(_))) => return Err(error),
            Err(error) if self.options.continue_on_error => {
                self.summary.left_out += 1;
                report(ImportEvent::LeftOut(error));
            }
            Err(error) => return Err(error),
        }
        if self.summary.taken.is_multiple_of(PROGRESS_EVERY) {
            report(ImportEvent::Progress(
                self.summary.taken,
                self.summary.found,
            ));
        }
        Ok(true)
    }

    fn take(
        &mut self,
        bulk_writer: &mut BulkWriter<'_>,
        foreign: SourceEntry,
    ) -> Result<(), ImportError> {
        let (id, parent, name) = (foreign.id, foreign.parent, foreign.name.clone());
        let wrong = |reason: String| ImportError::Entry {
            id,
            name: name.clone(),
            reason,
        };
        let checked = self.checked(foreign).map_err(&wrong)?;
        let added = bulk_writer.add_as(EntryId(id), EntryId(parent), &checked);
        let added = added.map_err(|error| match error {
            BulkWriteError::Store(
                error @ (StoreError::OutsideSuffix(_)
                | StoreError::EntryTooLarge
                | StoreError::EntryTooBig { .. }),
            ) => wrong(error.to_string()),
            BulkWriteError::Store(StoreError::NoSuchEntry(_)) => ImportError::Orphan {
                id,
                name: name.clone(),
            },
            error => error.into(),
        })?;
        match added {
            BulkAddOutcome::Added(_) => {}
            BulkAddOutcome::Exists => {
                return Err(wrong("there is an entry of this name already".to_owned()));
            }
            BulkAddOutcome::OutOfOrder => {
                return Err(wrong("its id is not above the one before".to_owned()));
            }
        }
        if parent != 0 {
            self.parents.entry(parent).or_insert((id, name));
        }
        Ok(())
    }

    fn checked(&mut self, foreign: SourceEntry) -> Result<CheckedEntry, String> {
        let dn = Dn::parse(&self.schema, &foreign.name).map_err(|error| error.to_string())?;
        let mut entry = Entry::new(dn);
        for Attribute {
            description,
            values,
        } in foreign.attributes
        {
            let mut names = self.options.leave_out.iter();
            if names.any(|name| name.eq_ignore_ascii_case(&description)) {
                self.summary.values_left_out += values.len() as u64;
                continue;
            }
            let described = match self.descriptions.get(&description) {
                Some(described) => described.clone(),
                None => {
                    let described = self.schema.describe(description.as_bytes());
                    let described = described.map_err(|error| error.to_string())?;
                    self.descriptions.insert(description, described.clone());
                    described
                }
            };
            for value in values {
                entry.push(&described, value);
            }
        }
        if self.options.lenient {
            return Ok(CheckedEntry::on_trust(entry, &self.schema));
        }
        let checked = self.schema.check(entry, &CheckOptions::default());
        checked.map_err(|violation| violation.text)
    }

    /// Returns every entry's parent is there; where one was left out, what is below it is left out
    /// too.
    fn check_parents(
        &mut self,
        writer: &mut Writer<'_>,
        report: &mut dyn FnMut(ImportEvent),
    ) -> Result<(), ImportError> {
        let mut missing: Vec<u64> = Vec::new();
        for (parent, child) in std::mem::take(&mut self.parents) {
            if writer.entry(EntryId(parent))?.is_some() {
                continue;
            }
            let (id, name) = child;
            if !self.options.continue_on_error {
                return Err(ImportError::Orphan { id, name });
            }
            missing.push(parent);
        }
        for parent in missing {
            self.leave_out_below(writer, EntryId(parent), report)?;
        }
        Ok(())
    }

    fn leave_out_below(
        &mut self,
        writer: &mut Writer<'_>,
        top: EntryId,
        report: &mut dyn FnMut(ImportEvent),
    ) -> Result<(), ImportError> {
        let (mut all, mut next) = (Vec::new(), vec![top]);
        while let Some(id) = next.pop() {
            let children = writer.children(id)?;
            all.extend_from_slice(&children);
            next.extend(children);
        }
        // Children before their parents.
        for id in all.into_iter().rev() {
            let rdn = writer.entry(id)?.map(|entry| entry.rdn().to_vec());
            let name = String::from_utf8_lossy(&rdn.unwrap_or_default()).into_owned();
            writer.undo_add(id)?;
            self.summary.taken -= 1;
            self.summary.left_out += 1;
            report(ImportEvent::LeftOut(ImportError::Orphan { id: id.0, name }));
        }
        Ok(())
    }
}
