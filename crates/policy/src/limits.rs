//! Bounds of searches.

/// One bound of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// No bound.
    Unlimited,
    /// A number of entries or seconds.
    At(u32),
    /// The bound equals the soft bound.
    SameAsSoft,
    /// The bound equals the hard bound.
    SameAsHard,
    /// The directory refuses the operation that is bounded.
    Disabled,
}

/// Bounds of entries; `None` where nothing is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SizeLimits {
    /// Entries when the client asks for no bound.
    pub soft: Option<Limit>,
    /// The greatest bound that a client may ask for; below the soft bound it has no effect.
    pub hard: Option<Limit>,
    /// Candidates that indexes may leave; [`Limit::Disabled`] forbids searching.
    pub unchecked: Option<Limit>,
    /// Entries of one page.
    pub page: Option<Limit>,
    /// Pages carry no estimate of the total.
    pub no_estimate: bool,
    /// Entries of all pages of a search; [`Limit::Disabled`] forbids paging.
    pub paged_total: Option<Limit>,
}

/// Bounds of time in seconds; `None` where nothing is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeLimits {
    /// Seconds when the client asks for no bound.
    pub soft: Option<Limit>,
    /// The greatest bound that a client may ask for.
    pub hard: Option<Limit>,
}

/// Bounds for some identities: `limits SELECTOR LIMIT...`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitsRule {
    /// The identities, as written: `*`, `users`, `anonymous`, `dn.subtree=...`,
    /// `group/class/attribute=...`.
    pub selector: String,
    /// Bounds of entries.
    pub size: SizeLimits,
    /// Bounds of time.
    pub time: TimeLimits,
}

impl SizeLimits {
    /// Returns one soft bound, and a hard one that equals it.
    #[must_use]
    pub const fn up_to(limit: Limit) -> SizeLimits {
        SizeLimits {
            soft: Some(limit),
            hard: Some(Limit::SameAsSoft),
            unchecked: None,
            page: None,
            no_estimate: false,
            paged_total: None,
        }
    }

    /// Returns these bounds, and those of `lower` where nothing is set.
    #[must_use]
    pub fn over(self, lower: SizeLimits) -> SizeLimits {
        SizeLimits {
            soft: self.soft.or(lower.soft),
            hard: self.hard.or(lower.hard),
            unchecked: self.unchecked.or(lower.unchecked),
            page: self.page.or(lower.page),
            no_estimate: self.no_estimate || lower.no_estimate,
            paged_total: self.paged_total.or(lower.paged_total),
        }
    }
}

impl TimeLimits {
    /// Returns one soft bound, and a hard one that equals it.
    #[must_use]
    pub const fn up_to(limit: Limit) -> TimeLimits {
        TimeLimits {
            soft: Some(limit),
            hard: Some(Limit::SameAsSoft),
        }
    }

    /// Returns these bounds, and those of `lower` where nothing is set.
    #[must_use]
    pub fn over(self, lower: TimeLimits) -> TimeLimits {
        TimeLimits {
            soft: self.soft.or(lower.soft),
            hard: self.hard.or(lower.hard),
        }
    }
}

/// Bounds of sorted searches (slapd's `sssvlv-max`, `-maxkeys`, `-maxperconn`); 0 for no bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortLimits {
    /// Sorted searches at the same time, of all connections.
    pub sorts_max: usize,
    /// Sort keys of one search.
    pub keys_max: usize,
    /// Sorted searches at the same time of one connection.
    pub per_connection_max: usize,
    /// Bytes of memory for the list of one search; a longer list ends with adminLimitExceeded.
    pub bytes_max: usize,
}

impl Default for SortLimits {
    /// Returns 64 sorted searches, five of a connection, five keys, and 64 MiB each: some 600,000
    /// entries.
    fn default() -> SortLimits {
        SortLimits {
            sorts_max: 64,
            keys_max: 5,
            per_connection_max: 5,
            bytes_max: 64 << 20,
        }
    }
}
