//! The rules of a policy entry.

use fulgurite_schema::Schema;
use fulgurite_store::EntryView;

use super::quality::QualityModule;

/// The failures that are recorded for delays, if no limit says how many.
const RECORDED_FAILURES: u64 = 5;

/// The rules of a policy. 0 switches a rule off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PolicyRules {
    pub(crate) min_age_s: u64,
    pub(crate) max_age_s: u64,
    pub(crate) in_history: u64,
    pub(crate) check_quality: u64,
    /// Bytes.
    pub(crate) min_length: u64,
    /// Bytes.
    pub(crate) max_length: u64,
    pub(crate) expire_warning_s: u64,
    pub(crate) grace_logins: u64,
    pub(crate) grace_expiry_s: u64,
    pub(crate) lockout: bool,
    /// 0 locks until an administrator acts.
    pub(crate) lockout_duration_s: u64,
    pub(crate) max_failures: u64,
    pub(crate) failure_interval_s: u64,
    pub(crate) recorded_failures: u64,
    pub(crate) must_change: bool,
    pub(crate) allow_user_change: bool,
    pub(crate) safe_modify: bool,
    pub(crate) min_delay_s: u64,
    pub(crate) max_delay_s: u64,
    pub(crate) max_idle_s: u64,
    /// The module that must check passwords.
    pub(crate) module: Option<QualityModule>,
}

impl Default for PolicyRules {
    fn default() -> PolicyRules {
        PolicyRules {
            min_age_s: 0,
            max_age_s: 0,
            in_history: 0,
            check_quality: 0,
            min_length: 0,
            max_length: 0,
            expire_warning_s: 0,
            grace_logins: 0,
            grace_expiry_s: 0,
            lockout: false,
            lockout_duration_s: 0,
            max_failures: 0,
            failure_interval_s: 0,
            recorded_failures: 0,
            must_change: false,
            allow_user_change: true,
            safe_modify: false,
            min_delay_s: 0,
            max_delay_s: 0,
            max_idle_s: 0,
            module: None,
        }
    }
}

impl PolicyRules {
    /// Returns the reason why no password can be checked; `None` if none is checked, or all can be.
    pub(crate) fn unusable(&self) -> Option<String> {
        let module = self.module.as_ref().filter(|_| self.check_quality > 0);
        module.and_then(|module| module.rules().err())
    }

    /// Reads a policy entry; `None` if it is none, or about another attribute than userPassword.
    pub(crate) fn of(schema: &Schema, entry: &EntryView<'_>) -> Option<PolicyRules> {
        let first = |name: &str| {
            let attribute = schema.attribute(name)?.index;
            entry.plain_values(attribute)?.first()
        };
        let subject = std::str::from_utf8(first("pwdAttribute")?).ok()?;
        let password = schema.attribute("userPassword")?.index;
        if schema.attribute(subject)?.index != password {
            return None;
        }
        let number = |name: &str| first(name).map_or(0, number);
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        let truth = |name: &str, absent| first(name).map_or(absent, |value| value == b"TRUE");
        Some(PolicyRules {
            min_age_s: number("pwdMinAge"),
            max_age_s: number("pwdMaxAge"),
            in_history: number("pwdInHistory"),
            check_quality: number("pwdCheckQuality"),
            min_length: number("pwdMinLength"),
            max_length: number("pwdMaxLength"),
            expire_warning_s: number("pwdExpireWarning"),
            grace_logins: number("pwdGraceAuthNLimit"),
            grace_expiry_s: number("pwdGraceExpiry"),
            lockout: truth("pwdLockout", false),
            lockout_duration_s: number("pwdLockoutDuration"),
            max_failures: number("pwdMaxFailure"),
            failure_interval_s: number("pwdFailureCountInterval"),
            recorded_failures: number("pwdMaxRecordedFailure"),
            must_change: truth("pwdMustChange", false),
            allow_user_change: truth("pwdAllowUserChange", true),
            safe_modify: truth("pwdSafeModify", false),
            min_delay_s: number("pwdMinDelay"),
            max_delay_s: number("pwdMaxDelay"),
            max_idle_s: number("pwdMaxIdle"),
            module: first("pwdCheckModule").map(|file| QualityModule {
                file: text(file),
                settings: first("pwdCheckModuleArg").map(text),
            }),
        })
    }

    /// Returns the number of failures that an entry keeps; 0 if nothing needs them.
    pub(crate) fn failures_kept(&self) -> u64 {
        let kept = self.recorded_failures.max(self.max_failures);
        if kept == 0 && self.min_delay_s > 0 {
            return RECORDED_FAILURES;
        }
        kept
    }
}

/// Reads a number as slapd does: one that is negative, or no C int, counts as none.
fn number(value: &[u8]) -> u64 {
    let text = std::str::from_utf8(value).unwrap_or_default();
    let number = text.parse::<i32>().unwrap_or(0);
    u64::try_from(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beyond_a_c_int_and_below_zero_count_as_none() {
        for (text, expected) in [
            ("5", 5),
            ("0", 0),
            ("-1", 0),
            ("2147483647", 2_147_483_647),
            ("99999999999999", 0),
            ("x", 0),
        ] {
            assert_eq!(number(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn the_number_of_kept_failures_has_two_limits() {
        let kept = |recorded_failures, max_failures| {
            let rules = PolicyRules {
                recorded_failures,
                max_failures,
                ..PolicyRules::default()
            };
            rules.failures_kept()
        };
        assert_eq!([kept(2, 9), kept(0, 9), kept(0, 0)], [9, 9, 0]);
        let delayed = PolicyRules {
            min_delay_s: 1,
            ..PolicyRules::default()
        };
        assert_eq!(delayed.failures_kept(), 5);
    }
}
