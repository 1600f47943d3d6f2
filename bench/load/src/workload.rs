//! The questions, and the expected answers.

use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context as _, ensure};
use fulgurite_ldap::{FilterBuf, ResultCode};

use crate::options::{Arguments, Kind};
use crate::targets::Targets;

/// Requests and the answers they have to get.
pub(crate) struct Workload {
    pub(crate) kind: Kind,
    pub(crate) targets: Targets,
    pub(crate) seed: u64,
    pub(crate) base: String,
    pub(crate) filter: FilterBuf,
    pub(crate) password: String,
    pub(crate) group: String,
    /// True if answers are verified.
    checks: bool,
    /// Entries of a scan; 0 until known.
    expect_entries: AtomicU64,
}

/// The verdict on an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Right,
    /// The server says that it cannot.
    Error,
    /// It says that it can, and has answered something else.
    Wrong,
}

impl Workload {
    pub(crate) fn new(arguments: &Arguments, targets: Targets) -> anyhow::Result<Workload> {
        let kind = arguments.workload;
        let needs_users = !matches!(
            kind,
            Kind::Missing | Kind::Scan | Kind::Add | Kind::Delete | Kind::GroupAdd | Kind::Whoami
        );
        ensure!(
            !needs_users || !targets.is_empty(),
            "this workload needs an --ldif with entries that have a uid"
        );
        if kind == Kind::Bind {
            ensure!(
                arguments.password.is_some(),
                "the workload bind needs the users' --password"
            );
            ensure!(
                arguments.depth == 1,
                "binds cannot be pipelined: use --depth 1"
            );
        }
        Ok(Workload {
            kind,
            targets,
            seed: arguments.seed,
            base: arguments.base.clone(),
            filter: FilterBuf::parse(&arguments.filter).context("--filter is not a filter")?,
            password: arguments.password.clone().unwrap_or_default(),
            group: arguments.group.clone(),
            checks: !arguments.unchecked,
            expect_entries: AtomicU64::new(arguments.expect_entries.unwrap_or(0)),
        })
    }

    /// Returns true if an entry fits the `n`th request.
    pub(crate) fn entry_fits(&self, n: u64, dn: &[u8]) -> bool {
        if !self.checks {
            return true;
        }
        match self.kind {
            Kind::Uid | Kind::Mail | Kind::Substring => self
                .targets
                .pick(self.seed, n)
                .is_some_and(|target| dn.eq_ignore_ascii_case(target.dn.as_bytes())),
            Kind::Scan => true,
            _ => false,
        }
    }

    /// Judges a result after `entries` entries, which fitted or did not.
    pub(crate) fn judge(&self, code: ResultCode, entries: u64, fits: bool) -> Verdict {
        let wanted = if self.kind == Kind::Compare {
            ResultCode::CompareTrue
        } else {
            ResultCode::Success
        };
        let is_false = self.kind == Kind::Compare && code == ResultCode::CompareFalse;
        if code != wanted && !is_false {
            Verdict::Error
        } else if self.checks && (is_false || !fits || entries != self.expected(entries)) {
            Verdict::Wrong
        } else {
            Verdict::Right
        }
    }

    /// How many entries there have to be.
    fn expected(&self, entries: u64) -> u64 {
        match self.kind {
            Kind::Uid | Kind::Mail | Kind::Substring => 1,
            Kind::Scan => {
                let known = self.expect_entries.compare_exchange(
                    0,
                    entries,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                );
                match known {
                    Ok(_) => entries,
                    Err(expected) => expected,
                }
            }
            _ => 0,
        }
    }
}
