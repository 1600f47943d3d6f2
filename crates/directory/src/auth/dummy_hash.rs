//! Dummy passwords for names without one: a wrong name then costs as much time as a wrong password.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, PoisonError};

use super::options::AuthOptions;

/// The number of kinds of stored passwords that are remembered.
const KINDS_MAX: usize = 16;

/// Stored passwords of each kind in use.
///
/// A name without a password always gets the same one of them. Each kind is chosen as often as it
/// is in use. The time of a check then reveals no names.
pub(crate) struct DummyHashes {
    kinds: Mutex<PasswordKinds>,
    fallback: Vec<u8>,
    /// A secret of the process. With it, the kind chosen for a name would reveal whether the name
    /// exists.
    key: RandomState,
}

#[derive(Default)]
struct PasswordKinds {
    /// Sorted by name, so that the order does not depend on who binds first.
    in_use: Vec<PasswordKind>,
    sampled: bool,
}

struct PasswordKind {
    kind: String,
    example: Vec<u8>,
    /// The number of passwords of this kind in the sample, at least one.
    count: u64,
}

impl PasswordKinds {
    fn note(&mut self, stored: &[u8], counted: bool) {
        let kind = fulgurite_auth::kind(stored);
        match self.in_use.binary_search_by(|known| known.kind.cmp(&kind)) {
            Ok(place) => {
                if let Some(known) = self.in_use.get_mut(place) {
                    known.count += u64::from(counted);
                }
            }
            Err(place) if self.in_use.len() < KINDS_MAX => {
                let example = stored.to_vec();
                let new = PasswordKind {
                    kind,
                    example,
                    count: 1,
                };
                self.in_use.insert(place, new);
            }
            Err(_) => {}
        }
    }

    /// Returns the kind at a fraction of all passwords. Adding a kind changes few fractions.
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

impl DummyHashes {
    pub(crate) fn new(options: &AuthOptions) -> DummyHashes {
        let scheme = options.password_hash.first().copied().unwrap_or_default();
        DummyHashes {
            kinds: Mutex::default(),
            fallback: fulgurite_auth::decoy(scheme).into_bytes(),
            key: RandomState::new(),
        }
    }

    /// Records the kind of a stored password.
    ///
    /// Only passwords of the sample count, so that frequent binds do not change the choice.
    pub(super) fn note(&self, stored: &[u8], sampled: bool) {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        kinds.note(stored, sampled);
    }

    pub(super) fn of(&self, normal_name: &str) -> Vec<u8> {
        let kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        let part = self.key.hash_one(normal_name);
        kinds.at(part).unwrap_or(&self.fallback).to_vec()
    }

    /// Returns true if the stores have not been sampled yet.
    pub(super) fn begin_sample(&self) -> bool {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        !std::mem::replace(&mut kinds.sampled, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulgurite_auth::Scheme;

    #[test]
    fn names_without_a_password_get_each_kind_as_often_as_it_is_in_use() {
        let dummies = DummyHashes::new(&AuthOptions::default());
        let rare = fulgurite_auth::decoy(Scheme::default()).into_bytes();
        dummies.note(&rare, true);
        (0..199).for_each(|_| dummies.note(b"clear", true));
        // Binding often does not make a kind more frequent.
        (0..1000).for_each(|_| dummies.note(&rare, false));
        let given = |dummies: &DummyHashes| -> Vec<bool> {
            let names = (0..4000).map(|number| format!("uid=nobody{number},dc=com"));
            names.map(|name| dummies.of(&name) == rare).collect()
        };
        let first = given(&dummies);
        let rarely = first.iter().filter(|rare| **rare).count();
        // 20 are expected.
        assert!((1..80).contains(&rarely), "{rarely} of 4000");
        assert_eq!(given(&dummies), first, "the same name, the same time");
    }

    #[test]
    fn the_kind_chosen_for_a_name_is_secret() {
        let given = || -> Vec<bool> {
            let dummies = DummyHashes::new(&AuthOptions::default());
            let slow = fulgurite_auth::decoy(Scheme::default()).into_bytes();
            dummies.note(&slow, true);
            dummies.note(b"clear", true);
            let names = (0..128).map(|number| format!("uid=nobody{number},dc=com"));
            names.map(|name| dummies.of(&name) == slow).collect()
        };
        assert_ne!(given(), given());
    }
}
