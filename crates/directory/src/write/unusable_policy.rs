//! Default password policies under which no user can set a password, found at the start.

use fulgurite_schema::Dn;
use fulgurite_store::{NameLookup, StoreError};

use crate::core::database::Database;
use crate::core::databases::Databases;
use crate::core::notices::WarningLog;
use crate::features::password_policy::rules::PolicyRules;
use crate::features::set::Features;

/// Warns of default policies with a module whose rules the server lacks. Each password would be
/// refused, and the log would name the reason only then.
pub(crate) fn warn_of_unusable(log: &dyn WarningLog, databases: &Databases, features: &[Features]) {
    for (database, features) in databases.iter().zip(features) {
        let overlay = features.password_policy.as_ref();
        let Some(dn) = overlay.and_then(|overlay| overlay.default.as_ref()) else {
            continue;
        };
        // A store that cannot be read fails with the first request.
        if let Ok(Some(reason)) = unusable(database, dn) {
            let dn = dn.pretty();
            log.warn(&format!(
                "{dn}: under this password policy no user can set a password: {reason}"
            ));
        }
    }
}

/// Returns the reason why no password can be checked; `None` if none is checked, or all can be.
fn unusable(database: &Database, dn: &Dn) -> Result<Option<String>, StoreError> {
    let view = database.store.snapshot()?;
    let NameLookup::Entry(id) = view.find(dn)? else {
        return Ok(None);
    };
    let Some(entry) = view.entry(id)? else {
        return Ok(None);
    };
    let rules = PolicyRules::of(database.store.schema(), &entry);
    Ok(rules.as_ref().and_then(PolicyRules::unusable))
}
