//! Passwords to check, and what is checked where there are none.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, PoisonError};

use fulgurite_access::Rights;
use fulgurite_auth::{Cost, Scheme};
use fulgurite_schema::{AttributeDescription, Dn};
use fulgurite_store::{Scope, StoreError, View};

use super::AuthOptions;
use super::exchange::ScramProof;
use crate::core::database::Database;
use crate::core::session::{Identity, Method, Name, Session};
use crate::directory::{Directory, Place};
use crate::op::bind::BindOutcome;
use crate::rights::facts::{self, EntryFacts, Target};
use crate::rights::snapshots::Snapshots;

/// Kinds of stored passwords that are remembered; further ones are rare enough.
const DECOYS_MAX: usize = 16;

/// Entries looked at for the kinds of passwords in use, once.
const SAMPLE_MAX: usize = 512;

/// A proof of identity that may take long to check. Owned: send it to any thread.
pub struct PasswordCheck {
    proof: Proof,
    version: u8,
}

pub(crate) enum Proof {
    Password(Box<PasswordProof>),
    Scram(Box<ScramProof>),
}

/// A password and what it is to be compared with.
pub(crate) struct PasswordProof {
    pub(crate) password: Vec<u8>,
    /// Any of them will do.
    pub(crate) stored: Vec<Vec<u8>>,
    /// Somebody's stored password, to take the same time where there is none to compare with.
    pub(crate) decoy: Vec<u8>,
    pub(crate) claim: Claim,
}

/// Who somebody is if the proof is right.
pub(crate) struct Claim {
    pub(crate) name: Name,
    pub(crate) dn: Dn,
    pub(crate) method: Method,
    /// Whom to act for, as the client put it; empty for oneself.
    pub(crate) authorization_id: String,
    /// The connection's session, before anybody has authenticated.
    pub(crate) asker: Session,
}

impl From<Proof> for PasswordCheck {
    fn from(proof: Proof) -> PasswordCheck {
        PasswordCheck { proof, version: 3 }
    }
}

impl std::fmt::Debug for PasswordCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PasswordCheck").finish_non_exhaustive()
    }
}

impl PasswordCheck {
    /// Compares. Takes as long as the hash wants: milliseconds for Argon2.
    #[must_use]
    pub fn run(self, directory: &Directory) -> BindOutcome {
        let mut outcome = match self.proof {
            Proof::Password(proof) => proof.run(directory),
            Proof::Scram(proof) => proof.run(directory),
        };
        outcome.version = self.version;
        outcome
    }

    pub(crate) fn of_version(self, version: u8) -> PasswordCheck {
        PasswordCheck { version, ..self }
    }

    /// Whether it takes microseconds.
    pub(crate) fn is_cheap(&self) -> bool {
        match &self.proof {
            Proof::Password(proof) => proof.is_cheap(),
            Proof::Scram(proof) => proof.is_cheap(),
        }
    }
}

/// What an entry has for those who want to authenticate.
#[derive(Default)]
struct ForAuth {
    values: Vec<Vec<u8>>,
    /// The entry's name as it is shown; none if there is no such entry, or it is not for this use.
    name: Option<String>,
}

impl PasswordProof {
    fn run(self, directory: &Directory) -> BindOutcome {
        let mut right = false;
        for stored in &self.stored {
            right |= fulgurite_auth::verify(stored, &self.password).unwrap_or(false);
        }
        if self.stored.is_empty() {
            // What a wrong password of an existing user would have cost.
            std::hint::black_box(fulgurite_auth::verify(&self.decoy, &self.password).is_ok());
        }
        if right {
            directory.conclude(self.claim, None)
        } else {
            BindOutcome::invalid_credentials()
        }
    }

    fn is_cheap(&self) -> bool {
        let cheap = |stored: &Vec<u8>| fulgurite_auth::cost(stored) == Cost::Cheap;
        if self.stored.is_empty() {
            cheap(&self.decoy)
        } else {
            self.stored.iter().all(cheap)
        }
    }
}

/// Stored passwords of each kind in use. A name without a password is given one of them, always the same one, so that
/// checking it costs what checking a stranger's would. Each kind is given as often as it is in use: a time that is
/// rare among those who exist must not be common among those who do not.
pub(crate) struct Decoys {
    kinds: Mutex<Kinds>,
    fallback: Vec<u8>,
    /// A secret of the process: who could tell which kind a name is given would know from the time who exists.
    key: RandomState,
}

#[derive(Default)]
struct Kinds {
    /// In the order of their names: it must not depend on who came first.
    in_use: Vec<KindInUse>,
    sampled: bool,
}

struct KindInUse {
    kind: String,
    example: Vec<u8>,
    /// Passwords of this kind among those sampled, at least one.
    count: u64,
}

impl Kinds {
    fn note(&mut self, stored: &[u8], counted: bool) {
        let kind = fulgurite_auth::kind(stored);
        match self.in_use.binary_search_by(|known| known.kind.cmp(&kind)) {
            Ok(place) => {
                if let Some(known) = self.in_use.get_mut(place) {
                    known.count += u64::from(counted);
                }
            }
            Err(place) if self.in_use.len() < DECOYS_MAX => {
                let example = stored.to_vec();
                let new = KindInUse {
                    kind,
                    example,
                    count: 1,
                };
                self.in_use.insert(place, new);
            }
            Err(_) => {}
        }
    }

    /// The kind at this part of all passwords. It stays the same for nearly all parts when a kind is added.
    fn at(&self, part: u64) -> Option<&[u8]> {
        let total: u64 = self.in_use.iter().map(|known| known.count).sum();
        let wanted = (u128::from(part) * u128::from(total)) >> u64::BITS;
        let mut passed = 0_u128;
        let found = self.in_use.iter().find(|known| {
            passed += u128::from(known.count);
            wanted < passed
        });
        found.map(|known| known.example.as_slice())
    }
}

impl Decoys {
    pub(crate) fn new(options: &AuthOptions) -> Decoys {
        let scheme = options.password_hash.first().copied().unwrap_or_default();
        Decoys {
            kinds: Mutex::default(),
            fallback: fulgurite_auth::decoy(scheme).into_bytes(),
            key: RandomState::new(),
        }
    }

    /// Remembers what a stored password looks like. Only those of the sample are counted: a name's kind must not
    /// follow who binds how often.
    fn note(&self, stored: &[u8], sampled: bool) {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        kinds.note(stored, sampled);
    }

    fn of(&self, normal_name: &str) -> Vec<u8> {
        let kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        let part = self.key.hash_one(normal_name);
        kinds.at(part).unwrap_or(&self.fallback).to_vec()
    }

    /// Whether nobody has looked yet what the stores hold.
    fn begin_sample(&self) -> bool {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        !std::mem::replace(&mut kinds.sampled, true)
    }
}

impl Directory {
    /// The check of a password for a name, wherever its password is kept.
    pub(crate) fn password_check<'d>(
        &'d self,
        snapshots: &mut Snapshots<'d>,
        asker: &Session,
        dn: Dn,
        password: &[u8],
        method: Method,
        authorization_id: String,
    ) -> Result<PasswordCheck, StoreError> {
        self.sample_passwords()?;
        let mut name = Name::from(&dn);
        let decoys = &self.auth.lasting.decoys;
        let stored = match self.configured_password(&dn, &name) {
            Some(password) => vec![password],
            None => {
                let attribute = &self.known.user_password;
                let found = self.values_for_auth_on(snapshots, asker, &dn, attribute)?;
                found
                    .values
                    .iter()
                    .for_each(|value| decoys.note(value, false));
                // As slapd does: from now on the name is written as the entry's is, and not as the client wrote it.
                if let (Method::Simple, Some(pretty)) = (method, found.name) {
                    name = name.written(&pretty);
                }
                found.values
            }
        };
        Ok(PasswordCheck::from(Proof::Password(Box::new(
            PasswordProof {
                password: password.to_vec(),
                decoy: decoys.of(name.normal()),
                stored,
                claim: Claim {
                    name,
                    dn,
                    method,
                    authorization_id,
                    asker: asker.clone(),
                },
            },
        ))))
    }

    /// The password of a root that is in the settings. It counts where the name belongs, and nowhere else.
    pub(crate) fn configured_password(&self, dn: &Dn, name: &Name) -> Option<Vec<u8>> {
        let root = match self.place(dn) {
            Place::In(database) => database.root.as_ref(),
            Place::Tree(tree) => tree.root.as_ref(),
            Place::RootDse | Place::Subschema | Place::Nowhere => None,
        };
        root.filter(|root| root.name == *name)?.password.clone()
    }

    /// Values that may be used for authentication by who has not authenticated yet; none for a missing entry.
    pub(crate) fn values_for_auth(
        &self,
        asker: &Session,
        dn: &Dn,
        attribute: &AttributeDescription,
    ) -> Result<Vec<Vec<u8>>, StoreError> {
        self.values_for_auth_on(&mut Snapshots::default(), asker, dn, attribute)
            .map(|found| found.values)
    }

    fn values_for_auth_on<'d>(
        &'d self,
        snapshots: &mut Snapshots<'d>,
        asker: &Session,
        dn: &Dn,
        attribute: &AttributeDescription,
    ) -> Result<ForAuth, StoreError> {
        let Place::In(database) = self.place(dn) else {
            return Ok(ForAuth::default());
        };
        let view = snapshots.take(&database.store)?;
        let values = self.values_for_auth_in(&view, database, asker, dn, attribute);
        snapshots.give(view);
        values
    }

    fn values_for_auth_in(
        &self,
        view: &View<'_>,
        database: &Database,
        asker: &Session,
        dn: &Dn,
        attribute: &AttributeDescription,
    ) -> Result<ForAuth, StoreError> {
        let Some(id) = view.find(dn)?.entry() else {
            return Ok(ForAuth::default());
        };
        let Some(entry) = view.entry(id)? else {
            return Ok(ForAuth::default());
        };
        let decisions = facts::decide(&database.rules, asker, false);
        let facts = EntryFacts::new(self, view, Target::Stored(entry));
        let rights = facts.rights(&decisions, dn.normal());
        if !rights.attribute(attribute).allows(Rights::AUTH) {
            return Ok(ForAuth::default());
        }
        let values = entry.values(attribute).into_iter().flatten();
        Ok(ForAuth {
            values: values.map(<[u8]>::to_vec).collect(),
            name: Some(view.dn(id)?),
        })
    }

    /// Looks once what kinds of passwords the first entries have, before a name is refused for the first time.
    fn sample_passwords(&self) -> Result<(), StoreError> {
        let decoys = &self.auth.lasting.decoys;
        if !decoys.begin_sample() {
            return Ok(());
        }
        for database in &self.databases {
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
                    let values = entry.values(&self.known.user_password);
                    values
                        .into_iter()
                        .flatten()
                        .for_each(|value| decoys.note(value, true));
                }
            }
        }
        Ok(())
    }

    /// What a right proof comes to: whoever it was, or the one they may act for.
    pub(crate) fn conclude(&self, claim: Claim, credentials: Option<Vec<u8>>) -> BindOutcome {
        let identity = if claim.authorization_id.is_empty() {
            Ok(Identity::User(claim.name))
        } else {
            self.authorized_at_bind(&claim)
        };
        match identity {
            Ok(identity) => {
                BindOutcome::success(identity, claim.method).with_credentials(credentials)
            }
            Err(result) => BindOutcome::failure(result),
        }
    }
}

/// The schemes that new passwords are stored in.
impl AuthOptions {
    /// The schemes of new passwords, at least one.
    #[must_use]
    pub fn schemes(&self) -> Vec<Scheme> {
        if self.password_hash.is_empty() {
            vec![Scheme::default()]
        } else {
            self.password_hash.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_a_password_are_given_each_kind_as_often_as_it_is_in_use() {
        let decoys = Decoys::new(&AuthOptions::default());
        let rare = fulgurite_auth::decoy(Scheme::default()).into_bytes();
        decoys.note(&rare, true);
        (0..199).for_each(|_| decoys.note(b"clear", true));
        // Binding often does not make a kind more frequent.
        (0..1000).for_each(|_| decoys.note(&rare, false));
        let given = |decoys: &Decoys| -> Vec<bool> {
            let names = (0..4000).map(|number| format!("uid=nobody{number},dc=com"));
            names.map(|name| decoys.of(&name) == rare).collect()
        };
        let first = given(&decoys);
        let rarely = first.iter().filter(|rare| **rare).count();
        // 20 are expected.
        assert!((1..80).contains(&rarely), "{rarely} of 4000");
        assert_eq!(given(&decoys), first, "the same name, the same time");
    }

    #[test]
    fn which_kind_a_name_is_given_cannot_be_told_outside() {
        let given = || -> Vec<bool> {
            let decoys = Decoys::new(&AuthOptions::default());
            let slow = fulgurite_auth::decoy(Scheme::default()).into_bytes();
            decoys.note(&slow, true);
            decoys.note(b"clear", true);
            let names = (0..128).map(|number| format!("uid=nobody{number},dc=com"));
            names.map(|name| decoys.of(&name) == slow).collect()
        };
        assert_ne!(given(), given());
    }
}
