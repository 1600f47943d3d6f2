//! The account usability control: which accounts among the entries found can be used.

use fulgurite_access::Rights;

use crate::auth::AuthOptions;
use crate::directory::Directory;
use crate::features::password_policy::overlay::PasswordPolicy;
use crate::features::password_policy::usability::usability;
use crate::rights::projection::StoredEntry;
use crate::write::password_policy;

/// The password policies of the databases, by their numbers.
#[derive(Debug)]
pub(crate) struct AccountPolicies {
    policies: Vec<Option<PasswordPolicy>>,
    options: AuthOptions,
}

impl AccountPolicies {
    pub(crate) fn of(directory: &Directory) -> AccountPolicies {
        let databases = directory.databases().iter();
        let policies = databases.map(|database| {
            let features = directory.features_of(database);
            features.password_policy.clone()
        });
        AccountPolicies {
            policies: policies.collect(),
            options: directory.auth_options().clone(),
        }
    }

    /// Returns the value of the response control of an entry. As in slapd, an entry without policy
    /// or password has none. The requester needs the right to compare its password.
    pub(crate) fn usability_of(&self, stored: &StoredEntry<'_, '_>) -> Option<Vec<u8>> {
        let core = stored.requester.core;
        let policy = self.policies.get(stored.requester.database.number)?;
        let overlay = policy.as_ref()?;
        let password = &core.types.user_password;
        let may_compare = stored.rights.attribute(password).allows(Rights::COMPARE);
        if !may_compare || stored.entry.values(password).is_none() {
            return None;
        }
        let id = stored.entry.id();
        let subject = password_policy::subject(core, stored.view, overlay, id).ok()??;
        let rules = subject.rules_of_binds(&self.options)?;
        let value = usability(&rules, &subject.state, core.clock.now());
        Some(value.encode())
    }
}
