//! How much one search may take: bounds of the database, and of some identities.
//!
//! ```text
//!   the database's bounds  <-- the first `limits` line that selects the requester, as far as it says something
//!                          <-- what the client asks for, as far as the hard bound lets it
//! ```

use fulgurite_access::{Facts, Selector};
use fulgurite_policy::{Limit, LimitsRule, SizeLimits, Sourced, TimeLimits};
use fulgurite_schema::Schema;

use crate::core::error::OpenError;

/// Limits of searches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bounds of entries.
    pub size: SizeLimits,
    /// Bounds of time.
    pub time: TimeLimits,
    /// Bounds for some identities: the first that selects the requester counts.
    pub rules: Vec<Sourced<LimitsRule>>,
    /// Seconds a search may keep one snapshot of the store before it moves on to the newest.
    pub snapshot_s_max: u32,
}

impl Default for Limits {
    /// 500 entries and an hour, as in OpenLDAP; a snapshot lives half a minute.
    fn default() -> Limits {
        Limits {
            size: SizeLimits::up_to(Limit::At(500)),
            time: TimeLimits::up_to(Limit::At(3600)),
            rules: Vec::new(),
            snapshot_s_max: 30,
        }
    }
}

/// Limits with their selectors compiled.
#[derive(Clone, Debug)]
pub(crate) struct CompiledLimits {
    pub(crate) limits: Limits,
    selectors: Vec<Selector>,
}

impl CompiledLimits {
    pub(crate) fn new(schema: &Schema, limits: Limits) -> Result<CompiledLimits, OpenError> {
        let compile = |rule: &Sourced<LimitsRule>| {
            Selector::parse(schema, &rule.selector).map_err(|reason| OpenError::Limits {
                origin: rule.origin.to_string(),
                who: rule.selector.clone(),
                reason,
            })
        };
        Ok(CompiledLimits {
            selectors: limits.rules.iter().map(compile).collect::<Result<_, _>>()?,
            limits,
        })
    }

    /// Returns the bounds of a requester for a base, both in normal form.
    pub(crate) fn granted(
        &self,
        requester: &str,
        base: &str,
        facts: &dyn Facts,
    ) -> (SizeLimits, TimeLimits) {
        let rules = self.limits.rules.iter().zip(&self.selectors);
        let mut selected = rules
            .filter(|(_, selector)| selector.selects(requester, base, facts))
            .map(|(rule, _)| rule);
        let (size, time) = (self.limits.size, self.limits.time);
        match selected.next() {
            None => (size, time),
            Some(rule) => (rule.size.over(size), rule.time.over(time)),
        }
    }
}
