//! The usability of accounts, as the account usability control says it.

use fulgurite_ldap::control::AccountUsability;

use super::bind_verdict::is_locked;
use super::rules::PolicyRules;
use super::state::{LockTime, PasswordState};
use crate::core::clock::Timestamp;

/// Returns the usability of an account.
pub(crate) fn usability(
    rules: &PolicyRules,
    state: &PasswordState,
    now: Timestamp,
) -> AccountUsability {
    let expiry = state.changed.filter(|_| rules.max_age_s > 0);
    let expiry = expiry.map(|changed| changed.seconds() + rules.max_age_s);
    let is_inactive = is_locked(rules, state, now);
    let is_reset = state.reset && rules.must_change;
    let is_expired = expiry.is_some_and(|at| at < now.seconds());
    let until = |at: u64| u32::try_from(at.saturating_sub(now.seconds())).unwrap_or(u32::MAX);
    if !(is_inactive || is_reset || is_expired) {
        let last = state.last_success;
        let last = last.filter(|_| rules.lockout && rules.max_idle_s > 0);
        let idle = last.map(|last| last.seconds() + rules.max_idle_s);
        return AccountUsability::Available {
            expires_in_s: expiry.into_iter().chain(idle).min().map(until),
        };
    }
    let is_in_time = rules.grace_expiry_s == 0
        || expiry.is_none_or(|at| now.seconds() <= at + rules.grace_expiry_s);
    let used = state.grace_uses.len() as u64;
    let left = rules.grace_logins.saturating_sub(used);
    AccountUsability::Unavailable {
        is_inactive,
        is_reset,
        is_expired,
        grace_logins: u32::try_from(left).ok().filter(|_| is_in_time).unwrap_or(0),
        unlocked_in_s: unlock(rules, state, now).map(until),
    }
}

/// Returns the second at which a lock ends by itself.
fn unlock(rules: &PolicyRules, state: &PasswordState, now: Timestamp) -> Option<u64> {
    let lock = match state.locked {
        Some(LockTime::At(at)) if rules.lockout && rules.lockout_duration_s > 0 => {
            Some(at.seconds() + rules.lockout_duration_s)
        }
        _ => None,
    };
    let delay = state.locked_until.map(Timestamp::seconds);
    let ends = [lock, delay].into_iter().flatten();
    ends.filter(|at| *at > now.seconds()).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000_000);

    fn before(seconds: u64) -> Timestamp {
        Timestamp(NOW.0 - seconds * 1_000_000)
    }

    fn rules() -> PolicyRules {
        PolicyRules {
            max_age_s: 100,
            grace_logins: 3,
            lockout: true,
            lockout_duration_s: 60,
            must_change: true,
            ..PolicyRules::default()
        }
    }

    fn of(state: PasswordState) -> AccountUsability {
        usability(&rules(), &state, NOW)
    }

    #[test]
    fn an_account_is_available_until_its_password_expires() {
        let available = |expires_in_s| AccountUsability::Available { expires_in_s };
        assert_eq!(of(PasswordState::default()), available(None));
        let state = PasswordState {
            changed: Some(before(40)),
            ..PasswordState::default()
        };
        assert_eq!(of(state.clone()), available(Some(60)));
        let idle = PolicyRules {
            max_idle_s: 15,
            ..rules()
        };
        let state = PasswordState {
            last_success: Some(before(5)),
            ..state
        };
        assert_eq!(usability(&idle, &state, NOW), available(Some(10)));
    }

    #[test]
    fn the_reasons_why_it_cannot_be_used_are_named() {
        let unavailable = |reasons: [bool; 3], grace_logins, unlocked_in_s| {
            let [is_inactive, is_reset, is_expired] = reasons;
            AccountUsability::Unavailable {
                is_inactive,
                is_reset,
                is_expired,
                grace_logins,
                unlocked_in_s,
            }
        };
        let locked = |locked| PasswordState {
            locked: Some(locked),
            ..PasswordState::default()
        };
        let inactive = [true, false, false];
        let at = LockTime::At(before(20));
        assert_eq!(of(locked(at)), unavailable(inactive, 3, Some(40)));
        let forever = locked(LockTime::Forever);
        assert_eq!(of(forever), unavailable(inactive, 3, None));
        let reset = PasswordState {
            reset: true,
            ..PasswordState::default()
        };
        assert_eq!(of(reset), unavailable([false, true, false], 3, None));
        let expired = PasswordState {
            changed: Some(before(101)),
            grace_uses: vec![b"x".to_vec()],
            ..PasswordState::default()
        };
        assert_eq!(of(expired), unavailable([false, false, true], 2, None));
    }
}
