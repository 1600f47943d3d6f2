//! Sorted searches (slapd's overlay `sssvlv`): their limits, and a slot for each that runs.
//!
//! A sorted search holds its list in memory, so the number of slots bounds the memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use fulgurite_policy::{OverlayLine, OverlaySettings, SortLimits, Sourced};

/// The feature: limits and running searches.
#[derive(Debug)]
pub(crate) struct Sssvlv {
    pub(crate) limits: SortLimits,
    /// Shared with the directory of the next configuration.
    pub(crate) slots: SortSlots,
}

impl Sssvlv {
    pub(crate) fn new(limits: SortLimits) -> Sssvlv {
        Sssvlv {
            limits,
            slots: SortSlots::default(),
        }
    }

    /// Returns a slot for a sorted search of a connection, if the limits permit one.
    pub(crate) fn begin(&self, connection: u64) -> Option<SortSlot> {
        self.slots.begin(connection, &self.limits)
    }
}

/// Applies the directives of the overlay. The limits of any database hold for the whole directory.
/// An error is slapd's sentence.
pub(super) fn compile(
    limits: &mut SortLimits,
    settings: &OverlaySettings,
) -> Result<(), Sourced<String>> {
    for line in &settings.lines {
        let number = number(line).map_err(|text| Sourced::new(text, line.origin.clone()))?;
        // As without the directive, the default holds for a negative number.
        let Ok(number) = usize::try_from(number) else {
            continue;
        };
        match line.directive.keyword {
            // slapd writes 0 for its own default.
            "sssvlv-max" if number == 0 => {}
            "sssvlv-max" => limits.sorts_max = number,
            "sssvlv-maxkeys" => limits.keys_max = number,
            "sssvlv-maxperconn" => limits.per_connection_max = number,
            _ => {}
        }
    }
    Ok(())
}

fn number(line: &OverlayLine) -> Result<i32, String> {
    let keyword = line.directive.keyword;
    match line.arguments.as_slice() {
        [] => Err(format!("keyword <{keyword}> missing <num> argument")),
        [number] => number
            .parse()
            .map_err(|_| format!("<{keyword}> unable to parse \"{number}\" as int")),
        _ => Err(format!("<{keyword}> extra cruft after <num>.")),
    }
}

/// The number of running sorted searches by connection; clones are the same count.
#[derive(Clone, Debug, Default)]
pub(crate) struct SortSlots(Arc<Mutex<HashMap<u64, usize>>>);

/// The slot of a running sorted search. Dropping it frees the slot.
#[derive(Debug)]
pub(crate) struct SortSlot {
    sorts: Arc<Mutex<HashMap<u64, usize>>>,
    connection: u64,
}

impl SortSlots {
    /// Returns a slot for a sorted search of a connection, if the limits permit one.
    fn begin(&self, connection: u64, limits: &SortLimits) -> Option<SortSlot> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let within = |count: usize, max: usize| max == 0 || count < max;
        let all = running.values().sum();
        let own = running.get(&connection).copied().unwrap_or(0);
        if !within(all, limits.sorts_max) || !within(own, limits.per_connection_max) {
            return None;
        }
        running.insert(connection, own + 1);
        Some(SortSlot {
            sorts: Arc::clone(&self.0),
            connection,
        })
    }
}

impl Drop for SortSlot {
    fn drop(&mut self) {
        let mut running = self.sorts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = running.get_mut(&self.connection) {
            *count -= 1;
            if *count == 0 {
                running.remove(&self.connection);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_limited_and_freed_by_dropping_them() {
        let sorts = SortSlots::default();
        let limits = SortLimits {
            sorts_max: 3,
            per_connection_max: 2,
            ..SortLimits::default()
        };
        let first = sorts.begin(1, &limits).expect("one of three");
        let _second = sorts.begin(1, &limits).expect("two of three");
        assert!(sorts.begin(1, &limits).is_none(), "two of connection 1");
        let third = sorts.begin(2, &limits).expect("three of three");
        assert!(sorts.begin(3, &limits).is_none(), "three in all");
        drop(third);
        assert!(sorts.begin(1, &limits).is_none(), "still two");
        drop(first);
        assert!(sorts.begin(1, &limits).is_some());
        let unlimited = SortLimits {
            sorts_max: 0,
            per_connection_max: 0,
            ..limits
        };
        let many: Vec<_> = (0..100).map(|_| sorts.begin(1, &unlimited)).collect();
        assert!(many.iter().all(Option::is_some));
    }
}
