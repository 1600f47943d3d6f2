//! Bind states against the entries.

use super::report::Report;
use crate::error::StoreError;
use crate::ids::EntryId;
use crate::record::Record;
use crate::view::View;
use fulgurite::Snapshot;

/// Checks that each bind state is of an entry, and has values of the right attributes.
pub(super) fn check_bind_states(view: &View<'_>, report: &mut Report) -> Result<(), StoreError> {
    let Some(db) = view.store.dbs.bind_state else {
        return Ok(());
    };
    let mut cursor = view.txn.cursor(db)?;
    let mut row = cursor.first()?;
    while let Some((key, value)) = row {
        row = cursor.next()?;
        let Some(id) = EntryId::from_key(key) else {
            report.problem(|| "a bind state is of no entry".to_owned());
            continue;
        };
        let is_sound = Record::parse(value).is_ok_and(|state| {
            let mut ids = state.ids();
            state.is_sound() && ids.all(|number| view.attributes.is_of_binds(number))
        });
        if !is_sound {
            report.problem(|| format!("entry {id}: its bind state is malformed"));
        }
        if !matches!(view.record(id), Ok(Some(_))) {
            report.problem(|| format!("entry {id}: has a bind state and does not exist"));
        }
    }
    Ok(())
}
