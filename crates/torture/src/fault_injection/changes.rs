//! The changes of a write transaction, made to the store and to the model of it.

use std::sync::Arc;

use anyhow::ensure;
use fulgurite::seam::install;
use fulgurite::{Database, DatabaseFlags, Environment, Error, WriteTxn};

use super::injector::Plan;
use super::model::{self, Model};
use super::script::{Change, DATABASES, MANY, key, one_of_many, value};

/// Makes changes until one is refused.
pub(super) fn make(
    txn: &mut WriteTxn<'_>,
    environment: &Arc<Environment>,
    model: &mut Model,
    changes: &[Change],
    plan: &Arc<Plan>,
) -> anyhow::Result<Result<(), Error>> {
    for change in changes {
        let made = match change {
            Change::Nested { changes, commit } => {
                nested(txn, environment, model, (changes, *commit), plan)?
            }
            Change::SyncMeanwhile => {
                sync_meanwhile(environment, plan);
                Ok(())
            }
            Change::Look => {
                let found = model::read(txn);
                if let Ok(found) = &found {
                    ensure!(
                        found == model,
                        "read within the transaction: {}",
                        model::difference(found, model)
                    );
                }
                found.map(drop)
            }
            change => make_one(txn, model, change),
        };
        if made.is_err() {
            return Ok(made);
        }
    }
    Ok(Ok(()))
}

fn open(txn: &mut WriteTxn<'_>, model: &mut Model, db: usize) -> Result<Database, Error> {
    let name = DATABASES[db % DATABASES.len()];
    let flags = if db == MANY {
        DatabaseFlags::DUP_SORT
    } else {
        0
    };
    let database = txn.create_named(name.as_bytes(), DatabaseFlags(flags))?;
    model.entry(name.to_owned()).or_default();
    Ok(database)
}

fn make_one(txn: &mut WriteTxn<'_>, model: &mut Model, change: &Change) -> Result<(), Error> {
    let db = match change {
        Change::Put { db, .. }
        | Change::Delete { db, .. }
        | Change::Clear(db)
        | Change::Drop(db) => *db,
        _ => MANY,
    };
    let database = open(txn, model, db)?;
    let name = DATABASES[db % DATABASES.len()];
    let records = model.entry(name.to_owned()).or_default();
    match change {
        Change::Put { keys, len, .. } => {
            for number in keys.clone() {
                txn.put(database, &key(number), &value(number, *len))?;
                records.insert(key(number), [value(number, *len)].into());
            }
        }
        Change::Delete { keys, .. } => {
            for number in keys.clone() {
                txn.delete(database, &key(number))?;
                records.remove(&key(number));
            }
        }
        Change::Values {
            key: number,
            values,
        } => {
            for one in values.clone() {
                txn.put(database, &key(*number), &one_of_many(one))?;
                records
                    .entry(key(*number))
                    .or_default()
                    .insert(one_of_many(one));
            }
        }
        Change::RemoveValues {
            key: number,
            values,
        } => {
            for one in values.clone() {
                txn.delete_pair(database, &key(*number), &one_of_many(one))?;
                if let Some(left) = records.get_mut(&key(*number)) {
                    left.remove(&one_of_many(one));
                    if left.is_empty() {
                        records.remove(&key(*number));
                    }
                }
            }
        }
        Change::Clear(_) => {
            txn.clear_database(database)?;
            records.clear();
        }
        Change::Drop(_) => {
            txn.drop_database(database)?;
            model.remove(name);
        }
        Change::Nested { .. } | Change::SyncMeanwhile | Change::Look => {}
    }
    Ok(())
}

/// Part of a transaction. If the nested transaction fails, it is undone and the outer one continues
/// without it. The step then repeats its changes in the outer one.
fn nested(
    txn: &mut WriteTxn<'_>,
    environment: &Arc<Environment>,
    model: &mut Model,
    (changes, commit): (&[Change], bool),
    plan: &Arc<Plan>,
) -> anyhow::Result<Result<(), Error>> {
    let mut part = model.clone();
    if let Err(error) = txn.begin_nested() {
        return Ok(Err(error));
    }
    let made = make(txn, environment, &mut part, changes, plan)?;
    if commit && made.is_ok() {
        let committed = txn.commit_nested();
        if committed.is_ok() {
            *model = part;
        }
        return Ok(committed);
    }
    txn.abort_nested();
    Ok(made.and_then(|()| {
        let found = plan.paused(|| model::read(txn))?;
        // An undone part leaves everything as it was.
        if found == *model {
            Ok(())
        } else {
            Err(Error::TransactionFailed)
        }
    }))
}

/// Another thread flushes. If that fails the transaction must find out: what it wrote so far may be
/// lost.
fn sync_meanwhile(environment: &Arc<Environment>, plan: &Arc<Plan>) {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _installed = install(Arc::clone(plan) as Arc<_>);
            // Told to the transaction by the environment, or this run finds that nobody was told.
            let _ = environment.sync(true);
        });
    });
}
