//! The limits of one search, computed from the database's limits and the client's request.

use fulgurite_access::Facts;
use fulgurite_ldap::{LdapResult, ResultCode};
use fulgurite_policy::{Limit, SizeLimits};

use crate::core::limits::CompiledLimits;
use crate::core::result::refuse;

/// The facts that decide about the limits of a search.
pub(crate) struct LimitsRequest<'s> {
    /// The requester in normal form; empty for anonymous.
    pub(crate) requester: &'s str,
    pub(crate) is_root: bool,
    /// The base in normal form.
    pub(crate) base: &'s str,
    /// The client's size limit; 0 for none.
    pub(crate) size: u32,
    /// The client's time limit in seconds; 0 for none.
    pub(crate) time_s: u32,
    /// The size of the requested page.
    pub(crate) page: Option<u32>,
}

/// The limits of one search; `None` for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchLimits {
    /// The number of entries, of all pages of a paged search.
    pub(crate) size_max: Option<u32>,
    pub(crate) time_us_max: Option<u64>,
    /// The number of candidates.
    pub(crate) unchecked_max: Option<u32>,
    /// True if the client's size limit makes pages unnecessary (RFC 2696, section 3).
    pub(crate) unpaged: bool,
}

impl SearchLimits {
    /// Returns true if the search has too many candidates.
    pub(crate) fn is_unchecked(&self, candidates: u64) -> bool {
        self.unchecked_max
            .is_some_and(|max| candidates > u64::from(max))
    }
}

/// Returns the limits of one search. The root of the database has only its own limits.
///
/// # Errors
/// adminLimitExceeded for a search or a page that the database forbids.
pub(crate) fn search_limits(
    compiled: &CompiledLimits,
    wanted: &LimitsRequest<'_>,
    facts: &dyn Facts,
) -> Result<SearchLimits, LdapResult> {
    let unpaged = wanted
        .page
        .is_some_and(|page| wanted.size > 0 && page >= wanted.size);
    if wanted.is_root {
        return Ok(SearchLimits {
            size_max: asked(wanted.size),
            time_us_max: microseconds(asked(wanted.time_s)),
            unchecked_max: None,
            unpaged,
        });
    }
    let (size, time) = compiled.granted(wanted.requester, wanted.base, facts);
    let hard = hard(size.soft, size.hard);
    let size_max = match wanted.page.filter(|_| !unpaged) {
        None => bounded(wanted.size, size.soft, hard),
        Some(page) => paged(wanted, page, &size, hard)?,
    };
    let time_s_max = bounded(wanted.time_s, time.soft, self::hard(time.soft, time.hard));
    let unchecked_max = match size.unchecked {
        Some(Limit::Disabled) => return Err(LdapResult::new(ResultCode::AdminLimitExceeded)),
        unchecked => number(unchecked),
    };
    Ok(SearchLimits {
        size_max,
        time_us_max: microseconds(time_s_max),
        unchecked_max,
        unpaged,
    })
}

/// Returns the number of entries on all pages of a search.
fn paged(
    wanted: &LimitsRequest<'_>,
    page: u32,
    size: &SizeLimits,
    hard: Option<u32>,
) -> Result<Option<u32>, LdapResult> {
    let exceeded = |text: &str| Err(refuse(ResultCode::AdminLimitExceeded, text));
    if size.paged_total == Some(Limit::Disabled) {
        return exceeded("pagedResults control not allowed");
    }
    if let Some(page_max) = number(size.page) {
        if wanted.size > page_max {
            return exceeded("");
        }
        if page > page_max {
            return exceeded("illegal pagedResults page size");
        }
    }
    let total = match size.paged_total {
        None | Some(Limit::SameAsHard | Limit::SameAsSoft | Limit::At(0)) => hard,
        total => number(total),
    };
    Ok(lower(asked(wanted.size), total))
}

/// Returns the bound that holds for the client's limit.
fn bounded(wanted: u32, soft: Option<Limit>, hard: Option<u32>) -> Option<u32> {
    match asked(wanted) {
        None => number(soft),
        // Clients send the greatest number to ask for all entries.
        Some(u32::MAX | 0x7fff_ffff) => hard,
        Some(wanted) => lower(Some(wanted), hard),
    }
}

/// Returns the hard bound: the soft one, unless a higher one is set.
fn hard(soft: Option<Limit>, hard: Option<Limit>) -> Option<u32> {
    let soft = number(soft);
    match hard {
        Some(Limit::Unlimited) => None,
        Some(Limit::At(hard)) if hard > 0 => soft.map(|soft| soft.max(hard)),
        _ => soft,
    }
}

fn number(limit: Option<Limit>) -> Option<u32> {
    match limit {
        Some(Limit::At(number)) => Some(number),
        _ => None,
    }
}

fn asked(number: u32) -> Option<u32> {
    (number > 0).then_some(number)
}

fn microseconds(seconds: Option<u32>) -> Option<u64> {
    seconds.map(|seconds| u64::from(seconds) * 1_000_000)
}

/// Returns the lower of two bounds.
fn lower(a: Option<u32>, b: Option<u32>) -> Option<u32> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::limits::Limits;
    use fulgurite_access::NoFacts;
    use fulgurite_policy::{LimitsRule, Sourced, TimeLimits};
    use fulgurite_schema::Schema;

    const JANE: &str = "uid=jane,dc=com";

    fn limits(size: SizeLimits, time: TimeLimits) -> CompiledLimits {
        let rule = LimitsRule {
            selector: "users".to_owned(),
            size,
            time,
        };
        let limits = Limits {
            rules: vec![Sourced::by_default(rule)],
            ..Limits::default()
        };
        CompiledLimits::new(&Schema::standard(), limits).expect("selectors")
    }

    fn wanted(size: u32, page: Option<u32>) -> LimitsRequest<'static> {
        LimitsRequest {
            requester: JANE,
            is_root: false,
            base: "dc=com",
            size,
            time_s: 0,
            page,
        }
    }

    /// Returns the number of entries, or the refusal.
    fn entries(size: SizeLimits, asked: u32, page: Option<u32>) -> Result<Option<u32>, ResultCode> {
        let compiled = limits(size, TimeLimits::default());
        search_limits(&compiled, &wanted(asked, page), &NoFacts)
            .map(|limits| limits.size_max)
            .map_err(|result| result.code)
    }

    #[test]
    fn soft_and_hard_bounds() {
        use Limit::{At, SameAsSoft, Unlimited};
        let size = |soft, hard| SizeLimits {
            soft: Some(soft),
            hard: Some(hard),
            ..SizeLimits::default()
        };
        for (size, asked, expected) in [
            (size(At(2), SameAsSoft), 0, Some(2)),
            (size(At(2), SameAsSoft), 3, Some(2)),
            (size(At(2), SameAsSoft), 1, Some(1)),
            (size(At(2), At(4)), 0, Some(2)),
            (size(At(2), At(4)), 3, Some(3)),
            (size(At(2), At(4)), 5, Some(4)),
            (size(At(2), At(4)), i32::MAX.unsigned_abs(), Some(4)),
            (size(At(2), Unlimited), 5, Some(5)),
            (size(At(2), Unlimited), i32::MAX.unsigned_abs(), None),
            (size(Unlimited, At(2)), 5, Some(5)),
            (size(At(5), At(2)), 4, Some(4)),
            (SizeLimits::default(), 0, Some(500)),
        ] {
            assert_eq!(entries(size, asked, None), Ok(expected), "{size:?} {asked}");
        }
    }

    #[test]
    fn pages() {
        use Limit::{At, Disabled, SameAsHard, Unlimited};
        let refused = Err(ResultCode::AdminLimitExceeded);
        let size = |page, total| SizeLimits {
            soft: Some(At(2)),
            hard: Some(At(4)),
            page,
            paged_total: total,
            ..SizeLimits::default()
        };
        for (size, asked, page, expected) in [
            (size(None, None), 0, 2, Ok(Some(4))),
            (size(None, Some(SameAsHard)), 0, 2, Ok(Some(4))),
            (size(None, Some(Unlimited)), 0, 50, Ok(None)),
            (size(None, Some(Unlimited)), 5, 2, Ok(Some(5))),
            (size(None, Some(At(6))), 0, 2, Ok(Some(6))),
            (size(None, Some(Disabled)), 0, 2, refused),
            (size(None, Some(Disabled)), 1, 2, Ok(Some(1))),
            (size(Some(At(2)), None), 0, 2, Ok(Some(4))),
            (size(Some(At(2)), None), 0, 3, refused),
            (size(Some(At(2)), None), 5, 2, refused),
        ] {
            assert_eq!(
                entries(size, asked, Some(page)),
                expected,
                "{size:?} {asked} {page}"
            );
        }
    }

    #[test]
    fn the_first_selector_counts_and_root_has_no_limits() {
        let compiled = limits(
            SizeLimits::up_to(Limit::At(7)),
            TimeLimits::up_to(Limit::At(2)),
        );
        let of = |wanted: LimitsRequest<'_>| {
            search_limits(&compiled, &wanted, &NoFacts).expect("granted")
        };
        let user = of(wanted(0, None));
        assert_eq!(
            (user.size_max, user.time_us_max),
            (Some(7), Some(2_000_000))
        );
        let anonymous = of(LimitsRequest {
            requester: "",
            ..wanted(0, None)
        });
        assert_eq!(
            (anonymous.size_max, anonymous.time_us_max),
            (Some(500), Some(3_600_000_000))
        );
        let root = LimitsRequest {
            is_root: true,
            ..wanted(0, None)
        };
        assert_eq!(of(root), SearchLimits::default());
        let unchecked = SizeLimits {
            unchecked: Some(Limit::Disabled),
            ..SizeLimits::default()
        };
        assert_eq!(
            entries(unchecked, 0, None),
            Err(ResultCode::AdminLimitExceeded)
        );
        let origin = fulgurite_policy::Origin::File {
            path: "slapd.conf".into(),
            line: 3,
            column: None,
        };
        let wrong = LimitsRule {
            selector: "dn.nope=x".to_owned(),
            ..LimitsRule::default()
        };
        let wrong = Limits {
            rules: vec![Sourced::new(wrong, origin)],
            ..Limits::default()
        };
        let error = CompiledLimits::new(&Schema::standard(), wrong).expect_err("no such style");
        assert!(
            error.to_string().starts_with("slapd.conf, line 3: "),
            "{error}"
        );
    }
}
