//! Brings a restored store to a point in time by the log of changes of another store.
//!
//! ```text
//!   restored: a backup, up to its vector V        log: the store of a server
//!      |                                             |
//!      |<-- records that V does not cover, in order, up to the time
//! ```
//!
//! The log has what clients changed. It lacks what binds changed, such as the times of failed
//! binds. It also lacks what overlays did without a new change number.

use std::sync::Arc;

use fulgurite_directory::{
    ContentError, CopiedContent, DatabaseOptions, Directory, DirectoryOptions, OpenError, Timestamp,
};
use fulgurite_ldap::{
    ContentAttribute, ContentChange, LoggedKind, LoggedOperation, ModifyOperation,
};
use fulgurite_store::{ChangeKind, ChangeRecord, CsnVector, Store, StoreError};

/// Records that are applied in one transaction.
const BATCH: usize = 512;

/// The outcome of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayReport {
    /// The number of changes that were applied.
    pub applied: u64,
    /// The time of the last one.
    pub last: Option<Timestamp>,
}

/// A refusal or a failure of a replay.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The two stores are of different databases.
    #[error("the log is of {log}, and the backup of {backup}")]
    OtherDatabase {
        /// The suffix of the log's database.
        log: String,
        /// The suffix of the backup.
        backup: String,
    },
    /// The log has dropped changes that are needed.
    #[error(
        "the log of changes does not reach back to the backup. It has dropped changes up to \
         {dropped}; the backup ends at {backup}. Take a newer backup, or let the log keep more \
         by storage.log_bytes_max"
    )]
    NotReached {
        /// The greatest dropped number.
        dropped: String,
        /// The vector of the backup.
        backup: String,
    },
    /// The store of the log lacks changes of the backup.
    #[error(
        "the log ends at {log}, and the backup at {backup}: the log is of another database, or \
         was restored itself"
    )]
    Behind {
        /// The vector of the log.
        log: String,
        /// The vector of the backup.
        backup: String,
    },
    /// The log has a bulk load, which is no single change.
    #[error("entries were loaded in bulk at {0}; the log has no changes of that")]
    Loaded(String),
    /// A record is missing or damaged.
    #[error("the log is damaged: {0}")]
    Damaged(String),
    /// A change does not fit.
    #[error("the log does not fit the backup: {0}")]
    Diverged(String),
    /// A store fails.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The directory cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The changes cannot be applied.
    #[error(transparent)]
    Content(#[from] ContentError),
}

/// Applies the changes of a log that a restored store lacks, up to a time. Nobody else may use the
/// restored store.
///
/// # Errors
/// [`ReplayError`]. The restored store may have a part of the changes then.
pub fn replay(
    restored: &Arc<Store>,
    log: &Store,
    until: Timestamp,
) -> Result<ReplayReport, ReplayError> {
    let schema = Arc::clone(restored.schema());
    let mut content = CopiedContent::everything(&schema);
    // Opening completes the vector, if the store was loaded and never served.
    let options = DatabaseOptions::new(Arc::clone(restored));
    let directory = Directory::open(DirectoryOptions::new(schema, vec![options]))?;
    let vector = restored.snapshot()?.changes()?.vector;
    let view = log.snapshot()?;
    refuse_unfit(restored, log, &vector)?;
    let positions = view.changes_beyond(&vector, usize::MAX)?;
    let positions = positions
        .ok_or_else(|| ReplayError::Damaged("the chain of its records is broken".to_owned()))?;
    let mut report = ReplayReport::default();
    let mut batch = Vec::new();
    for position in positions {
        let record = view.change(position)?;
        let record = record
            .ok_or_else(|| ReplayError::Damaged(format!("record {position} cannot be read")))?;
        // Later records may have an earlier time, if the clock was set back. They depend on this
        // one.
        if record.time_us > until.0 {
            break;
        }
        append(&mut batch, &record)?;
        report.applied += 1;
        report.last = Some(Timestamp(record.time_us));
        if batch.len() >= BATCH {
            apply(&directory, restored, &mut content, &mut batch)?;
        }
    }
    apply(&directory, restored, &mut content, &mut batch)?;
    Ok(report)
}

/// Fails unless the log continues the restored store.
fn refuse_unfit(restored: &Store, log: &Store, vector: &CsnVector) -> Result<(), ReplayError> {
    let suffix = |store: &Store| {
        let names = store.suffixes().iter();
        let names = names.map(|name| format!("\"{}\"", name.pretty()));
        names.collect::<Vec<_>>().join(" and ")
    };
    if restored.suffixes() != log.suffixes() {
        return Err(ReplayError::OtherDatabase {
            log: suffix(log),
            backup: suffix(restored),
        });
    }
    let state = log.snapshot()?.changes()?;
    if !state.vector.covers_all(vector) {
        return Err(ReplayError::Behind {
            log: texts(&state.vector),
            backup: texts(vector),
        });
    }
    let dropped = state.horizon.iter().find(|csn| !vector.covers(*csn));
    if let Some(dropped) = dropped {
        return Err(ReplayError::NotReached {
            dropped: dropped.text(),
            backup: texts(vector),
        });
    }
    Ok(())
}

fn texts(vector: &CsnVector) -> String {
    if vector.is_empty() {
        return "no change".to_owned();
    }
    let texts: Vec<String> = vector.iter().map(|csn| csn.text()).collect();
    texts.join(" ")
}

/// Appends a record as a change, and the state that it reaches.
fn append(batch: &mut Vec<ContentChange>, record: &ChangeRecord<'_>) -> Result<(), ReplayError> {
    let csn = record.csn.text();
    let kind = match record.kind {
        ChangeKind::Add | ChangeKind::Glue => {
            let changes = changes(record)?.into_iter();
            LoggedKind::Add(changes.map(|(_, attribute)| attribute).collect())
        }
        ChangeKind::Modify => LoggedKind::Modify(changes(record)?),
        ChangeKind::Delete => LoggedKind::Delete,
        ChangeKind::Rename => {
            let rename = record
                .rename
                .ok_or_else(|| ReplayError::Damaged(format!("the change {csn} has no new name")))?;
            LoggedKind::Rename {
                new_rdn: rename.new_rdn.to_owned(),
                delete_old_rdn: rename.deletes_old,
                new_superior: rename.superior.map(str::to_owned),
                changes: changes(record)?,
            }
        }
        ChangeKind::Loaded => return Err(ReplayError::Loaded(csn)),
    };
    batch.push(ContentChange::Operation(LoggedOperation {
        uuid: Some(record.uuid),
        dn: record.dn.to_owned(),
        csn: csn.clone(),
        kind,
    }));
    // No state ends with a change that others with smaller numbers may follow.
    if !record.is_unordered {
        batch.push(ContentChange::Reached {
            csns: vec![csn],
            replaces: false,
        });
    }
    Ok(())
}

fn changes(
    record: &ChangeRecord<'_>,
) -> Result<Vec<(ModifyOperation, ContentAttribute)>, ReplayError> {
    let operations = record.operations()?.into_iter();
    let changes = operations.map(|operation| {
        let kind = match operation.operator {
            b'+' => ModifyOperation::Add,
            b'-' => ModifyOperation::Delete,
            b'=' => ModifyOperation::Replace,
            b'#' => ModifyOperation::Increment,
            other => {
                let text = format!("the operator {other} is unknown");
                return Err(ReplayError::Damaged(text));
            }
        };
        let values = operation.values.iter();
        let attribute = ContentAttribute {
            description: operation.attribute.to_owned(),
            values: values.map(|value| value.to_vec()).collect(),
        };
        Ok((kind, attribute))
    });
    changes.collect()
}

fn apply(
    directory: &Directory,
    restored: &Store,
    content: &mut CopiedContent,
    batch: &mut Vec<ContentChange>,
) -> Result<(), ReplayError> {
    if batch.is_empty() {
        return Ok(());
    }
    let report = directory.apply_content(restored.path(), content, batch)?;
    batch.clear();
    match report
        .lost_sync
        .or_else(|| report.warnings.into_iter().next())
    {
        Some(reason) => Err(ReplayError::Diverged(reason)),
        None => Ok(()),
    }
}
