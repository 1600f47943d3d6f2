//! The rules for a new password, and the changes of the state that it causes.

use fulgurite_ldap::ResultCode;
use fulgurite_ldap::control::{PasswordError, PasswordPolicyResponse};

use super::history;
use super::overlay::PolicyRefusal;
use super::quality::QualityCheck;
use super::rules::PolicyRules;
use super::state::{PasswordState, StateAttribute, StateChange};
use crate::core::clock::Timestamp;
use crate::core::result::refuse;

/// A change of a password, as the rules see it. It has no form for display.
#[derive(Clone, Copy)]
pub(crate) struct PasswordUpdateFacts<'c> {
    /// The new password, as given.
    pub(crate) new: Option<&'c [u8]>,
    /// True if the change leaves no password.
    pub(crate) is_removed: bool,
    /// The stored values before the change.
    pub(crate) stored: &'c [Vec<u8>],
    /// The check of the policy's module, if it can be made.
    pub(crate) quality: Option<&'c QualityCheck>,
    /// The comparisons with the new password that are made already.
    pub(crate) compared: Option<&'c Comparisons>,
    /// The old password that the request supplies.
    pub(crate) old: OldPassword,
    /// True if the password is the requester's own.
    pub(crate) is_own: bool,
    /// True for the root, and with the right `manage` to the password.
    pub(crate) is_administrator: bool,
}

/// Stored passwords that were compared with a new one before the writer judges it, because hashes
/// take long. It has no form for display.
#[derive(Clone, Default)]
pub(crate) struct Comparisons(Vec<(Vec<u8>, bool)>);

impl Comparisons {
    /// Compares stored passwords with a new one.
    pub(crate) fn of(stored: Vec<Vec<u8>>, new: &[u8]) -> Comparisons {
        let compare = |stored: Vec<u8>| {
            let is_same = is_same(&stored, new);
            (stored, is_same)
        };
        Comparisons(stored.into_iter().map(compare).collect())
    }

    /// Makes the comparisons that another server has made.
    pub(crate) fn from_pairs(pairs: Vec<(Vec<u8>, bool)>) -> Comparisons {
        Comparisons(pairs)
    }

    /// Returns the stored passwords, each with true if the new one is the same.
    pub(crate) fn pairs(&self) -> std::slice::Iter<'_, (Vec<u8>, bool)> {
        self.0.iter()
    }

    fn result(&self, stored: &[u8]) -> Option<bool> {
        let mut known = self.0.iter();
        let known = known.find(|(known, _)| known == stored);
        known.map(|(_, is_same)| *is_same)
    }
}

impl PasswordUpdateFacts<'_> {
    /// Returns true if the new password is one that is stored.
    fn is_same(&self, stored: &[u8], new: &[u8]) -> bool {
        let known = self.compared.and_then(|compared| compared.result(stored));
        known.unwrap_or_else(|| is_same(stored, new))
    }
}

/// The old password of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OldPassword {
    Missing,
    Wrong,
    Right,
}

/// Passes a change of a password, or refuses it. The order is slapd's.
pub(crate) fn check(
    rules: &PolicyRules,
    state: &PasswordState,
    facts: &PasswordUpdateFacts<'_>,
    now: Timestamp,
) -> Result<(), PolicyRefusal> {
    let Some(new) = facts.new.filter(|_| !facts.is_administrator) else {
        return Ok(());
    };
    if !facts.stored.is_empty() {
        require_old(rules, facts.old)?;
    }
    if !rules.allow_user_change && facts.is_own {
        return Err(refused(
            ResultCode::InsufficientAccessRights,
            "User alteration of password is not allowed",
            PasswordError::ModNotAllowed,
        ));
    }
    let age_s = state
        .changed
        .map(|changed| now.seconds().saturating_sub(changed.seconds()));
    if age_s.is_some_and(|age_s| age_s < rules.min_age_s) && !state.reset {
        return Err(violation(
            "Password is too young to change",
            PasswordError::TooYoung,
        ));
    }
    check_quality(rules, new, facts.quality)?;
    check_history(rules, state, facts, new)
}

/// Requires the old password. As in slapd, a wrong one is refused under every policy.
fn require_old(rules: &PolicyRules, old: OldPassword) -> Result<(), PolicyRefusal> {
    match old {
        OldPassword::Right => Ok(()),
        OldPassword::Missing if !rules.safe_modify => Ok(()),
        OldPassword::Missing => Err(refused(
            ResultCode::InsufficientAccessRights,
            "Must supply old password to be changed as well as new one",
            PasswordError::MustSupplyOld,
        )),
        OldPassword::Wrong => Err(refused(
            ResultCode::UnwillingToPerform,
            "Must supply correct old password to change to new one",
            PasswordError::MustSupplyOld,
        )),
    }
}

/// Passes a new password, or refuses it for its quality. A hash has a length too, as in slapd.
/// Without the check of a module that the policy names, no password in clear passes.
pub(crate) fn check_quality(
    rules: &PolicyRules,
    new: &[u8],
    quality: Option<&QualityCheck>,
) -> Result<(), PolicyRefusal> {
    let poor = |error| Err(violation("Password fails quality checking policy", error));
    if rules.check_quality == 0 {
        return Ok(());
    }
    let length = new.len() as u64;
    if length < rules.min_length {
        return poor(PasswordError::TooShort);
    }
    if rules.max_length > 0 && length > rules.max_length {
        return poor(PasswordError::TooLong);
    }
    if is_hashed(new) {
        return match rules.check_quality {
            1 => Ok(()),
            _ => poor(PasswordError::InsufficientQuality),
        };
    }
    if rules.module.is_some() && !quality.is_some_and(|quality| quality.passes(new)) {
        return poor(PasswordError::InsufficientQuality);
    }
    Ok(())
}

/// Refuses the present password and those of the history.
fn check_history(
    rules: &PolicyRules,
    state: &PasswordState,
    facts: &PasswordUpdateFacts<'_>,
    new: &[u8],
) -> Result<(), PolicyRefusal> {
    if rules.in_history == 0 {
        return Ok(());
    }
    let mut stored = facts.stored.iter();
    if stored.any(|stored| facts.is_same(stored, new)) {
        return Err(violation(
            "Password is not being changed from existing value",
            PasswordError::InHistory,
        ));
    }
    let mut old = state
        .history
        .iter()
        .filter_map(|held| history::password(held));
    if old.any(|stored| facts.is_same(stored, new)) {
        return Err(violation(
            "Password is in history of old passwords",
            PasswordError::InHistory,
        ));
    }
    Ok(())
}

/// Returns true if a given password is one that is stored.
pub(crate) fn is_same(stored: &[u8], given: &[u8]) -> bool {
    stored == given || fulgurite_auth::verify(stored, given).unwrap_or(false)
}

/// Returns true if a value begins with a known `{SCHEME}` that is not that of clear text.
pub(crate) fn is_hashed(value: &[u8]) -> bool {
    let is_known = fulgurite_auth::Scheme::of(value).is_ok();
    is_known && fulgurite_auth::clear_text(value).is_none()
}

/// Returns the changes of the state that a changed password causes.
pub(crate) fn state_changes(
    rules: Option<&PolicyRules>,
    state: &PasswordState,
    facts: &PasswordUpdateFacts<'_>,
    now: Timestamp,
) -> Vec<StateChange> {
    let mut changes = Vec::new();
    let kept = rules.map_or(0, |rules| rules.in_history);
    if kept > 0 && !facts.stored.is_empty() {
        changes.push(StateChange {
            attribute: StateAttribute::History,
            values: history::extended(&state.history, now, facts.stored, kept),
        });
    }
    // As in slapd, a removal by its user leaves the state under a policy as it is.
    let is_ended = facts.is_removed && (facts.is_administrator || rules.is_none());
    if facts.new.is_some() {
        changes.push(StateChange::set(StateAttribute::Changed, now.generalized()));
    } else if !is_ended {
        return changes;
    }
    let is_gone = is_ended && state.changed.is_some();
    let held = [
        (StateAttribute::Changed, is_gone),
        (StateAttribute::Failures, !state.failures.is_empty()),
        (StateAttribute::GraceUses, !state.grace_uses.is_empty()),
        (StateAttribute::Locked, state.locked.is_some()),
        (StateAttribute::LockedUntil, state.locked_until.is_some()),
        (StateAttribute::LastSuccess, state.last_success.is_some()),
    ];
    let held = held.into_iter().filter(|(_, is_held)| *is_held);
    changes.extend(held.map(|(attribute, _)| StateChange::remove(attribute)));
    if facts.is_administrator && rules.is_some_and(|rules| rules.must_change) {
        let truth = "TRUE".to_owned();
        changes.push(StateChange::set(StateAttribute::Reset, truth));
    } else if state.has_reset {
        changes.push(StateChange::remove(StateAttribute::Reset));
    }
    changes
}

fn violation(text: &str, error: PasswordError) -> PolicyRefusal {
    refused(ResultCode::ConstraintViolation, text, error)
}

fn refused(code: ResultCode, text: &str, error: PasswordError) -> PolicyRefusal {
    PolicyRefusal {
        result: refuse(code, text),
        response: PasswordPolicyResponse::of_error(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_password_ends_its_state_unless_its_user_removes_it() {
        use StateAttribute::{Changed, Failures, Reset};
        let state = PasswordState {
            changed: Some(Timestamp(1)),
            failures: vec![b"19700101000001Z".to_vec()],
            has_reset: true,
            ..PasswordState::default()
        };
        let rules = PolicyRules::default();
        let of = |rules: Option<&PolicyRules>, is_administrator: bool, is_removed: bool| {
            let facts = PasswordUpdateFacts {
                new: None,
                is_removed,
                stored: &[b"old".to_vec()],
                quality: None,
                compared: None,
                old: OldPassword::Missing,
                is_own: !is_administrator,
                is_administrator,
            };
            let changes = state_changes(rules, &state, &facts, Timestamp(2));
            assert!(changes.iter().all(|change| change.values.is_empty()));
            let changed = changes.into_iter().map(|change| change.attribute);
            changed.collect::<Vec<_>>()
        };
        assert_eq!(of(Some(&rules), true, true), [Changed, Failures, Reset]);
        assert_eq!(of(None, false, true), [Changed, Failures, Reset]);
        assert!(of(Some(&rules), false, true).is_empty());
        assert!(of(Some(&rules), true, false).is_empty());
    }

    #[test]
    fn a_comparison_is_made_once() {
        let stored = [b"{SSHA}of-no-password".to_vec(), b"clear".to_vec()];
        // The result is wrong, so only a repeated comparison would be right.
        let compared = Comparisons(vec![(stored[0].clone(), true)]);
        let facts = |compared| PasswordUpdateFacts {
            new: Some(b"new"),
            is_removed: false,
            stored: &stored,
            quality: None,
            compared,
            old: OldPassword::Missing,
            is_own: true,
            is_administrator: false,
        };
        assert!(facts(Some(&compared)).is_same(&stored[0], b"new"));
        assert!(!facts(Some(&compared)).is_same(&stored[1], b"new"));
        assert!(!facts(None).is_same(&stored[0], b"new"));
        let made = Comparisons::of(stored.to_vec(), b"clear");
        assert_eq!(made.result(&stored[0]), Some(false));
        assert_eq!(made.result(&stored[1]), Some(true));
        assert_eq!(made.result(b"other"), None);
    }
}
