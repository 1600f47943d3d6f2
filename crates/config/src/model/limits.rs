//! Bounds of searches and the rules of a database: what may also be said once for all databases.

use fulgurite_policy::{Limit, LimitsRule, Require, Restrict, Security, SizeLimits, TimeLimits};

use super::settings;
use crate::setting::{Setting, Value, number_text};
use crate::words::split_words;

fn size_words(size: &SizeLimits) -> Vec<String> {
    let all = [
        ("soft", size.soft),
        ("hard", size.hard),
        ("unchecked", size.unchecked),
        ("pr", size.page),
        ("prtotal", size.paged_total),
    ];
    let no_estimate = size.no_estimate.then(|| "size.pr=noEstimate".to_owned());
    shown("size", &all).into_iter().chain(no_estimate).collect()
}

fn time_words(time: &TimeLimits) -> Vec<String> {
    shown("time", &[("soft", time.soft), ("hard", time.hard)])
}

fn shown(what: &str, limits: &[(&str, Option<Limit>)]) -> Vec<String> {
    let said = limits
        .iter()
        .filter_map(|(name, limit)| Some((name, (*limit)?)));
    said.map(|(name, limit)| {
        let limit = match limit {
            Limit::Unlimited => "unlimited".to_owned(),
            Limit::At(number) => number.to_string(),
            Limit::SameAsSoft => "soft".to_owned(),
            Limit::SameAsHard => "hard".to_owned(),
            Limit::Disabled => "disabled".to_owned(),
        };
        format!("{what}.{name}={limit}")
    })
    .collect()
}

/// Takes one word of a limit, `size.soft=5` or `time=3`; false if it is none.
pub(crate) fn add_limit(word: &str, size: &mut SizeLimits, time: &mut TimeLimits) -> bool {
    let Some((name, value)) = word.split_once('=') else {
        return false;
    };
    let name = name.to_ascii_lowercase();
    let value = value.to_ascii_lowercase();
    match name.as_str() {
        "time" => plain(&value).map(|limit| *time = TimeLimits::up_to(limit)),
        "time.soft" => plain(&value).map(|limit| time.soft = Some(limit)),
        "time.hard" => hard(&value).map(|limit| time.hard = Some(limit)),
        "size" => plain(&value).map(|limit| {
            size.soft = Some(limit);
            size.hard = Some(Limit::SameAsSoft);
        }),
        "size.soft" => plain(&value).map(|limit| size.soft = Some(limit)),
        "size.hard" => hard(&value).map(|limit| size.hard = Some(limit)),
        "size.unchecked" => or_disabled(&value).map(|limit| size.unchecked = Some(limit)),
        "size.pr" if value == "noestimate" => {
            size.no_estimate = true;
            Some(())
        }
        "size.pr" => plain(&value).map(|limit| size.page = Some(limit)),
        "size.prtotal" if value == "hard" => {
            size.paged_total = Some(Limit::SameAsHard);
            Some(())
        }
        "size.prtotal" => or_disabled(&value).map(|limit| size.paged_total = Some(limit)),
        _ => None,
    }
    .is_some()
}

/// A number, `unlimited`, `none` or `-1`.
pub(crate) fn plain(value: &str) -> Option<Limit> {
    match value {
        "unlimited" | "none" | "-1" => Some(Limit::Unlimited),
        number => number.parse().ok().map(Limit::At),
    }
}

fn hard(value: &str) -> Option<Limit> {
    match value {
        "soft" | "0" => Some(Limit::SameAsSoft),
        other => plain(other),
    }
}

fn or_disabled(value: &str) -> Option<Limit> {
    match value {
        "disabled" => Some(Limit::Disabled),
        other => plain(other),
    }
}

/// Reads `500`, `"unlimited"`, or words such as `size.soft=100 size.hard=500`.
fn read_limits(
    value: Value,
    what: &str,
    size: &mut SizeLimits,
    time: &mut TimeLimits,
) -> Result<Option<Limit>, String> {
    let text = number_text(value)?;
    if !text.contains('=') {
        return crate::quantity::parse_limit(&text)
            .map(|limit| Some(limit.map_or(Limit::Unlimited, Limit::At)));
    }
    for word in text.split_whitespace() {
        let qualified = match word.starts_with(what) {
            true => word.to_owned(),
            false => format!("{what}.{word}"),
        };
        if !add_limit(&qualified, size, time) {
            return Err(format!(
                "\"{word}\" is no limit; write a number, \"unlimited\", or words like \"{what}.soft=100 {what}.hard=500\""
            ));
        }
    }
    Ok(None)
}

impl Setting for SizeLimits {
    fn read(value: Value) -> Result<Self, String> {
        let mut size = Self::default();
        let one = read_limits(value, "size", &mut size, &mut TimeLimits::default())?;
        Ok(one.map_or(size, Self::up_to))
    }

    fn show(&self) -> String {
        size_words(self).join(" ")
    }
}

impl Setting for TimeLimits {
    fn read(value: Value) -> Result<Self, String> {
        let mut time = Self::default();
        let one = read_limits(value, "time", &mut SizeLimits::default(), &mut time)?;
        Ok(one.map_or(time, Self::up_to))
    }

    fn show(&self) -> String {
        time_words(self).join(" ")
    }
}

/// Takes the words after `limits`.
///
/// # Errors
/// The word that is no limit.
pub(crate) fn limits_rule(selector: &str, words: &[&str]) -> Result<LimitsRule, String> {
    let mut rule = LimitsRule {
        selector: selector.to_owned(),
        size: SizeLimits::default(),
        time: TimeLimits::default(),
    };
    for word in words {
        // Words that begin with neither "size" nor "time" are passed over, as slapd does.
        let ours = ["size", "time"].iter().any(|name| {
            word.get(..4)
                .is_some_and(|head| head.eq_ignore_ascii_case(name))
        });
        if ours && !add_limit(word, &mut rule.size, &mut rule.time) {
            return Err((*word).to_owned());
        }
    }
    Ok(rule)
}

impl Setting for LimitsRule {
    fn read(value: Value) -> Result<Self, String> {
        let text = crate::setting::text(value)?;
        let words = split_words(&text)?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            [who, limits @ ..] if !limits.is_empty() => limits_rule(who, limits).map_err(|word| {
                format!("\"{word}\" is no limit; write them like \"users size.soft=100 time=60\"")
            }),
            _ => Err(
                "whom it is for and at least one limit are wanted, as in \"users size=1000\""
                    .to_owned(),
            ),
        }
    }

    fn show(&self) -> String {
        let mut words = vec![crate::words::quoted(&self.selector)];
        words.extend(size_words(&self.size));
        words.extend(time_words(&self.time));
        words.join(" ")
    }
}

settings! {
    /// The rules of a database, or of all of them.
    Policy / PolicyLayer {
        /// Entries that one search may return.
        "limits.size" size: SizeLimits = SizeLimits::up_to(Limit::At(500));
        /// Seconds that one search may take.
        "limits.time" time: TimeLimits = TimeLimits::up_to(Limit::At(3600));
        /// Operations that are refused.
        "restrict" restrict: Restrict = Restrict::default();
        /// Conditions for operations.
        "require" require: Require = Require::default();
        /// Least strengths of connections.
        "security" security: Security = Security::default();
        /// Whether updates are refused.
        "read_only" read_only: bool = false;
        /// Whether `modifyTimestamp` and its like are kept.
        "last_mod" last_mod: bool = true;
        /// Whether the time of the last successful bind is kept.
        "last_bind" last_bind: bool = false;
        /// Seconds within which another bind does not change that time.
        "last_bind_precision" last_bind_precision: u32 = 0;
        /// Aliases that one search follows in a row.
        "max_deref_depth" max_deref_depth: u32 = 15;
        /// Whether access rules are asked for each value of an added entry.
        "add_content_acl" add_content_acl: bool = false;
        /// Attributes kept in entries that are passed on, beside those asked for.
        "extra_attributes" extra_attributes: Vec<String> = Vec::new();
    } {
        /// Access rules as written after the word `access`, in order.
        "access" access: String;
        /// Bounds for some identities, in order.
        "limits.identities" limits: LimitsRule;
    }
}

impl PolicyLayer {
    /// This layer with what it inherits from the rules of all databases. Lists are not inherited.
    #[must_use]
    pub fn inheriting(self, all: &PolicyLayer) -> PolicyLayer {
        let all = PolicyLayer {
            access: Vec::new(),
            limits: Vec::new(),
            restrict: None,
            require: None,
            security: None,
            ..all.clone()
        };
        let size = self.size.clone().zip(all.size.clone());
        let time = self.time.clone().zip(all.time.clone());
        let mut joined = self.over(all);
        if let (Some(own), Some((upper, lower))) = (&mut joined.size, size) {
            own.value = upper.value.over(lower.value);
        }
        if let (Some(own), Some((upper, lower))) = (&mut joined.time, time) {
            own.value = upper.value.over(lower.value);
        }
        joined
    }
}
