//! Bounds of searches as settings.

use fulgurite_policy::{Limit, LimitsRule, SizeLimits, TimeLimits};

use crate::setting::{Setting, Value, number_text};
use crate::tokens::{quoted, split_tokens};
use crate::value_tokens::value_token;

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

/// Returns the one number or word that says all, if the bounds are `up_to` the soft one.
fn plain_limit(soft: Option<Limit>, is_plain: bool) -> Option<String> {
    match soft.filter(|_| is_plain) {
        Some(Limit::At(number)) => Some(number.to_string()),
        Some(Limit::Unlimited) => Some("unlimited".to_owned()),
        _ => None,
    }
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

/// Adds one word of a limit, `size.soft=5` or `time=3`. Returns false if it is none.
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

/// Reads a number, `unlimited`, `none` or `-1`.
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
    const KIND: &'static str = "number, \"unlimited\", or words such as \"soft=100 hard=500\"";

    fn read(value: Value) -> Result<Self, String> {
        let mut size = Self::default();
        let one = read_limits(value, "size", &mut size, &mut TimeLimits::default())?;
        Ok(one.map_or(size, Self::up_to))
    }

    fn show(&self) -> String {
        size_words(self).join(" ")
    }

    fn toml(&self) -> Option<String> {
        let text = self.olc().concat();
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        Some(if is_number {
            text
        } else {
            format!("\"{text}\"")
        })
    }

    fn olc(&self) -> Vec<String> {
        let plain = plain_limit(
            self.soft,
            *self == Self::up_to(self.soft.unwrap_or(Limit::Unlimited)),
        );
        vec![plain.unwrap_or_else(|| self.show())]
    }
}

impl Setting for TimeLimits {
    const KIND: &'static str = "number, \"unlimited\", or words such as \"soft=10 hard=60\"";

    fn read(value: Value) -> Result<Self, String> {
        let mut time = Self::default();
        let one = read_limits(value, "time", &mut SizeLimits::default(), &mut time)?;
        Ok(one.map_or(time, Self::up_to))
    }

    fn show(&self) -> String {
        time_words(self).join(" ")
    }

    fn toml(&self) -> Option<String> {
        let text = self.olc().concat();
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        Some(if is_number {
            text
        } else {
            format!("\"{text}\"")
        })
    }

    fn olc(&self) -> Vec<String> {
        let plain = plain_limit(
            self.soft,
            *self == Self::up_to(self.soft.unwrap_or(Limit::Unlimited)),
        );
        vec![plain.unwrap_or_else(|| self.show())]
    }
}

/// Reads the words after `limits`.
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
        // slapd ignores words that begin with neither "size" nor "time".
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

fn limits_text(rule: &LimitsRule, selector: String) -> String {
    let mut words = vec![selector];
    words.extend(size_words(&rule.size));
    words.extend(time_words(&rule.time));
    words.join(" ")
}

impl Setting for LimitsRule {
    const KIND: &'static str = "a selector and limits";

    fn read(value: Value) -> Result<Self, String> {
        let text = crate::setting::text(value)?;
        let words = split_tokens(&text)?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            [who, limits @ ..] if !limits.is_empty() => limits_rule(who, limits).map_err(|word| {
                format!("\"{word}\" is no limit; write them like \"users size.soft=100 time=60\"")
            }),
            _ => Err(
                "a selector and at least one limit are expected, as in \"users size=1000\""
                    .to_owned(),
            ),
        }
    }

    fn show(&self) -> String {
        limits_text(self, quoted(&self.selector))
    }

    fn olc(&self) -> Vec<String> {
        let selector = value_token(&self.selector);
        vec![limits_text(
            self,
            selector.unwrap_or_else(|| quoted(&self.selector)),
        )]
    }
}
