//! Checks every entry against the schema, as slapschema does.

use std::sync::Arc;

use fulgurite_schema::{CheckOptions, SchemaViolation};
use fulgurite_store::{EntryId, Store};

use crate::cat::{CatOptions, each_entry};
use crate::export::ExportError;

/// An entry that was looked at.
#[derive(Debug)]
pub struct CheckResult<'e> {
    /// Its id.
    pub id: EntryId,
    /// Its name.
    pub dn: &'e str,
    /// The violation of the schema, if there is one.
    pub violation: Option<SchemaViolation>,
}

/// Checks the entries that the options choose, and reports each. Returns the number of entries that
/// the schema does not allow.
///
/// # Errors
/// [`ExportError`] when a store cannot be read, or when `report` fails.
pub fn schema_check(
    stores: &[Arc<Store>],
    options: &CatOptions,
    report: &mut dyn FnMut(CheckResult<'_>) -> std::io::Result<()>,
) -> Result<u64, ExportError> {
    let mut wrong = 0;
    for store in stores {
        let view = store.snapshot()?;
        let structural = view.schema().describe(b"structuralObjectClass").ok();
        each_entry(&view, options, &mut |entry, dn| {
            let whole = entry.to_entry()?;
            let held = structural.as_ref().and_then(|held| whole.attribute(held));
            let class = held.and_then(|held| std::str::from_utf8(held.values.first()?).ok());
            let class = class.and_then(|class| view.schema().object_class(class));
            let check = CheckOptions {
                structural_class: class.map(|class| class.index),
                ..CheckOptions::default()
            };
            let violation = view.schema().check(whole, &check).err();
            wrong += u64::from(violation.is_some());
            let id = entry.id();
            Ok(report(CheckResult { id, dn, violation })?)
        })?;
    }
    Ok(wrong)
}
