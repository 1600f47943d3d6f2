//! Checks of passwords.

use fulgurite_auth::Cost;
use fulgurite_store::{Scope, StoreError};

use super::claim::Claim;
use super::outcome::BindOutcome;
use super::state::Authenticator;
use crate::core::session::Method;
use crate::rights::snapshots::Snapshots;

/// The number of entries in the sample of passwords in use.
const SAMPLE_MAX: usize = 512;

/// A password and the stored values to compare it with.
pub(crate) struct PasswordProof {
    pub(crate) password: Vec<u8>,
    /// The stored values, any of which may match.
    pub(crate) stored: Vec<Vec<u8>>,
    /// A stored value to verify if there is no other, so that the check takes the same time.
    pub(crate) dummy: Vec<u8>,
    pub(crate) claim: Claim,
    /// The reason why there is no stored value.
    pub(crate) absence: Option<&'static str>,
}

impl PasswordProof {
    pub(super) fn run(self, authenticator: Authenticator<'_>) -> BindOutcome {
        let mut right = false;
        for stored in &self.stored {
            right |= fulgurite_auth::verify(stored, &self.password).unwrap_or(false);
        }
        if self.stored.is_empty() {
            // A wrong password of an existing user would cost the same.
            std::hint::black_box(fulgurite_auth::verify(&self.dummy, &self.password).is_ok());
        }
        if right {
            authenticator.conclude(self.claim, None)
        } else {
            let reason = self.absence.unwrap_or("the password is wrong");
            BindOutcome::invalid_credentials().because(reason)
        }
    }

    pub(super) fn is_cheap(&self) -> bool {
        let cheap = |stored: &Vec<u8>| fulgurite_auth::cost(stored) == Cost::Cheap;
        if self.stored.is_empty() {
            cheap(&self.dummy)
        } else {
            self.stored.iter().all(cheap)
        }
    }
}

impl<'d> Authenticator<'d> {
    /// Collects the stored passwords of the claimed name, from the settings or from its entry.
    pub(super) fn password_proof(
        &self,
        snapshots: &mut Snapshots<'d>,
        mut claim: Claim,
        password: &[u8],
    ) -> Result<PasswordProof, StoreError> {
        self.sample_passwords()?;
        let dummies = &self.auth.lasting.dummies;
        let (stored, absence) = match self.configured_password(&claim.dn, &claim.name) {
            Some(password) => (vec![password], None),
            None => {
                let attribute = &self.core.types.user_password;
                let found =
                    self.values_for_auth_on(snapshots, &claim.session, &claim.dn, attribute)?;
                found
                    .values
                    .iter()
                    .for_each(|value| dummies.note(value, false));
                // Like slapd, the session displays the name as the entry has it, not as the client
                // wrote it.
                if let (Method::Simple, Some(pretty)) = (claim.method, found.name) {
                    claim.name = claim.name.written(&pretty);
                }
                (found.values, found.absence)
            }
        };
        Ok(PasswordProof {
            password: password.to_vec(),
            dummy: dummies.of(claim.name.normal()),
            stored,
            claim,
            absence,
        })
    }

    /// Samples the kinds of passwords of the first entries, once, before any name is refused.
    fn sample_passwords(&self) -> Result<(), StoreError> {
        let dummies = &self.auth.lasting.dummies;
        if !dummies.begin_sample() {
            return Ok(());
        }
        for database in self.core.databases.iter() {
            let view = database.store.snapshot()?;
            let mut left = SAMPLE_MAX;
            for suffix in database.suffixes() {
                let Some(base) = view.find_base(suffix.normal())? else {
                    continue;
                };
                let all = fulgurite_schema::Filter::Constant(fulgurite_schema::Truth::True);
                let mut candidates = view.plan(base, Scope::Subtree, &all)?;
                while left > 0
                    && let Some(entry) = candidates.next_entry(&view)?
                {
                    left -= 1;
                    let values = entry.values(&self.core.types.user_password);
                    values
                        .into_iter()
                        .flatten()
                        .for_each(|value| dummies.note(value, true));
                }
            }
        }
        Ok(())
    }
}
