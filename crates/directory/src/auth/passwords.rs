//! Passwords to check, and what is checked where there are none.

use fulgurite_auth::Cost;
use fulgurite_store::{Scope, StoreError};

use super::claim::Claim;
use super::outcome::BindOutcome;
use super::state::Authenticator;
use crate::core::session::Method;
use crate::rights::snapshots::Snapshots;

/// Entries looked at for the kinds of passwords in use, once.
const SAMPLE_MAX: usize = 512;

/// A password and what it is to be compared with.
pub(crate) struct PasswordProof {
    pub(crate) password: Vec<u8>,
    /// Any of them will do.
    pub(crate) stored: Vec<Vec<u8>>,
    /// Somebody's stored password, to take the same time where there is none to compare with.
    pub(crate) decoy: Vec<u8>,
    pub(crate) claim: Claim,
}

impl PasswordProof {
    pub(super) fn run(self, authenticator: Authenticator<'_>) -> BindOutcome {
        let mut right = false;
        for stored in &self.stored {
            right |= fulgurite_auth::verify(stored, &self.password).unwrap_or(false);
        }
        if self.stored.is_empty() {
            // What a wrong password of an existing user would have cost.
            std::hint::black_box(fulgurite_auth::verify(&self.decoy, &self.password).is_ok());
        }
        if right {
            authenticator.conclude(self.claim, None)
        } else {
            BindOutcome::invalid_credentials()
        }
    }

    pub(super) fn is_cheap(&self) -> bool {
        let cheap = |stored: &Vec<u8>| fulgurite_auth::cost(stored) == Cost::Cheap;
        if self.stored.is_empty() {
            cheap(&self.decoy)
        } else {
            self.stored.iter().all(cheap)
        }
    }
}

impl<'d> Authenticator<'d> {
    /// The proof to check a password with, wherever the password of the name is stored.
    pub(super) fn password_proof(
        &self,
        snapshots: &mut Snapshots<'d>,
        mut claim: Claim,
        password: &[u8],
    ) -> Result<PasswordProof, StoreError> {
        self.sample_passwords()?;
        let dummies = &self.auth.lasting.dummies;
        let stored = match self.configured_password(&claim.dn, &claim.name) {
            Some(password) => vec![password],
            None => {
                let attribute = &self.core.types.user_password;
                let found =
                    self.values_for_auth_on(snapshots, &claim.session, &claim.dn, attribute)?;
                found
                    .values
                    .iter()
                    .for_each(|value| dummies.note(value, false));
                // As slapd does: from now on the name is written as the entry's is, and not as the client wrote it.
                if let (Method::Simple, Some(pretty)) = (claim.method, found.name) {
                    claim.name = claim.name.written(&pretty);
                }
                found.values
            }
        };
        Ok(PasswordProof {
            password: password.to_vec(),
            decoy: dummies.of(claim.name.normal()),
            stored,
            claim,
        })
    }

    /// Looks once what kinds of passwords the first entries have, before a name is refused for the first time.
    fn sample_passwords(&self) -> Result<(), StoreError> {
        let dummies = &self.auth.lasting.dummies;
        if !dummies.begin_sample() {
            return Ok(());
        }
        for database in self.core.databases.iter() {
            let view = database.store.snapshot()?;
            let mut left = SAMPLE_MAX;
            for suffix in database.suffixes() {
                let Some(base) = view.find(suffix)?.entry() else {
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
