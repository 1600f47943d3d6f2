//! The tree of names against the records.

use super::report::Report;
use crate::error::StoreError;
use crate::names::NameList;
use crate::view::View;
use fulgurite::Snapshot;

/// Checks that every name leads to an entry of that name. Together with the walk this shows that
/// names and entries are one to one.
pub(super) fn check_names(view: &View<'_>, report: &mut Report) -> Result<(), StoreError> {
    let mut cursor = view.txn.cursor(view.store.dbs.names)?;
    let mut row = cursor.first()?;
    while let Some((key, list)) = row {
        for child in NameList(list) {
            let Ok((id, rdn_normal)) = child else {
                report.problem(|| "a name list is malformed".to_owned());
                continue;
            };
            let sound = match view.record(id) {
                Ok(Some(record)) => {
                    record.rdn_normal() == rdn_normal
                        && key == view.name_key(record.parent(), rdn_normal)
                }
                _ => false,
            };
            if !sound {
                report.problem(|| format!("a name leads to entry {id}, which is not called so"));
            }
        }
        row = cursor.next()?;
    }
    Ok(())
}
