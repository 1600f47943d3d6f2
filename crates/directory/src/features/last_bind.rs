//! The time of the last successful bind (slapd's setting `lastbind`, and its overlay of that name).
//!
//! A successful bind changes the bind state of its entry. Binds by SASL count too.

use fulgurite_policy::{OverlaySettings, Sourced};
use fulgurite_schema::AttributeDescription;

use super::compilation::Compilation;
use crate::core::clock::Timestamp;

/// The attribute of the overlay.
const OVERLAY_ATTRIBUTE: &str = "authTimestamp";

/// The attribute of the setting.
const ATTRIBUTE: &str = "pwdLastSuccess";

/// The number of digits of a time to the second: `20260131235959`.
const DIGITS: usize = 14;

/// An attribute that gets the time of a bind.
#[derive(Debug)]
pub(crate) struct BindTime {
    pub(crate) attribute: AttributeDescription,
    /// Seconds within which another bind does not change the time.
    precision_s: u64,
    /// True if a copy tells its provider of the time.
    pub(crate) is_forwarded: bool,
}

impl BindTime {
    /// Compiles the directives of the overlay.
    ///
    /// # Errors
    /// slapd's sentence about the first wrong directive.
    pub(super) fn compile(
        compilation: &Compilation<'_>,
        settings: &OverlaySettings,
    ) -> Result<Option<BindTime>, Sourced<String>> {
        let (mut precision_s, mut is_forwarded) = (0, false);
        for line in &settings.lines {
            let wrong = |text: String| Sourced::new(text, line.origin.clone());
            let (keyword, value) = (line.directive.keyword, line.first());
            if keyword == "lastbind-precision" {
                if line.arguments.is_empty() {
                    let text = format!("keyword <{keyword}> missing <seconds> argument");
                    return Err(wrong(text));
                }
                let number = value.parse::<i32>();
                let number = number.map_err(|_| {
                    wrong(format!("<{keyword}> unable to parse \"{value}\" as int"))
                })?;
                precision_s = u64::try_from(number).unwrap_or(0);
            } else {
                let forward = super::truth::parse(value);
                is_forwarded =
                    forward.ok_or_else(|| wrong(format!("<{keyword}> invalid value")))?;
            }
        }
        let attribute = compilation.schema.attribute(OVERLAY_ATTRIBUTE);
        Ok(attribute.map(|attribute| BindTime {
            attribute: AttributeDescription::plain(attribute.index),
            precision_s,
            is_forwarded,
        }))
    }

    /// Returns the attribute of the setting `lastbind`.
    pub(crate) fn of_setting(
        schema: &fulgurite_schema::Schema,
        precision_s: u32,
    ) -> Option<BindTime> {
        let attribute = schema.attribute(ATTRIBUTE)?;
        Some(BindTime {
            attribute: AttributeDescription::plain(attribute.index),
            precision_s: precision_s.into(),
            is_forwarded: false,
        })
    }

    /// Returns true if a bind at `now` changes a stored time. A time never changes twice a second.
    pub(crate) fn is_due(&self, stored: Option<&[u8]>, now: Timestamp) -> bool {
        let Some(stored) = stored.and_then(|stored| stored.get(..DIGITS)) else {
            return true;
        };
        let to_second = |time: Timestamp| {
            let mut text = time.generalized();
            text.truncate(DIGITS);
            text.into_bytes()
        };
        let distance_us = self.precision_s.max(1).saturating_mul(1_000_000);
        let latest = Timestamp(now.0.saturating_sub(distance_us));
        // A time in the future comes from a clock that was wrong.
        stored <= to_second(latest).as_slice() || stored > to_second(now).as_slice()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulgurite_schema::Schema;

    #[test]
    fn a_time_changes_after_the_precision() {
        let schema = Schema::standard();
        let time = |precision| BindTime::of_setting(&schema, precision).expect("an attribute");
        // 2026-01-01T00:00:00.9Z
        let now = Timestamp(1_767_225_600_900_000);
        for (precision, stored, due) in [
            (0, "20260101000000Z", false),
            (0, "20251231235959Z", true),
            (0, "20251231235959.5Z", true),
            (0, "20260101000001Z", true),
            (0, "2026", true),
            (2, "20251231235959Z", false),
            (2, "20251231235958Z", true),
            (3600, "20251231230001Z", false),
            (3600, "20251231230000Z", true),
        ] {
            let is_due = time(precision).is_due(Some(stored.as_bytes()), now);
            assert_eq!(is_due, due, "{precision} {stored}");
        }
        assert!(time(9).is_due(None, now));
    }
}
