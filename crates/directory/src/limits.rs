//! How much one operation may take.

/// Limits of searches. Zero means none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Entries per search, all pages of a paged one together.
    pub size_max: u32,
    /// Seconds per search.
    pub time_s_max: u32,
    /// Seconds a search may keep one snapshot of the store before it moves on to the newest.
    pub snapshot_s_max: u32,
}

impl Default for Limits {
    /// 500 entries and an hour, as in OpenLDAP; a snapshot lives half a minute.
    fn default() -> Limits {
        Limits {
            size_max: 500,
            time_s_max: 3600,
            snapshot_s_max: 30,
        }
    }
}

/// The limits one search runs under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SearchLimits {
    pub(crate) size_max: Option<u32>,
    pub(crate) time_us_max: Option<u64>,
    /// Candidates that a search may have.
    pub(crate) unchecked_max: Option<u32>,
}

impl SearchLimits {
    /// Whether so many candidates are too many.
    pub(crate) fn is_unchecked(&self, candidates: u64) -> bool {
        self.unchecked_max
            .is_some_and(|max| candidates > u64::from(max))
    }
}

impl Limits {
    /// The lower of what the client asked for and what the server grants; the root is granted everything.
    pub(crate) fn of_search(&self, unlimited: bool, size: u32, time_s: u32) -> SearchLimits {
        let granted = |limit: u32| if unlimited { 0 } else { limit };
        SearchLimits {
            size_max: lower(size, granted(self.size_max)),
            time_us_max: lower(time_s, granted(self.time_s_max)).map(|s| u64::from(s) * 1_000_000),
            unchecked_max: None,
        }
    }
}

/// The lower of two limits where zero means none.
fn lower(a: u32, b: u32) -> Option<u32> {
    match (a, b) {
        (0, 0) => None,
        (0, only) | (only, 0) => Some(only),
        (a, b) => Some(a.min(b)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lower_limit_holds_and_root_has_none() {
        let limits = Limits {
            size_max: 10,
            time_s_max: 2,
            ..Limits::default()
        };
        let of = |is_root, size, time| {
            let limits = limits.of_search(is_root, size, time);
            (limits.size_max, limits.time_us_max)
        };
        let user = false;
        assert_eq!(of(user, 0, 0), (Some(10), Some(2_000_000)));
        assert_eq!(of(user, 3, 1), (Some(3), Some(1_000_000)));
        assert_eq!(of(user, 30, 10), (Some(10), Some(2_000_000)));
        let root = true;
        assert_eq!(of(root, 0, 0), (None, None));
        assert_eq!(of(root, 30, 0), (Some(30), None));
    }
}
