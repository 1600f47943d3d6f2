//! The verdict about a bind. It depends on the rules, the state, the password and the time alone.

use fulgurite_ldap::control::{PasswordError, PasswordPolicyResponse, PasswordWarning};

use super::rules::PolicyRules;
use super::state::{LockTime, PasswordState, StateAttribute, StateChange, parse};
use crate::core::clock::Timestamp;

/// The verdict about a bind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BindVerdict {
    /// True if the bind succeeds.
    pub(crate) is_allowed: bool,
    /// True if the name is locked. The password does not count then.
    pub(crate) is_locked: bool,
    /// True if the connection may only change the password.
    pub(crate) must_change: bool,
    /// True if the password has expired, also for a bind that is allowed.
    pub(crate) is_expired: bool,
    pub(crate) response: PasswordPolicyResponse,
    pub(crate) changes: Vec<StateChange>,
}

/// Returns true if the name must not bind at all.
pub(crate) fn is_locked(rules: &PolicyRules, state: &PasswordState, now: Timestamp) -> bool {
    let second = now.seconds();
    let is_locked = rules.lockout
        && state.locked.is_some_and(|locked| match locked {
            LockTime::Forever => true,
            // As in slapd, a time in the future does not lock yet.
            LockTime::At(at) => at <= now && !is_over(at, rules.lockout_duration_s, now),
        });
    let is_idle = rules.lockout
        && rules.max_idle_s > 0
        && state
            .last_success
            .is_some_and(|last| last.seconds() + rules.max_idle_s < second);
    let is_outside = state.start.is_some_and(|start| now < start)
        || state.end.is_some_and(|end| end.seconds() < second);
    is_locked || is_idle || is_outside || state.locked_until.is_some_and(|until| now < until)
}

/// Returns true if a lock has ended; one without a duration never ends.
fn is_over(locked: Timestamp, duration_s: u64, now: Timestamp) -> bool {
    duration_s > 0 && locked.seconds() + duration_s <= now.seconds()
}

/// Judges a bind with a right or a wrong password.
pub(crate) fn judge(
    rules: &PolicyRules,
    state: &PasswordState,
    is_right: bool,
    now: Timestamp,
) -> BindVerdict {
    if is_locked(rules, state, now) {
        return BindVerdict {
            is_locked: true,
            response: PasswordPolicyResponse::of_error(PasswordError::Locked),
            ..BindVerdict::default()
        };
    }
    if !is_right {
        return BindVerdict {
            changes: failed(rules, state, now),
            ..BindVerdict::default()
        };
    }
    let mut verdict = BindVerdict {
        is_allowed: true,
        changes: cleared(rules, state, now),
        ..BindVerdict::default()
    };
    if state.reset && rules.must_change {
        verdict.must_change = true;
        verdict.response.error = Some(PasswordError::ChangeAfterReset);
    }
    expire(rules, state, now, &mut verdict);
    verdict
}

/// Returns the changes of a failed bind: another failure, and a lock after too many.
fn failed(rules: &PolicyRules, state: &PasswordState, now: Timestamp) -> Vec<StateChange> {
    let is_recent = |failure: &&Vec<u8>| {
        rules.failure_interval_s == 0
            || parse(failure)
                .is_some_and(|at| now.seconds() <= at.seconds() + rules.failure_interval_s)
    };
    let mut failures: Vec<Vec<u8>> = state.failures.iter().filter(is_recent).cloned().collect();
    failures.sort();
    failures.push(new_time(&failures, now));
    let count = failures.len() as u64;
    let kept = usize::try_from(rules.failures_kept()).unwrap_or(usize::MAX);
    failures.drain(..failures.len().saturating_sub(kept));
    let mut changes = Vec::new();
    if failures != state.failures {
        changes.push(StateChange {
            attribute: StateAttribute::Failures,
            values: failures,
        });
    }
    if has_ended_lock(rules, state, now) {
        // As in slapd, the first failure after a lock does not lock again.
        changes.push(StateChange::remove(StateAttribute::Locked));
    } else if rules.max_failures > 0 && count >= rules.max_failures {
        let time = now.generalized();
        changes.push(StateChange::set(StateAttribute::Locked, time));
    }
    if rules.min_delay_s > 0 {
        let doublings = u32::try_from(count - 1).unwrap_or(u32::MAX);
        let factor = 1_u64.checked_shl(doublings).unwrap_or(u64::MAX);
        let mut delay_s = rules.min_delay_s.saturating_mul(factor);
        if rules.max_delay_s > 0 {
            delay_s = delay_s.min(rules.max_delay_s);
        }
        let delay_s = delay_s.min(i32::MAX.unsigned_abs().into());
        let until = Timestamp(now.0 + delay_s * 1_000_000);
        let time = until.generalized_us();
        changes.push(StateChange::set(StateAttribute::LockedUntil, time));
    }
    changes
}

fn has_ended_lock(rules: &PolicyRules, state: &PasswordState, now: Timestamp) -> bool {
    let Some(LockTime::At(at)) = state.locked else {
        return false;
    };
    rules.lockout && is_over(at, rules.lockout_duration_s, now)
}

/// Returns a time that is not there yet. Two binds may come in one microsecond.
fn new_time(times: &[Vec<u8>], mut now: Timestamp) -> Vec<u8> {
    loop {
        let time = now.generalized_us().into_bytes();
        if !times.contains(&time) {
            return time;
        }
        now.0 += 1;
    }
}

/// Returns the changes of a right password: what counts failures goes.
fn cleared(rules: &PolicyRules, state: &PasswordState, now: Timestamp) -> Vec<StateChange> {
    let mut changes = Vec::new();
    let mut remove = |attribute| changes.push(StateChange::remove(attribute));
    if !state.failures.is_empty() {
        remove(StateAttribute::Failures);
    }
    if has_ended_lock(rules, state, now) {
        remove(StateAttribute::Locked);
    }
    if state.locked_until.is_some() {
        remove(StateAttribute::LockedUntil);
    }
    changes
}

/// Adds what the age of the password means.
fn expire(rules: &PolicyRules, state: &PasswordState, now: Timestamp, verdict: &mut BindVerdict) {
    let Some(changed) = state.changed.filter(|_| rules.max_age_s > 0) else {
        return;
    };
    let age_s = now.seconds().saturating_sub(changed.seconds());
    let short = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    if age_s <= rules.max_age_s {
        let left_s = rules.max_age_s - age_s;
        if left_s < rules.expire_warning_s {
            let warning = PasswordWarning::TimeBeforeExpiration(short(left_s));
            verdict.response.warning = Some(warning);
        }
        return;
    }
    verdict.is_expired = true;
    let is_in_time = rules.grace_expiry_s == 0 || age_s - rules.max_age_s <= rules.grace_expiry_s;
    let used = state.grace_uses.len() as u64;
    if !is_in_time || used >= rules.grace_logins {
        verdict.is_allowed = false;
        verdict.must_change = false;
        verdict.response = PasswordPolicyResponse::of_error(PasswordError::Expired);
        return;
    }
    let left = rules.grace_logins - used - 1;
    verdict.response.warning = Some(PasswordWarning::GraceLogins(short(left)));
    let mut uses = state.grace_uses.clone();
    uses.push(new_time(&uses, now));
    verdict.changes.push(StateChange {
        attribute: StateAttribute::GraceUses,
        values: uses,
    });
}
