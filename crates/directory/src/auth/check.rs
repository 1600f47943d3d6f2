//! A proof of identity to check, on any thread.

use fulgurite_schema::Dn;
use fulgurite_store::StoreError;

use super::claim::Claim;
use super::outcome::BindOutcome;
use super::passwords::PasswordProof;
use super::scram::ScramProof;
use super::state::Authenticator;
use crate::core::session::Session;
use crate::rights::snapshots::Snapshots;

/// A proof of identity whose check may take long. Any thread may run it.
pub struct PasswordCheck {
    proof: Proof,
    version: u8,
    policed: Option<Box<PolicedBind>>,
}

/// A bind that a password policy judges.
pub(crate) struct PolicedBind {
    pub(crate) dn: Dn,
    /// The session before the bind.
    pub(crate) session: Session,
    /// True if the client has sent the control.
    pub(crate) wants_control: bool,
    /// True if policies are about this bind. It may be recorded without.
    pub(crate) is_judged: bool,
}

pub(crate) enum Proof {
    Password(Box<PasswordProof>),
    Scram(Box<ScramProof>),
}

impl From<Proof> for PasswordCheck {
    fn from(proof: Proof) -> PasswordCheck {
        PasswordCheck {
            proof,
            version: 3,
            policed: None,
        }
    }
}

impl std::fmt::Debug for PasswordCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PasswordCheck").finish_non_exhaustive()
    }
}

impl PasswordCheck {
    /// Compares the proof with the stored values.
    pub(crate) fn verify(self, authenticator: Authenticator<'_>) -> BindOutcome {
        let mut outcome = match self.proof {
            Proof::Password(proof) => proof.run(authenticator),
            Proof::Scram(proof) => proof.run(authenticator),
        };
        outcome.version = self.version;
        outcome
    }

    pub(crate) fn of_version(self, version: u8) -> PasswordCheck {
        PasswordCheck { version, ..self }
    }

    /// Returns the claimed name; `None` for a user that no rule maps.
    pub(crate) fn name(&self) -> Option<&Dn> {
        match &self.proof {
            Proof::Password(proof) => Some(&proof.claim.dn),
            Proof::Scram(proof) => proof.dn.as_ref(),
        }
    }

    pub(crate) fn with_policy(self, policed: Option<Box<PolicedBind>>) -> PasswordCheck {
        PasswordCheck { policed, ..self }
    }

    pub(crate) fn take_policed(&mut self) -> Option<Box<PolicedBind>> {
        self.policed.take()
    }

    /// Returns true if the check takes microseconds. A policy may have to write.
    pub(crate) fn is_cheap(&self) -> bool {
        if self.policed.is_some() {
            return false;
        }
        match &self.proof {
            Proof::Password(proof) => proof.is_cheap(),
            Proof::Scram(proof) => proof.is_cheap(),
        }
    }
}

impl<'d> Authenticator<'d> {
    /// Makes the check of a password for the claimed name.
    pub(crate) fn password_check(
        &self,
        snapshots: &mut Snapshots<'d>,
        claim: Claim,
        password: &[u8],
    ) -> Result<PasswordCheck, StoreError> {
        let proof = self.password_proof(snapshots, claim, password)?;
        Ok(PasswordCheck::from(Proof::Password(Box::new(proof))))
    }
}
